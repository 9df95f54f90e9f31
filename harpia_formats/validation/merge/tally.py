"""Count the findings of all files in groups, and report those above a baseline."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import msgspec

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Path, Place, Problem, Severity
from harpia_formats.model.report import FileCount, Group, Report
from harpia_formats.validation.baselines import DESCRIBED
from harpia_formats.validation.plan.units import Demand, GroupKey
from harpia_formats.validation.unit.collector import GROUP_LIMIT
from harpia_formats.validation.unit.findings import Findings, group_pointer

if TYPE_CHECKING:  # most runs have no baseline, and unpack nothing
    from harpia_formats.files.io.unpacked_text import TextPlaces
    from harpia_formats.validation.baselines.known_findings import KnownFindings


Value = TypeVar("Value")
#: The pointer under which the groups beyond `GROUP_LIMIT` are counted together.
GROUP_REST = "/…"


class FileGroups(msgspec.Struct):
    """The groups of one file.

    A set that nothing was added to is a frozen one, which takes no memory: there may be
    many files.
    """

    count: FileCount
    groups: dict[GroupKey, Group] = msgspec.field(default_factory=dict)
    #: Groups that have as many examples as are wanted.
    satisfied: set[GroupKey] | frozenset[GroupKey] = frozenset()
    #: Rules whose groups beyond the limit have them.
    satisfied_rest: set[str] | frozenset[str] = frozenset()
    #: Rules that have groups beyond the limit.
    rest: set[str] | frozenset[str] = frozenset()
    #: How many findings of each group the baseline holds, and the rules that are
    #: checked in the file.
    known: Mapping[GroupKey, int] = msgspec.field(default_factory=dict)
    rules: Collection[str] = ()

    def key_of(self, group: GroupKey) -> GroupKey:
        """Return under which group a finding is counted."""
        if group in self.groups or len(self.groups) < GROUP_LIMIT:
            return group
        return (group[0], GROUP_REST, "")


class Tally(msgspec.Struct):
    """The counts of a whole run."""

    #: Examples kept of each group, and in all; 0 is no cap.
    examples: int = 5
    max_problems: int = 1000
    _files: list[FileGroups] = msgspec.field(default_factory=list)
    #: The same by the identity of their counts: there may be many files.
    _by_count: dict[int, FileGroups] = msgspec.field(default_factory=dict)
    #: The groups of all files, in the order in which they were found.
    _groups: list[Group] = msgspec.field(default_factory=list)
    _kept: int = 0
    #: Errors in all files so far: `fail_fast` asks for them after each file.
    errors: int = 0
    #: How many files `exclude` left out.
    excluded: int = 0
    #: The patterns of `exclude` that matched no file.
    unmatched: tuple[str, ...] = ()
    #: The findings that are not reported, if there is a baseline.
    known: "KnownFindings | None" = None
    #: Where the texts of files that were unpacked stand in these, by their paths.
    places: "dict[str, TextPlaces]" = msgspec.field(default_factory=dict)

    @property
    def files(self) -> list[FileCount]:
        """The counts of all files so far."""
        return [file.count for file in self._files]

    @property
    def begun(self) -> int:
        """How many files there are so far."""
        return len(self._files)

    def counts_from(self, first: int) -> tuple[FileCount, ...]:
        """Return the counts of the files from the place `first` on."""
        return tuple(file.count for file in self._files[first:])

    def begin(self, path: str, rules: Collection[str] = ()) -> FileCount:
        """Start counting a file in which `rules` are checked."""
        return self.begin_counted(FileCount(path), rules)

    def begin_counted(self, count: FileCount, rules: Collection[str] = ()) -> FileCount:
        """Start with a file whose records were counted before."""
        file = FileGroups(count)
        if self.known is not None:
            file.known, file.rules = self.known.of(count.path), rules
        self._files.append(file)
        self._by_count[id(count)] = file
        return count

    def keep(self, count: FileCount, findings: Findings) -> Iterator[Problem]:
        """Count findings of a file; yield those that are kept, row by row."""
        if not findings:
            return
        count_findings(count, findings)
        self.errors += findings.errors
        file = self._groups_of(count)
        for row in findings.described:
            kept = [
                problem for group, problem in row if self._add(file, group, problem)
            ]
            kept.sort(key=lambda problem: problem.place.byte_offset)
            yield from kept
        for group, times in findings.counted:
            key = file.key_of(group)
            file.groups[key].count += times
            self._note_examples(file, key)

    def add(
        self,
        count: FileCount,
        rule: Rule,
        describe: Callable[[], Problem],
        path: Path = (),
    ) -> Problem | None:
        """Count a problem at `path`; return what `describe` makes, if it is kept."""
        count.count(rule.severity)
        self.errors += rule.severity is Severity.ERROR
        file, group = self._groups_of(count), (rule.code, group_pointer(path), "")
        counted = file.groups.get(file.key_of(group))
        if counted is not None and not self._keeps(counted.count + 1, 0):
            counted.count += 1
            return None
        problem = describe()
        problem = replace(problem, place=self.in_member(problem.place))
        return problem if self._add(file, group, problem) else None

    def note_places(self, count: FileCount, places: "TextPlaces | None") -> None:
        """Note where the text of a file that was unpacked stands; None for others."""
        if places is not None:
            self.places[count.path] = places

    def in_member(self, place: Place) -> Place:
        """Return where a place in the text of a file is in its members."""
        places = self.places.get(place.path)
        return place if places is None else places.of_place(place)

    def demand(self, count: FileCount, most: int | None = None) -> Demand:
        """Return which problems of a file need not be described any more.

        With `most` it is plain data that names so many groups at most; without it the
        answer holds only until the next call of `keep`.
        """
        file = self._groups_of(count)
        firsts_only = self.has_examples
        satisfied: AbstractSet[GroupKey] = file.satisfied
        rest = file.satisfied_rest
        if firsts_only:
            # The groups that are known have their first problem.
            satisfied, rest = file.groups.keys(), file.rest
        if most is not None:
            return Demand(frozenset(islice(satisfied, most)), firsts_only)
        return Demand(satisfied, firsts_only, rest, file.groups.keys())

    @property
    def has_examples(self) -> bool:
        """Whether there are as many examples as are wanted in all."""
        return bool(self.max_problems) and self._kept >= self.max_problems

    def _groups_of(self, count: FileCount) -> FileGroups:
        """Return the groups of a file."""
        return self._by_count[id(count)]

    def _add(self, file: FileGroups, group: GroupKey, problem: Problem) -> bool:
        """Count a described problem; return whether it is kept as an example."""
        key = file.key_of(group)
        counted = file.groups.get(key)
        if counted is None:
            counted = file.groups[key] = _group_of(problem, key)
            self._groups.append(counted)
            if key[1] == GROUP_REST:
                file.rest = _added(file.rest, key[0])
        else:
            counted.count += 1
        self._note_examples(file, key)
        keeps = self._keeps(counted.count, file.known.get(key, 0))
        self._kept += keeps
        return keeps

    def _note_examples(self, file: FileGroups, key: GroupKey) -> None:
        """Note whether a group has as many examples as are wanted."""
        known = file.known.get(key, 0)
        needed = self.examples + known if known <= DESCRIBED else 1
        if not self.examples or file.groups[key].count < needed:
            return
        if key[1] == GROUP_REST:
            file.satisfied_rest = _added(file.satisfied_rest, key[0])
        else:
            file.satisfied = _added(file.satisfied, key)

    def _keeps(self, number: int, known: int) -> bool:
        """Return whether problem `number` of a group is kept: none of the known ones.

        Which of many findings are beyond so many known ones is seen only where all are
        described.
        """
        if self.has_examples or number <= known:
            return False
        if not self.examples:
            return True
        return known <= DESCRIBED and number <= known + self.examples

    def found(self) -> Iterator[tuple[FileCount, dict[GroupKey, int]]]:
        """Yield each file with its findings so far, those of the baseline included."""
        for file in self._files:
            yield file.count, {key: one.count for key, one in file.groups.items()}

    def checked(self) -> Iterator[tuple[str, Collection[str]]]:
        """Yield each file with the rules that are checked in it, with a baseline."""
        for file in self._files:
            yield file.count.path, file.rules if file.count.complete else ()

    def report(self) -> Report:
        """Return the counts so far; the examples were yielded by `keep`."""
        if self.known is not None:
            found = report_above(self._files, self._groups, self.known)
            return replace(found, excluded=self.excluded, unmatched=self.unmatched)
        return Report(
            tuple(self.files), tuple(self._groups), (), self.excluded, self.unmatched
        )


def _added(values: set[Value] | frozenset[Value], value: Value) -> set[Value]:
    """Return a set with one more value: the same set, unless it is frozen."""
    if isinstance(values, frozenset):
        return {*values, value}
    values.add(value)
    return values


def _group_of(problem: Problem, key: GroupKey) -> Group:
    """Return the group whose first problem is `problem`."""
    place = problem.place
    return Group(
        path=place.path,
        code=problem.code,
        name=problem.name,
        severity=problem.severity,
        pointer=key[1],
        key="" if key[1] == GROUP_REST else problem.key,
        cause=key[2],
        count=1,
        line=place.line,
        column=place.column,
        record=place.record,
        message=problem.message,
        member=place.member,
    )


def count_findings(count: FileCount, findings: Findings) -> None:
    """Add the findings to the counts of a file."""
    count.count(Severity.ERROR, findings.errors)
    count.count(Severity.WARNING, findings.warnings)
    count.count(Severity.NOTE, findings.notes)


def joined(parts: Iterable[Findings]) -> Findings:
    """Return the findings of several units of a file as those of one."""
    found = list(parts)
    times: dict[GroupKey, int] = {}
    for part in found:
        for group, number in part.counted:
            times[group] = times.get(group, 0) + number
    return Findings(
        sum(part.errors for part in found),
        sum(part.warnings for part in found),
        sum(part.notes for part in found),
        tuple(row for part in found for row in part.described),
        tuple(times.items()),
    )


def report_above(
    files: Iterable[FileGroups], groups: Iterable[Group], known: "KnownFindings"
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
