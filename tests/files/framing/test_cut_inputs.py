"""Into what each of many inputs is cut, whole: rows, faults and all their places.

`cut_inputs.json` has the inputs, and what was found and judged right for each of them.
`python tests/files/framing/test_cut_inputs.py` writes the file again with what is found
now, so that `git diff` shows what a change of the cutting changes.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from cut_rows import blocks_of
from harpia_formats.files.framing import array, container
from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import (
    DocumentFrame,
    DocumentHeader,
    document_frames,
)
from harpia_formats.files.framing.container import frames_of, open_container
from harpia_formats.files.framing.unfinished_json import (
    ByteBuffer,
    parse_truncated,
    read_value,
)

KEPT = Path(__file__).with_name("cut_inputs.json")
#: Bytes of a row that are shown.
SHOWN = 30


def text_of(data: bytes) -> str:
    """Return bytes as the file has them."""
    return data.decode("utf-8", "surrogateescape")


def place_of(cursor: Cursor) -> str:
    """Return an offset, a line and a column."""
    return f"{cursor.offset}:{cursor.line}:{cursor.column}"


def shown(data: bytes) -> str:
    """Return bytes, and their number if they are not all shown."""
    more = f"... {len(data)} bytes" if len(data) > SHOWN else ""
    return text_of(data[:SHOWN]) + more


def words_of(frame: DocumentFrame, data: bytes) -> str:
    """Return what a frame of `data` holds, in one line."""
    if isinstance(frame, FramingFault):
        lost = ", a record" if frame.record else ""
        return f"{frame.kind} at {place_of(frame.start)}: {frame.size}{lost}"
    if isinstance(frame, DocumentHeader):
        pieces = [f"{at} from {place_of(start)}" for at, start in frame.pieces]
        return f"header {text_of(frame.text)} | {' | '.join(pieces)}"
    if not isinstance(frame, Chunk):
        return f"array {'.'.join(map(str, frame.path))} behind {text_of(frame.before)}"
    starts = [frame.start_of(number) for number in range(len(frame))]
    for start, row in zip(starts, frame.rows, strict=True):
        assert data[start.offset :].startswith(row)
    assert data[frame.start.offset : frame.end.offset] == frame.data
    rows = (
        f"{place_of(start)} {shown(row)}"
        for start, row in zip(starts, frame.rows, strict=True)
    )
    ends = f"{place_of(frame.start)} to {place_of(frame.end)}"
    return " | ".join([f"rows {ends}", *rows])


def cut(data: bytes, way: dict[str, int]) -> list[str]:
    """Return the frames of an input that is read and cut in some way, in words."""
    limit, depth = way.get("limit", 1000), way.get("depth", 0)
    blocks = blocks_of(data, way["block"])
    with pytest.MonkeyPatch.context() as patch:
        for module in (array, container):
            patch.setattr(module, "WINDOW", way["window"])
        if depth:
            given = document_frames(
                ByteBuffer(blocks), Cursor(), limit, lambda path: path[-1] != "x", depth
            )
            return [words_of(each, data) for each in given]
        opened = open_container(blocks)
        left = f"{opened.layout} at {place_of(opened.start)}"
        faults = [words_of(each, data) for each in opened.faults]
        found = [words_of(each, data) for each in frames_of(opened, limit)]
    return [left, *faults, *found]


def read(data: bytes) -> list[str]:
    """Return the states of the value at each offset, and what is read of it cut off."""
    states = [read_value(data, at) for at in range(len(data))]
    value = json.dumps(parse_truncated(data), ensure_ascii=True)
    return [value, " ".join(f"{state.name[0]}{end}" for state, end in states)]


def answers_to(given: dict[str, Any]) -> dict[str, Any]:
    """Return an input with what is found for it now."""
    data = given["data"].encode("utf-8", "surrogateescape")
    if "ways" not in given:
        return {**given, "read": read(data)}
    ways = [{**way, "found": cut(data, way)} for way in given["ways"]]
    return {**given, "ways": ways}


def kept() -> list[dict[str, Any]]:
    """Return the inputs that are kept, with the answers."""
    found: list[dict[str, Any]] = json.loads(KEPT.read_text("utf-8"))
    return found


def write(cases: Iterable[dict[str, Any]]) -> None:
    """Keep inputs with what is found for them now."""
    found = [answers_to(each) for each in cases]
    KEPT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


@pytest.mark.parametrize("part", range(8))
def test_inputs_are_cut_as_before(part: int) -> None:
    """Each input gives the rows, faults and places that are kept for it."""
    for case in kept()[part::8]:
        assert answers_to(case) == case


if __name__ == "__main__":
    write(kept())
