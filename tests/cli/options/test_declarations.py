"""Each option is declared once, and a choice is what its table holds."""

from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import harpia_formats
from cases import for_each_case
from command_runs import run
from harpia_formats.api.option_values import help_of, listed
from harpia_formats.api.options import OPTIONS, options_of
from harpia_formats.api.settings_file import SETTINGS, Kind, Setting
from harpia_formats.cli.app import app_for
from harpia_formats.cli.command_table import COMMANDS, TWO_WORDS
from harpia_formats.conversion.mapping.choices import References, Responses, Turns
from harpia_formats.conversion.options import (
    FILLING_METRICS,
    ContainerKind,
    OnInvalid,
    OnLoss,
)
from harpia_formats.evaluation.figures.picture_files import kinds_of
from harpia_formats.evaluation.metrics import USUAL
from harpia_formats.evaluation.scoring.measures.profiles import profile_names
from harpia_formats.formats.registry import result_formats
from harpia_formats.reporters import REPORTERS


def help_text(command: str, name: str) -> str:
    """Return what the help page says of an option of a command."""
    options = {each.words[0]: each for each in options_of(command) if each.words}
    return help_of(options[name])


def test_no_option_is_declared_twice() -> None:
    """No command or function has two options of one name."""
    names = [
        (command, word)
        for option in OPTIONS
        for command in option.commands.split()
        for word in option.all_words() or [option.field]
    ]
    functions = [
        (function, name)
        for option in OPTIONS
        for function in option.all_functions()
        for name in (option.field, *option.aliases.split())
    ]

    assert len(names) == len(set(names)) > len(COMMANDS)
    assert len(functions) == len(set(functions)) > len(COMMANDS)


def test_every_option_is_of_a_command_or_function() -> None:
    """The table names commands that there are, and functions that there are."""
    commands = {*COMMANDS, *TWO_WORDS.values()}
    functions = {*harpia_formats.__all__}
    for option in OPTIONS:
        assert {*option.commands.split()} <= commands, option
        assert {*option.all_functions()} <= functions, option
        assert option.commands or option.functions, option


@for_each_case(
    "command, name, table",
    [
        ("convert", "--references", References),
        ("convert", "--responses", Responses),
        ("convert", "--turns", Turns),
        ("convert", "--container", ContainerKind),
        ("convert", "--on-loss", OnLoss),
        ("convert", "--on-invalid", OnInvalid),
        ("convert", "--score", FILLING_METRICS),
        ("score", "--profile", profile_names()),
        ("score", "--to", result_formats()),
    ],
)
def test_help_lists_the_choices_of_the_table(
    command: str, name: str, table: Any
) -> None:
    """The help of an option lists all of its choices, in the order of their table."""
    assert listed(table) in help_text(command, name)


def test_help_lists_every_reporter() -> None:
    """The help of --output-format has the name of each reporter."""
    assert ", ".join(REPORTERS) in help_text("validate", "--output-format")


def test_help_lists_usual_metrics() -> None:
    """The help of --metrics has the names of those that most runs need."""
    assert ", ".join(USUAL) in help_text("score", "--metrics")


def test_help_lists_every_format_of_verdicts() -> None:
    """The help of judge --to, which must not import the judge, has each format."""
    formats = pytest.importorskip("harpia_formats.evaluation.llm_judge.judge_files")
    page = help_text("judge", "--to")

    assert all(f"{each} (" in page for each in formats.VerdictFormat)


@pytest.mark.parametrize("command", ["score", "score compare"])
def test_help_lists_every_kind_of_picture(command: str) -> None:
    """The help of --plot has the name and the summary of each kind of picture."""
    page = help_text(command.replace(" ", "_"), "--plot")
    kinds = kinds_of(command).values()

    assert kinds
    assert all(f"{kind.name}: {kind.summary}" in page for kind in kinds)


@for_each_case("command", COMMANDS)
def test_the_format_of_inputs_has_both_names(command: str) -> None:
    """Where a command takes the format of its inputs, both names are accepted."""
    group: Any = get_command(app_for([command]))
    names = [set(each.opts) for each in group.commands[command].params]
    of_inputs = [each for each in names if each & {"--from", "--format"}]

    assert all({"--from", "--format"} <= each for each in of_inputs)


@pytest.mark.parametrize(
    "setting",
    [each for each in SETTINGS if each.kind is Kind.FLAG],
    ids=lambda each: each.name,
)
def test_a_flag_of_the_settings_can_be_turned_off(
    setting: Setting, tmp_path: Path
) -> None:
    """What a settings file turns on, `--no-NAME` turns off for one run."""
    row = '{"id": 9007199254740993, "prompt": 5, "outputs": []}\n'
    (tmp_path / "rows.jsonl").write_text(row)
    (tmp_path / "harpia-formats.toml").write_text(f"{setting.name} = true\n")
    on = run("validate", "rows.jsonl", cwd=tmp_path)
    off = run("validate", "rows.jsonl", f"--no-{setting.name}", cwd=tmp_path)
    plain = run("validate", "rows.jsonl", "--isolated", cwd=tmp_path)

    assert (off.returncode, off.stdout) == (plain.returncode, plain.stdout)
    if setting.name in {"lint", "statistics", "redact"}:
        assert on.stdout != off.stdout
