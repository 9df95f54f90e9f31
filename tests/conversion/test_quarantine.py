"""Rows that are quarantined, with their problems."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import ConversionError, SinkError, read
from json_lines import jsonl, jsonl_rows
from unchecked import convert, converted

GOOD = b'{"id": "1", "input": "q", "expected-output": ["r"], "actual-output": "a"}'
WRONG = b'{"id": "2",   "input": 7}'
#: What questions of NeMo require.
GIVEN = {"category": "c", "references": ["r"]}


def aside(data: bytes, folder: Path, **options: Any) -> list[str]:
    """Convert some data, and return the names of the files that were written."""
    report, _ = put_aside(folder, data, **options)

    assert report.written
    return sorted(each.name for each in folder.iterdir())


def put_aside(
    folder: Path, *inputs: Any, to: str = "nemo", **options: Any
) -> tuple[Any, bytes]:
    """Return the report of a conversion into a folder, and the rows put aside there."""
    output = folder / "out.json"
    options = {"on_invalid": "quarantine", **options}
    report = convert(*inputs, to=to, output=output, **options)
    kept = folder / "out.invalid.jsonl"
    return report, kept.read_bytes() if kept.exists() else b""


def findings_in(folder: Path) -> list[dict[str, Any]]:
    """Return the findings about the rows that were put aside in a folder."""
    findings: list[dict[str, Any]] = jsonl_rows(folder / "out.invalid.findings.jsonl")
    return findings


def test_rows_are_quarantined_byte_for_byte(tmp_path: Path) -> None:
    """Rows are quarantined byte for byte, in their order."""
    rows = [GOOD, WRONG, b"{not json", GOOD.replace(b'"1"', b'"3"'), WRONG]
    names = aside(b"\n".join(rows) + b"\n", tmp_path, from_="harpia")
    kept = (tmp_path / "out.invalid.jsonl").read_bytes()
    lines = [each["line"] for each in findings_in(tmp_path)]

    assert names == ["out.invalid.findings.jsonl", "out.invalid.jsonl", "out.json"]
    assert kept == b"\n".join([WRONG, b"{not json", WRONG]) + b"\n"
    assert lines[0] == 2
    assert {*lines} == {2, 3, 5}
    assert len(json.loads((tmp_path / "out.json").read_bytes())) == 2


def test_rows_that_cannot_be_converted_are_in_order_with_invalid_ones(
    tmp_path: Path,
) -> None:
    """A row that no row of the target can hold is put aside before a later one.

    Findings are in the order of the rows as well.
    """
    several = GOOD.replace(b'["r"]', b'["r", "s"]')
    rows = [several, WRONG, GOOD, several, b"{not json"]
    data = b"\n".join(rows) + b"\n"
    _, kept = put_aside(tmp_path, data, from_="harpia", references="fail")

    assert kept == b"\n".join([several, WRONG, several, b"{not json"]) + b"\n"
    assert [each["line"] for each in findings_in(tmp_path)] == [1, 2, 4, 5]


def test_faults_that_are_no_record_are_in_order_with_rows_that_are_put_aside(
    tmp_path: Path,
) -> None:
    """A carriage return alone is found behind the row above that is not converted."""
    data = b"id,prompt,references\n1,q,r\n2,q,\n3,q,r\r4,q,r\n"
    put_aside(tmp_path, data, to="nemo-input", from_="csv")

    assert [each["line"] for each in findings_in(tmp_path)] == [3, 4]


def test_many_rows_of_no_known_format_are_put_aside(tmp_path: Path) -> None:
    """They are not read by the format of the file before them."""
    unknown = b'{"foo": 1}\n' * 40
    quarantine = tmp_path / "aside.jsonl"
    options: dict[str, Any] = {"on_invalid": "quarantine", "quarantine": quarantine}
    output, report = converted(GOOD + b"\n", unknown, to="csv", **options)

    assert (report.rows, report.skipped) == (1, 40)
    assert output.count(b"\n") == 2
    assert quarantine.read_bytes() == unknown


def test_records_that_waited_are_reported_before_later_files() -> None:
    """A record that waits for the target keeps its place in front of later rows."""
    files = [b'{"prompt": "q", "outputs": []}\n', WRONG + b"\n" + GOOD + b"\n"]
    _, report = converted(*files, to="nemo", on_invalid="skip")
    problems = report.report.problems

    assert report.target == "nemo-output"
    assert [(each.code, each.place.path) for each in problems] == [
        ("L201", "<data>"),
        ("S102", "<data> (2)"),
    ]


def test_a_merged_record_is_put_aside_with_its_finding(tmp_path: Path) -> None:
    """A record of several rows that cannot be converted is put aside as it is."""
    rows = [{"prompt": each, "outputs": [{"text": "a"}]} for each in "qqp"]
    rows[2]["references"] = ["r"]
    _, rejects = put_aside(tmp_path, jsonl(*rows), from_="record", group="prompt")
    (kept,), (found,) = jsonl_rows(rejects), findings_in(tmp_path)

    assert len(kept["outputs"]) == 2
    assert (found["code"], found["line"]) == ("L201", 1)


def test_there_are_no_files_where_nothing_is_wrong(tmp_path: Path) -> None:
    """Without an invalid row there is nothing next to the output."""
    assert aside(GOOD + b"\n", tmp_path) == ["out.json"]


def test_items_of_an_array_are_quarantined(tmp_path: Path) -> None:
    """An item of an array is quarantined without the bytes around it."""
    aside(b"[" + GOOD + b", " + WRONG + b"]", tmp_path, from_="harpia")

    assert (tmp_path / "out.invalid.jsonl").read_bytes() == WRONG + b"\n"


def test_rows_of_a_table_are_quarantined(tmp_path: Path) -> None:
    """A row of a table is quarantined unchanged, even if it has several lines."""
    table = b'id,references,category,prompt\n1,r,"of a\nkind",\n2,s,,\n3,t,,q\n'
    report, kept = put_aside(tmp_path, table, to="nemo-input", from_="csv")

    assert (report.rows, report.skipped) == (1, 2)
    assert kept == b'1,r,"of a\nkind",\n2,s,,\n'


@pytest.mark.parametrize(
    "row",
    [b"2,caf\xe9,r", b"2,a\0b,r", b'2,"a" b,r', b'2,"open,r', b'2,"a\nb",caf\xe9'],
    ids=["no UTF-8", "NUL", "text behind a quote", "open quote", "two lines"],
)
def test_rows_of_a_table_with_a_fault_are_quarantined(
    row: bytes, tmp_path: Path
) -> None:
    """A row of a table that is no record is left out and put aside unchanged."""
    data = b"id,prompt,references\n1,q,r\n" + row + b"\n3,q,r\n"
    report, kept = put_aside(tmp_path, data, to="record", from_="csv")

    assert (report.rows, report.skipped, report.notes) == (2, 1, ())
    assert kept == row + b"\n"


def test_all_rows_below_an_unusable_header_are_quarantined(tmp_path: Path) -> None:
    """Of a table without the columns of its format no row is lost without a word."""
    (tmp_path / "good.csv").write_bytes(b"prompt,response\nq,a\n")
    (tmp_path / "bad.csv").write_bytes(b'promt,response\n1,a\n2,"x" y\n3,b\n')
    both = tmp_path / "good.csv", tmp_path / "bad.csv"
    report, kept = put_aside(tmp_path, *both, to="record", from_="tencent-csv")

    assert (report.rows, report.skipped) == (1, 3)
    assert kept == b'1,a\n2,"x" y\n3,b\n'


#: A prompt that makes its row longer than allowed, in a small window and in several.
LONG = [b"q" * 200, b"q" * 2_000_000]
#: Three records, of which the second has such a prompt for `%b`.
ROWS = [b'{"prompt": "%b", "outputs": []}' % each for each in (b"q", b"%b", b"q")]


@pytest.mark.parametrize("text", LONG, ids=len)
@pytest.mark.parametrize(
    ("format_", "data"),
    [
        ("csv", b"prompt\nq\n%b\nq\n"),
        ("csv", b'prompt\nq\nq "%b"\n"%b\nq\n'),
        ("record", b"\n".join(ROWS)),
        ("record", b"[" + b", ".join(ROWS) + b"]"),
        ("haystack", b'{"questions": ["q", "%b", "q"], "responses": ["a", "a", "a"]}'),
    ],
    ids=["table", "open quote", "lines", "array", "columns"],
)
def test_rows_that_are_too_long_are_counted(
    format_: str, data: bytes, text: bytes, tmp_path: Path
) -> None:
    """A row over the limit is left out, and a note says that it was not put aside."""
    lengthy = data.count(b"%b")
    rows = data.replace(b"%b", text)
    report, kept = put_aside(
        tmp_path, rows, to="record", from_=format_, max_row_bytes=100
    )
    (note,) = report.notes

    assert (report.rows, report.skipped) == (2, lengthy)
    assert note.startswith("1 row is" if lengthy == 1 else "2 rows are")
    assert note.endswith("not put aside")
    assert kept == b""
    assert (tmp_path / "out.invalid.jsonl").exists()


def test_problems_of_a_table_are_reported_in_the_order_of_its_rows() -> None:
    """A row that cannot be converted is reported before a later one that is invalid."""
    data = b"id,prompt\n1,\n2\n3,\n4\n5,q\n"
    _, report = converted(
        data, to="nemo-input", on_invalid="skip", from_="csv", constants=GIVEN
    )
    problems = report.report.problems

    assert [(problem.code, problem.place.line) for problem in problems] == [
        ("L201", 2),
        ("J304", 3),
        ("L201", 4),
        ("J304", 5),
    ]
    assert (report.rows, report.skipped) == (1, 4)


def test_conversion_stops_at_the_first_record_that_cannot_be_converted() -> None:
    """No later record is reported or counted, though its block was validated."""
    data = b"id,prompt\n1,q\n2,\n3,\n4,q\n"
    _, report = converted(data, to="nemo-input", from_="csv", constants=GIVEN)

    (problem,) = report.report.problems
    assert (problem.code, problem.place.record) == ("L201", 2)
    assert (report.report.files[0].records, report.report.files[0].invalid) == (2, 1)


#: Columns of which the second record has no question.
COLUMNS = (
    b'{"ground_truth_answers":["r","s"],"predicted_answers":["a","b"],'
    b'"questions":["q",null]}'
)


@pytest.mark.parametrize(
    ("format_", "data", "records"),
    [(None, b'{"unknown":1}\n', 0), ("haystack", COLUMNS, 2)],
    ids=["no known format", "columns"],
)
def test_what_was_read_is_counted_where_no_row_ends_the_reading(
    format_: str | None, data: bytes, records: int
) -> None:
    """A problem of the whole file, or of a record of columns, ends no reading."""
    _, report = converted(data, to="nemo-output", from_=format_)
    (file,) = report.report.files

    assert not report.written
    assert (file.records, file.bytes) == (records, len(data))


@pytest.mark.parametrize(
    ("to", "columns", "prompts", "rejects"),
    [
        (
            "nemo-output",
            COLUMNS,
            ["q"],
            b'{"ground_truth_answers":"s","predicted_answers":"b","questions":null}\n',
        ),
        (
            "record",
            (
                b'{"questions": ["q1", "q2", "q3"], "contexts": [["c"], {"a": 1,"a":2},'
                b' []], "predicted_answers": ["a1", {"":1,"":2}, tru]}'
            ),
            ["q1"],
            (
                b'{"questions":"q2","contexts":{"a": 1,"a":2},'
                b'"predicted_answers":{"":1,"":2}}\n'
                b'{"questions":"q3","contexts":[],"predicted_answers":tru}\n'
            ),
        ),
        (
            "record",
            (
                b'{"a": {"questions": ["q1", {"x": 1,"x":2}], "responses": ["r1", "r2"]'
                b'}, "b": {"questions": ["p1", "p2"], "responses": ["s1", "s2"]}}'
            ),
            ["q1", "p1", "p2"],
            b'{"questions":{"x": 1,"x":2},"responses":"r2","(component)":"a"}\n',
        ),
    ],
    ids=["not converted", "invalid items", "an item of one component"],
)
def test_records_of_columns_are_quarantined_as_objects(
    to: Any, columns: bytes, prompts: list[str], rejects: bytes, tmp_path: Path
) -> None:
    """A record is left out once, by its own component, with all items as they are."""
    report, kept = put_aside(tmp_path, columns, to=to, from_="haystack")

    assert report.skipped == rejects.count(b"\n")
    assert [record.prompt for record in read(tmp_path / "out.json")] == prompts
    assert kept == rejects


def test_existing_file_is_kept(tmp_path: Path) -> None:
    """An existing file is replaced only with `overwrite`."""
    (tmp_path / "out.invalid.jsonl").write_bytes(b"mine")
    with pytest.raises(SinkError, match="already exists"):
        aside(WRONG, tmp_path, from_="harpia")
    assert aside(GOOD, tmp_path, overwrite=True) == ["out.invalid.jsonl", "out.json"]
    assert (tmp_path / "out.invalid.jsonl").read_bytes() == b"mine"

    aside(GOOD + b"\n" + WRONG, tmp_path, from_="harpia", overwrite=True)
    assert (tmp_path / "out.invalid.jsonl").read_bytes() == WRONG + b"\n"


def test_a_file_for_each_model_has_one_next_to_it(tmp_path: Path) -> None:
    """Where there is a file for each model, there is one for what is wrong."""
    answer = b'{"prompt": "q", "references": ["r"], "outputs": [{"text": "a"}]}\n'
    report = convert(
        answer + b'{"prompt": 5}\n',
        to="nemo",
        from_="record",
        output=tmp_path / "{model}.json",
        on_invalid="quarantine",
    )

    assert [Path(each).name for each in report.quarantine] == [
        "all.invalid.jsonl",
        "all.invalid.findings.jsonl",
    ]
    assert (tmp_path / "all.invalid.jsonl").read_bytes() == b'{"prompt": 5}\n'


@pytest.mark.parametrize("output", [None, "-", io.BytesIO(), "{model}/x.json"])
def test_there_must_be_a_place_for_it(output: Any) -> None:
    """Without one file as an output the place has to be named."""
    with pytest.raises(ConversionError, match="quarantine"):
        convert(GOOD, to="nemo", output=output, on_invalid="quarantine")


def test_quarantine_cannot_be_the_output(tmp_path: Path) -> None:
    """Quarantined rows cannot be written to the output file."""
    output = tmp_path / "o.jsonl"
    both = {"output": output, "quarantine": output}
    with pytest.raises(ConversionError, match="output and quarantine at once"):
        convert(GOOD, to="nemo", on_invalid="quarantine", overwrite=True, **both)
