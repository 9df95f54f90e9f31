"""Which words are near each other, and which are not in spite of it."""

import itertools
from collections.abc import Iterator
from itertools import chain, combinations, pairwise, permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from fixture_files import schema_file
from harpia_formats.model.column_map import FIELDS
from harpia_formats.model.spelling import (
    EDITS,
    KINDS,
    LOOK_ALIKES,
    NEGATIONS,
    OPPOSITES,
    edits_between,
    hint_on,
    is_near,
    is_slip,
    nearest,
)
from json_lines import jsonl_rows
from known_formats import FORMATS

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")

WORDS = st.text("abc_", max_size=7)


@for_each_case(
    "wanted, found",
    jsonl_rows(CASES / "near.jsonl"),
)
def test_near_words(wanted: str, found: str) -> None:
    """A word with one edit, or two if it is long, is near, and so is another case."""
    assert is_near(wanted, found)
    assert is_near(found, wanted)


@for_each_case(
    "wanted, found",
    [*jsonl_rows(CASES / "not_near.jsonl"), ("a" * 5, "a" * 1_000_000)],
)
def test_words_that_are_not_near(wanted: str, found: str) -> None:
    """Other words are not near, nor is the word itself, nor is a very long one."""
    assert not is_near(wanted, found)


@for_each_case(
    "wanted, candidates, found",
    jsonl_rows(CASES / "nearest.jsonl"),
)
def test_nearest(wanted: str, candidates: list[str], found: str) -> None:
    """The only near candidate is returned; of several, the only one in another case."""
    assert nearest(wanted, candidates) == found


@for_each_case(
    "one, other, edits",
    [
        ("", "", 0),
        ("", "abc", 3),
        ("ab", "ba", 1),
        ("abc", "ca", 3),  # no edit inside a swapped pair
        ("kitten", "sitting", 3),
    ],
)
def test_edits(one: str, other: str, edits: int) -> None:
    """Adding, dropping or changing a letter is one edit, and so is a swap."""
    assert edits_between(one, other) == edits


@given(WORDS, WORDS)
def test_distance_is_symmetric(one: str, other: str) -> None:
    """The distance is symmetric, and 0 only for equal words."""
    edits = edits_between(one, other)

    assert edits == edits_between(other, one)
    assert (edits == 0) == (one == other)
    assert abs(len(one) - len(other)) <= edits <= max(len(one), len(other))


@given(WORDS, st.integers(0, 6))
def test_one_swap_is_one_edit(word: str, at: int) -> None:
    """Swapping two neighbours that differ is one edit."""
    pairs = list(pairwise(word))
    if at < len(pairs) and pairs[at][0] != pairs[at][1]:
        first, second = pairs[at]
        swapped = word[:at] + second + first + word[at + 2 :]

        assert edits_between(word, swapped) == 1


@for_each_case(
    "given, known",
    jsonl_rows(CASES / "other_meanings.jsonl"),
)
def test_another_meaning_is_no_misspelling(given: str, known: str) -> None:
    """However near the two are, neither is offered for the other, nor is it a slip."""
    for one, other in ((given, known), (known, given)):
        assert nearest(one, [other]) == ""
        assert not is_slip(one, other)


@for_each_case(
    "given, known",
    [
        ("is_ncorrect", "is_correct"),
        ("nsafe", "safe"),
        ("mix_len", "min_len"),
        ("mx_length", "min_length"),
        ("correct", "is_incorrect"),
    ],
)
def test_a_misspelt_opposite_is_offered_for_nothing(given: str, known: str) -> None:
    """What is as near to a word as to its opposite may be either."""
    assert nearest(given, [known]) == ""
    assert not is_slip(given, known)


@for_each_case(
    "negation, word",
    itertools.product(NEGATIONS, ["correct", "is_valid", "hasRead", "judged_safe"]),
)
def test_no_negation_is_a_misspelling(negation: str, word: str) -> None:
    """Whether the prefix is at the beginning or behind the first word."""
    head, _, tail = word.rpartition("_")
    for one in (f"{negation}{word}", f"{head}_{negation}{tail}".lstrip("_")):
        assert nearest(one, [word]) == nearest(word, [one]) == ""
        assert not is_slip(one, word)


@for_each_case(
    "listed, name",
    itertools.product(
        [OPPOSITES, LOOK_ALIKES], ["{}", "{}_count", "is_{}", "mean {} seen"]
    ),
)
def test_listed_words_are_not_taken_for_each_other(listed: str, name: str) -> None:
    """Alone or in a name; each pair has two words, and is listed once."""
    pairs = [tuple(pair.split()) for pair in listed.split(",")]
    assert len(set(map(frozenset, pairs))) == len(pairs)
    for one, other in pairs:
        for wrong, right in ((one, other), (other, one)):
            assert nearest(name.format(wrong), [name.format(right)]) == ""
            assert not is_slip(name.format(wrong), name.format(right))


@pytest.mark.parametrize(
    "name",
    [
        "latency_{}",
        pytest.param("is_{}_count", marks=pytest.mark.long),
        pytest.param("mean{}", marks=pytest.mark.long),
    ],
)
def test_units_and_languages_are_not_taken_for_each_other(name: str) -> None:
    """A rename of `size_kb` to `size_mb` would change each value by a factor."""
    groups = [group.split() for group in KINDS.split(",")]
    for one, other in chain.from_iterable(permutations(group, 2) for group in groups):
        is_camel_case = name.endswith("n{}")
        ours, theirs = (
            name.format(word.capitalize() if is_camel_case else word)
            for word in (one, other)
        )
        assert nearest(ours, [theirs]) == ""
        assert not is_slip(ours, theirs)


@for_each_case(
    "given, known",
    jsonl_rows(CASES / "slips.jsonl"),
)
def test_a_slip_of_the_keyboard(given: str, known: str) -> None:
    """Another case or separator, or one edit in a name of five letters."""
    assert is_slip(given, known)


@for_each_case(
    "given, known",
    jsonl_rows(CASES / "no_slips.jsonl"),
)
def test_what_is_no_slip(given: str, known: str) -> None:
    """What may as well be another name is none, whether it is near or not."""
    assert not is_slip(given, known)


#: Letters that one of two near words has and the other has not, at most.
MOST_CHANGED = 2 * EDITS + len("_- ")
#: Pairs of known keys that mean the same, apart from plurals and other separators.
SAME = {
    frozenset(pair.split())
    for pair in (
        "correct is_correct",
        "enable enabled",
        "exclude excluded",
        "ignore ignored",
        "instances instancias",
        "metric metricas",
        "metric_id metricas",
        "metrics metricas",
        "n-samples num_samples",
        "data_set datasets",
    )
}


def known_keys() -> list[str]:
    """Return the keys of the schemas of all formats, and the fields of `--map`."""
    found: set[str] = set(FIELDS)
    for format_ in FORMATS.values():
        for dialect in format_.dialects:
            found.update(_keys_in(schema_file(dialect.schema)))
    return sorted(found)


def _keys_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        for part in schema.values():
            yield from _keys_in(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _keys_in(part)


def test_no_known_key_is_taken_for_another_one() -> None:
    """Of all keys of all formats, only those of one meaning are near: plurals, say.

    Where a new format brings another pair, it belongs to the listed words, or here.
    """
    keys = known_keys()
    assert len(keys) > 400
    wrong = [
        (one, other)
        for one, other in combinations(keys, 2)
        if len(set(one.lower()) ^ set(other.lower())) <= MOST_CHANGED
        if nearest(one, [other]) or is_slip(one, other) or is_slip(other, one)
        if plain(one) != plain(other) and frozenset((one, other)) not in SAME
    ]
    assert wrong == []


def plain(key: str) -> str:
    """Return a key in one case, without separators and the ending of a plural."""
    letters = "".join(filter(str.isalnum, key)).lower()
    return letters.removesuffix("s")


def test_all_names_are_listed_only_if_none_is_near() -> None:
    """A misspelt name has one suggestion; any other one has the list."""
    names = ("alpha", "beta", "gamma")

    assert hint_on("alhpa", names) == "; did you mean alpha?"
    assert hint_on("zzz", names) == " (known: alpha, beta, gamma)"
    assert hint_on("zzz", names, word="it has", most=1, shown=repr) == (
        " (it has: 'alpha' and 2 more)"
    )
    assert not hint_on("zzz", ())
