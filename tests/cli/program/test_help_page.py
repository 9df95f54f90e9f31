"""The help page of every command, found in the command line itself."""

import contextlib
import io
import json
import re
import subprocess
import sys
from importlib import import_module
from inspect import getdoc
from typing import Any

import pytest
from typer.main import get_command

from cases import for_each_case
from harpia_formats.api.option_values import help_of
from harpia_formats.api.options import options_of
from harpia_formats.cli import main
from harpia_formats.cli.app import app_for, run
from harpia_formats.cli.command_table import MODULES, all_commands
from harpia_formats.cli.help_page import Style, help_page
from harpia_formats.model.text_columns import wrapped

EVERYTHING: Any = get_command(app_for([]))
#: All commands by their words; no word is the program itself.
COMMANDS: dict[str, Any] = {"": EVERYTHING, **EVERYTHING.commands}
WIDTH = 80


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the terminal 80 columns wide."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))


def page_of(name: str, option: str = "-h") -> str:
    """Return what a command prints with `-h`."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with (
        pytest.raises(SystemExit) as ended,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        run([*name.split(), option])
    texts = []
    for each in (out, err):
        each.seek(0)
        texts.append(each.read())

    assert (ended.value.code, texts[1]) == (0, "")
    return texts[0]


@for_each_case("name", COMMANDS)
def test_page_fits_and_shows_no_types(name: str) -> None:
    """No line is too long, and no type of Python or notation of typer is shown."""
    page = page_of(name)

    assert max(map(len, page.splitlines())) <= WIDTH
    odd = re.findall(r"<[a-z]+>|list\[|\[x[<>]|Value error|None|TEXT|\{", page)
    assert set(odd) <= {"{"}  # as in `{model}` in the name of an output
    assert not page.startswith("\n")
    assert "  \n" not in page


@for_each_case("name", COMMANDS)
def test_page_describes_every_parameter(name: str) -> None:
    """Each option has its names, the noun of its value and its whole help."""
    option = "--help-all" if name else "-h"
    page = " ".join(page_of(name, option).split())
    words = {word.strip(",") for word in page.replace("[no-]", "").split()}
    help_texts = {one.field: help_of(one) for one in options_of(name.replace(" ", "_"))}

    assert " -h, --help " in page
    for parameter in COMMANDS[name].params:
        assert parameter.metavar is not None
        if parameter.param_type_name == "argument":
            assert words & {parameter.metavar, f"{parameter.metavar}..."}
        else:
            assert {*parameter.opts} <= words
            last = [one for one in parameter.opts if one.startswith("--")][-1]
            assert parameter.is_flag or f"{last} {parameter.metavar}" in page
        text = help_texts.get(parameter.name, parameter.help) or ""
        assert " ".join(text.split()) in page


@for_each_case("name", COMMANDS)
def test_paragraphs_fill_their_lines(name: str) -> None:
    """No line of the introduction ends before a word that fits on it."""
    page = page_of(name).split("\n\n")
    about = [part for part in page[1:] if not re.match(r"\S.*:\n", part)]

    assert about
    for paragraph in about:
        lines = paragraph.rstrip("\n").split("\n")
        assert lines == wrapped(" ".join(lines), WIDTH)


@pytest.mark.parametrize("forced", ["0", "1"])
def test_colours_of_a_pipe_are_forced(
    forced: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`FORCE_COLOR` gives a page in a pipe its colours."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", forced)

    assert ("\x1b[1mUsage:" in page_of("completion")) == (forced == "1")


def test_commands_to_copy_are_whole_lines() -> None:
    """What is pasted into a shell is not broken on a terminal of 80 columns."""
    lines = page_of("completion").splitlines()

    for shell in ("bash", "zsh"):
        assert f'eval "$(harpia-formats completion {shell})"' in lines
    fish = "~/.config/fish/completions/harpia-formats.fish"
    assert f"harpia-formats completion fish > {fish}" in lines
    assert max(map(len, lines)) <= 80


@for_each_case("name", COMMANDS)
def test_long_and_short_option_print_the_same(name: str) -> None:
    """`-h` is `--help`."""
    assert page_of(name) == page_of(name, "--help")


def test_program_lists_every_command() -> None:
    """The page of the program has each command, those of two words with the others."""
    page = page_of("")

    assert re.findall(r"^  (\w+(?: \w+)?) {2,}\w", page, re.MULTILINE) == [
        *EVERYTHING.commands
    ]


def test_defaults_and_headings_are_shown() -> None:
    """Options stand below the heading of their panel, with their defaults."""
    page = page_of("validate", "--help-all")

    assert "Usage: harpia-formats validate [OPTIONS] PATHS...\n" in page
    assert re.search(r"can multiply its work\.\n +\[default: 5\]\n", page)
    assert "\nReporting:\n      --output-format REPORTER " in page
    convert = page_of("convert")
    assert re.search(r"\n  -t, --to FORMAT +Format to write", convert)


def test_names_are_bold_on_a_terminal() -> None:
    """With colours the headings and the names of options are bold."""
    sections = {"Options": [("    --pairs", "List pairs.")]}
    page = help_page("Usage: formats", "List them.", sections, Style(60, color=True))

    assert page.startswith("\x1b[1mUsage:\x1b[0m formats\n\nList them.\n")
    assert "\n\x1b[1mOptions:\x1b[0m\n" in page
    assert "\n      \x1b[1m--pairs\x1b[0m " in page


@for_each_case("name", COMMANDS)
def test_page_is_short_and_shows_examples(name: str) -> None:
    """A page has 60 lines at most, three examples, and headings of the whole."""
    page = page_of(name, "--help")
    lines = page.splitlines()
    examples = [line for line in lines if line.strip().startswith("harpia-formats ")]

    assert len(lines) <= 60
    if name:
        whole = page_of(name, "--help-all")
        headings = [line for line in lines if re.fullmatch(r"[A-Z][a-z ]+:", line)]

        assert len(examples) >= 3 or name == "completion"
        assert [line for line in whole.splitlines() if line in headings] == headings


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
