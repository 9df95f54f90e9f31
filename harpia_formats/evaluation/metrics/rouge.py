"""ROUGE: the F1 of the n-grams or subsequences that answers and references share.

Sources: Lin, ROUGE: A Package for Automatic Evaluation of Summaries (2004), and the
package rouge-score 0.1.2, whose results these are. Scores are from 0 to 1.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.mean import means
from harpia_formats.evaluation.metrics.metric import Measure, Metric, Statistics
from harpia_formats.evaluation.metrics.parameters import (
    read_parameters,
    require_extra,
    yes_no,
)
from harpia_formats.evaluation.metrics.references import RULES, references_by_rule
from harpia_formats.evaluation.metrics.text.overlap import f_score, ngrams, overlap
from harpia_formats.evaluation.metrics.text.rouge_tokens import (
    TOKENIZERS,
    Lines,
    line_tokenizer,
)
from harpia_formats.evaluation.metrics.text.subsequence import (
    joined_lines,
    union_lcs_hits,
)

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


def _measure_of(
    metric: str, names: tuple[str, ...], given: Mapping[str, Any]
) -> Measure:
    parameters = read_parameters(metric, DEFAULTS, given)
    tokenizer = parameters.choice("tokenizer", tuple(TOKENIZERS))
    stemmer, rule = parameters.flag("stemmer"), parameters.choice("references", RULES)
    with require_extra("score", metric):
        import rapidfuzz  # noqa: PLC0415 - in the extra score
        from rapidfuzz.distance.LCSseq import similarity  # noqa: PLC0415 - in the extra score
    lines, scores = (
        line_tokenizer(tokenizer, stemmer=stemmer),
        scores_of(names, similarity),
    )

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        mine = lines(answer)
        found = [
            scores(mine, lines(reference))
            for reference in references_by_rule(references, rule)
        ]
        if len(found) == 1:
            return (*found[0], 1)
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
    return Metric(
        name, summary, DEFAULTS, lambda given: _measure_of(name, names, given)
    )


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
