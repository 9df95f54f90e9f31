"""Check whether the parameters of BLEU and BERTScore can work (H114, H115)."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

BLEU_VALUE, BERTSCORE_VALUE = "H114", "H115"

_smoothing = tuple(f"method{number}" for number in range(8))
#: The only smoothing method that needs trigrams, and their order.
_needs_trigrams, _trigrams = "method6", 3
#: How far the sum of the weights may be from 1, for thirds written as decimals.
_tolerance = 1e-3
#: A code of a language, or one with a domain, such as `en` or `en-sci`.
_language = re.compile(r"[a-z]{2,3}(-[a-z]+)?", re.IGNORECASE)
#: Other names that seem to be meant for `lang` or `model_type`.
_misspelt = re.compile(r"(?!(lang|model_type)$)(lang|model)", re.IGNORECASE)

#: Parameters of BERTScore that are true or false, counts from 1, and texts.
_flags = ("verbose", "idf", "all_layers", "rescale_with_baseline", "use_fast_tokenizer")
_counts = ("num_layers", "batch_size")
_texts = ("model_type", "device", "baseline_path")


def bleu_values(parameters: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield a remark for each value that NLTK's BLEU cannot compute with (H114).

    `path` is the place of the parameters.
    """
    if "weights" in parameters:
        weights = parameters["weights"]
        problem, help_ = _wrong_weights(weights)
        if not problem and _too_few(weights, parameters.get("smoothing_function")):
            problem = "method6 needs the weights of three orders of n-grams at least"
            help_ = "give three weights, or another smoothing_function"
        if problem:
            yield Remark(BLEU_VALUE, (*path, "weights"), problem, help_)
    method = parameters.get("smoothing_function")
    if method is not None and method not in _smoothing:
        yield Remark(
            BLEU_VALUE,
            (*path, "smoothing_function"),
            f"NLTK has no smoothing function {short_json(method)}",
            "use one of method0 to method7, or null",
        )
    if not isinstance(parameters.get("auto_reweigh", False), bool):
        yield Remark(
            BLEU_VALUE,
            (*path, "auto_reweigh"),
            "auto_reweigh is neither true nor false",
            "use true or false, without quotes",
        )


def _wrong_weights(weights: Any) -> tuple[str, str]:
    """Return why BLEU cannot be computed with these weights, and the help, or ""."""
    # NLTK takes several sets of weights, too, and gives a score for each.
    if isinstance(weights, list) and weights and isinstance(weights[0], list):
        return next(filter(any, map(_wrong_weights, weights)), ("", ""))
    if not isinstance(weights, list) or not all(map(_is_number, weights)):
        return (
            "the weights are not a list of numbers",
            "give a number for each order of n-grams, such as [0.25, 0.25, 0.25, 0.25]",
        )
    if not weights:
        return (
            "there are no weights, so n-grams of no order are counted",
            "give a number for each order of n-grams, such as [0.25, 0.25, 0.25, 0.25]",
        )
    if min(weights) < 0:
        return "a weight is less than 0", "give weights of at least 0 whose sum is 1"
    total = _sum_of(weights)
    if abs(total - 1) > _tolerance:
        return (
            f"the sum of the weights is {total:g}, so the score is no BLEU",
            "give weights whose sum is 1",
        )
    return "", ""


def _sum_of(weights: list[float]) -> float:
    """Return the sum of weights of at least 0; infinity if no float holds it."""
    try:
        return math.fsum(weights)
    except OverflowError:
        return math.inf


def _too_few(weights: Any, method: Any) -> bool:
    """Tell whether a method needs more orders of n-grams than weights are for.

    Of several sets of weights, NLTK counts the orders of the longest.
    """
    orders = max(map(len, weights)) if type(weights[0]) is list else len(weights)
    return method == _needs_trigrams and orders < _trigrams


def bertscore_values(parameters: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield a remark for each value that BERTScore cannot compute with (H115).

    `path` is the place of the parameters.
    """
    language = parameters.get("lang")
    # A misspelt name of either is reported as such.
    is_misspelt = any(_misspelt.match(name) for name in parameters)
    if language is None and not parameters.get("model_type") and not is_misspelt:
        yield Remark(
            BERTSCORE_VALUE,
            path,
            "there is neither lang nor model_type, so BERTScore has no model",
            'give the language of the texts, such as "lang": "en", or a model_type',
        )
    elif language is None and parameters.get("rescale_with_baseline") is True:
        yield Remark(
            BERTSCORE_VALUE,
            (*path, "rescale_with_baseline"),
            "BERTScore cannot be rescaled without lang, which names the baseline",
            'give the language of the texts, such as "lang": "en"',
        )
    if language is not None and not _is_language(language):
        yield Remark(
            BERTSCORE_VALUE,
            (*path, "lang"),
            f"{short_json(language)} is no code of a language",
            'use a code such as "en" or "pt": for an unknown one, BERTScore takes its '
            "model of many languages without a word",
        )
    yield from _wrong_kinds(parameters, path)


def _wrong_kinds(parameters: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    kinds: tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...] = (
        (_flags, _is_flag, "true or false"),
        (_counts, _is_count, "a whole number of at least 1"),
        (("nthreads",), _is_whole, "a whole number of at least 0"),
        (_texts, _is_text, "text"),
    )
    for names, fits, wanted in kinds:
        for name in names:
            value = parameters.get(name)
            if value is not None and not fits(value):
                message = f"{name} must be {wanted}, not {short_json(value)}"
                help_ = f"give {wanted}, or remove {name}"
                yield Remark(BERTSCORE_VALUE, (*path, name), message, help_)


def _is_language(value: Any) -> bool:
    return isinstance(value, str) and bool(_language.fullmatch(value))


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value > 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
