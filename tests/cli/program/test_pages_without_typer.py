"""Help pages are printed without typer as typer prints them, and import no command."""

import json
import subprocess
import sys
from importlib import import_module
from inspect import getdoc

import pytest

from harpia_formats.cli import main
from harpia_formats.cli.app import run
from harpia_formats.cli.command_table import MODULES, all_commands

#: The words of each command by its name.
WORDS = {name: words for words, name in all_commands()}
PAGES = [
    *((words, option) for words in WORDS.values() for option in ("-h", "--help-all")),
    ("", "--help"),
]
#: Prints the docstrings of all commands, before any of them is imported.
DOCSTRINGS = """\
import json, sys
from harpia_formats.cli.command_table import MODULES, docstring_of
found = {name: docstring_of(name) for name in MODULES}
assert not {*MODULES.values()} & {*sys.modules}
print(json.dumps(found))
"""


def test_docstrings_are_read_without_modules() -> None:
    """The docstrings of commands in compiled modules are those of their functions."""
    command = [sys.executable, "-c", DOCSTRINGS]
    done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - our own command
    found = json.loads(done.stdout)

    assert found.keys() == WORDS.keys()
    for name, module in MODULES.items():
        assert found[name] == getdoc(getattr(import_module(module), name))


@pytest.mark.parametrize(("words", "option"), PAGES)
def test_page_is_the_same_without_typer(
    words: str,
    option: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The help page of a command is the same, whichever way it is printed."""
    arguments = [*words.split(), option]
    monkeypatch.setattr(sys, "argv", ["harpia-formats", *arguments])
    pages = []
    for start in (main, lambda: run(arguments)):
        with pytest.raises(SystemExit) as ended:
            start()
        pages.append(capsys.readouterr())
        assert ended.value.code == 0

    assert pages[0] == pages[1]
    assert pages[0].out.startswith("Usage: harpia-formats ")
