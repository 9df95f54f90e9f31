"""Names from data become harmless names of files."""

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.io.outputs import LONGEST, path_component

#: Names that would lead to another place, or that a system treats in its own way.
HOSTILE = [
    "..",
    ".",
    "...",
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\\\x",
    "a/b",
    "a\\b",
    "con",
    "NUL.jsonl",
    "-rf",
    ".ssh",
    "a.",
    "x\0y",
    "\u202egnp",
    "\n",
    "x" * 5_000,
    "\u00e9" * 400,
]


@for_each_case("name", HOSTILE)
def test_a_hostile_name_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    """The file of a name from data is a new visible one in the folder."""
    component = path_component(name, "model")
    (tmp_path / f"{component}.jsonl").write_bytes(b"")

    assert os.listdir(tmp_path) == [f"{component}.jsonl"]  # noqa: PTH208 - names only
    assert component[0] not in ".-"


@given(st.text())
def test_a_component_is_one_of_every_system(name: str) -> None:
    """It is one component on every system, of bounded length, and none is reserved."""
    component = path_component(name, "model")

    assert PurePosixPath(component).parts == (component,)
    assert PureWindowsPath(component).parts == (component,)
    assert not PureWindowsPath(component).is_reserved()
    assert 0 < len(component.encode()) <= LONGEST


@pytest.mark.parametrize("name", ["gpt-4o", "org_m.v1.5", "Llama-3", "modèle"])
def test_a_plain_name_is_kept(name: str) -> None:
    """A name of letters, digits, dots and hyphens stays as it is."""
    assert path_component(name, "model") == name


def test_no_name_has_a_name() -> None:
    """The empty name becomes the one that is given for it."""
    assert path_component("", "model") == "model"


def test_the_longest_name_that_is_made() -> None:
    """A name that is made has at most 150 bytes, and no half of a character."""
    assert path_component("x" * 200, "model") == "x" * 150
    assert path_component("\u00e9" * 100, "model") == "\u00e9" * 75
    assert path_component("x" + "\u00e9" * 100, "model") == "x" + "\u00e9" * 74
