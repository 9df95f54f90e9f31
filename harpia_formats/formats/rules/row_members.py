"""Read members and texts of rows, decoded or typed."""

from collections.abc import Iterator
from typing import Any

import msgspec

from harpia_formats.model.problem import Path

#: The keys of a message that hold texts.
MESSAGE_KEYS = ("role", "content")
#: The attribute of each key, of the classes of typed rows, and the most such classes.
_attributes: dict[type, dict[str, str]] = {}
_most_classes = 256


def texts_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield every text in a decoded value with its path."""
    if type(value) is dict:
        for key, member_ in value.items():
            yield from texts_in(member_, (*path, key))
    elif type(value) is list:
        for index, item in enumerate(value):
            yield from texts_in(item, (*path, index))
    elif type(value) is str:
        yield path, value


def add_texts(
    value: Any, path: tuple[str, ...], texts: list[str], begin: int = 0
) -> None:
    """Add the texts at `path` of a row, decoded or typed, through items of lists.

    The value is what the keys before number `begin` lead to.
    """
    for number in range(begin, len(path)):
        if type(value) is list:
            for item in value:
                add_texts(item, path, texts, number)
            return
        value = member(value, path[number])
    if type(value) is str:
        texts.append(value)
    elif type(value) is list:
        _add_items(value, texts)


def _add_items(items: list[Any], texts: list[str]) -> None:
    """Add the texts in a list, and the roles and contents of messages in it."""
    for item in items:
        if type(item) is str:
            texts.append(item)
        elif item is not None:
            found = [member(item, key) for key in MESSAGE_KEYS]
            texts += [text for text in found if type(text) is str]


def member(value: Any, key: str) -> Any:
    """Return the member of an object, decoded or typed, None if there is none."""
    kind = type(value)
    if kind is dict:
        return value.get(key)
    names = _attributes.get(kind)
    if names is None:
        if len(_attributes) >= _most_classes:
            _attributes.clear()
        names = _attributes[kind] = _attributes_of(kind)
    name = names.get(key)
    return None if name is None else getattr(value, name)


def _attributes_of(kind: type) -> dict[str, str]:
    if not issubclass(kind, msgspec.Struct):
        return {}
    keys = kind.__struct_encode_fields__
    return dict(zip(keys, kind.__struct_fields__, strict=True))
