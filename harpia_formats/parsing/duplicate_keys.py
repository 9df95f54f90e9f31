"""Count the members of objects, in JSON text and in what was decoded of it.

An object that has a key twice has fewer members decoded than written, and no parser
says so. In JSON text a key ends with a quote and a colon behind it, which are seldom
anywhere else. So members are counted at the speed of searching bytes.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import UNSET, Meta, Struct

#: Backslashes in front of a quote that are looked at.
BACKSLASHES = 8
#: Returns how many members a value has, with those of all objects in it.
MemberCounter = Callable[[Any], int]

_encode_lines = msgspec.json.Encoder().encode_lines
#: A colon written as an escape; the backslashes before it stand for themselves.
_escaped_colon = re.compile(rb"(?<!\\)(?:\\\\)*\\u003[aA]")
#: What there is if there is white space between a key and its colon, behind what is
#: found faster, and seldom.
_spaced = {
    b" :": (b'" :', b"  :", b"\t :", b"\r :", b"\n :"),
    b"\t": (b"\t:",),
    b"\r": (b"\r:",),
}


def has_no_repeated_keys(values: Sequence[Any], data: bytes, own: int) -> bool:
    """Tell whether no object of `data` had a key twice, which `values` is decoded of.

    `own` is the number of members of the values.
    """
    count = most_members(data)
    if count is not None and count > own:
        # It is often JSON in a text.
        count -= escaped_ends(data)
    return count == own or reencodes_to_same_colons(values, data)


def reencodes_to_same_colons(values: Sequence[Any], data: bytes) -> bool:
    """Tell whether no object of `data` had a key twice, however it was decoded.

    Writing the values again gives each key once: fewer colons than before mean that
    a key was there twice. Numbers and texts keep their colons.
    """
    again: int = stringzilla.count(_encode_lines(values), b":")
    return again == colons(data)


def most_members(data: bytes) -> int | None:
    """Return how many members the objects in JSON text have at most.

    There are less where a text begins with a colon or has a quote before one. None
    where keys may have white space behind them.
    """
    if stringzilla.find(data, b"\n:") >= 0:
        return None
    for sign, spaced in _spaced.items():
        if stringzilla.find(data, sign) >= 0:
            for each in spaced:
                if stringzilla.find(data, each) >= 0:
                    return None
    count: int = stringzilla.count(data, b'":')
    return count


def escaped_ends(data: bytes) -> int:
    """Count the quotes with a colon behind them that are escaped, and end no key.

    A quote is escaped by an odd number of backslashes: what ends with one of them is
    added, with two of them taken away again, and so on. 0 where there are many.
    """
    count, sign, times = 0, b'\\":', 1
    for _ in range(BACKSLASHES):
        found = stringzilla.count(data, sign)
        if not found:
            return count
        count += times * found
        sign, times = b"\\" + sign, -times
    return 0


def colons(data: bytes) -> int:
    """Count the colons in JSON text, written plainly or as an escape."""
    count: int = stringzilla.count(data, b":")
    if stringzilla.find(data, b"\\u003") >= 0:
        count += len(_escaped_colon.findall(data))
    return count


def count_members(value: Any) -> int:
    """Return how many members a value has that was decoded without a type."""
    count = 0
    items = value
    if type(value) is dict:
        count = len(value)
        items = value.values()
    elif type(value) is not list:
        return 0
    for each in items:
        if type(each) in _containers:
            count += count_members(each)
    return count


_containers = frozenset({dict, list})


def member_counter_of(kind: Any) -> MemberCounter:
    """Return what counts the members of values that were decoded as `kind`.

    `kind` is made of objects with fields, lists, `dict`s, unions and scalars. Optional
    members of its objects are `UNSET` where they are absent.
    """
    writer = CounterWriter()
    text = writer.of(kind, "r")
    # What is compiled is made of attribute names that we chose.
    counter: MemberCounter = eval(f"lambda r: {text}", writer.names)  # noqa: S307 - see above
    return counter


@dataclass(slots=True)
class CounterWriter:
    """Writes expressions for the numbers of members of typed values."""

    #: What the names in them stand for.
    names: dict[str, Any] = field(
        default_factory=lambda: {
            "U": UNSET,
            "free": count_members,
            "containers": _containers,
        }
    )
    #: How many lists the expression is inside of.
    depth: int = 0
    #: What is known of types, which repeat themselves: whether they hold objects.
    known: dict[tuple[int, bool], bool] = field(default_factory=dict)

    def of(self, kind: Any, value: str) -> str:
        """Return the expression for `value`, "0" where it never has members."""
        origin = get_origin(kind)
        if origin is Annotated:
            return self.of(get_args(kind)[0], value)
        if not self._has_objects(kind):
            return "0"
        if not self._has_objects(kind, with_fields=True):
            return self._of_free(kind, value)
        if origin is Union:
            return self._of_union(kind, value)
        if origin in _containers:
            return self._of_items(kind, value)
        return self._of_object(kind, value)

    def _of_free(self, kind: Any, value: str) -> str:
        """Return the expression for what has no objects with fields."""
        if get_origin(kind) is not Union:
            return f"free({value})"
        return f"(free({value}) if type({value}) in containers else 0)"

    def _of_object(self, kind: type, value: str) -> str:
        fields = msgspec.structs.fields(kind)
        least = sum(each.required for each in fields)
        parts = [str(least)] if least else []
        for each in fields:
            member = f"{value}.{each.name}"
            inner = self.of(each.type, member)
            if each.required:
                parts += [inner] if inner != "0" else []
            elif inner == "0":
                parts.append(f"(1 if {member} is not U else 0)")
            else:
                parts.append(f"(1 + {inner} if {member} is not U else 0)")
        return parts[0] if len(parts) == 1 else f"({' + '.join(parts or '0')})"

    def _of_items(self, kind: Any, value: str) -> str:
        """Return the expression for a list, or for an object with any keys."""
        self.depth += 1
        name = f"i{self.depth}"
        inner = self.of(get_args(kind)[-1], name)
        self.depth -= 1
        items = value if get_origin(kind) is list else f"{value}.values()"
        text = f"sum([{inner} for {name} in {items}])"
        if inner.isdecimal():
            text = f"{inner} * len({value})"
        return text if get_origin(kind) is list else f"(len({value}) + {text})"

    def _of_union(self, kind: Any, value: str) -> str:
        text = "0"
        for each in get_args(kind):
            inner = self.of(each, value)
            if inner != "0":
                text = f"({inner} if type({value}) is {self._class(each)} else {text})"
        return text

    def _class(self, kind: Any) -> str:
        """Return the name of the class that values of a type have."""
        while get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        name = f"C{len(self.names)}"
        self.names[name] = get_origin(kind) or kind
        return name

    def _has_objects(self, kind: Any, *, with_fields: bool = False) -> bool:
        """Tell whether values of a type may have objects in them, or be some."""
        key = (id(kind), with_fields)
        if key not in self.known:
            self.known[key] = self._looked_into(kind, with_fields=with_fields)
        return self.known[key]

    def _looked_into(self, kind: Any, *, with_fields: bool) -> bool:
        origin = get_origin(kind)
        if origin is None:
            return isinstance(kind, type) and issubclass(kind, Struct)
        if origin is dict and not with_fields:
            return True
        return any(
            self._has_objects(each, with_fields=with_fields)
            for each in get_args(kind)
            if not isinstance(each, (str, Meta))
        )
