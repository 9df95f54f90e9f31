"""What the word at the cursor can become, by the words before it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from typer.main import get_command

from harpia_formats.cli.app import COMMANDS, COMMANDS_IN, TWO_WORDS, app_for
from harpia_formats.cli.completion.values import FILES, LISTS, Value, values_of
from harpia_formats.cli.program.help_page import summary

#: The options of every command, which typer adds to them.
_HELP = ("--help", "Show this message and exit.")


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a word can become: some values, or the name of a file."""

    values: tuple[Value, ...] = ()
    files: bool = False


def candidates(words: Sequence[str], current: str) -> Candidates:
    """Return what `current` can become behind `words`, the words of a command line."""
    if not words and not current.startswith("-"):
        return Candidates(tuple(_commands(current)))
    count = 2 if tuple(words[:2]) in TWO_WORDS else 1
    named = words[:count]
    group: Any = get_command(app_for(named))
    if not words:
        return _matching([*_option_names(group, ()), _HELP], current)
    command: Any = group.commands.get(named[0])
    if count > 1 and command is not None:
        command = command.commands[named[1]]
    if command is None:
        return Candidates()
    return _of_command(" ".join(named), command, words[count:], current)


def _of_command(
    name: str, command: Any, words: Sequence[str], current: str
) -> Candidates:
    """Return the candidates for a word behind the `words` behind a command."""
    options = {each: option for option in command.params for each in _names(option)}
    before = options.get(words[-1]) if words and "--" not in words else None
    if before is not None and not before.is_flag:
        return _values(name, before, current, "")
    start, equals, rest = current.partition("=")
    if equals and start in options:
        return _values(name, options[start], rest, f"{start}=")
    if current.startswith("-") and "--" not in words:
        return _matching([*_option_names(command, words), _HELP], current)
    seconds = [two for one, two in TWO_WORDS if one == name and not words]
    matching = [(two, "") for two in seconds if current and two.startswith(current)]
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    if not arguments:
        return Candidates(tuple(matching))
    found = _values(name, arguments[0], current, "")
    return Candidates((*matching, *found.values), found.files and not matching)


def _commands(current: str) -> Iterator[Value]:
    """Yield the commands that begin like a word, with their summaries."""
    for name in COMMANDS:
        if name.startswith(current):
            module = import_module(f"{COMMANDS_IN}.{name}")
            yield name, summary(getattr(module, name).__doc__)


def _names(option: Any) -> Sequence[str]:
    """Return the names of an option, none for an argument."""
    is_option = option.param_type_name == "option"
    return [*option.opts, *option.secondary_opts] if is_option else ()


def _option_names(command: Any, words: Sequence[str]) -> Iterator[Value]:
    """Yield the long options of a command that may still be given."""
    given = {word.partition("=")[0] for word in words}
    for option in command.params:
        names = _names(option)
        if option.multiple if names else True:
            if not names:
                continue
        elif given.intersection(names):
            continue
        yield from ((name, option.help or "") for name in names if len(name) > 2)  # noqa: PLR2004 - not those of one letter


def _values(name: str, parameter: Any, current: str, before: str) -> Candidates:
    """Return the values of a parameter that begin like `current`, behind `before`."""
    noun = parameter.metavar or ""
    if noun in FILES:
        return Candidates(files=True)
    if noun in LISTS:
        *whole, current = current.split(",")
        before += "".join(f"{each}," for each in whole)
    values = values_of(name, parameter)
    found = _matching(values, current).values
    return Candidates(tuple((before + value, about) for value, about in found))


def _matching(values: Any, current: str) -> Candidates:
    """Return the values that begin like `current`, each once."""
    found = dict(each for each in values if each[0].startswith(current))
    return Candidates(tuple(found.items()))
