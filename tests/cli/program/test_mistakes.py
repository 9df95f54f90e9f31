"""Mistakes in the command line: what is wrong, what was meant, and how to get help."""

import contextlib
import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from cases import for_each_case
from effort import drawn
from harpia_formats.api.option_values import values_of
from harpia_formats.api.options import options_of
from harpia_formats.cli.app import app_for
from harpia_formats.cli.command_table import COMMANDS, TWO_WORDS
from harpia_formats.cli.completion_answer import FILES
from harpia_formats.model.spelling import is_near, nearest
from in_process import exit_code

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


def printed(words: list[str]) -> str:
    """Return what is printed for words that are a mistake."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
    out, err = streams
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = exit_code(*words)
    for stream in streams:
        stream.seek(0)

    assert (code, out.read()) == (2, "")
    return err.read()


@pytest.mark.parametrize("command", OPTIONS)
def test_misspelt_option_is_suggested(command: str) -> None:
    """An option with two letters swapped gets a suggestion, in every command."""
    check_suggestions(command, OPTIONS[command][:: max(1, 4 // drawn(1))])


@pytest.mark.long
@pytest.mark.parametrize("command", OPTIONS)
def test_any_misspelt_option_is_suggested(command: str) -> None:
    """So does each of its options."""
    check_suggestions(command, OPTIONS[command])


def check_suggestions(command: str, options: list[str]) -> None:
    """Check that options with two letters swapped get suggestions."""
    for option in options:
        swapped = option[:2] + option[3] + option[2] + option[4:]
        if option == "--encoding":  # `necoding` may as well be `decoding`
            swapped = "--encodign"
        message = printed([*command.split(), swapped])

        assert message == (
            f"error: there is no option {swapped}; did you mean {option}?\n"
            f"for help: harpia-formats {command} --help\n"
        )


@for_each_case("name", EVERYTHING.commands)
def test_misspelt_command_is_suggested(name: str) -> None:
    """A command with a letter too many gets a suggestion, one of two words, too."""
    message, *_ = printed(f"{name}s".split()).splitlines()

    assert message.endswith(f"; did you mean {name}?")


def test_beginning_of_a_command_is_suggested() -> None:
    """The beginning of one command only is suggested as that command."""
    assert "'vali'; did you mean validate" in printed(["vali"])


def test_file_is_no_misspelt_command(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that has nearly the name of a second word is an input."""
    (tmp_path / "compar").write_bytes(b"{}\n")
    monkeypatch.chdir(tmp_path)
    exit_code("score", "compar")

    assert "no command" not in capsys.readouterr().err


def test_unknown_command_lists_all() -> None:
    """A word that is near no command gets the list of them."""
    assert "known: validate, " in printed(["nonsense"])


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
def test_mistake_is_one_sentence(words: str, message: str) -> None:
    """Other mistakes are reported in words, not in types."""
    command = words.split(maxsplit=1)[0]
    help_line = f"for help: harpia-formats {command} --help\n"

    if not HAS_CONVERTERS:  # older releases of typer word values in their own way
        message = message.split(":", maxsplit=1)[0]
        assert printed(words.split()).startswith(f"error: {message}")
        return
    assert printed(words.split()) == f"error: {message}\n{help_line}"


def test_program_without_words_prints_its_help() -> None:
    """Without any word the help page is on standard error, and the exit code is 2."""
    assert printed([]).startswith("Usage: harpia-formats [OPTIONS] COMMAND")


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
def test_what_is_meant_is_named(words: list[str], message: str) -> None:
    """Words of other programs, and names of before, are errors that say what to use."""
    assert f"error: {message}" in printed(words)


ROW = (
    b'{"input": {"prompt": "a", "ideal_response": "b", "category": "c", '
    b'"source": "d"}, "response": "b", "llm_name": "m"}\n'
)
#: What a command needs besides the option; others need one file.
NEEDS = {
    "completion": "",
    "config": ".",
    "convert": "a.jsonl --to tencent-outputs",
    "diff": "a.jsonl a.jsonl",
    "formats": "",
    "judge": "a.jsonl -d definition.json",
    "merge": "a.jsonl a.jsonl",
    "preflight": "--init a.jsonl",
    "roundtrip": "a.jsonl --via tencent-outputs",
    "rule": "",
    "sample": "a.jsonl 1",
    "schema": "nemo-output",
    "score": "a.jsonl --metrics em",
    "score agreement": "a.jsonl a.jsonl --field category",
    "score compare": "a.jsonl a.jsonl --metrics em",
    "split": "a.jsonl --valid v.jsonl --invalid i.jsonl",
}
#: The definition is read before the format of the inputs is looked at.
LATE = {("judge", "--from"), ("score", "--plot"), ("score compare", "--plot")}


def misspelt(values: list[str]) -> tuple[str, str]:
    """Return a value and the same with two letters swapped, near no other one."""
    for value in sorted(values, key=len):
        for index, (one, other) in enumerate(pairwise(value)):
            swapped = value[:index] + other + one + value[index + 2 :]
            is_word = index and one.isalpha() and other.isalpha() and one != other
            if len(value) > 3 and is_word and nearest(swapped, values) == value:
                return value, swapped
    return "", ""


def mistakes() -> Iterator[tuple[str, str, str, str]]:
    """Yield each command and option with a name and the same name misspelt."""
    words = {module: " ".join(two) for two, module in TWO_WORDS.items()}
    for module in (*COMMANDS, *TWO_WORDS.values()):
        command = words.get(module, module)
        for option in options_of(module):
            name, wrong = misspelt([value for value, _ in values_of(option)])
            word = option.words[0] if option.words else ""
            if name and option.noun not in FILES and (command, word) not in LATE:
                yield command, word, name, wrong


MISTAKES = list(mistakes())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a valid file the working folder."""
    (tmp_path / "a.jsonl").write_bytes(ROW)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_options_that_list_values_have_some() -> None:
    """Of each option with names of a kind, there are names to complete and to mean."""
    listing = [
        (module, option)
        for module in (*COMMANDS, *TWO_WORDS.values())
        for option in options_of(module)
        if option.values
    ]
    assert len(listing) > len(COMMANDS)
    assert [each for each in listing if not list(values_of(each[1]))] == []


@for_each_case("command, option, name, wrong", MISTAKES)
def test_misspelt_name_is_suggested(
    command: str, option: str, name: str, wrong: str
) -> None:
    """Exit code 2, and the name that was meant, for each kind of name."""
    given = [option, wrong + ("true" if wrong.endswith("=") else "")]
    needed = NEEDS.get(command, "a.jsonl").split()
    if option in needed:
        needed = needed[: needed.index(option)]
    words = [*needed, *given] if option else [wrong]
    message = printed([*command.split(), *words])
    meant = {name, name.rstrip("="), name.rstrip("=").rpartition(".")[2]}

    assert any(f"did you mean {each}?" in message for each in meant), message


def test_every_kind_of_name_is_tried() -> None:
    """Formats, rules, metrics, profiles, reporters and the other names are there."""
    tried = {(command, option) for command, option, *_ in MISTAKES}

    assert tried > {
        ("convert", "--to"),
        ("rule", ""),
        ("schema", "--dialect"),
        ("score", "--by"),
        ("score", "--metrics"),
        ("score", "--param"),
        ("score", "--profile"),
        ("score", "--to"),
        ("score compare", "--test"),
        ("validate", "--from"),
        ("validate", "--output-format"),
        ("validate", "--select"),
    }


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("validate a.jsonl --map pormpt=a", "prompt"),
        ("validate a.jsonl --report htlm=x", "html"),
        ("convert a.jsonl --to tencent --group pormpt -o x", "prompt"),
        ("convert a.jsonl --to eee --set evaluation_idd=1", "evaluation_id"),
        ("score a.jsonl -m em --to nemo-results --name taks=a -o x", "task"),
        ("score a.jsonl -m em --model n", "'m'"),
        ("validate a.jsonl", "examples"),
    ],
)
def test_other_names_are_suggested(words: str, meant: str, folder: Path) -> None:
    """Fields, settings and names of the data get suggestions, too."""
    if meant == "examples":
        (folder / "harpia-formats.toml").write_text("exampels = 3\n")
    if meant == "'m'":
        meant, words = "'model'", words.replace("--model n", "--model modle")
        (folder / "a.jsonl").write_bytes(ROW.replace(b'"m"', b'"model"'))

    assert f"did you mean {meant}?" in printed(words.split())
