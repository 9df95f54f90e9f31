"""Report what a file in no known format may be, and which formats are near."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from harpia_formats.files.parsing.csv_delimiter import (
    COMMA,
    WIDE_DELIMITERS,
    how_to_read,
    named,
    shown_delimiter,
)
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.likely_map import likely_map
from harpia_formats.formats.detection.other_shape import DetectionNote
from harpia_formats.formats.detection.sample import Sample
from harpia_formats.formats.detection.unread_files import find_unread
from harpia_formats.formats.schema.dialect import (
    document_schema,
    is_whole,
    record_schema,
)
from harpia_formats.model.format import Container, Format
from harpia_formats.model.text.describe import short_json
from harpia_formats.model.text.spelling import nearest

#: The code of the rule that a file must be in a known format.
CODE = "S301"
#: Keys of a record among which misspelt ones are looked for.
MANY_KEYS = 100
#: Keys of the file that are listed if none is proposed for a field.
LISTED_KEYS = 10
#: Keys that are listed of those that a format must have and the file has not.
LISTED_MISSING = 4
#: Formats that are listed if none is recognized.
NEAREST = 3
_how = "name a format with --from, or for validate and split a schema with --schema"


def unknown_text(delimiter: str = "") -> DetectionNote:
    """Return a note on a file of text that is neither JSON nor a table.

    `delimiter` is the one by which it may be a table, "" if there is none.
    """
    message = "no known format: the file is neither JSON nor called .csv or .tsv"
    help_ = "if it is a table, say so with --from csv or --map, or call it .csv"
    if delimiter:
        how = f"read it with --from csv --delimiter {shown_delimiter(delimiter)}"
        if delimiter in WIDE_DELIMITERS:
            how = f"{how_to_read(delimiter, COMMA)}, and call it .csv"
        help_ = f"a {named(delimiter)} separates the fields of its first lines: {how}"
    return DetectionNote(CODE, message, f"{help_}; {_how}", "csv")


def unknown_format(sample: Sample, variants: Sequence[FormatVariant]) -> DetectionNote:
    """Return a note with what the file may be, or the nearest of `variants`."""
    row = sample.rows[0]
    if not isinstance(row, dict):
        return DetectionNote(CODE, "no known format: the records are not objects", _how)
    unread = find_unread(sample.rows)
    if unread is not None:
        title, sign = unread
        message = f"no known format: the records are {title}, by {sign}"
        return DetectionNote(CODE, message, _how)
    for variant in variants:
        possible = variant.dialect.possible(row)
        if possible:
            message = f"no known format; may be {variant.name}, by {possible}"
            id_ = variant.format.id
            settles = f"if it is, name it with --from {id_}"
            return DetectionNote(CODE, message, f"{settles}; {_how}", id_)
    for variant in variants:
        if variant.format.general and _is_of_tables(variant):
            return _unknown_table(row, variant.format)
    return _nearest_formats(row, variants)


def _is_of_tables(variant: FormatVariant) -> bool:
    """Tell whether the files of a variant are tables with a header or typed columns."""
    is_table = variant.dialect.container is Container.TABLE
    return is_table or bool(variant.format.unpacked_by)


def _unknown_table(row: Mapping[str, Any], format_: Format) -> DetectionNote:
    """Return a note on a table without a known column, of `format_` once mapped."""
    message = (
        "no known format: no column is known as one of prompts, references or answers"
    )
    help_ = "; ".join(filter(None, [_mapped(row, "COLUMN"), _how]))
    return DetectionNote(CODE, message, help_, format_.id)


def _nearest_formats(
    row: dict[str, Any], variants: Sequence[FormatVariant]
) -> DetectionNote:
    """Return a note with the formats that `row` has most of, if it has any key of one.

    Formats of which it has no required key are named only if there are no others, and
    of several dialects of a format the nearest.
    """
    near: dict[str, tuple[str, _Distance]] = {}
    for variant in variants:
        id_, distance = variant.format.id, _distance(row, variant)
        if distance.known and (id_ not in near or distance.order < near[id_][1].order):
            near[id_] = variant.name, distance
    found = sorted(near.values(), key=lambda each: each[1].order)
    likely = [each for each in found if each[1].had]
    found = (likely or found)[:NEAREST]
    mapped = _mapped(row, "KEY")
    if not found:
        message = "no known format: none has a key of the file"
        if not row:
            message = "no known format: the first record has no keys"
        return DetectionNote(CODE, message, "; ".join(filter(None, [mapped, _how])))
    verb = "is" if len(found) == 1 else "are"
    names = ", ".join(name for name, _ in found)
    message = f"no known format; the nearest {verb} {names}"
    lacks = [
        f"{name} lacks {_listed(way.missing)}" for name, way in found if way.missing
    ]
    return DetectionNote(CODE, message, "; ".join([mapped, *lacks, _how]))


def _listed(keys: Sequence[str]) -> str:
    """Return the first of some keys, and the number of the others."""
    more = len(keys) - LISTED_MISSING
    shown = ", ".join(keys[:LISTED_MISSING])
    return f"{shown} and {more:,} more" if more > 0 else shown


def _mapped(row: Mapping[str, Any], what: str) -> str:
    """Return how rows of such keys, each a `what`, are converted and scored.

    It has the proposed --map, and is "" for rows without keys.
    """
    if not row:
        return ""
    proposed = likely_map(row)
    if proposed:
        return (
            f"to convert or score it, say which {what.lower()} holds what, such as "
            f"--map {proposed}"
        )
    keys = [short_json(key) for key in islice(row, LISTED_KEYS)]
    more = ", ..." if len(row) > len(keys) else ""
    return (
        f"to convert or score it, say which {what.lower()} holds what, with --map "
        f"prompt={what}, where {what} is one of {', '.join(keys)}{more}"
    )


@dataclass(frozen=True, slots=True)
class _Distance:
    """How far a row is from a variant: keys of it that the row has, and lacks."""

    known: int
    #: How many of its required keys the row has; one that is misspelt is a half.
    had: float
    missing: tuple[str, ...]

    @property
    def order(self) -> tuple[float, int, int]:
        """The sort key: the nearest first."""
        return (-self.had, -self.known, len(self.missing))


def _distance(row: dict[str, Any], variant: FormatVariant) -> _Distance:
    dialect = variant.dialect
    schema = (record_schema if is_whole(dialect) else document_schema)(dialect)
    if not isinstance(schema, dict):
        return _Distance(0, 0, ())
    properties, required = schema.get("properties", {}), schema.get("required", ())
    keys = list(islice(row, MANY_KEYS))
    near = {key for key in properties if key not in row and _is_misspelt(key, keys)}
    missing = tuple(key for key in required if key not in row)
    had = sum((key in row) + (key in near) / 2 for key in required)
    known = len(properties.keys() & row.keys()) + len(near)
    return _Distance(known, had, missing)


def _is_misspelt(key: str, keys: Sequence[str]) -> bool:
    """Tell whether one of `keys` is a misspelt `key`.

    One with another word, such as `question` for `question_id`, is another key.
    """
    found = nearest(key, keys)
    is_alike = found.count("_") == key.count("_")
    return bool(found) and (is_alike or found.replace("_", "") == key.replace("_", ""))
