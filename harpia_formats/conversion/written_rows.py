"""Check rows that are written by the rules by which rows of their format are read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import MsgspecError

from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.formats.registry import rules_for
from harpia_formats.formats.schema.any_values import allows_any
from harpia_formats.formats.schema.dialect import document_schema, record_schema
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode, encode_lines
from harpia_formats.model.field_fates import Unconvertible
from harpia_formats.model.format import Container, Dialect, Format
from harpia_formats.model.problem import Problem, Severity, pointer_of
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
    from harpia_formats.validation.diagnosis.row_context import RowContext  # noqa: PLC0415 - imported only where a row has a problem
    from harpia_formats.validation.diagnosis.to_problem import problem_of  # noqa: PLC0415 - imported only where a row has a problem

    rules = rules_for((format_,))
    schema: Any = document_schema(format_.dialects[0])
    for finding in findings:
        rule = rules[finding.code]
        if rule.severity is Severity.ERROR:
            row = RowContext("", text, Cursor(), None, finding.value)
            yield problem_of(finding, rule, row, schema)
