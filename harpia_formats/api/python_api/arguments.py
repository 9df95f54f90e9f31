"""The types of the arguments of the Python functions, as type checkers see them."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, BinaryIO, Protocol

from harpia_formats.files.io.source import ReadProgress, Source

Path = PathLike[str] | str


class Readable(Protocol):
    """An open binary file, or what is read like one."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, all that are left if it is negative."""


class ArrowTable(Protocol):
    """A table in memory: of pyarrow, pandas, polars, and other packages."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return its columns, as the PyCapsule interface of Arrow describes."""


#: What the functions read: a path, folder, pattern or URL, bytes, an open binary file,
#: one object of JSON, a list of such objects, or a table in memory.
Input = (
    Path
    | bytes
    | Readable
    | Source
    | Mapping[str, Any]
    | Sequence[Mapping[str, Any]]
    | ArrowTable
)
#: Where the functions write: a path or URL, an open binary file, or None for standard
#: output.
Output = Path | BinaryIO | None
Progress = Callable[[ReadProgress], None]
