"""Take note of what is found in some rows, for whoever counts all of them."""

from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from harpia_formats.dedup.digests import digests_of
from harpia_formats.dedup.duplicate_ids import DuplicateId
from harpia_formats.dedup.identity import IdentityReader
from harpia_formats.model.problem import Path, Problem, pointer_of
from harpia_formats.model.report import FileCount
from harpia_formats.rules import Rule
from harpia_formats.validation.file.outcomes import Outcomes
from harpia_formats.validation.file.tally import GROUP_LIMIT
from harpia_formats.validation.parallel.messages import Found, Key

#: Findings that are told of at once, at most.
MOST = 20_000


class TooMuch(Exception):  # noqa: N818 - reads as what happened
    """There is more to tell than is worth handing over."""


@dataclass(slots=True)
class Notes:
    """Counts findings by groups like a tally, and keeps what may be an example."""

    #: The file, or the part of it.
    count: FileCount
    #: Examples of each group; 0 is no cap.
    examples: int
    #: Groups that have theirs.
    exemplified: frozenset[Key] = frozenset()
    #: Whether of each group only the first finding is of interest.
    enough: bool = False
    counts: dict[Key, int] = field(default_factory=dict)
    _rows: list[tuple[tuple[Key, Problem], ...]] = field(default_factory=list)
    _row: list[tuple[Key, Problem]] = field(default_factory=list)
    _told: int = 0
    #: The rows that were told before the file was folded, if it was.
    _unfolded: int | None = None

    def wants(self, rule: Rule, path: Path, key: str = "") -> bool:
        """Count a finding; tell whether it may be an example.

        Raises `TooMuch`.
        """
        self.count.count(rule.severity)
        group = (rule.code, pointer_of(path, wildcard=True), key)
        times = self.counts[group] = self.counts.get(group, 0) + 1
        if len(self.counts) > GROUP_LIMIT:
            raise TooMuch
        if group in self.exemplified:
            return False
        # Of a group that is new the first one must be told: it says where it is.
        if times == 1:
            return True
        enough = self.enough or self.count.folded
        return not (enough or (self.examples and times > self.examples))

    def add(self, problem: Problem, path: Path, key: str = "") -> bool:
        """Keep a finding that was wanted. Raises `TooMuch`."""
        group = (problem.code, pointer_of(path, wildcard=True), key)
        if self.count.folded and self._unfolded is None:
            self._unfolded = len(self._rows)
        self._row.append((group, problem))
        self._told += 1
        if self._told > MOST:
            raise TooMuch
        return True

    def drain(self, problems: Iterator[Problem]) -> None:
        """Have all problems found; of each row they come when it was judged."""
        for _ in problems:
            if self._row:
                self._rows.append(tuple(self._row))
                self._row = []

    def found(self, outcomes: Outcomes, last_line: int) -> Found:
        """Return what was found, but for what only a range has."""
        told: dict[Key, int] = {}
        for row in self._rows:
            for key, _ in row:
                told[key] = told.get(key, 0) + 1
        rest = {key: each - told.get(key, 0) for key, each in self.counts.items()}
        return Found(
            records=self.count.records,
            last_line=last_line,
            wrong=bytes(outcomes.wrong.bits),
            open=bytes(outcomes.open.bits),
            errors=self.count.errors,
            warnings=self.count.warnings,
            notes=self.count.notes,
            told=tuple(self._rows),
            unfolded=self._unfolded,
            untold=tuple((key, each) for key, each in rest.items() if each),
        )


@dataclass(slots=True)
class Keys:
    """Takes note of what tells records apart, for whoever looks for repeated ones."""

    identity: IdentityReader
    digests: "array[int]" = field(default_factory=lambda: array("Q"))

    def add(self, keys: Collection[str]) -> None:
        """Take note of what tells some records apart."""
        if keys:
            self.digests += digests_of(keys)

    def add_digests(self, digests: "array[int]") -> None:
        """Take note of keys by their digests."""
        self.digests += digests

    def close(self) -> None:
        """Do nothing: what was noted is handed over."""

    def repeats(self, _until: int) -> Iterator[DuplicateId]:
        """Yield nothing: whether any is repeated is told elsewhere."""
        return iter(())
