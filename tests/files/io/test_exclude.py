from pathlib import Path

import pytest

from harpia_formats import detect
from harpia_formats.files.io.discovery import Exclusion, check_patterns
from harpia_formats.files.io.inputs import sources_of_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source

NAMES = ("a.json", "logs/a.json", "logs/old/b.jsonl", "runs/logs.json", "runs/c.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with files at all of `NAMES`."""
    for name in NAMES:
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    return tmp_path / "logs"


def left(folder: Path, *patterns: str) -> set[str]:
    """Return which files of a folder the patterns leave."""
    found = sources_of_inputs([folder], Exclusion(patterns))
    return {
        str(Path(source.name).relative_to(folder))
        for source in found
        if isinstance(source, Source)
    }


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
    assert left(folder, pattern) == set(NAMES) - out


def test_every_pattern_counts(folder: Path) -> None:
    """A file that any pattern matches is left out, and counted once."""
    exclusion = Exclusion(["*.json", "a.*"])
    found = list(sources_of_inputs([folder], exclusion))

    assert (len(found), exclusion.count) == (2, 3)


@pytest.mark.parametrize("argument", ["logs", "./logs", "logs/", "logs/runs/c.csv"])
def test_relative_folders(
    folder: Path, monkeypatch: pytest.MonkeyPatch, argument: str
) -> None:
    """However a folder is named, its own name is no part of the paths below it."""
    monkeypatch.chdir(folder.parent)
    found = list(sources_of_inputs([argument], Exclusion(["logs/runs"])))

    assert len(found) == (1 if argument.endswith("csv") else len(NAMES))


def test_named_file_is_left_out_by_its_name(folder: Path) -> None:
    """The folders above an absolute path do not matter."""
    inputs = [folder / name for name in NAMES]
    found = list(sources_of_inputs(inputs, Exclusion(["logs", "a.json"])))

    assert [Path(str(source.name)).name for source in found] == [  # type: ignore[union-attr]  # no errors
        "b.jsonl",
        "logs.json",
        "c.csv",
    ]


def test_that_nothing_is_left_is_an_error(folder: Path) -> None:
    """Patterns that leave out all files are a mistake."""
    (error,) = sources_of_inputs([folder, folder / "a.json"], Exclusion(["*"]))

    assert isinstance(error, SourceError)
    assert str(error) == f"{folder}: all files are left out by `--exclude`"


def test_one_text_is_no_list_of_patterns() -> None:
    """A pattern instead of a tuple of patterns raises."""
    with pytest.raises(TypeError, match="exclude takes several patterns"):
        check_patterns("*.json")


@pytest.mark.parametrize("pattern", ["", "/", "./"])
def test_empty_pattern_is_refused(folder: Path, pattern: str) -> None:
    """A pattern without a name raises, also through the functions that take it."""
    for check in (check_patterns, lambda given: detect(folder, exclude=given)):
        with pytest.raises(ValueError, match="names no file: give a pattern"):
            check(("*.json", pattern))


def test_patterns_that_match_nothing_are_known(folder: Path) -> None:
    """A pattern that matches files only next to another one has matched."""
    exclusion = Exclusion(["*.json", "a.*", "no/such", "b.jsn"])
    list(sources_of_inputs([folder], exclusion))

    assert exclusion.unmatched == ("no/such", "b.jsn")
