"""BLEU of a corpus and of single answers, as sacrebleu and NLTK define it, and chrF."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    POOLED_RULES,
    Measure,
    Metric,
    Parameters,
    Statistics,
    UnscorableError,
    is_number,
    mean_measure,
    pooled_measure,
    references_by_rule,
    require_extra,
    require_references,
    score_over_references,
    yes_no,
)
from harpia_formats.evaluation.metrics.text.tokens import (
    BUILT_IN_TOKENIZERS,
    NAMES,
    Tokenizer,
    clipped_overlap,
    ngrams,
    sacrebleu_tokenizer,
)

#: The length of the longest n-grams.
MAX_ORDER = 4
#: The smoothing methods of sacrebleu, and whether they take a value.
SMOOTHINGS = {"exp": False, "floor": True, "add-k": True, "none": False}
BLEU_DEFAULTS = {
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


def _bleu(parameters: Parameters) -> Measure:
    """Return BLEU of a corpus; raises `MetricError`."""
    bleu = bleu_of(parameters)
    return pooled_measure(
        "bleu",
        f"bleu|{bleu.options}",
        "0-100",
        lambda answer, references: (*bleu.counts(answer, references), 1),
        lambda sums: bleu.score(sums[:-1]),
    )


def _sentence_bleu(parameters: Parameters) -> Measure:
    """Return the mean of BLEU of single answers; raises `MetricError`."""
    bleu, scale = bleu_of(parameters), parameters.scale()

    def score(answer: str, references: Sequence[str]) -> float:
        return bleu.score(bleu.counts(answer, references)) / 100

    return mean_measure("sentence-bleu", f"sentence-bleu|{bleu.options}", score, scale)


METHODS = tuple(f"method{number}" for number in range(8))
#: The best score over single references, or the score with all references at once,
#: whose counts NLTK clips by the largest count of any reference.
RULES = ("max", "clip")
#: How far the sum of the weights may be from 1, for thirds written as decimals.
TOLERANCE = 1e-3
#: The only method that needs trigrams for all weights.
NEEDS_THREE = "method6"
#: The methods whose score of an answer can be above 1: the mean that takes the place of
#: each share of n-grams begins with the share of words plus 1, or, with `method6`, the
#: square of the share of pairs is divided by that of words, which may be smaller.
ABOVE_ONE = ("method5", "method6", "method7")


def _nltk_bleu(parameters: Parameters) -> Measure:
    """Return NLTK's BLEU of single answers; raises `MetricError`."""
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
    is_bounded = method not in ABOVE_ONE
    return mean_measure("nltk-bleu", signature, score, is_bounded=is_bounded)


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


def _chrf(parameters: Parameters) -> Measure:
    """Return sacrebleu's chrF of a corpus; raises `MetricError`."""
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
    scorer: Any = CHRF(**numbers, **flags)
    # sacrebleu has no public function for statistics or for the score of their sum.
    extract = scorer._extract_corpus_statistics  # noqa: SLF001 - see above
    compute = scorer._compute_score_from_stats  # noqa: SLF001 - see above

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        # sacrebleu takes one list of texts for each reference.
        (found,) = extract([answer], [[one] for one in require_references(references)])
        return (*found, 1)

    signature = (
        f"chrf|impl:sacrebleu-{sacrebleu.__version__}|beta:{numbers['beta']}"
        f"|case:{'lc' if flags['lowercase'] else 'mixed'}"
        f"|eff:{yes_no(not flags['eps_smoothing'])}"
        f"|nc:{numbers['char_order']}|nw:{numbers['word_order']}"
        f"|space:{yes_no(flags['whitespace'])}|refs:best"
    )
    return pooled_measure(
        "chrf",
        signature,
        "0-100",
        statistics,
        lambda sums: float(compute(list(sums[:-1])).score),
    )


METRICS = (
    Metric.of(
        "bleu",
        "sacrebleu's BLEU of the whole corpus: the counts of all records are pooled.",
        BLEU_DEFAULTS,
        _bleu,
        is_pooled=True,
    ),
    Metric.of(
        "sentence-bleu",
        "The mean of sacrebleu's BLEU of each answer, with effective order.",
        {**BLEU_DEFAULTS, "effective_order": True, "scale": "0-100"},
        _sentence_bleu,
    ),
    Metric.of(
        "nltk-bleu",
        "The mean of NLTK's sentence_bleu, the best over the references or clipped by "
        "all.",
        {
            "weights": (0.25, 0.25, 0.25, 0.25),
            "smoothing_function": None,
            "auto_reweigh": False,
            "references": "max",
            "tokenizer": "whitespace",
        },
        _nltk_bleu,
    ),
)
CHRF_METRIC = Metric.of(
    "chrf",
    "sacrebleu's chrF of the whole corpus, of the best reference of each record; with "
    "word_order 2 it is chrF++.",
    {
        "char_order": 6,
        "word_order": 0,
        "beta": 2,
        "lowercase": False,
        "whitespace": False,
        "eps_smoothing": False,
    },
    _chrf,
    is_pooled=True,
)
