"""Edits of a text, and diffs of them: what changes, and that nothing else does."""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats.model.format import ADD, REMOVE, RENAME_KEY, REPLACE, Repair
from harpia_formats.validation.repair import text_edits
from harpia_formats.validation.repair.text_edits import (
    Edit,
    EditedText,
    LineTooLong,
    applicable,
    edits_of,
    spliced,
    unified_diff,
)

#: How a text is spaced: separators, indentation, and white space around it.
SPACINGS: tuple[dict[str, Any], ...] = (
    {"separators": (",", ":")},
    {},
    {"indent": 2},
    {"separators": (" ,\t", " : ")},
)


def edited(text: bytes, *repairs: Repair) -> bytes:
    """Return a text after repairs."""
    result = EditedText(text)
    result.apply([edit for edit, _, _ in edits_of(text, applicable(repairs))])
    return result.text


def removal(*path: str | int) -> Repair:
    """Return the repair that removes the value at a path."""
    return Repair("S102", REMOVE, path, "removed")


@for_each_case(
    "text, keys, expected",
    [
        (b'{"a": null, "b": 1}', ["a"], b'{"b": 1}'),
        (b'{"b": 1, "a": null}', ["a"], b'{"b": 1}'),
        (b'{"a": null , "b":1}', ["a"], b'{"b":1}'),
        (b'{ "a": null }', ["a"], b"{  }"),
        (b'{"a":null,"b":null,"c":1}', ["a", "b"], b'{"c":1}'),
        (b'{"c":1,"a":null,"b":null}', ["a", "b"], b'{"c":1}'),
        (b'{"a":null,"c":1,"b":null}', ["a", "b"], b'{"c":1}'),
        (b'{"a":null,"b":null}', ["a", "b"], b"{}"),
        (b'{\n  "b": 1,\n  "a": null\n}', ["a"], b'{\n  "b": 1\n}'),
        (b'{\n  "a": null,\n  "b": 1\n}', ["a"], b'{\n  "b": 1\n}'),
        (b'{"\\u0061": null, "b": 1}', ["a"], b'{"b": 1}'),
    ],
)
def test_a_removed_member_takes_its_comma_with_it(
    text: bytes, keys: list[str], expected: bytes
) -> None:
    """What is left is an object spaced as it was."""
    assert edited(text, *map(removal, keys)) == expected


def test_a_new_key_and_value_are_written_over_the_old_ones() -> None:
    """Escapes and spaces of everything else stay."""
    text = '{"nmae" :  "a\\u00e9" , "n":"7","é":1e2}'.encode()
    key = Repair("S103", RENAME_KEY, ("nmae",), "renamed", "name")
    number = Repair("S102", REPLACE, ("n",), "wrote", 7)

    assert edited(text, key, number) == (
        '{"name" :  "a\\u00e9" , "n":7,"é":1e2}'.encode()
    )


def test_an_added_member_is_spaced_as_the_others() -> None:
    """The comma, colon and line ends are those between the last members."""
    text = b'{"a": {\n  "b" : 1,\n  "c" : 2\n}}'

    assert edited(text, Repair("E109", ADD, ("a", "d"), "added", 3)) == (
        b'{"a": {\n  "b" : 1,\n  "c" : 2,\n  "d" : 3\n}}'
    )


@pytest.mark.parametrize("text", [b'{"a": {}}', b'{"a": { }}'])
def test_an_empty_object_is_added_to_once(text: bytes) -> None:
    """A second member is added in the next round, when there is a first one."""
    repairs = [Repair("E109", ADD, ("a", key), "added", 1) for key in "bc"]

    once = edited(text, *repairs)
    assert json.loads(once) == {"a": {"b": 1}}
    assert json.loads(edited(once, repairs[1])) == {"a": {"b": 1, "c": 1}}


def test_two_keys_are_not_renamed_to_one() -> None:
    """Where two keys would get one name, neither is renamed."""
    repairs = [
        Repair("S104", RENAME_KEY, (key,), "renamed", "name") for key in ("nmae", "nam")
    ]

    assert edited(b'{"nmae":1,"nam":2}', *repairs) == b'{"nmae":1,"nam":2}'


def test_nothing_is_changed_inside_of_what_is_removed() -> None:
    """Of a value and one inside of it only the outer one is repaired."""
    text = b'{"a":{"b":null},"c":1}'

    assert edited(text, removal("a", "b"), removal("a")) == b'{"c":1}'


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=20,
)


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all members of all objects in a value."""
    found = []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += [(*path, key), *paths_of(inner, (*path, key))]
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            found += paths_of(inner, (*path, number))
    return found


def without(value: Any, gone: set[tuple[Any, ...]], path: tuple[Any, ...] = ()) -> Any:
    """Return a value without the members at the paths `gone`."""
    if isinstance(value, dict):
        return {
            key: without(inner, gone, (*path, key))
            for key, inner in value.items()
            if (*path, key) not in gone
        }
    if isinstance(value, list):
        return [without(one, gone, (*path, at)) for at, one in enumerate(value)]
    return value


@given(values, st.sampled_from(SPACINGS), st.data())
def test_any_members_are_removed_from_any_value(
    value: Any, spacing: dict[str, Any], data: st.DataObject
) -> None:
    """The rest is the value without them, and each of its bytes is from the text."""
    text = json.dumps(value, **spacing).encode()
    paths = paths_of(value)
    gone = data.draw(st.sets(st.sampled_from(paths)) if paths else st.just(set()))
    result = EditedText(text)
    placed = edits_of(
        text, applicable([removal(*path) for path in sorted(gone, key=str)])
    )
    result.apply([edit for edit, _, _ in placed])

    assert json.loads(result.text) == without(value, gone)
    assert b"".join(spliced([text], result.edits())) == result.text
    assert all(edit.data == b"" for edit in result.edits())


edit_lists = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 12), st.binary(max_size=3)), max_size=4
)


def ordered(drawn: list[tuple[int, int, bytes]], size: int) -> list[Edit]:
    """Return edits in order that do not overlap, of a text of so many bytes."""
    edits: list[Edit] = []
    at = 0
    for gap, length, data in drawn:
        start = min(at + gap, size)
        at = min(start + length, size)
        if edits and edits[-1].start == start:
            continue
        edits.append(Edit(start, at, data))
    return edits


def naive(text: bytes, edits: list[Edit]) -> bytes:
    """Return a text after edits, made from the last to the first."""
    for edit in reversed(edits):
        text = text[: edit.start] + edit.data + text[edit.end :]
    return text


@given(st.binary(max_size=40), st.lists(edit_lists, max_size=3), st.integers(1, 9))
def test_rounds_of_edits_are_edits_of_the_original(
    text: bytes, rounds: list[list[tuple[int, int, bytes]]], size: int
) -> None:
    """The edits of all rounds together give the text, in blocks of any size."""
    result, expected = EditedText(text), text
    for drawn in rounds:
        edits = ordered(drawn, len(expected))
        result.apply(edits)
        expected = naive(expected, edits)
    blocks = [text[at : at + size] for at in range(0, len(text), size)]

    assert result.text == expected
    assert b"".join(spliced(blocks, result.edits())) == expected


def test_edits_behind_the_end_are_refused() -> None:
    """A file that is shorter than it was is not written."""
    with pytest.raises(ValueError, match="behind the end"):
        list(spliced([b"abc"], [Edit(4, 5, b"")]))


PATCH = shutil.which("patch")

line_lists = st.lists(
    st.sampled_from([b"", b"a", b"bc", b"def", b"\r", b"\\ No newline"]), max_size=60
)
positions = st.lists(
    st.tuples(
        st.integers(0, 30), st.integers(0, 6), st.sampled_from([b"", b"X", b"Y\nZ"])
    ),
    max_size=6,
)


def diff_edits(drawn: list[tuple[int, int, bytes]], size: int) -> list[Edit]:
    """Return edits in order that do not overlap, of a text of so many bytes."""
    edits: list[Edit] = []
    at = 0
    for gap, length, data in drawn:
        start = at + gap + 1
        if start >= size:
            break
        at = min(start + length, size)
        edits.append(Edit(start, at, data))
    return edits


@pytest.mark.skipif(PATCH is None, reason="there is no patch")
@given(
    line_lists, st.booleans(), positions, st.integers(1, 50), st.sampled_from([3, 1000])
)
@examples(20)
def test_patch_makes_the_edited_file_of_a_diff(
    texts: list[bytes],
    ends: bool,
    drawn: list[tuple[int, int, bytes]],
    size: int,
    most: int,
) -> None:
    """The diff is of the whole file, in blocks of any size, cut into parts or not."""
    text = b"\n".join(texts) + (b"\n" if ends else b"")
    edits = diff_edits(drawn, len(text))
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    expected = b"".join(spliced([text], edits))
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as name:
        patched.setattr(text_edits, "PART_LINES", most)
        diff = b"".join(unified_diff("file", blocks, edits))
        path = Path(name, "file")
        path.write_bytes(text)
        if diff:
            assert PATCH is not None
            subprocess.run(  # noqa: S603 - patch itself
                [PATCH, "-s", "--binary", path], input=diff, check=True
            )
        assert (path.read_bytes() if path.exists() else b"") == expected


def test_only_lines_near_a_change_are_shown() -> None:
    """Three unchanged lines are around each change, and far ones are in two parts."""
    text = b"".join(b"%d\n" % number for number in range(100))
    at = [text.index(b"\n10\n") + 1, text.index(b"\n50\n") + 1]
    diff = b"".join(unified_diff("f", [text], [Edit(one, one, b"x") for one in at]))

    assert re.findall(rb"@@.*@@", diff) == [b"@@ -8,7 +8,7 @@", b"@@ -48,7 +48,7 @@"]


def test_a_line_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would have to be held in memory."""
    monkeypatch.setattr(text_edits, "LONGEST_LINE", 10)

    with pytest.raises(LineTooLong, match="f: a line of more than 10 bytes"):
        list(unified_diff("f", [b"x" * 8, b"x" * 8], [Edit(0, 1, b"")]))
