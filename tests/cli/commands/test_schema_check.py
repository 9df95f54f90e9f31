import gzip
import json
from functools import partial
from pathlib import Path

import command_runs
from cases import for_each_case
from harpia_formats import check_schema

SCHEMAS = Path(__file__).parents[3] / "schemas"
#: Runs `harpia-formats schema check` with arguments.
run = partial(command_runs.run, "schema", "check")

GHOST = (
    b":323:14: warning S411 unreachable-requirement "
    b'"num_turns" is required inside "metrics"'
)


def test_mistakes_of_the_users_schema_are_shown() -> None:
    """Both slips of the instance-level schema are found at their lines."""
    result = run(SCHEMAS / "eee/eee@0.2.0.schema.json")

    assert (result.returncode, GHOST in result.stdout) == (0, True)
    assert b":292:1: warning S414 redundant-not" in result.stdout
    assert b"1 schema, valid; 3 warnings, 2 notes" in result.stderr


@for_each_case(
    "text, arguments, code",
    [
        ("{}", (), 0),
        ('{"requird": ["a"]}', (), 0),
        ('{"requird": ["a"]}', ("--error-on-warning",), 1),
        ('{"type": "int"}', (), 1),
        ('{"type": "int"}', ("--exit-zero",), 0),
        ('{"type": "int"}', ("--ignore", "invalid-keyword"), 0),
        ('{"type": "int"}', ("--select", "S405"), 0),
        ('{"type": "int"}', ("--select", "S999"), 2),
        ('{"type": ', (), 1),
        ('{"type": "object", "type": "array"}', (), 1),
        ("", (), 1),
        ("[" * 200 + "]" * 200, (), 2),
        ("[" * 100_000 + "]" * 100_000, (), 1),
    ],
)
def test_exit_code(text: str, arguments: tuple[str, ...], code: int) -> None:
    """The exit code is 1 for errors, 2 for what cannot be done, else 0."""
    result = run("-", *arguments, stdin=text.encode())

    assert result.returncode == code, result
    assert b"Traceback" not in result.stderr


def test_missing_file_is_unreadable(tmp_path: Path) -> None:
    """A file that is not there gives 2, and the others are checked."""
    path = tmp_path / "mine.json.gz"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf{"enum": []}'))
    result = run(tmp_path / "none.json", path)

    assert result.returncode == 2
    assert b"S402" in result.stdout
    assert b"none.json: does not exist" in result.stderr


def test_report_is_that_of_validate(tmp_path: Path) -> None:
    """The JSON report of a folder has the findings and counts of each schema."""
    (tmp_path / "a.json").write_text('{\n  "type": "int"\n}')
    (tmp_path / "b.json").write_text("true")
    result = run(tmp_path, "--output-format", "json")
    report = json.loads(result.stdout)

    assert [(file["format"], file["valid"]) for file in report["files"]] == [
        ("json-schema", 0),
        ("json-schema", 1),
    ]
    (problem,) = report["problems"]
    assert (problem["line"], problem["column"], problem["code"]) == (2, 11, "S404")


def test_python_function_reports_the_same() -> None:
    """`check_schema` takes a schema as a dictionary and has the rules as options."""
    schema = {"properties": {"year": {"pattern": "^[0-9]{4}$"}}}

    assert check_schema(schema).problems == ()
    (problem,) = check_schema(schema, lint=True).problems
    assert (problem.code, problem.place.pointer) == (
        "S423",
        "/properties/year/pattern",
    )


def test_command_for_formats_stays() -> None:
    """`schema ID` prints a schema as before."""
    assert (
        command_runs.run("schema", "eee@0.2.0").stdout
        == (SCHEMAS / "eee/eee@0.2.0.schema.json").read_bytes()
    )
