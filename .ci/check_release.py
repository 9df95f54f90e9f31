"""Check what a release is made by and what it lists: `check_release.py [SBOM PYTHON]`.

Without arguments: each action of a workflow is named by the full hash of a commit, each
image by a digest, each requirement of `.ci` by a version with hashes, and a workflow
installs nothing else. With a list of packages (CycloneDX) and a Python with what a user
installs: it lists exactly the packages that this one has. Only the standard library is
used, since it runs before anything is trusted.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
_uses = re.compile(r"^\s*(?:- )?uses: *[\"']?([^\s\"'#]+)", re.MULTILINE)
_image = re.compile(r"^FROM +(\S+)(?: +AS +(\S+))?", re.MULTILINE | re.IGNORECASE)
_installs = re.compile(r"\bpip install\b([^\n|&;]*)")
_commit, _digest = re.compile(r"@[0-9a-f]{40}$"), re.compile(r"@sha256:[0-9a-f]{64}$")
_requirement = re.compile(r"^[\w.-]+(?:\[[^]]*\])?==\S+.* --hash=sha256:[0-9a-f]{64}")
#: Prints the names and versions of all packages of an interpreter.
_LIST = (
    "import importlib.metadata as m, json;"
    "print(json.dumps([[d.metadata['Name'], d.version] for d in m.distributions()]))"
)


def wrong_pins(root: Path) -> Iterator[str]:
    """Yield what is not named by a hash, with its file."""
    workflows = sorted((root / ".github" / "workflows").glob("*.y*ml"))
    for path in (*workflows, root / "action.yml"):
        text = path.read_text(encoding="utf-8")
        for name in _uses.findall(text):
            if not name.startswith("./") and not _commit.search(name):
                yield f"{path.name}: {name} is not named by the hash of a commit"
        for words in _installs.findall(text):
            if "--require-hashes" not in words and "--no-deps" not in words:
                yield f"{path.name}: `pip install{words}` checks no hashes"
    yield from _wrong_images(root / "Containerfile")
    for path in sorted((root / ".ci").glob("requirements*.txt")):
        yield from _wrong_requirements(path)


def _wrong_images(path: Path) -> Iterator[str]:
    """Yield the images of a container that are not named by a digest."""
    stages = {"scratch"}
    for image, stage in _image.findall(path.read_text(encoding="utf-8")):
        if image not in stages and not _digest.search(image):
            yield f"{path.name}: {image} is not named by a digest"
        stages.add(stage)


def _wrong_requirements(path: Path) -> Iterator[str]:
    """Yield the requirements of a file that have no version or no hash."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    found = [line for line in lines if line and not line.startswith("#")]
    if not found:
        yield f"{path.name}: has no requirements"
    for line in found:
        if not _requirement.match(re.sub(r"\s+", " ", line)):
            yield f"{path.name}: {line.split()[0]} has no version with a hash"


def wrong_components(sbom: Path, python: str) -> Iterator[str]:
    """Yield how a list of packages differs from what an interpreter has."""
    document = json.loads(sbom.read_text(encoding="utf-8"))
    own = document["metadata"]["component"]
    listed = {(_plain(own["name"]), own.get("version"))}
    for one in document["components"]:
        listed.add((_plain(one["name"]), one.get("version")))
        if not str(one.get("purl", "")).startswith("pkg:pypi/"):
            yield f"{sbom.name}: {one['name']} has no address of a package"
    done = subprocess.run(  # noqa: S603 - the interpreter that was just made
        [python, "-c", _LIST], capture_output=True, check=True
    )
    installed = {(_plain(name), version) for name, version in json.loads(done.stdout)}
    for name, version in sorted(installed - listed):
        yield f"{sbom.name}: {name} {version} is installed and not listed"
    for name, version in sorted(listed - installed):
        yield f"{sbom.name}: {name} {version} is listed and not installed"


def _plain(name: str) -> str:
    """Return the name of a package as all spellings of it are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: list[str]) -> int:
    """Print what is wrong; return 1 if anything is."""
    if arguments:
        faults = list(wrong_components(Path(arguments[0]), arguments[1]))
    else:
        faults = list(wrong_pins(ROOT))
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
