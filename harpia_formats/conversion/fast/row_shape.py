"""Compute the shape of a row: what rows must have in common to share a template.

A shape is a tuple: the types of values, the keys of open objects, the lengths of lists,
and the discriminators. It also tells how many members a row has, but for members inside
of values that a template moves as a whole. The function that computes shapes and looks
up templates is compiled for each decoder.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import msgspec

from harpia_formats.conversion.fast.codegen import FunctionBuilder
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.record import OPEN_OBJECTS
from harpia_formats.parsing.duplicate_keys import CounterWriter
from harpia_formats.schema.typed_decoder import TypedDecoder

#: Fields that are lists of objects, whose lengths belong to the shape.
_of_objects = frozenset({"messages", "outputs", "outputs.turns"})
#: Fields that may be lists of texts, whose lengths belong to the shape.
_of_texts = frozenset({"references", "outputs.text", "outputs.reasoning"})

#: Given rows, a function that returns the template of a shape or None, and one that
#: makes the template of a new shape (from the row, the shape, and the number of members
#: that the shape does not tell): the templates of the rows, and the number of members
#: in all rows.
TemplateLookup = Callable[
    [Sequence[Any], Callable[[Any], Any], Callable[[Any, Any, int], Any]],
    tuple[list[Any], int],
]


def template_lookup(
    decoder: TypedDecoder, source: FormatAdapter, schema: Mapping[str, Any]
) -> TemplateLookup:
    """Return the lookup of templates for rows of `schema` that `decoder` decoded."""
    return _LookupWriter(decoder, source).lookup(schema)


@dataclass(slots=True)
class _LookupWriter:
    """Writes the function that computes the shape `s` and members `n` of a row `r`."""

    decoder: TypedDecoder
    source: FormatAdapter
    function: FunctionBuilder = field(
        default_factory=lambda: FunctionBuilder("rows, known, make")
    )
    members: CounterWriter = field(default_factory=CounterWriter)
    #: Expressions for the next parts of the shape, and for members to be counted.
    parts: list[str] = field(default_factory=list)
    counts: list[str] = field(default_factory=list)
    #: The types of the members of the objects at each place.
    types: dict[tuple[str, ...], Mapping[str, Any]] = field(default_factory=dict)
    #: Numbers for the names of values that are used several times.
    numbers: Iterator[int] = field(default_factory=count)

    def lookup(self, schema: Mapping[str, Any]) -> TemplateLookup:
        """Return the function for rows of `schema`."""
        function = self.function
        function.add("total, templates = 0, []")
        with function.inside("for r in rows"):
            function.add("n, s = 0, []")
            self._of_object(schema, (), "r")
            self._flush()
            function.add("shape = tuple(s)")
            function.add("template = known(shape)")
            with function.inside("if template is None"):
                function.add("template = make(r, shape, n)")
            function.add("total += template.members + n")
            function.add("templates.append(template)")
        function.add("return templates, total")
        lookup: TemplateLookup = function.compile(
            **self.members.names, first_indices=_first_indices, open_keys=_open_keys
        )
        return lookup

    def _flush(self) -> None:
        """Write the expressions that were collected."""
        if len(self.parts) == 1:
            self.function.add(f"s.append({self.parts[0]})")
        elif self.parts:
            self.function.add(f"s += ({', '.join(self.parts)})")
        if self.counts:
            self.function.add(f"n += {' + '.join(self.counts)}")
        self.parts, self.counts = [], []

    def _of_object(
        self, node: Mapping[str, Any], location: tuple[str, ...], owner: str
    ) -> None:
        required = set(node.get("required", ()))
        properties = node.get("properties", {})
        for key, attribute in self.decoder.attributes[location].items():
            inner = properties.get(key, True)
            place = (*location, key)
            fixed = key in required and _has_one_type(inner)
            self._of_member(inner, place, f"{owner}.{attribute}", fixed=fixed)

    def _of_member(
        self, node: Any, place: tuple[str, ...], value: str, *, fixed: bool
    ) -> None:
        record_paths = {
            mapping.record_path
            for mapping in self.source.fields
            if mapping.path == place
        }
        if place in self.source.discriminators:
            self._of_rest("{}", place, value)
        elif place in self.decoder.attributes and not record_paths:
            self._of_inner(node, place, value, fixed=fixed)
        elif record_paths & _of_objects or self._holds_fields(place):
            self._of_items(node, place, value, fixed=fixed)
        elif record_paths & OPEN_OBJECTS:
            # Whether a member is null decides on its fate.
            keys = "(open_keys({0}) if type({0}) is dict else type({0}))"
            self._of_rest(keys, place, value)
        elif (record_paths & _of_texts or not record_paths) and _may_be_list(node):
            # A list that is no field may become one in another dialect.
            kind = "(len({0}) if type({0}) is list else type({0}))"
            self._of_rest("len({0})" if fixed else kind, place, value)
        else:
            self._of_rest("" if fixed else "type({})", place, value)

    def _of_rest(self, part: str, place: tuple[str, ...], value: str) -> None:
        """Add `part` to the shape for a value, whose inner members are counted."""
        members = self._members(place, value)
        if part.count("{") + (members != "0") > 1:
            value = self._named(value)
            members = self._members(place, value)
        self.parts += [part.format(value)] if part else []
        self.counts += [members] if members != "0" else []

    def _named(self, value: str) -> str:
        """Assign a value that is used several times to a name, and return the name."""
        name = f"v{next(self.numbers)}"
        self.function.add(f"{name} = {value}")
        return name

    def _members(self, place: tuple[str, ...], value: str) -> str:
        """Return the expression that counts the members inside of a value."""
        *owner, key = place
        # An absent value is one of its types, too, and has no members.
        kind = self._types(tuple(owner)).get(key)
        return "0" if kind is None else self.members.of(kind, value)

    def _types(self, place: tuple[str, ...]) -> Mapping[str, Any]:
        """Return the types of the members of objects at `place`, by their keys."""
        if place not in self.types:
            fields = msgspec.structs.fields(self.decoder.classes[place])
            self.types[place] = {field_.encode_name: field_.type for field_ in fields}
        return self.types[place]

    def _of_inner(
        self, node: Any, place: tuple[str, ...], value: str, *, fixed: bool
    ) -> None:
        """Add an object to the shape, with its members unless it is absent."""
        value = self._named(value)
        if fixed:
            self._of_object(_object_in(node), place, value)
            return
        self.parts.append(f"type({value})")
        self._flush()
        with self.function.inside(f"if {value} is not None and {value} is not U"):
            self._of_object(_object_in(node), place, value)
            self._flush()

    def _holds_fields(self, place: tuple[str, ...]) -> bool:
        """Tell whether the items of a list hold fields of a record."""
        size = len(place)
        return (*place, "*") in self.decoder.attributes and any(
            len(mapping.path) > size and mapping.path[:size] == place
            for mapping in self.source.fields
        )

    def _of_items(
        self, node: Any, place: tuple[str, ...], value: str, *, fixed: bool
    ) -> None:
        if (*place, "*") not in self.decoder.attributes:
            self._of_rest("type({})", place, value)
            return
        value = self._named(value)
        if fixed:
            self._of_list(node, place, value)
            return
        self.parts.append(f"type({value})")
        self._flush()
        with self.function.inside(f"if type({value}) is list"):
            self._of_list(node, place, value)

    def _of_list(self, node: Any, place: tuple[str, ...], value: str) -> None:
        """Add the length of a list and its items to the shape."""
        name = f"o{len(place)}"
        self.parts.append(f"len({value})")
        self._flush()
        with self.function.inside(f"for {name} in {value}"):
            self._of_item(_array_in(node), (*place, "*"), name)
            self._flush()
        model = self._model(place)
        if model:
            with self.function.inside(f"if len({value}) > 1"):
                models = f"[{name}.{model} for {name} in {value}]"
                self.function.add(f"s += first_indices({models})")

    def _of_item(
        self, node: Mapping[str, Any], location: tuple[str, ...], name: str
    ) -> None:
        """Add an item of a list to the shape, with its discriminators."""
        required = set(node.get("required", ()))
        properties = node.get("properties", {})
        for key, attribute in self.decoder.attributes[location].items():
            inner = properties.get(key, True)
            value, place = f"{name}.{attribute}", (*location, key)
            is_opened = key in self.source.nested_lists
            if place in self.source.discriminators:
                self._of_rest("{}", place, value)
            elif is_opened and (*place, "*") in self.decoder.attributes:
                self._of_items(inner, place, value, fixed=key in required)
            else:
                fixed = key in required and _has_one_type(inner)
                self._of_rest("" if fixed else "type({})", place, value)

    def _model(self, place: tuple[str, ...]) -> str:
        """Return the attribute of the model in an item, "" if items have none."""
        attributes = self.decoder.attributes[*place, "*"]
        for mapping in self.source.fields:
            *owner, key = mapping.path
            if mapping.record_path == "outputs.model" and tuple(owner) == place:
                return attributes.get(key, "")
        return ""


def _open_keys(members: Mapping[str, Any]) -> Any:
    """Return the keys of an open object, and which of its members are null."""
    if None in members.values():
        return tuple((key, value is None) for key, value in members.items())
    return tuple(members)


def _first_indices(values: list[Any]) -> Iterable[int]:
    """Return for each value the index of the first equal one."""
    return map(values.index, values)


def _has_one_type(node: Any) -> bool:
    """Tell whether all values that the schema `node` allows are of one type."""
    if not isinstance(node, dict):
        return False
    return isinstance(node.get("type"), str) and node["type"] != "number"


def _may_be_list(node: Any) -> bool:
    """Tell whether the schema `node` names lists among the types that it allows."""
    if not isinstance(node, dict):
        return False
    kinds = [
        option.get("type")
        for option in (node, *node.get("anyOf", ()), *node.get("oneOf", ()))
    ]
    return any(
        kind == "array" or (isinstance(kind, list) and "array" in kind)
        for kind in kinds
    )


def _object_in(node: Any) -> Mapping[str, Any]:
    """Return the part of the schema `node` that is for objects."""
    if "properties" in node:
        found: Mapping[str, Any] = node
        return found
    options = node.get("anyOf", node.get("oneOf", ()))
    return next((option for option in options if "properties" in option), {})


def _array_in(node: Any) -> Mapping[str, Any]:
    """Return the part of the schema `node` that is for the items of an array."""
    options = [node, *node.get("anyOf", node.get("oneOf", ()))]
    items: Any = next((option["items"] for option in options if "items" in option), {})
    return _object_in(items) if isinstance(items, dict) else {}
