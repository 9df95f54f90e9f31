"""The table of commands: their names, functions and docstrings."""

from collections.abc import Iterator
from importlib import import_module
from inspect import cleandoc
from types import CodeType, FunctionType
from typing import Any

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
