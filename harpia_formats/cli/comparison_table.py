"""Comparisons of scores as tables."""

from collections.abc import Iterator
from typing import TextIO

from harpia_formats.cli.score_table import (
    below_lines,
    few_lines,
    label_lines,
    published_lines,
    remark_lines,
    signature_lines,
)
from harpia_formats.cli.streams_and_exit_codes import width_of
from harpia_formats.evaluation.scoring.measures.metric_score import (
    APPROXIMATE,
    uneven_notes,
)
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparedScore,
    ComparisonReport,
    tests_of,
)
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.tables import tables_of
from harpia_formats.reporters.tables.score_tables import LEFT_OUT, difference_cells
from harpia_formats.reporters.tables.table import Cell, Number, Score, table_of
from harpia_formats.reporters.tables.terminal import ruled_lines


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
    one, other = found.letters
    heads = {"score": "metric", "first": one, "second": other}
    heads |= {"difference": f"{one} - {other}", "interval": "interval", "p": "p"}
    heads |= {} if len(found.compared) == 1 else {"p (Holm)": "p (Holm)"}
    heads |= {"questions": "questions"}
    if any(any(score.unscored) for score in found.compared):
        heads |= zip(LEFT_OUT, (f"left out {one}", f"left out {other}"), strict=True)
    cells = map(_cells, found.compared)
    rows = [[row[name] for name in heads] for row in cells]
    _, *numbers = heads.values()
    table = table_of("Differences", [*heads.values()], rows, numbers, none="")
    yield from ruled_lines(table, width_of(stream))
    yield ""
    lines = few_lines(_lines_below(found))
    yield from below_lines([*lines, *_asked_sizes(found)], stream)


def _cells(score: ComparedScore) -> dict[str, Cell]:
    """Return the cells of a difference, whose interval has a column of its own."""
    one = score.comparison
    marks = {} if one is None or not one.remark else {one.remark: APPROXIMATE}
    found = difference_cells(score, marks)
    found["interval"] = score.reason
    difference = found["difference"]
    if one is not None and isinstance(difference, Score):
        found["interval"] = Number(difference.limits(" to "), mark=difference.mark)
        found["difference"] = Score(one.difference, sign="+")
    return found


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
    tested = tests_of(compared)
    yield from remark_lines(one.remark for _, one in tested)
    yield from uneven_notes((one.name, one.scores) for one in found.systems)
    yield from _unreadable(found)
    yield from label_lines("tests", ((name, one.test) for name, one in tested))
    yield from label_lines("intervals", ((name, one.method) for name, one in tested))
    if found.detect is None:
        yield from _sizes(found)
    yield from signature_lines(score.signature for score in compared)
    if found.has_other_intervals:
        yield "an interval is not that of the test: they may disagree about 0"


def _unreadable(found: ComparisonReport) -> Iterator[str]:
    """Yield for each system which share of its answers is wrong because unreadable."""
    for system in found.systems:
        shares = [
            f"{score.full_name} {score.unreadable_share:.1%}"
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
    tested = tests_of(found.compared)
    if any(one.standard_error is not None for _, one in tested):
        single = " in a single test, without Holm's correction" if tested[1:] else ""
        alpha = tested[0][1].alpha
        yield f"differences detected: with p below {alpha:g}{single}"
    for score in found.compared:
        name = score.full_name
        if not found.is_of_two:
            name += f" of {safe(score.systems[0])} - {safe(score.systems[1])}"
        yield from _size_lines(score, name, found.detect)


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
