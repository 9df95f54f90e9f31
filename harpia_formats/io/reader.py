"""Reading bytes steadily, and what to say where that fails."""

from collections.abc import Callable

#: Bytes in a block, and in one read from the disk.
BLOCK = 64 * 1024


class SourceError(Exception):
    """Something could not be read: what, as shown to the user, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{printable(self.path)}: {printable(self.reason)}"


class FullReader:
    """Reads that come short only at the end, and a failure only after all data."""

    __slots__ = ("_ended", "_failure", "_head", "_pull")

    def __init__(self, pull: Callable[[int], bytes]) -> None:
        self._pull = pull
        self._head = b""
        self._ended = False
        self._failure: SourceError | None = None

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes and keep them for reading."""
        if len(self._head) < size:
            self._head = self.read(size)
        return self._head[:size]

    def read(self, size: int) -> bytes:
        """Return `size` bytes, fewer at the end, none behind it."""
        pieces = [self._head[:size]] if self._head else []
        self._head = self._head[size:]
        missing = size - sum(map(len, pieces))
        while missing and (piece := self._next(missing)):
            pieces.append(piece)
            missing -= len(piece)
        if self._failure and not pieces:
            raise self._failure
        return b"".join(pieces)

    def _next(self, size: int) -> bytes:
        if self._ended:  # a terminal would have to be ended twice
            return b""
        try:
            piece = self._pull(size)
        except SourceError as error:
            self._failure = error
            piece = b""
        self._ended = not piece
        return piece


def error_reason(error: Exception) -> str:
    """Return why something failed, as the rest of a sentence."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return reason[:1].lower() + reason[1:]


def printable(text: str) -> str:
    """Return `text` in one line: a file name may hold anything."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode()
        for each in text
    )
