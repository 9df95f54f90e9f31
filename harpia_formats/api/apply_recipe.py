"""Combine a recipe with the options of a command, and write options as a recipe."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harpia_formats.api.keyword_options import make_options
from harpia_formats.api.recipe_file import (
    PARAMETERS,
    Recipe,
    located_systems,
    read_recipe,
    to_toml,
)
from harpia_formats.api.recipe_keys import Applied, Command, Key, Run, key_name
from harpia_formats.evaluation.metrics import (
    METRICS,
    MetricError,
    numbered,
    plugin_metric,
)
from harpia_formats.evaluation.metrics.question_metrics import (
    CORRECTNESS_DEFAULTS as CORRECTNESS,
)
from harpia_formats.evaluation.metrics.question_metrics import PREFIX
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.outcomes import computed_metric
from harpia_formats.evaluation.scoring.p_values import BOOTSTRAP, PERMUTATION
from harpia_formats.evaluation.scoring.profiles import (
    DEFAULT,
    profile_named,
    requests_named,
)
from harpia_formats.evaluation.scoring.result_files import result_format_named
from harpia_formats.evaluation.scoring.select_metrics import (
    MetricSelection,
    parameters_of_request,
    with_parameters,
)
from harpia_formats.evaluation.scoring.verdict_metrics import holds_verdicts
from harpia_formats.files.io.inputs import Input
from harpia_formats.files.toml import toml_name
from harpia_formats.formats.detection.detect_files import detect_files
from harpia_formats.formats.registry import adapter_of, format_of
from harpia_formats.model.problem import HarpiaFormatsError, RecipeError
from harpia_formats.model.spelling import hint_on
from harpia_formats.model.vendor_metrics import MetricProfile, MetricRequest
from harpia_formats.reporters.score_tables import CSV, TABLE


@dataclass(frozen=True, slots=True)
class Definitions:
    """A profile, and the metrics that options select of it."""

    profile: MetricProfile
    names: tuple[str, ...]
    #: The metrics, before parameters of the options change them.
    requests: tuple[MetricRequest, ...]


def definitions_of(options: ScoreOptions, to: str | None) -> Definitions | None:
    """Return what options select, None if what is read selects the metrics.

    Raises `ScoreError` for names that are not known.
    """
    if options.stored or options.config is not None:
        return None
    usual = DEFAULT.id if to is None else result_format_named(to).profile
    profile = profile_named(options.profile or usual)
    if MetricSelection(profile, options).depends_on_input:
        return None
    names = options.metrics or profile.usual
    requests, _ = requests_named(profile, names)
    return Definitions(profile, tuple(names), tuple(requests))


def reads_verdicts(inputs: Iterable[Input], options: ScoreOptions) -> bool:
    """Tell whether an input holds verdicts of a judge, by its beginning."""
    if options.from_ is not None:
        formats = {options.from_}
    else:
        found = detect_files(inputs, options.delimiter)
        formats = {one.format for one in found if one.format is not None}
    try:
        known = [format_of(name) for name in formats]
    except HarpiaFormatsError:  # which scoring reports
        return False
    return any(one.adapter and holds_verdicts(adapter_of(one)) for one in known)


def settled(request: MetricRequest, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return every parameter with which a metric is computed.

    With them are those of the metric that tells what is correct, if there is one.
    """
    own = parameters_of_request(request, parameters)
    found = {**defaults_of(request.metric), **request.parameters, **own}
    teller = found.get("correct")
    if METRICS.keys() & {numbered(request.metric)[0]} and isinstance(teller, str):
        for name, value in defaults_of(teller).items():
            found.setdefault(f"{PREFIX}{name}", value)
    return found


def usual_test(definitions: Definitions, parameters: Mapping[str, Any]) -> str | None:
    """Return the test that a comparison takes if none is given.

    It is None where metrics have different ones, or one of them cannot be computed.
    """
    try:
        measures = [
            computed_metric(with_parameters({}, parameters, one)).measure
            for one in definitions.requests
        ]
    except MetricError:
        return None
    found = {PERMUTATION if one.is_mean else BOOTSTRAP for one in measures}
    return found.pop() if len(found) == 1 else None


def defaults_of(name: str) -> dict[str, Any]:
    """Return the parameters of a metric with their defaults.

    The name pass@5 says k, so that it is none of them.
    """
    whole, k = numbered(name)
    metric = METRICS.get(whole) or plugin_metric(whole)
    found = dict(metric.parameters) if metric is not None else {}
    if k is not None:
        found.pop("k", None)
    return found


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
    notes = (*found.notes, *_not_written_again(path, files))
    return replace(found, options=chosen, notes=notes)


def _not_written_again(path: str, run: Any) -> Iterator[str]:
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
        raise _unwritten_error(name) from error


def _toml(name: str, value: Any) -> str:
    try:
        return _unicode(to_toml(value))
    except ValueError as error:
        raise _unwritten_error(name) from error


def _unicode(text: str) -> str:
    """Return a text; raises `ValueError` for a name of a file with other bytes."""
    text.encode()
    return text


def _unwritten_error(name: str) -> RecipeError:
    reason = "has a value that no recipe can hold: it is not Unicode text, or no data"
    return RecipeError("--show-recipe", 0, ascii(name)[1:-1], reason)
