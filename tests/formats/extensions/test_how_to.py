"""The pages on how to add a format, a rule, a metric and so on are followed.

A page is followed like a person does it: a block below the name of a file is that file,
a block of differences changes the file named above it, commands are run, and the text
below commands is what they print.
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HOW_TO = ROOT / "docs" / "how-to"
PAGES = sorted(path.name for path in HOW_TO.glob("add-*.md"))
#: What only packages add.
ONLY_OUTSIDE = {"add-an-expectation.md"}
#: The pages that are always followed; each page is like the others.
FOLLOWED = {"add-an-expectation.md", "add-a-reporter.md"}
#: What of the repository a page needs.
PARTS = (
    *("harpia_formats", "converters", "schemas"),
    *("fixtures", "docs", "tests", "benchmarks/harness"),
)
FILES = (
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
)
#: A fenced block with its indentation, its language and its text.
BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
#: The names of files above a block.
NAME = re.compile(r"`([\w@./+-]+)`")
EXIT_CODE = re.compile(r"# exit (\d+)$")
#: How commands begin that make an environment, which the tests have already.
SET_UP = ("python3 -m venv ", ". .venv", "pip install /path/", "pip install -e '.[")


@dataclass(frozen=True)
class Block:
    """A block of a page with the file that is named last above it, "" if none is."""

    language: str
    text: str
    file: str


def blocks_of(section: str) -> Iterator[Block]:
    """Yield the blocks of a part of a page, in order."""
    end, file = 0, ""
    for found in BLOCK.finditer(section):
        names = [
            each for each in NAME.findall(section[end : found.start()]) if "." in each
        ]
        file = names[-1] if names else file
        yield Block(found[2], textwrap.dedent(found[3]), file)
        end = found.end()


def sections_of(page: str) -> dict[str, str]:
    """Return the parts of a page by their headings."""
    _, *parts = re.split(
        r"^## ", (HOW_TO / page).read_text("utf-8"), flags=re.MULTILINE
    )
    return dict(each.split("\n", 1) for each in parts)


def changed(text: str, difference: str) -> str:
    """Return `text` with a difference, whose old lines must be in it exactly once."""
    lines = difference.splitlines()
    old = "".join(f"{each[1:]}\n" for each in lines if not each.startswith("+"))
    new = "".join(f"{each[1:]}\n" for each in lines if not each.startswith("-"))
    assert text.count(old) == 1, f"these lines are not in the file once:\n{old}"
    return text.replace(old, new)


@dataclass(frozen=True)
class Follower:
    """Does what a page says in a folder."""

    folder: Path
    environment: dict[str, str]
    #: Called in the place of `pip install -e .`.
    install: Callable[[], None]

    def follow(self, section: str) -> int:
        """Do all that a part of a page says; return the number of its commands."""
        count, output = 0, ""
        for block in blocks_of(section):
            if block.language == "sh":
                output = ""
                for command in block.text.replace("\\\n", " ").splitlines():
                    output += self.run(command)
                    count += 1
            elif block.language == "text":
                assert output.startswith(block.text)
            else:
                self.write(block)
        return count

    def write(self, block: Block) -> None:
        """Write a file, or change one."""
        path = self.folder / block.file
        if block.language == "diff":
            path.write_text(changed(path.read_text("utf-8"), block.text), "utf-8")
        else:
            assert not path.exists(), f"{block.file} already exists"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")

    def run(self, command: str) -> str:
        """Run a command, which must end as announced; return its standard output."""
        if command.startswith(SET_UP):
            return ""
        if command == "pip install -e .":
            self.install()
            return ""
        done = subprocess.run(  # noqa: S603 - the commands of our own pages
            ["/bin/sh", "-c", command],
            capture_output=True,
            check=False,
            cwd=self.folder,
            encoding="utf-8",
            env=self.environment,
            timeout=300,
        )
        announced = EXIT_CODE.search(command)
        expected = int(announced[1]) if announced else 0
        assert done.returncode == expected, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


def environment(folder: Path, *paths: Path) -> dict[str, str]:
    """Return an environment whose commands use the Python packages in `paths`."""
    commands = folder / "bin"
    commands.mkdir()
    for name, call in (
        ("python", ""),
        ("harpia-formats", " -m harpia_formats"),
        ("ruff", " -m ruff"),
    ):
        file = commands / name
        file.write_text(f'#!/bin/sh\nexec "{sys.executable}"{call} "$@"\n')
        file.chmod(0o755)
    return {
        **os.environ,
        "COLUMNS": "200",
        "NO_COLOR": "1",
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }


def copy_of_repository(folder: Path) -> Path:
    """Return a copy of what a page needs, with its compiled modules."""
    copy = folder / "repository"
    copy.mkdir()
    for name in PARTS:
        shutil.copytree(ROOT / name, copy / name)
    for name in FILES:
        shutil.copy2(ROOT / name, copy)
    return copy


@pytest.mark.long  # its commands run parts of the test suite
@pytest.mark.parametrize("page", [page for page in PAGES if page not in ONLY_OUTSIDE])
def test_page_can_be_followed_inside_the_repository(page: str, tmp_path: Path) -> None:
    """What the page adds to a copy of the repository works and passes its tests."""
    copy = copy_of_repository(tmp_path)
    follower = Follower(
        copy, environment(tmp_path, copy, copy / "converters"), lambda: None
    )

    assert follower.follow(sections_of(page)["Inside this repository"]) > 1


@pytest.mark.parametrize(
    "page",
    [
        each if each in FOLLOWED else pytest.param(each, marks=pytest.mark.long)
        for each in PAGES
    ],
)
def test_page_can_be_followed_outside(
    page: str, tmp_path: Path, install: Callable[[Path, Path], None]
) -> None:
    """The package that the page makes works with harpia-formats, with its tests."""
    project, site = tmp_path / "project", tmp_path / "site"
    project.mkdir()
    follower = Follower(
        project, environment(tmp_path, site), lambda: install(project, site)
    )

    assert follower.follow(sections_of(page)["As a plug-in"]) > 1


def test_there_is_a_page_for_each_kind() -> None:
    """Formats, rules, metrics, reporters and expectations have a page each."""
    kinds = ("format", "metric", "reporter", "rule")

    assert [f"add-a-{kind}.md" for kind in kinds] == PAGES[:-1]
    assert set(PAGES[-1:]) == ONLY_OUTSIDE


def test_a_page_that_has_drifted_fails(tmp_path: Path) -> None:
    """Lines that are not there, a file that is, another output: each is an error."""
    (tmp_path / "a.py").write_text("one\n")
    follower = Follower(tmp_path, dict(os.environ), lambda: None)
    for section in (
        "In `a.py`:\n\n```diff\n two\n+three\n```\n",
        "Write `a.py`:\n\n```python\ntwo\n```\n",
        "```sh\necho one\n```\n\n```text\ntwo\n```\n",
        "```sh\nfalse\n```\n",
    ):
        with pytest.raises(AssertionError):
            follower.follow(section)
