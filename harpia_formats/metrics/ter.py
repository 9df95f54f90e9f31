"""TER: how many edits turn answers into references."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.metrics.metric import Measure, Metric
from harpia_formats.metrics.parameters import needing, settled, yes
from harpia_formats.metrics.sacrebleu_corpus import pooled_measure

DEFAULTS = {
    "normalized": False,
    "no_punct": False,
    "asian_support": False,
    "case_sensitive": False,
}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = settled("ter", DEFAULTS, given)
    flags: dict[str, Any] = {each: parameters.flag(each) for each in DEFAULTS}
    with needing("score", "ter"):
        import sacrebleu  # noqa: PLC0415 - an extra
        from sacrebleu.metrics.ter import TER  # noqa: PLC0415 - likewise
    scorer = TER(**flags)
    signature = (
        f"ter|impl:sacrebleu-{sacrebleu.__version__}"
        f"|case:{'mixed' if flags['case_sensitive'] else 'lc'}|tok:tercom"
        f"|norm:{yes(flags['normalized'])}|punct:{yes(not flags['no_punct'])}"
        f"|asian:{yes(flags['asian_support'])}|refs:all"
    )
    forget: Any = type(scorer.tokenizer).__call__
    return pooled_measure("ter", signature, scorer, forget.cache_clear)


METRIC = Metric(
    "ter",
    "sacrebleu's translation edit rate of the whole corpus, in percent: lower is "
    "better, and it may exceed 100.",
    DEFAULTS,
    _measure_of,
)
