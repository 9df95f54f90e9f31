"""The mean of NLTK's `sentence_bleu`, from 0 to 1.

Sources: Papineni and others, BLEU (2002); Chen and Cherry, A Systematic Comparison of
Smoothing Techniques for Sentence-Level BLEU (2014), whose methods are numbered 0 to 7.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.mean import mean_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric, UnscorableError
from harpia_formats.evaluation.metrics.parameters import (
    Parameters,
    is_number,
    read_parameters,
    require_extra,
    yes_no,
)
from harpia_formats.evaluation.metrics.references import (
    require_references,
    score_over_references,
)
from harpia_formats.evaluation.metrics.text.bleu_tokens import BUILT_IN_TOKENIZERS

METHODS = tuple(f"method{number}" for number in range(8))
#: The best score over single references, or the score with all references at once,
#: whose counts NLTK clips by the largest count of any reference.
RULES = ("max", "clip")
#: How far the sum of the weights may be from 1, for thirds written as decimals.
TOLERANCE = 1e-3
#: The only method that needs trigrams for all weights.
NEEDS_THREE = "method6"
DEFAULTS = {
    "weights": (0.25, 0.25, 0.25, 0.25),
    "smoothing_function": None,
    "auto_reweigh": False,
    "references": "max",
    "tokenizer": "whitespace",
}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("nltk-bleu", DEFAULTS, given)
    weights, method = _weights(parameters), _method(parameters)
    if method == NEEDS_THREE and len(weights) < 3:  # noqa: PLR2004 - runs of three
        raise parameters.wrong("weights", "at least three numbers for method6")
    rule = parameters.choice("references", RULES)
    tokenizer = parameters.choice("tokenizer", tuple(BUILT_IN_TOKENIZERS))
    reweigh = parameters.flag("auto_reweigh")
    with require_extra("score", "nltk-bleu"):
        import nltk  # noqa: PLC0415 - in the extra score, and slow to import
    scored = _scored(weights, method, reweigh=reweigh)
    words = BUILT_IN_TOKENIZERS[tokenizer]

    def alone(answer: str, reference: str) -> float:
        return scored([words(reference)], words(answer))

    def clip(answer: str, references: Sequence[str]) -> float:
        return scored(
            [words(reference) for reference in require_references(references)],
            words(answer),
        )

    signature = (
        f"nltk-bleu|impl:nltk-{nltk.__version__}"
        f"|weights:{','.join(f'{weight:g}' for weight in weights)}|smooth:{method}"
        f"|reweigh:{yes_no(reweigh)}|tok:{tokenizer}|refs:{rule}"
    )
    score = score_over_references(alone, "max") if rule == "max" else clip
    return mean_measure("nltk-bleu", signature, score)


def _scored(
    weights: tuple[float, ...], method: str, *, reweigh: bool
) -> Callable[[list[list[str]], list[str]], float]:
    from nltk.translate.bleu_score import (  # noqa: PLC0415 - in the extra score, and slow to import
        SmoothingFunction,
        sentence_bleu,
    )

    smoothing = getattr(SmoothingFunction(), method)

    def score(references: list[list[str]], answer: list[str]) -> float:
        with warnings.catch_warnings():
            # method0 warns for every answer that shares no n-gram.
            warnings.simplefilter("ignore")
            try:
                return float(
                    sentence_bleu(references, answer, weights, smoothing, reweigh)
                )
            except AssertionError as error:
                raise UnscorableError(
                    f"NLTK's {method} refuses the answer: {error}"
                ) from None

    return score


def _weights(parameters: Parameters) -> tuple[float, ...]:
    """Return the weights as a tuple, since NLTK compares them with its default."""
    given = parameters.values["weights"]
    if (
        not isinstance(given, list | tuple)
        or not given
        or not all(is_number(weight) and weight >= 0 for weight in given)
    ):
        raise parameters.wrong("weights", "a list of numbers of at least 0")
    if abs(math.fsum(given) - 1) > TOLERANCE:
        raise parameters.wrong("weights", "a list of numbers whose sum is 1")
    return tuple(map(float, given))


def _method(parameters: Parameters) -> str:
    """Return the name of the smoothing method, method0 if none is given."""
    if parameters.values["smoothing_function"] is None:
        return METHODS[0]
    return parameters.choice("smoothing_function", METHODS)


METRIC = Metric(
    "nltk-bleu",
    "The mean of NLTK's sentence_bleu, the best over the references or clipped by all.",
    DEFAULTS,
    _measure_of,
)
