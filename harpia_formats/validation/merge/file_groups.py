"""The findings of one file, counted in groups."""

from collections.abc import Collection, Mapping

import msgspec

from harpia_formats.model.report import FileCount, Group
from harpia_formats.validation.plan.units import GroupKey
from harpia_formats.validation.unit.collector import GROUP_LIMIT

#: The pointer under which the groups beyond `GROUP_LIMIT` are counted together.
GROUP_REST = "/…"


class FileGroups(msgspec.Struct):
    """The groups of one file."""

    count: FileCount
    groups: dict[GroupKey, Group] = msgspec.field(default_factory=dict)
    #: Groups that have as many examples as are wanted.
    satisfied: set[GroupKey] = msgspec.field(default_factory=set)
    #: Rules whose groups beyond the limit have them.
    satisfied_rest: set[str] = msgspec.field(default_factory=set)
    #: Rules that have groups beyond the limit.
    rest: set[str] = msgspec.field(default_factory=set)
    #: How many findings of each group the baseline holds, and the rules that are
    #: checked in the file.
    known: Mapping[GroupKey, int] = msgspec.field(default_factory=dict)
    rules: Collection[str] = ()

    def key_of(self, group: GroupKey) -> GroupKey:
        """Return under which group a finding is counted."""
        if group in self.groups or len(self.groups) < GROUP_LIMIT:
            return group
        return (group[0], GROUP_REST, "")
