"""The option `--encoding` of all commands that read text.

It is added to their parameters in one place: what it changes is the inputs that they
get, each of which carries its encoding to where it is opened.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from harpia_formats.cli.exit_codes import UsageError

Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of the inputs, such as gb18030 or big5; UTF-8 if not given.",
        rich_help_panel="Reading",
    ),
]
#: The parameters that are inputs, and the one of commands that read them as text.
_INPUTS = ("paths", "path", "inputs", "left", "right")
_OF_TEXT = "delimiter"
#: Options with which the bytes of the inputs are written again, or compared.
_OF_BYTES = {"fix": "--fix", "diff": "--diff"}


def reads_text(function: Callable[..., Any]) -> bool:
    """Return whether a command reads inputs that may be text."""
    return _OF_TEXT in inspect.signature(function).parameters


def with_encoding_option(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command, with `--encoding` behind the option for the delimiter."""
    signature = inspect.signature(command)
    parameters = list(signature.parameters.values())
    place = [parameter.name for parameter in parameters].index(_OF_TEXT) + 1
    option = inspect.Parameter(
        "encoding",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Encoding,
    )
    parameters.insert(place, option)
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # inspect reads it
    command.__annotations__ = {**command.__annotations__, "encoding": Encoding}
    return command


def with_encoding(arguments: Mapping[str, Any], encoding: str) -> dict[str, Any]:
    """Return the arguments of a command whose inputs are in an encoding.

    Raises `UsageError` beside an option that writes the bytes of an input, and
    `OptionError` for a name that is no encoding.
    """
    from harpia_formats.files.io.encodings import EncodedPath, checked_encoding  # noqa: PLC0415 - only with the option

    for name, option in _OF_BYTES.items():
        if arguments.get(name) is True:
            raise UsageError(
                f"{option} is for UTF-8: convert the file with iconv first"
            )
    checked = checked_encoding(encoding)
    changed = dict(arguments)
    for name in _INPUTS:
        given = changed.get(name)
        if isinstance(given, str):
            changed[name] = EncodedPath.of(given, checked)
        elif given:
            changed[name] = [EncodedPath.of(path, checked) for path in given]
        elif name in changed and name != "path":
            changed[name] = [EncodedPath.of("-", checked)]
    return changed
