"""Read the texts of rows, by what they are in a record, without making records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harpia_formats.model.adapter import FieldMapping, FormatAdapter, Row
from harpia_formats.model.problem import Path


class RowTexts(msgspec.Struct, gc=False):
    """The texts of one row, of each kind in the order of the row."""

    #: What the user says: the prompt, or all messages of the user.
    prompts: list[str]
    system: list[str]
    references: list[str]
    choices: list[str]
    contexts: list[str]
    #: What the model says: its answers, or all its turns.
    answers: list[str]
    reasoning: list[str]
    errors: list[str]


#: The kind of text at each path of a record; of a chat, by the role of a message.
_kinds = {
    "prompt": "prompts",
    "system": "system",
    "references": "references",
    "gt": "references",
    "choices": "choices",
    "contexts": "contexts",
    "outputs.text": "answers",
    "outputs.reasoning": "reasoning",
    "outputs.error": "errors",
}
_of_messages = {"user": "prompts", "system": "system"}
_of_turns = {**_of_messages, "assistant": "answers"}
_chats = {"messages": _of_messages, "outputs.turns": _of_turns}


@dataclass(frozen=True, slots=True)
class _Field:
    """Where texts of one kind are in rows."""

    path: tuple[str, ...]
    kind: str
    #: The kind of text by the role of a message, if the field is a chat.
    by_role: Mapping[str, str] | None = None
    #: Returns the value of a cell of a table.
    read: Callable[[Any], Any] | None = None


@dataclass(slots=True)
class TextReader:
    """Reads the texts of the rows of one dialect of a format."""

    adapter: FormatAdapter
    dialect: str = ""
    #: The column of each field, where files are tables of any columns.
    columns: Mapping[str, str] | None = None
    _fields: list[_Field] = field(init=False)
    _normalize: Callable[[Row], Row] | None = field(init=False)

    def __post_init__(self) -> None:
        self._normalize = self.adapter.dialect_normalizers.get(self.dialect)
        self._fields = list(self._text_fields())

    @property
    def reads_typed(self) -> bool:
        """Whether `of_typed` can be used: rows are as the table of fields says."""
        return self._normalize is None

    def of_value(self, row: Any) -> RowTexts:
        """Return the texts of a decoded row, whatever its values are."""
        texts = _no_texts()
        for kind, _, text in self._found(self._normal(row)):
            getattr(texts, kind).append(text)
        return texts

    def of_typed(self, row: Any) -> RowTexts:
        """Return the texts of a row of a typed decoder."""
        texts = _no_texts()
        for each in self._fields:
            for value in _typed_values(row, each.path):
                if each.by_role is None:
                    add = getattr(texts, each.kind).append
                    if type(value) is str:
                        add(value)
                    elif type(value) is list:
                        for item in value:
                            if type(item) is str:
                                add(item)
                elif type(value) is list:
                    _add_chat(texts, value, each.by_role)
        return texts

    def paths(self, row: Any, kind: str) -> list[Path]:
        """Return the path of each text of a kind that `of_value` returns."""
        normal = self._normal(row)
        found = [
            (path, text) for each, path, text in self._found(normal) if each == kind
        ]
        if normal is row:
            return [path for path, _ in found]
        return [_path_of(row, text) for _, text in found]

    def _normal(self, row: Any) -> Any:
        """Return a row as the first dialect of the format has it."""
        if self._normalize is None or type(row) is not dict:
            return row
        return self._normalize(row)

    def _text_fields(self) -> Iterator[_Field]:
        """Yield where texts are in rows."""
        chats = {
            mapping.path
            for mapping in self.adapter.fields
            if mapping.record_path in _chats
        }
        is_table = bool(self.adapter.columns) or self.adapter.blank_is_absent
        for mapping in self.adapter.fields:
            kind = _kinds.get(mapping.record_path, "")
            by_role = _chats.get(mapping.record_path)
            if by_role is None and (not kind or mapping.path in chats):
                continue
            path = mapping.path
            if self.columns:
                path = tuple(self.columns.get(key, key) for key in path)
            yield _Field(
                path, kind, by_role, _cell_reader(mapping) if is_table else None
            )

    def _found(self, row: Any) -> Iterator[tuple[str, Path, str]]:
        """Yield the kind, the path and the text of each text of a decoded row."""
        for each in self._fields:
            for path, value in _values_at(row, each.path, ()):
                read = value if each.read is None else each.read(value)
                yield from _texts_in(each, read, path)


#: The attribute of each key, of the classes of a typed decoder.
_attributes: dict[type, dict[str, str]] = {}


def _member(value: Any, key: str) -> Any:
    """Return a member of an object of a typed decoder, None if there is none."""
    kind = type(value)
    if kind is dict:
        return value.get(key)
    names = _attributes.get(kind)
    if names is None:
        names = _attributes[kind] = attributes_of(kind)
    name = names.get(key)
    return None if name is None else getattr(value, name)


def attributes_of(kind: type) -> dict[str, str]:
    """Return the attribute of each key of a class of a typed decoder."""
    if not issubclass(kind, msgspec.Struct):
        return {}
    return dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))


def _typed_values(value: Any, keys: tuple[str, ...]) -> Sequence[Any]:
    """Return the values at the `keys` below a typed value, through items of lists."""
    for place, key in enumerate(keys):
        if type(value) is list:
            rest = keys[place:]
            return [found for item in value for found in _typed_values(item, rest)]
        value = _member(value, key)
    return (value,)


def _add_chat(texts: RowTexts, messages: list[Any], by_role: Mapping[str, str]) -> None:
    """Add the texts of messages of a typed row."""
    for message in messages:
        role, content = _member(message, "role"), _member(message, "content")
        if type(role) is str and type(content) is str and role in by_role:
            getattr(texts, by_role[role]).append(content)


def _cell_reader(mapping: FieldMapping) -> Callable[[Any], Any] | None:
    return None if mapping.codec is None else mapping.codec.read


def _no_texts() -> RowTexts:
    return RowTexts([], [], [], [], [], [], [], [])


def _values_at(
    value: Any, keys: tuple[str, ...], path: Path
) -> Iterator[tuple[Path, Any]]:
    """Yield the values at the `keys` below a value, through all items of lists."""
    if type(value) is list and keys:
        for index, item in enumerate(value):
            yield from _values_at(item, keys, (*path, index))
    elif not keys:
        yield path, value
    elif type(value) is dict and keys[0] in value:
        yield from _values_at(value[keys[0]], keys[1:], (*path, keys[0]))


def _texts_in(given: _Field, value: Any, path: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield the texts in the value of a field."""
    if given.by_role is None:
        if type(value) is str:
            yield given.kind, path, value
        elif type(value) is list:
            for index, item in enumerate(value):
                if type(item) is str:
                    yield given.kind, (*path, index), item
        return
    for index, item in enumerate(value if type(value) is list else ()):
        if type(item) is dict and type(item.get("content")) is str:
            kind = (
                given.by_role.get(item["role"])
                if type(item.get("role")) is str
                else None
            )
            if kind is not None:
                yield kind, (*path, index, "content"), item["content"]


def _path_of(value: Any, text: str, path: Path = ()) -> Path:
    """Return where in a row the object `text` is, () if nowhere."""
    members = value.items() if type(value) is dict else enumerate(value)
    for key, member in members:
        if member is text:
            return (*path, key)
        if type(member) in {dict, list}:
            found = _path_of(member, text, (*path, key))
            if found:
                return found
    return ()
