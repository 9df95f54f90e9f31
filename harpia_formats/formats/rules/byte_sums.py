"""Sums over the bytes of texts, by which texts are compared roughly (X102).

Texts that are the same but for case, white space and punctuation have the same sums.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from string import ascii_letters

import stringzilla  # type: ignore[import-not-found]  # ships no types

#: Letters that case folding can make of letters beyond ASCII.
_folded = frozenset(b"hijstwyHIJSTWY")
#: First bytes of characters that have no case and are all letters: Chinese and Korean.
_caseless = frozenset([*range(0xE4, 0xEA), 0xEB, 0xEC])
#: Bytes that count in the first comparison: these, and ASCII letters and digits.
_kept = frozenset({*b"0123456789", *ascii_letters.encode()} - _folded | _caseless)
#: Characters that begin as these do, and are symbols.
_symbols = b"\xe4\xb7"
#: Further characters, which do not count.
_others = re.compile(rb"(?:[\xc2-\xe3\xea\xed-\xf4]|\xe4\xb7)[\x80-\xbf]+")
#: Punctuation in Chinese texts, which does not count either.
_wide_marks = (
    "\uff0c\u3002\uff1b\uff1f\uff1a\u3001\uff01"
    "\uff08\uff09\u201c\u201d\u300a\u300b\u3000"
)


def _table(weight: Callable[[int], int]) -> bytes:
    """Return a table of the weights of bytes: equal for both cases, 0 if not kept."""
    pairs = ((byte, ord(chr(byte).lower())) for byte in range(128))
    lower = {**{byte: byte for byte in range(256)}, **dict(pairs)}
    return bytes(weight(lower[byte]) if byte in _kept else 0 for byte in range(256))


ONES = _table(lambda _: 1)
#: Two for the first byte of a character of three bytes that counts.
_twos_of_caseless = bytes(2 * (byte in _caseless) for byte in range(256))
_ones_of_later_bytes = bytes(int(byte & 0xC0 == 0x80) for byte in range(256))  # noqa: PLR2004 - bits of UTF-8


def _weight(byte: int, way: int) -> int:
    """Return a number from 1 to 251 that looks random."""
    return (byte * byte * 181 + byte * way) // 7 % 251 + 1


#: Weights by which the bytes of a text are summed up, in several ways.
WEIGHTS = tuple(
    bytes(
        _weight(byte, way) if byte & 0xC0 == 0x80 else weight  # noqa: PLR2004 - bits of UTF-8
        for byte, weight in enumerate(_table(partial(_weight, way=way)))
    )
    for way in (37, 101, 197)
)
#: Bytes that are too few to tell texts apart.
FEW = 24


def sums_of(data: bytes, slices: Sequence[slice], weights: bytes) -> list[int]:
    """Return the sum of the weights of the bytes in each slice of `data`."""
    view = memoryview(stringzilla.translate(data, weights))
    return [*map(stringzilla.bytesum, map(view.__getitem__, slices))]


def sum_of(data: bytes, weights: bytes) -> int:
    """Return the sum of the weights of the bytes in `data`."""
    found: int = stringzilla.bytesum(stringzilla.translate(data, weights))
    return found


def counted_bytes(text: str) -> bytes:
    """Return a text in NFKC with no character beyond ASCII but those that count."""
    if not text.isascii():
        for mark in _wide_marks:
            text = text.replace(mark, " ")
    data = normal_bytes(text)
    if data.isascii() or (
        sum_of(data, _twos_of_caseless) == sum_of(data, _ones_of_later_bytes)
        and stringzilla.find(data, _symbols) < 0
    ):
        return data
    return _others.sub(b"", data)


def normal_bytes(text: str) -> bytes:
    """Return the NFKC of a text in UTF-8."""
    data = text.encode("utf-8", "replace")
    if stringzilla.utf8_find_denormalized(data, "NFKC") is None:
        return data
    return bytes(stringzilla.utf8_norm(data, "NFKC"))
