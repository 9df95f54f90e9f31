"""Names from data become harmless names of files."""

import tempfile
from pathlib import Path, PurePosixPath, PureWindowsPath

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import Output, Record, write

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


def file_of(folder: Path, model: str) -> Path:
    """Return the only file below a folder, to which an answer of a model is written."""
    record = Record(id=1, prompt="q", outputs=[Output(model=model, text="a")])
    report = write([record], to="record", output=folder / "{model}.jsonl")
    (path,) = folder.rglob("*.jsonl")

    assert report.outputs == (str(path),)
    return path


def component_of(model: str) -> str:
    """Return what the name of a file is made of for a model."""
    with tempfile.TemporaryDirectory() as folder:
        return file_of(Path(folder), model).name.removesuffix(".jsonl")


@for_each_case("name", HOSTILE)
def test_a_hostile_name_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    """The file of a name from data is a new visible one in the folder."""
    path = file_of(tmp_path, name)

    assert [*tmp_path.iterdir()] == [path]
    assert path.name[0] not in ".-"


@given(st.text())
def test_a_component_is_one_of_every_system(name: str) -> None:
    """It is one component on every system, of bounded length, and none is reserved."""
    component = component_of(name)

    assert PurePosixPath(component).parts == (component,)
    assert PureWindowsPath(component).parts == (component,)
    assert not PureWindowsPath(component).is_reserved()
    assert 0 < len(component.encode()) <= 150


@for_each_case(
    "model, component",
    [
        *[(name, name) for name in ("gpt-4o", "org_m.v1.5", "Llama-3", "modèle")],
        ("", "model"),
        ("con", "con_"),
        ("NUL.jsonl", "NUL_.jsonl"),
        ("com1.a.b", "com1_.a.b"),
        ("LPT\u00b2.x", "LPT\u00b2_.x"),
        ("x" * 200, "x" * 150),
        ("\u00e9" * 100, "\u00e9" * 75),
        ("x" + "\u00e9" * 100, "x" + "\u00e9" * 74),
    ],
)
def test_names_of_files(model: str, component: str) -> None:
    """A plain name is kept, up to 150 bytes and no half of a character.

    A model without a name is called `model`, and no file is called as a device.
    """
    assert component_of(model) == component
