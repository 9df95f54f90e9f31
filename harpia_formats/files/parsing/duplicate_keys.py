"""Find out whether any object of a JSON text has a key twice, by counting members.

A decoded object has each key once, so it has fewer members than its text if a key is
repeated there, and the parser does not report that. In JSON text a key ends with a
quote and a colon, which are rare in other places. So the members of a text are counted
by searching bytes, 3.6 times as fast as by encoding the values again (rows of
`benchmarks/data/generate.py`).
"""

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NewType, Union, get_args, get_origin

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import UNSET, Meta, Struct, UnsetType, field

#: Backslashes in front of a quote that are counted.
BACKSLASHES = 8
#: Returns how many members a decoded value has, with those of all objects in it.
MemberCounter = Callable[[Any], int]

_encode_lines = msgspec.json.Encoder().encode_lines
#: A colon written as an escape, behind backslashes that are escaped themselves.
_escaped_colon = re.compile(rb"(?<!\\)(?:\\\\)*\\u003[aA]")
#: Byte sequences of white space between a key and its colon, by a byte sequence that
#: each of them contains, which is found faster and is rare.
_spaced = {
    b" :": (b'" :', b"  :", b"\t :", b"\r :", b"\n :"),
    b"\t": (b"\t:",),
    b"\r": (b"\r:",),
}


def has_no_repeated_keys(values: Sequence[Any], data: bytes, own: int) -> bool:
    """Tell whether no object of `data` has a key twice, given its decoded `values`.

    `own` is the number of members of the values.
    """
    count = most_members(data)
    if count is not None and count > own:
        # Often there is JSON inside a string.
        count -= escaped_ends(data)
    return count == own or reencodes_to_same_colons(values, data)


def reencodes_to_same_colons(values: Sequence[Any], data: bytes) -> bool:
    """Tell whether `data` has as many colons as its `values` encoded again.

    That has each key once, so fewer colons mean that a key was repeated. Strings keep
    their colons.
    """
    again: int = stringzilla.count(_encode_lines(values), b":")
    return again == colons(data)


def most_members(data: bytes) -> int | None:
    """Return how many members the objects in JSON text have at most.

    There are fewer if a string begins with a colon or has a quote before one. None if
    keys may have white space behind them.
    """
    if _holds(data, b"\n:"):
        return None
    for common, sequences in _spaced.items():
        if _holds(data, common) and any(_holds(data, each) for each in sequences):
            return None
    count: int = stringzilla.count(data, b'":')
    return count


def _holds(data: bytes, part: bytes) -> bool:
    """Tell whether JSON text holds a sequence; many bytes are compared at once."""
    place: int = stringzilla.find(data, part)
    return place >= 0


def escaped_ends(data: bytes) -> int:
    """Count the escaped quotes with a colon behind them, which do not end a key.

    A quote is escaped by an odd number of backslashes, so quotes behind at least one
    are added, behind at least two subtracted, and so on. 0 if there are many.
    """
    count, sequence, sign = 0, b'\\":', 1
    for _ in range(BACKSLASHES):
        found = stringzilla.count(data, sequence)
        if not found:
            return count
        count += sign * found
        sequence, sign = b"\\" + sequence, -sign
    return 0


def colons(data: bytes) -> int:
    """Count the colons in JSON text, written plainly or as an escape."""
    count: int = stringzilla.count(data, b":")
    if _holds(data, b"\\u003"):
        count += len(_escaped_colon.findall(data))
    return count


def count_members(value: Any) -> int:
    """Return how many members a value has that was decoded without a type.

    Those of all objects in it are counted.
    """
    count = 0
    items = value
    if type(value) is dict:
        count = len(value)
        items = value.values()
    elif type(value) is not list:
        return 0
    for item in items:
        if type(item) in _containers:
            count += count_members(item)
    return count


_containers = frozenset({dict, list})


def no_members(_: Any) -> int:
    """Return 0, for values that are no objects and have none in them."""
    return 0


def member_counter_of(kind: Any) -> MemberCounter:
    """Return the function that counts the members of values decoded as type `kind`.

    `kind` is made of `Struct`s, lists, `dict`s, unions, scalars and new types of these.
    Optional members of its objects are `UNSET` if they are absent. It is `no_members`
    for values that hold no objects.
    """
    writer = CounterWriter()
    text = writer.of(kind, "r")
    if text == "0":
        return no_members
    # The text consists of attribute names that are chosen here.
    counter: MemberCounter = eval(f"lambda r: {text}", writer.names)  # noqa: S307 - see above
    return counter


class CounterWriter(Struct):
    """Writes Python expressions that count the members of typed values."""

    #: The values of the names in the expressions.
    names: dict[str, Any] = field(
        default_factory=lambda: {
            "U": UNSET,
            "free": count_members,
            "containers": _containers,
        }
    )
    #: How many lists the expression is inside of.
    depth: int = 0
    #: Whether a type holds objects, by its id and whether they must have fields.
    known: dict[tuple[int, bool], bool] = field(default_factory=dict)

    def of(self, kind: Any, value: str) -> str:
        """Return the expression that counts the members of `value`, "0" if it has none.

        `kind` is the type of what the expression `value` yields.
        """
        kind = plain_type(kind)
        origin = get_origin(kind)
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
        """Return the expression for a type without objects that have fields."""
        if get_origin(kind) is not Union:
            return f"free({value})"
        return f"(free({value}) if type({value}) in containers else 0)"

    def _of_object(self, kind: type, value: str) -> str:
        """Return the expression for an object with fields."""
        # `msgspec.structs.fields` evaluates each type again, which takes far longer.
        types = kind.__annotations__
        optional = {name for name in types if UnsetType in get_args(types[name])}
        least = len(types) - len(optional)
        parts = [str(least)] if least else []
        for name, of_member in types.items():
            text = f"{value}.{name}"
            inner = self.of(of_member, text)
            if name not in optional:
                parts += [inner] if inner != "0" else []
            elif inner == "0":
                parts.append(f"(1 if {text} is not U else 0)")
            else:
                parts.append(f"(1 + {inner} if {text} is not U else 0)")
        return parts[0] if len(parts) == 1 else f"({' + '.join(parts or '0')})"

    def _of_items(self, kind: Any, value: str) -> str:
        """Return the expression for a list, or for an object of any keys."""
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
        """Return the expression for one of several types."""
        text = "0"
        for option in get_args(kind):
            inner = self.of(option, value)
            if inner != "0":
                class_ = self._class(option)
                text = f"({inner} if type({value}) is {class_} else {text})"
        return text

    def _class(self, kind: Any) -> str:
        """Return a name for the class of the values of a type."""
        kind = plain_type(kind)
        name = f"C{len(self.names)}"
        self.names[name] = get_origin(kind) or kind
        return name

    def _has_objects(self, kind: Any, *, with_fields: bool = False) -> bool:
        """Tell whether values of a type may be objects, or have objects in them."""
        key = (id(kind), with_fields)
        if key not in self.known:
            self.known[key] = self._contains_objects(kind, with_fields=with_fields)
        return self.known[key]

    def _contains_objects(self, kind: Any, *, with_fields: bool) -> bool:
        kind = plain_type(kind)
        origin = get_origin(kind)
        if origin is None:
            return isinstance(kind, type) and issubclass(kind, Struct)
        if origin is dict and not with_fields:
            return True
        return any(
            self._has_objects(inner, with_fields=with_fields)
            for inner in get_args(kind)
            if not isinstance(inner, (str, Meta))
        )


def plain_type(kind: Any) -> Any:
    """Return a type without the limits of its values, and what a new type is for."""
    while True:
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        elif isinstance(kind, NewType):
            kind = kind.__supertype__
        else:
            return kind
