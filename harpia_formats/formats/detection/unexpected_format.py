"""Report records that look like another format than expected, or like none."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from shlex import quote
from typing import Any

from msgspec import UNSET, Struct

from harpia_formats.files.parsing.csv_delimiter import (
    COMMA,
    WIDE_DELIMITERS,
    how_to_read,
    named,
    shown_delimiter,
)
from harpia_formats.formats.detection.candidates import (
    FormatVariant,
    choose_variant,
    first_match,
    variants_of,
)
from harpia_formats.formats.detection.sample import Sample
from harpia_formats.formats.registry import unread_files
from harpia_formats.formats.schema.bundled_schemas import (
    document_schema,
    is_whole,
    record_schema,
    schema_validator_of,
    without_exception,
)
from harpia_formats.model.describe import first_of, short_json
from harpia_formats.model.format import Container, Format
from harpia_formats.model.record import Record
from harpia_formats.model.spelling import nearest
from harpia_formats.model.value_path import (
    LABEL_KEYS,
    NoSuchItemError,
    parse_value_path,
    value_at,
)

#: Keys that often hold a field, the likeliest first, by the field.
_likely = {
    "prompt": "prompt question instruction query problem input task text ctx",
    "references": (
        "reference references gold golden target expected expected_output ideal "
        "ground_truth label solution answer answers answerkey answer_key"
    ),
    "response": (
        "response model_answer model_response model_output prediction predicted "
        "generated generation completion output answer"
    ),
    "category": "category topic subject domain",
    "model": "model model_name llm engine",
    "id": "id qid uid uuid question_id sample_id example_id index",
}
#: The fields of which one is proposed at least, or nothing is.
_needed = "prompt"
_separator = re.compile(r"[ -]")
#: Keys that often hold the options of a multiple choice.
_options = ("choices", "options", "endings")


def likely_map(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the --map for rows by the names of their keys, "" if none is known.

    It is quoted for a shell if need be.
    It is a proposal: a key may mean something else. A key is proposed for one field,
    and only if this may hold its value; it may have the index or the label of one of
    the options, if it has in all rows.
    """
    left = _plain_names(rows[0])
    found: dict[str, str] = {}
    for field in _likely:
        found |= _likely_key(field, rows, left)
    return _map_text(found) if _needed in found else ""


def _likely_key(
    field: str, rows: Sequence[Mapping[str, Any]], left: dict[str, str]
) -> dict[str, str]:
    """Return the key that likely holds a field, which is taken from `left`.

    It may be a path, with that of the options; there is none if nothing is known.
    """
    known = [name for name in _likely[field].split() if name in left]
    name = next((name for name in known if _fits(field, rows[0][left[name]])), None)
    if field == "references":
        keys = [left[each] for each in (known if name is None else [name])]
        chosen = _chosen_option(rows, keys)
        if chosen:
            return chosen
    return {} if name is None else {field: left.pop(name)}


def _plain_names(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys of a row by their names as the likely ones are written.

    Of several keys with one name, such as `question` and `Question`, it is the first.
    """
    return {_separator.sub("_", key.casefold()): key for key in reversed([*row])}


def _map_text(found: Mapping[str, str]) -> str:
    given = quote(",".join(f"{field}={key}" for field, key in found.items()))
    reference, options = found.get("references", ""), found.get("choices")
    is_index = options in _options and reference.endswith("]")
    return f"`--map {given}`{'; an index counts from 0' if is_index else ''}"


def _fits(field: str, value: Any) -> bool:
    """Tell whether a field may hold a value, or lacks it because it is null."""
    if field == "references" and isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    is_number_of_id = field == "id" and type(value) is int
    return value is None or isinstance(value, str) or is_number_of_id


def _chosen_option(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str]
) -> dict[str, str]:
    """Return the paths of the options and of the right one, if a key names that."""
    for options in _options:
        for texts in (options, f"{options}.text"):
            for key in keys:
                if _is_chosen(rows, texts, key):
                    return {"references": f"{texts}[{key}]", "choices": texts}
    return {}


def _is_chosen(rows: Sequence[Mapping[str, Any]], texts: str, key: str) -> bool:
    """Tell whether a key has the label or the index of one of the texts in all rows.

    Labels stand next to the texts. An index is a number, or text with one that is none
    of the texts. Rows without options, or without a value of the key, may be any.
    """
    options, _, is_labelled = texts.partition(".")
    chosen = parse_value_path(f"{texts}[{key}]")
    is_known = False
    for row in rows:
        values, wanted = value_at(row, tuple(texts.split("."))), row.get(key)
        if values is UNSET or values is None or wanted in (None, ""):
            continue
        if type(values) is not list or not all(isinstance(one, str) for one in values):
            return False
        labels = is_labelled and any(name in row[options] for name in LABEL_KEYS)
        is_index = type(wanted) is int or (
            isinstance(wanted, str) and wanted.isdecimal() and wanted not in values
        )
        try:
            chosen.find(row)
        except NoSuchItemError:
            return False
        if not (labels if is_labelled else is_index):
            return False
        is_known = True
    return is_known


def likely_map_of(record: Record) -> str:
    """Return the --map for a record of which no column is a field, "" for none.

    Its columns are in its `extra`.
    """
    if record.extra is UNSET or record.prompt is not UNSET or record.outputs:
        return ""
    return next(filter(None, (likely_map([row]) for row in _rows_of(record))), "")


def likely_references_of(record: Record) -> str:
    """Return the --map that reads the references of a record, "" for none.

    They are under a key of it that is no field.
    """
    found = (
        _likely_key("references", [row], _plain_names(row)) for row in _rows_of(record)
    )
    return next(map(_map_text, filter(None, found)), "")


def _rows_of(record: Record) -> Iterator[dict[str, Any]]:
    """Yield the keys of a record that are no fields, with its options."""
    known = {} if record.choices is UNSET else {"choices": record.choices}
    for columns in ({} if record.extra is UNSET else record.extra).values():
        yield known | columns


def find_unread(rows: Sequence[Any]) -> tuple[str, str] | None:
    """Return what the files are that a row has a sign of, and the sign; None if none.

    They are in no known format.
    """
    for row in rows:
        for files in unread_files() if isinstance(row, Mapping) else ():
            sign = files.sign(row)
            if sign:
                return files.title, sign
    return None


#: The code of the rule that a file has another shape than the format asked for.
OTHER_SHAPE = "S201"
#: The code of the rule that some of its records have another shape.
OTHER_ROWS = "S210"


class DetectionNote(Struct, frozen=True):
    """What a rule reports about the format of a file."""

    code: str
    message: str
    help: str = ""
    #: The id of a format that the file may be in if the user names it.
    possible: str = ""
    #: Whether its texts certainly hold no value and no key of the file.
    hides_values: bool = False


def other_shape_note(
    asked: FormatVariant,
    sample: Sample,
    formats: Sequence[Format],
    called: str,
    *,
    strict: bool,
) -> DetectionNote | None:
    """Return a note if most records are invalid as `asked` and match another format.

    `called` is the name that the user gave.
    """
    particular = [format_ for format_ in formats if not format_.general]
    choice = choose_variant(sample.rows, variants_of(particular, sample.layout))
    if choice is None or choice.variant.format is asked.format or not sample.whole:
        return None
    invalid = count_invalid(sample.rows, asked, strict=strict)
    if 2 * min(invalid, choice.matching) <= len(sample.rows):
        return None
    other = choice.variant.format.id
    message = f"the file is {choice.variant.name}, not {called}: {choice}"
    help_ = f"read it with `--from {other}`; {validated_as(asked)}"
    return DetectionNote(OTHER_SHAPE, message, help_)


def other_rows_note(
    asked: FormatVariant, sample: Sample, formats: Sequence[Format], *, strict: bool
) -> DetectionNote | None:
    """Return a note if some records are invalid as `asked` and match another format."""
    if asked.dialect.container is not Container.ROWS or not sample.whole:
        return None
    unlike = [row for row in sample.rows if not _has_sign(row, asked)]
    if not unlike:
        return None
    particular = [format_ for format_ in formats if not format_.general]
    variants = variants_of(particular, sample.layout)
    matches = [(row, first_match(row, variants)) for row in unlike]
    others = [(row, found) for row, found in matches if found is not None]
    refused = _refused([row for row, _ in others], asked, strict=strict)
    names = Counter(
        (found[0].name, found[1])
        for (_, found), is_refused in zip(others, refused, strict=True)
        if is_refused
    )
    if not names:
        return None
    (name, sign), count = names.most_common(1)[0]
    total = len(sample.rows)
    of_all = f"{count:,} of the first {total:,} records look{'s' * (count == 1)}"
    if total == 1:
        of_all = "the first record looks"
    return DetectionNote(
        OTHER_ROWS,
        f"{of_all} like {name} ({sign})",
        f"put each format in its own file; {validated_as(asked)}",
    )


def validated_as(asked: FormatVariant) -> str:
    """Return the end of a help text: the records are validated as `asked`."""
    return f"here every record is validated as {asked.name}"


def count_invalid(rows: Sequence[Any], variant: FormatVariant, *, strict: bool) -> int:
    """Return how many of `rows` the schema of `variant` refuses."""
    return sum(_refused(rows, variant, strict=strict))


def _refused(
    rows: Sequence[Any], variant: FormatVariant, *, strict: bool
) -> list[bool]:
    """Return of each row whether the schema of `variant` refuses it."""
    if not rows:
        return []
    dialect = variant.dialect
    schema_of = record_schema if is_whole(dialect) else document_schema
    schema_validator = schema_validator_of(schema_of(dialect, strict=strict))
    return [not schema_validator.is_valid(row) for row in rows]


def _has_sign(row: Any, variant: FormatVariant) -> bool:
    return isinstance(row, dict) and bool(variant.dialect.sniff(row))


#: The code of the rule that a table must have the delimiter that it is read with.
OTHER_DELIMITER = "J307"


def delimiter_note(head: Sample) -> DetectionNote:
    """Return a note that the fields of a table have another delimiter."""
    found, expected = named(head.other_delimiter), named(head.delimiter)
    return DetectionNote(
        OTHER_DELIMITER,
        f"a {found} separates the fields of header and rows, and not a {expected}",
        how_to_read(head.other_delimiter, head.delimiter),
        hides_values=True,
    )


def no_text_note(called: str) -> DetectionNote:
    """Return a note that a file without text is read as `called`, a table of text."""
    message = f"the file is not {called}: it is no text"
    return DetectionNote(OTHER_SHAPE, message, LEAVE_OUT_FROM, hides_values=True)


#: What helps where a file is not in the format that was named.
LEAVE_OUT_FROM = "leave out `--from`, so that its format is detected"
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
_how = "name a format with `--from`, or for validate and split a schema with `--schema`"


def unknown_text(delimiter: str = "") -> DetectionNote:
    """Return a note on a file of text that is neither JSON nor a table.

    `delimiter` is the one by which it may be a table, "" if there is none.
    """
    message = "no known format: the file is neither JSON nor called .csv or .tsv"
    help_ = "if it is a table, say so with `--from csv` or `--map`, or call it .csv"
    if delimiter:
        how = f"read it with `--from csv --delimiter {shown_delimiter(delimiter)}`"
        if delimiter in WIDE_DELIMITERS:
            how = f"{how_to_read(delimiter, COMMA)}, and call it .csv"
        help_ = f"a {named(delimiter)} separates the fields of its first lines: {how}"
    return DetectionNote(
        CODE, message, f"{help_}; {_how}", possible="csv", hides_values=True
    )


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
            help_ = f"if it is, name it with `--from {id_}`"
            return DetectionNote(CODE, message, f"{help_}; {_how}", id_)
    for variant in variants:
        if variant.format.general and _is_of_tables(variant):
            return _unknown_table(sample.rows, variant.format)
    return _nearest_formats(sample.rows, variants)


def _is_of_tables(variant: FormatVariant) -> bool:
    """Tell whether the files of a variant are tables with a header or typed columns."""
    is_table = variant.dialect.container is Container.TABLE
    return is_table or bool(variant.format.unpacked_by)


def _unknown_table(rows: Sequence[Any], format_: Format) -> DetectionNote:
    """Return a note on a table without a known column, of `format_` once mapped."""
    message = (
        "no known format: no column is known as one of prompts, references or answers"
    )
    help_ = "; ".join(filter(None, [how_to_map(rows, "COLUMN"), _how]))
    return DetectionNote(CODE, message, help_, format_.id)


def _nearest_formats(
    rows: Sequence[Any], variants: Sequence[FormatVariant]
) -> DetectionNote:
    """Return a note with the formats that the first row has most of, if of any.

    Formats of which it has no required key are named only if there are no others, and
    of several dialects of a format the nearest.
    """
    row = rows[0]
    near: dict[str, tuple[str, _Distance]] = {}
    for variant in variants:
        id_, distance = variant.format.id, _distance(row, variant)
        if distance.known and (id_ not in near or distance.order < near[id_][1].order):
            near[id_] = variant.name, distance
    found = sorted(near.values(), key=lambda each: each[1].order)
    likely = [each for each in found if each[1].had]
    found = (likely or found)[:NEAREST]
    mapped = how_to_map(rows, "KEY")
    if not found:
        message = "no known format: none has a key of the file"
        if not row:
            message = "no known format: the first record has no keys"
        return DetectionNote(CODE, message, "; ".join(filter(None, [mapped, _how])))
    verb = "is" if len(found) == 1 else "are"
    names = ", ".join(name for name, _ in found)
    message = f"no known format; the nearest {verb} {names}"
    lacks = [
        f"{name} lacks {first_of(way.missing, LISTED_MISSING)}"
        for name, way in found
        if way.missing
    ]
    return DetectionNote(CODE, message, "; ".join([mapped, *lacks, _how]))


def how_to_map(rows: Sequence[Any], what: str) -> str:
    """Return how rows, whose keys are each a `what`, are converted and scored.

    It has the --map that is proposed by the first of them, an object, and fits the
    others; it is "" if that has no keys.
    """
    row = rows[0]
    if not row:
        return ""
    proposed = likely_map([each for each in rows if isinstance(each, dict)])
    if proposed:
        return (
            f"to convert or score it, say which {what.lower()} holds what, such as "
            + proposed
        )
    keys = [short_json(key) for key in islice(row, LISTED_KEYS)]
    more = ", ..." if len(row) > len(keys) else ""
    return (
        f"to convert or score it, say which {what.lower()} holds what, with "
        f"`--map prompt={what}`, where {what} is one of {', '.join(keys)}{more}"
    )


class _Distance(Struct, frozen=True):
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
    schema = without_exception(
        (record_schema if is_whole(dialect) else document_schema)(dialect)
    )
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
