"""What a run imports: each module that it does not need costs every user time."""

import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS_IN = "harpia_formats.cli.commands."
#: Prints the modules that a run has imported, without those of the interpreter.
SHOW = """\
import sys
before = set(sys.modules)
from harpia_formats.cli import main
try:
    main()
except SystemExit:
    print(*set(sys.modules) - before)
"""
#: The packages of harpia-formats that a run of `validate` on a valid file imports.
PACKAGES = set("_version api cli files formats model reporters validation".split())
#: Packages of others that it imports.
OTHERS = set(
    "annotated_doc click jsonschema_rs msgspec orjson shellingham stringzilla typer "
    "typing_extensions".split()
)


def imported(*arguments: object) -> set[str]:
    """Return the names of the modules that a run of harpia-formats imports."""
    command = [sys.executable, "-c", SHOW, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - our own command
    return set(done.stdout.decode().splitlines()[-1].split())


@pytest.fixture(scope="module")
def of_validate(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the modules that the validation of one record imports."""
    path: Path = tmp_path_factory.mktemp("start") / "one.jsonl"
    path.write_bytes(
        b'{"input": {"prompt": "a", "ideal_response": "b", "category": "c", '
        b'"source": "d"}, "response": "b", "llm_name": "m"}\n'
    )
    return imported("validate", path)


def test_validation_imports_its_packages_only(of_validate: set[str]) -> None:
    """No package of another stage is imported for a valid record."""
    found = {
        name.split(".")[1] for name in of_validate if name.startswith("harpia_formats.")
    }

    assert found <= PACKAGES


def test_validation_imports_no_heavy_library(of_validate: set[str]) -> None:
    """Neither rich and pydantic nor another library without use is imported."""
    installed = {
        name.split(".")[0]
        for name in of_validate
        if "site-packages" in str(getattr(sys.modules.get(name), "__file__", ""))
    }
    slow = {"pydantic", "rich", "jinja2", "numpy", "jsonschema", "fastjsonschema"}
    slow |= {"asyncio", "multiprocessing", "concurrent", "sqlite3"}

    assert {name.split(".")[0] for name in of_validate} & slow == set()
    assert installed <= OTHERS


def test_validation_imports_no_diagnosis(of_validate: set[str]) -> None:
    """What finds and describes the causes of errors is not imported for valid rows."""
    diagnosis = "harpia_formats.validation.diagnosis"

    assert [each for each in of_validate if each.startswith(diagnosis)] == []


@pytest.mark.parametrize("option", ["--version", "--help", "-h"])
def test_page_of_the_program_imports_no_command(option: str) -> None:
    """`--version` and `--help` import neither typer nor a command, nor a format."""
    found = imported(option)

    assert "typer" not in found
    assert "harpia_formats.cli.app" not in found
    assert "harpia_converters" not in found
    assert not [each for each in found if each.startswith(COMMANDS_IN)]


@pytest.mark.parametrize("words", ["validate --help", "score compare --help-all"])
def test_help_pages_need_no_typer(words: str) -> None:
    """The help page of a command does not import typer."""
    assert "typer" not in imported(*words.split())


def test_mistake_imports_no_command() -> None:
    """An option that does not exist is an error before the command is imported."""
    found = imported("validate", "--nope")

    assert "typer" in found
    assert f"{COMMANDS_IN}validate" not in found


#: Prints the functions of ours from which a run of the core is called.
FRAMES = """\
import sys
from harpia_formats.cli import main

def note(frame, event, argument):
    name = frame.f_globals.get("__name__", "")
    if event == "call" and name == core and frame.f_code.co_name == "__iter__":
        sys.setprofile(None)
        while frame := frame.f_back:
            name = frame.f_globals.get("__name__", "")
            if name.startswith("harpia_formats."):
                print("frame", name, frame.f_code.co_name, file=sys.stderr)

core = sys.argv.pop(1)
sys.setprofile(note)
main()
"""


@pytest.mark.parametrize(
    ("core", "arguments"),
    [
        ("validation.run", ["validate"]),
        ("conversion.run", ["convert", "--to", "record"]),
        ("evaluation.statistics.statistics_run", ["stats"]),
    ],
)
def test_few_functions_stand_before_the_core(
    core: str, arguments: list[str], tmp_path: Path
) -> None:
    """From `main` a run of the core is reached through five functions at most."""
    path = tmp_path / "one.jsonl"
    path.write_text('{"prompt": "a", "outputs": [{"text": "b"}]}\n')
    words = [f"harpia_formats.{core}", *arguments, str(path)]
    command = [sys.executable, "-c", FRAMES, *words]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - our own command
    frames = [line for line in done.stderr.splitlines() if line.startswith("frame ")]

    assert 0 < len(frames) <= 5, frames
