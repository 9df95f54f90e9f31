"""The report of a comparison: which fields of how many records differ."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from harpia_formats.conversion.comparison.differences import Difference, differences
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.model.errors import ConversionError
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Record
from harpia_formats.model.report import Report, validation_failed
from harpia_formats.model.result import Result


@dataclass(slots=True)
class FieldDifferences:
    """A field that differs in some records, with the first of them as an example."""

    path: str
    #: Records in which it differs.
    count: int = 0
    example: Difference | None = None
    place: Place | None = None
    #: Why there is nothing to compare; "" if there is.
    reason: str = ""


@dataclass(slots=True, repr=False)
class DifferenceReport(Result):
    """What differs between two data sets, or before and after a round trip."""

    columns: ClassVar = tuple("field records left right path line reason".split())

    records: int = 0
    #: Records in which some field differs.
    differing: int = 0
    #: Fields of headers that differ.
    headers: int = 0
    #: Ids that several rows of a round trip would have, which a conversion refuses.
    repeated: int = 0
    #: Records that only one side has.
    only_left: int = 0
    only_right: int = 0
    #: Invalid records that were left out, as the options ask.
    skipped: int = 0
    fields: dict[str, FieldDifferences] = field(default_factory=dict)
    #: The validation of the inputs: of an invalid or unreadable one of two, if any is.
    report: Report | None = None
    #: The validations of both inputs of `diff`, of which `report` is one.
    reports: tuple[Report, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything was read and compared, and nothing differs."""
        compared = self.records or not self.skipped
        differs = self.differing or self.headers or self.repeated
        same = not (differs or self.only_left or self.only_right)
        return self.is_read and bool(compared) and same

    @property
    def is_read(self) -> bool:
        """Whether everything was read but for records that the options leave out."""
        report = self.report
        return report is None or report.ok or bool(self.skipped and not report.failures)

    def headline(self) -> str:
        """Return how many records differ in one line."""
        records = "1 record" if self.records == 1 else f"{self.records:,} records"
        counts = f"{records} compared, {self.differing:,} differ"
        alone = f"{self.only_left:,} and {self.only_right:,} are on one side only"
        return f"{counts}, {alone}"

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each field that differs, with the first example of it."""
        return [
            {
                "field": line.path,
                "records": line.count,
                "left": None if line.example is None else line.example.shown_left,
                "right": None if line.example is None else line.example.shown_right,
                "path": line.place and line.place.full_path,
                "line": line.place and line.place.line,
                "reason": line.reason,
            }
            for line in self.fields.values()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data that can be written as JSON."""
        kept = "records differing headers repeated only_left only_right skipped"
        return {
            "ok": self.ok,
            **{name: getattr(self, name) for name in kept.split()},
            "fields": self.table(),
            "report": None if self.report is None else self.report.to_dict(),
        }

    def raise_for_errors(self) -> None:
        """Raise `ValidationFailed`, with this report as its result, unless all is read.

        Differences are no error.
        """
        if self.report is not None and not self.is_read:
            raise validation_failed(self.report, self)

    def compare(self, left: Record, right: Record, place: Callable[[], Place]) -> None:
        """Count the fields in which two records differ; `place` is called if needed."""
        found = first_by_path(differences(left, right))
        self.records += 1
        self.differing += bool(found)
        for difference in found:
            path = difference.path
            line = self.fields.get(path)
            if line is None:
                line = self.fields[path] = FieldDifferences(
                    path, 0, difference, place()
                )
            line.count += 1

    def fail(self, path: str, reason: str, place: Callable[[], Place]) -> None:
        """Count a record that cannot be converted; `place` is called if needed."""
        self.records += 1
        self.differing += 1
        key = f"{path} "
        line = self.fields.get(key)
        if line is None:
            line = FieldDifferences(path, 0, None, place(), reason)
            self.fields[key] = line
        line.count += 1


def first_by_path(differing: Iterable[Difference]) -> list[Difference]:
    """Return the first difference at each path, where several outputs may differ."""
    found: dict[str, Difference] = {}
    for difference in differing:
        found.setdefault(difference.path, difference)
    return list(found.values())


def refuse_quarantine(options: ConvertOptions) -> None:
    """Raise `ConversionError` if rows are to be put aside: a comparison writes none."""
    if options.on_invalid is OnInvalid.QUARANTINE:
        raise ConversionError("rows are put aside by conversions only: fail or skip")
