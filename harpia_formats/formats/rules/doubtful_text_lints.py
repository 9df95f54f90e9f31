"""Check rows of any format for doubtful numbers and texts (J204, J206 to J208)."""

import re
from collections.abc import Iterator
from typing import Any

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.formats.rules.doubtful_text import (
    INVISIBLE,
    LARGE_INTEGER,
    MISDECODED,
    REPLACED,
)
from harpia_formats.formats.rules.misread_chinese import read_as_latin
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint, TextColumns
from harpia_formats.model.problem import Path
from harpia_formats.model.text.describe import short_json

#: The largest integer that a float holds with all smaller ones.
SAFE = 2**53

#: Each digit as "0", each other byte as a space.
_digits = bytes(48 if chr(byte) in "0123456789" else 32 for byte in range(256))
#: What integers with so many digits are looked for by.
_long = 16
_seen = b"0" * _long
#: Bytes before an integer, and those after the digits of a float.
_before = frozenset((b"", b" ", b"\t", b"\n", b"\r", b":", b",", b"[", b"-"))
_of_floats = frozenset((b".", b"e", b"E"))
#: The first bytes of letters that UTF-8 read as Windows-1252 begins with.
_misdecoded_bytes = re.compile(
    rb"\xc3[\x82-\xb4](?:\xc2[\x80-\xbf]|[\xc5\xc6\xcb\xe2])"
)
_invisible_bytes = re.compile(rb"\xe2(?:\x80[\x8b\xaa-\xae]|\x81[\xa0\xa6-\xa9])")
_patterns = ((b"\xe2", _invisible_bytes), (b"\xc3", _misdecoded_bytes))
_escapes = re.compile(
    rb"\\u(?:[fF]{3}[dD]|[fF][eE][fF]{2}|0000|200[bB]|202[a-eA-E]|206[06-9]|"
    rb"00[c-fC-F][0-9a-fA-F]\\u(?:00[89abAB]|0[12]|20))"
)
#: What each of these escapes begins with, in lower case.
_escape_starts = tuple(
    rf"\u{digits}".encode() for digits in "fffd feff 0000 200b 202 206 00".split()
)
_lower = bytes(range(256)).lower()
_raw_marks = (b"\xef\xbf\xbd", b"\xef\xbb\xbf")

_invisible = re.compile("[\0\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
#: A letter of a script that puts no spaces between words, in which zero-width spaces
#: say where a line may break: Thai, Lao, Burmese and Khmer.
_unspaced = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f]"
)
_word_breaks = re.compile(f"(?<={_unspaced})\u200b+(?={_unspaced})")
_misdecoded = re.compile(
    "[\u00c2-\u00f4][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192"
    "\u02c6\u02dc\u2013\u2014\u2018-\u201a\u201c-\u201e\u2020-\u2022\u2026\u2030\u2039"
    "\u203a\u20ac\u2122]+"
)
#: Punctuation and spaces beyond ASCII that follow letters in Windows-1252.
_written_marks = frozenset("\xa0«»‘’‚“”„‹›–—…·•´")  # noqa: RUF001 - marks as written


class _LongIntegers:
    """Finds integers of 16 digits and more that are no part of a text or a float."""

    @staticmethod
    def search(data: bytes) -> bool:
        """Return whether there may be one in `data`."""
        digits = stringzilla.translate(data, _digits)
        begin = stringzilla.find(digits, _seen)
        while begin >= 0:
            end = digits.find(b" ", begin)
            end = len(data) if end < 0 else end
            if (
                data[max(begin - 1, 0) : begin] in _before
                and data[end : end + 1] not in _of_floats
            ):
                return True
            begin = stringzilla.find(digits, _seen, end)
        return False


class _DoubtfulTexts:
    """Finds the bytes of doubtful characters, as they are or escaped."""

    @staticmethod
    def search(data: bytes) -> bool:
        """Return whether there may be some in `data`."""
        if stringzilla.find(data, b"\\u") >= 0 and _has_escapes(data):
            return True
        return _has_marks(data)

    @staticmethod
    def are_clean(rows: TextColumns) -> bool:
        """Return whether there are certainly none in rows of a table."""
        return not _has_marks(rows.data)


def _has_marks(data: bytes) -> bool:
    """Return whether there may be doubtful characters in `data`, as they are."""
    return not data.isascii() and (
        any(stringzilla.find(data, mark) >= 0 for mark in _raw_marks)
        or any(
            stringzilla.find(data, first) >= 0 and pattern.search(data)
            for first, pattern in _patterns
        )
    )


def _has_escapes(data: bytes) -> bool:
    """Return whether there are escapes of doubtful characters in `data`."""
    lower = stringzilla.translate(data, _lower)
    is_possible = any(stringzilla.find(lower, each) >= 0 for each in _escape_starts)
    return is_possible and _escapes.search(data) is not None


def integer_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each integer beyond 2^53."""
    for path, value in _values(row):
        if type(value) is int and abs(value) > SAFE:
            yield Remark(
                LARGE_INTEGER,
                path,
                f"{short_json(value)} is beyond 2^53, and parsers that read numbers "
                f"as floats make {_as_float(value)} of it",
                "write it as text, if it is an id",
            )


def _as_float(value: int) -> str:
    try:
        return f"{int(float(value)):d}"
    except (OverflowError, ValueError):
        return "another number"


def text_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each text that holds doubtful characters."""
    for path, value in _values(row):
        if type(value) is not str:
            continue
        if "\ufffd" in value:
            yield Remark(
                REPLACED,
                path,
                "the text holds U+FFFD, which stands for bytes that were not decoded",
                "decode the source again in its own encoding",
            )
        found = None if value.isascii() else misdecoded(value)
        if found is not None and read_as_latin(value) is None:
            wrong, meant = found
            yield Remark(
                MISDECODED,
                path,
                f"{short_json(wrong)} is {short_json(meant)} in UTF-8 that was read "
                "as Windows-1252",
                "encode the text as Windows-1252 and decode it as UTF-8",
            )
        hidden = _invisible.search(value)
        if hidden is not None and hidden[0] == "\u200b":
            hidden = _invisible.search(_word_breaks.sub("", value))
        if hidden is not None:
            yield Remark(
                INVISIBLE,
                path,
                f"the text holds U+{ord(hidden[0]):04X}, which nobody sees",
                "remove it, unless it is meant",
            )


def misdecoded(text: str) -> tuple[str, str] | None:
    """Return letters that are UTF-8 read as Windows-1252, and what was meant by them.

    None if there are none. Left out are letters with marks that a writer may have put
    after them: the bytes of "Ã»" are those of "û", too, and those of an e with an acute
    accent, a no-break space and "»" are a Chinese character.
    """
    for found in _misdecoded.finditer(text):
        data = bytearray()
        for letter in found[0]:
            try:
                data += letter.encode("cp1252")
            except UnicodeEncodeError:  # not in Windows-1252, but a byte of Latin-1
                data += letter.encode("latin-1")
        for size in (2, 3, 4):
            try:
                meant = data[:size].decode()
            except UnicodeDecodeError:
                continue
            begin = found.start()
            if not _is_written(text, begin, begin + len(data[:size]), meant):
                return found[0][:size], meant
            break
    return None


def _is_written(text: str, begin: int, end: int, meant: str) -> bool:
    """Tell whether a letter and marks in `text` may stand there as they were written.

    A small letter may have any marks of punctuation after it. A capital one may have
    them after another capital, as in "MANHÃ» disse", unless the word goes on; or alone
    in quotes, which "meant", if that is no letter, would not be. No word ends with
    "Â", with which wrongly decoded marks and spaces begin.
    """
    first, marks = text[begin], text[begin + 1 : end]
    if first == "Â" or not _written_marks.issuperset(marks):
        return False
    if not first.isupper():
        return True
    before, after = text[max(begin - 1, 0) : begin], text[end : end + 1]
    if before.isupper():
        return not after.isupper()
    is_alone = not (before.isalpha() or after.isalpha() or "\xa0" in marks)
    return is_alone and meant.isalpha()


def _values(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value in a decoded row that is no array or object, with its path."""
    if type(value) is dict:
        for key, member in value.items():
            yield from _values(member, (*path, key))
    elif type(value) is list:
        for index, item in enumerate(value):
            yield from _values(item, (*path, index))
    else:
        yield path, value


#: The lints of rows of any format.
TEXT_LINTS = (
    RowLint(
        (LARGE_INTEGER,),
        integer_remarks,
        text=_LongIntegers,
        are_clean=lambda _: True,  # a text is no integer
        takes_refused=True,
    ),
    RowLint(
        (REPLACED, MISDECODED, INVISIBLE),
        text_remarks,
        text=_DoubtfulTexts,
        are_clean=_DoubtfulTexts.are_clean,
        takes_refused=True,
    ),
)
