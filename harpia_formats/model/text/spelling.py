"""Find the one word among several that a misspelt word stands for.

A word that means something else is never taken for a misspelt one, however near it is:
an opposite (`max_len` for `min_len`), a negation (`is_unsafe` for `is_safe`), a word
that looks alike (`preference` for `reference`), another one of a row (`score_2` for
`score_1`, `answer_b` for `answer_a`), another unit or language (`size_kb` for
`size_mb`, `text_en` for `text_de`).

`difflib.get_close_matches` is no replacement: its ratio cannot tell a swap of two
letters in a short word from two wrong letters, and it ranks where nothing may be
guessed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from harpia_formats.model.text.word_pairs import look_alikes, opposites, other_kinds

#: Edits between two spellings of one word, for words of at least six letters.
EDITS = 2
#: Letters of the longest word that is compared letter by letter.
LONGEST = 100
#: Letters of the shortest word that may have an edit; shorter ones are near everything.
SHORTEST = 3
#: Letters of the shortest name of which a name with one edit is the same, misspelt.
SHORTEST_NAME = 5

#: Prefixes, and words, that turn the meaning of what follows into the contrary.
NEGATIONS = ("in", "un", "non", "not", "no", "dis", "il", "im", "ir", "de", "mis")
#: Words without which, whatever else differs, a name is another one.
_telling_words = frozenset({*NEGATIONS, "anti", "never", "without", "id", "ids", "idx"})
#: Words that may be before a name without changing what it means.
_auxiliaries = ("is", "are", "was", "has")
#: Letters of the shortest word that may have a negating prefix, and of the shortest one
#: of which a misspelt negation is looked for.
_shortest_negated, _shortest_misspelt = 3, 4


def nearest(wanted: str, candidates: Iterable[str]) -> str:
    """Return the one candidate that is near `wanted`, "" if none or several are.

    Near is: equal but for case, hyphens, spaces and underscores, or at most two edits
    away (one for short words), where an edit adds, drops or changes a letter or swaps
    two neighbours (the optimal string alignment distance). A candidate with another
    meaning is passed over.
    """
    near = [
        word
        for word in candidates
        if is_near(wanted, word) and not differ_in_meaning(wanted, word)
    ]
    same = [word for word in near if _letters(word) == _letters(wanted)]
    if len(same) == 1:
        return same[0]
    return near[0] if len(near) == 1 else ""


def hint_on(
    wanted: str,
    candidates: Iterable[str],
    *,
    word: str = "known",
    most: int = 0,
    shown: Callable[[str], str] = str,
) -> str:
    """Return the end of a sentence on an unknown name: what it may be misspelt of.

    If nothing is near, that are all candidates, or the first `most` and the number of
    the others; `word` says what they are, and `shown` returns how a name is written.
    """
    names = list(candidates)
    near = nearest(wanted, names)
    if near:
        return f"; did you mean {shown(near)}?"
    left = len(names) - most if most else 0
    more = f" and {left:,} more" if left > 0 else ""
    listed = ", ".join(map(shown, names[: most or None]))
    return f" ({word}: {listed}{more})" if names else ""


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


def is_slip(given: str, known: str) -> bool:
    """Tell whether `given` can only be the name `known` with a slip of the keyboard.

    So it is if they differ in case, hyphens, spaces and underscores only, or in one
    edit of a name of at least five letters that leaves its first letter, its numbers
    and letters that stand alone as they are, and does not change its meaning.
    """
    one, other = _letters(given), _letters(known)
    if given == known or not one:
        return False
    if one == other:
        return not differ_in_meaning(given, known)
    if sum(map(str.isalpha, other)) < SHORTEST_NAME or one[:1] != other[:1]:
        return False
    ours, theirs = _words(given), _words(known)
    if ours[-1:] != theirs[-1:] and any(len(end[-1]) == 1 for end in (ours, theirs)):
        return False
    is_edit = abs(len(one) - len(other)) <= 1 and edits_between(one, other) == 1
    return is_edit and not differ_in_meaning(given, known)


def differ_in_meaning(given: str, known: str) -> bool:
    """Tell whether `given` is another name than `known`, rather than it misspelt.

    So it is if they differ in a number, in a letter that stands alone, in a whole word
    that is there or not, or by a pair of words that are opposites or look alike; and if
    `given` may as well be a misspelt opposite of `known`. The names are near ones.
    """
    if re.findall(r"\d+", given) != re.findall(r"\d+", known):
        return True
    one, other = _letters(given), _letters(known)
    if one == other:
        return False
    return (
        _has_other_ideographs(one, other)
        or _are_joined_pair(one, other)
        or _have_other_words(_words(given), _words(known))
    )


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case: `["max", "len"]` of `maxLen2`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", spaced)]


def _has_other_ideographs(one: str, other: str) -> bool:
    """Tell whether names differ in a character that is a word by itself."""
    ours, theirs = Counter(one), Counter(other)
    differing = (ours - theirs) + (theirs - ours)
    return any("\u3400" <= letter <= "\u9fff" for letter in differing)


def _have_other_words(given: list[str], known: list[str]) -> bool:
    """Tell whether the words that only one of two names has make it another name."""
    ours, theirs = _left_of(given, known), _left_of(known, given)
    if not (ours and theirs):
        return any(word not in _auxiliaries for word in ours + theirs)
    if len(ours) == len(theirs):
        if all(len(word) == 1 for word in ours + theirs):
            return True
    elif _telling_words.intersection(ours + theirs):
        return True
    return any(
        _are_pair(word, meant)
        or _are_pair(_singular(word), _singular(meant))
        or _may_be_opposite(word, meant)
        for word in ours
        for meant in theirs
    )


def _left_of(words: list[str], others: list[str]) -> list[str]:
    """Return the `words` that are not among the `others`, singular or plural."""
    left, found = Counter(map(_singular, others)), []
    for word in words:
        if left[_singular(word)]:
            left[_singular(word)] -= 1
        else:
            found.append(word)
    return found


def _singular(word: str) -> str:
    """Return a word without the ending of a plural."""
    is_plural = len(word) > SHORTEST and word.endswith("s") and word[-2] not in "su"
    return word[:-1] if is_plural else word


def _are_pair(one: str, other: str) -> bool:
    """Tell whether two words are opposites, look alike, negated, or other units."""
    return (
        other in opposites().get(one, ())
        or other in look_alikes().get(one, ())
        or other in other_kinds().get(one, ())
        or other in _negated(one)
        or one in _negated(other)
    )


def _negated(word: str) -> set[str]:
    """Return a word with each negating prefix."""
    if len(word) < _shortest_negated:
        return set()
    return {prefix + word for prefix in NEGATIONS}


def _may_be_opposite(given: str, known: str) -> bool:
    """Tell whether a word is as near to an opposite of `known` as to `known`."""
    edits = edits_between(given, known)
    contrary = opposites().get(known, frozenset())
    if len(known) >= _shortest_misspelt:
        contrary |= _negated(known)
    return edits <= EDITS and any(
        edits_between(given, word) <= edits for word in contrary
    )


def _are_joined_pair(one: str, other: str) -> bool:
    """Tell whether names that are compared as one word each are a pair.

    Such are `minlen` and `maxlen`, or `isunsafe` and `issafe`.
    """
    if any(
        _are_pair(bare, meant)
        for bare in _without_auxiliary(one)
        for meant in _without_auxiliary(other)
    ):
        return True
    return any(changed == other for changed in _with_opposites(one))


def _without_auxiliary(name: str) -> Iterator[str]:
    """Yield a name, and what follows the auxiliary that it begins with."""
    yield name
    for word in _auxiliaries:
        if name.startswith(word):
            yield name.removeprefix(word)


def _with_opposites(name: str) -> Iterator[str]:
    """Yield a name with its first or last word replaced by an opposite."""
    for word, others in opposites().items():
        if name.startswith(word):
            yield from (other + name.removeprefix(word) for other in others)
        if name.endswith(word):
            yield from (name.removesuffix(word) + other for other in others)


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
