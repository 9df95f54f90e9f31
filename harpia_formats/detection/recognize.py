"""Recognise the format of a file from its head, and say what is odd about it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec

from harpia_formats.detection.candidates import (
    FormatChoice,
    FormatVariant,
    choose_variant,
    variants_of,
)
from harpia_formats.framing.container import Layout
from harpia_formats.framing.lines import Chunk
from harpia_formats.model.format import Format
from harpia_formats.schema.dialect import document_schema, is_whole, record_schema
from harpia_formats.schema.validator import schema_validator_of
from harpia_formats.text.spelling import nearest

#: Records that a file's format is told from, and their bytes at most.
SAMPLE_RECORDS = 1_000
SAMPLE_BYTES = 8 * 1024 * 1024
#: The rule that says that a file has another shape than the one asked for.
OTHER_SHAPE = "S201"
#: Keys of a record among which misspelt ones are looked for.
MANY_KEYS = 100
#: Formats that are named where none is recognised.
NEAREST = 3


@dataclass(frozen=True, slots=True)
class Sample:
    """What a file begins with."""

    layout: Layout
    #: Its first records that parse; of a document the whole, perhaps cut short.
    rows: tuple[Any, ...] = ()
    #: Whether nothing was cut off from `rows`.
    whole: bool = True
    #: Whether other values follow the document.
    several: bool = False


@dataclass(frozen=True, slots=True)
class DetectionNote:
    """What a rule has to say about a file as a whole."""

    code: str
    message: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Recognition:
    """What a file is judged by, and what is to be said about that."""

    #: None if the file is in no known format.
    variant: FormatVariant | None = None
    choice: FormatChoice | None = None
    notes: tuple[DetectionNote, ...] = ()


def parsed_rows(frame: Any) -> Iterator[Any]:
    """Yield the rows of `frame` that parse."""
    for each in frame.rows if isinstance(frame, Chunk) else ():
        try:
            yield msgspec.json.decode(each)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue


def recognize(
    head: Sample, formats: Sequence[Format], asked: str | None = None
) -> Recognition:
    """Return which of `formats` a file is in; `asked` is the family that was named."""
    choice = choose_variant(head.rows, variants_of(formats, head.layout))
    if choice is None:
        if not head.rows:
            return Recognition()
        return Recognition(notes=(_unknown(head, formats),))
    sayings = [*_taken(choice, formats, asked), *_doubts(choice)]
    return Recognition(choice.variant, choice, tuple(sayings))


def recognize_as(
    asked: Sequence[Format],
    head: Sample,
    formats: Sequence[Format],
    name: str,
    *,
    strict: bool = False,
) -> Recognition:
    """Return which of the formats `asked` for by `name` a file is in.

    If it is in none of them it is taken for the first all the same; if it is in
    another one of `formats` the recognition says so.
    """
    found = recognize(head, asked, name)
    variant, choice = found.variant, found.choice
    called = name if len(asked) > 1 else asked[0].id
    if variant is not None and choice is not None:
        if 2 * choice.matching >= choice.records:
            return found
        other = _other_shape(variant, head, formats, called, strict=strict)
        return Recognition(variant, choice, (other,)) if other else found
    if head.rows and not variants_of(asked, head.layout):
        return Recognition(
            default_variant(asked[0], head.layout), notes=(_other_layout(called, head),)
        )
    variant = _nearest_dialect(asked[0], head, strict=strict)
    other = _other_shape(variant, head, formats, called, strict=strict)
    return Recognition(variant, notes=(other,) if other else ())


def _other_layout(called: str, head: Sample) -> DetectionNote:
    """Say that a file of a format is put together in another way."""
    message = f"{called} is one object in a file, and this is {head.layout.value}"
    return DetectionNote(
        OTHER_SHAPE, message, "put each object in its own file; " + _counted
    )


def _nearest_dialect(asked: Format, head: Sample, *, strict: bool) -> FormatVariant:
    """Return the dialect that a file without a sign is taken for: one that it keeps."""
    for each in variants_of([asked], head.layout) if head.whole and head.rows else ():
        if not _invalid(head.rows, each, strict=strict):
            return each
    return default_variant(asked, head.layout)


def require_documented(found: Recognition, head: Sample) -> Recognition:
    """Return `found`, held to what the vendor documents."""
    variant = found.variant
    if variant is None or variant.dialect.documented:
        return found
    documented = default_variant(variant.format, head.layout)
    message = (
        f"the file is {variant.name}, which is not what {variant.format.vendor} "
        f"documents: {found.choice}"
    )
    saying = DetectionNote(
        OTHER_SHAPE, message, "validate it without --strict; " + _counted
    )
    return Recognition(documented, found.choice, (saying,))


_counted = "what else is wrong with it is counted, not listed"


def default_variant(format_: Format, layout: Layout) -> FormatVariant:
    """Return the dialect of a format that a file of `layout` is taken for."""
    fitting = variants_of([format_], layout)
    return fitting[0] if fitting else FormatVariant(format_, format_.dialects[0])


def _taken(
    choice: FormatChoice, formats: Sequence[Format], asked: str | None
) -> Iterator[DetectionNote]:
    """Say that a version or a dialect was taken that is not the first."""
    variant = choice.variant
    of_family = [each for each in formats if each.family == variant.format.family]
    is_version = "@" in variant.format.id or asked is not None
    other = is_version and of_family and of_family[0] is not variant.format
    if other or not variant.dialect.documented:
        message = f"judged as {variant.name}: {choice}"
        help_ = "name a format with --format to hold the file to it"
        if not other:
            help_ = "--strict holds the file to what the vendor documents"
        yield DetectionNote("S202", message, help_)


def _doubts(choice: FormatChoice) -> Iterator[DetectionNote]:
    """Say that a file may be in another format just as well."""
    rival = choice.rival
    if rival is not None and rival.format is not choice.variant.format:
        name = choice.variant.name
        message = f"may be {name} or {rival.name}; judged as {name}"
        yield DetectionNote("S204", message, "name the right one with --format")


def _other_shape(
    asked: FormatVariant,
    head: Sample,
    formats: Sequence[Format],
    called: str,
    *,
    strict: bool,
) -> DetectionNote | None:
    """Say that most records are invalid because the file is in another format."""
    particular = [each for each in formats if not each.general]
    choice = choose_variant(head.rows, variants_of(particular, head.layout))
    if choice is None or choice.variant.format is asked.format or not head.whole:
        return None
    invalid = _invalid(head.rows, asked, strict=strict)
    if 2 * min(invalid, choice.matching) <= len(head.rows):
        return None
    other = choice.variant.format.id
    message = f"the file is {choice.variant.name}, not {called}: {choice}"
    help_ = f"validate it with --format {other}; what else is wrong with it "
    return DetectionNote(
        OTHER_SHAPE, message, f"{help_}as {asked.format.id} is counted, not listed"
    )


def _invalid(rows: Sequence[Any], variant: FormatVariant, *, strict: bool) -> int:
    """Return how many of `rows` are not what `variant` asks for."""
    dialect = variant.dialect
    speaks = record_schema if is_whole(dialect) else document_schema
    schema_validator = schema_validator_of(speaks(dialect, strict=strict))
    return sum(1 for each in rows if not schema_validator.is_valid(each))


def _unknown(head: Sample, formats: Sequence[Format]) -> DetectionNote:
    """Say which formats are nearest, and what is missing for each."""
    row = head.rows[0]
    how = "name a format with --format or a schema with --schema"
    if not isinstance(row, dict):
        return DetectionNote(
            "S301", "no known format: the records are not objects", how
        )
    near: dict[str, _Distance] = {}
    for each in variants_of(formats, head.layout):
        distance = _distance(row, each)
        if each.name not in near or distance.order < near[each.name].order:
            near[each.name] = distance
    names = sorted(near, key=lambda each: near[each].order)[:NEAREST]
    message = f"no known format; the nearest are {', '.join(names)}"
    lacks = [f"{each} lacks {', '.join(near[each].missing)}" for each in names]
    return DetectionNote("S301", message, "; ".join([*lacks, how]))


@dataclass(frozen=True, slots=True)
class _Distance:
    """How far a row is from a format: the keys it has of it, and those it lacks."""

    known: int
    missing: tuple[str, ...]

    @property
    def order(self) -> tuple[bool, int, int]:
        """The nearest comes first: something must be missing, or it would be known."""
        return (not self.missing, -self.known, len(self.missing))


def _distance(row: dict[str, Any], variant: FormatVariant) -> _Distance:
    dialect = variant.dialect
    schema = (record_schema if is_whole(dialect) else document_schema)(dialect)
    if not isinstance(schema, dict):
        return _Distance(0, ())
    properties = schema.get("properties", {})
    keys = list(islice(row, MANY_KEYS))
    near = [each for each in properties if each not in row and nearest(each, keys)]
    missing = tuple(each for each in schema.get("required", ()) if each not in row)
    return _Distance(len(properties.keys() & row.keys()) + len(near), missing)
