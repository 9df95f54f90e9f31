"""The metric profile inspect: the scorers of Inspect AI that need the answer alone."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from msgspec import UNSET

from harpia_formats.model.adapter import at_path
from harpia_formats.model.record import Header
from harpia_formats.model.vendor_metrics import MetricProfile, MetricRequest

_vendor = "inspect"
_contained = {"operation": "contains", "ignore_case": True, "references": "max"}
#: The metric of each scorer, with its parameters.
_scorers: Mapping[str, MetricRequest] = {
    name: MetricRequest(metric, parameters, key=name, names=(name,))
    for name, metric, parameters in (
        ("match", "inspect-match", {}),
        ("includes", "string-check", _contained),
        ("exact", "inspect-exact", {}),
        ("f1", "inspect-f1", {}),
        ("choice", "inspect-choice", {}),
    )
}
#: The options of a scorer that are parameters of its metric.
_options = {
    "match": frozenset({"location", "ignore_case", "numeric"}),
    "includes": frozenset({"ignore_case"}),
}


def scorers_in(header: Header) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the options of each scorer of a log; early logs lack these."""
    run = {} if header.evaluation is UNSET else header.evaluation
    extra = {} if header.extra is UNSET else header.extra
    found = run.get("scorers") or at_path(extra, (_vendor, "results", "scores"))
    for scorer in found if isinstance(found, list) else ():
        if isinstance(scorer, Mapping):
            name = scorer.get("scorer") or scorer.get("name")
            options = scorer.get("options") or scorer.get("params")
            if isinstance(name, str):
                yield name, options if isinstance(options, Mapping) else {}


def requested_in(header: Header, _: str) -> Iterator[MetricRequest]:
    """Yield the metric of each scorer of a log, once for equal scorers.

    All but the first of a name have a number behind it, as in Inspect's results.
    """
    seen: list[tuple[str, Mapping[str, Any]]] = []
    for name, options in scorers_in(header):
        known = name.removeprefix("inspect_ai/")
        number = sum(other == known for other, _ in seen)
        if (known, options) not in seen:
            yield _request(known, options, f"{known}{number or ''}")
        seen.append((known, options))


def _request(name: str, options: Mapping[str, Any], key: str) -> MetricRequest:
    """Return the request for a scorer, whose name in results is `key`."""
    reason = ""
    if name not in _scorers:
        reason = "is none of match, includes, exact, f1 and choice"
    elif not options.keys() <= _options.get(name, frozenset()):
        reason = f"has options that are not followed ({', '.join(sorted(options))})"
    if reason:
        return MetricRequest(
            name,
            unavailable_reason=(
                f"the scorer {name} of the log {reason}; `--stored` "
                "shows the scores that it gave"
            ),
        )
    request = _scorers[name]
    parameters = {**request.parameters, **options}
    return replace(request, parameters=parameters, key=key, names=(key,))


PROFILE = MetricProfile(
    id="inspect",
    summary="The scorers match, includes, exact, f1 and choice of Inspect AI, those of "
    "the log with its options; accuracy is their mean.",
    metrics={name: (request,) for name, request in _scorers.items()},
    of_header=requested_in,
)
