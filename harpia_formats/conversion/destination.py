"""The format that a conversion writes, and the rows that go to its files.

Here are the changes that options make to records before they are mapped to rows, and
the check of the written rows by the rules by which rows of their format are read.
"""

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from typing import Any, Protocol

from msgspec import UNSET, MsgspecError, Struct
from msgspec.structs import replace

from harpia_formats.conversion.containers.row_writer import (
    EncodedRows,
    RowEncoder,
    encode_rows,
)
from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.conversion.mapping.field_constants import constants_by_path
from harpia_formats.conversion.mapping.preparation import with_gt_as_reference
from harpia_formats.conversion.mapping.questions import question_hash
from harpia_formats.conversion.mapping.questions import question_text as question_of
from harpia_formats.conversion.mapping.record_program import (
    RecordOutcome,
    RecordProgram,
)
from harpia_formats.conversion.mapping.requirements import (
    NO_REQUIREMENTS,
    RowRequirements,
    row_requirements,
)
from harpia_formats.conversion.mapping.to_rows import (
    ID_IS_NUMBER,
    RecordMapper,
    Scorer,
    misfits_of,
)
from harpia_formats.conversion.options import ConvertOptions, Ids
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.files.io.reader import BLOCK
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.mapped_format import TEXT_TABLE, has_free_names
from harpia_formats.formats.registry import adapter_of, format_of, rules_for
from harpia_formats.formats.schema.bundled_schemas import document_schema, record_schema
from harpia_formats.formats.schema.decoder_types import allows_any
from harpia_formats.model.adapter import Cardinality, FormatAdapter, Row
from harpia_formats.model.exact_json import encode, encode_lines
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.format import Container, Dialect, Format
from harpia_formats.model.problem import (
    ConversionOptionsError,
    Problem,
    Severity,
    pointer_of,
)
from harpia_formats.model.record import Record
from harpia_formats.validation.dedup.identity import IdentityReader
from harpia_formats.validation.unit.row_checks import RowChecks
from harpia_formats.validation.unit.row_validator import RowValidator

#: Containers whose rows are no lines of JSON, and the type of a whole column or cell.
_ANY_OF = {Container.TABLE: "string", Container.COLUMNS: "array"}
_text = frozenset({str})
#: Lists of columns that are remembered; most files have one or two.
MAX_KNOWN = 1_000


def validator_of_rows(
    format_: Format, dialect: Dialect, *, repeated_keys: bool = True
) -> RowValidator:
    """Return the validator of single rows, by the rules that can refuse one."""
    remarks = dialect.remarks if dialect.remarks_refuse else None
    # Without a strict schema, remarks are asked on every row.
    has_strict = remarks is not None and bool(dialect.strict)
    strict = record_schema(dialect, strict=True) if has_strict else None
    checks = RowChecks(
        advise=format_.advise,
        remarks=remarks,
        decoder_schema=strict,
        repeated_keys=repeated_keys,
    )
    return RowValidator(record_schema(dialect), checks)


@dataclass(slots=True)
class WrittenRowCheck:
    """Raises `Unconvertible` for a row of a format that its own rules refuse."""

    format: Format
    _validator: RowValidator = field(init=False)
    #: Whether rows with some columns are valid whatever these have.
    _known: dict[tuple[str, ...], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A row that is written cannot have a key twice.
        self._validator = validator_of_rows(
            self.format, self.format.dialects[0], repeated_keys=False
        )

    def __call__(self, row: Row) -> None:
        """Check one row."""
        problem = self._problem_of(row)
        if problem is None:
            return
        path = ".".join(problem.place.pointer.split("/")[1:])
        where = f" at `{path}`" if path else ""
        reason = f"the row would not be valid{where}: {problem.message}"
        raise Unconvertible(path, reason, problem.help)

    def valid_lines(self, rows: list[Row]) -> bytes | None:
        """Return `rows` as lines of JSON, None if one of them is not valid.

        All rows are checked at once, which takes a fraction of the time. Rows of tables
        and columns are written in another form, so they are not encoded.
        """
        if not rows:
            return b""
        try:
            lines = b"" if self._container in _ANY_OF else encode_lines(rows)
        except (MsgspecError, UnicodeEncodeError, RecursionError):
            return None
        if self._allows_any(rows):
            return lines
        checked = [_as_columns(rows)] if self._is_column else rows
        decoder = self._validator.decoder
        if decoder is not None and decoder.accepts_values(checked):
            return lines
        # The validator learns the keys of rows that it finds valid.
        try:
            text = encode_lines(checked)
        except (MsgspecError, UnicodeEncodeError, RecursionError):
            return None
        findings = self._validator.validate(Chunk(text, Cursor())).findings
        return None if findings else lines

    def _allows_any(self, rows: list[Row]) -> bool:
        """Tell whether the columns of `rows` may have any cells or lists of items."""
        dialect = self.format.dialects[0]
        kind = _ANY_OF.get(dialect.container)
        if kind is None or dialect.remarks_refuse:
            return False
        names = set(map(tuple, rows))
        if self._is_column:
            # Rows may have different columns; all of them are those of the file.
            names = {tuple(dict.fromkeys(key for keys in names for key in keys))}
        elif not all(_text.issuperset(map(type, row.values())) for row in rows):
            return False
        for columns in names - self._known.keys():
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            schema = record_schema(dialect)
            self._known[columns] = allows_any(schema, columns, kind)
        return all(self._known.get(columns) for columns in names)

    @property
    def _container(self) -> Container:
        return self.format.dialects[0].container

    @property
    def _is_column(self) -> bool:
        return self._container is Container.COLUMNS

    def _problem_of(self, row: Row) -> Problem | None:
        """Return the first error of a row, None if it is valid."""
        whole = _as_columns([row]) if self._is_column else row
        try:
            text = encode(whole)
        except (MsgspecError, UnicodeEncodeError, RecursionError) as error:
            raise Unconvertible("", f"the row cannot be written: {error}") from error
        decoder = self._validator.decoder
        if decoder is not None and decoder.accept(text) is not None:
            return None
        return next(errors_in(self.format, text, self._validator), None)


def _as_columns(rows: Iterable[Row]) -> Row:
    """Return an object with the items of each column."""
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for key, item in row.items():
            columns.setdefault(key, []).append(item)
    return columns


def header_error(format_: Format, key: str, value: Any) -> Problem | None:
    """Return the first error of a member of a written header, None if it is valid."""
    dialect = format_.dialects[0]
    if dialect.container is Container.WRAPPED:
        document: Row = {dialect.rows_at: [], key: value}
        start = pointer_of((key,))
    elif dialect.container is Container.ROWS:
        document = {"header": {key: value}}
        start = pointer_of(("header", key))
    else:
        return None
    checks = RowChecks(advise=format_.advise, remarks=dialect.header_remarks)
    validator = RowValidator(document_schema(dialect), checks)
    for problem in errors_in(format_, encode(document), validator):
        if problem.place.pointer.startswith(start):
            return problem
    return None


def errors_in(
    format_: Format, text: bytes, validator: RowValidator
) -> Iterator[Problem]:
    """Yield the errors of a row or a document with the JSON `text`."""
    findings = validator.validate(Chunk(text, Cursor(), [text])).findings
    if not findings:
        return
    from harpia_formats.validation.diagnosis.messages import problem_of  # noqa: PLC0415 - imported only where a row has a problem
    from harpia_formats.validation.diagnosis.row_context import RowContext  # noqa: PLC0415 - imported only where a row has a problem

    rules = rules_for((format_,))
    schema: Any = document_schema(format_.dialects[0])
    for finding in findings:
        rule = rules[finding.code]
        if rule.severity is Severity.ERROR:
            row = RowContext("", text, Cursor(), None, finding.value)
            yield problem_of(finding, rule, row, schema)


#: Records whose rows are encoded together, if they are not large.
RECORDS_PER_BLOCK = 256


class RowOutput(Protocol):
    """Where encoded rows go: to files, or to the process that writes these."""

    @property
    def is_split(self) -> bool:
        """Whether each model has a file of its own."""

    def encoder(self, model: str = "") -> RowEncoder:
        """Return what encodes the next rows of the file of a model.

        Another process may encode rows by it, too.
        """

    def write(self, blocks: Iterable[EncodedRows], model: str = "") -> None:
        """Write encoded rows to the file of a model; raises `SinkError`."""


def mapped_paths(columns: Mapping[str, str], target: Format) -> frozenset[str]:
    """Return the paths of the fields that keys of the input hold by a map.

    There are none if it names the columns of `target`.
    """
    if has_free_names(target.id):
        return frozenset()
    fields = adapter_of(format_of(TEXT_TABLE)).fields
    return frozenset(field.record_path for field in fields if field.name in columns)


def check_filter(options: ConvertOptions, target: Format) -> None:
    """Raise `ConversionError` if a filter is chosen, and `target` holds no scores."""
    if options.filter is not None and not adapter_of(target).carries(
        "outputs.scores.value"
    ):
        raise ConversionOptionsError(
            f"{target.id} has no place for a score, so that `--filter` chooses none"
        )


class Destination:
    """Takes rows of one format, checks their ids, and writes them to an output.

    Raises `ConversionError` when it is made with options that the format cannot meet,
    and `SinkError` where rows cannot be written.
    """

    def __init__(
        self,
        target: Format,
        outputs: RowOutput,
        options: ConvertOptions,
        add_keys: Callable[[Collection[str]], None],
        scorer: Scorer | None,
    ) -> None:
        self.target = target
        self.adapter = adapter_of(target)
        self.constants = constants_by_path(self.adapter, options.constants)
        self.check = WrittenRowCheck(target)
        self.mapper = RecordMapper(
            self.adapter, options.choices(self.constants), scorer, self.check
        )
        #: The paths of the fields that keys of the user's choice may hold.
        self._mapped = mapped_paths(options.columns or {}, target)
        #: What rows of each file may lack.
        self.requirements: list[RowRequirements] = []
        check_filter(options, target)
        if scorer is not None and self.adapter.capacity.scores is Cardinality.NONE:
            raise ConversionOptionsError(f"{target.id} has no place for a score")
        self.outputs = outputs
        self._groups = options.group is not None
        self._hashes_ids = options.ids is Ids.HASH
        #: Rows that were written.
        self.written = 0
        #: Takes the ids of rows as keys.
        self._add_keys = add_keys
        paths = target.identity_paths
        self._identity = (
            IdentityReader(paths, by_text=target.id_by_text) if paths else None
        )
        self._program = RecordProgram(self.mapper)
        #: Rows that are not encoded yet, by the keys of their files.
        self._rows: dict[str, list[Row]] = {}
        #: The number of their records, and about as many bytes as these have.
        self._waiting = self._waiting_bytes = 0

    def begin(self, variant: FormatVariant, *, only: bool) -> None:
        """Get ready for the rows of a file, `only` if it is the only input.

        Raises `ConversionError` if no row of its format has what the target requires.
        """
        self.requirements.append(
            row_requirements(
                variant.format,
                adapter_of(variant.format),
                self.target,
                self.adapter,
                self.constants,
                scored=self.mapper.scorer is not None,
                mapped=self._mapped,
            )
        )
        self.take_rows_of(variant)
        if only and self._ids_are_numbers(variant):
            # The numbers of the records of one file are unique.
            self._identity = None

    def take_rows_of(self, variant: FormatVariant) -> None:
        """Get ready for rows of a file that has begun, after those of another one."""
        source = adapter_of(variant.format)
        owners, not_kept = source.extra_owners, source.not_kept
        if self._groups:
            # Merged records can be of several files.
            owners = self.mapper.owners | owners
            not_kept = {**self.mapper.not_kept, **not_kept}
        self.mapper.owners, self.mapper.not_kept = owners, not_kept
        self.mapper.take_rows_of(source, joined=self._groups)
        self.mapper.misfits = misfits_of(source)
        self._program = RecordProgram(self.mapper)

    def mapped(self, record: Record, number: int) -> tuple[list[Row], RecordOutcome]:
        """Return the rows of record `number`, and what became of its fields.

        Raises `Unconvertible`, with the reason that the mapper gives.
        """
        try:
            rows, record_outcome = self._program.map(record, number, FieldOutcomes())
            for row in rows:
                self.check(row)
        except Unconvertible:
            found = self.mapper.map(record, number)
            return found.rows, RecordOutcome(found.paths, found.outcomes)
        return rows, record_outcome

    @property
    def checks_ids(self) -> bool:
        """Whether the ids of rows are compared."""
        return self._identity is not None

    def _ids_are_numbers(self, variant: FormatVariant) -> bool:
        """Tell whether the id of each row is the number of its record, and no other.

        The extra fields of a record may hold its id, and one record may be in the
        files of several models.
        """
        if self._hashes_ids:  # records that ask the same have one hash
            return False
        source = adapter_of(variant.format)
        may_have_ids = source.carries("id") or source.extras_path is not None
        is_given = "id" in self.constants
        is_split = self.outputs.is_split
        return self.mapper.needs_id and not (may_have_ids or is_given or is_split)

    def file_of(self, model: str) -> str:
        """Return the key of the file for answers of `model`, "" if all share one."""
        if not self.outputs.is_split:
            return ""
        return model or str(self.constants.get("outputs.model", "")) or "model"

    def add(self, rows: list[Row], model: str, size: int) -> None:
        """Write the rows of a record of about `size` bytes soon.

        They go to the file with the key `model` if there are several.
        """
        self._note_ids(rows, model)
        self._rows.setdefault(model, []).extend(rows)
        self._waiting += 1
        self._waiting_bytes += size
        if self._waiting >= RECORDS_PER_BLOCK or self._waiting_bytes >= BLOCK:
            self.flush()

    def add_batch(self, rows: Sequence[Row], lines: bytes) -> None:
        """Write rows at once; `lines` are the same rows as lines of JSON."""
        self.flush()
        self._note_ids(rows)
        encoder = self.outputs.encoder()
        is_json = encoder is encode_rows
        self.add_blocks(
            [EncodedRows(len(rows), (lines,))] if is_json else encoder(rows)
        )

    def add_blocks(self, blocks: Iterable[EncodedRows], model: str = "") -> None:
        """Write encoded rows, whose ids are known, to the file with the key `model`."""
        self.flush()
        for block in blocks:
            self.outputs.write([block], model)
            self.written += block.count

    def flush(self) -> None:
        """Write the rows that were added and not yet written."""
        waiting, self._rows = self._rows, {}
        self._waiting = self._waiting_bytes = 0
        for model, rows in waiting.items():
            self.outputs.write(self.outputs.encoder(model)(rows), model)
            self.written += len(rows)

    def _note_ids(self, rows: Sequence[Row], model: str = "") -> None:
        if self._identity is not None:
            keys = self._identity.keys_of_values(rows)
            self._add_keys([f"{model}\n{key}" for key in keys] if model else keys)


_id_is_hash = "is the hash of what the record asks"


def with_number_as_id(record: Record, number: int, outcomes: FieldOutcomes) -> Record:
    """Return `record` with its number as id, which is added to the outcomes."""
    return _with_id(record, str(number), ID_IS_NUMBER, outcomes)


def with_hash_as_id(record: Record, outcomes: FieldOutcomes) -> Record:
    """Return `record` with the hash of what it asks as id, added to the outcomes.

    Raises `Unconvertible` if the record asks nothing.
    """
    question = question_of(record)
    if not question:
        reason = "the record asks nothing, so that its id cannot be a hash of that"
        raise Unconvertible("id", reason, "take `--ids number`")
    return _with_id(record, question_hash(question), _id_is_hash, outcomes)


def _with_id(record: Record, id_: str, how: str, outcomes: FieldOutcomes) -> Record:
    if record.id is UNSET:
        outcomes.defaulted("id", how)
    elif record.id != id_:
        outcomes.changed("id", how)
    return replace(record, id=id_)


class RecordSteps(Struct, frozen=True):
    """What the records of one file go through, in the order of the methods."""

    takes_gt: bool = False
    #: Whether ids become hashes or numbers.
    hashes_ids: bool = False
    numbers_ids: bool = False
    #: What is put in front of each id.
    prefix: str = ""
    #: What the target requires and only some records have.
    requirements: RowRequirements = NO_REQUIREMENTS

    def before_grouping(self, record: Record, outcomes: FieldOutcomes) -> Record:
        """Return `record` with its reference and id; changes are added to `outcomes`.

        Raises `Unconvertible` for an id that cannot be made.
        """
        if self.takes_gt:
            record = with_gt_as_reference(record, outcomes)
        if self.hashes_ids:
            record = with_hash_as_id(record, outcomes)
        if self.prefix and record.id is not UNSET:
            record = replace(record, id=f"{self.prefix}{record.id}")
            outcomes.changed("id", "with the name of its file in front")
        return record

    def after_grouping(
        self, record: Record, number: int, outcomes: FieldOutcomes
    ) -> Record:
        """Return `record` with its number as id; changes are added to `outcomes`.

        Raises `Unconvertible` for a record that lacks what the target requires.
        """
        if self.numbers_ids:
            record = with_number_as_id(record, number, outcomes)
        self.requirements.check(record)
        return record


def steps_of(
    options: ConvertOptions,
    target: FormatAdapter,
    requirements: RowRequirements,
    prefix: str,
) -> RecordSteps:
    """Return the steps for the records of a file.

    `prefix` is what its ids get in front of them if the options ask for that.
    """
    writes_id = target.carries("id")
    return RecordSteps(
        takes_gt=options.reference_from is ReferenceFrom.GT,
        hashes_ids=options.ids is Ids.HASH and (writes_id or options.group == "id"),
        numbers_ids=options.ids is Ids.NUMBER and writes_id,
        prefix=prefix if options.prefix_ids else "",
        requirements=requirements,
    )
