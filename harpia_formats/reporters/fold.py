"""Groups of equal problems of which not all were shown."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.report import Group

#: The most different findings that are remembered of all folders.
_MOST_FINDINGS = 10_000
#: Severities of findings that are shown once a folder; each error has its own place.
_FOLDED = (Severity.NOTE, Severity.WARNING)
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


class FoldedFindings(NamedTuple):
    """Findings in files of one folder that equal those of another of its files."""

    folder: str
    code: str
    message: str
    name: str
    severity: Severity
    number: int
    files: int
    #: The file whose findings were shown.
    first: str

    def __str__(self) -> str:
        """Return a phrase with the numbers of equal findings and of their files."""
        kind = self.severity.value
        found = f"{self.number:,} equal {kind}s"
        if self.number == 1:
            found = f"the same {kind}"
        files = "another file" if self.files == 1 else f"{self.files:,} other files"
        return f"{found} in {files} of the folder"


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


class FolderFindings:
    """Notes and warnings: shown for the first file of a folder, else counted.

    They are equal if their rule and their message are.
    """

    def __init__(self, *, folds: bool) -> None:
        """Fold notes and warnings if `folds`; otherwise all of them are shown."""
        self._folds = folds
        #: The first file with a finding, by its folder, code and message.
        self._first: dict[tuple[str, str, str], str] = {}

    def hides(self, problem: Problem) -> bool:
        """Return whether another file of the folder showed it; remember it if not."""
        if not self._folds or problem.severity not in _FOLDED:
            return False
        path = problem.place.path
        key = (_folder(path), problem.code, problem.message)
        if key not in self._first and len(self._first) >= _MOST_FINDINGS:
            return False
        return self._first.setdefault(key, path) != path

    def fold(
        self, groups: Iterable[PartlyShown]
    ) -> tuple[list[PartlyShown], list[FoldedFindings]]:
        """Return the groups that are not hidden, and hidden findings by folder."""
        rest: list[PartlyShown] = []
        files: Counter[tuple[str, str, str]] = Counter()
        counts: Counter[tuple[str, str, str]] = Counter()
        kinds: dict[tuple[str, str, str], tuple[str, Severity]] = {}
        for partly in groups:
            group = partly.group
            key = (_folder(group.path), group.code, group.message)
            if partly.times or self._first.get(key, group.path) == group.path:
                rest.append(partly)
                continue
            files[key] += 1
            counts[key] += group.count
            kinds[key] = (group.name, group.severity)
        return rest, [
            FoldedFindings(*key, *kinds[key], count, files[key], self._first[key])
            for key, count in counts.items()
        ]


def _folder(path: str) -> str:
    """Return the folder part of a path or an address."""
    return path.rpartition("/")[0]


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
