"""The report of a conversion, and the totals from which it is made."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from harpia_formats.conversion.loss_counts import FateCounts
from harpia_formats.conversion.source_names import SourceNames
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.field_fates import Fate
from harpia_formats.model.format import Format
from harpia_formats.model.report import FileCount, Report, validation_failed
from harpia_formats.model.result import Result, as_plain

#: The fates that lose something.
LOSSES = frozenset({Fate.DROPPED, Fate.CHANGED, Fate.MERGED})


class StopConversion(Exception):  # noqa: N818 - not an error
    """No more input is to be read: the conversion cannot succeed any more."""


_NOTHING = "nothing was written"


@dataclass(slots=True)
class FileLosses:
    """The losses of one input file."""

    path: str
    source: Format | None = None
    losses: FateCounts = field(default_factory=FateCounts)

    @property
    def has_loss(self) -> bool:
        """Whether a field of some record was dropped, changed or merged."""
        return any(field_fate.fate in LOSSES for field_fate in self.losses.counts)

    @property
    def lost_fields(self) -> Iterator[str]:
        """The names of the fields that were dropped, changed or merged."""
        names = self.losses.names
        return (
            names.of(fate.path) for fate in self.losses.counts if fate.fate in LOSSES
        )


@dataclass(frozen=True, slots=True, repr=False)
class ConversionReport(Result):
    """The outcome of a conversion: what was written, and what was lost."""

    columns: ClassVar = tuple("path field fate how records line column".split())

    #: The validation of the inputs.
    report: Report
    #: The id of the format that was written.
    target: str
    #: The names of the files that were written, and the number of rows in them.
    outputs: tuple[str, ...]
    rows: int
    #: Records that were left out because they are invalid or cannot be converted.
    skipped: int
    losses: tuple[FileLosses, ...]
    #: Whether the output was written.
    written: bool
    #: Whether `on_loss="fail"` stopped the conversion.
    failed_by_loss: bool = False
    #: Whether the output is a stream that holds only a part of the rows.
    is_cut: bool = False
    #: The names of the files with the rows that were put aside, and their findings.
    quarantine: tuple[str, ...] = ()
    #: What the user should know of the output files, such as names that were changed.
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every input was read and the output was written.

        That is not so if a record has no verdict: no option leaves it out.
        """
        is_open = any(file.undetermined for file in self.report.files)
        return self.written and not (self.report.failures or is_open)

    def raise_for_errors(self) -> None:
        """Raise `ValidationFailed`, with this report as its result, unless it is `ok`.

        A conversion is `ok` that left invalid records out as its options ask.
        """
        if self.ok:
            return
        reason = ""
        if self.failed_by_loss:
            fields = chain.from_iterable(file.lost_fields for file in self.losses)
            lost = dict.fromkeys(fields)
            reason = f"{self.nothing}, because it would lose {', '.join(lost)}"
        elif self.is_empty:
            reason = f"{self.nothing}, because there is no record in the input"
        raise validation_failed(self.report, self, reason)

    @property
    def is_empty(self) -> bool:
        """Whether the input is valid and has no record, so that there is no output."""
        records = sum(file.records for file in self.report.files)
        return self.report.ok and not records and not self.written

    @property
    def nothing(self) -> str:
        """What a conversion that failed has left behind."""
        names = ", ".join(self.outputs)
        return f"the output in {names} is not complete" if self.is_cut else _NOTHING

    def headline(self) -> str:
        """Return what was written in one line."""
        if not self.written:
            names = " and ".join(self.quarantine)
            what = f"no row was written, only {names}" if names else self.nothing
            return f"{what}, {self.skipped:,} records left out"
        names = ", ".join(self.outputs)
        lost = "lossless" if self.lossless else "with losses"
        return f"{names}: {self.rows:,} rows of {self.target}, {lost}"

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each fate of each field in each file, with its first place.

        A field that arrived unchanged in all records has no row.
        """
        return [
            {
                "path": file.path,
                "field": file.losses.names.of(loss.field_fate.path),
                "fate": loss.field_fate.fate.name.lower(),
                "how": loss.field_fate.how,
                "records": loss.count,
                "line": loss.place and loss.place.line,
                "column": loss.place and loss.place.column,
            }
            for file in self.losses
            for loss in file.losses.counts.values()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data that can be written as JSON."""
        kept = "target outputs written skipped failed_by_loss quarantine notes lossless"
        return {
            "ok": self.ok,
            **{name: as_plain(getattr(self, name)) for name in kept.split()},
            "rows": self.rows,
            "losses": self.table(),
            "report": self.report.to_dict(),
        }

    @property
    def lossless(self) -> bool:
        """Whether no file had a loss."""
        return not any(file.has_loss for file in self.losses)


class ConversionTotals:
    """The counts and losses of the files read so far; the last is being read."""

    def __init__(self, *, loss_fails: bool) -> None:
        self._loss_fails = loss_fails
        #: Whether a loss made the conversion fail.
        self.failed_by_loss = False
        self.files: list[FileLosses] = []
        self.counts: list[FileCount] = []
        self.variants: list[FormatVariant] = []
        #: Records that were converted, and those that were left out.
        self.records = self.skipped = 0
        #: What `--prefix-ids` puts in front of the ids of the current file.
        self.prefix = ""
        #: How many files have had each stem.
        self._stems: Counter[str] = Counter()

    def begin(self, variant: FormatVariant, count: FileCount) -> None:
        """Go on to the next file."""
        adapter = adapter_of(variant.format)
        named = adapter.named_by_dialect.get(variant.dialect.name, adapter)
        names = SourceNames(named)
        self.files.append(FileLosses(count.path, variant.format, FateCounts(names)))
        self.counts.append(count)
        self.variants.append(variant)
        stem = Path(count.path).name.split(".")[0]
        self._stems[stem] += 1
        number = self._stems[stem]
        self.prefix = f"{stem}/" if number == 1 else f"{stem}-{number}/"

    @property
    def losses(self) -> FateCounts:
        """The losses of the current file."""
        return self.files[-1].losses

    @property
    def current(self) -> int:
        """The index of the current file."""
        return len(self.files) - 1

    def check_loss(self) -> bool:
        """Tell, and remember, whether a loss makes the conversion fail."""
        if self._loss_fails and any(file.has_loss for file in self.files):
            self.failed_by_loss = True
        return self.failed_by_loss

    def stop_at_loss(self) -> None:
        """Raise `StopConversion` if a loss makes the conversion fail."""
        if self.check_loss():
            raise StopConversion
