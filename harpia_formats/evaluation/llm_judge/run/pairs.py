"""Rows of pairs of answers to one question, a row for each order of the two."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import UNSET

from harpia_formats.conversion.mapping.questions import question_key
from harpia_formats.evaluation.llm_judge.errors import JudgeError
from harpia_formats.evaluation.llm_judge.run.bindings import Binding, row_of
from harpia_formats.evaluation.llm_judge.run.pair_models import PairModels, models_in
from harpia_formats.evaluation.llm_judge.run.pair_verdicts import FIRST, SECOND
from harpia_formats.evaluation.llm_judge.run.verdicts import JudgeRow
from harpia_formats.model.record import Record
from harpia_formats.model.text.sanitize import safe


class _Answer(NamedTuple):
    """An answer of one of the two models, as it can be stored as JSON."""

    #: `record`, the number of the first record with the question, and `record_id` if
    #: the record has one.
    identity: Mapping[str, Any]
    #: The values of the inputs; the answer is the value of `first` and of `second`.
    values: Mapping[str, Any]
    problem: str


@dataclass(frozen=True, slots=True)
class PairSource:
    """An input: its name, and a function that reads its records."""

    name: str
    records: Callable[[], Iterable[Record]]


@dataclass(slots=True)
class PairRows:
    """The rows of pairs: each iteration reads the sources twice and yields all rows.

    Answers of two models to one question are paired in their order. Raises
    `JudgeError` unless the answers are of two models, which `wanted` may name.
    """

    sources: Sequence[PairSource]
    bindings: Sequence[Binding]
    wanted: tuple[str, ...] = ()
    #: The answers of both models without a partner in the last iteration.
    unpaired: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[JudgeRow]:
        """Yield two rows for each pair, in the order in which pairs are complete."""
        models = models_in(
            [(source.name, source.records()) for source in self.sources], self.wanted
        )
        with closing(_Waiting()) as waiting:
            pairs = self._pairs(models, waiting)
            for number, both in enumerate(pairs, 1):
                yield from _rows_of_pair(number, both, models.names)
            self.unpaired = waiting.count()

    def _pairs(
        self, models: PairModels, waiting: "_Waiting"
    ) -> Iterator[tuple[_Answer, _Answer]]:
        for key, side, answer in self._answers(models, waiting):
            partner = waiting.taken(key, 1 - side)
            if partner is None:
                waiting.add(key, side, answer)
            else:
                yield (answer, partner) if side == 0 else (partner, answer)

    def _answers(
        self, models: PairModels, waiting: "_Waiting"
    ) -> Iterator[tuple[bytes, int, _Answer]]:
        """Yield each answer of both models: its question, which model, and itself."""
        number = 0
        for at, source in enumerate(self.sources):
            for record in source.records():
                number += 1
                sides = [models.side(at, one.model or "") for one in record.outputs]
                if all(side is None for side in sides):
                    continue
                key = question_key(record, number)
                # Scores of records without an id are by this number.
                identity: dict[str, Any] = {"record": waiting.first_number(key, number)}
                if record.id is not UNSET:
                    identity["record_id"] = record.id
                for output, side in zip(record.outputs, sides, strict=True):
                    if side is not None:
                        row = row_of(record, output, self.bindings, identity)
                        yield key, side, _Answer(identity, row.values, row.problem)


def _rows_of_pair(
    number: int, both: tuple[_Answer, _Answer], models: tuple[str, str]
) -> Iterator[JudgeRow]:
    """Yield the rows of a pair: in the order of the models, and in the other one."""
    base = both[0]
    problems = (
        f"the answer of {safe(model)}: {answer.problem}"
        for model, answer in zip(models, both, strict=True)
        if answer.problem
    )
    problem = next(problems, "")
    for order, (first, second) in enumerate(((0, 1), (1, 0)), 1):
        identity = {
            "row": 2 * (number - 1) + order,
            **base.identity,
            "model": models[first],
            "order": order,
            "models": [models[first], models[second]],
        }
        values = {
            **base.values,
            FIRST: both[first].values.get(FIRST),
            SECOND: both[second].values.get(SECOND),
        }
        yield JudgeRow({} if problem else values, problem, identity)


class _Waiting:
    """The questions, and the answers without a partner so far, in a temporary file.

    Raises `JudgeError` if it cannot be written.
    """

    def __init__(self) -> None:
        # A database without a name is a temporary file, with a small cache in memory.
        self._database = sqlite3.connect("")
        self._run(
            "CREATE TABLE waiting (number INTEGER PRIMARY KEY, question BLOB, "
            "side INTEGER, answer TEXT)"
        )
        self._run("CREATE INDEX by_question ON waiting (question, side, number)")
        self._run(
            "CREATE TABLE questions (question BLOB PRIMARY KEY, number INTEGER) "
            "WITHOUT ROWID"
        )

    def first_number(self, question: bytes, number: int) -> int:
        """Return the number that a question was first given with, at the latest now."""
        self._run(
            "INSERT OR IGNORE INTO questions VALUES (?, ?)",
            (question, number),
        )
        ((first,),) = self._run(
            "SELECT number FROM questions WHERE question = ?", (question,)
        )
        return int(first)

    def add(self, question: bytes, side: int, answer: _Answer) -> None:
        """Add an answer of the model `side` to a question."""
        self._run(
            "INSERT INTO waiting (question, side, answer) VALUES (?, ?, ?)",
            (question, side, json.dumps(answer)),
        )

    def taken(self, question: bytes, side: int) -> _Answer | None:
        """Remove and return the first answer of the model `side`, None without one."""
        found = self._run(
            "SELECT number, answer FROM waiting WHERE question = ? AND side = ? "
            "ORDER BY number LIMIT 1",
            (question, side),
        )
        if not found:
            return None
        ((number, answer),) = found
        self._run("DELETE FROM waiting WHERE number = ?", (number,))
        return _Answer(*json.loads(answer))

    def count(self) -> int:
        """Return how many answers wait."""
        ((count,),) = self._run("SELECT count(*) FROM waiting")
        return int(count)

    def close(self) -> None:
        """Delete the file."""
        self._database.close()

    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise JudgeError(f"temporary file: {error}") from error
