"""Tell from the types of a typed decoder what the values of its rows can be."""

from typing import Annotated, Any, Literal, NewType, get_args, get_origin

from msgspec import Struct, UnsetType

from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.exact_json import ExactFloat

#: The keys of objects that lead to a value.
Keys = tuple[str, ...]


def type_at(decoder: TypedDecoder, path: Keys) -> Any:
    """Return the type of the value at `path`; `UnsetType` if no row has one."""
    name = decoder.attributes[path[:-1]].get(path[-1])
    if name is None:
        return UnsetType
    return decoder.classes[path[:-1]].__annotations__[name]


def may_differ(kind: Any) -> bool:
    """Tell whether values of a type may have floats, or objects with fields.

    The exact decoder may return other ones for the same text.
    """
    if isinstance(kind, type) and issubclass(kind, (float, Struct)):
        return True
    return any(map(may_differ, _parts_of(kind)))


def has_objects(kind: Any) -> bool:
    """Tell whether values of a type may be, or hold, objects with fields."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return True
    return any(map(has_objects, _parts_of(kind)))


def _parts_of(kind: Any) -> tuple[Any, ...]:
    """Return the types that a type is made of, no values that it lists."""
    if isinstance(kind, NewType):
        return (kind.__supertype__,)
    return () if get_origin(kind) is Literal else get_args(kind)


def is_text_list(kind: Any) -> bool:
    """Tell whether all lists of a type have texts only."""
    if get_origin(kind) is list:
        return get_args(kind) == (str,)
    return all(map(is_text_list, _parts_of(kind)))


def json_types(kind: Any) -> frozenset[type]:
    """Return the Python types that the exact decoder returns for values of a type."""
    origin, parts = get_origin(kind), _parts_of(kind)
    if origin is Annotated:
        return json_types(parts[0])
    if origin in {list, dict}:
        return frozenset({origin})
    if origin is Literal:
        return frozenset({str})
    if parts:
        return frozenset().union(*map(json_types, parts))
    return _single_types.get(kind, frozenset({dict if has_objects(kind) else kind}))


#: The types of JSON for types that are not those.
_single_types: dict[Any, frozenset[type]] = {
    None: frozenset({type(None)}),
    float: frozenset({float, ExactFloat, int}),
    UnsetType: frozenset(),
}
