"""The signatures and the help of the Python functions, from the table of options."""

from collections.abc import Callable
from inspect import Parameter, Signature, cleandoc
from keyword import iskeyword
from typing import Any

from harpia_formats.api import functions
from harpia_formats.api import options as table
from harpia_formats.api.keyword_options import rendered_for_python
from harpia_formats.api.option_values import help_of
from harpia_formats.api.options import REQUIRED, Option, arguments_of

#: The types of the arguments of each kind that are not None without a default.
_types = {
    table.FLAG: "bool",
    table.WORKERS: "int",
    table.TEXTS: "Sequence[str]",
    table.NAMES: "Sequence[str]",
    table.METRICS: "Sequence[str]",
    table.MAP: "Mapping[str, str] | None",
    table.CONSTANTS: "Mapping[str, Any]",
    table.PARAMETERS: "Mapping[str, Any]",
    table.PAIRS: "Mapping[str, str]",
}
_values: dict[str, Any] = {
    table.FLAG: False,
    table.TEXTS: (),
    table.NAMES: (),
    table.METRICS: (),
    table.CONSTANTS: {},
    table.PARAMETERS: {},
    table.PAIRS: {},
}


def public_function(name: str) -> Callable[..., Any]:
    """Return a function of the package, with its whole signature and help."""
    function: Any = getattr(functions, name)
    function.__signature__ = signature_of(name)
    function.__module__ = "harpia_formats"
    function.__doc__ = f"{cleandoc(function.__doc__)}\n\n{_help_of(name)}".rstrip()
    return function  # type: ignore[no-any-return]  # it is one


def signature_of(name: str) -> Signature:
    """Return the signature of a function: its own parameters, and its options."""
    function: Any = getattr(functions, name)
    code = Signature.from_callable(getattr(function, "__wrapped__", function))
    own = [one for one in code.parameters.values() if one.kind != Parameter.VAR_KEYWORD]
    if len(own) == len(code.parameters):  # it has no options
        return code
    known = {one.name for one in own}
    options = [one for one in arguments_of(name) if one.field not in known]
    more = [_parameter(one, one.field) for one in options]
    more += [
        _parameter(one, alias)
        for one in arguments_of(name)
        for alias in one.aliases.split()
        if not iskeyword(alias)
    ]
    return code.replace(parameters=[*own, *more])


def _parameter(option: Option, name: str) -> Parameter:
    place = Parameter.KEYWORD_ONLY
    annotation, default = type_of(option), default_of(option)
    return Parameter(name, place, default=default, annotation=annotation)


def default_of(option: Option) -> Any:
    """Return the value of the argument for an option that is not given."""
    if option.python_default is not REQUIRED:
        return option.python_default
    return _values.get(option.kind) if option.default is None else option.default


def type_of(option: Option) -> str:
    """Return the type of the argument for an option, as a type checker reads it."""
    if option.type or option.kind in _types:
        return option.type or _types[option.kind]
    kind = {table.WHOLE: "int", table.NUMBER: "float"}.get(option.kind, "str")
    if option.choices:
        words = ", ".join(f'"{word}"' for word in option.choices.split())
        kind = f"Literal[{words}]"
    elif option.kind == table.PATH or option.noun == "FILE":
        kind = "Path"
    return f"{kind} | None" if default_of(option) is None else kind


def _help_of(name: str) -> str:
    """Return the help texts of the options of a function."""
    known = signature_of(name).parameters
    options = [one for one in arguments_of(name) if one.field in known]
    lines = [
        f"- {one.field}: {rendered_for_python(help_of(one), name)}" for one in options
    ]
    return "\n".join(["Options:", *lines]) if lines else ""
