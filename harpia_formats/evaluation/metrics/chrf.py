"""chrF: the F-score of the character n-grams that answers and references share.

Sources: Popovic, chrF: character n-gram F-score for automatic MT evaluation (2015), and
chrF++: words helping character n-grams (2017). Scores are from 0 to 100.
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import (
    read_parameters,
    require_extra,
    yes_no,
)
from harpia_formats.evaluation.metrics.sacrebleu_corpus import sacrebleu_measure

DEFAULTS = {
    "char_order": 6,
    "word_order": 0,
    "beta": 2,
    "lowercase": False,
    "whitespace": False,
    "eps_smoothing": False,
}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("chrf", DEFAULTS, given)
    numbers: dict[str, Any] = {
        "char_order": parameters.whole("char_order", 1),
        "word_order": parameters.whole("word_order"),
        "beta": parameters.whole("beta", 1),
    }
    flags: dict[str, Any] = {
        name: parameters.flag(name)
        for name in ("lowercase", "whitespace", "eps_smoothing")
    }
    with require_extra("score", "chrf"):
        import sacrebleu  # noqa: PLC0415 - in the extra score
        from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415 - in the extra score
    case = "lc" if flags["lowercase"] else "mixed"
    signature = (
        f"chrf|impl:sacrebleu-{sacrebleu.__version__}|beta:{numbers['beta']}"
        f"|case:{case}|eff:{yes_no(not flags['eps_smoothing'])}"
        f"|nc:{numbers['char_order']}|nw:{numbers['word_order']}"
        f"|space:{yes_no(flags['whitespace'])}|refs:best"
    )
    return sacrebleu_measure("chrf", signature, CHRF(**numbers, **flags))


METRIC = Metric(
    "chrf",
    "sacrebleu's chrF of the whole corpus, of the best reference of each record; with "
    "word_order 2 it is chrF++.",
    DEFAULTS,
    _measure_of,
    is_pooled=True,
)
