"""What mutants are made of, and that they leave the records alone."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.api.testing import mutation
from harpia_formats.api.testing.mutation import Edit, Scene, Slot, mutants

RECORDS = (
    {"id": 1, "kind": "one", "turns": [{"who": "user"}, {"who": "tool"}], "score": 1.0},
    {"id": "2", "kind": "two", "usage": {"tokens": 12, "cached": None}},
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def first(count: int, records: Sequence[Any] = RECORDS, seed: int = 7) -> list[Any]:
    """Return the first `count` mutants."""
    return list(islice(mutants(records, seed), count))


def edited(record: Any, key: Any, edit: Edit, seed: int = 0) -> Any:
    """Return `record` after `edit` of the slot at `key`."""
    holder = [mutation.copy_of(record)]
    keys, texts = mutation.vocabulary_of(RECORDS)
    slots = tuple(mutation.slots_of(holder))
    scene = Scene(slots, keys, texts, random.Random(seed))  # noqa: S311 - a seed is meant
    edit(next(each for each in slots if each.key == key), scene)
    return holder[0]


def test_equal_seeds_give_equal_mutants() -> None:
    """Two runs with one seed give the same mutants, byte for byte."""
    assert json.dumps(first(200)) == json.dumps(first(200))


def test_other_seeds_give_other_mutants() -> None:
    """Another seed gives other mutants."""
    assert first(50, seed=1) != first(50, seed=2)


def test_records_stay_as_they_are() -> None:
    """No edit reaches the records that the mutants are copies of."""
    before = json.dumps(RECORDS)

    first(500)

    assert json.dumps(RECORDS) == before


def test_pool_stays_as_it_is() -> None:
    """Containers from the pool are copied before other edits reach into them."""
    before = json.dumps(mutation.POOL)

    first(2_000)

    assert json.dumps(mutation.POOL) == before


def test_empty_corpus_is_refused_at_once() -> None:
    """An empty corpus raises ValueError before the first mutant."""
    with pytest.raises(ValueError, match="no records to mutate"):
        mutants([], 0)


@given(st.lists(JSON, min_size=1, max_size=3), st.integers())
def test_any_json_can_be_mutated(records: list[Any], seed: int) -> None:
    """Whatever JSON the records are, mutants are JSON, too."""
    for each in islice(mutants(records, seed), 20):
        json.dumps(each)


def test_every_edit_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few hundred mutants use every edit of the table."""
    drawn = set()

    def counted(change: Edit) -> Edit:
        def note(slot: Slot, scene: Scene) -> None:
            drawn.add(change)
            change(slot, scene)

        return note

    table = mutation.EDITS
    watched = [(fits, counted(change)) for fits, change in table]
    monkeypatch.setattr(mutation, "EDITS", watched)

    first(300)

    assert drawn == {change for _, change in table}


def test_mutants_differ_from_their_records() -> None:
    """Most mutants are no copy of a record."""
    copies = sum(each in RECORDS for each in first(1_000))

    assert copies < 100


def test_delete_removes_the_member() -> None:
    """A deleted key is gone."""
    assert edited({"a": 1, "b": 2}, "a", mutation.delete) == {"b": 2}


def test_clear_leaves_null() -> None:
    """A cleared value is null, and its key stays."""
    assert edited({"a": 1}, "a", mutation.clear) == {"a": None}


def test_replace_draws_from_the_pool() -> None:
    """A replaced value is in the pool."""
    values = [edited({"a": "x"}, "a", mutation.replace, each) for each in range(50)]

    assert all(each["a"] in mutation.POOL for each in values)


def test_add_adds_known_misspelt_and_odd_keys() -> None:
    """An added key is a key of another object, a misspelt key, or an odd one."""
    records = [edited({"a": {}}, "a", mutation.add, each) for each in range(200)]
    added = {key for each in records for key in each["a"]}

    assert "who" in added
    assert "hwo" in added
    assert set(mutation.ODD_KEYS) <= added


def test_rename_keeps_the_value() -> None:
    """A renamed member has its old value under another key."""
    records = [edited({"kind": 5}, "kind", mutation.rename, each) for each in range(50)]

    assert all(list(each.values()) == [5] for each in records)
    assert {"KIND", "kinds"} <= {key for each in records for key in each}


def test_move_copies_a_member() -> None:
    """A moved member appears in the object and stays where it was."""
    records = [edited({"a": 1, "b": {}}, "b", mutation.move, n) for n in range(20)]

    assert {"a": 1, "b": {"a": 1}} in records


def test_transplant_copies_a_value() -> None:
    """A transplanted value is another value of the record."""
    records = [edited({"a": 1, "b": 2}, "b", mutation.transplant, n) for n in range(20)]

    assert {"a": 1, "b": 1} in records


def test_wrap_makes_a_list() -> None:
    """A wrapped value is the only item of a list."""
    assert edited({"a": {"b": 1}}, "a", mutation.wrap) == {"a": [{"b": 1}]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3.0), (3.0, 3), (0.5, 0.5), (2**64, 2.0**64)],
)
def test_recast_changes_only_the_type(value: float, expected: float) -> None:
    """An integer becomes a float, a whole float an integer, another float stays."""
    actual = edited({"a": value}, "a", mutation.recast)["a"]

    assert (type(actual), actual) == (type(expected), expected)


def test_recast_spares_what_no_float_can_hold() -> None:
    """Neither a boolean nor an integer of 400 digits is recast."""
    record = {"a": True, "b": 10**400}

    assert not any(map(mutation.holds_number, mutation.slots_of(record)))


def test_renumber_keeps_to_numbers() -> None:
    """A renumbered value is a number: one of the pool's, or the negative."""
    values = {edited({"a": 7}, "a", mutation.renumber, n)["a"] for n in range(200)}

    assert values == {*mutation.NUMBERS, -7}


def test_few_edits_are_more_common_than_many() -> None:
    """A mutant has 1 to 5 edits, and more often one than five."""
    chance = random.Random(1)  # noqa: S311 - a seed is meant
    counts = Counter(mutation.edit_count(chance) for _ in range(1_000))

    assert set(counts) == {1, 2, 3, 4, 5}
    assert counts[1] > 5 * counts[5]


def test_reword_keeps_to_the_key() -> None:
    """A reworded string is one that the corpus has under the same key."""
    record = {"kind": "one", "who": "user"}
    kinds = {edited(record, "kind", mutation.reword, n)["kind"] for n in range(20)}

    assert kinds == {"one", "two"}


@given(st.text(), st.integers())
def test_misspelling_is_never_right(key: str, seed: int) -> None:
    """A misspelt key differs from the key."""
    chance = random.Random(seed)  # noqa: S311 - a seed is meant

    assert mutation.misspelling_of(key, chance) != key
