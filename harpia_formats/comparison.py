"""Compare two data sets of any formats, record by record, in any order, out of core.

Records are matched by their ids, or by what they ask where one side has no ids. Fields
that one of the two formats has no place for are not compared.
"""

import pickle
import struct
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from harpia_formats.convert_options import ConvertOptions, OnInvalid
from harpia_formats.detection import Variant
from harpia_formats.differences import differences
from harpia_formats.digests import digest_of
from harpia_formats.exact import decode, encode
from harpia_formats.fitting import last_of
from harpia_formats.inputs import Input
from harpia_formats.problem import Problem
from harpia_formats.reading import Reading
from harpia_formats.record import Record
from harpia_formats.registry import spoke_of
from harpia_formats.report import FileCount
from harpia_formats.round_trip import Changed, DifferenceReport
from harpia_formats.spoke import Many, Spoke
from harpia_formats.taking import Taken

#: Files that the records of a side are spread over, and bytes that memory holds.
FILES, HELD = 64, 64 * 1024
#: Fields that are told of as left out.
MOST = 50
#: Fields that are compared, or left out, by themselves.
_apart = frozenset({"outputs", "scores", "extra"})
_head = struct.Struct("<QII")
_parts = msgspec.json.Decoder(tuple[str, msgspec.Raw]).decode


def _held() -> IO[bytes]:
    """Return a temporary file; whoever reads it closes it."""
    return SpooledTemporaryFile(HELD)


@dataclass(slots=True)
class _Side:
    """The records of one data set, by what they are matched by."""

    reading: Reading
    spokes: list[Spoke] = field(default_factory=list)
    files: list[IO[bytes]] = field(default_factory=list)
    records: IO[bytes] = field(default_factory=_held)
    has_ids: bool = True

    def problems(self) -> Iterator[Problem]:
        """Read all records into a temporary file; yield what is wrong."""
        yield from self.reading.problems(self._receive, self._begin, lambda _: None)

    def _begin(self, variant: Variant, count: FileCount) -> None:
        del count
        self.spokes.append(spoke_of(variant.format))

    def _receive(self, taken: Taken) -> None:
        self.has_ids = self.has_ids and taken.record.id is not UNSET
        place = pickle.dumps(taken.row.place(0, 1, ()))
        text = encode(taken.record)
        self.records.write(_head.pack(0, len(place), len(text)) + place + text)

    def spread(self, *, by_id: bool) -> None:
        """Spread the records over files by what they are matched by."""
        self.files = [_held() for _ in range(FILES)]
        for number, (_, place, text) in enumerate(_items(self.records)):
            record = msgspec.convert(decode(text), Record)
            key = _key_of(record, by_id=by_id)
            whole = b"[" + encode(key) + b"," + text + b"]"
            head = _head.pack(number, len(place), len(whole))
            self.files[digest_of(key) % FILES].write(head + place + whole)


def _items(file: IO[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    file.seek(0)
    while head := file.read(_head.size):
        number, of_place, of_text = _head.unpack(head)
        yield number, file.read(of_place), file.read(of_text)
    file.close()


def _key_of(record: Record, *, by_id: bool) -> str:
    if by_id:
        return f"={record.id}"
    asked: Any = record.prompt
    if asked is UNSET:
        asked = last_of(record.messages or [], "user")
    return "?" if asked is UNSET else f"={asked}"


class Comparison:
    """One comparison: iterate for the problems, then ask for the report.

    Raises `ConversionError`, `UnknownFormat` or `ValueError`.
    """

    def __init__(
        self,
        left: Iterable[Input],
        right: Iterable[Input],
        options: ConvertOptions,
    ) -> None:
        def side(inputs: Iterable[Input]) -> _Side:
            reading = Reading(
                inputs,
                options.from_,
                columns=options.columns,
                fail_fast=options.on_invalid is OnInvalid.FAIL,
                max_row_bytes=options.max_row_bytes,
                progress=options.progress,
            )
            return _Side(reading)

        self._left, self._right = side(left), side(right)
        self._found = DifferenceReport()
        self._examples: dict[str, tuple[int, Changed]] = {}
        #: What records were matched by: `id` or `prompt`.
        self.matched_by = "id"
        #: Fields that are not compared, because one side has no place for them.
        self.left_out: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Problem]:
        yield from self._left.problems()
        yield from self._right.problems()
        if self._failed():
            return
        self._narrow()
        by_id = self._left.has_ids and self._right.has_ids
        self.matched_by = "id" if by_id else "prompt"
        self._left.spread(by_id=by_id)
        self._right.spread(by_id=by_id)
        for ours, theirs in zip(self._left.files, self._right.files, strict=True):
            self._compare(ours, theirs)

    def _failed(self) -> bool:
        return not all(
            each.reading.tally.report().ok for each in (self._left, self._right)
        )

    def report(self) -> DifferenceReport:
        """Return what differs."""
        ours = self._left.reading.tally.report()
        self._found.report = ours
        theirs = self._right.reading.tally.report()
        if ours.ok and not theirs.ok:
            self._found.report = theirs
        return self._found

    def _narrow(self) -> None:
        spokes = [*self._left.spokes, *self._right.spokes]
        self._one_reference = any(each.holds.references is Many.ONE for each in spokes)
        self._spokes = list({id(each): each for each in spokes}.values())

    def _narrowed(self, record: Record) -> Record:
        """Return `record` without what one of the formats has no place for."""
        if len(self._spokes) == 1:
            return record
        changes: dict[str, Any] = {}
        for name in Record.__struct_fields__:
            held = getattr(record, name) is not UNSET and name not in _apart
            if held and not self._is_common(name):
                changes[name] = UNSET
        if self._one_reference and record.references:
            if len(record.references) > 1:
                self._leave_out("references but the first")
            changes["references"] = record.references[:1]
        outputs = []
        if all(each.holds.outputs is not Many.NONE for each in self._spokes):
            outputs = [self._narrowed_output(each) for each in record.outputs]
        elif record.outputs:
            self._leave_out("outputs")
        if self._of_several_vendors:
            changes["extra"] = self._without_extra("extra", record.extra)
        return replace(record, **changes, outputs=outputs)

    @property
    def _of_several_vendors(self) -> bool:
        """Whether what is kept of rows cannot be compared."""
        return len({each.vendor for each in self._spokes}) > 1

    def _without_extra(self, path: str, extra: Any) -> UnsetType:
        for vendor, members in extra.items() if extra is not UNSET else ():
            for key in members:
                self._leave_out(f"{path}.{vendor}.{key}")
        return UNSET

    def _leave_out(self, path: str) -> None:
        """Remember what is not compared, so that it is said."""
        if path not in self.left_out and len(self.left_out) < MOST:
            self.left_out = (*self.left_out, path)

    def _narrowed_output(self, output: Any) -> Any:
        changes = {
            name: UNSET
            for name in output.__struct_fields__
            if getattr(output, name) is not UNSET
            and name not in _apart
            and not self._is_common(f"outputs.{name}")
        }
        if self._of_several_vendors:
            changes["extra"] = self._without_extra("outputs.extra", output.extra)
        if output.scores is not UNSET:
            changes["scores"] = self._narrowed_scores(output.scores)
        return replace(output, **changes)

    def _narrowed_scores(self, scores: list[Any]) -> Any:
        if not all(each.holds.scores is not Many.NONE for each in self._spokes):
            self._leave_out("outputs.scores")
            return UNSET
        narrowed = []
        for score in scores:
            changes = {
                name: UNSET
                for name in score.__struct_fields__
                if getattr(score, name) is not UNSET
                and not self._is_common(f"outputs.scores.{name}")
            }
            narrowed.append(replace(score, **changes))
        return narrowed

    def _is_common(self, path: str) -> bool:
        common = all(each.carried(path) for each in self._spokes)
        if not common:
            self._leave_out(path)
        return common

    def _compare(self, ours: IO[bytes], theirs: IO[bytes]) -> None:
        waiting: dict[str, deque[tuple[int, bytes, msgspec.Raw]]] = {}
        for number, place, text in _items(theirs):
            key, record = _parts(text)
            waiting.setdefault(key, deque()).append((number, place, record))
        for number, place, text in _items(ours):
            key, record = _parts(text)
            others = waiting.get(key)
            if not others:
                self._found.only_left += 1
                self._note_only("only in the first", number, place, key)
                continue
            _, _, other = others.popleft()
            left, right = self._record_of(record), self._record_of(other)
            self._match(left, right, number, place)
        for key, rest in waiting.items():
            self._found.only_right += len(rest)
            for number, place, _ in rest:
                self._note_only("only in the second", number, place, key)

    def _record_of(self, text: msgspec.Raw) -> Record:
        return self._narrowed(msgspec.convert(decode(bytes(text)), Record))

    def _match(self, left: Record, right: Record, number: int, place: bytes) -> None:
        found = list(differences(left, right))
        self._found.records += 1
        self._found.differing += bool(found)
        for each in found:
            line = self._found.fields.setdefault(each.path, Changed(each.path))
            line.count += 1
            first = self._examples.get(each.path)
            if first is None or number < first[0]:
                line.example, line.place = each, pickle.loads(place)  # noqa: S301 - written by ourselves a moment ago
                self._examples[each.path] = (number, line)

    def _note_only(self, where: str, number: int, place: bytes, key: str) -> None:
        """Keep the first record that only one side has."""
        from harpia_formats.differences import Difference  # noqa: PLC0415 - where they differ only

        line = self._found.fields.setdefault(where, Changed(where))
        line.count += 1
        first = self._examples.get(where)
        if first is None or number < first[0]:
            line.example = Difference(self.matched_by, key.removeprefix("="), UNSET)
            line.place = pickle.loads(place)  # noqa: S301 - written by ourselves a moment ago
            self._examples[where] = (number, line)
