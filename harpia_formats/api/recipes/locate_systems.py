"""Names of systems that hold the path of an input, in a recipe of another folder."""

from collections.abc import Mapping
from os import fspath
from typing import Any

from harpia_formats.api.recipes.parse import Recipe


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
