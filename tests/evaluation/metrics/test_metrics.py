"""The metrics: inputs, errors, and default scores for records without one."""

import math
import re
import subprocess
import sys
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from harpia_formats import ConversionError, ScoreError
from harpia_formats.evaluation.metrics import MetricError, measure_of
from harpia_formats.evaluation.metrics.text.tokens import line_tokenizer
from harpia_formats.plugins import UnscorableError, score_over_references
from json_lines import jsonl_rows
from metric_scores import answered, totals, value
from metric_scores import signature as signature_of
from unchecked import converted

VERSION = f"|impl:harpia-formats-{harpia_formats.__version__}"
#: All metrics of an answer and its references alone.
OURS = [
    each
    for each in harpia_formats.metric_names()
    if not each.startswith("document-")
    and each not in {"multiple-choice", "inspect-choice", "length", "lm-eval-acc"}
    and each not in {"sas", "bertscore"}  # of a plug-in
]
#: What metrics cannot be without.
NEEDED: dict[str, dict[str, Any]] = {
    "f1-binary": {"positive": "1"},
    "pass@k": {"k": 1},
    "maj@k": {"k": 1},
}


def test_the_best_of_several_references_counts() -> None:
    """An answer is scored by the reference that suits it best."""
    references = ["A cat is sitting on the mat.", "The cat is on the mat!"]

    assert value("em", "the cat is on the mat", references) == 1
    assert value("f1", "the cat sat", ["dog", "cat"]) == pytest.approx(2 / 3)


@for_each_case("name", OURS)
def test_answers_of_any_kind_have_one_score_together(name: str) -> None:
    """What is counted of any answer is added to that of any other."""
    pairs = [("", [""]), ("1", ["2", "3"]), ("a b", ["c 1\nd"]), ("1 é 中", ["1"])]
    if name in {"number-check", "number-match"}:
        pairs = [("1", ["2", "3"]), ("a 1", ["1"])]
    rows = [answered(answer, references) for answer, references in pairs]

    for found in totals(name, rows, **NEEDED.get(name, {})):
        assert found.value is not None
        assert found.count == len(pairs)


@for_each_case("name", OURS)
def test_nothing_to_compare_is_no_score(name: str) -> None:
    """An answer without a reference is a finding, and so is a missing answer."""
    needed = NEEDED.get(name, {})

    with pytest.raises(ScoreError, match="no reference"):
        totals(name, [answered("1", [])], **needed)
    with pytest.raises(ScoreError, match="no answer"):
        totals(name, [answered(None, ["1"])], **needed)


def test_one_string_is_not_taken_for_references() -> None:
    """The letters of a string are not compared with the answer one by one."""
    for rule in ("max", "min", "first"):
        score = score_over_references(lambda *_: 1.0, rule)
        assert score("1", ["1", "2"]) == 1
        with pytest.raises(TypeError, match="list of strings"):
            score("1", "1 2")
        with pytest.raises(UnscorableError, match="no reference"):
            score("1", [])


@for_each_case("name", OURS)
def test_the_score_of_an_answer_is_that_of_its_statistics(name: str) -> None:
    """Every metric but those of labels gives it; no statistics give no score."""
    try:
        measure = measure_of(name, NEEDED.get(name, {}))
    except MetricError:
        return  # the extra score is not installed
    if measure.labels is not None:
        with pytest.raises(TypeError, match="pairs of labels"):
            measure.statistics("1", ["1"])
        return
    for answer in ("1", "2"):
        scores = totals(name, [answered(answer, ["1"])], **NEEDED.get(name, {}))
        found = measure.scores(measure.statistics(answer, ["1"]))
        assert found == tuple(one.value for one in scores)
    assert measure.scores(()) == (None,) * len(measure.names)


@for_each_case("name", OURS)
def test_a_group_without_answers_has_no_score(name: str) -> None:
    """Nothing that is counted is no score, and no 0."""
    rows = [
        answered("1", ["1"], id="a", category="a"),
        answered("2", ["2"], id="b", category="a"),
        answered(None, ["1"], id="c", category="b"),
    ]
    found = harpia_formats.score(
        rows,
        from_="record",
        metrics=(name,),
        by=("category",),
        missing="skip",
        replicates=0,
        parameters={f"{name}.{key}": one for key, one in NEEDED.get(name, {}).items()},
    )

    with_answer, without = found.groups
    assert None not in [one.value for one in with_answer.scores]
    assert {one.value for one in without.scores} == {None}


@for_each_case("name", OURS)
def test_a_signature_tells_definition_and_scale(name: str) -> None:
    """Every signature has the definition, the library, its version and the scale."""
    rows = [answered("1", ["1"]), answered("2", ["2"])]
    found, *_ = totals(name, rows, **NEEDED.get(name, {}))
    start = "rouge" if name.startswith("rouge") else name

    assert found.signature.startswith(f"{start}|")
    assert re.search(r"\|impl:[a-z-]+-\d+(\.\w+)+\|", found.signature)
    assert "|refs:" in found.signature
    assert found.signature.endswith(f"|scale:{found.scale}|nrefs:1")


@for_each_case(
    "name, parameters, signature",
    [
        ("em", {}, "|norm:squad|refs:max|scale:0-1"),
        ("accuracy", {}, "|norm:none|refs:max|scale:0-1"),
        ("em", {"scale": 100}, "|norm:squad|refs:max|scale:0-100"),
        ("f1", {"empty": "v1"}, "|norm:squad|empty:v1|refs:max|scale:0-1"),
        (
            "number-check",
            {"operation": "absolute difference", "epsilon": 0.5},
            "|op:absolute-difference|epsilon:0.5|refs:max|scale:0-1",
        ),
        ("string-check", {"operation": "<>"}, "|op:not-equals|refs:min"),
        ("bleu", {}, "case:mixed|eff:no|tok:13a|smooth:exp|refs:all|scale:0-100"),
        ("bleu", {"smoothing": "floor"}, "|smooth:floor[0.1]|"),
        ("sentence-bleu", {"scale": "0-1"}, "|eff:yes|"),
        ("nltk-bleu", {}, "|weights:0.25,0.25,0.25,0.25|smooth:method0|reweigh:no|"),
        ("rouge2", {"stemmer": True}, "|tok:rouge_score|stem:yes|refs:max|scale:0-1"),
        ("rouge", {"tokenizer": "unicode"}, "|tok:unicode|stem:no|"),
        ("chrf", {"word_order": 2}, "|beta:2|case:mixed|eff:yes|nc:6|nw:2|space:no|"),
        ("ter", {}, "|case:lc|tok:tercom|norm:no|punct:yes|asian:no|"),
        ("mcc", {}, f"{VERSION}|norm:byob|labels:data|refs:any|scale:-1-1"),
    ],
)
def test_signatures_hold_the_chosen_parameters(
    name: str, parameters: dict[str, Any], signature: str
) -> None:
    """Each parameter that changes the number is in the signature."""
    pytest.importorskip("sacrebleu", reason="the extra score is not installed")

    assert signature in signature_of(name, **parameters)


@for_each_case(
    "name, parameters, message",
    [
        ("blue", {}, "no metric is called 'blue'.*did you mean bleu"),
        ("nothing", {}, r"known: em, accuracy, .*\)"),
        ("em", {"normalization": "squad"}, "no parameter.*did you mean normalisation"),
        ("em", {"normalisation": "squat"}, "one of none, .*did you mean squad"),
        ("em", {"references": 1}, "references .* is 1, but must be one of max, first"),
        ("f1", {"scale": 10}, "scale of the metric f1 is 10, .* 0-1, 0-100"),
        ("f1", {"scale": True}, "is True"),
        ("f1", {"empty": "v3"}, "one of v1, v2, zero"),
        ("string-check", {"operation": "is"}, "one of equals, not equals"),
        ("number-check", {"operation": "absolute difference"}, "epsilon .* is None"),
        (
            "number-check",
            {"operation": "absolute difference", "epsilon": -1},
            "a number of at least 0",
        ),
        ("number-check", {"epsilon": 1}, "left out with the operation =="),
        (
            "number-check",
            {"operation": "absolute difference", "epsilon": 10**400},
            "a number of at least 0",
        ),
        ("bleu", {"tokenizer": "flores200"}, "one of 13a, none"),
        ("bleu", {"lowercase": "yes"}, "true or false"),
        ("bleu", {"smooth_value": 0.1}, "left out with the smoothing exp"),
        ("bleu", {"smoothing": "add-k", "smooth_value": "1"}, "number of at least 0"),
        ("bleu", {"smoothing": "floor", "smooth_value": math.nan}, "number of at"),
        ("nltk-bleu", {"weights": [0.5, 0.4]}, "whose sum is 1"),
        ("nltk-bleu", {"weights": []}, "a list of numbers"),
        ("nltk-bleu", {"weights": [2, -1]}, "at least 0"),
        ("nltk-bleu", {"weights": "0.25"}, "a list of numbers"),
        ("nltk-bleu", {"smoothing_function": "method8"}, "one of method0"),
        (
            "nltk-bleu",
            {"smoothing_function": "method6", "weights": [0.5, 0.5]},
            "at least three numbers for method6",
        ),
        ("rouge", {"tokenizer": "13a"}, "one of rouge_score, unicode"),
        ("chrf", {"char_order": 0}, "a whole number from 1 to 1000"),
        ("chrf", {"char_order": 1001}, "a whole number from 1 to 1000"),
        ("chrf", {"word_order": 1.5}, "a whole number from 0 to 1000"),
        ("ter", {"normalized": None}, "true or false"),
    ],
)
def test_wrong_metric_is_refused(
    name: str, parameters: dict[str, Any], message: str
) -> None:
    """A wrong name or value is an error that names the allowed ones."""
    with pytest.raises(ScoreError, match=message):
        value(name, "a", ["a"], **parameters)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package a metric says what to install."""
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    monkeypatch.setitem(sys.modules, "nltk", None)

    for name in ("bleu", "sentence-bleu", "chrf", "ter", "rouge", "rougeL"):
        with pytest.raises(ScoreError, match=r"pip install 'harpia-formats\[score\]'"):
            value(name, "a", ["a"])
    with pytest.raises(ScoreError, match="needs nltk, which is not installed"):
        value("nltk-bleu", "a", ["a"])


def test_a_stemmer_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ROUGE needs another package for stems alone."""
    pytest.importorskip("rapidfuzz", reason="the extra score is not installed")
    monkeypatch.setitem(sys.modules, "nltk.stem.porter", None)
    line_tokenizer.cache_clear()

    assert value("rouge1", "cats", ["cat"]) == 0
    with pytest.raises(ScoreError, match=r"metric rouge needs nltk.*formats\[score\]"):
        value("rouge1", "cats", ["cat"], stemmer=True)


def test_whole_numbers_may_be_the_least_and_the_greatest() -> None:
    """The limits that a refusal names are values that can be given."""
    pytest.importorskip("sacrebleu", reason="the extra score is not installed")
    for given in ({"char_order": 1, "beta": 1}, {"char_order": 1000, "word_order": 0}):
        assert value("chrf", "a b", ["a b"], **given) == 100


def test_metrics_of_the_base_load_no_extra() -> None:
    """Scoring by em and f1 imports no library of the extras."""
    code = (
        "import sys, harpia_formats as hf; row = {'references': ['b'], 'outputs': "
        "[{'text': 'a'}]}; hf.score([row], from_='record', metrics=['em', 'f1'], "
        "replicates=0); print(*sys.modules)"
    )
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert (
        set(done.stdout.split()) & {"numpy", "sacrebleu", "nltk", "rapidfuzz"} == set()
    )


def test_the_longest_numbers_are_read() -> None:
    """A number of up to 4,000 characters has its value, and a longer one none."""
    longest = f"{1:04000}"

    assert value("number-check", longest, ["1"]) == 1
    with pytest.raises(ScoreError, match="number of the answer cannot be read: 0000"):
        value("number-check", f"0{longest}", ["1"])


def test_references_that_cannot_be_scored_are_left_out() -> None:
    """The best reference counts of those that can be compared with."""
    assert value("number-check", "1", ["none", "1"]) == 1
    with pytest.raises(ScoreError, match="no number in the reference"):
        value("number-check", "1", ["none", "neither"])
    with pytest.raises(ScoreError, match="no number in the answer"):
        value("number-check", "x", ["1", "2"])


def test_a_method_of_nltk_that_refuses_an_answer_is_a_finding() -> None:
    """Where method6 asserts, the record has a reason and no score."""
    pytest.importorskip("nltk", reason="the extra score is not installed")
    with pytest.raises(ScoreError, match=r"method6 refuses .* non-zero precision"):
        value("nltk-bleu", "Paris", ["Paris"], smoothing_function="method6")


def test_first_uses_only_the_first_reference() -> None:
    """With references: first the other references are not used."""
    for name in ("em", "accuracy", "f1", "string-check"):
        assert value(name, "b", ["x", "b"], references="first") == 0
        assert value(name, "b", ["x", "b"]) == 1


def filled(metric: str, row: dict[str, Any]) -> tuple[list[Any], Any]:
    """Return what a row of EvalEval gets as its evaluations, and the report."""
    data, report = converted(
        [{"prompt": "q"} | row],
        to="eee@0.2.0",
        from_="record",
        score=metric,
        constants={"evaluation_id": "e", "evaluation_name": "n"},
    )
    return jsonl_rows(data), report


def test_a_score_says_how_it_was_worked_out() -> None:
    """What is filled in has the metric, its signature, and whether it is right."""
    outputs = [{"model": "m", "text": text} for text in ("R", "x")]
    rows, report = filled("em", {"references": ["r"], "outputs": outputs})

    assert [row["evaluation"] for row in rows] == [
        {"score": 1.0, "is_correct": True},
        {"score": 0.0, "is_correct": False},
    ]
    for row in rows:
        assert row["evaluation_result_id"] == "em"
        assert row["metadata"]["score_signature"] == signature_of("em")
    losses = report.to_dict()["losses"]
    made = {loss["field"]: loss["how"] for loss in losses if "score" in loss["how"]}
    assert made == {
        "outputs.scores.value": "`--score em`",
        "outputs.scores.is_correct": "whether the score is 1",
        "outputs.scores.metric": "`--score em`",
        "outputs.scores.signature": "`--score em`",
    }


def test_a_score_that_is_there_stays() -> None:
    """An answer with a score keeps it."""
    score = {"value": 0.25, "is_correct": False}
    outputs = [{"model": "m", "text": "r", "scores": [score]}]
    (row,), _ = filled("f1", {"references": ["r"], "outputs": outputs})

    assert row["evaluation"] == {"score": 0.25, "is_correct": False}


def test_an_answer_is_the_last_turn_where_it_is_a_conversation() -> None:
    """Without a text the assistant's last turn is scored."""
    turns = [
        {"role": "assistant", "content": "x"},
        {"role": "assistant", "content": "r"},
        {"role": "tool", "content": "y"},
    ]
    outputs = [{"model": "m", "turns": turns}]
    (row,), _ = filled("em", {"references": ["r"], "outputs": outputs})

    assert row["evaluation"]["score"] == 1.0


@pytest.mark.parametrize(
    ("row", "lacking", "cure"),
    [
        ({"outputs": [{"model": "m", "text": "a"}]}, "a reference", "references"),
        (
            {"references": [], "outputs": [{"model": "m", "text": "a"}]},
            "a reference",
            "references",
        ),
        (
            {"references": ["r"], "outputs": [{"model": "m"}]},
            "an answer",
            "outputs.text",
        ),
        # No constant replaces a null.
        (
            {"references": ["r"], "outputs": [{"model": "m", "text": None}]},
            "an answer",
            "",
        ),
    ],
)
def test_nothing_to_compare_with_fills_no_score(
    row: dict[str, Any], lacking: str, cure: str
) -> None:
    """Without an answer or a reference there is no score of 0, but a reason."""
    rows, report = filled("em", row)
    (problem,) = report.report.problems

    assert rows == []
    assert problem.message == f"the record has no score, and em needs {lacking}"
    remedy = f'give it with constants={{"{cure}": VALUE}}, or ' if cure else ""
    assert problem.help == f'{remedy}leave such records out with on_invalid="skip"'


def test_an_unknown_metric_is_refused() -> None:
    """The error for an unknown metric lists the known ones."""
    with pytest.raises(ConversionError, match=r"'bleu' \(known: em, f1\)"):
        filled("bleu", {"references": ["r"], "outputs": [{"model": "m", "text": "a"}]})
