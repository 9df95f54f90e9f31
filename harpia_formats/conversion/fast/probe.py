"""Give a row other values in all fields, to see where a conversion moves them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from harpia_formats.model.adapter import FormatAdapter, Row

#: Where a value is in a row: keys and indices.
Key = tuple[str | int, ...]
#: Numbers of records that no row holds by chance.
NUMBERS = (918_273_645_000_001, 918_273_645_000_002)


@dataclass(frozen=True, slots=True)
class Traced:
    """A row with values that are nowhere else, and where each of them is."""

    value: Row
    places: Mapping[Any, Key]

    @classmethod
    def of(
        cls, value: Row, salt: str, source: FormatAdapter, kept: Collection[Key] = ()
    ) -> "Traced":
        """Return `value` with other texts and numbers in all fields but the `kept`."""
        places: dict[Any, Key] = {}
        numbers = count(1 if salt == "a" else 100_001)

        def other(each: Any, place: Key) -> Any:
            names = tuple(part if isinstance(part, str) else "*" for part in place)
            if names in source.discriminators or place in kept:
                return each
            if isinstance(each, dict):
                return {key: other(item, (*place, key)) for key, item in each.items()}
            if isinstance(each, list):
                return [other(item, (*place, at)) for at, item in enumerate(each)]
            made = _another(each, salt, next(numbers))
            if made is not each:
                places[made] = place
            return made

        return cls(other(value, ()), places)


def _another(value: Any, salt: str, number: int) -> Any:
    """Return a value of the same type that is nowhere else, if there can be one."""
    if isinstance(value, bool):
        return value if salt == "a" else not value
    if isinstance(value, str):
        return f"\x01{salt}{number}"
    if isinstance(value, int):
        return 771_000_000_000 + number
    if isinstance(value, float):
        return 771_000_000_000.5 + number
    return value


def blanks_in(value: Any, place: Key = ()) -> Iterator[Key]:
    """Yield where the empty texts of a row are."""
    if value == "":
        yield place
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from blanks_in(each, (*place, key))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from blanks_in(each, (*place, at))


def is_traced(value: Any) -> bool:
    """Tell whether a value can be one that was put into a row."""
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)
