"""Numbers that stand for texts."""

from functools import cache
from typing import Any

#: Bits of an integer that a float holds exactly, and of a digest.
_EXACT, _DIGEST = 53, 64


def text_number(text: str) -> float:
    """Return a whole number of 53 bits, which differs for different texts."""
    key = text.encode("utf-8", "surrogatepass")
    digest = _hash()(key, digest_size=_DIGEST // 8).digest()
    return float(int.from_bytes(digest, "little") >> (_DIGEST - _EXACT))


@cache
def _hash() -> Any:
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, too slow for --help

    return blake2b
