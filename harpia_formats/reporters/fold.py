"""Repeats: which groups have more problems than were shown."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Group, Report

#: The rule that says it all where a file has another shape.
SHAPE = "S201"
#: How often a path, code, pointer and missing key were shown.
Shown = Counter[tuple[str, str, str, str]]


def note(shown: Shown, problem: Problem) -> None:
    """Note in `shown` that `problem` was shown."""
    place = problem.place
    shown[place.path, problem.code, place.pointer, problem.key] += 1


def folded(groups: Iterable[Group], shown: Shown) -> list[tuple[Group, int]]:
    """Return the groups that were not shown in full, with how many were."""
    groups = tuple(groups)
    pointers: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for each in groups:
        pointers[each.path, each.code][each.pointer] = None
    examples: Shown = Counter()
    for (path, code, pointer, key), times in shown.items():
        shape = _shape_of(pointer, pointers[path, code])
        examples[path, code, shape, key] += times
    pairs = [
        (each, examples[each.path, each.code, each.pointer, each.key])
        for each in groups
    ]
    return [(group, times) for group, times in pairs if times < group.count]


def unfolded_groups(report: Report) -> list[Group]:
    """Return the groups that are told one by one."""
    paths = {each.path for each in report.files if each.folded}
    return [each for each in report.groups if each.path not in paths]


def folded_files(report: Report) -> list[tuple[str, int]]:
    """Return the files that one finding says enough of, with how many others."""
    counts = {each.path: 0 for each in report.files if each.folded}
    for each in report.groups:
        if each.path in counts and each.code != SHAPE:
            counts[each.path] += each.count
    return [(path, count) for path, count in counts.items() if count]


def _shape_of(pointer: str, shapes: dict[str, None]) -> str:
    """Return which of `shapes` covers `pointer`; a key may look like an index."""
    if pointer in shapes:
        return pointer
    return next((each for each in shapes if _covers(each, pointer)), pointer)


def _covers(shape: str, pointer: str) -> bool:
    """Whether `pointer` is `shape` with indices in place of each `*`."""
    parts, others = shape.split("/"), pointer.split("/")
    return len(parts) == len(others) and all(
        each == other or (each == "*" and other.isdecimal())
        for each, other in zip(parts, others, strict=True)
    )
