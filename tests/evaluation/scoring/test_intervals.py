"""Intervals and standard errors of means, by question."""

import io
import math
import random
from contextlib import closing
from functools import partial
from itertools import product
from statistics import variance
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import compare_scores, convert, score
from harpia_formats.conversion.mapping.questions import digest_of
from harpia_formats.evaluation.metrics import METRICS, measure_of
from harpia_formats.evaluation.scoring.measures.outcomes import (
    NO_SUCH_SCORE,
    GroupAnswer,
)
from harpia_formats.evaluation.scoring.measures.question_scores import (
    RowStore,
    add_moments,
    record_rows,
)
from harpia_formats.evaluation.scoring.significance.intervals import (
    FEW_FAILURES,
    FEW_OTHERS,
    FEW_RESAMPLED,
    NO_SPREAD,
    ONE_QUESTION,
    QUANTA,
    ExactSum,
    QuestionMoments,
    effective_number,
    t_quantile,
    wilson_interval,
)
from harpia_formats.plugins import MetricError
from harpia_formats.reporters.tables import form_lines
from json_lines import jsonl
from sample_rows import answered

Counts = list[tuple[int, int]]


def moments_of(questions: Counts) -> QuestionMoments:
    """Return the moments of questions with so many right answers of so many."""
    found = QuestionMoments()
    found.add(
        [count for _, count in questions], [right * QUANTA for right, _ in questions]
    )
    return found


def answers(seed: int, questions: int = 40, times: int = 10) -> list[list[str]]:
    """Return several answers to each question, whose difficulty differs."""
    chance = random.Random(seed)  # noqa: S311 - a seed, not secrecy
    ease = [chance.random() for _ in range(questions)]
    return [
        [str(number) if chance.random() < share else "?" for _ in range(times)]
        for number, share in enumerate(ease)
    ]


@for_each_case(
    "share, freedom, expected",
    [
        (0.975, 1, 12.7062047364),
        (0.975, 29, 2.0452296421),
        (0.975, 999, 1.9623414611),
        (0.975, 1000, 1.9623390808),
        (0.975, 10**12, 1.9599639845),
        (0.9995, 2, 31.5990545764),
        (0.5, 7, 0),
    ],
)
def test_quantiles_of_t_are_those_of_tables(
    share: float, freedom: int, expected: float
) -> None:
    """Quantiles agree with tables, for few and for many degrees of freedom."""
    assert t_quantile(share, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_thirty_of_thirty_is_not_certain() -> None:
    """Thirty right answers of thirty are 0.878 to 1, with a remark, and not 1 to 1."""
    found = score(jsonl(*[answered(n, str(n)) for n in range(30)]), metrics=("em",))[
        "em"
    ]

    assert found.interval is not None
    assert found.interval == pytest.approx((0.8776, 1), abs=1e-4)
    assert found.method == (
        "wilson|number:effective|quantile:t|unit:question|level:0.95"
    )
    assert found.remark == FEW_FAILURES


def test_one_answer_a_question_is_wilson_of_the_questions() -> None:
    """With one answer a question the effective number is that of the questions."""
    moments = moments_of([(1, 1)] * 21 + [(0, 1)] * 9)
    t = t_quantile(0.975, 29)
    low, high = wilson_interval(moments, 0.95) or (0.0, 0.0)

    assert effective_number(moments) == 30
    for end in (low, high):
        assert (end - 0.7) ** 2 == pytest.approx(t * t * end * (1 - end) / 30)


def test_equal_answers_to_a_question_count_once() -> None:
    """Ten copies of each answer have the interval of one."""
    one = moments_of([(1, 1)] * 21 + [(0, 1)] * 9)
    ten = moments_of([(10, 10)] * 21 + [(0, 10)] * 9)

    assert wilson_interval(ten, 0.95) == pytest.approx(wilson_interval(one, 0.95))
    assert ten.standard_error == pytest.approx(one.standard_error)


def test_independent_answers_count_each() -> None:
    """If questions do not differ, the effective number is that of the answers."""
    assert effective_number(moments_of([(5, 10)] * 29 + [(6, 10)])) == 300
    assert effective_number(moments_of([(5, 10)] * 30)) == 30


@given(st.lists(st.integers(0, 10), min_size=2, max_size=20))
def test_standard_error_is_that_between_questions(right: list[int]) -> None:
    """With equally many answers it is that of the means of the questions."""
    means = [count / 10 for count in right]
    moments = moments_of([(count, 10) for count in right])

    assert moments.standard_error == pytest.approx(
        math.sqrt(variance(means) / len(means)), abs=1e-12
    )
    assert moments.mean == pytest.approx(sum(means) / len(means))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2),
    st.sampled_from([0.8, 0.95, 0.999]),
)
def test_interval_holds_the_mean(counts: Counts, level: float) -> None:
    """An interval is within 0 and 1, holds the mean, and has a width above 0."""
    moments = moments_of([(right, right + wrong + 1) for right, wrong in counts])
    low, high = wilson_interval(moments, level) or (1.0, 0.0)

    assert 0 <= low <= moments.mean <= high <= 1
    assert low < high


def test_one_question_has_no_interval_and_says_so() -> None:
    """Many answers to one question have no interval, and the reason is given."""
    rows = [answered(1, "1"), answered(1, "1", "2")]

    found = score(jsonl(*rows), metrics=("em", "f1"))["f1"]

    assert (found.count, found.questions) == (3, 1)
    assert (found.interval, found.standard_error) == (None, None)
    assert found.remark == ONE_QUESTION


def test_lines_of_one_question_are_one_question() -> None:
    """Answers on lines of their own are those of one question, as in one record."""
    every = answers(1)
    together = [answered(n, *texts) for n, texts in enumerate(every)]
    apart = [answered(n, text) for n, texts in enumerate(every) for text in texts]

    one, other = (
        score(jsonl(*rows), metrics=("em", "f1"))["em"] for rows in (together, apart)
    )

    assert (one.questions, other.questions) == (40, 40)
    assert one.count == other.count == 400
    assert one.interval == other.interval
    assert one.standard_error == other.standard_error


def test_rows_of_one_record_are_one_question() -> None:
    """Rows whose ids are that of a record with a number are answers to one question."""
    every = answers(1)
    together = [answered(n, *texts) for n, texts in enumerate(every)]
    expected = score(jsonl(*together), metrics=("em",))["em"]

    for name in ("csv", "nemo-output"):
        parted = io.BytesIO()
        convert(jsonl(*together), from_="record", to=name, output=parted)
        found = score(parted.getvalue(), metrics=("em",), from_=name)["em"]
        assert (found.questions, found.interval) == (40, expected.interval)


def test_an_id_with_another_prompt_is_another_question() -> None:
    """Records with one id and different prompts or references are several questions."""
    rows = [
        answered(1, "1", prompt=prompt, references=[text])
        for prompt, text in product("ab", "12")
    ]

    assert score(jsonl(*rows), metrics=("em",))["em"].questions == 4


@pytest.mark.parametrize(
    "metrics",
    [pytest.param(("em", "f1"), marks=pytest.mark.long), ("f1", "chrf", "bleu")],
)
def test_no_digit_depends_on_the_order_of_lines(metrics: tuple[str, ...]) -> None:
    """Scores, intervals and standard errors are the same in every order of lines."""
    pytest.importorskip("sacrebleu", reason="chrF and BLEU need the extra score")
    chance = random.Random(2)  # noqa: S311 - a seed, not secrecy
    words = [f"word{n}" for n in range(9)]
    rows = [
        answered(
            n % 150,
            " ".join(chance.choices(words, k=7)),
            references=[" ".join(words[n % 3 : n % 3 + 6])],
        )
        for n in range(700)
    ]
    expected = score(jsonl(*rows), metrics=metrics)
    chance.shuffle(rows)

    assert score(jsonl(*rows), metrics=metrics).total == expected.total
    assert score(jsonl(*rows), metrics=metrics, jobs=2).total == expected.total


@given(st.lists(st.floats(-1e9, 1e9), max_size=30), st.randoms())
def test_exact_sums_do_not_depend_on_order(
    values: list[float], chance: random.Random
) -> None:
    """A sum is rounded once, whatever the order and the parts."""
    found = ExactSum()
    shuffled = values[:]
    chance.shuffle(shuffled)
    for start in range(0, len(shuffled), 4):
        found.add(shuffled[start : start + 4])

    assert found.value == math.fsum(values)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2), st.integers(0, 3))),
    st.randoms(),
)
def test_stored_questions_are_those_in_memory(
    entries: list[tuple[int, int, int]], chance: random.Random
) -> None:
    """A temporary file, groups and the order change none of the sums."""
    wholes = [{0}, {1}, {2}, {0, 1, 2}]
    expected, found = ([QuestionMoments() for _ in wholes] for _ in range(2))
    for moments, held in ((expected, 10**6), (found, 100)):
        with closing(RowStore("1I1d", partial(record_rows, [1]), held)) as store:
            for number, group, right in entries:
                outcomes = ((right / 3, 1.0), (right / 3,)), NO_SUCH_SCORE
                answers = [
                    GroupAnswer(0, digest_of(str(number)), (one,)) for one in outcomes
                ]
                store.add_answers(answers, group)
            store.read(wholes, [partial(add_moments, [one]) for one in moments])
        chance.shuffle(entries)

    assert found == expected
    assert found[-1].questions == len({number for number, *_ in entries})
    assert sum(moments.answers for moments in found) == 2 * len(entries)


def test_groups_have_their_own_questions() -> None:
    """A question in two groups counts in each, and once in all."""
    rows = [answered(n, "1", category=name) for n, name in product(range(9), "ab")]

    found = score(jsonl(*rows), metrics=("em",), by=("category",))

    assert [group.scores[0].questions for group in found.groups] == [9, 9]
    assert found["em"].questions == 9


def test_unbounded_means_and_pooled_scores_are_resampled() -> None:
    """BLEU has the bootstrap by question, and says so."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    rows = [
        answered(n, "a b c d e" if n % 3 else "a b c d x", references=["a b c d e"])
        for n in range(30)
    ]

    found = score(jsonl(*rows), metrics=("bleu", "sentence-bleu"))

    assert found["bleu"].method == (
        "bootstrap|limits:percentiles|unit:question|level:0.95|replicates:1000"
        "|seed:12345"
    )
    assert found["bleu"].standard_error is None
    assert found["sentence-bleu"].method.startswith("wilson|")


def test_a_resampled_score_that_never_differs_is_not_certain() -> None:
    """BLEU of equal texts has an interval without width, which a remark explains."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    rows = [answered(n, "a b c d e", references=["a b c d e"]) for n in range(9)]

    found = score(jsonl(*rows), metrics=("bleu",))["bleu"]

    assert found.interval == pytest.approx((100, 100))
    assert found.remark == NO_SPREAD


@pytest.mark.parametrize(("count", "remark"), [(19, FEW_RESAMPLED), (20, "")])
def test_a_bootstrap_of_few_questions_is_remarked(count: int, remark: str) -> None:
    """That of a score and that of a difference hold the truth too rarely."""
    rows = [answered(n, " ".join("abcdefgh"[: n % 8])) for n in range(count)]
    others = [answered(n, "xy" * (n % 5)) for n in range(count)]

    found = score(jsonl(*rows), metrics=("length",))
    compared = compare_scores(jsonl(*rows), jsonl(*others), metrics=("length",))

    assert {one.remark for one in found} == {remark}
    assert {one["remark"] for one in compared.table()[:1]} == {remark}
    assert any("ew questions" in line for line in form_lines(found, "latex")) == (
        count < 20
    )


@pytest.mark.parametrize(
    ("others", "remark"), [(1, FEW_OTHERS), (4, FEW_OTHERS), (5, "")]
)
def test_a_bootstrap_of_scores_that_are_mostly_equal_is_remarked(
    others: int, remark: str
) -> None:
    """Its replicates may lack the few questions with another score than the rest."""
    lengths = [*range(1, others + 1), *(9,) * (300 - others)]
    rows = [answered(n, "x" * length) for n, length in enumerate(lengths)]

    found = score(jsonl(*rows), metrics=("length",))

    assert found["length.characters"].remark == remark


@for_each_case("name", METRICS)
def test_each_metric_says_whether_it_is_pooled(name: str) -> None:
    """What a metric says before it is built is what it is."""
    try:
        measure = measure_of(name, {})
    except MetricError:
        return  # the metric needs a package or a parameter

    assert METRICS[name].is_pooled == (not (measure.is_mean or measure.labels))
    assert measure.is_bounded or not measure.is_mean or measure.scale == "any"


def test_missing_answers_can_count_as_zero() -> None:
    """A missing answer scores 0 if that is asked for, and is left out otherwise."""
    rows = [answered(n, str(n) if n < 20 else None) for n in range(30)]

    omitted = score(jsonl(*rows), metrics=("em",), missing="skip")
    counted = score(jsonl(*rows), metrics=("em",), missing="zero")

    assert (omitted["em"].value, omitted["em"].unscored) == (1, 10)
    assert counted["em"].value == pytest.approx(2 / 3)
    assert counted["em"].unscored == 0
    assert "10 missing answers count as 0" in counted.notes


def test_a_missing_answer_is_an_empty_one_for_pooled_scores() -> None:
    """For BLEU and TER a missing answer counts as an empty text."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    rows = [answered(n, "a b c d e", references=["a b c d e"]) for n in range(9)]

    def scores(text: str | None, missing: Any) -> list[float | None]:
        data = jsonl(*rows, answered(9, text, references=["a b c d e"]))
        found = score(data, metrics=("bleu", "ter"), missing=missing)
        return [found["bleu"].value, found["ter"].value]

    assert scores(None, "zero") == scores("", "skip")
    assert scores(None, "zero") != scores(None, "skip")
