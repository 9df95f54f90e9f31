"""Check the metrics of an input and their parameters (H105-H107, H111-H118)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.harpia.keys import METRICS
from harpia_converters.harpia.metrics import is_enabled, same
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

ENABLE, LIST_NAME, PARAMETER_LIST = "H105", "H106", "H107"
BLEU, BERTSCORE, OTHER_METRIC = "H111", "H112", "H113"
MISSPELT, REPEATED, NONE_ENABLED = "H116", "H117", "H118"

#: The metrics that the pages name, in lower case and as they are written.
_names = {"bleu": "BLEU", "bertscore": "BERTScore"}
#: Other metrics, whose names are nearly the same.
_no_misspelling = frozenset({"gleu", "bartscore"})
#: The parameters of NLTK's sentence_bleu and corpus_bleu beside the texts.
NLTK_BLEU = frozenset("weights smoothing_function auto_reweigh".split())
#: The parameters of BERTScore's compute in Hugging Face Evaluate beside the texts.
HF_BERTSCORE = frozenset(
    "lang model_type num_layers verbose idf device batch_size nthreads all_layers "
    "rescale_with_baseline baseline_path use_fast_tokenizer".split()
)


def header_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on the members of an input around its instances."""
    if not isinstance(document, Mapping):
        return
    for key in document:
        if key != "metrics" and key.casefold() in METRICS:
            yield _other_name(key)
    metrics = document.get("metrics")
    for index, metric in enumerate(metrics if isinstance(metrics, list) else ()):
        if isinstance(metric, Mapping):
            path: Path = ("metrics", index)
            yield from _check_enable(metric, path)
            yield from parameter_remarks(metric, path)
            yield from _check_names(metric, path)
    if isinstance(metrics, list) and metrics:
        yield from _check_enabled(metrics)


def parameter_remarks(owner: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield a remark if the `parameters` of `owner`, at `path`, are no object."""
    if "parameters" not in owner:
        yield Remark(
            PARAMETER_LIST,
            path,
            "the key parameters is missing",
            'give "parameters": {} if the metric takes none',
        )
    elif isinstance(owner["parameters"], list):
        yield Remark(
            PARAMETER_LIST,
            (*path, "parameters"),
            "the parameters are a list, so they have no names",
            "give an object of names and values",
        )


def _other_name(key: str) -> Remark:
    return Remark(
        LIST_NAME,
        (key,),
        f'"{key}" is not validated: the list of metrics is called "metrics"',
        'rename it to "metrics"',
        at_key=True,
    )


def _check_enable(metric: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield a remark if `enable` is not there, or not a boolean."""
    key = "enable" if "enable" in metric else "enabled"
    if key not in metric:
        yield Remark(
            ENABLE, path, "enable is missing, so it is true", 'give "enable": true'
        )
    elif key == "enabled":
        yield Remark(
            ENABLE,
            (*path, key),
            '"enabled" is not how HarpIA spells "enable"',
            'rename it to "enable"',
            at_key=True,
        )
    elif isinstance(metric[key], str):
        value = metric[key]
        yield Remark(
            ENABLE, (*path, key), "enable is text", f'write {value}, not "{value}"'
        )


def _check_names(metric: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield remarks on an unknown metric id and on unknown names of parameters."""
    words = re.findall("[a-z]+", str(metric.get("id", "")).casefold())
    is_bleu, is_bertscore = "bleu" in words, "bertscore" in "".join(words)
    if is_bleu:
        yield from _unknown_parameters(metric, path, NLTK_BLEU, (BLEU, "NLTK's BLEU"))
    elif is_bertscore:
        source = "BERTScore of Hugging Face Evaluate"
        yield from _unknown_parameters(metric, path, HF_BERTSCORE, (BERTSCORE, source))
    elif "id" in metric:
        yield _unknown_metric(words, path)
    parameters = metric.get("parameters")
    if isinstance(parameters, Mapping) and (is_bleu or is_bertscore):
        from harpia_converters.harpia import parameter_checks  # noqa: PLC0415 - start-up: for files with metrics only

        values = parameter_checks.bleu_values
        if is_bertscore:
            values = parameter_checks.bertscore_values
        yield from values(parameters, (*path, "parameters"))


def _unknown_metric(words: list[str], path: Path) -> Remark:
    """Return the remark on a metric with other words in its id than known ones."""
    from harpia_formats.model.text.spelling import nearest  # noqa: PLC0415 - start-up: needed for messages only

    for word in (*words, "".join(words)):
        meant = nearest(word, _names)
        if meant and word not in _no_misspelling:
            return Remark(
                MISSPELT,
                (*path, "id"),
                f"no metric that HarpIA's pages name is called {word}",
                f"write {_names[meant]} if that is meant",
            )
    return Remark(
        OTHER_METRIC,
        (*path, "id"),
        "HarpIA's pages name only two metrics, BLEU and BERTScore",
        "check the id in the HarpIA Lab Library",
    )


def _check_enabled(metrics: list[Any]) -> Iterator[Remark]:
    """Yield remarks on metrics of which none is enabled, or one is enabled twice."""
    enabled = [
        (("metrics", index), metric)
        for index, metric in enumerate(metrics)
        if isinstance(metric, Mapping) and is_enabled(metric)
    ]
    if not enabled:
        yield Remark(
            NONE_ENABLED,
            ("metrics",),
            "no metric is enabled, so nothing is computed",
            'give "enable": true for at least one',
        )
    for number, (path, metric) in enumerate(enabled):
        same_as = (
            other
            for _, other in enabled[:number]
            if other.get("id") == metric.get("id")
            and same(other.get("parameters"), metric.get("parameters"))
        )
        if any(True for _ in same_as):
            yield Remark(
                REPEATED,
                path,
                "an earlier metric has the same id and the same parameters",
                "remove one of them: their results cannot be told apart",
            )


def _unknown_parameters(
    metric: Mapping[str, Any],
    path: Path,
    known: frozenset[str],
    source: tuple[str, str],
) -> Iterator[Remark]:
    """Yield a remark for each parameter that is not among those `known`."""
    code, function = source
    names = metric.get("parameters")
    for name in names if isinstance(names, Mapping) else ():
        if name not in known:
            yield Remark(
                code,
                (*path, "parameters", name),
                f"{function} has no parameter of this name",
                f"use one of {', '.join(sorted(known))}",
                at_key=True,
            )
