"""Compare the verdicts of `validate` on mutants with those of the schema validator.

A verdict is whether a record has an error that its schema states, or repeats a key.
Rules of vendors, on ids and on whole files say more than a schema, and are not asked.
"""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache, reduce
from itertools import cycle, islice
from operator import add
from typing import Any, NamedTuple

import msgspec
from data.row_mutants import Mutant, row_mutants, with_escapes
from data.table_mutants import table_mutants

from format_variants import (
    NOT_OF_SCHEMAS,
    OF_SCHEMAS,
    ON_FILES,
    VARIANTS,
    documents_of,
    loads,
    modes_of,
    name_of,
    reference_of,
    schema_of,
    streams_of,
    with_rows,
)
from harpia_formats import Report, Severity, validate
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.schema.bundled_schemas import (
    document_schema,
    schema_validator_of,
)
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.format import Container
from harpia_formats.model.problem import Path as Pointer
from harpia_formats.validation.unit.row_validator import DecoderTraining

#: Mutants of one file, at most.
BATCH = 2_000
#: Rows of one table, at most: often its columns decide on all of them.
TABLE = 100
#: Valid rows that a file begins with: its dialect and the typed decoder are those of
#: the first rows.
ANCHORS = 36
#: In one of so many batches every record's verdict is looked at. In the others, invalid
#: mutants, those that the typed decoder accepts together, and other valid ones are in
#: files of their own, whose counts are looked at. An odd number, since arrays and lines
#: are by turns.
MIXED_EVERY = 3
#: One of so many mutants is shown to the reference engine.
REFERENCE_EVERY = 1_000
#: One of so many documents is a file of its own, which takes a millisecond.
ALONE_EVERY = 50
#: What stands for the records in the text of a document.
_ROWS = "rows of mutants"
#: The rules of `NOT_OF_SCHEMAS`: to look for each code takes 30 milliseconds a file. No
#: lint is selected, since with one all texts are decoded.
_IGNORED = tuple(
    dict.fromkeys(
        code if code.startswith(OF_SCHEMAS) else code.rstrip("0123456789")
        for code in NOT_OF_SCHEMAS
    )
)


class Stream(NamedTuple):
    """The records of a variant at one path, held to its schema or its strict one."""

    variant: FormatVariant
    path: Pointer
    strict: bool


class Outcome(NamedTuple):
    """What was found of some mutants: how many there were, and the first difference."""

    mutants: int = 0
    valid: int = 0
    #: How many were shown to the reference engine.
    referenced: int = 0
    difference: str = ""

    def __add__(self, other: tuple[Any, ...]) -> "Outcome":
        """Return both outcomes as one."""
        mutants, valid, referenced, difference = other
        return Outcome(
            self.mutants + mutants,
            self.valid + valid,
            self.referenced + referenced,
            self.difference or difference,
        )


@cache
def streams() -> dict[str, list[Stream]]:
    """Return the records whose schema says anything, by the names of their variants."""
    return {name_of(each): list(_streams_of(each)) for each in VARIANTS}


def _streams_of(variant: FormatVariant) -> Iterator[Stream]:
    """Yield the streams of a variant that have a valid record."""
    paths = [()] if _is_whole(variant) else list(streams_of(variant))
    for strict in modes_of(variant):
        for path in paths:
            stream = Stream(variant, path, strict)
            if _schema(stream) is not True and (_is_table(variant) or anchors(stream)):
                yield stream


def _is_table(variant: FormatVariant) -> bool:
    return variant.dialect.container is Container.TABLE


def _is_whole(variant: FormatVariant) -> bool:
    return variant.dialect.container in {Container.DOCUMENT, Container.TABLE}


def _schema(stream: Stream) -> Any:
    """Return the schema of records at a path, of rows, or of whole documents."""
    is_rows = stream.variant.dialect.container is Container.ROWS
    if not stream.path and not is_rows:
        return document_schema(stream.variant.dialect, strict=stream.strict)
    return schema_of(stream.variant, stream.path, strict=stream.strict)


@cache
def _is_valid(stream: Stream) -> Callable[[Any], bool]:
    """Return the verdict of the schema validator on a record."""
    is_valid: Callable[[Any], bool] = schema_validator_of(_schema(stream)).is_valid
    return is_valid


@cache
def _by_reference(stream: Stream) -> Callable[[Any], bool]:
    return reference_of(_schema(stream))


def _records(stream: Stream) -> list[Any]:
    if _is_whole(stream.variant):
        return documents_of(stream.variant)
    return streams_of(stream.variant)[stream.path]


@cache
def anchors(stream: Stream) -> list[bytes]:
    """Return the valid records that each file of a stream begins with."""
    is_valid = _is_valid(stream)
    valid = [
        with_escapes(each, is_valid) for each in _records(stream) if is_valid(each)
    ]
    return list(islice(cycle(valid), ANCHORS))


@cache
def brief_decoder(stream: Stream) -> TypedDecoder | None:
    """Return the decoder that has seen the first rows and leaves texts undecoded."""
    is_items = stream.variant.dialect.container is Container.COLUMNS
    training = DecoderTraining(_schema(stream), of_items=is_items)
    rows = anchors(stream)
    training.begin(Chunk(b"\n".join(rows), Cursor(), rows))
    return training.partial_decoder(frozenset())


def outcome_of(name: str, number: int, count: int, seed: int) -> Outcome:
    """Return what is found of the batch `number` of mutants of the variant `name`."""
    among = streams()[name]
    stream = among[number % len(among)]
    turn = number // len(among)
    text = f"{seed} {name} {number}"
    if _is_table(stream.variant):
        sizes = [min(TABLE, count - done) for done in range(0, count, TABLE)]
        tables = (
            _table_outcome(stream, n, f"{text} {at}") for at, n in enumerate(sizes)
        )
        return reduce(add, tables, Outcome())
    made = row_mutants(_records(stream), count, text)
    expected = [_is_expected(stream, each) for each in made]
    difference = (
        _difference(stream, made, expected, turn)
        or _wrongly_accepted(stream, made, expected)
        or _differing_alone(stream, made, expected)
    )
    referenced, wrong = _referenced(stream, made, expected, random.Random(text))
    return Outcome(len(made), sum(expected), referenced, difference or wrong)


def _is_expected(stream: Stream, mutant: Mutant) -> bool:
    """Return the verdict of the schema validator; a repeated key is invalid, too."""
    value = msgspec.json.decode(mutant.text)
    return not mutant.repeats and _is_valid(stream)(value)


def _difference(
    stream: Stream, made: list[Mutant], expected: list[bool], turn: int
) -> str:
    """Return the first mutant on which `validate` differs, "" if there is none."""
    pairs = list(zip(made, expected, strict=True))
    if turn % MIXED_EVERY == 0:
        return _differing(stream, pairs, turn)
    accepts = _accepts(stream)
    kinds: dict[tuple[bool, bool], list[tuple[Mutant, bool]]] = {}
    for mutant, valid in pairs:
        kinds.setdefault((valid, valid and accepts(mutant)), []).append((mutant, valid))
    for (valid, _), some in kinds.items():
        if _invalid_count(stream, some, turn) != len(some) * (not valid):
            named = f"{name_of(stream.variant)}: a count differs, and no record does"
            return _differing(stream, some, turn) or named
    return ""


def _invalid_count(
    stream: Stream, pairs: Sequence[tuple[Mutant, bool]], turn: int
) -> int:
    """Return how many records of a file of these mutants are invalid."""
    report = _report(stream, [each.text for each, _ in pairs], turn, examples=1)
    invalid: int = report.files[0].invalid
    return invalid


def _differing(stream: Stream, pairs: Sequence[tuple[Mutant, bool]], turn: int) -> str:
    """Return the first mutant whose verdict in a file differs, as small as it gets."""
    report = _report(stream, [each.text for each, _ in pairs], turn, examples=0)
    wrong = _records_wrong(report)
    for number, (mutant, valid) in enumerate(pairs, ANCHORS + 1):
        if valid is (number in wrong):
            return _said(stream, _shrunk(stream, mutant), valid, "validate")
    others = wrong - {*range(ANCHORS + 1, ANCHORS + 1 + len(pairs))}
    return f"{name_of(stream.variant)}: {others} are invalid" if others else ""


def _said(stream: Stream, text: bytes, valid: bool, who: str) -> str:  # noqa: FBT001 - a verdict
    verdicts = ("invalid", "valid")
    mode = " (strict)" if stream.strict else ""
    place = "".join(f"/{step}" for step in stream.path)
    return (
        f"{name_of(stream.variant)}{mode}{place}: the schema validator says "
        f"{verdicts[valid]}, {who} says {verdicts[not valid]}: {text.decode()}"
    )


def _records_wrong(report: Report) -> set[int | None]:
    """Return the numbers of the records with errors."""
    return {
        each.place.record for each in report.problems if each.severity is Severity.ERROR
    }


def _report(stream: Stream, texts: list[bytes], turn: int, examples: int) -> Report:
    """Return the report on a file of mutants behind valid rows."""
    variant = stream.variant
    report = validate(
        _file(stream, [*anchors(stream), *texts], is_array=turn % 2 == 1),
        format=variant.format.id,
        strict=stream.strict,
        ignore=_IGNORED,
        examples=examples,
        max_problems=0,
    )
    taken = report.files[0].dialect
    if taken != variant.dialect.name:
        raise RuntimeError(f"mutants of {name_of(variant)} were taken as {taken!r}")
    return report


def _file(stream: Stream, texts: list[bytes], *, is_array: bool) -> bytes:
    """Return a file of these records: in lines, in an array, or in their document."""
    if stream.path:
        before, after = _around(stream)
        return before + b",\n".join(texts) + after
    return b"[%b]" % b",\n".join(texts) if is_array else b"\n".join(texts)


@cache
def _around(stream: Stream) -> tuple[bytes, bytes]:
    """Return what is before and behind the records in a valid document."""
    is_valid = reference_of(
        document_schema(stream.variant.dialect, strict=stream.strict)
    )
    document = next(each for each in documents_of(stream.variant) if is_valid(each))
    text = json.dumps(with_rows(document, stream.path, [_ROWS]))
    before, _, after = text.partition(json.dumps(_ROWS))
    return before.encode(), after.encode()


def _accepts(stream: Stream) -> Callable[[Mutant], bool]:
    """Return whether a mutant is accepted without decoding its texts."""
    decoder = brief_decoder(stream)
    if decoder is None:
        return lambda _: False
    return lambda mutant: (
        mutant.text.isascii()
        and not mutant.repeats
        and decoder.accept(mutant.text) is not None
    )


def _wrongly_accepted(stream: Stream, made: list[Mutant], expected: list[bool]) -> str:
    """Return the first invalid mutant that is accepted without decoding its texts.

    In a file, that decoder accepts many rows or none: one that it refuses hides others.
    """
    accepts = _accepts(stream)
    for mutant, valid in zip(made, expected, strict=True):
        if not valid and accepts(mutant):
            return _said(stream, mutant.text, valid, "the decoder")
    return ""


def _differing_alone(stream: Stream, made: list[Mutant], expected: list[bool]) -> str:
    """Return the first document whose verdict differs as a file of its own.

    One that is taken as another dialect is held to the schema of that dialect.
    """
    if stream.variant.dialect.container is not Container.DOCUMENT:
        return ""
    of_format = {each.name: each for each in stream.variant.format.dialects}
    for mutant, valid in islice(
        zip(made, expected, strict=True), None, None, ALONE_EVERY
    ):
        if not mutant.text.startswith(b"{"):
            continue  # an array is a file of its items
        report = validate(
            mutant.text,
            format=stream.variant.format.id,
            strict=stream.strict,
            ignore=(*_IGNORED, *ON_FILES),
        )
        taken = of_format[report.files[0].dialect]
        wanted = valid
        if taken != stream.variant.dialect:
            variant = FormatVariant(stream.variant.format, taken)
            wanted = _is_expected(Stream(variant, (), stream.strict), mutant)
        if report.ok != wanted:
            return _said(stream, mutant.text, wanted, "validate of it alone")
    return ""


def _referenced(
    stream: Stream, made: list[Mutant], expected: list[bool], chance: random.Random
) -> tuple[int, str]:
    """Return how many mutants the reference engine judged, and where it differs."""
    judged = range(chance.randrange(REFERENCE_EVERY), len(made), REFERENCE_EVERY)
    for at in judged:
        mutant, valid = made[at], expected[at]
        if (_by_reference(stream)(loads(mutant.text)) and not mutant.repeats) != valid:
            return len(judged), _said(stream, mutant.text, valid, "jsonschema")
    return len(judged), ""


def _shrunk(stream: Stream, mutant: Mutant) -> bytes:
    """Return a mutant without the members that its difference does not need."""
    value = msgspec.json.decode(mutant.text)
    if mutant.repeats or not isinstance(value, dict) or not _differs(stream, value):
        return mutant.text
    for key in tuple(value):
        less = {name: each for name, each in value.items() if name != key}
        if _differs(stream, less):
            value = less
    return msgspec.json.encode(value)


def _differs(stream: Stream, value: Any) -> bool:
    report = _report(stream, [msgspec.json.encode(value)], 0, examples=0)
    return _is_valid(stream)(value) is (ANCHORS + 1 in _records_wrong(report))


def _table_outcome(stream: Stream, count: int, seed: str) -> Outcome:
    """Return what is found of a table with drawn columns and fields.

    The dialect of a table is that of its columns.
    """
    of_format = {each.name: each for each in stream.variant.format.dialects}
    named = [*_schema(stream).get("properties", {})]
    columns, rows, data = table_mutants(named, count, seed)
    report = validate(
        data,
        format=stream.variant.format.id,
        strict=stream.strict,
        ignore=(*_IGNORED, *ON_FILES),
        examples=0,
        max_problems=0,
    )
    taken = FormatVariant(stream.variant.format, of_format[report.files[0].dialect])
    held = Stream(taken, (), stream.strict)
    records = [dict(zip(columns, each, strict=True)) for each in rows]
    expected = [_is_valid(held)(each) for each in records]
    wrong = _records_wrong(report)
    difference = ""
    for number, (record, valid) in enumerate(zip(records, expected, strict=True), 1):
        # What is wrong with the columns is said once, of no record.
        if valid is (number in wrong or None in wrong):
            difference = _said(held, msgspec.json.encode(record), valid, "validate")
            break
    if not difference and report.files[0].valid != sum(expected):
        counted = f"{report.files[0].valid} records are valid, not {sum(expected)}"
        difference = f"{name_of(taken)}: {counted}: {columns}"
    made = [Mutant(msgspec.json.encode(each), repeats=False) for each in records]
    referenced, unlike = _referenced(held, made, expected, random.Random(seed))
    return Outcome(count, sum(expected), referenced, difference or unlike)
