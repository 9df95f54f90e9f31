"""The script of a code point, by the block that it is in."""

from bisect import bisect_right
from functools import lru_cache

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
