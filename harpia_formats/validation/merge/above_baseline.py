"""Report only the findings of a run that its baseline does not hold."""

from collections.abc import Iterable
from dataclasses import replace

from harpia_formats.model.report import FileCount, Group, Report
from harpia_formats.validation.baselines.known import KnownFindings
from harpia_formats.validation.merge.file_groups import FileGroups


def report_above(
    files: Iterable[FileGroups], groups: Iterable[Group], known: KnownFindings
) -> Report:
    """Return the report of `files` with the findings that are not `known`.

    `groups` are those of all files, in the order of the report.
    """
    files = tuple(files)
    above: dict[int, Group] = {}
    counts, unused = [], {}
    for file in files:
        counts.append(_above(file, above))
        unused[file.count.path] = _unused(file)
    held = sum(count.baseline or 0 for count in counts)
    return Report(
        tuple(counts),
        tuple(above[id(group)] for group in groups if id(group) in above),
        (),
        baseline=known.use(held, unused, (count.path for count in counts)),
    )


def _above(file: FileGroups, above: dict[int, Group]) -> FileCount:
    """Return the counts of a file without the findings that are known.

    Its groups with others are added to `above`, by the identity of the whole groups.
    """
    count = replace(file.count, baseline=0)
    for key, group in file.groups.items():
        known = file.known.get(key, 0)
        held = min(known, group.count)
        count.count(group.severity, -held)
        count.baseline = (count.baseline or 0) + held
        if group.count > known:
            above[id(group)] = replace(group, count=group.count - held, baseline=known)
    return count


def _unused(file: FileGroups) -> int:
    """Return how many known findings of a file were not found.

    Only those of rules that were checked count, and only if the file was read.
    """
    if not file.count.complete:
        return 0
    counts = {key: group.count for key, group in file.groups.items()}
    return sum(
        max(0, known - counts.get(key, 0))
        for key, known in file.known.items()
        if key[0] in file.rules
    )
