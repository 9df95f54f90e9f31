"""The scripts for completion, run by the shells that are installed."""

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_runs import run

#: Runs the function of the script as bash does for the words of the line.
BASH = """\
source {script}
COMP_LINE={line!r} COMP_POINT=${{#COMP_LINE}} COMP_WORDS=({line}) COMP_CWORD=9
compopt() {{ echo "option $*"; }}
_harpia_formats harpia-formats
printf '%s\\n' "${{COMPREPLY[@]}}"
complete -p harpia-formats
"""
#: Runs the function of the script with what it calls replaced by `print`.
ZSH = """\
compdef() {{ print -r -- "compdef $*" }}
_files() {{ print files }}
compset() {{ true }}
_describe() {{ print -rl -- "${{(@P)3}}" "$@[4,-1]" }}
source {script}
words=({line} {last!r})
CURRENT=$#words
_harpia-formats
"""
FISH = "source {script}; complete -C '{line}'"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return variables with a `harpia-formats` of this environment on the path."""
    program = tmp_path / "bin" / "harpia-formats"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harpia_formats "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(tmp_path)}


def script_of(shell: str) -> str:
    """Return the script that `completion SHELL` prints, with nothing else."""
    result = run("completion", shell)

    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.decode()


def completed(
    shell: str, script: str, environment: dict[str, str], folder: Path
) -> list[str]:
    """Return the lines that a shell prints for a script; skips without the shell."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    code = folder / f"completion.{shell}"
    code.write_text(script_of(shell))
    done = subprocess.run(  # noqa: S603 - a shell with our script
        [shell, *(["-f"] if shell == "zsh" else []), "-c", script],
        capture_output=True,
        check=True,
        cwd=folder,
        env=environment,
    )

    assert done.stderr == b""
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("harpia-formats val", ["validate"]),
        ("harpia-formats convert --to eee@0.2.0-", ["@0.2.0-tag"]),
        (
            "harpia-formats score --param ter.c",
            ["option -o nospace", "ter.case_sensitive="],
        ),
        ("harpia-formats validate fil", [""]),
    ],
)
def test_bash(
    line: str, found: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    """Bash gets the values, no space behind a value that goes on, or its own files."""
    script = BASH.format(script="completion.bash", line=line)
    *lines, registered = completed("bash", script, environment, tmp_path)

    assert lines == found
    assert registered == (
        "complete -o bashdefault -o default -F _harpia_formats harpia-formats"
    )


def test_bash_keeps_the_line_that_is_typed(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """On a terminal a completed value has each character of the line once."""
    pty = pytest.importorskip("pty", reason="only POSIX systems have terminals")
    (tmp_path / "completion.bash").write_text(script_of("bash"))
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(tmp_path)
        shown = {"TERM": "dumb", "PS1": "ready>", "INPUTRC": os.devnull}
        bash = shutil.which("bash") or "sh"
        os.execve(bash, [bash, "--norc", "-i"], {**environment, **shown})  # noqa: S606 - a shell with our script
    try:
        os.write(terminal, b"source completion.bash; echo $((6 * 7))\n")
        read_until(terminal, b"42\r\nready>")
        os.write(terminal, b"harpia-formats convert --to=eee@0.2.0-\t")
        found = read_until(terminal, b"tag")
    finally:
        os.write(terminal, b"\x15exit\n")
        os.waitpid(process, 0)

    assert found == b"harpia-formats convert --to=eee@0.2.0-tag"


def read_until(terminal: int, end: bytes) -> bytes:
    """Return what a terminal shows up to `end`, or for ten seconds."""
    found = b""
    while not found.rstrip(b" ").endswith(end):
        if not select.select([terminal], [], [], 10)[0]:
            break
        found += os.read(terminal, 4096)
    return found.rstrip(b" ")


@pytest.mark.parametrize(
    ("line", "last", "found"),
    [
        ("harpia-formats validate --output-format", "js", ["json:", "jsonl:"]),
        ("harpia-formats convert --to", "eee@0.2.0-", ["eee@0.2.0-tag:"]),
        ("harpia-formats validate", "", ["files"]),
    ],
)
def test_zsh(
    line: str, last: str, found: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    """Zsh gets the values with their descriptions, or completes files itself."""
    script = ZSH.format(script="completion.zsh", line=line, last=last)
    registered, *lines = completed("zsh", script, environment, tmp_path)

    assert registered == "compdef _harpia-formats harpia-formats"
    assert len(lines) == len(found)
    assert all(map(str.startswith, lines, found))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("harpia-formats detec", ["detect\tDetect the format of files"]),
        ("harpia-formats convert --turns tr", ["transcript"]),
        ("harpia-formats validate a_fi", ["a_file.jsonl"]),
    ],
)
def test_fish(
    line: str, found: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    """Fish gets the values with their descriptions, or completes files itself."""
    (tmp_path / "a_file.jsonl").touch()
    script = FISH.format(script="completion.fish", line=line)
    lines = completed("fish", script, environment, tmp_path)

    assert len(lines) == len(found)
    assert all(map(str.startswith, lines, found))
