"""What may happen to the bytes of a file, each a function of random numbers."""

from collections.abc import Callable
from random import Random
from struct import pack

#: Returns the bytes of a damaged file.
Change = Callable[[Random, bytes], bytes]
#: Numbers that programs take for sizes and places, as the bytes that are written.
_numbers = tuple(
    pack(f"<{kind}", number)
    for kind, numbers in (
        ("b", (-1, 0, 127)),
        ("i", (-1, 0, 1, 2**31 - 1, -(2**31), 0x7FFFFFF0, 2**24)),
        ("q", (-1, 0, 1, 2**63 - 1, -(2**63), 2**40, 2**33)),
    )
    for number in numbers
)
#: Bytes at the end of a file in which many kinds describe all others.
_END = 2_000


def flipped(random: Random, data: bytes) -> bytes:
    """Flip one to six bits anywhere."""
    return _flipped(random, data, 0)


def flipped_end(random: Random, data: bytes) -> bytes:
    """Flip one to six bits near the end."""
    return _flipped(random, data, max(0, len(data) - _END))


def _flipped(random: Random, data: bytes, first: int) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randint(1, 6)):
        changed[random.randrange(first, len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def other_number(random: Random, data: bytes) -> bytes:
    """Write a number that is too large, negative or zero over some bytes."""
    number = random.choice(_numbers)
    at = random.randrange(len(data) // len(number)) * len(number)
    return data[:at] + number + data[at + len(number) :]


def near_number(random: Random, data: bytes) -> bytes:
    """Add a little to four bytes that are a small number, such as an offset."""
    for _ in range(100):
        at = random.randrange(len(data) // 4) * 4
        number = int.from_bytes(data[at : at + 4], "little")
        if number < len(data):
            break
    changed = number + random.choice((-9, -1, 1, 8, 40, len(data)))
    return (
        data[:at] + changed.to_bytes(4, "little", signed=changed < 0) + data[at + 4 :]
    )


def overwritten(random: Random, data: bytes) -> bytes:
    """Write zeros, ones or random bytes over a piece."""
    at, size = _piece(random, data)
    filling = random.choice((b"\0" * size, b"\xff" * size, random.randbytes(size)))
    return data[:at] + filling + data[at + size :]


def cut(random: Random, data: bytes) -> bytes:
    """Cut the end off."""
    return data[: random.randrange(1, len(data))]


def without_piece(random: Random, data: bytes) -> bytes:
    """Take a piece out."""
    at, size = _piece(random, data)
    return data[:at] + data[at + size :]


def doubled_piece(random: Random, data: bytes) -> bytes:
    """Write a piece twice."""
    at, size = _piece(random, data)
    return data[: at + size] + data[at:]


def moved_piece(random: Random, data: bytes) -> bytes:
    """Write a piece of the file over another place in it."""
    at, size = _piece(random, data)
    to = random.randrange(len(data))
    return (data[:to] + data[at : at + size] + data[to + size :])[: len(data)]


def _piece(random: Random, data: bytes) -> tuple[int, int]:
    """Return where a piece begins, and how long it is."""
    at = random.randrange(len(data))
    return at, min(len(data) - at, random.choice((1, 8, 24, 64, 500)))


#: The damages of any kind of file, by what the table calls them.
ANY: dict[str, Change] = {
    "bits": flipped,
    "bits near the end": flipped_end,
    "other number": other_number,
    "near number": near_number,
    "overwritten": overwritten,
    "cut": cut,
    "piece taken out": without_piece,
    "piece twice": doubled_piece,
    "piece elsewhere": moved_piece,
}
