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

#: Cells on each side of the diagonal of the table of edits that are computed.
BEAM = 25
#: The cost of a cell that is not computed.
_NEVER = 10**16
#: The words of the longest shifted phrase, the farthest shift, and the shifts of all
#: phrases that are tried.
LONGEST, FARTHEST, MOST_SHIFTS = 10, 50, 1000


class _Way(NamedTuple):
    """How words become the reference, each different word as one character."""

    words: str
    #: The number of edits.
    edits: int
    #: The edits in their order: a space for a word that stays, s for one that is
    #: substituted, d for one that is deleted and i for one that is inserted.
    trace: str
    #: The rows of the table of edits, one more than words: the place of the first cell,
    #: the costs, and the last edits.
    rows: list[tuple[int, list[int], Sequence[str]]]


def translation_edits(answer: Sequence[str], reference: Sequence[str]) -> int:
    """Return the number of edits and shifts that turn an answer into a reference.

    The search is greedy: as long as one saves edits, the best shift is made.
    """
    if not answer or not reference:
        return len(answer) + len(reference)
    letters: dict[str, str] = {}
    mine, other = (
        "".join([letters.setdefault(word, chr(len(letters))) for word in words])
        for words in (answer, reference)
    )
    costs = list(range(len(other) + 1))
    way, shifts, tried = _way(mine, other, [(0, costs, "i" * len(costs))]), 0, 0
    while True:
        best, tried = _best_shift(way, other, tried)
        if tried >= MOST_SHIFTS or best is None:
            return shifts + way.edits
        way, shifts = best, shifts + 1


def _way(
    words: str, reference: str, known: Sequence[tuple[int, list[int], Sequence[str]]]
) -> _Way:
    """Return the way that sacrebleu takes of several shortest ones.

    From the end it is a step of both texts if it can be, else a deletion. `known` are
    the first rows of the table.
    """
    length, ratio = len(reference), len(reference) / len(words)
    beam = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
    rows = list(known)
    for row in range(len(rows), len(words) + 1):
        start, above, _ = rows[-1]
        word, place = words[row - 1], math.floor(row * ratio)
        first = max(0, place - beam)
        end = length + 1 if row == len(words) else min(length + 1, place + beam)
        left, diagonal = _NEVER, above[first - start - 1] if first > start else _NEVER
        ups = above[first - start :]
        ups += [_NEVER] * (end - first - len(ups))
        costs, edits = [], []
        # No word leads to cell 0.
        letters = reference[first - 1 : end - 1] if first else f" {reference}"[:end]
        for up, letter in zip(ups, letters, strict=False):
            if word == letter:
                cost, edit = diagonal, " "
            else:
                cost, edit = diagonal + 1, "s"
            if up + 1 < cost:
                cost, edit = up + 1, "d"
            if left + 1 < cost:
                cost, edit = left + 1, "i"
            costs.append(cost)
            edits.append(edit)
            left, diagonal = cost, up
        rows.append((first, costs, edits))
    trace, row, cell = [], len(words), length
    while row or cell:
        start, _, last = rows[row]
        trace.append(last[cell - start])
        row, cell = row - (trace[-1] != "i"), cell - (trace[-1] != "d")
    return _Way(words, rows[-1][1][-1], "".join(reversed(trace)), rows)


def _best_shift(way: _Way, reference: str, tried: int) -> tuple[_Way | None, int]:
    """Return the way after the shift that saves most edits, None if none saves any.

    With it is how many shifts were tried by now.
    """
    from rapidfuzz.distance.Levenshtein import distance  # noqa: PLC0415 - in the extra score

    best, most = None, (0, LONGEST + 1, 0, 0)
    places = _places(way.trace)
    for start, other, length in _phrases(way, reference, places):
        last_target = -1
        for place in range(other - 1, min(other + length, len(places))):
            target = 0 if place < 0 else places[place] + 1
            if target == last_target:
                continue
            last_target = target
            tried += 1
            shifted = _shifted(way.words, start, length, target)
            rank = (length, -start, -target)
            # Within the beam there are at least as many edits as without one.
            if (way.edits - distance(shifted, reference), *rank) > most:
                same = way.rows[: min(start, target) + 1]
                found = _way(shifted, reference, same)
                if (way.edits - found.edits, *rank) > most:
                    best, most = found, (way.edits - found.edits, *rank)
        if tried >= MOST_SHIFTS:
            break
    return best, tried


def _places(trace: str) -> list[int]:
    """Return the place of the last word of the answer at each word of the reference."""
    ends = accumulate((edit != "i" for edit in trace), initial=-1)
    next(ends)
    return [end for edit, end in zip(trace, ends, strict=True) if edit != "d"]


def _edited(trace: str, other: str) -> list[int]:
    """Return how many of the first words of one text are edited.

    `other` is the edit that has no word of this text.
    """
    own = (edit != " " for edit in trace if edit != other)
    return list(accumulate(own, initial=0))


def _phrases(
    way: _Way, reference: str, places: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield the phrases to shift: the place in both texts, and the number of words.

    Both texts have the phrase, an edit in its place, and not aligned with itself.
    """
    words, count, total = way.words, len(way.words), len(reference)
    of_answer, of_reference = _edited(way.trace, "i"), _edited(way.trace, "d")
    for start, word in enumerate(words):
        if of_answer[min(count, start + LONGEST)] == of_answer[start]:
            continue
        other = reference.find(word, max(0, start - FARTHEST))
        while 0 <= other <= start + FARTHEST:
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
            other = reference.find(word, other + 1)


def _shifted(words: str, start: int, length: int, target: int) -> str:
    """Return words of which a phrase is put before `target`.

    One that is put within itself is put that many words behind its end.
    """
    rest = words[:start] + words[start + length :]
    place = target - length if target > start + length else target
    return rest[:place] + words[start : start + length] + rest[place:]


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
