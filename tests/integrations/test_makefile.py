"""The target of a Makefile that the documentation shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "pipelines.md").read_text(encoding="utf-8")
ANSWERS = ROOT / "fixtures" / "nemo-output" / "valid" / "answers.jsonl"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_target_is_there_only_if_data_is_valid(tmp_path: Path) -> None:
    """The target is made for good data, not again, and not for bad data."""
    (makefile,) = re.findall(r"^```make\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "Makefile").write_text(makefile)
    (tmp_path / "harpia-formats.toml").write_text("lint = false\n")
    (tmp_path / "data").mkdir()
    data = tmp_path / "data" / "answers.jsonl"
    shutil.copy(ANSWERS, data)
    programs = tmp_path / "programs"
    programs.mkdir()
    program = programs / "harpia-formats"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harpia_formats "$@"\n')
    program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"

    def make() -> int:
        return subprocess.run(
            ["make", "data-report.json"],  # noqa: S607 - the one that the user has
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            check=False,
        ).returncode

    report = tmp_path / "data-report.json"
    assert (make(), report.is_file()) == (0, True)
    program.write_text("#!/bin/sh\nexit 1\n")
    assert make() == 0

    later = report.stat().st_mtime + 10
    os.utime(data, (later, later))
    assert make() != 0
    assert not report.exists()
