"""Generate the code that finds objects in decoded rows, and keys that are no fields."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from harpia_formats.conversion.mapping.compiled_fields import Code
from harpia_formats.conversion.mapping.extra_fields import EXTRAS_KEY
from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.exact_json import ExactFloat, decoder_of

#: The keys of objects that lead to a value.
Keys = tuple[str, ...]


def type_at(decoder: TypedDecoder, path: Keys) -> Any:
    """Return the type of the value at `path`; `UnsetType` if no row has one."""
    name = decoder.attributes[path[:-1]].get(path[-1])
    if name is None:
        return UnsetType
    return decoder.classes[path[:-1]].__annotations__[name]


def may_differ(kind: Any) -> bool:
    """Tell whether values of a type may have floats, or objects with fields.

    The exact decoder may return other ones for the same text.
    """
    if isinstance(kind, type) and issubclass(kind, (float, Struct)):
        return True
    return any(map(may_differ, _parts_of(kind)))


def has_objects(kind: Any) -> bool:
    """Tell whether values of a type may be, or hold, objects with fields."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return True
    return any(map(has_objects, _parts_of(kind)))


def _parts_of(kind: Any) -> tuple[Any, ...]:
    """Return the types that a type is made of, no values that it lists."""
    if isinstance(kind, NewType):
        return (kind.__supertype__,)
    return () if get_origin(kind) is Literal else get_args(kind)


def is_text_list(kind: Any) -> bool:
    """Tell whether all lists of a type have texts only."""
    if get_origin(kind) is list:
        return get_args(kind) == (str,)
    return all(map(is_text_list, _parts_of(kind)))


def json_types(kind: Any) -> frozenset[type]:
    """Return the Python types that the exact decoder returns for values of a type."""
    origin, parts = get_origin(kind), _parts_of(kind)
    if origin is Annotated:
        return json_types(parts[0])
    if origin in {list, dict}:
        return frozenset({origin})
    if origin is Literal:
        return frozenset({str})
    if parts:
        return frozenset().union(*map(json_types, parts))
    return _single_types.get(kind, frozenset({dict if has_objects(kind) else kind}))


#: The types of JSON for types that are not those.
_single_types: dict[Any, frozenset[type]] = {
    None: frozenset({type(None)}),
    float: frozenset({float, ExactFloat, int}),
    UnsetType: frozenset(),
}


#: What may stand where an object is expected: rows with that are read as a whole.
_others: Any = Union[None, bool, int, float, str, list[Any], UnsetType]  # noqa: UP007 - with a class that is made at run time


class ExactParts(Struct):
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


class DirectObjects(Struct, kw_only=True):
    """Writes the lines for the objects of rows of one decoder.

    The code names `UNSET`, `astuple` and `to_builtins`.
    """

    source: FormatAdapter
    #: What is decoded once more of the rows.
    parts: ExactParts
    code: Code
    #: Whether members of rows that are no fields may be written.
    has_extra: bool
    #: Whether rows are written: numbers keep their text then, objects the order of
    #: their keys, and there is a key of what becomes of all fields.
    is_exact: bool = True
    #: The keys of the values that are taken from the exact parts.
    exact: set[Keys] = field(default_factory=set)
    #: The variable of each object in the exact parts, by its keys.
    exact_objects: dict[Keys, str] = field(default_factory=dict)
    #: The variable of each object in rows, by its keys.
    objects: dict[Keys, str] = field(default_factory=dict)
    #: The variable of the value of each field, by its keys.
    values: dict[Keys, str] = field(default_factory=dict)
    #: What the key is made of.
    key: list[str] = field(default_factory=list)

    @property
    def decoder(self) -> TypedDecoder:
        """The decoder of the rows."""
        return self.parts.decoder

    def object(self, path: Keys) -> str:
        """Add the lines that find the object at `path`; return its variable."""
        known = self.objects.get(path)
        if known is not None:
            return known
        code = self.code
        if not path:
            self.objects[path], self.exact_objects[path] = "row", "parts"
            self.key += self._types_in(path)
            return "row"
        variable = code.variable("o")
        struct, attributes = self.decoder.classes[path], self.decoder.attributes[path]
        absent = SimpleNamespace(**dict.fromkeys(attributes.values(), UNSET))
        code.add(f"{variable} = {self.value(path)}")
        taken, lacks = ["pass"], []
        if self.has_extra and not _requires_any(struct):
            # An object without members is no field, and is kept.
            empty = (UNSET,) * len(attributes)
            taken = [f"if astuple({variable}) == {code.name_of(empty)}: return None"]
        if path in self.parts.names:
            part = self.exact_objects[path] = code.variable("p")
            above = self.exact_objects[path[:-1]]
            taken.append(f"{part} = {above}.{self.parts.names[path]}")
            lacks.append(f"{part} = {code.name_of(self.parts.absent[path])}")
        code.block(f"if type({variable}) is {code.name_of(struct)}:", *taken)
        # A value of another type, such as a list, may have fields inside.
        code.block(
            f"elif {variable} is not UNSET and {variable} is not None:", "return None"
        )
        code.block("else:", f"{variable} = {code.name_of(absent)}", *lacks)
        self.objects[path] = variable
        self.key += self._types_in(path)
        return variable

    def _types_in(self, path: Keys) -> list[str]:
        """Return the expressions of the types of the members of an object.

        Members whose type is the same wherever there is the object need none. `map` of
        `type` over all members takes twice as long.
        """
        variable, names = self.objects[path], self.decoder.attributes[path].values()
        required = {
            each.name: each.required
            for each in msgspec.structs.fields(self.decoder.classes[path])
        }
        kinds = self.decoder.classes[path].__annotations__
        return [
            f"type({variable}.{name})"
            for name in names
            if not (required[name] and len(json_types(kinds[name])) == 1)
        ]

    def value(self, path: Keys) -> str:
        """Return the expression of the value at `path`, `UNSET` if no row has it."""
        owner = self.object(path[:-1])
        if path in self.exact:
            return f"{self.exact_objects[path[:-1]]}.{self.parts.names[path]}"
        attribute = self.decoder.attributes[path[:-1]].get(path[-1])
        return "UNSET" if attribute is None else f"{owner}.{attribute}"

    def refuse_extras(self) -> None:
        """Add the lines that return None for a row with extra fields of a record."""
        path = self.source.extras_path
        if path == ():
            self.code.block(
                f"if {self.value((EXTRAS_KEY,))} is not UNSET:", "return None"
            )
        refused: dict[Keys, list[str]] = {path: [EXTRAS_KEY]} if path else {}
        for *above, key in self.source.read_apart:
            refused.setdefault(tuple(above), []).append(key)
        for owner, keys in refused.items():
            found = " or ".join(f"{key!r} in e" for key in keys)
            self.code.add(f"e = {self.value(owner)}")
            self.code.block(
                "if e is not UNSET and e is not None:",
                "if type(e) is not dict: e = to_builtins(e)",
                f"if type(e) is dict and ({found}): return None",
            )

    def add_extra(self) -> str:
        """Add the lines that keep the members that are no fields.

        Return the variable of the extra of the record, "" if rows have no others.
        """
        left = self._left_in(())
        if not left:
            return ""
        keep = self.source.keep_members
        if keep is not None:
            self.code.add(f"if {left}: {left} = {self.code.name_of(keep)}({left})")
        vendor = self.code.name_of(self.source.vendor)
        self.code.add(f"extra = {{{vendor}: {left}}} if {left} else UNSET")
        return "extra"

    def _left_in(self, owner: Keys) -> str:
        """Add the lines that find the members of an object that are no fields.

        Return the variable with them, in the order of their keys; "" if there are none.
        """
        code, left = self.code, self.code.variable("left")
        puts: list[str] = []
        for key in sorted(self.decoder.attributes[owner]):
            path = (*owner, key)
            put = f"{left}[{code.name_of(key)}]"
            is_field = path in self.values
            if path in self.objects:
                inner = self._left_in(path)
                puts += [f"if {inner}: {put} = {inner}"] if inner else []
            elif not is_field:
                value = self.value(path)
                puts.append(f"if {value} is not UNSET: {put} = {value}")
            if path in self.objects or is_field:
                # Nothing but a null is left of it, if it cannot be one.
                lacks = f"{self.values[path]} is UNSET and " if is_field else ""
                typed = f"{self.objects[owner]}.{self.decoder.attributes[owner][key]}"
                if type(None) in json_types(type_at(self.decoder, path)):
                    puts += [f"if {lacks}{typed} is None:", f"    {put} = None"]
        if not puts:
            return ""
        code.add(f"{left} = {{}}", *puts)
        return left


def _requires_any(struct: Any) -> bool:
    """Tell whether the objects of a class must have some member."""
    return any(each.required for each in msgspec.structs.fields(struct))
