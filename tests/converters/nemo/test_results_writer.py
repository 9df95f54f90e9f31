"""NVIDIA's definitions of metrics, its configurations, and the results it reads."""

import io
import itertools
import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_converters.nemo.profile import NEMO, NEMO_CUSTOM, NEMO_SDK
from harpia_formats import ScoreError, validate
from harpia_formats.evaluation.scoring.measures.select_metrics import select_metrics
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.plugins import MetricConfiguration, MetricProfile
from json_lines import jsonl, strict_json
from unchecked import score

pytest.importorskip("sacrebleu", reason="BLEU and ROUGE need the extra score")

FIXTURES = Path(__file__).parents[3] / "fixtures"
CONFIGURATIONS = FIXTURES / "nemo-config" / "valid"
ANSWERS = FIXTURES / "nemo-output" / "valid" / "answers.jsonl"
MAT = "The cat sat on the mat."
SITS = ["The cat sits on the mat.", "A cat is sitting on the mat."]
UNSUPPORTED = "unsupported parameter"
TURNED = {"ground_truth": "{{response}}"}
HASTE = "A ação foi rápida e não tem "
#: Answer, references, sentence and corpus BLEU, em, F1, ROUGE 1, 2, 3 and L; the
#: corpus BLEU is that of all references.
TABLE: list[tuple[str, list[str], tuple[float, ...]]] = [
    ("Paris", ["Paris"], (100, 0, 1, 1, 1, 0, 0, 1)),
    ("the cat sat", ["the cat sat"], (100, 0, 1, 1, 1, 1, 1, 1)),
    ("the cat sat down", ["the cat sat down"], (100, 100, 1, 1, 1, 1, 1, 1)),
    (MAT, [MAT], (100, 100, 1, 1, 1, 1, 1, 1)),
    (
        "The dog sat on the floor.",
        [MAT],
        (27.7762, 27.7762, 0, 0.5, 0.666667, 0.4, 0.25, 0.666667),
    ),
    (
        "PARIS is the capital",
        ["paris is the capital"],
        (59.4604, 59.4604, 1, 1, 1, 1, 1, 1),
    ),
    (
        "Hello, world of cats and dogs!",
        ["Hello world of cats and dogs"],
        (54.1082, 54.1082, 1, 1, 1, 1, 1, 1),
    ),
    ("foo bar baz qux", ["one two three four"], (0,) * 8),
    ("", ["Paris"], (0,) * 8),
    ("", [""], (0, 0, 1, 1, 0, 0, 0, 0)),
    (
        "The cat is on the mat.",
        SITS,
        (53.7285, 53.7285, 0, 0.75, 0.833333, 0.6, 0.25, 0.833333),
    ),
    (
        f"{HASTE}preço.",
        [f"{HASTE}custo."],
        (75.0624, 75.0624, 0, 0.857143, 0.869565, 0.857143, 0.842105, 0.869565),
    ),
    ("北京是中国的首都", ["北京是中国的首都"], (100, 0, 1, 1, 0, 0, 0, 0)),
]
SIMILARITY = ["accuracy", "em", "f1", "bleu_score"]
ROUGE = ["rouge_1_score", "rouge_2_score", "rouge_3_score", "rouge_L_score"]


def answers_as_lines(*pairs: tuple[Any, list[str]]) -> bytes:
    """Return records of an answer and references, one a line."""
    rows = [
        {"id": number, "prompt": "?", "references": refs, "outputs": [{"text": text}]}
        for number, (text, refs) in enumerate(pairs)
    ]
    return jsonl(*rows)


def written(data: Any, **options: Any) -> tuple[bytes, Scores]:
    """Return the results of some records, and the scores."""
    output = io.BytesIO()
    options = {"replicates": 0} | options
    scores = score(data, to="nemo-results", output=output, **options)
    return output.getvalue(), scores


def tree_of(data: Any, **options: Any) -> Any:
    """Return the results of some records, decoded."""
    return strict_json(written(data, **options)[0])


def task_of(metrics: Any, **more: Any) -> Any:
    """Return a custom configuration of one task."""
    task = {"type": "completion", "metrics": metrics}
    return {"type": "custom", "tasks": {"qa": task}, **more}


def checked(check: Any) -> Any:
    """Return a metric that compares texts so."""
    return {"type": "string-check", "params": {"check": check}}


def asked(
    document: Any, profile: MetricProfile = NEMO, names: dict[str, str] | None = None
) -> MetricConfiguration:
    """Return what a configuration asks for."""
    assert profile.of_config is not None
    return profile.of_config(document, names or {})


def problems_of(data: bytes, *, strict: bool = True) -> list[str]:
    """Return the codes of all remarks on results."""
    report = validate(data, format="nemo-results", strict=strict, lint=True)
    return [each.code for each in report.problems]


# -- definitions ----------------------------------------------------------------------


@for_each_case("text, references, expected", TABLE)
def test_sdk_numbers(text: str, references: list[str], expected: Any) -> None:
    """Each metric of the SDK has the number that NVIDIA's own code gives."""
    metrics = ("bleu", "corpus_all", "exact-match", "f1", "rouge")
    names = ["sentence", "corpus_all", "exact-match", "f1", *ROUGE]

    scores = score(
        answers_as_lines((text, references)),
        profile="nemo-sdk",
        metrics=metrics,
        replicates=0,
    )

    found = [scores[each].value for each in names]
    assert found == pytest.approx(expected, abs=1e-4)


@for_each_case("text, references, expected", TABLE)
def test_similarity_numbers(text: str, references: list[str], expected: Any) -> None:
    """Similarity metrics are shares by the first reference; BLEU is a sentence's."""
    first = references[:1]
    data = answers_as_lines((text, references))
    one = score(answers_as_lines((text, first)), profile="nemo-sdk", replicates=0)

    scores = score(data, profile="nemo", replicates=0)

    assert [each.name for each in scores.total.scores] == [*SIMILARITY, *ROUGE]
    assert scores["accuracy"].value == float(text == first[0])
    assert scores["em"].value == expected[2]
    assert scores["f1"].value == pytest.approx(expected[3], abs=1e-6)
    assert one["sentence"].value is not None
    assert scores["bleu_score"].value == pytest.approx(one["sentence"].value / 100)
    rouge = [scores[each].value for each in ROUGE]
    assert rouge == pytest.approx(expected[4:], abs=1e-6)


def test_bleu_of_a_corpus() -> None:
    """The SDK's corpus BLEU takes the first references only, corpus_all takes all."""
    data = answers_as_lines(
        ("The cat is on the mat.", SITS),
        ("Hello world!", ["Hello world!", "Hi world!"]),
    )

    sdk = score(data, profile="nemo-sdk", metrics=("bleu", "corpus_all"), replicates=0)
    custom = score(data, profile="nemo-custom", metrics=("bleu",), replicates=0)

    found = [sdk[each].value for each in ("sentence", "corpus", "corpus_all")]
    assert found == pytest.approx([76.8642, 53.8956, 57.5082], abs=1e-4)
    assert custom["corpus"].value == sdk["corpus_all"].value


@for_each_case(
    "text, reference, operation, expected",
    [
        ("1,234", "234", "==", 1.0),
        ("7-3", "-3", "==", 1.0),
        ("3.", "3", "==", 1.0),
        ("1e5", "5", "==", 1.0),
        ("1.2.3", "1", "==", None),
        ("٣", "3", "==", 1.0),
        ("4", "5", "gte", 0.0),
        ("5", "5", "lte", 1.0),
        ("4", "5", "not equals", 1.0),
        ("none", "5", "<", None),
    ],
)
def test_number_checks(
    text: str, reference: str, operation: str, expected: float | None
) -> None:
    """The last numbers are compared by any of NVIDIA's words for an operation."""
    check = ["{{sample.output_text}}", operation, "{{item.reference}}"]
    config = task_of({"n": {"type": "number-check", "params": {"check": check}}})

    scores = score(
        answers_as_lines((text, [reference])),
        profile="nemo",
        config=config,
        replicates=0,
    )

    assert scores["n.number-check"].value == expected


def test_unverified_definitions_say_so() -> None:
    """The signature says which definitions NVIDIA has not published."""
    scores = score(answers_as_lines(("a", ["a"])), profile="nemo", replicates=0)
    names = [
        each.name for each in scores.total.scores if "|unverified|" in each.signature
    ]

    assert names == ["accuracy", "em", "bleu_score"]


@pytest.mark.parametrize("profile", [NEMO, NEMO_CUSTOM, NEMO_SDK])
def test_every_metric_can_be_computed(profile: MetricProfile) -> None:
    """Each definition has parameters that the metric core takes."""
    every = [each for asked in profile.metrics.values() for each in asked]

    chosen = select_metrics(every, {}, skip_unknown=False)

    assert len(chosen.measured) == len(every)
    assert set(profile.usual) <= profile.metrics.keys()


# -- configurations -------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["seed-sample.json", "offline.json", "N302-temperature-zero.json"]
)
def test_similarity_configuration(name: str) -> None:
    """A configuration of similarity metrics chooses metrics, task and names."""
    document = json.loads((CONFIGURATIONS / name).read_bytes())
    task = "my-similarity-metrics-task"

    found = tree_of(ANSWERS, config=document)

    assert list(found["tasks"]) == [task]
    metrics = found["tasks"][task]["metrics"]
    assert {key: list(each["scores"]) for key, each in metrics.items()} == {
        "accuracy": ["accuracy"],
        "bleu": ["bleu_score"],
        "rouge": ROUGE,
        "em": ["em"],
        "f1": ["f1"],
    }


def test_configuration_in_a_file() -> None:
    """A configuration may be a file, with its tasks in a list."""
    path = CONFIGURATIONS / "list-without-params.json"

    found = tree_of(ANSWERS, config=path)

    assert list(found["tasks"]["evaluation"]["metrics"]) == ["rouge"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("list.json", "bert"),
        ("N301-unknown-metric.json", "BLEU-4"),
        ("N301-list-unknown-metric.json", "metéor"),
        ("N301+N302-both.json", "exact-match"),
    ],
)
def test_unknown_metric_of_a_configuration(name: str, kind: str) -> None:
    """An unknown metric ends the run before work, or is left out, which is reported."""
    path = CONFIGURATIONS / name

    with pytest.raises(ScoreError, match=f"{kind} is no metric of similarity_metrics"):
        written(b"", config=path)
    data, scores = written(ANSWERS, config=path, skip_unknown=True)
    notes = json.loads(data)["custom_fields"]["harpia_formats"]["notes"]

    assert len(scores.unknown) >= 1
    assert any(f"left out: {kind} is no metric" in each for each in notes)
    assert problems_of(data, strict=False) == []


@for_each_case(
    "metric, expected",
    [
        ({"type": "bleu", "params": {"references": ["{{item.reference}}"]}}, "all"),
        ({"type": "bleu", "params": {"references": ["{{ ideal_response }}"]}}, "all"),
        ({"type": "bleu"}, "all"),
        ({"type": "bleu", "references": ["{{item.input.ideal_response}}"]}, "first"),
        (
            {
                "type": "bleu",
                "name": "m",
                "references": "{{item.references}}",
                "candidate": "{{item.response}}",
            },
            "first",
        ),
    ],
)
def test_bleu_of_a_configuration(metric: Any, expected: str) -> None:
    """BLEU in params is that of custom evaluations, with its type that of the SDK."""
    found = asked(task_of({"m": metric}))

    assert [(each.label, each.names) for each in found.metrics] == [
        ("m", ("sentence",)),
        ("m", ("corpus",)),
    ]
    assert found.metrics[1].parameters["references"] == expected
    assert found.task == "qa"


def test_documents_of_the_sdk() -> None:
    """A metric alone, in `metric` or in a list is one of the SDK, without a task."""
    metric = {"type": "f1", "reference": "{{reference}}", "candidate": "{{output}}"}
    bare = {"type": "exact-match", "reference": "{{item.reference}}"}

    for document in (metric, {"metric": metric}, {"metrics": [metric]}):
        assert asked(document).task == ""
        assert asked(document) == asked({"metrics": {"f1": metric}})
    both = asked({"metrics": [metric, bare]})
    assert [each.label for each in both.metrics] == ["f1", "exact-match"]
    assert asked(task_of({"m": {"type": "f1"}}), NEMO_SDK).metrics[0].metric == "f1"


@for_each_case(
    "left, operation, right, expected",
    [
        ("{{sample.output_text}}", "contains", "{{item.reference}}", "contains"),
        ("{{response}}", "==", "{{item.ideal_response}}", "equals"),
        ("{{item.ideal_response}}", "<>", "{{output_text}}", "not equals"),
        ("{{item.reference}}", ">=", "{{item.actual_response}}", "<="),
        ("{{item.reference}}", "less than", "{{item.output}}", ">"),
        ("{{item.output}}", "less than", "{{item.reference}}", "<"),
    ],
)
def test_sides_of_a_check(left: str, operation: str, right: str, expected: str) -> None:
    """A check keeps its meaning where the reference stands on the left."""
    kind = "number-check" if expected[0] in "<>" else "string-check"
    sides = {
        "left_template": left,
        "operation": operation,
        "right_template": right,
    }
    listed = {"type": kind, "params": {"check": [left, operation, right]}}

    for metric in ({"type": kind, **sides}, listed):
        (found,) = asked(task_of({"c": metric})).metrics
        assert found.parameters["operation"] == expected
        assert (found.key, found.names) == ("c", (kind,))


def test_a_check_that_cannot_be_turned() -> None:
    """Whether a reference contains the answer is not computed, and can be left out."""
    check = ["{{item.reference}}", "contains", "{{sample.output_text}}"]
    metrics = {
        "in": {"type": "string-check", "params": {"check": check}},
        "bleu": {"type": "bleu"},
    }

    with pytest.raises(ScoreError, match="put the answer first"):
        written(b"", config=task_of(metrics))
    _, scores = written(ANSWERS, config=task_of(metrics), skip_unknown=True)

    assert scores.unknown == ("in",)


def test_epsilon_of_a_check() -> None:
    """The tolerance of a number-check comes from its params."""
    check = ["{{item.reference}}", "absolute difference", "{{item.response}}"]
    params = {"check": check, "epsilon": 0.5}
    config = task_of({"n": {"type": "number-check", "params": params}})

    found = tree_of(answers_as_lines(("4.5", ["4"]), ("5", ["4"])), config=config)

    value = found["tasks"]["qa"]["metrics"]["n"]["scores"]["number-check"]["value"]
    assert value == 0.5


@for_each_case(
    "template",
    [
        "{{item.resposta}}",
        "{{item.reference | lower}}",
        "{{item.reference[0]}}",
        "{{- item.reference -}}",
        "Answer: {{item.reference}}",
        "{{item.reference}} {{item.reference}}",
        "{{item}}",
        "Paris",
        "",
        7,
        ["{{item.reference}}", "{{item.ideal_response}}"],
        [],
    ],
)
def test_templates_that_are_not_understood(template: Any) -> None:
    """Any template but one field that our records have is refused by its metric."""
    kinds = {
        "rouge": {"ground_truth": template},
        "bleu": {"references": template},
        "string-check": {"check": ["{{item.response}}", "==", template]},
    }

    for kind, params in kinds.items():
        with pytest.raises(ScoreError, match=r"of the metric m|the metric m has"):
            asked(task_of({"m": {"type": kind, "params": params}}))


def similar(metric: Any) -> Any:
    """Return a configuration of similarity metrics with one metric."""
    task = {"type": "default", "metrics": {"x": metric}}
    return {"type": "similarity_metrics", "tasks": {"t": task}}


def with_metric(metric: Any) -> Any:
    """Return a custom configuration with one metric."""
    return task_of({"m": metric})


@for_each_case(
    "make, metric, message",
    [
        (with_metric, {"type": "rouge", "params": TURNED}, "must be the"),
        (with_metric, {"type": "bleu", "params": {"lowercase": True}}, UNSUPPORTED),
        (with_metric, {"type": "bleu", "params": 3}, "must be an object"),
        (with_metric, {"type": 3}, "no type"),
        (with_metric, {}, "no type"),
        (with_metric, "bleu", "an object with a type"),
        (with_metric, {"type": "string-check"}, "has no check"),
        (with_metric, checked("=="), "has no check"),
        (with_metric, checked(["{{output}}"] * 3), "with itself"),
        # The metric core refuses an operation that it has not.
        (with_metric, checked(["{{response}}", ["=="], "{{reference}}"]), "operation"),
        # Parameters of similarity metrics are documented nowhere.
        (similar, {"type": "rouge", "params": {"stemmer": False}}, UNSUPPORTED),
        # A metric of ours that NVIDIA has not is not taken for one of NVIDIA's.
        (similar, {"type": "chrf"}, "chrf is no metric"),
    ],
)
def test_metrics_that_are_not_understood(make: Any, metric: Any, message: str) -> None:
    """What a metric is given beyond what is known is refused, never passed over."""
    with pytest.raises(ScoreError, match=message):
        written(b"", config=make(metric))


def test_one_of_several_tasks() -> None:
    """Of several tasks one is named, and of an only one the name is the user's."""
    several = task_of({"b": {"type": "bleu"}})
    several["tasks"]["历史"] = {"type": "data", "metrics": {"r": {"type": "rouge"}}}
    several["tasks"]["none"] = {"type": "data"}
    listed = {
        "type": "similarity_metrics",
        "tasks": [{"metrics": [{"name": each}]} for each in ("em", "f1")],
    }

    assert asked(several, names={"task": "历史"}).metrics[0].key == "r"
    assert asked(listed, names={"task": "2"}).metrics[0].key == "f1"
    for names in ({}, {"task": "none"}):
        with pytest.raises(ScoreError, match="task=NAME` with one of qa, 历史"):
            asked(several, names=names)
    with pytest.raises(ScoreError, match="with one of 1, 2"):
        asked(listed)
    alone = task_of({"b": {"type": "bleu"}})
    assert list(tree_of(ANSWERS, config=alone)["tasks"]) == ["qa"]
    mine = tree_of(ANSWERS, config=alone, names={"task": "mine"})
    assert list(mine["tasks"]) == ["mine"]


@for_each_case(
    "document",
    [
        [],
        3,
        {},
        {"type": "gsm8k", "params": {}},
        {"tasks": "x"},
        {"tasks": {"t": {"type": "data"}}},
        {"tasks": [3]},
        {"metric": "system/exact-match"},
    ],
)
def test_configuration_without_metrics(document: Any) -> None:
    """A configuration that names no metric is refused."""
    with pytest.raises(ScoreError, match=r"names a metric|is an object"):
        asked(document)


_names = st.sampled_from(
    "type tasks metrics metric name params references reference check bleu custom "
    "string-check rouge {{item.reference}} {{response}} similarity_metrics ==".split()
)
_documents = st.recursive(
    st.none() | st.booleans() | st.integers() | _names | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=4)
    ),
    max_leaves=25,
)


@examples(75)
@given(_documents)
def test_any_document_is_read_or_refused(document: Any) -> None:
    """Whatever a configuration holds, it asks for metrics or is refused in words."""
    for profile in (NEMO, NEMO_SDK):
        # Nothing but `ScoreError` is raised.
        with suppress(ScoreError):
            found = asked(document, profile)
            select_metrics(found.metrics, {}, skip_unknown=True)


# -- results --------------------------------------------------------------------------


@for_each_case(
    "tree, profile",
    itertools.product(
        ["tasks", "groups"], ["nemo", "nemo-custom", "nemo-sdk", "default"]
    ),
)
def test_results_are_valid_to_both_readers(tree: str, profile: str) -> None:
    """Results pass the strict schema, which is what both of NVIDIA's readers take."""
    names = {"job": "eval-历史", "tree": tree, "task": "perguntas é"}
    options = {"profile": profile, "names": names, "by": ("category", "model")}

    data, scores = written(ANSWERS, **options)
    found = json.loads(data)

    assert problems_of(data) == []
    assert found["job"] == "eval-历史"
    for each in scores.total.scores:
        metrics = found[tree]["perguntas é"]["metrics"]
        assert metrics[each.metric]["scores"][each.name]["value"] == each.value
        signatures = found["custom_fields"]["harpia_formats"]["signatures"]
        assert signatures[f"{each.metric}.{each.name}"] == each.signature
    assert data == written(ANSWERS, **options)[0]


def test_job_is_left_out_unless_it_is_named() -> None:
    """Without a job there is none, which the tolerant schema takes."""
    data, _ = written(ANSWERS)

    assert "job" not in json.loads(data)
    assert problems_of(data, strict=False) == []


def test_standard_error_is_by_question() -> None:
    """Answers to the same question again leave the standard error as it is."""
    data = answers_as_lines(("c", ["c"]), ("a b", ["a"]), ("b", ["c"]))

    once, often = (
        tree_of(data * times, metrics=("em",))["tasks"]["evaluation"]["metrics"]["em"]
        for times in (1, 10)
    )

    assert once["scores"]["em"]["stats"]["stderr"] == pytest.approx(1 / 3)
    assert often["scores"]["em"]["stats"]["stderr"] == pytest.approx(1 / 3)
    assert often["scores"]["em"]["stats"]["count"] == 30


def test_statistics_of_a_mean() -> None:
    """Statistics are those of the answers, and the standard error is by question."""
    data = answers_as_lines(("a", ["a"]), ("a b", ["a"]), ("b", ["a"]), ("b", []))
    values = [1.0, 0.0, 0.0]
    mean = sum(values) / 3
    variance = sum((each - mean) ** 2 for each in values) / 3

    found = tree_of(data, metrics=("em",), names={"task": "t"})
    value = found["tasks"]["t"]["metrics"]["em"]["scores"]["em"]

    # "a" is an article in this normalisation: nothing equals nothing.
    assert value["value"] == pytest.approx(mean)
    assert value["stats"] == {
        "count": 3,
        "sum": 1.0,
        "sum_squared": 1.0,
        "min": 0.0,
        "max": 1.0,
        "mean": pytest.approx(mean),
        "variance": pytest.approx(variance),
        "stddev": pytest.approx(math.sqrt(variance)),
        "stderr": pytest.approx(math.sqrt(variance / 2)),
        "nan_count": 1,
    }


def test_statistics_of_a_corpus() -> None:
    """A score of the corpus is one value, which is its own mean."""
    found = tree_of(ANSWERS, profile="nemo-custom", metrics=("bleu",))
    score_ = found["tasks"]["evaluation"]["metrics"]["bleu"]["scores"]["corpus"]
    value = score_["value"]

    assert score_["stats"] == {"count": 1, "sum": value, "mean": value}


def test_a_share_is_never_above_one() -> None:
    """BLEU of equal texts, a little above 1 in floats, is written as 1."""
    data, scores = written(answers_as_lines((MAT, [MAT])), names={"job": "j"})
    value = scores["bleu_score"].value

    assert value is not None
    assert value > 1
    assert problems_of(data) == []


@pytest.mark.parametrize("pair", [("x", []), (None, ["x"])])
def test_a_score_without_a_value_is_left_out(pair: Any) -> None:
    """Where nothing could be scored there is no number, and a note says so."""
    data, scores = written(answers_as_lines(pair), names={"job": "j"})
    found = json.loads(data)
    metrics = found["tasks"]["evaluation"]["metrics"]

    assert not scores.ok
    assert all(each == {"scores": {}} for each in metrics.values())
    assert len(found["custom_fields"]["harpia_formats"]["notes"]) == len(
        scores.total.scores
    )
    assert problems_of(data) == []


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("pass@9", "pass@9 has no score: 9 answers to a question are needed"),
        ("kappa", "kappa.kappa has no value: all references and answers have one"),
    ],
)
def test_a_note_says_once_why_scored_answers_have_no_value(
    metric: str, reason: str
) -> None:
    """Questions have too few answers, or a coefficient is not defined."""
    data = answers_as_lines(("yes", ["yes"]), ("yes", ["yes"]))
    tree = tree_of(data, profile="default", metrics=(metric,))
    notes = tree["custom_fields"]["harpia_formats"]["notes"]

    assert [note.startswith(reason) for note in notes].count(True) == 1
    assert not any("no answer could be scored" in note for note in notes)


def test_a_group_without_a_value_is_noted() -> None:
    """Where nothing of a group could be scored, a note names its whole key."""
    rows = [
        {
            "id": number,
            "prompt": "?",
            "references": references,
            "category": category,
            "outputs": [{"model": "m", "text": "a b"}],
        }
        for number, (category, references) in enumerate([("x", ["a b"]), ("y", [])])
    ]
    by = ("category", "model")

    ours = tree_of(jsonl(*rows), metrics=("f1",), by=by)["custom_fields"]
    notes = [each for each in ours["harpia_formats"]["notes"] if "no value" in each]

    (note,) = notes
    assert note.startswith("f1.f1 of category=y, model=m has no value")


@pytest.mark.parametrize(
    ("references", "metric", "first", "listed", "rest"),
    [
        ([], "f1", "f1.f1 of category=c0, model=m0 has no value: no answer", 3, 97),
        (["a"], "pass@9", "pass@9 of category=c0, model=m0 has no score: 9", 5, 95),
    ],
)
def test_the_first_groups_without_a_value_are_noted(
    references: list[str], metric: str, first: str, listed: int, rest: int
) -> None:
    """Of many groups the first are noted by their whole keys, and the others counted.

    Systems without a value are among the first, unless their questions have too few
    answers, which is a note on the scores themselves.
    """
    rows = [
        {
            "id": number,
            "prompt": "?",
            "references": references,
            "category": f"c{number}",
            "outputs": [{"model": f"m{model}", "text": "a b"} for model in range(2)],
        }
        for number in range(50)
    ]
    data, by = jsonl(*rows), ("category", "model")

    ours = tree_of(data, metrics=(metric,), by=by, profile="default")["custom_fields"]
    notes = ours["harpia_formats"]["notes"]
    groups = [note for note in notes if "category=" in note]

    assert groups[0].startswith(first)
    assert len(groups) == listed
    assert notes[-1] == f"{metric}.{metric} has no value for {rest} more groups"


def test_percentages_do_not_pass_for_shares() -> None:
    """A score from 0 to 100 under the name of a share is refused, with the fix."""
    with pytest.raises(ScoreError, match=r"--param f1\.scale=0-1"):
        written(ANSWERS, profile="squad")
    cured = {"f1.scale": "0-1", "em.scale": "0-1"}

    assert (
        problems_of(
            written(ANSWERS, profile="squad", parameters=cured, names={"job": "j"})[0]
        )
        == []
    )


def test_an_unknown_tree_is_refused() -> None:
    """Results stand in tasks or groups."""
    with pytest.raises(ScoreError, match="tasks or groups"):
        written(ANSWERS, names={"tree": "forest"})


def test_groups_are_groups_there() -> None:
    """Groups of answers stand in groups, a level for each field."""
    data = answers_as_lines(("a b", ["a b"]), ("c d", ["x y"]))
    options: dict[str, Any] = {"metrics": ("f1",), "by": ("model", "category")}

    by_task = tree_of(data, **options)
    by_group = tree_of(data, names={"tree": "groups"}, **options)

    inner = by_task["groups"]["model=(none)"]["groups"]["category=(none)"]
    assert inner["metrics"]["f1"]["scores"]["f1"]["value"] == 0.5
    assert by_group["groups"]["evaluation"]["groups"] == by_task["groups"]


def test_models_ids_and_names_of_any_kind() -> None:
    """Huge ids, several models and names in any script change nothing."""
    rows = [
        {
            "id": 2**70 + number,
            "prompt": "é?",
            "references": ["é", "É"],
            "outputs": [
                {"model": "模型", "text": "é"},
                {"model": "m\ud83d\ude00", "text": "e"},
            ],
        }
        for number in range(3)
    ]
    data = jsonl(*rows)

    tree = tree_of(data, metrics=("accuracy",), by=("model",))

    models = tree["groups"]["evaluation"]["groups"]
    found = [
        model["metrics"]["accuracy"]["scores"]["accuracy"] for model in models.values()
    ]
    assert list(models) == ["model=模型", "model=m😀"]
    assert [score["value"] for score in found] == [1.0, 0.0]
    assert "tasks" not in tree


@pytest.mark.parametrize("name", ["nemo-input", "tencent-messages"])
def test_questions_alone_are_refused(name: str) -> None:
    """A format that holds no answers cannot be scored, and says so."""
    path = next((FIXTURES / name / "valid").glob("*"))

    with pytest.raises(ScoreError, match="holds no answers"):
        written(path, from_=name)
