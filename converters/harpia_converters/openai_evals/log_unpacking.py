"""Make one text of the log of a run: an object around its samples with their events.

Events of several samples interleave, and those of one sample may stand anywhere. Only
the places of lines are grouped, in temporary files; the lines are read once more.
"""

import json
import struct
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec
from msgspec import UNSET, Raw, UnsetType

from harpia_formats.files.io.file_kinds import TextPart
from harpia_formats.files.io.reader import ROW_LIMIT, SourceError
from harpia_formats.model.describe import first_of
from harpia_formats.model.exact_json import NOT_JSON
from harpia_formats.validation.dedup.item_partitions import Item, ItemPartitions

#: The number, the offset and the size of a line.
_line = struct.Struct("<QQQ")
#: The most broken lines that are named.
_named = 3


class _Keys(msgspec.Struct):
    """The members of a line that say what it is."""

    sample_id: Raw | UnsetType = UNSET
    spec: Raw | UnsetType = UNSET
    final_report: Raw | UnsetType = UNSET


_decode_keys = msgspec.json.Decoder(_Keys).decode


@dataclass(slots=True)
class _Lines:
    """What is known of a log once all of its lines were read."""

    samples: ItemPartitions
    #: The first line without its last brace.
    specification: TextPart | None = None
    #: The line of the final report without its braces.
    report: TextPart | None = None
    #: The numbers of lines that are no JSON.
    broken: list[int] = field(default_factory=list)


def open_log(file: BinaryIO, name: str) -> Iterator[TextPart]:
    """Yield the text of a log: `spec`, `final_report`, and `samples` with `events`.

    Samples are in the order of their first events. Raises `SourceError` if the log is
    not one, and behind the samples if some lines could not be read.
    """
    lines = _Lines(ItemPartitions())
    try:
        _read_lines(file, name, lines)
        if lines.specification is None:
            raise SourceError(name, "no JSON in line 1, the specification of the run")
        # Its brace opens the whole, whose other members follow.
        yield lines.specification
        if lines.report is not None:
            yield TextPart(b",\n")
            yield lines.report
        yield TextPart(b',\n"samples":[')
        lines.samples.group(_grouped)
        end = b""
        for _, sample_id, places in lines.samples.groups():
            yield TextPart(end + b",\n" if end else b"\n")
            yield from _sample(file, sample_id, places)
            end = b"\n]}"
        yield TextPart(end)
        if lines.broken:
            raise SourceError(name, _reason(lines.broken))
        yield TextPart(b"\n]}\n")
    finally:
        lines.samples.close()


def _read_lines(file: BinaryIO, name: str, lines: _Lines) -> None:
    """Read all lines of a log into `lines`; raises `SourceError`."""
    number = offset = 0
    while line := file.readline(ROW_LIMIT + 1):
        number += 1
        if len(line) > ROW_LIMIT:
            raise SourceError(
                name, f"line {number:,} has more than {ROW_LIMIT:,} bytes"
            )
        text = line.rstrip()
        # A byte order mark stays in the text, which is reported at its place.
        own = text if offset else text.removeprefix(BOM_UTF8)
        keys = _keys_of(own) if own else None
        if keys is None:
            if text:
                lines.broken.append(number)
        elif keys.spec is UNSET and keys.final_report is UNSET:
            sample_id = _id_of(keys)
            place = _line.pack(number, offset, len(text))
            lines.samples.add(sample_id.decode(), sample_id, place)
        else:
            _add_header(lines, TextPart(text, "", number, offset), keys, name)
        offset += len(line)


def _add_header(lines: _Lines, part: TextPart, keys: _Keys, name: str) -> None:
    """Add the specification or the final report; raises `SourceError` for another."""
    if keys.final_report is UNSET:
        if lines.specification is not None:
            reason = f"line {part.line:,} is a second specification"
            raise SourceError(name, reason)
        lines.specification = _part_at(part, part.text[:-1])
        return
    if lines.report is not None:
        raise SourceError(name, f"line {part.line:,} is a second final report")
    # A space for its brace, so that all else stands where it stood.
    lines.report = _part_at(part, part.text[:-1].replace(b"{", b" ", 1))


def _part_at(part: TextPart, text: bytes) -> TextPart:
    """Return `text` as a part at the place of `part`."""
    return TextPart(text, part.member, part.line, part.offset)


def _keys_of(text: bytes) -> _Keys | None:
    """Return the keys of a line, None if it is no JSON; none if it is too deep."""
    try:
        return _decode_keys(text)
    except NOT_JSON:
        pass
    # What is no object, NaN, and too many levels are reported where they stand.
    try:
        value = json.loads(text)
    except RecursionError:
        return _Keys()
    except ValueError:
        return None
    if not isinstance(value, dict):
        return _Keys()
    return _Keys(
        **{
            key: Raw(json.dumps(value[key]).encode())
            for key in _Keys.__struct_fields__
            if key in value
        }
    )


def _id_of(keys: _Keys) -> bytes:
    """Return the JSON text of a line's `sample_id`, in one spelling.

    That is null where there is none, or no text: such is reported where it stands.
    """
    if keys.sample_id is UNSET:
        return b"null"
    try:
        return msgspec.json.encode(msgspec.json.decode(keys.sample_id))
    except (msgspec.DecodeError, UnicodeError):
        return b"null"


def _grouped(items: Iterator[Item]) -> Iterator[Item]:
    """Yield for each sample its id and the places of its events."""
    groups: dict[bytes, tuple[int, bytearray]] = {}
    for number, sample_id, place in items:
        groups.setdefault(sample_id, (number, bytearray()))[1].extend(place)
    for sample_id, (number, places) in groups.items():
        yield Item(number, sample_id, bytes(places))


def _sample(file: BinaryIO, sample_id: bytes, places: bytes) -> Iterator[TextPart]:
    """Yield the text of a sample but its end, placed where its first event is."""
    start = b'{"sample_id":' + sample_id + b',"events":[\n'
    for number, offset, size in _line.iter_unpack(places):
        yield TextPart(start, "", number, offset) if start else TextPart(b",\n")
        start = b""
        file.seek(offset)
        yield TextPart(file.read(size), "", number, offset)


def _reason(broken: list[int]) -> str:
    """Return what is wrong with a log that has broken lines."""
    shown = first_of([f"{number:,}" for number in broken], _named)
    return f"no JSON in line {shown}; all other lines were read"
