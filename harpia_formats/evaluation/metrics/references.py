"""Scoring an answer against several references."""

from collections.abc import Callable, Sequence

from harpia_formats.evaluation.metrics.metric import UnscorableError

NO_REFERENCE = "there is no reference to compare the answer with"
NOT_A_LIST = "references are a list of strings, and not one string"
#: The rules for several references of a metric that compares with one reference:
#: the best score, or that of the first reference.
RULES = ("max", "first")
#: The rules of checks; "min" is for checks that must hold for all references.
CHECK_RULES = ("max", "min", "first")
#: The rules of a metric that compares with several references at once.
POOLED_RULES = ("all", "first")


def require_references(references: Sequence[str]) -> Sequence[str]:
    """Return `references`, a list with at least one string.

    Raises `UnscorableError` if it is empty, and `TypeError` if it is a string, whose
    letters would be read as references.
    """
    if isinstance(references, str):
        raise TypeError(NOT_A_LIST)
    if not references:
        raise UnscorableError(NO_REFERENCE)
    return references


def references_by_rule(references: Sequence[str], rule: str) -> Sequence[str]:
    """Return the references that `rule` ("max", "min", "all" or "first") selects.

    Raises what `require_references` raises.
    """
    given = require_references(references)
    return given[:1] if rule == "first" else given


def score_over_references(
    score: Callable[[str, str], float], rule: str
) -> Callable[[str, Sequence[str]], float]:
    """Return a function that scores an answer against a list of references.

    `score` compares an answer with one reference. The result is its largest value for
    the rule "max", its smallest for "min" and that of the first reference for "first".
    References for which `score` raises `UnscorableError` are left out; if it does for
    all of them, so does the returned function.
    """

    def best(answer: str, references: Sequence[str]) -> float:
        given = references_by_rule(references, rule)
        if len(given) == 1:
            return score(answer, given[0])
        found = _all_scores(score, answer, given)
        return min(found) if rule == "min" else max(found)

    return best


def _all_scores(
    score: Callable[[str, str], float], answer: str, references: Sequence[str]
) -> list[float]:
    found, reason = [], UnscorableError(NO_REFERENCE)
    for reference in references:
        try:
            found.append(score(answer, reference))
        except UnscorableError as unscorable:
            reason = unscorable
    if not found:
        raise reason
    return found
