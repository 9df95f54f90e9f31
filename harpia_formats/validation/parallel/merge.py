"""Count what was found elsewhere as if it had been found here."""

from collections.abc import Iterator
from dataclasses import replace

from harpia_formats.model.problem import Problem, Severity
from harpia_formats.validation.file.outcomes import Outcomes
from harpia_formats.validation.file.tally import Tally
from harpia_formats.validation.parallel.messages import Found, Key


def merged(
    found: Found, tally: Tally, outcomes: Outcomes, *, records: int = 0, lines: int = 0
) -> Iterator[Problem]:
    """Yield the problems that are kept of what was found in some rows.

    `records` and `lines` are those of the file before the first row, as far as they
    were not known where it was judged.
    """
    count = outcomes.count
    count.count(Severity.ERROR, found.errors)
    count.count(Severity.WARNING, found.warnings)
    count.count(Severity.NOTE, found.notes)
    outcomes.add(found.wrong, found.open, records)
    for number, row in enumerate(found.told):
        count.folded |= number == found.unfolded
        placed = ((key, _placed(each, records, lines)) for key, each in row)
        yield from _kept(placed, tally)
    for (code, pointer, key), times in found.untold:
        tally.tell_more(code, pointer, key, times)


def _kept(row: Iterator[tuple[Key, Problem]], tally: Tally) -> list[Problem]:
    """Return what is kept of one row, in reading order."""
    kept = [each for (_, pointer, key), each in row if tally.tell(each, pointer, key)]
    kept.sort(key=lambda each: each.place.byte_offset)
    return kept


def _placed(problem: Problem, records: int, lines: int) -> Problem:
    """Return a problem with its place in the file, by what is before its rows."""
    if not (records or lines):
        return problem
    place = problem.place
    number = None if place.record is None else place.record + records
    return replace(
        problem,
        place=replace(place, line=place.line + lines, record=number),
        because=tuple(
            replace(each, line=each.line + lines) for each in problem.because
        ),
    )
