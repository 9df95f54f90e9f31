"""The plan of one file: its format, its schema, how it is cut and what is checked."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.formats.detection.other_delimiter import (
    OTHER_DELIMITER,
    delimiter_note,
)
from harpia_formats.formats.detection.other_shape import DetectionNote
from harpia_formats.formats.detection.recognize import (
    Recognition,
    recognize,
    recognize_as,
    require_documented,
    why_contested,
)
from harpia_formats.formats.detection.sample import Sample
from harpia_formats.formats.detection.sampled_file import Framing, framing_of
from harpia_formats.formats.detection.unknown_format import unknown_format
from harpia_formats.formats.registry import all_formats, format_of
from harpia_formats.formats.rules.across import REPEATED_ID
from harpia_formats.formats.schema.dialect import document_schema
from harpia_formats.formats.schema.load import Schema
from harpia_formats.model.column_map import require_columns
from harpia_formats.model.errors import ConversionOptionsError
from harpia_formats.model.format import Container, Format, telling_columns
from harpia_formats.validation.plan.run_plan import RunPlan, new_key

if TYPE_CHECKING:  # only for clusters: start-up time
    from harpia_formats.files.workers.same_file import FileFingerprint

UNKNOWN_FORMAT = "S301"


#: The variants of the plans so far: each is asked for many times for each small file.
_variants: dict[tuple[str, int], FormatVariant] = {}


def _variant_of(format_: Format, dialect: int) -> FormatVariant:
    """Return a format in the dialect with this index."""
    found = _variants.get((format_.id, dialect))
    if found is None or found.format is not format_:
        found = FormatVariant(format_, format_.dialects[dialect])
        _variants[format_.id, dialect] = found
    return found


class FilePlan(msgspec.Struct, frozen=True):
    """What one file is and how it is validated: plain data, settled once."""

    run: RunPlan
    #: The file as it is named in problems.
    name: str
    #: How the file is cut into rows.
    cut: Framing
    #: The id of its format and the index of its dialect; "" if it has no known one.
    format: str = ""
    dialect: int = 0
    #: Whether repeated ids are looked for.
    checks_ids: bool = False
    #: Whether records are read but not validated, because the format or the delimiter
    #: is not known.
    unvalidated: bool = False
    #: Why it is not known what the answers are, for preflight files; "" if it is known.
    contested: str = ""
    #: What the file must look like to a worker that reads it; None if not checked.
    fingerprint: "FileFingerprint | None" = None
    #: Identifies the plan in the caches of workers.
    key: str = msgspec.field(default_factory=new_key)

    @property
    def variant(self) -> FormatVariant | None:
        """The format and dialect of the file, None if it is in no known format."""
        if not self.format:
            return None
        return _variant_of(format_of(self.format), self.dialect)

    @property
    def schema(self) -> Schema:
        """The schema of the whole document, or of each row."""
        if self.run.schema is not None:
            return self.run.schema[1]
        variant, options = self.variant, self.run.options
        if variant is None:
            return True
        schema = document_schema(variant.dialect, strict=options.strict)
        if self.cut is not Framing.TABLE:
            return schema
        found: Schema = require_columns(schema, options.columns or {})
        return found

    @property
    def shown_format(self) -> str | None:
        """The format, or the name of the user's schema, as reports show it."""
        if self.run.schema is not None:
            return self.run.schema[0]
        return self.format or None

    @property
    def shown_dialect(self) -> str:
        """The name of the dialect, empty for the one that is documented first."""
        variant = self.variant
        return variant.dialect.name if variant else ""

    @property
    def reads_nan(self) -> bool:
        """Whether NaN and Infinity are read as null."""
        variant = self.variant
        return variant is not None and variant.dialect.reads_nan

    @property
    def has_columns(self) -> bool:
        """Whether each record is spread over several columns, one after the other."""
        return self.cut is Framing.MEMBERS and self._container is Container.COLUMNS

    @property
    def is_known(self) -> bool:
        """Whether there is a format or a schema to validate rows by."""
        return bool(self.format) or self.run.schema is not None

    @property
    def may_be_empty(self) -> bool:
        """Whether a file without records is valid: columns may all be empty."""
        variant = self.variant
        if variant is None:
            return False
        dialect = variant.dialect
        return dialect.container is Container.COLUMNS or dialect.may_be_empty

    @property
    def is_rows(self) -> bool:
        """Whether the file is rows without a document around them."""
        return self._container is Container.ROWS

    @property
    def _container(self) -> Container | None:
        variant = self.variant
        return variant.dialect.container if variant else None

    def seen_as(self, fingerprint: "FileFingerprint | None") -> "FilePlan":
        """Return the plan with what the file must look like to a worker."""
        return msgspec.structs.replace(self, fingerprint=fingerprint)


def plan_file(
    run: RunPlan, name: str, head: Sample
) -> tuple[FilePlan, tuple[DetectionNote, ...]]:
    """Return the plan of a file that begins with `head`, and notes on its format."""
    if head.other_delimiter and OTHER_DELIMITER in run.rules:
        return FilePlan(run, name, Framing.NONE), (delimiter_note(head),)
    if run.schema is not None:
        is_table = bool(head.delimiter)
        cut = Framing.TABLE if is_table else framing_of(None, head.layout)
        return FilePlan(run, name, cut), ()
    found = _recognised(run, head)
    if run.for_reading:
        _check_not_contested(found, name)
    cut = framing_of(found.variant, head.layout)
    if found.variant is None:
        if head.delimiter:
            cut = Framing.TABLE
        elif head.text and UNKNOWN_FORMAT in run.rules and found.notes:
            cut = Framing.NONE
        return FilePlan(run, name, cut, unvalidated=True), found.notes
    format_, dialect = found.variant.format, found.variant.dialect
    plan = FilePlan(
        run,
        name,
        cut,
        format_.id,
        format_.dialects.index(dialect),
        checks_ids=REPEATED_ID in run.rules,
        unvalidated=bool(head.other_delimiter),
        contested=why_contested(found.choice),
    )
    if head.other_delimiter:
        return plan, (delimiter_note(head),)
    return plan, found.notes


def _check_not_contested(found: Recognition, name: str) -> None:
    """Raise `ConversionError` if a model's answers may be expected ones.

    What the records of the file `name` hold is then not known.
    """
    why = why_contested(found.choice, "--from")
    if why:
        raise ConversionOptionsError(f"{name}: {why}")


def _recognised(run: RunPlan, head: Sample) -> Recognition:
    """Return the format that a file is in, or is held to."""
    options, formats = run.options, run.candidates()
    if options.format is None:
        found = recognize(head, formats)
    else:
        known = tuple(all_formats().values())
        found = recognize_as(
            formats, head, known, options.format, strict=options.strict
        )
    if options.columns and _is_unknown_table(found, head, options.columns):
        variants = variants_of([found.variant.format]) if found.variant else ()
        return Recognition(notes=(unknown_format(head, variants),))
    return require_documented(found, head) if options.strict else found


def _is_unknown_table(
    found: Recognition, head: Sample, columns: Mapping[str, str]
) -> bool:
    """Tell whether nothing says what rows of any columns hold.

    `columns` maps fields to columns, and makes these known.
    """
    if found.variant is None or not found.variant.format.general or not head.rows:
        return False
    names = {name for row in head.rows if isinstance(row, Mapping) for name in row}
    return not telling_columns((*names, *columns))
