"""The published commands and options stay: none is removed or changed.

`command_line.json` holds them as they are published. An option or a value that is
added needs no change of it; one that is taken away on purpose does, by
`python tests/cli/test_command_line.py > tests/cli/command_line.json`.
"""

import json
import sys
from collections.abc import Iterator
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from harpia_formats.cli.app import app_for

PUBLISHED = Path(__file__).with_name("command_line.json")
#: Values that each option is tried with: choices of all options, numbers at the ends
#: of all ranges, and a word that none of them knows.
VALUES = (
    "0 1 -1 0.5 0.0001 4 256 257 auto array concise expand fail first full ignore json "
    "jsonl last lines list quarantine report skip text transcript nonsense"
).split()

Described = dict[str, Any]


@cache
def commands() -> dict[str, Any]:
    """Return the command object of each command by its name."""
    everything: Any = get_command(app_for([]))
    return {"harpia-formats": everything, **everything.commands}


def described(command: Any) -> Described:
    """Return the options of a command by their names, its arguments by their order."""
    found = {}
    for place, parameter in enumerate(command.params, start=1):
        is_option = parameter.param_type_name == "option"
        name = parameter.opts[0] if is_option else f"argument {place}"
        found[name] = described_parameter(command, parameter)
    return found


def described_parameter(command: Any, parameter: Any) -> Described:
    """Return the names, the default and the accepted values of one parameter."""
    found: Described = {
        "required": parameter.required,
        "repeatable": bool(getattr(parameter, "multiple", False)),
        "number of values": parameter.nargs,
        "environment": parameter.envvar,
    }
    if parameter.param_type_name == "option":
        found["names"] = [*parameter.opts, *parameter.secondary_opts]
    if not parameter.required:
        found["default"] = value_of(command, parameter, [])
    if parameter.param_type_name == "option" and not parameter.is_flag:
        found["accepts"] = accepted(command, parameter)
    return found


def accepted(command: Any, parameter: Any) -> str | dict[str, str]:
    """Return what each accepted one of `VALUES` means, or that all mean themselves."""
    meanings = {}
    for value in VALUES:
        try:
            found = value_of(command, parameter, [f"{parameter.opts[0]}={value}"])
        except typer.BadParameter:
            continue
        meanings[value] = found[0] if parameter.multiple else found
    return "any text" if meanings == {each: each for each in VALUES} else meanings


def value_of(command: Any, parameter: Any, arguments: list[str]) -> Any:
    """Return the value of a parameter as JSON after a command line was parsed.

    Raises `typer.BadParameter` for a value that is not accepted.
    """
    # Text and number at once, so that every type of value accepts it.
    needed = []
    for each in command.params:
        if each.required and each is not parameter:
            is_option = each.param_type_name == "option"
            needed += [f"{each.opts[0]}=1"] if is_option else ["1"]
        elif each.required and each.param_type_name == "argument":
            needed.append("1")
    if hasattr(command, "commands"):
        needed.append("formats")
    # Parsing all other options as well would take most of the time.
    alone = copy(command)
    alone.params = [one for one in command.params if one.required or one is parameter]
    context = alone.make_context("name", [*arguments, *needed])
    value = context.params[parameter.name]
    if isinstance(value, list | tuple):
        return [str(each) for each in value] or None
    return value if value is None else str(value)


def published() -> dict[str, dict[str, Described]]:
    """Return the published commands with their parameters."""
    commands: dict[str, dict[str, Described]] = json.loads(PUBLISHED.read_bytes())
    return commands


def test_no_command_is_lost() -> None:
    """Each published command is there."""
    assert published().keys() - commands().keys() == set()


@pytest.mark.parametrize("name", published())
def test_no_option_is_lost(name: str) -> None:
    """Each published option has its names, its default and all of its values."""
    found = described(commands()[name])
    differing = {}
    for option, before in published()[name].items():
        now = found.get(option, {})
        values = before.get("accepts")
        if isinstance(values, dict) and isinstance(now.get("accepts"), dict):
            now["accepts"] = {
                each: meaning
                for each, meaning in now["accepts"].items()
                if each in values
            }
        if now != before:
            differing[option] = (before, now)

    assert differing == {}


def test_choices_are_tried() -> None:
    """The values above tell an option of choices from one that takes any text."""
    options = described(commands()["convert"])

    assert options["--to"]["accepts"] == "any text"
    assert options["--turns"]["accepts"].keys() == {"last", "transcript", "fail"}


def in_lines(found: dict[str, dict[str, Described]]) -> Iterator[str]:
    """Yield JSON with a line for each option."""
    yield "{"
    for name, options in found.items():
        yield f"  {json.dumps(name)}: {{"
        rows = [f"    {json.dumps(key)}: {json.dumps(options[key])}" for key in options]
        yield ",\n".join(rows)
        yield "  }" + ("," if name != list(found)[-1] else "")
    yield "}"


if __name__ == "__main__":
    everything = {name: described(command) for name, command in commands().items()}
    sys.stdout.writelines(f"{line}\n" for line in in_lines(everything))
