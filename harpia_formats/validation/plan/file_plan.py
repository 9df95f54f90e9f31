"""Plan a run by its options, and each of its files by the beginning of the file."""

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.files.io.reader import BLOCK
from harpia_formats.formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.formats.detection.recognize import (
    Recognition,
    recognize,
    recognize_as,
    require_documented,
    why_contested,
)
from harpia_formats.formats.detection.sample import Sample
from harpia_formats.formats.detection.sampled_file import (
    Framing,
    are_tables,
    framing_of,
)
from harpia_formats.formats.detection.unexpected_format import (
    OTHER_DELIMITER,
    OTHER_SHAPE,
    DetectionNote,
    delimiter_note,
    no_text_note,
    unknown_format,
)
from harpia_formats.formats.registry import all_formats, format_of, rules_of
from harpia_formats.formats.rules import Rule
from harpia_formats.formats.rules.sample_rules import REPEATED_ID
from harpia_formats.formats.schema.bundled_schemas import Schema, document_schema
from harpia_formats.model.column_map import require_columns
from harpia_formats.model.format import Container, Format, telling_columns
from harpia_formats.model.problem import Severity
from harpia_formats.model.report import INTERNAL_ERROR
from harpia_formats.validation.options import Options

if TYPE_CHECKING:  # only for clusters: start-up time
    from harpia_formats.files.workers.worker_checks import FileFingerprint


#: Selections of rules and formats that are remembered: each file of a run asks for
#: its own.
_REMEMBERED = 16
#: The size of the blocks in which a file is read with lints.
LINTED_BLOCK = 2 * BLOCK


class RunPlan(msgspec.Struct, frozen=True):
    """The options, rules, schema and formats of a run; it can be sent to a worker."""

    #: Identifies the run in the caches of workers: 1 and true are equal in schemas.
    key: str
    #: The options without what cannot be sent to another process.
    options: Options
    #: The codes of the selected rules.
    rules: tuple[str, ...]
    #: The user's schema and its name, or None to validate files by their formats.
    schema: tuple[str, Schema] | None
    #: The ids of the formats that a file may be in.
    formats: tuple[str, ...]
    #: Whether valid rows are read as records, and what is doubtful is not reported.
    for_reading: bool = False
    #: Whether rows are validated in a process that can be killed, since the time that
    #: the user's schema takes is not bounded by the data.
    guards_rows: bool = False
    #: Other severities of rules, by their codes.
    severities: tuple[tuple[str, Severity], ...] = ()
    #: The keys of rows that are read as fields, which rows may lack.
    read_keys: Mapping[str, str] = {}

    @property
    def is_pinned(self) -> bool:
        """Whether the user named a format, or a family of which one is chosen a file.

        Every record of a file is then validated by it.
        """
        return self.options.format is not None

    @property
    def mapped_keys(self) -> tuple[Mapping[str, str], bool]:
        """The key of each mapped field in rows of JSON, and whether rows need it."""
        columns = self.options.columns
        return (columns, True) if columns else (self.read_keys, False)

    def active_rules(self) -> Mapping[str, Rule]:
        """Return the selected rules and V902, by their codes.

        V902 is not optional: without it, a record on which harpia-formats fails would
        be counted as valid. Its severity is not changed either.
        """
        return _active_rules(self.rules, self.severities)

    def block_bytes(self) -> int:
        """Return the size of the blocks in which a file is read.

        They are larger with lints, which look at the rows of a block at once.
        """
        return LINTED_BLOCK if _have_lints(self.rules) else BLOCK

    def candidates(self) -> tuple[Format, ...]:
        """Return the formats that a file may be in."""
        return _formats_of(self.formats)


@lru_cache(_REMEMBERED)
def _active_rules(
    codes: tuple[str, ...], severities: tuple[tuple[str, Severity], ...]
) -> Mapping[str, Rule]:
    found = rules_of({*codes, INTERNAL_ERROR})
    for code, severity in severities:
        if code in found and code != INTERNAL_ERROR:
            found[code] = replace(found[code], severity=severity)
    return found


@lru_cache(_REMEMBERED)
def _have_lints(codes: tuple[str, ...]) -> bool:
    return any(rule.lint for rule in rules_of(set(codes)).values())


@lru_cache(_REMEMBERED)
def _formats_of(ids: tuple[str, ...]) -> tuple[Format, ...]:
    return tuple(map(format_of, ids))


def run_plan_of(  # noqa: PLR0913 - a plan has so many parts
    options: Options,
    rules: Mapping[str, Rule],
    schema: tuple[str, Schema] | None,
    formats: tuple[Format, ...],
    *,
    for_reading: bool = False,
    severities: Mapping[str, Severity] | None = None,
    read_keys: Mapping[str, str] | None = None,
) -> RunPlan:
    """Return the plan of a run with `options`; only `rules` are checked.

    `severities` has those of rules that are not their own, by codes, and `read_keys`
    the keys of rows of JSON that are read as fields, by the fields.
    """
    return RunPlan(
        new_key(),
        plain_options(options),
        tuple(rules),
        schema,
        tuple(format_.id for format_ in formats),
        for_reading,
        guards_rows=schema is not None and is_guarded(schema[1]),
        severities=tuple(sorted((severities or {}).items())),
        read_keys=dict(read_keys or {}),
    )


def is_guarded(schema: Schema) -> bool:
    """Return whether a user's schema is used only in a process that can be killed."""
    from harpia_formats.formats.schema.user_schema import is_bounded  # noqa: PLC0415 - only with a schema of the user: start-up time

    # Without POSIX there are no such processes.
    return os.name == "posix" and not is_bounded(schema)


def new_key() -> str:
    """Return a text that no other plan has, in any process."""
    return os.urandom(16).hex()


def plain_options(options: Options) -> Options:
    """Return `options` without what cannot be sent or is not used in a worker."""
    columns = None if options.columns is None else dict(options.columns)
    return replace(
        options,
        columns=columns,
        severity={},
        schema=None,
        companion=None,
        baseline=None,
        write_baseline=None,
        progress=None,
        executor=None,
        engine=None,
        jobs=1,
    )


UNKNOWN_FORMAT = "S301"


class FilePlan(msgspec.Struct, frozen=True, dict=True):
    """What one file is and how it is validated: plain data, decided once."""

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
    #: Why it is not known what the answers are, "" if it is known. What says it are
    #: options for reading, else keys of a preflight file.
    contested: str = ""
    #: What the file must look like to a worker that reads it; None if not checked.
    fingerprint: "FileFingerprint | None" = None
    #: Identifies the plan in the caches of workers.
    key: str = msgspec.field(default_factory=new_key)

    @cached_property
    def variant(self) -> FormatVariant | None:
        """The format and dialect of the file, None if it is in no known format."""
        if not self.format:
            return None
        format_ = format_of(self.format)
        return FormatVariant(format_, format_.dialects[self.dialect])

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
    def has_documents(self) -> bool:
        """Whether the rows of the file are whole documents, with records in them."""
        holds_records = self._container in {Container.WRAPPED, Container.COLUMNS}
        return holds_records and self.cut is not Framing.MEMBERS

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
    if head.unpacker and _is_read_as_text(run, head.unpacker):
        note = no_text_note(run.options.format or "")
        # Without the error, its rows have no verdict.
        cut = Framing.NONE if OTHER_SHAPE in run.rules else Framing.VALUES
        return FilePlan(run, name, cut, unvalidated=True), (note,)
    found = _recognised(run, head)
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
        contested=why_contested(found.choice, "--from" if run.for_reading else ""),
    )
    if head.other_delimiter:
        return plan, (delimiter_note(head),)
    if run.for_reading and plan.has_documents:
        # Each would be read as one of the records that it holds.
        plan = msgspec.structs.replace(plan, unvalidated=True)
    return plan, found.notes


def _is_read_as_text(run: RunPlan, unpacker: str) -> bool:
    """Tell whether a table of text was asked for, and `unpacker` makes no such text."""
    made = [each for each in all_formats().values() if each.unpacked_by == unpacker]
    is_other = bool(made) and not are_tables(made)
    return is_other and are_tables(run.candidates())


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
