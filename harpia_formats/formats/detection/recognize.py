"""Recognize the format of a file from its sample, with notes for the user."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from harpia_formats.files.framing.container import Layout
from harpia_formats.formats.detection.candidates import (
    FormatChoice,
    FormatVariant,
    choose_variant,
    is_signed,
    variants_of,
)
from harpia_formats.formats.detection.sample import Sample
from harpia_formats.formats.detection.unexpected_format import (
    OTHER_SHAPE,
    DetectionNote,
    count_invalid,
    find_unread,
    how_to_map,
    other_rows_note,
    other_shape_note,
    unknown_format,
    unknown_text,
    validated_as,
)
from harpia_formats.model.format import Container, Format

#: The field, and the column of a table of any columns, that has a model's answers.
_ANSWERS = "response"


class Recognition(Struct, frozen=True):
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
    unpacker = sample.unpacker if asked is None else None
    variants = variants_of(formats, sample.layout, unpacker)
    choice = choose_variant(sample.rows, variants)
    if choice is not None and choice.shared and find_unread(sample.rows):
        choice = None
    if choice is not None and unpacker and _is_other_table(choice, sample):
        choice = choose_variant(sample.rows, variants.general)
    if choice is not None and asked is None and _is_unknown(choice, sample):
        choice = None
    if choice is None:
        if sample.text and asked is None:
            return Recognition(notes=(unknown_text(sample.likely_delimiter),))
        # Of rows that are no JSON the errors in their text are reported.
        if not sample.rows or sample.broken:
            return Recognition()
        return Recognition(notes=(unknown_format(sample, variants),))
    notes = [
        *_version_notes(choice, formats, asked),
        *_rival_notes(choice),
        *_answer_notes(choice, sample),
    ]
    return Recognition(choice.variant, choice, tuple(notes))


def _is_other_table(choice: FormatChoice, sample: Sample) -> bool:
    """Tell whether a table of texts has a format's sign, and no row valid in it.

    Its columns are read as those of the same table in CSV, where no format of JSON is
    looked for.
    """
    if choice.variant.format.general or not sample.whole:
        return False
    are_texts = all(
        isinstance(row, dict) and all(type(cell) is str for cell in row.values())
        for row in sample.rows
    )
    refused = are_texts and count_invalid(sample.rows, choice.variant, strict=False)
    return refused == len(sample.rows)


def _is_unknown(choice: FormatChoice, sample: Sample) -> bool:
    """Tell whether nothing says what the rows of a general format hold."""
    variant = choice.variant
    if sample.other_delimiter:  # the columns are not known at all
        return False
    is_general = variant.format.general and variant.dialect.own_sign is not None
    return is_general and not is_signed(sample.rows, variant)


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
        other = other or other_rows_note(variant, sample, formats, strict=strict)
        return Recognition(variant, choice, (other,)) if other else found
    variant = _first_valid_variant(asked[0], sample, strict=strict)
    other = other_shape_note(variant, sample, formats, called, strict=strict)
    if sample.rows and not variants_of(asked, sample.layout):
        other = other or _other_layout_note(
            variant, sample, called, is_table=_is_table(sample, formats)
        )
    other = other or other_rows_note(variant, sample, formats, strict=strict)
    return Recognition(variant, notes=(other,) if other else ())


def _is_table(sample: Sample, formats: Sequence[Format]) -> bool:
    """Tell whether a file is a table, with a header or with typed columns."""
    unpackers = {format_.unpacked_by for format_ in formats} - {""}
    return bool(sample.delimiter) or sample.unpacker in unpackers


def _other_layout_note(
    asked: FormatVariant, sample: Sample, called: str, *, is_table: bool
) -> DetectionNote:
    """Return a note that no file of the format has the layout of the sample.

    The sample is a table, or the format is one object in a file. Rows are no columns,
    also not if each has a file of its own.
    """
    dialect = asked.dialect
    message = f"{called} is one object in a file, and this is {sample.layout.value}"
    what, help_ = "KEY", "put each object in its own file"
    if is_table:
        what, kind = "COLUMN", "no text" if asked.format.unpacked_by else "JSON"
        message = f"{called} is {kind}, and this is a table"
    rows = [row for row in sample.rows if isinstance(row, dict) and row]
    has_columns = dialect.container is Container.COLUMNS and not any(
        dialect.sniff(row) or dialect.possible(row) for row in rows
    )
    if is_table or has_columns:
        mapped = how_to_map(rows, what) if rows else ""
        help_ = "; ".join(filter(None, ["leave out `--from`", mapped]))
    return DetectionNote(OTHER_SHAPE, message, f"{help_}; {validated_as(asked)}")


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
    help_ = f"validate it without `--strict`; {validated_as(documented)}"
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
    of_family = (format_ for format_ in formats if format_.family == family)
    is_version = "@" in variant.format.id or asked is not None
    default = next(of_family, variant.format) if is_version else variant.format
    other = default is not variant.format
    if other or not variant.dialect.documented:
        message = f"validated as {variant.name}: {choice}"
        help_ = "name a format with `--from` to hold the file to it"
        if not other:
            help_ = "`--strict` holds the file to what the vendor documents"
        yield DetectionNote("S202", message, help_)


def _rival_notes(choice: FormatChoice) -> Iterator[DetectionNote]:
    """Yield a note if the records match another format just as well."""
    rival, format_ = choice.rival, choice.variant.format
    if rival is None or rival.format is format_:
        return
    name = choice.variant.name
    if choice.contested:
        yield DetectionNote(
            "S205",
            f"`{choice.contested}` may hold a model's answers ({name}) or expected "
            f"ones ({rival.format.id}); validated as what both are",
            f"name the format: {readings_of(choice, '--from')}",
        )
        return
    if not choice.shared:
        message = f"may be {name} or {rival.name}; validated as {name}"
        yield DetectionNote("S204", message, "name the right one with `--from`")
        return
    message = (
        f"taken for {name} by {choice.evidence[0]}, which {rival.name} has as well"
    )
    help_ = (
        f"name the format: `--from {format_.id}` if it is {format_.vendor}'s, "
        f"`--from {rival.format.id}` if it is {rival.format.vendor}'s"
    )
    yield DetectionNote("S205", message, help_)


def why_contested(choice: FormatChoice | None, option: str = "") -> str:
    """Return why it is not known what the answers of a file are, "" if it is known.

    `option` is the one that names a format; without it, keys of a preflight file do.
    """
    if choice is None or not choice.contested:
        return ""
    return (
        f"nothing tells whether `{choice.contested}` holds a model's answers or "
        f"expected ones; name the format: {readings_of(choice, option)}"
    )


def readings_of(choice: FormatChoice, option: str) -> str:
    """Return what names the formats that a contested choice may be in.

    `option` is the one that names a format; without it, keys of a preflight file do.
    """
    rival, column = choice.rival, choice.contested
    assert rival is not None  # noqa: S101 - or nothing is contested
    # The general format has one column of answers only.
    own, expected = (
        f"{option} {format_.id}" if option else f'format = "{format_.id}"'
        for format_ in (choice.variant.format, rival.format)
    )
    if column != _ANSWERS:
        own += (
            f" --map {_ANSWERS}={column}"
            if option
            else f' and map = {{{_ANSWERS} = "{column}"}}'
        )
    if option:
        own, expected = f"`{own}`", f"`{expected}`"
    return f"{expected} if the answers are expected ones, {own} if they are a model's"


def _answer_notes(choice: FormatChoice, sample: Sample) -> Iterator[DetectionNote]:
    """Yield a note if records have an answer that the format has no place for."""
    dialect = choice.variant.dialect
    keys = (dialect.unread_answer(row) for row in sample.rows if isinstance(row, dict))
    key = next(filter(None, keys), "")
    if key:
        message = f"`{key}` is not read as an answer: {choice.variant.name} has none"
        help_ = f"score and convert read it with `--map response={key}`"
        yield DetectionNote("S206", message, help_)
