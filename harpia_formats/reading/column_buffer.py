"""Store the columns of a file until all were read, and join them to rows."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode
from harpia_formats.model.problem import Path
from harpia_formats.validation.unit.record_numbers import RecordNumbers, RecordSet

#: Bytes that a temporary file holds in memory.
HELD = 1024 * 1024
#: Written before each item: its offset, line and column in the file, and its size.
_head = struct.Struct("<QQQI")


@dataclass(slots=True)
class ColumnBuffer:
    """The items of all columns of a file, in temporary files."""

    files: dict[Path, IO[bytes]] = field(default_factory=dict)
    #: Records of which an item is not valid.
    invalid: RecordSet = field(default_factory=RecordSet)
    _current: IO[bytes] | None = None

    def begin(self, path: Path) -> None:
        """Start with the items of the column at `path`."""
        self._current = self.files[path] = SpooledTemporaryFile(HELD)  # noqa: SIM115 - closed by `close`

    def add(
        self, chunk: Chunk, numbers: RecordNumbers, refused: frozenset[int]
    ) -> None:
        """Store the items of a chunk; a record with a refused item is not read."""
        file = self._current
        if file is None:
            return
        for row, text in enumerate(chunk.rows):
            if row in refused:
                self.invalid.add(numbers.of(row))
            start = chunk.start_of(row)
            place = _head.pack(start.offset, start.line, start.column, len(text))
            file.write(place + text)

    def close(self) -> None:
        """Delete the items of all columns."""
        for file in self.files.values():
            file.close()

    def components(self) -> list[Path]:
        """Return the paths of the objects that hold columns, in order."""
        return list(dict.fromkeys(path[:-1] for path in self.files))

    def names_of(self, component: Path) -> list[str]:
        """Return the names of the columns of a component."""
        return [str(path[-1]) for path in self.files if path[:-1] == component]

    def rows_of(self, component: Path) -> Iterator[tuple[int, Cursor, Row]]:
        """Yield number, place and items of each valid record of a component.

        The files of the component are closed afterwards.
        """
        files = {
            path[-1]: file
            for path, file in self.files.items()
            if path[:-1] == component
        }
        for file in files.values():
            file.seek(0)
        number = 0
        while True:
            number += 1
            value: dict[str, Any] = {}
            place: Cursor | None = None
            for name, file in files.items():
                found = _read_item(file)
                if found is not None:
                    place = place or found[0]
                    value[str(name)] = found[1]
            if place is None:
                break
            if number not in self.invalid:
                yield (
                    number,
                    place,
                    {name: decode(item) for name, item in value.items()},
                )
        for file in files.values():
            file.close()


def _read_item(file: IO[bytes]) -> tuple[Cursor, bytes] | None:
    """Return the next item of a column and its place, None at the end."""
    head = file.read(_head.size)
    if not head:
        return None
    offset, line, column, size = _head.unpack(head)
    return Cursor(offset, line, column), file.read(size)
