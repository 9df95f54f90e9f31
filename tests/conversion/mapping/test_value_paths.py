"""Paths to values inside of rows."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from cases import for_each_case
from harpia_formats.model.value_path import (
    NoSuchItemError,
    names_in,
    parse_value_path,
)

OF_LISTS = {"choices": {"text": ["3", "4"], "label": ["A", "B"]}, "answerKey": "B"}
OF_OBJECTS = {
    "choices": [{"text": "3", "label": "A"}, {"text": "4", "label": "B"}],
    "answerKey": "B",
}


@for_each_case(
    "row, path, value",
    [
        (one, *two)
        for one, two in itertools.product(
            [OF_LISTS, OF_OBJECTS],
            [
                ("answerKey", "B"),
                ("choices.text", ["3", "4"]),
                ("choices.text[answerKey]", "4"),
                ("choices.nothing", UNSET),
                ("answerKey.text", UNSET),
                ("nothing.text", UNSET),
                ("choices.text[nothing]", UNSET),
            ],
        )
    ],
)
def test_objects_of_lists_and_lists_of_objects_are_alike(
    row: dict[str, Any], path: str, value: Any
) -> None:
    """A path finds the same in both shapes of the same data."""
    assert parse_value_path(path).find(row) == value


@for_each_case(
    "row, value",
    [
        ({"choices": ["a", "b"], "answer": 1}, "b"),
        ({"choices": ["a", "b"], "answer": 1.0}, "b"),
        ({"choices": ["a", "b"], "answer": "B"}, "b"),
        ({"choices": ["a", "b"], "answer": [0, 1]}, ["a", "b"]),
        ({"choices": ["a", "b"], "answer": None}, UNSET),
        ({"choices": None, "answer": 1}, None),
    ],
)
def test_items_without_labels_have_an_index_or_a_letter(
    row: dict[str, Any], value: Any
) -> None:
    """An index counts from 0, `A` is the first item, and null selects nothing."""
    assert parse_value_path("choices[answer]").find(row) == value


@for_each_case(
    "row, reason",
    [
        ({"c": {"text": ["x"], "label": ["A"]}, "k": "E"}, "no label is 'E' .A"),
        ({"c": {"text": ["x", "y"], "label": ["1", "2"]}, "k": 0}, "no label is 0"),
        ({"c": {"text": ["x"]}, "k": "1"}, "neither an index nor a letter"),
        ({"c": {"text": ["x"]}, "k": True}, "neither an index nor a letter"),
        ({"c": {"text": ["x"]}, "k": 1}, "1 is not one of 1 items"),
        ({"c": {"text": ["x"]}, "k": -1}, "-1 is not one of 1 items"),
        ({"c": {"text": "x"}, "k": 0}, "c.text is no list"),
    ],
)
def test_label_without_an_item_is_refused(row: dict[str, Any], reason: str) -> None:
    """A label, an index or a letter that the list does not have is an error."""
    with pytest.raises(NoSuchItemError, match=reason):
        parse_value_path("c.text[k]").find(row)


def test_labels_that_are_numbers_are_no_indices() -> None:
    """The number 2 is the item with the label 2, and not the third one."""
    row = {"c": {"text": ["x", "y", "z"], "label": ["1", "2", "3"]}, "k": 2}

    assert parse_value_path("c.text[k]").find(row) == "y"


@given(st.text(max_size=6), st.integers())
def test_key_that_is_written_as_a_path_goes_first(text: str, value: int) -> None:
    """Whatever a key is, the path with its text finds its value."""
    assert parse_value_path(text).find({text: value, "a": {"b": 1}}) == value


def test_nulls_in_lists_are_left_out() -> None:
    """An item without the member gives nothing, and labels stay next to their items."""
    row = {"c": [{"label": "A"}, {"label": "B", "text": "x"}], "k": "B"}

    assert parse_value_path("c.text").find(row) == ["x"]
    assert parse_value_path("c.text[k]").find(row) == "x"


def test_items_have_their_numbers() -> None:
    """A number in a path is the place of an item, from 0."""
    row = {"turns": [{"content": "a"}, {"content": "b"}]}

    assert parse_value_path("turns.1.content").find(row) == "b"
    assert parse_value_path("turns.2.content").find(row) is UNSET


def test_names_are_those_of_all_levels() -> None:
    """All paths of keys are named, in lists those of the first object."""
    assert [*names_in(OF_OBJECTS)] == [
        "choices",
        "choices.text",
        "choices.label",
        "answerKey",
    ]


def test_item_is_selected_by_what_stands_next_to_the_list() -> None:
    """Where the row has no such key, that of the object around the list counts."""
    path = parse_value_path("doc.choices[answer]")

    assert path.find({"doc": {"choices": ["3", "4"], "answer": 1}}) == "4"
    assert path.find({"doc": {"choices": ["3", "4"], "answer": 1}, "answer": 0}) == "3"
