"""The lengths of texts in characters, words, and bytes of UTF-8, and their scripts."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from string import ascii_letters
from typing import NamedTuple

#: Each script with the first and the last code points of its blocks: letters, marks,
#: digits and punctuation. From Blocks.txt of Unicode 16, where blocks of one script
#: that are adjacent, or separated by few code points without one, are joined.
_blocks = """
Latin 0041-005A 0061-007A 00C0-02AF 1E00-1EFF 2C60-2C7F A720-A7FF AB30-AB6F
Latin FF21-FF3A FF41-FF5A
Greek 0370-03FF 1F00-1FFF
Cyrillic 0400-052F 1C80-1C8F 2DE0-2DFF A640-A69F
Armenian 0530-058F
Hebrew 0590-05FF
Arabic 0600-06FF 0750-077F 0870-08FF FB50-FDFF FE70-FEFE
Syriac 0700-074F 0860-086F
Thaana 0780-07BF
Devanagari 0900-097F A8E0-A8FF
Bengali 0980-09FF
Gurmukhi 0A00-0A7F
Gujarati 0A80-0AFF
Oriya 0B00-0B7F
Tamil 0B80-0BFF
Telugu 0C00-0C7F
Kannada 0C80-0CFF
Malayalam 0D00-0D7F
Sinhala 0D80-0DFF
Thai 0E00-0E7F
Lao 0E80-0EFF
Tibetan 0F00-0FFF
Burmese 1000-109F A9E0-A9FF AA60-AA7F
Georgian 10A0-10FF 1C90-1CBF 2D00-2D2F
Hangul 1100-11FF 3130-318F A960-A97F AC00-D7FF FFA0-FFDC
Ethiopic 1200-139F 2D80-2DDF AB00-AB2F
Cherokee 13A0-13FF AB70-ABBF
Khmer 1780-17FF 19E0-19FF
Mongolian 1800-18AF
Tifinagh 2D30-2D7F
Han 2E80-2FDF 3005-3007 3400-9FFF F900-FAFF 20000-323AF
Japanese 3040-30FA 30FC-30FF 31F0-31FF FF66-FF9F 1AFF0-1B16F
Bopomofo 3100-312F 31A0-31BF
Yi A000-A4CF
"""
_ranges: list[tuple[int, int, str]] = sorted(
    (int(block.split("-")[0], 16), int(block.split("-")[1], 16), script)
    for script, *blocks in map(str.split, _blocks.strip().splitlines())
    for block in blocks
)
_starts = [first for first, _, _ in _ranges]
#: Scripts that are written without spaces between words.
_without_spaces = {"Han", "Japanese", "Bopomofo", "Thai", "Lao", "Burmese", "Khmer"}


@lru_cache(maxsize=20_000)
def _script_of(character: str) -> str:
    """Return the script of a code point, "" for one of none.

    Of ASCII, only letters have one. Hiragana and Katakana are Japanese.
    """
    number = ord(character)
    index = bisect_right(_starts, number) - 1
    _, last, script = _ranges[index]
    return script if index >= 0 and number <= last else ""


#: The share of the code points with a script that must be in one; otherwise a text is
#: mixed.
SHARE = 0.75
#: Characters of texts that are read at once.
AT_ONCE = 1024 * 1024
#: The names of the script of texts in several scripts, and of texts without letters.
MIXED, NONE = "mixed", "none"
#: CJK Symbols and Punctuation but for what is of Han, the middle dot of Katakana, and
#: the punctuation among the fullwidth and halfwidth forms.
_part = re.compile(
    "[\u3001-\u3004\u3008-\u3020\u3030\u30fb"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)
_han_and_alike = (
    f"{chr(low)}-{chr(high)}" for low, high, of in _ranges if of in _without_spaces
)
_each = re.compile(f"[{''.join(_han_and_alike)}]")

#: How UTF-8 is read without its code points: each byte that begins one becomes the
#: code of its class, and the others are left out.
_following = bytes(range(0x80, 0xC0))
_LATIN, _HAN, _UNCLEAR = b"L", b"H", b"?"
_others_by_code = (
    *(("Han", _HAN), ("Arabic", b"A"), ("Cyrillic", b"C"), ("Greek", b"G")),
    ("Hangul", b"K"),
)
#: What stands between texts that are read at once: a byte that no text has, and a space
#: in front of the next text, where a word may begin.
_END = b"\xff"
_between_texts = _END + b" "
#: The bytes that begin the code points of a class. What is unclear of U+0080 and U+2000
#: on is found by other means.
_classes = {
    b"x": bytes(range(0x80)) + b"\xc2\xe2",
    b" ": b"\t\n\v\f\r\x1c\x1d\x1e\x1f ",
    _LATIN: ascii_letters.encode() + bytes(range(0xC3, 0xCA)),
    b"G": bytes(range(0xCE, 0xD0)),
    b"C": bytes(range(0xD0, 0xD4)),
    b"A": bytes(range(0xD8, 0xDC)),
    _HAN: bytes(range(0xE4, 0xEA)),
    b"K": bytes(range(0xEB, 0xED)),
}
_codes_of_bytes = {byte: code for code, firsts in _classes.items() for byte in firsts}
_codes = b"".join(_codes_of_bytes.get(byte, _UNCLEAR) for byte in range(255)) + _END
_words = bytes(0x20 if byte in b" H" else 0x78 for byte in range(255)) + _END
#: White space and letters among the code points that begin as General Punctuation does.
_unclear = re.compile(
    rb"\xc2[\x85\xa0]|\xe2(?:\x80[\x80-\x8a\xa8\xa9\xaf]|\x81\x9f|[\xb1-\xbf])"
).search
#: The punctuation that parts words, and ideographic space, in UTF-8.
_punctuation = re.compile(
    rb"\xe3\x80[\x80-\x84\x88-\xa0\xb0]|\xe3\x83\xbb"
    rb"|\xef\xbc[\x81-\x8f\x9a-\xa0\xbb-\xbf]|\xef\xbd[\x80\x9b-\xa5]"
)
#: The words, bytes and scripts of some texts.
_Found = tuple[Sequence[int], Sequence[int], Sequence[str]]


class Measured(NamedTuple):
    """The lengths of some texts, in their order, and the script of each."""

    characters: list[int]
    words: list[int]
    bytes: list[int]
    scripts: list[str]


def measure(texts: Sequence[str]) -> Measured:
    """Return the lengths and the scripts of some texts, many of them at once."""
    found = Measured([*map(len, texts)], [], [], [])
    for part in _parts(texts, found.characters):
        is_long = len(part[0]) > AT_ONCE
        words, sizes, scripts = _in_pieces(part[0]) if is_long else _together(part)
        found.words.extend(words)
        found.bytes.extend(sizes)
        found.scripts.extend(scripts)
    return found


def _parts(texts: Sequence[str], lengths: list[int]) -> Iterator[Sequence[str]]:
    """Yield texts that are read at once, and a longer one alone."""
    begin = size = 0
    for at, length in enumerate(lengths):
        if begin < at and size + length > AT_ONCE:
            yield texts[begin:at]
            begin, size = at, 0
        size += length
    if texts:
        yield texts[begin:]


def _in_pieces(text: str) -> _Found:
    """Measure a long text, of which a piece at a time is copied."""
    words = size = 0
    before = ""
    for start in range(0, len(text), AT_ONCE):
        piece = text[start : start + AT_ONCE]
        (more,), (length,), _ = _together([piece])
        size += length
        # A word may go on behind the end of a piece.
        words += more + word_count(before + piece[0]) - word_count(before)
        words -= word_count(piece[0])
        before = piece[-1]
    return [words], [size], [script_of_text(text)]


def _together(texts: Sequence[str]) -> _Found:
    """Measure texts whose classes of code points are found in one pass."""
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    sizes = [*map(len, data)]
    codes = _codes_of(_between_texts.join(data))
    if codes is not None:
        return _words_in(codes), sizes, _scripts_in(codes)
    each = [*map(_codes_of, data)]
    codes = _between_texts.join(filter(None, each))
    clear = zip(_words_in(codes), _scripts_in(codes), strict=True)
    found = [
        next(clear) if of_text else (word_count(text), script_of_text(text))
        for text, of_text in zip(texts, each, strict=True)
    ]
    words, scripts = zip(*found, strict=True)
    return words, sizes, scripts


def _codes_of(data: bytes) -> bytes | None:
    """Return the classes of code points, None if first bytes do not tell all."""
    if data.isascii():
        return data.translate(_codes)
    # Most texts have none of these bytes, which is found at once.
    if (b"\xc2" in data or b"\xe2" in data) and _unclear(data) is not None:
        return None
    if b"\xe3" in data or b"\xef" in data:
        data = _punctuation.sub(b" ", data)
    codes = data.translate(_codes, _following)
    return None if _UNCLEAR in codes else codes


def _words_in(codes: bytes) -> list[int]:
    """Return the words of each text: each Han, and runs of all but white space."""
    runs = (b" " + codes.translate(_words)).split(_END)
    words = [part.count(b" x") for part in runs]
    if _HAN not in codes:
        return words
    return [
        n + part.count(_HAN) for n, part in zip(words, codes.split(_END), strict=True)
    ]


def _scripts_in(codes: bytes) -> list[str]:
    """Return the script of each text."""
    others = codes.translate(None, b" xL").split(_END)
    return [
        _script(part, other) if other else ("Latin" if b"L" in part else NONE)
        for part, other in zip(codes.split(_END), others, strict=True)
    ]


def _script(codes: bytes, others: bytes) -> str:
    """Return the script of a text by its codes, of which `others` are not Latin."""
    latin = codes.count(_LATIN)
    least = SHARE * (latin + len(others))
    if latin >= least:
        return "Latin"
    for script, code in _others_by_code:
        if others.count(code) >= least:
            return script
    return MIXED


def word_count(text: str) -> int:
    """Return the number of words of a text."""
    text, words = _each.subn(" ", text)
    return words + len(_part.sub(" ", text).split())


def script_of_text(text: str) -> str:
    """Return the script of at least three quarters of what has one in a text.

    "mixed" if there is none, "none" if nothing has one. Han counts as Japanese in a
    text with Hiragana or Katakana.
    """
    found: Counter[str] = Counter()
    for character, count in Counter(text).items():
        script = _script_of(character)
        if script:
            found[script] += count
    if "Japanese" in found:
        found["Japanese"] += found.pop("Han", 0)
    if not found:
        return NONE
    script = max(found, key=found.__getitem__)
    return script if found[script] >= SHARE * found.total() else MIXED
