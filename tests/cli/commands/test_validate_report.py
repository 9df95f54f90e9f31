"""`harpia-formats validate`: what it prints, and its exit codes."""

from pathlib import Path

import pytest

from command_runs import codes, joined, report_of, run
from harpia_formats import validate
from json_lines import jsonl_rows

FIXTURES = Path(__file__).parents[3] / "fixtures"


def test_findings_are_on_standard_output_and_the_rest_is_not(data: Path) -> None:
    """Standard output holds a line for each finding, standard error the summary."""
    result = run("validate", "rows.jsonl", "--schema", "schema.json", cwd=data)

    assert result.returncode == 1
    starts = [each.split(": ")[0] for each in result.stdout.decode().splitlines()]
    assert starts == ["rows.jsonl:2:6", "rows.jsonl:3:6", "rows.jsonl:4:6"]
    summary = "rows.jsonl: 5 records: 2 valid, 3 invalid; 3 errors (schema.json)\n"
    assert result.stderr.decode() == summary


def test_quiet_leaves_out_the_summary(data: Path) -> None:
    """With --quiet the findings stay and nothing else is printed."""
    result = run("validate", "rows.jsonl", "--schema", "schema.json", "-q", cwd=data)

    assert codes(result) == ["S102", "S102", "J106"]
    assert result.stderr == b""


def test_full_output_has_the_line_and_carets(data: Path) -> None:
    """The full report shows the line, a mark, the reason and a summary, uncoloured."""
    result = run(
        *("validate", "rows.jsonl", "--schema", "schema.json"),
        *("--output-format", "full"),
        cwd=data,
    )
    first = result.stdout.decode().split("\n\n")[0]

    assert first.splitlines() == [
        "rows.jsonl:2:6  S102 wrong-type  /a  (record 2)",
        '  2 | {"a":"x"}',
        "    |      ^^^",
        '  a must be a whole number, found the text "x"',
    ]
    assert b"\x1b" not in result.stdout
    assert b"5 records: 2 valid, 3 invalid" in result.stdout


def test_json_report_is_that_of_the_api() -> None:
    """The JSON report is equal to the report of the Python function."""
    files = sorted((FIXTURES / "eee@0.2.0" / "invalid").glob("*.jsonl"))
    written = report_of(*files, "--format", "eee@0.2.0")
    report = validate(*files, format="eee@0.2.0")

    assert written["schema"] == "harpia-formats/report/1"
    assert written["summary"] == report.summary()
    assert written["problems"] == report.to_dict()["problems"]
    assert [each["path"] for each in written["files"]] == list(map(str, files))
    assert [each["count"] for each in written["groups"]] == [
        each.count for each in report.groups
    ]


def test_jsonl_output_ends_with_the_summary(data: Path) -> None:
    """Each line is an object: the problems of the JSON report, then the summary."""
    arguments = ("rows.jsonl", "--schema", "schema.json")
    report = report_of(*arguments, cwd=data)
    result = run("validate", *arguments, "--output-format", "jsonl", cwd=data)
    *problems, summary = jsonl_rows(result.stdout)

    assert result.returncode == 1
    assert [each.pop("kind") for each in problems] == ["problem"] * 3
    assert problems == report["problems"]
    assert summary["kind"] == "summary"
    assert summary["summary"] == report["summary"]


def test_statistics_are_exact_counts(data: Path) -> None:
    """With --statistics all findings of each rule are counted, shown or not."""
    result = run(
        *("validate", "rows.jsonl", "--schema", "schema.json"),
        *("--statistics", "--examples", "1"),
        cwd=data,
    )
    lines = [each.split() for each in result.stdout.decode().splitlines()]

    assert ["2", "S102", "wrong-type", "/a"] in lines
    assert ["1", "J106", "not-json-constant"] in lines


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ([], 5 + 5),
        (["--examples", "2"], 2 + 2),
        (["--examples", "0"], 20 + 20),
        (["--max-problems", "7"], 7),
        (["--max-problems", "3", "--examples", "0"], 3),
    ],
    ids=joined,
)
def test_limits_apply_to_listed_problems_only(
    data: Path, options: list[str], shown: int
) -> None:
    """The limits apply to the listed problems; all problems are counted."""
    (data / "many.jsonl").write_bytes(b'{"a":""}\n{"b":1}\n' * 20)
    report = report_of("many.jsonl", "--schema", "schema.json", *options, cwd=data)

    assert len(report["problems"]) == shown
    assert report["summary"]["errors"] == 40
    assert [each["count"] for each in report["groups"]] == [20, 20]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--select", "J"], ["J106"]),
        (["--select", "S"], ["S102", "S102"]),
        (["--select", "J,S"], ["S102", "S102", "J106"]),
        (["--select", "J", "--select", "wrong-type"], ["S102", "S102", "J106"]),
        (["--ignore", "not-json-constant"], ["S102", "S102"]),
        (["--select", "J,S", "--ignore", "J106"], ["S102", "S102"]),
        (["--ignore", "J105,S102"], ["J106"]),
    ],
    ids=joined,
)
def test_only_selected_rules_are_checked(
    data: Path, options: list[str], found: list[str]
) -> None:
    """Only rules that are selected and not ignored make findings and the exit code."""
    arguments = ("rows.jsonl", "--schema", "schema.json", *options)
    result = run("validate", *arguments, cwd=data)

    assert codes(result) == found
    assert result.returncode == (1 if found else 0)


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (b'{"a":1}', [], 0),
        (b'{"a":""}', [], 1),
        (b'{"a":""}', ["--exit-zero"], 0),
        (b'\xef\xbb\xbf{"a":1}', [], 0),
        (b'\xef\xbb\xbf{"a":1}', ["--error-on-warning"], 1),
        (b'\xef\xbb\xbf{"a":1}', ["--error-on-warning", "--exit-zero"], 0),
        (b'{"a":1}\n\n{"a":1}', ["--error-on-warning"], 0),
    ],
)
def test_exit_code_depends_on_findings(
    data: Path, text: bytes, options: list[str], code: int
) -> None:
    """Errors end with 1, warnings only with the option; --exit-zero ends with 0."""
    arguments = ("validate", "-", "--schema", data / "schema.json", *options)

    assert run(*arguments, stdin=text).returncode == code


def test_exit_zero_keeps_failures(data: Path) -> None:
    """A file that cannot be read ends with 2 also with --exit-zero."""
    assert run("validate", data / "nope.jsonl", "--exit-zero").returncode == 2


def test_formats_are_asserted_when_asked_for(data: Path) -> None:
    """The keyword format of a schema refuses values only with --assert-formats."""
    (data / "date.json").write_text('{"properties":{"a":{"format":"date"}}}')
    arguments = ("validate", "-", "--schema", data / "date.json")
    text = b'{"a":"31.12.2025"}'

    assert run(*arguments, stdin=text).returncode == 0
    result = run(*arguments, "--assert-formats", stdin=text)
    assert (result.returncode, codes(result)) == (1, ["V105"])


def test_row_limit_can_be_set(data: Path) -> None:
    """A row longer than --max-row-bytes is an error, one as long is not."""
    arguments = ("validate", data / "good.jsonl", "--schema", data / "schema.json")

    assert run(*arguments, "--max-row-bytes", 7).returncode == 0
    assert codes(run(*arguments, "--max-row-bytes", 6)) == ["J110", "J110"]


def test_cross_check_agrees_on_the_fixtures() -> None:
    """The second engine agrees on all fixtures, so --cross-check changes no output."""
    arguments = ("validate", FIXTURES / "eee@0.2.0", "--format", "eee@0.2.0")
    plain, checked = run(*arguments), run(*arguments, "--cross-check")

    assert checked.returncode == plain.returncode == 1
    assert checked.stdout == plain.stdout
    assert checked.stderr == plain.stderr
