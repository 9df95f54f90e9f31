"""The profiles of metrics, and the requests that names of metrics stand for."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harpia_formats.evaluation.metrics import (
    GROUPS,
    HOW_TO_INSTALL,
    METRICS,
    NEURAL,
    metric_hint,
    metric_names,
    numbered,
    plugin_metric,
)
from harpia_formats.formats.registry import vendor_profile, vendor_profiles
from harpia_formats.model.spelling import edits_between, hint_on
from harpia_formats.model.vendor_metrics import MetricProfile, MetricRequest, ScoreError

_squad = {"normalisation": "squad", "references": "max"}

#: Every built-in metric and group by its name, with default parameters.
DEFAULT = MetricProfile(
    id="default",
    summary="The field's usual definitions, the best over all references; BLEU is "
    "sacrebleu's corpus BLEU on a scale from 0 to 100.",
    metrics={
        name: tuple(map(MetricRequest, names))
        for name, names in ({name: (name,) for name in METRICS} | GROUPS).items()
    },
    usual=("em", "f1"),
)
SQUAD = MetricProfile(
    id="squad",
    summary="SQuAD v1.1: the best over all references, on a scale from 0 to 100.",
    metrics={
        "em": (
            MetricRequest("em", _squad | {"scale": "0-100"}, names=("exact_match",)),
        ),
        "f1": (MetricRequest("f1", _squad | {"scale": "0-100", "empty": "v1"}),),
    },
    usual=("em", "f1"),
)


_ours = {profile.id: profile for profile in (DEFAULT, SQUAD)}


def profile_names() -> tuple[str, ...]:
    """Return the names of all profiles, the built-in ones first."""
    return (*_ours, *vendor_profiles())


def profile_named(name: str) -> MetricProfile:
    """Return the profile with this name; raises `ScoreError` for an unknown one."""
    if name in _ours:
        return _ours[name]
    if name in vendor_profiles():
        return vendor_profile(name)
    raise ScoreError(f"no profile is called {name!r}{hint_on(name, profile_names())}")


def listed_metrics() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield kinds of metrics, each with its names and their descriptions.

    Those that are named after a tool stand with the profile that reaches them. Raises
    `PluginError` for a plug-in that cannot be used.
    """
    profiles = {name: profile_named(name) for name in profile_names()}
    tools = tuple(f"{name}-" for name in vendor_profiles())
    installed = [name for name in metric_names() if name not in METRICS]
    every = [*METRICS.values(), *filter(None, map(plugin_metric, installed))]
    yield (
        "Metrics",
        [
            (one.name, re.split(r"[.:;] |\.$", one.summary)[0])
            for one in every
            if not one.name.startswith(tools)
        ],
    )
    yield "Groups of metrics", [(name, ", ".join(of)) for name, of in GROUPS.items()]
    yield (
        "Metrics as other tools define them, reached by their profile (`--profile`)",
        [
            (name, ", ".join(map(_name_in_profile, one.metrics.items())))
            for name, one in profiles.items()
            if one is not DEFAULT
        ],
    )
    missing = [name for name in NEURAL if name not in installed]
    if missing:
        yield "In a plug-in", [(name, HOW_TO_INSTALL) for name in missing]


def _name_in_profile(named: tuple[str, Sequence[MetricRequest]]) -> str:
    """Return the name of a metric in a profile, with its own where that is another."""
    name, requests = named
    others = [one.metric for one in requests if one.metric != name]
    return f"{name} ({', '.join(others)})" if others else name


def requests_named(
    profile: MetricProfile, names: Iterable[str]
) -> tuple[list[MetricRequest], list[str]]:
    """Return the metrics that a profile has under `names`, and notes on them.

    `NAME=METRIC` is a metric with another name in results. A metric that the profile
    lacks is taken from the default profile, with a note. Raises `ScoreError` for a name
    that neither has, and for another name of several metrics.
    """
    requests: list[MetricRequest] = []
    lacking: dict[str, str] = {}
    for given in names:
        own, equals, name = given.rpartition("=")
        found = _requests_of(profile, name)
        metric = numbered(name)[0]
        if not {name, metric} & {*profile.metrics} and metric in DEFAULT.metrics:
            lacking[name] = metric
        requests += [_renamed(found, own, name)] if equals else found
    if profile.defaults:
        requests = [replace(one, defaults=profile.defaults) for one in requests]
    return requests, list(_notes_on_lacking(profile, lacking))


def _notes_on_lacking(
    profile: MetricProfile, lacking: Mapping[str, str]
) -> Iterator[str]:
    """Yield notes on the names that a profile lacks, given with their metrics."""
    if lacking:
        yield (
            f"the profile {profile.id} has no {', '.join(lacking)}: taken as in the "
            f"profile {DEFAULT.id} ({profile.id} has {', '.join(profile.metrics)})"
        )
    for name, metric in lacking.items():
        if metric in METRICS and (correct := METRICS[metric].parameters.get("correct")):
            yield (
                f"{name} takes {correct} for what is correct, unless the parameter "
                f"{name}.correct names another metric, and not a scorer of the profile "
                f"{profile.id}; with `--stored` it is what a tool stored"
            )


def _requests_of(profile: MetricProfile, name: str) -> Sequence[MetricRequest]:
    """Return the metrics that a profile has under a name, else those of the default.

    Raises `ScoreError` for a name that neither has.
    """
    metric, k = numbered(name)
    for metrics in (profile.metrics, DEFAULT.metrics):
        if name in metrics:
            return metrics[name]
        if k is not None and metric in metrics:
            return [_of_k(request, k) for request in metrics[metric]]
    if name in NEURAL or plugin_metric(name) is not None:
        return [MetricRequest(name)]
    known = dict.fromkeys([*profile.metrics, *metric_names(), *GROUPS])
    hint = metric_hint(name, known)
    if "did you mean" not in hint and (short := _short_name(name, known)):
        hint = f"; did you mean {short}?"
    raise ScoreError(
        f"no metric is called {name!r}{hint}; to choose scores or verdicts that the "
        "input holds, add `--stored`"
    )


def _of_k(request: MetricRequest, k: int) -> MetricRequest:
    """Return the request of a metric such as `pass@k` for one k, named by it."""
    metric, label = (
        f"{name.removesuffix('k')}{k}" for name in (request.metric, request.label)
    )
    return replace(request, metric=metric, key=label)


def _renamed(found: Sequence[MetricRequest], own: str, name: str) -> MetricRequest:
    """Return the only metric of `name` under a name of the user's.

    Raises `ScoreError` for several metrics, and for a name that parameters cannot have.
    """
    if not own or set(own) & set("=.") or own != own.strip():
        raise ScoreError(
            f"a metric cannot be called {own!r}: write NAME=METRIC without dots, such "
            f"as other-{name}={name}"
        )
    if len(found) != 1:
        labels = ", ".join(dict.fromkeys(one.metric for one in found))
        raise ScoreError(
            f"{name} stands for {len(found)} metrics ({labels}), which cannot all be "
            f"called {own}"
        )
    return replace(found[0], key=own, is_renamed=True)


def _short_name(wanted: str, known: Iterable[str]) -> str:
    """Return the one name of two letters that `wanted` misspells, "" if none is."""
    short = [name for name in known if len(name) == 2]  # noqa: PLR2004 - stated above
    near = [name for name in short if edits_between(wanted.casefold(), name) == 1]
    return near[0] if len(near) == 1 else ""
