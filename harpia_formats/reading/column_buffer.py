"""Keep the columns of a file until all are there, and join them to rows."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode
from harpia_formats.model.problem import Path
from harpia_formats.validation.unit.record_numbers import Numbers, RecordSet

#: Bytes that a temporary file holds in memory.
HELD = 1024 * 1024
#: What stands before an item: its offset, line and column in the file, and its size.
_head = struct.Struct("<QQQI")


@dataclass(slots=True)
class ColumnBuffer:
    """The items of all columns, in temporary files."""

    files: dict[Path, IO[bytes]] = field(default_factory=dict)
    #: Records of which an item is not valid.
    invalid: RecordSet = field(default_factory=RecordSet)
    _present: IO[bytes] | None = None

    def begin(self, path: Path) -> None:
        """Go on with the column at `path`."""
        self._present = self.files[path] = SpooledTemporaryFile(HELD)  # noqa: SIM115 - closed by `rows_of`

    def take(self, chunk: Chunk, numbers: Numbers, refused: frozenset[int]) -> None:
        """Keep the items of a chunk; records with a refused item are left out."""
        file = self._present
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
        for each in self.files.values():
            each.close()

    def components(self) -> list[Path]:
        """Return the paths of the objects that hold columns, in order."""
        return list(dict.fromkeys(path[:-1] for path in self.files))

    def names_of(self, component: Path) -> list[str]:
        """Return the names of the columns of a component."""
        return [str(path[-1]) for path in self.files if path[:-1] == component]

    def rows_of(self, component: Path) -> Iterator[tuple[int, Cursor, Row]]:
        """Yield number, place and items of each record of a component."""
        files = {
            path[-1]: each
            for path, each in self.files.items()
            if path[:-1] == component
        }
        for each in files.values():
            each.seek(0)
        number = 0
        while True:
            number += 1
            value: dict[str, Any] = {}
            place: Cursor | None = None
            for name, file in files.items():
                found = _item(file)
                if found is not None:
                    place = place or found[0]
                    value[str(name)] = found[1]
            if place is None:
                break
            if number not in self.invalid:
                yield (
                    number,
                    place,
                    {name: decode(each) for name, each in value.items()},
                )
        for each in files.values():
            each.close()


def _item(file: IO[bytes]) -> tuple[Cursor, bytes] | None:
    head = file.read(_head.size)
    if not head:
        return None
    offset, line, column, size = _head.unpack(head)
    return Cursor(offset, line, column), file.read(size)
