"""Decode the parts of rows whose numbers keep their text, and whose keys their order.

A typed decoder gives floats without their text, and objects with the order of its own
fields. Only such values are decoded once more, and only where they are written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Union

import msgspec
from msgspec import UNSET, UnsetType

from harpia_formats.conversion.mapping.decoded_types import Keys, may_differ, type_at
from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.exact_json import decoder_of

#: What may stand where an object is expected: rows with that are read as a whole.
_others: Any = Union[None, bool, int, float, str, list[Any], UnsetType]  # noqa: UP007 - with a class that is made at run time


@dataclass(slots=True)
class ExactParts:
    """The values of rows of a typed decoder that have to be decoded once more."""

    decoder: TypedDecoder
    #: The attribute of each value, by its keys, and of each object around some.
    names: dict[Keys, str] = field(default_factory=dict)
    #: The value of an object that a row lacks.
    absent: dict[Keys, Any] = field(default_factory=dict)
    _values: set[Keys] = field(default_factory=set)

    def add(self, path: Keys) -> bool:
        """Add the value at `path` if it may differ; return whether it does."""
        if may_differ(type_at(self.decoder, path)):
            self._values.add(path)
        return path in self._values

    def reader(self) -> Callable[[Chunk], Sequence[Any]] | None:
        """Return the function that decodes all rows of a chunk; None if none is needed.

        It raises `msgspec.MsgspecError` for rows that have to be read as a whole.
        """
        if not self._values:
            return None
        decoder = decoder_of(self._class_of(()))

        def read(chunk: Chunk) -> Sequence[Any]:
            if chunk.lines:
                return decoder.decode_lines(chunk.data)
            return [*map(decoder.decode, chunk.rows)]

        return read

    def _class_of(self, owner: Keys) -> type:
        """Return the class of the object at `owner`, with the values to decode."""
        size = len(owner)
        keys = {path[size] for path in self._values if path[:size] == owner}
        fields: list[Any] = []
        names = {}
        for number, key in enumerate(sorted(keys)):
            path, name = (*owner, key), f"x{number}"
            kind: Any = Any
            if path not in self._values:
                kind = Union[self._class_of(path), _others]  # noqa: UP007 - made at run time
            fields.append((name, kind, UNSET))
            names[name] = key
            self.names[path] = name
        self.absent[owner] = SimpleNamespace(**dict.fromkeys(names, UNSET))
        return msgspec.defstruct("Parts", fields, rename=names, gc=False)
