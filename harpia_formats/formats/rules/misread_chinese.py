"""Find Chinese and accented letters that were read in a wrong encoding (J212).

Either UTF-8 was read as GBK, which makes rare Chinese characters of all letters beyond
ASCII, or GBK as Latin-1, which makes letters with accents of Chinese characters.
"""

import re
from collections.abc import Iterator
from typing import Any

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.formats.rules.doubtful_text import MISREAD_CHINESE
from harpia_formats.formats.rules.row_members import texts_in
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint, TextColumns
from harpia_formats.model.text.describe import short_json


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
_named = re.compile(
    rf"[\"'\u2018\u201c\u300a-\u300f]{_replaced}[\"'\u2019\u201d\u300a-\u300f]"
)
#: The second character of those that are made of two Chinese ones begins as one does.
_begin = rf"[{_characters(_leads, _trails)}][{_characters(_trails, _leads)}]"
#: One class of characters at the beginning lets the search pass quickly over others.
_firsts, _seconds = _characters(_leads, _trails), _characters(_trails, _leads)
_suspect = re.compile(
    rf"[{_firsts}{_accented}](?:(?<=[{_firsts}])[{_seconds}]|(?=[a-z]))"
)
#: What is searched for beside that, in UTF-8 and as escapes.
_certain = tuple(text.encode() for text in (_replaced, _punctuation))
_certain_escaped = re.compile(rb"\\u(?:951[fF]\\u65[aA]4|9225)")
_misread = re.compile(_begin)
_chinese = re.compile("[\u4e00-\u9fff]")
_as_accented = re.compile(
    rf"(?<=[A-Za-z])[{_accented}]+(?=[a-z])|[{_accented_capitals}](?=[a-z])"
)
_as_punctuation = re.compile(
    rf"{_punctuation}[^\x00-\x7f?]|(?<=[A-Za-z]){_punctuation}\?"
)
_utf_8 = re.compile(
    rb"(?:[\xe4-\xe9][\x80-\xbf]{2}|\xe3\x80[\x80-\x9f]|\xef\xbc[\x80-\xbf])+"
)
#: Second bytes of the third ones of dashes and quotes in UTF-8.
_mark_bytes = frozenset(range(0x90, 0xA7))
#: Characters of which two are no chance: the frequent ones of GB 2312, and its marks.
_frequent = re.compile(rb"(?:[\xb0-\xd7][\xa1-\xfe]|[\xa1\xa3][\xa1-\xfe])+")
_longest = 48

#: GBK read as Latin-1: an even number of letters and signs without ASCII.
_signs = re.compile("[\u00a1-\u00ff]{4,}")
_letter = re.compile("[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]")
_sign = re.compile("[\u00a1-\u00bf]")
_fewest_letters = 2
_sign_bytes = (
    re.compile(rb"\xc3[\x80-\xbf](?:\xc2[\xa1-\xbf]|\xc3[\x80-\xbf]){2}"),
    re.compile(rb"\xc2[\xb0-\xbf](?:\xc2[\xa1-\xbf]|\xc3[\x80-\xbf]){3}"),
)
_escaped_signs = re.compile(rb"\\u00[a-fA-F][0-9a-fA-F](?:\\u00[a-fA-F][0-9a-fA-F]){3}")
_escaped_chinese = re.compile(rb"\\u[4-9]")
#: The first bytes of Chinese characters in UTF-8.
_lead_bytes = bytes(_leads)
_about_encodings = re.compile(
    r"\bgbk\b|gb ?18030|gb ?2312|utf-?8|unicode|encod|charset|mojibake|zeichensatz|"
    r"kodier|codier|乱码|亂碼|编码|編碼|字符集",
    re.IGNORECASE,
)


def may_be_misread(data: bytes) -> bool:
    """Return whether there may be misread characters in bytes of JSON or of a table."""
    return (not data.isascii() and _are_suspect(data)) or (
        stringzilla.find(data, b"\\u") >= 0 and _are_escapes_suspect(data)
    )


def _are_suspect(data: bytes) -> bool:
    if any(pattern.search(data) for pattern in _sign_bytes):
        return True
    if stringzilla.find_first_of(data, _lead_bytes) < 0:
        return False
    if any(stringzilla.find(data, each) >= 0 for each in _certain):
        return True
    return _suspect.search(data.decode("utf-8", "replace")) is not None


def _are_escapes_suspect(data: bytes) -> bool:
    if _escaped_signs.search(data) or _certain_escaped.search(data):
        return True
    if not _escaped_chinese.search(data):
        return False
    return _suspect.search(data.decode("raw_unicode_escape", "replace")) is not None


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
        said = f"{short_json(wrong)} is {short_json(meant)}"
        if not meant:
            message = f"{short_json(wrong)} stands for bytes that were not decoded"
            how = "decode the source again in its own encoding"
        elif ord(wrong[0]) > 0xFF:  # noqa: PLR2004 - beyond Latin-1
            message = f"{said} in UTF-8 that was read as GBK"
            how = "encode the text as GBK and decode it as UTF-8"
        else:
            message = f"{said} in GBK that was read as Latin-1"
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
