"""Tell the shapes of rows apart: what must be alike of rows that one plan is for.

A shape is a tuple: types of values, keys of free objects, lengths of lists, and texts
that decide on more than themselves. How many members a row has is known from its
shape, too, but for those of parts that a plan need not look into. What finds the plans
of rows by their shapes is compiled for one decoder.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import msgspec

from harpia_formats.conversion.fast.codegen import Function
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.record import OPEN_OBJECTS
from harpia_formats.parsing.duplicate_keys import CounterWriter
from harpia_formats.schema.typed_decoder import TypedDecoder

#: Fields that are lists of objects, of which a plan has to know how many there are.
_of_objects = frozenset({"messages", "outputs", "outputs.turns"})
#: Fields that may be a list of texts, of which a plan has to know the same.
_of_texts = frozenset({"references", "outputs.text", "outputs.reasoning"})

#: Takes rows, what has plans by their shapes, and what returns the plan for a row with
#: a new shape, given the members of it that the shape does not tell. Returns the plans
#: and the number of members in all rows.
Look = Callable[
    [Sequence[Any], Callable[[Any], Any], Callable[[Any, Any, int], Any]],
    tuple[list[Any], int],
]


def look_of(
    decoder: TypedDecoder, source: FormatAdapter, schema: Mapping[str, Any]
) -> Look:
    """Return what finds the plans for rows of `schema` that `decoder` decoded."""
    return _ShapeWriter(decoder, source).look(schema)


@dataclass(slots=True)
class _ShapeWriter:
    """Writes what makes the shape `s` of a row `r`, and counts its members `n`."""

    decoder: TypedDecoder
    source: FormatAdapter
    function: Function = field(default_factory=lambda: Function("rows, known, learn"))
    members: CounterWriter = field(default_factory=CounterWriter)
    #: What the shape gets next, and members that are to be counted beside it.
    parts: list[str] = field(default_factory=list)
    counts: list[str] = field(default_factory=list)
    #: The types of the members of the objects at each place.
    types: dict[tuple[str, ...], Mapping[str, Any]] = field(default_factory=dict)
    #: Makes the names of values that are used again.
    numbers: Iterator[int] = field(default_factory=count)

    def look(self, schema: Mapping[str, Any]) -> Look:
        """Return the function for rows of `schema`."""
        function = self.function
        function.add("total, plans = 0, []")
        with function.inside("for r in rows"):
            function.add("n, s = 0, []")
            self._of_object(schema, (), "r")
            self._settle()
            function.add("shape = tuple(s)")
            function.add("plan = known(shape)")
            with function.inside("if plan is None"):
                function.add("plan = learn(r, shape, n)")
            function.add("total += plan.members + n")
            function.add("plans.append(plan)")
        function.add("return plans, total")
        look: Look = function.compiled(**self.members.names, same=_same)
        return look

    def _settle(self) -> None:
        """Write down what is waiting to be written."""
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
            each.record_path for each in self.source.fields if each.path == place
        }
        if place in self.source.discriminators:
            self._of_rest("{}", place, value)
        elif place in self.decoder.attributes and not record_paths:
            self._of_inner(node, place, value, fixed=fixed)
        elif record_paths & _of_objects or self._holds_fields(place):
            self._of_items(node, place, value, fixed=fixed)
        elif record_paths & OPEN_OBJECTS:
            keys = "(tuple({0}) if type({0}) is dict else type({0}))"
            self._of_rest(keys, place, value)
        elif (record_paths & _of_texts or not record_paths) and _may_be_list(node):
            # A list that is no field may be one in another spelling.
            kind = "(len({0}) if type({0}) is list else type({0}))"
            self._of_rest("len({0})" if fixed else kind, place, value)
        else:
            self._of_rest("" if fixed else "type({})", place, value)

    def _of_rest(self, part: str, place: tuple[str, ...], value: str) -> None:
        """Take `part` for a value, inside of which the members must be counted."""
        members = self._members(place, value)
        if part.count("{") + (members != "0") > 1:
            value = self._named(value)
            members = self._members(place, value)
        self.parts += [part.format(value)] if part else []
        self.counts += [members] if members != "0" else []

    def _named(self, value: str) -> str:
        """Return the name of a value that is used several times."""
        name = f"v{next(self.numbers)}"
        self.function.add(f"{name} = {value}")
        return name

    def _members(self, place: tuple[str, ...], value: str) -> str:
        """Return the expression for the members inside of a value."""
        *owner, key = place
        # Where it may be absent that is one of its types, and has none.
        kind = self._types(tuple(owner)).get(key)
        return "0" if kind is None else self.members.of(kind, value)

    def _types(self, place: tuple[str, ...]) -> Mapping[str, Any]:
        """Return the types of the members of the objects at a place."""
        if place not in self.types:
            fields = msgspec.structs.fields(self.decoder.classes[place])
            self.types[place] = {each.encode_name: each.type for each in fields}
        return self.types[place]

    def _of_inner(
        self, node: Any, place: tuple[str, ...], value: str, *, fixed: bool
    ) -> None:
        """Take an object, with its members if it is there."""
        value = self._named(value)
        if fixed:
            self._of_object(_object_in(node), place, value)
            return
        self.parts.append(f"type({value})")
        self._settle()
        with self.function.inside(f"if {value} is not None and {value} is not U"):
            self._of_object(_object_in(node), place, value)
            self._settle()

    def _holds_fields(self, place: tuple[str, ...]) -> bool:
        """Tell whether the items of a list hold fields of records."""
        size = len(place)
        return (*place, "*") in self.decoder.attributes and any(
            len(each.path) > size and each.path[:size] == place
            for each in self.source.fields
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
        self._settle()
        with self.function.inside(f"if type({value}) is list"):
            self._of_list(node, place, value)

    def _of_list(self, node: Any, place: tuple[str, ...], value: str) -> None:
        """Take the items of a list, with how many there are before them."""
        name = f"o{len(place)}"
        self.parts.append(f"len({value})")
        self._settle()
        with self.function.inside(f"for {name} in {value}"):
            self._of_item(_array_in(node), (*place, "*"), name)
            self._settle()
        model = self._model(place)
        if model:
            with self.function.inside(f"if len({value}) > 1"):
                models = f"[{name}.{model} for {name} in {value}]"
                self.function.add(f"s += same({models})")

    def _of_item(
        self, node: Mapping[str, Any], location: tuple[str, ...], name: str
    ) -> None:
        """Take an item of a list, with the texts that decide."""
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
        """Return the attribute for the model of an item, "" if items have none."""
        attributes = self.decoder.attributes[*place, "*"]
        for each in self.source.fields:
            *owner, key = each.path
            if each.record_path == "outputs.model" and tuple(owner) == place:
                return attributes.get(key, "")
        return ""


def _same(values: list[Any]) -> Iterable[int]:
    """Return for each value where it is for the first time."""
    return map(values.index, values)


def _has_one_type(node: Any) -> bool:
    """Tell whether all values that `node` allows are of one type."""
    if not isinstance(node, dict):
        return False
    return isinstance(node.get("type"), str) and node["type"] != "number"


def _may_be_list(node: Any) -> bool:
    """Tell whether `node` allows lists in as many words."""
    if not isinstance(node, dict):
        return False
    kinds = [
        each.get("type")
        for each in (node, *node.get("anyOf", ()), *node.get("oneOf", ()))
    ]
    return any(each == "array" or _is_among("array", each) for each in kinds)


def _is_among(name: str, kinds: Any) -> bool:
    return isinstance(kinds, list) and name in kinds


def _object_in(node: Any) -> Mapping[str, Any]:
    """Return what of `node` speaks of objects."""
    if "properties" in node:
        found: Mapping[str, Any] = node
        return found
    options = node.get("anyOf", node.get("oneOf", ()))
    return next((each for each in options if "properties" in each), {})


def _array_in(node: Any) -> Mapping[str, Any]:
    """Return what of `node` speaks of the items of an array."""
    options = [node, *node.get("anyOf", node.get("oneOf", ()))]
    items: Any = next((each["items"] for each in options if "items" in each), {})
    return _object_in(items) if isinstance(items, dict) else {}
