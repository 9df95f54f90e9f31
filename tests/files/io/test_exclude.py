"""Files that are left out by patterns, and the patterns that match nothing."""

from pathlib import Path
from typing import Any

import pytest

from harpia_formats import Report, detect, validate
from in_process import InProcess

NAMES = ("a.json", "logs/a.json", "logs/old/b.jsonl", "runs/logs.json", "runs/c.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with files at all of `NAMES`."""
    for name in NAMES:
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    return tmp_path / "logs"


def report_on(*inputs: Any, exclude: tuple[str, ...]) -> Report:
    """Return the report of all files that the patterns leave."""
    return validate(*inputs, exclude=exclude, format="record")


@pytest.mark.parametrize(
    ("pattern", "out"),
    [
        ("a.json", {"a.json", "logs/a.json"}),
        ("./a.json", {"a.json", "logs/a.json"}),
        ("logs", {"logs/a.json", "logs/old/b.jsonl"}),
        ("logs/", {"logs/a.json", "logs/old/b.jsonl"}),
        ("logs/*.json", {"logs/a.json"}),
        ("logs/*", {"logs/a.json", "logs/old/b.jsonl"}),
        ("*/a.json", {"logs/a.json"}),
        ("**/a.json", {"a.json", "logs/a.json"}),
        ("logs/**/b.jsonl", {"logs/old/b.jsonl"}),
        ("*.json", {"a.json", "logs/a.json", "runs/logs.json"}),
        ("?.csv", {"runs/c.csv"}),
        ("[ab].*", {"a.json", "logs/a.json", "logs/old/b.jsonl"}),
        ("old/b.jsonl", set()),
        ("A.json", set()),
    ],
)
def test_pattern_is_matched_below_the_folder(
    folder: Path, pattern: str, out: set[str]
) -> None:
    """A pattern is about the path below the folder, or about each name on it."""
    report = report_on(folder, exclude=(pattern,))
    left = {str(Path(file.path).relative_to(folder)) for file in report.files}

    assert left == set(NAMES) - out
    assert report.excluded == len(out)
    assert report.unmatched == (() if out else (pattern,))


def test_every_pattern_counts(folder: Path) -> None:
    """A file that any pattern matches is left out, and counted once.

    A pattern that matches files only next to another one has matched.
    """
    report = report_on(folder, exclude=("*.json", "a.*", "no/such", "b.jsn"))

    assert (len(report.files), report.excluded) == (2, 3)
    assert report.unmatched == ("no/such", "b.jsn")


@pytest.mark.parametrize("argument", ["logs", "./logs", "logs/", "logs/runs/c.csv"])
def test_relative_folders(
    folder: Path, monkeypatch: pytest.MonkeyPatch, argument: str
) -> None:
    """However a folder is named, its own name is no part of the paths below it."""
    monkeypatch.chdir(folder.parent)
    found = report_on(argument, exclude=("logs/runs",)).files

    assert len(found) == (1 if argument.endswith("csv") else len(NAMES))


def test_named_file_is_left_out_by_its_name(folder: Path) -> None:
    """The folders above an absolute path do not matter."""
    inputs = [folder / name for name in NAMES]
    found = report_on(*inputs, exclude=("logs", "a.json")).files

    assert [Path(file.path).name for file in found] == [
        "b.jsonl",
        "logs.json",
        "c.csv",
    ]


def test_that_nothing_is_left_is_an_error(folder: Path, run: InProcess) -> None:
    """Patterns that leave out all files are a mistake."""
    (failure,) = report_on(folder, folder / "a.json", exclude=("*",)).failures

    assert failure.path == str(folder)
    assert failure.reason == "all files are left out by exclude"
    assert "by `--exclude`" in run("validate", folder, "--exclude", "*").err


@pytest.mark.parametrize("pattern", ["", "/", "./"])
def test_empty_pattern_is_refused(folder: Path, pattern: str) -> None:
    """A pattern without a name raises, whichever function takes it."""
    for function in (detect, validate):
        with pytest.raises(ValueError, match="names no file: give a pattern"):
            function(folder, exclude=("*.json", pattern))
