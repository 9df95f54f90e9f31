"""From the text of a recipe to checked options."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, get_args, get_origin

from harpia_formats.api.keyword_options import fits_type, type_in_words
from harpia_formats.api.recipe_keys import COMMANDS, OTHER_NAMES, Command, Key
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.files.io.reader import error_reason, read_side_input
from harpia_formats.files.io.urls import is_url
from harpia_formats.files.toml import (
    TomlLines,
    described_value,
    toml_document,
    toml_key,
    toml_value,
)
from harpia_formats.model.problem import HarpiaFormatsError, RecipeError, TomlError
from harpia_formats.model.spelling import hint_on

#: What stands for null.
NULL: Mapping[str, Any] = {"null": True}


def to_toml(value: Any) -> str:
    """Return a value as TOML in one line; `from_toml` of it is the value.

    Raises `ValueError` for a value that has no TOML.
    """
    return toml_value(_without_null(value))


def _without_null(value: Any) -> Any:
    """Return a value with what stands for null in its place, and texts for paths."""
    if value is None:
        return NULL
    if isinstance(value, PathLike):
        return str(fspath(value))
    if isinstance(value, Mapping):
        return {name: _without_null(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_without_null(member) for member in value]
    return value


def from_toml(value: Any) -> Any:
    """Return a value with null for what stands for it.

    Raises `TypeError` for a date or time, which options do not hold.
    """
    if value == NULL and value["null"] is True:
        return None
    if isinstance(value, dict):
        return {name: from_toml(member) for name, member in value.items()}
    if isinstance(value, list):
        return [from_toml(member) for member in value]
    if not isinstance(value, str | int | float):
        raise TypeError(f"{value} is a date or time; write it as a text")
    return value


_at_line = re.compile(r" \(at line ([0-9]+), column [0-9]+\)$")
_line = re.compile(r"line ([0-9]+)")
_AT_END = " (at end of document)"
#: What stands before a path in NAME=FILE.
_name = re.compile(r"[A-Za-z][\w-]*=")
#: The table of parameters: one table for each metric.
PARAMETERS = "parameters"


@dataclass(frozen=True, slots=True)
class Recipe:
    """The values of a recipe; only those that it has."""

    #: The file, as messages show it.
    path: str
    #: The values by the names of keys; paths start from the working folder.
    values: Mapping[str, Any]
    lines: TomlLines
    #: Its inputs as they are written, by which models and the baseline name them.
    inputs: tuple[str, ...] = ()

    def error(self, key: tuple[str, ...], reason: str) -> RecipeError:
        """Return the error that the value of a key cannot be used."""
        place = ".".join(map(toml_key, key))
        return RecipeError(self.path, self.lines.of(key), place, reason)


def read_recipe(path: str, command: Command) -> Recipe:
    """Return the recipe in the file at `path`. Raises `RecipeError`."""
    try:
        data = read_side_input(Path(path))
    except OSError as error:
        raise RecipeError(path, 0, "", error_reason(error)) from error
    return parse_recipe(data, path, command)


def parse_recipe(data: bytes, path: str, command: Command) -> Recipe:
    """Return the recipe of a command in the bytes of a file. Raises `RecipeError`.

    Its paths start from the folder of `path`.
    """
    try:
        document = toml_document(data, path)
    except TomlError as error:
        raise _with_line(error, data) from error
    lines = TomlLines(data.decode("utf-8-sig"))
    empty = Recipe(path, {}, lines)
    keys, values = command.all_keys(), {}
    root = os.path.dirname(path)  # noqa: PTH120 - links are not resolved
    for name, value in document.items():
        if name not in keys:
            raise empty.error((name,), _unknown(name, command))
        key = keys[name]
        values[name] = _located(_checked(value, key, empty), key, root)
    return Recipe(path, values, lines, tuple(document.get("inputs", ())))


def _with_line(error: TomlError, data: bytes) -> RecipeError:
    """Return the error of text that is no TOML with the line in its usual place."""
    match = _at_line.search(error.reason) or _line.fullmatch(error.place)
    line = int(match[1]) if match else 0
    if error.reason.endswith(_AT_END):
        line = len(data.splitlines())
    reason = _at_line.sub("", error.reason).removesuffix(_AT_END)
    return RecipeError(error.path, line, "", reason)


def _unknown(name: str, command: Command) -> str:
    """Return what is wrong with a key that the command has not."""
    for other in COMMANDS:
        if other is not command and name in other.all_keys():
            return f"is a key of {other.name}, which {command.name} has not"
    keys = command.all_keys()
    meant = OTHER_NAMES.get(name)
    hint = f"; did you mean {meant}?" if meant else hint_on(name, keys)
    return f"there is no such key{hint}"


def _checked(value: Any, key: Key, recipe: Recipe) -> Any:
    """Return the value of a key as an option has it. Raises `RecipeError`."""
    place = (key.name,)
    try:
        found = from_toml(value)
        if key.name == PARAMETERS:
            found = dict(_parameters(value, recipe))
    except TypeError as error:
        raise recipe.error(place, str(error)) from error
    if found is None or not fits_type(found, key.type):
        hint = ""
        if isinstance(value, str) and get_origin(key.type) is tuple:
            hint = f"; did you mean [{described_value(value)}]?"
        words = type_in_words(key.type).removesuffix(" or None")
        raise recipe.error(
            place, f"must be {words}, not {described_value(value)}{hint}"
        )
    if isinstance(found, dict):
        _check_texts(found, key, recipe)
    if isinstance(found, list):
        found = tuple(found)
    if key.option in ScoreOptions.__dataclass_fields__:
        try:
            ScoreOptions(**{key.option: found})
        except (HarpiaFormatsError, ValueError) as error:
            raise recipe.error(place, str(error)) from error
    return found


def _parameters(value: Any, recipe: Recipe) -> Iterator[tuple[str, Any]]:
    """Yield the parameters by `metric.parameter`. Raises `RecipeError`."""
    if not isinstance(value, dict):
        words = f"a table for each metric, such as [{PARAMETERS}.rouge]"
        reason = f"must be {words}, not {described_value(value)}"
        raise recipe.error((PARAMETERS,), reason)
    for metric, members in value.items():
        place = (PARAMETERS, metric)
        if not isinstance(members, dict):
            reason = f"must be a table of parameters, not {described_value(members)}"
            raise recipe.error(place, reason)
        for name, member in members.items():
            yield f"{metric}.{name}", from_toml(member)


def _check_texts(found: dict[str, Any], key: Key, recipe: Recipe) -> None:
    """Raise `RecipeError` for a value that is no text in a table of texts."""
    for member in get_args(key.type) or ():
        if get_origin(member) is not None:
            key = Key(key.name, key.option, member, None)
    if get_args(key.type)[-1:] != (str,):
        return
    for name, value in found.items():
        if not isinstance(value, str):
            reason = f"must be a text, not {described_value(value)}"
            raise recipe.error((key.name, name), reason)


def _located(value: Any, key: Key, root: str) -> Any:
    """Return a value whose paths start from the working folder."""
    if key.has_named_paths:
        return tuple(_named_path(one, root) for one in value)
    if not key.is_path or isinstance(value, Mapping):
        return value
    if isinstance(value, tuple):
        return tuple(_path(one, root) for one in value)
    return _path(value, root)


def _named_path(text: str, root: str) -> str:
    """Return `[NAME=]FILE` with a path that starts from the folder `root`."""
    match = _name.match(text)
    name = match[0] if match else ""
    return f"{name}{_path(text[len(name) :], root)}"


def _path(path: str, root: str) -> str:
    """Return a path that starts from the folder `root`; - and URLs are as they are."""
    return path if path == "-" or is_url(path) else os.path.join(root, path)  # noqa: PTH118 - links are not resolved


def located_systems(recipe: Recipe) -> dict[str, Any]:
    """Return the values of a recipe, in which systems are named by located inputs.

    A system may be named by the path of its input as the recipe has it: `INPUT=MODEL`
    in its models; `INPUT`, `MODEL (INPUT)` and `INPUT #2` as its baseline.
    """
    values = dict(recipe.values)
    located = map(fspath, values.get("inputs", ()))
    paths = dict(zip(recipe.inputs, located, strict=True))
    if "models" in values:
        values["models"] = tuple(_model(text, paths) for text in values["models"])
    if "baseline" in values:
        values["baseline"] = _baseline(values["baseline"], paths)
    return values


def _model(text: str, paths: Mapping[str, str]) -> str:
    of_input, mark, model = text.partition("=")
    return f"{paths.get(of_input, of_input)}{mark}{model}"


def _baseline(text: str, paths: Mapping[str, str]) -> str:
    for path, located in paths.items():
        if text == path or text.startswith(f"{path} #"):
            return located + text.removeprefix(path)
        start, mark, number = text.rpartition(" #")
        whole = start if mark and number.isdecimal() else text
        if whole.endswith(f" ({path})"):
            end = text[len(whole) :]
            return f"{whole.removesuffix(f'({path})')}({located}){end}"
    return text
