"""Make one answer of answers of several rows that differ in their scores only."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Output


def merged_answers(rows: Sequence[Sequence[Output]]) -> list[Output]:
    """Return the answers of some rows, an answer of several of them only once.

    It has the scores and attributions of all. Answers of one row stay apart: they were
    given one after the other.
    """
    found: list[Output] = []
    keys: list[bytes] = []
    for outputs in rows:
        free = list(range(len(found)))
        for output in outputs:
            key = encode(replace(output, scores=UNSET, attribution=UNSET))
            same = next((at for at in free if keys[at] == key), None)
            if same is None:
                found.append(output)
                keys.append(key)
                continue
            free.remove(same)
            before = found[same]
            found[same] = replace(
                before,
                scores=_joined(before.scores, output.scores),
                attribution=_joined(before.attribution, output.attribution),
            )
    return found


def _joined(first: Any, second: Any) -> Any:
    """Return two lists as one, either of which may be absent."""
    if first is UNSET or second is UNSET:
        return second if first is UNSET else first
    return [*first, *(item for item in second if item not in first)]
