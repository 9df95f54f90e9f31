"""The recipes of `score` and `score compare`: applied, or printed."""

import sys
from typing import Any

from harpia_formats.api.recipes.table import COMMANDS, OTHER_NAMES, Applied
from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.streams import text_writer
from harpia_formats.evaluation.scoring.options import ScoreOptions


def with_recipe(
    name: str, path: str | None, options: ScoreOptions, run: Any, given: Given
) -> Any:
    """Return the options of the command `name` with those of the recipe at `path`.

    It is an `Applied`. Raises `RecipeError`, `ScoreError` and `SinkError`.
    """
    if path is None:
        return Applied(options, run)
    from harpia_formats.api.recipes.apply import apply_recipe  # noqa: PLC0415 - most runs have no recipe
    from harpia_formats.api.recipes.parse import read_recipe  # noqa: PLC0415 - most runs have no recipe

    command = next(one for one in COMMANDS if one.name == name)
    recipe = read_recipe(path, command)
    names = {OTHER_NAMES.get(one, one) for one in given.was_given}
    applied = apply_recipe(recipe, command, options, run, names)
    _check_output(path, applied.run)
    return applied


def _check_output(path: str, run: Any) -> None:
    """Raise `SinkError` if a recipe would be replaced by what the run writes."""
    from harpia_formats.files.io.files_read import FilesRead  # noqa: PLC0415 - most runs have no recipe

    output = getattr(run, "output", "-")
    if output != "-":
        FilesRead((), [path]).check(output)


def print_recipe(name: str, options: ScoreOptions, run: Any) -> ExitCode:
    """Print options of the command `name` as a recipe. Raises `HarpiaFormatsError`."""
    from harpia_formats.api.recipes.write import recipe_text  # noqa: PLC0415 - most runs print no recipe

    command = next(one for one in COMMANDS if one.name == name)
    text_writer(sys.stdout)(recipe_text(command, options, run))
    return ExitCode.OK
