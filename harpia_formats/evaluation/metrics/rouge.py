"""ROUGE: the F1 of the n-grams or subsequences that answers and references share.

Sources: Lin, ROUGE: A Package for Automatic Evaluation of Summaries (2004), and the
package rouge-score 0.1.2, whose results these are. Scores are from 0 to 1.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import isqrt

from harpia_formats.evaluation.metrics.metric import (
    RULES,
    Measure,
    Metric,
    Parameters,
    Statistics,
    means,
    references_by_rule,
    require_extra,
    yes_no,
)
from harpia_formats.evaluation.metrics.text.tokens import (
    TOKENIZERS,
    Lines,
    f_score,
    line_tokenizer,
    ngrams,
    overlap,
)

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
    size = isqrt(len(masks))

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


#: The length of the n-grams of each score.
SIZES = {"rouge1": 1, "rouge2": 2, "rouge3": 3}
NAMES = (*SIZES, "rougeL", "rougeLsum")
DEFAULTS = {"tokenizer": "rouge_score", "stemmer": False, "references": "max"}
#: Returns the length of the longest common subsequence of two lists.
Length = Callable[[Sequence[str], Sequence[str]], int]
#: Returns F1 of an answer and a reference for each name.
Scores = Callable[[Lines, Lines], tuple[float, ...]]


def scores_of(names: Sequence[str], length: Length) -> Scores:
    """Return a function that computes the scores `names` of an answer and a reference.

    `names` is a part of `NAMES` in the same order. Both texts are lists of lines, each
    of which is a list of tokens; each score is from 0 to 1.
    """
    sizes = [SIZES[name] for name in names if name in SIZES]
    whole, by_line = "rougeL" in names, "rougeLsum" in names

    def scores(answer: Lines, reference: Lines) -> tuple[float, ...]:
        mine, other = joined_lines(answer), joined_lines(reference)
        found = [_ngram_f1(mine, other, size) for size in sizes]
        several = by_line and (len(answer) > 1 or len(reference) > 1)
        if whole or (by_line and not several):
            shared = f_score(length(mine, other), len(mine), len(other))
            found += [shared] * (whole + (by_line and not several))
        if several:
            hits = union_lcs_hits(reference, answer)
            found.append(f_score(hits, len(mine), len(other)))
        return tuple(found)

    return scores


def _ngram_f1(answer: Sequence[str], reference: Sequence[str], size: int) -> float:
    mine, other = ngrams(answer, size), ngrams(reference, size)
    return f_score(overlap(mine, other), len(mine), len(other))


def _measure_of(names: tuple[str, ...], parameters: Parameters) -> Measure:
    """Return the metric of these scores; raises `MetricError`."""
    tokenizer = parameters.choice("tokenizer", tuple(TOKENIZERS))
    stemmer, rule = parameters.flag("stemmer"), parameters.choice("references", RULES)
    with require_extra("score", parameters.metric):
        import rapidfuzz  # noqa: PLC0415 - in the extra score
        from rapidfuzz.distance.LCSseq import similarity  # noqa: PLC0415 - in the extra score
    lines = line_tokenizer(tokenizer, stemmer=stemmer)
    scores = scores_of(names, similarity)

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        mine = lines(answer)
        given = references_by_rule(references, rule)
        found = [scores(mine, lines(reference)) for reference in given]
        return (*map(max, zip(*found, strict=True)), 1)

    version = ".".join(rapidfuzz.__version__.split(".")[:2])
    signature = (
        f"rouge|impl:rapidfuzz-{version}|tok:{tokenizer}|stem:{yes_no(stemmer)}"
        f"|refs:{rule}|scale:0-1"
    )
    return Measure(
        names,
        signature,
        "0-1",
        statistics,
        means(len(names)),
        is_mean=True,
        is_bounded=True,
    )


def _metric(name: str, names: tuple[str, ...], what: str) -> Metric:
    summary = f"The mean F1 of {what}, as rouge-score computes it."
    return Metric.of(name, summary, DEFAULTS, partial(_measure_of, names))


WHAT = {
    "rouge1": "the tokens that an answer and a reference share",
    "rouge2": "the pairs of neighbouring tokens that an answer and a reference share",
    "rouge3": "the trigrams of tokens that an answer and a reference share",
    "rougeL": "the longest common subsequence of an answer and a reference",
    "rougeLsum": "the longest common subsequences of the lines of an answer and of a "
    "reference",
}
METRIC = _metric("rouge", NAMES, "all of ROUGE 1, 2, 3, L and Lsum")
#: One metric for each single score.
METRICS = tuple(_metric(name, (name,), what) for name, what in WHAT.items())
