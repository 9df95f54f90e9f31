"""The scores of the agreement of two raters, from pairs of their labels."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from harpia_formats.metrics.label_reading import LabelPair
from harpia_formats.scoring.accumulate import GroupTotals
from harpia_formats.scoring.bootstrap import PoissonBootstrap
from harpia_formats.scoring.computed_metric import ComputedMetric
from harpia_formats.scoring.intervals import QUANTA, QuestionMoments
from harpia_formats.scoring.label_totals import FEW_REFERENCES
from harpia_formats.scoring.metric_score import Group
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.paired_labels import LabelPairs
from harpia_formats.scoring.resampled import GroupAnswer, Outcome, ResampledMetrics

FEW_LABELS = "few answers with a label: the interval is approximate"
_NO_PAIR = "a label is missing"
#: Answers that are added up together.
_PART = 2048


def agreement_group(
    pairs: LabelPairs,
    keys: Sequence[bytes],
    metrics: tuple[ComputedMetric, ComputedMetric],
    options: ScoreOptions,
) -> Group:
    """Return the share of equal labels and kappa of all pairs, with their intervals.

    `keys` are the digests of the questions by their places.
    """
    resampled = None
    if options.replicates:
        bootstrap = PoissonBootstrap(options.replicates, options.seed)
        resampled = ResampledMetrics(metrics, bootstrap)
    totals = GroupTotals({}, metrics, resampled)
    labels = list(pairs.raters[0].numbers.labels)
    answers, equal = [0] * len(keys), [0] * len(keys)
    rest = iter(pairs)
    while part := list(islice(rest, _PART)):
        found = []
        for place, first, second in part:
            outcomes: tuple[Outcome, ...] = (_NO_PAIR, _NO_PAIR)
            if first is not None and second is not None:
                is_equal = first == second
                answers[place] += 1
                equal[place] += is_equal
                pair = LabelPair(labels[first], labels[second])
                outcomes = ((is_equal, 1.0), (float(is_equal),)), (pair, ())
            found.append(GroupAnswer(place, keys[place], outcomes))
        totals.add(found)
    group = totals.group(options.level, _moments(answers, equal), {})
    first_rater, second_rater = pairs.raters
    names = first_rater.name, second_rater.name
    scores = (
        replace(
            one,
            remark=FEW_LABELS if one.remark == FEW_REFERENCES else one.remark,
            confusion=one.confusion and replace(one.confusion, sides=names),
        )
        for one in group.scores
    )
    return replace(group, scores=tuple(scores))


def _moments(answers: Sequence[int], equal: Sequence[int]) -> list[QuestionMoments]:
    """Return the sums over questions of both scores, kappa's without a mean."""
    counts = [count for count in answers if count]
    totals = [one * QUANTA for one, count in zip(equal, answers, strict=True) if count]
    share, counted = QuestionMoments(), QuestionMoments()
    share.add(counts, totals)
    counted.add(counts, [0] * len(counts))
    return [share, counted]
