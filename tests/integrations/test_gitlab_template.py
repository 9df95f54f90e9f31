"""The GitLab template: its inputs, and its script as a runner runs it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "integrations" / "gitlab" / "harpia-formats.yml"
HEADER, BODY = TEMPLATE.read_text(encoding="utf-8").split("\n---\n")
INPUTS: dict[str, dict[str, Any]] = yaml.safe_load(HEADER)["spec"]["inputs"]
ANSWERS = ROOT / "fixtures" / "nemo-output" / "valid" / "answers.jsonl"
BAD_LINE = b'{"input": {"prompt": "1 + 1?", "ideal_response": "2"}}\n'
#: A name that would be commands to a shell.
HOSTILE = "*a: $(touch hacked); `touch hacked` #\"'\\n é .jsonl"
_input = re.compile(r"\$\[\[ inputs\.(\w+) \]\]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the working folder of a job, with good and bad data."""
    found = tmp_path / "project"
    (found / "eval data").mkdir(parents=True)
    shutil.copy(ANSWERS, found / "eval data" / "good one.jsonl")
    (found / HOSTILE).write_bytes(ANSWERS.read_bytes() + BAD_LINE)
    return found


def job_of(**inputs: Any) -> dict[str, Any]:
    """Return the job for inputs, as GitLab inserts them: into the text, as they are.

    Source: `lib/gitlab/ci/config/interpolation/text_template.rb` of gitlabhq, and
    `inputs/*.rb` next to it for types and for patterns, which no empty text matches.
    """
    given = {name: one.get("default") for name, one in INPUTS.items()} | inputs
    for name, value in given.items():
        if INPUTS[name].get("type") == "array":
            assert isinstance(value, list)
        else:
            assert isinstance(value, str)
            if pattern := INPUTS[name].get("regex"):
                assert value.strip(), name
                assert re.search(pattern, value), name

    def inserted(found: re.Match[str]) -> str:
        value = given[found[1]]
        return value if isinstance(value, str) else as_rails_does(value)

    (found,) = yaml.safe_load(_input.sub(inserted, BODY)).items()
    return {"name": found[0], **found[1]}


def as_rails_does(value: object) -> str:
    """Return JSON in one line in which no markup is read."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda one: f"\\u{ord(one[0]):04x}", text)


def run(folder: Path, **inputs: Any) -> tuple[int, str, str]:
    """Run the script of the job; return exit code, output, and what it installs."""
    job = job_of(**inputs)
    variables = {
        name: value if isinstance(value, str) else value["value"]
        for name, value in job["variables"].items()
    }
    assert all(isinstance(value, str) for value in variables.values())
    programs = folder.parent / "programs"
    programs.mkdir(exist_ok=True)
    log = folder.parent / "installed"
    installs = f'[ "$1" != -m ] || exec printf %s "$6" > "{log}"'
    put(programs / "python", f'{installs}\nexec "{sys.executable}" "$@"')
    put(programs / "harpia-formats", f'exec "{sys.executable}" -m harpia_formats "$@"')
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # noqa: S603 - the script is ours
        ["/bin/sh", "-c", "\n".join(job["script"])],
        cwd=folder,
        env={**os.environ, **variables, "PATH": path},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    return done.returncode, done.stdout + done.stderr, log.read_text().strip()


def put(path: Path, command: str) -> None:
    """Write a program of one command."""
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)


def test_inputs_are_values_that_nothing_expands() -> None:
    """An input of the script is a variable, which stays what was given."""
    paths = [HOSTILE, "a\nb<&>.jsonl", "a #1.jsonl", "", "- ' $HOME"]
    job = job_of(paths=paths, args=paths[1:], version="1.0")
    variables = {
        name.removeprefix("HARPIA_").lower(): value
        for name, value in job["variables"].items()
        if name != "PYTHONSAFEPATH"
    }

    assert all(value["expand"] is False for value in variables.values())
    values = {name: value["value"] for name, value in variables.items()}
    assert json.loads(values.pop("paths")) == paths
    assert json.loads(values.pop("args")) == paths[1:]
    assert values == {"format": "auto", "version": "1.0", "extras": "report,zstd"}
    assert _input.search("\n".join(yaml.safe_load(BODY).popitem()[1]["script"])) is None


def test_strings_stand_in_quotes() -> None:
    """A name may be what YAML would read as something else, and hold no quote."""
    job = job_of(paths=["a"], job="data: *all #1", stage="1.0", image="$IMAGE:3")
    assert job["name"] == "data: *all #1"
    assert (job["stage"], job["image"]) == ("1.0", "$IMAGE:3")

    strings = [one for one in INPUTS.values() if one.get("type") != "array"]
    for text in ('"', "a\nb", "a\\"):
        assert not any(re.search(one["regex"], text) for one in strings)


def test_good_data_passes_and_leaves_reports(folder: Path) -> None:
    """The job succeeds with the reports that its artifacts name."""
    code, output, installed = run(folder, paths=["eval data"], version="0.1.0")
    artifacts = job_of(paths=["a"])["artifacts"]
    reports = artifacts["reports"]

    assert (code, installed) == (0, "harpia-formats[report,zstd]==0.1.0"), output
    assert json.loads((folder / reports["codequality"]).read_bytes()) == []
    assert ET.parse(folder / reports["junit"]).getroot().tag == "testsuites"  # noqa: S314 - we wrote it
    assert all((folder / name).is_file() for name in artifacts["paths"])


def test_bad_data_fails_with_its_findings(folder: Path) -> None:
    """The job fails, code quality has each finding, and nothing in a name is run."""
    (folder / "json.py").write_text("raise SystemExit('hacked')\n")
    (folder / "harpia_formats.py").write_text("raise SystemExit('hacked')\n")
    args = ["--examples=3", "--exclude=no such file"]
    inputs = {"format": "nemo-output", "args": args, "extras": "arrow"}
    code, output, installed = run(folder, paths=["eval data", HOSTILE], **inputs)
    findings = json.loads((folder / "gl-code-quality-report.json").read_bytes())

    assert (code, installed) == (1, "harpia-formats[arrow]")
    assert "`--exclude 'no such file'` matches no file" in output
    assert {one["location"]["lines"]["begin"] for one in findings} == {6}
    assert not (folder / "hacked").exists()


@pytest.mark.parametrize("paths", [[], [1]])
def test_paths_are_needed(folder: Path, paths: list[Any]) -> None:
    """Without a path that is a string, the exit code is that for wrong use."""
    code, output, _ = run(folder, paths=paths)

    assert code == 2
    assert "error: the input paths is empty, or paths or args" in output
