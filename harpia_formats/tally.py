"""Count every finding exactly, and keep a few of each kind as examples."""

from dataclasses import dataclass, field
from functools import lru_cache

from harpia_formats.problem import Path, Problem, pointer_of
from harpia_formats.report import FileCount, Group, Report
from harpia_formats.rules import Rule

#: Groups of one file; further pointers are counted together under `GROUP_REST`.
GROUP_LIMIT = 10_000
GROUP_REST = "/…"
#: Pointers that are remembered: findings are mostly at the same few places.
_REMEMBERED = 1024


@lru_cache(_REMEMBERED)
def _pointer(path: Path) -> str:
    return pointer_of(path, wildcard=True)


@dataclass(slots=True)
class Tally:
    """The counts of a whole run."""

    #: Examples kept of each group, and in all; 0 is no cap.
    examples: int = 5
    max_problems: int = 1000
    files: list[FileCount] = field(default_factory=list)
    groups: dict[tuple[int, str, str, str], Group] = field(default_factory=dict)
    #: Groups of each file.
    _grouped: list[int] = field(default_factory=list)
    #: Index of the file that findings are of.
    _present: int = -1
    _kept: int = 0

    def begin(self, path: str) -> FileCount:
        """Start counting a file."""
        self.files.append(FileCount(path))
        self._grouped.append(0)
        self._present = len(self.files) - 1
        return self.files[-1]

    def resume(self, count: FileCount) -> None:
        """Go on counting a file that was begun before."""
        found = (number for number, each in enumerate(self.files) if each is count)
        self._present = next(found)

    @property
    def errors(self) -> int:
        """Errors in all files so far."""
        return sum(each.errors for each in self.files)

    def wants(self, rule: Rule, path: Path, key: str = "") -> bool:
        """Count a finding, of a `key` that is missing at `path` if it is of one.

        Tell whether it must be put into words: the first of each group must be, since
        the group says where it is.
        """
        self.files[self._present].count(rule.severity)
        group = self.groups.get(self._key(rule.code, path, key))
        if group is None:
            return True
        group.count += 1
        return self._keeps(group.count)

    def add(self, problem: Problem, path: Path, key: str = "") -> bool:
        """Count a finding that was wanted; tell whether to keep it as an example."""
        group = self._key(problem.code, path, key)
        if group not in self.groups:
            self._grouped[self._present] += 1
            place = problem.place
            self.groups[group] = Group(
                path=place.path,
                code=problem.code,
                name=problem.name,
                severity=problem.severity,
                pointer=group[2],
                key=group[3],
                count=1,
                line=place.line,
                column=place.column,
                record=place.record,
            )
        keeps = self._keeps(self.groups[group].count)
        self._kept += keeps
        return keeps

    def _key(self, code: str, path: Path, key: str) -> tuple[int, str, str, str]:
        file = self._present
        group = (file, code, _pointer(path), key)
        if group in self.groups or self._grouped[file] < GROUP_LIMIT:
            return group
        return (file, code, GROUP_REST, "")

    def _keeps(self, count: int) -> bool:
        if self.files[self._present].folded:
            return False
        if self.max_problems and self._kept >= self.max_problems:
            return False
        return not self.examples or count <= self.examples

    def report(self) -> Report:
        """Return the counts so far; the examples went their way one by one."""
        groups = tuple(self.groups.values())
        return Report(tuple(self.files), groups, ())
