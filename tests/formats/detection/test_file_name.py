"""A file whose name says something else than what it holds, and how it is read."""

import gzip
from pathlib import Path

from cases import for_each_case
from harpia_formats import Problem, validate

LINES, ARRAY = b'{"a": 1}\n{"a": 2}\n', b'[{"a": 1}, {"a": 2}]\n'
ONE_LINE, OBJECT = b'{"a": 1}\n', b'{\n"a": 1\n}\n'
TABLE = b"prompt,response\na,b\n"


def noted(folder: Path, name: str, data: bytes) -> list[Problem]:
    """Return what is noted on the name of a file that is validated."""
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.casefold().endswith(".gz") else data)
    format_ = "csv" if data == TABLE else None
    report = validate(path, format=format_, schema=None if format_ else True)
    return [each for each in report.problems if each.code == "J203"]


@for_each_case(
    "name, data",
    [
        ("rows.jsonl", LINES),
        ("rows.ndjson", ONE_LINE),
        ("rows.json", ARRAY),
        ("rows.json", OBJECT),
        ("rows.json", ONE_LINE),
        ("rows.JSONL.GZ", LINES),
        ("rows.csv", TABLE),
        ("rows.txt", ARRAY),
        ("rows", ARRAY),
        ("rows.json", b""),
        # A file of lines needs two rows that are JSON: this may be a broken document.
        ("rows.json", b'{"a": 1}\n{"a":\n'),
    ],
)
def test_matching_names_are_no_problem(name: str, data: bytes, tmp_path: Path) -> None:
    """A name that fits the content, or has no known suffix, is no problem."""
    assert noted(tmp_path, name, data) == []


@for_each_case(
    "name, data, held, better",
    [
        ("rows.json", LINES, "JSON Lines", ".jsonl"),
        ("rows.jsonl", ARRAY, "a JSON array", ".json"),
        ("rows.jsonl.gz", OBJECT, "a JSON object", ".json"),
        ("rows.json", TABLE, "a table", ".csv"),
        ("rows.csv", LINES, "JSON Lines", ".jsonl"),
    ],
)
def test_misleading_suffix_is_reported(
    name: str, data: bytes, held: str, better: str, tmp_path: Path
) -> None:
    """A misleading suffix is reported with the right one."""
    (found,) = noted(tmp_path, name, data)

    assert found.message.endswith(f"holds {held}")
    assert found.help == f"call it {better}"


@for_each_case(
    "name, text, codes",
    [
        ("a.json", LINES, ["J203"]),
        ("a.jsonl", ARRAY, ["J203"]),
        ("a.jsonl", OBJECT, ["J203"]),
        ("a.jsonl", OBJECT * 2, ["J113"]),
        ("a.json", ONE_LINE, []),
    ],
)
def test_files_are_read_by_content(
    name: str, text: bytes, codes: list[str], tmp_path: Path
) -> None:
    """A misleading suffix is a note, and the records are validated."""
    path = tmp_path / name
    path.write_bytes(text)
    report = validate(path, schema=True)

    assert [each.code for each in report.problems] == codes
    assert report.files[0].records == text.count(b'"a"')
