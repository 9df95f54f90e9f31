"""Comparison of the paths of fields, for tests of what a conversion reports."""

from collections.abc import Iterable


def unrelated(paths: Iterable[str], others: Iterable[str]) -> set[str]:
    """Return the paths that equal, contain and are below none of the others."""
    known = [f"{each}." for each in others]
    return {
        path
        for path in paths
        if not any(
            f"{path}.".startswith(each) or each.startswith(f"{path}.") for each in known
        )
    }
