"""Fit a record to what a row can hold, by the choices of the user.

Answers and scores that a row cannot hold are split, chosen, or given their verdict.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.chats import fit_chats
from harpia_formats.conversion.mapping.choices import Choices, References, Responses
from harpia_formats.conversion.mapping.preparation import attribution_without, part_of
from harpia_formats.model.adapter import Cardinality, RowCapacity
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import Output, Record, Score
from harpia_formats.model.vendor_metrics import full_name, is_of_metric, verdict_of

#: The detail of the outcome of a score that is that of several answers together.
JOINT_SCORE = "the score of all answers together"
#: That of scores without a number, or without whether the answer is right.
NO_VERDICT = "those without a number or is_correct"
#: How answers with one score can be written where a row cannot list them with it.
FIRST_ALONE = (
    "`--responses first --score em` scores the first of them alone, if there is a "
    "reference"
)
#: The fields of a score that say how well an answer was scored, and with what.
_joint_fields = ("metric", "value", "is_correct", "result_id", "signature")
_verdict_paths = frozenset({"outputs.scores.value", "outputs.scores.is_correct"})


def fit_record(
    record: Record, capacity: RowCapacity, choices: Choices, outcomes: FieldOutcomes
) -> Iterator[Record]:
    """Yield what `record` becomes, one record for each row.

    Raises `Unconvertible` where the choices forbid that.
    """
    groups = list(_split(record, capacity, choices, outcomes))
    if len(groups) > 1 and record.id is not UNSET:
        outcomes.changed("id", "with # and a number behind it")
        for number, parts in enumerate(groups, 1):
            for part in parts:
                yield replace(part, id=f"{part.id}#{number}")
    else:
        for parts in groups:
            yield from parts


def _split(
    record: Record, capacity: RowCapacity, choices: Choices, outcomes: FieldOutcomes
) -> Iterator[list[Record]]:
    """Yield lists of the records of rows: those of one list have the same id."""
    has_score = capacity.scores is Cardinality.ONE
    for by_reference in _split_references(record, capacity, choices, outcomes):
        for by_output in _split_outputs(by_reference, capacity, choices, outcomes):
            if not has_score:
                yield [fit_chats(by_output, capacity, choices, outcomes)]
                continue
            parts = [
                fit_chats(by_score, capacity, choices, outcomes)
                for by_score in _split_scores(by_output, capacity, choices, outcomes)
            ]
            if _are_scores_named(parts, capacity):
                yield parts
            else:
                yield from ([part] for part in parts)


def _are_scores_named(parts: list[Record], capacity: RowCapacity) -> bool:
    """Tell whether the rows of several scores of one answer differ without their id."""
    if capacity.score_name is None:
        return False
    names = [
        capacity.score_name(score)
        for part in parts
        for output in part.outputs
        for score in output.scores or ()
    ]
    return None not in names and len({*names}) == len(names)


def _split_references(
    record: Record, capacity: RowCapacity, choices: Choices, outcomes: FieldOutcomes
) -> Iterator[Record]:
    references = record.references
    if (
        references is UNSET
        or len(references) < 2  # noqa: PLR2004 - several
        or capacity.references is not Cardinality.ONE
    ):
        yield record
    elif choices.references is References.FAIL:
        reason = f"there are {len(references)} references, and a row holds one"
        raise Unconvertible("references", reason, "choose with `--references`")
    elif choices.references is References.FIRST:
        outcomes.dropped("references", "all but the first")
        yield replace(record, references=references[:1])
    else:
        outcomes.split("references", "one row each")
        for reference in references:
            yield replace(record, references=[reference])


def _split_outputs(
    record: Record, capacity: RowCapacity, choices: Choices, outcomes: FieldOutcomes
) -> Iterator[Record]:
    outputs = record.outputs
    if len(outputs) < 2 or capacity.outputs in {Cardinality.MANY, Cardinality.NONE}:  # noqa: PLR2004 - several
        yield record
        return
    if choices.responses is Responses.FAIL:
        reason = f"there are {len(outputs)} answers, and a row holds one"
        raise Unconvertible("outputs", reason, "choose with `--responses`")
    is_joint = is_scored_together(outputs)
    if choices.responses is Responses.FIRST:
        outcomes.dropped("outputs", "all but the first")
        first = outputs[0]
        if is_joint:
            first = _without_joint_score(first, capacity, outcomes)
        yield replace(record, outputs=[first])
        return
    if choices.responses is Responses.EXPAND and is_joint and can_list_scored(capacity):
        yield record
        return
    if choices.responses is Responses.LIST:
        groups = _lists_by_model(outputs, capacity)
    else:
        groups = [[output] for output in outputs]
        if is_joint:
            groups[0] = [_without_joint_score(outputs[0], capacity, outcomes)]
    if len(groups) > 1:
        outcomes.split("outputs", "one row each")
    for group in groups:
        yield replace(record, outputs=group)


def _lists_by_model(outputs: list[Output], capacity: RowCapacity) -> list[list[Output]]:
    """Return the outputs of each model; raises `Unconvertible` if no row can list."""
    if capacity.outputs is not Cardinality.MANY_OF_ONE_MODEL:
        reason = "a row has no place for a list of answers"
        raise Unconvertible("outputs", reason, "choose with `--responses`")
    by_model: dict[Any, list[Output]] = {}
    for output in outputs:
        by_model.setdefault(output.model, []).append(output)
    return list(by_model.values())


def can_list_scored(capacity: RowCapacity) -> bool:
    """Tell whether a row can hold several answers with the score of all of them."""
    return (
        capacity.outputs is Cardinality.MANY_OF_ONE_MODEL
        and capacity.scores is not Cardinality.NONE
    )


def is_scored_together(outputs: list[Output]) -> bool:
    """Tell whether several outputs are a list that may have been scored as a whole.

    The answers are of one model, and only the first has a score: alone, the others
    would need scores that nobody gave them, and the first one that may not be its own.
    """
    first, *others = outputs
    return bool(first.scores) and all(
        not other.scores and other.model == first.model for other in others
    )


def _without_joint_score(
    output: Output, capacity: RowCapacity, outcomes: FieldOutcomes
) -> Output:
    """Return the first of several answers without the score of all of them."""
    if capacity.scores is Cardinality.NONE:
        return output
    scores = []
    for score in output.scores or ():
        given = [name for name in _joint_fields if getattr(score, name) is not UNSET]
        for name in given:
            outcomes.dropped(f"outputs.scores.{name}", JOINT_SCORE)
        bare = replace(score, **dict.fromkeys(given, UNSET))
        if bare not in scores:
            scores.append(bare)
    return replace(output, scores=scores)


def _split_scores(
    record: Record, capacity: RowCapacity, choices: Choices, outcomes: FieldOutcomes
) -> Iterator[Record]:
    if not record.outputs or any(output.scores for output in record.outputs[1:]):
        yield record
        return
    output, *others = record.outputs
    if output.scores is UNSET or len(output.scores) < 2:  # noqa: PLR2004 - several
        yield record
        return
    scores = output.scores
    if capacity.needs_verdict:
        scores = _with_verdicts(scores, outcomes)
    if len(scores) == 1:
        yield replace(record, outputs=[replace(output, scores=scores), *others])
    elif choices.responses is Responses.FAIL:
        reason = f"there are {len(scores)} scores, and a row holds one"
        raise Unconvertible("outputs.scores", reason, "choose with `--responses`")
    else:
        outcomes.split("outputs.scores", "one row each")
        filters = [part_of(score.signature or "", "filter") for score in scores]
        for score, own in zip(scores, filters, strict=True):
            steps = attribution_without(output, frozenset(filters) - {own})
            first = replace(output, scores=[score], attribution=steps)
            yield replace(record, outputs=[first, *others])


def _with_verdicts(scores: list[Score], outcomes: FieldOutcomes) -> list[Score]:
    """Return scores without those that lack a number or a verdict.

    All of them are returned if all do, and one that has no value at all is returned,
    since it may still get one.
    """
    kept = [
        score
        for score in scores
        if score.value is UNSET
        or (score.value is not None and score.is_correct is not UNSET)
    ]
    if not kept or len(kept) == len(scores):
        return scores
    outcomes.dropped("outputs.scores", NO_VERDICT)
    return kept


def refuse_joint_score(error: Unconvertible, outcomes: FieldOutcomes) -> None:
    """Raise `Unconvertible` if `error` is that a score of several answers was dropped.

    The outcomes tell whether it was. --set has no part in that: the score is known.
    """
    is_joint = any(entry.how == JOINT_SCORE for entry in outcomes.entries)
    if not is_joint or error.path not in _verdict_paths:
        return
    reason = (
        "the answers of the record have one score together, which is not that of one "
        "of them, and a row holds one answer with its score"
    )
    help_ = (
        "a row of eee@0.3.0 holds all of them as texts, with `--responses list`; "
        f"{FIRST_ALONE}"
    )
    raise Unconvertible(error.path, reason, help_) from error


#: The detail of the outcome of scores that were not chosen.
OTHER_METRIC = "of another metric"
#: That of the scores of records that have no score of the chosen metric.
LEFT_OUT = "of another metric, and the record is left out"
_VERDICT = "outputs.scores.is_correct"


def needs_fitting(capacity: RowCapacity, choices: Choices) -> bool:
    """Tell whether `fit_scores` may change a record."""
    return capacity.needs_verdict or choices.metric is not None


def unfitted_check(choices: Choices) -> str:
    """Return the expression that is true of `outputs` that `fit_scores` leaves alone.

    It is true of most: an answer without scores, or with one that has its verdict.
    """
    if choices.metric is not None:
        return "False"
    has_one = (
        "len(scores := outputs[0].scores) == 1 and scores[0].is_correct is not UNSET"
    )
    is_answer = f"len(outputs) == 1 and (not outputs[0].scores or {has_one})"
    return f"not outputs or {is_answer}"


def fit_scores(
    record: Record, capacity: RowCapacity, choices: Choices, outcomes: FieldOutcomes
) -> Record:
    """Return `record` with the scores of the chosen metric, and with their verdicts.

    Raises `Unconvertible` for a record that has scores, and none of that metric.
    """
    if choices.metric is not None:
        record = _of_metric(record, choices.metric, choices, outcomes)
    if not capacity.needs_verdict:
        return record
    outputs = [
        _with_own_verdicts(output, choices, outcomes) for output in record.outputs
    ]
    if all(new is old for new, old in zip(outputs, record.outputs, strict=True)):
        return record
    return replace(record, outputs=outputs)


def _with_own_verdicts(
    output: Output, choices: Choices, outcomes: FieldOutcomes
) -> Output:
    """Return an output whose scores say whether the answer is correct, if they can.

    It is `output` itself if nothing is added.
    """
    scores = output.scores
    if scores is UNSET or not _may_be_written(output, choices):
        return output
    found = [_with_verdict(score, choices, outcomes) for score in scores]
    if all(new is old for new, old in zip(found, scores, strict=True)):
        return output
    return replace(output, scores=found)


def _with_verdict(score: Score, choices: Choices, outcomes: FieldOutcomes) -> Score:
    if score.is_correct is not UNSET:
        return score
    own = verdict_of(score)
    verdict = verdict_of(score, choices.correct_from) if own is None else own
    if verdict is None:
        return score
    how = "by the score"
    if own is None:
        how = f"whether the score is at least {choices.correct_from:g}"
    outcomes.defaulted(_VERDICT, how)
    return replace(score, is_correct=verdict)


def _may_be_written(output: Output, choices: Choices) -> bool:
    """Tell whether an output is of the chosen model, or may get it by `--set`."""
    return choices.model is None or output.model in {choices.model, UNSET}


def _own_outputs(record: Record, choices: Choices) -> list[Output]:
    """Return the outputs of a record that may be written."""
    return [output for output in record.outputs if _may_be_written(output, choices)]


def scores_left_out(record: Record, choices: Choices) -> bool:
    """Tell whether a record has scores that name metrics, and none of the chosen one.

    They are those of the answers of the chosen model, if these have some.
    """
    metric = choices.metric
    if metric is None:
        return False
    scores = _scores_of(_own_outputs(record, choices)) or _scores_of(record.outputs)
    is_named = any(full_name(score) is not None for score in scores)
    return is_named and not any(is_of_metric(score, metric) for score in scores)


def _of_metric(
    record: Record, metric: str, choices: Choices, outcomes: FieldOutcomes
) -> Record:
    """Return `record` with the scores of `metric`, which may be its full name.

    Scores stay if none of them names a metric.
    """
    if scores_left_out(record, choices):
        reason = f"no score of the record is of the metric {metric}"
        raise Unconvertible("outputs.scores.metric", reason, "choose with `--metric`")
    scores = _scores_of(_own_outputs(record, choices))
    kept = [score for score in scores if is_of_metric(score, metric)]
    if not kept or len(kept) == len(scores):
        return record
    outcomes.dropped("outputs.scores", OTHER_METRIC)
    others = _filters_of(scores) - _filters_of(kept)
    outputs = [
        _output_of_metric(output, metric, others, outcomes)
        if output.scores is not UNSET and _may_be_written(output, choices)
        else output
        for output in record.outputs
    ]
    return replace(record, outputs=outputs)


def _output_of_metric(
    output: Output, metric: str, others: frozenset[str], outcomes: FieldOutcomes
) -> Output:
    """Return an output without scores of other metrics, and what `others` extracted."""
    steps = attribution_without(output, others)
    if output.attribution and len(steps) < len(output.attribution):
        outcomes.dropped("outputs.attribution", OTHER_METRIC)
    scores = [score for score in output.scores or () if is_of_metric(score, metric)]
    return replace(output, scores=scores, attribution=steps)


def _filters_of(scores: Iterable[Score]) -> frozenset[str]:
    """Return the filters that the signatures of some scores name."""
    named = (part_of(score.signature or "", "filter") for score in scores)
    return frozenset(name for name in named if name)


def _scores_of(outputs: Iterable[Output]) -> list[Score]:
    return [score for output in outputs for score in output.scores or ()]
