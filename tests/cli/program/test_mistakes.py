"""Mistakes in the command line: what is wrong, what was meant, and how to get help."""

from typing import Any

import pytest
from typer.main import get_command

from cases import for_each_case
from effort import drawn
from harpia_formats.cli.app import app_for, run
from harpia_formats.cli.command_table import TWO_WORDS
from harpia_formats.cli.streams_and_exit_codes import (
    UsageError,
    exceptions_to_exit_codes,
)
from harpia_formats.model.spelling import is_near

EVERYTHING: Any = get_command(app_for([]))
NAMES = {
    command: [
        name for each in found.params for name in each.opts if name.startswith("--")
    ]
    for command, found in EVERYTHING.commands.items()
}
HAS_CONVERTERS = hasattr(EVERYTHING.commands["diff"].params[0], "type_descriptor")
#: All options of all commands, without those of two letters or near another one.
OPTIONS = {
    command: [
        name
        for name in names
        if len(name) > len("--to") and not any(is_near(name, other) for other in names)
    ]
    for command, names in NAMES.items()
}


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is printed for words that are a mistake."""
    with pytest.raises(SystemExit) as ended:
        run(words)
    found = capsys.readouterr()

    assert (ended.value.code, found.out) == (2, "")
    return found.err


@pytest.mark.parametrize("command", OPTIONS)
def test_misspelt_option_is_suggested(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option with two letters swapped gets a suggestion, in every command."""
    check_suggestions(command, OPTIONS[command][:: max(1, 4 // drawn(1))], capsys)


@pytest.mark.long
@pytest.mark.parametrize("command", OPTIONS)
def test_any_misspelt_option_is_suggested(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """So does each of its options."""
    check_suggestions(command, OPTIONS[command], capsys)


def check_suggestions(
    command: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Check that options with two letters swapped get suggestions."""
    for option in options:
        swapped = option[:2] + option[3] + option[2] + option[4:]
        if option == "--encoding":  # `necoding` may as well be `decoding`
            swapped = "--encodign"
        message = printed([*command.split(), swapped], capsys)

        assert message == (
            f"error: there is no option {swapped}; did you mean {option}?\n"
            f"for help: harpia-formats {command} --help\n"
        )


@for_each_case("name", EVERYTHING.commands)
def test_misspelt_command_is_suggested(name: str) -> None:
    """A command with a letter too many gets a suggestion, one of two words, too."""
    with pytest.raises(UsageError) as raised:
        run(f"{name}s".split())

    assert str(raised.value).endswith(f"; did you mean {name}?")


def test_beginning_of_a_command_is_suggested() -> None:
    """The beginning of one command only is suggested as that command."""
    with pytest.raises(UsageError, match="'vali'; did you mean validate"):
        run(["vali"])


def test_file_is_no_misspelt_command(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that has nearly the name of a second word is an input."""
    (tmp_path / "compar").write_bytes(b"{}\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        run(["score", "compar"])

    assert "no command" not in capsys.readouterr().err


def test_unknown_command_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    """A word that is near no command gets the list of them."""
    with pytest.raises(UsageError, match="known: validate, "):
        run(["nonsense"])
    assert TWO_WORDS
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("validate --limit 0 x", "--limit: 0 is less than 1"),
        ("validate --limit many x", "--limit: 'many' is not a whole number"),
        ("validate --row-timeout x x", "--row-timeout: 'x' is not a number"),
        ("validate --row-timeout nan x", "--row-timeout: nan is not a number"),
        (
            "validate --max-row-bytes 16MiB x",
            (
                "--max-row-bytes: '16MiB' is not a whole number; bytes are given "
                "without a unit, such as 1048576"
            ),
        ),
        ("validate --row-timeout 0 x", "--row-timeout: 0 is less than 0.001"),
        ("validate --row-timeout 1e9 x", "--row-timeout: 1e9 is more than 86400"),
        ("validate --limit", "option --limit requires an argument"),
        ("validate --lint=3 x", "option --lint does not take a value"),
        ("diff a b c", "got unexpected extra argument: c"),
        ("diff a", "B is missing: Another file, folder or pattern"),
        ("convert x", "`--to` is missing: Format to write"),
        ("validate -z x", "there is no option -z"),
    ],
)
def test_mistake_is_one_sentence(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other mistakes are reported in words, not in types."""
    command = words.split(maxsplit=1)[0]
    help_line = f"for help: harpia-formats {command} --help\n"

    if not HAS_CONVERTERS:  # older releases of typer word values in their own way
        message = message.split(":", maxsplit=1)[0]
        assert printed(words.split(), capsys).startswith(f"error: {message}")
        return
    assert printed(words.split(), capsys) == f"error: {message}\n{help_line}"


def test_program_without_words_prints_its_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without any word the help page is on standard error, and the exit code is 2."""
    assert printed([], capsys).startswith("Usage: harpia-formats [OPTIONS] COMMAND")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "a"], "there is no command 'check'; use validate"),
        (["help"], "there is no command 'help'; use --help"),
        (["version"], "there is no command 'version'; use --version"),
        (
            ["convert", "a", "--column", "b"],
            "there is no option --column; use --map FIELD=COLUMN",
        ),
        (
            ["stats", "a", "--skip-invalid"],
            "there is no option --skip-invalid; use --on-invalid skip",
        ),
        (["validate", "a", "--skip-invalid"], "there is no option --skip-invalid\n"),
        (
            ["validate", "a", "--stdin-filename", "b"],
            "`--stdin-filename` names what is piped in: give - as the input",
        ),
        (["sample", "a"], "`--rows` is missing: Rows that are chosen"),
        (["sample", "a", "1", "-n", "1"], "`--rows` and N are one; give one of them"),
    ],
)
def test_what_is_meant_is_named(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words of other programs, and names of before, are errors that say what to use."""
    with pytest.raises(SystemExit) as ended, exceptions_to_exit_codes():
        run(words)

    assert ended.value.code == 2
    assert f"error: {message}" in capsys.readouterr().err
