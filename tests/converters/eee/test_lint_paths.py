"""The two forms of each lint of EvalEval agree, and take any row."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_rows import CURRENT, KINDS, SEED, SHAPES, TAG, Row, clean_row
from effort import drawn
from harpia_converters.eee import lints
from harpia_formats.api.testing import mutants
from harpia_formats.api.testing.strategies import VALUES
from harpia_formats.formats.schema.typed_decoder import (
    RowSurvey,
    TypedDecoder,
    typed_decoder_of,
)
from harpia_formats.model.lint import Lints
from known_formats import FORMATS, row_schema, row_validator

LINTS = {
    SEED: lints.LINTS_0_2_0,
    TAG: lints.LINTS_0_2_0_TAG,
    CURRENT: lints.LINTS_0_3_0,
}
#: Values that lints ask for, which random changes seldom give.
TEXTS = ("output.raw", "messages[1].content", "system", "function", "c1", "0.2.0", " ")


def start_rows(shape: str) -> list[Row]:
    """Return clean rows, which are changed."""
    return [clean_row(shape, kind, number) for kind in KINDS for number in range(3)]


def changed_rows(shape: str, seed: int, count: int) -> Iterator[Any]:
    """Yield clean rows, and rows with a few random changes."""
    yield from start_rows(shape)
    yield from islice(mutants(start_rows(shape), seed), count)


def decoder_of(shape: str, rows: list[Any]) -> TypedDecoder:
    """Return the typed decoder of a shape that knows the keys of `rows`."""
    schema, survey = row_schema(FORMATS[shape].dialects[0]), RowSurvey()
    for row in rows:
        survey.take(schema, row)
    return typed_decoder_of(schema, dict(survey.extras))


def codes_missed(checks: Lints, row: Any, typed: Any) -> set[str]:
    """Return the codes of remarks on a row that its typed form is said not to have."""
    missed: set[str] = set()
    for check in checks.rows:
        assert check.is_clean is not None
        try:
            is_clean = check.is_clean(typed)
        except AttributeError:
            continue
        if is_clean:
            missed |= {remark.code for remark in check.remarks(row)}
    return missed


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_clean_has_no_remark(shape: str) -> None:
    """A typed row that is accepted at once has nothing that the exact check finds."""
    validator = row_validator(FORMATS[shape].dialects[0])
    rows = [
        row for row in changed_rows(shape, 17, drawn(600)) if validator.is_valid(row)
    ]
    decoder, accepted = decoder_of(shape, rows), 0
    for row in rows:
        typed = decoder.accept(json.dumps(row).encode())
        if typed is not None:
            accepted += 1
            assert codes_missed(LINTS[shape], row, typed) == set()

    assert accepted > len(rows) / 3


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_with_remarks_are_suspects(shape: str) -> None:
    """Of typed rows that are looked at together, those with a remark are found."""
    validator = row_validator(FORMATS[shape].dialects[0])
    rows = [
        row for row in changed_rows(shape, 19, drawn(600)) if validator.is_valid(row)
    ]
    decoder = decoder_of(shape, rows)
    pairs = [(row, decoder.accept(json.dumps(row).encode())) for row in rows]
    pairs = [pair for pair in pairs if pair[1] is not None]
    passed = 0
    for number in range(len(pairs)):
        some = pairs[number : number + number % 3 + 1]
        for check in LINTS[shape].rows:
            assert check.suspects is not None
            try:
                found = check.suspects([typed for _, typed in some])
            except AttributeError:
                continue
            clean = set(range(len(some))) - set(
                range(len(some)) if found is None else found
            )
            passed += len(clean)
            assert not any(list(check.remarks(some[place][0])) for place in clean)

    assert passed > len(pairs)


@pytest.mark.parametrize("shape", SHAPES)
def test_clean_rows_are_accepted_at_once(shape: str) -> None:
    """The quick form of each check accepts rows without a fault."""
    rows = start_rows(shape)
    decoder = decoder_of(shape, rows)
    for row in rows:
        typed = decoder.accept(json.dumps(row).encode())

        assert all(
            check.is_clean(typed) for check in LINTS[shape].rows if check.is_clean
        )


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in JSON, as its owner and a key or index."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in list(members):
        yield value, key
        if isinstance(member, (dict, list)):
            yield from places_in(member)


@given(st.data(), st.sampled_from(SHAPES), st.sampled_from(KINDS))
def test_any_row_is_taken(data: st.DataObject, shape: str, kind: str) -> None:
    """A row with any values in it, which its schema may refuse, breaks no check."""
    row = clean_row(shape, kind)
    values = VALUES | st.sampled_from(TEXTS)
    for _ in range(data.draw(st.integers(1, 3))):
        owner, key = data.draw(st.sampled_from(list(places_in(row))))
        owner[key] = data.draw(values)
    for check in LINTS[shape].rows:
        for remark in check.remarks(row):
            assert remark.code in check.codes
            assert remark.message


@pytest.mark.parametrize("shape", SHAPES)
def test_a_turn_before_the_first_is_taken(shape: str) -> None:
    """A number below 0, which every schema refuses, is of no turn."""
    row = clean_row(shape, "multi_turn")
    row["answer_attribution"][0]["turn_idx"] = -99
    found = [
        remark.code for check in LINTS[shape].rows for remark in check.remarks(row)
    ]

    assert "E113" in found


@given(VALUES, st.sampled_from(SHAPES))
def test_any_value_is_taken(value: Any, shape: str) -> None:
    """What is no row at all breaks no check."""
    for check in LINTS[shape].rows:
        list(check.remarks(value))
