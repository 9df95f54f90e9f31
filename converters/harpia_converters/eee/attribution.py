"""Where in an output the judged answer was found, in the words of a row or a record.

A row names a turn by the key of its list of turns, which is not the same in all shapes;
a record says `turns[N]`. A row that itself says so gets a slash before it in a record.
"""

import re
from typing import Any

from harpia_converters.eee.versions import Form, is_count
from harpia_formats.model.adapter import DECLINED, ChangedValue

_of_record = "turns["
_literal = re.compile(r"/*turns\[")
_texts = ("source", "extracted_value", "extraction_method")


def read_attribution(given: Any, form: Form) -> Any:
    """Return the attribution of a row as a record has it."""
    if type(given) is not list:
        return DECLINED
    return [{**step, "source": _read_source(step["source"], form)} for step in given]


def _read_source(source: str, form: Form) -> str:
    own = f"{form.turns}["
    if source.startswith(own):
        return _of_record + source.removeprefix(own)
    return f"/{source}" if _literal.match(source) else source


def write_attribution(given: list[Any], form: Form) -> Any:
    """Return the attribution of a record as a row has it, without what is not valid."""
    kept = [step for step in given if _is_step(step)]
    written = [
        {**step, "source": _written_source(step["source"], form)} for step in kept
    ]
    if len(kept) < len(given):
        return ChangedValue(written, "without steps that are not complete")
    if any(step["source"].startswith(f"{form.turns}[") for step in given):
        return ChangedValue(written, "a source names a turn by the key of the row")
    return written


def _written_source(source: str, form: Form) -> str:
    if source.startswith(_of_record):
        return f"{form.turns}[{source.removeprefix(_of_record)}"
    return source[1:] if _literal.match(source) else source


def _is_step(value: Any) -> bool:
    """Tell whether `value` is a step from an output to an answer, as rows have it."""
    return (
        type(value) is dict
        and is_count(value.get("turn_idx"))
        and all(type(value.get(key)) is str for key in _texts)
        and type(value.get("is_terminal")) is bool
    )
