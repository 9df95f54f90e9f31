"""TER: the edits that turn answers into references, in percent of reference words.

Source: Snover and others, A Study of Translation Edit Rate with Targeted Human
Annotation (2006). Scores start at 0, lower is better, and they may exceed 100. The
tokens are sacrebleu's, and so are the edits, which are counted here in less time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    Measure,
    Metric,
    Statistics,
    UnscorableError,
)
from harpia_formats.evaluation.metrics.parameters import (
    read_parameters,
    require_extra,
    yes_no,
)
from harpia_formats.evaluation.metrics.references import require_references
from harpia_formats.evaluation.metrics.text.translation_edits import translation_edits

#: The words of the longest text; the edits of longer ones take seconds and memory.
MOST_WORDS = 10_000
DEFAULTS = {
    "normalized": False,
    "no_punct": False,
    "asian_support": False,
    "case_sensitive": False,
}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("ter", DEFAULTS, given)
    flags: dict[str, Any] = {name: parameters.flag(name) for name in DEFAULTS}
    with require_extra("score", "ter"):
        import sacrebleu  # noqa: PLC0415 - in the extra score
        from sacrebleu.metrics.ter import TER  # noqa: PLC0415 - in the extra score
    tokenizer: Any = TER(**flags).tokenizer
    # It caches each text, and would grow with the data set.
    cached: Any = type(tokenizer).__call__

    def words_of(text: str) -> Sequence[str]:
        words: list[str] = tokenizer(text.rstrip()).split()
        if len(words) > MOST_WORDS:
            raise UnscorableError(
                f"a text of {len(words):,} words is longer than {MOST_WORDS:,}"
            )
        return words

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        try:
            mine = words_of(answer)
            # sacrebleu splits references twice, which tells where it normalizes them.
            others = [
                words_of(tokenizer(text.rstrip()))
                for text in require_references(references)
            ]
        finally:
            cached.cache_clear()
        edits = min(translation_edits(mine, other) for other in others)
        return (float(edits), sum(map(len, others)) / len(others), 1.0)

    signature = (
        f"ter|impl:sacrebleu-{sacrebleu.__version__}"
        f"|case:{'mixed' if flags['case_sensitive'] else 'lc'}|tok:tercom"
        f"|norm:{yes_no(flags['normalized'])}|punct:{yes_no(not flags['no_punct'])}"
        f"|asian:{yes_no(flags['asian_support'])}|refs:all|scale:0-100"
    )
    return Measure(
        ("ter",), signature, "0-100", statistics, _scores, lower_is_better=True
    )


def _scores(sums: Sequence[float]) -> tuple[float | None, ...]:
    """Return the edits in percent of the words; 100 or 0 if there are no words."""
    if not sums or not sums[-1]:
        return (None,)
    edits, words = sums[:2]
    return (100 * (edits / words if words > 0 else float(edits > 0)),)


METRIC = Metric(
    "ter",
    "sacrebleu's translation edit rate of the whole corpus, in percent: lower is "
    "better, and it may exceed 100.",
    DEFAULTS,
    _measure_of,
    is_pooled=True,
)
