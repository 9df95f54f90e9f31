"""The scores of the agreement of two raters, from pairs of their labels."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice

from harpia_formats.evaluation.metrics.label_reading import LabelPair
from harpia_formats.evaluation.scoring.accumulate import GroupTotals
from harpia_formats.evaluation.scoring.answer_store import AnswerStore
from harpia_formats.evaluation.scoring.computed_metric import ComputedMetric
from harpia_formats.evaluation.scoring.label_totals import FEW_REFERENCES
from harpia_formats.evaluation.scoring.metric_score import Group
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.outcomes import GroupAnswer, Outcome
from harpia_formats.evaluation.scoring.paired_labels import LabelPairs

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
    totals = GroupTotals({}, metrics)
    labels = list(pairs.raters[0].numbers.labels)
    rest = iter(pairs)
    with closing(AnswerStore(metrics, options)) as store:
        while part := list(islice(rest, _PART)):
            found = []
            for place, first, second in part:
                outcomes: tuple[Outcome, ...] = (_NO_PAIR, _NO_PAIR)
                if first is not None and second is not None:
                    is_equal = float(first == second)
                    pair = LabelPair(labels[first], labels[second])
                    outcomes = ((is_equal, 1.0), (is_equal,)), (pair, (None,))
                found.append(GroupAnswer(place, keys[place], outcomes))
            totals.add(found)
            store.add_answers(found, 0)
        group = totals.group(store.wholes([{0}])[0], options)
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
