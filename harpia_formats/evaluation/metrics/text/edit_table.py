"""The table of edit distances of two lists of words, around its diagonal.

Its cell (i, j) belongs to the first i words of one list and the first j of the other.
Only cells near the diagonal are computed, as in sacrebleu 2 and Tercom.
"""

import math

#: Words as numbers, equal ones as equal numbers.
Words = list[int]
#: The costs of the computed cells of one row.
Row = list[int]

#: Cells on each side of the diagonal that are computed.
BEAM = 25
#: The cost of a cell that is not computed.
_NEVER = 10**16


class EditTable:
    """The table of the edits that turn `words` into `reference`, both not empty."""

    def __init__(self, words: Words, reference: Words) -> None:
        """Compute the table."""
        self.words = words
        self.reference = reference
        count, length = len(words), len(reference)
        ratio = length / count
        beam = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
        diagonal = [math.floor(row * ratio) for row in range(1, count + 1)]
        #: The first computed cell of each row, and the one behind the last.
        self._starts = [0, *(max(0, place - beam) for place in diagonal)]
        self._ends = [min(length + 1, place + beam) for place in (length, *diagonal)]
        self._ends[0] = self._ends[-1] = length + 1
        #: The word of the reference that each cell has behind it; none for cell 0.
        self._letters = [-1, *reference]
        #: The costs from the beginning to each cell, and from each cell to the end.
        self._before: list[Row] = [list(range(length + 1))]
        for row in range(1, count + 1):
            self._before.append(self._next(row, self._before[-1], words[row - 1]))
        self._behind: list[Row] = [[]] * (count + 1)
        self._behind[count] = list(range(length - self._starts[-1], -1, -1))
        for row in range(count - 1, -1, -1):
            self._behind[row] = self._previous(row, self._behind[row + 1])

    @property
    def edits(self) -> int:
        """The number of edits."""
        return self._before[-1][-1]

    def edits_with(self, changed: Words, first: int, last: int) -> int:
        """Return the number of edits if `changed` were the words first to last."""
        row = self._before[first]
        for at, word in enumerate(changed, first + 1):
            row = self._next(at, row, word)
        return min(map(int.__add__, row, self._behind[last]))

    def replace(self, changed: Words, first: int, last: int) -> None:
        """Make `changed` the words from `first` to `last`, as many as there are."""
        self.words = self.words[:first] + changed + self.words[last:]
        count = len(self.words)
        before, behind = self._before, self._behind
        for row in range(first + 1, count + 1):
            found = self._next(row, before[row - 1], self.words[row - 1])
            if row > last and (more := _difference(found, before[row])) is not None:
                # From here on all costs differ by as much.
                for later in range(row, count + 1):
                    before[later] = [cost + more for cost in before[later]]
                break
            before[row] = found
        for row in range(last - 1, -1, -1):
            found = self._previous(row, behind[row + 1])
            if row < first and (more := _difference(found, behind[row])) is not None:
                for earlier in range(row + 1):
                    behind[earlier] = [cost + more for cost in behind[earlier]]
                break
            behind[row] = found

    def trace(self) -> str:
        """Return the edits in their order.

        They are a space for a word that stays, s for one that is substituted, d for one
        that is deleted and i for one that is inserted. Of several shortest ways it is
        the one that sacrebleu takes: from the end, a step of both lists if it can be,
        else a deletion.
        """
        row, cell = len(self.words), len(self.reference)
        found = []
        while row and cell:
            cost = self._cost(row, cell)
            is_same = self.words[row - 1] == self.reference[cell - 1]
            if self._cost(row - 1, cell - 1) + (not is_same) == cost:
                found.append(" " if is_same else "s")
                row, cell = row - 1, cell - 1
            elif self._cost(row - 1, cell) + 1 == cost:
                found.append("d")
                row -= 1
            else:
                found.append("i")
                cell -= 1
        found.append("d" * row + "i" * cell)
        return "".join(reversed(found))

    def _cost(self, row: int, cell: int) -> int:
        start = self._starts[row]
        return (
            self._before[row][cell - start]
            if start <= cell < self._ends[row]
            else _NEVER
        )

    def _next(self, row: int, above: Row, word: int) -> Row:
        """Return the costs to the cells of a row, given those of the row above it."""
        start, end = self._starts[row], self._ends[row]
        skipped = start - self._starts[row - 1]
        diagonal = above[skipped - 1] if skipped else _NEVER
        missing = end - self._ends[row - 1]
        ups = above[skipped:] + [_NEVER] * missing if missing > 0 else above[skipped:]
        left, found = _NEVER, []
        for up, letter in zip(ups, self._letters[start:end], strict=False):
            cost = diagonal if word == letter else diagonal + 1
            if up < cost:
                cost = up + 1
            if left < cost:
                cost = left + 1
            found.append(cost)
            left, diagonal = cost, up
        return found

    def _previous(self, row: int, below: Row) -> Row:
        """Return the costs from the cells of a row, given those of the row below it."""
        start, end, word = self._starts[row], self._ends[row], self.words[row]
        low, high = self._starts[row + 1], self._ends[row + 1]
        downs = [_NEVER] * (low - start) + below + [_NEVER] * (end + 1 - high)
        right, found = _NEVER, []
        letters = self._letters[start + 1 : end + 1]
        letters += [-1] * (end - start - len(letters))
        for cell in range(end - start - 1, -1, -1):
            cost = downs[cell + 1] + (word != letters[cell])
            if downs[cell] < cost:
                cost = downs[cell] + 1
            if right < cost:
                cost = right + 1
            found.append(cost)
            right = cost
        found.reverse()
        return found


def _difference(one: Row, other: Row) -> int | None:
    """Return by how much all costs of a row exceed those of another, if by as much."""
    more = one[0] - other[0]
    if all(a - b == more for a, b in zip(one, other, strict=True)):
        return more
    return None
