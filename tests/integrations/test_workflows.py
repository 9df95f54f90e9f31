"""Files that GitHub and GitLab read: their schemas, pinned versions, and rights."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from cases import for_each_case

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = ROOT / "action.yml"
GITLAB = ROOT / "integrations" / "gitlab" / "harpia-formats.yml"
HOW_TO = ROOT / "docs" / "how-to" / "pipelines.md"
#: The files, each with the schema that the editors of the services use.
SCHEMAS = {
    ACTION: "github-actions",
    ROOT / ".github" / "dependabot.yml": "dependabot",
    GITLAB: "gitlab-ci",
    **dict.fromkeys(WORKFLOWS, "github-workflows"),
}
#: Our own action, whose next release no page can know the hash of.
OWN = "harpia-formats/harpia-formats@"
_uses = re.compile(r"^\s*(?:- )?uses: (?P<action>\S+)(?P<rest>.*)$", re.MULTILINE)
_example = re.compile(r"^```yaml([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def documents(text: str) -> Iterator[Any]:
    """Yield the documents of YAML as services read them: `on` is a key, not true."""
    for document in yaml.safe_load_all(text):
        if isinstance(document, dict) and True in document:
            document["on"] = document.pop(True)
        yield document


def errors(document: Any, schema: str) -> list[str]:
    """Return what a published schema says against a document."""
    folder = files("check_jsonschema") / "builtin_schemas" / "vendor"
    loaded = json.loads((folder / f"{schema}.json").read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(loaded)(loaded)
    return [error.message for error in validator.iter_errors(document)]


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all jobs of our own workflows, by their file and name."""
    for path in WORKFLOWS:
        (workflow,) = documents(path.read_text(encoding="utf-8"))
        for name, job in workflow["jobs"].items():
            yield f"{path.name}: {name}", job


@for_each_case("path", SCHEMAS, ids=lambda path: path.name)
def test_files_follow_the_published_schema(path: Path) -> None:
    """Each document is what its service accepts, and a wrong one is not."""
    for document in documents(path.read_text(encoding="utf-8")):
        assert errors(document, SCHEMAS[path]) == []
        assert errors(
            {**document, "jobs": 5, "runs": 5, "updates": 5, "spec": 5}, SCHEMAS[path]
        )


def test_examples_follow_the_published_schemas() -> None:
    """The workflows that the documentation shows are valid, too."""
    checked = 0
    for words, text in _example.findall(HOW_TO.read_text(encoding="utf-8")):
        for schema in ("github-workflows", "gitlab-ci"):
            if schema in words.split():
                (document,) = documents(text)
                assert errors(document, schema) == []
                checked += 1
    assert checked


@for_each_case("path", [*SCHEMAS, HOW_TO], ids=lambda path: path.name)
def test_actions_are_pinned(path: Path) -> None:
    """Each action of others is named by a full hash, with its version behind it."""
    for used in _uses.finditer(path.read_text(encoding="utf-8")):
        if not used["action"].startswith(("./", OWN)):
            name, _, version = used["action"].partition("@")
            assert re.fullmatch(r"[0-9a-f]{40}", version), name
            assert re.match(r" # v\d+\.\d+\.\d+$", used["rest"]), name


def test_one_hash_is_pinned_of_each_action() -> None:
    """The same action has the same hash and version everywhere."""
    texts = [path.read_text(encoding="utf-8") for path in (*SCHEMAS, HOW_TO)]
    pinned: dict[str, set[str]] = {}
    for used in (used for text in texts for used in _uses.finditer(text)):
        name, _, version = used["action"].partition("@")
        if not used["action"].startswith(("./", OWN)):
            pinned.setdefault(name, set()).add(f"{version}{used['rest']}")

    assert {name for name, versions in pinned.items() if len(versions) > 1} == set()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_no_rights(path: Path) -> None:
    """Rights are given to jobs, one by one, and a newer run replaces or waits."""
    (workflow,) = documents(path.read_text(encoding="utf-8"))

    assert workflow["permissions"] == {}
    assert workflow["concurrency"]["group"]
    assert "pull_request_target" not in workflow["on"]


JOBS = dict(jobs())


@for_each_case("name", JOBS)
def test_jobs_are_limited(name: str) -> None:
    """Each job has its own rights, a time limit, and no credentials in the checkout."""
    job = JOBS[name]
    rights = {right for right, level in job["permissions"].items() if level == "write"}
    uses = [step for step in job["steps"] if "checkout" in step.get("uses", "")]

    assert job["timeout-minutes"] <= 60
    assert not (rights and uses), f"{name}: code of the repository runs with rights"
    assert all(step["with"]["persist-credentials"] is False for step in uses)
    assert all("${{" not in step.get("run", "") for step in job["steps"])


def test_publishing_waits_for_its_environment() -> None:
    """Only the job that publishes has the identity that the index trusts."""
    trusted = JOBS["release.yml: publish"]

    assert trusted["environment"]["name"] == "pypi"
    assert trusted["permissions"] == {"id-token": "write"}
    assert "password" not in str(trusted)


@pytest.mark.tools
def test_zizmor_finds_nothing() -> None:
    """The audit of workflows has no finding, however small."""
    program = shutil.which("zizmor", path=str(Path(sys.executable).parent))
    program = program or shutil.which("zizmor")
    if program is None:
        pytest.skip("zizmor is not installed: pip install zizmor")
    command = [program, "--offline", "--persona", "pedantic", str(ROOT)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)  # noqa: S603 - the command is ours

    assert done.returncode == 0, done.stdout
    assert "No findings to report" in done.stdout
