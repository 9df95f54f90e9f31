import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats import iter_problems
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.parsing.locate import PointerIndex, entries, locate
from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.unit.findings import FINDINGS

KEYS = st.sampled_from(["a", "b", "", "1", "é", '"', "a\\"])
LEAVES: st.SearchStrategy[Any] = st.none() | st.integers() | st.text(max_size=4)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=20
)
SPACES = st.sampled_from([None, 1, "\t"])


def paths_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every value in `value`."""
    yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from paths_in(each, (*path, key))
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from paths_in(each, (*path, index))


@given(VALUES, SPACES, st.booleans(), st.randoms(use_true_random=False))
def test_places_do_not_depend_on_earlier_lookups(
    value: Any, indent: Any, ascii_only: bool, chance: random.Random
) -> None:
    """Each place equals the one found by `locate`, in any order of lookups."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    paths = list(paths_in(value))
    chance.shuffle(paths)
    asked = PointerIndex(text)

    assert [asked.of(each) for each in paths] == [locate(text, each) for each in paths]


def test_the_last_of_members_with_one_name_counts() -> None:
    """A repeated key leads to its last value, as for the parser."""
    text = b'{"a": {"b": 1}, "c": 2, "a": {"b": 30}}'
    asked = PointerIndex(text)

    assert [asked.of(each) for each in (("c",), ("a",), ("a", "b"))] == [
        locate(text, each) for each in (("c",), ("a",), ("a", "b"))
    ]


@pytest.mark.parametrize("path", [("x",), ("a", "b"), ("c", 7), ("a", 0)])
def test_missing_path_is_an_error(path: Path) -> None:
    """A path that leads nowhere raises KeyError, like the search for one place."""
    asked = PointerIndex(b'{"a": 1, "c": [1]}')
    asked.of(())

    for _ in range(2):
        with pytest.raises(KeyError):
            asked.of(path)


def test_containers_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No container is read twice, for any number of lookups."""
    read: list[int] = []

    def counted(text: bytes, start: int) -> Iterator[Any]:
        read.append(start)
        return entries(text, start)

    monkeypatch.setattr("harpia_formats.files.parsing.locate.entries", counted)
    value = {"rows": [{"a": number, "b": 0} for number in range(300)]}
    asked = PointerIndex(json.dumps(value).encode())
    for each in paths_in(value):
        asked.of(each)

    assert len(read) == len(set(read)) == 302


@given(VALUES, SPACES, st.randoms(use_true_random=False))
def test_cursors_do_not_depend_on_earlier_lookups(
    value: Any, indent: Any, chance: random.Random
) -> None:
    """A place in the file is the same in any order of lookups."""
    text = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    start = Cursor(10, 3, 7)
    places = [locate(text, each).start for each in paths_in(value)]
    chance.shuffle(places)
    row = RowContext("f", text, start, 1, value)

    assert [row.cursor(each) for each in places] == [
        start.after(text[:each]) for each in places
    ]


def test_thousands_of_unknown_keys_are_reported_in_linear_time() -> None:
    """Reporting the unknown keys of a row takes time linear in their number."""
    schema = {"properties": {"known": {}}, "additionalProperties": False}
    row = {f"key {number}": number for number in range(5_000)}
    found = iter_problems(json.dumps(row).encode(), schema=schema)

    # The last one is that there are more.
    assert sum(1 for _ in found) == FINDINGS + 1
