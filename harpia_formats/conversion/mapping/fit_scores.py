"""Keep the scores of one metric, and give scores the verdict that they say themselves.

That is done before a user's constants complete a record: a verdict is never a constant
where the score itself says whether the answer is correct.
"""

from collections.abc import Iterable

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.preparation import attribution_without
from harpia_formats.conversion.mapping.tool_signature import part_of
from harpia_formats.model.adapter import RowCapacity
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import Output, Record, Score
from harpia_formats.model.stored_score import full_name, is_of_metric, verdict_of

#: The detail of the fate of scores that were not chosen.
OTHER_METRIC = "of another metric"
#: That of the scores of records that have no score of the chosen metric.
LEFT_OUT = "of another metric, and the record is left out"
_VERDICT = "outputs.scores.is_correct"


def needs_fitting(capacity: RowCapacity, choices: Choices) -> bool:
    """Tell whether `fit_scores` may change a record."""
    return capacity.needs_verdict or choices.metric is not None


def fit_scores(
    record: Record, capacity: RowCapacity, choices: Choices, fates: FieldFates
) -> Record:
    """Return `record` with the scores of the chosen metric, and with their verdicts.

    Raises `Unconvertible` for a record that has scores, and none of that metric.
    """
    if choices.metric is not None:
        record = _of_metric(record, choices.metric, fates)
    if not capacity.needs_verdict:
        return record
    outputs = [_with_verdicts(output, choices, fates) for output in record.outputs]
    if all(new is old for new, old in zip(outputs, record.outputs, strict=True)):
        return record
    return replace(record, outputs=outputs)


def _with_verdicts(output: Output, choices: Choices, fates: FieldFates) -> Output:
    """Return an output whose scores say whether the answer is correct, if they can.

    It is `output` itself if nothing is added.
    """
    scores = output.scores
    if scores is UNSET or all(score.is_correct is not UNSET for score in scores):
        return output
    found = [_with_verdict(score, choices, fates) for score in scores]
    if all(new is old for new, old in zip(found, scores, strict=True)):
        return output
    return replace(output, scores=found)


def _with_verdict(score: Score, choices: Choices, fates: FieldFates) -> Score:
    if score.is_correct is not UNSET:
        return score
    own = verdict_of(score)
    verdict = verdict_of(score, choices.correct_from) if own is None else own
    if verdict is None:
        return score
    how = "by the score"
    if own is None:
        how = f"whether the score is at least {choices.correct_from:g}"
    fates.defaulted(_VERDICT, how)
    return replace(score, is_correct=verdict)


def scores_left_out(record: Record, metric: str | None) -> bool:
    """Tell whether a record has scores that name metrics, and none is of `metric`.

    None stands for all metrics.
    """
    if metric is None:
        return False
    scores = _scores_of(record)
    is_named = any(full_name(score) is not None for score in scores)
    return is_named and not any(is_of_metric(score, metric) for score in scores)


def _of_metric(record: Record, metric: str, fates: FieldFates) -> Record:
    """Return `record` with the scores of `metric`, which may be its full name.

    Scores stay if none of them names a metric.
    """
    if scores_left_out(record, metric):
        reason = f"no score of the record is of the metric {metric}"
        raise Unconvertible("outputs.scores.metric", reason, "choose with --metric")
    scores = _scores_of(record)
    kept = [score for score in scores if is_of_metric(score, metric)]
    if not kept or len(kept) == len(scores):
        return record
    fates.dropped("outputs.scores", OTHER_METRIC)
    others = _filters_of(scores) - _filters_of(kept)
    outputs = [
        output
        if output.scores is UNSET
        else _output_of_metric(output, metric, others, fates)
        for output in record.outputs
    ]
    return replace(record, outputs=outputs)


def _output_of_metric(
    output: Output, metric: str, others: frozenset[str], fates: FieldFates
) -> Output:
    """Return an output without scores of other metrics, and what `others` extracted."""
    steps = attribution_without(output, others)
    if output.attribution and len(steps) < len(output.attribution):
        fates.dropped("outputs.attribution", OTHER_METRIC)
    scores = [score for score in output.scores or () if is_of_metric(score, metric)]
    return replace(output, scores=scores, attribution=steps)


def _filters_of(scores: Iterable[Score]) -> frozenset[str]:
    """Return the filters that the signatures of some scores name."""
    named = (part_of(score.signature or "", "filter") for score in scores)
    return frozenset(name for name in named if name)


def _scores_of(record: Record) -> list[Score]:
    return [score for output in record.outputs for score in output.scores or ()]
