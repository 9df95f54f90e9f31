"""TER: the edits that turn answers into references, in percent of reference words.

Source: Snover and others, A Study of Translation Edit Rate with Targeted Human
Annotation (2006). Scores start at 0, lower is better, and they may exceed 100.
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.metrics.metric import Measure, Metric
from harpia_formats.metrics.parameters import read_parameters, require_extra, yes_no
from harpia_formats.metrics.sacrebleu_corpus import sacrebleu_measure

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
    scorer = TER(**flags)
    signature = (
        f"ter|impl:sacrebleu-{sacrebleu.__version__}"
        f"|case:{'mixed' if flags['case_sensitive'] else 'lc'}|tok:tercom"
        f"|norm:{yes_no(flags['normalized'])}|punct:{yes_no(not flags['no_punct'])}"
        f"|asian:{yes_no(flags['asian_support'])}|refs:all"
    )
    forget: Any = type(scorer.tokenizer).__call__
    return sacrebleu_measure(
        "ter", signature, scorer, forget.cache_clear, lower_is_better=True
    )


METRIC = Metric(
    "ter",
    "sacrebleu's translation edit rate of the whole corpus, in percent: lower is "
    "better, and it may exceed 100.",
    DEFAULTS,
    _measure_of,
    is_pooled=True,
)
