"""What is published: the distributions, and the versions that developers install."""

import re
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = ROOT / ".ci" / "requirements-dev.txt"
#: The extras whose packages are locked.
LOCKED = ("docs", "fuzz", "test", "test-remote")
_pin = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?==([^ ;\\]+)", re.MULTILINE)


def digests_of(folder: Path) -> dict[str, str]:
    """Return the digest of each distribution that is built into `folder`."""
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - the command is ours
    return {
        path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()
    }


@pytest.mark.long
def test_two_builds_are_equal(tmp_path: Path) -> None:
    """The source distribution and the wheel are the same bytes in each build."""
    first = digests_of(tmp_path / "first")

    assert len(first) == 2
    assert digests_of(tmp_path / "second") == first


@pytest.mark.skipif(not LOCK.is_file(), reason="a source distribution has no lock file")
def test_lock_file_has_a_version_of_each_requirement_that_is_allowed() -> None:
    """Each package of the base and of extras for developers is locked with hashes."""
    text = LOCK.read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [
        *project["dependencies"],
        *(line for name in LOCKED for line in extras[name]),
    ]
    pins: dict[str, list[str]] = {}
    for name, version in _pin.findall(text):
        pins.setdefault(canonicalize_name(name), []).append(version)
    wrong = []
    for line in lines:
        requirement = Requirement(line)
        name = canonicalize_name(requirement.name)
        versions = pins.get(name, [])
        is_met = all(requirement.specifier.contains(each) for each in versions)
        if name != project["name"] and not (versions and is_met):
            wrong.append(line)

    assert wrong == []
    assert text.count("--hash=sha256:") >= len(pins) > 0
    assert "://" not in text
