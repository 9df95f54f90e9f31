"""pass@k and maj@k: scores of a question by all answers to it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from math import comb
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    OWN_LIBRARY,
    Measure,
    Metric,
    MetricError,
    Parameters,
    QuestionMeasure,
    Sample,
    Statistics,
    question_measure,
    read_parameters,
)
from harpia_formats.evaluation.metrics.text.tokens import NORMALISATIONS

#: The metric that tells whether an answer is correct, and the score from which on it is
#: if its scores are not only 0 and the best one.
CORRECTNESS_DEFAULTS: Mapping[str, Any] = {"correct": "em", "threshold": None}
#: The parameter that names that metric.
CORRECT = "correct"
#: Begins the names of the parameters of that metric.
PREFIX = "correct."


@dataclass(frozen=True, slots=True)
class Correctness:
    """Whether an answer is correct, by the score of another metric."""

    #: Returns 1.0 for a correct answer and 0.0 for another one; raises
    #: `UnscorableError`.
    of: Callable[[Sample], float]
    #: The fields of a sample that it needs, and that it reads if there are any.
    needs: tuple[str, ...]
    uses: tuple[str, ...]
    #: The parts of a signature that say what makes an answer correct.
    signature: str
    #: Returns a text that is the same for answers that count as the same answer; None
    #: if the metric does not say which do.
    same_answer: Callable[[Sample], str] | None
    #: Tells whether it can read an answer, if one that it cannot read is wrong; None if
    #: it reads all, or leaves these out.
    reads: Callable[[Sample], bool] | None = None


def read_with_correctness(
    metric: str, defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[Parameters, Correctness]:
    """Return the parameters of a metric, and what makes an answer correct.

    Parameters that begin with `PREFIX` are those of the metric that tells. Raises
    `MetricError` for an unknown parameter, a bad value, and a metric that cannot tell.
    """
    inner = {
        name.removeprefix(PREFIX): value
        for name, value in given.items()
        if name.startswith(PREFIX)
    }
    own = {name: value for name, value in given.items() if not name.startswith(PREFIX)}
    parameters = read_parameters(metric, defaults, own)
    return parameters, _correctness(parameters, inner)


def read_threshold(parameters: Parameters, best: float, name: str) -> float | None:
    """Return the score of the metric `name` from which on an answer is correct.

    It is None if none is given. `best` is the best score on the scale of that metric,
    infinity if the scale is not known. Raises `MetricError` for a threshold that every
    score of the scale reaches, or none.
    """
    if parameters.values["threshold"] is None:
        return None
    threshold = parameters.number("threshold")
    if math.isfinite(best) and not 0 < threshold <= best:
        wanted = f"more than 0 and at most {best:g}, the best score of {name}"
        raise parameters.wrong("threshold", wanted)
    return threshold


def _correctness(parameters: Parameters, inner: Mapping[str, Any]) -> Correctness:
    """Return what makes an answer correct; raises `MetricError`."""
    from harpia_formats.evaluation.metrics import measure_of  # noqa: PLC0415 - it imports this module

    name = parameters.values["correct"]
    if not isinstance(name, str):
        raise parameters.wrong("correct", "the name of a metric")
    try:
        base = measure_of(name, inner)
    except MetricError as error:
        raise MetricError(
            f"{error} (the metric of the parameter correct of {parameters.metric})"
        ) from error
    least = _least(parameters, name, base)

    def is_correct(sample: Sample) -> float:
        if base.of_sample is None:
            statistics = base.statistics(sample.answer or "", sample.references)
        else:
            statistics = base.of_sample(sample)
        (score,) = base.scores(statistics)
        return float(score is not None and score >= least)

    head, *parts = base.signature.split("|")
    left = [part for part in parts if part != OWN_LIBRARY and part[:6] != "scale:"]
    if parameters.values["threshold"] is not None:
        left.append(f"threshold:{least:g}of{base.best:g}")
    return Correctness(
        is_correct,
        base.needs,
        base.uses,
        "|".join([f"correct:{head}", *left]),
        base.same_answer,
        base.reads,
    )


def _least(parameters: Parameters, name: str, base: Measure) -> float:
    """Return the score from which on an answer is correct; raises `MetricError`."""
    reason = ""
    if base.question is not None:
        reason = "scores questions and not answers"
    elif "answer" not in base.needs:
        reason = "does not score the answer"
    elif not base.is_mean:
        reason = "is computed of all answers together"
    elif len(base.names) > 1:
        reason = f"has several scores ({', '.join(base.names)})"
    elif base.lower_is_better is not False:
        reason = "has no score of which more is better"
    if reason:
        raise parameters.wrong("correct", f"another metric: {name} {reason}")
    threshold = read_threshold(parameters, base.best, name)
    if threshold is not None:
        return threshold
    if not base.is_binary:
        raise parameters.wrong(
            "correct",
            f"a metric whose scores are 0 or 1: those of {name} may be neither, unless "
            f"{parameters.metric}.threshold says from which score on an answer is "
            "correct",
        )
    return base.best


PASSES_AT_K = "pass@k"
PASS_AT_K_DEFAULTS = {"k": 1, **CORRECTNESS_DEFAULTS}


@lru_cache(maxsize=1 << 16)
def pass_at_k(answers: int, correct: int, k: int) -> float:
    """Return the share of the sets of `k` of the answers that hold a correct one.

    `k` is at least 1 and at most the number of answers. The share is computed with
    integers and rounded once.
    """
    every = comb(answers, k)
    return (every - comb(answers - correct, k)) / every


def pass_at_k_measure(parameters: Parameters, correctness: Correctness) -> Measure:
    """Return pass@k of answers that are correct by `correctness`.

    Raises `MetricError` for a bad value of `k`.
    """
    every_k = parameters.wholes("k", 1)

    def of_sample(sample: Sample) -> Statistics:
        return correctness.of(sample), 1.0

    def scores(answers: Mapping[Statistics, int]) -> tuple[float | None, ...]:
        count = sum(answers.values())
        correct = answers.get((1.0, 1.0), 0)
        return tuple(
            pass_at_k(count, correct, k) if k <= count else None for k in every_k
        )

    return question_measure(
        [f"pass@{k}" for k in every_k],
        f"{PASSES_AT_K}|{OWN_LIBRARY}|{correctness.signature}",
        of_sample,
        QuestionMeasure(scores, every_k, missing=(0.0, 1.0)),
        needs=correctness.needs,
        uses=correctness.uses,
        reads=correctness.reads,
    )


#: How often an answer was given, and how many times it was correct. They differ only
#: where the same answer was judged in different ways.
Answer = tuple[int, int]

#: The most that the number of answers times k may be, unless k is all of them.
MOST = 100_000


@lru_cache(maxsize=1 << 14)
def majority_at_k(answers: tuple[Answer, ...], k: int) -> float:
    """Return the chance that the majority of `k` answers, drawn at random, is correct.

    `answers` has each different answer once; `k` is at least 1 and at most the number
    of all of them, and their product at most `MOST` unless they are equal. The chance
    is computed with integers and rounded once.
    """
    count = sum(given for given, _ in answers)
    if k == count:
        most = max(given for given, _ in answers)
        winners = [Fraction(right, most) for given, right in answers if given == most]
        return float(sum(winners) / len(winners))
    if k <= 2:  # noqa: PLR2004 - one answer wins, and two different ones share
        return sum(right for _, right in answers) / count
    won = sum(_won(answers, k, most) for most in range(1, k + 1))
    return float(won / comb(count, k))


def _won(answers: Sequence[Answer], k: int, most: int) -> Fraction:
    """Return how many sets are won by a correct answer that they hold `most` times."""
    able = [answer for answer in answers if answer[0] >= most]
    if not able:
        return Fraction(0)
    count = sum(given for given, _ in answers)
    rest = count - sum(given for given, _ in able)
    # A polynomial is one integer: its coefficients have `width` bits each.
    width = comb(count, min(k, count // 2)).bit_length() + 2 * k.bit_length()
    if most == 1:
        return Fraction(_all_different(able, k, width), k)
    shift, cut = width * most, (1 << width * (k + 1)) - 1
    # By the number of winners: the sets, and the sum of the correct winners in them.
    sums = [(_polynomial(rest, min(rest, k), width), 0)]
    for given, right in able:
        fewer, ways = _polynomial(given, most - 1, width), comb(given, most)
        # Of the ways to draw it `most` times, times `most`, so many draw a correct one.
        right_ways = comb(given - 1, most - 1) * right
        won = [(sets * ways, hits * ways + sets * right_ways) for sets, hits in sums]
        sums = [
            (
                (sets * fewer + (won_sets << shift)) & cut,
                (hits * fewer + (won_hits << shift)) & cut,
            )
            for (sets, hits), (won_sets, won_hits) in zip(
                [*sums, (0, 0)], [(0, 0), *won], strict=True
            )
        ][: k // most + 1]
    shares = (
        Fraction(hits >> width * k, most * winners)
        for winners, (_, hits) in enumerate(sums[1:], 1)
    )
    return sum(shares, Fraction(0))


def _all_different(answers: Sequence[Answer], k: int, width: int) -> int:
    """Return the sum of the correct ones over all sets of `k` different answers."""
    cut = (1 << width * (k + 1)) - 1
    sets, correct = 1, 0
    for given, right in answers:
        correct = (correct + ((correct * given + sets * right) << width)) & cut
        sets = (sets + (sets * given << width)) & cut
    return correct >> width * k


@lru_cache(maxsize=1 << 10)
def _polynomial(count: int, most: int, width: int) -> int:
    """Return the numbers of sets of up to `most` of `count` answers."""
    return sum(comb(count, drawn) << width * drawn for drawn in range(most + 1))


#: Bits of an integer that a float holds exactly, and of a digest.
_EXACT, _DIGEST = 53, 64


def text_number(text: str) -> float:
    """Return a whole number of 53 bits, which differs for different texts."""
    key = text.encode("utf-8", "surrogatepass")
    digest = _hash()(key, digest_size=_DIGEST // 8).digest()
    return float(int.from_bytes(digest, "little") >> (_DIGEST - _EXACT))


@cache
def _hash() -> Any:
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, too slow for --help

    return blake2b


MAJ_AT_K = "maj@k"
#: Which answers are the same: those that are equal after a normalisation, or, if None,
#: what the metric that tells what is correct says.
MAJ_AT_K_DEFAULTS = {"k": 1, **CORRECTNESS_DEFAULTS, "same": None}
#: The largest k, since the work grows with its square.
LARGEST = 100
#: The statistics of a missing answer: all missing ones are the same, wrong answer.
_MISSING = (-1.0, 0.0, 1.0)


def maj_at_k_measure(parameters: Parameters, correctness: Correctness) -> Measure:
    """Return maj@k of answers that are correct by `correctness`.

    Raises `MetricError` for a bad value of `k` or `same`.
    """
    every_k = parameters.wholes("k", 1, LARGEST)
    same = same_answer_of(parameters, correctness.same_answer)

    def of_sample(sample: Sample) -> Statistics:
        return statistics_of(same(sample), correctness.of(sample))

    chosen = parameters.values["same"]
    return question_measure(
        [f"maj@{k}" for k in every_k],
        f"{MAJ_AT_K}|{OWN_LIBRARY}|ties:shared|same:{chosen or 'by-metric'}"
        f"|{correctness.signature}",
        of_sample,
        QuestionMeasure(lambda answers: _scores(answers, every_k), every_k, _MISSING),
        needs=correctness.needs,
        uses=correctness.uses,
        reads=correctness.reads,
    )


def same_answer_of(
    parameters: Parameters, of_metric: Callable[[Sample], str] | None
) -> Callable[[Sample], str]:
    """Return what tells which answers are the same; raises `MetricError`."""
    if parameters.values["same"] is not None or of_metric is None:
        chosen = parameters.choice("same", tuple(NORMALISATIONS))
        normal = NORMALISATIONS[chosen]
        return lambda sample: normal(sample.answer or "")
    return of_metric


def statistics_of(answer: str, correct: float) -> Statistics:
    """Return the statistics of an answer, which has the same text as its equals."""
    return text_number(answer), correct, 1.0


def _scores(
    answers: Mapping[Statistics, int], every_k: tuple[int, ...]
) -> tuple[float | None, ...]:
    """Return the score of a question for each k, None if it has fewer answers.

    Raises `MetricError` if it has too many.
    """
    counts: dict[float, list[int]] = {}
    for (answer, is_correct, _), count in answers.items():
        found = counts.setdefault(answer, [0, 0])
        found[0] += count
        found[1] += count if is_correct else 0
    every = tuple(sorted((given, right) for given, right in counts.values()))
    total = sum(given for given, _ in every)
    return tuple(_score(every, total, k) if k <= total else None for k in every_k)


def _score(answers: tuple[tuple[int, int], ...], total: int, k: int) -> float:
    if k < total and k * total > MOST:
        raise MetricError(
            f"a question has {total:,} answers, of which maj@{k} would take too long: "
            f"k times the answers must be at most {MOST:,}"
        )
    return majority_at_k(answers, k)


def _metric(
    name: str,
    summary: str,
    defaults: Mapping[str, Any],
    measure: Callable[[Parameters, Correctness], Measure],
) -> Metric:
    """Return a metric of questions, by what another metric says of their answers."""
    return Metric(
        name,
        summary,
        defaults,
        lambda given: measure(*read_with_correctness(name, defaults, given)),
    )


METRICS = (
    _metric(
        PASSES_AT_K,
        "The mean over questions of the chance that at least one of k answers is "
        "correct, estimated without bias from all answers to the question: "
        "1 - C(n-c, k) / C(n, k) for c correct ones of n. `correct` is the metric that "
        "tells, `pass@5` a name for k = 5.",
        PASS_AT_K_DEFAULTS,
        pass_at_k_measure,
    ),
    _metric(
        MAJ_AT_K,
        "The mean over questions of the chance that the most frequent of k answers is "
        "correct, over all sets of k of the answers to the question; ties are shared. "
        "`correct` is the metric that tells, and which answers are the same follows "
        "from it, or from `same`, a normalisation; `maj@5` is a name for k = 5.",
        MAJ_AT_K_DEFAULTS,
        maj_at_k_measure,
    ),
)
