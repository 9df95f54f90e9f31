"""Settings are those of the closest folder above a file."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from in_process import InProcess, Run

LINT = "[tool.harpia-formats]\nlint = true\n"


@dataclass(frozen=True)
class Found:
    """The file that settings of a folder are from, None without one, and their values.

    A settings file that cannot be used has an error instead.
    """

    path: str | None
    values: dict[str, Any]
    error: str = ""


@pytest.fixture
def found(run: InProcess) -> Callable[[Path], Found]:
    """Return what finds the settings of a folder, as `config` shows them."""
    return lambda folder: found_by(run("config", folder, "--output-format", "json"))


def found_by(shown: Run) -> Found:
    """Return the settings that are shown."""
    if shown.code:
        assert (shown.code, shown.out) == (2, "")
        return Found(None, {}, shown.err)
    settings = json.loads(shown.out)["settings"]
    set_ = {one["name"]: one["value"] for one in settings if one["from"] is not None}
    origins = {one["from"] for one in settings} - {None}
    path = os.path.abspath(origins.pop()) if origins else None  # noqa: PTH100 - links are not resolved
    assert not origins
    return Found(path, set_)


Finder = Callable[[Path], Found]


def test_the_closest_file_wins(tmp_path: Path, found: Finder) -> None:
    """Settings are found from any folder below, and are not merged."""
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(LINT)
    assert found(deep).path == str(tmp_path / "pyproject.toml")

    (tmp_path / "a" / "harpia-formats.toml").write_text("strict = true")
    own = str(tmp_path / "a" / "harpia-formats.toml")
    assert found(deep) == found(deep.parent) == Found(own, {"strict": True})


def test_our_own_file_comes_first(tmp_path: Path, found: Finder) -> None:
    """In one folder harpia-formats.toml wins over pyproject.toml."""
    (tmp_path / "pyproject.toml").write_text(LINT)
    (tmp_path / "harpia-formats.toml").write_text("lint = true")

    assert found(tmp_path).path == str(tmp_path / "harpia-formats.toml")


def test_a_pyproject_without_settings_is_passed_over(
    tmp_path: Path, found: Finder
) -> None:
    """A project of others above or between is not looked into, broken or not."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "pyproject.toml").write_text(LINT)
    for text in ('[project]\nname = "harpia-formats"\n', "broken = [", ""):
        (inner / "pyproject.toml").write_text(text)

        assert found(inner).path == str(tmp_path / "pyproject.toml")


@pytest.mark.parametrize(
    "text",
    [
        LINT,
        "[tool]\nharpia-formats = { lint = true }",
        "[ tool . 'harpia-formats' ]\nlint = true",
        "tool.harpia-formats.lint = true",
        "tool = { harpia-formats = { lint = true } }",
        '[tool."harpia-formats"]\r\nlint = true\r\n',
        " [ 'tool' ]\n 'harpia-formats' . lint = true",
    ],
)
def test_the_table_is_found_however_it_is_written(
    text: str, tmp_path: Path, found: Finder
) -> None:
    """TOML has several ways to write a table."""
    (tmp_path / "pyproject.toml").write_text(text)

    assert found(tmp_path).values == {"lint": True}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[tool.harpia_formats]\nlint = true", "tool.harpia_formats"),
        ("[harpia-formats]\nlint = true", "harpia-formats"),
        ("[tools.harpia-formats]\nlint = true", "tools.harpia-formats"),
        ("[tool.harpia-format.severity]\nS101 = 'note'", "tool.harpia-format"),
        ("[tool.Harpia-Formats]\n", "tool.Harpia-Formats"),
        (f"{LINT}[tool.harpia_formats]\n", "tool.harpia_formats"),
    ],
)
def test_a_misspelt_table_is_an_error(
    text: str, place: str, tmp_path: Path, found: Finder
) -> None:
    """Settings in a table with a name near the right one are not passed over."""
    (tmp_path / "pyproject.toml").write_text(text)

    assert re.search(f"{place}: .*mean .tool.harpia-formats.", found(tmp_path).error)


def test_the_tables_of_other_tools_are_theirs(tmp_path: Path, found: Finder) -> None:
    """A table whose name only begins as ours, and a dependency, are no settings."""
    text = (
        "[tool.harpia-formats-acme]\nlint = 1\n[tool.harpia]\nx = 1\n"
        "[tool.uv.sources]\nharpia-formats = { path = '..' }\n"
        "[dependency-groups]\nharpia-formats = ['a']\n"
    )
    (tmp_path / "pyproject.toml").write_text(text)

    assert found(tmp_path) == Found(None, {})


@pytest.mark.skipif(os.name != "posix", reason="links and FIFOs")
def test_what_is_no_file_is_passed_over(tmp_path: Path, found: Finder) -> None:
    """Folders, FIFOs, links to themselves and links to nothing are no settings."""
    (tmp_path / "pyproject.toml").mkdir()
    assert found(tmp_path) == Found(None, {})
    os.mkfifo(tmp_path / "harpia-formats.toml")
    assert found(tmp_path) == Found(None, {})
    (tmp_path / "harpia-formats.toml").unlink()
    (tmp_path / "harpia-formats.toml").symlink_to("harpia-formats.toml")
    assert found(tmp_path) == Found(None, {})
    (tmp_path / "loop").symlink_to(tmp_path)
    assert found(tmp_path / "loop" / "loop" / "loop") == Found(None, {})


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may read all files"
)
def test_settings_that_cannot_be_read_are_an_error(
    tmp_path: Path, found: Finder
) -> None:
    """Settings that are there are never passed over silently."""
    (tmp_path / "harpia-formats.toml").write_text("")
    (tmp_path / "harpia-formats.toml").chmod(0)

    assert "harpia-formats.toml: " in found(tmp_path).error


@pytest.mark.parametrize("padding", ["\n", " ", "tool.", "tool ", "[ "])
def test_a_large_project_file_is_searched_at_once(
    tmp_path: Path, padding: str, found: Finder
) -> None:
    """Whether a file has settings is known at once, whatever else it holds."""
    text = f"#{padding}harpia\n" + padding * 300_000
    (tmp_path / "pyproject.toml").write_text(text)
    start = time.process_time()
    found(tmp_path)

    assert time.process_time() - start < 10


def test_a_large_project_file_without_settings_is_passed_over(
    tmp_path: Path, found: Finder
) -> None:
    """The limit on the size holds only for a file that has settings."""
    large = "# harpia\n" * 200_000
    (tmp_path / "pyproject.toml").write_text(large)
    assert found(tmp_path) == Found(None, {})
    (tmp_path / "pyproject.toml").write_text(large + "[tool.harpia-formats]\n")

    assert "more than the 1,048,576 that are read" in found(tmp_path).error


def test_the_file_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: InProcess
) -> None:
    """Paths in a file that is named start from the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci" / "strict.toml").write_text('exclude = ["data/*"]\nlint = true')
    (tmp_path / "ci" / "pyproject.toml").write_text("[project]")
    for folder in ("data", "ci/data"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.jsonl").write_text("{}\n")

    def named(path: str, file: str = ".") -> Run:
        return run("config", file, "--config", path, "--output-format", "json")

    found = found_by(named("ci/strict.toml"))
    assert found.path == str(tmp_path / "ci" / "strict.toml")
    for path, is_out in (("data/a.jsonl", True), ("ci/data/a.jsonl", False)):
        shown = run("config", path, "--config", "ci/strict.toml")
        assert ("left out" in shown.out) is is_out
    for name, reason in (
        ("ci/pyproject.toml", "has no table [tool.harpia-formats]"),
        ("missing.toml", "missing.toml: "),
        ("ci", "ci: is a folder"),
    ):
        assert reason in found_by(named(name)).error


def test_the_parser_is_loaded_only_for_settings(tmp_path: Path) -> None:
    """Looking for settings imports no parser of TOML."""
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    code = (
        "import sys\nfrom harpia_formats.cli import main\ntry:\n    main()\n"
        "except SystemExit:\n    assert 'tomllib' not in sys.modules"
    )
    words = [sys.executable, "-c", code, "validate", "a.jsonl"]
    subprocess.run(words, check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)  # noqa: S603 - ours
