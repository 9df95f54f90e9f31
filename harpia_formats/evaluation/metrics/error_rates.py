"""TER, WER and CER: the edits that turn answers into references, by their length.

Source of TER: Snover and others, A Study of Translation Edit Rate with Targeted Human
Annotation (2006). The tokens of TER are sacrebleu's, and so are its edits, which are
counted here in less time. Lower is better, and rates may exceed 1, or 100 percent.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from harpia_formats.evaluation.metrics.metric import (
    FACTORS,
    Measure,
    Metric,
    Parameters,
    Statistics,
    UnscorableError,
    pooled_measure,
    references_by_rule,
    require_extra,
    require_references,
    yes_no,
)
from harpia_formats.evaluation.metrics.text.tokens import normalisation_of

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


#: The words of the longest text; the edits of longer ones take seconds and memory.
MOST_WORDS = 10_000


def _ter(parameters: Parameters) -> Measure:
    """Return the translation edit rate; raises `MetricError`."""
    flags: dict[str, Any] = {name: parameters.flag(name) for name in parameters.values}
    with require_extra("score", "ter"):
        import sacrebleu  # noqa: PLC0415 - in the extra score
        from sacrebleu.metrics.ter import TER  # noqa: PLC0415 - in the extra score
    tokenizer: Any = TER(**flags).tokenizer
    # It caches each text, and would grow with the data set.
    cached: Any = type(tokenizer).__call__

    def words_of(text: str) -> Sequence[str]:
        words: list[str] = tokenizer(text.rstrip()).split()
        if len(words) > MOST_WORDS:
            raise UnscorableError(
                f"a text of {len(words):,} words is longer than {MOST_WORDS:,}"
            )
        return words

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        try:
            mine = words_of(answer)
            # sacrebleu splits references twice, which tells where it normalizes them.
            others = [
                words_of(tokenizer(text.rstrip()))
                for text in require_references(references)
            ]
        finally:
            cached.cache_clear()
        edits = min(translation_edits(mine, other) for other in others)
        return (float(edits), sum(map(len, others)) / len(others), 1.0)

    signature = (
        f"ter|impl:sacrebleu-{sacrebleu.__version__}"
        f"|case:{'mixed' if flags['case_sensitive'] else 'lc'}|tok:tercom"
        f"|norm:{yes_no(flags['normalized'])}|punct:{yes_no(not flags['no_punct'])}"
        f"|asian:{yes_no(flags['asian_support'])}|refs:all"
    )
    return pooled_measure(
        "ter",
        signature,
        "0-100",
        statistics,
        # It is 100 or 0 if there are no words.
        lambda sums: 100 * (sums[0] / sums[1] if sums[1] > 0 else float(sums[0] > 0)),
        lower_is_better=True,
    )


#: What several references mean: the one with the lowest rate, or the first alone.
RULES = ("best", "first")
#: The units of an answer by those of a reference that are compared at most. More take
#: seconds.
LARGEST = 10**11

#: The words or characters of a text.
Units = Sequence[str]


def edit_rate(
    parameters: Parameters, tokenizer: str, split: Callable[[str], Units]
) -> Measure:
    """Return the rate of edits: insertions, deletions, substitutions of units.

    `split` makes units of a text, and `tokenizer` is its name in signatures. Raises
    `MetricError` for a bad value or a package that is not installed.
    """
    name, (chosen, normal) = parameters.metric, normalisation_of(parameters)
    is_bare, rule = parameters.flag("no_punct"), parameters.choice("references", RULES)
    scale = parameters.scale()
    factor = FACTORS[scale]
    with require_extra("score", name):
        import rapidfuzz  # noqa: PLC0415 - in the extra score
        from rapidfuzz.distance.Levenshtein import distance  # noqa: PLC0415 - see above

    def units(text: str) -> Units:
        text = normal(text)
        return split(without_punctuation(text) if is_bare else text)

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        mine, best = units(answer), (float("inf"), 0, 0)
        for reference in references_by_rule(references, rule):
            other = units(reference)
            if len(mine) * len(other) > LARGEST:
                raise UnscorableError(
                    f"{len(mine):,} units of the answer by {len(other):,} of a "
                    f"reference are more than {LARGEST:,}"
                )
            edits = distance(mine, other)
            best = min(best, (edits / (len(other) or 1), edits, len(other)))
        return (float(best[1]), float(best[2]), 1.0)

    signature = (
        f"{name}|impl:rapidfuzz-{rapidfuzz.__version__}|tok:{tokenizer}|norm:{chosen}"
        f"|punct:{yes_no(not is_bare)}|refs:{rule}"
    )
    return pooled_measure(
        name,
        signature,
        scale,
        statistics,
        # Without a unit in any reference it is the number of edits, as jiwer has it.
        lambda sums: factor * sums[0] / (sums[1] or 1),
        lower_is_better=True,
    )


def without_punctuation(text: str) -> str:
    """Return `text` without characters of the Unicode categories of punctuation."""
    return "".join([each for each in text if unicodedata.category(each)[0] != "P"])


_several_spaces = re.compile(r"\s\s+")


def jiwer_words(text: str) -> Units:
    """Return the words of a text as jiwer's default transformation has them.

    They end at spaces and at several white-space characters, not at a single line
    break or tab.
    """
    return [word for word in _several_spaces.sub(" ", text).strip().split(" ") if word]


#: How a text is split into words.
TOKENIZERS: Mapping[str, Callable[[str], Units]] = {
    "jiwer": jiwer_words,
    "whitespace": str.split,
}


def _wer(parameters: Parameters) -> Measure:
    """Return the word error rate; raises `MetricError`."""
    tokenizer = parameters.choice("tokenizer", tuple(TOKENIZERS))
    return edit_rate(parameters, tokenizer, TOKENIZERS[tokenizer])


_RATE = {
    "normalisation": "none",
    "no_punct": False,
    "references": "best",
    "scale": "0-1",
}
METRICS = (
    Metric.of(
        "ter",
        "sacrebleu's translation edit rate of the whole corpus, in percent: lower is "
        "better, and it may exceed 100.",
        dict.fromkeys(
            ("normalized", "no_punct", "asian_support", "case_sensitive"), False
        ),
        _ter,
        is_pooled=True,
    ),
    Metric.of(
        "wer",
        "The word error rate of all answers together, as jiwer computes it: the edits "
        "of words by the words of the references; lower is better, and it may exceed "
        "1.",
        {"tokenizer": "jiwer", **_RATE},
        _wer,
        is_pooled=True,
    ),
    Metric.of(
        "cer",
        "The character error rate of all answers together, as jiwer computes it: the "
        "edits of characters by the characters of the references; lower is better, and "
        "it may exceed 1.",
        _RATE,
        lambda parameters: edit_rate(parameters, "character", str.strip),
        is_pooled=True,
    ),
)
