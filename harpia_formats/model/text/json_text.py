"""Write reports as JSON text that any parser reads and any terminal may show."""

import math
import re
from typing import Any

from harpia_formats.model.text.sanitize import UNSAFE, digits

_LOWEST, _HIGHEST = -(2**63), 2**64 - 1


def json_text(value: dict[str, Any], *, indent: bool = False) -> str:
    """Return `value` as JSON, with what JSON or a terminal cannot carry as text."""
    import orjson  # noqa: PLC0415 - only reports in JSON need it

    option = orjson.OPT_INDENT_2 if indent else 0
    text = orjson.dumps(_plain(value), option=option).decode()
    return UNSAFE.sub(_escaped, text)


def _plain(value: Any) -> Any:
    """Return `value` with large integers, nan, inf and lone surrogates as text."""
    if isinstance(value, dict):
        return {_plain_text(str(key)): _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if _LOWEST <= value <= _HIGHEST else digits(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    return _plain_text(str(value))


def _plain_text(text: str) -> str:
    """Return `text` with each lone surrogate as its escape."""
    return text.encode(errors="backslashreplace").decode()


def _escaped(found: re.Match[str]) -> str:
    r"""Return the character found as JSON writes it, in units of `\u`."""
    # Inside strings orjson escapes line feeds itself: this one is indentation.
    if found[0] == "\n":
        return "\n"
    return re.sub("(....)", r"\\u\1", found[0].encode("utf-16-be").hex())
