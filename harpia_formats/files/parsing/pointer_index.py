"""Look up the places of many values in one JSON text."""

from collections.abc import Mapping

from harpia_formats.files.parsing.json_tokens import skip_space
from harpia_formats.files.parsing.locate import Span, entries, locate
from harpia_formats.model.problem import Path


class PointerIndex:
    """The places of values in a valid JSON text.

    The first lookup scans for its value only. Further lookups read the containers on
    the way, each once, so that a thousand lookups take no longer than reading the text.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._was_used = False
        self._inside: dict[Path, Mapping[str | int, Span]] = {}

    def of(self, path: Path) -> Span:
        """Return where the value at `path` is; raises `KeyError` if there is none."""
        if not path or not self._was_used:
            self._was_used = True
            return locate(self._text, path)
        try:
            return self.entries(path[:-1])[path[-1]]
        except KeyError:
            raise KeyError(path) from None

    def entries(self, path: Path) -> Mapping[str | int, Span]:
        """Return the members or items of the container at `path`, in order.

        Of members with the same name there is the last one only. Raises `KeyError` if
        there is no such container.
        """
        for end in range(len(path) + 1):
            if path[:end] not in self._inside:
                self._read(path[:end])
        return self._inside[path]

    def _read(self, path: Path) -> None:
        """Read the entries of the container at `path`, whose parent was read."""
        if path:
            start = self._inside[path[:-1]][path[-1]].start
        else:
            start = skip_space(self._text, 0)
        # Of members with the same name the last one counts.
        self._inside[path] = dict(entries(self._text, start))
