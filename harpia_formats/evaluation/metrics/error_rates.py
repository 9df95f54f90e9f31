"""WER and CER: the edits that turn answers into references, by words or characters."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    FACTORS,
    Measure,
    Metric,
    Parameters,
    Statistics,
    UnscorableError,
    read_parameters,
    references_by_rule,
    require_extra,
    yes_no,
)
from harpia_formats.evaluation.metrics.text.tokens import NORMALISATIONS

#: What several references mean: the one with the lowest rate, or the first alone.
RULES = ("best", "first")
#: The units of an answer by those of a reference that are compared at most. More take
#: seconds.
LARGEST = 10**11

#: The words or characters of a text.
Units = Sequence[str]


def edit_rate(
    name: str,
    defaults: Mapping[str, Any],
    given: Mapping[str, Any],
    units_by: Callable[[Parameters], tuple[str, Callable[[str], Units]]],
) -> Measure:
    """Return the rate of edits called `name`: insertions, deletions, substitutions.

    `units_by` returns the name of the units in signatures, and a function that splits a
    text into them. Raises `MetricError` for an unknown parameter, a bad value or a
    package that is not installed.
    """
    parameters = read_parameters(name, defaults, given)
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    is_bare, rule = parameters.flag("no_punct"), parameters.choice("references", RULES)
    scale = parameters.scale()
    label, split = units_by(parameters)
    normal, factor = NORMALISATIONS[chosen], FACTORS[scale]
    with require_extra("score", name):
        import rapidfuzz  # noqa: PLC0415 - in the extra score
        from rapidfuzz.distance.Levenshtein import distance  # noqa: PLC0415 - see above

    def units(text: str) -> Units:
        text = normal(text)
        return split(without_punctuation(text) if is_bare else text)

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        mine, best = units(answer), (float("inf"), 0, 0)
        for reference in references_by_rule(references, rule):
            other = units(reference)
            if len(mine) * len(other) > LARGEST:
                raise UnscorableError(
                    f"{len(mine):,} units of the answer by {len(other):,} of a "
                    f"reference are more than {LARGEST:,}"
                )
            edits = distance(mine, other)
            best = min(best, (edits / (len(other) or 1), edits, len(other)))
        return (float(best[1]), float(best[2]), 1.0)

    def scores(sums: Sequence[float]) -> tuple[float | None, ...]:
        if not sums or not sums[-1]:
            return (None,)
        edits, length, _ = sums
        # Without a unit in any reference it is the number of edits, as jiwer has it.
        return (factor * edits / (length or 1),)

    signature = (
        f"{name}|impl:rapidfuzz-{rapidfuzz.__version__}|{label}|norm:{chosen}"
        f"|punct:{yes_no(not is_bare)}|refs:{rule}|scale:{scale}"
    )
    return Measure((name,), signature, scale, statistics, scores, lower_is_better=True)


def without_punctuation(text: str) -> str:
    """Return `text` without characters of the Unicode categories of punctuation."""
    return "".join([each for each in text if unicodedata.category(each)[0] != "P"])


_several_spaces = re.compile(r"\s\s+")


def jiwer_words(text: str) -> Units:
    """Return the words of a text as jiwer's default transformation has them.

    They end at spaces and at several white-space characters, not at a single line
    break or tab.
    """
    return [word for word in _several_spaces.sub(" ", text).strip().split(" ") if word]


#: How a text is split into words.
TOKENIZERS: Mapping[str, Callable[[str], Units]] = {
    "jiwer": jiwer_words,
    "whitespace": str.split,
}
WER_DEFAULTS = {
    "tokenizer": "jiwer",
    "normalisation": "none",
    "no_punct": False,
    "references": "best",
    "scale": "0-1",
}


def _words_by(parameters: Parameters) -> tuple[str, Callable[[str], Units]]:
    tokenizer = parameters.choice("tokenizer", tuple(TOKENIZERS))
    return f"tok:{tokenizer}", TOKENIZERS[tokenizer]


def _wer_measure(given: Mapping[str, Any]) -> Measure:
    return edit_rate("wer", WER_DEFAULTS, given, _words_by)


WER_METRIC = Metric(
    "wer",
    "The word error rate of all answers together, as jiwer computes it: the edits of "
    "words by the words of the references; lower is better, and it may exceed 1.",
    WER_DEFAULTS,
    _wer_measure,
    is_pooled=True,
)


CER_DEFAULTS = {
    "normalisation": "none",
    "no_punct": False,
    "references": "best",
    "scale": "0-1",
}


def _cer_measure(given: Mapping[str, Any]) -> Measure:
    return edit_rate("cer", CER_DEFAULTS, given, lambda _: ("tok:character", str.strip))


CER_METRIC = Metric(
    "cer",
    "The character error rate of all answers together, as jiwer computes it: the edits "
    "of characters by the characters of the references; lower is better, and it may "
    "exceed 1.",
    CER_DEFAULTS,
    _cer_measure,
    is_pooled=True,
)
