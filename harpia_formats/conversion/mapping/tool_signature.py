"""The signature of a score that another tool computed and stored."""

from functools import lru_cache


@lru_cache(maxsize=4096)
def tool_signature(metric: str, tool: str, version: str = "", **parts: str) -> str:
    """Return the signature of a score of `metric` that `tool` stored.

    `metric` is the name that the tool gives it, `tool` is the name of its package, such
    as `lm-eval` or `inspect_ai`, and `version` is "" if the file does not say it. The
    parts say which of several scores of that name it is: the `filter` of lm-eval, the
    `scorer` of Inspect, the `perturbation` of HELM. A part without a value is left out.
    The form is that of the signatures of our own metrics, so that scores of two tools
    or versions are never taken for comparable ones.

    >>> tool_signature("exact_match", "lm-eval", "0.4.13", filter="strict-match")
    'exact_match|impl:lm-eval-0.4.13|filter:strict-match'
    >>> tool_signature("f1_score", "helm", perturbation="")
    'f1_score|impl:helm'
    """
    library = f"{tool}-{version}" if version else tool
    named = (f"{name}:{value}" for name, value in parts.items() if value)
    return "|".join(map(_escaped, (metric, f"impl:{library}", *named)))


@lru_cache(maxsize=4096)
def part_of(signature: str, name: str) -> str:
    """Return the value of a part of a signature, "" if it has none of the name.

    >>> part_of("exact_match|impl:lm-eval-0.4.13|filter:strict-match", "filter")
    'strict-match'
    """
    start = f"{name}:"
    parts = signature.split("|")[1:]
    found = next((part for part in parts if part.startswith(start)), start)
    return found.removeprefix(start).replace("%7C", "|")


def _escaped(part: str) -> str:
    """Return a part of a signature without the character that ends parts."""
    return part.replace("|", "%7C")
