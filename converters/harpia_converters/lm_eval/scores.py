"""The scores of a sample: a metric of one filter that is a number."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.tool_signature import tool_signature
from harpia_formats.model.adapter import Row
from harpia_formats.model.record import Score

#: The keys of a sample that are no metrics.
KNOWN_KEYS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash "
    "prompt_hash target_hash".split()
)
#: The value of a metric that a row does not have.
_nothing: Any = object()
#: Keys that no field of a record holds.
_hashes = ("doc_hash", "prompt_hash", "target_hash")
#: Metrics by which an answer is right or wrong.
RIGHT_OR_WRONG = frozenset({"acc", "acc_norm", "exact_match"})
#: Metrics of a task of which a sample has the log-likelihood under the same name.
LIKELIHOODS = frozenset({"perplexity"})


class ScoreReader:
    """Reads the scores of the samples of one task."""

    def __init__(self, around: Mapping[str, Any]) -> None:
        """Take what the results say: the task, and the version of the tool."""
        self._task: Any = around.get("task", UNSET)
        self._version: str = around.get("version", "")
        self._signatures: dict[tuple[str, Any], str] = {}

    def read(self, row: Row) -> tuple[list[Score], Row]:
        """Return the scores of a sample, and its members that no field holds.

        A metric that is no number is one of these: a list is what the metric of the
        whole task is computed of. So is a log-likelihood, which is no perplexity.
        """
        rest = {key: row[key] for key in _hashes if key in row}
        filter_ = row.get("filter", "none")
        # The typed decoder and the JSON decoder give unknown keys in different orders.
        others = sorted(row.keys() - KNOWN_KEYS)
        names = row.get("metrics")
        scores = []
        for name in others if names is None else names:
            value = row.get(name, _nothing)
            if _is_number(value) and name not in LIKELIHOODS:
                scores.append(self._score(name, value, filter_))
        found = {score.metric for score in scores}
        rest |= {key: row[key] for key in others if key not in found}
        if names is not None and any(name not in row for name in names):
            rest["metrics"] = names
        return scores, rest

    def _score(self, metric: str, value: Any, filter_: Any) -> Score:
        key = metric, filter_
        signature = self._signatures.get(key)
        if signature is None:
            signature = self._signatures[key] = tool_signature(
                metric, "lm-eval", self._version, filter=str(filter_)
            )
        is_correct: Any = UNSET
        if metric in RIGHT_OR_WRONG and value in {0, 1}:
            is_correct = bool(value)
        return Score(
            metric=metric,
            value=value,
            is_correct=is_correct,
            evaluation_name=self._task,
            signature=signature,
        )


def _is_number(value: Any) -> bool:
    """Tell whether the value of a metric is a number, or null where it was NaN."""
    return value is None or isinstance(value, (int, float))
