"""The GitHub Action: its inputs, its script, and what the runner reads."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "integrations" / "github"
ANSWERS = ROOT / "fixtures" / "nemo-output" / "valid" / "answers.jsonl"
BAD_LINE = b'{"input": {"prompt": "1 + 1?", "ideal_response": "2"}}\n'
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
(STEP,) = ACTION["runs"]["steps"]
#: A name that would be commands to a shell and to the runner.
HOSTILE = "::add-mask::a $(touch hacked); `touch hacked` ##[set-output name=x]'\".jsonl"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a repository with good and bad data, as the working folder of a step."""
    (tmp_path / "temp").mkdir()
    found = tmp_path / "work space"
    (found / "eval data").mkdir(parents=True)
    shutil.copy(ANSWERS, found / "eval data" / "good one.jsonl")
    (found / "bad.jsonl").write_bytes(ANSWERS.read_bytes() + BAD_LINE)
    (found / HOSTILE).write_bytes(BAD_LINE)
    return found


def environment_of(workspace: Path, inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that GitHub gives to the step, with these inputs."""
    defaults = {
        f"INPUT_{name.upper().replace('-', '_')}": given.get("default", "")
        for name, given in ACTION["inputs"].items()
    }
    temp = workspace.parent / "temp"
    of_runner = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(temp / "output"),
        "GITHUB_STEP_SUMMARY": str(temp / "summary.md"),
        "GITHUB_WORKSPACE": str(workspace),
        "RUNNER_TEMP": str(temp),
    }
    return {**os.environ, **defaults, **of_runner, **inputs}


def run(workspace: Path, **inputs: str) -> tuple[int, str, dict[str, str]]:
    """Return the exit code, the log and the outputs of the script without install."""
    environment = environment_of(workspace, inputs)
    report = str(workspace.parent / "temp" / "report.json")
    done = subprocess.run(  # noqa: S603 - the script is ours
        [sys.executable, str(FOLDER / "validate.py"), report],
        cwd=workspace,
        env=environment,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.stderr == ""
    return done.returncode, done.stdout, outputs_of(workspace)


def outputs_of(workspace: Path) -> dict[str, str]:
    """Return the outputs that a step wrote, as the runner reads the file."""
    path = workspace.parent / "temp" / "output"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split("=", 1) for line in lines)


def obeyed(log: str) -> list[str]:
    """Return the lines of a log that the runner takes for commands."""
    found = []
    token = ""
    for line in log.splitlines():
        if token:
            token = "" if line.strip() == f"::{token}::" else token
        elif match := re.fullmatch(r"::stop-commands::(\w+)", line):
            token = match[1]
        elif line.lstrip().startswith("::") or "##[" in line:
            found.append(line)
    assert token == ""
    return found


def test_step_hands_over_all_inputs_in_the_environment() -> None:
    """No input stands in the command line of the step, and no other action is used."""
    environment = {
        f"INPUT_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}"
        for name in ACTION["inputs"]
    }

    assert STEP["env"] == environment
    assert "${{" not in STEP["run"]
    assert "uses" not in STEP
    assert set(ACTION["outputs"]) == {"errors", "warnings", "report"}


def test_good_data_passes(workspace: Path) -> None:
    """Names with spaces and patterns are lines; the outputs count nothing wrong."""
    (workspace / "more").mkdir()
    shutil.copy(ANSWERS, workspace / "more" / "a.jsonl")
    paths = "eval data/good one.jsonl\n\n  more/*.jsonl\n"
    code, log, outputs = run(workspace, INPUT_PATHS=paths)

    assert (code, outputs["errors"], outputs["warnings"]) == (0, "0", "0")
    assert obeyed(log) == []
    assert "2 files, 10 records, all valid" in log
    report = json.loads(Path(outputs["report"]).read_bytes())
    assert report["schema"] == "harpia-formats/report/1"


def test_bad_data_is_annotated(workspace: Path) -> None:
    """The exit code is that of the command; each annotation names file and line."""
    code, log, outputs = run(workspace, INPUT_PATHS="bad.jsonl\neval data")

    assert (code, outputs["errors"]) == (1, "2")
    assert len(obeyed(log)) == 2
    for line in obeyed(log):
        assert line.startswith("::error file=bad.jsonl,line=6,col=1,")


def test_log_is_that_of_the_command_in_any_encoding(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names that the encoding of Windows lacks are shown, and outputs are written."""
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    (workspace / "问.jsonl").write_bytes(BAD_LINE)
    code, log, outputs = run(workspace, INPUT_PATHS="问.jsonl")

    assert (code, outputs["errors"]) == (1, "2")
    assert "问.jsonl: 1 record" in log
    assert all(line.startswith("::error file=问.jsonl,") for line in obeyed(log))


def test_inputs_are_options(workspace: Path) -> None:
    """Options and the SARIF file go to the command; quotes hold words together."""
    inputs = {
        "INPUT_PATHS": "bad.jsonl",
        "INPUT_FORMAT": "nemo-output",
        "INPUT_ARGS": "--exit-zero --exclude 'no such file' --output-format json",
        "INPUT_SARIF_FILE": "find ings.sarif",
    }
    code, log, outputs = run(workspace, **inputs)
    sarif = json.loads((workspace / "find ings.sarif").read_bytes())

    assert sarif["version"] == "2.1.0"
    assert (code, outputs["errors"]) == (0, "2")
    assert len(obeyed(log)) == 2
    assert "`--exclude 'no such file'` matches no file" in log


def test_hostile_names_are_no_commands(workspace: Path) -> None:
    """A name or an input does nothing to the shell, and the runner obeys none of it."""
    inputs = {"INPUT_PATHS": HOSTILE, "INPUT_FORMAT": "$(touch hacked)"}
    code, log, outputs = run(workspace, **inputs)
    assert (code, obeyed(log), outputs) == (2, [], {})

    inputs = {"INPUT_PATHS": HOSTILE, "INPUT_FORMAT": "nemo-output"}
    code, log, outputs = run(workspace, **inputs)
    assert (code, outputs["errors"]) == (1, "2")
    assert all(line.startswith("::error file=") for line in obeyed(log))
    assert not (workspace / "hacked").exists()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"INPUT_PATHS": " \n"}, "the input paths names no file"),
        ({"INPUT_ARGS": "'open"}, "the input args has a quote that is not closed"),
        ({"INPUT_SUMMARY": "yes"}, "the input summary is neither true nor false"),
    ],
)
def test_wrong_inputs_are_named(
    workspace: Path, inputs: dict[str, str], message: str
) -> None:
    """An input that cannot be used ends the step with exit code 2."""
    code, log, outputs = run(workspace, **{"INPUT_PATHS": "bad.jsonl", **inputs})

    assert (code, outputs) == (2, {})
    assert log.startswith(f"::error title=harpia-formats::{message}")


def test_unreadable_files_end_with_2(workspace: Path) -> None:
    """A file that is not there is no finding, but the step fails, with a report."""
    code, log, outputs = run(workspace, INPUT_PATHS="none.jsonl")

    assert (code, list(outputs)) == (2, ["report"])
    assert "none.jsonl: does not exist" in log

    code, _, outputs = run(workspace, INPUT_PATHS="none.jsonl\nbad.jsonl")
    assert (code, outputs["errors"]) == (2, "2")


def test_validation_that_did_not_run_fails(workspace: Path) -> None:
    """Options that end the command before it validates end the step with 2."""
    code, log, outputs = run(workspace, INPUT_PATHS="bad.jsonl", INPUT_ARGS="--help")

    assert (code, outputs) == (2, {})
    assert obeyed(log)[-1].endswith("::nothing was validated; see the input args")


@pytest.mark.parametrize("summary", ["true", "false"])
def test_summary_is_written_if_wanted(workspace: Path, summary: str) -> None:
    """The findings are on the summary page of the job unless it is switched off."""
    run(workspace, INPUT_PATHS="bad.jsonl", INPUT_SUMMARY=summary)
    path = workspace.parent / "temp" / "summary.md"

    assert (path.exists() and "S101" in path.read_text()) == (summary == "true")


@pytest.fixture
def programs(workspace: Path) -> Path:
    """Return a folder with a `python3` that notes what is to be installed."""
    found = workspace.parent / "programs"
    found.mkdir()
    python = found / "python3"
    python.write_text(
        "#!/usr/bin/env bash\n"
        "[[ $1 == -c || $PYTHONSAFEPATH == 1 ]] || exit 9\n"
        'case "$1 $2" in\n'
        '  "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;\n'
        '  "-m pip") printf "%s\\n" "${@: -1}" > "$RUNNER_TEMP/installed" ;;\n'
        f'  *) exec {sys.executable} "$@" ;;\n'
        "esac\n"
    )
    python.chmod(0o755)
    return found


def run_step(workspace: Path, programs: Path, **inputs: str) -> tuple[int, str, str]:
    """Return the exit code and log of the whole step, and what it would install."""
    environment = environment_of(workspace, inputs)
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(  # noqa: S603 - the step is ours
        ["/bin/bash", "-e", "-o", "pipefail", "-c", STEP["run"]],
        cwd=workspace,
        env=environment,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    installed = workspace.parent / "temp" / "installed"
    return (
        done.returncode,
        done.stdout,
        installed.read_text().strip() if installed.exists() else "",
    )


def test_step_installs_the_code_of_the_action(workspace: Path, programs: Path) -> None:
    """Without a version it is the checkout of the action, so its hash pins all.

    Modules in the repository that is checked are not run.
    """
    (workspace / "harpia_formats.py").write_text("raise SystemExit(0)\n")
    code, log, installed = run_step(workspace, programs, INPUT_PATHS="bad.jsonl")

    assert (code, outputs_of(workspace)["errors"]) == (1, "2")
    assert len(obeyed(log)) == 2
    path, _, extras = installed.partition("[")
    assert Path(path).resolve() == ROOT
    assert extras == "report,zstd]"


def test_step_installs_a_version(workspace: Path, programs: Path) -> None:
    """With a version it is that release, and nothing else can be named."""
    inputs = {"INPUT_PATHS": "eval data", "INPUT_VERSION": "0.1.0"}
    code, _, installed = run_step(workspace, programs, **inputs, INPUT_EXTRAS="arrow")
    assert (code, installed) == (0, "harpia-formats[arrow]==0.1.0")

    inputs["INPUT_VERSION"] = "0.1.0 --index-url=https://example.org"
    code, log, _ = run_step(workspace, programs, **inputs)
    assert (code, log) == (
        2,
        "::error title=harpia-formats::the input version is no version\n",
    )


def test_step_needs_a_newer_python(workspace: Path, programs: Path) -> None:
    """With an older Python the annotation says what to do."""
    for name in ("python3", "python"):
        (programs / name).write_text("#!/bin/sh\nexit 1\n")
        (programs / name).chmod(0o755)
    code, log, _ = run_step(workspace, programs, INPUT_PATHS="eval data")

    assert code == 2
    assert "Python 3.11 or newer is needed; use actions/setup-python before" in log


@pytest.mark.tools
def test_step_works_with_a_real_installation(workspace: Path) -> None:
    """The step installs the checkout from the package index, and validates with it."""
    done = subprocess.run(  # noqa: S603 - the step is ours
        ["/bin/bash", "-e", "-o", "pipefail", "-c", STEP["run"]],
        cwd=workspace,
        env=environment_of(workspace, {"INPUT_PATHS": "bad.jsonl\neval data"}),
        capture_output=True,
        check=False,
        encoding="utf-8",
    )

    assert done.returncode == 1, done.stdout + done.stderr
    assert len(obeyed(done.stdout)) == 2
    assert outputs_of(workspace)["errors"] == "2"
