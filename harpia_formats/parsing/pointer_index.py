"""Where values are in one JSON text, looked up many times."""

from collections.abc import Mapping

from harpia_formats.model.problem import Path
from harpia_formats.parsing.locate import Span, entries, locate


class PointerIndex:
    """The places of values in a valid JSON text.

    One is looked up by itself. For more the containers on the way are read, each of
    them once, so that a thousand places take no longer than reading the text.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._asked = False
        self._inside: dict[Path, Mapping[str | int, Span]] = {}

    def of(self, path: Path) -> Span:
        """Return where the value at `path` is; raises KeyError if there is none."""
        if not path or not self._asked:
            self._asked = True
            return locate(self._text, path)
        try:
            return self._entries(path[:-1])[path[-1]]
        except KeyError:
            raise KeyError(path) from None

    def _entries(self, path: Path) -> Mapping[str | int, Span]:
        """Return the entries of the container at `path`."""
        for end in range(len(path) + 1):
            if path[:end] not in self._inside:
                self._read(path[:end])
        return self._inside[path]

    def _read(self, path: Path) -> None:
        """Read the entries of a container whose own place is known."""
        if path:
            start = self._inside[path[:-1]][path[-1]].start
        else:
            start = locate(self._text, ()).start
        # Of members with the same name the last one counts.
        self._inside[path] = dict(entries(self._text, start))
