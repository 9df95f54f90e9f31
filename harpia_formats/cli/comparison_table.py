"""Comparisons of scores as tables."""

from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from harpia_formats.cli.score_table import (
    APPROXIMATE,
    below_lines,
    few_lines,
    number_text,
    published_lines,
    ruled_lines,
    share_text,
    signature_lines,
)
from harpia_formats.evaluation.scoring.measures.metric_score import uneven_notes
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparedScore,
    ComparisonReport,
    alpha_of,
)
from harpia_formats.evaluation.scoring.significance.paired_differences import Comparison
from harpia_formats.model.describe import p_text
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.score_tables import tables_of

#: The columns behind the name of the metric.
_OF_TWO = ("A", "B", "A - B", "interval", "p", "p (Holm)")


#: Lines below a comparison.
_MOST = 5


def comparison_lines(found: ComparisonReport, stream: TextIO) -> Iterator[str]:
    """Yield the table of a comparison, and a few lines on how scores were compared.

    Of two systems it has both scores and their differences, of several the scores, and
    the differences from a baseline. It fits into the terminal if `stream`, which it is
    for, is one.
    """
    if not found.is_of_two:
        tables = tables_of(found)
        yield from published_lines(tables[: 1 + (found.baseline is not None)], stream)
        yield from below_lines(_asked_sizes(found), stream)
        return
    compared = found.compared
    columns = [*_OF_TWO, "questions"]
    if len(compared) == 1:
        columns.remove("p (Holm)")
    if any(any(score.unscored) for score in compared):
        columns += ["left out A", "left out B"]
    names = ["metric", *columns]
    cells = [dict(_cells(score)) for score in compared]
    rows = [[row[name] for name in names] for row in cells]
    letters = str.maketrans(dict(zip("AB", found.letters, strict=True)))
    heads = {name: name.translate(letters) for name in names}
    shown = [heads[name] for name in columns]
    yield from ruled_lines(list(heads.values()), rows, shown, stream)
    yield ""
    lines = few_lines(_lines_below(found), _MOST)
    yield from below_lines([*lines, *_asked_sizes(found)], stream)


def unpaired_lines(found: ComparisonReport) -> Iterator[str]:
    """Yield for each pair how many questions only one of its systems has."""
    for pair in found.pairs:
        if not (pair.only_first or pair.only_second):
            continue
        # With a baseline the first of a pair may be the second input.
        if found.is_of_two and found.baseline is None:
            yield (
                f"not compared: {pair.only_first:,} questions only in the first, "
                f"{pair.only_second:,} in the second"
            )
        else:
            yield (
                f"not compared: {pair.only_first:,} questions only of "
                f"{safe(pair.first)}, {pair.only_second:,} only of {safe(pair.second)}"
            )


def _lines_below(found: ComparisonReport) -> Iterator[str]:
    """Yield what the table does not show of two systems, the most important first."""
    compared = found.compared
    first, second = map(safe, compared[0].systems)
    one, other = found.letters
    yield f"{one} is {first}, {other} is {second}"
    remarks = [score.comparison.remark for score in compared if score.comparison]
    yield from (f"{APPROXIMATE} {text}" for text in dict.fromkeys(remarks) if text)
    yield from uneven_notes((one.name, one.scores) for one in found.systems)
    yield from _unreadable(found)
    yield from _labelled("tests", compared, lambda comparison: comparison.test)
    yield from _labelled("intervals", compared, lambda comparison: comparison.method)
    if found.detect is None:
        yield from _sizes(found)
    yield from signature_lines(score.signature for score in compared)
    if found.has_other_intervals:
        yield "an interval is not that of the test: they may disagree about 0"


def _unreadable(found: ComparisonReport) -> Iterator[str]:
    """Yield for each system which share of its answers is wrong because unreadable."""
    for system in found.systems:
        shares = [
            f"{score.full_name} {share_text(score.unreadable_share)}"
            for score in system.scores.scores
            if score.unreadable_share is not None
        ]
        if shares:
            whose = safe(system.name)
            yield f"unreadable answers of {whose}, so wrong: {', '.join(shares)}"


def _asked_sizes(found: ComparisonReport) -> Iterator[str]:
    """Yield how many questions detect the difference that was asked for, if any."""
    if found.detect is not None:
        yield from _sizes(found)


def _sizes(found: ComparisonReport) -> Iterator[str]:
    """Yield which differences the questions detect, and how many detect `detect`."""
    alpha = alpha_of(found.compared)
    if alpha is not None and any(
        score.comparison is not None and score.comparison.standard_error is not None
        for score in found.compared
    ):
        tested = sum(score.comparison is not None for score in found.compared)
        single = " in a single test, without Holm's correction" if tested > 1 else ""
        yield f"differences detected: with p below {alpha:g}{single}"
    for score in found.compared:
        name = score.full_name
        if not found.is_of_two:
            name += f" of {safe(score.systems[0])} - {safe(score.systems[1])}"
        yield from _size_lines(score, name, found.detect)


def _cells(score: ComparedScore) -> Iterator[tuple[str, str]]:
    """Yield the name of each column with its cell."""
    yield "metric", score.full_name
    yield "A", number_text(score.first)
    yield "B", number_text(score.second)
    found = score.comparison
    for name in _OF_TWO[2:]:
        yield name, score.reason if name == "interval" else ""
    if found is not None:
        yield "A - B", f"{found.difference:+.4f}"
        mark = f" {APPROXIMATE}" if found.remark else ""
        yield "interval", f"{found.low:+.4f} to {found.high:+.4f}{mark}"
        mark = f" {APPROXIMATE}" if score.is_approximate_p else ""
        yield "p", p_text(found.p_value, is_least=found.is_least) + mark
        if score.adjusted_p is not None:
            adjusted = p_text(score.adjusted_p, is_least=found.is_least)
            yield "p (Holm)", adjusted + mark
    yield "questions", f"{score.questions:,}"
    yield "left out A", f"{score.unscored[0]:,}"
    yield "left out B", f"{score.unscored[1]:,}"


def _labelled(
    what: str,
    compared: Iterable[ComparedScore],
    label: Callable[[Comparison], str],
) -> Iterator[str]:
    """Yield a line for each different label of comparisons, with their scores."""
    names: dict[str, dict[str, None]] = {}
    for score in compared:
        if score.comparison is not None:
            names.setdefault(label(score.comparison), {})[score.full_name] = None
    for text, found in names.items():
        yield f"{what} of {', '.join(found)}: {text}"


def _size_lines(score: ComparedScore, name: str, detect: float | None) -> Iterator[str]:
    """Yield which difference the questions detect, and how many detect `detect`."""
    if score.comparison is None:
        return
    least = score.comparison.detectable
    if least is not None:
        found = f"{score.questions:,} questions detect a difference of {least:.4f}"
    elif score.comparison.beyond_scale is not None:
        found = f"{score.questions:,} questions detect no difference on the scale"
    elif detect is not None:
        yield (
            f"{name}: how many questions detect {detect:g} is not known, since all "
            "questions have the same difference, or some replicates have no score"
        )
        return
    else:
        return
    line = f"{name}: {found} with 80 % power"
    if detect is not None:
        line += f", and {score.questions_needed:,} one of {detect:g}"
    yield line
