"""Find the keys that a schema names, and replace names that come from data."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from msgspec import Struct, field

from harpia_formats.formats.registry import all_formats
from harpia_formats.formats.schema.bundled_schemas import built_in_schema
from harpia_formats.formats.schema.references import subschemas
from harpia_formats.model.problem import Path

#: What stands in the place of a key that is no word of a schema.
MASK = "*"
#: Words of the hub apart from those of schemas: of paths of header fields, of the rest
#: of open objects, and of the groups beyond those that are counted one by one.
_OWN = frozenset({"", MASK, "…", "header"})


class SchemaWords:
    """The keys that the schemas of all formats name, and those of one more schema."""

    def __init__(self, schema: Any = None) -> None:
        """Take the user's schema, if records are validated against one."""
        self._words = _words_of_formats() | frozenset(_words_of(schema))

    def __contains__(self, key: str) -> bool:
        return key in self._words

    def masked(self, key: str) -> str:
        """Return a key, `*` if it is no word of a schema."""
        return key if key in self._words else MASK

    def path(self, path: Path) -> Path:
        """Return a path of a record with `*` for keys that are no words of a schema."""
        return tuple(
            step if isinstance(step, int) else self.masked(step) for step in path
        )

    def pointer(self, pointer: str) -> str:
        """Return a JSON pointer of a group, masked; array indices are `*`, too."""
        steps = pointer.split("/")
        names = (step.replace("~1", "/").replace("~0", "~") for step in steps)
        return "/".join(
            step if name in self else MASK
            for step, name in zip(steps, names, strict=True)
        )

    def field(self, path: str) -> str:
        """Return the dotted path of a field, masked, as in `metadata.*`."""
        return ".".join(map(self.masked, path.split(".")))


@cache
def _words_of_formats() -> frozenset[str]:
    found = set(_OWN)
    for format_ in all_formats().values():
        for dialect in format_.dialects:
            found.update(_words_of(built_in_schema(dialect.schema)))
    return frozenset(found)


def _words_of(schema: Any) -> Iterator[str]:
    """Yield the keys that a schema names."""
    if not isinstance(schema, dict):
        return
    for keyword in ("properties", "dependencies"):
        named = schema.get(keyword)
        if isinstance(named, dict):
            yield from named
            for keys in named.values():
                yield from _texts(keys)
    yield from _texts(schema.get("required"))
    for _, part in subschemas(schema, ref_siblings=True):
        yield from _words_of(part)


def _texts(keys: Any) -> Iterator[str]:
    if isinstance(keys, list):
        yield from (key for key in keys if isinstance(key, str))


class NumberedNames(Struct, frozen=True):
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
