"""Find records of a sample that look like another format than the one asked for."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.formats.detection.candidates import (
    FormatVariant,
    choose_variant,
    first_match,
    variants_of,
)
from harpia_formats.formats.detection.sample import Sample
from harpia_formats.formats.schema.dialect import (
    document_schema,
    is_whole,
    record_schema,
)
from harpia_formats.formats.schema.validator import schema_validator_of
from harpia_formats.model.format import Container, Format

#: The code of the rule that a file has another shape than the format asked for.
OTHER_SHAPE = "S201"
#: The code of the rule that some of its records have another shape.
OTHER_ROWS = "S210"


@dataclass(frozen=True, slots=True)
class DetectionNote:
    """What a rule reports about the format of a file."""

    code: str
    message: str
    help: str = ""
    #: The id of a format that the file may be in if the user names it.
    possible: str = ""


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
    help_ = f"validate it with --format {other}; {validated_as(asked)}"
    return DetectionNote(OTHER_SHAPE, message, help_)


def other_rows_note(
    asked: FormatVariant, sample: Sample, formats: Sequence[Format], *, strict: bool
) -> DetectionNote | None:
    """Return a note if some records are invalid as `asked` and match another format."""
    if asked.dialect.container is not Container.ROWS or not sample.whole:
        return None
    unlike = [row for row in sample.rows if not _has_sign(row, asked)]
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
