"""The rows that a judge judges, made of records: of answers, or of pairs of answers.

Each input of the judge is bound to a field of records. Each pair of answers to one
question is judged in both orders, so that a judge that prefers a place is found out.
"""

import json
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any
from weakref import finalize

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import REMEMBERED_MODELS
from harpia_formats.conversion.mapping.questions import question_key
from harpia_formats.evaluation.llm_judge.judge_definition import Definition
from harpia_formats.evaluation.llm_judge.verdicts import (
    JudgeError,
    JudgeRow,
    Verdict,
    require,
)
from harpia_formats.evaluation.scoring.answers import (
    CONSISTENT,
    FIRST_POSITION,
    WIN,
    WINNER,
    field_value,
)
from harpia_formats.model.describe import first_of
from harpia_formats.model.record import FIELD_TYPES, Output, Record
from harpia_formats.model.safe_text import safe
from harpia_formats.model.spelling import hint_on, nearest

#: The fields of well-known input names; the first one that a record has is used.
DEFAULTS: dict[str, tuple[str, ...]] = {
    "questions": ("prompt", "data.question"),
    "contexts": ("contexts",),
    "responses": ("outputs.text",),
    "predicted_answers": ("outputs.text",),
    "ground_truth_answers": ("references",),
}
#: Begins the path of a field of answers.
_ANSWERS = "outputs."
#: Fields that are derived from a chat, and fields that are objects, whose members a
#: path may name.
_derived = ("data.question", "data.gt", "data.history")
_open = ("params", "metadata", "extra", "outputs.extra", "outputs.token_usage")
_closed = tuple(path for path in FIELD_TYPES if not path.startswith("outputs.scores."))


@dataclass(frozen=True, slots=True)
class Binding:
    """An input and the paths of its fields; the first existing one is used."""

    name: str
    paths: tuple[str, ...]

    @property
    def is_of_answer(self) -> bool:
        """Whether the value belongs to an answer and not to the whole record."""
        return any(path.startswith(_ANSWERS) for path in self.paths)


def bindings_for(names: Iterable[str], given: Mapping[str, str]) -> tuple[Binding, ...]:
    """Return the binding of each input: that in `given`, or one found by its name.

    An input with the name of a field of records is bound to that field. Raises
    `JudgeError` for an input that is not bound, and for an unknown name or path.
    """
    wanted = dict.fromkeys(names)
    for name, path in given.items():
        if name not in wanted:
            raise JudgeError(
                f"`--bind {name}={path}`: the definition has no input {name!r}"
                f"{hint_on(name, wanted)}"
            )
        _check_path(name, path)
    paths = {**{path: (path,) for path in _closed}, **DEFAULTS}
    paths |= {name: (path,) for name, path in given.items()}
    for name in wanted:
        if name not in paths:
            near = nearest(name, (*DEFAULTS, *_closed))
            path = DEFAULTS.get(near, (near,))[0]
            hint = f", such as `--bind {name}={path}`" if near else ""
            raise JudgeError(
                f"the input {name!r} is not bound to a field: give `--bind "
                f"{name}=PATH`{hint} (known without it: {', '.join(DEFAULTS)})"
            )
    return tuple(Binding(name, paths[name]) for name in wanted)


def _check_path(name: str, path: str) -> None:
    """Raise `JudgeError` unless a record may have a value at a path."""
    known = (*_closed, *_derived)
    if path in known or any(path.startswith(f"{field}.") for field in _open):
        return
    near = nearest(path, known) or next(
        (each for each in known if each.rpartition(".")[2] == path), ""
    )
    hint = f"; did you mean {near}?" if near else ""
    raise JudgeError(
        f"`--bind {name}={path}`: a record has no field {path!r}{hint} (such as "
        "prompt, references, outputs.text, metadata.KEY, extra.VENDOR.KEY, "
        "data.question)"
    )


def rows_of(
    records: Iterable[Record], bindings: Sequence[Binding]
) -> Iterator[JudgeRow]:
    """Yield a row for each answer of each record.

    It is one row for a record without answers, and for each record if no input is bound
    to a field of answers.
    """
    of_answers = any(binding.is_of_answer for binding in bindings)
    number = 0
    for place, record in enumerate(records, 1):
        outputs: list[Output | None] = [*record.outputs] if of_answers else []
        for output in outputs or [None]:
            number += 1
            parts = {
                "row": number,
                "record": place,
                "record_id": record.id,
                "model": UNSET if output is None else output.model,
                "index": UNSET if output is None else output.index,
            }
            identity = {key: part for key, part in parts.items() if part is not UNSET}
            yield row_of(record, output, bindings, identity)


def row_of(
    record: Record,
    output: Output | None,
    bindings: Sequence[Binding],
    identity: Mapping[str, Any],
) -> JudgeRow:
    """Return the row of an answer of a record, or of the record if it is None."""
    values = {}
    for binding in bindings:
        found = (_value(record, output, path) for path in binding.paths)
        value = next((each for each in found if each is not UNSET), UNSET)
        if value is UNSET:
            lacks = binding.is_of_answer and output is None
            what = f"{'answer with ' if lacks else ''}{' or '.join(binding.paths)}"
            reason = f"the record has no {what} for the input {binding.name}"
            return JudgeRow({}, reason, identity)
        values[binding.name] = value
    return JudgeRow(values, identity=identity)


def _value(record: Record, output: Output | None, path: str) -> Any:
    """Return the value at `path`, `UNSET` if there is none."""
    if path in _derived:
        return _parts_of_chat(record)[path]
    if not path.startswith(_ANSWERS):
        value = field_value(record, path)
    elif output is None:
        return UNSET
    else:
        value = field_value(output, path.removeprefix(_ANSWERS))
    if value is None and path == "outputs.text":
        return UNSET
    if path == "references" and value is not UNSET and len(value) <= 1:
        # One reference is a text, since most judges expect that.
        return value[0] if value else UNSET
    return value


def _parts_of_chat(record: Record) -> dict[str, Any]:
    """Return what is derived from the chat of a record, by the paths of the parts.

    They are the last message of the user, the answer at the end if no other is given,
    and the rest with one line for each message.
    """
    asked = (("system", record.system), ("user", record.prompt))
    messages = list(record.messages or ()) or [
        {"role": role, "content": text} for role, text in asked if text is not UNSET
    ]
    answer: Any = None if record.gt is UNSET else record.gt
    if record.gt is UNSET and messages and messages[-1].get("role") == "assistant":
        answer = messages.pop().get("content")
    users = [at for at, each in enumerate(messages) if each.get("role") == "user"]
    question = messages.pop(users[-1]).get("content") if users else UNSET
    rest = "\n".join(f"{each.get('role')}: {each.get('content')}" for each in messages)
    return dict(zip(_derived, (question, answer, rest), strict=True))


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
            yield from chain(*zip(*map(self._of_pair, orders), strict=True))

    def _of_pair(self, both: tuple[Verdict, Verdict]) -> Iterator[Verdict]:
        """Yield the verdicts in both orders with what they say of the models."""
        places = [(each.result or {}).get(self.field) for each in both]
        # The model that wins by each verdict, or `TIE`; None without a verdict.
        winners = [
            verdict.row.identity["models"][place == SECOND]
            if place in {FIRST, SECOND}
            else place
            for verdict, place in zip(both, places, strict=True)
        ]
        are_known = None not in places
        is_decided = winners[0] == winners[1] != TIE
        for verdict, winner in zip(both, winners, strict=True):
            if verdict.result is None:
                yield verdict
                continue
            # Unless data is guarded a reply may have other keys, which cannot be ours.
            result = {
                key: each for key, each in verdict.result.items() if key not in _own
            }
            result[WINNER] = winner
            if are_known:
                is_mine = winner == verdict.row.identity["model"]
                result[WIN] = float(is_mine) if is_decided else 0.5
                result[CONSISTENT] = winners[0] == winners[1]
                result[FIRST_POSITION] = sum(map(_points.__getitem__, places)) / 2
            yield replace(verdict, result=result)


#: The name of an input, and a function that reads its records.
PairSource = tuple[str, Callable[[], Iterable[Record]]]
#: How many answers make a pair.
_BOTH = 2


def two_models(
    sources: Sequence[PairSource], wanted: Sequence[str]
) -> tuple[tuple[str, ...], dict[tuple[int, str], int]]:
    """Return the two models whose answers some sources of records have.

    They are those that are `wanted`, else the only two; or two sources with answers of
    one model each, that are called as the sources. The second part has the number of
    the model, 0 or 1, by that of the source and what answers call it. Raises
    `JudgeError` for anything else.
    """
    seen = [_models_in(records(), wanted) for _, records in sources]
    everyone = tuple(dict.fromkeys(chain(*seen)))
    listed = _listed([model for model in everyone if model])
    missing = next((model for model in wanted if model not in everyone), None)
    if missing is not None:
        raise JudgeError(f"no answer is of the model {missing!r} ({listed})")
    known = tuple(wanted) or everyone
    names = tuple(name for name, _ in sources)
    if len(known) == _BOTH and "" not in known:
        sides = {
            (at, model): known.index(model)
            for at in range(len(names))
            for model in known
        }
    elif len(names) == _BOTH and all(len(models) == 1 for models in seen):
        if names[0] == names[1]:
            raise JudgeError(f"both inputs are {names[0]}: a pair needs two")
        known, sides = names, {(at, models[0]): at for at, models in enumerate(seen)}
    elif len(everyone) > _BOTH:
        raise JudgeError(
            f"pairs need two models: choose two with `--model`, given twice ({listed})"
        )
    else:
        raise JudgeError(
            "pairs need the answers of two models in the input, or two inputs with the "
            f"answers of one model each ({listed})"
        )
    if TIE in known:
        raise JudgeError(f"a model is called {TIE}, which is a verdict on pairs")
    return known, sides


def _models_in(records: Iterable[Record], wanted: Sequence[str]) -> list[str]:
    """Return the models of the answers of records, "" for those without a model."""
    models: dict[str, None] = {}
    for record in records:
        for output in record.outputs:
            model = output.model or ""
            if len(models) < REMEMBERED_MODELS or model in wanted:
                models[model] = None
    return list(models)


def _listed(models: Sequence[str]) -> str:
    """Return the first of some models for a message, and how many others there are."""
    if not models:
        return "no answer names its model"
    return f"there are: {first_of(list(map(repr, models)))}"


_table = """CREATE TABLE answers (number INTEGER PRIMARY KEY, question BLOB,
side INTEGER, record INTEGER, answer TEXT)"""
#: The pairs in the order in which they are complete. Their record is the first one with
#: the question, since scores of records without an id are by this number.
_pairs = """CREATE TABLE pairs AS WITH placed AS (
SELECT number, question, side, min(record) OVER (PARTITION BY question) AS record,
row_number() OVER (PARTITION BY question, side ORDER BY number) AS place FROM answers)
SELECT one.record AS record, one.number AS one, two.number AS two
FROM placed AS one JOIN placed AS two USING (question, place)
WHERE one.side = 0 AND two.side = 1 ORDER BY max(one.number, two.number)"""
_both_answers = """SELECT pairs.record, first.answer, second.answer FROM pairs
JOIN answers AS first ON first.number = pairs.one
JOIN answers AS second ON second.number = pairs.two ORDER BY pairs.rowid"""


class PairRows:
    """The rows of pairs of answers, which are in a temporary file.

    Answers of two models to one question are paired in their order. Raises
    `JudgeError` unless the answers are of two models, which `wanted` may name, and if
    the file cannot be written.
    """

    def __init__(
        self,
        sources: Sequence[PairSource],
        bindings: Sequence[Binding],
        wanted: Sequence[str] = (),
    ) -> None:
        self._models, sides = two_models(sources, wanted)
        # A database without a name is a temporary file, with a small cache in memory.
        self._base = sqlite3.connect("")
        finalize(self, self._base.close)
        answers = _answers(sources, bindings, sides)
        new = "INSERT INTO answers (question, side, record, answer) VALUES (?, ?, ?, ?)"
        with _errors():
            self._base.execute(_table)
            self._base.executemany(new, answers)
            self._base.execute(_pairs)
            counts = "SELECT (SELECT count(*) FROM answers), count(*) FROM pairs"
            count, pairs = self._base.execute(counts).fetchone()
        #: How many rows there are, and how many answers without a partner.
        self.count, self.unpaired = 2 * pairs, count - 2 * pairs

    def __iter__(self) -> Iterator[JudgeRow]:
        """Yield two rows for each pair, in the order in which pairs are complete."""
        with _errors():
            pairs = self._base.execute(_both_answers)
            for number, (record, *both) in enumerate(pairs):
                yield from self._rows_of_pair(number, record, map(json.loads, both))

    def _rows_of_pair(
        self, number: int, record: int, both: Iterable[Any]
    ) -> Iterator[JudgeRow]:
        """Yield the rows of a pair, in the order of the models and in the other one."""
        sides = [*zip(self._models, both, strict=True)]
        problems = (
            f"the answer of {safe(model)}: {problem}"
            for model, (_, _, problem) in sides
            if problem
        )
        problem = next(problems, "")
        _, (own, shared, _) = sides[0]
        for order, pair in enumerate((sides, sides[::-1]), 1):
            identity = {
                "row": 2 * number + order,
                "record": record,
                **own,
                "model": pair[0][0],
                "order": order,
                "models": [model for model, _ in pair],
            }
            answers = zip((FIRST, SECOND), pair, strict=True)
            places = {name: values.get(name) for name, (_, (_, values, _)) in answers}
            yield JudgeRow({} if problem else {**shared, **places}, problem, identity)


def _answers(
    sources: Sequence[PairSource],
    bindings: Sequence[Binding],
    sides: Mapping[tuple[int, str], int],
) -> Iterator[tuple[bytes, int, int, str]]:
    """Yield each answer of both models: its question, model and record, and itself.

    The answer is JSON: the id of the record if it has one, the values of the inputs, of
    which those of `FIRST` and `SECOND` are the answer, and why it cannot be judged.
    """
    number = 0
    for at, (_, records) in enumerate(sources):
        for record in records():
            number += 1
            identity = {} if record.id is UNSET else {"record_id": record.id}
            for output in record.outputs:
                side = sides.get((at, output.model or ""))
                if side is not None:
                    row = row_of(record, output, bindings, identity)
                    answer = json.dumps((identity, row.values, row.problem))
                    yield question_key(record, number), side, number, answer


@contextmanager
def _errors() -> Generator[None, None, None]:
    """Raise `JudgeError` for an error of the temporary file."""
    try:
        yield
    except sqlite3.Error as error:
        raise JudgeError(f"temporary file: {error}") from error
