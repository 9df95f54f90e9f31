"""Faults 21 to 24: what can go wrong in tables of text."""

import csv
import io
import json
from pathlib import Path

import pytest

from command_runs import report_of, run
from faults import Injections
from json_lines import jsonl_rows

_COLUMNS = ("--map", "id=id,prompt=prompt,gt=gt")
_TABLE = ("--from", "csv", *_COLUMNS)
#: As many bytes as a row may have by default.
_MOST = 16 << 20


def _rows_from(count: int) -> list[list[str]]:
    """Return the cells of a table, with its header."""
    rows = [[str(number), f"q {number}", f"a {number}"] for number in range(count)]
    return [["id", "prompt", "gt"], *rows]


def _text_of(rows: list[list[str]]) -> bytes:
    """Return the text of a table whose cells are written as they stand."""
    return "".join(",".join(cells) + "\n" for cells in rows).encode()


@pytest.mark.parametrize("count", [5, 10_000])
def test_21_quotes_that_are_not_closed(
    count: int, tmp_path: Path, fault: Injections
) -> None:
    """The finding has the place of the quote; every row behind it is read."""
    places = [(row, cell) for row in (1, 2, count) for cell in range(3)]
    for row, cell in places:
        rows = _rows_from(count)
        rows[row][cell] = '"' + rows[row][cell]
        (tmp_path / f"{row}-{cell}.csv").write_bytes(_text_of(rows))
    report = report_of(tmp_path, *_TABLE, "--select", "J")

    wanted = {
        f"{row}-{cell}.csv": (row + 1, 1 + sum(map(len, cells[:cell])) + cell)
        for row, cell in places
        for cells in [_rows_from(count)[row]]
    }
    found = {
        Path(each["path"]).name: (each["line"], each["column"])
        for each in report["problems"]
        if (each["code"], each["severity"]) == ("J301", "error")
    }
    assert found == wanted
    assert {(each["records"], each["invalid"]) for each in report["files"]} == {
        (count, 1)
    }
    kind = f"an open quote in a table of {count:,} rows"
    fault.add(kind, "one finding at the quote, the other rows are read", len(places))


def test_21_a_quote_that_stays_open_too_long(tmp_path: Path, fault: Injections) -> None:
    """The finding is that of the quote also where the row would become too long."""
    line = b"1,question of some length,answer\n"
    most = 1 << 20
    limit = ("--max-row-bytes", most)
    rows = most // len(line) + 2
    text = b'id,prompt,gt\n0,"a\nb",x\n1,"open,y\n' + line * rows
    (tmp_path / "in.csv").write_bytes(text)
    (file, *_), (problem, *_) = (
        report_of(tmp_path, *_TABLE, *limit, "--select", "J")[key]
        for key in ("files", "problems")
    )

    assert (problem["code"], problem["line"], problem["column"]) == ("J301", 4, 3)
    assert (file["records"], file["valid"]) == (rows + 2, rows + 1)
    given = ("--to", "record", "-o", tmp_path / "out")
    made = run("convert", tmp_path, *_TABLE, *limit, *given)
    assert made.returncode == 1
    assert not (tmp_path / "out").exists()
    fault.add("a quote that is open for more than a row may have", "the same finding")


def test_21_text_behind_a_quote(fault: Injections) -> None:
    """What stands behind the quote that ends a field is a finding, and not joined."""
    rows = [["id", "prompt", "gt"], ["1", '"a"b', "x"], ["2", "q", "a"]]
    report = report_of("-", *_TABLE, "--select", "J", stdin=_text_of(rows))

    (problem,) = report["problems"]
    assert (problem["code"], problem["line"]) == ("J301", 2)
    assert report["files"][0]["valid"] == 1
    fault.add("text behind the quote that ends a field", "a finding with its line")


def test_22_long_fields(tmp_path: Path, fault: Injections) -> None:
    """A field of any length is read and written, up to the limit of a row."""
    sizes = [131_071, 131_072, 131_073, 5_000_000]
    texts = [
        field
        for size in sizes
        for field in ("x" * size, '"' + "é,\n" * (size // 3) + "y" * (size % 3) + '"')
    ]
    rows = [["id", "prompt", "gt"]]
    rows += [[str(number), text, "a"] for number, text in enumerate(texts)]
    made = run("convert", "-", *_TABLE, "--to", "record", stdin=_text_of(rows))
    assert made.returncode == 0
    read = [json.loads(line)["prompt"] for line in made.stdout.splitlines()]
    assert read == [text.strip('"') for text in texts]

    (tmp_path / "in.jsonl").write_bytes(made.stdout)
    back = run("convert", tmp_path, "--from", "record", "--to", "csv")
    again = run(*("convert", "-", "--from", "csv", "--to", "record"), stdin=back.stdout)
    assert again.stdout == made.stdout
    fault.add("a field of 131,071 to 5,000,000 characters", "read", len(texts))


@pytest.mark.parametrize("beyond", [0, 1])
def test_22_field_at_the_limit_of_a_row(beyond: int, fault: Injections) -> None:
    """The largest row is read, and one with a byte more is a finding."""
    start, end = b"1,", b",a"
    field = b"x" * (_MOST - len(start) - len(end) + beyond)
    text = b"id,prompt,gt\n" + start + field + end + b"\n2,q,a\n"
    report = report_of("-", *_TABLE, "--select", "J", stdin=text)

    found = [(each["code"], each["line"]) for each in report["problems"]]
    assert found == ([("J110", 2)] if beyond else [])
    assert report["files"][0]["valid"] == 2 - beyond
    kind = "a row one byte over the limit" if beyond else "a row as long as the limit"
    fault.add(kind, "a finding, the next row is read" if beyond else "read")


_HOSTILE = [
    *("\0", "a\0b", '"', '""', '"a"b', "a\nb", "a\r\nb", "a\rb", "\n", "\r", ","),
    *("\ufeffid", " a ", "\t", "", "NULL", "null", "None", "nan", "\\N", "\u2028"),
    *("'", "'=1", "007", "1.0", "1e5", "TRUE", "\x1a", "\x7f", ";", "|", "#"),
]


@pytest.mark.parametrize("target", ["csv", "tencent-csv"])
def test_23_records_come_back_from_tables(
    target: str, tmp_path: Path, fault: Injections
) -> None:
    """Values that tables confuse are equal afterwards; absent is not empty."""
    records = [
        {"prompt": text, "references": [other], "outputs": []}
        for text in _HOSTILE
        for other in (text, "x")
    ]
    if target == "csv":
        records += [{"prompt": "x", "outputs": []}, {"gt": "x", "outputs": []}]
    source, table = tmp_path / "in.jsonl", tmp_path / "table.csv"
    source.write_text("\n".join(map(json.dumps, records)))
    there = run("convert", source, "--from", "record", "--to", target, "-o", table)
    back = run("convert", table, "--from", target, "--to", "record")

    assert (there.returncode, back.returncode) == (0, 0)
    assert jsonl_rows(back.stdout) == records
    fault.add(
        f"a value that tables confuse ({target})",
        "equal after a round trip",
        len(records),
    )


def test_23_a_mark_before_the_header(fault: Injections) -> None:
    """The first column has its name, with or without quotes."""
    for header in ("id,prompt,gt", '"id",prompt,gt'):
        text = f"\ufeff{header}\n1,q,a\n".encode()
        made = run("convert", "-", *_TABLE, "--to", "record", stdin=text)
        assert json.loads(made.stdout)["id"] == "1"
        fault.add("a byte order mark before the header", "a warning, the same records")


def test_23_empty_and_missing_values(fault: Injections) -> None:
    """A cell with quotes is an empty text, one without them is no value."""
    text = b'id,prompt,gt\n1,q,\n2,q,""\n3,,a\n4,"",a\n'
    made = run("convert", "-", *_TABLE, "--to", "record", stdin=text)
    read = jsonl_rows(made.stdout)
    seen = [(each.get("prompt"), each.get("gt")) for each in read]

    assert seen == [("q", None), ("q", ""), (None, "a"), ("", "a")]
    fault.add("an empty cell, and an empty text", "distinguished")


_RUNNING = [
    *("=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1", "=", "-", "@"),
    *("\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20a", "=cmd|' /C calc'!A0"),
]


def _cells(table: bytes) -> set[str]:
    """Return the cells of the rows of a table, as a spreadsheet would split them."""
    lines = csv.reader(io.StringIO(table.decode(), newline=""))
    return {cell for line in [*lines][1:] for cell in line}


def test_24_cells_that_run(tmp_path: Path, fault: Injections) -> None:
    """They are noted, marked if asked for, and the marks are taken off again."""
    records = [
        {"prompt": text, "references": [text], "outputs": []} for text in _RUNNING
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, records)))
    to_table = ("convert", tmp_path / "in.jsonl", "--from", "record", "--to", "csv")
    plain, safe = run(*to_table), run(*to_table, "--csv-safe")
    assert (plain.returncode, safe.returncode) == (0, 0)

    assert set(_RUNNING) <= _cells(plain.stdout)
    assert not [cell for cell in _cells(safe.stdout) if cell[:1] in set("=+-@\t\r\n")]
    from_table = ("convert", "-", "--from", "csv", "--to", "record")
    back = run(*from_table, "--from-csv-safe", stdin=safe.stdout)
    assert back.stdout == run(*from_table, stdin=plain.stdout).stdout
    assert [json.loads(line)["prompt"] for line in back.stdout.splitlines()] == _RUNNING

    noted = ("-", "--from", "csv", "--select", "J308", "--examples", 0)
    found = report_of(*noted, stdin=plain.stdout)["problems"]
    assert len({each["record"] for each in found}) == len(_RUNNING)
    assert not report_of(*noted, stdin=safe.stdout)["problems"]
    fault.add("a cell that a spreadsheet computes", "noted", len(_RUNNING))
    injected = "a cell that a spreadsheet computes, with --csv-safe"
    fault.add(injected, "an apostrophe, which reading takes off", len(_RUNNING))
