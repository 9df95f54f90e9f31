"""Findings: what is wrong with one row, before a message is made of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_formats.files.parsing.json_fault import Fault, FaultKind
from harpia_formats.files.parsing.json_syntax import find_fault
from harpia_formats.files.parsing.locate import repeated_paths
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.exact_paths import value_at
from harpia_formats.validation.diagnosis.root_causes import Cause

#: The rules on a record of another format, and on one with very many schema errors.
OTHER_FORMAT, MORE_ERRORS = "S203", "S106"
#: What differs between faults of one kind: places, bytes and characters.
_particular = re.compile(
    r"(?<=found )\S+(?= instead of )|(?<=backslash before )\S+|0x\w+|U\+\w+|\d+"
)
_rule_of_fault = {
    FaultKind.SYNTAX: "J101",
    FaultKind.TRUNCATED: "J102",
    FaultKind.UTF8: "J103",
    FaultKind.SURROGATE: "J104",
    FaultKind.CONSTANT: "J106",
    FaultKind.NUMBER: "J107",
    FaultKind.NESTING: "J108",
    FaultKind.CONTROL: "J109",
}


class RepeatedKey(msgspec.Struct, frozen=True):
    """A key that an object of a row has again; its place is found if it is worded."""

    path: Path
    #: How many repeated keys are before it in the row.
    before: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with one row of a chunk."""

    code: str
    #: Index of the row in its chunk.
    row: int
    #: The JSON syntax error, the repeated key, the root cause of schema errors, or
    #: the remark of the format.
    about: Fault | RepeatedKey | Cause | Remark
    #: The decoded row, where it parses.
    value: Any = None

    @property
    def path(self) -> Path:
        """The path of the value in the row that it is about."""
        return () if isinstance(self.about, Fault) else self.about.path

    @property
    def missing_key(self) -> str:
        """The key that is missing at the path, "" if none is."""
        if not isinstance(self.about, Cause) or self.about.intended:
            return ""
        first = self.about.errors[0]
        return str(first.detail) if first.keyword == "required" else ""

    @property
    def cause(self) -> str:
        """What equal findings share beside the code and the path."""
        about = self.about
        if isinstance(about, Cause):
            is_null = about.errors[0].keyword == "type" and (
                value_at(self.value, about.errors[0].path) is None
            )
            # What may not be null may mostly be left out.
            return f"{about.identity} null" if is_null else about.identity
        if isinstance(about, Fault):
            return _particular.sub("…", about.message)
        if self.code == OTHER_FORMAT:
            return about.message  # type: ignore[union-attr]  # a remark
        milder = getattr(about, "severity", None)
        return "" if milder is None else str(milder.value)

    @property
    def is_fault(self) -> bool:
        """Whether the row is no JSON, so that nothing else of it can be validated."""
        return isinstance(self.about, Fault)

    @property
    def is_refusal(self) -> bool:
        """Whether the schema refuses the row, which may be one of another format."""
        return isinstance(self.about, Cause) or self.code in {OTHER_FORMAT, MORE_ERRORS}


class SharedFindings(msgspec.Struct, frozen=True):
    """All findings on one row, which many rows share: made only if they are worded."""

    #: Index of the row in its chunk.
    row: int
    #: The root causes of its schema errors, the same object for all of the rows.
    causes: tuple[Cause, ...]
    #: The decoded row.
    value: Any

    def findings(self) -> list[Finding]:
        """Return the finding of each cause."""
        row, value = self.row, self.value
        return [Finding(cause.code, row, cause, value) for cause in self.causes]

    def typed_paths(self) -> tuple[Path, ...]:
        """Return the paths of the values that have a wrong type."""
        firsts = (cause.errors[0] for cause in self.causes)
        return tuple(first.path for first in firsts if first.keyword == "type")

    def nulls_at(self, paths: tuple[Path, ...]) -> tuple[bool, ...]:
        """Return which of the values at `paths` are null."""
        return tuple([value_at(self.value, path) is None for path in paths])


def find_json_fault(row: int, text: bytes) -> Finding | None:
    """Return the JSON syntax error in the `text` of a row, None if it has none."""
    fault = find_fault(text)
    return Finding(_rule_of_fault[fault.kind], row, fault) if fault else None


def find_repeated_keys(row: int, text: bytes, value: Any) -> Iterator[Finding]:
    """Yield a finding for each repeated key of an object in the `text` of a row.

    `value` is the decoded row.
    """
    for before, path in enumerate(repeated_paths(text)):
        yield Finding("J105", row, RepeatedKey(path, before), value)
