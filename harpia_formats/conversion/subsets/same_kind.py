"""Whether the rows of two files can stand in one: what they are, and around them."""

import csv
from dataclasses import dataclass
from typing import Any

from harpia_formats.conversion.subsets.cut_file import CutFile
from harpia_formats.conversion.subsets.options import SubsetError, SubsetValueError
from harpia_formats.files.framing.chunk import BOM
from harpia_formats.files.framing.constants import with_nulls
from harpia_formats.files.framing.numbered import decoded_or_none
from harpia_formats.formats.detection.file_name import delimiter_of
from harpia_formats.model.text.describe import short_json


@dataclass(frozen=True, slots=True)
class FileKind:
    """What a file is, once its rows were read."""

    name: str
    #: Its format and dialect, empty if it is in no known one.
    format: str
    #: Such as "lines".
    container: str
    #: The columns of a table.
    columns: tuple[str, ...] = ()
    #: The document around the rows, None if there is none.
    document: Any = None


def kind_of(file: CutFile) -> FileKind:
    """Return what a file is whose rows were read."""
    variant = file.plan.variant
    format_ = variant.name if variant is not None else ""
    if not file.count and not file.before.strip():
        return FileKind(file.name, format_, container="")
    if file.is_table:
        delimiter = delimiter_of(file.options.delimiter, file.name)
        container = f"a table with {delimiter!r} between its cells"
        return FileKind(file.name, format_, container, _columns(file.before, delimiter))
    if file.is_wrapped:
        document = decoded_or_none(with_nulls(file.before + file.after))
        return FileKind(file.name, format_, "a document", document=document)
    if file.is_terminated:
        container = "lines"
    elif file.separator == b"\n":
        container = "values over several lines"
    else:
        container = "an array"
    return FileKind(file.name, format_, container)


def check_same_kind(first: FileKind, other: FileKind) -> None:
    """Raise `SubsetError` if the rows of two files cannot stand in one."""
    if not (first.container and other.container):
        return  # an empty file fits any
    pair = f"{first.name} and {other.name}"
    if first.format != other.format:
        one, two = (kind.format or "in no known format" for kind in (first, other))
        raise SubsetError(
            f"{pair} are not alike: the first is {one}, the other {two}; convert one "
            "of them first"
        )
    if first.container != other.container:
        raise SubsetError(
            f"{pair} are not alike: the first is {first.container}, the other "
            f"{other.container}; convert one of them first"
        )
    if first.columns != other.columns:
        raise SubsetValueError(
            f"{pair} have other columns: {_other_column(first, other)}"
        )
    if first.document != other.document:
        raise SubsetValueError(f"{pair} differ around their rows: {_key(first, other)}")


def _columns(header: bytes, delimiter: str) -> tuple[str, ...]:
    """Return the names in the header of a table."""
    text = header.removeprefix(BOM).decode("utf-8", "replace")
    rows = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    return tuple(name for row in rows for name in row)


def _other_column(first: FileKind, other: FileKind) -> str:
    """Return where the columns of two tables differ."""
    if sorted(first.columns) == sorted(other.columns):
        return "they are in another order"
    one_more = [name for name in first.columns if name not in other.columns]
    two_more = [name for name in other.columns if name not in first.columns]
    if not (one_more or two_more):
        return "a name is there more often"
    name = (one_more or two_more)[0]
    return f"{short_json(name)} is only in {(first if one_more else other).name}"


def _key(first: FileKind, other: FileKind) -> str:
    """Return the key in which two documents differ."""
    one, two = first.document, other.document
    if isinstance(one, dict) and isinstance(two, dict):
        for key in dict.fromkeys((*one, *two)):
            if key not in one or key not in two:
                holder = first if key in one else other
                return f"{short_json(key)} is only in {holder.name}"
            if one[key] != two[key]:
                return f"{short_json(key)} is not the same"
    return "they cannot be compared"
