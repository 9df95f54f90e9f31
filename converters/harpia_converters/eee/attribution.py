"""The steps by which an answer was extracted (`answer_attribution`), both ways.

The `source` of a step may name a turn: in a row by the key of its list of turns, which
differs between versions, in a record as `turns[N]`. A row's own source that begins with
`turns[` gets a slash in front in a record.
"""

import re
from typing import Any

from harpia_converters.eee.versions import Version, is_count
from harpia_formats.model.adapter import DECLINED, ChangedValue, Row

_record_prefix = "turns["
_literal = re.compile(r"/*turns\[")
#: How each source begins that `_literal` matches.
_literal_starts = ("/", _record_prefix)


def read_attribution(given: Any, version: Version) -> Any:
    """Return the attribution of a row as a record has it."""
    if type(given) is not list:
        return DECLINED
    own = f"{version.turns}["
    starts = (own, *_literal_starts)
    for step in given:
        # Most sources name the answer.
        if step["source"].startswith(starts):
            return [_read_step(step, own) for step in given]
    return given


def _read_step(step: Row, own: str) -> Row:
    """Return a step whose source names a turn as a record does.

    `own` is the start of such a source in a row.
    """
    return {**step, "source": _read_source(step["source"], own)}


def _read_source(source: str, own: str) -> str:
    if source.startswith(own):
        return _record_prefix + source.removeprefix(own)
    return f"/{source}" if _literal.match(source) else source


def write_attribution(given: list[Any], version: Version) -> Any:
    """Return the attribution of a record as a row has it, without what is not valid."""
    own = f"{version.turns}["
    written = []
    is_named = False
    for step in given:
        if not _is_step(step):
            continue
        source = step["source"]
        is_named = is_named or source.startswith(own)
        if source.startswith(_literal_starts):
            step = {**step, "source": _written_source(source, own)}  # noqa: PLW2901 - the step as it is written
        written.append(step)
    if len(written) < len(given):
        return ChangedValue(written, "without steps that are not complete")
    if is_named:
        return ChangedValue(written, "a source names a turn by the key of the row")
    return written


def _written_source(source: str, own: str) -> str:
    if source.startswith(_record_prefix):
        return own + source.removeprefix(_record_prefix)
    return source[1:] if _literal.match(source) else source


def _is_step(value: Any) -> bool:
    """Tell whether `value` is a complete step of `answer_attribution`."""
    if type(value) is not dict:
        return False
    get = value.get
    return (
        type(get("source")) is str
        and type(get("extracted_value")) is str
        and type(get("extraction_method")) is str
        and type(get("is_terminal")) is bool
        and is_count(get("turn_idx"))
    )
