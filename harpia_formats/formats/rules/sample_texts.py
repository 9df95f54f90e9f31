"""The texts of a sample in a row of any format: prompts, references and answers.

Where they are is read off the fields of the format's adapter.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET

from harpia_formats.model.adapter import DECLINED, FieldMapping, FormatAdapter
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
