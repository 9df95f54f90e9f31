"""Run a command line that is plainly right, without typer, which takes long to import.

It may only accept: words that it does not read are read by typer, which knows all that
a command line can be, and says what is wrong with it. What is read here has the values
that typer would give it.
"""

import sys
from collections.abc import Sequence
from typing import Any

from harpia_formats.api.options import FLAG, REQUIRED, Option, options_of
from harpia_formats.cli.command_table import COMMANDS, TWO_WORDS, check_second_word
from harpia_formats.cli.streams_and_exit_codes import ExitCode

#: The words that print a page, with whether it is the whole one.
_PAGES: dict[tuple[str, ...], bool] = {
    ("--help",): False,
    ("-h",): False,
    ("--help-all",): True,
}


def run_plain(arguments: Sequence[str]) -> None:
    """Run the command line `arguments` if it is plainly right.

    Raises `SystemExit` with its exit code then, and `UsageError` for a misspelt command
    of two words.
    """
    name, words = _command_in(arguments)
    is_whole = _PAGES.get(tuple(words))
    if is_whole is not None and (name or not is_whole):
        _print_page(name, is_whole=is_whole)
    if not name:
        return
    if any(name == first for first, _ in TWO_WORDS):
        check_second_word(arguments)
    options = options_of(name)
    found = words_by_field(words, options)
    values = None if found is None else values_of(found, options)
    if found is not None and values is not None:
        from harpia_formats.cli.command_options import finish  # noqa: PLC0415 - for commands only

        finish(name, values, found)


def _command_in(arguments: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the name of the command that `arguments` begin with, and the rest.

    The name is empty if they begin with none.
    """
    two = TWO_WORDS.get(tuple(arguments[:2]))
    if two is not None:
        return two, arguments[2:]
    if arguments and arguments[0] in COMMANDS:
        return arguments[0], arguments[1:]
    return "", arguments


def _print_page(name: str, *, is_whole: bool) -> None:
    """Print the help page of a command, or of the program; raises `SystemExit`."""
    from harpia_formats.cli.help_page import command_page, program_page, usual_style  # noqa: PLC0415 - for help only

    style = usual_style()
    page = command_page(name, style, is_whole=is_whole) if name else program_page(style)
    sys.stdout.write(page)
    sys.stdout.flush()
    raise SystemExit(ExitCode.OK)


def words_by_field(
    words: Sequence[str], options: Sequence[Option]
) -> dict[str, list[Any]] | None:
    """Return the words of each option and argument that is given, by its field.

    A flag has a boolean for each time that it is given. Returns None for words that are
    not plain.
    """
    by_name = {name: option for option in options for name in option.all_words()}
    found: dict[str, list[Any]] = {}
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments += rest
        elif word == "-" or not word.startswith("-"):
            arguments.append(word)
        else:
            name, equals, value = word.partition("=")
            option = by_name.get(name)
            # Behind the letter of an option an equals sign is of its value.
            if option is None or (equals and not name.startswith("--")):
                return None
            if option.kind == FLAG:
                if equals:
                    return None
                found.setdefault(option.field, []).append(_is_on(option, name))
                continue
            if not equals:
                value = next(rest, "--")
                if value.startswith("-") and value != "-":
                    return None
            found.setdefault(option.field, []).append(value)
    return _with_arguments(found, arguments, options)


def _is_on(option: Option, name: str) -> bool:
    """Return whether this name of a flag turns it on."""
    return not name.startswith("--no-") or name == option.words[0]


def _with_arguments(
    found: dict[str, list[Any]], words: list[str], options: Sequence[Option]
) -> dict[str, list[Any]] | None:
    """Return what is `found` and the words of each argument that is given.

    Returns None if they are too many.
    """
    arguments = [option for option in options if not option.words]
    if len(arguments) == 1 and arguments[0].is_repeated:
        return {**found, arguments[0].field: words} if words else found
    if len(words) > len(arguments) or any(one.is_repeated for one in arguments):
        return None
    pairs = zip(arguments, words, strict=False)
    return {**found, **{option.field: [word] for option, word in pairs}}


def values_of(
    found: dict[str, list[Any]], options: Sequence[Option]
) -> dict[str, Any] | None:
    """Return the value of each option, of its default if it is not given.

    Returns None if one must be given, or if a word has no value.
    """
    from harpia_formats.cli.command_options import WordError, conversion_of  # noqa: PLC0415 - for commands only

    values: dict[str, Any] = {}
    for option in options:
        words = found.get(option.field)
        if words is None:
            if option.default is REQUIRED:
                return None
            words = [] if option.default is None else [option.default]
        try:
            converted = [*map(conversion_of(option), words)]
        except WordError:
            return None
        if option.is_repeated:
            values[option.field] = converted
        else:
            values[option.field] = converted[-1] if converted else _nothing(option)
    return values


def _nothing(option: Option) -> bool | None:
    """Return the value of an option without a default that is not given.

    A flag is off then, unless something else decides.
    """
    is_off = option.kind == FLAG and "/--no-" not in option.names
    return False if is_off else None
