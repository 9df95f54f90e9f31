"""Scorers of Inspect AI and lm-eval, as metrics of stored answers.

Sources: match, exact, f1 and choice of inspect_ai 0.3.285, and acc, acc_norm and
exact_match of lm-eval. What Inspect calls accuracy or mean is the mean of its scores;
its standard error is that of the means of the epochs of each sample.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from harpia_formats.conversion.mapping.stored_choices import (
    UnknownChoiceError,
    likeliest_choice,
    right_choices,
)
from harpia_formats.evaluation.metrics.metric import (
    OWN_LIBRARY,
    PAIR,
    Measure,
    Metric,
    MetricError,
    Parameters,
    Sample,
    UnscorableError,
    mean_measure,
    pair_measure,
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


def _match(parameters: Parameters) -> Measure:
    """Return Inspect's match; raises `MetricError`."""
    location = parameters.choice("location", LOCATIONS)
    ignore_case, numeric = parameters.flag("ignore_case"), parameters.flag("numeric")
    is_match = partial(
        matches, location=location, ignore_case=ignore_case, numeric=numeric
    )

    def check(answer: str, reference: str) -> float:
        return float(is_match(answer, reference))

    case = "folded" if ignore_case else "mixed"
    options = f"location:{location}|case:{case}|numeric:{yes_no(numeric)}"
    return pair_measure(parameters, check, options, "max", is_binary=True)


def _words(references: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the words of each reference that has any; Inspect leaves out others."""
    return filter(None, map(words_of, require_references(references)))


def _exact(_: Parameters) -> Measure:
    """Return Inspect's exact."""

    def score(answer: str, references: Sequence[str]) -> float:
        mine = words_of(answer)
        return float(any(other == mine for other in _words(references)))

    signature = f"inspect-exact|{OWN_LIBRARY}|refs:max"
    return mean_measure("inspect-exact", signature, score, is_binary=True)


def _f1(_: Parameters) -> Measure:
    """Return Inspect's f1."""

    def score(answer: str, references: Sequence[str]) -> float:
        mine = words_of(answer)
        found = (words_f1(mine, other) for other in _words(references))
        return round(max(found, default=0.0), 2)

    signature = f"inspect-f1|{OWN_LIBRARY}|digits:2|refs:max"
    return mean_measure("inspect-f1", signature, score)


def _choice(_: Parameters) -> Measure:
    """Return Inspect's choice."""

    def score(sample: Sample) -> float:
        right = {letter.upper() for text in sample.references for letter in text}
        answer, several = sample.answer or "", len(sample.references) > 1
        found = chosen_letters(answer, len(sample.choices), several=several)
        return float(found == right)

    signature = f"inspect-choice|{OWN_LIBRARY}|refs:all"
    needs = (*PAIR, "choices")
    return sample_mean_measure(
        "inspect-choice", signature, score, needs, is_binary=True
    )


def _acc(parameters: Parameters) -> Measure:
    """Return acc of lm-eval, or acc_norm; raises `MetricError`."""
    by_length = parameters.flag("by_length")

    def score(sample: Sample) -> float:
        choices, likelihoods = sample.choices, sample.likelihoods or ()
        try:
            taken = likeliest_choice(choices, likelihoods, by_length=by_length)
            right = right_choices(choices, sample.references, sample.target)
        except UnknownChoiceError as error:
            raise UnscorableError(str(error)) from error
        return float(taken in right)

    return sample_mean_measure(
        parameters.metric,
        f"{parameters.metric}|{OWN_LIBRARY}|by-length:{yes_no(by_length)}|refs:max",
        score,
        ("references", "choices", "likelihoods"),
        is_binary=True,
        uses=("target",),
    )


#: The name of the filter that keeps the whole answer.
NO_FILTER = "none"
_FLAGS = ("ignore_case", "ignore_punctuation", "ignore_numbers")


def _exact_match(parameters: Parameters) -> Measure:
    """Return exact_match of lm-eval; raises `MetricError`."""
    patterns = _patterns(parameters)
    case, punctuation, numbers = (parameters.flag(name) for name in _FLAGS)
    name = _filter(parameters)
    dropped = str.maketrans(
        "", "", string.punctuation * punctuation + string.digits * numbers
    )

    def normal(text: str) -> str:
        for pattern in patterns:
            text = pattern.sub("", text)
        # Arrays of numpy, which the harness compares, end texts before null characters.
        text = text.rstrip("\0")
        return (text.lower() if case else text).translate(dropped)

    def is_match(answer: str, reference: str) -> float:
        return float(normal(answer) == normal(reference))

    ignored = "+".join(pattern.pattern for pattern in patterns) or "no"
    signature = (
        f"{parameters.metric}|{OWN_LIBRARY}|regexes:{ignored.replace('|', '/')}"
        f"|case:{'lc' if case else 'mixed'}|punct:{yes_no(not punctuation)}"
        f"|numbers:{yes_no(not numbers)}|filter:{name or NO_FILTER}|refs:max"
    )
    best = score_over_references(is_match, "max")

    def of_sample(sample: Sample) -> float:
        return best(_scored_text(sample, name), sample.references)

    return sample_mean_measure(
        parameters.metric,
        signature,
        of_sample,
        PAIR,
        is_binary=True,
        uses=("extracted",),
        same_answer=lambda sample: normal(_scored_text(sample, name)),
    )


def _scored_text(sample: Sample, name: str | None) -> str:
    """Return what the filter `name` kept of an answer, all of it if there is no filter.

    Raises `UnscorableError`, without a reason for an answer of another filter.
    """
    kept = sample.extracted or {}
    if not kept and name in {None, NO_FILTER}:
        return sample.answer or ""
    found = kept.get(name or NO_FILTER)
    if found is not None:
        return found
    if (name or NO_FILTER) in kept:
        raise UnscorableError(
            f"what the filter {name or NO_FILTER} kept is not one text"
        )
    if name is None:
        raise UnscorableError(
            f"the parameter filter must say which one counts: {', '.join(kept)}"
        )
    raise UnscorableError


def _filter(parameters: Parameters) -> str | None:
    """Return the name of the filter, None if none is given; raises `MetricError`."""
    value = parameters.values["filter"]
    if value is None or (isinstance(value, str) and value):
        return value or None
    raise parameters.wrong("filter", "the name of a filter, such as strict-match")


def _patterns(parameters: Parameters) -> list[re.Pattern[str]]:
    """Return the regular expressions to leave out; raises `MetricError`."""
    given = parameters.values["regexes_to_ignore"]
    if not isinstance(given, list | tuple) or not all(
        isinstance(text, str) for text in given
    ):
        raise parameters.wrong("regexes_to_ignore", "a list of regular expressions")
    try:
        return [re.compile(text) for text in given]
    except re.error as error:
        raise MetricError(
            f"a regular expression of {parameters.metric}.regexes_to_ignore is wrong: "
            f"{error}"
        ) from error


METRICS = (
    Metric.of(
        "lm-eval-exact-match",
        "The share of answers, or of what a filter kept of them, that equal a "
        "reference after regular expressions, case, punctuation or digits are left "
        "out, as lm-eval's exact_match.",
        {"regexes_to_ignore": [], **dict.fromkeys(_FLAGS, False), "filter": None},
        _exact_match,
    ),
    Metric.of(
        "lm-eval-acc",
        "The share of records of which a right choice has the highest stored "
        "log-likelihood, by its length or not, as lm-eval's acc_norm and acc of "
        "multiple choice.",
        {"by_length": False},
        _acc,
    ),
    Metric.of(
        "inspect-match",
        "The share of answers that end with a reference (or begin with it, have it or "
        "are it: location), without case and marks at the ends, as Inspect's match().",
        {"location": "end", "ignore_case": True, "numeric": False},
        _match,
    ),
    Metric.of(
        "inspect-exact",
        "The share of answers with the words of a reference, without case, punctuation "
        "and articles, as Inspect's exact().",
        {},
        _exact,
    ),
    Metric.of(
        "inspect-f1",
        "The mean F1 of the words of an answer and a reference, each rounded to two "
        "digits, as Inspect's f1().",
        {},
        _f1,
    ),
    Metric.of(
        "inspect-choice",
        "The share of answers whose letters behind `ANSWER:` are all of the references "
        "and no others, as Inspect's choice(); an answer without such is wrong.",
        {},
        _choice,
    ),
)
