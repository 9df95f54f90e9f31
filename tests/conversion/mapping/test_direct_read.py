"""What is read straight from decoded rows is what the whole record becomes."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from msgspec import UNSET

from effort import drawn, pairs
from harpia_formats.conversion.destination import validator_of_rows
from harpia_formats.conversion.mapping.choices import (
    Choices,
    References,
    Responses,
    Turns,
)
from harpia_formats.conversion.mapping.direct_read import direct_read
from harpia_formats.conversion.mapping.record_program import RecordProgram
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.formats.registry import adapter_of, writable_formats
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.record import Record, field_paths
from row_files import random_file

SOURCES = [
    format_
    for format_ in writable_formats().values()
    if adapter_of(format_).reads_by_fields
]
TARGETS = list(writable_formats().values())
CHOICES = (
    Choices(),
    Choices(References.EXPAND, Responses.LIST, Turns.TRANSCRIPT),
    Choices(References.FAIL, Responses.FIRST, Turns.FAIL),
    Choices(
        model="m",
        constants={"outputs.model": "m", "id": "1", "references": ["r"]},
    ),
)
#: Random rows of each format, and those that the decoder learns.
ROWS, LEARNED = 200 + drawn(50), 200


@cache
def decoder_and_rows(format_: Format) -> tuple[TypedDecoder, list[bytes]]:
    """Return a decoder that has seen rows of a format, and the rows that it accepts."""
    file = random_file(format_, format_.dialects[0], ROWS, f"direct {format_.id}")
    texts = [encode(row.value) for row in file.rows]
    validator = validator_of_rows(format_, format_.dialects[0])
    for text in texts[:LEARNED]:
        validator.validate(Chunk(text, Cursor(), [text]))
    decoder = validator.decoder
    assert decoder is not None
    return decoder, [text for text in texts if decoder.accept(text) is not None]


def plain(mapper: RecordMapper, record: Record, number: int) -> Any:
    """Return what a record becomes, None if it cannot be converted."""
    try:
        mapped = mapper.map(record, number)
    except Unconvertible:
        return None
    return encode(mapped.rows), mapped.paths, mapped.outcomes


def quick(
    program: RecordProgram, found: tuple[Record, Any], whole: Record, number: int
) -> Any:
    """Return what needed fields become, None if they cannot be converted."""
    needed, key = found
    try:
        nulls = field_paths(whole, program.mapper.owners)
        rows, record_outcome = program.map_needed(needed, number, key, lambda _: nulls)
    except Unconvertible:
        return None
    return encode(rows), record_outcome.paths, record_outcome.outcomes


@pytest.mark.parametrize("path", ["extra.nemo", "outputs.extra.nemo", "extra"])
def test_other_keys_of_rows_are_read_where_they_may_be_written(path: str) -> None:
    """A target that carries the extra of another vendor gets that extra."""
    source = writable_formats()["nemo-output"]
    decoder, texts = decoder_and_rows(source)
    target = adapter_of(writable_formats()["haystack"])
    carrying = replace(target, other_paths=target.other_paths | {path})
    rows = [Chunk(text, Cursor()) for text in texts]

    for asked, is_read in ((target, False), (carrying, True)):
        direct = direct_read(adapter_of(source), asked, Choices(), decoder)
        assert direct is not None
        extras = {
            found[0].extra is not UNSET
            for row in rows
            for found in direct.records(row, [decoder.decode(row.data)])
            if found is not None
        }
        assert (True in extras) is is_read


@pytest.mark.parametrize(
    ("source", "target"), pairs(SOURCES, TARGETS), ids=lambda each: each.id
)
def test_needed_fields_become_what_the_whole_record_becomes(
    source: Format, target: Format
) -> None:
    """Rows, paths and outcomes are the same, for each row that is read directly."""
    ours, theirs = adapter_of(source), adapter_of(target)
    decoder, texts = decoder_and_rows(source)
    taken = 0
    for choices in CHOICES:
        direct = direct_read(ours, theirs, choices, decoder)
        if direct is None:
            continue
        mapper = RecordMapper(theirs, choices, owners=ours.extra_owners)
        program = RecordProgram(mapper)
        for number, text in enumerate(texts, 1):
            (found,) = direct.records(Chunk(text, Cursor()), [decoder.decode(text)])
            if found is None:
                continue
            taken += 1
            whole = ours.read(decode(text))
            expected = plain(mapper, whole, number)
            assert quick(program, found, whole, number) == expected, text
    assert taken
