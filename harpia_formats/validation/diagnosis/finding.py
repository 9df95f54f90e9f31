"""What is wrong with one row, not yet put into words; imported only where needed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.parsing.json_fault import Fault, FaultKind
from harpia_formats.parsing.json_syntax import find_fault
from harpia_formats.parsing.locate import Duplicate, duplicates
from harpia_formats.validation.diagnosis.root_causes import Cause

#: The rule on a record of another format.
OTHER_FORMAT = "S203"
#: The rule on a key that is missing.
MISSING_KEY = "S101"
_fault_codes = {
    FaultKind.SYNTAX: "J101",
    FaultKind.TRUNCATED: "J102",
    FaultKind.UTF8: "J103",
    FaultKind.SURROGATE: "J104",
    FaultKind.CONSTANT: "J106",
    FaultKind.NUMBER: "J107",
    FaultKind.NESTING: "J108",
    FaultKind.CONTROL: "J109",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with one row of a chunk."""

    code: str
    #: Index of the row in its chunk.
    row: int
    #: The text that does not parse, the repeated key, or what the schema or the
    #: format says.
    about: Fault | Duplicate | Cause | Remark
    #: The decoded row, where it parses.
    value: Any = None

    @property
    def path(self) -> Path:
        """Where in the row."""
        return () if isinstance(self.about, Fault) else self.about.path

    @property
    def missing_key(self) -> str:
        """The key that is missing at the path, empty if none is."""
        if self.code != MISSING_KEY or not isinstance(self.about, Cause):
            return ""
        return str(self.about.violations[0].detail)

    @property
    def is_fault(self) -> bool:
        """Whether the row does not parse, so that nothing else can be said of it."""
        return isinstance(self.about, Fault)

    @property
    def is_refusal(self) -> bool:
        """Whether the schema says it, or another format that says why it does."""
        return isinstance(self.about, Cause) or self.code == OTHER_FORMAT


def fault_in(row: int, text: bytes) -> Finding | None:
    """Return why `text` is not a row that we accept, or None if it is one."""
    fault = find_fault(text)
    return Finding(_fault_codes[fault.kind], row, fault) if fault else None


def repeated_keys(row: int, text: bytes, value: Any) -> Iterator[Finding]:
    """Yield each key that an object of `text` has once more."""
    for each in duplicates(text):
        yield Finding("J105", row, each, value)
