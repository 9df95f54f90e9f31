"""What is published: the distributions, and the versions that developers install."""

import json
import re
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harpia_formats import __version__

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


CHECK = ROOT / ".ci" / "check_release.py"
needs_ci = pytest.mark.skipif(
    not CHECK.is_file(), reason="a source distribution has no `.ci`"
)


def faults_of(root: Path, *arguments: object) -> list[str]:
    """Return what the check of a release prints on a tree."""
    done = subprocess.run(  # noqa: S603 - the command is ours
        [sys.executable, root / ".ci" / CHECK.name, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.splitlines()
    assert done.returncode == bool(lines)
    return lines


def copied(folder: Path) -> Path:
    """Return a copy of what the check of a release reads."""
    names = [".ci", ".github", "action.yml", "Containerfile"]
    for path in (each for name in names for each in (ROOT / name, *_below(name))):
        if path.is_file():
            copy = folder / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    return folder


def _below(name: str) -> list[Path]:
    return sorted((ROOT / name).rglob("*"))


@needs_ci
def test_a_release_is_made_by_what_is_pinned() -> None:
    """Actions, images and requirements are named by hashes."""
    assert faults_of(ROOT) == []


@needs_ci
@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        (".github/workflows/ci.yml", "checkout@[0-9a-f]{40}", "checkout@v6", "commit"),
        (".github/workflows/release.yml", " --require-hashes", "", "checks no hashes"),
        ("Containerfile", "@sha256:[0-9a-f]+", "", "is not named by a digest"),
        (".ci/requirements-release.txt", r"build==(\S+)", r"build>=\1", "build>="),
        (".ci/requirements-dev.txt", r"--hash=sha256:\w+", "", "version with a hash"),
    ],
)
def test_what_is_not_pinned_stops_a_release(
    name: str, old: str, new: str, fault: str, tmp_path: Path
) -> None:
    """One name without a hash is found, with its file."""
    root = copied(tmp_path)
    text = (root / name).read_text(encoding="utf-8")
    changed = re.sub(old, new, text)
    assert changed != text
    (root / name).write_text(changed, encoding="utf-8")

    (line, *_) = faults_of(root)

    assert Path(name).name in line
    assert fault in line


@needs_ci
def test_the_list_of_packages_is_compared(tmp_path: Path) -> None:
    """A package that is not listed is found, and one that is not there."""
    component = {"name": "not-there", "version": "1", "purl": "pkg:pypi/not-there@1"}
    own = {"name": "harpia-formats", "version": __version__}
    sbom = {"metadata": {"component": own}, "components": [component]}
    path = tmp_path / "sbom.json"
    path.write_text(json.dumps(sbom), encoding="utf-8")

    faults = faults_of(ROOT, path, sys.executable)

    assert any("pytest" in line and "and not listed" in line for line in faults)
    assert any("not-there 1 is listed and not installed" in line for line in faults)
    assert not any("harpia-formats " in line for line in faults)
