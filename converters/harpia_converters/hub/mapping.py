"""Which field of a record each key of the hub's own rows is: the one of that name."""

import msgspec

from harpia_formats.notes import Notes
from harpia_formats.record import KINDS, Header, Record, as_row
from harpia_formats.spoke import Field, Holds, Many, Row, Spoke


def _read(row: Row) -> Record:
    known = {key: value for key, value in row.items() if key != "header"}
    return msgspec.convert(known, Record)


def _write(record: Record, notes: Notes) -> Row:  # noqa: ARG001 - nothing is lost
    return as_row(record)


def _read_header(document: Row) -> Header:
    return msgspec.convert(document, Header)


def _write_header(header: Header, notes: Notes) -> Row:  # noqa: ARG001 - nothing is lost
    return as_row(header)


RECORD = Spoke(
    vendor="record",
    fields=tuple(Field(tuple(each.split(".")), each) for each in KINDS),
    read=_read,
    write=_write,
    holds=Holds(Many.ALL, Many.ALL, Many.ALL, messages=True, turns=True),
    read_header=_read_header,
    write_header=_write_header,
    header_fields=("metrics", "task", "evaluation", "extra"),
    carries=frozenset({"extra", "outputs.extra", "outputs.scores"}),
)
