"""Report the problems of a file as a whole: remarks by case, and counts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from harpia_formats.model.lint import CaseDecision, FileLint, FileRemark
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.merge.across_rows import PlacedRow
from harpia_formats.validation.merge.file_merge import FileMerge
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.findings import UNCOUNTED, Findings, RecordSet
from harpia_formats.validation.unit.row_linter import RowLinter, held_key


def report_held(
    linter: RowLinter,
    merge: FileMerge,
    collector: Collector,
    rows: Callable[[], Iterator[PlacedRow]],
) -> Iterator[None]:
    """Report the findings of the cases that are reported in the file to `collector`.

    Yields after those of each row. `rows` yields the rows of the file once more, if
    there are such findings.
    """
    held = merge.held
    reported = {
        held_key(each.code, case): each.code
        for each in linter.decisions
        for case in _reported_cases(each, merge)
    }
    wanted = RecordSet()
    for key in reported:
        if key in held:
            wanted.put(bytes(held[key].bits), 0)
    if not wanted.count:
        return
    again = (row for row in rows() if row.number in wanted)
    for row in islice(again, wanted.count):
        value = row.value
        own = {
            key: reported[key] for key in reported if row.number in held.get(key, ())
        }
        found = [
            each
            for each in linter.findings_by(frozenset(own.values()), value)
            if held_key(each.code, each.about.case) in own  # type: ignore[union-attr]  # a remark
        ]
        errors = [each for each in found if collector.is_error(each.code)]
        if errors:
            merge.outcomes.add_invalid(row.number)
            if merge.plan.run.options.fail_fast:
                found = found[: found.index(errors[0]) + 1]
        collector.add_findings(found, lambda _: row.context(value), schema=True)  # noqa: B023 - called at once
        yield


def _reported_cases(decision: CaseDecision, merge: FileMerge) -> Iterable[str]:
    """Return the cases of a rule that are reported in a file."""
    held = merge.held
    counts = {
        case: held[key].count
        for case in decision.cases
        if (key := held_key(decision.code, case)) in held
    }
    return decision.reported(counts, merge.records) if counts else ()


def file_remarks(
    lints: Iterable[FileLint], counts: Mapping[str, int], expected: Any = None
) -> list[FileRemark]:
    """Return what lints of the file find in its counts.

    `expected` is what the companion of the file states, None if it has none.
    """
    found: list[FileRemark] = []
    if UNCOUNTED in counts:
        return found
    for lint in lints:
        start = f"{lint.code} "
        own = {
            key.removeprefix(start): number
            for key, number in counts.items()
            if key.startswith(start)
        }
        found += lint.remarks(own, expected) if own else ()
    return found


def placed_findings(
    remarks: list[FileRemark],
    rows: Iterable[tuple[RowContext, Any]],
    collector: Collector,
) -> Findings:
    """Return remarks on a file as findings, each in the first row it is about.

    `rows` are those of the file once more, decoded and with their places.
    """
    left = list(remarks)
    for row, value in rows if left else ():
        for each in [one for one in left if one.is_example(value)]:
            left.remove(each)
            from harpia_formats.validation.diagnosis.root_causes import Finding  # noqa: PLC0415 - imported only where a row has a problem

            finding = Finding(each.remark.code, 0, each.remark, value)
            collector.add_findings([finding], lambda _: row, schema=True)  # noqa: B023 - called at once
        if not left:
            break
    return collector.take()
