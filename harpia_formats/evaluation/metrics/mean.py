"""Metrics whose score of many is the mean of the scores of records or of questions."""

from collections.abc import Callable, Sequence

from harpia_formats.evaluation.metrics.metric import (
    LACKS,
    PAIR,
    Measure,
    QuestionMeasure,
    Sample,
    Statistics,
    UnscorableError,
)

#: The factor of each scale for scores between 0 and 1.
FACTORS = {"0-1": 1, "0-100": 100}


def mean_measure(  # noqa: PLR0913 - each is another fact of the metric
    name: str,
    signature: str,
    score: Callable[[str, Sequence[str]], float],
    scale: str = "0-1",
    *,
    is_binary: bool = False,
    same_answer: Callable[[str], str] | None = None,
    reads: Callable[[str], bool] | None = None,
) -> Measure:
    """Return a metric that is the mean of `score` over records.

    `score` takes an answer and its references and returns a number from 0 to 1, which
    is never between them if `is_binary`; the metric has the range of `scale`, "0-1" or
    "0-100". Its statistics are the sum of the scores and their number. `same_answer`
    returns a text that is the same for answers that count as the same answer, and
    `reads` tells of an answer whether it can be read, if one that cannot is wrong.
    """
    factor = FACTORS[scale]
    return Measure(
        (name,),
        f"{signature}|scale:{scale}",
        scale,
        lambda answer, references: (score(answer, references) * factor, 1),
        means(1),
        is_mean=True,
        is_bounded=True,
        is_binary=is_binary,
        same_answer=None
        if same_answer is None
        else lambda sample: same_answer(sample.answer or ""),
        reads=None if reads is None else lambda sample: reads(sample.answer or ""),
    )


def question_measure(  # noqa: PLR0913 - each is another fact of it
    names: Sequence[str],
    signature: str,
    of_sample: Callable[[Sample], Statistics],
    question: QuestionMeasure,
    *,
    needs: tuple[str, ...] = PAIR,
    uses: tuple[str, ...] = (),
    reads: Callable[[Sample], bool] | None = None,
) -> Measure:
    """Return a metric that is the mean over questions of scores from 0 to 1.

    `of_sample` returns the statistics of a sample that has all fields in `needs`, and
    may have those in `uses`; the last of them is 1. `question` scores a question by
    those of all answers to it.
    """

    def scores(sums: Sequence[float]) -> tuple[float | None, ...]:
        """Return the scores of a question with one answer."""
        if not sums or sums[-1] != 1:
            return (None,) * len(names)
        found = question.scores({tuple(sums): 1})
        return tuple(
            score if least <= 1 else None
            for score, least in zip(found, question.least, strict=True)
        )

    return Measure(
        tuple(names),
        f"{signature}|scale:0-1",
        "0-1",
        _statistics_of_pair(of_sample, needs),
        scores,
        is_mean=True,
        is_bounded=True,
        needs=needs,
        uses=uses,
        of_sample=of_sample if uses or needs != PAIR else None,
        reads=reads,
        question=question,
    )


def _statistics_of_pair(
    of_sample: Callable[[Sample], Statistics], needs: tuple[str, ...]
) -> Callable[[str, Sequence[str]], Statistics]:
    """Return a function of an answer and its references for one of a sample."""

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        sample = Sample(answer, references)
        lacking = sample.lacking(needs)
        if lacking:
            raise UnscorableError(LACKS[lacking])
        return of_sample(sample)

    return statistics


def sample_mean_measure(  # noqa: PLR0913 - each is another fact of the metric
    name: str,
    signature: str,
    score: Callable[[Sample], float],
    needs: tuple[str, ...],
    scale: str = "0-1",
    *,
    is_binary: bool = False,
    uses: tuple[str, ...] = (),
    same_answer: Callable[[Sample], str] | None = None,
    reads: Callable[[Sample], bool] | None = None,
) -> Measure:
    """Return a metric that is the mean of `score` over records with other needs.

    `score`, `same_answer` and `reads` take a sample with all fields in `needs`; `score`
    returns a number from 0 to 1. All else is as in `mean_measure`.
    """
    factor = FACTORS[scale]

    def of_sample(sample: Sample) -> Statistics:
        return score(sample) * factor, 1

    return Measure(
        (name,),
        f"{signature}|scale:{scale}",
        scale,
        _statistics_of_pair(of_sample, needs),
        means(1),
        is_mean=True,
        is_bounded=True,
        is_binary=is_binary,
        same_answer=same_answer,
        reads=reads,
        needs=needs,
        uses=uses,
        of_sample=of_sample,
    )


def means(names: int) -> Callable[[Sequence[float]], tuple[float | None, ...]]:
    """Return a function that divides `names` sums by the count that follows them.

    It returns None for each sum if the count is 0 or missing.
    """
    nothing = (None,) * names

    def means(sums: Sequence[float]) -> tuple[float | None, ...]:
        if not sums or not sums[-1]:
            return nothing
        return tuple(total / sums[-1] for total in sums[:-1])

    return means


def sum_of_statistics(one: Statistics, other: Statistics) -> Statistics:
    """Return the sum of two statistics of the same metric, place by place."""
    return tuple(a + b for a, b in zip(one, other, strict=True))
