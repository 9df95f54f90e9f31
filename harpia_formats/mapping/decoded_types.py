"""Tell from the types of a typed decoder what the values of its rows can be."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

from msgspec import Struct, UnsetType

from harpia_formats.model.exact_json import ExactFloat
from harpia_formats.schema.typed_decoder import TypedDecoder

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
    if get_origin(kind) is Literal:
        return False
    if isinstance(kind, type) and issubclass(kind, (float, Struct)):
        return True
    return any(map(may_differ, get_args(kind)))


def has_objects(kind: Any) -> bool:
    """Tell whether values of a type may be, or hold, objects with fields."""
    if get_origin(kind) is Literal:
        return False
    if isinstance(kind, type) and issubclass(kind, Struct):
        return True
    return any(map(has_objects, get_args(kind)))


def is_text_list(kind: Any) -> bool:
    """Tell whether all lists of a type have texts only."""
    if get_origin(kind) is list:
        return get_args(kind) == (str,)
    return get_origin(kind) is not Literal and all(map(is_text_list, get_args(kind)))


def json_types(kind: Any) -> frozenset[type]:
    """Return the Python types that the exact decoder returns for values of a type."""
    return frozenset(_json_types(kind))


def _json_types(kind: Any) -> Iterator[type]:
    origin, given = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from _json_types(given[0])
    elif origin is Literal:
        yield str
    elif origin in {list, dict}:
        yield origin
    elif given:
        for each in given:
            yield from _json_types(each)
    elif kind is None:
        yield type(None)
    elif kind is float:
        yield from (float, ExactFloat, int)
    elif isinstance(kind, type) and issubclass(kind, Struct):
        yield dict
    elif kind is not UnsetType:
        yield kind
