"""The longest common subsequence of two lists of tokens, and of lines of them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from math import isqrt

Tokens = Sequence[str]
#: Where a token stands in a list: a number with a bit set for each of its places.
Masks = Mapping[str, int]


def flat(lines: Sequence[Tokens]) -> Tokens:
    """Return the tokens of all lines."""
    return lines[0] if len(lines) == 1 else list(chain.from_iterable(lines))


def union_hits(reference: Sequence[Tokens], answer: Sequence[Tokens]) -> int:
    """Return how many tokens of a reference the lines of an answer cover together.

    Source: the summary-level ROUGE-L of Lin (2004), section 3.2, with the clipping of
    ROUGE 1.5.5: of each line of the reference the union of the longest common
    subsequences with all lines of the answer, each token counted as often as both
    texts have it.
    """
    left = Counter(flat(answer)) & Counter(flat(reference))
    covered: list[set[int]] = [set() for _ in reference]
    for other in answer:
        masks = masks_of(other)
        for line, places in zip(reference, covered, strict=True):
            places.update(places_of(line, other, masks))
    hits = 0
    for line, places in zip(reference, covered, strict=True):
        for place in sorted(places):
            if left[line[place]] > 0:
                left[line[place]] -= 1
                hits += 1
    return hits


def masks_of(tokens: Tokens) -> Masks:
    """Return where each token stands."""
    masks: dict[str, int] = {}
    for place, token in enumerate(tokens):
        masks[token] = masks.get(token, 0) | 1 << place
    return masks


def places_of(reference: Tokens, answer: Tokens, masks: Masks) -> Iterator[int]:
    """Yield the places in `reference` of its longest common subsequence, from the end.

    Of several that are as long it is the one found by going back from the end in the
    table of lengths: along a match where there is one, else to the answer's token
    before if the length is greater there than at the reference's token before, else
    to the latter. `masks` tells where the tokens of `answer` stand.
    """
    # Tokens of the reference that the answer lacks change nothing in the table.
    met = [place for place, token in enumerate(reference) if token in masks]
    if not met:
        return
    row_of = _rows([masks[reference[each]] for each in met], len(answer))
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
    """Return what tells a row of the table of lengths, given where each token matches.

    A row is a number whose bits are 0 where the length grows by one with a token
    (Hyyrö, Bit-Parallel LCS-length Computation Revisited, 2004). Only one row in each
    block is kept, and the others are worked out again a block at a time: all of them
    could fill the memory.
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
            # On the way back a block is met together with the one behind it only.
            for each in set(blocks) - {block + 1}:
                del blocks[each]
            blocks[block] = list(following(block * size, kept[block], size - 1))
        return blocks[block][place]

    return row_of
