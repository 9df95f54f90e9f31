"""The bytes that were read from a file and not yet cut into rows."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from harpia_formats.files.framing.chunk import JSON_SPACE, Cursor
from harpia_formats.files.io.reader import BLOCK


@dataclass(slots=True)
class ByteBuffer:
    """Blocks still to be read, and the bytes read from them but not yet cut."""

    blocks: Iterator[bytes]
    data: bytes = b""

    def fill(self, size: int) -> bool:
        """Read blocks until `data` holds `size` bytes; tell whether it does."""
        parts, held = [self.data], len(self.data)
        while held < size:
            block = next(self.blocks, None)
            if block is None:
                break
            parts.append(block)
            held += len(block)
        if len(parts) > 1:
            self.data = b"".join(parts)
        return held >= size

    def take(self, size: int) -> bytes:
        """Remove the first `size` bytes of `data` and return them."""
        data = self.data
        if size == len(data):
            # Nothing is copied.
            self.data = b""
            return data
        self.data = data[size:]
        return data[:size]

    def take_lines(self, most: int) -> bytes:
        """Remove and return all lines that end in `data`, or in the next blocks.

        If none ends there, nothing is returned, and `data` holds all that is left of
        the file or more than `most` bytes.
        """
        end = self.data.rfind(b"\n") + 1
        if end:
            return self.take(end)
        parts: list[bytes | memoryview] = [self.data]
        held = len(self.data)
        while held <= most and (block := next(self.blocks, None)) is not None:
            end = block.rfind(b"\n") + 1
            if end:
                # Blocks are large, so each is copied once only.
                self.data = block[end:]
                parts.append(memoryview(block)[:end])
                return b"".join(parts)
            parts.append(block)
            held += len(block)
        if len(parts) > 1:
            self.data = b"".join(parts)
        return b""

    def put_back(self, keep: int) -> None:
        """Hold only the first `keep` bytes; those behind them come again as blocks.

        Cutting small pieces off a large `data` would copy all the rest each time.
        """
        rest, self.data = self.data[keep:], self.data[:keep]
        pieces = [rest[at : at + BLOCK] for at in range(0, len(rest), BLOCK)]
        self.blocks = chain(pieces, self.blocks)

    def grow(self, most: int = sys.maxsize) -> bool:
        """Read about as many bytes again as `data` holds; tell whether any came.

        `data` is not filled beyond `most` bytes, but always by one block.
        """
        before = len(self.data)
        self.fill(max(min(2 * before, most), before + 1))
        return len(self.data) > before


def skip_space(buffer: ByteBuffer, start: Cursor) -> Cursor | None:
    """Remove white space from the beginning of `buffer`, which begins at `start`.

    Return where the next byte is, None at the end of the file.
    """
    while buffer.data or buffer.fill(1):
        rest = buffer.data.lstrip(JSON_SPACE)
        start = start.after(buffer.data[: len(buffer.data) - len(rest)])
        buffer.data = rest
        if rest:
            return start
    return None
