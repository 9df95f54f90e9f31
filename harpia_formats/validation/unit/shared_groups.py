"""The groups of findings that many rows share, found once for all of these rows."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Path, Severity, pointer_of
from harpia_formats.validation.plan.units import GroupKey

if TYPE_CHECKING:  # imported only where a row has a problem: start-up time
    from harpia_formats.validation.diagnosis.finding import Finding, SharedFindings
    from harpia_formats.validation.diagnosis.root_causes import Cause

#: The rules on records that got no verdict, which are neither valid nor invalid.
NO_VERDICT = frozenset({"V901", "V902"})
#: Sets of causes, and pointers, that are remembered.
_REMEMBERED = 1024


@lru_cache(_REMEMBERED)
def group_pointer(path: Path) -> str:
    """Return the pointer of a group: array indices are `*`."""
    return pointer_of(path, wildcard=True)


class SharedGroups(msgspec.Struct):
    """The groups of findings that many rows share, and how many rows are counted."""

    #: The rule and the group of each finding whose rule is active.
    groups: list[tuple[Rule, GroupKey]]
    #: Whether one of the rules makes a record invalid, or leaves it without a verdict.
    is_error: bool
    is_undetermined: bool
    #: Whether none of the findings needs a description, until it is asked again.
    is_counted: bool = False
    #: Rows whose findings are not in any other count yet.
    rows: int = 0


class _Known(msgspec.Struct, frozen=True):
    """Causes that many rows share, and the groups of their findings."""

    causes: "tuple[Cause, ...]"
    #: Paths of values of a wrong type, of which a null is a group of its own.
    typed: tuple[Path, ...]
    #: The groups, by which of these values are null.
    groups: dict[tuple[bool, ...], SharedGroups] = msgspec.field(default_factory=dict)


class KnownGroups:
    """Remembers the groups of shared findings on the rows of one file."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        """Take the active rules by their codes."""
        self._rules = rules
        #: By the identity of the causes: these, where a type is wrong, and the groups.
        self._known: dict[tuple[int, Path], _Known] = {}

    def of(self, found: "SharedFindings", prefix: Path) -> SharedGroups:
        """Return the groups of findings; `prefix` is the path of rows in records."""
        known = self._known.get((id(found.causes), prefix))
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            # The causes are held, so that no others get their identity.
            known = _Known(found.causes, found.typed_paths())
            self._known[id(found.causes), prefix] = known
        nulls = found.nulls_at(known.typed) if known.typed else ()
        groups = known.groups.get(nulls)
        if groups is None:
            groups = known.groups[nulls] = self._groups(found, prefix)
        return groups

    def _groups(self, found: "SharedFindings", prefix: Path) -> SharedGroups:
        active = [one for one in found.findings() if one.code in self._rules]
        groups = [(self._rules[one.code], group_of(one, prefix)) for one in active]
        errors = {
            rule.code for rule, _ in groups if rule.severity is Severity.ERROR
        } - NO_VERDICT
        is_undetermined = any(one.code in NO_VERDICT for one in active)
        return SharedGroups(groups, bool(errors), is_undetermined)


def group_of(finding: "Finding", prefix: Path) -> GroupKey:
    """Return the group of a finding; `prefix` is the path of its row in its record."""
    path = (*prefix, *finding.path) if prefix else finding.path
    return (finding.code, group_pointer(path), finding.cause)
