"""The edits of the translation edit rate (TER): edits of words, and shifts of phrases.

Sources: Snover and others, A Study of Translation Edit Rate with Targeted Human
Annotation (2006); the limits, and the choice between shifts, are those of sacrebleu 2,
whose edits are the same. Here a shift that is tried computes only the rows of the table
between the words that it moves, so that its time does not grow with the texts.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from harpia_formats.evaluation.metrics.text.edit_table import EditTable, Words

#: The words of the longest shifted phrase, the farthest shift, and the shifts of all
#: phrases that are tried.
LONGEST, FARTHEST, MOST_SHIFTS = 10, 50, 1000


class _Shift(NamedTuple):
    """A shift of a phrase; the largest one is made."""

    saved: int
    length: int
    #: The place of its first word and the place before which it is put, negative.
    start: int
    target: int


class _Errors(NamedTuple):
    """The alignment of a reference with an answer."""

    #: The place of the last word of the answer before or at each word of the reference.
    places: list[int]
    #: How many of the first words of the answer, and of the reference, are edited.
    of_answer: list[int]
    of_reference: list[int]


def translation_edits(answer: Sequence[str], reference: Sequence[str]) -> int:
    """Return the number of edits and shifts that turn an answer into a reference.

    The search is greedy: as long as one saves edits, the best shift is made.
    """
    if not answer or not reference:
        return len(answer) + len(reference)
    numbers: dict[str, int] = {}
    mine, other = (
        [numbers.setdefault(word, len(numbers)) for word in words]
        for words in (answer, reference)
    )
    table = EditTable(mine, other)
    positions: dict[int, list[int]] = {}
    for place, word in enumerate(other):
        positions.setdefault(word, []).append(place)
    shifts = tried = 0
    while True:
        best, tried = _best_shift(table, positions, tried)
        if tried >= MOST_SHIFTS or best is None or best.saved <= 0:
            return shifts + table.edits
        shifts += 1
        words, first, last = _shifted(
            table.words, -best.start, best.length, -best.target
        )
        table.replace(words, first, last)


def _best_shift(
    table: EditTable, positions: dict[int, list[int]], tried: int
) -> tuple[_Shift | None, int]:
    """Return the shift that saves most edits, and how many shifts were tried by now."""
    best: _Shift | None = None
    errors = _errors(table.trace())
    found: dict[tuple[int, int, int], int] = {}
    for start, other, length in _phrases(table, positions, errors):
        last_target = -1
        for place in range(other - 1, other + length):
            if place >= len(errors.places):
                break
            target = 0 if place < 0 else errors.places[place] + 1
            if target == last_target:
                continue
            last_target = target
            key = start, length, target
            edits = found.get(key)
            if edits is None:
                edits = found[key] = table.edits_with(
                    *_shifted(table.words, start, length, target)
                )
            shift = _Shift(table.edits - edits, length, -start, -target)
            if best is None or shift > best:
                best = shift
            tried += 1
        if tried >= MOST_SHIFTS:
            break
    return best, tried


def _phrases(
    table: EditTable, positions: dict[int, list[int]], errors: _Errors
) -> Iterator[tuple[int, int, int]]:
    """Yield the phrases to shift: the place in both texts, and the number of words.

    Both texts have the phrase, an edit in its place, and not aligned with itself.
    """
    words, reference = table.words, table.reference
    places, of_answer, of_reference = errors
    count, total = len(words), len(reference)
    for start in range(count):
        if of_answer[min(count, start + LONGEST)] == of_answer[start]:
            continue
        for other in positions.get(words[start], ()):
            if other < start - FARTHEST:
                continue
            if other > start + FARTHEST:
                break
            most = min(LONGEST, count - start, total - other)
            length = 0
            while length < most and words[start + length] == reference[other + length]:
                length += 1
                if (
                    of_answer[start + length] > of_answer[start]
                    and of_reference[other + length] > of_reference[other]
                    and not start <= places[other] < start + length
                ):
                    yield start, other, length


def _errors(trace: str) -> _Errors:
    """Return the alignment of a trace, which is of the letters of `EditTable.trace`."""
    places: list[int] = []
    of_answer, of_reference = [], []
    place = -1
    for edit in trace:
        if edit != "i":
            place += 1
            of_answer.append(int(edit != " "))
        if edit != "d":
            places.append(place)
            of_reference.append(int(edit != " "))
    return _Errors(
        places,
        list(accumulate(of_answer, initial=0)),
        list(accumulate(of_reference, initial=0)),
    )


def _shifted(
    words: Words, start: int, length: int, target: int
) -> tuple[Words, int, int]:
    """Return the words that a shift changes, in their new order, and where they are.

    The places are those of the first one and behind the last one. A phrase that is put
    within itself is put that many words behind its end.
    """
    phrase = words[start : start + length]
    if target < start:
        return phrase + words[target:start], target, start + length
    if target > start + length:
        return words[start + length : target] + phrase, start, target
    end = min(length + target, len(words))
    return words[start + length : end] + phrase, start, end
