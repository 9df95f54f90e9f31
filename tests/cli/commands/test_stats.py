"""`harpia-formats stats`, as a user runs it."""

import json
import re
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from in_process import InProcess
from json_lines import jsonl

ANSWERS = Path(__file__).parents[3] / "fixtures/nemo-output/valid/answers.jsonl"
TABLES = """\
files      1  nemo-output
records    5
questions  4  different prompts
answers    5

length             count  min  25%  50%  75%  95%  max  mean
"""


@pytest.fixture(name="run")
def run_stats(run: InProcess) -> Any:
    """Return what runs `stats` and returns its code, output and errors."""
    return lambda *arguments: astuple(run("stats", *arguments))


def test_statistics_are_tables(run: Any) -> None:
    """Counts and lengths come first, and no line is wider than 80 columns."""
    code, output, errors = run(str(ANSWERS))

    assert (code, errors) == (0, "")
    assert output.startswith(TABLES)
    assert max(map(len, output.splitlines())) <= 80
    assert "repeated prompts: none among 4" in output


def test_long_names_and_large_numbers_fit(run: Any, tmp_path: Path) -> None:
    """Long paths are cut at their beginnings, and long names have their own lines."""
    times = {"time_to_the_first_token_ms": 123456, "t": 1}
    usage = {"model": "m" * 50, "token_usage": {"prompt": 1}, "performance": times}
    rows = [{"outputs": [{"text": None}]}, {"prompt": "q", "outputs": [usage]}]
    path = tmp_path / f"{'long-' * 20}.jsonl"
    path.write_bytes(jsonl(*rows))

    _, output, _ = run(str(path), "--from", "record")

    assert max(map(len, output.splitlines())) <= 80
    assert "…" in output
    assert "-long-.jsonl:1\n" in output
    assert "\ntime_to_the_first_token_ms\n  " in output


def test_what_is_no_time_has_no_numbers(run: Any, tmp_path: Path) -> None:
    """A member of the performance that is never a number is counted 0 times."""
    outputs = [{"text": "a", "performance": {"details": "none", "total_ms": 12}}]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"prompt": "q", "outputs": outputs}))

    code, output, errors = run(str(path), "--from", "record")

    assert (code, errors) == (0, "")
    assert re.search(r"^details +0$", output, re.MULTILINE)
    assert re.search(r"^total_ms +1 +12 ", output, re.MULTILINE)


def test_statistics_are_json(run: Any) -> None:
    """With `--output-format json` they are one object, with the name of its schema."""
    code, output, errors = run(str(ANSWERS), "--output-format", "json")

    found = json.loads(output)
    assert (code, errors) == (0, "")
    assert found["schema"] == "harpia-formats/statistics/1"
    assert found["records"] == 5


def test_an_invalid_row_ends_the_run(run: Any, tmp_path: Path) -> None:
    """The exit code is 1, nothing is reported, and the help names the option."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ANSWERS.read_bytes() + b'{"input": 1}\n')

    code, output, errors = run(str(path))
    skipping = run(str(path), "--on-invalid", "skip")

    assert (code, output) == (1, "")
    assert "`--on-invalid skip` leaves them out" in errors
    assert skipping[0] == 0
    assert "left out   1  records that are not valid" in skipping[1]


def test_columns_that_are_no_fields_are_reported(run: Any, tmp_path: Path) -> None:
    """Without a question the option is named with which columns become fields."""
    path = tmp_path / "own.csv"
    path.write_text("frage\nq\n")

    code, output, errors = run(str(path))
    named = run(str(path), "--from", "csv")

    assert (code, output) == (1, "")
    assert "S301" in errors
    assert named[0] == 0
    assert named[1].endswith("with `--map`, such as `--map prompt=COLUMN`\n")


def test_the_first_record_that_lacks_a_field_is_shown(run: Any, tmp_path: Path) -> None:
    """However it lacks it: null or empty before missing, in the order of the files."""
    one, two = tmp_path / "b.jsonl", tmp_path / "a.jsonl"
    texts: list[Any] = [{"text": "a"}, {"text": None}, {}]
    one.write_bytes(jsonl(*({"outputs": [text]} for text in texts)))
    two.write_bytes(jsonl({"outputs": [{"text": ""}]}))

    _, output, _ = run(str(one), str(two), "--from", "record")

    line = next(line for line in output.splitlines() if "outputs.text" in line)
    assert line.split()[1:5] == ["4", "1", "1", "1"]
    assert line.endswith(("b.jsonl:2, record 2", "b.jsonl:2"))


def test_a_page_is_written_as_well(run: Any, tmp_path: Path) -> None:
    """`--report` writes the page, and what is printed stays."""
    page = tmp_path / "stats.html"

    code, output, _ = run(str(ANSWERS), "--report", str(page))

    assert code == 0
    assert output.startswith(TABLES)
    assert "5 records, 4 questions, 5 answers" in page.read_text(encoding="utf-8")


def test_a_document_without_records_is_named(run: Any) -> None:
    """A document that holds no records is an error that says so."""
    document = next((ANSWERS.parents[2] / "harpia-output" / "valid").iterdir())

    code, output, errors = run(str(document), "--from", "harpia-output")

    assert (code, output) == (2, "")
    assert "a document without records" in errors


def test_names_in_data_cannot_control_the_terminal(run: Any, tmp_path: Path) -> None:
    """Control characters in values are shown as escapes."""
    row = json.loads(ANSWERS.read_bytes().splitlines()[0]) | {"llm_name": "m\x1b[31m"}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row))

    code, output, _ = run(str(path))

    assert code == 0
    assert "\x1b" not in output
    assert r"m\x1b[31m" in output
