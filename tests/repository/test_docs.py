"""What the documentation shows is what happens."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/how-to/convert.md",
    "docs/how-to/score.md",
    "docs/reference/formats/nemo.md",
    "docs/reference/formats/harpia.md",
)
#: Commands whose lines run on what the repository has.
COMMANDS = ("convert", "roundtrip", "diff", "score")
_block = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_code = re.compile(r"# exit (\d)$")


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each block of code of a page."""
    return _block.findall((ROOT / page).read_text(encoding="utf-8"))


def commands_in(text: str) -> Iterator[str]:
    """Yield the lines of a block that run on fixtures, or on what such lines wrote."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["harpia-formats"] and words[1] in COMMANDS:
            yield line


def is_runnable(page: str, line: str) -> bool:
    """Tell whether what a line reads is there; a README shows names of users, too."""
    return page != "README.md" or "fixtures/" in line


def run(command: list[str], folder: Path) -> "subprocess.CompletedProcess[bytes]":
    """Return what came of a command in `folder`, with both outputs as one."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(  # noqa: S603 - the commands are ours
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=60,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder in which the fixtures lie as in the repository."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_commands_do_what_is_shown(page: str, folder: Path) -> None:
    """Each conversion ends with its exit code, and prints the block that follows."""
    blocks = blocks_of(page)
    ran = 0
    for number, (kind, text) in enumerate(blocks):
        lines = list(commands_in(text)) if kind == "sh" else []
        said = ""
        for line in (each for each in lines if is_runnable(page, each)):
            code = _code.search(line)
            done = run(["/bin/bash", "-c", line], folder)
            said = done.stdout.decode()
            ran += 1

            assert done.returncode == (int(code[1]) if code else 0), said
        following = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
        if said and following[0] == "text":
            assert said == following[1]

    assert ran


def test_python_runs(folder: Path) -> None:
    """The example in Python runs as it stands."""
    blocks = blocks_of("docs/how-to/convert.md")
    (code,) = (text for kind, text in blocks if kind == "python")
    done = run([sys.executable, "-c", code], folder)

    assert done.returncode == 0, done.stdout.decode()


def test_every_option_of_convert_is_told() -> None:
    """The page names every option of the command, and no other one."""
    done = run(["harpia-formats", "convert", "--help"], ROOT)
    known = set(re.findall(r"--[a-z-]+", done.stdout.decode())) - {"--help"}
    page = (ROOT / "docs" / "how-to" / "convert.md").read_text(encoding="utf-8")
    told = set(re.findall(r"--[a-z][a-z-]+", page))

    assert known - told - {"--quiet", "--max-row-bytes", "--output"} == set()
    assert told - known - {"--pairs", "--via"} == set()


def test_links_lead_somewhere() -> None:
    """Each link from a page to a file of the repository leads to one."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        (page.name, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]

    assert broken == []
