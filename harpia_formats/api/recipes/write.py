"""Write the options of a command as a recipe, with all defaults."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from harpia_formats.api.recipes.definitions import (
    Definitions,
    definitions_of,
    reads_verdicts,
    settled,
    usual_test,
)
from harpia_formats.api.recipes.error import RecipeError
from harpia_formats.api.recipes.parse import PARAMETERS
from harpia_formats.api.recipes.table import Command, Key
from harpia_formats.api.recipes.toml_values import to_toml
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.select_metrics import parameters_of_request
from harpia_formats.files.toml import toml_name

_START = """\
# A recipe of harpia-formats {command}: {usage}
# Paths start from the folder of this file; these are from the working folder.
"""
#: What holds without a key, where that is not nothing.
_USUAL = {"test": ": permutation of means, and the bootstrap of other scores"}
#: The value of a parameter that has none by default, which TOML has no word for.
_NOT_GIVEN = object()


def recipe_text(command: Command, options: ScoreOptions, run: Any) -> str:
    """Return a recipe with which `command` gives the same result.

    It has every option with a value, the metrics of the profile, and all of their
    parameters, unless what is read selects the metrics. Raises `RecipeError` for an
    option that no recipe can hold, and `ScoreError` for unknown names.
    """
    to = getattr(run, "to", None)
    definitions = definitions_of(options, to)
    if definitions is not None and not options.metrics:
        inputs = [path for path in run.inputs if path != "-"]
        if reads_verdicts(inputs, options):
            definitions = None
    if definitions is not None:
        options = replace(
            options, profile=definitions.profile.id, metrics=definitions.names
        )
    usage = f"harpia-formats {command.name} --recipe FILE"
    keys = command.all_keys().values()
    run = _with_test(run, definitions, options.parameters)
    values = [(key, _value(key, options, run)) for key in keys]
    lines = [_START.format(command=command.name, usage=usage)]
    for key, value in values:
        if key.name == PARAMETERS:
            continue
        if value is None or (key.is_table and not value):
            lines.append(f"# {key.name} is not given{_USUAL.get(key.name, '')}\n")
        elif not key.is_table:
            lines.append(f"{key.name} = {_toml(key.name, value)}\n")
    for key, value in values:
        if key.is_table and value and key.name != PARAMETERS:
            lines += [f"\n[{key.name}]\n", *_members(key.name, value)]
    lines += _parameter_lines(options.parameters, definitions)
    return "".join(lines)


def _with_test(
    run: Any, definitions: Definitions | None, parameters: Mapping[str, Any]
) -> Any:
    """Return a run of a comparison with the test that it takes if none is given."""
    if definitions is None or getattr(run, "test", "") is not None:
        return run
    return replace(run, test=usual_test(definitions, parameters))


def _value(key: Key, options: ScoreOptions, run: Any) -> Any:
    is_option = key.option in ScoreOptions.__dataclass_fields__
    return getattr(options if is_option else run, key.option)


def _parameter_lines(
    given: Mapping[str, Any], definitions: Definitions | None
) -> Iterator[str]:
    """Yield the tables of parameters: all that each metric has."""
    tables = {} if definitions is None else _complete(definitions, given)
    complete = set(tables)
    for full, value in given.items():
        metric, _, name = full.partition(".")
        if metric not in complete:
            tables.setdefault(metric, {})[name] = value
    for metric, values in tables.items():
        if values:
            yield f"\n[{PARAMETERS}.{_toml_name(metric)}]\n"
            yield from _members(f"{PARAMETERS}.{metric}", values)


def _complete(
    definitions: Definitions, given: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return all parameters of each metric whose name in results is its own."""
    found = {}
    requests = definitions.requests
    for request in requests:
        name = request.label
        probe = {f"{name}.{name}": None}
        if sum(bool(parameters_of_request(one, probe)) for one in requests) == 1:
            usual = settled(request, {})
            found[name] = {
                name: _NOT_GIVEN if value is None and usual[name] is None else value
                for name, value in settled(request, given).items()
            }
    return found


def _members(place: str, values: Mapping[str, Any]) -> Iterable[str]:
    """Yield the lines of a table."""
    for name, value in values.items():
        if value is _NOT_GIVEN:
            yield f"# {name} is not given\n"
        else:
            yield f"{_toml_name(name)} = {_toml(f'{place}.{name}', value)}\n"


def _toml_name(name: str) -> str:
    try:
        return _unicode(toml_name(name))
    except ValueError as error:
        raise _unwritten(name) from error


def _toml(name: str, value: Any) -> str:
    try:
        return _unicode(to_toml(value))
    except ValueError as error:
        raise _unwritten(name) from error


def _unicode(text: str) -> str:
    """Return a text; raises `ValueError` for a name of a file with other bytes."""
    text.encode()
    return text


def _unwritten(name: str) -> RecipeError:
    reason = "has a value that no recipe can hold: it is not Unicode text, or no data"
    return RecipeError("--show-recipe", 0, ascii(name)[1:-1], reason)
