"""Pairs of answers to one question: their models, their rows, and the verdicts on them.

Each pair is judged in both orders, so that a judge that prefers a place is found out.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import (
    LISTED_MODELS,
    REMEMBERED_MODELS,
)
from harpia_formats.conversion.mapping.questions import question_key
from harpia_formats.evaluation.llm_judge.input_bindings import Binding, row_of
from harpia_formats.evaluation.llm_judge.judge_definition import Definition
from harpia_formats.evaluation.llm_judge.judge_errors import JudgeError, require
from harpia_formats.evaluation.llm_judge.row_verdicts import JudgeRow, Verdict
from harpia_formats.evaluation.scoring.answers.choose_systems import (
    CONSISTENT,
    FIRST_POSITION,
    WIN,
    WINNER,
)
from harpia_formats.model.record import Record
from harpia_formats.model.safe_text import safe

#: The inputs with the two answers, which are the choices of the verdict as well.
FIRST, SECOND = "first", "second"
TIE = "tie"
_own = frozenset({WINNER, WIN, CONSISTENT, FIRST_POSITION})
#: Points for the first place by the verdict.
_points: dict[Any, float] = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
#: What the signature of verdicts on pairs has besides. The mean of `first_position` is
#: near the middle, so its interval is that of the bootstrap: it declares no scale.
SIGNATURE = f"|pairwise:both-orders|ties:half|scale:{WIN}=0-1"


def verdict_field(definition: Definition) -> str:
    """Return the name of the output that says which of two answers is better.

    Raises `DefinitionError` if a definition is not one for pairs.
    """
    required = definition.template().required_names
    for name in (FIRST, SECOND):
        require(
            name in required,
            f"`--pairwise` needs the inputs {FIRST} and {SECOND}, which are the two "
            f"answers; the definition has no input {name}",
        )
    found = [
        output.name
        for output in definition.outputs
        if {FIRST, SECOND} <= set(output.choices) <= {*_points}
    ]
    require(
        len(found) == 1,
        f"`--pairwise` needs one output with the choices {FIRST}, {SECOND} and {TIE}, "
        f"or without {TIE}; the definition has {'several' if found else 'none'}",
    )
    for output in definition.outputs:
        require(
            output.name not in _own,
            f"`--pairwise` adds {output.name} to each result, so no output can be "
            "called so",
        )
    return found[0]


@dataclass(slots=True)
class Pairing:
    """How pairs are judged; adds to verdicts which model wins, and if orders agree."""

    #: The output that says which answer is better.
    field: str
    #: How many verdicts there are on each row.
    votes: int = 1
    #: The two models whose answers are pairs, none if the input has only two.
    models: tuple[str, ...] = ()
    #: The answers of both models that were not in a pair, as known after the reading.
    unpaired: int = 0

    def mapped(self, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        """Yield verdicts with what they say of the models.

        Those on the rows of a pair must follow each other. A vote in one order is
        paired with the vote of the same number in the other.
        """
        rest = iter(verdicts)
        while found := list(islice(rest, 2 * self.votes)):
            orders = zip(found[: self.votes], found[self.votes :], strict=True)
            pairs = [self._of_pair(both) for both in orders]
            yield from (one for one, _ in pairs)
            yield from (other for _, other in pairs)

    def _of_pair(self, both: tuple[Verdict, Verdict]) -> list[Verdict]:
        """Return the verdicts in both orders with what they say of the models."""
        places = [(each.result or {}).get(self.field) for each in both]
        # The model that wins by each verdict, or `TIE`; None without a verdict.
        winners = [
            verdict.row.identity["models"][place == SECOND]
            if place in {FIRST, SECOND}
            else place
            for verdict, place in zip(both, places, strict=True)
        ]
        of_pair: dict[str, Any] = {}
        if None not in places:
            of_pair[CONSISTENT] = winners[0] == winners[1]
            of_pair[FIRST_POSITION] = sum(map(_points.__getitem__, places)) / 2
        return [*map(_with, both, winners, (of_pair, of_pair))]


def _with(verdict: Verdict, winner: str | None, of_pair: Mapping[str, Any]) -> Verdict:
    """Return a verdict with its winner, and what both orders say if they are known."""
    if verdict.result is None:
        return verdict
    # Unless data is guarded a reply may have other keys, which cannot be ours.
    given = {key: value for key, value in verdict.result.items() if key not in _own}
    result = {**given, WINNER: winner}
    if of_pair:
        is_decided = of_pair[CONSISTENT] and winner != TIE
        is_mine = winner == verdict.row.identity["model"]
        result |= {WIN: float(is_mine) if is_decided else 0.5, **of_pair}
    return replace(verdict, result=result)


#: How many answers make a pair.
_BOTH = 2


@dataclass(frozen=True, slots=True)
class PairModels:
    """The names of two models, and which of them an answer is of."""

    names: tuple[str, str]
    #: Whether each input is a model, whatever its answers say.
    are_inputs: bool = False

    def side(self, source: int, model: str) -> int | None:
        """Return 0 or 1 for an answer of one of the models, None for any other.

        `source` is the number of the input from 0, and `model` is "" if unknown.
        """
        if self.are_inputs:
            return source
        return self.names.index(model) if model in self.names else None


def models_in(sources: "Sequence[PairSource]", wanted: Sequence[str]) -> PairModels:
    """Return the two models whose answers some sources of records have.

    They are those that are `wanted`, else the only two; or two sources with answers of
    one model each, that are called as the sources. Raises `JudgeError` for anything
    else.
    """
    seen: list[dict[str, None]] = []
    for _, records in sources:
        models: dict[str, None] = {}
        for record in records():
            for output in record.outputs:
                model = output.model or ""
                if len(models) < REMEMBERED_MODELS or model in wanted:
                    models[model] = None
        seen.append(models)
    found = _chosen([name for name, _ in sources], seen, wanted)
    if TIE in found.names:
        raise JudgeError(f"a model is called {TIE}, which is a verdict on pairs")
    return found


def _chosen(
    names: Sequence[str], seen: Sequence[dict[str, None]], wanted: Sequence[str]
) -> PairModels:
    everyone = list(dict.fromkeys(model for models in seen for model in models))
    listed = _listed([model for model in everyone if model])
    missing = next((model for model in wanted if model not in everyone), None)
    if missing is not None:
        raise JudgeError(f"no answer is of the model {missing!r} ({listed})")
    known = list(wanted) or everyone
    if len(known) == _BOTH and "" not in known:
        return PairModels((known[0], known[1]))
    if len(names) == _BOTH and all(len(models) == 1 for models in seen):
        if names[0] == names[1]:
            raise JudgeError(f"both inputs are {names[0]}: a pair needs two")
        return PairModels((names[0], names[1]), are_inputs=True)
    if len(everyone) > _BOTH:
        raise JudgeError(
            f"pairs need two models: choose two with `--model`, given twice ({listed})"
        )
    raise JudgeError(
        "pairs need the answers of two models in the input, or two inputs with the "
        f"answers of one model each ({listed})"
    )


def _listed(models: Sequence[str]) -> str:
    if not models:
        return "no answer names its model"
    rest = len(models) - LISTED_MODELS
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"there are: {', '.join(map(repr, models[:LISTED_MODELS]))}{more}"


class _Answer(NamedTuple):
    """An answer of one of the two models, as it can be stored as JSON."""

    #: `record`, the number of the first record with the question, and `record_id` if
    #: the record has one.
    identity: Mapping[str, Any]
    #: The values of the inputs; the answer is the value of `first` and of `second`.
    values: Mapping[str, Any]
    problem: str


#: The name of an input, and a function that reads its records.
PairSource = tuple[str, Callable[[], Iterable[Record]]]


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
        models = models_in(self.sources, self.wanted)
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
        for at, (_, records) in enumerate(self.sources):
            for record in records():
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
    problems = (
        f"the answer of {safe(model)}: {answer.problem}"
        for model, answer in zip(models, both, strict=True)
        if answer.problem
    )
    problem = next(problems, "")
    sides = [*zip(models, both, strict=True)]
    for order, pair in enumerate((sides, sides[::-1]), 1):
        (model, first), (_, second) = pair
        identity = {
            "row": 2 * (number - 1) + order,
            **both[0].identity,
            "model": model,
            "order": order,
            "models": [name for name, _ in pair],
        }
        places = {FIRST: first.values.get(FIRST), SECOND: second.values.get(SECOND)}
        values = {} if problem else {**both[0].values, **places}
        yield JudgeRow(values, problem, identity)


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
        new = "INSERT OR IGNORE INTO questions VALUES (?, ?)"
        self._run(new, (question, number))
        first = "SELECT number FROM questions WHERE question = ?"
        return int(self._run(first, (question,))[0][0])

    def add(self, question: bytes, side: int, answer: _Answer) -> None:
        """Add an answer of the model `side` to a question."""
        new = "INSERT INTO waiting (question, side, answer) VALUES (?, ?, ?)"
        self._run(new, (question, side, json.dumps(answer)))

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
        return int(self._run("SELECT count(*) FROM waiting")[0][0])

    def close(self) -> None:
        """Delete the file."""
        self._database.close()

    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows that a statement gives; raises `JudgeError`."""
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise JudgeError(f"temporary file: {error}") from error
