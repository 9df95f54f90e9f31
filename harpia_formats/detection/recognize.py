"""Recognize the format of a file from its sample, with notes for the user."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from harpia_formats.detection.candidates import (
    FormatChoice,
    FormatVariant,
    choose_variant,
    variants_of,
)
from harpia_formats.detection.other_shape import (
    OTHER_SHAPE,
    DetectionNote,
    count_invalid,
    other_rows_note,
    other_shape_note,
    validated_as,
)
from harpia_formats.detection.sample import Sample
from harpia_formats.framing.container import Layout
from harpia_formats.model.format import Format
from harpia_formats.schema.dialect import document_schema, is_whole, record_schema
from harpia_formats.text.spelling import nearest

#: Keys of a record among which misspelt ones are looked for.
MANY_KEYS = 100
#: Formats that are listed if none is recognized.
NEAREST = 3


@dataclass(frozen=True, slots=True)
class Recognition:
    """The variant that a file is validated as, and the notes about that."""

    #: None if the file is in no known format.
    variant: FormatVariant | None = None
    #: The matching records; None if no record matches.
    choice: FormatChoice | None = None
    notes: tuple[DetectionNote, ...] = ()


def recognize(
    sample: Sample, formats: Sequence[Format], asked: str | None = None
) -> Recognition:
    """Return which of `formats` a file is in.

    `asked` is the family that the user named, None if none was named.
    """
    choice = choose_variant(sample.rows, variants_of(formats, sample.layout))
    if choice is None:
        # Of rows that are no JSON the errors in their text are reported.
        if not sample.rows or sample.broken:
            return Recognition()
        return Recognition(notes=(_unknown_format(sample, formats),))
    notes = [*_version_notes(choice, formats, asked), *_rival_notes(choice)]
    return Recognition(choice.variant, choice, tuple(notes))


def recognize_as(
    asked: Sequence[Format],
    sample: Sample,
    formats: Sequence[Format],
    name: str,
    *,
    strict: bool = False,
) -> Recognition:
    """Return which of the formats `asked`, named `name` by the user, a file is in.

    If it is in none of them, the first is returned; if it or some of its records are
    in another one of `formats`, one note says so. `strict` selects the documented
    schemas.
    """
    found = recognize(sample, asked, name)
    variant, choice = found.variant, found.choice
    called = name if len(asked) > 1 else asked[0].id
    if variant is not None and choice is not None:
        other = None
        if 2 * choice.matching < choice.records:
            other = other_shape_note(variant, sample, formats, called, strict=strict)
        if other is None and len(asked) == 1:
            other = other_rows_note(variant, sample, formats, strict=strict)
        return Recognition(variant, choice, (other,)) if other else found
    if sample.rows and not variants_of(asked, sample.layout):
        message = f"{called} is one object in a file, and this is {sample.layout.value}"
        variant = default_variant(asked[0], sample.layout)
        help_ = f"put each object in its own file; {validated_as(variant)}"
        return Recognition(variant, notes=(DetectionNote(OTHER_SHAPE, message, help_),))
    variant = _first_valid_variant(asked[0], sample, strict=strict)
    other = other_shape_note(variant, sample, formats, called, strict=strict)
    if other is None and len(asked) == 1:
        other = other_rows_note(variant, sample, formats, strict=strict)
    return Recognition(variant, notes=(other,) if other else ())


def _first_valid_variant(
    asked: Format, sample: Sample, *, strict: bool
) -> FormatVariant:
    """Return the first dialect of `asked` in which all rows of the sample are valid.

    The default one if there is none.
    """
    if sample.whole and sample.rows:
        for variant in variants_of([asked], sample.layout):
            if not count_invalid(sample.rows, variant, strict=strict):
                return variant
    return default_variant(asked, sample.layout)


def require_documented(found: Recognition, sample: Sample) -> Recognition:
    """Return `found` with the variant that the vendor documents, with a note if other.

    That is what `--strict` asks for.
    """
    variant = found.variant
    if variant is None or variant.dialect.documented:
        return found
    documented = default_variant(variant.format, sample.layout)
    message = (
        f"the file is {variant.name}, which is not what {variant.format.vendor} "
        f"documents: {found.choice}"
    )
    help_ = f"validate it without --strict; {validated_as(documented)}"
    note = DetectionNote(OTHER_SHAPE, message, help_)
    return Recognition(documented, found.choice, (note,))


def default_variant(format_: Format, layout: Layout) -> FormatVariant:
    """Return the first dialect of a format that a file of `layout` may be in.

    The first of all if it may be in none.
    """
    fitting = variants_of([format_], layout)
    return fitting[0] if fitting else FormatVariant(format_, format_.dialects[0])


def _version_notes(
    choice: FormatChoice, formats: Sequence[Format], asked: str | None
) -> Iterator[DetectionNote]:
    """Yield a note if the chosen version or dialect is not the documented default."""
    variant = choice.variant
    family = variant.format.family
    of_family = [format_ for format_ in formats if format_.family == family]
    is_version = "@" in variant.format.id or asked is not None
    other = is_version and of_family and of_family[0] is not variant.format
    if other or not variant.dialect.documented:
        message = f"validated as {variant.name}: {choice}"
        help_ = "name a format with --format to hold the file to it"
        if not other:
            help_ = "--strict holds the file to what the vendor documents"
        yield DetectionNote("S202", message, help_)


def _rival_notes(choice: FormatChoice) -> Iterator[DetectionNote]:
    """Yield a note if the records match another format just as well."""
    rival = choice.rival
    if rival is not None and rival.format is not choice.variant.format:
        name = choice.variant.name
        message = f"may be {name} or {rival.name}; validated as {name}"
        yield DetectionNote("S204", message, "name the right one with --format")


def _unknown_format(sample: Sample, formats: Sequence[Format]) -> DetectionNote:
    """Return a note with the nearest formats, and the keys that the file lacks."""
    row = sample.rows[0]
    how = "name a format with --format or a schema with --schema"
    if not isinstance(row, dict):
        message = "no known format: the records are not objects"
        return DetectionNote("S301", message, how)
    near: dict[str, _Distance] = {}
    for variant in variants_of(formats, sample.layout):
        distance = _distance(row, variant)
        name = variant.name
        if name not in near or distance.order < near[name].order:
            near[name] = distance
    names = sorted(near, key=lambda name: near[name].order)[:NEAREST]
    message = f"no known format; the nearest are {', '.join(names)}"
    lacks = [f"{name} lacks {', '.join(near[name].missing)}" for name in names]
    return DetectionNote("S301", message, "; ".join([*lacks, how]))


@dataclass(frozen=True, slots=True)
class _Distance:
    """How far a row is from a variant: keys of it that the row has, and lacks."""

    known: int
    missing: tuple[str, ...]

    @property
    def order(self) -> tuple[bool, int, int]:
        """The sort key: the nearest first, of those that lack a key at all."""
        return (not self.missing, -self.known, len(self.missing))


def _distance(row: dict[str, Any], variant: FormatVariant) -> _Distance:
    dialect = variant.dialect
    schema = (record_schema if is_whole(dialect) else document_schema)(dialect)
    if not isinstance(schema, dict):
        return _Distance(0, ())
    properties = schema.get("properties", {})
    keys = list(islice(row, MANY_KEYS))
    near = [key for key in properties if key not in row and nearest(key, keys)]
    missing = tuple(key for key in schema.get("required", ()) if key not in row)
    return _Distance(len(properties.keys() & row.keys()) + len(near), missing)
