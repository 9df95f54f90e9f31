"""How to convert."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO

from harpia_formats.framing.limits import ROW_LIMIT
from harpia_formats.io.source import ReadProgress
from harpia_formats.mapping.choices import Choices, References, Responses, Turns
from harpia_formats.mapping.columns import check_field_names

if TYPE_CHECKING:  # most runs have none
    from concurrent.futures import Executor


class OnLoss(StrEnum):
    """What to do where something is lost."""

    REPORT = "report"
    FAIL = "fail"
    IGNORE = "ignore"


class OnInvalid(StrEnum):
    """What to do with a row that is not valid, or cannot be converted."""

    FAIL = "fail"
    SKIP = "skip"
    QUARANTINE = "quarantine"


class ContainerKind(StrEnum):
    """How rows are put together where a format allows both."""

    ARRAY = "array"
    LINES = "lines"


#: The metrics whose score of 1 says that an answer is right.
FILLING_METRICS = ("em", "f1")


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """How to convert; the defaults are those of the command line.

    Raises `ValueError` or `TypeError` for what no conversion could mean.
    """

    #: The format of the inputs, recognised if None.
    from_: str | None = None
    references: References | str = References.FIRST
    responses: Responses | str = Responses.EXPAND
    turns: Turns | str = Turns.LAST
    #: The model whose answers are taken; all if None.
    model: str | None = None
    #: The field by which rows become one record: `id`, `prompt` or another.
    group: str | None = None
    #: The column of each field, where a table is read or written.
    columns: Mapping[str, str] | None = None
    #: By the name of the output, or by the format, if None.
    container: ContainerKind | str | None = None
    #: What records get that lack it, by the name of the field.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: The metric that scores answers without a score.
    score: str | None = None
    on_loss: OnLoss | str = OnLoss.REPORT
    on_invalid: OnInvalid | str = OnInvalid.FAIL
    keep_extra: bool = False
    #: Whether ids get the name of their file in front.
    prefix_ids: bool = False
    overwrite: bool = False
    #: Where rows go that are not valid; beside the output if None.
    quarantine: PathLike[str] | str | None = None
    max_row_bytes: int = ROW_LIMIT
    #: Worker processes; 0 for as many as there are processors.
    jobs: int = 0
    #: Does the work of large runs instead, `jobs` pieces at once if that is given.
    executor: "Executor | None" = None
    #: The address of a cluster that does it: `dask://host:port`.
    engine: str | None = None
    #: Called now and then with the file that is read, as far as it is.
    progress: Callable[[ReadProgress], None] | None = None

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _one_of(kind, name, value))
        if self.quarantine is not None and self.on_invalid is not OnInvalid.QUARANTINE:
            raise ValueError('quarantine is the file of on_invalid="quarantine"')
        if self.columns is not None:
            check_field_names(self.columns)
        if self.jobs < 0 or self.max_row_bytes < 1:
            raise ValueError("jobs and max_row_bytes must not be negative")
        if self.engine is not None or self.executor is not None:
            from harpia_formats.workers.engine import check_engine  # noqa: PLC0415 - most runs have none

            check_engine(self.engine, self.executor)

    def choices(self, constants: Mapping[str, Any]) -> Choices:
        """Return the choices that concern single records."""
        return Choices(
            references=References(self.references),
            responses=Responses(self.responses),
            turns=Turns(self.turns),
            model=self.model,
            constants=constants,
            keep_extra=self.keep_extra,
        )


_KINDS: dict[str, type[StrEnum]] = {
    "references": References,
    "responses": Responses,
    "turns": Turns,
    "container": ContainerKind,
    "on_loss": OnLoss,
    "on_invalid": OnInvalid,
}

#: What a conversion writes to.
Output = str | PathLike[str] | BinaryIO | None


def _one_of(kind: type[StrEnum], name: str, value: Any) -> StrEnum:
    try:
        return kind(value)
    except ValueError:
        from harpia_formats.text.spelling import nearest  # noqa: PLC0415 - for mistakes only

        known = ", ".join(kind)
        near = nearest(str(value), kind)
        hint = f"; did you mean {near!s}?" if near else ""
        reason = f"{name} is one of {known}, not {value!r}{hint}"
        raise ValueError(reason) from None
