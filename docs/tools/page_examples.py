"""Run the code blocks of a Markdown page, and replace the output that it shows."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: A fenced block: its language, the words after it, and its text.
_FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT_CODE = re.compile(r"# exit (\d+)")
_HERE_DOCUMENT = re.compile(r"<<'(\w+)'")
#: A picture in the folder of its page.
_PICTURE = re.compile(r"!\[[^]]*\]\(([\w-]+\.svg)\)")
#: Begins the word of a block that names a package which it imports.
_NEEDS = "needs-"
#: Seconds after which a command counts as hanging.
TIMEOUT = 120


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and where its text stands in the page."""

    language: str
    #: The words after the language; `not-run` means that the block is not run, and
    #: `needs-pandas` that it is run where this package is installed.
    words: tuple[str, ...]
    text: str
    #: Offsets of the text in the page.
    start: int
    end: int
    #: Offset of the first character after the block.
    after: int

    @property
    def is_run(self) -> bool:
        """Whether the block is run: a program, or commands that install nothing."""
        is_code = self.language in {"sh", "python"}
        return (
            is_code
            and "not-run" not in self.words
            and "pip install" not in self.text
            and not self.missing_packages
        )

    @property
    def missing_packages(self) -> tuple[str, ...]:
        """The packages that the block needs and that are not installed."""
        names = (
            word.removeprefix(_NEEDS) for word in self.words if word.startswith(_NEEDS)
        )
        return tuple(name for name in names if importlib.util.find_spec(name) is None)


@dataclass(frozen=True)
class Result:
    """What one block did when it was run."""

    block: Block
    #: The block with the output that the page shows below it, if it shows one.
    shown: Block | None
    output: str
    #: Commands whose exit code is not the announced one, with their output.
    failures: tuple[str, ...]


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a Markdown page, in order."""
    return [
        Block(match[1], tuple(match[2].split()), match[3], *match.span(3), match.end())
        for match in _FENCE.finditer(page)
    ]


def pictures_written(page: str, folder: Path) -> list[Path]:
    """Return the pictures that a page shows and that its blocks wrote into `folder`."""
    found = [folder / name for name in _PICTURE.findall(page)]
    return [path for path in found if path.is_file() and not path.is_symlink()]


def commands_of(script: str) -> Iterator[str]:
    """Yield the commands of a shell block, each with its continuation lines."""
    lines = iter(script.splitlines())
    for line in lines:
        command = [line]
        while command[-1].endswith("\\"):
            command.append(next(lines))
        if (marker := _HERE_DOCUMENT.search(line)) is not None:
            command.extend(iter(lambda: next(lines), marker[1]))
            command.append(marker[1])
        if any(each.strip() and not each.startswith("#") for each in command):
            yield "\n".join(command)


def run_page(page: str, folder: Path, env: Mapping[str, str]) -> Iterator[Result]:
    """Run the blocks of a page in `folder`, in order, and yield what each one did.

    A block of text right below a command, with nothing but blank lines between, is the
    output that the page shows for it.
    """
    blocks = blocks_of(page)
    for number, block in enumerate(blocks):
        if not block.is_run:
            continue
        following = blocks[number + 1] if number + 1 < len(blocks) else None
        is_output = (
            following is not None
            and following.language == "text"
            and page[block.after : following.start].strip() == "```text"
        )
        output, failures = _run(block, folder, env)
        yield Result(block, following if is_output else None, output, failures)


def _run(
    block: Block, folder: Path, env: Mapping[str, str]
) -> tuple[str, tuple[str, ...]]:
    if block.language == "python":
        runs = [([sys.executable, "-c", block.text], 0)]
    else:
        runs = [
            (["/bin/bash", "-c", command], _expected_exit_code(command))
            for command in commands_of(block.text)
        ]
    output, failures = "", []
    for arguments, expected in runs:
        done = run(arguments, folder, env)
        text = done.stdout.decode()
        output += text
        if done.returncode != expected:
            failures.append(f"{arguments[-1]}\nexit {done.returncode}\n{text}")
    return output, tuple(failures)


def _expected_exit_code(command: str) -> int:
    match = _EXIT_CODE.search(command)
    return int(match[1]) if match else 0


def run(
    arguments: list[str], folder: Path, env: Mapping[str, str]
) -> "subprocess.CompletedProcess[bytes]":
    """Run a command in `folder`, with both of its outputs as one."""
    return subprocess.run(  # noqa: S603 - the commands of our own pages
        arguments,
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=TIMEOUT,
    )


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of an example: the commands of this Python come first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "NO_COLOR": "1", **variables}


def prepare(folder: Path) -> Path:
    """Return `folder` with the shipped fixtures in it, as in the repository."""
    (folder / "fixtures").symlink_to(ROOT / "fixtures")
    return folder


def with_current_output(page: str, results: list[Result]) -> str:
    """Return the page with each shown output replaced by what its block printed."""
    for result in reversed(results):
        if result.shown is not None:
            start, end = result.shown.start, result.shown.end
            page = page[:start] + result.output + page[end:]
    return page
