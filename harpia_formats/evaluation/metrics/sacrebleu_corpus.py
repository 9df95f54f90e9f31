"""Corpus metrics whose counts and formula are both those of sacrebleu."""

from collections.abc import Sequence
from typing import Any

from harpia_formats.evaluation.metrics.metric import Measure, Statistics
from harpia_formats.evaluation.metrics.references import require_references


def sacrebleu_measure(name: str, signature: str, scorer: Any) -> Measure:
    """Return the corpus score of `scorer`, a metric of sacrebleu, from 0 to 100."""
    # sacrebleu has no public function for statistics or for the score of their sum.
    extract = scorer._extract_corpus_statistics  # noqa: SLF001 - see above
    compute = scorer._compute_score_from_stats  # noqa: SLF001 - see above

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        # sacrebleu takes one list of texts for each reference.
        (found,) = extract(
            [answer], [[reference] for reference in require_references(references)]
        )
        return (*found, 1)

    def scores(sums: Sequence[float]) -> tuple[float | None, ...]:
        if not sums or not sums[-1]:
            return (None,)
        return (float(compute(list(sums[:-1])).score),)

    return Measure((name,), f"{signature}|scale:0-100", "0-100", statistics, scores)
