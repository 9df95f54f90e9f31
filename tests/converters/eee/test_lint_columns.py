"""Rules across rows compare of many rows at once what they compare of each."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_converters.eee import lints, versions
from harpia_converters.eee.lints import (
    LINTS_0_2_0,
    across_rules_of,
    recipe_of_row,
)
from harpia_converters.eee.row_members import (
    DESCRIBED,
    RECIPES,
    are_digests_of_texts,
    digest_of_text,
)
from harpia_formats.validation.dedup.identity import member_at
from harpia_formats.validation.unit.across_values import TextReader

#: More hashes than are remembered.
COUNT = range(1_000)

texts = st.sampled_from(["a", "b", "1", "-1", "-", "²", "(a)", "a_b"])
inputs = st.fixed_dictionaries(
    {"raw": texts, "reference": st.one_of(texts, st.lists(texts, max_size=2))}
)


def with_hash(row: dict[str, Any], letter: str) -> dict[str, Any]:
    """Return a row with the hash of its input by a recipe, if it has a reference."""
    references = references_of(row["input"])
    if not (letter and references):
        return row
    return {**row, "sample_hash": RECIPES[letter](row["input"]["raw"], references)}


def references_of(asked: dict[str, Any]) -> list[str]:
    """Return the references of an input, which may be one text."""
    reference = asked["reference"]
    return [reference] if isinstance(reference, str) else reference


rows_without_hash = st.fixed_dictionaries(
    {
        "evaluation_id": texts,
        "model_id": texts,
        "evaluation_name": texts,
        "sample_id": st.one_of(texts, st.integers(-1, 2)),
        "input": inputs,
    },
    optional={
        "sample_hash": st.one_of(texts, st.none()),
        "evaluation_result_id": st.one_of(texts, st.none()),
        "metadata": st.dictionaries(st.just("epoch"), st.one_of(texts, st.none())),
    },
)
rows = st.builds(with_hash, rows_without_hash, st.sampled_from(["", *RECIPES]))
#: Some rows that differ, or one several times.
lists = st.one_of(
    st.lists(rows, min_size=1, max_size=4),
    st.builds(lambda row, count: [row] * count, rows, st.integers(1, 3)),
)


@given(lists)
def test_columns_are_compared_as_rows_are(given_rows: list[dict[str, Any]]) -> None:
    """Every rule makes the same pairs of digests both ways, once at least."""
    for rule in across_rules_of(versions.V0_2_0):
        reader = TextReader(rule)
        columns = [
            [member_at(row, path) for row in given_rows]
            for path in (*rule.key, *rule.value)
        ]
        found = reader._of_columns(columns)  # noqa: SLF001 - the quick way
        together = [each for each in found if each is not None]
        singly = [each for each in map(reader.of_value, given_rows) if each is not None]
        assert set(together) == set(singly)
        if rule.code == "E307":  # rows that must differ are all counted
            assert sorted(reader.digests(together)) == sorted(reader.digests(singly))


@given(inputs, inputs, st.sampled_from([*RECIPES]))
def test_inputs_of_one_hash_are_told_apart(
    one: dict[str, Any], other: dict[str, Any], letter: str
) -> None:
    """Of rows with the same hash, E304 compares the same where the inputs are equal.

    So it is whether or not the hash is that of either input, and was looked at before.
    """
    rule = next(each for each in across_rules_of(versions.V0_2_0) if each.value_texts)
    reader = TextReader(rule)
    hashed = with_hash({"input": one}, letter)
    assert rule.code == "E304"
    for is_known in (False, True):
        if is_known and "sample_hash" in hashed:
            recipe_of_row(hashed["sample_hash"], one["raw"], one["reference"])
        first, second = (
            reader.of_value({"sample_hash": "h", **hashed, "input": each})
            for each in (one, other)
        )
        assert (first == second) is (one == other)


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(-2, 2)), max_size=4))
def test_digests_of_texts_are_those_of_each(pairs: list[tuple[str, int]]) -> None:
    """Digests of texts are right if each is; one that is cut elsewhere is not."""
    given_texts = [text for text, _ in pairs]
    joined, ends = "".join(map(digest_of_text, given_texts)), [0]
    for number, (_, shift) in enumerate(pairs, 1):
        ends.append(number * 64 + (shift if number < len(pairs) else 0))
    digests = list(map(joined.__getitem__, map(slice, ends, ends[1:])))
    are_right = bool(digests) and digests == list(map(digest_of_text, given_texts))

    assert are_digests_of_texts(digests, given_texts) is are_right


class Asked(msgspec.Struct):
    """The input of a typed row."""

    raw: str
    reference: str | list[str]


class Identified(msgspec.Struct):
    """What a typed row is about."""

    input: Asked
    sample_hash: str
    model_id: str = "a/b"
    schema_version: str = "0.2.0"


@given(st.lists(inputs, min_size=1, max_size=4), st.sampled_from([*RECIPES]))
def test_hashes_of_one_recipe_are_looked_at_together(
    asked: list[dict[str, Any]], letter: str
) -> None:
    """Rows with hashes of one recipe are clean, and compared as each of them is."""
    rows = [with_hash({"sample_hash": "", "input": each}, letter) for each in asked]
    lint = LINTS_0_2_0.rows[0]
    assert lint.suspects is not None
    recipe_of_row(rows[0]["sample_hash"], **rows[0]["input"])
    is_clean = lint.suspects(msgspec.convert(rows, list[Identified])) is not None
    assert is_clean or not all(map(references_of, asked)) or letter == "D"
    assert not is_clean or not any(map(list, map(lint.remarks, rows)))
    for rule in across_rules_of(versions.V0_2_0):
        if rule.value_texts:
            reader = TextReader(rule, is_exact=True)
            paths = (*rule.key, *rule.value)
            columns = [[member_at(row, path) for row in rows] for path in paths]
            singly = list(map(reader.of_value, rows))
            assert reader._of_columns(columns) == singly  # noqa: SLF001 - the quick way


@pytest.mark.parametrize("is_list", [False, True])
def test_inputs_with_one_hash_by_two_recipes_are_told_apart(*, is_list: bool) -> None:
    """E304 tells two inputs apart of which each gives the hash of both by a recipe."""
    text = '{"raw":"abc","reference":["x"]}'  # what recipe A hashes
    inputs = [("abc", "x"), (text[:3], text[3:])]
    digest = RECIPES["A"]("abc", ["x"])
    rows = [
        {
            "sample_hash": digest,
            "input": {"raw": raw, "reference": [ref] if is_list else ref},
        }
        for raw, ref in inputs
    ]
    rule = next(each for each in across_rules_of(versions.V0_2_0) if each.value_texts)
    reader = TextReader(rule)
    paths = (*rule.key, *rule.value)
    first, second = map(reader.of_value, rows)
    columns = [[member_at(row, path) for row in rows] for path in paths]

    assert all(recipe_of_row(digest, raw, [ref]) for raw, ref in inputs)
    assert first != second
    assert reader._of_columns(columns) == [first, second]  # noqa: SLF001 - the quick way


def test_two_threads_may_forget_the_same_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash that another thread has removed since it was looked for is no failure."""
    monkeypatch.setattr(lints, "islice", lambda known, _: [*known, "removed"])

    found = [
        recipe_of_row(RECIPES["A"](raw, ["a"]), raw, "a") for raw in map(str, COUNT)
    ]

    assert {*found} == {"A"}


class ReadMeanwhile(list[str]):
    """Hashes such that another thread checks a row as they are compared."""

    __hash__ = None  # as that of a list

    def __eq__(self, other: object) -> bool:
        check_rows("B")
        return list.__eq__(self, other)


def check_rows(letter: str) -> tuple[list[str], list[str], list[str]]:
    """Let a row be checked whose hash is of a recipe; return what it is of."""
    row = with_hash({"input": {"raw": "q", "reference": "r"}}, letter)
    suspects = LINTS_0_2_0.rows[0].suspects
    assert suspects is not None
    assert suspects(msgspec.convert([row], list[Identified])) == ()
    return [row["sample_hash"]], ["q"], ["r"]


def test_threads_do_not_mix_the_recipes_of_their_rows() -> None:
    """Rows are of the recipe of their hashes also if others are checked meanwhile."""
    digests, *asked = check_rows("A")
    rules = across_rules_of(versions.V0_2_0)
    texts_of = next(rule.value_texts for rule in rules if rule.code == "E306")
    assert texts_of is not None

    assert texts_of([ReadMeanwhile(digests), *asked]) == [DESCRIBED["A"]]
