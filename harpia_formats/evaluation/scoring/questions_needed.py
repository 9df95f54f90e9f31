"""How many questions detect a difference that is named."""

import math
from dataclasses import replace

from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.compared import ComparedScore
from harpia_formats.evaluation.scoring.paired import questions_for
from harpia_formats.model.errors import OptionError
from harpia_formats.model.metric_profile import ScoreError

#: The least difference of which the number of questions is told.
_LEAST_DIFFERENCE = 1e-9


def check_difference(difference: float | None) -> None:
    """Raise `OptionError` unless questions may be counted for a difference, or None."""
    if difference is None:
        return
    if isinstance(difference, bool) or not isinstance(difference, int | float):
        raise OptionError(f"detect must be a number or None, not {difference!r}")
    if not _LEAST_DIFFERENCE <= difference < math.inf:
        raise OptionError(
            f"a difference to detect is above 0, at least {_LEAST_DIFFERENCE:g}, and "
            f"not {difference:g}"
        )


def with_questions_needed(
    found: ComparisonReport, difference: float | None
) -> ComparisonReport:
    """Return a comparison with the number of questions that detect a difference.

    It is unchanged for None. Raises `ScoreError` if no scores of a metric can be so
    different.
    """
    if difference is None:
        return found
    for score in found.compared:
        if difference > score.widest:
            raise ScoreError(
                f"a difference of {difference:g} to detect is larger than the scale of "
                f"{score.full_name}, which is 0 to {score.widest:g}"
            )
    compared = tuple(
        replace(score, questions_needed=_questions_needed(score, difference))
        for score in found.compared
    )
    return replace(found, compared=compared, detect=difference)


def _questions_needed(score: ComparedScore, difference: float) -> int | None:
    """Return how many questions detect a difference, None if it is not known."""
    one = score.comparison
    if one is None or one.standard_error is None:
        return None
    return questions_for(
        difference, one.standard_error, score.questions, one.level, one.step
    )
