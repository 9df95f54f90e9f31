"""What a buffer reads, hands out, and leaves in its blocks, in each of its steps."""

from typing import Any

import pytest

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.unfinished_json import ByteBuffer, skip_space
from harpia_formats.files.io.reader import BLOCK


def after(data: bytes, blocks: list[bytes], step: str, *given: Any) -> tuple[Any, ...]:
    """Return what a step returns, what is held after it, and the blocks left then."""
    buffer = ByteBuffer(iter(blocks), data)
    result = getattr(buffer, step)(*given)
    return result, buffer.data, list(buffer.blocks)


@pytest.mark.parametrize(
    ("data", "blocks", "size", "expected"),
    [
        (b"ab", [b"c", b"d"], 0, (True, b"ab", [b"c", b"d"])),
        (b"ab", [b"c", b"d"], 2, (True, b"ab", [b"c", b"d"])),
        (b"ab", [b"c", b"d"], 3, (True, b"abc", [b"d"])),
        (b"ab", [b"c", b"", b"d"], 4, (True, b"abcd", [])),
        (b"ab", [b"c", b"d"], 5, (False, b"abcd", [])),
        (b"", [], 1, (False, b"", [])),
    ],
)
def test_filling(
    data: bytes, blocks: list[bytes], size: int, expected: tuple[Any, ...]
) -> None:
    """Blocks are read until there is enough, and no further."""
    assert after(data, blocks, "fill", size) == expected


@pytest.mark.parametrize(
    ("data", "blocks", "most", "expected"),
    [
        (b"abc", [b"d", b"e", b"f", b"g"], [], (True, b"abcdef", [b"g"])),
        (b"abc", [b"d", b"e", b"f", b"g"], [5], (True, b"abcde", [b"f", b"g"])),
        (b"abc", [b"d", b"e"], [3], (True, b"abcd", [b"e"])),
        (b"abc", [b"d", b"e"], [1], (True, b"abcd", [b"e"])),
        (b"", [b"d", b"e"], [], (True, b"d", [b"e"])),
        (b"abc", [b"", b""], [], (False, b"abc", [])),
    ],
)
def test_growing(
    data: bytes, blocks: list[bytes], most: list[int], expected: tuple[Any, ...]
) -> None:
    """As much again is read, up to a number of bytes, but one block always."""
    assert after(data, blocks, "grow", *most) == expected


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_taking(size: int) -> None:
    """The first bytes are handed out, and the others stay."""
    data = b"abc"

    assert after(data, [b"d"], "take", size) == (data[:size], data[size:], [b"d"])


@pytest.mark.parametrize(
    ("data", "blocks", "most", "expected"),
    [
        (b"a\nb\nc", [b"\n"], 9, (b"a\nb\n", b"c", [b"\n"])),
        (b"a\n", [b"b\n"], 9, (b"a\n", b"", [b"b\n"])),
        (b"a", [b"b", b"c\nd\ne", b"f"], 9, (b"abc\nd\n", b"e", [b"f"])),
        (b"a", [b"\n", b"f"], 9, (b"a\n", b"", [b"f"])),
        (b"a", [b"b", b"c"], 9, (b"", b"abc", [])),
        (b"a", [b"b", b"c", b"d"], 2, (b"", b"abc", [b"d"])),
        (b"abc", [b"d\n"], 2, (b"", b"abc", [b"d\n"])),
        (b"abc", [b"d\n"], 3, (b"abcd\n", b"", [])),
        (b"", [], 2, (b"", b"", [])),
    ],
)
def test_taking_lines(
    data: bytes, blocks: list[bytes], most: int, expected: tuple[Any, ...]
) -> None:
    """All lines that end in what is held are taken, or those of the next blocks."""
    assert after(data, blocks, "take_lines", most) == expected


def test_putting_back() -> None:
    """What is not kept comes again in blocks of the usual size, before the others."""
    rest = bytes(BLOCK) + b"b"

    assert after(b"ab", [b"c"], "put_back", 1) == (None, b"a", [b"b", b"c"])
    assert after(b"ab", [b"c"], "put_back", 2) == (None, b"ab", [b"c"])
    assert after(b"a" + rest, [b"c"], "put_back", 1) == (
        None,
        b"a",
        [bytes(BLOCK), b"b", b"c"],
    )


@pytest.mark.parametrize(
    ("data", "blocks", "place", "held"),
    [
        (b" \n a", [], Cursor(8, 3, 1), b"a"),
        (b"a ", [], Cursor(5, 2, 3), b"a "),
        (b" ", [b"", b"\t", b"\r\n", b" b", b"c"], Cursor(10, 3, 1), b"b"),
        (b" ", [b"\n"], None, b""),
        (b"", [], None, b""),
        (b"\x0b", [], Cursor(5, 2, 3), b"\x0b"),
    ],
)
def test_skipping_white_space(
    data: bytes, blocks: list[bytes], place: Cursor | None, held: bytes
) -> None:
    """The place of the first other byte is given, none where the file ends before."""
    buffer = ByteBuffer(iter(blocks), data)

    assert skip_space(buffer, Cursor(5, 2, 3)) == place
    assert buffer.data == held
