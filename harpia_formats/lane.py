"""The fast lane: accept most valid rows at the speed of parsing them.

A lane is a typed decoder built from a schema. It may only accept: what it refuses
is undecided and goes to the referee. Every field that it knows is declared and
others are refused, so nothing is skipped unread; optional fields are `UNSET` and
not `None` when absent, so null is accepted only where the schema allows it; free
values are declared to a fixed depth, so a row that is too deep is not accepted.

Unknown keys are legal in an open object, and files use the same few again and
again. So the lane learns: it is built after some rows were judged valid, with the
unknown keys of those rows declared too, and again when new ones turn up.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Union

import msgspec
from msgspec import UNSET, Meta, UnsetType

#: A place in a schema: the member names that lead there, "*" for items and values.
Location = tuple[str, ...]
#: Unknown keys that were seen in valid rows, by place of their object.
Extras = Mapping[Location, frozenset[str]]

#: Levels of lists and objects in a free value.
FREE_DEPTH = 6
#: Unknown keys that are learned in one object before its rows are left to the referee.
EXTRAS_LIMIT = 64

Scalar = None | bool | int | float | str

#: Keywords that do not restrict anything.
_annotations = frozenset(
    "$schema $id $comment title description default examples readOnly version "
    "definitions".split()
)
_kinds: dict[str, frozenset[type]] = {
    "array": frozenset({list}),
    "boolean": frozenset({bool}),
    "integer": frozenset({int}),
    "null": frozenset({type(None)}),
    "number": frozenset({int, float}),
    "string": frozenset({str}),
}
#: Draft-07 keywords that restrict, and that the types below do not say.
_unsupported = frozenset(
    "$ref allOf contains contentEncoding contentMediaType dependencies else format "
    "if maxProperties minProperties multipleOf not pattern patternProperties "
    "propertyNames then uniqueItems additionalItems".split()
)
_bounds = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
}
_sizes = {
    "minLength": ("string", "min_length"),
    "maxLength": ("string", "max_length"),
    "minItems": ("array", "min_length"),
    "maxItems": ("array", "max_length"),
}


class Unsuitable(Exception):  # noqa: N818 - an answer, not an error
    """A schema says something that the lane's types cannot say."""


def free_type(depth: int = FREE_DEPTH) -> Any:
    """Return the type of any JSON value of at most `depth` levels."""
    free: Any = Scalar
    for _ in range(depth):
        free = Union[Scalar, list[free], dict[str, free]]  # noqa: UP007 - built at run time
    return free


@dataclass(frozen=True, slots=True)
class Condition:
    """What a schema's if and then say of the row, as allowed types of its fields."""

    field: str
    #: For each value of the field, pairs of another field and its allowed types.
    demands: Mapping[str, tuple[tuple[str, frozenset[type]], ...]]

    def holds(self, row: Any) -> bool:
        """Tell whether `row` meets what its value of the field demands."""
        for name, kinds in self.demands[getattr(row, self.field)]:
            if type(getattr(row, name)) not in kinds:
                return False
        return True


@dataclass(frozen=True, slots=True)
class Lane:
    """A decoder that accepts valid rows, and refuses what it is not sure of."""

    decode: Callable[[bytes], Any]
    #: The unknown keys that it accepts.
    extras: Extras
    conditions: tuple[Condition, ...]

    def accept(self, row: bytes) -> Any:
        """Return `row` decoded if it is certainly valid, else None."""
        try:
            value = self.decode(row)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        for each in self.conditions:
            if not each.holds(value):
                return None
        return value


def lane_of(schema: Mapping[str, Any], extras: Extras | None = None) -> Lane:
    """Build the lane of `schema`, accepting the unknown keys `extras` too.

    Raises `Unsuitable` where the schema says more than types can.
    """
    if schema.get("type") != "object":
        raise Unsuitable("a row may be something else than an object")
    builder = _Builder(extras or {}, _ghosts(schema))
    row = builder.type_of(schema, ())
    conditions = _conditions_of(schema, builder)
    try:
        decode = msgspec.json.Decoder(row).decode
    except TypeError as error:
        raise Unsuitable(str(error)) from error
    return Lane(decode, extras or {}, conditions)


@dataclass(slots=True)
class _Builder:
    """Schema nodes to types, remembering the class of each field of the row."""

    extras: Extras
    #: Members of the row that conditions speak of but `properties` does not.
    ghosts: frozenset[str]
    free: Any = field(default_factory=free_type)
    #: Attribute of the row, by member.
    attributes: dict[str, str] = field(default_factory=dict)
    #: Class of the objects of a member of the row.
    objects: dict[str, type] = field(default_factory=dict)

    def type_of(self, node: Any, location: Location) -> Any:
        """Return the type of the values that `node` allows."""
        if node is True or node == {}:
            return self.free
        if node is False:
            raise Unsuitable("nothing is allowed")
        _check_keywords(node, root=not location)
        alternatives = node.get("oneOf", node.get("anyOf"))
        if alternatives is not None:
            if len(node.keys() - _annotations) > 1:
                raise Unsuitable("alternatives have conditions beside them")
            return self._union_of(alternatives, location)
        if "type" not in node and not (node.keys() & {"enum", "const"}):
            if node.keys() <= _annotations:
                return self.free
            raise Unsuitable("a value of any type has conditions")
        names = _type_names(node)
        if node.keys() & {"enum", "const"} and names != ["string"]:
            raise Unsuitable("values of several types are listed")
        return _union(self._typed(name, node, location) for name in names)

    def _union_of(self, alternatives: list[Any], location: Location) -> Any:
        seen: set[str] = set()
        for each in alternatives:
            names = set(_type_names(each)) if isinstance(each, dict) else {"?"}
            if "number" in names:
                names.add("integer")
            if names & seen or "?" in names:
                raise Unsuitable("alternatives are not told apart by their type")
            seen |= names
        return _union(self.type_of(each, location) for each in alternatives)

    def _typed(self, name: str, node: Mapping[str, Any], location: Location) -> Any:
        if name == "null":
            return None
        if name == "boolean":
            return bool
        if name == "string":
            return _sized(_string_of(node), name, node)
        if name == "array":
            items = self.type_of(node.get("items", True), (*location, "*"))
            return _sized(list[items], name, node)
        if name == "object":
            return self._object_of(node, location)
        return _bounded(name, node)

    def _object_of(self, node: Mapping[str, Any], location: Location) -> Any:
        rest = node.get("additionalProperties", True)
        properties = node.get("properties", {})
        required = set(node.get("required", ()))
        if not properties and not required and rest is not False:
            values = self.type_of(rest, (*location, "*"))
            return dict[str, values]
        types = {
            key: self.type_of(each, (*location, key))
            for key, each in properties.items()
        }
        types |= self._extra_types(rest, required - types.keys(), types, location)
        row = _struct_of(types, required)
        if len(location) == 1:
            self.objects[location[0]] = row
        if not location:
            self.attributes = {key: f"f{i}" for i, key in enumerate(types)}
        return row

    def _extra_types(
        self, rest: Any, missing: set[str], known: Iterable[str], location: Location
    ) -> dict[str, Any]:
        """Return the types of members that `properties` does not name."""
        extras = self.extras.get(location, frozenset()) - set(known)
        keys = sorted(missing | (extras - (frozenset() if location else self.ghosts)))
        if not keys:
            return {}
        if rest is False:
            raise Unsuitable("a member is required and forbidden")
        kind = self.type_of(rest, (*location, "*"))
        return dict.fromkeys(keys, kind)


def _union(types: Iterable[Any]) -> Any:
    distinct = tuple(dict.fromkeys(types))
    return Union[distinct]  # noqa: UP007 - built at run time


def _struct_of(types: Mapping[str, Any], required: set[str]) -> type:
    """Return a class with one field for each member, unknown ones refused."""
    fields: list[Any] = []
    for number, (key, kind) in enumerate(types.items()):
        if key in required:
            fields.append((f"f{number}", kind))
        else:
            fields.append((f"f{number}", Union[kind, UnsetType], UNSET))  # noqa: UP007 - built at run time
    return msgspec.defstruct(
        "Object",
        fields,
        rename={f"f{number}": key for number, key in enumerate(types)},
        forbid_unknown_fields=True,
        kw_only=True,
        gc=False,
    )


def _check_keywords(node: Mapping[str, Any], *, root: bool) -> None:
    """Raise `Unsuitable` for a keyword that restricts and that types cannot say."""
    for keyword in node.keys() & _unsupported:
        if not (root and keyword == "allOf"):
            raise Unsuitable(keyword)


def _type_names(node: Mapping[str, Any]) -> list[str]:
    if "type" not in node:
        values = node["enum"] if "enum" in node else [node.get("const")]
        if not all(isinstance(each, str) for each in values):
            raise Unsuitable("values of several types are listed")
        return ["string"]
    names = node["type"]
    return [names] if isinstance(names, str) else list(names)


def _string_of(node: Mapping[str, Any]) -> Any:
    if "enum" not in node and "const" not in node:
        return str
    values = node["enum"] if "enum" in node else [node["const"]]
    if not values or not all(isinstance(each, str) for each in values):
        raise Unsuitable("values of several types are listed")
    return Literal[tuple(values)]


def _sized(kind: Any, name: str, node: Mapping[str, Any]) -> Any:
    sizes = {
        argument: node[keyword]
        for keyword, (owner, argument) in _sizes.items()
        if keyword in node and owner == name
    }
    if sizes and kind is not str and name == "string":
        raise Unsuitable("listed values have a length")
    if not all(isinstance(each, int) for each in sizes.values()):
        raise Unsuitable("a length is not a whole number")
    return Annotated[kind, Meta(**sizes)] if sizes else kind


def _bounded(name: str, node: Mapping[str, Any]) -> Any:
    """Return the type of a number; a large bound is not safe in floating point."""
    kind: Any = int if name == "integer" else float
    bounds = {_bounds[each]: node[each] for each in _bounds if each in node}
    for each in bounds.values():
        if isinstance(each, bool) or not isinstance(each, int) or abs(each) > 2**52:
            raise Unsuitable("a bound is not a small whole number")
    return Annotated[kind, Meta(**bounds)] if bounds else kind


def _ghosts(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the members that conditions of `schema` speak of."""
    ghosts: set[str] = set()
    for each in schema.get("allOf", ()):
        then = each.get("then", {}) if isinstance(each, dict) else {}
        if isinstance(then, dict):
            ghosts |= {*then.get("properties", {}), *then.get("required", ())}
    return frozenset(ghosts)


def _conditions_of(
    schema: Mapping[str, Any], builder: _Builder
) -> tuple[Condition, ...]:
    """Return the conditional part of `schema`, one condition for each field asked."""
    demands: dict[str, dict[str, dict[str, frozenset[type]]]] = {}
    for each in schema.get("allOf", ()):
        key, values = _question_of(each, schema)
        known = demands.setdefault(key, _answers_of(schema, key))
        wanted = _demands_of(each["then"], schema, builder)
        for value in known.keys() & values:
            for name, kinds in wanted.items():
                known[value][name] = known[value].get(name, kinds) & kinds
    return tuple(
        Condition(
            builder.attributes[key],
            {value: tuple(wanted.items()) for value, wanted in answers.items()},
        )
        for key, answers in demands.items()
    )


def _answers_of(
    schema: Mapping[str, Any], key: str
) -> dict[str, dict[str, frozenset[type]]]:
    node = schema.get("properties", {}).get(key, {})
    if key not in schema.get("required", ()) or _string_of(node) is str:
        raise Unsuitable("a condition asks for a field that may be anything")
    return {value: {} for value in node.get("enum", [node.get("const")])}


def _question_of(part: Any, schema: Mapping[str, Any]) -> tuple[str, set[str]]:
    """Return the field and the values that the `if` of `part` asks for."""
    if not isinstance(part, dict) or part.keys() != {"if", "then"}:
        raise Unsuitable("allOf holds more than if and then")
    asked = part["if"]
    if not isinstance(asked, dict) or asked.keys() != {"properties"}:
        raise Unsuitable("a condition asks for more than a field")
    if len(asked["properties"]) != 1:
        raise Unsuitable("a condition asks for several fields")
    ((key, node),) = asked["properties"].items()
    if not isinstance(node, dict) or not node.keys() <= {"const", "enum"}:
        raise Unsuitable("a condition asks for more than a value")
    if schema.get("properties", {}).get(key, {}).get("type") != "string":
        raise Unsuitable("a condition asks for a field that is not text")
    values = node["enum"] if "enum" in node else [node["const"]]
    if node.keys() == {"const", "enum"} or not all(isinstance(v, str) for v in values):
        raise Unsuitable("a condition asks for more than text")
    return key, set(values)


def _demands_of(
    then: Any, schema: Mapping[str, Any], builder: _Builder
) -> dict[str, frozenset[type]]:
    """Return the types that `then` allows, by attribute of the row."""
    if not isinstance(then, dict) or not then.keys() <= {"required", "properties"}:
        raise Unsuitable("a condition demands more than fields")
    required = set(then.get("required", ()))
    properties = then.get("properties", {})
    declared = schema.get("properties", {}).keys()
    if required - declared:
        raise Unsuitable("a condition requires a field that is not declared")
    demands = {}
    # A member that is not declared is a ghost: the lane refuses a row that has it.
    for key in (required | properties.keys()) & declared:
        kinds = _kinds_of(properties.get(key, {}), builder.objects.get(key, dict))
        absent = frozenset() if key in required else frozenset({UnsetType})
        demands[builder.attributes[key]] = kinds | absent
    return demands


def _kinds_of(node: Any, object_class: type) -> frozenset[type]:
    """Return the classes that a node of only `type` and `not` allows."""
    kinds = _kinds | {"object": frozenset({object_class})}
    every = frozenset().union(*kinds.values())
    if not isinstance(node, dict) or not node.keys() <= {"type", "not"} | _annotations:
        raise Unsuitable("a condition demands more than a type")
    allowed = every
    if "type" in node:
        allowed = frozenset().union(*(kinds[each] for each in _type_names(node)))
    refused = node.get("not")
    if refused is None:
        return allowed
    if not isinstance(refused, dict) or refused.keys() != {"type"}:
        raise Unsuitable("a condition refuses more than a type")
    if set(_type_names(refused)) & {"integer", "number"}:
        raise Unsuitable("a condition refuses a kind of number")
    return allowed - frozenset().union(*(kinds[each] for each in _type_names(refused)))


def unknown_members(
    node: Any, value: Any, location: Location = ()
) -> Iterable[tuple[Location, str]]:
    """Yield the members of a valid `value` that `node` allows without naming them."""
    if not isinstance(node, dict):
        return
    for each in (*node.get("oneOf", ()), *node.get("anyOf", ())):
        yield from unknown_members(each, value, location)
    if isinstance(value, list):
        for each in value:
            yield from unknown_members(node.get("items"), each, (*location, "*"))
    properties = node.get("properties")
    if isinstance(value, dict) and properties:
        for key, each in value.items():
            if key in properties:
                yield from unknown_members(properties[key], each, (*location, key))
            else:
                yield location, key
