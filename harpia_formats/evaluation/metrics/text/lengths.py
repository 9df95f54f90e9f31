"""The lengths of a text, in several units."""

from collections.abc import Callable, Mapping

from harpia_formats.evaluation.metrics.text.rouge_tokens import unicode_words


def _characters(text: str) -> int:
    return len(text)


def _words(text: str) -> int:
    return len(unicode_words(text))


def _tokens(text: str) -> int:
    return len(text.split())


#: The length of a text by the name of the unit: code points; runs of letters and
#: digits, and characters of scripts without spaces; runs between white space.
LENGTHS: Mapping[str, Callable[[str], int]] = {
    "characters": _characters,
    "words": _words,
    "tokens": _tokens,
}
