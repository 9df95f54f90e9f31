"""Compare the scores of samples with those of their aggregate (E206)."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.eee.lint.members import Evaluation, fits
from harpia_converters.eee.lint.wording import count_of, quoted
from harpia_formats.model.format import Remark
from harpia_formats.model.numbers import float_of

CODE = "E206"

#: How far a mean may be from the score of an aggregate, which may be rounded.
_near = 0.005
#: What a score from 0 to 1 is multiplied with in a percentage.
_percent = 100


class MeanScores:
    """Adds up the scores of rows by result, to compare their means."""

    def __init__(self, results: tuple[tuple[str, float, int], ...]) -> None:
        """Take the key of each result, its score, and its index in the aggregate."""
        self._results = results
        self._sums = {key: 0.0 for key, _, _ in results}
        self._rows = {key: 0 for key, _, _ in results}
        #: Results of which some row has no score, and whether some row has no result.
        self._unknown: set[str] = set()
        self._is_unknown = False

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row, if the aggregate has its result.

        A result of which a row has no score has no mean, and a row without a result
        may be of any.
        """
        key = row.get("evaluation_result_id")
        if key is None:
            key = row.get("evaluation_name")
        if not isinstance(key, str):
            self._is_unknown = True
        elif key in self._sums:
            evaluation: Any = row.get("evaluation")
            is_scored = fits(evaluation, Evaluation)
            # A score may be true or false.
            score = float_of(+evaluation["score"]) if is_scored else None
            if score is None:
                self._unknown.add(key)
            else:
                self._sums[key] += score
                self._rows[key] += 1

    def remarks(self) -> Iterator[Remark]:
        """Yield a remark for each result whose score is not the mean of its rows.

        The paths are places in the aggregate.
        """
        for key, score, index in self._results if not self._is_unknown else ():
            if key in self._unknown:
                continue
            rows = self._rows[key]
            mean = self._sums[key] / rows if rows else score
            if _is_near(mean, score) or _is_near(mean * _percent, score):
                continue
            yield Remark(
                CODE,
                ("evaluation_results", index, "score_details", "score"),
                f"the score of {quoted(key)} is {quoted(score)}, and the mean of its "
                f"{count_of(rows, 'row')} is {mean:.4g}",
                "see that the samples are all of the run and the score is their mean",
            )


def _is_near(mean: float, score: float) -> bool:
    return math.isclose(mean, score, rel_tol=_near, abs_tol=_near)
