"""Turn the conditions of a schema into checks on the types of a row's fields."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UnsetType

from harpia_formats.formats.schema.decoder_types import (
    ANNOTATIONS,
    Location,
    TypeBuilder,
    UnsupportedSchemaError,
    text_type,
    type_names,
)

#: Types that fields of a row may have, by attribute.
AllowedTypes = dict[str, frozenset[type]]
#: Tells whether a decoded row meets a condition that its types do not express.
Check = Callable[[Any], bool]


_kinds: dict[str, frozenset[type]] = {
    "array": frozenset({list}),
    "boolean": frozenset({bool}),
    "integer": frozenset({int}),
    "null": frozenset({type(None)}),
    "number": frozenset({int, float}),
    "string": frozenset({str}),
}


def asked_members(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the members whose presence or type conditions of `schema` restrict."""
    asked: set[str] = set()
    for part in schema.get("allOf", ()):
        then = part.get("then", {}) if isinstance(part, dict) else {}
        if isinstance(then, dict):
            asked |= {*then.get("properties", {}), *then.get("required", ())}
    return frozenset(asked)


def conditions_of(schema: Mapping[str, Any], builder: TypeBuilder) -> tuple[Check, ...]:
    """Return the conditions of `schema` as checks, one for each field they depend on.

    Raises `UnsupportedSchemaError` for conditions that types cannot express.
    """
    conditions: dict[str, dict[str, AllowedTypes]] = {}
    for part in schema.get("allOf", ()):
        key, values = _tested_values(part, schema)
        known = conditions.setdefault(key, _possible_values(schema, key))
        wanted = _types_allowed_by(part["then"], builder)
        for value in known.keys() & values:
            for name, kinds in wanted.items():
                known[value][name] = known[value].get(name, kinds) & kinds
    attributes = builder.attributes.get((), {})
    return (
        *(_condition(attributes[key], types) for key, types in conditions.items()),
        *(_containing(path, node, builder) for path, node in builder.contained.items()),
    )


def _containing(location: Location, node: Any, builder: TypeBuilder) -> Check:
    """Return the check that an array has an object with one of some values.

    Raises `UnsupportedSchemaError` if `contains` asks for anything else.
    """
    items = builder.attributes.get((*location, "*"))
    if len(location) != 1 or items is None or not isinstance(node, dict):
        raise UnsupportedSchemaError("an array contains something else than objects")
    if node.keys() - ANNOTATIONS != {"type", "required", "properties"}:
        raise UnsupportedSchemaError("an item that is contained has more than a key")
    properties = node["properties"]
    if node["type"] != "object" or list(properties) != node["required"]:
        raise UnsupportedSchemaError("an item that is contained has optional keys")
    if len(properties) != 1:
        raise UnsupportedSchemaError("an item that is contained has several keys")
    ((key, wanted),) = properties.items()
    if key not in items or wanted.keys() not in ({"const"}, {"enum"}):
        raise UnsupportedSchemaError("an item that is contained has a key of any value")
    values = wanted["enum"] if "enum" in wanted else [wanted["const"]]
    if not all(isinstance(value, str) for value in values):
        raise UnsupportedSchemaError(
            "an item that is contained has a value that is not text"
        )
    return _has_item(builder.attributes[()][location[0]], items[key], tuple(values))


def _has_item(member: str, attribute: str, values: tuple[str, ...]) -> Check:
    """Return the check that an item of the array `member` has one of `values`."""

    def holds(row: Any) -> bool:
        array = getattr(row, member)
        if type(array) is not list:
            return True
        return any(getattr(item, attribute) in values for item in array)

    return holds


def _condition(tested: str, types: Mapping[str, AllowedTypes]) -> Check:
    """Return the check that fields have the types allowed for the value of `tested`."""
    allowed = {value: tuple(wanted.items()) for value, wanted in types.items()}

    def holds(row: Any) -> bool:
        for name, kinds in allowed[getattr(row, tested)]:
            if type(getattr(row, name)) not in kinds:
                return False
        return True

    return holds


def _possible_values(schema: Mapping[str, Any], key: str) -> dict[str, AllowedTypes]:
    """Return the values that the field `key` may have, none of them restricted yet."""
    node = schema.get("properties", {}).get(key, {})
    if key not in schema.get("required", ()) or text_type(node) is str:
        raise UnsupportedSchemaError(
            "a condition asks for a field that may be anything"
        )
    return {value: {} for value in node.get("enum", [node.get("const")])}


def _tested_values(part: Any, schema: Mapping[str, Any]) -> tuple[str, set[str]]:
    """Return the field that the `if` of `part` tests, and the values it tests for."""
    if not isinstance(part, dict) or part.keys() != {"if", "then"}:
        raise UnsupportedSchemaError("allOf holds more than if and then")
    asked = part["if"]
    if not isinstance(asked, dict) or asked.keys() != {"properties"}:
        raise UnsupportedSchemaError("a condition asks for more than a field")
    if len(asked["properties"]) != 1:
        raise UnsupportedSchemaError("a condition asks for several fields")
    ((key, node),) = asked["properties"].items()
    if not isinstance(node, dict) or node.keys() not in ({"const"}, {"enum"}):
        raise UnsupportedSchemaError("a condition asks for more than a value")
    if schema.get("properties", {}).get(key, {}).get("type") != "string":
        raise UnsupportedSchemaError("a condition asks for a field that is not text")
    values = node["enum"] if "enum" in node else [node["const"]]
    if not all(isinstance(v, str) for v in values):
        raise UnsupportedSchemaError("a condition asks for more than text")
    return key, set(values)


def _types_allowed_by(then: Any, builder: TypeBuilder) -> AllowedTypes:
    """Return the types that the schema `then` allows, by attribute of the row."""
    if not isinstance(then, dict) or not then.keys() <= {"required", "properties"}:
        raise UnsupportedSchemaError("a condition demands more than fields")
    required = set(then.get("required", ()))
    properties = then.get("properties", {})
    declared = builder.attributes[()].keys()
    if required - declared:
        raise UnsupportedSchemaError(
            "a condition requires a field that is not declared"
        )
    allowed = {}
    # Members that are not declared are left out: the decoder refuses rows with them.
    for key in (required | properties.keys()) & declared:
        kinds = _kinds_of(properties.get(key, {}), builder.classes.get((key,), dict))
        absent = frozenset() if key in required else frozenset({UnsetType})
        allowed[builder.attributes[()][key]] = kinds | absent
    return allowed


def _kinds_of(node: Any, object_class: type) -> frozenset[type]:
    """Return the classes that a schema of only `type` and `not` allows."""
    kinds = _kinds | {"object": frozenset({object_class})}
    every = frozenset().union(*kinds.values())
    if not isinstance(node, dict) or not node.keys() <= {"type", "not"} | ANNOTATIONS:
        raise UnsupportedSchemaError("a condition demands more than a type")
    allowed = every
    if "type" in node:
        allowed = frozenset().union(*(kinds[name] for name in type_names(node)))
    refused = node.get("not")
    if refused is None:
        return allowed
    if not isinstance(refused, dict) or refused.keys() != {"type"}:
        raise UnsupportedSchemaError("a condition refuses more than a type")
    if set(type_names(refused)) & {"integer", "number"}:
        raise UnsupportedSchemaError("a condition refuses a kind of number")
    return allowed - frozenset().union(*(kinds[name] for name in type_names(refused)))
