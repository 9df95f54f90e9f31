"""What is read without typer has the values that typer gives it."""

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import getdoc
from typing import Any

import pytest
import typer
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from typer.main import get_command

from harpia_formats.api import options as table
from harpia_formats.api.options import REQUIRED, Option, options_of
from harpia_formats.cli import main
from harpia_formats.cli.app import USAGE_ERROR, app_for, run
from harpia_formats.cli.command_options import given_to
from harpia_formats.cli.command_table import MODULES, all_commands
from harpia_formats.cli.plain_words import values_of, words_by_field
from harpia_formats.model.problem import HarpiaFormatsError

EVERYTHING: Any = get_command(app_for([]))
#: The words of each command by its name.
WORDS = {name: words for words, name in all_commands()}
VALUES = (
    "0 1 -1 0.5 4 auto array fail json lines list table text em,f1 a=b em.k=1 data.x "
    "- -- -x -- --help --help-all -5"
).split()
PAGES = [
    *((words, option) for words in WORDS.values() for option in ("-h", "--help-all")),
    ("", "--help"),
]

#: Older releases convert values behind the context, and call an argument without words
#: given.
of_newer_typer = pytest.mark.skipif(
    not hasattr(EVERYTHING.commands["diff"].params[0], "type_descriptor"),
    reason="the context of an older typer has other values",
)

#: What a command is given, and which options the user gave; or an error.
Read = tuple[dict[str, Any], frozenset[str]] | str


def by_typer(name: str, words: Sequence[str]) -> Read | None:
    """Return what typer reads of the words behind a command, None for a mistake."""
    command = EVERYTHING.commands[WORDS[name]]
    try:
        context = command.make_context("name", [*words])
    except (typer.Exit, USAGE_ERROR):
        return None
    values = {one.field: context.params.get(one.field) for one in options_of(name)}
    sources = {field: context.get_parameter_source(field) for field in values}
    return given_by(
        name,
        values,
        [field for field, one in sources.items() if one and one.name == "COMMANDLINE"],
    )


def plainly(name: str, words: Sequence[str]) -> Read | None:
    """Return what is read without typer of the words behind a command, or None."""
    options = options_of(name)
    found = words_by_field(words, options)
    values = None if found is None else values_of(found, options)
    if found is None or values is None:
        return None
    return given_by(name, values, [*found])


def given_by(name: str, values: dict[str, Any], was_given: Sequence[str]) -> Read:
    """Return what a command is given by the values of its options, or the error."""
    try:
        found = dict(vars(given_to(name, values, was_given)))
    except HarpiaFormatsError as error:
        return str(error)
    return {each: _with_type(found[each]) for each in found}, found["was_given"]


def _with_type(value: Any) -> Any:
    return value if isinstance(value, list | tuple | dict) else (type(value), value)


def words_for(option: Option) -> list[str]:
    """Return words that give an option or argument a value that it takes."""
    if option.choices:
        value = option.choices.split()[0]
    else:
        value = {
            table.WHOLE: "4",
            table.NUMBER: "4.5",
            table.WORKERS: "2",
            table.DELIMITER: "tab",
            table.REPORTER: "json",
            table.MAP: "prompt=question",
            table.PAIRS: "a=b",
            table.CONSTANTS: "a=b",
            table.PARAMETERS: "em.k=1",
        }.get(option.kind, "value")
    if not option.words:
        return [value]
    return [
        option.words[0].split("/")[0],
        *([] if option.kind == table.FLAG else [value]),
    ]


def required_of(name: str, but: Option | None = None) -> list[str]:
    """Return words for what a command must be given, `but` for one option."""
    needed = [one for one in options_of(name) if one.default is REQUIRED]
    return [word for one in needed if one != but for word in words_for(one)]


@of_newer_typer
@pytest.mark.parametrize("name", WORDS)
def test_each_option_is_read_plainly(name: str) -> None:
    """Each option of a command, and its other names, are read, and as typer does."""
    for option in options_of(name):
        _, *value = words_for(option) if option.words else ["", ""]
        for word in option.all_words():
            words = [*required_of(name, option), word, *value]
            assert plainly(name, words) == by_typer(name, words) is not None, words
            if value and word.startswith("--"):
                joined = [*required_of(name, option), f"{word}={value[0]}"]
                assert plainly(name, joined) == by_typer(name, words), joined
    assert plainly(name, required_of(name)) == by_typer(name, required_of(name))


@of_newer_typer
@settings(max_examples=300, deadline=None)
@given(data=st.data(), name=st.sampled_from([*WORDS]))
def test_plain_words_mean_what_they_mean_to_typer(data: Any, name: str) -> None:
    """Any words that are read without typer mean the same as with it."""
    names = [word for one in options_of(name) for word in one.all_words()]
    samples = [each for one in options_of(name) for each in words_for(one)]
    word = st.sampled_from([*names, *samples, *VALUES, ""])
    joined = st.builds("{}={}".format, st.sampled_from(names or ["--x"]), word)
    words = data.draw(st.lists(word | joined, max_size=6))
    if data.draw(st.booleans()):
        words = [*required_of(name), *words]
    found = plainly(name, words)
    assume(found is not None)

    assert found == by_typer(name, words)


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
