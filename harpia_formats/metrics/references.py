"""Which references an answer is compared with, and which of the scores counts."""

from collections.abc import Callable, Sequence

from harpia_formats.metrics.metric import UnscorableError

NO_REFERENCE = "there is no reference to compare the answer with"
NOT_A_LIST = "references are a list of strings, and not one string"
#: How a metric that compares with one reference deals with several.
RULES = ("max", "first")
#: The same of checks, of which some hold only if they hold for all references.
CHECK_RULES = ("max", "min", "first")
#: How a metric that can compare with several at once deals with them.
POOLED_RULES = ("all", "first")


def require_references(references: Sequence[str]) -> Sequence[str]:
    """Return `references`.

    Raises `UnscorableError` if there are none, and `TypeError` for one string, whose
    letters would be taken for references.
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
    """Return what gives the best score of an answer over its references by `rule`.

    By the rule "min" it is the worst, as of what must be true of every reference.

    A reference with which `score` raises `UnscorableError` is left out; where that is
    true of all, so does what is returned.
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
    for each in references:
        try:
            found.append(score(answer, each))
        except UnscorableError as unscorable:
            reason = unscorable
    if not found:
        raise reason
    return found
