"""Replay of all fuzz targets with their stored inputs and their seeds, unfuzzed."""

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz_target import (
    CORPUS,
    Target,
    choices,
    mutated_json,
    stored_inputs,
)
from fuzz_targets import TARGETS, inputs_of, replay

_RUN = Path(__file__).with_name("run.py")
#: Bytes of all stored inputs in the repository.
_MOST_STORED = 400_000


@pytest.mark.parametrize("name", TARGETS)
def test_no_stored_input_and_no_seed_breaks_a_property(name: str) -> None:
    """The properties of a target hold for all inputs with which a search begins."""
    inputs = inputs_of(TARGETS[name])

    assert inputs
    replay(TARGETS[name], inputs)


def test_stored_inputs_are_few_and_of_targets() -> None:
    """Each file of stored inputs is that of a target, and all are small."""
    files = sorted(CORPUS.glob("*"))

    assert {path.stem for path in files} <= TARGETS.keys()
    assert sum(path.stat().st_size for path in files) < _MOST_STORED
    assert all(stored_inputs(path.stem) for path in files)


def test_a_byte_chooses_the_same_name_when_names_are_added() -> None:
    """Stored inputs stay with their format: only some bytes go to a new one."""
    names = ("a", "b", "c")
    before, after = choices(names), choices((*names, "d"))
    moved = {new for old, new in zip(before, after, strict=True) if old != new}

    assert moved == {"d"}
    assert set(before) == set(names)


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_inputs_are_inputs(name: str) -> None:
    """What a target makes of a seed by its syntax is bytes, the same for one seed."""
    target = TARGETS[name]
    if target.mutate is None:
        return
    for data in inputs_of(target)[:20]:
        assert target.mutate(data, 3) == target.mutate(data, 3)


def test_json_is_mutated_line_by_line() -> None:
    """An edited line is JSON again, and others stay as they are."""
    data = b'x{"a": 1}\nno JSON\n{"b": [2]}'
    made = {mutated_json(data, seed) for seed in range(30)}

    assert data in made
    assert len(made) > 10
    assert all(each.startswith(b"x") and b"\nno JSON\n" in each for each in made)


def _python(*words: str) -> subprocess.CompletedProcess[bytes]:
    """Return how Python ended with these arguments."""
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - ours


def test_a_crash_is_distinguished_from_a_refusal() -> None:
    """A process that native code ends is reported as that, and no other input."""
    target = Target("any code", eval, (), list, is_isolated=True)

    replay(target, [b"1"])
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        replay(target, [b"1", b"1 / 0"])
    with pytest.raises(Exception, match=r"^$") as ended:
        replay(target, [b"1", b"__import__('os').abort()"])
    assert ended.typename == "ProcessDied"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--targets", "nothing"), 2, "no target is called nothing"),
        (("--targets", "json", "--replay", __file__), 0, "breaks nothing"),
    ],
)
def test_command_line(words: tuple[str, ...], code: int, message: str) -> None:
    """A target that does not exist is exit code 2; an input is replayed."""
    done = _python(str(_RUN), *words)

    assert done.returncode == code
    assert message in (done.stdout + done.stderr).decode()


def test_without_the_fuzzer_nothing_is_searched() -> None:
    """Where atheris cannot be imported, exit code 2 says how to install it."""
    code = (
        "import importlib.util, runpy, sys; importlib.util.find_spec = lambda _: None; "
        f"sys.argv = ['run.py']; sys.path.insert(0, {str(_RUN.parent)!r}); "
        f"runpy.run_path({str(_RUN)!r}, run_name='__main__')"
    )
    done = _python("-c", code)

    assert done.returncode == 2
    assert b"pip install -e '.[fuzz]'" in done.stderr


@pytest.mark.long
def test_a_search_finds_nothing_in_seconds(tmp_path: Path) -> None:
    """A short search of a target runs to its end, with a summary."""
    pytest.importorskip("atheris")
    words = ("--targets", "json", "--seconds", "5", "--keep", str(tmp_path))
    done = _python(str(_RUN), *words)

    assert done.returncode == 0, done.stdout
    assert b"executions" in done.stdout
