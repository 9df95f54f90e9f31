"""Mistakes in the command line, as messages on standard error."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from harpia_formats.api.options import INSTEAD
from harpia_formats.cli.output.streams import print_error, write_stderr
from harpia_formats.model.text.spelling import nearest

#: The class of all mistakes. Which module defines it depends on the release of typer.
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]


def print_mistake(error: Any, command: str) -> bool:
    """Print what is wrong with the words behind `command`, and how to get help.

    Returns False if `error` is not a mistake in the command line; nothing is printed
    then.
    """
    if not isinstance(error, USAGE_ERROR):
        return False
    print_error(_reason(error).strip().rstrip("."))
    write_stderr(f"for help: {command} --help\n")
    return True


def _reason(error: Any) -> str:
    """Return what is wrong, with the name that was probably meant."""
    kind = type(error).__name__
    if kind == "NoSuchOption" and error.option_name in INSTEAD:
        instead = INSTEAD[error.option_name]
        return f"there is no option {error.option_name}; use {instead}"
    if kind == "NoSuchOption":
        near = nearest(error.option_name, list(_options_of(error.ctx)))
        hint = f"; did you mean {near}?" if near else ""
        return f"there is no option {error.option_name}{hint}"
    if kind == "MissingParameter" and error.param is not None:
        # Some older releases of typer lose the help of arguments.
        about = f": {error.param.help}" if error.param.help else ""
        return f"{_name_of(error.param)} is missing{about}"
    if kind == "BadOptionUsage":
        found: str = error.message
        return f"{found[:1].lower()}{found[1:]}".replace("'", "")
    if getattr(error, "param", None) is not None:
        return f"{_name_of(error.param)}: {error.message}"
    message = re.sub(
        r"(?:\(s\))? \((.*)\)$", r": \1", error.format_message().rstrip(".")
    )
    return f"{message[:1].lower()}{message[1:]}"


def _name_of(parameter: Any) -> str:
    """Return the names of an option, or the noun of an argument."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    return "/".join(parameter.opts)


def _options_of(context: Any) -> Iterator[str]:
    """Yield the long names of the options of the command that is parsed."""
    if context is not None:
        for parameter in context.command.get_params(context):
            yield from (name for name in parameter.opts if name.startswith("--"))
