"""Names that no file can have, wherever the path of one is given."""

from collections.abc import Callable
from pathlib import Path

import pytest

import harpia_formats
from command_runs import run

ROW = b'{"id":"1","prompt":"q","references":["no"],"outputs":[{"text":"no"}]}\n'
#: The names, by what is wrong with them.
NAMES = {"too long": "x" * 256, "a NUL": "a\0b", "a lone surrogate": "a\ud800b"}
_Act = Callable[[str], object]
#: What reads or writes a file of a name.
ACTS: dict[str, _Act] = {
    "read": lambda name: next(harpia_formats.read(name)),
    "schema": lambda name: harpia_formats.validate("a.jsonl", schema=name),
    "baseline": lambda name: harpia_formats.validate("a.jsonl", baseline=name),
    "new baseline": lambda name: harpia_formats.validate(
        "a.jsonl", write_baseline=name
    ),
    "companion": lambda name: harpia_formats.score(
        "a.jsonl", metrics="em", companion=name
    ),
    "plan": harpia_formats.score_plan,
    "preflight": harpia_formats.preflight,
    "write": lambda name: harpia_formats.write([], to="record", output=name),
    "loss report": lambda name: harpia_formats.convert(
        "a.jsonl", to="csv", output="a.csv", loss_report=name
    ),
    "quarantine": lambda name: harpia_formats.convert(
        "a.jsonl",
        to="csv",
        output="b.csv",
        on_invalid="quarantine",
        quarantine=f"{name}.jsonl",
    ),
    "fix": lambda name: harpia_formats.fix("a.jsonl", output=name),
    "head": lambda name: harpia_formats.head("a.jsonl", output=name),
    "split": lambda name: harpia_formats.split(
        "a.jsonl", by="id", output=f"{name}{{value}}"
    ),
    "merge": lambda name: harpia_formats.merge("a.jsonl", output=name),
    "results": lambda name: harpia_formats.score(
        "a.jsonl", metrics="em", to="harpia-output", output=name
    ),
    "report": lambda name: harpia_formats.write_report(
        harpia_formats.validate("a.jsonl"), f"{name}.json"
    ),
}
#: Commands with an output, or with what may be a name of its own.
COMMANDS = (
    "convert a.jsonl --to csv -o NAME",
    "head a.jsonl -o NAME",
    "stats a.jsonl --report json=NAME",
    "score compare a=NAME b=a.jsonl -m em",
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, which has one file of a record."""
    (tmp_path / "a.jsonl").write_bytes(ROW)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("act", ACTS)
def test_an_error_names_the_file(act: str, kind: str, folder: Path) -> None:
    """It is an error of this package, and nothing is written."""
    name = NAMES[kind]
    with pytest.raises(harpia_formats.HarpiaFormatsError) as found:
        ACTS[act](name)
    shown = {name, name.encode("unicode_escape").decode()}
    assert any(each in str(found.value) for each in shown)
    if act in {"write", "head", "report"}:
        assert isinstance(found.value, harpia_formats.SinkError)
    assert {path.name for path in folder.iterdir()} == {"a.jsonl"}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_names_the_file(command: str, folder: Path) -> None:
    """It says what is wrong with the name."""
    name = NAMES["too long"]
    result = run(*command.replace("NAME", name).split(), cwd=folder)
    assert result.returncode == 2
    assert f"{name}: file name too long".encode() in result.stderr
