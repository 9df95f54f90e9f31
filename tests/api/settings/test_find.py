"""Settings are those of the closest folder above a file."""

import contextlib
import os
import sys
import time
from pathlib import Path

import pytest

from cases import for_each_case
from harpia_formats.api.run_settings import SettingsFinder, given_settings
from harpia_formats.model.problem import TomlError

LINT = "[tool.harpia-formats]\nlint = true\n"


def found(folder: Path) -> str | None:
    """Return the file of the settings of a folder."""
    settings = SettingsFinder().of_folder(str(folder))
    if settings is None:
        return None
    return os.path.abspath(settings.path)  # noqa: PTH100 - links are not resolved


def test_the_closest_file_wins(tmp_path: Path) -> None:
    """Settings are found from any folder below, and are not merged."""
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(LINT)
    assert found(deep) == str(tmp_path / "pyproject.toml")

    (tmp_path / "a" / "harpia-formats.toml").write_text("jobs = 2")
    finder = SettingsFinder()
    close = finder.of_folder(str(deep))
    assert close is not None
    assert close.values == {"jobs": 2}
    assert close.root == str(tmp_path / "a")
    assert finder.of_folder(str(tmp_path / "a" / "b")) is close


def test_our_own_file_comes_first(tmp_path: Path) -> None:
    """In one folder harpia-formats.toml wins over pyproject.toml."""
    (tmp_path / "pyproject.toml").write_text(LINT)
    (tmp_path / "harpia-formats.toml").write_text("")

    assert found(tmp_path) == str(tmp_path / "harpia-formats.toml")


def test_a_pyproject_without_settings_is_passed_over(tmp_path: Path) -> None:
    """A project of others above or between is not looked into, broken or not."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "pyproject.toml").write_text(LINT)
    for text in ('[project]\nname = "harpia-formats"\n', "broken = [", ""):
        (inner / "pyproject.toml").write_text(text)

        assert found(inner) == str(tmp_path / "pyproject.toml")


@for_each_case(
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
def test_the_table_is_found_however_it_is_written(text: str, tmp_path: Path) -> None:
    """TOML has several ways to write a table."""
    (tmp_path / "pyproject.toml").write_text(text)

    settings = SettingsFinder().of_folder(str(tmp_path))

    assert settings is not None
    assert settings.values == {"lint": True}


@for_each_case(
    "text, place",
    [
        ("[tool.harpia_formats]\nlint = true", "tool.harpia_formats"),
        ("[harpia-formats]\nlint = true", "harpia-formats"),
        ("[tools.harpia-formats]\nlint = true", "tools.harpia-formats"),
        ("[tool.harpia-format.severity]\nS101 = 'note'", "tool.harpia-format"),
        ("[tool.Harpia-Formats]\n", "tool.Harpia-Formats"),
        (f"{LINT}[tool.harpia_formats]\n", "tool.harpia_formats"),
    ],
)
def test_a_misspelt_table_is_an_error(text: str, place: str, tmp_path: Path) -> None:
    """Settings in a table with a name near the right one are not passed over."""
    (tmp_path / "pyproject.toml").write_text(text)

    with pytest.raises(TomlError, match=f"{place}: .*mean .tool.harpia-formats."):
        found(tmp_path)


def test_the_tables_of_other_tools_are_theirs(tmp_path: Path) -> None:
    """A table whose name only begins as ours, and a dependency, are no settings."""
    text = (
        "[tool.harpia-formats-acme]\nlint = 1\n[tool.harpia]\nx = 1\n"
        "[tool.uv.sources]\nharpia-formats = { path = '..' }\n"
        "[dependency-groups]\nharpia-formats = ['a']\n"
    )
    (tmp_path / "pyproject.toml").write_text(text)

    assert found(tmp_path) is None


@pytest.mark.skipif(os.name != "posix", reason="links and FIFOs")
def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    """Folders, FIFOs, links to themselves and links to nothing are no settings."""
    (tmp_path / "pyproject.toml").mkdir()
    assert found(tmp_path) is None
    os.mkfifo(tmp_path / "harpia-formats.toml")
    assert found(tmp_path) is None
    (tmp_path / "harpia-formats.toml").unlink()
    (tmp_path / "harpia-formats.toml").symlink_to("harpia-formats.toml")
    assert found(tmp_path) is None
    (tmp_path / "loop").symlink_to(tmp_path)
    assert found(tmp_path / "loop" / "loop" / "loop") is None
    assert found(tmp_path / ("x" * 300) / "\0") is None


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may read all files"
)
def test_settings_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    """Settings that are there are never passed over silently."""
    (tmp_path / "harpia-formats.toml").write_text("")
    (tmp_path / "harpia-formats.toml").chmod(0)

    with pytest.raises(TomlError, match=r"harpia-formats\.toml: "):
        found(tmp_path)


@for_each_case("padding", ["\n", " ", "tool.", "tool ", "[ "])
def test_a_large_project_file_is_searched_at_once(tmp_path: Path, padding: str) -> None:
    """Whether a file has settings is known at once, whatever else it holds."""
    text = f"#{padding}harpia\n" + padding * 300_000
    (tmp_path / "pyproject.toml").write_text(text)
    start = time.process_time()
    with contextlib.suppress(TomlError):
        found(tmp_path)

    assert time.process_time() - start < 10


def test_a_large_project_file_without_settings_is_passed_over(tmp_path: Path) -> None:
    """The limit on the size holds only for a file that has settings."""
    large = "# harpia\n" * 200_000
    (tmp_path / "pyproject.toml").write_text(large)
    assert found(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text(large + "[tool.harpia-formats]\n")

    with pytest.raises(TomlError, match="more than the 1,048,576 that are read"):
        found(tmp_path)


def test_a_deep_path_is_walked(tmp_path: Path) -> None:
    """A path of many steps is no deeper than the call stack."""
    assert found(tmp_path.joinpath(*"x" * 2000)) is None


def test_the_file_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths in a file that is named start from the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci" / "strict.toml").write_text("strict = true")
    (tmp_path / "ci" / "pyproject.toml").write_text("[project]")

    settings = given_settings("ci/strict.toml")

    assert (settings.path, settings.root) == ("ci/strict.toml", str(tmp_path))
    with pytest.raises(TomlError, match=r"has no table \[tool.harpia-formats\]"):
        given_settings("ci/pyproject.toml")
    with pytest.raises(TomlError, match=r"missing\.toml: "):
        given_settings("missing.toml")
    with pytest.raises(TomlError, match="ci: is a folder"):
        given_settings("ci")


def test_the_parser_is_loaded_only_for_settings(tmp_path: Path) -> None:
    """Looking for settings imports no parser of TOML."""
    import subprocess  # noqa: PLC0415 - only here

    code = (
        "import sys\nfrom harpia_formats.api.run_settings import SettingsFinder\n"
        "SettingsFinder().of_folder(sys.argv[1])\nassert 'tomllib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)  # noqa: S603 - ours
