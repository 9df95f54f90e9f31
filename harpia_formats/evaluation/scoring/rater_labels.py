"""The labels that one judge, or a field of records, gives to answers."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import Any

from msgspec import UNSET

from harpia_formats.evaluation.metrics.label_counts import LONGEST, MOST_LABELS
from harpia_formats.evaluation.scoring.answers.choose_systems import distinct_names
from harpia_formats.evaluation.scoring.measures.stored_metrics import name_of
from harpia_formats.model.record import Output, Record
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError

#: The number of a label that is missing.
NO_LABEL = -1
#: Fields of records that may hold a label, and those with members that may.
_FIELDS = ("references", "gt", "category", "source")
_OPEN = ("metadata", "params", "extra")
_ANSWERS = "outputs."
_ANSWER_FIELDS = ("text", "reasoning", "extra")
#: Names of values that an error lists.
_LISTED = 20


@dataclass(slots=True)
class LabelNumbers:
    """The numbers of labels and of answers within a question, common to two raters."""

    labels: dict[str, int] = field(default_factory=dict)
    #: The model and the index of an answer, None where it has none.
    answers: dict[tuple[str | None, int | None], int] = field(default_factory=dict)


@dataclass(slots=True)
class RaterLabels:
    """The labels of one rater: of a value of verdicts, or of a field of records."""

    name: str
    path: str
    #: The labels that count; all if there are none.
    given: frozenset[str]
    numbers: LabelNumbers
    #: Of each label the number of its question, its own and that of its answer.
    questions: "array[int]" = field(default_factory=lambda: array("q"))
    labels: "array[int]" = field(default_factory=lambda: array("q"))
    answers: "array[int]" = field(default_factory=lambda: array("q"))
    #: Whether all labels are of an answer with a model, and with an index.
    has_models: bool = True
    has_indexes: bool = True
    #: How the verdicts were made.
    signatures: dict[str, None] = field(default_factory=dict)
    _known: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_field(self.path)

    @property
    def is_of_record(self) -> bool:
        """Whether a label is of a record, and so of all of its answers."""
        return is_record_field(self.path)

    def add(self, question: int, record: Record) -> None:
        """Add the labels of a record, which has the question with this number."""
        for output, value in self._values(record):
            model = None if output is None else output.model or None
            index = None
            if output is not None and isinstance(output.index, int):
                index = output.index
            self.has_models &= model is not None
            self.has_indexes &= index is not None
            key = (model, index)
            answers = self.numbers.answers
            self.questions.append(question)
            self.answers.append(answers.setdefault(key, len(answers)))
            self.labels.append(self._number_of(value))

    def _number_of(self, value: Any) -> int:
        label = label_of(value)
        if label is None or (self.given and label not in self.given):
            return NO_LABEL
        labels = self.numbers.labels
        if label not in labels and len(labels) > MOST_LABELS:
            return NO_LABEL  # `check` raises
        return labels.setdefault(label, len(labels))

    def _values(self, record: Record) -> Iterator[tuple[Output | None, Any]]:
        """Yield the value of each answer, or of the record if it is a field of that."""
        if self.is_of_record:
            yield None, _value_at(record, self.path)
            return
        outputs: list[Output | None] = [*record.outputs] or [None]
        for output in outputs:
            if output is None:
                yield None, None
            elif self.path.startswith(_ANSWERS):
                yield output, _value_at(output, self.path.removeprefix(_ANSWERS))
            else:
                yield output, self._verdict(record, output)

    def _verdict(self, record: Record, output: Output) -> Any:
        """Return the value of a verdict: a score of the answer, or a text beside it."""
        for score in output.scores or []:
            if name_of(score) == self.path:
                if isinstance(score.signature, str):
                    self.signatures[score.signature] = None
                is_given = score.value is not UNSET
                return score.value if is_given else score.is_correct
            self._know(name_of(score))
        texts = _value_at(record, "extra.judge.result")
        if not isinstance(texts, dict):
            return None
        if self.path not in texts:
            for name in texts:
                self._know(name)
        return texts.get(self.path)

    def _know(self, name: str) -> None:
        if len(self._known) < _LISTED:
            self._known[name] = None

    def check(self) -> None:
        """Raise `ScoreError` if these are no labels of one rater."""
        if len(self.signatures) > 1:
            ways = " and ".join(self.signatures)
            raise ScoreError(
                f"{self.name}: the verdicts called {self.path} were made in several "
                f"ways, and are not those of one judge: {ways}"
            )
        if len(self.numbers.labels) > MOST_LABELS:
            raise ScoreOptionsError(
                f"{self.path} has more than {MOST_LABELS} labels: these are texts or "
                "numbers without classes, not labels; `--labels A,B,C` names the labels"
            )
        if all(label == NO_LABEL for label in self.labels):
            hint = f" (there are: {', '.join(self._known)})" if self._known else ""
            of_given = "of the named labels " if self.given else ""
            raise ScoreError(
                f"{self.name}: no record has a label {of_given}in {self.path}{hint}; "
                "`--field` names another value of verdicts or another field"
            )


def is_record_field(name: str) -> bool:
    """Tell whether a name is that of a field of records, and not of answers."""
    return name in _FIELDS or name.partition(".")[0] in _OPEN


def check_field(name: str) -> None:
    """Raise `ScoreOptionsError` for a field of answers that can hold no label."""
    if name.startswith(_ANSWERS):
        first = name.removeprefix(_ANSWERS).partition(".")[0]
        if first not in _ANSWER_FIELDS:
            known = ", ".join(f"{_ANSWERS}{one}" for one in _ANSWER_FIELDS)
            raise ScoreOptionsError(f"{name} holds no labels (fields that do: {known})")


def label_of(value: Any) -> str | None:
    """Return the label in a value, None for a value that is no label.

    It is a text without the space around it, a number, or 1 for true and 0 for false. A
    list with one member has its label.
    """
    if isinstance(value, list):
        return label_of(value[0]) if len(value) == 1 else None
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        is_whole = isinstance(value, int) or value.is_integer()
        return str(int(value)) if is_whole else repr(value)
    if not isinstance(value, str):
        return None
    found = value.strip()
    return found if 0 < len(found) <= LONGEST else None


def _value_at(holder: Record | Output, path: str) -> Any:
    """Return the value at a path, None if there is none."""
    first, *rest = path.split(".")
    value: Any = getattr(holder, first)
    while rest and isinstance(value, dict):
        # A key may contain dots: the longest existing key is used.
        ends = (".".join(rest[:length]) for length in range(len(rest), 0, -1))
        key = next((end for end in ends if end in value), None)
        if key is None:
            return None
        value, rest = value[key], rest[key.count(".") + 1 :]
    return None if rest or value is UNSET else value


@dataclass(slots=True)
class LabelPairs:
    """Pairs the labels of two raters: iterate once, then read the counts.

    Labels are paired by question, and by the model and the index of the answer where
    all answers of both raters have one; several labels with equal ones in their order.
    A label of a record is paired with those of all of its answers.
    """

    raters: tuple[RaterLabels, RaterLabels]
    #: For each question its place among those that are the same for both raters.
    places: Sequence[int]
    #: Of each rater how many answers the other one does not have.
    alone: list[int] = field(default_factory=lambda: [0, 0])
    #: Of each rater how many answers that both have are without a label.
    empty: list[int] = field(default_factory=lambda: [0, 0])

    def __iter__(self) -> Iterator[tuple[int, int | None, int | None]]:
        """Yield for each answer the place of its question and both labels by number.

        They are in the order of the places. A label that is missing is None.
        """
        own = self._own_numbers()
        streams = (self._labels(side, own) for side in (0, 1))
        for key, found in groupby(merge(*streams, key=itemgetter(0)), itemgetter(0)):
            sides: tuple[list[int], list[int]] = ([], [])
            for _, side, label in found:
                sides[side].append(label)
            most = max(map(len, sides))
            both = (
                labels * most if rater.is_of_record and len(labels) == 1 else labels
                for rater, labels in zip(self.raters, sides, strict=True)
            )
            for pair in zip_longest(*both):
                yield key // len(own), *self._counted(pair)

    def _own_numbers(self) -> list[int]:
        """Return for each number of an answer that of the parts which are compared."""
        first, second = self.raters
        is_whole = first.is_of_record or second.is_of_record
        by_model = not is_whole and first.has_models and second.has_models
        by_index = not is_whole and first.has_indexes and second.has_indexes
        found: dict[tuple[object, object], int] = {}
        return [
            found.setdefault((by_model and model, by_index and index), len(found))
            for model, index in first.numbers.answers
        ]

    def _labels(self, side: int, own: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        """Yield the labels of a rater in the order of their keys, those with the side.

        The key is of the place of the question and the number of the answer.
        """
        rater = self.raters[side]
        keys = array("q")
        for question, answer in zip(rater.questions, rater.answers, strict=True):
            keys.append(int(self.places[question]) * len(own) + own[answer])
        for at in sorted(range(len(keys)), key=keys.__getitem__):
            yield keys[at], side, rater.labels[at]

    def _counted(self, pair: Sequence[int | None]) -> list[int | None]:
        """Return a pair with None for what is missing, which is counted."""
        for side, label in enumerate(pair):
            if label is None:
                self.alone[1 - side] += 1
        if None not in pair:
            for side, label in enumerate(pair):
                self.empty[side] += label == NO_LABEL
        return [None if label == NO_LABEL else label for label in pair]


#: The value of verdicts that is compared if none is named.
FIELD = "score"


def fields_of_both(inputs: int, fields: Sequence[str]) -> tuple[str, str]:
    """Return the field of each rater; raises `ScoreOptionsError`."""
    if inputs not in (1, 2):
        raise ScoreOptionsError(
            "name two files with the labels of the same answers, or one file and two "
            "fields with `--field`"
        )
    if len(fields) > 2 or (inputs == 1 and len(fields) != 2):  # noqa: PLR2004 - both are two
        needs = "one file needs" if inputs == 1 else "two raters have at most"
        given = "1 is given" if len(fields) == 1 else f"{len(fields)} are given"
        raise ScoreOptionsError(f"{needs} two fields, and {given} with `--field`")
    first, *others = fields or (FIELD,)
    return first, (*others, first)[0]


def rater_names(sources: Sequence[str], fields: Sequence[str]) -> Sequence[str]:
    """Return what both raters are called: by their inputs, else by their fields."""
    if len(sources) == 1:
        names = list(fields)
    else:
        # Data in memory has names such as <rows>.
        named = (
            f"input {number}" if source.startswith("<") else source
            for number, source in enumerate(sources, 1)
        )
        names = distinct_names((None, source) for source in named)
    if names[0] != names[1]:
        return names
    return [f"{name} #{number}" for number, name in enumerate(names, 1)]


def given_labels(labels: Sequence[object]) -> tuple[str, ...]:
    """Return the labels that options name; raises `ScoreOptionsError`."""
    found = [name for one in labels if (name := label_of(one)) is not None]
    is_list = len(set(found)) == len(labels) and len(labels) != 1
    if not is_list or len(found) > MOST_LABELS:
        raise ScoreOptionsError(
            f"labels must be 2 to {MOST_LABELS} different texts or numbers"
        )
    return tuple(found)
