"""BLEU over a corpus, as sacrebleu defines it.

Sources: Papineni and others, BLEU (2002); Post, A Call for Clarity in Reporting BLEU
Scores (2018). Scores are from 0 to 100. The n-grams are counted here, which is faster,
and the formula is that of sacrebleu.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

from harpia_formats.evaluation.metrics.metric import Measure, Metric, Statistics
from harpia_formats.evaluation.metrics.parameters import (
    Parameters,
    read_parameters,
    require_extra,
    yes_no,
)
from harpia_formats.evaluation.metrics.references import (
    POOLED_RULES,
    references_by_rule,
)
from harpia_formats.evaluation.metrics.text.bleu_tokens import (
    NAMES,
    Tokenizer,
    sacrebleu_tokenizer,
)
from harpia_formats.evaluation.metrics.text.overlap import clipped_overlap, ngrams

#: The length of the longest n-grams.
MAX_ORDER = 4
#: The smoothing methods of sacrebleu, and whether they take a value.
SMOOTHINGS = {"exp": False, "floor": True, "add-k": True, "none": False}
DEFAULTS = {
    "tokenizer": "13a",
    "smoothing": "exp",
    "smooth_value": None,
    "lowercase": False,
    "effective_order": False,
    "references": "all",
}


@dataclass(frozen=True, slots=True)
class Bleu:
    """BLEU with its options."""

    words: Tokenizer
    rule: str
    lowercase: bool
    #: Returns BLEU from 0 to 100 from summed counts.
    score: Callable[[Sequence[float]], float]
    #: The options in the form of signatures.
    options: str

    def counts(self, answer: str, references: Sequence[str]) -> Statistics:
        """Return the counts of one answer, which add up over answers.

        They are the number of its words, that of the reference nearest in length, then
        for n from 1 to 4 the n-grams that a reference has too, then all n-grams.
        """
        mine = self._words(answer)
        others = [
            self._words(reference)
            for reference in references_by_rule(references, self.rule)
        ]
        size = len(mine)
        nearest = min(map(len, others), key=lambda length: (abs(length - size), length))
        right = [0] * MAX_ORDER
        for order in range(1, min(MAX_ORDER, size) + 1):
            found = [ngrams(tokens, order) for tokens in others]
            right[order - 1] = clipped_overlap(ngrams(mine, order), found)
            if not right[order - 1]:
                # Without a shared n-gram there is no longer one.
                break
        runs = [max(size - order, 0) for order in range(MAX_ORDER)]
        return (size, nearest, *right, *runs)

    def _words(self, text: str) -> list[str]:
        return self.words((text.lower() if self.lowercase else text).rstrip())


def bleu_of(parameters: Parameters) -> Bleu:
    """Return BLEU with its parameters; raises `MetricError` for a bad value."""
    tokenizer = parameters.choice("tokenizer", NAMES)
    smoothing = parameters.choice("smoothing", tuple(SMOOTHINGS))
    rule = parameters.choice("references", POOLED_RULES)
    lowercase = parameters.flag("lowercase")
    effective = parameters.flag("effective_order")
    with require_extra("score", parameters.metric):
        import sacrebleu  # noqa: PLC0415 - in the extra score
        from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - in the extra score
    value = _smooth_value(parameters, smoothing, BLEU.SMOOTH_DEFAULTS[smoothing])
    shown = smoothing if value is None else f"{smoothing}[{value:g}]"

    def score(counts: Sequence[float]) -> float:
        # New lists, since the smoothing of sacrebleu changes them. Counts that are
        # weighted are no whole numbers, which it needs of lengths only to print them.
        size, nearest = counts[:2]
        counted: list[Any] = [*counts[2:]]
        precision: float = BLEU.compute_bleu(
            counted[:MAX_ORDER],
            counted[MAX_ORDER:],
            sys_len=0,
            ref_len=0,
            smooth_method=smoothing,
            smooth_value=value,
            effective_order=effective,
        ).score
        return _brevity_penalty(size, nearest) * precision

    options = (
        f"impl:sacrebleu-{sacrebleu.__version__}|case:{'lc' if lowercase else 'mixed'}"
        f"|eff:{yes_no(effective)}|tok:{tokenizer}|smooth:{shown}|refs:{rule}"
    )
    words = sacrebleu_tokenizer(tokenizer, parameters.metric)
    return Bleu(words, rule, lowercase, score, options)


def _brevity_penalty(size: float, nearest: float) -> float:
    """Return the factor for answers that are shorter than their references."""
    if size >= nearest:
        return 1.0
    return exp(1 - nearest / size) if size > 0 else 0.0


def _smooth_value(
    parameters: Parameters, smoothing: str, default: float | None
) -> float | None:
    if parameters.values["smooth_value"] is None:
        return default
    if not SMOOTHINGS[smoothing]:
        wanted = f"left out with the smoothing {smoothing}, which takes no value"
        raise parameters.wrong("smooth_value", wanted)
    return parameters.number("smooth_value")


def _measure_of(given: Mapping[str, Any]) -> Measure:
    bleu = bleu_of(read_parameters("bleu", DEFAULTS, given))

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        return (*bleu.counts(answer, references), 1)

    def scores(sums: Sequence[float]) -> tuple[float | None, ...]:
        if not sums or not sums[-1]:
            return (None,)
        return (bleu.score(sums[:-1]),)

    signature = f"bleu|{bleu.options}|scale:0-100"
    return Measure(("bleu",), signature, "0-100", statistics, scores)


METRIC = Metric(
    "bleu",
    "sacrebleu's BLEU of the whole corpus: the counts of all records are pooled.",
    DEFAULTS,
    _measure_of,
    is_pooled=True,
)
