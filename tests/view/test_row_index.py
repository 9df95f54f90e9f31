"""Where rows begin: in files of any framing, and in every file that is read."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import shares
from harpia_formats import validate
from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.record_details import RowFindings, fields_of_record, row_of
from harpia_formats.view.record_reader import RecordReader
from harpia_formats.view.record_scan import RecordColumns, scan_file
from harpia_formats.view.row_index import (
    FoundFile,
    IndexFailure,
    IndexProgress,
    RowIndex,
    index_file,
    joined,
)

_texts = st.text(max_size=20)
_objects = st.dictionaries(
    _texts, st.one_of(st.integers(), _texts, st.none()), max_size=4
)


def indexed(folder: Path, name: str, data: bytes) -> tuple[FoundFile, RowIndex]:
    """Return what a file of some bytes is, and its rows."""
    path, base = folder / name, str(folder / "index")
    path.write_bytes(data)
    found, *_, last = index_file(str(path), ViewOptions(), base)
    assert isinstance(found, FoundFile)
    assert isinstance(last, IndexProgress)
    text = str(path) if found.rows_of == "file" else f"{base}.copy"
    return found, RowIndex(text, base, found.kind)


@given(st.lists(_objects, min_size=1, max_size=12), st.booleans(), st.booleans())
def test_rows_of_lines_and_arrays(
    tmp_path_factory: "object",
    rows: list[dict[str, object]],
    is_array: bool,
    ascii_: bool,
) -> None:
    """Each row is read back as it was written, and a file of all rows is the file."""
    folder = tmp_path_factory.mktemp("rows")  # type: ignore[attr-defined]  # pytest's
    texts = [json.dumps(row, ensure_ascii=ascii_).encode() for row in rows]
    lines = b"\n".join(texts) + b"\n"
    data = b"[" + b",\n ".join(texts) + b"]\n" if is_array else lines
    found, index = indexed(folder, "a.json" if is_array else "a.jsonl", data)
    numbers = range(1, index.known + 1)
    got = list(index.rows(numbers))
    assert [json.loads(row) for row in got] == rows
    whole = b"".join(joined(got, found, *index.around()))
    assert json.loads(whole) == rows if is_array else whole == lines
    index.close()


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    """Numbers are those of records, and lines those of the file."""
    data = b'{"prompt": "a"}\n\n  \n{"prompt": "b"}\r\n{"prompt": "c"}'
    _, index = indexed(tmp_path, "a.jsonl", data)
    assert index.known == 3
    assert index.row(2) == b'{"prompt": "b"}\r'
    assert [index.line_of(number) for number in (1, 2, 3)] == [1, 4, 5]
    lines = (1, 2, 4, 5, 6, 10**9)
    assert [index.row_in_line(line) for line in lines] == [1, None, 2, 3, None, None]


def test_rows_of_a_table(tmp_path: Path) -> None:
    """A quoted line end is no end of a row, and a file of some rows has the header."""
    data = b'id,prompt\r\n1,"a\r\nb"\r\n2,c\r\n'
    found, index = indexed(tmp_path, "a.csv", data)
    assert list(index.rows([1, 2])) == [b'1,"a\r\nb"', b"2,c"]
    whole = b"".join(joined([b"2,c"], found, *index.around()))
    assert whole == b"id,prompt\r\n2,c\r\n"
    assert index.line_of(2) == 4


def test_rows_of_a_compressed_file_are_those_of_a_copy(tmp_path: Path) -> None:
    """What is compressed is copied, and its rows are read from the copy."""
    data = b'{"prompt": "a"}\n{"prompt": "b"}\n'
    found, index = indexed(tmp_path, "a.jsonl.gz", gzip.compress(data))
    assert found.rows_of == "unpacked text"
    assert index.row(2) == b'{"prompt": "b"}'


def test_a_row_over_the_limit_has_a_number(tmp_path: Path) -> None:
    """A row that is too long to be read is counted, as `validate` counts it."""
    path, base = tmp_path / "a.jsonl", str(tmp_path / "index")
    path.write_bytes(
        b'{"prompt": "a"}\n{"prompt": "' + b"x" * 500 + b'"}\n{"prompt": "c"}\n'
    )
    list(index_file(str(path), ViewOptions(max_row_bytes=100), base))
    index = RowIndex(str(path), base, "lines")
    assert index.known == 3
    assert index.row(3) == b'{"prompt": "c"}'


def test_a_file_that_is_not_there_fails(tmp_path: Path) -> None:
    """Why a file cannot be read is the last message."""
    messages = list(
        index_file(str(tmp_path / "no.jsonl"), ViewOptions(), str(tmp_path / "i"))
    )
    assert isinstance(messages[-1], IndexFailure)
    assert "does not exist" in messages[-1].reason


def test_a_faulty_record_of_a_table_has_its_bytes_and_line(tmp_path: Path) -> None:
    """A record that is not UTF-8, or has an open quote, is shown where it is."""
    data = b'id,prompt\n1,a\n2,\xff\n3,"open\n'
    _, index = indexed(tmp_path, "a.csv", data)
    assert list(index.rows([1, 2])) == [b"1,a", b"2,\xff"]
    assert [index.line_of(number) for number in range(1, index.known + 1)][:2] == [2, 3]


def test_a_line_keeps_what_is_wrong_with_it(tmp_path: Path) -> None:
    """A comma behind an object is a part of its line."""
    _, index = indexed(tmp_path, "a.jsonl", b'{"prompt": "a"},\n{"prompt": "b"} \n')
    assert list(index.rows([1, 2])) == [b'{"prompt": "a"},', b'{"prompt": "b"} ']


def test_what_is_behind_the_rows_is_kept_after_a_long_one(tmp_path: Path) -> None:
    """A file of some rows of a document has its end, however long a row is."""
    long = json.dumps({"id": "1", "input": "x" * (17 * 2**20), "output": "y"})
    data = f'{{"instances": [{long}], "metrics": [{{"id": "m"}}]}}'.encode()
    path, base = tmp_path / "a.json", str(tmp_path / "index")
    path.write_bytes(data)
    options = ViewOptions(format="harpia", max_row_bytes=2**25)
    found, *_, last = index_file(str(path), options, base)
    assert isinstance(found, FoundFile)
    assert isinstance(last, IndexProgress)
    assert last.after == b'], "metrics": [{"id": "m"}]}'


def test_text_around_rows_is_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of some rows has all that stands around them, however long that is."""
    for limit in ("KEPT", "READ_AT_ONCE"):
        monkeypatch.setattr(f"harpia_formats.view.row_index.{limit}", 8)
    rows = ['{"id": 1, "input": "a"}', '{"id": 2, "input": "b"}']
    front = '{"eval": {"task": "long name", "model": "m"}, "version": 2, "samples": ['
    end = '], "status": "success"}\n'

    data = f"{front}{', '.join(rows)}{end}".encode()
    found, index = indexed(tmp_path, "a.json", data)

    whole = b"".join(joined([index.row(2)], found, *index.around()))
    assert whole.decode() == front + rows[1] + end
    index.close()


FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted(path for path in FIXTURES.glob("*/*/*") if path.parent.name != "fixed")


def opened(path: Path, base: str, format_: str | None) -> tuple[Any, Any]:
    """Return what a file is and its rows, None for one that has none."""
    messages = list(index_file(str(path), ViewOptions(format_), base))
    found = messages[0]
    if isinstance(messages[-1], IndexFailure) or not isinstance(found, FoundFile):
        return found, None
    assert isinstance(messages[-1], IndexProgress)
    assert messages[-1].is_complete
    if found.kind == "nothing":
        return found, None
    text = str(path) if found.rows_of == "file" else f"{base}.copy"
    return (found, messages[-1].after), RowIndex(text, base, found.kind)


def test_fixtures_are_shown(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """Of each file all records that `validate` counts are rows with their findings."""
    for number, path in enumerate(next(shares(FILES))):
        with subtests.test(str(path.relative_to(FIXTURES))):
            format_ = path.parts[-3] if path.parent.name == "named" else None
            shown_as_validated(path, str(tmp_path / str(number)), format_)


def shown_as_validated(path: Path, base: str, format_: str | None) -> None:
    """Assert that a file is shown as `validate` reports it."""
    report = validate(path, format=format_, examples=0, max_problems=0)
    (count,) = report.files[:1]
    found, index = opened(path, base, format_)
    list(scan_file(str(path), ViewOptions(format_), base))
    columns = RecordColumns(base)
    state = columns.state
    assert state.is_complete
    assert state.counts is not None
    assert state.counts["invalid"] == count.invalid
    assert {rule.code: rule.count for rule in state.rules} == {
        group.code: sum(one.count for one in report.groups if one.code == group.code)
        for group in report.groups
    }
    if index is None:
        return
    file, after = found
    # A record that stands in several components is one row for each of them.
    assert index.known == count.records or file.rows_of == "records"
    reader = RecordReader(file)
    findings = RowFindings(file, after, ViewOptions().max_row_bytes, hides_values=False)
    codes = {
        number: {one.code for one in report.problems if one.place.record == number}
        for number in range(1, index.known + 1)
    }
    for number, row in enumerate(index.rows(range(1, index.known + 1)), 1):
        try:
            record = reader.read(row, state.surroundings)
        except ViewError:
            pass
        else:
            row_of(record)
            fields_of_record(record)
        bits = int(columns.column("rules", number, 1)[0])
        known = columns.codes_of(bits)
        assert {rule.code for rule in known} == codes[number]
        shown = findings.of(row, known)
        assert {one["code"] for one in shown} >= codes[number]
    index.close()
