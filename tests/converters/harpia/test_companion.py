"""Where an output or a log disagrees with its input."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_converters.harpia import formats
from harpia_converters.harpia.header_checks import Metric, is_enabled, metrics_of, same
from harpia_converters.harpia.rules import RULES

BLEU = Metric("BLEU", enabled=True, parameters={"weights": [0.5, 0.5]})
OFF = Metric("chrF", enabled=False, parameters={})
METRICS = (BLEU, OFF)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "metric", "parameters", "á"]), inner)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(
    st.sampled_from(["id", "metric", "parameters", "metrics", "metricas", ""]), JSON
)


def findings(item: dict[str, Any], key: str = "") -> list[tuple[str, Any]]:
    """Return the code and the place of each disagreement."""
    found = formats.metric_contradictions(METRICS, item, key)
    return [(each.code, each.path) for each in found]


@for_each_case(
    "metric, enabled",
    [
        ({"enable": True}, True),
        ({"enable": "true"}, True),
        ({"enabled": True}, True),
        ({}, True),
        ({"enable": False}, False),
        ({"enable": "false"}, False),
        ({"enabled": "false"}, False),
        ({"enable": False, "enabled": True}, False),
    ],
)
def test_metric_is_enabled(metric: Any, enabled: bool) -> None:
    """A metric is run unless its input says that it is not, in any spelling."""
    assert is_enabled(metric) is enabled


def test_metrics_of_an_input() -> None:
    """The metrics of an input keep their order; without parameters they have none."""
    items = [{"id": "BLEU", "enable": False}, {"id": 3}, "chrF", {"id": "é"}]
    expected = (
        Metric("BLEU", enabled=False, parameters={}),
        Metric("é", enabled=True, parameters={}),
    )

    assert metrics_of({"metrics": items}) == expected
    assert metrics_of({"metricas": items}) == expected
    assert metrics_of({"": items}) == ()


@for_each_case(
    "item, expected",
    [
        ({"id": "BLEU", "parameters": {"weights": [0.5, 0.5]}}, []),
        ({"metric": "BLEU", "parameters": {"weights": [0.5, 0.5]}}, []),
        ({"id": "BLEU", "parameters": {"weights": [1]}}, [("H204", ("parameters",))]),
        ({"id": "BLEU"}, [("H204", ())]),
        ({"id": "chrF", "parameters": {}}, [("H202", ("id",))]),
        ({"metric_id": "chrF", "parameters": {"n": 6}}, [("H202", ("metric_id",))]),
        ({"id": "bleu", "parameters": {}}, [("H203", ("id",))]),
        ({"parameters": {}}, []),
        ({"id": 3}, []),
    ],
)
def test_item_against_its_input(item: Any, expected: Any) -> None:
    """An item must be of an enabled metric, with the parameters of the input."""
    assert findings(item) == expected


def test_item_under_its_metric() -> None:
    """The name that an item stands under counts, and then the place is the item."""
    assert findings({"parameters": {}}, "chrF") == [("H202", ())]
    assert findings({"id": "BLEU"}, "ROUGE") == [("H203", ())]


def test_one_metric_with_two_sets_of_parameters() -> None:
    """A metric that the input has twice may have the parameters of either."""
    twice = (BLEU, Metric("BLEU", enabled=False, parameters={"weights": [1]}))
    found = [
        [each.code for each in formats.metric_contradictions(twice, item)]
        for item in (
            {"id": "BLEU", "parameters": {"weights": [0.5, 0.5]}},
            {"id": "BLEU", "parameters": {"weights": [1]}},
            {"id": "BLEU", "parameters": {"weights": [2]}},
        )
    ]

    assert found == [[], ["H202"], ["H204"]]


@for_each_case(
    "seen, missing, repeated",
    [
        (["TER", "BLEU"], ["BLEU"], []),
        ([], ["BLEU", "TER", "BLEU"], []),
        (["BLEU", "BLEU", "TER"], [], []),
        (["BLEU"] * 3 + ["TER", "TER"], [], ["BLEU", "TER"]),
        (["TER", "chrF", "ROUGE", "ROUGE"], ["BLEU", "BLEU"], []),
    ],
)
def test_output_as_a_whole(
    seen: list[str], missing: list[str], repeated: list[str]
) -> None:
    """Each enabled metric has one output, as often as the input has the metric."""
    metrics = (BLEU, Metric("TER", enabled=True, parameters={}), OFF, BLEU)

    assert list(formats.missing(metrics, seen)) == missing
    assert list(formats.repeated(metrics, seen)) == repeated


@for_each_case(
    "one, other, expected",
    [
        ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1.0}, True),
        (1, True, False),
        (0, False, False),
        (False, False, True),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": None}, {}, False),
        ({}, [], False),
        ("1", 1, False),
        (None, 0, False),
        (2**53 + 1, float(2**53), False),
        ({"a": [{"b": True}]}, {"a": [{"b": 1}]}, False),
    ],
)
def test_json_values_are_compared_as_such(one: Any, other: Any, expected: bool) -> None:
    """Numbers are equal by value, and true is not a number."""
    assert same(one, other) is expected
    assert same(other, one) is expected


@examples(25)
@given(JSON)
def test_a_value_is_the_same_as_its_copy(value: Any) -> None:
    """A value equals what is written and read again, with its keys sorted."""
    copy = json.loads(json.dumps(value, sort_keys=True))

    assert same(value, copy)


@examples(25)
@given(OBJECTS, OBJECTS)
def test_comparison_never_raises(header: dict[str, Any], item: dict[str, Any]) -> None:
    """Any two objects can be compared, each disagreement by a rule and at a place."""
    metrics = metrics_of(header)

    for each in formats.metric_contradictions(metrics, item):
        assert each.code in {rule.code for rule in RULES}
        assert not each.path or each.path[0] in item


def test_remarks_on_files_as_a_whole() -> None:
    """A remark on a whole file names the metric, with any characters in its name."""
    remarks = (formats.missing_remark('a"b\n'), formats.repeated_remark('a"b\n'))

    assert [each.code for each in remarks] == ["H201", "H206"]
    assert all('"a\\"b\\n"' in each.message for each in remarks)
    assert formats.unknown_instance_remark().path == (formats.INSTANCE_ID,)


def test_every_disagreement_is_an_error() -> None:
    """Each disagreement between two files is an error with a rule of its own."""
    severities = {each.severity for each in RULES if each.code.startswith("H2")}

    assert severities == {"error"}
