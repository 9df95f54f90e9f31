"""The lengths of texts in characters, words, and bytes of UTF-8, and their scripts."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, Self

#: The first and the last code points of blocks by their script: letters, marks, digits
#: and punctuation. From Blocks.txt of Unicode 16, where blocks of one script that are
#: beside each other, or parted by few code points without one, are joined.
_ranges: tuple[tuple[int, int, str], ...] = (
    (0x00C0, 0x02AF, "Latin"),
    (0x0370, 0x03FF, "Greek"),
    (0x0400, 0x052F, "Cyrillic"),
    (0x0530, 0x058F, "Armenian"),
    (0x0590, 0x05FF, "Hebrew"),
    (0x0600, 0x06FF, "Arabic"),
    (0x0700, 0x074F, "Syriac"),
    (0x0750, 0x077F, "Arabic"),
    (0x0780, 0x07BF, "Thaana"),
    (0x0860, 0x086F, "Syriac"),
    (0x0870, 0x08FF, "Arabic"),
    (0x0900, 0x097F, "Devanagari"),
    (0x0980, 0x09FF, "Bengali"),
    (0x0A00, 0x0A7F, "Gurmukhi"),
    (0x0A80, 0x0AFF, "Gujarati"),
    (0x0B00, 0x0B7F, "Oriya"),
    (0x0B80, 0x0BFF, "Tamil"),
    (0x0C00, 0x0C7F, "Telugu"),
    (0x0C80, 0x0CFF, "Kannada"),
    (0x0D00, 0x0D7F, "Malayalam"),
    (0x0D80, 0x0DFF, "Sinhala"),
    (0x0E00, 0x0E7F, "Thai"),
    (0x0E80, 0x0EFF, "Lao"),
    (0x0F00, 0x0FFF, "Tibetan"),
    (0x1000, 0x109F, "Burmese"),
    (0x10A0, 0x10FF, "Georgian"),
    (0x1100, 0x11FF, "Hangul"),
    (0x1200, 0x139F, "Ethiopic"),
    (0x13A0, 0x13FF, "Cherokee"),
    (0x1780, 0x17FF, "Khmer"),
    (0x1800, 0x18AF, "Mongolian"),
    (0x19E0, 0x19FF, "Khmer"),
    (0x1C80, 0x1C8F, "Cyrillic"),
    (0x1C90, 0x1CBF, "Georgian"),
    (0x1E00, 0x1EFF, "Latin"),
    (0x1F00, 0x1FFF, "Greek"),
    (0x2C60, 0x2C7F, "Latin"),
    (0x2D00, 0x2D2F, "Georgian"),
    (0x2D30, 0x2D7F, "Tifinagh"),
    (0x2D80, 0x2DDF, "Ethiopic"),
    (0x2DE0, 0x2DFF, "Cyrillic"),
    (0x2E80, 0x2FDF, "Han"),
    (0x3005, 0x3007, "Han"),
    (0x3040, 0x30FA, "Japanese"),
    (0x30FC, 0x30FF, "Japanese"),
    (0x3100, 0x312F, "Bopomofo"),
    (0x3130, 0x318F, "Hangul"),
    (0x31A0, 0x31BF, "Bopomofo"),
    (0x31F0, 0x31FF, "Japanese"),
    (0x3400, 0x9FFF, "Han"),
    (0xA000, 0xA4CF, "Yi"),
    (0xA640, 0xA69F, "Cyrillic"),
    (0xA720, 0xA7FF, "Latin"),
    (0xA8E0, 0xA8FF, "Devanagari"),
    (0xA960, 0xA97F, "Hangul"),
    (0xA9E0, 0xA9FF, "Burmese"),
    (0xAA60, 0xAA7F, "Burmese"),
    (0xAB00, 0xAB2F, "Ethiopic"),
    (0xAB30, 0xAB6F, "Latin"),
    (0xAB70, 0xABBF, "Cherokee"),
    (0xAC00, 0xD7FF, "Hangul"),
    (0xF900, 0xFAFF, "Han"),
    (0xFB50, 0xFDFF, "Arabic"),
    (0xFE70, 0xFEFE, "Arabic"),
    (0xFF21, 0xFF3A, "Latin"),
    (0xFF41, 0xFF5A, "Latin"),
    (0xFF66, 0xFF9F, "Japanese"),
    (0xFFA0, 0xFFDC, "Hangul"),
    (0x1AFF0, 0x1B16F, "Japanese"),
    (0x20000, 0x323AF, "Han"),
)
_starts = [first for first, _, _ in _ranges]
#: Scripts that are written without spaces between words.
WITHOUT_SPACES = frozenset(
    {"Han", "Japanese", "Bopomofo", "Thai", "Lao", "Burmese", "Khmer"}
)


@lru_cache(maxsize=20_000)
def script_of(character: str) -> str:
    """Return the script of a code point, "" for one of none.

    Of ASCII, only letters have one. Hiragana and Katakana are Japanese.
    """
    if character < "\x80":
        return "Latin" if character.isalpha() else ""
    number = ord(character)
    index = bisect_right(_starts, number) - 1
    if index < 0 or number > _ranges[index][1]:
        return ""
    return _ranges[index][2]


def ranges_without_spaces() -> str:
    """Return the code points of scripts without spaces, for a set in a pattern."""
    return "".join(
        f"{chr(first)}-{chr(last)}"
        for first, last, script in _ranges
        if script in WITHOUT_SPACES
    )


#: The share of the code points with a script that must be in one; otherwise a text is
#: mixed.
SHARE = 0.75
#: Characters of texts that are read at once.
AT_ONCE = 1024 * 1024
#: What is told of texts in several scripts, and of texts without one.
MIXED, NONE = "mixed", "none"
#: CJK Symbols and Punctuation but for what is of Han, the middle dot of Katakana, and
#: the punctuation among the fullwidth and halfwidth forms.
_between = (
    "\u3001-\u3004\u3008-\u3020\u3030\u30fb"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_each = re.compile(f"[{ranges_without_spaces()}]")
_part = re.compile(f"[{_between}]")
_has_letter = re.compile("[A-Za-z]").search

#: How UTF-8 is read without its code points: each byte that begins one becomes the
#: code of its class, and the others are left out.
_following = bytes(range(0x80, 0xC0))
_SPACE, _OTHER, _LATIN, _HAN, _UNCLEAR = b" ", b"x", b"L", b"H", b"?"
_others_by_code = (
    *(("Han", _HAN), ("Arabic", b"A"), ("Cyrillic", b"C"), ("Greek", b"G")),
    ("Hangul", b"K"),
)


def _code_of(byte: int) -> bytes:
    """Return the code of the code points that begin with `byte`."""
    if byte < 0x80:  # noqa: PLR2004 - ASCII
        character = chr(byte)
        if character.isspace():
            return _SPACE
        return _LATIN if character.isalpha() else _OTHER
    known = {
        _LATIN: range(0xC3, 0xCA),
        b"G": range(0xCE, 0xD0),
        b"C": range(0xD0, 0xD4),
        b"A": range(0xD8, 0xDC),
        _HAN: range(0xE4, 0xEA),
        b"K": range(0xEB, 0xED),
    }
    for code, first_bytes in known.items():
        if byte in first_bytes:
            return code
    # What is unclear of U+0080 and U+2000 on is found by other means.
    return _OTHER if byte in {0xC2, 0xE2} else _UNCLEAR


#: What stands between texts that are read at once: a byte that no text has, and a space
#: in front of the next text, where a word may begin.
_END = b"\xff"
_between_texts = _END + b" "
_codes = b"".join(map(_code_of, range(255))) + _END
_words = bytes(0x20 if byte in b" H" else 0x78 for byte in range(255)) + _END
_words_of_ascii = _codes.translate(_words)
#: White space and letters among the code points that begin as General Punctuation does.
_unclear = re.compile(
    rb"\xc2[\x85\xa0]|\xe2(?:\x80[\x80-\x8a\xa8\xa9\xaf]|\x81\x9f|[\xb1-\xbf])"
).search
#: The punctuation that parts words, and ideographic space, in UTF-8.
_punctuation = re.compile(
    rb"\xe3\x80[\x80-\x84\x88-\xa0\xb0]|\xe3\x83\xbb"
    rb"|\xef\xbc[\x81-\x8f\x9a-\xa0\xbb-\xbf]|\xef\xbd[\x80\x9b-\xa5]"
)


class Measured(NamedTuple):
    """The lengths of some texts, in their order, and the script of each."""

    characters: list[int]
    words: list[int]
    bytes: list[int]
    scripts: list[str]

    def extend(self, more: Self) -> None:
        """Add further texts, whose numbers of characters are there already."""
        self.words.extend(more.words)
        self.bytes.extend(more.bytes)
        self.scripts.extend(more.scripts)


def measure(texts: Sequence[str]) -> Measured:
    """Return the lengths and the scripts of some texts, many of them at once."""
    lengths = [*map(len, texts)]
    if sum(lengths) <= AT_ONCE:
        return _measured_at_once(texts, lengths)
    found = Measured(lengths, [], [], [])
    group: list[str] = []
    size = 0
    for text, length in zip(texts, lengths, strict=True):
        if group and size + length > AT_ONCE:
            found.extend(_measured_at_once(group, [*map(len, group)]))
            group, size = [], 0
        if length > AT_ONCE:
            found.extend(_measured_in_pieces(text))
        else:
            group.append(text)
            size += length
    if group:
        found.extend(_measured_at_once(group, [*map(len, group)]))
    return found


def _measured_in_pieces(text: str) -> Measured:
    """Return the same for a long text, of which a piece at a time is copied."""
    words = size = 0
    before = ""
    for start in range(0, len(text), AT_ONCE):
        piece = text[start : start + AT_ONCE]
        data = piece.encode("utf-8", "surrogatepass")
        size += len(data)
        words += _measured_alone(piece, data)[0]
        # A word may go on behind the end of a piece.
        words += word_count(before + piece[0]) - word_count(before)
        words -= word_count(piece[0])
        before = piece[-1]
    return Measured([len(text)], [words], [size], [script_of_text(text)])


def _measured_at_once(texts: Sequence[str], lengths: list[int]) -> Measured:
    """Return the same for texts whose classes of code points are found in one pass."""
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    whole = _between_texts.join(data)
    if _is_unclear(whole):
        return _measured_apart(texts, lengths, data)
    sizes = [*map(len, data)]
    if b"\xe3" in whole or b"\xef" in whole:
        whole = _punctuation.sub(b" ", whole)
    codes = whole.translate(_codes, _following)
    if _UNCLEAR in codes:
        return _measured_apart(texts, lengths, data)
    scripts = _scripts_of(codes)
    # What is no white space and no Han is a part of a word.
    runs = codes.translate(_words)
    words = [part.count(b" x") for part in (b" " + runs).split(_END)]
    if _HAN in codes:
        words = [
            count + part.count(_HAN)
            for count, part in zip(words, codes.split(_END), strict=True)
        ]
    return Measured(lengths, words, sizes, scripts)


def _is_unclear(data: bytes) -> bool:
    """Return whether first bytes do not tell the classes of all code points."""
    # Most texts have none of these bytes, which is found at once.
    return (b"\xc2" in data or b"\xe2" in data) and _unclear(data) is not None


def _measured_apart(
    texts: Sequence[str], lengths: list[int], data: Sequence[bytes]
) -> Measured:
    """Return the same for texts of which some have to be read by their code points."""
    found = [
        _measured_alone(text, each) for text, each in zip(texts, data, strict=True)
    ]
    words, scripts = zip(*found, strict=True)
    return Measured(lengths, [*words], [*map(len, data)], [*scripts])


def _measured_alone(text: str, data: bytes) -> tuple[int, str]:
    """Return the words and the script of a text, which is `data` in UTF-8."""
    if text.isascii():
        script = NONE if _has_letter(text) is None else "Latin"
        return _runs(data.translate(_words_of_ascii)), script
    if _is_unclear(data):
        return word_count(text), script_of_text(text)
    if b"\xe3" in data or b"\xef" in data:
        data = _punctuation.sub(b" ", data)
    codes = data.translate(_codes, _following)
    if _UNCLEAR in codes:
        return word_count(text), script_of_text(text)
    (script,) = _scripts_of(codes)
    return _runs(codes.translate(_words)) + codes.count(_HAN), script


def _scripts_of(codes: bytes) -> list[str]:
    """Return the script of each text, by the codes of all."""
    others = codes.translate(None, b" xL").split(_END)
    parts = codes.split(_END)
    return [
        _script(part, other) if other else ("Latin" if b"L" in part else NONE)
        for part, other in zip(parts, others, strict=True)
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


def _runs(codes: bytes) -> int:
    """Return the number of runs of `x` between spaces."""
    return codes.count(b" x") + codes.startswith(b"x")


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
        script = script_of(character)
        if script:
            found[script] += count
    if "Japanese" in found:
        found["Japanese"] += found.pop("Han", 0)
    return _most(found)


def _most(found: Mapping[str, int]) -> str:
    """Return the script that most of a text is in, by the numbers of code points."""
    if not found:
        return NONE
    script = max(found, key=found.__getitem__)
    return script if found[script] >= SHARE * sum(found.values()) else MIXED
