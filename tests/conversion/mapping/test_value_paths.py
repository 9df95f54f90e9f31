"""Paths to values inside of rows, which are read as fields."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from cases import for_each_case
from harpia_formats import MapError, ValidationFailed, read
from json_lines import jsonl

OF_LISTS = {"choices": {"text": ["3", "4"], "label": ["A", "B"]}, "answerKey": "B"}
OF_OBJECTS = {
    "choices": [{"text": "3", "label": "A"}, {"text": "4", "label": "B"}],
    "answerKey": "B",
}


def found(row: dict[str, Any], path: str, *others: dict[str, Any]) -> Any:
    """Return the references that a path finds in the first of some rows."""
    record, *_ = read(jsonl(row, *others), format="json", columns={"references": path})
    return record.references


@for_each_case(
    "row, path, value",
    [
        (one, *two)
        for one, two in itertools.product(
            [OF_LISTS, OF_OBJECTS],
            [
                ("answerKey", ["B"]),
                ("choices.text", ["3", "4"]),
                ("choices.text[answerKey]", ["4"]),
            ],
        )
    ],
)
def test_objects_of_lists_and_lists_of_objects_are_alike(
    row: dict[str, Any], path: str, value: Any
) -> None:
    """A path finds the same in both shapes of the same data."""
    assert found(row, path) == value


@for_each_case(
    "row, path",
    itertools.product(
        [OF_LISTS, OF_OBJECTS],
        ["choices.nothing", "answerKey.text", "nothing.text", "choices.text[nothing]"],
    ),
)
def test_path_finds_nothing_where_there_is_nothing(
    row: dict[str, Any], path: str
) -> None:
    """A row that lacks a part of a path lacks the field, which some row must have."""
    whole: dict[str, Any] = {
        "choices": [{"text": "3", "nothing": "x"}],
        "answerKey": {"text": "y"},
        "nothing": {"text": "z"},
    }
    if path == "choices.text[nothing]":
        whole["nothing"] = 0

    assert found(row, path, whole) is UNSET
    with pytest.raises(MapError, match=r"no row of .* has such a column"):
        found(row, path)


@for_each_case("place", ["9" * 5_000, "\u0660"])
def test_place_that_no_list_has_is_no_column(place: str) -> None:
    """A place has few digits, of ASCII."""
    with pytest.raises(MapError, match=r"no row of .* has such a column"):
        found({"q": ["a"]}, f"q.{place}")


@for_each_case(
    "row, value",
    [
        ({"choices": ["a", "b"], "answer": 1}, ["b"]),
        ({"choices": ["a", "b"], "answer": 1.0}, ["b"]),
        ({"choices": ["a", "b"], "answer": "1"}, ["b"]),
        ({"choices": ["a", "b"], "answer": "B"}, ["b"]),
        ({"choices": ["a", "b"], "answer": [0, 1]}, ["a", "b"]),
        ({"choices": ["a", "b"], "answer": None}, UNSET),
        ({"choices": None, "answer": 1}, UNSET),
    ],
)
def test_items_without_labels_have_an_index_or_a_letter(
    row: dict[str, Any], value: Any
) -> None:
    """An index counts from 0, `A` is the first item, and null selects nothing."""
    assert found(row, "choices[answer]") == value


@for_each_case(
    "row, reason",
    [
        ({"c": {"text": ["x"], "label": ["A"]}, "k": "E"}, "no label is 'E' .A"),
        ({"c": {"text": ["x", "y"], "label": ["1", "2"]}, "k": 0}, "no label is 0"),
        ({"c": {"text": ["x"]}, "k": "1"}, "'1' is not one of 1 items"),
        ({"c": {"text": ["x"]}, "k": "-1"}, "neither an index nor a letter"),
        ({"c": {"text": ["x"]}, "k": True}, "neither an index nor a letter"),
        ({"c": {"text": ["x"]}, "k": 1}, "1 is not one of 1 items"),
        ({"c": {"text": ["x"]}, "k": -1}, "-1 is not one of 1 items"),
        ({"c": {"text": "x"}, "k": 0}, "c.text is no list"),
    ],
)
def test_label_without_an_item_is_refused(row: dict[str, Any], reason: str) -> None:
    """A label, an index or a letter that the list does not have is an error."""
    with pytest.raises(ValidationFailed, match=reason):
        found(row, "c.text[k]")


@given(st.text(max_size=6), st.text(st.characters(exclude_categories=["Cs"])))
def test_key_that_is_written_as_a_path_goes_first(text: str, value: str) -> None:
    """Whatever a key is, the path with its text finds its value."""
    row = {text: value, "a": {"b": "other"}}
    if text in {"", "a"} or any("\ud800" <= each <= "\udfff" for each in text):
        return

    assert found(row, text) == [value]


LABELLED = {"c": [{"label": "A"}, {"label": "B", "text": "x"}], "k": "B"}


@for_each_case(
    "row, path, value",
    [
        # Nulls in lists are left out, and labels stay next to their items.
        (LABELLED, "c.text", ["x"]),
        (LABELLED, "c.text[k]", ["x"]),
        # The number 2 is the item with the label 2, and not the third one.
        (
            {"c": {"text": ["x", "y", "z"], "label": ["1", "2", "3"]}, "k": 2},
            "c.text[k]",
            ["y"],
        ),
        # A number in a path is the place of an item, from 0.
        ({"turns": [{"content": "a"}, {"content": "b"}]}, "turns.1.content", ["b"]),
        # What stands next to the list goes before what stands at the top.
        ({"d": {"c": ["3", "4"], "k": 1}}, "d.c[k]", ["4"]),
        ({"d": {"c": ["3", "4"], "k": 1}, "k": 0}, "d.c[k]", ["3"]),
    ],
)
def test_items_are_found_by_label_or_number(
    row: dict[str, Any], path: str, value: Any
) -> None:
    """Items of lists are found by the label next to them, or by their number."""
    assert found(row, path) == value


def test_item_behind_the_last_is_nothing() -> None:
    """A row whose list has no item of a number lacks the field."""
    turns = [{"content": each} for each in "abc"]

    assert found({"turns": turns[:2]}, "turns.2.content", {"turns": turns}) is UNSET


def test_error_names_the_keys_of_all_levels() -> None:
    """All paths of keys are named, in lists those of the first object."""
    keys = r"\(there are: answerKey, choices, choices\.label, choices\.text\)"
    with pytest.raises(MapError, match=keys):
        found(OF_OBJECTS, "qqqqqqqq.x")
