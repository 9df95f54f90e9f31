"""Name the fields of records by the keys that they have in the rows of their source."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.validation.redaction.shown_words import SchemaWords

#: Stands for the last key of the members that are not counted one by one.
REST = "*"
#: Its words in the name of a field.
OTHER_KEYS = "other keys"
#: Lists of a record that are lost as a whole, and a field of their items.
_wholes = {"outputs": "outputs.text", "outputs.scores": "outputs.scores.value"}
#: Fields that are made of each other where a format has one of them.
_same_chat = {"messages": "outputs.turns", "outputs.turns": "messages"}


class SourceNames:
    """The names of fields in the rows of one format, by their paths in records.

    Without an adapter, the names are the paths in records.
    """

    def __init__(self, adapter: FormatAdapter | None = None) -> None:
        #: The name and the keys of each field that a row has a place for.
        self._fields: dict[str, tuple[str, Path]] = {}
        #: The keys of all fields, of those that share a path in records the first.
        self._keys: set[Path] = set()
        #: The keys of the object in rows that each open object of a record is.
        self._open: dict[str, Path] = {}
        #: The owners of keys of the vendor, whose inner keys have names of their own.
        self._owners: frozenset[str] = frozenset()
        #: The names of mapped fields, by the paths in rows from which they are read.
        self.mapped: dict[str, str] = {}
        if adapter is None:
            return
        self._fields = _fields_of(adapter)
        self._keys = {
            mapping.path
            for mapping in adapter.fields
            if self._fields[mapping.record_path][1] == mapping.path
        }
        self._open = {
            path: self._fields[path][1]
            for path in ("params", "metadata")
            if path in self._fields
        }
        if "extra" not in adapter.other_paths:
            # Else rows have the extra fields of records as such.
            self._open[f"extra.{adapter.vendor}"] = ()
            if "outputs.extra" not in self._fields:
                self._open[f"outputs.extra.{adapter.vendor}"] = adapter.answer_path
        self._owners = adapter.extra_owners

    def map_fields(self, columns: Mapping[str, str], replaced: str) -> None:
        """Name fields by the paths in rows from which they are read instead.

        `columns` has these by the paths in records. The own values of these fields are
        the members of `replaced` in `extra`.
        """
        fields = dict(self._fields)
        for path, column in columns.items():
            owner, _, name = path.rpartition(".")
            own = ".".join(filter(None, (owner, "extra", replaced, name)))
            if path in self._fields:
                fields[own] = self._fields[path]
            self.mapped[column] = f"{column} ({path})"
            fields[path] = self.mapped[column], tuple(column.split("."))
        self._fields = fields

    def of(self, path: str) -> str:
        """Return the name of the field at `path`."""
        known = self._fields.get(path)
        if known is not None:
            return known[0]
        keys = self._keys_in(path)
        if keys is None:
            return path
        name = ".".join(str(key) for key in keys if key != REST)
        if keys[-1:] != (REST,):
            return name
        return f"{OTHER_KEYS} of {name}" if name else OTHER_KEYS

    def shown(self, path: str, words: SchemaWords) -> str:
        """Return the name of the field at `path`, `*` for keys that are no `words`."""
        if path in self._fields:
            return self.of(path)
        keys = self._keys_in(path)
        if keys is None:
            return words.field(path)
        name = ".".join(words.field(str(key)) for key in keys if key != REST)
        if keys[-1:] != (REST,):
            return name
        return f"{OTHER_KEYS} of {name}" if name else OTHER_KEYS

    def of_any_key(self, path: str) -> str:
        """Return the name of the field at `path`, the same for all unknown keys."""
        if path in self._fields:
            return self.of(path)
        for start in self._open:
            if path.startswith(f"{start}."):
                if start in self._fields:
                    return self.of(start)
                *owners, key = self._split(start, path.removeprefix(f"{start}."))
                keys = (*self._open[start], *owners, key)
                if keys in self._keys or path in self._owners:
                    return self.of(path)
                return self.of(".".join((start, *owners, REST)))
        for start in ("extra", "outputs.extra"):
            if path.startswith(f"{start}.") and start in self._fields:
                return self.of(start)
        return self.of(path)

    def pointer_of(self, path: str) -> str:
        """Return the JSON pointer in a row to the field at `path`.

        It is the pointer in the record if rows have no such field.
        """
        known = self._fields.get(path)
        if known is not None:
            return pointer_of(known[1])
        keys = self._keys_in(path)
        if keys is None:
            return pointer_of(tuple(path.split(".")))
        return pointer_of(keys[:-1] if keys[-1:] == (REST,) else keys)

    def _keys_in(self, path: str) -> Path | None:
        """Return the keys in a row of a member of an open object, None for others."""
        if path in {f"extra.{REST}", f"outputs.extra.{REST}"}:
            return (REST,)
        for start, keys in self._open.items():
            if path.startswith(f"{start}."):
                return (*keys, *self._split(start, path.removeprefix(f"{start}.")))
        owner, _, member = path.rpartition(".")
        if owner in self._fields and owner not in _wholes:
            return (*self._fields[owner][1], member)
        return None

    def _split(self, start: str, rest: str) -> Iterable[str]:
        """Yield the keys of the path `rest` below `start`; a key may have dots."""
        while True:
            key, dot, inner = rest.partition(".")
            if not dot or f"{start}.{key}" not in self._owners:
                yield rest
                return
            yield key
            start, rest = f"{start}.{key}", inner


def _fields_of(adapter: FormatAdapter) -> dict[str, tuple[str, Path]]:
    """Return the name and the keys of each field that a row has a place for."""
    places: dict[str, tuple[str, Path]] = {}
    for mapping in adapter.fields:
        place = mapping.name, mapping.path
        places.setdefault(mapping.record_path, place)
        if mapping.key_record_path:
            places.setdefault(mapping.key_record_path, place)
    shared = Counter(name for name, _ in places.values())
    found = {
        path: (f"{name} ({path})" if shared[name] > 1 else name, keys)
        for path, (name, keys) in places.items()
    }
    # Several answers or scores are lost as a whole; their key is that of the texts.
    for path, inner in _wholes.items():
        if inner in found:
            _, keys = found[inner]
            whole = (path == "outputs" and adapter.answer_path) or keys[:-1] or keys
            found.setdefault(path, (".".join(map(str, whole)), whole))
    for path, other in _same_chat.items():
        if other in found:
            found.setdefault(path, found[other])
    for key, value in adapter.extra_examples.items():
        for keys in _keys_below(key, value):
            path = f"extra.{adapter.vendor}.{'.'.join(keys)}"
            found[path] = ".".join(keys), keys
    for path, name in adapter.other_names.items():
        found[path] = name, tuple(name.partition(" (")[0].split("."))
    return found


def _keys_below(key: str, value: Any) -> Iterator[tuple[str, ...]]:
    """Yield the keys of each value in an object, or `key` for another value."""
    if not isinstance(value, dict):
        yield (key,)
        return
    for inner, member in value.items():
        for keys in _keys_below(inner, member):
            yield (key, *keys)
