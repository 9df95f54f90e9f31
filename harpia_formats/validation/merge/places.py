"""Place findings in a file that were placed in a part, or in the text, of it."""

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.model.problem import Problem
from harpia_formats.validation.unit.result import Findings

if TYPE_CHECKING:  # most files are not unpacked
    from harpia_formats.files.io.unpacked_text import TextPlaces


def placed(findings: Findings, records: int, lines: int) -> Findings:
    """Return findings with so many records and lines of the file before them."""
    if not ((records or lines) and findings.described):
        return findings
    return msgspec.structs.replace(
        findings,
        described=tuple(
            tuple((group, _placed(problem, records, lines)) for group, problem in row)
            for row in findings.described
        ),
    )


def in_members(findings: Findings, path: str, places: "TextPlaces | None") -> Findings:
    """Return findings on the text of the file at `path` with places in its members.

    `places` is None for a file that was not unpacked. Findings in other files, such as
    a companion, stay.
    """
    if places is None or not findings.described:
        return findings
    return msgspec.structs.replace(
        findings,
        described=tuple(
            tuple(
                (
                    group,
                    places.of_problem(problem)
                    if problem.place.path == path
                    else problem,
                )
                for group, problem in row
            )
            for row in findings.described
        ),
    )


def _placed(problem: Problem, records: int, lines: int) -> Problem:
    """Return a problem with its place in the file."""
    place = problem.place
    number = None if place.record is None else place.record + records
    return replace(
        problem,
        place=replace(place, line=place.line + lines, record=number),
        because=tuple(
            replace(reason, line=reason.line + lines) for reason in problem.because
        ),
    )
