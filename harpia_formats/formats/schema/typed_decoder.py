"""The typed decoder: accept most valid rows at the speed of parsing them.

It is a msgspec decoder built from a schema, and it may only accept: a row that it
refuses is not decided, and goes to the schema validator. Every field that it knows is
declared and others are refused, so nothing is skipped unread; optional fields are
`UNSET`, not `None`, if they are absent, so null is accepted only where the schema
allows it; values of any type are declared to a fixed depth, so a row that is too deep
is not accepted.

Unknown keys are legal in an open object, and the rows of a file mostly have the same
few. So the decoder is built with the unknown keys of the first rows declared, and built
again when rows with new ones are found valid.
"""

import json
import struct
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NewType, Union, get_args, get_origin

import msgspec
from msgspec import Struct, UnsetType, field

from harpia_formats.files.parsing.duplicate_keys import (
    MemberCounter,
    member_counter_of,
    no_members,
    plain_type,
)
from harpia_formats.formats.schema.bundled_schemas import Schema, without_exception
from harpia_formats.formats.schema.decoder_types import (
    ANNOTATIONS,
    FREE_DEPTH,
    LEAST_DEPTH,
    UNDECODED,
    Extras,
    Location,
    TypeBuilder,
    UnsupportedSchemaError,
    can_be_field,
    free_type,
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
    is_member = len(location) == 1 and location != ("*",)
    if not is_member or items is None or not isinstance(node, dict):
        raise UnsupportedSchemaError("an array contains something else than objects")
    if node.keys() - ANNOTATIONS != {"type", "required", "properties"}:
        raise UnsupportedSchemaError("an item that is contained has more than a key")
    properties = node["properties"]
    if node["type"] != "object" or list(properties) != node["required"]:
        raise UnsupportedSchemaError("an item that is contained has optional keys")
    if len(properties) != 1:
        raise UnsupportedSchemaError("an item that is contained has several keys")
    ((key, wanted),) = properties.items()
    if key not in items or not _is_listed(wanted):
        raise UnsupportedSchemaError("an item that is contained has a key of any value")
    values = wanted["enum"] if "enum" in wanted else [wanted["const"]]
    if not all(isinstance(value, str) for value in values):
        raise UnsupportedSchemaError(
            "an item that is contained has a value that is not text"
        )
    return _has_item(builder.attributes[()][location[0]], items[key], tuple(values))


def _is_listed(node: Any) -> bool:
    """Return whether the schema `node` lists values and says nothing else."""
    return isinstance(node, dict) and node.keys() in ({"const"}, {"enum"})


def _has_item(member: str, attribute: str, values: tuple[str, ...]) -> Check:
    """Return the check that an item of the array `member` has one of `values`."""

    def holds(row: Any) -> bool:
        array = getattr(row, member)
        if type(array) is not list:
            return True
        # An item that is no object has no such attribute.
        return any(getattr(item, attribute, None) in values for item in array)

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
    if not _is_listed(node):
        raise UnsupportedSchemaError("a condition asks for more than a value")
    of_key = schema.get("properties", {}).get(key)
    if not isinstance(of_key, dict) or of_key.get("type") != "string":
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


#: Unknown keys that are declared in one object; rows with more are not accepted.
EXTRAS_LIMIT = 64
#: Bytes that escapes add to a text, on average, from which decoding it takes longer
#: than proving that it is text: a fifth of the time of `validate` on rows of 3.6 kB
#: (`benchmarks/all.py --text escapes --only "one process"`).
MANY_ESCAPES = 8


class TypedDecoder(Struct, frozen=True):
    """A decoder that accepts rows that are certainly valid, and refuses all others."""

    #: Decodes one row.
    decode: Callable[[bytes], Any]
    #: Decodes a row from each line.
    decode_lines: Callable[[bytes], list[Any]]
    #: Decodes an array of rows.
    decode_array: Callable[[bytes], list[Any]]
    #: Types a list of rows that are decoded as JSON of any type.
    typed: Callable[[list[Any]], list[Any]]
    #: Conditions that a decoded row must meet.
    checks: tuple[Check, ...]
    #: The attribute that holds a member, by place of its object.
    attributes: Mapping[Location, Mapping[str, str]]
    #: The class of the objects at a place.
    classes: Mapping[Location, type]
    #: Counts the members of a decoded row and of all objects in it.
    members: MemberCounter

    def accept(self, row: bytes) -> Any:
        """Return the decoded row if it is certainly valid, else None."""
        try:
            value = self.decode(row)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        for check in self.checks:
            if not check(value):
                return None
        return value

    def accept_lines(self, data: bytes, lines: int) -> list[Any] | None:
        """Return the decoded rows of `data` if all of its lines are certainly valid.

        `lines` is their number. Between two lines there must be a brace, a newline and
        a brace, which cannot be inside a row: then as many rows as lines are one row
        in each line.
        """
        return self._accept_all(self.decode_lines, data, lines)

    def accept_items(self, data: bytes, items: int) -> list[Any] | None:
        """Return the decoded rows if all of them are certainly valid.

        `data` is the inside of an array of so many rows.
        """
        return self._accept_all(self.decode_array, b"".join((b"[", data, b"]")), items)

    def accepts_values(self, rows: list[Any]) -> bool:
        """Return whether rows, decoded as JSON of any type, are certainly valid.

        No text is parsed or copied for that, as it would be to decode the rows again.
        """
        try:
            values = self.typed(rows)
        except (msgspec.ValidationError, RecursionError):
            return False
        return all(check(value) for check in self.checks for value in values)

    def may_repeat_keys(self, data: bytes) -> bool:
        """Return whether rows that were decoded from `data` may hold an object."""
        return self.members is not no_members and b"{" in data

    def _accept_all(
        self, decode: Callable[[bytes], list[Any]], data: bytes, count: int
    ) -> list[Any] | None:
        """Return the rows that `decode` decodes if they are so many, and all valid."""
        try:
            values = decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if len(values) != count:
            return None
        for check in self.checks:
            for value in values:
                if not check(value):
                    return None
        return values


def typed_decoder_of(
    schema: Schema,
    extras: Extras | None = None,
    *,
    depth: int = FREE_DEPTH,
    of_items: bool = False,
    undecoded: frozenset[Location] = frozenset(),
) -> TypedDecoder:
    """Return the decoder of `schema`, which accepts the unknown keys `extras`, too.

    Values of any type are accepted to `depth` levels. Rows are objects; those of
    columns, which `of_items` tells, may be anything else. Where the schema allows any
    text at one of the places `undecoded`, the text stays as it is in the data. Raises
    `UnsupportedSchemaError` if types cannot express the schema.
    """
    schema = without_exception(schema)
    keywords: Mapping[str, Any] = schema if isinstance(schema, dict) else {}
    is_object = keywords.get("type") == "object"
    if not (is_object or of_items):
        raise UnsupportedSchemaError("a row may be something else than an object")
    asked = asked_members(keywords)
    builder = TypeBuilder(
        extras or {},
        asked,
        free_type(depth),
        undecoded - {(member,) for member in asked},
    )
    try:
        kind = builder.type_of(schema, ())
        decoder = msgspec.json.Decoder(kind)
        array_decoder = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]  # made at run time
    except (TypeError, ValueError, OverflowError) as error:
        raise UnsupportedSchemaError(str(error)) from error
    checks = _undecoded_texts(kind)
    if is_object:
        checks += conditions_of(keywords, builder)
    elif "allOf" in keywords or builder.contained or () in builder.classes:
        raise UnsupportedSchemaError("only some rows are objects, or have conditions")
    return TypedDecoder(
        decoder.decode,
        decoder.decode_lines,
        array_decoder.decode,
        partial(msgspec.convert, type=list[kind]),  # type: ignore[valid-type]  # made at run time
        checks,
        builder.attributes,
        builder.classes,
        member_counter_of(kind),
    )


def _undecoded_texts(kind: Any) -> tuple[Check, ...]:
    """Return the check that what rows of the type `kind` hold undecoded is text.

    It is none if they hold nothing undecoded.
    """
    names: dict[str, Any] = {"first": struct.Struct("c").unpack_from}
    text = _undecoded_in(kind, "r", names)
    # The text consists of names that are chosen here, and of attributes.
    return (eval(f"lambda r: {text}", names),) if text else ()  # noqa: S307 - see above


_begins_with = {"string": b'"', "null": b"n"}
#: The first bytes that values of an undecoded type may have, as they are unpacked.
_first_bytes = {
    kind: {(_begins_with[name],) for name in names} for names, kind in UNDECODED.items()
}


def _undecoded_in(kind: Any, value: str, names: dict[str, Any]) -> str:
    """Return the expression that what `value` has undecoded is text, "" without such.

    `kind` is the type of what the expression `value` yields. What the expression uses
    is added to `names`.
    """
    if kind in _first_bytes:
        return f"first({value}) in {_named(_first_bytes[kind], names)}"
    if isinstance(kind, NewType):
        return ""
    kind = plain_type(kind)
    origin = get_origin(kind)
    if origin in _containers:
        # A comprehension has an `i` of its own.
        inner = _undecoded_in(get_args(kind)[-1], "i", names)
        items = value if origin is list else f"{value}.values()"
        return f"all([{inner} for i in {items}])" if inner else ""
    if origin is Union:
        parts = [_undecoded_in_option(each, value, names) for each in get_args(kind)]
    else:
        is_object = origin is None and issubclass(kind, msgspec.Struct)
        types = kind.__annotations__ if is_object else {}
        parts = [_undecoded_in(types[name], f"{value}.{name}", names) for name in types]
    return " and ".join(filter(None, parts))


def _undecoded_in_option(option: Any, value: str, names: dict[str, Any]) -> str:
    """Return what `_undecoded_in` does, for a value that may be of other types."""
    inner = _undecoded_in(option, value, names)
    plain = plain_type(option)
    class_ = _named(get_origin(plain) or plain, names)
    return inner and f"(type({value}) is not {class_} or {inner})"


def _named(value: Any, names: dict[str, Any]) -> str:
    """Return a new name for `value`, which is added to `names`."""
    name = f"n{len(names)}"
    names[name] = value
    return name


@cache
def decoder_of_any_item() -> TypedDecoder:
    """Return the decoder of rows and items of columns that may be anything."""
    return typed_decoder_of(True, of_items=True)  # noqa: FBT003 - a schema


_containers = frozenset({dict, list})


def levels_of(value: Any, most: int = FREE_DEPTH) -> int:
    """Return how many levels of lists and objects a value has, at most `most`."""
    if not most or type(value) not in _containers:
        return 0
    items = value.values() if type(value) is dict else value
    return 1 + max((levels_of(item, most - 1) for item in items), default=0)


class RowSurvey(Struct):
    """Collects what rows have that their schema does not name."""

    #: The unknown keys, by the place of their object.
    extras: dict[Location, frozenset[str]] = field(default_factory=dict)
    #: The most levels of a value that may be anything.
    depth: int = LEAST_DEPTH
    #: The number of texts and of what escapes add to their length, by place.
    texts: dict[Location, tuple[int, int]] = field(default_factory=dict)

    def take(self, node: Any, value: Any) -> bool:
        """Add what a row has; tell whether there is anything new.

        `node` is the schema of the row.
        """
        before = sum(map(len, self.extras.values())), self.depth
        self._walk(node, value, ())
        return (sum(map(len, self.extras.values())), self.depth) != before

    def escaped_texts(self) -> frozenset[Location]:
        """Return the places whose texts are written with many escapes on average."""
        return frozenset(
            place
            for place, (count, added) in self.texts.items()
            if added >= count * MANY_ESCAPES
        )

    def _walk(self, node: Any, value: Any, location: Location) -> None:
        if type(value) not in _containers:
            self._count_escapes(value, location)
            return
        if not isinstance(node, dict) or node.keys() <= ANNOTATIONS:
            self.depth = max(self.depth, levels_of(value))
            return
        for option in (*node.get("oneOf", ()), *node.get("anyOf", ())):
            self._walk(option, value, location)
        if type(value) is list:
            if _may_be("array", node):
                for item in value:
                    self._walk(node.get("items", True), item, (*location, "*"))
        elif "properties" in node:
            self._walk_object(node, value, location)
        elif _may_be("object", node):
            for member in value.values():
                rest = node.get("additionalProperties", True)
                self._walk(rest, member, (*location, "*"))

    def _count_escapes(self, value: Any, location: Location) -> None:
        """Count a scalar if it is a text, and what escapes add to its length."""
        if type(value) is str:
            count, added = self.texts.get(location, (0, 0))
            more = len(json.dumps(value)) - len(value) - 2
            self.texts[location] = (count + 1, added + more)

    def _walk_object(
        self, node: Mapping[str, Any], value: Any, location: Location
    ) -> None:
        properties = node["properties"]
        rest = node.get("additionalProperties", True)
        for key, member in value.items():
            if key in properties:
                self._walk(properties[key], member, (*location, key))
                continue
            if rest is False:
                continue
            self._walk(rest, member, (*location, "*"))
            known = self.extras.get(location, frozenset())
            if len(known) < EXTRAS_LIMIT and can_be_field(key):
                self.extras[location] = known | {key}


def _may_be(name: str, node: Mapping[str, Any]) -> bool:
    """Tell whether the schema `node` allows values of the JSON type `name`."""
    if "oneOf" in node or "anyOf" in node:
        return False
    return name in node.get("type", name)
