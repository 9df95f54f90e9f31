"""Groups of equal problems of which not all were shown."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Group

#: The number of shown problems by path, code, pointer and missing key.
Shown = Counter[tuple[str, str, str, str]]


def note_shown(shown: Shown, problem: Problem) -> None:
    """Count in `shown` a problem that was shown."""
    place = problem.place
    shown[place.path, problem.code, place.pointer, problem.key] += 1


def partly_shown_groups(
    groups: Iterable[Group], shown: Shown
) -> list[tuple[Group, int]]:
    """Return the groups of which not all problems were shown, with the shown count."""
    groups = tuple(groups)
    pointers: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for group in groups:
        pointers[group.path, group.code][group.pointer] = None
    examples: Shown = Counter()
    for (path, code, pointer, key), times in shown.items():
        shape = _group_pointer(pointer, pointers[path, code])
        examples[path, code, shape, key] += times
    pairs = [
        (group, examples[group.path, group.code, group.pointer, group.key])
        for group in groups
    ]
    return [(group, times) for group, times in pairs if times < group.count]


def _group_pointer(pointer: str, shapes: dict[str, None]) -> str:
    """Return the group pointer that matches `pointer`; a key may look like an index."""
    if pointer in shapes:
        return pointer
    return next((shape for shape in shapes if _matches(shape, pointer)), pointer)


def _matches(shape: str, pointer: str) -> bool:
    """Tell whether `pointer` is `shape` with an index in place of each `*`."""
    parts, others = shape.split("/"), pointer.split("/")
    return len(parts) == len(others) and all(
        part == other or (part == "*" and other.isdecimal())
        for part, other in zip(parts, others, strict=True)
    )
