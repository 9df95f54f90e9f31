"""Check the texts of samples in rows of a table, column by column."""

from collections.abc import Iterable, Iterator, Sequence

from harpia_formats.model.adapter import DECLINED, FieldMapping
from harpia_formats.model.lint import TextColumns
from harpia_formats.rules.api_errors import may_be_error
from harpia_formats.rules.leaks import is_leaked, may_leak
from harpia_formats.rules.sample_texts import BY_CHANCE, SamplePaths
from harpia_formats.rules.sample_values import has_repeated, has_word, is_null_word
from harpia_formats.rules.samples import EMPTY_ANSWER, EMPTY_QUESTION, EMPTY_REFERENCE

_Column = Sequence[str]
#: A column, and the field whose codec reads its cells.
_ReadColumn = tuple[FieldMapping, _Column]


def are_clean_columns(
    rows: TextColumns, paths: SamplePaths, without: frozenset[str]
) -> bool:
    """Return whether the texts of some rows have certainly nothing to remark on.

    The rules `without` are not checked.
    """
    questions = _at(rows, paths.prompts)
    prompts = [*questions, *_at(rows, paths.systems)]
    answers = _at(rows, paths.answers)
    references = [
        (field, column)
        for field in paths.references
        for column in _at(rows, [field.path])
    ]
    # An empty answer may be one that is scored as right.
    may_be_empty = EMPTY_ANSWER in without and not _at(rows, paths.successes)
    if any(_are_wrong(answer) for answer in answers):
        return False
    if not may_be_empty and any(map(_have_blank, answers)):
        return False
    if EMPTY_QUESTION not in without and any(map(_have_blank, questions)):
        return False
    if EMPTY_REFERENCE not in without and any(
        _have_blank(column) for _, column in references
    ):
        return False
    if any(_begin(answer, question) for question in questions for answer in answers):
        return False
    choices = [
        (field, column) for field in paths.choices for column in _at(rows, [field.path])
    ]
    others = [*prompts, *(column for _, column in (*references, *choices))]
    return not (
        any(_are_leaked(field, column, prompts) for field, column in references)
        or _have_repeated(choices, references, rows.count)
        or any(_are_null(answer, others) for answer in answers)
    )


def _at(rows: TextColumns, paths: Iterable[tuple[str, ...]]) -> list[_Column]:
    """Return the columns at some paths; a text has no members."""
    found = (rows.texts.get(path[0]) for path in paths if len(path) == 1)
    return [column for column in found if column is not None]


def _have_blank(texts: _Column) -> bool:
    return not all(texts) or any(map(str.isspace, texts))


def _are_wrong(answers: _Column) -> bool:
    """Return whether one of some answers may be an error or hold a template's mark."""
    joined = "\n".join(answers)
    return "<" in joined or "INST]" in joined or any(map(may_be_error, answers))


def _have_repeated(
    choices: list[_ReadColumn], references: list[_ReadColumn], count: int
) -> bool:
    """Return whether some of `count` rows have a choice twice."""
    return bool(choices) and any(
        has_repeated(_texts_in(choices, row), _texts_in(references, row))
        for row in range(count)
    )


def _texts_in(columns: list[_ReadColumn], row: int) -> list[str]:
    return [text for field, cells in columns for text in _read(field, cells[row])]


def _are_null(answers: _Column, others: list[_Column]) -> bool:
    """Return whether an answer is a word for no value that no other text has."""
    return any(
        is_null_word(answer) and not has_word(answer, [each[row] for each in others])
        for row, answer in enumerate(answers)
    )


def _begin(answers: _Column, questions: _Column) -> bool:
    """Return whether an answer may begin with the whole prompt of its row."""
    pairs = zip(answers, questions, strict=True)
    return any(map(str.startswith, answers, questions)) and any(
        len(question) >= BY_CHANCE and answer.startswith(question)
        for answer, question in pairs
    )


def _are_leaked(field: FieldMapping, cells: _Column, prompts: list[_Column]) -> bool:
    """Return whether a reference in some cells is in a prompt of its row."""
    asked: Iterator[tuple[str, ...]] = zip(*prompts, strict=True)
    return any(
        may_leak(reference, prompt) and is_leaked(reference, texts, ())
        for cell, texts in zip(cells, asked, strict=False)
        for reference in _read(field, cell)
        for prompt in texts
    )


def _read(field: FieldMapping, cell: str) -> list[str]:
    """Return the references, or choices, in a cell."""
    found = cell if field.codec is None else field.codec.read(cell)
    if type(found) is str:
        return [found]
    if found is DECLINED or not isinstance(found, list):
        return []
    return [text for text in found if type(text) is str]
