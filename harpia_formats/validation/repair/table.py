"""The repairs of any format, by rule: which are safe, and which hide what was wrong."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harpia_formats.formats.registry import all_formats
from harpia_formats.model.format import Format

if TYPE_CHECKING:  # most runs repair nothing
    from harpia_formats.model.repair import UnsafeRepairs

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
    from harpia_formats.formats.extensions.formats_and_rules import (  # noqa: PLC0415 - only for unsafe repairs
        imported,
        plugin_repairs,
    )

    if format_.id not in all_formats():
        return plugin_repairs(format_)
    found: UnsafeRepairs = imported(format_.unsafe_repairs)
    return found
