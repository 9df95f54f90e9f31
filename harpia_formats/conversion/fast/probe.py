"""Replace the values of a row by unique ones, to see where a conversion moves them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from harpia_formats.model.adapter import FormatAdapter, Row

#: The keys and indices that lead to a value of a row.
RowPath = tuple[str | int, ...]
#: Two record numbers that no row holds by chance.
PROBE_NUMBERS = (918_273_645_000_001, 918_273_645_000_002)


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """A row of unique values, and the path of each of them."""

    value: Row
    paths: Mapping[Any, RowPath]

    @classmethod
    def of(
        cls,
        value: Row,
        salt: str,
        source: FormatAdapter,
        kept: Collection[RowPath] = (),
    ) -> "ProbeRow":
        """Return `value` with unique texts and numbers, but for paths in `kept`.

        Discriminators of `source` keep their values, too. `salt` is "a" or "b"; the
        values of both are different.
        """
        paths: dict[Any, RowPath] = {}
        numbers = count(1 if salt == "a" else 100_001)

        def replaced(item: Any, path: RowPath) -> Any:
            names = tuple(part if isinstance(part, str) else "*" for part in path)
            if names in source.discriminators or path in kept:
                return item
            if isinstance(item, dict):
                return {
                    key: replaced(member, (*path, key)) for key, member in item.items()
                }
            if isinstance(item, list):
                return [replaced(member, (*path, at)) for at, member in enumerate(item)]
            unique = _unique_value(item, salt, next(numbers))
            if unique is not item:
                paths[unique] = path
            return unique

        return cls(replaced(value, ()), paths)


def _unique_value(value: Any, salt: str, number: int) -> Any:
    """Return a unique value of the type of `value`, or `value` if there is none."""
    if isinstance(value, bool):
        return value if salt == "a" else not value
    if isinstance(value, str):
        return f"\x01{salt}{number}"
    if isinstance(value, int):
        return 771_000_000_000 + number
    if isinstance(value, float):
        return 771_000_000_000.5 + number
    return value


def empty_texts_in(value: Any, path: RowPath = ()) -> Iterator[RowPath]:
    """Yield the path of each empty text of a row."""
    if value == "":
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from empty_texts_in(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from empty_texts_in(item, (*path, at))


def may_be_probe_value(value: Any) -> bool:
    """Tell whether a value has a type that unique values have."""
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)
