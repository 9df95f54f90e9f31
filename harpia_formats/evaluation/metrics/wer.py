"""WER: the edits of words that turn answers into references, by words of references.

Source: jiwer, which computes the word error rate of speech recognition. Scores start at
0, lower is better, and they may exceed 1.
"""

from collections.abc import Callable, Mapping
from typing import Any

from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import Parameters
from harpia_formats.evaluation.metrics.text.edit_rate import (
    Units,
    edit_rate,
    jiwer_words,
)

#: How a text is split into words.
TOKENIZERS: Mapping[str, Callable[[str], Units]] = {
    "jiwer": jiwer_words,
    "whitespace": str.split,
}
DEFAULTS = {
    "tokenizer": "jiwer",
    "normalisation": "none",
    "no_punct": False,
    "references": "best",
    "scale": "0-1",
}


def _words_by(parameters: Parameters) -> tuple[str, Callable[[str], Units]]:
    tokenizer = parameters.choice("tokenizer", tuple(TOKENIZERS))
    return f"tok:{tokenizer}", TOKENIZERS[tokenizer]


def _measure_of(given: Mapping[str, Any]) -> Measure:
    return edit_rate("wer", DEFAULTS, given, _words_by)


METRIC = Metric(
    "wer",
    "The word error rate of all answers together, as jiwer computes it: the edits of "
    "words by the words of the references; lower is better, and it may exceed 1.",
    DEFAULTS,
    _measure_of,
    is_pooled=True,
)
