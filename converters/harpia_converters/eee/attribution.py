"""The steps by which an answer was extracted (`answer_attribution`), both ways.

The `source` of a step may name a turn: in a row by the key of its list of turns, which
differs between versions, in a record as `turns[N]`. A row's own source that begins with
`turns[` gets a slash in front in a record.
"""

import re
from typing import Any

from harpia_converters.eee.versions import Version, is_count
from harpia_formats.model.adapter import DECLINED, ChangedValue

_record_prefix = "turns["
_literal = re.compile(r"/*turns\[")
_texts = ("source", "extracted_value", "extraction_method")


def read_attribution(given: Any, version: Version) -> Any:
    """Return the attribution of a row as a record has it."""
    if type(given) is not list:
        return DECLINED
    return [{**step, "source": _read_source(step["source"], version)} for step in given]


def _read_source(source: str, version: Version) -> str:
    own = f"{version.turns}["
    if source.startswith(own):
        return _record_prefix + source.removeprefix(own)
    return f"/{source}" if _literal.match(source) else source


def write_attribution(given: list[Any], version: Version) -> Any:
    """Return the attribution of a record as a row has it, without what is not valid."""
    kept = [step for step in given if _is_step(step)]
    written = [
        {**step, "source": _written_source(step["source"], version)} for step in kept
    ]
    if len(kept) < len(given):
        return ChangedValue(written, "without steps that are not complete")
    if any(step["source"].startswith(f"{version.turns}[") for step in given):
        return ChangedValue(written, "a source names a turn by the key of the row")
    return written


def _written_source(source: str, version: Version) -> str:
    if source.startswith(_record_prefix):
        return f"{version.turns}[{source.removeprefix(_record_prefix)}"
    return source[1:] if _literal.match(source) else source


def _is_step(value: Any) -> bool:
    """Tell whether `value` is a complete step of `answer_attribution`."""
    return (
        type(value) is dict
        and is_count(value.get("turn_idx"))
        and all(type(value.get(key)) is str for key in _texts)
        and type(value.get("is_terminal")) is bool
    )
