"""The typed decoder: accept most valid rows at the speed of parsing them.

A decoder is a typed decoder built from a schema. It may only accept: what it refuses
is undecided and goes to the schema_validator. Every field that it knows is declared and
others are refused, so nothing is skipped unread; optional fields are `UNSET` and
not `None` when absent, so null is accepted only where the schema allows it; free
values are declared to a fixed depth, so a row that is too deep is not accepted.

Unknown keys are legal in an open object, and files use the same few again and
again. So the decoder learns: it is built after some rows were judged valid, with the
unknown keys of those rows declared too, and again when new ones turn up.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harpia_formats.parsing.duplicate_keys import MemberCounter, member_counter_of
from harpia_formats.schema.decoder_conditions import Check, asked_members, conditions_of
from harpia_formats.schema.decoder_types import (
    Extras,
    Location,
    TypeBuilder,
    UnsupportedSchemaError,
    can_be_field,
)

#: Unknown keys learned in one object before its rows are left to the validator.
EXTRAS_LIMIT = 64


@dataclass(frozen=True, slots=True)
class TypedDecoder:
    """A decoder that accepts valid rows, and refuses what it is not sure of."""

    decode: Callable[[bytes], Any]
    decode_lines: Callable[[bytes], list[Any]]
    checks: tuple[Check, ...]
    #: The attribute that holds a member, by place of its object.
    attributes: Mapping[Location, Mapping[str, str]]
    #: The class of the objects at a place.
    classes: Mapping[Location, type]
    #: Counts the members of a decoded row.
    members: MemberCounter

    def accept(self, row: bytes) -> Any:
        """Return `row` decoded if it is certainly valid, else None."""
        try:
            value = self.decode(row)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        for check in self.checks:
            if not check(value):
                return None
        return value

    def accept_lines(self, data: bytes, lines: int) -> list[Any] | None:
        """Return the rows of `data` if all of its lines are certainly valid.

        The lines must be set apart by a brace, a newline and a brace, which stand
        nowhere inside a row: so as many rows as lines are one row in each line.
        """
        try:
            values = self.decode_lines(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if len(values) != lines:
            return None
        for check in self.checks:
            for each in values:
                if not check(each):
                    return None
        return values


def typed_decoder_of(
    schema: Mapping[str, Any], extras: Extras | None = None
) -> TypedDecoder:
    """Build the decoder of `schema`, accepting the unknown keys `extras` too.

    Raises `UnsupportedSchemaError` where the schema says more than types can.
    """
    if schema.get("type") != "object":
        raise UnsupportedSchemaError("a row may be something else than an object")
    builder = TypeBuilder(extras or {}, asked_members(schema))
    try:
        kind = builder.type_of(schema, ())
        decoder = msgspec.json.Decoder(kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise UnsupportedSchemaError(str(error)) from error
    checks = conditions_of(schema, builder)
    return TypedDecoder(
        decoder.decode,
        decoder.decode_lines,
        checks,
        builder.attributes,
        builder.classes,
        member_counter_of(kind),
    )


@dataclass(slots=True)
class UnknownKeys:
    """The unknown keys that valid rows have, by place of their object."""

    extras: dict[Location, frozenset[str]] = field(default_factory=dict)

    def take(self, node: Any, value: Any) -> bool:
        """Take note of a valid row; tell whether it has keys that are new."""
        before = sum(map(len, self.extras.values()))
        self._walk(node, value, ())
        return sum(map(len, self.extras.values())) > before

    def _walk(self, node: Any, value: Any, location: Location) -> None:
        if not isinstance(node, dict):
            return
        for each in (*node.get("oneOf", ()), *node.get("anyOf", ())):
            self._walk(each, value, location)
        if isinstance(value, list):
            for each in value:
                self._walk(node.get("items"), each, (*location, "*"))
        elif isinstance(value, dict) and "properties" in node:
            self._walk_object(node, value, location)

    def _walk_object(
        self, node: Mapping[str, Any], value: Any, location: Location
    ) -> None:
        properties = node["properties"]
        closed = node.get("additionalProperties") is False
        for key, each in value.items():
            if key in properties:
                self._walk(properties[key], each, (*location, key))
                continue
            known = self.extras.get(location, frozenset())
            if closed:
                continue
            if len(known) < EXTRAS_LIMIT and can_be_field(key):
                self.extras[location] = known | {key}
