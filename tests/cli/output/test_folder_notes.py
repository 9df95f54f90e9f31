"""Findings that files of one folder share, in the text that `validate` writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from command_runs import report_of, run

#: A file of it has one note on its shape, and nothing else.
ROWS = '[{"id": "1", "input": "q", "expected-output": ["r"], "actual-output": "r"}]'


def folder(tmp_path: Path) -> Path:
    """Return a folder: three files in one part of it, and one in another."""
    for name in ("one/a", "one/b", "one/c", "two/d"):
        path = tmp_path / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(ROWS)
    return tmp_path


@pytest.mark.parametrize("form", ["concise", "full"])
def test_equal_notes_of_a_folder_are_one_line(form: str, tmp_path: Path) -> None:
    """The first file shows the note, a line counts it in the others of the folder."""
    shown = run("validate", folder(tmp_path), "--output-format", form).stdout.decode()

    heads = [line for line in shown.splitlines() if ":1:1" in line]
    assert [Path(line.split(":1:1")[0]).name for line in heads] == ["a.json", "d.json"]
    (rest,) = [line for line in shown.splitlines() if "equal notes" in line]
    assert "2 equal notes in 2 other files of the folder" in rest
    assert "S202" in rest
    assert "validated as harpia (instances)" in rest


def test_all_examples_are_all_notes(tmp_path: Path) -> None:
    """With `--examples 0` each file shows its note."""
    shown = run("validate", folder(tmp_path), "--examples", 0).stdout.decode()

    assert shown.count(":1:1: note S202") == 4
    assert "equal notes" not in shown


def copies_as_lines(row: dict[str, Any], count: int) -> str:
    """Return lines of `count` rows that differ in their id only."""
    return "".join(json.dumps(row | {"id": str(at)}) + "\n" for at in range(count))


def test_equal_warnings_of_a_folder_are_one_line(tmp_path: Path) -> None:
    """The first file shows the warning, a line counts it; the report has all places."""
    row = {"input": "q", "expected-output": "r", "actual-output": "r"}
    for name, count in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / f"{name}.jsonl").write_text(copies_as_lines(row, count))

    shown = run("validate", tmp_path).stdout.decode()

    assert shown.count("warning H103") == 1
    assert "H103 bare-expected-output: 3 equal warnings in 2 other files" in shown
    assert len(report_of(tmp_path)["problems"]) == 7


def test_errors_are_never_folded(tmp_path: Path) -> None:
    """An error has its place in each file."""
    row = {"input": "q", "expected-output": ["r"]}
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(copies_as_lines(row, 1))

    shown = run("validate", tmp_path, "--format", "harpia").stdout.decode()

    assert shown.count(": H108 ") == 2


def test_valid_fixtures_of_a_folder_take_few_lines() -> None:
    """The folder that the readme validates has 88 findings, in about half the lines."""
    shown = run("validate", "fixtures/harpia/valid").stdout.decode()

    assert len(shown.splitlines()) <= 45
