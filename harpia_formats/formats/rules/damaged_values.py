"""Check rows of any format for values that a program damaged (J210 to J214).

Each check has a search in bytes that passes over nearly all rows, and looks at the
whole row only where that finds something: what stands around a text shows whether it
is about such values, as texts on programs, web pages and encodings are.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from string import ascii_letters
from typing import Any

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.formats.rules.json_rules import (
    BYTES_LITERAL,
    ENTITY,
    NO_VALUE,
    QUESTION_MARKS,
)
from harpia_formats.formats.rules.lazy_pattern import lazy_pattern
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint, TextColumns
from harpia_formats.model.problem import Path
from harpia_formats.model.value_path import texts_in

#: A text that is found in a row, with its path and what it looks like.
PlacedText = tuple[Path, str]

#: What tells that a text is a program or about one.
_code = lazy_pattern(
    r"`|\w\(\)|\w\.\w+\(|=>|==|!=|\+=|;\s*$|\b(?:def|print|return|import|const|typeof|"
    r"python|pandas|numpy|javascript|typescript|java|js|json|sql|code|codes|program|"
    r"programm|código|função)\b|代码|程序|函数|编程",
    re.IGNORECASE | re.MULTILINE,
)

_object = "[object Object]"
#: What Python, pandas and NumPy write for no value. Words of other languages are left
#: out: "null" is a number in German, and "undefined" an answer in mathematics.
_no_values = frozenset({"nan", "NaN", "None", "NaT", "<NA>", _object})
#: Characters of such a value with white space around it.
_longest_no_value = 2 * max(map(len, _no_values))
#: White space in a text of JSON, and the most bytes of it around such a value.
_space = rb"(?: |\\[nrtf]|\\u[0-9A-Fa-f]{4}|[\xc2\xe1-\xe3][\x80-\xbf]+)*"
_most_space = 6 * _longest_no_value
_text_begin = lazy_pattern(rb'"' + _space + rb"\Z")
#: Such a value in JSON, and how a text ends with it.
_no_value_ends = tuple(
    (word, lazy_pattern(word + _space + rb'"'))
    for word in sorted(text.encode() for text in _no_values - {_object})
)

_bytes_literal = lazy_pattern(
    r"""b(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL
)
_about_bytes = lazy_pattern(
    r"\bbytes?\b|encod|decod|hash|base64|binary|binär|hexadez|字节|编码|二进制",
    re.IGNORECASE,
)

_entity = lazy_pattern(
    r"&(?:amp|lt|gt|quot|apos|nbsp|szlig|[nm]dash|hellip|[lr][sd]?quo|[lr]aquo|"
    r"euro|copy|reg|deg|middot|times|bull|"
    r"[A-Za-z](?:uml|acute|grave|circ|tilde|ring|cedil)|#[0-9]{2,6}|#[xX][0-9a-fA-F]{2,5});"
)
_entity_bytes = lazy_pattern(
    rb"(?:&|\\u0026)(?:[A-Za-z]{2,6}|#[0-9xX][0-9a-fA-F]{1,5});"
)
_about_pages = lazy_pattern(
    r"</?(?:p|br|div|span|a|b|i|em|strong|ul|ol|li|table|tr|td|th|html|head|body|"
    r"h[1-6]|img|script|style|form|input|title|svg|xml|pre|code)\b[^<>]{0,300}>"
    r"|<\?xml|html|xml\b|\bentit|escap|markup|browser|\brss\b|\bcss\b|maskier"
    r"|转义|实体|网页",
    re.IGNORECASE,
)

#: A word in which question marks stand between letters.
_marked_word = lazy_pattern(
    r"(?:(?<=\s)|(?<=[\"'(\u201e\u201c\u00ab])|\A)"
    r"(?P<before>[A-Za-z]+)(?P<marks>\?{1,3})(?P<after>[a-z]+(?:\?[a-z]+)*\??)"
    r"(?=[.,;!)\"'\u201d\u00bb]*(?:\s|\Z))"
)
_vowel = lazy_pattern("[aeiouyAEIOUY]")
#: How no word begins that stands after a question without a space between.
_no_beginning = lazy_pattern(
    r"(?:[bcdfghjklmnpqrstvwxz])(?:[bdfgkmpqvxz]|(?<=[^bcfgkps])l|(?<=[^bcdfgkptw])r|"
    r"(?<=[^csptwgrk])h|(?<=[^s])[cjt]|(?<=[^sgk])n|(?<=[^pt])s|(?<=[^dst])w)"
)
#: Groups of question marks in place of the words of a whole text.
_marked_text = lazy_pattern(r"(?<![^\s\"'(:,.])\?{3,}[ ,.!;:\u3000-]{1,2}\?{2,}")
_only_marks = lazy_pattern(r"[\s?.,;:!0-9()\"'-]+")
_fewest_marks = 4
#: What may be between the question marks of a text without letters.
_no_letters = rb"(?:[^A-Za-z?\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*"
_mark_bytes = lazy_pattern(
    rb"\?(?:\?\?|(?<=[A-Za-z]\?)\??\??[a-z]"
    rb"|\?%b\?|%b\?\?)" % (_no_letters, _no_letters)
)
#: The same with "a" for each letter, of which a few are quicker to find.
_rough_marks = (b"??", b"a?a")
_letters_as_a = bytes.maketrans(ascii_letters.encode(), b"a" * len(ascii_letters))
_about_marks = lazy_pattern(
    r"regex|regul|pattern|\bgrep\b|wildcard|glob\b|missing|guess|cross|hangman|puzzle|"
    r"riddle|\bletters?\b|blank|unknown|\bmarks?\b|punctuation|encod|muster|fehlend|"
    r"lücke|buchstab|rätsel|fragezeichen|正则|字母|猜|问号|乱码|https?:|\[\^?\w|[=^$*\\|]",
    re.IGNORECASE,
)


def is_code(text: str) -> bool:
    """Tell whether a text is a program or about one."""
    return _code.search(text) is not None


def no_value_remarks(row: Any, answers: Collection[Path] = ()) -> Iterator[Remark]:
    """Yield a remark for each text that stands for no value (J210).

    Whole texts at the paths `answers` are left out: V311 is on them.
    """
    texts = list(texts_in(row))
    for path, text in texts:
        word = text.strip() if len(text) <= _longest_no_value else ""
        is_whole = word in _no_values
        if not is_whole and _object not in text:
            continue
        others = [each for _, each in texts if each.strip() not in _no_values]
        if (is_whole and path in answers) or any(map(is_code, others)):
            continue
        word = word if is_whole else _object
        if is_whole and any(_has_word(word, each) for each in others):
            continue
        yield Remark(
            NO_VALUE,
            path,
            f"the text {'is' if is_whole else 'holds'} {short_json(word)}, which "
            "programs write where there is no text",
            "write null or leave the key out, unless the word is meant",
        )


def bytes_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each text that is a literal of bytes (J211)."""
    texts = list(texts_in(row))
    found = [each for each in texts if _is_bytes_literal(each[1])]
    if not found:
        return
    others = [text for _, text in texts if not _is_bytes_literal(text)]
    if any(is_code(text) or _about_bytes.search(text) for text in others):
        return
    for path, text in found:
        yield Remark(
            BYTES_LITERAL,
            path,
            f"the text is {short_json(text)}, as Python shows bytes",
            "decode the bytes instead of turning them into text with str()",
        )


def _is_bytes_literal(text: str) -> bool:
    return text[:1] == "b" and _bytes_literal.fullmatch(text) is not None


def entity_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each text that holds an entity of HTML (J214)."""
    texts = list(texts_in(row))
    found = [(path, _entity.search(text), text) for path, text in texts if "&" in text]
    if not any(match for _, match, _ in found):
        return
    if any(_about_pages.search(text) for _, text in texts):
        return
    for path, match, text in found:
        if match is not None and "`" not in text:
            yield Remark(
                ENTITY,
                path,
                f"the text holds {short_json(match[0])}, an entity of HTML",
                "decode the entities of HTML, as html.unescape() does",
            )


def question_mark_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each text in which letters became question marks (J213)."""
    texts = list(texts_in(row))
    found = [(path, _lost_letters(text)) for path, text in texts if "?" in text]
    if not any(lost for _, lost in found):
        return
    if any(_about_marks.search(text) or "`" in text for _, text in texts):
        return
    for path, lost in found:
        if lost:
            yield Remark(
                QUESTION_MARKS,
                path,
                f"in {short_json(lost)} question marks may stand for letters that an "
                "encoding lacks",
                "write the source again in UTF-8: what was there is lost here",
            )


def _lost_letters(text: str) -> str:
    """Return a part of a text with question marks for letters, "" if there is none."""
    if text.count("?") >= _fewest_marks:
        if _only_marks.fullmatch(text) and "??" in text:
            is_plain = len(text.strip().strip("?!. ")) == 0 and " " not in text.strip()
            return "" if is_plain and len(text) <= _fewest_marks + 1 else text.strip()
        whole = _marked_text.search(text)
        if whole is not None:
            return whole[0]
    for word in _marked_word.finditer(text):
        before, after = word["before"], word["after"]
        # A question without a space after it has two words; these are none.
        if (
            not _vowel.search(before)
            or not _vowel.search(after)
            or _no_beginning.match(after)
        ):
            return word[0]
    return ""


def _has_word(word: str, text: str) -> bool:
    return (
        re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None
    )


def _finds_any(data: bytes, needles: Iterable[bytes]) -> bool:
    return any(stringzilla.find(data, needle) >= 0 for needle in needles)


class _Search:
    """Searches in the bytes of rows for what a check is on, and in cells of tables."""

    def __init__(
        self,
        search: Callable[[bytes], bool],
        cells: Callable[[TextColumns], bool] | None = None,
    ) -> None:
        self.search = search
        self._cells = cells

    def are_clean(self, rows: TextColumns) -> bool:
        """Return whether there is certainly nothing in rows of a table."""
        return not (self._cells(rows) if self._cells else self.search(rows.data))


def _may_hold_no_value(data: bytes) -> bool:
    return _holds_object(data) or any(
        _text_begin.search(data[max(0, found.start() - _most_space) : found.start()])
        for word, end in _no_value_ends
        if (at := stringzilla.find(data, word)) >= 0
        for found in end.finditer(data, at)
    )


def _holds_object(data: bytes) -> bool:
    return bool(stringzilla.find(data, _object.encode()) >= 0)


def _cells_hold_no_value(rows: TextColumns) -> bool:
    if _holds_object(rows.data):
        return True
    return _finds_any(rows.data, (word for word, _ in _no_value_ends)) and any(
        not _no_values.isdisjoint(map(str.strip, column))
        for column in rows.texts.values()
        if min(map(len, column), default=0) <= _longest_no_value
    )


def _may_hold_bytes(data: bytes) -> bool:
    return _finds_any(data, (b"\"b'", b'"b\\"'))


def _cells_hold_bytes(rows: TextColumns) -> bool:
    return _finds_any(rows.data, (b"b'", b'b"')) and any(
        text.startswith(("b'", 'b"'))
        for column in rows.texts.values()
        for text in column
    )


def _may_hold_entity(data: bytes) -> bool:
    return (
        _finds_any(data, (b"&", b"\\u0026")) and _entity_bytes.search(data) is not None
    )


def _may_hold_marks(data: bytes) -> bool:
    rough = stringzilla.translate(data, _letters_as_a)
    return _finds_any(rough, _rough_marks) and _mark_bytes.search(data) is not None


_entities = _Search(_may_hold_entity)
_marks = _Search(_may_hold_marks)
_literals = _Search(_may_hold_bytes, _cells_hold_bytes)
#: Where a value may stand for none.
NO_VALUES = _Search(_may_hold_no_value, _cells_hold_no_value)


def no_value_lint(answers: Callable[[Any], Collection[Path]] | None = None) -> RowLint:
    """Return the check of values that stand for none; `answers` gives those of V311."""

    def remarks(row: Any) -> Iterator[Remark]:
        yield from no_value_remarks(row, answers(row) if answers else ())

    return RowLint(
        (NO_VALUE,),
        remarks,
        text=NO_VALUES,
        are_clean=NO_VALUES.are_clean,
        takes_refused=True,
    )


def _lint(
    code: str, remarks: Callable[[Any], Iterator[Remark]], by: _Search
) -> RowLint:
    return RowLint(
        (code,), remarks, text=by, are_clean=by.are_clean, takes_refused=True
    )


#: The lints of rows of any format, but for `no_value_lint`.
DAMAGE_LINTS = (
    _lint(BYTES_LITERAL, bytes_remarks, _literals),
    _lint(QUESTION_MARKS, question_mark_remarks, _marks),
    _lint(ENTITY, entity_remarks, _entities),
)
