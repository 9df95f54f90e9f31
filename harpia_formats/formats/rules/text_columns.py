"""Read the texts in values of many rows as columns, where all rows are alike."""

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.formats.rules.typed_texts import attributes_of

#: The types of a value that is not there.
_nothing = frozenset({type(None), type(UNSET)})


def text_columns(
    values: Sequence[Any], path: Sequence[str], item_keys: Sequence[str]
) -> list[Sequence[str]] | None:
    """Return the texts at `path` in a value of each row: a column for each of them.

    Values are as the typed decoder reads them. Each item of a list has columns of its
    own; at the end of the path these are texts, or texts at `item_keys` of objects.
    None if the rows are not alike: in their types, or in the sizes of lists.
    """
    kinds = set(map(type, values))
    if kinds <= _nothing:
        return []
    if len(kinds) > 1:
        return None
    (kind,) = kinds
    if kind is list:
        return _of_lists(values, path, item_keys)
    if path:
        if kind is dict:
            return None
        member = _members(values, kind, path[0])
        return [] if member is None else text_columns(member, path[1:], item_keys)
    return [values] if kind is str else []


def _of_lists(
    lists: Sequence[list[Any]], path: Sequence[str], item_keys: Sequence[str]
) -> list[Sequence[str]] | None:
    sizes = set(map(len, lists))
    if len(sizes) > 1:
        return None
    (size,) = sizes
    items = list(chain.from_iterable(lists))
    found: list[Sequence[str]] = []
    for number in range(size):
        column = items[number::size]
        texts = (
            text_columns(column, path, item_keys)
            if path
            else _of_items(column, item_keys)
        )
        if texts is None:
            return None
        found += texts
    return found


def _of_items(
    items: Sequence[Any], item_keys: Sequence[str]
) -> list[Sequence[str]] | None:
    """Return items that are texts, or the texts at `item_keys` of objects."""
    kinds = set(map(type, items))
    if len(kinds) > 1 or dict in kinds:
        return None
    (kind,) = kinds
    if kind is str:
        return [items]
    found: list[Sequence[str]] = []
    for key in item_keys:
        member = _members(items, kind, key)
        if member is None:
            continue
        types = set(map(type, member))
        if types == {str}:
            found.append(member)
        elif str in types:
            return None
    return found


def _members(values: Sequence[Any], kind: type, key: str) -> list[Any] | None:
    """Return the members of objects of one class, None if they cannot have the key."""
    if not issubclass(kind, msgspec.Struct):
        return None
    name = attributes_of(kind).get(key)
    return None if name is None else list(map(attrgetter(name), values))
