"""Count every finding exactly, and keep a few of each kind as examples."""

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from harpia_formats.model.problem import Path, Problem, pointer_of
from harpia_formats.model.report import FileCount, Group, Report
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
        pointer = _pointer(path)
        group = self.groups.get(self._key(rule.code, pointer, key))
        if group is None:
            return True
        group.count += 1
        return self._keeps(group.count)

    def add(self, problem: Problem, path: Path, key: str = "") -> bool:
        """Count a finding that was wanted; tell whether to keep it as an example."""
        pointer = _pointer(path)
        return self._add(problem, self._key(problem.code, pointer, key))

    def tell(self, problem: Problem, pointer: str, key: str) -> bool:
        """Count a finding of a group; tell whether to keep it as an example.

        It was counted with its file before, as it is where others look for findings.
        """
        group = self._key(problem.code, pointer, key)
        if group in self.groups:
            self.groups[group].count += 1
        return self._add(problem, group)

    def tell_more(self, code: str, pointer: str, key: str, times: int) -> None:
        """Count so many further findings of a group, which are no examples."""
        self.groups[self._key(code, pointer, key)].count += times

    @property
    def has_examples(self) -> bool:
        """Whether there are as many examples as are wanted in all."""
        return bool(self.max_problems) and self._kept >= self.max_problems

    def exemplified(self, most: int) -> tuple[tuple[str, str, str], ...]:
        """Return code, pointer and key of groups that have their examples.

        They are of the present file, and at most so many.
        """
        if not self.examples:
            return ()
        full = (
            group[1:]
            for group, each in self.groups.items()
            if each.count >= self.examples
            and group[0] == self._present
            and group[2] != GROUP_REST
        )
        return tuple(islice(full, most))

    def _add(self, problem: Problem, group: tuple[int, str, str, str]) -> bool:
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

    def _key(self, code: str, pointer: str, key: str) -> tuple[int, str, str, str]:
        file = self._present
        group = (file, code, pointer, key)
        if group in self.groups or self._grouped[file] < GROUP_LIMIT:
            return group
        return (file, code, GROUP_REST, "")

    def _keeps(self, count: int) -> bool:
        if self.files[self._present].folded:
            return False
        if self.has_examples:
            return False
        return not self.examples or count <= self.examples

    def report(self) -> Report:
        """Return the counts so far; the examples went their way one by one."""
        groups = tuple(self.groups.values())
        return Report(tuple(self.files), groups, ())
