"""Find the one word among several that a misspelt word stands for.

`difflib.get_close_matches` is no replacement: its ratio cannot tell a swap of two
letters in a short word from two wrong letters, and it ranks where nothing may be
guessed.
"""

from collections.abc import Iterable

#: Edits between two spellings of one word, for words of at least six letters.
EDITS = 2
#: Letters of the longest word that is compared letter by letter.
LONGEST = 100
#: Letters of the shortest word that may have an edit; shorter ones are near everything.
SHORTEST = 3


def nearest(wanted: str, candidates: Iterable[str]) -> str:
    """Return the one candidate that is near `wanted`, "" if none or several are.

    Near is: equal but for case, hyphens, spaces and underscores, or at most two edits
    away (one for short words), where an edit adds, drops or changes a letter or swaps
    two neighbours (the optimal string alignment distance).
    """
    near = [word for word in candidates if is_near(wanted, word)]
    same = [word for word in near if _letters(word) == _letters(wanted)]
    if len(same) == 1:
        return same[0]
    return near[0] if len(near) == 1 else ""


def is_near(wanted: str, found: str) -> bool:
    """Tell whether `found` is near `wanted`, without being the same word."""
    if wanted == found or abs(len(wanted) - len(found)) > LONGEST:
        return False
    one, other = _letters(wanted), _letters(found)
    if one == other:
        return True
    shorter, longer = sorted((len(one), len(other)))
    allowed = EDITS if shorter >= 3 * EDITS else 1
    if longer > LONGEST or shorter < SHORTEST or longer - shorter > allowed:
        return False
    return edits_between(one, other) <= allowed


def _letters(word: str) -> str:
    """Return `word` without case, hyphens, spaces and underscores."""
    return word.casefold().replace("_", "").replace("-", "").replace(" ", "")


def edits_between(one: str, other: str) -> int:
    """Return the optimal string alignment distance of two words.

    The time grows with the product of their lengths.
    """
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
