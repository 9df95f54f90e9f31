"""Remarks on metrics whose parameters cannot work, and on metrics that do nothing."""

from typing import Any

from cases import for_each_case
from known_formats import FORMATS

BLEU = {"id": "BLEU-NLTK", "enable": True}
BERT = {"id": "BERTScore-HF", "enable": True}


def found_in(*metrics: Any) -> list[tuple[str, Any]]:
    """Return the code and the place of each remark on an input with these metrics."""
    remarks = FORMATS["harpia"].dialects[0].header_remarks
    assert remarks is not None
    return [(each.code, each.path) for each in remarks({"metrics": list(metrics)})]


@for_each_case(
    "parameters, name",
    [
        ({"weights": []}, "weights"),
        ({"weights": 4}, "weights"),
        ({"weights": ["0.5", "0.5"]}, "weights"),
        ({"weights": [True]}, "weights"),
        ({"weights": [1, 1]}, "weights"),
        ({"weights": [1e308, 1e308]}, "weights"),
        ({"weights": [10**400]}, "weights"),
        ({"weights": [1.5, -0.5]}, "weights"),
        ({"weights": [[0.5, 0.5], []]}, "weights"),
        (
            {"weights": [0.5, 0.5], "smoothing_function": "method6"},
            "weights",
        ),
        (
            {"weights": [[1], [0.5, 0.5], [1]], "smoothing_function": "method6"},
            "weights",
        ),
        ({"smoothing_function": "method8"}, "smoothing_function"),
        ({"smoothing_function": 1}, "smoothing_function"),
        ({"auto_reweigh": "false"}, "auto_reweigh"),
        ({"auto_reweigh": None}, "auto_reweigh"),
    ],
)
def test_bleu_cannot_be_computed(parameters: dict[str, Any], name: str) -> None:
    """A value that NLTK refuses, or that gives no BLEU, is found at its place."""
    metric = {**BLEU, "parameters": parameters}

    assert found_in(metric) == [("H114", ("metrics", 0, "parameters", name))]


@for_each_case(
    "parameters",
    [
        {},
        {"weights": [0.25] * 4, "smoothing_function": None, "auto_reweigh": True},
        {"weights": [0.333, 0.333, 0.334], "smoothing_function": "method6"},
        {"weights": [1]},
        {"weights": [[1], [0.5, 0.5]], "smoothing_function": "method7"},
        {"weights": [[1], [0.25] * 4], "smoothing_function": "method6"},
    ],
)
def test_bleu_can_be_computed(parameters: dict[str, Any]) -> None:
    """Values that NLTK takes are not reported."""
    assert found_in({**BLEU, "parameters": parameters}) == []


@for_each_case(
    "parameters, place",
    [
        ({}, ()),
        ({"lang": None, "model_type": None}, ()),
        ({"model_type": ""}, ()),
        ({"model_type": "m", "rescale_with_baseline": True}, "rescale_with_baseline"),
        ({"lang": "Portuguese"}, "lang"),
        ({"lang": 1}, "lang"),
        ({"lang": "en", "num_layers": 0}, "num_layers"),
        ({"lang": "en", "batch_size": 2.5}, "batch_size"),
        ({"lang": "en", "nthreads": -1}, "nthreads"),
        ({"lang": "en", "idf": "true"}, "idf"),
        ({"lang": "en", "device": 0}, "device"),
    ],
)
def test_bertscore_cannot_be_computed(parameters: dict[str, Any], place: Any) -> None:
    """BERTScore without a model, or with a value that it refuses, is found."""
    path = ("metrics", 0, "parameters", *([place] if place else []))

    assert found_in({**BERT, "parameters": parameters}) == [("H115", path)]


def test_misspelt_name_is_reported_once() -> None:
    """A misspelt `lang` is one mistake, not a missing language as well."""
    metric = {**BERT, "parameters": {"language": "en"}}

    assert [code for code, _ in found_in(metric)] == ["H112"]


@for_each_case("id_", ["BELU", "belu-nltk", "BLUE", "BERTScroe", "bert_scor", "BLEUU"])
def test_misspelt_metric(id_: str) -> None:
    """An id that is nearly that of a known metric is a warning of its own."""
    metric = {"id": id_, "enable": True, "parameters": {}}

    assert found_in(metric) == [("H116", ("metrics", 0, "id"))]


@for_each_case("id_", ["ROUGE-L", "METEOR", "chrF", "GLEU-NLTK", "BARTScore", ""])
def test_other_metric_is_no_misspelling(id_: str) -> None:
    """Another metric is noted as unknown, and not taken for a misspelling."""
    metric = {"id": id_, "enable": True, "parameters": {}}

    assert [code for code, _ in found_in(metric)] == ["H113"]


def test_metric_is_enabled_twice() -> None:
    """A second metric with the same id and parameters is found, not another one."""
    one = {**BLEU, "parameters": {"weights": [1]}}
    other = {**BLEU, "parameters": {"weights": [0.5, 0.5]}}
    disabled = {**one, "enable": False}

    assert found_in(one, other, disabled) == []
    assert found_in(one, other, one) == [("H117", ("metrics", 2))]


def test_no_metric_is_enabled() -> None:
    """Metrics of which none is enabled are noted; a list without any is not."""
    disabled = {**BLEU, "enable": False, "parameters": {}}

    assert found_in(disabled, disabled) == [("H118", ("metrics",))]
    assert found_in() == []
