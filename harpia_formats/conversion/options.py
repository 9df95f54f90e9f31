"""The options of a conversion, checked when they are made."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from typing import Any, BinaryIO, Protocol, TypeVar

from harpia_formats.conversion.mapping.choices import (
    Choices,
    Prompt,
    ReferenceFrom,
    References,
    Responses,
    Turns,
)
from harpia_formats.conversion.reading.reading_options import ReadingOptions
from harpia_formats.model.problem import ConversionError, OptionError
from harpia_formats.model.spelling import hint_on


class OnLoss(StrEnum):
    """What to do if the conversion loses something."""

    REPORT = "report"
    FAIL = "fail"
    IGNORE = "ignore"


class OnInvalid(StrEnum):
    """What to do with a row that is invalid or cannot be converted."""

    FAIL = "fail"
    SKIP = "skip"
    QUARANTINE = "quarantine"


class Ids(StrEnum):
    """The ids that records get."""

    #: Their own.
    KEEP = "keep"
    #: The number of the record in all of the input, after `group` merged records.
    NUMBER = "number"
    #: A hash of what the record asks, so that records that ask the same have one id.
    HASH = "hash"


class ContainerKind(StrEnum):
    """The container of rows, for formats that allow both."""

    ARRAY = "array"
    LINES = "lines"


#: The metrics that can fill scores: a score of 1 means that the answer is correct.
FILLING_METRICS = ("em", "f1")


#: Marks a field that is no option of the user.
NO_OPTION = {"is_option": False}


class FillingMeasure(Protocol):
    """Scores one answer by references; a score of 1 means that it is correct."""

    @property
    def signature(self) -> str:
        """The signature of the scores."""

    def statistics(self, answer: str, references: Sequence[str], /) -> Any:
        """Return the statistics of an answer."""

    def scores(self, statistics: Any, /) -> Sequence[float | None]:
        """Return the scores of statistics, of which there is one here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions(ReadingOptions):
    """The options of a conversion; the defaults are those of the command line.

    Raises `OptionError` or `ConversionError` for values that no conversion can meet.
    """

    references: References | str = References.FIRST
    #: What the reference of a record is: its `references`, or its `gt` if it has one.
    reference_from: ReferenceFrom | str = ReferenceFrom.REFERENCES
    #: None for a row each, and for the list where rows of a format become its rows.
    responses: Responses | str | None = None
    turns: Turns | str = Turns.LAST
    #: The model whose answers are converted; None for all.
    model: str | None = None
    #: The prompt that is written: the question, or what the model got.
    prompt: Prompt | str = Prompt.QUESTION
    #: The filter of a harness whose scores and extractions are converted, or "all";
    #: None for the first one where a row has room for one.
    filter: str | None = None
    #: The metric whose scores are converted; None for all.
    metric: str | None = None
    #: The lowest score of a correct answer, where rows say whether answers are correct
    #: and scores do not.
    correct_from: float | None = None
    #: The field by which rows are merged to one record: `id`, `prompt` or another.
    group: str | None = None
    #: Whether cells of CSV that a spreadsheet would run are written with a mark.
    csv_safe: bool = False
    #: None to choose by the name of the output, or by the format.
    container: ContainerKind | str | None = None
    #: Values for fields that a record lacks, by the name of the field.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: The metric that scores answers without a score; None for no metric.
    score: str | None = None
    #: Returns the measure of the metric `score`: conversion knows no metrics.
    filling_measure: Callable[[str], "FillingMeasure"] | None = field(
        default=None, metadata=NO_OPTION
    )
    on_loss: OnLoss | str = OnLoss.REPORT
    on_invalid: OnInvalid | str = OnInvalid.FAIL
    keep_extra: bool = False
    ids: Ids | str = Ids.KEEP
    #: Whether the name of its file is put in front of each id.
    prefix_ids: bool = False
    overwrite: bool = False
    #: The file for invalid rows; None for one next to the output.
    quarantine: PathLike[str] | str | None = None
    #: The file for a report of the losses in JSON; None to write none.
    loss_report: PathLike[str] | str | None = None

    def __post_init__(self) -> None:
        ReadingOptions.__post_init__(self)
        for name, enum in _ENUMS.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, member_of(enum, name, value))
        if self.quarantine is not None and self.on_invalid is not OnInvalid.QUARANTINE:
            raise OptionError('quarantine is the file of on_invalid="quarantine"')
        if self.prefix_ids and self.ids is Ids.NUMBER:
            raise ConversionError(
                "`--prefix-ids` is for ids that files have, and `--ids number` "
                "replaces them by numbers that no two records share"
            )
        if self.correct_from is not None and not math.isfinite(self.correct_from):
            raise OptionError(f"correct_from is a number, not {self.correct_from}")

    def choices(self, constants: Mapping[str, Any]) -> Choices:
        """Return the options for single records, with `constants` by field path."""
        return Choices(
            references=References(self.references),
            responses=Responses(self.responses or Responses.EXPAND),
            keeps_own_lists=self.responses is None,
            turns=Turns(self.turns),
            model=self.model,
            prompt=Prompt(self.prompt),
            filter=self.filter,
            metric=self.metric,
            correct_from=self.correct_from,
            constants=constants,
            keep_extra=self.keep_extra,
        )


_ENUMS: dict[str, type[StrEnum]] = {
    "references": References,
    "reference_from": ReferenceFrom,
    "responses": Responses,
    "turns": Turns,
    "prompt": Prompt,
    "ids": Ids,
    "container": ContainerKind,
    "on_loss": OnLoss,
    "on_invalid": OnInvalid,
}

_Choice = TypeVar("_Choice", bound=StrEnum)
#: A path, an open binary file, or None for standard output.
Output = str | PathLike[str] | BinaryIO | None


def member_of(enum: type[_Choice], name: str, value: Any) -> _Choice:
    """Return the member of `enum` with a value; raises `OptionError`."""
    try:
        return enum(value)
    except ValueError:
        hint = hint_on(str(value), enum)
        raise OptionError(f"{name} cannot be {value!r}{hint}") from None
