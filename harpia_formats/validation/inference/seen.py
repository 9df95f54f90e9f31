"""What was seen of the values at one place of many rows, in bounded memory.

Values are added many at a time: those of the same key of all rows together, so that
counting their types and texts is left to functions that loop in C. What was seen of two
parts of the rows can be merged, in any order.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

#: Different keys of one object; with more, it is taken as a map from keys to values.
KEY_LIMIT = 2_000
#: Different texts that are counted at one place, and code points of each.
TEXT_LIMIT, TEXT_LENGTH = 50, 60
#: Levels of a schema that are described; what is deeper may be anything. The schema
#: validator takes no more than 100.
LEVELS = 90
#: Levels that an object and an array in the data add to the schema.
_OF_OBJECT, _OF_ARRAY = 2, 1


class Seen:
    """The types, texts and members of all values at one place."""

    __slots__ = ("items", "keys", "kinds", "level", "rest", "texts")

    def __init__(self, level: int = 0) -> None:
        """Begin with no values; `level` counts the levels of schemas above it."""
        self.level = level
        #: How many values there are of each Python type.
        self.kinds: dict[type, int] = {}
        #: How often each text is there; None if they are too many, or too long.
        self.texts: dict[str, int] | None = {}
        #: What the members of objects are, by their keys; empty if there is a `rest`.
        self.keys: dict[str, Seen] = {}
        #: What all members are, if there are too many different keys.
        self.rest: Seen | None = None
        #: What the items of arrays are.
        self.items: Seen | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Seen):
            return NotImplemented
        mine = (self.kinds, self.texts, self.keys, self.rest, self.items)
        return mine == (other.kinds, other.texts, other.keys, other.rest, other.items)

    __hash__ = None  # type: ignore[assignment]  # it changes

    @property
    def count(self) -> int:
        """How many values there are."""
        return sum(self.kinds.values())

    @property
    def nodes(self) -> int:
        """How many places are described, this one included."""
        inner = [*self.keys.values(), self.rest, self.items]
        return 1 + sum(one.nodes for one in inner if one is not None)

    def add(self, values: list[Any]) -> None:
        """Add values of JSON, as they are decoded."""
        kinds = set(map(type, values))
        if len(kinds) == 1:
            self._add_of(kinds.pop(), values)
            return
        for kind in kinds:
            self._add_of(kind, [value for value in values if type(value) is kind])

    def _add_of(self, kind: type, values: list[Any]) -> None:
        """Add values of one type."""
        self.kinds[kind] = self.kinds.get(kind, 0) + len(values)
        if kind is str:
            self._add_texts(values)
        elif kind is dict and self.level + _OF_OBJECT <= LEVELS:
            self._add_objects(values)
        elif kind is list and self.level + _OF_ARRAY <= LEVELS:
            items = list(chain.from_iterable(values))
            if items:
                self.items = self.items or Seen(self.level + _OF_ARRAY)
                self.items.add(items)

    def _add_texts(self, texts: list[str]) -> None:
        counts = self.texts
        if counts is None:
            return
        if max(map(len, texts)) > TEXT_LENGTH:
            self.texts = None
            return
        for text, times in Counter(texts).items():
            counts[text] = counts.get(text, 0) + times
        if len(counts) > TEXT_LIMIT:
            self.texts = None

    def _add_objects(self, objects: list[dict[str, Any]]) -> None:
        if self.rest is not None:
            self._add_rest(chain.from_iterable(map(dict.values, objects)))
            return
        names = tuple(objects[0])
        if all(map(names.__eq__, map(tuple, objects))):
            # Mostly all objects have the same keys in the same order.
            columns = zip(
                names, zip(*map(dict.values, objects), strict=True), strict=True
            )
            for name, column in columns:
                self._member(name).add(list(column))
        else:
            by_key: dict[str, list[Any]] = {}
            for one in objects:
                for key, value in one.items():
                    if key in by_key:
                        by_key[key].append(value)
                    else:
                        by_key[key] = [value]
            for key, values in by_key.items():
                self._member(key).add(values)
        self._limit_keys()

    def _add_rest(self, values: Iterable[Any]) -> None:
        """Add values of members whose keys are not described."""
        listed = list(values)
        if listed and self.rest is not None:
            self.rest.add(listed)

    def _member(self, key: str) -> "Seen":
        """Return what is seen at a key."""
        found = self.keys.get(key)
        if found is None:
            found = self.keys[key] = Seen(self.level + _OF_OBJECT)
        return found

    def _limit_keys(self) -> None:
        """Describe all members together if there are too many different keys."""
        if len(self.keys) > KEY_LIMIT:
            self.rest, self.keys = self.all_members(), {}

    def all_members(self) -> "Seen":
        """Return what all members of objects are, whatever their keys."""
        merged = Seen(self.level + _OF_OBJECT)
        for member in [*self.keys.values(), *([self.rest] if self.rest else [])]:
            merged.merge(member)
        return merged

    def merge(self, other: "Seen") -> None:
        """Add what was seen of other rows; `other` stays as it is."""
        for kind, times in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + times
        self._merge_texts(other)
        if other.items is not None:
            self.items = self.items or Seen(self.level + _OF_ARRAY)
            self.items.merge(other.items)
        if self.rest is None and other.rest is None:
            for key, seen in other.keys.items():
                self._member(key).merge(seen)
            self._limit_keys()
            return
        rest = self.rest or self.all_members()
        rest.merge(other.rest or other.all_members())
        self.rest, self.keys = rest, {}

    def _merge_texts(self, other: "Seen") -> None:
        if self.texts is None or other.texts is None:
            self.texts = None
            return
        for text, times in other.texts.items():
            self.texts[text] = self.texts.get(text, 0) + times
        if len(self.texts) > TEXT_LIMIT:
            self.texts = None
