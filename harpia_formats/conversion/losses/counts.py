"""What became of each field over a whole conversion: exact counts, and one example."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.model.field_fates import Fate, FieldFate
from harpia_formats.model.problem import Place

#: Members of free objects that are told one by one.
MEMBERS = 200
_starred = ("params.", "metadata.", "extra.", "outputs.extra.")


@dataclass(slots=True)
class Loss:
    """One thing that became of one field, how often, and where first."""

    note: FieldFate
    count: int = 0
    place: Place | None = None


@dataclass(slots=True)
class Losses:
    """The fields that records had, and what became of them."""

    #: Records that carried a field, by its path.
    carried: dict[str, int] = field(default_factory=dict)
    losses: dict[FieldFate, Loss] = field(default_factory=dict)
    #: Records of which a fate met a field, in however many ways.
    fates: Counter[tuple[Fate, str]] = field(default_factory=Counter)
    #: How often records of one shape met one outcome, not yet taken apart.
    _shapes: dict[tuple[Any, Any], int] = field(default_factory=dict)
    _members: int = 0

    def add(
        self,
        paths: tuple[str, ...],
        fates: tuple[FieldFate, ...],
        place: Callable[[], Place | None],
        times: int = 1,
    ) -> None:
        """Count records with fields at `paths` of which `fates` were made."""
        shape = (paths, fates)
        if shape in self._shapes:
            self._shapes[shape] += times
            return
        if len(self._shapes) >= MEMBERS:
            self._settle()
        self._shapes[shape] = times
        for each in fates:
            self._loss(each, place)

    def settled(self) -> "Losses":
        """Return itself with every count up to date."""
        self._settle()
        return self

    def _settle(self) -> None:
        for (paths, fates), times in self._shapes.items():
            for path in dict.fromkeys(paths):
                self._carry(path, times)
            met = set()
            for each in dict.fromkeys(fates):
                loss = self._loss(each, lambda: None)
                loss.count += times
                met.add((each.fate, loss.note.path))
            for both in met:
                self.fates[both] += times
        self._shapes.clear()

    def _carry(self, path: str, times: int) -> None:
        name = self._named(path)
        self.carried[name] = self.carried.get(name, 0) + times

    def _loss(self, note: FieldFate, place: Callable[[], Place | None]) -> Loss:
        name = self._named(note.path)
        note = note if name == note.path else FieldFate(note.fate, name, note.how)
        loss = self.losses.get(note)
        if loss is None:
            loss = self.losses[note] = Loss(note, place=place())
        return loss

    def _named(self, path: str) -> str:
        """Return `path`, or that of all members where there are too many of them."""
        if path in self.carried or not path.startswith(_starred):
            return path
        if self._members >= MEMBERS:
            start = next(each for each in _starred if path.startswith(each))
            return f"{start}*"
        self._members += 1
        self.carried[path] = 0
        return path
