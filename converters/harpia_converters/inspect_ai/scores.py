"""The scores of a sample, and what scorers say beside their values."""

from typing import Any

from msgspec import UNSET, UnsetType

from harpia_converters.inspect_ai.chats import is_empty
from harpia_converters.inspect_ai.run import Run
from harpia_converters.inspect_ai.values import Value, values_in
from harpia_formats.conversion.mapping.tool_signature import tool_signature
from harpia_formats.model.adapter import Row
from harpia_formats.model.record import Score

#: The name of the package, as the logs give it.
_tool = "inspect_ai"
#: What a scorer is called if nothing names it.
_unnamed = "score"


def scorers_of(sample: Row, run: Run) -> Row:
    """Return what each scorer says of a sample, by its name."""
    scorers: Row | None = sample.get("scores")
    if scorers:
        return scorers
    # Early logs have one scorer, which only their results name.
    score = sample.get("score")
    return {run.scorer or _unnamed: score} if type(score) is dict else {}


def read_scores(scorers: Row, run: Run) -> tuple[list[Score], Row]:
    """Return the scores of a sample, and the further data of each of its scorers.

    A value that is no number is among the further data, and the score has none.
    """
    scores: list[Score] = []
    rest: Row = {}
    for scorer, score in scorers.items():
        own = {
            key: value
            for key, value in score.items()
            if key != "value" and not is_empty(value)
        }
        for value in values_in(score["value"]):
            scores.append(_score(scorer, value, run))
            if value.is_other:
                own["value"] = score["value"]
        if own:
            rest[scorer] = own
    return scores, rest


def _score(scorer: str, value: Value, run: Run) -> Score:
    metric = f"{scorer}.{value.key}" if value.key else scorer
    known: Any = UNSET if value.is_correct is None else value.is_correct
    return Score(
        metric=metric,
        value=value.number,
        is_correct=known,
        evaluation_id=run.evaluation_id or UNSET,
        evaluation_name=run.task or UNSET,
        signature=tool_signature(metric, _tool, run.version, scorer=scorer),
    )


def unscored(run: Run) -> list[Score] | UnsetType:
    """Return a score without a value that says of which run and task a sample is.

    That is for a sample without scores, such as one that failed: it may get one.
    """
    if not (run.evaluation_id or run.task):
        return UNSET
    return [
        Score(
            evaluation_id=run.evaluation_id or UNSET,
            evaluation_name=run.task or UNSET,
        )
    ]
