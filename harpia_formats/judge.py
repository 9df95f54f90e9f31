"""Judge the rows of a chunk: the fast lane first, the referee for the rest."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs
import msgspec

from harpia_formats.causes import Advise, Cause, root_causes
from harpia_formats.fault import Fault, FaultKind
from harpia_formats.framing import is_blank
from harpia_formats.lane import (
    EXTRAS_LIMIT,
    Lane,
    Location,
    Unsuitable,
    lane_of,
    unknown_members,
)
from harpia_formats.scan import DEPTH_LIMIT, Duplicate, duplicates, find_fault

#: Valid rows that the referee judges before a lane is built.
ROWS_BEFORE_LANE = 64
#: Lanes that are built for one file, each knowing more keys than the one before.
LANES = 8

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
#: A colon written as an escape; the backslashes before it stand for themselves.
_escaped_colon = re.compile(rb"(?<!\\)(?:\\\\)*\\u003[aA]")
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
_not_json = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one row of a chunk, not yet put into words."""

    code: str
    #: Index of the row in its chunk.
    row: int
    #: The text that does not parse, the repeated key, or what the schema says.
    about: Fault | Duplicate | Cause
    #: The decoded row, where it parses.
    value: Any = None

    @property
    def path(self) -> tuple[str | int, ...]:
        """Where in the row."""
        return () if isinstance(self.about, Fault) else self.about.path


@dataclass(slots=True)
class Verdict:
    """The outcome of one chunk."""

    records: int = 0
    blank: list[int] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class Disagreement(Exception):  # noqa: N818 - reads as what happened
    """The referee and the reference engine differ on a record: a bug of ours."""

    def __init__(self, row: int, *, referee: bool) -> None:
        super().__init__(row, referee)
        self.row = row
        self.referee = referee

    def __str__(self) -> str:
        ours, theirs = ("valid", "invalid") if self.referee else ("invalid", "valid")
        return f"we say {ours}, the reference engine says {theirs}"


def colons(data: bytes) -> int:
    """Count the colons in JSON text, written plainly or as an escape."""
    count = data.count(b":")
    if b"\\u003" in data:
        count += len(_escaped_colon.findall(data))
    return count


def referee_of(
    schema: dict[str, Any] | bool, *, formats: bool = False
) -> jsonschema_rs.Draft7Validator:
    """Return the exact engine for `schema`, offline.

    Patterns run in linear time; only one that needs look-around or back-references
    gets the engine that may give up.
    """
    try:
        return jsonschema_rs.Draft7Validator(
            schema,
            offline=True,
            validate_formats=formats,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except jsonschema_rs.ValidationError:
        return jsonschema_rs.Draft7Validator(
            schema, offline=True, validate_formats=formats
        )


class Judge:
    """Judges rows by one schema; it learns, so one judge serves one file."""

    def __init__(
        self,
        schema: dict[str, Any] | bool,
        advise: Advise,
        *,
        formats: bool = False,
        repeated_keys: bool = True,
        second_opinion: Callable[[Any], bool] | None = None,
    ) -> None:
        self._schema = schema
        self._advise = advise
        self.referee = referee_of(schema, formats=formats)
        self._learner = Learner(schema, formats=formats)
        self._duplicates = repeated_keys
        self._second_opinion = second_opinion

    def judge(self, rows: list[bytes]) -> Verdict:
        """Return what is wrong with `rows`, in order."""
        verdict = Verdict()
        lane = self._learner.lane
        accept = lane.accept if lane else None
        accepted: list[Any] = []
        texts: list[tuple[int, bytes]] = []
        for number, text in enumerate(rows):
            value = accept(text) if accept else None
            if value is None:
                self._judge_slowly(number, text, verdict)
            else:
                accepted.append(value)
                texts.append((number, text))
        if accepted and self._duplicates:
            self._check_keys(accepted, texts, verdict)
        verdict.records = len(rows) - len(verdict.blank)
        if self._second_opinion is not None:
            self._compare(rows, verdict)
        verdict.findings.sort(key=lambda each: each.row)
        return verdict

    def _judge_slowly(self, number: int, text: bytes, verdict: Verdict) -> None:
        if is_blank(text):
            verdict.blank.append(number)
            return
        value, fault = self._decoded(text)
        if fault is not None:
            code = _fault_codes[fault.kind]
            verdict.findings.append(Finding(code, number, fault))
            return
        if self._duplicates and colons(_encode(value)) != colons(text):
            verdict.findings += self._repeated(number, text, value)
        if self.referee.is_valid(value):
            self._learner.learn(value)
            return
        errors = self.referee.iter_errors(value)
        causes = root_causes(value, errors, self._schema, self._advise)
        verdict.findings += [Finding(each.code, number, each, value) for each in causes]

    @staticmethod
    def _decoded(text: bytes) -> tuple[Any, Fault | None]:
        """Return the value of `text`, or what keeps it from having one."""
        may_be_deep = text.count(b"[") + text.count(b"{") > DEPTH_LIMIT
        if may_be_deep and (fault := find_fault(text)):
            return None, fault
        try:
            return _decode(text), None
        except _not_json:
            fault = find_fault(text)
            if fault is None:
                raise
            return None, fault

    @staticmethod
    def _repeated(number: int, text: bytes, value: Any) -> Iterator[Finding]:
        for each in duplicates(text):
            yield Finding("J105", number, each, value)

    def _check_keys(
        self, accepted: list[Any], texts: list[tuple[int, bytes]], verdict: Verdict
    ) -> None:
        """Find repeated keys in accepted rows.

        Writing the decoded rows again gives each key once: fewer colons than before
        mean that a key was there twice. Numbers and texts keep their colons.
        """
        before = sum(colons(text) for _, text in texts)
        if colons(_encode(accepted)) == before:
            return
        for number, text in texts:
            value = _decode(text)
            if colons(_encode(value)) != colons(text):
                verdict.findings += self._repeated(number, text, value)

    def _compare(self, rows: list[bytes], verdict: Verdict) -> None:
        """Ask the reference engine about every row that parses."""
        assert self._second_opinion is not None  # noqa: S101 - the caller looked
        refused, unknown = set(verdict.blank), set()
        for each in verdict.findings:
            if isinstance(each.about, Cause):
                (unknown if each.code == "V901" else refused).add(each.row)
            elif isinstance(each.about, Fault):
                unknown.add(each.row)
        for number, text in enumerate(rows):
            if number in unknown or number in verdict.blank:
                continue
            valid = number not in refused
            if self._second_opinion(_decode(text)) != valid:
                raise Disagreement(number, referee=valid)


class Learner:
    """Builds the lane of a schema from rows that were judged valid."""

    def __init__(self, schema: dict[str, Any] | bool, *, formats: bool) -> None:
        self.lane: Lane | None = None
        self._schema = schema
        self._extras: dict[Location, frozenset[str]] = {}
        self._rows = 0
        #: Asserted formats are more than the lane's types can say.
        self._lanes_left = 0 if formats or isinstance(schema, bool) else LANES

    def learn(self, value: Any) -> None:
        """Take note of a valid row, and build a lane when it is time."""
        if not self._lanes_left:
            return
        self._rows += 1
        news = self._note_members(value)
        if self._rows >= ROWS_BEFORE_LANE and (news or self.lane is None):
            self._build()

    def _note_members(self, value: Any) -> bool:
        """Note the unknown keys of `value`; tell whether any are new."""
        news = False
        for location, key in unknown_members(self._schema, value):
            known = self._extras.get(location, frozenset())
            if key not in known and len(known) < EXTRAS_LIMIT:
                self._extras[location] = known | {key}
                news = True
        return news

    def _build(self) -> None:
        self._lanes_left -= 1
        self._rows = 0
        try:
            self.lane = lane_of(self._schema, dict(self._extras))  # type: ignore[arg-type]  # a boolean schema has no lanes left
        except Unsuitable:
            self._lanes_left = 0
