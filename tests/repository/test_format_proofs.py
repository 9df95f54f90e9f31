"""Laws of every format, over mutated records and documents.

What is compared: `validate` and the reference engine.
"""

import csv
import io
import itertools
import json
import random
from collections import Counter
from typing import Any

import pytest

from cases import for_each_case
from effort import drawn, some_pairs
from format_variants import (
    NOT_OF_SCHEMAS,
    OF_SCHEMAS,
    OF_VENDORS,
    ON_FILES,
    VARIANTS,
    Variant,
    documents_of,
    lint_codes,
    modes_of,
    name_of,
    reference_of,
    schema_of,
    schema_of_document,
    streams_of,
    with_rows,
)
from harpia_formats import Report, Severity, validate
from harpia_formats.api.testing import mutants
from harpia_formats.plugins import Container, Remark
from harpia_formats.plugins import Path as Pointer
from known_formats import RULES

#: Rows of one file of mutants.
BATCH = 30
OF_DOCUMENTS = [
    each
    for each in VARIANTS
    if each.dialect.container
    in {Container.DOCUMENT, Container.WRAPPED, Container.COLUMNS}
]
OF_ROWS = [
    each
    for each in VARIANTS
    if each.dialect.container in {Container.ROWS, Container.WRAPPED, Container.COLUMNS}
]
OF_TABLES = [each for each in VARIANTS if each.dialect.container is Container.TABLE]
REMARKING = [
    each for each in VARIANTS if each.dialect.remarks and each not in OF_TABLES
]
#: Dialects of rows that say what the vendor's document does with a schema.
STRICT = [each for each in OF_ROWS if each.dialect.strict]


def text_of(value: Any, indent: int | None = None) -> bytes:
    """Return `value` as JSON."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode()


def file_of(
    variant: Variant, path: Pointer, rows: list[Any], indent: int | None = None
) -> bytes:
    """Return a file of a variant with these rows at `path`.

    Rows that stand alone are lines; with an `indent` they are items of one array.
    """
    if not path and indent is not None:
        return text_of(rows, indent)
    if not path:
        return b"".join(text_of(each) + b"\n" for each in rows)
    # Nothing around the rows may be wrong.
    strictly = reference_of(schema_of_document(variant, strict=True))
    document = next(each for each in documents_of(variant) if strictly(each))
    return text_of(with_rows(document, path, rows), indent)


def records_wrong(report: Report) -> set[int | None]:
    """Return the numbers of the records with errors."""
    return {
        each.place.record for each in report.problems if each.severity is Severity.ERROR
    }


def check_batch(
    variant: Variant, path: Pointer, rows: list[Any], data: bytes, *, strict: bool
) -> int:
    """Assert the reference engine's verdict on every row; return how many are valid.

    The first row must be a valid one, so that the file is what it is meant to be.
    """
    report = validate(
        data,
        format=variant.format.id,
        strict=strict,
        ignore=NOT_OF_SCHEMAS,
        examples=0,
        max_problems=0,
    )
    (count,) = report.files
    reference = reference_of(schema_of(variant, path, strict=strict))
    expected = {n for n, each in enumerate(rows, 1) if not reference(each)}

    assert count.dialect == variant.dialect.name
    wrong = records_wrong(report)
    differing = [(each, rows[(each or 1) - 1]) for each in wrong ^ expected]
    assert not differing, differing[:3]
    assert count.invalid == len(expected)
    assert not path or count.records >= len(rows)
    return len(rows) - len(expected)


def check_rows(variant: Variant, count: int, seed: int, *, strict: bool) -> None:
    """Assert the verdicts on mutants of every row of a variant."""
    for path, rows in streams_of(variant).items():
        reference = reference_of(schema_of(variant, path, strict=strict))
        anchor = next(each for each in rows if reference(each))
        endless = mutants(rows, seed)
        valid = 0
        for number in range(count // BATCH):
            batch = [anchor, *itertools.islice(endless, BATCH)]
            data = file_of(variant, path, batch, indent=number % 2 or None)
            valid += check_batch(variant, path, batch, data, strict=strict) - 1

        assert 0 < valid < count or schema_of(variant, path, strict=strict) is True


def in_turn(variants: list[Variant]) -> list[tuple[Variant, bool]]:
    """Return each variant with one of its modes, by turns; with more effort, with all.

    The long proofs have all modes.
    """
    some = some_pairs(range(len(variants)), [False, True])
    return [
        (each, strict)
        for at, each in enumerate(variants)
        for strict in modes_of(each)
        if (at, strict) in some or len(modes_of(each)) == 1
    ]


def id_of(value: Variant | bool) -> str:
    """Return what a parameter is called in the output of the tests."""
    return str(value) if isinstance(value, bool) else name_of(value)


@for_each_case("variant, strict", in_turn(OF_ROWS), ids=id_of)
def test_rows_are_validated_as_by_the_reference(
    variant: Variant, *, strict: bool
) -> None:
    """Every mutated row has the verdict of the reference engine, strict or not."""
    check_rows(variant, drawn(BATCH), seed=1, strict=strict)


@pytest.mark.long
@pytest.mark.parametrize("variant", OF_ROWS, ids=name_of)
def test_rows_are_validated_as_by_the_reference_long(variant: Variant) -> None:
    """20,000 mutated rows of each dialect and column have the reference's verdict."""
    for strict in modes_of(variant):
        check_rows(variant, 20_000, seed=2, strict=strict)


def remarks_on(variant: Variant, path: Pointer, row: Any) -> list[Remark]:
    """Return what the format says of a row; of a column's item that stands alone."""
    remarks = variant.dialect.remarks
    if remarks is None:
        return []
    is_item = variant.dialect.container is Container.COLUMNS
    return list(remarks({path[-1]: row} if is_item else row))


def is_reported_by_default(remark: Remark) -> bool:
    """Tell whether the rule of a remark is enabled by default."""
    return not RULES[remark.code].lint


def vendor_problems_in(report: Report, variant: Variant) -> Counter[str]:
    """Return how many problems each vendor rule on remarks has for records."""
    wanted = OF_VENDORS - lint_codes(variant)
    counts: Counter[str] = Counter()
    for each in report.groups:
        if each.record is not None and each.code in wanted:
            counts[each.code] += each.count
    return counts


@for_each_case("variant, lint", some_pairs(REMARKING, [False, True]), ids=id_of)
def test_remarks_are_reported_for_every_row(variant: Variant, *, lint: bool) -> None:
    """Valid rows get all remarks of their format, also if the decoder accepts them."""
    check_remarks(variant, drawn(64), lint=lint)


@pytest.mark.long
@pytest.mark.parametrize("lint", [False, True])
@pytest.mark.parametrize("variant", REMARKING, ids=name_of)
def test_remarks_are_reported_for_every_row_long(
    variant: Variant, *, lint: bool
) -> None:
    """The same holds with and without lint rules, and after more rows."""
    check_remarks(variant, 1_000, lint=lint)


def check_remarks(variant: Variant, count: int, *, lint: bool) -> None:
    """Assert that valid rows get all remarks, also after the first `count` of them."""
    for path, rows in streams_of(variant).items():
        remarks = [each for row in rows for each in remarks_on(variant, path, row)]
        wanted = [each.code for each in remarks if lint or is_reported_by_default(each)]
        # Soon after the first rows the decoder knows the others.
        times = max(3, 2 + count // len(rows))
        data = file_of(variant, path, rows * times)
        report = validate(data, format=variant.format.id, lint=lint)

        assert vendor_problems_in(report, variant) == Counter(wanted * times)


def check_mutants(variant: Variant, count: int, seed: int) -> None:
    """Assert that mutants of rows and documents can be validated, with all lints."""
    files = [
        file_of(variant, path, [*itertools.islice(mutants(rows, seed), count)])
        for path, rows in streams_of(variant).items()
        if variant in OF_ROWS
    ]
    if variant in OF_DOCUMENTS:
        made = itertools.islice(mutants(documents_of(variant), seed), count)
        files += map(text_of, made)
    for data in files:
        assert validate(data, format=variant.format.id, lint=True).files


@for_each_case("variant", [*dict.fromkeys(OF_ROWS + OF_DOCUMENTS)], ids=name_of)
def test_mutants_are_validated_and_linted(variant: Variant) -> None:
    """No changed value makes a check fail: remarks and lints take what schemas do."""
    check_mutants(variant, drawn(BATCH), seed=7)


@pytest.mark.long
@pytest.mark.parametrize(
    "variant", [*dict.fromkeys(OF_ROWS + OF_DOCUMENTS)], ids=name_of
)
def test_mutants_are_validated_and_linted_long(variant: Variant) -> None:
    """The same holds for 3,000 mutants of each dialect."""
    check_mutants(variant, 3_000, seed=8)


def check_strict(variant: Variant, count: int, seed: int) -> None:
    """Assert that rows which are valid by the strict schema have no remarks."""
    for path, rows in streams_of(variant).items():
        reference = reference_of(schema_of(variant, path, strict=True))
        made = itertools.chain(rows, itertools.islice(mutants(rows, seed), count))
        for each in filter(reference, made):
            reported = filter(is_reported_by_default, remarks_on(variant, path, each))
            assert not list(reported), each


@for_each_case("variant", STRICT, ids=name_of)
def test_strictly_valid_rows_have_no_remarks(
    variant: Variant,
) -> None:
    """Rows that the strict schema accepts have no remarks, except of lint rules."""
    check_strict(variant, 500, seed=5)


@pytest.mark.long
@pytest.mark.parametrize("variant", STRICT, ids=name_of)
def test_strictly_valid_rows_have_no_remarks_long(
    variant: Variant,
) -> None:
    """Of 20,000 mutants, those that the strict schema accepts have no remarks."""
    check_strict(variant, 20_000, seed=6)


def variant_in(report: Report) -> Variant:
    """Return the variant as which the file of a report was validated."""
    (found,) = report.files
    return next(
        each
        for each in VARIANTS
        if (each.format.id, each.dialect.name) == (found.format, found.dialect)
    )


def expected_of(variant: Variant, value: Any, *, strict: bool) -> bool:
    """Return the reference engine's verdict on a file that holds `value`.

    An array is one of records, whatever the container is in an object.
    """
    if isinstance(value, list):
        return all(expected_of_one(variant, each, strict=strict) for each in value)
    return expected_of_one(variant, value, strict=strict)


def expected_of_one(variant: Variant, value: Any, *, strict: bool) -> bool:
    """Return the reference engine's verdict on one value of a file."""
    is_row = variant.dialect.container is Container.ROWS
    if is_row:
        return reference_of(schema_of(variant, (), strict=strict))(value)
    return reference_of(schema_of_document(variant, strict=strict))(value)


def check_documents(variant: Variant, count: int, seed: int, *, strict: bool) -> None:
    """Assert the verdicts on mutants of whole documents of a variant.

    A mutant that is detected as another dialect is validated as that dialect.
    """
    as_itself = valid = 0
    made = itertools.islice(mutants(documents_of(variant), seed), count)
    for number, value in enumerate(made):
        report = validate(
            text_of(value, indent=number % 2 or None),
            format=variant.format.id,
            strict=strict,
            select=OF_SCHEMAS,
            ignore=ON_FILES,
        )
        taken = variant_in(report)
        expected = expected_of(taken, value, strict=strict)
        as_itself += taken == variant
        valid += expected

        assert report.ok == expected, (taken.name, value, report.problems)
    assert 2 * as_itself > count or (strict and not variant.dialect.documented)
    assert valid < count
    assert valid > 0 or strict


@for_each_case("variant, strict", in_turn(OF_DOCUMENTS), ids=id_of)
def test_documents_are_validated_as_by_the_reference(
    variant: Variant, *, strict: bool
) -> None:
    """Every mutated document has the verdict of the reference engine, strict or not."""
    check_documents(variant, drawn(10), seed=7, strict=strict)


@pytest.mark.long
@pytest.mark.parametrize("variant", OF_DOCUMENTS, ids=name_of)
def test_documents_are_validated_as_by_the_reference_long(
    variant: Variant,
) -> None:
    """2,000 mutated documents of each dialect have the reference's verdict."""
    for strict in (False, True):
        check_documents(variant, 2_000, seed=8, strict=strict)


def table_of(chance: random.Random) -> tuple[list[str], list[list[str]], bytes]:
    """Return columns, rows of fields, and the table that Python writes of them."""
    columns = chance.sample(COLUMNS, chance.randint(1, 5))
    rows = [[chance.choice(FIELDS) for _ in columns] for _ in range(3)]
    text = io.StringIO()
    csv.writer(text, lineterminator=chance.choice(("\n", "\r\n"))).writerows(
        [columns, *rows]
    )
    return columns, rows, text.getvalue().encode()


COLUMNS = ("system", "prompt", "response", "answer", "notes", "Prompt", "respons")
FIELDS = ("", " ", "a,b", 'say "x"', "two\nlines", "\U0001f99c", "1", '"')


def check_tables(variant: Variant, count: int, seed: int, *, strict: bool) -> None:
    """Assert the verdicts on tables of drawn columns and fields."""
    chance = random.Random(seed)  # noqa: S311 - needs a seed, not secrecy
    for _ in range(count):
        columns, rows, data = table_of(chance)
        report = validate(
            data,
            format=variant.format.id,
            strict=strict,
            select=OF_SCHEMAS,
            ignore=ON_FILES,
        )
        (found,) = report.files
        reference = reference_of(schema_of_document(variant_in(report), strict=strict))
        valid = [reference(dict(zip(columns, each, strict=True))) for each in rows]

        assert report.ok == all(valid), (columns, report.problems)
        assert found.records == len(rows)
        assert found.valid == sum(valid)


@pytest.mark.parametrize("variant", OF_TABLES, ids=name_of)
def test_tables_are_validated_as_by_the_reference(variant: Variant) -> None:
    """Every drawn table has the verdict of the reference engine on its records."""
    for strict in (False, True):
        check_tables(variant, drawn(25), seed=9, strict=strict)


@pytest.mark.long
@pytest.mark.parametrize("variant", OF_TABLES, ids=name_of)
def test_tables_are_validated_as_by_the_reference_long(variant: Variant) -> None:
    """20,000 drawn records in tables have the reference's verdict."""
    for strict in (False, True):
        check_tables(variant, 7_000, seed=10, strict=strict)
