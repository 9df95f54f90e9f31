"""The labels that one judge, or a field of records, gives to answers."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from harpia_formats.evaluation.metrics.label_reading import LONGEST, MOST_LABELS
from harpia_formats.evaluation.scoring.stored_scores import name_of
from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError
from harpia_formats.model.record import Output, Record

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
                "numbers without classes, not labels; --labels A,B,C names the labels"
            )
        if all(label == NO_LABEL for label in self.labels):
            hint = f" (there are: {', '.join(self._known)})" if self._known else ""
            of_given = "of the named labels " if self.given else ""
            raise ScoreError(
                f"{self.name}: no record has a label {of_given}in {self.path}{hint}; "
                "--field names another value of verdicts or another field"
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
