"""The option `--encoding` of all commands that read text.

What it changes is the inputs that they get, each of which carries its encoding to where
it is opened.
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.cli.exit_codes import UsageError

#: The parameters that are inputs.
INPUTS = frozenset({"paths", "path", "inputs", "left", "right"})

#: Options with which the bytes of the inputs are written again, or compared.
_OF_BYTES = {"fix": "--fix", "diff": "--diff"}


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
    for name in INPUTS:
        given = changed.get(name)
        if isinstance(given, str):
            changed[name] = EncodedPath.of(given, checked)
        elif given:
            changed[name] = [EncodedPath.of(path, checked) for path in given]
        elif name in changed and name != "path":
            changed[name] = [EncodedPath.of("-", checked)]
    return changed
