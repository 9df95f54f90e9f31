"""The metric profile lm-eval: the metrics of the harness that need the answer alone."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from harpia_formats.model.metric_profile import (
    MetricProfile,
    MetricRequest,
    ScoreOptionsError,
)
from harpia_formats.model.record import Header

_vendor = "lm-eval"
_exact = "exact_match"
#: The options of exact_match that change its scores.
_options = (
    "regexes_to_ignore",
    "ignore_case",
    "ignore_punctuation",
    "ignore_numbers",
)


def _exact_match(options: Mapping[str, Any]) -> MetricRequest:
    """Return the request for exact_match, called as in results if it has a filter."""
    name = options.get("filter")
    key = f"{_exact},{name}" if name else _exact
    return MetricRequest("lm-eval-exact-match", options, key=key, names=(key,))


#: The metrics that are computed: of texts, where BLEU, chrF and TER are sacrebleu's,
#: and of likelihoods, which only samples of multiple choice have.
_metrics: Mapping[str, tuple[MetricRequest, ...]] = {
    _exact: (_exact_match({}),),
    "acc": (MetricRequest("lm-eval-acc", key="acc", names=("acc",)),),
    "acc_norm": (
        MetricRequest(
            "lm-eval-acc", {"by_length": True}, key="acc_norm", names=("acc_norm",)
        ),
    ),
    "bleu": (MetricRequest("bleu"),),
    "chrf": (MetricRequest("chrf"),),
    "ter": (MetricRequest("ter"),),
}


#: The metrics that samples of any generation have.
_of_texts = frozenset({"bleu", "chrf", "ter"})


def tasks_in(header: Header) -> Iterator[Mapping[str, Any]]:
    """Yield the configuration of each task of some results."""
    extra = {} if header.extra is UNSET else header.extra
    configs = extra.get(_vendor, {}).get("configs")
    for config in configs.values() if isinstance(configs, Mapping) else ():
        if isinstance(config, Mapping):
            yield config


def _objects(config: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = config.get(key)
    objects = found if isinstance(found, list) else []
    return [each for each in objects if isinstance(each, Mapping)]


def requested_in(header: Header) -> Iterator[MetricRequest]:
    """Yield the metrics of the results that are computed of texts, else exact_match.

    exact_match is one metric for each filter. Raises `ScoreOptionsError` if tasks have
    it with different options.
    """
    exact: list[list[dict[str, Any]]] = []
    others: dict[str, None] = {}
    for config in tasks_in(header):
        for metric in _objects(config, "metric_list"):
            name = metric.get("metric")
            if name == _exact:
                options = {key: metric[key] for key in _options if metric.get(key)}
                filters = [each.get("name") for each in _objects(config, "filter_list")]
                named = [{**options, "filter": each} for each in filters if each]
                exact.append(named or [options])
            elif isinstance(name, str) and name in _of_texts:
                others[name] = None
    if any(each != exact[0] for each in exact):
        raise ScoreOptionsError(
            "the tasks of the results have exact_match with different options or "
            "filters; name it with --metrics exact_match, and these with --param "
            "exact_match.NAME=VALUE"
        )
    wanted = exact[0] if exact else [] if others else [{}]
    yield from map(_exact_match, wanted)
    for name in others:
        yield from _metrics[name]


PROFILE = MetricProfile(
    id="lm-eval",
    summary="exact_match of lm-evaluation-harness on what the filter kept of answers, "
    "with the options of the results, and sacrebleu's BLEU, chrF and TER.",
    metrics=_metrics,
    of_header=requested_in,
)
