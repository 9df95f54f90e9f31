"""Choose rows at random: the same ones for a seed, on every machine."""

import hashlib

#: Bytes of a random number; a remainder of it is biased by less than 2^-64.
_WIDTH = 16


def seed_key(seed: int | str) -> bytes:
    """Return the key of hashes that a seed stands for."""
    # An argument of bytes that are no UTF-8 has surrogates in their place.
    text = str(seed).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=32).digest()


def keyed_hash(key: bytes, data: bytes) -> int:
    """Return a number from 0 to 2^64 - 1 that is random for who has not got the key."""
    digest = hashlib.blake2b(data, digest_size=8, key=key).digest()
    return int.from_bytes(digest, "big")


def sampled_numbers(rows: int, size: int, seed: int | str) -> frozenset[int]:
    """Return `size` different numbers from 1 to `rows`, each set equally likely.

    They are all numbers if there are not so many.
    """
    if size >= rows:
        return frozenset(range(1, rows + 1))
    key, chosen = seed_key(seed), set[int]()
    # Floyd's algorithm: it needs one random number for each that is chosen.
    for last in range(rows - size + 1, rows + 1):
        drawn = 1 + _random(key, last) % last
        chosen.add(last if drawn in chosen else drawn)
    return frozenset(chosen)


def _random(key: bytes, number: int) -> int:
    data = number.to_bytes(8, "big")
    digest = hashlib.blake2b(data, digest_size=_WIDTH, key=key).digest()
    return int.from_bytes(digest, "big")
