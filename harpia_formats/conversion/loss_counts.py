"""Count what became of each field over all records of a file."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.source_names import REST, SourceNames
from harpia_formats.model.field_fates import Fate, FieldFate
from harpia_formats.model.problem import Place

if TYPE_CHECKING:  # most files are not unpacked
    from harpia_formats.files.io.unpacked_text import TextPlaces

#: Members of open objects that are counted one by one; further ones share a path.
MAX_MEMBERS = 200
#: Pairs of paths and fates that are counted before they are added up.
MAX_PENDING = 200
_member_prefixes = ("params.", "metadata.", "extra.", "outputs.extra.")


@dataclass(slots=True)
class FateCount:
    """How often one fate met one field, and the place of the first record."""

    field_fate: FieldFate
    count: int = 0
    place: Place | None = None


@dataclass(slots=True)
class FateCounts:
    """How many records had each field, and how often which fate met it."""

    #: The names of fields in the rows of the file.
    names: SourceNames = field(default_factory=SourceNames, compare=False)
    #: Where the text of the file stands in its members, if it was unpacked.
    places: "TextPlaces | None" = field(default=None, compare=False, repr=False)
    #: Records that had a field, by its path.
    carried: dict[str, int] = field(default_factory=dict)
    #: Records that had a field, and those of which it arrived unchanged, by its name;
    #: several paths can have one name.
    records: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    #: How often each fate met a field, by path and detail.
    counts: dict[FieldFate, FateCount] = field(default_factory=dict)
    #: Records of which a fate met a field, by its name, whatever the detail.
    fates: Counter[tuple[Fate, str]] = field(default_factory=Counter)
    #: Records with the same paths and fates, which are not added up yet.
    _pending: dict[tuple[Any, Any], int] = field(default_factory=dict)
    _members: int = 0

    def add(
        self,
        paths: tuple[str, ...],
        fates: tuple[FieldFate, ...],
        place: Callable[[], Place | None],
        times: int = 1,
    ) -> None:
        """Count `times` records that had fields at `paths`, of which `fates` are known.

        `place` returns where the first of them is; it is called only if needed.
        """
        pair = (paths, fates)
        if pair in self._pending:
            self._pending[pair] += times
            return
        if len(self._pending) >= MAX_PENDING:
            self._add_up()
        self._pending[pair] = times
        for field_fate in fates:
            self._count_of(field_fate, place)

    def settled(self) -> "FateCounts":
        """Return itself with every count up to date."""
        self._add_up()
        return self

    def _add_up(self) -> None:
        for (paths, fates), times in self._pending.items():
            had: dict[str, None] = {}
            for path in dict.fromkeys(paths):
                counted = self._counted_path(path)
                self.carried[counted] = self.carried.get(counted, 0) + times
                had[self.names.of(counted)] = None
            met = set()
            for field_fate in dict.fromkeys(fates):
                count = self._count_of(field_fate, lambda: None)
                count.count += times
                met.add((field_fate.fate, self.names.of(count.field_fate.path)))
            for fate_and_name in met:
                self.fates[fate_and_name] += times
            touched = {name for fate, name in met if fate is not Fate.DEFAULTED}
            for name in had:
                self.records[name] += times
                self.kept[name] += 0 if name in touched else times
        self._pending.clear()

    def _count_of(
        self, field_fate: FieldFate, place: Callable[[], Place | None]
    ) -> FateCount:
        path = self._counted_path(field_fate.path)
        if path != field_fate.path:
            field_fate = FieldFate(field_fate.fate, path, field_fate.how)
        count = self.counts.get(field_fate)
        if count is None:
            found = place()
            if found is not None and self.places is not None:
                found = self.places.of_place(found)
            count = self.counts[field_fate] = FateCount(field_fate, place=found)
        return count

    def _counted_path(self, path: str) -> str:
        """Return `path`, or the shared path of all members if there are too many."""
        if path in self.carried or not path.startswith(_member_prefixes):
            return path
        if self._members >= MAX_MEMBERS:
            prefix = next(start for start in _member_prefixes if path.startswith(start))
            return f"{prefix}{REST}"
        self._members += 1
        self.carried[path] = 0
        return path
