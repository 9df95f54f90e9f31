import contextlib
import errno
import gzip
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import __version__, validate
from harpia_formats.cli import guard
from harpia_formats.inspection import InternalError
from harpia_formats.registry import all_rules
from harpia_formats.report import problem_as_dict

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
RUNS = FIXTURES / "eee@0.2.0" / "valid" / "runs.jsonl"
TAG_RUNS = sorted((FIXTURES / "eee@0.2.0-tag" / "valid").glob("*.jsonl"))[0]
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
    **environment: str,
) -> Result:
    """Run the command line with the arguments and the variables given."""
    return subprocess.run(  # noqa: S603 - the command is ours
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=environment_with(environment),
        timeout=PATIENCE,
        check=False,
    )


def environment_with(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: ours, less what changes its output."""
    unwanted = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"}
    own = {key: each for key, each in os.environ.items() if key not in unwanted}
    return own | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT)} | given


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
    page = run("validate", "--help", COLUMNS="200").stdout.decode()
    options = (
        "format schema assert-formats select ignore cross-check limit fail-fast "
        "max-row-bytes output-format examples max-problems statistics quiet "
        "error-on-warning exit-zero"
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
        (["validate", "rows.jsonl", "--examples", "-1"], ["--examples"]),
        (["validate", "rows.jsonl", "--max-problems", "-1"], ["--max-problems"]),
        (["validate", "rows.jsonl", "--max-row-bytes", "0"], ["--max-row-bytes"]),
        (["validate", "rows.jsonl", "--output-format", "xml"], ["xml", "concise"]),
        (["rule"], ["--all"]),
    ],
    ids=" ".join,
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
    ids=" ".join,
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
    ids=" ".join,
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
        (["--ignore", "J106,S102"], []),
    ],
    ids=" ".join,
)
def test_only_the_rules_asked_for_are_in_force(
    data: Path, options: list[str], found: list[str]
) -> None:
    """Selected and not ignored rules make findings and the exit code, others do not."""
    arguments = ("rows.jsonl", "--schema", "schema.json", *options)
    result = run("validate", *arguments, cwd=data)

    assert codes(result) == found
    assert result.returncode == (1 if found else 0)
