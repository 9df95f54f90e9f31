"""Read the folder of a run as one document, with its statistics at each instance."""

from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from harpia_converters.helm.formats import FILES, ROWS, STATE_FILE, STATS_FILE
from harpia_formats.files.framing.chunk import (
    BOM,
    Chunk,
    Cursor,
    FramingFault,
    with_nulls,
)
from harpia_formats.files.framing.columns import (
    DocumentHeader,
    RowArray,
    document_frames,
)
from harpia_formats.files.framing.container import Layout, frames_of, open_container
from harpia_formats.files.framing.unfinished_json import (
    ValueState,
    parse_truncated,
    read_value,
)
from harpia_formats.files.io.file_kinds import TextPart
from harpia_formats.files.io.reader import BLOCK, ROW_LIMIT, SourceError, error_reason
from harpia_formats.model.exact_json import NOT_JSON


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
    #: Offset, size, line and column of each entry.
    _places: "array[int]" = field(default_factory=lambda: array("Q"))
    #: 1 for each entry that was taken, else 0.
    _is_taken: bytearray = field(default_factory=bytearray)

    def read(self) -> None:
        """Note where every entry stands; raises `SourceError` for a broken file."""
        with self.path.open("rb") as file:
            opened = open_container(iter(lambda: file.read(BLOCK), b""))
            if opened.layout is not Layout.ARRAY:
                raise SourceError(self.name, f"{self.member} is no array of statistics")
            for frame in frames_of(opened, ROW_LIMIT):
                if isinstance(frame, Chunk):
                    self._add(frame)
                elif frame.kind != "empty":  # no metric is of single instances
                    raise self._broken_at(frame.start, frame.kind)

    def _broken_at(self, start: Cursor, kind: str) -> SourceError:
        place = f"line {start.line:,} ({kind})"
        return SourceError(self.name, f"{self.member} is broken at {place}")

    def _add(self, chunk: Chunk) -> None:
        """Note the places of some entries; raises `SourceError` if one is cut off."""
        for number, text in enumerate(chunk.rows):
            start = chunk.start_of(number)
            key, at = _key_of_entry(text), len(self._is_taken)
            if key is None:  # all text behind it would stand inside of the entry
                raise self._broken_at(start, "unclosed")
            self._places.extend((start.offset, len(text), start.line, start.column))
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
        offset, size, line, column = self._places[4 * number : 4 * number + 4]
        self._file.seek(offset)
        return TextPart(self._file.read(size), self.member, line, offset, column)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _key_of_entry(text: bytes) -> str | None:
    """Return the key of an entry, as far as a broken one can be read; None if cut."""
    try:
        entry = _decode_entry(text)
    except NOT_JSON:
        if read_value(text, 0)[0] is ValueState.OPEN:
            return None
        found = parse_truncated(text)
        value = found if isinstance(found, dict) else {}
        names = ("instance_id", "train_trial_index", "perturbation")
        return key_of(*(value.get(name) for name in names))
    return key_of(entry.instance_id, entry.train_trial_index, entry.perturbation)


#: The files that stand in front of the instances.
_SETTINGS = ("run_spec.json", "scenario.json")
#: Entries without an instance that are shown.
_SHOWN = 5
#: What says how many instances there are.
_TOTALS = "stats.json"
#: The longest run_spec.json, scenario.json or stats.json, in bytes.
_LONGEST = 64 * 1024 * 1024


class _Instance(msgspec.Struct):
    id: Any = None
    split: Any = None
    perturbation: Any = None


class _State(msgspec.Struct):
    instance: _Instance
    train_trial_index: Any = None


class _Name(msgspec.Struct):
    name: str
    split: str | None = None
    perturbation: Any = None


class _Stat(msgspec.Struct):
    name: _Name
    mean: float | None = None


_decode_state = msgspec.json.Decoder(_State).decode
_decode_stats = msgspec.json.Decoder(list[_Stat]).decode


def parts(folder: Path, name: str) -> Iterator[TextPart]:
    """Yield the text of the run in a folder, which is called `name`.

    Each item of its `request_states` is an instance: its requests, which stand side by
    side in scenario_state.json, and what per_instance_stats.json has of it. Raises
    `SourceError` if a file cannot be read.
    """
    try:
        yield from _Run(folder, name).parts()
    except OSError as error:
        raise SourceError(name, error_reason(error)) from error


@dataclass(slots=True)
class _Run:
    folder: Path
    name: str
    #: The first instances of each split and trial.
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: The key of the instance of which a request was written last.
    _key: str | None = None
    #: The number of instances of each split by stats.json, if it is there.
    _expected: dict[str, float] = field(default_factory=dict)

    def parts(self) -> Iterator[TextPart]:
        """Yield all parts."""
        files = [file for file in FILES if (self.folder / file).is_file()]
        around = [
            self._document(file) if file in files else _glue(b"null")
            for file in _SETTINGS
        ]
        if _TOTALS in files:
            self._expected = self._instances_of(self._text_of(_TOTALS))
        index = None
        if STATS_FILE in files:
            index = StatisticsIndex(self.folder / STATS_FILE, self.name, STATS_FILE)
            index.read()
        yield _glue(b'{"files":', msgspec.json.encode(files))
        for file, part in zip(_SETTINGS, around, strict=True):
            yield _glue(b',"%s":\n' % file.removesuffix(".json").encode())
            yield part
            yield _glue(b"\n")
        with closing(index) if index is not None else nullcontext():
            yield from self._states(index)

    def _document(self, file: str) -> TextPart:
        """Return a small file, which must be JSON."""
        text = self._text_of(file)
        try:
            msgspec.json.decode(text)
        except NOT_JSON as error:
            raise SourceError(self.name, f"{file} is not JSON: {error}") from error
        return TextPart(text, file)

    def _text_of(self, file: str) -> bytes:
        """Return the bytes of a small file; raises `SourceError` for a larger one."""
        with (self.folder / file).open("rb") as opened:
            text = opened.read(_LONGEST + 1).removeprefix(BOM)
        if len(text) > _LONGEST:
            raise SourceError(self.name, f"{file} is longer than such a file is")
        return text

    def _states(self, index: StatisticsIndex | None) -> Iterator[TextPart]:
        """Yield the instances with their statistics, and what stands behind them."""
        has_rows = False
        with (self.folder / STATE_FILE).open("rb") as file:
            opened = open_container(iter(lambda: file.read(BLOCK), b""))
            frames = document_frames(
                opened.buffer, opened.start, ROW_LIMIT, lambda path: path == (ROWS,)
            )
            for frame in frames:
                if isinstance(frame, RowArray):
                    has_rows = True
                    yield _glue(b',"%s":[\n' % ROWS.encode())
                elif isinstance(frame, Chunk):
                    yield from self._chunk(frame, index)
                elif isinstance(frame, FramingFault):
                    self._check(frame)
                elif has_rows:
                    yield from self._end(frame, index)
        if not has_rows:
            raise SourceError(self.name, f"{STATE_FILE} has no array {ROWS}")

    def _check(self, fault: FramingFault) -> None:
        """Raise `SourceError` for a fault between requests.

        If the file was cut off, so is the text, which is reported where it ends.
        """
        if fault.kind != "unclosed":
            place = f"line {fault.start.line:,} ({fault.kind})"
            raise SourceError(self.name, f"{STATE_FILE} is broken at {place}")

    def _chunk(self, chunk: Chunk, index: StatisticsIndex | None) -> Iterator[TextPart]:
        """Yield some requests, and the statistics behind the last of each instance."""
        for number, text in enumerate(chunk.rows):
            state, start = _state_in(text), chunk.start_of(number)
            one = state.instance
            key = key_of(one.id, state.train_trial_index, one.perturbation)
            if key == self._key:
                yield _glue(b"\n,\n")
            else:
                yield from self._end_of_instance(index, b",\n")
                self._key = key
                if not one.perturbation:
                    # Either may be any value, which is reported at its place.
                    trial = str(state.train_trial_index)
                    self._counts[str(one.split or ""), trial] += 1
                identity = msgspec.json.encode(one.id)
                # An instance is where its first request is.
                yield _part_of(b'{"instance_id":%s,"states":[\n' % identity, start)
            yield _part_of(text, start)

    def _end_of_instance(
        self, index: StatisticsIndex | None, after: bytes
    ) -> Iterator[TextPart]:
        """Yield the end of the instance that was begun, with its statistics."""
        if self._key is None:
            return
        if index is None:
            yield _glue(b'\n],"stats":null}', after)
            return
        yield _glue(b'\n],"stats":[')
        yield from _listed(index.take(self._key))
        yield _glue(b"]}", after)

    def _end(
        self, header: DocumentHeader, index: StatisticsIndex | None
    ) -> Iterator[TextPart]:
        """Yield what stands behind the instances."""
        yield from self._end_of_instance(index, b"\n")
        yield _glue(b'],"scenario_state":\n')
        ends = [begin for begin, _ in header.pieces[1:]] + [len(header.text)]
        for (begin, start), end in zip(header.pieces, ends, strict=True):
            if end > begin:
                yield _part_of(header.text[begin:end], start)
        trials = len({trial for _, trial in self._counts}) or 1
        instances: Counter[str] = Counter()
        for (split, _), count in self._counts.items():
            instances[split] += count
        found = {split: count / trials for split, count in instances.items()}
        yield _glue(b'\n,"instances":', msgspec.json.encode(found))
        if self._expected:
            yield _glue(b',"num_instances":', msgspec.json.encode(self._expected))
        if index is not None and index.left():
            left = msgspec.json.encode(index.left())
            yield _glue(b',"stats_without_instance":{"count":', left, b',"first":[')
            yield from _listed(index.first_left(_SHOWN))
            yield _glue(b"]}")
        yield _glue(b"}\n")

    def _instances_of(self, text: bytes) -> dict[str, float]:
        """Return the number of instances of each split by the text of stats.json.

        It repeats metrics for perturbations, of which `worst` is one. Raises
        `SourceError` for text that is no list of statistics.
        """
        try:
            stats = _decode_stats(with_nulls(text))
        except NOT_JSON as error:
            reason = f"{_TOTALS} is no list of statistics: {error}"
            raise SourceError(self.name, reason) from error
        found: dict[str, float] = {}
        for stat in stats:
            if stat.name.name == "num_instances" and not stat.name.perturbation:
                split = stat.name.split or ""
                found[split] = found.get(split, 0) + (stat.mean or 0)
        return found


def _glue(*texts: bytes) -> TextPart:
    """Return text that stands in no file."""
    return TextPart(b"".join(texts))


def _part_of(text: bytes, start: Cursor) -> TextPart:
    """Return text of the scenario state that begins at `start`."""
    return TextPart(text, STATE_FILE, start.line, start.offset, start.column)


def _listed(found: Iterator[TextPart] | list[TextPart]) -> Iterator[TextPart]:
    """Yield parts with commas between them."""
    separator = b"\n"
    for part in found:
        yield _glue(separator)
        yield part
        separator = b"\n,\n"


def _state_in(text: bytes) -> _State:
    """Return of whom a request is, as far as a broken one can be read."""
    try:
        return _decode_state(text)
    except NOT_JSON:
        found = parse_truncated(text)
        value = found if isinstance(found, dict) else {}
        of = value.get("instance")
        names = ("id", "split", "perturbation")
        one = of if isinstance(of, dict) else {}
        instance = _Instance(*(one.get(name) for name in names))
        return _State(instance, value.get("train_trial_index"))
