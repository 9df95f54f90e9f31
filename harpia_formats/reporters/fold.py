"""Groups of equal problems of which not all were shown."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Group

#: The number of shown problems by path, code, pointer and cause.
Shown = Counter[tuple[str, str, str, str]]


def note_shown(shown: Shown, problem: Problem) -> None:
    """Count in `shown` a problem that was shown."""
    place = problem.place
    shown[place.path, problem.code, place.pointer, problem.cause] += 1


class PartlyShown(NamedTuple):
    """A group of which not all problems were shown."""

    group: Group
    #: How many were shown.
    times: int
    #: The message of the first problem, if without it nothing would say what it is:
    #: none was shown, or another group of the file has the same code and pointer.
    message: str


def of_baseline(group: Group) -> str:
    """Return how many problems of a group the baseline holds, "" if it holds none."""
    if not group.baseline:
        return ""
    found = group.count + group.baseline
    return f"{found:,} found, {group.baseline:,} in the baseline"


def partly_shown_groups(groups: Iterable[Group], shown: Shown) -> list[PartlyShown]:
    """Return the groups of which not all problems were shown.

    A group that a baseline holds a part of is one of them.
    """
    groups = tuple(groups)
    pointers: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    alike: Counter[tuple[str, ...]] = Counter()
    for group in groups:
        pointers[group.path, group.code][group.pointer] = None
        alike[group.path, group.code, group.pointer, group.key] += 1
    examples: Shown = Counter()
    for (path, code, pointer, cause), times in shown.items():
        shape = group_pointer(pointer, pointers[path, code])
        examples[path, code, shape, cause] += times
    found = []
    for group in groups:
        times = examples[group.path, group.code, group.pointer, group.cause]
        is_plain = alike[group.path, group.code, group.pointer, group.key] == 1
        message = "" if times and is_plain else group.message
        found.append(PartlyShown(group, times, message))
    return [
        partly
        for partly in found
        if partly.times < partly.group.count or partly.group.baseline
    ]


def group_pointer(pointer: str, shapes: dict[str, None]) -> str:
    """Return the group pointer that matches `pointer`; a key may look like an index."""
    if pointer in shapes:
        return pointer
    # Almost always, what looks like an index is one.
    parts = ("*" if part.isdecimal() else part for part in pointer.split("/"))
    shape = "/".join(parts)
    if shape in shapes:
        return shape
    return next((shape for shape in shapes if _matches(shape, pointer)), pointer)


def _matches(shape: str, pointer: str) -> bool:
    """Tell whether `pointer` is `shape` with an index in place of each `*`."""
    parts, others = shape.split("/"), pointer.split("/")
    return len(parts) == len(others) and all(
        part == other or (part == "*" and other.isdecimal())
        for part, other in zip(parts, others, strict=True)
    )
