"""The notes below a table of scores: what its numbers are, and how they were made."""

from collections.abc import Iterable, Iterator, Sequence

from harpia_formats.reporters.score_tables.columns import SCALES, Column
from harpia_formats.reporters.score_tables.numbers import NONE
from harpia_formats.reporters.score_tables.table import Note
from harpia_formats.scoring.scores import Group, MetricScore, Scores

#: Stands behind an interval that is approximate, and where there is none.
APPROXIMATE, MISSING = "*", "\u2020"


def notes_of(columns: Sequence[Column], bold: str) -> Iterator[Note]:
    """Yield what the numbers are, what `bold` means, and how they were computed."""
    every = [score for column in columns for score in column.there]
    if any(score.interval for score in every):
        yield Note(
            "In brackets: the confidence interval by question. Numbers have the digits "
            "that the narrowest interval of their column carries."
        )
    if bold:
        yield Note(bold)
    yield from _scale_notes(columns)
    yield from _mark_notes(every)
    yield from _method_notes(columns)


def _mark_notes(scores: Sequence[MetricScore]) -> Iterator[Note]:
    """Yield what the marks at numbers mean."""
    for mark, has_interval in ((APPROXIMATE, True), (MISSING, False)):
        remarks = [s.remark for s in scores if (s.interval is not None) == has_interval]
        for remark in filter(None, dict.fromkeys(remarks)):
            yield Note(f"{remark[0].upper()}{remark[1:]}.", mark=mark)
    if any(score.value is None for score in scores):
        yield Note("No answer could be scored.", mark=NONE)


def _method_notes(columns: Sequence[Column]) -> Iterator[Note]:
    """Yield the signatures of scores, and the methods of their intervals."""
    for column in columns:
        for signature in dict.fromkeys(score.signature for score in column.there):
            if signature:
                yield Note(f"Signature of {column.name}", signature)
    methods: dict[str, dict[str, None]] = {}
    for column in columns:
        for score in column.there:
            if score.method:
                methods.setdefault(score.method, {})[column.name] = None
    for method, names in methods.items():
        yield Note(f"Intervals of {', '.join(names)}", method)


def _scale_notes(columns: Sequence[Column]) -> Iterator[Note]:
    scales: dict[str, list[str]] = {}
    for column in columns:
        scale = column.there[0].scale
        scales.setdefault(SCALES.get(scale, "not known"), []).append(column.name)
    for scale, names in scales.items():
        yield Note(f"Scale {scale}: {', '.join(names)}")


def left_out_notes(systems: Iterable[Group]) -> Iterator[Note]:
    """Yield which questions have too few answers for a score."""
    for system in systems:
        yield from (Note(f"{note}.") for _, note in system.left_out())


def run_notes(scores: Scores) -> Iterator[Note]:
    """Yield what was left out of the scores, and metrics that were not computed."""
    if scores.skipped:
        yield Note(f"Invalid rows that were left out: {scores.skipped:,}.")
    if scores.unknown:
        yield Note(f"Not computed: {', '.join(scores.unknown)}.")
