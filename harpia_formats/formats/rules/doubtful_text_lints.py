"""Check rows for doubtful numbers, letters and cells (J204-J208, J212, J308)."""

import re
from collections.abc import Iterable, Iterator
from string import ascii_lowercase
from typing import Any

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.formats.rules.json_rules import (
    FORMULA_CELL,
    INVISIBLE,
    LARGE_INTEGER,
    MISDECODED,
    MISREAD_CHINESE,
    REPLACED,
)
from harpia_formats.formats.rules.lazy_pattern import lazy_pattern
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint, TextColumns
from harpia_formats.model.problem import Path
from harpia_formats.model.safe_text import any_would_run, would_run
from harpia_formats.model.value_path import texts_in


def _characters(leads: range, trails: range) -> str:
    """Return the characters of GBK with such first and second bytes."""
    pairs = (bytes((lead, trail)) for lead in leads for trail in trails)
    return "".join(pair.decode("gbk", "ignore") for pair in pairs)


#: The bytes of UTF-8 with which Chinese characters begin, and those that follow.
_leads, _trails = range(0xE4, 0xEA), range(0x80, 0xC0)
#: What is made of the letters of Latin-1, and of punctuation beyond ASCII.
_accented, _punctuation = _characters(range(0xC3, 0xC4), _trails), "\u9225"
_accented_capitals = _characters(range(0xC3, 0xC4), range(0x80, 0x9F))
#: What is made of two replacement characters.
_replaced = "\u951f\u65a4\u62f7"
#: Where a text speaks of them, in quotes.
_named = lazy_pattern(
    rf"[\"'\u2018\u201c\u300a-\u300f]{_replaced}[\"'\u2019\u201d\u300a-\u300f]"
)
#: The second character of those that are made of two Chinese ones begins as one does.
_begin = rf"[{_characters(_leads, _trails)}][{_characters(_trails, _leads)}]"
#: One class of characters at the beginning lets the search pass quickly over others.
_firsts, _seconds = _characters(_leads, _trails), _characters(_trails, _leads)
_suspect = lazy_pattern(
    rf"[{_firsts}{_accented}](?:(?<=[{_firsts}])[{_seconds}]|(?=[a-z]))"
)
#: What else is searched for, in UTF-8 and as escapes.
_certain = tuple(text.encode() for text in (_replaced, _punctuation))
_certain_escapes = (rb"\u951F", rb"\u951f", rb"\u9225")
_misread = lazy_pattern(_begin)
_chinese = lazy_pattern("[\u4e00-\u9fff]")
_as_accented = lazy_pattern(
    rf"(?<=[A-Za-z])[{_accented}]+(?=[a-z])|[{_accented_capitals}](?=[a-z])"
)
_as_punctuation = lazy_pattern(
    rf"{_punctuation}[^\x00-\x7f?]|(?<=[A-Za-z]){_punctuation}\?"
)
_utf_8 = lazy_pattern(
    rb"(?:[\xe4-\xe9][\x80-\xbf]{2}|\xe3\x80[\x80-\x9f]|\xef\xbc[\x80-\xbf])+"
)
#: Second bytes of the third ones of dashes and quotes in UTF-8.
_mark_bytes = frozenset(range(0x90, 0xA7))
#: Characters of which two are no chance: the frequent ones of GB 2312, and its marks.
_frequent = lazy_pattern(rb"(?:[\xb0-\xd7][\xa1-\xfe]|[\xa1\xa3][\xa1-\xfe])+")
_longest = 48

#: GBK read as Latin-1: an even number of letters and signs without ASCII.
_signs = lazy_pattern("[\u00a1-\u00ff]{4,}")
_letter = lazy_pattern("[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]")
_sign = lazy_pattern("[\u00a1-\u00bf]")
_fewest_letters = 2
_sign_bytes = (
    (b"\xc3", lazy_pattern(rb"\xc3[\x80-\xbf](?:\xc2[\xa1-\xbf]|\xc3[\x80-\xbf]){2}")),
    (b"\xc2", lazy_pattern(rb"\xc2[\xb0-\xbf](?:\xc2[\xa1-\xbf]|\xc3[\x80-\xbf]){3}")),
)
_escaped_signs = lazy_pattern(
    rb"\\u00[a-fA-F][0-9a-fA-F](?:\\u00[a-fA-F][0-9a-fA-F]){3}"
)
#: Escapes from one of a Chinese character on, or from one of Latin-1 on, if a mark
#: follows that may be misread or misdecoded; and the letter behind them. Their common
#: beginning makes the search faster.
_suspect_escapes = lazy_pattern(
    rb"\\u(?:[4-9][0-9a-fA-F]{3}|00[a-fA-F][0-9a-fA-F]\\u(?:0[12]|20|00(?:[89abAB]|"
    rb"[c-fC-F][0-9a-fA-F]\\u00[a-fA-F][0-9a-fA-F]\\u00[a-fA-F]))[0-9a-fA-F]+)"
    rb"(?:\\u[0-9a-fA-F]{4})*[a-z\x80-\xff]?"
)
#: The first bytes of Chinese characters in UTF-8.
_lead_bytes = bytes(_leads)
#: Small letters of ASCII as "a", the later bytes of others as "b", and what is found
#: where such a letter stands behind another one.
_small_letters = bytes(
    b"a"[0] if chr(byte) in ascii_lowercase else b"b"[0] if byte in _trails else 0
    for byte in range(256)
)
_small_behind_other = b"ba"
_ascii = bytes(range(128))
_about_encodings = lazy_pattern(
    r"\bgbk\b|gb ?18030|gb ?2312|utf-?8|unicode|encod|charset|mojibake|zeichensatz|"
    r"kodier|codier|乱码|亂碼|编码|編碼|字符集",
    re.IGNORECASE,
)


class _SuspectEscapes:
    """Searches for escapes of letters that were read wrongly, once for all lints."""

    #: The bytes that were searched last, and what was found.
    _last = (b"", b"")

    @classmethod
    def of(cls, data: bytes) -> bytes:
        """Return the escapes in `data` that may be such, with spaces between."""
        last, found = cls._last
        if last is not data:
            # To decode all of `data` takes three times as long as to find these few.
            found = b" ".join(_suspect_escapes.findall(data))
            cls._last = data, found
        return found


def may_be_misread(data: bytes) -> bool:
    """Return whether there may be misread characters in bytes of JSON or of a table."""
    return (not data.isascii() and _are_suspect(data)) or (
        stringzilla.find(data, b"\\u") >= 0 and _are_escapes_suspect(data)
    )


def _are_suspect(data: bytes) -> bool:
    if _finds_any(data, _sign_bytes):
        return True
    if stringzilla.find_first_of(data, _lead_bytes) < 0:
        return False
    if any(stringzilla.find(data, each) >= 0 for each in _certain):
        return True
    suspect = _suspect
    if (
        stringzilla.find(
            stringzilla.translate(data, _small_letters), _small_behind_other
        )
        < 0
    ):
        # Then only two that are not ASCII are suspect. Without keys and marks of JSON,
        # it takes two thirds of the time.
        suspect, data = _misread, data.translate(None, _ascii)
    return suspect.search(data.decode("utf-8", "replace")) is not None


def _finds_any(
    data: bytes, patterns: Iterable[tuple[bytes, re.Pattern[bytes]]]
) -> bool:
    """Return whether one of some patterns, each with its first byte, is in `data`."""
    return any(
        stringzilla.find(data, first) >= 0 and pattern.search(data)
        for first, pattern in patterns
    )


def _are_escapes_suspect(data: bytes) -> bool:
    if any(stringzilla.find(data, each) >= 0 for each in _certain_escapes):
        return True
    escapes = _SuspectEscapes.of(data)
    if _escaped_signs.search(escapes):
        return True
    return _suspect.search(escapes.decode("raw_unicode_escape", "replace")) is not None


def misread(text: str) -> tuple[str, str] | None:
    """Return characters that were misread, and what was meant by them.

    What was meant is "" if it is lost. None if nothing was misread.
    """
    if _replaced in text and _replaced in _named.sub("", text):
        return _replaced, ""
    for found in _misread.finditer(text):
        meant = _meant_by(text[found.start() : found.start() + _longest])
        if meant is not None:
            return meant
    return _accents(text) or read_as_latin(text)


def _meant_by(text: str) -> tuple[str, str] | None:
    """Return what Chinese characters that begin a text were in UTF-8, None if none.

    They must be frequent ones, and one of those that stand there must be rare.
    """
    data = text.encode("gb18030", "ignore")
    found = _utf_8.match(data)
    if found is None:
        return None
    try:
        meant = found[0].decode()
        is_frequent = _frequent.fullmatch(meant.encode("gb2312")) is not None
    except UnicodeError:
        return None
    wrong = data[: found.end()].decode("gb18030", "ignore")
    if len(meant) < 2 or not is_frequent or _are_in_gb2312(wrong):  # noqa: PLR2004 - one may be chance
        return None
    return wrong, meant


def _are_in_gb2312(text: str) -> bool:
    try:
        data = text.encode("gb2312")
    except UnicodeEncodeError:
        return False
    # Characters of other scripts stand before those that are Chinese.
    return all(byte >= 0xB0 for byte in data[::2])  # noqa: PLR2004 - bytes of GB 2312


def _accents(text: str) -> tuple[str, str] | None:
    """Return an accented letter or a mark that was read as a Chinese character.

    Text with other Chinese characters may have one between two words in Latin letters.
    """
    for found in _as_punctuation.finditer(text):
        second = found[0][1:].encode("gb18030", "ignore")[:1]
        if found[0][1] == "?" or (second and second[0] in _mark_bytes):
            data = b"\xe2\x80" + second
            return found[0], data.decode("utf-8", "ignore")
    if not set(_chinese.findall(text)) <= set(_accented):
        return None
    letter = _as_accented.search(text)
    if letter is None:
        return None
    return letter[0], letter[0].encode("gbk").decode("utf-8", "ignore")


def read_as_latin(text: str) -> tuple[str, str] | None:
    """Return Chinese characters in GBK that were read as Latin-1, and as they were.

    None if there are none, or if the bytes are UTF-8, too: J207 is on those.
    """
    for found in _signs.finditer(text):
        wrong = found[0][: len(found[0]) // 2 * 2]
        data = wrong.encode("latin-1")
        if (
            len(_letter.findall(wrong)) >= _fewest_letters
            and _sign.search(wrong)
            and _frequent.fullmatch(data)
            and not _is_utf_8(data)
        ):
            meant = data.decode("gb2312", "ignore")
            if len(meant) * 2 == len(wrong) and _chinese.search(meant):
                return wrong, meant
    return None


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def misread_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each text with misread characters, but those of J206."""
    texts = [(path, text) for path, text in texts_in(row) if not text.isascii()]
    found = [(path, misread(text), text) for path, text in texts]
    if not any(pair for _, pair, _ in found):
        return
    if any(_about_encodings.search(text) for _, text in texts_in(row)):
        return
    for path, pair, text in found:
        if pair is None or "\ufffd" in text:
            continue
        wrong, meant = pair
        difference = f"{short_json(wrong)} is {short_json(meant)}"
        if not meant:
            message = f"{short_json(wrong)} stands for bytes that were not decoded"
            how = "decode the source again in its own encoding"
        elif ord(wrong[0]) > 0xFF:  # noqa: PLR2004 - beyond Latin-1
            message = f"{difference} in UTF-8 that was read as GBK"
            how = "encode the text as GBK and decode it as UTF-8"
        else:
            message = f"{difference} in GBK that was read as Latin-1"
            how = "encode the text as Latin-1 and decode it as GBK"
        yield Remark(MISREAD_CHINESE, path, message, how)


class _MisreadSearch:
    """Searches in bytes for misread characters."""

    @staticmethod
    def search(data: bytes) -> bool:
        """Return whether there may be some in `data`."""
        return may_be_misread(data)

    @staticmethod
    def are_clean(rows: TextColumns) -> bool:
        """Return whether there are certainly none in rows of a table."""
        return rows.data.isascii() or not may_be_misread(rows.data)


MISREAD_LINT = RowLint(
    (MISREAD_CHINESE,),
    misread_remarks,
    text=_MisreadSearch,
    are_clean=_MisreadSearch.are_clean,
    takes_refused=True,
)


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
_misdecoded_bytes = lazy_pattern(
    rb"\xc3[\x82-\xb4](?:\xc2[\x80-\xbf]|[\xc5\xc6\xcb\xe2])"
)
_invisible_bytes = lazy_pattern(rb"\xe2(?:\x80[\x8b\xaa-\xae]|\x81[\xa0\xa6-\xa9])")
_patterns = ((b"\xe2", _invisible_bytes), (b"\xc3", _misdecoded_bytes))
_escapes = lazy_pattern(
    rb"\\u(?:[fF]{3}[dD]|[fF][eE][fF]{2}|0000|200[bB]|202[a-eA-E]|206[06-9])"
)
#: What these escapes begin with, in lower case, and the last digits of some as "a".
_escape_starts = tuple(
    rf"\u{digits}".encode() for digits in "fffd feff 0000 200b 206".split()
)
_lower = bytes(range(256)).lower()
_last_digits, _escape_of_direction = bytes.maketrans(b"bcde", b"aaaa"), rb"\u202a"
_misdecoded_escapes = lazy_pattern(
    rb"\\u00[c-fC-F][0-9a-fA-F]\\u(?:00[89abAB]|0[12]|20)"
)
_raw_marks = (b"\xef\xbf\xbd", b"\xef\xbb\xbf")

_invisible = lazy_pattern("[\0\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
#: A letter of a script that puts no spaces between words, in which zero-width spaces
#: say where a line may break: Thai, Lao, Burmese and Khmer.
_unspaced = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f]"
)
_word_breaks = lazy_pattern(f"(?<={_unspaced})\u200b+(?={_unspaced})")
_misdecoded = lazy_pattern(
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
        or _finds_any(data, _patterns)
    )


def _has_escapes(data: bytes) -> bool:
    """Return whether there are escapes of doubtful characters in `data`."""
    lower = stringzilla.translate(data, _lower)
    is_possible = any(stringzilla.find(lower, each) >= 0 for each in _escape_starts)
    if not is_possible:
        rough = stringzilla.translate(lower, _last_digits)
        is_possible = stringzilla.find(rough, _escape_of_direction) >= 0
    if is_possible and _escapes.search(data):
        return True
    return _misdecoded_escapes.search(_SuspectEscapes.of(data)) is not None


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


def formula_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each cell that a spreadsheet would run."""
    for column, text in row.items() if isinstance(row, dict) else ():
        if isinstance(text, str) and would_run(text):
            yield Remark(
                FORMULA_CELL,
                (column,),
                f"a spreadsheet would take {short_json(text)} for a formula",
                "convert the table with `--csv-safe` before it is opened in one",
            )


def _are_clean(rows: TextColumns) -> bool:
    """Return whether no cell of some rows is a formula."""
    return not any(map(any_would_run, rows.texts.values()))


FORMULA_LINT = RowLint(
    (FORMULA_CELL,), formula_remarks, are_clean=_are_clean, takes_refused=True
)
