"""The scorers match, exact, f1 and choice of Inspect AI, as metrics of stored answers.

Source: inspect_ai 0.3.285. What Inspect calls accuracy or mean is the mean of their
scores; its standard error is that of the means of the epochs of each sample.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    OWN_LIBRARY,
    Measure,
    Metric,
    Sample,
    mean_measure,
    read_parameters,
    require_references,
    sample_mean_measure,
    score_over_references,
    yes_no,
)

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


MATCH = {"location": "end", "ignore_case": True, "numeric": False}
NOTHING: dict[str, Any] = {}


def _match(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("inspect-match", MATCH, given)
    location = parameters.choice("location", LOCATIONS)
    ignore_case, numeric = parameters.flag("ignore_case"), parameters.flag("numeric")

    def check(answer: str, reference: str) -> float:
        return float(
            matches(
                answer, reference, location, ignore_case=ignore_case, numeric=numeric
            )
        )

    signature = (
        f"inspect-match|{OWN_LIBRARY}|location:{location}"
        f"|case:{'folded' if ignore_case else 'mixed'}|numeric:{yes_no(numeric)}"
        "|refs:max"
    )
    score = score_over_references(check, "max")
    return mean_measure("inspect-match", signature, score, is_binary=True)


def _words(references: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the words of each reference that has any; Inspect leaves out others."""
    return filter(None, map(words_of, require_references(references)))


def _exact(given: Mapping[str, Any]) -> Measure:
    read_parameters("inspect-exact", NOTHING, given)

    def score(answer: str, references: Sequence[str]) -> float:
        mine = words_of(answer)
        return float(any(other == mine for other in _words(references)))

    signature = f"inspect-exact|{OWN_LIBRARY}|refs:max"
    return mean_measure("inspect-exact", signature, score, is_binary=True)


def _f1(given: Mapping[str, Any]) -> Measure:
    read_parameters("inspect-f1", NOTHING, given)

    def score(answer: str, references: Sequence[str]) -> float:
        mine = words_of(answer)
        found = (words_f1(mine, other) for other in _words(references))
        return round(max(found, default=0.0), 2)

    signature = f"inspect-f1|{OWN_LIBRARY}|digits:2|refs:max"
    return mean_measure("inspect-f1", signature, score)


def _choice(given: Mapping[str, Any]) -> Measure:
    read_parameters("inspect-choice", NOTHING, given)

    def score(sample: Sample) -> float:
        right = {letter.upper() for text in sample.references for letter in text}
        several = len(sample.references) > 1
        found = chosen_letters(
            sample.answer or "", len(sample.choices), several=several
        )
        return float(found == right)

    signature = f"inspect-choice|{OWN_LIBRARY}|refs:all"
    needs = ("answer", "references", "choices")
    return sample_mean_measure(
        "inspect-choice", signature, score, needs, is_binary=True
    )


METRICS = (
    Metric(
        "inspect-match",
        "The share of answers that end with a reference (or begin with it, have it or "
        "are it: location), without case and marks at the ends, as Inspect's match().",
        MATCH,
        _match,
    ),
    Metric(
        "inspect-exact",
        "The share of answers with the words of a reference, without case, punctuation "
        "and articles, as Inspect's exact().",
        NOTHING,
        _exact,
    ),
    Metric(
        "inspect-f1",
        "The mean F1 of the words of an answer and a reference, each rounded to two "
        "digits, as Inspect's f1().",
        NOTHING,
        _f1,
    ),
    Metric(
        "inspect-choice",
        "The share of answers whose letters behind `ANSWER:` are all of the references "
        "and no others, as Inspect's choice(); an answer without such is wrong.",
        NOTHING,
        _choice,
    ),
)
