"""What was done with one file: its changes, its diff, or why it was not repaired."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from harpia_formats.formats.rules import Rule
from harpia_formats.validation.repair.line_diff import unified_diff
from harpia_formats.validation.repair.store import RepairStore


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a file, at its place before the repair."""

    path: str
    #: Line and column, from 1.
    line: int
    column: int
    #: The number of the record, None for the file as a whole.
    record: int | None
    #: JSON pointer inside the record.
    pointer: str
    #: The code and the name of the rule that was broken.
    code: str
    name: str
    #: What was done, in the past tense.
    what: str
    #: Whether text is lost that stands nowhere else in the record; `what` says which.
    loses_text: bool = False


class RepairedFile:
    """What was done with one file; to be asked before the next file is repaired."""

    def __init__(
        self,
        path: str,
        store: RepairStore | None = None,
        rules: Mapping[str, Rule] | None = None,
        blocks: Callable[[], Iterable[bytes]] = tuple,
    ) -> None:
        """Take its repairs, all rules by code, and what returns its bytes once more."""
        #: The file as shown to the user.
        self.path = path
        self._store = store
        self._rules = rules or {}
        self._blocks = blocks
        #: How many changes there are.
        self.count = 0 if store is None else store.changes
        #: Where the repaired file was written; "" if nothing was.
        self.written = ""
        #: Why the file was not repaired, "" if it was or nothing had to be.
        self.reason = ""
        #: Whether the reason is that it cannot be read.
        self.is_unread = False
        #: Takes what is a value of a record out of a change; None to show it.
        self.redact: Callable[[Change], Change] | None = None

    def changes(self) -> Iterator[Change]:
        """Yield the changes; none if the file was not repaired."""
        if self._store is None or self.reason:
            return
        for one in self._store.placed_changes():
            rule = self._rules.get(one.code)
            name = "" if rule is None else rule.name
            record = one.record or None
            place = (self.path, one.line, one.column, record, one.pointer)
            change = Change(*place, one.code, name, one.what, one.loses_text)
            yield change if self.redact is None else self.redact(change)

    def diff(self) -> Iterator[bytes]:
        """Yield the changes as a unified diff.

        Raises `LineTooLong`, and `SourceError` if the file has changed meanwhile.
        """
        if self._store is not None and self.count and not self.reason:
            yield from unified_diff(self.path, self._blocks(), self._store.edits())


def not_repaired(path: str, reason: str, *, is_unread: bool = False) -> RepairedFile:
    """Return that a file was not repaired, and why."""
    found = RepairedFile(path)
    found.reason, found.is_unread = reason, is_unread
    return found
