"""Convert rows of a shape that was met before without making records of them.

Most rows of a file have one of a few shapes: the same fields, of the same types. What
becomes of the first row of a shape is found out in the ordinary way, and then a second
and a third time with other values in all of its fields. Where every value of the result
is a value of the row or always the same, the rows of this shape need no more than to
have values moved; so a plan is made of it, and compiled. A row that no plan is for, or
that has what a plan must not decide on, goes the ordinary way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.kept import KEY
from harpia_formats.lane import Lane
from harpia_formats.notes import Note, Unconvertible
from harpia_formats.record import FREE
from harpia_formats.spoke import Row, Spoke, at_path

#: Shapes that are looked into; rows of others go the ordinary way.
MOST = 256
#: Fields that are lists of objects, of which a plan has to know how many there are.
_of_objects = frozenset({"messages", "outputs", "outputs.turns"})
#: Fields that may be a list of texts, of which a plan has to know the same.
_of_texts = frozenset({"references", "outputs.text", "outputs.reasoning"})
#: Numbers of records that no row holds by chance.
_numbers = (918_273_645_000_001, 918_273_645_000_002)

#: Returns rows, the paths of the record's fields, and the notes on them, given a row
#: and the number of its record.
Ordinary = Callable[[Row, int], tuple[list[Row], tuple[str, ...], tuple[Note, ...]]]
Key = tuple[str | int, ...]


@dataclass(slots=True)
class Plan:
    """What becomes of the rows of one shape."""

    #: Returns the rows of a row and of the number of its record, None if it must not.
    make: Callable[[Any, int], list[Row] | None]
    paths: tuple[str, ...]
    notes: tuple[Note, ...]
    #: Rows that it was followed for, and not yet counted.
    count: int = 0


@dataclass(slots=True)
class Express:
    """The plans for the rows that one lane accepts."""

    lane: Lane
    schema: Mapping[str, Any]
    source: Spoke
    ordinary: Ordinary
    plans: dict[Any, Plan | None] = field(default_factory=dict)
    shape_of: Callable[[Any], Any] = field(default=lambda _: None)

    def __post_init__(self) -> None:
        text = _ShapeWriter(self.lane, self.source).text(self.schema)
        self.shape_of = _compiled(f"lambda r: {text}", {"U": UNSET, "same": _same})

    def afresh(self) -> "Express":
        """Return the same plans, followed for no row yet."""
        plans = {
            shape: plan and replace(plan, count=0) for shape, plan in self.plans.items()
        }
        return replace(self, plans=plans)

    def plan_for(self, row: Any, shape: Any) -> Plan | None:
        """Return the plan for rows like `row`, whose shape is new."""
        if len(self.plans) >= MOST:
            return None
        plan = self.plans[shape] = _planned(row, self)
        return plan


def _compiled(text: str, names: dict[str, Any]) -> Any:
    # What is compiled is made of attribute names that we chose, and of indices.
    return eval(text, names)  # noqa: S307 - see above


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
        return "(" + "".join(f"{each}, " for each in parts) + ")"

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
        inner = _ItemWriter(self, items, len(place)).text(_array_in(node))
        name = f"i{len(place)}"
        text = f"tuple([{inner} for {name} in {value}])"
        model = self._model(place)
        if model:
            text = f"({text}, same([{name}.{model} for {name} in {value}]))"
        return _if_list(value, text, fixed=fixed)

    def _model(self, place: tuple[str, ...]) -> str:
        """Return the attribute for the model of an item, "" if items have none."""
        attributes = self.lane.attributes[*place, "*"]
        for each in self.source.fields:
            *owner, key = each.path
            if each.hub == "outputs.model" and tuple(owner) == place:
                return attributes.get(key, "")
        return ""


def _if_list(value: str, text: str, *, fixed: bool) -> str:
    """Return the expression for a value that is a list, always or sometimes."""
    return text if fixed else f"({text} if type({value}) is list else type({value}))"


def _same(values: list[Any]) -> tuple[int, ...]:
    """Return for each value where it is for the first time."""
    return tuple(map(values.index, values)) if len(values) > 1 else ()


@dataclass(frozen=True, slots=True)
class _ItemWriter:
    """Writes the shape of the items of a list: their fields, and texts that decide."""

    writer: _ShapeWriter
    location: tuple[str, ...]
    depth: int

    def text(self, node: Mapping[str, Any]) -> str:
        """Return the expression for one item."""
        name = f"i{self.depth}"
        return _ItemShape(self.writer, name).of_object(node, self.location)


@dataclass(frozen=True, slots=True)
class _ItemShape:
    writer: _ShapeWriter
    name: str

    def of_object(self, node: Mapping[str, Any], location: tuple[str, ...]) -> str:
        required = set(node.get("required", ()))
        properties = node.get("properties", {})
        parts = []
        for key, attribute in self.writer.lane.attributes[location].items():
            inner = properties.get(key, True)
            value = f"{self.name}.{attribute}"
            place = (*location, key)
            if key == "role":
                parts.append(value)
            elif (
                *place,
                "*",
            ) in self.writer.lane.attributes and key in self.writer.source.opened:
                parts.append(
                    self.writer._of_items(inner, place, value, fixed=key in required)  # noqa: SLF001 - one writer in three parts
                )
            elif not (key in required and _has_one_type(inner)):
                parts.append(f"type({value})")
        return "(" + "".join(f"{each}, " for each in parts) + ")"


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


def _planned(row: Any, express: Express) -> Plan | None:
    """Return a plan for rows like `row`, None if they need to be looked at."""
    value = msgspec.to_builtins(row)
    if _keeps(value, express.source):
        return None
    number = _numbers[0]
    try:
        rows, paths, notes = express.ordinary(value, number)
        first, second = (_Traced.of(value, salt, express.source) for salt in ("a", "b"))
        moved = express.ordinary(first.value, number)[0]
        again = express.ordinary(second.value, _numbers[1])[0]
    except Unconvertible:
        return None
    writer = _PlanWriter(express, first, second)
    texts = writer.rows(moved, again)
    if texts is None:
        return None
    conditions = writer.conditions(value, paths)
    body = f"[{', '.join(texts)}]"
    if conditions:
        body = f"{body} if {' and '.join(conditions)} else None"
    make = _compiled(f"lambda r, n: {body}", writer.names)
    plan = Plan(make, paths, notes)
    return plan if make(row, number) == rows else None


def _keeps(value: Row, source: Spoke) -> bool:
    """Tell whether a row keeps a part of a record, of which anything may come."""
    room = UNSET if source.room is None else at_path(value, source.room)
    return isinstance(room, dict) and KEY in room


@dataclass(frozen=True, slots=True)
class _Traced:
    """A row with values that are nowhere else, and where each of them is."""

    value: Row
    places: Mapping[Any, Key]

    @classmethod
    def of(cls, value: Row, salt: str, source: Spoke) -> "_Traced":
        """Return `value` with other texts and numbers in all fields."""
        places: dict[Any, Key] = {}
        numbers = count(1 if salt == "a" else 100_001)

        def other(each: Any, place: Key) -> Any:
            names = tuple(part for part in place if isinstance(part, str))
            if names in source.sensitive or (names and names[-1] == "role"):
                return each
            if isinstance(each, dict):
                return {key: other(item, (*place, key)) for key, item in each.items()}
            if isinstance(each, list):
                return [other(item, (*place, at)) for at, item in enumerate(each)]
            made = _another(each, salt, next(numbers))
            if made is not each:
                places[made] = place
            return made

        return cls(other(value, ()), places)


def _another(value: Any, salt: str, number: int) -> Any:
    """Return a value of the same type that is nowhere else, if there can be one."""
    if isinstance(value, bool):
        return value if salt == "a" else not value
    if isinstance(value, str):
        return f"\x01{salt}{number}"
    if isinstance(value, int):
        return 771_000_000_000 + number
    if isinstance(value, float):
        return 771_000_000_000.5 + number
    return value


@dataclass(slots=True)
class _PlanWriter:
    """Writes the expressions that make the rows of one shape."""

    express: Express
    first: _Traced
    second: _Traced
    names: dict[str, Any] = field(default_factory=dict)
    #: Where the values are that are moved.
    moved: dict[Key, str] = field(default_factory=dict)
    #: What is moved to be the prompt.
    prompt: Key | None = None

    def rows(self, ours: Sequence[Row], theirs: Sequence[Row]) -> list[str] | None:
        """Return an expression for each row, None if values are not only moved."""
        if len(ours) != len(theirs):
            return None
        texts = [self._of(one, other) for one, other in zip(ours, theirs, strict=True)]
        known = [each for each in texts if each is not None]
        return known if len(known) == len(texts) else None

    def _of(self, ours: Any, theirs: Any) -> str | None:
        if isinstance(ours, dict) and isinstance(theirs, dict):
            if list(ours) != list(theirs):
                return None
            parts = [(key, self._of(ours[key], theirs[key])) for key in ours]
            if any(text is None for _, text in parts):
                return None
            return "{" + ", ".join(f"{key!r}: {text}" for key, text in parts) + "}"
        if isinstance(ours, list) and isinstance(theirs, list):
            items = [self._of(*each) for each in zip(ours, theirs, strict=False)]
            if len(ours) != len(theirs) or None in items:
                return None
            return "[" + ", ".join(map(str, items)) + "]"
        return self._of_leaf(ours, theirs)

    def _of_leaf(self, ours: Any, theirs: Any) -> str | None:
        if (ours, theirs) == (str(_numbers[0]), str(_numbers[1])):
            return "str(n)"
        place = self.first.places.get(ours) if _is_traced(ours) else None
        if place is not None and self.second.places.get(theirs) == place:
            text = self._place(place)
            if text is not None:
                self.moved[place] = text
            return text
        if type(ours) is not type(theirs) or ours != theirs:
            return None
        name = f"k{len(self.names)}"
        self.names[name] = ours
        return name

    def _place(self, place: Key) -> str | None:
        """Return the expression for a value of the row."""
        text = "r"
        location: tuple[str, ...] = ()
        for each in place:
            attributes = self.express.lane.attributes.get(location)
            if isinstance(each, int):
                text += f"[{each}]"
                location = (*location, "*")
            elif attributes is not None and each in attributes:
                text += f".{attributes[each]}"
                location = (*location, each)
            else:
                return None
        return text

    def conditions(self, value: Row, paths: Sequence[str]) -> list[str]:
        """Return what must hold of a row beside its shape.

        Empty texts, ids that look like those that we make, and a prompt that is asked
        in two places decide on what is said of a row.
        """
        texts = [
            text
            for place, text in self.moved.items()
            if isinstance(_at(value, place), str)
        ]
        conditions = [f"{each} != ''" for each in texts]
        for each in self.express.source.fields:
            if each.hub == "id" and isinstance(at_path(value, each.path), str):
                # Something is said of it even where a row has no place for an id.
                conditions.append(f"'#' not in {self._place(each.path)}")
            if each.hub == "prompt" and "prompt" in paths:
                conditions += self._same_prompt(each.path, value, texts)
        return conditions

    def _same_prompt(self, path: Key, value: Row, texts: list[str]) -> list[str]:
        own = self._place(path)
        if own is None or path in self.moved:
            return []
        asked = _at(value, path)
        found = []
        for place, text in self.moved.items():
            if text in texts:
                sign = "==" if _at(value, place) == asked else "!="
                found.append(f"{own} {sign} {text}")
        return found


def _is_traced(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _at(value: Any, place: Key) -> Any:
    for each in place:
        value = value[each]
    return value
