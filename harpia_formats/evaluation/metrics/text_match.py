"""Metrics of like texts: exact match, accuracy, fuzzy match, token F1, string check."""

from collections.abc import Callable, Mapping
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    CHECK_RULES,
    OWN_LIBRARY,
    PAIR,
    RULES,
    Measure,
    Metric,
    Sample,
    UnscorableError,
    mean_measure,
    read_parameters,
    sample_mean_measure,
    score_over_references,
)
from harpia_formats.evaluation.metrics.text.tokens import (
    NORMALISATIONS,
    f_score,
    overlap,
)


def exact_match_measure(name: str, defaults: Mapping[str, Any], given: Any) -> Measure:
    """Return exact match with its parameters, from 0 to 1 or from 0 to 100.

    A record scores 1 if its answer equals a reference after normalisation, else 0.
    Raises `MetricError` for an unknown parameter or a bad value.
    """
    parameters = read_parameters(name, defaults, given)
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    rule, scale = parameters.choice("references", RULES), parameters.scale()
    normal = NORMALISATIONS[chosen]

    def is_match(answer: str, reference: str) -> float:
        return float(normal(answer) == normal(reference))

    signature = f"{name}|{OWN_LIBRARY}|norm:{chosen}|refs:{rule}"
    return mean_measure(
        name,
        signature,
        score_over_references(is_match, rule),
        scale,
        is_binary=True,
        same_answer=normal,
    )


EXACT_MATCH_DEFAULTS = {"normalisation": "squad", "references": "max", "scale": "0-1"}
EXACT_MATCH_METRIC = Metric(
    "em",
    "The share of answers that equal a reference in SQuAD's normalisation (lower case, "
    "without ASCII punctuation and the articles a, an, the).",
    EXACT_MATCH_DEFAULTS,
    lambda given: exact_match_measure("em", EXACT_MATCH_DEFAULTS, given),
)


ACCURACY_DEFAULTS = {**EXACT_MATCH_DEFAULTS, "normalisation": "none"}
ACCURACY_METRIC = Metric(
    "accuracy",
    "The share of answers that equal a reference, character by character.",
    ACCURACY_DEFAULTS,
    lambda given: exact_match_measure("accuracy", ACCURACY_DEFAULTS, given),
)


FUZZY_MATCH_DEFAULTS = {
    "normalisation": "nel",
    "targets": "references",
    "references": "max",
    "scale": "0-1",
}
#: What an answer is compared with: the references, or the texts in the member
#: `correct_answers` of the metadata where a record has them.
TARGETS = ("references", "correct_answers")


def _fuzzy_match_measure(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("fuzzy-match", FUZZY_MATCH_DEFAULTS, given)
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    rule, scale = parameters.choice("references", RULES), parameters.scale()
    targets = parameters.choice("targets", TARGETS)
    normal = NORMALISATIONS[chosen]

    def is_match(answer: str, reference: str) -> float:
        mine, other = normal(answer), normal(reference)
        return float(other in mine or mine in other)

    signature = f"fuzzy-match|{OWN_LIBRARY}|norm:{chosen}|targets:{targets}|refs:{rule}"
    best = score_over_references(is_match, rule)
    if targets == "references":
        return mean_measure(
            "fuzzy-match", signature, best, scale, is_binary=True, same_answer=normal
        )

    def of_sample(sample: Sample) -> float:
        answer, texts = sample.answer or "", sample.correct_answers
        if texts is None:
            return best(answer, sample.references)
        if not isinstance(texts, list) or not all(
            isinstance(one, str) for one in texts
        ):
            raise UnscorableError("metadata.correct_answers is no list of texts")
        return max((is_match(answer, text) for text in texts), default=0.0)

    return sample_mean_measure(
        "fuzzy-match",
        signature,
        of_sample,
        PAIR,
        scale,
        is_binary=True,
        uses=("correct_answers",),
        same_answer=lambda sample: normal(sample.answer or ""),
    )


FUZZY_MATCH_METRIC = Metric(
    "fuzzy-match",
    "The share of answers that contain a reference or are part of one, after NeMo's "
    "normalisation. Beware: an empty answer, and one of punctuation or articles alone, "
    "matches every reference.",
    FUZZY_MATCH_DEFAULTS,
    _fuzzy_match_measure,
)


TOKEN_F1_DEFAULTS = {
    "normalisation": "squad",
    "empty": "v2",
    "references": "max",
    "scale": "0-1",
}
#: The score if one text has no word, by whether both have none. SQuAD v1.1 finds no
#: common word and returns 0, and so does "zero", the name of other tools for it.
EMPTY: Mapping[str, Callable[[bool], float]] = {
    "v1": lambda _: 0.0,
    "v2": float,
    "zero": lambda _: 0.0,
}


def _token_f1_measure(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("f1", TOKEN_F1_DEFAULTS, given)
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    empty = parameters.choice("empty", tuple(EMPTY))
    rule, scale = parameters.choice("references", RULES), parameters.scale()
    normal, of_empty = NORMALISATIONS[chosen], EMPTY[empty]

    def score(answer: str, reference: str) -> float:
        mine, other = normal(answer).split(), normal(reference).split()
        if not mine or not other:
            return of_empty(mine == other)
        return f_score(overlap(mine, other), len(mine), len(other))

    signature = f"f1|{OWN_LIBRARY}|norm:{chosen}|empty:{empty}|refs:{rule}"
    return mean_measure(
        "f1",
        signature,
        score_over_references(score, rule),
        scale,
        same_answer=normal,
    )


TOKEN_F1_METRIC = Metric(
    "f1",
    "The mean F1 of the words that an answer and a reference share, in SQuAD's "
    "normalisation; two texts without words are alike (empty: v2) or not (v1, zero).",
    TOKEN_F1_DEFAULTS,
    _token_f1_measure,
)


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
#: Operations that must hold for every reference.
NEGATIONS = frozenset({"not equals", "not contains"})
STRING_CHECK_DEFAULTS = {
    "operation": "equals",
    "references": None,
    "ignore_case": False,
}


def _string_check_measure(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("string-check", STRING_CHECK_DEFAULTS, given)
    name = parameters.choice("operation", (*OPERATIONS, *ALIASES))
    operation = ALIASES.get(name, name)
    rule = "min" if operation in NEGATIONS else "max"
    if parameters.values["references"] is not None:
        rule = parameters.choice("references", CHECK_RULES)
    holds, folds = OPERATIONS[operation], parameters.flag("ignore_case")

    def check(answer: str, reference: str) -> float:
        if folds:
            return float(holds(answer.casefold(), reference.casefold()))
        return float(holds(answer, reference))

    signature = f"string-check|{OWN_LIBRARY}|op:{operation.replace(' ', '-')}"
    signature += f"{'|case:folded' if folds else ''}|refs:{rule}"
    return mean_measure(
        "string-check",
        signature,
        score_over_references(check, rule),
        is_binary=True,
        same_answer=str.casefold if folds else str,
    )


STRING_CHECK_METRIC = Metric(
    "string-check",
    "The share of answers that equal, contain, start with or end with a reference, "
    "or do not, case and all.",
    STRING_CHECK_DEFAULTS,
    _string_check_measure,
)
