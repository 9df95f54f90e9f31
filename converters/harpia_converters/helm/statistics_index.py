"""Where the statistics of each instance stand in a per_instance_stats.json."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.files.framing.container import Layout, frames_of, open_container
from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.files.io.reader import BLOCK, SourceError
from harpia_formats.files.io.unpacking import TextPart
from harpia_formats.files.parsing.truncated_json import parse_truncated


class _Entry(msgspec.Struct):
    instance_id: str
    train_trial_index: int
    perturbation: Any = None


_decode_entry = msgspec.json.Decoder(_Entry).decode


def key_of(instance: Any, trial: Any, perturbation: Any) -> str:
    """Return what the statistics of an instance are found by, as one text."""
    changed = msgspec.json.encode(perturbation, order="sorted").decode()
    return f"{instance}\0{trial}\0{changed if perturbation else ''}"


@dataclass(slots=True)
class StatisticsIndex:
    """The place of each entry of a per_instance_stats.json, by its instance.

    It holds some 150 bytes for each entry, and none of the statistics.
    """

    path: Path
    #: The folder as it is named to the user.
    name: str
    #: The name of the file in the folder.
    member: str
    _file: BinaryIO | None = None
    #: The number of the first entry of each key.
    _first: dict[str, int] = field(default_factory=dict)
    #: The numbers of all entries of the few keys that have several.
    _more: dict[str, list[int]] = field(default_factory=dict)
    _offsets: "array[int]" = field(default_factory=lambda: array("Q"))
    _sizes: "array[int]" = field(default_factory=lambda: array("Q"))
    _lines: "array[int]" = field(default_factory=lambda: array("Q"))
    _columns: "array[int]" = field(default_factory=lambda: array("Q"))
    #: 1 for each entry that was taken, else 0.
    _is_taken: bytearray = field(default_factory=bytearray)

    def read(self) -> None:
        """Note where every entry stands; raises `SourceError` for a broken file."""
        with self.path.open("rb") as file:
            opened = open_container(iter(lambda: file.read(BLOCK), b""))
            if opened.layout is not Layout.ARRAY:
                raise SourceError(self.name, f"{self.member} is no array of statistics")
            for frame in frames_of(opened, ROW_LIMIT):
                if not isinstance(frame, Chunk):
                    place = f"line {frame.start.line:,} ({frame.kind})"
                    reason = f"{self.member} is broken at {place}"
                    raise SourceError(self.name, reason)
                self._add(frame)

    def _add(self, chunk: Chunk) -> None:
        """Note the places of some entries."""
        for number, text in enumerate(chunk.rows):
            start = chunk.start_of(number)
            key, at = _key_of_entry(text), len(self._offsets)
            self._offsets.append(start.offset)
            self._sizes.append(len(text))
            self._lines.append(start.line)
            self._columns.append(start.column)
            self._is_taken.append(0)
            first = self._first.setdefault(key, at)
            if first != at:
                self._more.setdefault(key, [first]).append(at)

    def take(self, key: str) -> list[TextPart]:
        """Return the entries with this key that were not taken before."""
        at = self._first.get(key)
        if at is None:
            return []
        numbers = self._more.get(key, [at])
        found = [self._part(one) for one in numbers if not self._is_taken[one]]
        for one in numbers:
            self._is_taken[one] = 1
        return found

    def left(self) -> int:
        """Return how many entries were not taken."""
        return self._is_taken.count(0)

    def first_left(self, most: int) -> Iterator[TextPart]:
        """Yield the first entries that were not taken, at most so many."""
        at = self._is_taken.find(0)
        while at >= 0 and most:
            yield self._part(at)
            at, most = self._is_taken.find(0, at + 1), most - 1

    def _part(self, number: int) -> TextPart:
        """Return an entry with its place."""
        if self._file is None:
            self._file = self.path.open("rb")
        offset = self._offsets[number]
        self._file.seek(offset)
        text = self._file.read(self._sizes[number])
        place = self._lines[number], offset, self._columns[number]
        return TextPart(text, self.member, *place)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _key_of_entry(text: bytes) -> str:
    """Return the key of an entry, as far as a broken one can be read."""
    try:
        entry = _decode_entry(text)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        found = parse_truncated(text)
        value = found if isinstance(found, dict) else {}
        names = ("instance_id", "train_trial_index", "perturbation")
        return key_of(*(value.get(name) for name in names))
    return key_of(entry.instance_id, entry.train_trial_index, entry.perturbation)
