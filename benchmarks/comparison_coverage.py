"""What comparisons of systems promise, on data sets whose truth is known."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from harpia_formats.conversion.mapping.questions import digest_of
from harpia_formats.evaluation.metrics import measure_of
from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.scoring.measures.question_scores import KnownLabels
from harpia_formats.evaluation.scoring.number_stores import SpooledRows
from harpia_formats.evaluation.scoring.significance.bootstrap import LEVEL, SEED
from harpia_formats.evaluation.scoring.significance.paired_differences import (
    Comparison,
    compare_pairs,
    holm,
    questions_for,
)
from harpia_formats.evaluation.scoring.significance.paired_tests import (
    PERMUTATION,
    MetricAnswers,
    PairedTest,
    QuestionSums,
)

MARKDOWN = """\
## Differences, several systems and sizes

Scores are continuous, with one answer a question, except where a row says otherwise. A
pooled score is a quotient of counts, as an error rate is, of 20 to 60 words a question.
The error of a family is the share of data sets in which any pair of {family} equal
systems has a p-value below 0.05 after Holm's correction. The power is the share of data
sets with a p-value below 0.05 if the true difference is the one that the questions are
reported to detect, or if as many questions are asked as are reported to detect half of
it, or twice as much. Scores of labels are of two labels, of which the rarer one is
expected in {rare} references, and an answer is right with a chance of {right:g}.

Of scores of 0 and 1 the power is that of the number of questions for a difference
such as 9:1 of 20 questions, on 9 of which one system is ahead, on one the other; more
questions are drawn with the same shares. Unequal answers are those of two equal
systems. One has the answers to the easier half of the questions twice, as after a run
that was resumed; or the first has five answers to each easy question and one to each
hard one, and the second the reverse.

{comparisons}

"""
SIZES = (30, 50, 100)
#: Numbers of questions of which neither of two labels is rare.
LABEL_SIZES = (50, 100, 200)
#: Equal systems whose pairs are a family.
FAMILY = 4
ALPHA = 0.05
#: The bounds of intervals, of tests, of the bootstrap of continuous scores, and of the
#: power that is reported as 0.8.
INTERVAL, TEST, BOOTSTRAP, POWER = (0.92, 0.98), (0, 0.055), (0.03, 0.075), (0.77, 0.83)
#: The bounds of the power for scores of 0 and 1, whose test has few p-values.
SIGN_POWER = (0.8, 0.9)
#: On how many questions each system is ahead, and the number of questions.
SIGNS = ((9, 1, 20), (15, 5, 50))
#: The metrics of labels, and the chance of a right answer.
LABELS, RIGHT = ("recall", "f1-macro", "mcc"), 0.8
#: The expected references with the rarer one of two labels: few more than those below
#: which a remark says that the interval is approximate.
RARE = 24
#: Data sets of which the stated difference is the mean.
_PILOTS = 200

Generator = Callable[..., Any]
#: A name, a share, and its bounds.
Row = tuple[str, float, tuple[float, float]]


def comparison_rows(
    sets: int, generator: Generator, replicates: int, sizes: Sequence[int] = SIZES
) -> Iterator[Row]:
    """Yield each promise with the share of data sets that keep it.

    `generator` returns a generator of random numbers for some words.
    """
    for questions in sizes:
        where = f"{questions} questions"
        chance = generator("difference", questions)
        found = _all(chance, questions, sets, PairedTest(None, replicates, SEED, LEVEL))
        yield f"interval of a difference, {where}", _held(found), INTERVAL
        chance = generator("pooled", questions)
        pooled = _all(
            chance,
            questions,
            sets,
            PairedTest(None, replicates, SEED, LEVEL),
            _pooled,
        )
        yield f"interval of a pooled difference, {where}", _held(pooled), INTERVAL
        yield f"bootstrap of pooled scores, {where}", _below(pooled), BOOTSTRAP
    for questions in sizes:
        chance = generator("family", questions)
        share = _family_error(chance, questions, sets)
        name = f"error of a family, {questions} questions"
        yield name, share, TEST
    for questions in sizes:
        yield from _power(generator("power", questions), questions, sets)
    for ahead, behind, questions in SIGNS:
        of = f"{ahead}:{behind} of {questions} questions"
        chance = generator("signs", ahead, behind, questions)
        share = _power_of_signs(chance, (ahead, behind), questions, sets)
        yield f"power of the number for {of}", share, SIGN_POWER
    for questions in sizes:
        for name, repeats in (("resumed", 2), ("five to easy, one to hard", 5)):
            share = _unequal(generator(name, questions), questions, sets, repeats)
            yield f"unequal answers, {name}, {questions} questions", share, TEST


def label_rows(
    sets: int, generator: Generator, replicates: int, sizes: Sequence[int] = LABEL_SIZES
) -> Iterator[Row]:
    """Yield each promise of metrics of labels with the share that keeps it."""
    for questions in sizes:
        for metric in LABELS:
            chance = generator("labels", metric, questions)
            labels = _label_comparisons(chance, questions, sets, metric, replicates)
            name = f"{metric}, {questions} questions"
            yield f"interval of a difference of {name}", _held(labels), INTERVAL
            yield f"bootstrap of {name}", _below(labels), BOOTSTRAP


def _all(
    chance: Any,
    questions: int,
    sets: int,
    test: PairedTest,
    drawn: Callable[[Any, int, int], Any] | None = None,
) -> list[Comparison]:
    """Return the comparison of two equal systems in each data set."""
    found = []
    scores = _quotient if drawn is _pooled else means(1)
    best = None if drawn is _pooled else 1.0
    for number in range(sets):
        rows = (drawn or _continuous)(chance, 2, questions)
        mine = PairedTest(test.name, test.replicates, SEED + number, test.level)
        answers = _answers(rows, scores, best)
        ((one,),) = compare_pairs(answers, [(0, 1)], mine)
        if one is not None:
            found.append(one)
    return found


def _label_comparisons(
    chance: Any, questions: int, sets: int, metric: str, replicates: int
) -> list[Comparison]:
    """Return the comparison of two equal systems by a metric of labels in each set."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    scores: Any = measure_of(metric, {}).labels
    known = KnownLabels(scores, ["rare", "usual"])
    found = []
    for number in range(sets):
        references = chance.random(questions) >= RARE / questions
        answers = references ^ (chance.random((2, questions)) >= RIGHT)
        rows = np.array(
            [list(known.rows(zip(references, mine, strict=True))) for mine in answers]
        )
        of_all = replace(_answers(rows, known.scores, None), remark=known.remark)
        test = PairedTest(None, replicates, SEED + number, LEVEL)
        ((one,),) = compare_pairs(of_all, [(0, 1)], test)
        if one is not None:
            found.append(one)
    return found


def _answers(rows: Any, scores: Any, best: float | None) -> MetricAnswers:
    """Return the answers of systems whose statistics are `rows`, one a question."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    count = rows.shape[1]
    ones, zeros = np.ones(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    systems = [QuestionSums(SpooledRows(mine), ones, zeros, ones > 0) for mine in rows]
    keys = [digest_of(f"{number}") for number in range(count)]
    return MetricAnswers(scores, len(scores(())), best, keys, systems)


def _with_count(values: Any) -> Any:
    """Return scores as the statistics of a mean."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    return np.stack([values, np.ones_like(values)], axis=-1)


def _continuous(chance: Any, systems: int, questions: int) -> Any:
    """Return scores between 0 and 1 of equal systems, by system and question."""
    ease = chance.random((1, questions))
    size = (systems, questions)
    return _with_count(chance.beta(2 * ease + 0.5, 2.5 - 2 * ease, size))


def _pooled(chance: Any, systems: int, questions: int) -> Any:
    """Return errors and words of equal systems, by system and question."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    words = chance.integers(20, 61, (1, questions))
    shares = chance.beta(2, 6, (1, questions))
    errors = chance.binomial(words, shares, (systems, questions))
    return np.stack(
        [errors, np.broadcast_to(words, errors.shape)], axis=-1, dtype=float
    )


def _quotient(sums: Sequence[float]) -> tuple[float | None, ...]:
    return (sums[0] / sums[1],) if sums and sums[1] else (None,)


def _held(found: Sequence[Comparison]) -> float:
    """Return the share of intervals that hold 0, the true difference."""
    return sum(one.low <= 0 <= one.high for one in found) / len(found)


def _below(found: Sequence[Comparison]) -> float:
    """Return the share of p-values below 0.05."""
    return sum(one.p_value < ALPHA for one in found) / len(found)


def _family_error(chance: Any, questions: int, sets: int) -> float:
    """Return how often any pair of equal systems differs after the correction."""
    pairs = [(one, other) for one in range(FAMILY) for other in range(one)]
    wrong = 0
    for number in range(sets):
        answers = _answers(_continuous(chance, FAMILY, questions), means(1), 1.0)
        # The replicates are those of intervals, which are not asked for here.
        test = PairedTest(PERMUTATION, 64, SEED + number, LEVEL)
        compared = compare_pairs(answers, pairs, test)
        raw = [one.p_value for (one,) in compared if one is not None]
        wrong += min(holm(raw)) < ALPHA
    return wrong / sets


def _power(chance: Any, questions: int, sets: int) -> Iterator[Row]:
    """Yield the power at the stated difference, and for half and twice of it."""
    test = PairedTest(PERMUTATION, 64, SEED, LEVEL)
    pilots = _all(chance, questions, min(sets, _PILOTS), test)
    stated = [one.detectable for one in pilots if one.detectable is not None]
    difference = sum(stated) / len(stated)
    errors = [one.standard_error for one in pilots if one.standard_error is not None]
    error = sum(errors) / len(errors)
    for factor, what in ((1, ""), (0.5, "half of "), (2, "twice ")):
        true, count = difference * factor, questions
        name = f"power at the difference of {questions} questions"
        if what:
            count = questions_for(true, error, questions, LEVEL)
            name = f"power of the number for {what}that of {questions} questions"
        found = _all(chance, count, sets, test, _ahead_by(true))
        yield name, _below(found), POWER


def _power_of_signs(
    chance: Any, signs: tuple[int, int], questions: int, sets: int
) -> float:
    """Return the power of as many questions as are reported to detect a difference."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    ahead, behind = signs
    test = PairedTest(PERMUTATION, 64, SEED, LEVEL)

    def rows(first: int, second: int, count: int) -> Any:
        values = np.zeros((2, count))
        values[0, :first] = values[1, first : first + second] = 1
        return _with_count(values)

    ((pilot,),) = compare_pairs(
        _answers(rows(ahead, behind, questions), means(1), 1.0), [(0, 1)], test
    )
    if pilot is None or pilot.standard_error is None:
        raise ValueError(f"no difference of {ahead}:{behind} was found")
    count = questions_for(
        pilot.difference, pilot.standard_error, questions, LEVEL, pilot.step
    )
    shares = ahead / questions, behind / questions
    found = 0
    for _ in range(sets):
        first, second, _ = chance.multinomial(count, [*shares, 1 - sum(shares)])
        drawn = _answers(rows(first, second, count), means(1), 1.0)
        ((one,),) = compare_pairs(drawn, [(0, 1)], test)
        found += one is not None and one.p_value < ALPHA
    return found / sets


def _unequal(chance: Any, questions: int, sets: int, repeats: int) -> float:
    """Return how often equal systems with unequal numbers of answers are distinguished.

    With two repeats the first has the same answers twice, else each is another one.
    """
    wrong = 0
    half = questions // 2
    for number in range(sets):
        ease = [0.9] * half + [0.3] * (questions - half)
        numbers = [[repeats] * half + [1] * half, [1] * half + [repeats] * half]
        if repeats == 2:
            numbers = [numbers[0], [1] * questions]
        systems = [
            QuestionSums.of_answers(
                [
                    [(float(right), 1.0) for right in chance.random(count) < share]
                    if repeats != 2
                    else [(float(chance.random() < share), 1.0)] * count
                    for share, count in zip(ease, mine, strict=True)
                ],
                2,
            )
            for mine in numbers
        ]
        keys = [digest_of(f"{place}") for place in range(questions)]
        answers = MetricAnswers(means(1), 1, 1.0, keys, systems)
        test = PairedTest(PERMUTATION, 64, SEED + number, LEVEL)
        ((one,),) = compare_pairs(answers, [(0, 1)], test)
        wrong += one is not None and one.p_value < ALPHA
    return wrong / sets


def _ahead_by(difference: float) -> Callable[[Any, int, int], Any]:
    """Return scores as continuous ones, with a difference of the first system."""

    def drawn(chance: Any, systems: int, questions: int) -> Any:
        rows = _continuous(chance, systems, questions)
        rows[0, :, 0] += difference
        return rows

    return drawn
