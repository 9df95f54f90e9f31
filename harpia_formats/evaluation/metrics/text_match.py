"""Metrics of texts: whether an answer is like a reference, and how long it is.

They are exact match, accuracy, fuzzy match, token F1, string check, length and relative
length.
"""

from collections.abc import Callable, Mapping, Sequence

from harpia_formats.evaluation.metrics.metric import (
    OWN_LIBRARY,
    PAIR,
    Measure,
    Metric,
    Parameters,
    Sample,
    Statistics,
    UnscorableError,
    check_rule,
    means,
    pair_measure,
    pooled_measure,
    references_by_rule,
    sample_mean_measure,
)
from harpia_formats.evaluation.metrics.text.tokens import (
    f_score,
    normalisation_of,
    overlap,
    unicode_words,
)


def _exact_match(parameters: Parameters) -> Measure:
    """Return exact match: 1 for an answer that equals a reference when normalised."""
    chosen, normal = normalisation_of(parameters)

    def is_match(answer: str, reference: str) -> float:
        return float(normal(answer) == normal(reference))

    options = f"norm:{chosen}"
    return pair_measure(
        parameters, is_match, options, is_binary=True, same_answer=normal
    )


def _fuzzy_match(parameters: Parameters) -> Measure:
    """Return fuzzy match: 1 if one of both texts has the other when normalised."""
    chosen, normal = normalisation_of(parameters)
    targets = parameters.choice("targets", TARGETS)

    def is_match(answer: str, reference: str) -> float:
        mine, other = normal(answer), normal(reference)
        return float(other in mine or mine in other)

    of_references = pair_measure(
        parameters,
        is_match,
        f"norm:{chosen}|targets:{targets}",
        is_binary=True,
        same_answer=normal,
    )
    if targets == "references":
        return of_references

    def of_sample(sample: Sample) -> float:
        answer, texts = sample.answer or "", sample.correct_answers
        if texts is None:
            return float(of_references.statistics(answer, sample.references)[0] > 0)
        if not isinstance(texts, list) or not all(
            isinstance(one, str) for one in texts
        ):
            raise UnscorableError("metadata.correct_answers is no list of texts")
        return max((is_match(answer, text) for text in texts), default=0.0)

    return sample_mean_measure(
        parameters.metric,
        of_references.signature.removesuffix(f"|scale:{of_references.scale}"),
        of_sample,
        PAIR,
        of_references.scale,
        is_binary=True,
        uses=("correct_answers",),
        same_answer=of_references.same_answer,
    )


#: What an answer is compared with: the references, or the texts in the member
#: `correct_answers` of the metadata where a record has them.
TARGETS = ("references", "correct_answers")
#: The score if a text has no word: with v2 it is 1 if both have none. SQuAD v1.1 finds
#: no common word and returns 0, and so does "zero", the name of other tools for it.
EMPTY = ("v1", "v2", "zero")


def _token_f1(parameters: Parameters) -> Measure:
    """Return the F1 of the words of an answer and a reference when normalised."""
    chosen, normal = normalisation_of(parameters)
    empty = parameters.choice("empty", EMPTY)

    def score(answer: str, reference: str) -> float:
        mine, other = normal(answer).split(), normal(reference).split()
        if not (mine or other):
            return float(empty == "v2")
        return f_score(overlap(mine, other), len(mine), len(other))

    options = f"norm:{chosen}|empty:{empty}"
    return pair_measure(parameters, score, options, same_answer=normal)


#: The comparison of an answer, on the left, with a reference.
OPERATIONS: Mapping[str, Callable[[str, str], bool]] = {
    "equals": lambda left, right: left == right,
    "not equals": lambda left, right: left != right,
    "contains": lambda left, right: right in left,
    "not contains": lambda left, right: right not in left,
    "startswith": str.startswith,
    "endswith": str.endswith,
}
ALIASES = {"==": "equals", "!=": "not equals", "<>": "not equals"}


def _string_check(parameters: Parameters) -> Measure:
    """Return whether answers have a relation to references as texts."""
    name = parameters.choice("operation", (*OPERATIONS, *ALIASES))
    operation = ALIASES.get(name, name)
    rule = check_rule(parameters, is_negated=operation.startswith("not "))
    holds, folds = OPERATIONS[operation], parameters.flag("ignore_case")

    def check(answer: str, reference: str) -> float:
        if folds:
            return float(holds(answer.casefold(), reference.casefold()))
        return float(holds(answer, reference))

    return pair_measure(
        parameters,
        check,
        f"op:{operation.replace(' ', '-')}{'|case:folded' if folds else ''}",
        rule,
        is_binary=True,
        same_answer=str.casefold if folds else str,
    )


_EXACT_MATCH = {"normalisation": "squad", "references": "max", "scale": "0-1"}
METRICS = (
    Metric.of(
        "em",
        "The share of answers that equal a reference in SQuAD's normalisation (lower "
        "case, without ASCII punctuation and the articles a, an, the).",
        _EXACT_MATCH,
        _exact_match,
    ),
    Metric.of(
        "accuracy",
        "The share of answers that equal a reference, character by character.",
        {**_EXACT_MATCH, "normalisation": "none"},
        _exact_match,
    ),
    Metric.of(
        "f1",
        "The mean F1 of the words that an answer and a reference share, in SQuAD's "
        "normalisation; two texts without words are alike (empty: v2) or not (v1, "
        "zero).",
        {"normalisation": "squad", "empty": "v2", "references": "max", "scale": "0-1"},
        _token_f1,
    ),
    Metric.of(
        "fuzzy-match",
        "The share of answers that contain a reference or are part of one, after "
        "NeMo's normalisation. Beware: an empty answer, and one of punctuation or "
        "articles alone, matches every reference.",
        {
            "normalisation": "nel",
            "targets": "references",
            "references": "max",
            "scale": "0-1",
        },
        _fuzzy_match,
    ),
)
STRING_CHECK_METRIC = Metric.of(
    "string-check",
    "The share of answers that equal, contain, start with or end with a reference, "
    "or do not, case and all.",
    {"operation": "equals", "references": None, "ignore_case": False},
    _string_check,
)


#: The length of a text by the name of the unit: code points; runs of letters and
#: digits, and characters of scripts without spaces; runs between white space.
LENGTHS: Mapping[str, Callable[[str], int]] = {
    "characters": len,
    "words": lambda text: len(unicode_words(text)),
    "tokens": lambda text: len(text.split()),
}


def _length(_: Parameters) -> Measure:
    """Return the lengths of answers in all units."""

    def statistics(answer: str, references: Sequence[str]) -> Statistics:  # noqa: ARG001 - as all metrics
        return (*(float(length(answer)) for length in LENGTHS.values()), 1.0)

    def of_sample(sample: Sample) -> Statistics:
        return statistics(sample.answer or "", ())

    return Measure(
        tuple(LENGTHS),
        f"length|{OWN_LIBRARY}|words:unicode|tokens:whitespace|scale:any",
        "any",
        statistics,
        means(len(LENGTHS)),
        is_mean=True,
        lower_is_better=None,
        needs=("answer",),
        of_sample=of_sample,
    )


def _relative_length(parameters: Parameters) -> Measure:
    """Return the length of answers by that of their references in one unit."""
    unit = parameters.choice("unit", tuple(LENGTHS))
    rule = parameters.choice("references", ("closest", "first"))
    length = LENGTHS[unit]

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        mine = length(answer)
        others = map(length, references_by_rule(references, rule))
        # Of two that are as close the shorter one counts.
        closest = min(others, key=lambda other: (abs(other - mine), other))
        return (float(mine), float(closest), 1.0)

    return pooled_measure(
        parameters.metric,
        f"{parameters.metric}|{OWN_LIBRARY}|unit:{unit}|refs:{rule}",
        "any",
        statistics,
        lambda sums: sums[0] / sums[1] if sums[1] else None,
        lower_is_better=None,
    )


LENGTH_METRICS = (
    Metric.of(
        "length",
        "The mean length of the answers in characters, words and tokens between white "
        "space; it needs no reference, and no length is the best.",
        {},
        _length,
    ),
    Metric.of(
        "relative-length",
        "The length of all answers by that of all references, each the closest one of "
        "its record; 1 is as long, and references without a word add nothing to divide "
        "by.",
        {"unit": "words", "references": "closest"},
        _relative_length,
        is_pooled=True,
    ),
)
