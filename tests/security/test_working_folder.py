"""No module that lies next to the data is imported and so run."""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from model_answers import model_answers

#: Modules that commands import when they need them, and what starts workers.
PLANTED = (
    "multiprocessing numpy orjson msgspec yaml pyarrow jinja2 nltk rich typer fsspec "
    "sqlite3 csv zipfile gzip concurrent sacrebleu rapidfuzz jsonschema_rs stringzilla"
).split()
#: Calls a function in a new interpreter: next to other threads a fork is not safe.
PROGRAM = """\
import threading
from harpia_formats.files.workers.engine import process_pool
from harpia_formats.files.workers.killable import KillableProcess

if __name__ == "__main__":
    end = threading.Event()
    threading.Thread(target=end.wait).start()
    try:
        if {is_pool}:
            with process_pool(1) as pool:
                assert pool.submit(len, "abc").result() == 3
        else:
            process = KillableProcess()
            assert list(process.call(iter, "abc", timeout=30)) == ["a", "b", "c"]
            process.close()
    finally:
        end.set()
"""


def test_commands_import_nothing_from_the_working_folder(tmp_path: Path) -> None:
    """Modules next to the data are not run by the program."""
    program = Path(sys.executable).with_name("harpia-formats")
    rows = _rows(tmp_path)

    command = [program, "score", rows, "-m", "em,f1,bleu", "--jobs", "2"]
    assert _run_among_modules(command, tmp_path, PLANTED) == ""


def test_module_imports_nothing_from_the_working_folder(tmp_path: Path) -> None:
    """With `python -m` only modules of Python may be run, which it imports itself."""
    names = [name for name in PLANTED if name not in sys.stdlib_module_names]
    names.append("pathlib")  # which Python itself does not need to start a module
    rows = _rows(tmp_path)

    command = [sys.executable, "-m", "harpia_formats", "score", rows, "-m", "bleu"]
    assert _run_among_modules(command, tmp_path, names) == ""


@pytest.mark.parametrize("is_pool", [True, False])
def test_workers_import_nothing_from_the_working_folder(
    is_pool: bool, tmp_path: Path
) -> None:
    """Modules next to the data are not run by an interpreter that a program starts."""
    (tmp_path / "program").mkdir()
    program = tmp_path / "program" / "program.py"
    program.write_text(PROGRAM.format(is_pool=is_pool))

    assert _run_among_modules([sys.executable, program], tmp_path, PLANTED) == ""


def _rows(folder: Path) -> Path:
    """Write a few records with answers, and return their file."""
    path = folder / "rows.jsonl"
    path.write_text(model_answers(["m"], range(3), lambda *_: True))
    return path


def _run_among_modules(
    command: Sequence[object], folder: Path, names: Iterable[str]
) -> str:
    """Return which modules in its working folder a command runs."""
    (folder / "work").mkdir()
    run = folder / "run"
    for name in names:
        text = f"open({str(run)!r}, 'a').write({name!r})\n"
        (folder / "work" / f"{name}.py").write_text(text)
    done = subprocess.run(  # noqa: S603 - our own command
        list(map(str, command)), capture_output=True, cwd=folder / "work", check=False
    )
    assert done.returncode == 0, done.stderr
    return run.read_text() if run.exists() else ""
