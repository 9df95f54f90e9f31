"""Write the lines that find the objects of decoded rows, and what is no field there."""

from dataclasses import KW_ONLY, dataclass, field
from types import SimpleNamespace
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from harpia_formats.conversion.mapping.compiled_table import Code
from harpia_formats.conversion.mapping.decoded_types import Keys, json_types, type_at
from harpia_formats.conversion.mapping.exact_parts import ExactParts
from harpia_formats.conversion.mapping.extras import EXTRAS_KEY
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import FormatAdapter


@dataclass(slots=True)
class DirectObjects:
    """Writes the lines for the objects of rows of one decoder.

    The code names `UNSET`, `astuple` and `to_builtins`.
    """

    source: FormatAdapter
    decoder: TypedDecoder
    _: KW_ONLY
    #: Whether members of rows that are no fields may be written.
    has_extra: bool
    #: Whether rows are written: numbers keep their text then, objects the order of
    #: their keys, and there is a key of what becomes of all fields.
    is_exact: bool = True
    code: Code = field(init=False)
    parts: ExactParts = field(init=False)
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

    def object(self, path: Keys) -> str:
        """Add the lines that find the object at `path`; return its variable."""
        known = self.objects.get(path)
        if known is not None:
            return known
        code = self.code
        if not path:
            self.objects[path], self.exact_objects[path] = "row", "parts"
            self.key.append("*map(type, astuple(row))")
            return "row"
        variable, types = code.variable("o"), code.variable("t")
        struct, attributes = self.decoder.classes[path], self.decoder.attributes[path]
        absent = SimpleNamespace(**dict.fromkeys(attributes.values(), UNSET))
        code.add(f"{variable} = {self.value(path)}", f"{types} = None")
        taken, lacks = ["pass"], []
        if self.is_exact or self.has_extra:
            taken = [f"{types} = (*map(type, astuple({variable})),)"]
        if self.has_extra and not _requires_any(struct):
            # An object without members is no field, and is kept.
            empty = (UnsetType,) * len(attributes)
            taken.append(f"if {types} == {code.name_of(empty)}: return None")
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
        self.key.append(types)
        return variable

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
        elif path is not None:
            owner = self.value(path)
            self.code.add(f"e = {owner}")
            self.code.block(
                "if e is not UNSET and e is not None:",
                "if type(e) is not dict: e = to_builtins(e)",
                f"if {EXTRAS_KEY!r} in e: return None",
            )
        for *above, key in self.source.read_apart:
            self.code.add(f"e = {self.value(tuple(above))}")
            self.code.block(
                "if e is not UNSET and e is not None:",
                "if type(e) is not dict: e = to_builtins(e)",
                f"if type(e) is dict and {key!r} in e: return None",
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
