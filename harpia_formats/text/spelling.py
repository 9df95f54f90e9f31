"""Which of several words was probably meant."""

from collections.abc import Iterable

#: Edits between two spellings of one word, for words of at least six letters.
EDITS = 2
#: Letters of the longest word that is compared letter by letter.
LONGEST = 100


def nearest(wanted: str, candidates: Iterable[str]) -> str:
    """Return the one candidate that is nearly `wanted`, or "" if none or several are.

    Near is: equal but for case, hyphens and underscores, or at most two edits away
    (one for short words), where an edit adds, drops or changes a letter or swaps two
    neighbours (the optimal string alignment distance).
    """
    near = [each for each in candidates if is_near(wanted, each)]
    same = [each for each in near if _plain(each) == _plain(wanted)]
    if len(same) == 1:
        return same[0]
    return near[0] if len(near) == 1 else ""


def is_near(wanted: str, found: str) -> bool:
    """Tell whether `found` is nearly `wanted`, without being it."""
    if wanted == found:
        return False
    if abs(len(wanted) - len(found)) > LONGEST:
        return False
    one, other = _plain(wanted), _plain(found)
    if one == other:
        return True
    allowed = EDITS if min(len(one), len(other)) >= 3 * EDITS else 1
    if max(len(one), len(other)) > LONGEST:
        return False
    if min(len(one), len(other)) < 3 or abs(len(one) - len(other)) > allowed:  # noqa: PLR2004 - shorter words are near everything
        return False
    return edits_between(one, other) <= allowed


def _plain(word: str) -> str:
    return word.casefold().replace("_", "").replace("-", "").replace(" ", "")


def edits_between(one: str, other: str) -> int:
    """Return the optimal string alignment distance of two short words."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, against in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != against))
            swapped = (
                i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against
            )
            row.append(min(cost, before[j - 2] + 1) if swapped else cost)
        before, last = last, row
    return last[-1]
