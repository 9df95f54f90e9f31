"""The table of commands: their words, functions and docstrings, and misspelt ones."""

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from inspect import cleandoc
from types import CodeType, FunctionType
from typing import Any

from harpia_formats.cli.streams_and_exit_codes import UsageError

PROGRAM = "harpia-formats"
COMMANDS_IN = "harpia_formats.cli.commands"
#: Each command is the function of that name there, in a module of that name, or in
#: that of `_shared`.
COMMANDS = (
    "validate",
    "preflight",
    "convert",
    "roundtrip",
    "diff",
    "score",
    "stats",
    "judge",
    "head",
    "sample",
    "split",
    "merge",
    "view",
    "detect",
    "formats",
    "schema",
    "rule",
    "config",
    "completion",
)
#: Commands of two words, each with its function.
TWO_WORDS: dict[tuple[str, ...], str] = {
    ("schema", "check"): "schema_check",
    ("schema", "infer"): "schema_infer",
    ("score", "compare"): "score_compare",
    ("score", "agreement"): "score_agreement",
}


#: The modules that hold several commands.
_shared = {
    "diff": "comparisons",
    "roundtrip": "comparisons",
    "head": "subsets",
    "sample": "subsets",
    "split": "subsets",
    "merge": "subsets",
    "schema": "schemas",
    "schema_check": "schemas",
    "schema_infer": "schemas",
    "score_compare": "score",
    "score_agreement": "score",
}
#: The module of each command.
MODULES = {
    name: f"{COMMANDS_IN}.{_shared.get(name, name)}"
    for name in (*COMMANDS, *TWO_WORDS.values())
}
#: What is meant by words that other programs have as commands.
_MEANT = {
    "check": "validate",
    "help": "--help",
    "version": "--version",
}


def all_commands() -> Iterator[tuple[str, str]]:
    """Yield the words of each command with its name, those of two words after both."""
    for name in COMMANDS:
        yield name, name
        for words, long_name in TWO_WORDS.items():
            if words[0] == name:
                yield " ".join(words), long_name


def docstring_of(name: str) -> str:
    """Return the docstring of the command `name`, without its indentation.

    Its module is not run for it: it is in the compiled module, so that a list of all
    commands imports none of them.
    """
    from importlib.util import find_spec  # noqa: PLC0415 - for help only

    spec = find_spec(MODULES[name])
    loader: Any = spec and spec.loader
    if not hasattr(loader, "get_code"):  # that of a test runner or a debugger
        function = getattr(import_module(MODULES[name]), name)
        return cleandoc(function.__doc__ or "")
    for code in loader.get_code(MODULES[name]).co_consts:
        if isinstance(code, CodeType) and code.co_name == name:
            return cleandoc(FunctionType(code, {}).__doc__ or "")
    raise LookupError(f"{MODULES[name]} has no function {name}")


def unknown_command(asked: str, names: Sequence[str]) -> UsageError:
    """Return the error for a command that does not exist, with the nearest name."""
    from harpia_formats.model.spelling import hint_on  # noqa: PLC0415 - for mistakes only

    if asked in _MEANT:
        return UsageError(f"there is no command {asked!r}; use {_MEANT[asked]}")
    longer = [name for name in names if name.startswith(asked)]
    hint = f"; did you mean {longer[0]}?" if len(longer) == 1 else hint_on(asked, names)
    return UsageError(f"there is no command {asked!r}{hint}")


def check_second_word(arguments: Sequence[str]) -> None:
    """Raise `UsageError` for `schema chek`, unless it is a file of that name."""
    seconds = [second for first, second in TWO_WORDS if [first] == [*arguments[:1]]]
    if not seconds or len(arguments) == 1 or os.path.lexists(arguments[1]):
        return
    from harpia_formats.model.spelling import nearest  # noqa: PLC0415 - for two commands only

    near = nearest(arguments[1], seconds)
    if near:
        raise unknown_command(" ".join(arguments[:2]), [f"{arguments[0]} {near}"])
