"""Numbers in the place of names that data give, such as those of models."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NumberedNames:
    """Calls values by their kind and a number, in order of appearance: `model 2`."""

    _numbers: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, kind: str, value: str) -> str:
        """Return what a value of some kind is called; the same for the same value."""
        numbers = self._numbers.setdefault(kind, {})
        return numbers.setdefault(value, f"{kind} {len(numbers) + 1}")


def notes_shown(notes: Sequence[str]) -> tuple[str, ...]:
    """Return in the place of notes how many there are, since they may hold values."""
    if not notes:
        return ()
    number = "1 note is" if len(notes) == 1 else f"{len(notes):,} notes are"
    return (f"{number} not shown: they may hold values of records",)
