"""What is to be said of the metrics of an input, and of their parameters."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.harpia.keys import METRICS
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

ENABLE, LIST_NAME, PARAMETER_LIST = "H105", "H106", "H107"
BLEU, BERTSCORE, OTHER_METRIC = "H111", "H112", "H113"

#: What NLTK's sentence_bleu and corpus_bleu take beside the texts.
NLTK_BLEU = frozenset("weights smoothing_function auto_reweigh".split())
#: What the compute of BERTScore in Hugging Face Evaluate takes beside the texts.
HF_BERTSCORE = frozenset(
    "lang model_type num_layers verbose idf device batch_size nthreads all_layers "
    "rescale_with_baseline baseline_path use_fast_tokenizer".split()
)


def header_remarks(document: Any) -> Iterator[Remark]:
    """Yield what is tolerated or doubtful in an input around its instances."""
    if not isinstance(document, Mapping):
        return
    for key in document:
        if key != "metrics" and key.casefold() in METRICS:
            yield _other_name(key)
    metrics = document.get("metrics")
    for index, metric in enumerate(metrics if isinstance(metrics, list) else ()):
        if isinstance(metric, Mapping):
            path: Path = ("metrics", index)
            yield from _on_enable(metric, path)
            yield from on_parameters(metric, path)
            yield from _on_names(metric, path)


def on_parameters(owner: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield what is tolerated in the parameters of `owner`, which is at `path`."""
    if "parameters" not in owner:
        yield Remark(
            PARAMETER_LIST,
            path,
            "there are no parameters",
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
        f'"{key}" is not judged: the list of metrics is called "metrics"',
        'call it "metrics"',
        at_key=True,
    )


def _on_enable(metric: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield a remark if `enable` is not there, or not a boolean."""
    key = "enable" if "enable" in metric else "enabled"
    if key not in metric:
        yield Remark(
            ENABLE, path, "enable is missing and taken as true", 'give "enable": true'
        )
    elif key == "enabled":
        yield Remark(
            ENABLE,
            (*path, key),
            '"enabled" is not how HarpIA spells "enable"',
            'call it "enable"',
            at_key=True,
        )
    elif isinstance(metric[key], str):
        value = metric[key]
        yield Remark(
            ENABLE, (*path, key), "enable is text", f'write {value}, not "{value}"'
        )


def _on_names(metric: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield what is doubtful in the name of `metric` and in those of its parameters."""
    words = re.findall("[a-z]+", str(metric.get("id", "")).casefold())
    if "bleu" in words:
        yield from _unknown(metric, path, NLTK_BLEU, (BLEU, "NLTK's BLEU"))
    elif "bertscore" in "".join(words):
        source = "BERTScore of Hugging Face Evaluate"
        yield from _unknown(metric, path, HF_BERTSCORE, (BERTSCORE, source))
    elif "id" in metric:
        yield Remark(
            OTHER_METRIC,
            (*path, "id"),
            "the metric is neither of the two that HarpIA's pages name",
            "check the id against the HarpIA Lab Library",
        )


def _unknown(
    metric: Mapping[str, Any], path: Path, known: frozenset[str], told: tuple[str, str]
) -> Iterator[Remark]:
    """Yield a remark for each parameter that is not among those `known`."""
    code, source = told
    names = metric.get("parameters")
    for name in names if isinstance(names, Mapping) else ():
        if name not in known:
            yield Remark(
                code,
                (*path, "parameters", name),
                f"{source} takes no such parameter",
                f"it takes {', '.join(sorted(known))}",
                at_key=True,
            )
