"""Read the texts of rows: of one row, decoded or typed, and of many rows as columns."""

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import UNSET

from harpia_formats.model.adapter import DECLINED, FieldMapping, FormatAdapter
from harpia_formats.model.column import Column, as_column
from harpia_formats.model.problem import Path

#: A text, and its path in the row.
PlacedText = tuple[Path, str]
#: Paths of keys, from which lists are left out.
Paths = tuple[tuple[str, ...], ...]

#: Characters of the shortest prompt that no answer begins with by chance.
BY_CHANCE = 20
#: Keys of a message.
ROLE, CONTENT, ASSISTANT = "role", "content", "assistant"


@dataclass(frozen=True, slots=True)
class SampleTexts:
    """The texts of one row."""

    #: What is asked, without answers of an assistant.
    prompts: list[PlacedText]
    #: Those of them that must not be empty: the prompt, or the last message.
    questions: list[PlacedText]
    #: Expected answers, each with the path of the value that holds it.
    references: list[PlacedText]
    choices: list[PlacedText]
    answers: list[PlacedText]
    #: Whether a score or `is_correct` calls an answer right.
    is_success: bool
    #: Whether the row says that the model failed.
    has_error: bool


@dataclass(frozen=True, slots=True)
class SamplePaths:
    """Where rows of a format have the texts of a sample."""

    prompts: Paths
    systems: Paths
    messages: Paths
    references: tuple[FieldMapping, ...]
    choices: tuple[FieldMapping, ...]
    answers: Paths
    turns: Paths
    successes: Paths
    errors: Paths

    def texts_of(self, row: Any) -> SampleTexts:
        """Return the texts of a decoded row."""
        questions = _all_texts(row, self.prompts)
        asked: list[PlacedText] = []
        for messages in _messages_at(row, self.messages):
            texts = _texts_by(messages, is_assistant=False)
            asked += texts
            questions += texts[-1:]
        answers = _all_texts(row, self.answers)
        for messages in _messages_at(row, self.turns):
            answers += _texts_by(messages, is_assistant=True)[-1:]
        return SampleTexts(
            prompts=[
                *_all_texts(row, self.prompts),
                *_all_texts(row, self.systems),
                *asked,
            ],
            questions=questions,
            references=_read_texts(row, self.references),
            choices=_read_texts(row, self.choices),
            answers=answers,
            is_success=any(
                value is True or value in {1, "true"}
                for path in self.successes
                for _, value in leaves(row, path)
                if type(value) in {bool, int, float, str}
            ),
            has_error=any(text.strip() for _, text in _all_texts(row, self.errors)),
        )


def sample_paths(adapter: FormatAdapter) -> SamplePaths:
    """Return where rows that `adapter` reads have the texts of a sample."""

    def at(*names: str) -> Paths:
        found = (each.path for each in adapter.fields if each.record_path in names)
        return tuple(
            dict.fromkeys(spelt for path in found for spelt in _spellings(path))
        )

    def of(name: str) -> tuple[FieldMapping, ...]:
        return tuple(
            replace(each, path=path)
            for each in adapter.fields
            if each.record_path == name
            for path in _spellings(each.path)
        )

    messages = at("messages")
    return SamplePaths(
        tuple(path for path in at("prompt") if path not in messages),
        tuple(path for path in at("system") if path not in messages),
        messages,
        of("references"),
        of("choices"),
        at("outputs.text"),
        at("outputs.turns"),
        at("outputs.scores.is_correct", "outputs.scores.value"),
        at("outputs.error"),
    )


def _spellings(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield a path as it is, and with other marks than hyphens in its last key."""
    yield path
    first, *rest = path[-1].split("-")
    if rest:
        yield (*path[:-1], "_".join((first, *rest)))
        yield (*path[:-1], "".join((first, *(word.capitalize() for word in rest))))


def leaves(
    value: Any, path: tuple[str, ...], at: Path = ()
) -> Iterator[tuple[Path, Any]]:
    """Yield the values at `path` with their places: one for each item of lists."""
    for number, key in enumerate(path):
        if type(value) is list:
            for index, item in enumerate(value):
                yield from leaves(item, path[number:], (*at, index))
            return
        value = member(value, key)
        if value is UNSET:
            return
        at = (*at, key)
    yield at, value


def member(value: Any, key: str) -> Any:
    """Return the member of a decoded object; `UNSET` if there is none."""
    return value.get(key, UNSET) if type(value) is dict else UNSET


def _all_texts(row: Any, paths: Paths) -> list[PlacedText]:
    found: list[PlacedText] = []
    for path in paths:
        for at, value in leaves(row, path):
            if type(value) is str:
                found.append((at, value))
            elif type(value) is list:
                found += [
                    ((*at, index), item)
                    for index, item in enumerate(value)
                    if type(item) is str
                ]
    return found


def _read_texts(row: Any, fields: Iterable[FieldMapping]) -> list[PlacedText]:
    """Return the texts in lists of texts, which a codec may have to read."""
    found: list[PlacedText] = []
    for field in fields:
        # Of several turns, the last one has the reference.
        for at, value in list(leaves(row, field.path))[-1:]:
            if type(value) is list:
                found += [
                    ((*at, index), item)
                    for index, item in enumerate(value)
                    if type(item) is str
                ]
            elif type(value) is str:
                texts = value if field.codec is None else field.codec.read(value)
                listed = texts if texts is not DECLINED else ()
                listed = [listed] if type(listed) is str else listed
                if isinstance(listed, list):
                    found += [(at, text) for text in listed if type(text) is str]
    return found


def _messages_at(row: Any, paths: Paths) -> Iterator[list[tuple[Path, Any]]]:
    """Yield the messages of each list of them, with their places."""
    for path in paths:
        for at, messages in leaves(row, path):
            if type(messages) is list:
                yield [
                    ((*at, index), message)
                    for index, message in enumerate(messages)
                    if type(message) not in {str, list}
                ]


def _texts_by(
    messages: list[tuple[Path, Any]], *, is_assistant: bool
) -> list[PlacedText]:
    """Return the texts of the messages of an assistant, or of all others."""
    found: list[PlacedText] = []
    for at, message in messages:
        role, content = member(message, ROLE), member(message, CONTENT)
        if type(content) is str and (role == ASSISTANT) is is_assistant:
            found.append(((*at, CONTENT), content))
    return found


#: Adds the texts of a row to a list, or a list of them for each list of messages.
#: Raises `AttributeError` for what is of any type, and not read here.
AddTexts = Callable[[Any, list[Any]], None]


@dataclass(frozen=True, slots=True)
class TypedTexts:
    """Reads the texts of rows of one class; references without their codec."""

    prompts: tuple[AddTexts, ...]
    systems: tuple[AddTexts, ...]
    messages: tuple[AddTexts, ...]
    references: tuple[AddTexts, ...]
    choices: tuple[AddTexts, ...]
    answers: tuple[AddTexts, ...]
    turns: tuple[AddTexts, ...]

    def read(self, row: Any) -> tuple[list[str], list[str], list[str], list[str]]:
        """Return the prompts, questions, references and answers of a row.

        Raises `AttributeError` for a row that cannot be read here.
        """
        questions: list[str] = []
        references: list[str] = []
        answers: list[str] = []
        for add in self.prompts:
            add(row, questions)
        for add in self.references:
            add(row, references)
        for add in self.answers:
            add(row, answers)
        for add in self.turns:
            add(row, answers)
        if not (self.systems or self.messages):
            return questions, questions, references, answers
        prompts = [*questions]
        for add in self.systems:
            add(row, prompts)
        asked: list[list[str]] = []
        for add in self.messages:
            add(row, asked)
        for texts in asked:
            prompts += texts
            questions += texts[-1:]
        return prompts, questions, references, answers

    def choices_of(self, row: Any) -> list[str]:
        """Return the choices of a row."""
        found: list[str] = []
        for add in self.choices:
            add(row, found)
        return found


def typed_texts(kind: type, paths: SamplePaths) -> TypedTexts:
    """Return what reads the texts of rows of a class at `paths`."""

    def all_of(
        given: Iterable[tuple[str, ...]], add: AddTexts = _add_text
    ) -> tuple[AddTexts, ...]:
        return tuple(filter(None, (adder(kind, path, add) for path in given)))

    return TypedTexts(
        all_of(paths.prompts),
        all_of(paths.systems),
        all_of(paths.messages, _add_asked),
        all_of(field.path for field in paths.references),
        all_of(field.path for field in paths.choices),
        all_of(paths.answers),
        all_of(paths.turns, _add_reply),
    )


def _add_text(value: Any, found: list[Any]) -> None:
    """Add a text, or those in a list."""
    if type(value) is str:
        found.append(value)
    elif type(value) is list:
        found += [item for item in value if type(item) is str]


def _add_asked(messages: Any, found: list[Any]) -> None:
    """Add the texts of messages, but those of an assistant, as one list."""
    if type(messages) is not list:
        return
    texts: list[str] = []
    for message in messages:
        kind: type = type(message)
        role, text = _role_and_content(kind)(message)
        if type(text) is str and role != ASSISTANT:
            texts.append(text)
    found.append(texts)


def _add_reply(messages: Any, found: list[Any]) -> None:
    """Add the last text of an assistant's in messages."""
    for message in reversed(messages) if type(messages) is list else ():
        kind: type = type(message)
        role, text = _role_and_content(kind)(message)
        if type(text) is str and role == ASSISTANT:
            found.append(text)
            return


@lru_cache(maxsize=256)
def _role_and_content(kind: type) -> Callable[[Any], tuple[Any, Any]]:
    """Return what gets the role and the content of a typed message of a class.

    It raises `AttributeError` for an object of any type.
    """
    names = attributes_of(kind)
    if kind is not dict and CONTENT not in names:
        return lambda _: (None, None)
    # Without a role, what is got in its place is no role. A `dict` has no attributes.
    return attrgetter(names.get(ROLE, "__class__"), names.get(CONTENT, CONTENT))


@lru_cache(maxsize=256)
def attributes_of(kind: type) -> Mapping[str, str]:
    """Return the attributes of a class of typed rows, by the keys they stand for."""
    if not issubclass(kind, msgspec.Struct):
        return {}
    return dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))


def plain_attributes(kind: type, path: tuple[str, ...]) -> str | None:
    """Return the attributes that lead to `path` of rows of a class, with dots between.

    None if the class has none there, or if they are of the objects of a list.
    """
    attributes: list[str] = []
    owner: type | None = kind
    for key in path:
        name = attributes_of(owner).get(key) if owner is not None else None
        if owner is None or name is None:
            return None
        attributes.append(name)
        owner, item = _classes_in(_type_of(owner, name))
        if item is not None:
            return None
    return ".".join(attributes)


def adder(
    kind: type, path: tuple[str, ...], add: AddTexts = _add_text
) -> AddTexts | None:
    """Return what adds what is at `path` of rows of a class; None if it has none.

    It is added by `add`; where lists are on the way, that of each item.
    """
    attributes: list[str] = []
    owner: type | None = kind
    for number, key in enumerate(path):
        if owner is None:
            return _refusing(attributes)
        name = attributes_of(owner).get(key)
        if name is None:
            return None
        attributes.append(name)
        inner, item = _classes_in(_type_of(owner, name))
        if item is not None and number + 1 < len(path):
            return _adder_of_items(attributes, adder(item, path[number + 1 :], add))
        owner = inner
    get = attrgetter(".".join(attributes))

    def add_value(row: Any, found: list[Any]) -> None:
        try:
            value = get(row)
        except AttributeError:
            _check_is_nothing(row, attributes)
        else:
            add(value, found)

    return add_value


def _adder_of_items(
    attributes: list[str], add_item: AddTexts | None
) -> AddTexts | None:
    if add_item is None:
        return None
    get = attrgetter(".".join(attributes))

    def add(row: Any, found: list[Any]) -> None:
        try:
            items = get(row)
        except AttributeError:
            _check_is_nothing(row, attributes)
            return
        if isinstance(items, (msgspec.Struct, dict)):
            raise AttributeError(attributes[-1])  # noqa: TRY004 - see `AddTexts`
        for item in items if type(items) is list else ():
            add_item(item, found)

    return add


def _refusing(attributes: list[str]) -> AddTexts:
    """Return what refuses rows with a value of any type at the end of `attributes`."""

    def refuse(row: Any, found: list[Any]) -> None:  # noqa: ARG001 - the shape of `AddTexts`
        _check_is_nothing(row, [*attributes, ""])

    return refuse


def _check_is_nothing(row: Any, attributes: Iterable[str]) -> None:
    """Raise `AttributeError` if what is on the way may hold a value of any type."""
    value = row
    for name in attributes:
        if type(value) is list or type(value) is dict:
            raise AttributeError(name)
        value = getattr(value, name, None)


def _type_of(kind: type, attribute: str) -> Any:
    fields = msgspec.structs.fields(kind)
    return next(each.type for each in fields if each.name == attribute)


def _classes_in(annotation: Any) -> tuple[type | None, type | None]:
    """Return the class of the objects that a type allows, and of items of a list."""
    found: type | None = None
    item: type | None = None
    for kind in _alternatives(annotation):
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            found = kind
        elif get_origin(kind) is list:
            item, _ = _classes_in(get_args(kind)[0])
    return found, item


def _alternatives(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif origin is Union or origin is types.UnionType:
        for kind in get_args(annotation):
            yield from _alternatives(kind)
    else:
        yield annotation


#: The types of a value that is not there.
_nothing = frozenset({type(None), type(UNSET)})


def text_columns(
    values: Sequence[Any], path: Sequence[str], item_keys: Sequence[str]
) -> list[Column] | None:
    """Return the texts at `path` in a value of each row: a column for each of them.

    Values are as the typed decoder reads them. Each item of a list has columns of its
    own; at the end of the path these are texts, or texts at `item_keys` of objects.
    None if the rows are not alike: in their types, or in the sizes of lists.
    """
    column = as_column(values)
    kinds = column.kinds
    if kinds <= _nothing:
        return []
    if len(kinds) > 1:
        return None
    (kind,) = kinds
    if kind is list:
        return _of_lists(column, path, item_keys)
    if path:
        if kind is dict:
            return None
        member = _members(column, kind, path[0])
        return [] if member is None else text_columns(member, path[1:], item_keys)
    return [column] if kind is str else []


def _of_lists(
    lists: Column, path: Sequence[str], item_keys: Sequence[str]
) -> list[Column] | None:
    if lists.items is None:
        return None
    found: list[Column] = []
    for column in lists.items:
        texts = (
            text_columns(column, path, item_keys)
            if path
            else _texts_of_items(column, item_keys)
        )
        if texts is None:
            return None
        found += texts
    return found


def _texts_of_items(items: Column, item_keys: Sequence[str]) -> list[Column] | None:
    """Return items that are texts, or the texts at `item_keys` of objects."""
    kinds = items.kinds
    if len(kinds) > 1 or dict in kinds:
        return None
    (kind,) = kinds
    if kind is str:
        return [items]
    found: list[Column] = []
    for key in item_keys:
        member = _members(items, kind, key)
        if member is None:
            continue
        if member.kinds == {str}:
            found.append(member)
        elif str in member.kinds:
            return None
    return found


def _members(values: Column, kind: type, key: str) -> Column | None:
    """Return the members of objects of one class, None if they cannot have the key."""
    if not issubclass(kind, msgspec.Struct):
        return None
    name = attributes_of(kind).get(key)
    return None if name is None else values.member(name)
