"""Name the fields of records by the keys that they have in the rows of their source."""

from collections import Counter
from collections.abc import Iterable

from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.problem import Path, pointer_of

#: Stands for the last key of the members that are not counted one by one.
REST = "*"
#: Its word in the name of a field.
_rest = "other keys"
#: Lists of a record that are lost as a whole, and a field of their items.
_wholes = {"outputs": "outputs.text", "outputs.scores": "outputs.scores.value"}


class SourceNames:
    """The names of fields in the rows of one format, by their paths in records.

    Without an adapter, the names are the paths in records.
    """

    def __init__(self, adapter: FormatAdapter | None = None) -> None:
        #: The name and the keys of each field that a row has a place for.
        self._fields: dict[str, tuple[str, Path]] = {}
        #: The keys of the object in rows that each open object of a record is.
        self._open: dict[str, Path] = {}
        #: The owners of keys of the vendor, whose inner keys have names of their own.
        self._owners: frozenset[str] = frozenset()
        if adapter is None:
            return
        for mapping in adapter.fields:
            place = mapping.name, mapping.path
            self._fields.setdefault(mapping.record_path, place)
            if mapping.key_record_path:
                self._fields.setdefault(mapping.key_record_path, place)
        shared = Counter(name for name, _ in self._fields.values())
        self._fields = {
            path: (f"{name} ({path})" if shared[name] > 1 else name, keys)
            for path, (name, keys) in self._fields.items()
        }
        # Several answers or scores are lost as a whole; their key is that of the texts.
        for path, inner in _wholes.items():
            if inner in self._fields:
                _, keys = self._fields[inner]
                whole = keys[:-1] or keys
                if path == "outputs":
                    whole = adapter.answer_path or whole
                name = ".".join(str(key) for key in whole)
                self._fields.setdefault(path, (name, whole))
        for path, name in adapter.other_names.items():
            self._fields[path] = name, tuple(name.partition(" (")[0].split("."))
        self._open = {
            path: self._fields[path][1]
            for path in ("params", "metadata")
            if path in self._fields
        }
        if "extra" not in adapter.other_paths:
            # Else rows have the extra fields of records as such.
            self._open[f"extra.{adapter.vendor}"] = ()
            self._open[f"outputs.extra.{adapter.vendor}"] = adapter.answer_path
        self._owners = adapter.extra_owners

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
        return f"{_rest} of {name}" if name else _rest

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
        if owner in self._fields:
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
