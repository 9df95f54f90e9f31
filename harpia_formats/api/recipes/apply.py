"""Combine a recipe with the options of a command."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from harpia_formats.api.python_api.make_options import make_options
from harpia_formats.api.recipes.definitions import (
    Definitions,
    definitions_of,
    settled,
)
from harpia_formats.api.recipes.locate_systems import located_systems
from harpia_formats.api.recipes.parse import PARAMETERS, Recipe, read_recipe
from harpia_formats.api.recipes.table import Applied, Command, Key, Run, key_name
from harpia_formats.evaluation.metrics import MetricError
from harpia_formats.evaluation.metrics.correctness import DEFAULTS as CORRECTNESS
from harpia_formats.evaluation.metrics.correctness import PREFIX
from harpia_formats.evaluation.scoring.computed_metric import computed_metric
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.profiles import profile_named
from harpia_formats.evaluation.scoring.results.named import result_format_named
from harpia_formats.evaluation.scoring.select_metrics import parameters_of_request
from harpia_formats.model.errors import HarpiaFormatsError
from harpia_formats.model.metric_profile import MetricRequest
from harpia_formats.model.text.spelling import hint_on
from harpia_formats.reporters.score_tables import CSV, TABLE

#: Keys that change no output.
_SILENT = {"cluster-timeout", "engine", "jobs"}
#: The keys that select metrics.
_SELECTING = {"config", "metrics", "profile", "stored", "to"}


def apply_recipe(
    recipe: Recipe,
    command: Command,
    options: ScoreOptions,
    run: Run,
    given: Collection[str],
) -> Applied[Run]:
    """Return options with the values of a recipe for those that were not `given`.

    `given` are the names of keys. Tables are merged, name by name. Raises `RecipeError`
    for names of metrics, parameters and profiles that are not known.
    """
    keys = command.all_keys()
    _check_definitions(recipe, given)
    of_options: dict[str, Any] = {}
    of_run: dict[str, Any] = {}
    replaced: list[str] = []
    # Other inputs than its own have their names from the working folder.
    values = recipe.values if "inputs" in given else located_systems(recipe)
    for name, value in values.items():
        key, own = keys[name], value
        is_option = key.option in ScoreOptions.__dataclass_fields__
        if name in given:
            now = getattr(options if is_option else run, key.option)
            replaced += _replaced(key, value, now)
            own = {**value, **now} if _is_merged(key, value, now) else now
        (of_options if is_option else of_run)[key.option] = own
    found = replace(options, **of_options)
    whole: Any = replace(run, **of_run)  # type: ignore[type-var]  # a dataclass
    notes = []
    if replaced:
        notes.append(f"{recipe.path}: options replace its {', '.join(replaced)}")
    found, unused = _with_used(recipe, found, getattr(whole, "to", None), given)
    if unused:
        names = dict.fromkeys(full.partition(".")[0] for full in unused)
        notes.append(
            f"{recipe.path}: options leave out the metrics that its parameters of "
            f"{', '.join(names)} are for"
        )
    return Applied(found, whole, tuple(notes))


def python_options(
    path: str,
    command: Command,
    options: Mapping[str, Any],
    run: Run,
) -> Applied[Run]:
    """Return the options of a Python function with those of the recipe at `path`.

    `options` are those that were given, by names of fields. What is read and written is
    that of `run` where it is not the default. It is one process unless they or the
    recipe say more. A note names what only the command line writes. Raises
    `OptionError` and `RecipeError`.
    """
    keys = command.all_keys().values()
    given = {key_name(name) for name in options} | {
        key.name
        for key in keys
        if hasattr(run, key.option) and getattr(run, key.option) != key.default
    }
    # A recipe means the same everywhere: its defaults are those of the command line.
    base = make_options(ScoreOptions, {"jobs": 1, "missing": "skip", **options})
    found = apply_recipe(read_recipe(path, command), command, base, run, given)
    files: Any = found.run
    chosen = found.options
    if files.output_format == CSV and getattr(files, "to", None) is None:
        chosen = replace(chosen, csv_safe=False)  # it is for what is printed
    notes = (*found.notes, *_unwritten(path, files))
    return replace(found, options=chosen, notes=notes)


def _unwritten(path: str, run: Any) -> Iterator[str]:
    """Yield a note on what a Python function does not write of a recipe."""
    given = {
        "report": run.report,
        "plots": run.plots,
        "output-format": run.output_format != TABLE,
    }
    names = [name for name, is_given in given.items() if is_given]
    if names:
        is_one = len(names) == 1 and names != ["plots"]
        yield (
            f"{path}: its {', '.join(names)} {'has' if is_one else 'have'} no effect "
            "in Python, which returns the scores"
        )


def _is_merged(key: Key, value: Any, now: Any) -> bool:
    both = isinstance(value, Mapping) and isinstance(now, Mapping)
    return both and key.is_table


def _replaced(key: Key, value: Any, now: Any) -> list[str]:
    """Return the key of a value that is replaced, or those in its table."""
    if key.name in _SILENT:
        return []
    if not _is_merged(key, value, now):
        return [key.name] if value != now else []
    return [
        f"{key.name}.{name}"
        for name in value
        if name in now and now[name] != value[name]
    ]


def _with_used(
    recipe: Recipe, options: ScoreOptions, to: str | None, given: Collection[str]
) -> tuple[ScoreOptions, list[str]]:
    """Return options without parameters of a recipe that change nothing.

    They are those that a metric has anyway, and, if options replace the metrics, those
    of metrics that are not computed, which are returned, too.
    """
    stated: Mapping[str, Any] = recipe.values.get(PARAMETERS, {})
    definitions = definitions_of(options, to) if stated else None
    if definitions is None:
        return options, []
    values, unused = dict(options.parameters), []
    for full, value in stated.items():
        if not _is_same(values[full], value):
            continue  # it is replaced
        teller, mark, _ = full.rpartition(f".{PREFIX}")
        of_other = f"{teller}.{PREFIX.removesuffix('.')}"
        now = options.parameters.get(of_other)
        if mark and not _is_same(now, stated.get(of_other)):
            del values[full]  # the metric whose parameter it is is replaced
            continue
        if not _requests_with(definitions, full, value):
            if _SELECTING & set(given):
                unused.append(full)
                del values[full]
        elif not _is_used(definitions, values, full):
            del values[full]
    return replace(options, parameters=values), unused


def _requests_with(
    definitions: Definitions, full: str, value: Any
) -> list[MetricRequest]:
    """Return the metrics to which a parameter belongs."""
    own = {full: value}
    return [one for one in definitions.requests if parameters_of_request(one, own)]


def _is_used(definitions: Definitions, values: Mapping[str, Any], full: str) -> bool:
    """Tell whether a parameter changes a metric."""
    others = {name: value for name, value in values.items() if name != full}
    return any(
        not _is_same(settled(request, values), settled(request, others))
        for request in definitions.requests
    )


def _is_same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal, and of the same types when written."""
    return repr(_plain(one)) == repr(_plain(other))


def _plain(value: Any) -> Any:
    """Return a value with lists in the place of tuples."""
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


def _check_definitions(recipe: Recipe, given: Collection[str]) -> None:
    """Raise `RecipeError` for names in a recipe that are not known, at their lines."""
    values = recipe.values
    of_recipe = {name: values[name] for name in _SELECTING if name in values}
    to = of_recipe.pop("to", None)
    alone = replace(ScoreOptions(), **of_recipe)
    try:
        found = definitions_of(alone, to)
    except HarpiaFormatsError as error:
        raise recipe.error((_wrong(values),), str(error)) from error
    if found is None:
        return
    for full, value in values.get(PARAMETERS, {}).items():
        place = (PARAMETERS, *full.split(".", 1))
        requests = _requests_with(found, full, value)
        if not requests and not _SELECTING & set(given):
            names = [one.label for one in found.requests]
            reason = "is a parameter of a metric that the recipe does not name"
            raise recipe.error(place, f"{reason}{hint_on(place[1], names)}")
        for request in requests:
            own = parameters_of_request(request, values[PARAMETERS])
            reason = _refused(request, own, place[2])
            if reason:
                raise recipe.error(place, reason)


def _refused(request: MetricRequest, own: Mapping[str, Any], name: str) -> str:
    """Return why a metric cannot have one of its `own` parameters, "" if it can.

    What it cannot have without the parameter either is reported when it is computed.
    """
    # Which parameters there are depends on the metric that tells what is correct.
    tellers = {one: own[one] for one in CORRECTNESS if one in own and one != name}
    beside = {**request.parameters, **tellers}
    changed = replace(request, parameters={**beside, name: own[name]})
    try:
        computed_metric(replace(request, parameters=beside))
    except MetricError:
        return ""
    try:
        computed_metric(changed)
    except MetricError as error:
        return str(error)
    return ""


def _wrong(values: Mapping[str, Any]) -> str:
    """Return the key whose value is not known, of those that select metrics."""
    checks: dict[str, Callable[[str], object]] = {
        "to": result_format_named,
        "profile": profile_named,
    }
    for name, check in checks.items():
        if name in values:
            try:
                check(values[name])
            except HarpiaFormatsError:
                return name
    return "metrics"
