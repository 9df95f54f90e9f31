import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.detection import Choice, choose
from harpia_formats.format import Format


def sniff(row: Mapping[str, Any], key: str) -> str:
    """Return a sign where `row` has `key`, which says more where it says why."""
    return f"`{row[key] or key}`" if key in row else ""


ONE, TWO = (Format(each, each, "", partial(sniff, key=each)) for each in ("one", "two"))
ROWS: st.SearchStrategy[list[Any]] = st.lists(
    st.sampled_from([{"one": ""}, {"two": ""}, {}, 3, None, []])
)


def test_chooses_what_most_records_look_like() -> None:
    """The format of more records than any other is chosen, with its count."""
    choice = choose([{"one": ""}, {"two": ""}, {"two": ""}, {}], [ONE, TWO])

    assert choice == Choice(TWO, alike=2, records=4, signs=("`two`",))


def test_the_first_of_equals_is_chosen() -> None:
    """Where two formats are equally likely, the first in the table is taken."""
    choice = choose([{"two": ""}, {"one": ""}], [ONE, TWO])

    assert choice is not None
    assert choice.format is ONE


@pytest.mark.parametrize("rows", [[], [{}], [3, None, "one", ["one"]]])
def test_nothing_is_chosen_without_a_sign(rows: list[Any]) -> None:
    """Rows that look like no format, or are no objects, give no choice."""
    assert choose(rows, [ONE, TWO]) is None


def test_the_most_frequent_sign_comes_first() -> None:
    """A choice names its signs by how often they were seen."""
    choice = choose([{"one": "a"}, {"one": "b"}, {"one": "b"}], [ONE])

    assert choice is not None
    assert choice.signs == ("`b`", "`a`")


@pytest.mark.parametrize(
    ("alike", "records", "signs", "expected"),
    [
        (1, 1, ("`a`",), "the first record has `a`"),
        (1, 3, ("`a`",), "1 of the first 3 records has `a`"),
        (1000, 1234, ("`a`",), "1,000 of the first 1,234 records have `a`"),
        (2, 3, ("`a`", "`b`"), "2 of the first 3 records have `a` or the like"),
    ],
)
def test_says_why(
    alike: int, records: int, signs: tuple[str, ...], expected: str
) -> None:
    """A choice says how many records have which sign, and claims no more."""
    assert str(Choice(ONE, alike, records, signs)) == expected


@given(ROWS)
def test_counts_are_exact(rows: list[Any]) -> None:
    """Whatever the rows, the choice counts its own among all of them."""
    choice = choose(rows, [ONE, TWO])
    ones, twos = ('{"one"' in json.dumps(rows), '{"two"' in json.dumps(rows))

    assert (choice is None) == (not ones and not twos)
    if choice is not None:
        assert choice.records == len(rows)
        assert choice.alike == rows.count({choice.format.id: ""})
        assert choice.alike == max(rows.count({"one": ""}), rows.count({"two": ""}))
