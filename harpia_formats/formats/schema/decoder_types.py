"""Build msgspec types from a schema, for a decoder that accepts valid rows only."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from keyword import iskeyword
from typing import Annotated, Any, Literal, NewType, Union

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from harpia_formats.formats.schema.bundled_schemas import Schema

#: A place in a schema: the member names that lead to it, "*" for items and values.
Location = tuple[str, ...]
#: Unknown keys that valid rows have, by the place of their object.
Extras = Mapping[Location, frozenset[str]]

#: Levels of lists and objects in a value of any type, at most and at least. Each one
#: more doubles the time that the decoder of a schema takes to build.
FREE_DEPTH, LEAST_DEPTH = 6, 2
Scalar = None | bool | int | float | str

#: Keywords that do not restrict anything.
ANNOTATIONS = frozenset(
    "$schema $id $comment title description default examples readOnly version "
    "definitions".split()
)
#: Draft-07 keywords that restrict, and that these types do not express.
_unsupported = frozenset(
    "$ref allOf contentEncoding contentMediaType dependencies else format "
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


#: The types of values that stay as they are in the data, by the types of JSON that the
#: schema allows. Nothing but their first byte tells that they are of these.
UNDECODED = {
    frozenset({"string"}): NewType("UndecodedText", msgspec.Raw),
    frozenset({"string", "null"}): NewType("UndecodedTextOrNull", msgspec.Raw),
}
_of_any_text = ANNOTATIONS | {"type"}


class UnsupportedSchemaError(Exception):
    """A schema restricts values in a way that the decoder's types cannot express."""


@cache
def free_type(depth: int = FREE_DEPTH) -> Any:
    """Return the type of any JSON value of at most `depth` levels."""
    free: Any = Scalar
    for _ in range(depth):
        free = Union[Scalar, list[free], dict[str, free]]  # noqa: UP007 - built at run time
    # Unlike other types, `typing` does not look into this one for each field of it.
    return NewType("FreeValue", free)


class TypeBuilder(Struct):
    """Builds types from a schema, and holds the class of each object of the row."""

    extras: Extras
    #: Members of the row that conditions restrict.
    asked: frozenset[str]
    #: The type of values of any type.
    free: Any = field(default_factory=free_type)
    #: Places of texts that stay as they are in the data, undecoded.
    undecoded: frozenset[Location] = frozenset()
    #: The class of the objects at a place.
    classes: dict[Location, type] = field(default_factory=dict)
    #: The attribute of each member of the objects at a place.
    attributes: dict[Location, dict[str, str]] = field(default_factory=dict)
    #: The schema of `contains` for the arrays at a place.
    contained: dict[Location, Any] = field(default_factory=dict)

    def type_of(self, node: Any, location: Location) -> Any:
        """Return the type of the values that the schema `node` at `location` allows.

        Raises `UnsupportedSchemaError` if types cannot express it.
        """
        if node is True or node == {}:
            return self.free
        if not isinstance(node, dict):
            raise UnsupportedSchemaError(
                "nothing is allowed, or each item has a schema of its own"
            )
        _check_keywords(node, root=not location)
        if "contains" in node:
            self.contained[location] = node["contains"]
        alternatives = node.get("oneOf", node.get("anyOf"))
        if alternatives is not None:
            if len(node.keys() - ANNOTATIONS) > 1:
                raise UnsupportedSchemaError("alternatives come with conditions")
            # A union with values that are not decoded would be of these alone.
            self.undecoded -= {location}
            return self._union_of(alternatives, location)
        if "type" not in node and not (node.keys() & {"enum", "const"}):
            if node.keys() <= ANNOTATIONS:
                return self.free
            raise UnsupportedSchemaError("a value of any type has conditions")
        names = type_names(node)
        if {"enum", "const"} <= node.keys():
            raise UnsupportedSchemaError("values are listed twice")
        if node.keys() & {"enum", "const"} and names != ["string"]:
            raise UnsupportedSchemaError("values of several types are listed")
        return self._of_types(names, node, location)

    def _of_types(
        self, names: list[str], node: Mapping[str, Any], location: Location
    ) -> Any:
        """Return the type of the values of JSON types that `node` allows."""
        kind = UNDECODED.get(frozenset(names))
        if kind and location in self.undecoded and node.keys() <= _of_any_text:
            return kind
        return _union(self._typed(name, node, location) for name in names)

    def _union_of(self, alternatives: list[Any], location: Location) -> Any:
        """Return the type of `oneOf` or `anyOf`, whose options differ in type."""
        seen: set[str] = set()
        for option in alternatives:
            names = set(type_names(option)) if isinstance(option, dict) else {"?"}
            if "number" in names:
                names.add("integer")
            if names & seen or "?" in names:
                raise UnsupportedSchemaError("alternatives do not differ in their type")
            seen |= names
        return _union(self.type_of(option, location) for option in alternatives)

    def _typed(self, name: str, node: Mapping[str, Any], location: Location) -> Any:
        """Return the type of the values of JSON type `name` that `node` allows."""
        if name == "null":
            return None
        if name == "boolean":
            return bool
        if name == "string":
            return _sized(text_type(node), name, node)
        if name == "array":
            items = self.type_of(node.get("items", True), (*location, "*"))
            return _sized(list[items], name, node)  # type: ignore[valid-type]  # made at run time
        if name == "object":
            return self._object_of(node, location)
        return _bounded(name, node)

    def _object_of(self, node: Mapping[str, Any], location: Location) -> Any:
        """Return the type of the objects that `node` allows, and store their class."""
        rest = node.get("additionalProperties", True)
        properties = node.get("properties", {})
        required = set(node.get("required", ()))
        if not properties and not required and rest is not False:
            values = self.type_of(rest, (*location, "*"))
            return dict[str, values]  # type: ignore[valid-type]  # made at run time
        # A forbidden member is left out, since unknown members are refused.
        types = {
            key: self.type_of(member, (*location, key))
            for key, member in properties.items()
            if member is not False
        }
        missing = required - types.keys()
        types |= self._extra_types(rest, missing, properties.keys(), location)
        self.classes[location] = row = _struct_of(types, required)
        names = attribute_names(types)
        # The items and the values of a node share a place.
        if self.attributes.setdefault(location, names) != names:
            raise UnsupportedSchemaError("objects at one place have other members")
        return row

    def _extra_types(
        self, rest: Any, missing: set[str], known: AbstractSet[str], location: Location
    ) -> dict[str, Any]:
        """Return the types of members that `properties` does not declare.

        `missing` are those that are required, and `known` those that it names.
        """
        extras = self.extras.get(location, frozenset()) - known
        keys = sorted(missing | (extras - (frozenset() if location else self.asked)))
        if not keys:
            return {}
        if rest is False or missing & known:
            raise UnsupportedSchemaError("a member is required and forbidden")
        kind = self.type_of(rest, (*location, "*"))
        return dict.fromkeys(keys, kind)


def _union(types: Iterable[Any]) -> Any:
    distinct = tuple(dict.fromkeys(types))
    return Union[distinct]  # noqa: UP007 - built at run time


def can_be_field(key: str) -> bool:
    """Tell whether a msgspec class can have a field for a member called `key`."""
    return not any(letter in '\\"' or letter < " " for letter in key)


def attribute_names(keys: Iterable[str]) -> dict[str, str]:
    """Return the attribute of each key: the key itself where it can be one."""
    return {
        key: key
        if key.isascii()
        and key.isidentifier()
        and not (iskeyword(key) or key.startswith("_"))
        else f"_{number}"
        for number, key in enumerate(keys)
    }


def _struct_of(types: Mapping[str, Any], required: set[str]) -> type:
    """Return a class with one field for each member, which refuses unknown members."""
    if not all(map(can_be_field, types)):
        raise UnsupportedSchemaError(
            "a key has quotes, backslashes or control characters"
        )
    fields: list[Any] = []
    names = attribute_names(types)
    for key, kind in types.items():
        if key in required:
            fields.append((names[key], kind))
        else:
            fields.append((names[key], Union[kind, UnsetType], UNSET))  # noqa: UP007 - built at run time
    return msgspec.defstruct(
        "Object",
        fields,
        rename={name: key for key, name in names.items()},
        forbid_unknown_fields=True,
        kw_only=True,
        gc=False,
    )


def _check_keywords(node: Mapping[str, Any], *, root: bool) -> None:
    """Raise `UnsupportedSchemaError` for a keyword that types cannot express."""
    for keyword in node.keys() & _unsupported:
        if not (root and keyword == "allOf"):
            raise UnsupportedSchemaError(keyword)


def type_names(node: Mapping[str, Any]) -> list[str]:
    """Return the names of the JSON types that `node` allows.

    Raises `UnsupportedSchemaError` if it lists values that are not strings.
    """
    if "type" not in node:
        values = node["enum"] if "enum" in node else [node.get("const")]
        if not all(isinstance(value, str) for value in values):
            raise UnsupportedSchemaError("values of several types are listed")
        return ["string"]
    names = node["type"]
    return [names] if isinstance(names, str) else list(names)


def text_type(node: Mapping[str, Any]) -> Any:
    """Return the type of the strings that `node` allows.

    Raises `UnsupportedSchemaError` if it lists values that are not strings.
    """
    if "enum" not in node and "const" not in node:
        return str
    values = node["enum"] if "enum" in node else [node["const"]]
    if not values or not all(isinstance(value, str) for value in values):
        raise UnsupportedSchemaError("values of several types are listed")
    return Literal[tuple(values)]


def _sized(kind: Any, name: str, node: Mapping[str, Any]) -> Any:
    """Return the type `kind` with the length limits of `node`."""
    sizes = {
        argument: node[keyword]
        for keyword, (owner, argument) in _sizes.items()
        if keyword in node and owner == name
    }
    if sizes and kind is not str and name == "string":
        raise UnsupportedSchemaError("listed values have a length")
    if not all(isinstance(size, int) for size in sizes.values()):
        raise UnsupportedSchemaError("a length is not a whole number")
    return Annotated[kind, Meta(**sizes)] if sizes else kind


def _bounded(name: str, node: Mapping[str, Any]) -> Any:
    """Return the type of a number with the bounds of `node`.

    Large bounds are not supported: they may be inexact in floating point.
    """
    kind: Any = int if name == "integer" else float
    bounds = {
        argument: node[keyword]
        for keyword, argument in _bounds.items()
        if keyword in node
    }
    for bound in bounds.values():
        is_integer = isinstance(bound, int) and not isinstance(bound, bool)
        if not is_integer or abs(bound) > 2**52:
            raise UnsupportedSchemaError("a bound is not a small whole number")
    return Annotated[kind, Meta(**bounds)] if bounds else kind


#: Keywords of an object that are known here.
_of_object = ANNOTATIONS | {
    "type",
    "required",
    "properties",
    "additionalProperties",
    "minProperties",
}


def allows_any(schema: Schema, columns: Sequence[str], kind: str = "string") -> bool:
    """Return whether every object with just these keys and values of `kind` is valid.

    `kind` is a type of JSON. It may only accept: False if a column is named twice, or
    the schema has any other keyword.
    """
    if len(set(columns)) < len(columns):
        return False
    if not isinstance(schema, dict):
        return schema
    if not schema.keys() <= _of_object or "object" not in _types_of(schema, "object"):
        return False
    if not set(schema.get("required", ())) <= set(columns):
        return False
    if schema.get("minProperties", 0) > len(columns):
        return False
    known = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    return all(_allows_any_value(known.get(name, rest), kind) for name in columns)


def _allows_any_value(schema: Any, kind: str) -> bool:
    """Return whether every value of the type `kind` is valid by a schema."""
    if not isinstance(schema, dict):
        return schema is True
    is_known = schema.keys() <= ANNOTATIONS | {"type"}
    return is_known and kind in _types_of(schema, kind)


def _types_of(schema: Mapping[str, Any], wanted: str) -> Sequence[str]:
    """Return the types that a schema allows, `wanted` among them if it names none."""
    types = schema.get("type", wanted)
    return [types] if isinstance(types, str) else types
