"""Read values of rows: members, and paths such as `choices.text[answerKey]`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from harpia_formats.model.problem import Path

#: The keys of the labels of items, next to the key of their texts.
LABEL_KEYS = ("label", "labels")
_digits = re.compile("[0-9]{1,9}")
_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class NoSuchItemError(ValueError):
    """A value that selects no item of a list; its text is the reason."""


class ValuePath(Struct, frozen=True):
    """The path of a value in rows: keys, and by which value an item is selected."""

    #: As the user wrote it.
    text: str
    keys: tuple[str, ...]
    #: The path of the label or the index of the wanted item; None for the whole value.
    selector: "ValuePath | None" = None

    @property
    def is_nested(self) -> bool:
        """Whether the value is not that of a key of the row."""
        return len(self.keys) > 1 or self.selector is not None

    def parts(self) -> Iterator["ValuePath"]:
        """Yield the path of the value or the list, and that of what selects an item."""
        if self.selector is None:
            yield self
            return
        yield ValuePath(".".join(self.keys), self.keys)
        yield from self.selector.parts()

    def find(self, row: Mapping[str, Any]) -> Any:
        """Return the value in `row`, `UNSET` if there is none; lists without nulls.

        A key of the row that is the whole text of the path goes first.
        Raises `NoSuchItemError` for a label or an index that the list does not have.
        """
        value = self._value_in(row)
        if type(value) is list:
            return [item for item in value if item is not None]
        return value

    def _value_in(self, row: Mapping[str, Any]) -> Any:
        if self.text in row:
            return row[self.text]
        value = value_at(row, self.keys)
        if self.selector is None or value is UNSET or value is None:
            return value
        wanted = self.selector.find(row)
        if wanted is UNSET and len(self.keys) > 1:
            siblings = value_at(row, self.keys[:-1])
            if isinstance(siblings, Mapping):
                wanted = self.selector.find(siblings)
        if wanted is UNSET or wanted is None:
            return UNSET
        if type(value) is not list:
            raise NoSuchItemError(f"{'.'.join(self.keys)} is no list")
        labels = self._labels_in(row, len(value))
        if type(wanted) is list:
            return [value[_index(one, labels, len(value))] for one in wanted]
        return value[_index(wanted, labels, len(value))]

    def _labels_in(self, row: Mapping[str, Any], count: int) -> Sequence[Any] | None:
        """Return the labels next to the values at this path, None if there are none."""
        for key in LABEL_KEYS:
            labels = value_at(row, (*self.keys[:-1], key))
            own = len(self.keys) > 1 and key != self.keys[-1]
            if own and type(labels) is list and len(labels) == count:
                return labels
        return None


def parse_value_path(text: str) -> ValuePath:
    """Return the path that `text` writes: keys with `.`, and a path in `[]` behind."""
    inner = text
    selector = None
    if text.endswith("]") and "[" in text[1:]:
        inner, _, label = text[:-1].partition("[")
        selector = parse_value_path(label)
    return ValuePath(text, tuple(inner.split(".")), selector)


def value_at(row: Any, keys: tuple[str, ...]) -> Any:
    """Return the value at `keys` in objects and lists of objects, `UNSET` if none.

    A list gives the list of what its items have, null for those without; a number as a
    key is the place of an item, from 0.
    """
    for number, key in enumerate(keys):
        if type(row) is list:
            if _digits.fullmatch(key):
                row = row[int(key)] if int(key) < len(row) else UNSET
                continue
            found = [value_at(item, keys[number:]) for item in row]
            if found and all(value is UNSET for value in found):
                return UNSET
            return [None if value is UNSET else value for value in found]
        row = row.get(key, UNSET) if isinstance(row, Mapping) else UNSET
        if row is UNSET:
            return UNSET
    return row


def member_at(owner: Any, path: str) -> Any:
    """Return the value at a dotted path in nested objects, `UNSET` if there is none.

    A key may have dots itself, such as the name of a column; the longest key goes
    first.
    """
    if not isinstance(owner, dict):
        return UNSET
    if path in owner:
        return owner[path]
    end = path.rfind(".")
    while end >= 0:
        found = member_at(owner.get(path[:end]), path[end + 1 :])
        if found is not UNSET:
            return found
        end = path.rfind(".", 0, end)
    return UNSET


def names_in(value: Any, before: str = "") -> Iterator[str]:
    """Yield the paths of all keys in an object, also in objects and lists inside."""
    if type(value) is list:
        value = next((item for item in value if isinstance(item, Mapping)), None)
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield before + key
            yield from names_in(member, f"{before}{key}.")


def _index(wanted: Any, labels: Sequence[Any] | None, count: int) -> int:
    """Return the index of the item that `wanted` names: a label, or an index.

    Raises `NoSuchItemError` if there is no such item.
    """
    name = str(int(wanted)) if _is_whole(wanted) else wanted
    if labels is not None:
        known = [str(label) for label in labels]
        if name in known:
            return known.index(name)
        if any(label.isdecimal() for label in known) or not _is_whole(wanted):
            raise NoSuchItemError(f"no label is {wanted!r} ({', '.join(known)})")
    if _is_whole(wanted) or (type(wanted) is str and _digits.fullmatch(wanted)):
        index = int(wanted)
    elif type(wanted) is str and len(wanted) == 1 and wanted in _letters:
        index = _letters.index(wanted)
    else:
        raise NoSuchItemError(
            f"{wanted!r} is neither an index nor a letter, and the list has no labels"
        )
    if not 0 <= index < count:
        raise NoSuchItemError(f"{wanted!r} is not one of {count} items")
    return index


def _is_whole(value: Any) -> bool:
    """Tell whether `value` is a whole number, also as a float such as 3.0."""
    if type(value) is int:
        return True
    return isinstance(value, float) and value.is_integer()


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
