"""Read the texts of a sample quickly of rows as the typed decoder reads them."""

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from harpia_formats.formats.rules.sample_texts import (
    ASSISTANT,
    CONTENT,
    ROLE,
    SamplePaths,
)

#: Adds the texts of a row to a list.
AddTexts = Callable[[Any, list[str]], None]


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
        """Return the prompts, questions, references and answers of a row."""
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
        for add in self.messages:
            asked: list[str] = []
            add(row, asked)
            prompts += asked
            questions += asked[-1:]
        return prompts, questions, references, answers

    def choices_of(self, row: Any) -> list[str]:
        """Return the choices of a row."""
        found: list[str] = []
        for add in self.choices:
            add(row, found)
        return found


def typed_texts(kind: type, paths: SamplePaths) -> TypedTexts:
    """Return what reads the texts of rows of a class at `paths`."""

    def all_of(given: Iterable[tuple[str, ...]]) -> tuple[AddTexts, ...]:
        return tuple(filter(None, (adder(kind, path) for path in given)))

    return TypedTexts(
        all_of(paths.prompts),
        all_of(paths.systems),
        tuple(filter(None, (_asker(kind, path) for path in paths.messages))),
        all_of(field.path for field in paths.references),
        all_of(field.path for field in paths.choices),
        all_of(paths.answers),
        tuple(filter(None, (_replier(kind, path) for path in paths.turns))),
    )


def _asker(kind: type, path: tuple[str, ...]) -> AddTexts | None:
    """Return what adds the texts of messages, but those of an assistant."""
    get, names = _messages(kind, path)
    if get is None:
        return None
    role, content = names

    def add(row: Any, found: list[str]) -> None:
        messages = get(row)
        for message in messages if type(messages) is list else ():
            text = getattr(message, content)
            if type(text) is str and getattr(message, role) != ASSISTANT:
                found.append(text)

    return add


def _replier(kind: type, path: tuple[str, ...]) -> AddTexts | None:
    """Return what adds the last text of an assistant's in messages."""
    get, names = _messages(kind, path)
    if get is None:
        return None
    role, content = names

    def add(row: Any, found: list[str]) -> None:
        messages = get(row)
        for message in reversed(messages) if type(messages) is list else ():
            text = getattr(message, content)
            if type(text) is str and getattr(message, role) == ASSISTANT:
                found.append(text)
                return

    return add


def _messages(
    kind: type, path: tuple[str, ...]
) -> tuple[Callable[[Any], Any] | None, tuple[str, str]]:
    """Return what gets a list of messages, and the attributes of role and content."""
    if len(path) != 1 or path[0] not in attributes_of(kind):
        return None, ("", "")
    name = attributes_of(kind)[path[0]]
    _, item = _classes_in(_type_of(kind, name))
    names = attributes_of(item) if item is not None else {}
    if ROLE not in names or CONTENT not in names:
        return None, ("", "")
    return attrgetter(name), (names[ROLE], names[CONTENT])


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


def adder(kind: type, path: tuple[str, ...]) -> AddTexts | None:
    """Return what adds the texts at `path` of rows of a class; None if it has none.

    They are the text there, and those in a list there, or of each item of lists on
    the way.
    """
    attributes: list[str] = []
    owner: type | None = kind
    for number, key in enumerate(path):
        name = attributes_of(owner).get(key) if owner is not None else None
        if owner is None or name is None:
            return None
        attributes.append(name)
        inner, item = _classes_in(_type_of(owner, name))
        if item is not None and number + 1 < len(path):
            return _of_items(attributes, adder(item, path[number + 1 :]))
        owner = inner
    get = attrgetter(".".join(attributes))

    def add(row: Any, found: list[str]) -> None:
        try:
            value = get(row)
        except AttributeError:  # null or nothing on the way
            return
        if type(value) is str:
            found.append(value)
        elif type(value) is list:
            found += [item for item in value if type(item) is str]

    return add


def _of_items(attributes: list[str], add_item: AddTexts | None) -> AddTexts | None:
    if add_item is None:
        return None
    get = attrgetter(".".join(attributes))

    def add(row: Any, found: list[str]) -> None:
        try:
            items = get(row)
        except AttributeError:
            return
        if type(items) is list:
            for item in items:
                add_item(item, found)

    return add


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
