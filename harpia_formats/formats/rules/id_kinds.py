"""Find ids that are a number in one record and text in another (X104)."""

from typing import Any

from harpia_formats.model.lint import AcrossRows, Agreement, Disagreement
from harpia_formats.model.text.describe import short_json


def id_kind_lint(code: str, key: str) -> AcrossRows:
    """Return the check by rule `code` that ids under `key` are of one type."""

    def message(found: Disagreement) -> str:
        return (
            f"the id {short_json(found.row[key])} is {found.value}, and "
            f"{found.earlier} in {found.owner}"
        )

    return AcrossRows(
        code,
        Agreement.BY_KEY,
        ((key,),),
        message,
        'write all ids as text: some tools take 1 and "1" for the same, and some do '
        "not",
        key=((key,),),
        value_text=_kind_of,
        key_text=_number_text,
    )


def _kind_of(value: Any) -> str | None:
    """Return the type of an id, None for what is none."""
    kind = type(value)
    if kind is str:
        return "text"
    return "a number" if kind in {int, float} else None


def _number_text(value: Any) -> str | None:
    """Return an id that is a whole number, or reads like one, as text; else None."""
    if type(value) is str:
        return value if value.removeprefix("-").isdecimal() else None
    if type(value) is float and value.is_integer():
        value = int(value)
    return str(value) if type(value) is int else None
