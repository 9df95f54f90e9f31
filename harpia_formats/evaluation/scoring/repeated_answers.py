"""Rows that hold one answer again, each with the score of another metric.

EvalEval writes such rows, and lm-eval one for each filter. Rows with the same metric
are other answers, even if their texts are equal. A number for each answer that has a
metric is held in memory.
"""

from dataclasses import dataclass, field

from msgspec import UNSET

from harpia_formats.conversion.fill_scores import answer_text
from harpia_formats.conversion.mapping.questions import prompt_text
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Output, Record, Score


@dataclass(slots=True)
class RepeatedAnswers:
    """Finds answers that were met before, with the score of another metric."""

    #: Whether answers of each evaluation are scored apart.
    by_evaluation: bool = False
    #: How many were found.
    count: int = 0
    #: The number of each metric, by its names and signature.
    _metrics: dict[tuple[str, ...], int] = field(default_factory=dict)
    #: For the hash of each answer the metric of its only row, or how often it had
    #: each metric.
    _seen: dict[int, int | dict[int, int]] = field(default_factory=dict)

    def is_repeat(self, record: Record, output: Output) -> bool:
        """Tell whether an answer was met before with another metric, and count it."""
        # A row with several answers may hold their only score with the first one.
        scores = [score for one in record.outputs for score in one.scores or ()]
        if record.id is UNSET or len(scores) != 1:
            return False
        (score,) = scores
        if not (score.evaluation_name or score.metric or score.result_id):
            return False
        names = (
            f"{score.evaluation_name or ''}",
            f"{score.metric or ''}",
            f"{score.result_id or ''}",
            f"{score.signature or ''}",
        )
        metric = self._metrics.setdefault(names, len(self._metrics))
        key = self._key_of(record, output, score)
        before = self._seen.get(key)
        if before is None:
            self._seen[key] = metric
            return False
        times = {before: 1} if isinstance(before, int) else before
        answers = max(times.values())
        times[metric] = times.get(metric, 0) + 1
        self._seen[key] = times
        is_repeat = times[metric] <= answers
        self.count += is_repeat
        return is_repeat

    def _key_of(self, record: Record, output: Output, score: Score) -> int:
        """Return a number by which rows of one answer are known."""
        return hash(
            (
                f"{record.id}",
                prompt_text(record),
                tuple(record.references or ()),
                output.model,
                answer_text(output),
                encode(output.turns) if output.turns else b"",
                score.evaluation_id,
                score.evaluation_name if self.by_evaluation else "",
            )
        )
