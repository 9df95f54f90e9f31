"""The hooks for pre-commit."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from pre_commit.clientlib import load_manifest

from cases import for_each_case
from json_lines import jsonl_rows

CommandLine = Callable[[Sequence[str]], tuple[int, str, str]]

ROOT = Path(__file__).parents[2]
HOOKS = {hook["id"]: hook for hook in load_manifest(ROOT / ".pre-commit-hooks.yaml")}
ANSWERS = ROOT / "fixtures" / "nemo-output" / "valid" / "answers.jsonl"
#: A row without the keys that its format requires.
BROKEN = b'{"input": {"prompt": "1 + 1?", "ideal_response": "2"}}\n'
#: Files that repositories have next to their data, in no format of ours.
OTHERS = {
    "package.json": b'{"name": "x", "version": "1.0.0", "scripts": {"test": "t"}}\n',
    "data.schema.json": b'{"$schema": "x", "type": "object"}\n',
    "map.json": b'\xef\xbb\xbf{"type": "FeatureCollection", "features": []}\r\n',
    "events.jsonl": b'{"id": 1, "level": "info"}\n{"id": 1, "level": "info"}\n',
    "list.json": b'["a", "b"]\n',
}


def is_matched(hook: dict[str, Any], name: str) -> bool:
    """Return whether pre-commit passes a file of this name to a hook."""
    is_named = re.search(hook["files"], name) is not None
    return is_named and re.search(hook["exclude"], name) is None


def arguments(hook: str, *files: str) -> list[str]:
    """Return what a hook calls `harpia-formats` with."""
    program, *rest = shlex.split(HOOKS[hook]["entry"])
    assert program == "harpia-formats"
    return [*rest, *files]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, a repository with data and other files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eval data").mkdir()
    shutil.copy(ANSWERS, tmp_path / "eval data" / "answers [1].jsonl")
    for name, content in OTHERS.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@for_each_case(
    "name, hooks",
    jsonl_rows(Path(__file__).with_name("cases") / "hooked_files.jsonl"),
)
def test_hooks_are_given_files_by_their_names(name: str, hooks: list[str]) -> None:
    """JSON is matched, but no tables, hidden files or JSON with comments."""
    matching = {
        hook
        for hook in HOOKS
        if HOOKS[hook]["pass_filenames"] and is_matched(HOOKS[hook], name)
    }

    assert {hook.removeprefix("harpia-formats-") for hook in matching} == set(hooks)


def test_hook_fails_for_bad_data_only(folder: Path, command_line: CommandLine) -> None:
    """Bad records fail with their place; files of other kinds do not."""
    good = "eval data/answers [1].jsonl"
    assert command_line(arguments("harpia-formats-validate", good, *OTHERS))[0] == 0

    (folder / "bad run.jsonl").write_bytes(ANSWERS.read_bytes() + BROKEN)
    files = ("bad run.jsonl", good, *OTHERS)
    code, output, _ = command_line(arguments("harpia-formats-validate", *files))

    assert code == 1
    assert output.startswith("bad run.jsonl:6:1: S101 missing-key ")


@pytest.mark.parametrize("hook", ["harpia-formats-validate", "harpia-formats-fix"])
def test_hook_succeeds_without_data(
    folder: Path, command_line: CommandLine, hook: str
) -> None:
    """A commit of other files only is no error, nor one of files left out."""
    before = {path: path.read_bytes() for path in folder.glob("*.json*")}
    assert command_line(arguments(hook, *OTHERS))[0] == 0
    (folder / "old.jsonl").write_bytes(BROKEN)
    (folder / "harpia-formats.toml").write_text('exclude = ["old.jsonl"]\n')

    assert command_line(arguments(hook, "old.jsonl"))[0] == 0
    assert {path: path.read_bytes() for path in before} == before


def test_hook_repairs_data(folder: Path, command_line: CommandLine) -> None:
    """Data is rewritten, which makes pre-commit fail; the rest stays as it is."""
    path = folder / "eval data" / "answers [1].jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + ANSWERS.read_bytes())
    files = (str(path.relative_to(folder)), *OTHERS)
    code, _, errors = command_line(arguments("harpia-formats-fix", *files))

    assert code == 0
    assert "made 1 change in 1 file: 1 of J201" in errors
    assert path.read_bytes() == ANSWERS.read_bytes()
    assert {name: (folder / name).read_bytes() for name in OTHERS} == OTHERS


def test_preflight_runs_for_data(folder: Path, command_line: CommandLine) -> None:
    """The hook checks what the preflight file names, if data or the file changes."""
    hook = HOOKS["harpia-formats-preflight"]
    names = ("a.jsonl", "b.csv.gz", "jobs/preflight.toml", "my_preflight.toml", "a.md")
    (folder / "preflight.toml").write_text(
        '[datasets.a]\nfiles = "eval data/*.jsonl"\nmax-records = 4\n'
    )
    code, output, _ = command_line(arguments(hook["id"]))

    assert [is_matched(hook, name) for name in names] == [True] * 3 + [False] * 2
    assert (code, "5 records" in output, hook["pass_filenames"]) == (1, True, False)


def test_schemas_are_checked(folder: Path, command_line: CommandLine) -> None:
    """The hook for schemas passes a sound one, and finds a misspelt keyword."""
    (folder / "a.schema.json").write_text('{"type": "object", "requried": ["a"]}')
    hook = "harpia-formats-schema-check"
    sound = str(ROOT / "schemas" / "nemo" / "nemo-input.schema.json")
    assert command_line(arguments(hook, sound))[0] == 0
    code, output, _ = command_line(arguments(hook, "a.schema.json"))

    assert (code, "requried" in output) == (1, True)


def test_hook_installs_what_compressed_files_need() -> None:
    """Its further dependencies are those of the extra `zstd`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    hook = HOOKS["harpia-formats-validate"]
    written = [re.sub(r"['\" ]", "", one) for one in hook["additional_dependencies"]]

    extra = project["optional-dependencies"]["zstd"]
    assert written == [re.sub(r"['\" ]", "", one) for one in extra]


@pytest.mark.tools
def test_hooks_run_in_pre_commit(folder: Path) -> None:
    """`pre-commit try-repo` installs the hook; it fails for bad data, else passes."""
    repository = folder / "hooks"
    files = "git ls-files -z --cached --others --exclude-standard"
    copied = f"{files} | xargs -0 cp --parents -t {shlex.quote(str(repository))}"
    repository.mkdir()
    run(["bash", "-c", copied], ROOT)
    for made in (repository, folder):
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Add files"]):
            run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *command], made)
    hook = "harpia-formats-validate"
    program = [sys.executable, "-m", "pre_commit", "try-repo", str(repository), hook]
    tried = [*program, "--all-files", "--verbose"]

    assert run(tried, folder).returncode == 0
    (folder / "bad.jsonl").write_bytes(ANSWERS.read_bytes() + BROKEN)
    run(["git", "add", "bad.jsonl"], folder)
    failed = run(tried, folder)
    assert failed.returncode == 1
    assert b"bad.jsonl:6:1: S101 missing-key" in failed.stdout


def run(command: list[str], folder: Path) -> "subprocess.CompletedProcess[bytes]":
    """Return the result of a command in a folder."""
    return subprocess.run(command, cwd=folder, capture_output=True, check=False)  # noqa: S603 - the commands are ours


def test_manifest_is_plain_yaml() -> None:
    """Each hook says what it does, and runs once for all files."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())

    assert [hook["id"] for hook in hooks] == list(HOOKS)
    assert all(hook["description"] and hook["require_serial"] for hook in hooks)
