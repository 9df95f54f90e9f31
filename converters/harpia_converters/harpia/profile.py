"""The metric profile harpia: the metrics that an input enables, with its parameters.

HarpIA's pages name two metrics, BLEU by NLTK and BERTScore by Hugging Face Evaluate,
but no ids, so an id is recognised by its words. What the pages leave open is our
reading: BLEU is the mean of sentence BLEU over instances, with words split at spaces.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import UNSET

from harpia_converters.harpia.header_checks import (
    HF_BERTSCORE,
    NLTK_BLEU,
    Metric,
    metrics_of,
)
from harpia_formats.model.record import Header
from harpia_formats.model.vendor_metrics import MetricProfile, MetricRequest

#: Words that the id of the metric may have; with others it is another metric.
_words_of_bleu = frozenset({"bleu", "nltk", "sentence", "score"})
_words_of_bertscore = frozenset(
    "bertscore bert score hf huggingface hugging face evaluate".split()
)
#: The best result over all acceptable answers counts (documented).
_best = {"references": "max"}
_bertscore_names = ("precision", "recall", "f1")
#: The parameters of each metric that are followed, by their names in HarpIA.
FOLLOWED = {
    "nltk-bleu": {name: name for name in sorted(NLTK_BLEU)},
    "bertscore": {
        "batch_size": "batch_size",
        "model_type": "model",
        "num_layers": "layer",
    },
}
#: Parameters of BERTScore that change its scores, and are not supported if true.
_not_followed = ("idf", "all_layers", "rescale_with_baseline")
_unknown_metric = (
    "is not a known metric of HarpIA (known: BLEU by NLTK, BERTScore by Hugging Face "
    "Evaluate)"
)


def enabled_in(header: Header) -> Iterator[tuple[Metric, MetricRequest]]:
    """Yield each metric that an input enables, and the request for it.

    A metric that occurs again, with other parameters, gets a number in its name.
    """
    metrics = [] if header.metrics is UNSET else header.metrics
    seen: set[str] = set()
    for metric in metrics_of({"metrics": metrics}):
        if metric.enabled:
            key = _unused(metric.id, seen)
            seen.add(key)
            yield metric, _request(metric, key)


def requests_of(header: Header, name: str = "") -> Iterable[MetricRequest]:  # noqa: ARG001 - the shape of `MetricProfile.of_header`
    """Return the metric requests of an input; unknown metrics keep their id as name."""
    return [request for _, request in enabled_in(header)]


def _unused(id_: str, seen: set[str]) -> str:
    key, number = id_, 1
    while key in seen:
        number += 1
        key = f"{id_} ({number})"
    return key


def _request(metric: Metric, key: str) -> MetricRequest:
    words = set(re.findall(r"[^\W\d_]+", metric.id.casefold()))
    parameters = metric.parameters or {}
    if "bleu" in words and words <= _words_of_bleu:
        return _bleu(parameters, key, metric)
    is_whole = "bertscore" in words or {"bert", "score"} <= words
    if is_whole and words <= _words_of_bertscore:
        return _bertscore(parameters, key, metric)
    reason = f"{metric.id} {_unknown_metric}"
    return MetricRequest(
        metric.id, key=key, given=metric.parameters, unavailable_reason=reason
    )


def _bleu(parameters: Any, key: str, metric: Metric) -> MetricRequest:
    reason = _invalid_parameters(parameters, NLTK_BLEU, metric.id)
    return MetricRequest(
        "nltk-bleu",
        {} if reason else {**parameters, **_best},
        key=key,
        names=(key,),
        given=metric.parameters,
        unavailable_reason=reason,
    )


def _bertscore(parameters: Any, key: str, metric: Metric) -> MetricRequest:
    reason = _invalid_parameters(parameters, HF_BERTSCORE, metric.id)
    own = {}
    if not reason:
        reason = _unsupported(parameters, metric.id)
        own = {
            name: parameters[given]
            for given, name in FOLLOWED["bertscore"].items()
            if parameters.get(given) is not None
        }
    return MetricRequest(
        "bertscore",
        {**own, **_best},
        key=key,
        names=_bertscore_names,
        given=metric.parameters,
        unavailable_reason=reason,
    )


def _invalid_parameters(parameters: Any, known: frozenset[str], id_: str) -> str:
    """Return why a metric cannot be computed with these parameters, or ""."""
    if not isinstance(parameters, Mapping):
        return f"the parameters of {id_} are a list, so their names are not known"
    names = ", ".join(sorted(known))
    for name in parameters:
        if name not in known:
            return f"{id_} has no parameter {name!r} (known: {names})"
    return ""


def _unsupported(parameters: Mapping[str, Any], id_: str) -> str:
    for name in _not_followed:
        if parameters.get(name) not in (None, False):
            return (
                f"{id_} cannot be computed with {name}: set the parameter to false or "
                "remove it"
            )
    return ""


HARPIA = MetricProfile(
    id="harpia",
    summary="The metrics that HarpIA's input enables, with its own parameters; the "
    "best over all references.",
    metrics={
        "bleu": (
            MetricRequest(
                "nltk-bleu",
                {
                    "weights": [0.25, 0.25, 0.25, 0.25],
                    "smoothing_function": None,
                    "auto_reweigh": False,
                    **_best,
                },
                key="bleu",
                names=("bleu",),
            ),
        ),
        "bertscore": (MetricRequest("bertscore", _best, names=_bertscore_names),),
    },
    of_header=requests_of,
)
