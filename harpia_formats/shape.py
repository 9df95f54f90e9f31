"""Tell the shapes of rows apart: what must be alike of rows that one plan is for.

A shape is a tuple that an expression makes of a row, which is compiled for one lane:
types of values, keys of free objects, lengths of lists, and texts that decide on more
than themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from harpia_formats.compiled import compiled
from harpia_formats.lane import Lane
from harpia_formats.record import FREE
from harpia_formats.spoke import Spoke

#: Fields that are lists of objects, of which a plan has to know how many there are.
_of_objects = frozenset({"messages", "outputs", "outputs.turns"})
#: Fields that may be a list of texts, of which a plan has to know the same.
_of_texts = frozenset({"references", "outputs.text", "outputs.reasoning"})


def shape_of_rows(
    lane: Lane, source: Spoke, schema: Mapping[str, Any]
) -> Callable[[Any], Any]:
    """Return what makes the shape of a row of `schema` that `lane` decoded."""
    text = _ShapeWriter(lane, source).text(schema)
    shape: Callable[[Any], Any] = compiled(f"lambda r: {text}", U=UNSET, same=_same)
    return shape


@dataclass(frozen=True, slots=True)
class _ShapeWriter:
    """Writes the expression for the shape of a row: what plans depend on."""

    lane: Lane
    source: Spoke

    def text(self, schema: Mapping[str, Any]) -> str:
        """Return the expression for rows `r` of `schema`."""
        return self._of_object(schema, (), "r")

    def _of_object(
        self, node: Mapping[str, Any], location: tuple[str, ...], owner: str
    ) -> str:
        required = set(node.get("required", ()))
        properties = node.get("properties", {})
        parts = []
        for key, attribute in self.lane.attributes[location].items():
            inner = properties.get(key, True)
            place = (*location, key)
            fixed = key in required and _has_one_type(inner)
            part = self._of_member(inner, place, f"{owner}.{attribute}", fixed=fixed)
            if part:
                parts.append(part)
        return _tuple_of(parts)

    def _of_member(
        self, node: Any, place: tuple[str, ...], value: str, *, fixed: bool
    ) -> str:
        if place in self.source.sensitive:
            return value
        hubs = {each.hub for each in self.source.fields if each.path == place}
        if place in self.lane.attributes and not hubs:
            text = self._of_object(_object_in(node), place, value)
            is_there = f"{value} is not None and {value} is not U"
            return text if fixed else f"({text} if {is_there} else type({value}))"
        if hubs & _of_objects or self._holds_fields(place):
            return self._of_items(node, place, value, fixed=fixed)
        if hubs & FREE:
            return f"(tuple({value}) if type({value}) is dict else type({value}))"
        if (hubs & _of_texts or not hubs) and _may_be_list(node):
            # A list that is no field may be one in another spelling.
            return _if_list(value, f"len({value})", fixed=fixed)
        return "" if fixed else f"type({value})"

    def _holds_fields(self, place: tuple[str, ...]) -> bool:
        """Tell whether the items of a list hold fields of records."""
        size = len(place)
        return (*place, "*") in self.lane.attributes and any(
            len(each.path) > size and each.path[:size] == place
            for each in self.source.fields
        )

    def _of_items(
        self, node: Any, place: tuple[str, ...], value: str, *, fixed: bool
    ) -> str:
        items = (*place, "*")
        if items not in self.lane.attributes:
            return f"type({value})"
        name = f"i{len(place)}"
        inner = self._of_item(_array_in(node), items, name)
        text = f"tuple([{inner} for {name} in {value}])"
        model = self._model(place)
        if model:
            text = f"({text}, same([{name}.{model} for {name} in {value}]))"
        return _if_list(value, text, fixed=fixed)

    def _of_item(
        self, node: Mapping[str, Any], location: tuple[str, ...], name: str
    ) -> str:
        """Return the expression for an item of a list, with the texts that decide."""
        required = set(node.get("required", ()))
        properties = node.get("properties", {})
        parts = []
        for key, attribute in self.lane.attributes[location].items():
            inner = properties.get(key, True)
            value, place = f"{name}.{attribute}", (*location, key)
            is_opened = key in self.source.opened
            if place in self.source.sensitive:
                parts.append(value)
            elif is_opened and (*place, "*") in self.lane.attributes:
                fixed = key in required
                parts.append(self._of_items(inner, place, value, fixed=fixed))
            elif not (key in required and _has_one_type(inner)):
                parts.append(f"type({value})")
        return _tuple_of(parts)

    def _model(self, place: tuple[str, ...]) -> str:
        """Return the attribute for the model of an item, "" if items have none."""
        attributes = self.lane.attributes[*place, "*"]
        for each in self.source.fields:
            *owner, key = each.path
            if each.hub == "outputs.model" and tuple(owner) == place:
                return attributes.get(key, "")
        return ""


def _tuple_of(parts: Sequence[str]) -> str:
    return "(" + "".join(f"{each}, " for each in parts) + ")"


def _if_list(value: str, text: str, *, fixed: bool) -> str:
    """Return the expression for a value that is a list, always or sometimes."""
    return text if fixed else f"({text} if type({value}) is list else type({value}))"


def _same(values: list[Any]) -> tuple[int, ...]:
    """Return for each value where it is for the first time."""
    return tuple(map(values.index, values)) if len(values) > 1 else ()


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
