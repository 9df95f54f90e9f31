"""Findings of a single row are those that the file has there."""

import json
import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from harpia_formats import iter_problems
from ready_session import viewed

#: The steps to which a value is shown.
DEEPEST = 100
VALID = b'{"instruction":"q","input":"","output":"a"}'
WRONG = b'{"instruction":1,"input":"","output":"a"}'
LINES = (
    b"[" + WRONG + b"]",
    b"[]",
    b"\xff\xfe",
    "\u00a0".encode(),
    "\u2028".encode(),
    b"\x0c",
    b"null",
    WRONG,
    b" " + WRONG,
    VALID + b" " + WRONG,
    VALID[:-1],
)


def in_file(message: str, begin: int) -> str:
    """Return a message whose offset counts from the beginning of the file."""
    return re.sub(r"(?<=at byte )\d+", lambda one: str(int(one[0]) + begin), message)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("lines.jsonl", b"\n".join([VALID, VALID, *LINES, VALID]) + b"\n"),
        ("array.json", b"[\n" + b",\n".join([VALID, WRONG, b"null", b"[1]"]) + b"\n]"),
    ],
)
def test_findings_are_those_of_the_file(tmp_path: Path, name: str, data: bytes) -> None:
    """A row has the messages of the file, at the same place in its text.

    Only offsets in messages count from the beginning of the row.
    """
    path = tmp_path / name
    path.write_bytes(data)
    expected: dict[int, list[tuple[str, str, int]]] = {}
    for problem in iter_problems(path):
        place = problem.place
        if place.record:
            found = (problem.code, problem.message, place.byte_offset)
            expected.setdefault(place.record, []).append(found)
    assert expected
    with viewed(path) as session:
        (file,) = session.files()["files"]
        for number in range(1, file["records"] + 1):
            shown = session.record({"record": str(number)})
            row = session.raw({"record": str(number)}).decode("utf-8", "replace")
            assert [
                (
                    one["code"],
                    in_file(one["message"], shown["byte_offset"]),
                    None
                    if one["begin"] is None
                    else shown["byte_offset"] + len(row[: one["begin"]].encode()),
                )
                for one in shown["findings"]
            ] == expected.get(number, [])


def test_a_cell_that_is_not_utf_8(tmp_path: Path) -> None:
    """A row of a table that is not UTF-8 is reported as such, not as broken JSON."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,prompt,output\n1,caf\xe9,a\n")
    with viewed(path) as session:
        shown = session.record({"record": "1"})
    assert "it is not UTF-8" in shown["unread"]


@pytest.mark.parametrize("depth", [99, 150, 300, 480])
@pytest.mark.parametrize("is_list", [False, True])
def test_what_is_nested_deep_is_shown_as_text(
    tmp_path: Path, depth: int, is_list: bool
) -> None:
    """A value that is nested deep is shown to a depth, and below that as its JSON."""
    value: Any = 12345678901234567890
    for _ in range(depth):
        value = [value] if is_list else {"k": value}
    record = {"id": "1", "prompt": "p", "outputs": [{"text": "a"}], "metadata": value}
    if is_list:
        record["metadata"] = {"k": value}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    with viewed(path, format="record") as session:
        shown = session.record({"record": "1"})
    assert shown["unread"] is None
    orjson.dumps(shown)  # refuses what is deeper than 254
    value = shown["fields"]["metadata"]
    while not isinstance(value, str):
        (value,) = value if isinstance(value, list) else value.values()
    assert value.count("k") + value.count("[") in {0, depth - DEEPEST + is_list}
    assert "12345678901234567890" in value


def test_what_is_nested_too_deep_is_reported(tmp_path: Path) -> None:
    """A value that no encoder takes is left out with a word, and the rest is shown."""
    value = "[" * 900 + "]" * 900
    path = tmp_path / "a.jsonl"
    path.write_text(
        f'{{"id":"1","prompt":"p","metadata":{{"k":{value}}},"outputs":[]}}\n',
        encoding="utf-8",
    )
    with viewed(path, format="record") as session:
        shown = session.record({"record": "1"})
    assert b"nested too deep" in orjson.dumps(shown["fields"])
