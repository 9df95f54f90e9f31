"""Notes that files of one folder share, in the text that `validate` writes."""

import json
from pathlib import Path

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


def test_warnings_are_never_folded(tmp_path: Path) -> None:
    """A warning has its place in each file."""
    row = {"id": "1", "input": "q", "expected-output": "r", "actual-output": "r"}
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")

    shown = run("validate", tmp_path).stdout.decode()

    assert shown.count("warning H103") == 2
    assert len(report_of(tmp_path)["problems"]) == 4
