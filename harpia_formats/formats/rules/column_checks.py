"""Check the texts of many samples at once, as columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from msgspec import UNSET

from harpia_formats.formats.rules.request_faults import (
    may_loop,
    possible_errors,
    repeated_part,
)
from harpia_formats.formats.rules.row_texts import (
    ASSISTANT,
    BY_CHANCE,
    CONTENT,
    ROLE,
    Paths,
    SamplePaths,
    adder,
    attributes_of,
    plain_attributes,
    text_columns,
)
from harpia_formats.formats.rules.sample_faults import (
    LONGEST_WORD,
    has_repeated,
    is_leaked,
    is_null_word,
    possible_leaks,
)
from harpia_formats.formats.rules.sample_rules import (
    EMPTY_ANSWER,
    EMPTY_QUESTION,
    EMPTY_REFERENCE,
)
from harpia_formats.model.adapter import DECLINED, FieldMapping
from harpia_formats.model.column import Column
from harpia_formats.model.lint import TextColumns

_Column = Sequence[str]


@dataclass(frozen=True, slots=True)
class SampleColumns:
    """The texts of some samples: each column has one of each of them."""

    questions: list[_Column]
    #: All that is asked: the questions and more.
    prompts: list[_Column]
    answers: list[_Column]
    #: References, each with the prompts of its sample.
    references: Sequence[tuple[_Column, list[_Column]]]
    #: The choices of each sample.
    choices: Sequence[Sequence[str]]

    def are_clean(self, without: frozenset[str] = frozenset()) -> bool:
        """Return whether there is certainly nothing to remark on.

        Whether texts are empty is not checked for the rules `without`.
        """
        references = [column for column, _ in self.references]
        for code, columns in (
            (EMPTY_ANSWER, self.answers),
            (EMPTY_QUESTION, self.questions),
            (EMPTY_REFERENCE, references),
        ):
            if code not in without and any(map(_have_blank, columns)):
                return False
        if any(map(_are_wrong, self.answers)) or any(map(has_repeated, self.choices)):
            return False
        if any(
            _begin(texts, asked) for texts in self.answers for asked in self.questions
        ):
            return False
        return not any(_are_leaked(column, asked) for column, asked in self.references)


def of_table(rows: TextColumns, paths: SamplePaths) -> SampleColumns:
    """Return the texts of rows of a table; a text has no members."""
    questions = _at(rows, paths.prompts)
    prompts = [*questions, *_at(rows, paths.systems)]
    references = []
    for field in paths.references:
        for column in _at(rows, [field.path]):
            read = [_read(field, cell) for cell in column]
            sizes = list(map(len, read))
            asked = [_repeated(prompt, sizes) for prompt in prompts]
            references.append((list(chain.from_iterable(read)), asked))
    read_choices = [
        [_read(field, cell) for cell in column]
        for field in paths.choices
        for column in _at(rows, [field.path])
    ]
    choices = [
        list(chain.from_iterable(each)) for each in zip(*read_choices, strict=True)
    ]
    return SampleColumns(
        questions, prompts, _at(rows, paths.answers), references, choices
    )


def are_scored(rows: TextColumns, paths: SamplePaths) -> bool:
    """Return whether rows of a table may have scores."""
    return bool(_at(rows, paths.successes))


def of_typed(rows: Column, paths: SamplePaths) -> SampleColumns | None:
    """Return the texts of typed rows of one class, None if they are not alike."""
    asked = _messages(rows, paths.messages)
    turns = _messages(rows, paths.turns)
    found = [
        _typed(rows, given)
        for given in (
            paths.prompts,
            paths.systems,
            (field.path for field in paths.references),
            (field.path for field in paths.choices),
            paths.answers,
        )
    ]
    texts = [each for each in found if each is not None]
    if asked is None or turns is None or len(texts) < len(found):
        return None
    questions, systems, references, choices, answers = texts
    by_user = [each for role, each in asked if role != ASSISTANT]
    answers += [each for role, each in turns if role == ASSISTANT][-1:]
    prompts = [*questions, *systems, *by_user]
    if len(choices) == 1:  # one text may hold all of them
        return None
    return SampleColumns(
        [*questions, *by_user[-1:]],
        prompts,
        answers,
        [(column, prompts) for column in references],
        list(zip(*choices, strict=True)),
    )


def _typed(rows: Column, paths: Iterable[tuple[str, ...]]) -> list[_Column] | None:
    """Return the texts of typed rows at some paths, None if they are not alike."""
    found: list[_Column] = []
    for path in paths:
        columns = text_columns(rows, path, ())
        if columns is None:
            return None
        found += columns
    return found


def _messages(rows: Column, paths: Paths) -> list[tuple[str, _Column]] | None:
    """Return the role and the texts of each message, None if rows are not alike."""
    kind: type = type(rows[0])
    known = attributes_of(kind)
    given = [path for path in paths if path[0] in known]
    texts = [text_columns(rows, (*path, CONTENT), ()) for path in given]
    if None in texts:
        return None
    if not any(texts):
        return []
    if len(given) > 1 or len(given[0]) > 1:
        return None
    ((key,),), (columns,) = given, texts
    lists = rows.member(known[key])
    roles = text_columns(lists, (ROLE,), ())
    if roles is None or columns is None or any(len(set(each)) != 1 for each in roles):
        return None
    if not len(lists[0]) == len(roles) == len(columns):
        return None
    return [(role[0], column) for role, column in zip(roles, columns, strict=True)]


def _at(rows: TextColumns, paths: Iterable[tuple[str, ...]]) -> list[_Column]:
    """Return the columns of a table at some paths."""
    found = (rows.texts.get(path[0]) for path in paths if len(path) == 1)
    return [column for column in found if column is not None]


def _repeated(column: _Column, times: list[int]) -> _Column:
    """Return each text of a column so many times."""
    if set(times) == {1}:
        return column
    return [
        text for text, count in zip(column, times, strict=True) for _ in range(count)
    ]


def _have_blank(texts: _Column) -> bool:
    return not all(texts) or any(map(str.isspace, texts))


def _are_wrong(answers: _Column) -> bool:
    """Return whether one may be an error or no value, or hold a template's mark."""
    joined = "\n".join(answers)
    if "<" in joined or "INST]" in joined:
        return True
    if possible_errors(answers):
        return True
    short = (answer for answer in answers if len(answer) <= LONGEST_WORD)
    if any(map(is_null_word, short)):
        return True
    return any(repeated_part(answers[place]) for place in may_loop(answers))


def _begin(answers: _Column, questions: _Column) -> bool:
    """Return whether an answer begins with the whole prompt of its sample."""
    return any(map(str.startswith, answers, questions)) and any(
        len(question) >= BY_CHANCE and answer.startswith(question)
        for answer, question in zip(answers, questions, strict=True)
    )


def _are_leaked(references: _Column, prompts: list[_Column]) -> bool:
    """Return whether a reference is in a prompt of its sample."""
    return any(
        is_leaked(references[place], [prompt[place]], ())
        for prompt in prompts
        for place in possible_leaks(references, prompt)
    )


def _read(field: FieldMapping, cell: str) -> list[str]:
    """Return the texts in a cell."""
    found = cell if field.codec is None else field.codec.read(cell)
    if type(found) is str:
        return [found]
    if found is DECLINED or not isinstance(found, list):
        return []
    return [text for text in found if type(text) is str]


#: The types of members that are absent or null.
_absent = frozenset({type(UNSET), type(None)})
#: Texts, and the number of the row of each.
_Texts = tuple[Sequence[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class TypedColumns:
    """Reads the texts of rows of one class, each kind of them at one path."""

    #: The attributes that lead to the texts, with dots between.
    prompt: str
    reference: str
    answer: str
    #: Lists of messages, which are not read: rows that have some are suspects.
    turns: tuple[str, ...]
    choices: tuple[str, ...]

    def suspects(self, rows: Column) -> set[int] | None:
        """Return the numbers of the rows that may have something to remark on.

        None if all of them may.
        """
        try:
            prompts = rows.member(self.prompt)
            references = _texts_in(rows.member(self.reference))
            answers = _texts_in(rows.member(self.answer))
            choices = list(map(rows.member, self.choices))
        except AttributeError:  # null or nothing on the way
            return None
        if prompts.kinds != {str}:
            return None
        found = _blank((prompts, range(len(rows))))
        for turns in map(rows.member, self.turns):
            if not turns.kinds <= _absent:
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
    attributes = []
    references = [field.path for field in paths.references]
    for given in (paths.prompts, references, paths.answers):
        found = [path for path in given if path[0] in known]
        names = plain_attributes(kind, found[0]) if len(found) == 1 else None
        if names is None:
            return None
        attributes.append(names)
    choices = [
        plain_attributes(kind, field.path)
        for field in paths.choices
        if adder(kind, field.path) is not None
    ]
    if None in choices or len(choices) > 1:
        return None
    prompt, reference, answer = attributes
    return TypedColumns(
        prompt,
        reference,
        answer,
        tuple(known[path[0]] for path in paths.turns if path[0] in known),
        tuple(each for each in choices if each is not None),
    )


def _texts_in(values: Column) -> _Texts:
    """Return the values that are texts, and the texts in those that are lists."""
    if values.kinds == {list} and values.items and len(values.items) == 1:
        values = values.items[0]
    if values.kinds == {str}:
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


def _of_choices(values: Column) -> set[int]:
    """Return the rows whose choices are not all different."""
    if values.kinds <= _absent:
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
