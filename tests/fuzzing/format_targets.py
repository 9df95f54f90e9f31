"""Fuzz targets of formats: typed decoders, adapters, and whole files in any format."""

import io
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import msgspec

import harpia_formats
from fuzz_target import (
    FIXTURES,
    Target,
    check_refusal,
    every,
    fixture_rows,
    mutated_json,
    split_choice,
    with_choice,
)
from harpia_formats.conversion.destination import WrittenRowCheck
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.extra_fields import row_reader
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.files.parsing.json_syntax import find_fault
from harpia_formats.files.parsing.locate import duplicates
from harpia_formats.formats.registry import (
    adapter_of,
    all_formats,
    format_of,
    readable_formats,
    writable_formats,
)
from harpia_formats.formats.schema.bundled_schemas import (
    record_schema,
    schema_validator_of,
)
from harpia_formats.formats.schema.decoder_types import UnsupportedSchemaError
from harpia_formats.formats.schema.typed_decoder import (
    RowSurvey,
    TypedDecoder,
    typed_decoder_of,
)
from harpia_formats.model.exact_json import NOT_JSON, decode, encode
from harpia_formats.model.field_outcomes import Unconvertible
from harpia_formats.model.format import Container, Dialect, Format
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.record import Record

#: Bytes of a row of a fixture, and fixtures of a format, with which a search begins.
_LONGEST_ROW, _ROWS, _FILES = 2000, 8, 6
#: The rules that a row breaks which is not valid by a schema.
_OF_SCHEMAS = frozenset({"S101", "S102", "S103", "S104", "S105", "S106", "S107"})
#: Rows of fixtures whose unknown keys a typed decoder knows.
_SURVEYED = 20


def _variants(formats: dict[str, Format]) -> dict[str, tuple[Format, Dialect]]:
    """Return the formats whose rows are objects of their own, in each dialect."""
    return {
        f"{format_.id} {dialect.name}".strip(): (format_, dialect)
        for format_ in formats.values()
        for dialect in format_.dialects
        if dialect.container not in {Container.TABLE, Container.DOCUMENT}
    }


@cache
def _decoders() -> dict[str, tuple[TypedDecoder, TypedDecoder, Any]]:
    """Return the typed decoders and the schema validator of each format that has them.

    The second one leaves texts undecoded. A decoder knows the keys of the format's
    fixtures, as it learns them from a file.
    """
    found = {}
    for name, (format_, dialect) in _variants(all_formats()).items():
        schema = record_schema(dialect)
        survey = RowSurvey()
        for row in every(_SURVEYED, _rows_of(format_)):
            try:
                survey.take(schema, decode(row))
            except NOT_JSON:
                continue
        try:
            decoder, brief = (
                typed_decoder_of(
                    schema, dict(survey.extras), depth=survey.depth, undecoded=places
                )
                for places in (frozenset(), frozenset(survey.texts))
            )
        except UnsupportedSchemaError:
            continue
        found[name] = decoder, brief, schema_validator_of(schema)
    return found


def _rows_of(format_: Format) -> Iterator[bytes]:
    """Yield the small rows of the fixtures of a format."""
    return fixture_rows(format_.id, "valid", "lint", "invalid", most=_LONGEST_ROW)


def check_decoders(data: bytes) -> None:
    """Check that a typed decoder accepts no row that the schema validator refuses."""
    names = tuple(_decoders())
    name, row = split_choice(data, names)
    decoder, brief, validator = _decoders()[name]
    _check_values(decoder, row)
    accepts = decoder.accept(row) is not None
    # Of a repeated key, the last value alone is there to be looked at.
    if row.isascii() and (brief.accept(row) is not None) != accepts:
        assert not accepts
        assert list(duplicates(row))
    if not accepts:
        return
    assert find_fault(row) is None
    assert validator.is_valid(msgspec.json.decode(row))
    if not decoder.may_repeat_keys(row):
        assert not list(duplicates(row))


def _check_values(decoder: TypedDecoder, row: bytes) -> None:
    """Assert that values are typed only if they are accepted as JSON, too."""
    try:
        value = decode(row)
    except NOT_JSON:
        return
    if decoder.accepts_values([value]):
        assert decoder.accept(encode(value)) is not None


_READABLE = tuple(_variants(readable_formats()))


@cache
def _reader(name: str) -> tuple[Any, Callable[[Any], Record], RecordMapper | None]:
    """Return the schema validator, the reader and the writer of a format."""
    format_, dialect = _variants(readable_formats())[name]
    adapter = adapter_of(format_)
    writer = None
    if adapter.write is not None:
        writer = RecordMapper(adapter, Choices(), check=WrittenRowCheck(format_))
        writer.take_rows_of(adapter)
    validator = schema_validator_of(record_schema(dialect))
    return validator, row_reader(adapter, dialect.name), writer


@cache
def _record_writer() -> RecordMapper:
    """Return what writes any record without a loss."""
    return RecordMapper(adapter_of(format_of("record")), Choices())


def check_adapters(data: bytes) -> None:
    """Check that a valid row is read, and its record is kept by our own format."""
    name, data = split_choice(data, _READABLE)
    validator, read, writer = _reader(name)
    try:
        row = decode(data)
    except NOT_JSON:
        return
    if not isinstance(row, dict) or not validator.is_valid(msgspec.json.decode(data)):
        return
    dialect = _variants(readable_formats())[name][1]
    if dialect.remarks is not None and any(dialect.remarks(row)):
        return  # it may be wrong for that reason
    record = read(row)
    (kept,) = _record_writer().map(record).rows
    again = row_reader(adapter_of(format_of("record")))(decode(encode(kept)))
    assert again == record, (again, record)
    if writer is not None:
        try:
            rows = writer.map(record, 1).rows
        except Unconvertible as error:
            check_refusal(error)
        else:
            assert all(decode(encode(each)) for each in rows)


_FORMATS = ("", *all_formats())
_WRITABLE = tuple(sorted(writable_formats()))


def _validated(data: bytes, format_: str | None, **options: Any) -> Any:
    """Return the report of a validation, whose counts are those of its records."""
    report = harpia_formats.validate(data, format=format_, **options)
    (count,) = report.files
    assert count.records == count.valid + count.invalid + count.undetermined
    assert count.reason or count.complete
    assert all(problem.message and problem.code for problem in report.problems)
    harpia_formats.write_report(report, io.BytesIO(), reporter="json")
    return report


def _validate(data: bytes, format_: str | None) -> None:
    """Validate a file; each valid row is read if its format is one of records."""
    report = _validated(data, format_)
    (count,) = report.files
    if count.format not in readable_formats() or report.errors or not count.complete:
        return
    records = list(harpia_formats.read(data, format=count.format))
    assert len(records) <= count.records


def _lint(data: bytes, format_: str | None) -> None:
    """Validate a file with all rules; it has an error if it has one without them."""
    with_all = _validated(data, format_, lint=True)
    assert with_all.errors >= _validated(data, format_).errors


def _fix(data: bytes, format_: str | None, *, unsafe: bool) -> None:
    """Show how a file is repaired."""
    harpia_formats.fix(data, diff=True, unsafe=unsafe, format=format_)


def _convert(data: bytes, format_: str | None, target: str) -> None:
    """Convert a file; what is written is valid."""
    output = io.BytesIO()
    harpia_formats.convert(
        data, from_=format_, to=target, output=output, on_invalid="skip", ids="number"
    )
    written = output.getvalue()
    if written:
        report = _validated(written, target)
        assert not report.errors, report.problems


def _stats(data: bytes, format_: str | None) -> None:
    """Count what is in a file."""
    harpia_formats.stats(data, format=format_)


def _infer(data: bytes, format_: str | None) -> None:
    """Infer a schema of all rows of lines, which they meet."""
    del format_  # rows of any format have a schema
    schema = harpia_formats.infer_schema(data).schema
    report = harpia_formats.validate(data, schema=schema)
    assert not [one for one in report.problems if one.code in _OF_SCHEMAS]


_WORK: dict[str, Callable[[bytes, str | None], None]] = {
    "validate": _validate,
    "lint": _lint,
    "fix": partial(_fix, unsafe=False),
    "fix unsafe": partial(_fix, unsafe=True),
    "stats": _stats,
    "infer": _infer,
    **{f"convert {name}": partial(_convert, target=name) for name in _WRITABLE},
}


def check_files(data: bytes) -> None:
    """Check that a file is worked on, or refused by an error that is documented."""
    format_, rest = split_choice(data, _FORMATS)
    work, rest = split_choice(rest, tuple(_WORK))
    try:
        _WORK[work](rest, format_ or None)
    except HarpiaFormatsError as error:
        check_refusal(error)


def _row_seeds(names: tuple[str, ...]) -> list[bytes]:
    """Return rows of each format among `names`, with the byte that chooses it."""
    variants = _variants(all_formats())
    return [
        with_choice(name, names, row)
        for name in names
        for row in every(_ROWS, _rows_of(variants[name][0]))
    ]


def _decoder_seeds() -> list[bytes]:
    """Return rows of each format that has a typed decoder."""
    return _row_seeds(tuple(_decoders()))


def _adapter_seeds() -> list[bytes]:
    """Return rows of each format that is read as records."""
    return _row_seeds(_READABLE)


def _file_seeds() -> list[bytes]:
    """Return small fixtures of each format, each with some kind of work."""
    works = tuple(_WORK)
    found: list[bytes] = []
    for identifier in all_formats():
        paths = sorted((FIXTURES / identifier).rglob("*"))
        texts = [path.read_bytes() for path in paths if path.is_file()]
        small = every(_FILES, (text for text in texts if len(text) <= _LONGEST_ROW))
        for number, text in enumerate(small):
            named = with_choice(works[len(found) % len(works)], works, text)
            name = "" if number % 3 == 0 else identifier
            found.append(with_choice(name, _FORMATS, named))
    return found


def _mutated_file(data: bytes, seed: int) -> bytes:
    """Return a file of which one line is edited."""
    return mutated_json(data, seed, prefix=2)


_DECODER_CODE = (
    "harpia_formats.formats.schema",
    "harpia_formats.files.parsing.duplicate_keys",
)
_ADAPTER_CODE = ("harpia_converters", "harpia_formats.conversion.mapping")
_ALL_CODE = ("harpia_converters", "harpia_formats")
FORMAT_TARGETS = (
    Target("decoders", check_decoders, _DECODER_CODE, _decoder_seeds, mutated_json),
    Target("adapters", check_adapters, _ADAPTER_CODE, _adapter_seeds, mutated_json),
    Target("files", check_files, _ALL_CODE, _file_seeds, _mutated_file),
)
