"""Find the repairs for what is wrong with a row."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_formats.formats.registry import all_formats
from harpia_formats.formats.rules.doubtful_text_lints import SAFE
from harpia_formats.formats.schema.bundled_schemas import Schema
from harpia_formats.model.describe import short_json
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.format import (
    REMOVE,
    RENAME_KEY,
    REPLACE,
    Format,
    Repair,
    UnsafeRepairs,
)
from harpia_formats.model.problem import Path
from harpia_formats.model.spelling import is_slip
from harpia_formats.validation.diagnosis.engine_errors import value_at
from harpia_formats.validation.diagnosis.messages import text_of_cause
from harpia_formats.validation.diagnosis.root_causes import Cause, Finding

#: The rule on a byte order mark.
BYTE_ORDER_MARK = "J201"


@dataclass(frozen=True, slots=True)
class KindOfRepair:
    """What is repaired, and whether that can hide what was wrong."""

    name: str
    #: What it does, as the end of "it …".
    summary: str
    is_safe: bool


MARK = KindOfRepair(
    "byte-order-mark",
    "drops the byte order mark of a file that is no table",
    is_safe=True,
)
TABLE_MARK = KindOfRepair(
    "table-byte-order-mark",
    "drops the byte order mark of a table, by which spreadsheets know that it is UTF-8",
    is_safe=False,
)
NULL = KindOfRepair(
    "null", "leaves out an optional key whose null is not allowed", is_safe=True
)
KEY = KindOfRepair(
    "key",
    "renames a key with a slip of the keyboard where exactly one known key fits and is "
    "not there",
    is_safe=True,
)
OTHER_KEY = KindOfRepair(
    "other-key",
    "renames any other misspelt key where exactly one known key fits and is not there",
    is_safe=False,
)
NUMBER = KindOfRepair(
    "number",
    "drops the quotes of a number where no text may stand and that is no id",
    is_safe=True,
)
VALUE = KindOfRepair(
    "value",
    "writes the one allowed value in the place of a misspelt one",
    is_safe=False,
)
PUNCTUATION = KindOfRepair(
    "punctuation",
    "writes full-width punctuation outside of strings as that of JSON, if the row is "
    "valid then",
    is_safe=False,
)
DELIMITER = KindOfRepair(
    "delimiter",
    "writes the delimiter of a table in place of a full-width one that cuts all lines "
    "into equally many fields",
    is_safe=False,
)
VENDOR = KindOfRepair(
    "vendor", "changes what the rules of the format itself find", is_safe=False
)

#: All kinds of repairs.
KINDS = (
    MARK,
    TABLE_MARK,
    NULL,
    KEY,
    OTHER_KEY,
    NUMBER,
    VALUE,
    PUNCTUATION,
    DELIMITER,
    VENDOR,
)


def unsafe_repairs_of(format_: Format) -> "UnsafeRepairs | None":
    """Return the repairs of the format itself, None if it has none.

    Raises `PluginError` if those of a plug-in's format cannot be used.
    """
    if not format_.unsafe_repairs:
        return None
    from harpia_formats.formats.extensions import (  # noqa: PLC0415 - only for unsafe repairs
        imported,
        plugin_repairs,
    )

    if format_.id not in all_formats():
        return plugin_repairs(format_)
    found: UnsafeRepairs = imported(format_.unsafe_repairs)
    return found


#: A JSON number.
_number = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
#: Characters of a number that may be written without quotes.
LONGEST_NUMBER = 1000
#: The ends of keys whose values are ids, which are no numbers even if they look so.
_id_ends = ("id", "Id", "ID")


class RepairSettings(msgspec.Struct, frozen=True):
    """Which repairs are wanted: plain data."""

    #: The codes of the rules whose findings may be repaired.
    codes: frozenset[str]
    #: Whether also repairs are made that can hide what was wrong.
    unsafe: bool = False
    #: The codes of the rules whose findings are errors: no repair may cause one.
    errors: frozenset[str] = frozenset()


class Proposals:
    """Finds the wanted repairs of the rows of one file."""

    def __init__(self, settings: RepairSettings, format_: Format | None) -> None:
        """Take the settings and the format, None if a schema stands in its place."""
        self.settings = settings
        self._format = format_
        self._ids = frozenset() if format_ is None else _id_keys(format_)
        has_own = settings.unsafe and format_ is not None
        #: Repairs by which a document follows those of other files, if there are any.
        self.follow: UnsafeRepairs | None = None
        #: The unsafe repairs of the format, None if they are not wanted.
        self.of_format: UnsafeRepairs | None = (
            unsafe_repairs_of(format_) if has_own and format_ is not None else None
        )

    @property
    def asks_every_row(self) -> bool:
        """Whether a row that the schema allows may have repairs."""
        return self.of_format is not None or self.follow is not None

    def without_format(self) -> "Proposals":
        """Return what finds the same repairs but those that the format itself has."""
        found = Proposals(self.settings, self._format)
        found.of_format = None
        return found

    def of_findings(
        self, findings: Iterable[Finding], schema: Schema
    ) -> Iterator[Repair]:
        """Yield the repairs of what the `schema` refuses in a row."""
        for finding in findings:
            if finding.code not in self.settings.codes:
                continue
            if isinstance(finding.about, Cause):
                found = self._of_cause(finding, finding.about, schema)
                if found is not None and (self.settings.unsafe or found[0].is_safe):
                    yield found[1]

    def of_row(self, value: Any) -> list[Repair]:
        """Return the repairs of a decoded row that do not come from the schema."""
        codes = self.settings.codes
        of_format = () if self.of_format is None else self.of_format(value)
        found = [repair for repair in of_format if repair.code in codes]
        return found if self.follow is None else [*found, *self.follow(value)]

    def _of_cause(
        self, finding: Finding, cause: Cause, schema: Schema
    ) -> tuple[KindOfRepair, Repair] | None:
        """Return the repair of a root cause and its kind, None if there is none."""
        error = cause.errors[0]
        if error.keyword == "type" and not cause.at_key:
            number = self._number_at(error.path, error.detail, finding.value)
            if number is not None:
                text = short_json(value_at(finding.value, error.path))
                what = f"wrote the text {text} as a number"
                repair = Repair(finding.code, REPLACE, error.path, what, number)
                return NUMBER, repair
        fix = text_of_cause(cause, finding.value, schema).fix
        if fix is None:
            return None
        if fix.kind == RENAME_KEY:
            key = str(cause.path[-1])
            what = f"renamed {short_json(key)} to {short_json(fix.value)}"
            kind = KEY if is_slip(key, fix.value) else OTHER_KEY
            return kind, Repair(finding.code, fix.kind, cause.path, what, fix.value)
        if fix.kind == REPLACE:
            before = short_json(value_at(finding.value, error.path))
            what = f"wrote {short_json(fix.value)} in place of {before}"
            return VALUE, Repair(finding.code, fix.kind, error.path, what, fix.value)
        if cause.at_key or value_at(finding.value, error.path) is not None:
            return None  # an unknown key, whose value would be lost
        what = f"removed {short_json(error.path[-1])}, which was null"
        return NULL, Repair(finding.code, REMOVE, error.path, what)

    def _number_at(self, path: Path, types: Any, row: Any) -> Any:
        """Return the number that the text at `path` is, None if it is not one.

        An id is none, whatever it looks like, nor is an integer that most readers of
        JSON would round.
        """
        key = path[-1] if path else ""
        if not {"number", "integer"}.intersection(types) or self._is_id(key):
            return None
        text = value_at(row, path)
        if not isinstance(text, str) or len(text) > LONGEST_NUMBER:
            return None
        if _number.fullmatch(text) is None:
            return None
        try:
            number = decode(text)
        except NOT_JSON:  # out of the range of numbers
            return None
        if isinstance(number, int) and abs(number) > SAFE:
            return None
        return msgspec.Raw(text.encode())

    def _is_id(self, key: str | int) -> bool:
        return isinstance(key, str) and (key in self._ids or key.endswith(_id_ends))


def _id_keys(format_: Format) -> frozenset[str | int]:
    """Return the keys that hold ids in a format."""
    return frozenset(path[-1] for path in format_.identity_paths) | {format_.id_key}
