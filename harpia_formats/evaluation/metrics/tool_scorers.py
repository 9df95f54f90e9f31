"""Scorers of Inspect AI and lm-eval, as metrics of stored answers.

Sources: match, exact, f1 and choice of inspect_ai 0.3.285, and acc, acc_norm and
exact_match of lm-eval. What Inspect calls accuracy or mean is the mean of its scores;
its standard error is that of the means of the epochs of each sample.
"""

import math
import operator
import re
import string
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice

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
from harpia_formats.evaluation.metrics.text.tokens import f_score, overlap
from harpia_formats.evaluation.metrics.text.written_numbers import written_number

#: Where the text of a reference, on the right, must be in an answer.
LOCATIONS: Mapping[str, Callable[[str, str], bool]] = {
    "begin": str.startswith,
    "end": str.endswith,
    "any": operator.contains,
    "exact": operator.eq,
}
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


def _numbers_at(text: str, location: str) -> Sequence[str | None]:
    """Return the numbers of a text at a location, to five digits."""
    if location == "exact":
        return [_rounded(text)]
    words = text.split()
    if location == "end":
        words.reverse()
    found = (_rounded(word.strip(_around_numbers)) for word in words)
    numbers = (number for number in found if number is not None)
    return [*(numbers if location == "any" else islice(numbers, 1))]


def _bare_number(text: str) -> str:
    return _lone_point.sub("", _currency.sub("", _escaped.sub(r"\1", text)))


def _number(text: str) -> float | None:
    """Return the finite number that a text is for Python, None if it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _rounded(text: str) -> str | None:
    value = _number(text)
    if value is None:
        value = written_number(text)
    is_number = value is not None and math.isfinite(value)
    return format(value, ".5g") if is_number else None


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text without case, punctuation and articles.

    Words end at spaces and hyphens; a word that is a number is that of its float.
    """
    tokens = re.split(" |-", text.casefold())
    return tuple(" ".join(_article.sub(" ", _word(each)) for each in tokens).split())


def _word(token: str) -> str:
    bare = token.translate(_no_punctuation)
    values = map(_number, (token, token.strip(_stripped), bare))
    return next((str(value) for value in values if value is not None), bare)


def chosen_names(answer: str, count: int, *, several: bool) -> frozenset[str]:
    """Return the names behind the last `ANSWER:` if they are of `count` choices.

    They are letters, and behind Z the numbers from 1. None are returned otherwise.
    Without `several` it is one name.
    """
    for pattern, kept in _wrapped:
        answer = pattern.sub(kept, answer)
    found = _strict_answer.findall(answer) or _loose_answer.findall(answer)
    if not found:
        return frozenset()
    given = found[-1].strip().rstrip(".").upper()
    numbers = map(str, range(1, count - len(string.ascii_uppercase) + 1))
    names = {*string.ascii_uppercase[:count], *numbers}
    if not several:
        tokens = [token for token in given.split(",") if token]
        return frozenset(tokens if len(tokens) == 1 and tokens[0] in names else ())
    bare = given.replace(" AND ", ",").replace(" ", "")
    for named in (set(filter(None, bare.split(","))), set(bare)):
        if named <= names:
            return frozenset(named)
    return frozenset()


def _match(parameters: Parameters) -> Measure:
    """Return Inspect's match; raises `MetricError`.

    White space and ASCII punctuation at the ends do not count. With `numeric`, a
    reference that is a number is compared with the numbers of the answer.
    """
    location = parameters.choice("location", tuple(LOCATIONS))
    ignore_case, numeric = parameters.flag("ignore_case"), parameters.flag("numeric")

    def check(answer: str, reference: str) -> float:
        mine, other = answer.strip(), reference.strip()
        if ignore_case:
            mine, other = mine.casefold(), other.casefold()
        if numeric:
            other = _bare_number(other)
            wanted = _rounded(other.strip(_around_numbers))
            if wanted is not None:
                return float(wanted in _numbers_at(_bare_number(mine), location))
        return float(LOCATIONS[location](mine.strip(_stripped), other.strip(_stripped)))

    case = "folded" if ignore_case else "mixed"
    options = f"location:{location}|case:{case}|numeric:{yes_no(numeric)}"
    return pair_measure(parameters, check, options, "max", is_binary=True)


#: The words of a text.
Words = tuple[str, ...]


def _by_words(
    compare: Callable[[Words, Words], float], options: str, parameters: Parameters
) -> Measure:
    """Return the best comparison of words; Inspect leaves out references without any.

    `options` are a part of the signature.
    """

    def score(answer: str, references: Sequence[str]) -> float:
        mine = words_of(answer)
        others = filter(None, map(words_of, require_references(references)))
        return float(max((compare(mine, other) for other in others), default=0))

    name = parameters.metric
    signature = f"{name}|{OWN_LIBRARY}{options}|refs:max"
    return mean_measure(name, signature, score, is_binary=compare is operator.eq)


def _rounded_f1(answer: Words, reference: Words) -> float:
    shared = overlap(answer, reference)
    return round(f_score(shared, len(answer), len(reference)), 2)


def _choice(_: Parameters) -> Measure:
    """Return Inspect's choice."""

    def score(sample: Sample) -> float:
        parts = " ".join(sample.references).replace(",", " ").upper().split()
        right = set().union(*([one] if one.isnumeric() else one for one in parts))
        answer, several = sample.answer or "", len(right) > 1
        found = chosen_names(answer, len(sample.choices), several=several)
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
        # Arrays of numpy, which the harness compares, end texts before null characters.
        for pattern in patterns:
            text = pattern.sub("", text).rstrip("\0")
        return (text.lower() if case else text).translate(dropped).rstrip("\0")

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
    kept, wanted = sample.extracted or {}, name or NO_FILTER
    if not kept and wanted == NO_FILTER:
        return sample.answer or ""
    if wanted not in kept:
        if name is not None:
            raise UnscorableError
        raise UnscorableError(
            f"the parameter filter must say which one counts: {', '.join(kept)}"
        )
    found = kept[wanted]
    if found is None:
        raise UnscorableError(f"what the filter {wanted} kept is not one text")
    return found


def _filter(parameters: Parameters) -> str | None:
    """Return the name of the filter, None if none is given; raises `MetricError`."""
    value = parameters.values["filter"]
    if value is None or (isinstance(value, str) and value):
        return value
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
        partial(_by_words, operator.eq, ""),
    ),
    Metric.of(
        "inspect-f1",
        "The mean F1 of the words of an answer and a reference, each rounded to two "
        "digits, as Inspect's f1().",
        {},
        partial(_by_words, _rounded_f1, "|digits:2"),
    ),
    Metric.of(
        "inspect-choice",
        "The share of answers whose letters behind `ANSWER:` are all of the references "
        "and no others, as Inspect's choice(); an answer without such is wrong.",
        {},
        _choice,
    ),
)
