"""Each option is declared once, and a choice is what its table holds."""

import ast
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from command_runs import run
from harpia_formats import cli
from harpia_formats.api.settings.table import SETTINGS, Kind, Setting
from harpia_formats.cli.app import COMMANDS, app_for
from harpia_formats.cli.options.values import listed
from harpia_formats.conversion.mapping.choices import References, Responses, Turns
from harpia_formats.conversion.options import (
    FILLING_METRICS,
    ContainerKind,
    OnInvalid,
    OnLoss,
)
from harpia_formats.evaluation.figures.kinds import kinds_of
from harpia_formats.evaluation.metrics import METRICS
from harpia_formats.evaluation.scoring.profiles import profile_names
from harpia_formats.formats.registry import result_formats
from harpia_formats.reporters import REPORTERS

HERE = Path(str(cli.__file__)).parent


def option(command: str, name: str) -> Any:
    """Return the option with this name of a command."""
    group: Any = get_command(app_for([command]))
    options = {each.opts[0]: each for each in group.commands[command].params}
    return options[name]


@pytest.mark.parametrize(
    "module", sorted((HERE / "commands").glob("*.py")), ids=lambda path: path.stem
)
def test_commands_declare_no_option(module: Path) -> None:
    """A command takes its parameters from the modules of options."""
    imported = {
        name.name
        for node in ast.walk(ast.parse(module.read_bytes()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }

    assert (
        imported & {"typer", "Annotated", "flag", "choice", "text", "number"} == set()
    )


def test_no_option_is_declared_twice() -> None:
    """Each name of a type of option is in one module of options only."""
    names = [
        target.id
        for module in (HERE / "options").glob("*.py")
        for node in ast.parse(module.read_bytes()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and not target.id.isupper()
    ]

    assert len(names) == len(set(names)) > len(COMMANDS)


@pytest.mark.parametrize(
    ("command", "name", "table"),
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
    assert listed(table) in option(command, name).help


def test_help_lists_every_reporter() -> None:
    """The help of --output-format has the name of each reporter."""
    assert ", ".join(REPORTERS) in option("validate", "--output-format").help


def test_help_lists_every_metric() -> None:
    """The help of --metrics has the name of each metric."""
    assert ", ".join(METRICS) in option("score", "--metrics").help


def test_help_lists_every_format_of_verdicts() -> None:
    """The help of judge --to, which must not import the judge, has each format."""
    formats = pytest.importorskip(
        "harpia_formats.evaluation.llm_judge.run.write_verdicts"
    )
    page = option("judge", "--to").help

    assert all(f"{each} (" in page for each in formats.VerdictFormat)


def test_every_command_with_progress_takes_the_option() -> None:
    """A command that shows its progress has --progress, and gives its inputs to it."""
    using = {
        module.stem: module.read_text(encoding="utf-8")
        for module in (HERE / "commands").glob("*.py")
        if "Progress(" in module.read_text(encoding="utf-8")
    }

    assert {"validate", "convert", "score", "score_compare", "detect"} <= using.keys()
    for name, text in using.items():
        assert "when=show_progress" in text, name
        assert "inputs=" in text, name


@pytest.mark.parametrize("command", ["score", "score compare"])
def test_help_lists_every_kind_of_picture(command: str) -> None:
    """The help of --plot has the name and the summary of each kind of picture."""
    page = option(command, "--plot").help

    assert kinds_of(command)
    assert all(
        f"{kind.name}: {kind.summary}" in page for kind in kinds_of(command).values()
    )


@pytest.mark.parametrize("command", COMMANDS)
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
    (tmp_path / "rows.jsonl").write_text('{"prompt": 5, "outputs": []}\n')
    (tmp_path / "harpia-formats.toml").write_text(f"{setting.name} = true\n")
    on = run("validate", "rows.jsonl", cwd=tmp_path)
    off = run("validate", "rows.jsonl", f"--no-{setting.name}", cwd=tmp_path)
    plain = run("validate", "rows.jsonl", "--isolated", cwd=tmp_path)

    assert (off.returncode, off.stdout) == (plain.returncode, plain.stdout)
    if setting.name in {"statistics", "redact"}:
        assert on.stdout != off.stdout
