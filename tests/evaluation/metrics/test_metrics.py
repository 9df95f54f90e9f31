"""The metrics: inputs, errors, and default scores for records without one."""

import math
import re
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.conversion.fill_scores import ScoreFiller, score_filler
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.evaluation.filling_measure import filling_measure
from harpia_formats.evaluation.metrics import (
    METRICS,
    MetricError,
    UnscorableError,
    measure_of,
    metric_names,
)
from harpia_formats.evaluation.metrics.text.tokens import (
    LONGEST,
    NORMALISATIONS,
    cached_by_text,
    clipped_overlap,
    overlap,
)
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.record import Output, Record, Score

#: All metrics of an answer and its references.
OURS = [
    each
    for each in METRICS
    if not each.startswith("document-")
    and each not in {"multiple-choice", "inspect-choice", "length", "lm-eval-acc"}
]
#: Those of them whose statistics add up only if labels are given, and such labels.
OF_LABELS = [each for each in OURS if "labels" in METRICS[each].parameters]
LABELS = {"labels": ["1", "2", "", "c 1\nd"]}
PT = "A ação foi rápida e não tem "
#: An answer, its references, exact match and F1 by NVIDIA's SDK.
CASES = [
    ("Paris", ["Paris"], 1, 1),
    ("the cat sat", ["the cat sat"], 1, 1),
    ("the cat sat down", ["the cat sat down"], 1, 1),
    ("The cat sat on the mat.", ["The cat sat on the mat."], 1, 1),
    ("The dog sat on the floor.", ["The cat sat on the mat."], 0, 0.5),
    ("PARIS is the capital", ["paris is the capital"], 1, 1),
    ("Hello, world of cats and dogs!", ["Hello world of cats and dogs"], 1, 1),
    ("foo bar baz qux", ["one two three four"], 0, 0),
    ("", ["Paris"], 0, 0),
    ("", [""], 1, 1),
    ("The cat is on the mat.", ["The cat sits on the mat."], 0, 0.75),
    (f"{PT}preço.", [f"{PT}custo."], 0, 0.857143),
    ("北京是中国的首都", ["北京是中国的首都"], 1, 1),
    ("Paris.", ["paris"], 1, 1),
    ("the Paris", ["Paris"], 1, 1),
    ("U.S.A.", ["USA"], 1, 1),
    ("don't know", ["dont know"], 1, 1),
    ("a", ["the"], 1, 1),
    ("¿Qué?", ["qué"], 0, 0),
    ("“Paris”", ["paris"], 0, 0),
    ("state-of-the-art", ["stateoftheart"], 1, 1),
    ("theatre", ["atre"], 0, 0),
]


def value(
    name: str, answer: str, references: Sequence[str], /, **parameters: Any
) -> float | None:
    """Return a record's own score: that of a corpus of one."""
    measure = measure_of(name, parameters)
    (found,) = measure.scores(measure.statistics(answer, references))
    return found


@for_each_case("answer, references, em, f1", CASES)
def test_scores_are_those_of_the_reference(
    answer: str, references: list[str], em: float, f1: float
) -> None:
    """Both metrics give the known values, with the rules of SQuAD v2."""
    assert value("em", answer, references) == em
    assert value("f1", answer, references) == pytest.approx(f1, abs=1e-6)


def test_the_best_of_several_references_counts() -> None:
    """An answer is scored by the reference that suits it best."""
    references = ["A cat is sitting on the mat.", "The cat is on the mat!"]

    assert value("em", "the cat is on the mat", references) == 1
    assert value("f1", "the cat sat", ["dog", "cat"]) == pytest.approx(2 / 3)


@for_each_case("name", METRICS)
def test_every_metric_has_one_name_and_a_definition(name: str) -> None:
    """The table holds every metric by its own name, with a definition."""
    assert METRICS[name].name == name
    assert METRICS[name].summary.endswith(".")
    assert name in metric_names()


@for_each_case("name", OURS)
def test_nothing_is_scored_without_records(name: str) -> None:
    """A sum of no statistics has no score, and no 0."""
    measure = measure_of(name, LABELS if name in OF_LABELS else {})
    width = len(measure.statistics("1", ["2"]))
    nothing = (None,) * len(measure.names)

    assert measure.scores(()) == nothing
    assert measure.scores([0] * width) == nothing


@for_each_case("name", OURS)
def test_statistics_are_as_many_for_every_record(name: str) -> None:
    """Statistics of any record can be added to those of any other."""
    measure = measure_of(name, LABELS if name in OF_LABELS else {})
    pairs = [("", [""]), ("1", ["2", "3"]), ("a b", ["c 1\nd"]), ("1 é 中", ["1"])]
    if name in {"number-check", "number-match"}:
        pairs = [("1", ["2", "3"]), ("a 1", ["1"])]

    assert len({len(measure.statistics(*each)) for each in pairs}) == 1
    assert all(isinstance(measure.statistics(*each), tuple) for each in pairs)


@for_each_case("name", OURS)
def test_no_reference_is_no_score(name: str) -> None:
    """A record without references is a finding, and no score of 0."""
    with pytest.raises(UnscorableError, match="no reference"):
        measure_of(name, {}).statistics("1", [])


@for_each_case("name", OURS)
def test_one_string_is_not_taken_for_references(name: str) -> None:
    """The letters of a string are not compared with the answer one by one."""
    with pytest.raises(TypeError, match="list of strings"):
        measure_of(name, {}).statistics("1", "1 2")


@for_each_case("name", OURS)
def test_a_signature_tells_definition_and_scale(name: str) -> None:
    """Every signature has the definition, the library, its version and the scale."""
    measure = measure_of(name, {})
    start = "rouge" if name.startswith("rouge") else name

    assert measure.signature.startswith(f"{start}|")
    assert re.search(r"\|impl:[a-z-]+-\d+(\.\w+)+\|", measure.signature)
    assert "|refs:" in measure.signature
    assert measure.signature.endswith(f"|scale:{measure.scale}")


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
    ],
)
def test_signatures_hold_the_chosen_parameters(
    name: str, parameters: dict[str, Any], signature: str
) -> None:
    """Each parameter that changes the number is in the signature."""
    pytest.importorskip("sacrebleu", reason="the extra score is not installed")

    assert signature in measure_of(name, parameters).signature


@for_each_case(
    "name, parameters, message",
    [
        ("blue", {}, "no metric is called 'blue'.*did you mean bleu"),
        ("nothing", {}, r"known: em, accuracy, .*\)$"),
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
        ("chrf", {"word_order": 1.5}, "a whole number from 0 to 1000"),
        ("ter", {"normalized": None}, "true or false"),
    ],
)
def test_wrong_metric_is_refused(
    name: str, parameters: dict[str, Any], message: str
) -> None:
    """A wrong name or value is an error that names the allowed ones."""
    with pytest.raises(MetricError, match=message):
        measure_of(name, parameters)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package a metric says what to install."""
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    monkeypatch.setitem(sys.modules, "nltk", None)

    for name in ("bleu", "sentence-bleu", "chrf", "ter", "rouge", "rougeL"):
        with pytest.raises(MetricError, match=r"pip install 'harpia-formats\[score\]'"):
            measure_of(name, {})
    with pytest.raises(MetricError, match="needs nltk, which is not installed"):
        measure_of("nltk-bleu", {})


def test_metrics_of_the_base_load_no_extra() -> None:
    """Building em and f1 imports no library of the extras."""
    code = (
        "import sys; from harpia_formats.evaluation.metrics import measure_of as m; "
        "m('em', {}).statistics('a', ['b']), m('f1', {}); print(*sys.modules)"
    )
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert (
        set(done.stdout.split()) & {"numpy", "sacrebleu", "nltk", "rapidfuzz"} == set()
    )


@given(st.text(), st.text())
def test_the_quick_normalisation_is_the_slow_one(text: str, more: str) -> None:
    """Dropping articles as words is the same as by the pattern wherever it is done."""
    for each in (text, more, f"the {text} a{more} an", "".join(set(text)) + " a"):
        bare = "".join(c for c in each.lower() if c not in string.punctuation)
        expected = " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())

        assert NORMALISATIONS["squad"](each) == expected


@given(st.lists(st.integers(0, 5)), st.lists(st.lists(st.integers(0, 5)), min_size=1))
def test_overlap_is_that_of_multisets(one: list[int], others: list[list[int]]) -> None:
    """Shared members are counted as often as both lists, or the best of them, have."""
    counts = [Counter(each) for each in others]
    most = Counter[int]()
    for each in counts:
        most |= each

    assert overlap(one, others[0]) == (Counter(one) & counts[0]).total()
    assert clipped_overlap(one, others) == (Counter(one) & most).total()


def test_references_that_cannot_be_scored_are_left_out() -> None:
    """The best reference counts of those that can be compared with."""
    assert value("number-check", "1", ["none", "1"]) == 1
    with pytest.raises(UnscorableError, match="no number in the reference"):
        value("number-check", "1", ["none", "neither"])
    with pytest.raises(UnscorableError, match="no number in the answer"):
        value("number-check", "x", ["1", "2"])


def test_a_method_of_nltk_that_refuses_an_answer_is_a_finding() -> None:
    """Where method6 asserts, the record has a reason and no score."""
    pytest.importorskip("nltk", reason="the extra score is not installed")
    with pytest.raises(UnscorableError, match=r"method6 refuses .* non-zero precision"):
        value("nltk-bleu", "Paris", ["Paris"], smoothing_function="method6")


def test_first_uses_only_the_first_reference() -> None:
    """With references: first the other references are not used."""
    for name in ("em", "accuracy", "f1", "string-check"):
        assert value(name, "b", ["x", "b"], references="first") == 0
        assert value(name, "b", ["x", "b"]) == 1


def test_huge_texts_are_not_kept() -> None:
    """A text beyond the limit is worked out again, and gives the same."""
    calls = []

    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    work, long = cached_by_text(length), "a" * (LONGEST + 1)

    assert [work("a"), work("a"), work(long), work(long)] == [
        1,
        1,
        len(long),
        len(long),
    ]
    assert calls == ["a", long, long]


def test_a_score_says_how_it_was_worked_out() -> None:
    """What is filled in has the metric, its signature, and whether it is right."""
    record = Record(references=["r"], outputs=[Output(text="R"), Output(text="x")])
    outcomes = FieldOutcomes()
    filled = filler("em")(record, outcomes)
    scores = [each.scores for each in filled.outputs]

    assert scores == [
        [Score(metric="em", value=1.0, is_correct=True, signature=signature("em"))],
        [Score(metric="em", value=0.0, is_correct=False, signature=signature("em"))],
    ]
    assert {each.path for each in outcomes.entries} == {
        "outputs.scores.value",
        "outputs.scores.is_correct",
        "outputs.scores.metric",
        "outputs.scores.signature",
    }


def filler(metric: str) -> ScoreFiller:
    """Return what gives scores of a metric to answers without one."""
    options = ConvertOptions(score=metric, filling_measure=filling_measure)
    found = score_filler(options)
    assert found
    return found


def signature(metric: str) -> str:
    """Return how a metric says that it is worked out."""
    return measure_of(metric, {}).signature


def test_a_score_that_is_there_stays() -> None:
    """An answer with a score keeps it."""
    score = Score(value=0.25)
    record = Record(references=["r"], outputs=[Output(text="r", scores=[score])])

    assert filler("f1")(record, FieldOutcomes()) == record


def test_an_answer_is_the_last_turn_where_it_is_a_conversation() -> None:
    """Without a text the assistant's last turn is scored."""
    turns = [
        {"role": "assistant", "content": "x"},
        {"role": "assistant", "content": "r"},
        {"role": "tool", "content": "y"},
    ]
    record = Record(references=["r"], outputs=[Output(turns=turns)])
    (output,) = filler("em")(record, FieldOutcomes()).outputs

    assert output.scores
    assert output.scores[0].value == 1.0


@pytest.mark.parametrize(
    ("record", "cure"),
    [
        (Record(outputs=[Output(text="a")]), "references"),
        (Record(references=[], outputs=[Output(text="a")]), "references"),
        (Record(references=["r"], outputs=[Output()]), "outputs.text"),
        # No constant replaces a null.
        (Record(references=["r"], outputs=[Output(text=None)]), None),
    ],
)
def test_nothing_to_compare_is_no_score(record: Record, cure: str | None) -> None:
    """Without an answer or a reference there is no score of 0, but a reason."""
    with pytest.raises(Unconvertible) as caught:
        filler("em")(record, FieldOutcomes())

    assert caught.value.path == "outputs.scores.value"
    assert caught.value.help == (f"give it with `--set {cure}=VALUE`" if cure else "")


def test_an_unknown_metric_is_refused() -> None:
    """The error for an unknown metric lists the known ones."""
    with pytest.raises(ConversionError, match=r"'bleu' \(known: em, f1\)"):
        score_filler(ConvertOptions(score="bleu", filling_measure=filling_measure))
