"""The lints of instructions: an empty input means that there is none."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, RowLint

#: The rule on empty prompts. `input` is a part of the prompt, and mostly empty.
_EMPTY = "V306"


def _remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark on a row whose instruction and input are both empty."""
    if not isinstance(row, Mapping):
        return
    parts = (row.get("instruction"), row.get("input") or "")
    if all(isinstance(part, str) and not part.strip() for part in parts):
        help_ = "write what is asked, or leave the row out"
        yield Remark(_EMPTY, ("instruction",), "the prompt is empty", help_)


LINTS = Lints(rows=(RowLint((_EMPTY,), _remarks),), covers=frozenset({_EMPTY}))
