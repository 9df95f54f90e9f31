"""Rows are found by texts, however they are spelt, by expressions, and by fields."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.record_reader import columns_of
from harpia_formats.view.row_index import FoundFile, index_file
from harpia_formats.view.text_search import SearchedRows, Wanted, compiled, search_rows

ROWS = [
    {"id": 1, "prompt": "Café au lait", "metadata": {"level": "hard", "n": 3}},
    {"id": 2, "prompt": 'a "quoted" word', "metadata": {"level": "easy", "n": 3.0}},
    {"id": 3, "prompt": "line\nbreak 😀", "tags": [{"name": "x"}, {"name": "y"}]},
    {"id": 4, "prompt": "CAFÉ", "metadata": {"level": None}},
]


def found(
    folder: Path, data: bytes, wanted: Wanted, name: str = "a.jsonl"
) -> list[int]:
    """Return the numbers of the rows that a search finds."""
    path, base = folder / name, str(folder / "index")
    path.write_bytes(data)
    file, *_ = index_file(str(path), ViewOptions(), base)
    assert isinstance(file, FoundFile)
    rows = SearchedRows(str(path), base, file.kind, columns_of(file), file.delimiter)
    *_, last = search_rows(rows, wanted, str(folder / "found"))
    numbers = np.fromfile(folder / "found", dtype=np.uint64).tolist()
    assert last.found == len(numbers)
    return numbers  # type: ignore[no-any-return]  # numpy's lists have no types


@pytest.mark.parametrize("ascii_", [True, False])
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted("café"), [1, 4]),
        (Wanted("Café", heeds_case=True), [1]),
        (Wanted('"quoted"'), [2]),
        (Wanted("line\nbreak"), [3]),
        (Wanted("😀"), [3]),
        (Wanted("au (la)?it", is_pattern=True), [1]),
        (Wanted(r"^\{\"id\": 3", is_pattern=True), [3]),
        (Wanted("nothing"), []),
        (Wanted(field="metadata.level", value="hard"), [1]),
        (Wanted(field="metadata.level"), [1, 2, 4]),
        (Wanted(field="metadata.level", value="null"), [4]),
        (Wanted(field="metadata.n", value="3"), [1]),
        (Wanted(field="tags.name", value="y"), [3]),
        (Wanted("café", field="id", value="4"), [4]),
    ],
)
def test_search(
    tmp_path: Path, ascii_: bool, wanted: Wanted, expected: list[int]
) -> None:
    """A text is found with escapes and without, in either case unless case counts."""
    lines = [json.dumps(row, ensure_ascii=ascii_) for row in ROWS]
    assert found(tmp_path, "\n".join(lines).encode() + b"\n", wanted) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1", [1, 2, 3, 4]), ("a", [4, 5]), ('["a"]', [5]), ("[]", [6]), ("null", [7])],
)
def test_an_item_of_an_array_is_a_value_of_its_field(
    tmp_path: Path, value: str, expected: list[int]
) -> None:
    """So is the array as a whole."""
    values = ["1", '"1"', "[2, 1]", '[[1], "a"]', '["a"]', "[]", "null", "[true]"]
    data = "\n".join(f'{{"x": {one}}}' for one in values).encode()

    assert found(tmp_path, data, Wanted(field="x", value=value)) == expected


def test_search_in_a_table(tmp_path: Path) -> None:
    """A quote in a cell is doubled, and a column is a field."""
    data = b'id,prompt,level\n1,"a ""quoted"" word",hard\n2,b,easy\n'
    assert found(tmp_path, data, Wanted('"quoted"'), "a.csv") == [1]
    assert found(tmp_path, data, Wanted(field="level", value="easy"), "a.csv") == [2]
    assert found(tmp_path, data, Wanted(field="no", value="easy"), "a.csv") == []


def test_a_literal_over_two_rows_is_in_none(tmp_path: Path) -> None:
    """What the end of a row and the beginning of the next make is not found."""
    data = b'{"prompt": "a"}\n{"prompt": "b"}\n'
    assert found(tmp_path, data, Wanted("}\n{", heeds_case=True)) == []


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", b'{"level": "hard"}\r\n{"level": "easy"}\r\n'),
        ("a.json", b'[{"level": "hard"},\n {"level": "easy"}\n]\n'),
    ],
)
def test_a_row_ends_before_what_follows_it(
    tmp_path: Path, name: str, data: bytes
) -> None:
    """The end of a row is found by `$`, and what stands between rows is not."""
    wanted = Wanted(r'"hard"\}$', is_pattern=True)
    assert found(tmp_path, data, wanted, name) == [1]
    for text in ("},", ",", "\n"):
        assert found(tmp_path, data, Wanted(text, heeds_case=True), name) == []


def test_a_comma_is_found_in_a_row_and_not_behind_it(tmp_path: Path) -> None:
    """A text that ends in a comma may begin several times in a row, and behind it."""
    data = b'[{"a": "b"},\n {"a": "b, c, d"},\n {"a": ","}, {"a": [1,2]}]\n'
    wanted = Wanted(",", heeds_case=True)
    assert found(tmp_path, data, wanted, "a.json") == [2, 3, 4]


@pytest.mark.parametrize("text", ["(", "[a", "a{2,1}", "(?P<x"])
def test_no_regular_expression(text: str) -> None:
    """A wrong expression is an error that says why."""
    with pytest.raises(ViewError, match="no regular expression"):
        compiled(Wanted(text, is_pattern=True))


def test_a_nested_set_warns_of_nothing() -> None:
    """What a later Python may read otherwise is looked for without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(Wanted("[[a]never", is_pattern=True)) is not None


@pytest.mark.parametrize("text", ["1 < 2", "<", "a_b", "it's", "&", "x=y", "a\x7f"])
@pytest.mark.parametrize("heeds_case", [True, False])
def test_escapes_of_ascii(tmp_path: Path, text: str, heeds_case: bool) -> None:
    """Punctuation and DEL are found where a writer escapes them, in either case."""
    escaped = "".join(
        c if c.isalnum() or c == " " else f"\\u{ord(c):04X}" for c in text
    )
    spelt = (text, escaped, escaped.replace("\\u003C", "\\u003c"), "none \\u0026")
    rows = [f'{{"input": "{one}"}}' for one in spelt]
    expected = [1, 2, 3, 4] if text == "&" else [1, 2, 3]
    data = "\n".join(rows).encode() + b"\n"
    assert found(tmp_path, data, Wanted(text, heeds_case=heeds_case)) == expected


def test_cells_that_are_not_utf_8(tmp_path: Path) -> None:
    """A search for a value goes on behind a row that is not UTF-8."""
    data = b"id,prompt,output\n1,caf\xe9,b\n2,tea,b\n"
    assert found(tmp_path, data, Wanted(field="output", value="b"), "a.csv") == [2]
