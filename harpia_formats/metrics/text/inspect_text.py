"""How Inspect AI compares texts: the rules of its scorers, read at 0.3.285."""

import math
import re
import string
from collections.abc import Iterator, Sequence

#: Where the text of a reference must be in an answer.
LOCATIONS = ("begin", "end", "any", "exact")
_stripped = string.whitespace + string.punctuation
#: Marks at the ends of a number; a percentage is no number.
_around_numbers = "!?:;()[]{}'\"`~<=>@#^&|"
_currency = re.compile(r"[$,£€*_]")
_lone_point = re.compile(r"\.(?=\s|$|\D)")
_article = re.compile(r"\b(a|an|the)\b")
_no_punctuation = str.maketrans("", "", string.punctuation)
_strict_answer = re.compile(
    r"^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)", re.IGNORECASE | re.MULTILINE
)
_loose_answer = re.compile(
    r"ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\w]|\n|$|\.)", re.IGNORECASE
)


def matches(
    answer: str, reference: str, location: str, *, ignore_case: bool, numeric: bool
) -> bool:
    """Tell whether an answer has the text or the number of a reference at a location.

    White space and ASCII punctuation at the ends do not count. With `numeric`, a
    reference that is a number is compared with the numbers of the answer.
    """
    mine, other = answer.strip(), reference.strip()
    if ignore_case:
        mine, other = mine.casefold(), other.casefold()
    if numeric:
        other = _bare_number(other)
        if _number(other) is not None:
            return _rounded(other) in _numbers_at(_bare_number(mine), location)
    mine, other = mine.strip(_stripped), other.strip(_stripped)
    if location == "begin":
        return mine.startswith(other)
    if location == "end":
        return mine.endswith(other)
    return mine == other if location == "exact" else other in mine


def _numbers_at(text: str, location: str) -> Sequence[str]:
    """Return the numbers of a text at a location, to five digits."""
    if location == "exact":
        return (_rounded(text),)
    numbers = list(_numbers(re.split(r"\s+", text)))
    if location == "any":
        return numbers
    return numbers[:1] if location == "begin" else numbers[-1:]


def _numbers(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        for form in (word, word.strip(_around_numbers)):
            if _number(form) is not None:
                yield _rounded(word.strip(_around_numbers))
                break


def _bare_number(text: str) -> str:
    return _lone_point.sub("", _currency.sub("", text))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _rounded(text: str) -> str:
    value = _number(text)
    return text if value is None else format(value, ".5g")


def word_set(text: str) -> frozenset[str]:
    """Return the different words of a text, without case, punctuation and articles.

    Words end at spaces and hyphens; a word that is a number is that of its float.
    """
    found: set[str] = set()
    for token in re.split(" |-", text):
        folded = token.casefold()
        if not _is_float(folded):
            folded = folded.translate(_no_punctuation)
        if _is_float(folded):
            folded = str(float(folded))
        found.update(_article.sub(" ", folded).split())
    return frozenset(found)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def word_set_f1(answer: frozenset[str], reference: frozenset[str]) -> float:
    """Return the F1 of two sets of words, where an empty one has all of the other."""
    shared = len(answer & reference)
    precision = shared / len(answer) if answer else 1.0
    recall = shared / len(reference) if reference else 1.0
    if not precision and not recall:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def chosen_letters(answer: str, count: int, *, several: bool) -> frozenset[str]:
    """Return the letters behind `ANSWER:` if all are of `count` choices, else none.

    Without `several` it is one letter.
    """
    match = _strict_answer.search(answer) or _loose_answer.search(answer)
    if match is None:
        return frozenset()
    given = match[1].strip().rstrip(".")
    letters = {chr(ord("A") + at) for at in range(count)}
    if not several:
        return frozenset({given} & letters)
    bare = given.replace(" and ", "").replace(" ", "")
    for found in (set(bare.split(",")), set(bare)):
        if found <= letters:
            return frozenset(found)
    return frozenset()
