"""Summarise the values of many rows, and make a draft-07 schema of the summary."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from harpia_formats.files.io.discovery import check_patterns
from harpia_formats.files.io.file_sink import write_file
from harpia_formats.files.io.outputs import FilesRead
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.parsing.csv_delimiter import delimiter_named
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.problem import OptionError
from harpia_formats.model.report import Report, validation_failed
from harpia_formats.model.result import Result

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
    def describes_objects(self) -> bool:
        """Whether the members of objects are described here, or too deep for it."""
        return self.level + _OF_OBJECT <= LEVELS

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
        elif kind is dict and self.describes_objects:
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
        """Add what was seen at another key of a map; `other` stays as it is."""
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


#: Texts of an `enum` at most, if not given.
ENUM_LIMIT = 10
#: Different keys that an object may have before it is taken as a map, if not given.
MAP_KEYS = 100


@dataclass(frozen=True, slots=True)
class InferOptions:
    """What a schema is inferred from, and what is written into it."""

    #: Different texts that are listed as an `enum`, at most; 0 lists none.
    enum_limit: int = ENUM_LIMIT
    #: Different keys from which on objects that share few of them are taken as maps.
    map_keys: int = MAP_KEYS
    #: Forbid keys that were not seen.
    closed: bool = False
    #: The character between the fields of a table, or its name, such as `tab`.
    delimiter: str | None = None
    #: Rows of each file that are read; all if None.
    limit: int | None = None
    #: Show no value of a record: in problems, and no texts are listed in the schema.
    redact: bool = False
    #: Patterns of paths below the given folders; files that match are left out.
    exclude: tuple[str, ...] = ()
    #: Bytes that a row may have.
    max_row_bytes: int = ROW_LIMIT
    #: Called after each part of a file with how far it was read.
    progress: Callable[[ReadProgress], None] | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            delimiter_named(self.delimiter)
        check_patterns(self.exclude)
        if self.redact:
            object.__setattr__(self, "enum_limit", 0)
        if not 0 <= self.enum_limit <= TEXT_LIMIT:
            raise OptionError(f"enum_limit must be from 0 to {TEXT_LIMIT}")
        for name, least in (("map_keys", 1), ("limit", 1), ("max_row_bytes", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise OptionError(f"{name} must be at least {least}, not {value}")


#: How often each text of an `enum` must be there.
_REPEATED = 10
#: An object is a map if it has less than this share of all keys, on average.
_SHARE = 0.1
#: The JSON type of each Python type, in the order in which they are written.
_names = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
DRAFT = "http://json-schema.org/draft-07/schema#"


def schema_of(seen: Seen, options: InferOptions, title: str) -> dict[str, Any]:
    """Return the schema of rows of which so much was seen, with a `title`."""
    body = _schema_of(seen, options, "rows")
    described = f"Inferred from {_counted(seen.count, 'row')}"
    return {
        "$schema": DRAFT,
        "title": title,
        "description": described,
        **body,
    }


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _schema_of(seen: Seen, options: InferOptions, objects: str) -> dict[str, Any]:
    """Return the keywords for values; `objects` is what objects of them are called."""
    types = [name for kind, name in _names.items() if kind in seen.kinds]
    if "number" in types and "integer" in types:
        types.remove("integer")
    found: dict[str, Any] = {}
    if seen.kinds.get(dict):
        found = _object_keywords(seen, options, objects)
    if seen.items is not None:
        found["items"] = _schema_of(seen.items, options, "objects")
    texts = _listed_texts(seen, options)
    if not texts:
        return {"type": types[0] if len(types) == 1 else types, **found}
    listed = {"type": "string", "enum": texts}
    types.remove("string")
    if not types:
        return listed
    rest = {"type": types[0] if len(types) == 1 else types, **found}
    return {"anyOf": [listed, rest]}


def _listed_texts(seen: Seen, options: InferOptions) -> list[str]:
    """Return the texts of an `enum`, an empty list if none is justified.

    They are few and each is repeated: a text that is always the same, or is there only
    now and then, does not show that there are no others.
    """
    texts = seen.texts or {}
    # With objects and arrays, `anyOf` would put all of them a level deeper.
    if seen.kinds.keys() & {dict, list} or not 1 < len(texts) <= options.enum_limit:
        return []
    return sorted(texts) if min(texts.values()) >= _REPEATED else []


def _object_keywords(seen: Seen, options: InferOptions, objects: str) -> dict[str, Any]:
    """Return the keywords for the objects among values."""
    number = seen.kinds[dict]
    if _is_map(seen, options):
        members = seen.all_members()
        keys = f"{len(seen.keys):,}" if seen.keys else f"more than {KEY_LIMIT:,}"
        comment = f"a map: {keys} different keys in {number:,} {objects}"
        rest = _schema_of(members, options, "objects") if members.count else True
        return {"$comment": comment, "additionalProperties": rest}
    found: dict[str, Any] = {}
    required = [key for key, member in seen.keys.items() if member.count == number]
    if required:
        found["required"] = required
    if seen.keys:
        found["properties"] = {
            key: _member(member, options, number, objects)
            for key, member in seen.keys.items()
        }
    if options.closed and seen.describes_objects:
        found["additionalProperties"] = False
    return found


def _member(
    member: Seen, options: InferOptions, number: int, objects: str
) -> dict[str, Any]:
    """Return the schema of a member, with how many objects have it if not all do."""
    schema = _schema_of(member, options, "objects")
    if member.count == number:
        return schema
    comment = f"in {member.count:,} of {number:,} {objects}"
    if "$comment" in schema:
        comment = f"{comment}; {schema['$comment']}"
    return {"$comment": comment, **{k: v for k, v in schema.items() if k != "$comment"}}


def _is_map(seen: Seen, options: InferOptions) -> bool:
    """Return whether objects have keys that are data, and not names of fields."""
    if seen.rest is not None:
        return True
    keys, objects = len(seen.keys), seen.kinds[dict]
    members = sum(member.count for member in seen.keys.values())
    return keys > options.map_keys and members < _SHARE * keys * objects


@dataclass(frozen=True, slots=True, repr=False)
class InferredSchema(Result):
    """A schema, and the rows from which it was inferred."""

    columns: ClassVar = ("key", "type", "required")

    #: A draft-07 schema; None if a file could not be read, or a row is no JSON.
    schema: dict[str, Any] | None
    #: How many rows were read.
    rows: int
    #: What was found in the files.
    report: Report

    @property
    def ok(self) -> bool:
        """Whether every row was read."""
        return self.schema is not None

    def raise_for_errors(self) -> None:
        """Raise `ValidationFailed` unless every row was read."""
        if not self.ok:
            raise validation_failed(self.report, self)

    def headline(self) -> str:
        """Return the number of rows and of keys in one line."""
        if self.schema is None:
            return f"no schema, {self.report.headline()}"
        keys = len(self.schema.get("properties", {}))
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        return f"a schema of {rows} with {keys:,} {'key' if keys == 1 else 'keys'}"

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each key of the rows."""
        schema = self.schema or {}
        required = schema.get("required", ())
        return [
            {"key": key, "type": part.get("type", ""), "required": key in required}
            for key, part in schema.get("properties", {}).items()
        ]


def schema_json(schema: Mapping[str, Any]) -> str:
    """Return the text of a schema, with its keys in their order."""
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def write_schema(
    schema: Mapping[str, Any],
    place: str,
    inputs: Iterable[str],
    *,
    exclude: Iterable[str] = (),
    overwrite: bool,
) -> None:
    """Write a schema to a path or URL, which is none of the `inputs`.

    It appears complete or not at all. Raises `SinkError`, also if there is a file
    already, unless `overwrite`.
    """
    FilesRead(inputs, exclude=exclude, unpackers=all_unpackers()).check(place)
    write_file(place, [schema_json(schema).encode()], overwrite=overwrite)
