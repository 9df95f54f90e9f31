"""Intervals and standard errors of means, by question."""

import io
import random
from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest

from harpia_formats import compare_scores, convert, score, write_report
from json_lines import jsonl
from sample_rows import answered

#: What is remarked on scores.
FEW_FAILURES = "few failures: the interval is approximate"
FEW_OTHERS = (
    "few questions differ from the commonest score: the interval is approximate"
)
FEW_RESAMPLED = "few questions: the interval is approximate"
NO_SPREAD = "no replicate differs: the interval is approximate"
ONE_QUESTION = "one question has no interval"


def answers(seed: int, questions: int = 40, times: int = 10) -> list[list[str]]:
    """Return several answers to each question, whose difficulty differs."""
    chance = random.Random(seed)  # noqa: S311 - a seed, not secrecy
    ease = [chance.random() for _ in range(questions)]
    return [
        [str(number) if chance.random() < share else "?" for _ in range(times)]
        for number, share in enumerate(ease)
    ]


def scores_of(rows: Iterable[Any], *metrics: str, **options: Any) -> Any:
    """Return the scores of records, by exact match by default."""
    return score(jsonl(*rows), metrics=metrics or ("em",), **options)


def test_thirty_of_thirty_is_not_certain() -> None:
    """Thirty right answers of thirty are 0.878 to 1, with a remark, and not 1 to 1."""
    found = scores_of(answered(n, str(n)) for n in range(30))["em"]

    assert found.interval == pytest.approx((0.8776, 1), abs=1e-4)
    assert found.method == (
        "wilson|number:effective|quantile:t|unit:question|level:0.95"
    )
    assert found.remark == FEW_FAILURES


def test_one_question_has_no_interval_and_says_so() -> None:
    """Many answers to one question have no interval, and the reason is given."""
    found = scores_of([answered(1, "1"), answered(1, "1", "2")], "em", "f1")["f1"]

    assert (found.count, found.questions) == (3, 1)
    assert (found.interval, found.standard_error) == (None, None)
    assert found.remark == ONE_QUESTION


def test_lines_of_one_question_are_one_question() -> None:
    """Answers on lines of their own are those of one question, as in one record."""
    every = answers(1)
    together = [answered(n, *texts) for n, texts in enumerate(every)]
    apart = [answered(n, text) for n, texts in enumerate(every) for text in texts]
    one, other = (scores_of(rows, "em", "f1")["em"] for rows in (together, apart))

    assert one.interval is not None
    assert one == other
    assert (one.questions, one.count) == (40, 400)


def test_rows_of_one_record_are_one_question() -> None:
    """Rows whose ids are that of a record with a number are answers to one question."""
    together = [answered(n, *texts) for n, texts in enumerate(answers(1))]
    expected = scores_of(together)["em"]

    for name in ("csv", "nemo-output"):
        parted = io.BytesIO()
        convert(jsonl(*together), from_="record", to=name, output=parted)
        found = score(parted.getvalue(), metrics=("em",), from_=name)["em"]
        assert (found.questions, found.interval) == (40, expected.interval)


def test_an_id_with_another_prompt_is_another_question() -> None:
    """Records with one id and different prompts or references are several questions."""
    rows = (
        answered(1, "1", prompt=prompt, references=[text])
        for prompt, text in product("ab", "12")
    )

    assert scores_of(rows)["em"].questions == 4


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
    expected = scores_of(rows, *metrics).total
    chance.shuffle(rows)

    for jobs in (1, 2):
        assert scores_of(rows, *metrics, jobs=jobs).total == expected


def test_groups_have_their_own_questions() -> None:
    """A question in two groups counts in each, and once in all."""
    rows = (answered(n, "1", category=name) for n, name in product(range(9), "ab"))
    found = scores_of(rows, by=("category",))

    assert [group.scores[0].questions for group in found.groups] == [9, 9]
    assert found["em"].questions == 9


def test_unbounded_means_and_pooled_scores_are_resampled() -> None:
    """BLEU has the bootstrap by question, and says so."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    rows = (
        answered(n, "a b c d e" if n % 3 else "a b c d x", references=["a b c d e"])
        for n in range(30)
    )
    found = scores_of(rows, "bleu", "sentence-bleu")

    assert found["bleu"].method == (
        "bootstrap|limits:percentiles|unit:question|level:0.95|replicates:1000"
        "|seed:12345"
    )
    assert found["bleu"].standard_error is None
    assert found["sentence-bleu"].method.startswith("wilson|")


@pytest.mark.parametrize(
    ("method", "weights", "answers", "reference"),
    [
        ("method5", [0.25] * 4, ("a b c d e f", "a"), "a b c d e f"),
        ("method6", [0, 0, 1], ("a a b a a", "b a a c c"), "b a a a b"),
        ("method7", [0.25] * 4, ("a b c d e f", "a"), "a b c d e f"),
    ],
)
def test_scores_of_answers_above_the_scale_are_resampled(
    method: str, weights: list[float], answers: tuple[str, str], reference: str
) -> None:
    """With these methods, NLTK's BLEU of an answer may be above 1, and is no share."""
    pytest.importorskip("nltk", reason="NLTK's BLEU needs the extra score")
    rows = (answered(n, answers[n % 5 == 0], references=[reference]) for n in range(30))
    given = {"smoothing_function": method, "weights": weights}
    parameters = {f"nltk-bleu.{name}": value for name, value in given.items()}
    found = scores_of(rows, "nltk-bleu", parameters=parameters)["nltk-bleu"]

    assert (found.questions, found.unscored) == (30, 0)
    assert found.method.startswith("bootstrap|")
    assert found.interval[0] < found.value < found.interval[1]


def test_a_resampled_score_that_never_differs_is_not_certain() -> None:
    """BLEU of equal texts has an interval without width, which a remark explains."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    rows = (answered(n, "a b c d e", references=["a b c d e"]) for n in range(9))
    found = scores_of(rows, "bleu")["bleu"]

    assert found.interval == pytest.approx((100, 100))
    assert found.remark == NO_SPREAD


@pytest.mark.parametrize(("count", "remark"), [(19, FEW_RESAMPLED), (20, "")])
def test_a_bootstrap_of_few_questions_is_remarked(count: int, remark: str) -> None:
    """That of a score and that of a difference hold the truth too rarely."""
    rows = [answered(n, " ".join("abcdefgh"[: n % 8])) for n in range(count)]
    others = [answered(n, "xy" * (n % 5)) for n in range(count)]

    found = scores_of(rows, "length")
    compared = compare_scores(jsonl(*rows), jsonl(*others), metrics=("length",))

    assert {one.remark for one in found} == {remark}
    assert {one["remark"] for one in compared.table()[:1]} == {remark}
    written = io.BytesIO()
    write_report(found, written, reporter="markdown")
    assert (b"ew questions" in written.getvalue()) == (count < 20)


@pytest.mark.parametrize(
    ("others", "remark"), [(1, FEW_OTHERS), (4, FEW_OTHERS), (5, "")]
)
def test_a_bootstrap_of_scores_that_are_mostly_equal_is_remarked(
    others: int, remark: str
) -> None:
    """Its replicates may lack the few questions with another score than the rest."""
    lengths = [*range(1, others + 1), *(9,) * (300 - others)]
    rows = (answered(n, "x" * length) for n, length in enumerate(lengths))

    assert scores_of(rows, "length")["length.characters"].remark == remark


def test_missing_answers_can_count_as_zero() -> None:
    """A missing answer scores 0 if that is asked for, and is left out otherwise."""
    rows = [answered(n, str(n) if n < 20 else None) for n in range(30)]
    omitted, counted = (scores_of(rows, missing=how) for how in ("skip", "zero"))

    assert (omitted["em"].value, omitted["em"].unscored) == (1, 10)
    assert counted["em"].value == pytest.approx(2 / 3)
    assert counted["em"].unscored == 0
    assert "10 missing answers count as 0" in counted.notes


def test_a_missing_answer_is_an_empty_one_for_pooled_scores() -> None:
    """For BLEU and TER a missing answer counts as an empty text."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    rows = [answered(n, "a b c d e", references=["a b c d e"]) for n in range(9)]

    def scores(text: str | None, missing: str) -> list[float | None]:
        last = answered(9, text, references=["a b c d e"])
        found = scores_of([*rows, last], "bleu", "ter", missing=missing)
        return [found["bleu"].value, found["ter"].value]

    assert scores(None, "zero") == scores("", "skip")
    assert scores(None, "zero") != scores(None, "skip")


def small_scores(*, exponent: int, shift: float) -> bytes:
    """Return stored scores from 1 to 2, times a power of 2."""
    name = {"metric": "chance", "signature": "chance|a"}
    values = ((1 + (number * shift) % 1) * 2.0**exponent for number in range(50))
    return jsonl(
        *(
            {
                "id": number,
                "prompt": f"question {number}",
                "outputs": [{"text": "a", "scores": [name | {"value": value}]}],
            }
            for number, value in enumerate(values)
        )
    )


@pytest.mark.parametrize("exponent", [-14, -30])
def test_small_scores_have_the_interval_of_large_ones(exponent: int) -> None:
    """Scores such as probabilities of texts are not all 0 in replicates."""
    found, expected = (
        score(small_scores(exponent=each, shift=0.37), stored=True)["chance"]
        for each in (exponent, 0)
    )

    assert expected.interval is not None
    scaled = [end * 2.0**exponent for end in expected.interval]
    assert found.interval == pytest.approx(scaled, rel=1e-5, abs=0)
    assert found.remark == expected.remark


def test_differences_of_small_scores_have_the_interval_of_large_ones() -> None:
    """So have those of two systems, of which either has small scores only."""
    found, expected = (
        compare_scores(
            small_scores(exponent=each, shift=0.37),
            small_scores(exponent=each, shift=0.61),
            stored=True,
        )
        .compared[0]
        .comparison
        for each in (-30, 0)
    )

    assert found is not None
    assert expected is not None
    assert found.low == pytest.approx(expected.low * 2.0**-30, rel=1e-4, abs=0)
    assert found.high == pytest.approx(expected.high * 2.0**-30, rel=1e-4, abs=0)
    assert found.remark == expected.remark
