"""The longest common subsequence (LCS) of lists of tokens, and of lists of lines."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from math import isqrt

Tokens = Sequence[str]
#: For each token an integer with a bit set for each of its places in a list.
Masks = Mapping[str, int]


def joined_lines(lines: Sequence[Tokens]) -> Tokens:
    """Return the tokens of all lines in one list."""
    return lines[0] if len(lines) == 1 else list(chain.from_iterable(lines))


def union_lcs_hits(reference: Sequence[Tokens], answer: Sequence[Tokens]) -> int:
    """Return the number of tokens of a reference that the lines of an answer cover.

    Source: the summary-level ROUGE-L of Lin (2004), section 3.2, with the clipping of
    ROUGE 1.5.5. A token of a line of the reference is covered if it is in the LCS of
    this line with any line of the answer; a token counts at most as often as both texts
    have it.
    """
    left = Counter(joined_lines(answer)) & Counter(joined_lines(reference))
    covered: list[set[int]] = [set() for _ in reference]
    for other in answer:
        masks = position_masks(other)
        for line, places in zip(reference, covered, strict=True):
            places.update(lcs_places(line, other, masks))
    hits = 0
    for line, places in zip(reference, covered, strict=True):
        for place in sorted(places):
            if left[line[place]] > 0:
                left[line[place]] -= 1
                hits += 1
    return hits


def position_masks(tokens: Tokens) -> Masks:
    """Return a mask of its places for each token."""
    masks: dict[str, int] = {}
    for place, token in enumerate(tokens):
        masks[token] = masks.get(token, 0) | 1 << place
    return masks


def lcs_places(reference: Tokens, answer: Tokens, masks: Masks) -> Iterator[int]:
    """Yield the places in `reference` of one LCS with `answer`, from the end.

    `masks` are the position masks of `answer`. Of several longest subsequences it is
    the one that backtracking through the table of lengths finds from its end: a match
    is followed; otherwise the step goes back in the answer if the length there is
    greater than one step back in the reference, else back in the reference.
    """
    # Tokens that the answer lacks do not change the table, so they are left out.
    met = [place for place, token in enumerate(reference) if token in masks]
    if not met:
        return
    row_of = _rows([masks[reference[place]] for place in met], len(answer))
    row, column = len(met), len(answer)
    while row and column:
        if reference[met[row - 1]] == answer[column - 1]:
            row, column = row - 1, column - 1
            yield met[row]
            continue
        below = (1 << column) - 1
        grown = (~row_of(row) & below).bit_count()
        if grown > (~row_of(row - 1) & below).bit_count():
            column -= 1
        else:
            row -= 1


def _rows(masks: Sequence[int], width: int) -> Callable[[int], int]:
    """Return a function from a row number to that row of the table of lengths.

    `masks` has the matching places for each row. A row is an integer with a 0 bit
    where the length grows by one (Hyyrö, Bit-Parallel LCS-length Computation Revisited,
    2004). To bound memory one row of each block is kept, and the others are computed
    again, one block at a time.
    """
    full = (1 << width) - 1
    size = isqrt(len(masks)) + 1

    def following(start: int, row: int, count: int) -> Iterator[int]:
        yield row
        for mask in masks[start : start + count]:
            shared = row & mask
            row = ((row + shared) | (row - shared)) & full
            yield row

    kept = [full]
    for start in range(0, len(masks), size):
        *_, last = following(start, kept[-1], size)
        kept.append(last)
    blocks: dict[int, list[int]] = {}

    def row_of(number: int) -> int:
        block, place = divmod(number, size)
        if block not in blocks:
            # Backtracking needs at most a block and the one after it.
            for other in set(blocks) - {block + 1}:
                del blocks[other]
            blocks[block] = list(following(block * size, kept[block], size - 1))
        return blocks[block][place]

    return row_of
