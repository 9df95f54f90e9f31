"""The container file, as far as it can be checked without an engine."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
#: Each instruction with its arguments, on one line.
INSTRUCTIONS = [
    tuple(line.split(" ", 1))
    for line in re.sub(
        r"\\\n\s*", "", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)
    ).splitlines()
    if line
]


def given(instruction: str) -> list[str]:
    """Return the arguments of each instruction of a kind."""
    return [arguments for name, arguments in INSTRUCTIONS if name == instruction]


def test_base_is_pinned() -> None:
    """Both stages start from the same image, by its digest, as the GitLab job does."""
    bases = {base.split(" AS ")[0] for base in given("FROM")}
    (base,) = bases
    template = ROOT / "integrations" / "gitlab" / "harpia-formats.yml"

    assert re.fullmatch(
        r"docker\.io/library/python:3\.\d+-slim@sha256:[0-9a-f]{64}", base
    )
    assert base.removeprefix("docker.io/library/") in template.read_text()


def test_image_runs_as_no_one() -> None:
    """The command is the entry point, without rights, and adds nothing from afar."""
    names = [name for name, _ in INSTRUCTIONS]

    assert given("USER") == ["10001:10001"]
    assert names.index("USER") > max(
        place for place, name in enumerate(names) if name in {"COPY", "RUN", "FROM"}
    )
    assert json.loads(given("ENTRYPOINT")[0]) == ["harpia-formats"]
    assert "ADD" not in names
    assert all("--no-cache-dir" in command for command in given("RUN"))


def test_what_is_copied_is_there() -> None:
    """Each source exists, and is not among the files that the engine is not given."""
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    kept = [line[1:] for line in ignored if line.startswith("!")]
    copied = [
        source
        for line in given("COPY")
        if not line.startswith("--from")
        for source in line.split()[:-1]
    ]

    assert sorted(copied) == sorted(kept)
    assert all((ROOT / source).exists() for source in copied)
    assert any(fnmatchcase("anything", line) for line in ignored)


@pytest.mark.tools
def test_build_commands_work(tmp_path: Path) -> None:
    """The stage that builds makes an environment with the command and the extras."""
    source = tmp_path / "source"
    for line in given("COPY"):
        if not line.startswith("--from"):
            *names, target = line.split()
            for name in names:
                copy(ROOT / name, source / target / ("" if target == name else name))
    (command,) = given("RUN")
    for folder in ("/wheels", "/opt/harpia-formats"):
        command = command.replace(folder, shlex.quote(f"{tmp_path}{folder}"))
    command = command.replace("python -m", f"{shlex.quote(sys.executable)} -m", 1)
    extras = given("ARG")[0]
    subprocess.run(  # noqa: S603 - the commands are ours
        ["/bin/sh", "-ec", f"{extras}; {command}"], cwd=source, check=True
    )
    program = tmp_path / "opt" / "harpia-formats" / "bin" / "harpia-formats"
    data = ROOT / "fixtures" / "nemo-output" / "valid" / "answers.jsonl"
    done = subprocess.run([program, "validate", data], check=False)  # noqa: S603 - the command is ours

    assert done.returncode == 0


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)
