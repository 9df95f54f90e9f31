"""The outcome of an expectation, before it becomes a check and problems."""

from dataclasses import dataclass, replace

from harpia_formats.expectations.findings import RecordFindings
from harpia_formats.model.report import FileCount
from harpia_formats.model.text.words import with_noun


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found of one expectation, in words."""

    #: The key that states it, "" for one that always holds.
    key: str
    #: What is expected, such as "records at least 1,000".
    expected: str
    #: What was found, such as "1,204".
    found: str
    #: None if it is not known.
    is_met: bool | None
    #: The rule of its findings, "" if it has none of its own.
    code: str = ""
    #: The findings at records, and their rule if it is another one.
    records: RecordFindings | None = None
    record_code: str = ""
    #: Files as a whole that break it, with what is wrong with each.
    files: tuple[tuple[FileCount, str], ...] = ()
    #: What is wrong with the data set as a whole, each at the line that states it.
    messages: tuple[str, ...] = ()
    #: For each of these, what values of records tell of it, or nothing at all.
    hints: tuple[str, ...] = ()
    help: str = ""
    #: The value that is stated, as it is shown with findings in data.
    value: object = ""
    #: Whether its findings are true only if all records were read.
    needs_all: bool = False
    #: Whether `found` certainly holds no value of a record; and what is shown in its
    #: place where it may hold some.
    hides_values: bool = False
    found_without_values: str = ""
    #: The member of the key's value that it is about, such as a field, "" for all.
    item: str = ""
    #: Why it is not known whether it is met, if records were read and it is not.
    unknown: str = ""

    def without_records(self, number: int) -> "Outcome":
        """Return the outcome, which says that `number` records are not compared."""
        if not number:
            return self
        left_out = f"{with_noun(number, 'invalid record')} not compared"
        return replace(self, found="; ".join(filter(None, (self.found, left_out))))

    def of_part(self) -> "Outcome":
        """Return the outcome where some records could not be read: it is never met."""
        found = self.records is not None and self.records.total
        is_broken = bool(found) and not self.needs_all
        return replace(self, is_met=False if is_broken else None, messages=(), hints=())
