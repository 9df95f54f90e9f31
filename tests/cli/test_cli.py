import contextlib
import errno
import gzip
import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import __version__, validate
from harpia_formats.cli.exceptions import exceptions_to_exit_codes
from harpia_formats.model.report import problem_as_dict

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
RUNS = FIXTURES / "eee@0.2.0" / "valid" / "runs.jsonl"
TAG_RUNS = min((FIXTURES / "eee@0.2.0-tag" / "valid").glob("*.jsonl"))
COMMAND = [sys.executable, "-m", "harpia_formats"]
SCHEMA = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
#: A good record, two that break SCHEMA, one that does not parse, and a good one.
ROWS = b'{"a":1}\n{"a":"x"}\n{"a":"y"}\n{"a":NaN}\n{"a":2}\n'
#: Longer than anything here takes, and shorter than anyone waits.
PATIENCE = 30

Result = subprocess.CompletedProcess[bytes]


def run(
    *arguments: object,
    stdin: bytes = b"",
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Result:
    """Run the command line with the arguments and the variables given."""
    return subprocess.run(  # noqa: S603 - the command is ours
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=environment_with(environment or {}),
        timeout=PATIENCE,
        check=False,
    )


def environment_with(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: ours, less what changes its output."""
    unwanted = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"}
    own = {key: each for key, each in os.environ.items() if key not in unwanted}
    return own | {"TERM": "xterm-256color", **given}


def joined(value: object) -> str | None:
    """Return what a list of words is called in the output of the tests."""
    return " ".join(value) if isinstance(value, list) else None


def report_of(*arguments: object, **given: Any) -> dict[str, Any]:
    """Return the JSON report of a run."""
    result = run("validate", *arguments, "--output-format", "json", **given)
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def codes(result: Result) -> list[str]:
    """Return the codes of what a run in concise form found."""
    lines = result.stdout.decode().splitlines()
    words = [each.split(": ", 1)[1].split() for each in lines]
    return [each[each[0] in {"warning", "note"}] for each in words]


def complaints(result: Result) -> list[str]:
    """Return the lines that tell what could not be done."""
    lines = result.stderr.decode().splitlines()
    assert not any("Traceback" in each for each in lines), lines
    return [each for each in lines if each.startswith("error: ")]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with a schema, a faulty file and a good one."""
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "rows.jsonl").write_bytes(ROWS)
    (tmp_path / "good.jsonl").write_bytes(b'{"a":1}\n{"a":2}\n')
    return tmp_path


# The command itself


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version_is_told(flag: str) -> None:
    """The version is one line on standard output."""
    result = run(flag)

    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode() == f"harpia-formats {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["validate", "rule", "--version"]),
        (["validate", "--help"], ["--format", "--cross-check", "Exit codes"]),
        (["rule", "--help"], ["--all", "RULES"]),
    ],
)
def test_help_is_told(arguments: list[str], words: list[str]) -> None:
    """The help pages name what there is, on standard output."""
    result = run(*arguments)

    assert (result.returncode, result.stderr) == (0, b"")
    assert all(each in result.stdout.decode() for each in words)


def test_every_option_is_in_the_help() -> None:
    """The help page of validate names every option, each with a sentence."""
    page = run("validate", "--help", environment={"COLUMNS": "500"}).stdout.decode()
    options = (
        "format schema strict map with,--aggregate assert-formats select ignore lint "
        "cross-check limit fail-fast max-row-bytes output-format examples max-problems "
        "statistics quiet error-on-warning exit-zero"
    )

    for each in options.split():
        (line,) = [line for line in page.splitlines() if f" --{each} " in line]
        assert "." in line, line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["Usage"]),
        (["nope"], ["nope"]),
        (["--nope"], ["--nope"]),
        (["validate"], ["Missing argument", "PATHS"]),
        (["validate", "rows.jsonl", "--nope"], ["--nope"]),
        (["validate", "rows.jsonl", "--limit", "0"], ["--limit"]),
        (["validate", "rows.jsonl", "--limit", "many"], ["--limit"]),
        (["validate", "rows.jsonl", "--jobs", "-1"], ["--jobs"]),
        (["validate", "rows.jsonl", "--jobs", "many"], ["neither", "nor auto"]),
        (["validate", "rows.jsonl", "--examples", "-1"], ["--examples"]),
        (["validate", "rows.jsonl", "--max-problems", "-1"], ["--max-problems"]),
        (["validate", "rows.jsonl", "--max-row-bytes", "0"], ["--max-row-bytes"]),
        (["validate", "rows.jsonl", "--output-format", "xml"], ["xml", "concise"]),
        (["rule"], ["--all"]),
    ],
    ids=joined,
)
def test_usage_error_is_told(
    data: Path, arguments: list[str], words: list[str]
) -> None:
    """A command line that makes no sense ends with 2 and says what is wrong with it."""
    result = run(*arguments, cwd=data)
    told = (result.stderr + result.stdout).decode()

    assert result.returncode == 2
    assert "Traceback" not in told
    assert all(each in told for each in words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--schema", "schema.json", "--format", "eee"], ["--schema", "--format"]),
        (["--format", "eee@0.2.0-tga"], ["did you mean eee@0.2.0-tag?"]),
        (["--format", "nonsense"], ["eee@0.2.0", "eee@0.3.0"]),
        (["--select", "dupicate-key"], ["did you mean duplicate-key?"]),
        (["--ignore", "J1O5"], ["did you mean", "J105"]),
        (["--select", "J, ,S"], ["no rule"]),
        (["--schema", "nope.json"], ["nope.json", "no such file"]),
        (["--schema", "."], [".: is a directory"]),
    ],
    ids=joined,
)
def test_option_that_cannot_be_met_is_one_line(
    data: Path, arguments: list[str], words: list[str]
) -> None:
    """An option that asks for what there is not ends with 2, in one line."""
    result = run("validate", "rows.jsonl", *arguments, cwd=data)

    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = complaints(result)
    assert all(each in line for each in words)
    assert result.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"type":"intger"}', "not a draft-07 schema"),
        (b'{"$ref":"http://127.0.0.1:9/s.json"}', "http://127.0.0.1:9/s.json"),
        (b'{"$ref":"other.json"}', "other.json"),
        (b'{"$ref":"file:///etc/hostname"}', "file:///etc/hostname"),
        (b'{"$ref":', "not JSON"),
        (b"[1]", "schema"),
        (b"", "schema"),
    ],
)
def test_unusable_schema_is_one_line(data: Path, text: bytes, words: str) -> None:
    """A schema that is none, or that leads elsewhere, ends with 2 in one line."""
    (data / "bad.json").write_bytes(text)
    result = run("validate", "rows.jsonl", "--schema", "bad.json", cwd=data)

    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = complaints(result)
    assert line.startswith("error: bad.json: ")
    assert words in line


# What is said, and where


def test_findings_are_on_standard_output_and_the_rest_is_not(data: Path) -> None:
    """Standard output holds a line for each finding, standard error the summary."""
    result = run("validate", "rows.jsonl", "--schema", "schema.json", cwd=data)

    assert result.returncode == 1
    starts = [each.split(": ")[0] for each in result.stdout.decode().splitlines()]
    assert starts == ["rows.jsonl:2:6", "rows.jsonl:3:6", "rows.jsonl:4:6"]
    summary = "rows.jsonl: 5 records: 2 valid, 3 invalid; 3 errors (schema.json)\n"
    assert result.stderr.decode() == summary


def test_quiet_leaves_out_the_summary(data: Path) -> None:
    """With --quiet the findings stay and nothing else is said."""
    result = run("validate", "rows.jsonl", "--schema", "schema.json", "-q", cwd=data)

    assert codes(result) == ["S102", "S102", "J106"]
    assert result.stderr == b""


def test_full_output_has_the_line_and_carets(data: Path) -> None:
    """The full form shows the line, what is meant, why, and a summary, uncoloured."""
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
    """The JSON report says what the report of the API says."""
    files = sorted((FIXTURES / "eee@0.2.0" / "invalid").glob("*.jsonl"))
    told = report_of(*files, "--format", "eee@0.2.0")
    report = validate(*files, format="eee@0.2.0")

    assert told["schema"] == "harpia-formats/report/1"
    assert told["summary"] == report.summary()
    assert told["problems"] == [problem_as_dict(each) for each in report.problems]
    assert [each["path"] for each in told["files"]] == list(map(str, files))
    assert [each["count"] for each in told["groups"]] == [
        each.count for each in report.groups
    ]


def test_jsonl_output_ends_with_the_summary(data: Path) -> None:
    """One object a line: the problems as in the JSON report, and last the summary."""
    arguments = ("rows.jsonl", "--schema", "schema.json")
    report = report_of(*arguments, cwd=data)
    result = run("validate", *arguments, "--output-format", "jsonl", cwd=data)
    *problems, summary = [json.loads(each) for each in result.stdout.splitlines()]

    assert result.returncode == 1
    assert [each.pop("kind") for each in problems] == ["problem"] * 3
    assert problems == report["problems"]
    assert summary["kind"] == "summary"
    assert summary["summary"] == report["summary"]


def test_statistics_are_exact_counts(data: Path) -> None:
    """With --statistics each rule is counted, beyond the examples that are shown."""
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
def test_caps_limit_what_is_shown_and_not_what_is_counted(
    data: Path, options: list[str], shown: int
) -> None:
    """The caps hold for the problems that are listed; all are counted."""
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
def test_only_the_rules_asked_for_are_in_force(
    data: Path, options: list[str], found: list[str]
) -> None:
    """Selected and not ignored rules make findings and the exit code, others do not."""
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
def test_exit_code_tells_what_was_found(
    data: Path, text: bytes, options: list[str], code: int
) -> None:
    """Errors end with 1, warnings only if asked for, and --exit-zero forgives both."""
    arguments = ("validate", "-", "--schema", data / "schema.json", *options)

    assert run(*arguments, stdin=text).returncode == code


def test_exit_zero_forgives_no_failure(data: Path) -> None:
    """A file that cannot be read ends with 2 whatever is forgiven."""
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
    """The second engine comes to the same verdicts, so nothing changes but the time."""
    arguments = ("validate", FIXTURES / "eee@0.2.0", "--format", "eee@0.2.0")
    plain, checked = run(*arguments), run(*arguments, "--cross-check")

    assert checked.returncode == plain.returncode == 1
    assert checked.stdout == plain.stdout
    assert checked.stderr == plain.stderr


# How much is looked at


@pytest.mark.parametrize("limit", [1, 1000, 1001, 6000])
def test_limit_is_exact(data: Path, limit: int) -> None:
    """So many records are judged as are asked for, blank lines not among them."""
    rows = b'{"a":1}\n\n  \n{"a":"x"}\n' * 3001
    report = report_of(
        *("-", "--schema", data / "schema.json", "--limit", limit, "--ignore", "J202"),
        stdin=rows,
    )

    (file,) = report["files"]
    assert (file["records"], file["errors"]) == (limit, limit // 2)
    assert file["complete"] is False


def test_limit_beyond_the_end_changes_nothing(data: Path) -> None:
    """A file with fewer records than the limit is read to its end."""
    arguments = (data / "rows.jsonl", "--schema", data / "schema.json")

    assert report_of(*arguments, "--limit", 9) == report_of(*arguments)


@pytest.mark.parametrize("text", [b'{"a":1}\n{"a":2}\n\n \n', b'{"a":1}\n\n{"a":2}\n'])
def test_limit_that_is_just_enough_reads_to_the_end(data: Path, text: bytes) -> None:
    """Blank lines behind the last record that is wanted are no more records."""
    arguments = ("-", "--schema", data / "schema.json", "--limit", 2)

    assert report_of(*arguments, stdin=text)["files"][0]["complete"] is True


def test_fail_fast_stops_at_the_first_error(data: Path) -> None:
    """With --fail-fast there is one error, and nothing behind it is counted."""
    (data / "late.jsonl").write_bytes(b'{"a":1}\n\n' * 2000 + ROWS)
    arguments = ("late.jsonl", "rows.jsonl", "--schema", "schema.json", "--fail-fast")
    report = report_of(*arguments, cwd=data)

    (file,) = report["files"]
    assert (file["records"], file["invalid"], file["errors"]) == (2002, 1, 1)
    errors = [each for each in report["problems"] if each["severity"] == "error"]
    assert [(each["line"], each["record"]) for each in errors] == [(4002, 2002)]
    assert file["complete"] is False


def test_records_are_numbered_without_blank_lines(data: Path) -> None:
    """The line of a finding counts blank lines, its record does not."""
    text = b'\n{"a":1}\n \n\r\n{"a":"x"}\n\n'
    report = report_of("-", "--schema", data / "schema.json", stdin=text)
    error, note = sorted(report["problems"], key=lambda each: each["code"] == "J202")

    assert (error["line"], error["record"]) == (5, 2)
    assert (note["code"], note["line"], note["record"]) == ("J202", 1, None)
    assert "4 blank lines" in note["message"]
    assert report["summary"]["records"] == 2


# What is read


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b'{"a":1}\n{"a":2}', []),
        (b'{"a":1}\r\n{"a":2}\r\n', []),
        (b'[{"a":1},{"a":2}]', []),
        (b'{\n  "a": 1\n}\n', []),
        (b'\xef\xbb\xbf{"a":1}\n', ["J201"]),
        (b'{"a":1}\n{"a":2', ["J102"]),
        (b'{"a":1}\n{"a":2,}\n{"a":3}\n', ["J101"]),
        (b'{"a":1,"b":"\xe9"}\n', ["J103"]),
        (b'{"a":1,"b":"\\ud800"}\n', ["J104"]),
        (b'{"a":1,"b":[{"c":1,"c":2}]}\n', ["J105"]),
        (b'{"a":1,"b":NaN}\n{"a":1,"b":-Infinity}\n', ["J106", "J106"]),
        (b'{"a":1,"b":1e400}\n', ["J107"]),
        (b'{"a":1,"b":' + b"[" * 200 + b"]" * 200 + b"}\n", ["J108"]),
        (b'{"a":1,"b":' + b"[" * 100_000 + b"\n", ["J108"]),
        (b'{"a":1,"b":"\t"}\n', ["J109"]),
        (b"", ["J111"]),
        (b"\n \r\n\n", ["J111"]),
        (b"[]", ["J111"]),
        (b'[{"a":1}', ["J112"]),
        (b'[{"a":1}] {}', ["J112"]),
    ],
)
def test_text_is_judged(data: Path, text: bytes, found: list[str]) -> None:
    """Every container is read, and data that is broken is an error and no traceback."""
    schema = data / "schema.json"
    result = run("validate", "-", "--schema", schema, "--ignore", "J202", stdin=text)

    assert codes(result) == found
    assert result.returncode == (0 if set(found) <= {"J201"} else 1)
    assert complaints(result) == []
    assert all(each.startswith(b"<stdin>:") for each in result.stdout.splitlines())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-be"])
def test_wide_encoding_is_named(data: Path, encoding: str) -> None:
    """Text in another Unicode encoding ends with 2 and the name of the encoding."""
    (data / "wide.jsonl").write_bytes('{"a":1}\n'.encode(encoding))
    result = run("validate", data / "wide.jsonl")

    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = complaints(result)
    assert f"is {encoding[:6].upper()}" in line


def test_missing_file_does_not_stop_the_others(data: Path) -> None:
    """The files that are there are judged, the one that is not is one line and 2."""
    files = ("rows.jsonl", "god.jsonl", "good.jsonl")
    result = run("validate", *files, "--schema", "schema.json", cwd=data)

    assert result.returncode == 2
    assert codes(result) == ["S102", "S102", "J106"]
    (line,) = complaints(result)
    assert line.startswith("error: god.jsonl: does not exist; did you mean good.jsonl")
    report = report_of(*files, "--schema", "schema.json", cwd=data)
    assert [each["records"] for each in report["files"]] == [5, 0, 2]


def test_file_named_twice_is_judged_once(data: Path) -> None:
    """A file that several arguments name is read and counted once."""
    arguments = ("rows.jsonl", "rows.jsonl", "*.jsonl", "--schema", "schema.json")
    report = report_of(*arguments, cwd=data)

    assert [each["path"] for each in report["files"]] == ["rows.jsonl", "good.jsonl"]


def test_folder_is_searched_without_what_is_hidden(data: Path) -> None:
    """The data files of a folder and of those below are judged, hidden ones are not."""
    for each in ("sub/b.jsonl.gz", "sub/.c.jsonl", ".hidden/d.jsonl", "notes.txt"):
        (data / each).parent.mkdir(exist_ok=True)
        (data / each).write_bytes(gzip.compress(b'{"a":1}\n'))
    (data / "schema.json").rename(data / "schema")
    report = report_of(".", "--schema", "schema", cwd=data)

    paths = ["good.jsonl", "rows.jsonl", "sub/b.jsonl.gz"]
    assert [each["path"] for each in report["files"]] == paths


@pytest.mark.parametrize("name", ["empty", "nope*.jsonl", "no/such.jsonl", ""])
def test_input_without_data_is_one_line(data: Path, name: str) -> None:
    """A folder, pattern or path that leads to no data ends with 2 in one line."""
    (data / "empty").mkdir()
    result = run("validate", name, cwd=data)

    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = complaints(result)
    assert line.startswith(f"error: {name}: ")


def test_names_cannot_command_the_terminal(data: Path) -> None:
    """Control characters in names of files are shown as escapes, wherever they are."""
    name = "\x1b]0;owned\x07\n::error::x.jsonl"
    (data / name).write_bytes(ROWS)
    found = run("validate", name, "--schema", "schema.json", cwd=data)
    missing = run("validate", name + "y", cwd=data)

    assert (found.returncode, missing.returncode) == (1, 2)
    for each in (found, missing):
        told = each.stdout + each.stderr
        assert b"\x1b" not in told
        assert b"\x07" not in told
        assert not any(line.startswith(b"::") for line in told.splitlines())
        assert b"\\x1b]0;owned\\x07\\n" in told


def test_rows_before_the_fault_of_a_compressed_file_are_judged(data: Path) -> None:
    """A cut gzip file ends with 2, keeps what was found and blames no cut row."""
    rows = b"".join(b'{"a":%d}\n{"a":"%d"}\n' % (i, i * i) for i in range(20_000))
    packed = gzip.compress(rows)
    (data / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    arguments = ("cut.jsonl.gz", "--schema", "schema.json")
    result = run("validate", *arguments, cwd=data)
    report = report_of(*arguments, cwd=data)

    (file,) = report["files"]
    assert result.returncode == 2
    assert set(codes(result)) == {"S102"}
    assert file["records"] > 10_000
    assert file["invalid"] == file["errors"] == file["records"] // 2
    assert file["complete"] is False
    (line,) = complaints(result)
    assert "truncated" in line
    assert f"{file['records']:,} records, the last in line {file['records']:,}" in line


def test_corrupt_checksum_is_told_behind_the_rows(data: Path) -> None:
    """A gzip file with a wrong checksum ends with 2 although every row was read."""
    packed = bytearray(gzip.compress(ROWS))
    packed[-8] ^= 1
    (data / "sum.jsonl.gz").write_bytes(packed)
    result = run("validate", "sum.jsonl.gz", "--schema", "schema.json", cwd=data)

    assert result.returncode == 2
    assert codes(result) == ["S102", "S102", "J106"]
    assert "corrupt" in complaints(result)[0]


# Which format


def test_family_takes_the_shape_of_each_file() -> None:
    """With --format eee each file is judged by the shape that its records have."""
    report = report_of(RUNS, TAG_RUNS, "--format", "eee")

    formats = [each["format"] for each in report["files"]]
    assert formats == ["eee@0.2.0", "eee@0.2.0-tag"]
    assert report["summary"]["errors"] == 0
    assert [each["code"] for each in report["problems"]] == ["S202"]


def test_file_of_another_shape_is_said_once() -> None:
    """Held to another shape, a file gets one S201, and exact counts of the rest."""
    report = report_of(TAG_RUNS, "--format", "eee@0.2.0")
    file = report["files"][0]
    result = run("validate", TAG_RUNS, "--format", "eee@0.2.0")
    first, last = result.stdout.decode().splitlines()

    assert [each["code"] for each in report["problems"]] == ["S201"]
    assert file["errors"] == sum(each["count"] for each in report["groups"])
    assert file["errors"] > file["invalid"] == file["records"] > 0
    assert " S201 other-shape " in first
    assert f"{file['errors'] - 1} further findings" in last


def test_unknown_format_is_an_error(data: Path) -> None:
    """A file that no format recognises is an error that names the nearest ones."""
    result = run("validate", data / "good.jsonl")

    assert (result.returncode, codes(result)) == (1, ["S301"])
    assert b"the nearest are " in result.stdout


# How it ends


def started(script: str, *arguments: object, **pipes: Any) -> subprocess.Popen[bytes]:
    """Start the command line from Python, behind some preparation."""
    call = "from harpia_formats.cli import main; main()"
    return subprocess.Popen(  # noqa: S603 - the command is ours
        [sys.executable, "-c", f"{script}\n{call}", *map(str, arguments)],
        env=environment_with({}),
        **pipes,
    )


#: Background jobs of a shell ignore the signal, and so do their children.
HEED_INTERRUPTS = "import signal; signal.signal(2, signal.default_int_handler)"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_signal_ends_the_run_quietly(
    data: Path, number: signal.Signals, code: int
) -> None:
    """A run that is interrupted or terminated ends with the code of the signal."""
    caps = ("--examples", "0", "--max-problems", "300")
    arguments = ("validate", "-", "--schema", data / "schema.json", *caps)
    pipe = subprocess.PIPE
    process = started(HEED_INTERRUPTS, *arguments, stdin=pipe, stdout=pipe, stderr=pipe)
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b'{"a":"x"}\n' * 60_000)
        process.stdin.flush()
        assert select.select([process.stdout], [], [], PATIENCE)[0]
        assert process.stdout.readline().startswith(b"<stdin>:1:6: S102")
        process.send_signal(number)
        _, told = process.communicate(timeout=PATIENCE)

    assert (process.returncode, told) == (code, b"")


def test_reader_that_leaves_ends_the_run_quietly(data: Path) -> None:
    """Where nobody reads the output any more the run ends with 141 and no word."""
    (data / "many.jsonl").write_bytes(b'{"a":"x"}\n' * 20_000)
    caps = ("--examples", "0", "--max-problems", "0")
    process = started(
        "",
        *("validate", data / "many.jsonl", "--schema", data / "schema.json", *caps),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        told = process.stderr.read()

    assert (process.returncode, told) == (141, b"")


def test_unbuffered_output_is_not_cut_off(data: Path) -> None:
    """A write that takes only a part of the report is not taken for all of it."""
    (data / "many.jsonl").write_bytes(b'{"a":"x"}\n' * 2_000)
    command = f"ulimit -f 100; exec {shlex.join(COMMAND)} validate many.jsonl"
    options = "--schema schema.json --examples 0 --max-problems 0"
    result = subprocess.run(  # noqa: S603 - the command is ours
        ["/bin/sh", "-c", f"{command} {options} --output-format json > report.json"],
        capture_output=True,
        cwd=data,
        env=environment_with({"PYTHONUNBUFFERED": "1"}),
        timeout=PATIENCE,
        check=False,
    )

    assert result.returncode == 2
    assert complaints(result) == ["error: cannot write the output: File too large"]


COMMANDS = pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["validate", "--help"],
        ["rule", "C201"],
        ["validate", "rows.jsonl", "--schema", "schema.json"],
        ["validate", "rows.jsonl", "--output-format", "json"],
    ],
    ids=joined,
)


@COMMANDS
def test_closed_pipe_ends_every_command_quietly(
    data: Path, arguments: list[str]
) -> None:
    """Each command ends with 141 and no word where its output is a closed pipe."""
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(  # noqa: S603 - the command is ours
        [*COMMAND, *arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
        cwd=data,
        env=environment_with({}),
        timeout=PATIENCE,
        check=False,
    )
    os.close(writing)

    assert (process.returncode, complaints(process)) == (141, [])


def run_redirected(redirection: str, *arguments: str, cwd: Path) -> Result:
    """Run the command line in a shell that redirects its streams."""
    return subprocess.run(  # noqa: S603 - the command is ours
        ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *COMMAND, *arguments],
        capture_output=True,
        cwd=cwd,
        env=environment_with({}),
        timeout=PATIENCE,
        check=False,
    )


@COMMANDS
@pytest.mark.parametrize("redirection", ["> /dev/full", ">&-"])
def test_output_that_cannot_be_written_is_one_line(
    data: Path, redirection: str, arguments: list[str]
) -> None:
    """A full disk or a closed output ends with 2 and one line that says so."""
    result = run_redirected(redirection, *arguments, cwd=data)

    assert result.returncode == 2
    (line,) = complaints(result)
    assert line.startswith("error: cannot write the output: ")


@pytest.mark.parametrize("redirection", ["2> /dev/full", "2>&-"])
def test_lost_messages_do_not_change_the_outcome(data: Path, redirection: str) -> None:
    """Where standard error cannot be written, findings and exit codes stay."""
    arguments = ("validate", "--schema", "schema.json", "rows.jsonl")
    found = run_redirected(redirection, *arguments, cwd=data)
    unable = run_redirected(redirection, *arguments, "nope.jsonl", cwd=data)

    assert (found.returncode, unable.returncode) == (1, 2)
    assert codes(found) == codes(unable) == ["S102", "S102", "J106"]


def test_closed_standard_input_is_one_line(data: Path) -> None:
    """Standard input that is closed is something that cannot be read."""
    result = run_redirected("<&-", "validate", "-", cwd=data)

    assert result.returncode == 2
    assert complaints(result) == ["error: <stdin>: is closed"]


def test_engines_that_differ_are_a_bug(data: Path) -> None:
    """Where the engines disagree the run ends with 3 and names the place."""
    process = started(
        "from harpia_formats.validation.unit import cross_check as reference\n"
        "reference.second_opinion_of = lambda *_, **__: lambda *_: False",
        *("validate", data / "good.jsonl", "--schema", data / "schema.json"),
        "--cross-check",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        written, _ = process.communicate(timeout=PATIENCE)

    assert process.returncode == 3
    line = written.decode().splitlines()[0]
    assert "good.jsonl:1:1: V902 internal-error harpia-formats failed" in line


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (RuntimeError("there"), 3, "RuntimeError: there"),
        (OSError(errno.ENOSPC, "no space"), 2, "cannot write the output: no space"),
        (ModuleNotFoundError("No module named 'x'"), 2, "package is missing"),
    ],
)
def test_whatever_happens_has_its_exit_code(
    error: Exception, code: int, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever a command raises becomes an exit code and a word on standard error."""
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, exceptions_to_exit_codes():
        raise error

    assert ended.value.code == code
    assert words in capfd.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is handler


# Wherever it runs


LOCALES: list[dict[str, str]] = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "utf-16"},
]


@pytest.mark.parametrize("locale", LOCALES, ids=" ".join)
def test_output_is_the_same_in_any_locale(data: Path, locale: dict[str, str]) -> None:
    """Findings with letters of any script come out as UTF-8 whatever the locale."""
    text = '{"a":"maçã 日本 \\ud83d\\ude00"}\n'.encode()
    (data / "words.jsonl").write_bytes(text)
    arguments = ("validate", "words.jsonl", "--schema", "schema.json")
    for form in ("full", "json"):
        wanted = run(*arguments, "--output-format", form, cwd=data)
        result = run(*arguments, "--output-format", form, cwd=data, environment=locale)

        assert "maçã 日本".encode() in wanted.stdout
        assert (result.returncode, result.stdout) == (1, wanted.stdout)
        assert result.stderr == wanted.stderr


@pytest.mark.parametrize("locale", LOCALES[:2], ids=" ".join)
def test_pages_are_shown_in_any_locale(locale: dict[str, str]) -> None:
    """Help and rules are told in any locale."""
    assert run("validate", "--help", environment=locale).returncode == 0
    assert "café".encode() in run("rule", "J103", environment=locale).stdout


@pytest.mark.parametrize("form", ["json", "full"])
def test_hash_seed_changes_nothing(form: str) -> None:
    """The same bytes come out whatever order Python keeps its sets in."""
    options = ("--output-format", form, "--statistics", "--lint")
    inputs = [FIXTURES / each for each in ("eee@0.2.0", "harpia", "nemo-output")]
    results = [
        run(
            "validate", *inputs, *options, environment={"PYTHONHASHSEED": str(each)}
        ).stdout
        for each in range(3)
    ]

    assert len(results[0]) > 10_000
    assert len(set(results)) == 1


# On a terminal


def on_terminal(
    script: str, *arguments: object, cwd: Path, output: int | None, **more: str
) -> tuple[int, str, bytes]:
    """Run with standard error, and output unless given, on a pseudo-terminal.

    Return the exit code, what came to the terminal, and what came elsewhere.
    """
    call = "from harpia_formats.cli import main; main()"
    terminal, end = pty.openpty()
    with subprocess.Popen(  # noqa: S603 - the command is ours
        [sys.executable, "-c", f"{script}\n{call}", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=end if output is None else output,
        stderr=end,
        cwd=cwd,
        env=environment_with({"COLUMNS": "80", "LINES": "24"} | more),
    ) as process:
        os.close(end)
        shown = read_all(terminal)
        elsewhere = process.stdout.read() if process.stdout else b""
    os.close(terminal)
    return process.returncode, shown.decode(), elsewhere


def read_all(terminal: int) -> bytes:
    """Return what comes to a terminal until nobody has it open any more."""
    pieces, end = [], time.monotonic() + PATIENCE
    with contextlib.suppress(OSError):  # Linux says so where others say the end
        while select.select([terminal], [], [], end - time.monotonic())[0]:
            pieces.append(os.read(terminal, 65_536))
            if not pieces[-1]:
                break
    return b"".join(pieces)


#: Scripts that show the bar from the start, and only after longer than any test takes.
AT_ONCE, LATE = (
    f"from harpia_formats.cli.output import progress; progress.DELAY = {seconds}"
    for seconds in (0, 2 * PATIENCE)
)
FAULTY = ("validate", "rows.jsonl", "--schema", "schema.json")
SHOW_CURSOR, ERASE_LINE = "\x1b[?25h", "\x1b[2K"


def test_terminal_gets_the_full_form_in_colour(data: Path) -> None:
    """On a terminal the full form is the default, with the place in bold."""
    code, shown, _ = on_terminal("", *FAULTY, cwd=data, output=None)

    assert code == 1
    assert "\x1b[1mrows.jsonl:2:6\x1b[0m  \x1b[31mS102\x1b[0m wrong-type" in shown
    assert "5 records: 2 valid, 3 invalid" in shown


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_can_be_declined(
    data: Path, variables: dict[str, str], coloured: bool
) -> None:
    """NO_COLOR that is not empty and a dumb terminal get no colours."""
    _, shown, _ = on_terminal(LATE, *FAULTY, cwd=data, output=None, **variables)

    assert ("\x1b[" in shown) is coloured
    assert "rows.jsonl:2:6" in shown


def test_progress_is_shown_and_gone_at_the_end(data: Path) -> None:
    """The bar is on standard error only, and the summary stands in its place."""
    code, shown, output = on_terminal(
        AT_ONCE, *FAULTY, cwd=data, output=subprocess.PIPE
    )
    before, _, last = shown.rpartition(ERASE_LINE)

    assert code == 1
    assert "rows.jsonl" in before
    assert "bytes" in before
    assert SHOW_CURSOR in shown
    assert last.strip().startswith("rows.jsonl: 5 records")
    assert output == run(*FAULTY, cwd=data).stdout


def test_findings_are_not_mixed_with_progress(data: Path) -> None:
    """On one terminal the bar is taken away before a finding is written."""
    (data / "many.jsonl").write_bytes(b'{"a":1}\n' * 50_000 + ROWS)
    arguments = ("validate", "many.jsonl", *FAULTY[2:])
    code, shown, _ = on_terminal(AT_ONCE, *arguments, cwd=data, output=None)
    plain, bar = on_terminal(LATE, *arguments, cwd=data, output=None)[1], "━"

    assert code == 1
    assert bar in shown
    assert bar not in plain
    for each in plain.split("\r\n\r\n"):
        assert each in shown


def test_bar_stays_away_until_there_is_progress(data: Path) -> None:
    """The bar is drawn anew for a part of the file, and not for every finding."""
    (data / "many.jsonl").write_bytes(b'{"a":1}\n' * 20_000 + b'{"a":"x"}\n' * 900)
    arguments = ("validate", "many.jsonl", *FAULTY[2:], "--examples", "0")
    _, shown, _ = on_terminal(AT_ONCE, *arguments, cwd=data, output=None)

    assert shown.count("S102\x1b") == 900
    assert 1 <= shown.count(SHOW_CURSOR) <= 10


@pytest.mark.parametrize(
    ("script", "options"), [(AT_ONCE, ["-q"]), (LATE, [])], ids=["quiet", "short"]
)
def test_no_progress_for_the_quiet_and_the_quick(
    data: Path, script: str, options: list[str]
) -> None:
    """Nothing is drawn where that is not wished for, or where it is soon over."""
    arguments = (*FAULTY, *options)
    _, shown, _ = on_terminal(script, *arguments, cwd=data, output=subprocess.PIPE)

    assert "\x1b" not in shown
    assert bool(shown) is not bool(options)
