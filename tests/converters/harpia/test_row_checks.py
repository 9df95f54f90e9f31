"""Remarks on HarpIA's files that their schemas allow."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats.plugins import Dialect, Remark
from known_formats import FORMATS, RULES

OWN = {id_: each for id_, each in FORMATS.items() if each.vendor == "HarpIA Lab"}
DIALECTS = [each for format_ in OWN.values() for each in format_.dialects]
#: Instances, and instances alone: nothing is remarked on what is around those.
WHOLE, INPUT = FORMATS["harpia"].dialects[:2]
INSTANCE = {"id": "1", "input": "Que dia é hoje?", "actual-output": "Domingo ☀️"}
REFERENCE = {"id": "2", "input": "今天星期几?", "expected-output": ["星期天"]}
METRIC = {"id": "BLEU", "enable": True, "parameters": {}}
ITEM = {"id": "BLEU", "parameters": {}, "score": 0.5, "elapsed time": 1}
ROW = {"id": "BLEU", "parameters": {}, "instance_id": "1", "result": 0.5}
KEYS = [
    "elapsed time",
    *"id input actual-output actual_output actualOutput expected-output".split(),
    *"expected_output expectedOutput instances metrics instancias metricas".split(),
    *"Metrics enable enabled parameters score elapsed_time instance_id".split(),
    *"result results metric".split(),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner)
    ),
    max_leaves=12,
)


def spelt(row: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """Return `row` with another mark than a hyphen in its keys."""
    return {key.replace("-", mark): value for key, value in row.items()}


def changed(value: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return `value` with fields changed, or taken away where they are `...`."""
    both = {**value, **fields}
    return {key: each for key, each in both.items() if each is not ...}


def codes_of(remarks: Any) -> list[tuple[str, Any]]:
    """Return the code and the place of each remark that is no lint remark."""
    return [(each.code, each.path) for each in remarks if not RULES[each.code].lint]


def remarks_around(document: Any) -> list[Remark]:
    """Return the remarks on what is around instances."""
    assert WHOLE.header_remarks is not None
    return list(WHOLE.header_remarks(document))


def remarks_by(dialect: Dialect, value: Any) -> list[Remark]:
    """Return what `dialect` has to say of `value`, a record or what is around it."""
    both = (dialect.remarks, dialect.header_remarks)
    return [each for say in both if say is not None for each in say(value)]


@for_each_case(
    "fields, expected",
    [
        ({}, []),
        ({"expected-output": ["Domingo"]}, []),
        ({"id": 7, "fonte": None}, []),
        ({"actual_output": "outra"}, []),
        ({"expected_output": ["a"]}, [("H101", ("expected_output",))]),
        ({"expectedOutput": ["a"]}, [("H101", ("expectedOutput",))]),
        ({"actual-output": ["a", "b"]}, [("H102", ("actual-output",))]),
        ({"expected-output": "a"}, [("H103", ("expected-output",))]),
        ({"expected-output": []}, [("H104", ("expected-output",))]),
        ({"actual-output": ...}, [("H108", ())]),
        (
            {"actual-output": ..., "actual_output": ["a"]},
            [("H101", ("actual_output",)), ("H102", ("actual_output",))],
        ),
        (
            {"actual-output": ..., "expected-output": "a"},
            [("H108", ()), ("H103", ("expected-output",))],
        ),
        (
            {"expected_output": ""},
            [("H101", ("expected_output",)), ("H103", ("expected_output",))],
        ),
    ],
)
def test_remarks_on_an_instance(fields: Any, expected: Any) -> None:
    """Tolerated values in an instance get remarks; a missing answer is an error."""
    assert codes_of(remarks_by(INPUT, changed(INSTANCE, fields))) == expected


@pytest.mark.parametrize("key", ["actual-ouput", "Actual-Output", "actual output"])
def test_an_answer_under_a_near_key_is_found(key: str) -> None:
    """Where the answer's key is misspelt, its finding is at the key and names both."""
    (found,) = remarks_by(INPUT, {"id": 1, "input": "Oi?", key: "Olá"})

    assert (found.code, found.path, found.at_key) == ("H108", (key,), True)
    assert f'"{key}"' in found.message
    assert '"actual-output"' in found.help


def test_both_fields_may_be_spelt_otherwise() -> None:
    """Each field that is spelt otherwise has a finding of its own, about its key."""
    row = spelt(INSTANCE | REFERENCE, "_")

    found = list(remarks_by(INPUT, row))

    assert {each.path for each in found} == {("actual_output",), ("expected_output",)}
    assert all(each.code == "H101" and each.at_key for each in found)


@for_each_case(
    "metric, expected",
    [
        (METRIC, []),
        ({**METRIC, "enable": False, "enabled": True}, []),
        ({**METRIC, "enable": "true"}, [("H105", ("metrics", 0, "enable"))]),
        ({"id": "BLEU", "parameters": {}}, [("H105", ("metrics", 0))]),
        (
            {"id": "BLEU", "parameters": {}, "enabled": True},
            [("H105", ("metrics", 0, "enabled"))],
        ),
        ({**METRIC, "parameters": [1]}, [("H107", ("metrics", 0, "parameters"))]),
        ({"id": "BLEU", "enable": True}, [("H107", ("metrics", 0))]),
        ("BLEU", []),
    ],
)
def test_remarks_on_a_metric(metric: Any, expected: Any) -> None:
    """What is tolerated in a metric of an input gets a remark, at its place."""
    document = {"instances": [], "metrics": [metric]}

    assert codes_of(remarks_around(document)) == expected


@pytest.mark.parametrize("key", ["Metrics", "metric", "metricas", "MÉTRICAS"])
def test_metrics_under_another_name_are_not_passed_over(key: str) -> None:
    """A list of metrics under an unknown key gets a remark."""
    found = list(remarks_around({"instances": [], key: [METRIC]}))

    assert [(each.code, each.path, each.at_key) for each in found] == [
        ("H106", (key,), True)
    ]


@for_each_case(
    "name, parameters, expected",
    [
        ("BLEU-NLTK", {"weights": [1], "smoothing_function": None}, []),
        ("sentence_bleu", {"auto_reweigh": False, "n": 4}, ["H111"]),
        ("BERTScore-HF", {"lang": "pt", "device": "cpu", "verbose": False}, []),
        ("bert_score", {"language": "pt", "idioma": "pt"}, ["H112", "H112"]),
        ("BLEURT", {"checkpoint": "base"}, ["H113"]),
        ("métrica própria", {}, ["H113"]),
        ("BLEU", [0.25], ["H107"]),
    ],
)
def test_doubts_about_metrics(name: str, parameters: Any, expected: list[str]) -> None:
    """Unknown metrics are doubted, and parameters that a known one does not take."""
    metric = {"id": name, "enable": True, "parameters": parameters}

    found = list(remarks_around({"metrics": [metric]}))

    assert [each.code for each in found] == expected


@for_each_case(
    "fields, expected",
    [
        ({}, []),
        ({"parameters": [1]}, [("H107", ("parameters",))]),
        ({"elapsed time": ...}, [("H121", ())]),
        ({"elapsed time": ..., "elapsed_time": 2}, [("H121", ("elapsed_time",))]),
        ({"elapsed time": ..., "elapsedTime": 2}, [("H121", ("elapsedTime",))]),
        ({"id": ..., "metric": "BLEU"}, [("H122", ("metric",))]),
        ({"id": ..., "metric_id": "BLEU"}, [("H122", ("metric_id",))]),
        ({"id": ...}, [("H123", ())]),
        ({"elapsed_time": 2, "metric": 1}, []),
    ],
)
def test_remarks_on_an_output(fields: Any, expected: Any) -> None:
    """Tolerated keys in an output get remarks; a missing metric is an error."""
    assert (
        codes_of(
            remarks_by(FORMATS["harpia-output"].dialects[0], changed(ITEM, fields))
        )
        == expected
    )


def test_remarks_on_outputs_by_metric() -> None:
    """Under its metric's name an output needs no id, and its places begin there."""
    item = {"parameters": [], "score": 1, "elapsed-time": 2}

    found = codes_of(
        remarks_by(FORMATS["harpia-output"].dialects[2], {"BLEU": item, "nota": "olá"})
    )

    assert found == [
        ("H107", ("BLEU", "parameters")),
        ("H121", ("BLEU", "elapsed-time")),
    ]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("id", []),
        ("metric", [("H122", ("metric",))]),
        ("metric_id", [("H122", ("metric_id",))]),
        ("metrica", [("H123", ())]),
    ],
)
def test_remarks_on_a_log(key: str, expected: Any) -> None:
    """A line of a log that names its metric at another key than `id` gets a remark."""
    row = {key if each == "id" else each: value for each, value in ROW.items()}

    assert codes_of(remarks_by(FORMATS["harpia-log"].dialects[0], row)) == expected


@examples(50)
@given(JSON)
def test_remarks_never_raise(value: Any) -> None:
    """Remarks are made on any JSON, each by a rule and at a place that is there."""
    for each in DIALECTS:
        for remark in remarks_by(each, value):
            place = value
            for step in remark.path:
                place = place[step]

            assert remark.code in RULES
            assert not remark.at_key or remark.path
