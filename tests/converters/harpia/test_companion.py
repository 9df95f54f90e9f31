"""Where an output or a log disagrees with its input."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats import Problem, Severity, validate
from known_formats import RULES

WEIGHTS = {"weights": [0.5, 0.5]}
BLEU = {"id": "BLEU", "enable": True, "parameters": WEIGHTS}
OFF = {"id": "chrF", "enable": False}
TER = {"id": "TER"}
INSTANCE = {"id": "1", "input": "Oi?", "actual-output": "Olá"}
#: An output of a metric that no input has.
OTHER = {"id": "ROUGE", "parameters": {}}
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


def problems_of(
    output: Any, header: dict[str, Any], folder: Path, *select: str
) -> list[Problem]:
    """Return where an output disagrees with the input that has this header."""
    companion = folder / "input.json"
    companion.write_text(json.dumps({"instances": [INSTANCE]} | header))
    data = json.dumps(output).encode()
    report = validate(
        data, format="harpia-output", companion=companion, select=select or ("H2",)
    )
    return list(report.problems)


def findings(
    output: Any, metrics: list[Any], folder: Path, *select: str
) -> list[tuple[str, str]]:
    """Return the code and the place of each disagreement."""
    found = problems_of(output, {"metrics": metrics}, folder, *select)
    return [(each.code, each.place.pointer) for each in found]


@for_each_case("key, known", [("metrics", True), ("metricas", True), ("", False)])
def test_metrics_of_an_input(key: str, known: bool, tmp_path: Path) -> None:
    """The metrics of an input keep their order, and are found under two names."""
    items = [{"id": "é"}, {"id": "BLEU", "enable": False}, {"id": 3}, "chrF", TER]
    missing = problems_of([OTHER], {key: items}, tmp_path, "H201")

    assert [each.message.split('"')[1] for each in missing] == ["é", "TER"] * known


@for_each_case(
    "seen, missing, repeated",
    [
        (["TER", "BLEU"], ["BLEU"], []),
        (["ROUGE"], ["BLEU", "TER", "BLEU"], []),
        (["BLEU", "BLEU", "TER"], [], []),
        (["BLEU"] * 3 + ["TER", "TER"], [], ["BLEU", "TER"]),
        (["TER", "chrF", "ROUGE", "ROUGE"], ["BLEU", "BLEU"], []),
    ],
)
def test_output_as_a_whole(
    seen: list[str], missing: list[str], repeated: list[str], tmp_path: Path
) -> None:
    """Each enabled metric has one output, as often as the input has the metric."""
    header = {"metrics": [BLEU, TER, OFF, BLEU]}
    output = [{"id": name, "parameters": {}} for name in seen]
    found = [
        (each.code, each.message.split('"')[1])
        for each in problems_of(output, header, tmp_path, "H201", "H206")
    ]

    assert sorted(found) == sorted(
        [("H201", name) for name in missing] + [("H206", name) for name in repeated]
    )


@examples(25)
@given(JSON)
def test_a_value_is_the_same_as_its_copy(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    """A value equals what is written and read again, with its keys sorted."""
    copy = json.loads(json.dumps(value, sort_keys=True))
    output = [{"id": "BLEU", "parameters": {"p": copy}}]
    metric = {"id": "BLEU", "parameters": {"p": value}}

    assert findings(output, [metric], tmp_path_factory.mktemp("files"), "H204") == []


@examples(25)
@given(OBJECTS, OBJECTS)
def test_comparison_never_raises(
    tmp_path_factory: pytest.TempPathFactory, header: Any, item: dict[str, Any]
) -> None:
    """Any two objects can be compared, each disagreement by a rule and at a place."""
    for each in problems_of([item], header, tmp_path_factory.mktemp("files")):
        assert each.code in RULES
        assert not each.place.pointer or each.place.pointer.split("/")[1] in item


def test_names_of_metrics_may_have_any_characters(tmp_path: Path) -> None:
    """A remark on a whole file names the metric, with any characters in its name."""
    header = {"metrics": [{"id": 'a"b\n'}]}
    (missing,) = problems_of([OTHER], header, tmp_path, "H201")
    twice = [{"id": 'a"b\n', "parameters": {}}] * 2
    (repeated,) = problems_of(twice, header, tmp_path, "H206")

    assert all('"a\\"b\\n"' in each.message for each in (missing, repeated))


def test_every_disagreement_is_an_error() -> None:
    """Each disagreement between two files is an error with a rule of its own."""
    of_pairs = [rule for code, rule in RULES.items() if code.startswith("H2")]

    assert {each.severity for each in of_pairs} == {Severity.ERROR}
