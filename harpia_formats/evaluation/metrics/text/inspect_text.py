"""How Inspect AI compares texts: the rules of its scorers, read at 0.3.285."""

import math
import re
import string
from collections import Counter
from collections.abc import Sequence

#: Where the text of a reference must be in an answer.
LOCATIONS = ("begin", "end", "any", "exact")
_stripped = string.whitespace + string.punctuation
#: Marks at the ends of a number; `60%` and `<42` are other values.
_around_numbers = "!?:;()[]{}'\"`"
_escaped = re.compile(r"\\([$,£€*_])")
_currency = re.compile(r"[$,£€*_]")
_lone_point = re.compile(r"\.(?=\s|$|\D)")
_article = re.compile(r"\b(a|an|the)\b")
_no_punctuation = str.maketrans("", "", string.punctuation)
#: What is around letters, and what is left of it.
_wrapped = (
    (re.compile(r"\$\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\$"), r"\1"),
    (re.compile(r"\*\*\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\*\*"), r"\1"),
    (
        re.compile(r"(^|[:,])(\s*)\(([A-Za-z\d])\)(?=\s*(?:,|\.|\n|\Z))"),
        r"\1\2\3",
    ),
)
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
        trimmed = other.strip(_around_numbers)
        if _number(trimmed) is not None:
            return _rounded(trimmed) in _numbers_at(_bare_number(mine), location)
    mine, other = mine.strip(_stripped), other.strip(_stripped)
    if location == "begin":
        return mine.startswith(other)
    if location == "end":
        return mine.endswith(other)
    return mine == other if location == "exact" else other in mine


def _numbers_at(text: str, location: str) -> Sequence[str]:
    """Return the numbers of a text at a location, to five digits."""
    if location == "exact":
        value = _number(text)
        return () if value is None else (format(value, ".5g"),)
    words = (word.strip(_around_numbers) for word in re.split(r"\s+", text))
    numbers = [_rounded(word) for word in words if _number(word) is not None]
    if location == "any":
        return numbers
    return numbers[:1] if location == "begin" else numbers[-1:]


def _bare_number(text: str) -> str:
    return _lone_point.sub("", _currency.sub("", _escaped.sub(r"\1", text)))


def _number(text: str) -> float | None:
    """Return the finite number that a text is for Python, None if it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _rounded(text: str) -> str:
    value = _number(text)
    return text if value is None else format(value, ".5g")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text without case, punctuation and articles.

    Words end at spaces and hyphens; a word that is a number is that of its float.
    """
    found: list[str] = []
    for token in re.split(" |-", text):
        word = _bare_word(token.casefold())
        value = _number(word)
        word = word if value is None else str(value)
        found += _article.sub(" ", word).split()
    return tuple(found)


def _bare_word(token: str) -> str:
    if _number(token) is not None:
        return token
    stripped = token.strip(_stripped)
    if _number(stripped) is not None:
        return stripped
    return token.translate(_no_punctuation)


def words_f1(answer: Sequence[str], reference: Sequence[str]) -> float:
    """Return the F1 of two lists of words, where an empty one has all of the other."""
    shared = sum((Counter(answer) & Counter(reference)).values())
    precision = shared / len(answer) if answer else 1.0
    recall = shared / len(reference) if reference else 1.0
    if not precision and not recall:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def chosen_letters(answer: str, count: int, *, several: bool) -> frozenset[str]:
    """Return the letters behind the last `ANSWER:` if they are of `count` choices.

    None are returned otherwise. Without `several` it is one letter.
    """
    for pattern, kept in _wrapped:
        answer = pattern.sub(kept, answer)
    found = _strict_answer.findall(answer) or _loose_answer.findall(answer)
    if not found:
        return frozenset()
    given = found[-1].strip().rstrip(".").upper()
    letters = {chr(ord("A") + at) for at in range(count)}
    if not several:
        tokens = [token for token in given.split(",") if token]
        return frozenset(tokens if len(tokens) == 1 and tokens[0] in letters else ())
    bare = given.replace(" AND ", ",").replace(" ", "")
    for named in (set(filter(None, bare.split(","))), set(bare)):
        if named <= letters:
            return frozenset(named)
    return frozenset()
