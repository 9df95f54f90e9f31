"""Find the samples among many whose texts may be wrong, all at once.

Rows that are not found have nothing that the lints of samples remark on; of those that
are found, most have nothing either.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from msgspec import UNSET

from harpia_formats.formats.rules.api_errors import possible_errors
from harpia_formats.formats.rules.leaks import possible_leaks
from harpia_formats.formats.rules.sample_texts import SamplePaths
from harpia_formats.formats.rules.sample_values import (
    LONGEST_WORD,
    has_repeated,
    is_null_word,
)
from harpia_formats.formats.rules.text_faults import may_loop, repeated_part
from harpia_formats.formats.rules.typed_texts import (
    adder,
    attributes_of,
    plain_attributes,
)

#: The types of members that are absent or null.
_absent = frozenset({type(UNSET), type(None)})
#: Texts, and the number of the row of each.
_Texts = tuple[Sequence[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class TypedColumns:
    """Reads the texts of rows of one class, each kind of them at one path."""

    prompt: Callable[[Any], Any]
    reference: Callable[[Any], Any]
    answer: Callable[[Any], Any]
    #: Lists of messages, which are not read: rows that have some are suspects.
    turns: tuple[Callable[[Any], Any], ...]
    choices: tuple[Callable[[Any], Any], ...]

    def suspects(self, rows: Sequence[Any]) -> set[int] | None:
        """Return the numbers of the rows that may have something to remark on.

        None if all of them may.
        """
        try:
            prompts = list(map(self.prompt, rows))
            references = _texts_in(list(map(self.reference, rows)))
            answers = _texts_in(list(map(self.answer, rows)))
            choices = [list(map(get, rows)) for get in self.choices]
        except AttributeError:  # null or nothing on the way
            return None
        if set(map(type, prompts)) != {str}:
            return None
        found = _blank((prompts, range(len(rows))))
        for get in self.turns:
            turns = list(map(get, rows))
            if not _absent.issuperset(map(type, turns)):
                found.update(
                    number
                    for number, value in enumerate(turns)
                    if type(value) not in _absent
                )
        for each in choices:
            found |= _of_choices(each)
        return (
            found | _of_references(references, prompts) | _of_answers(answers, prompts)
        )


def typed_columns(kind: type, paths: SamplePaths) -> TypedColumns | None:
    """Return what reads the texts of rows of a class at `paths`, None if it cannot."""
    known = attributes_of(kind)
    if paths.systems or any(path[0] in known for path in paths.messages):
        return None
    if any(len(path) != 1 for path in paths.turns):
        return None
    getters = []
    references = [field.path for field in paths.references]
    for given in (paths.prompts, references, paths.answers):
        found = [path for path in given if path[0] in known]
        names = plain_attributes(kind, found[0]) if len(found) == 1 else None
        if names is None:
            return None
        getters.append(attrgetter(names))
    choices = [
        plain_attributes(kind, field.path)
        for field in paths.choices
        if adder(kind, field.path) is not None
    ]
    if None in choices or len(choices) > 1:
        return None
    turns = (known[path[0]] for path in paths.turns if path[0] in known)
    prompt, reference, answer = getters
    return TypedColumns(
        prompt,
        reference,
        answer,
        tuple(map(attrgetter, turns)),
        tuple(attrgetter(each) for each in choices if each is not None),
    )


def _texts_in(values: list[Any]) -> _Texts:
    """Return the values that are texts, and the texts in those that are lists."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return values, range(len(values))
    if kinds == {list} and set(map(len, values)) == {1}:
        values = [value[0] for value in values]
        if set(map(type, values)) == {str}:
            return values, range(len(values))
    texts: list[str] = []
    owners: list[int] = []
    for number, value in enumerate(values):
        for item in value if type(value) is list else (value,):
            if type(item) is str:
                texts.append(item)
                owners.append(number)
    return texts, owners


def _blank(given: _Texts) -> set[int]:
    """Return the rows with a text that is empty or all white space."""
    texts, owners = given
    if all(texts) and not any(map(str.isspace, texts)):
        return set()
    pairs = zip(texts, owners, strict=True)
    return {owner for text, owner in pairs if not text or text.isspace()}


def _prompts_of(owners: Sequence[int], prompts: list[str]) -> list[str]:
    return prompts if type(owners) is range else [prompts[each] for each in owners]


def _of_references(given: _Texts, prompts: list[str]) -> set[int]:
    """Return the rows with a reference that is blank, or may be in the prompt."""
    texts, owners = given
    leaks = possible_leaks(texts, _prompts_of(owners, prompts))
    return _blank(given) | {owners[each] for each in leaks}


def _of_choices(values: list[Any]) -> set[int]:
    """Return the rows whose choices are not all different."""
    if _absent.issuperset(map(type, values)):
        return set()
    return {
        number
        for number, value in enumerate(values)
        if type(value) not in _absent
        and (type(value) is not list or len(value) == 1 or has_repeated(value))
    }


def _of_answers(given: _Texts, prompts: list[str]) -> set[int]:
    """Return the rows with an answer that may be wrong."""
    texts, owners = given
    found = _blank(given)
    found.update(owners[each] for each in possible_errors(texts))
    found.update(owners[each] for each in may_loop(texts) if repeated_part(texts[each]))
    found.update(
        owners[place]
        for place, text in enumerate(texts)
        if len(text) <= LONGEST_WORD and is_null_word(text)
    )
    asked = _prompts_of(owners, prompts)
    if any(map(str.startswith, texts, asked)):
        begun = map(str.startswith, texts, asked)
        found.update(
            owner for owner, is_begun in zip(owners, begun, strict=True) if is_begun
        )
    joined = "\0".join(texts)
    if "<" in joined or ("]" in joined and "INST]" in joined):
        found.update(
            owner
            for text, owner in zip(texts, owners, strict=True)
            if "<" in text or "INST]" in text
        )
    return found
