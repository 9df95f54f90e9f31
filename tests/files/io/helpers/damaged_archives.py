"""Damage zip archives: flipped, cut, repeated and moved bytes, and wrong records."""

from collections.abc import Callable
from random import Random
from struct import pack_into, unpack_from

#: Returns a damaged archive.
Damage = Callable[[bytes, Random], bytes]
_HEADER, _ENTRY, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
#: Where the end record has its numbers of members, and its bytes and its beginning.
_COUNTS, _LENGTH, _BEGIN = 8, 12, 16
#: Bits that are flipped at most.
_BITS = 6


def flip_bits(data: bytes, random: Random) -> bytes:
    """Flip one to six bits."""
    found = bytearray(data)
    for _ in range(random.randint(1, _BITS)):
        found[random.randrange(len(found))] ^= 1 << random.randrange(8)
    return bytes(found)


def cut_end(data: bytes, random: Random) -> bytes:
    """Leave out the end from any byte on."""
    return data[: random.randrange(len(data))]


def leave_out_bytes(data: bytes, random: Random) -> bytes:
    """Leave out some bytes in the middle."""
    at = random.randrange(len(data))
    return data[:at] + data[at + random.randint(1, 100) :]


def repeat_bytes(data: bytes, random: Random) -> bytes:
    """Write some bytes twice."""
    at = random.randrange(len(data))
    return data[: at + random.randint(1, 100)] + data[at:]


def zero_bytes(data: bytes, random: Random) -> bytes:
    """Put zeros in the place of some bytes, as a disk that lost a block does."""
    at, size = random.randrange(len(data)), random.randint(1, 200)
    zeros = bytes(len(data[at : at + size]))
    return data[:at] + zeros + data[at + size :]


def change_count(data: bytes, random: Random) -> bytes:
    """Let the end record count more members than there are, or fewer."""
    found, end = bytearray(data), data.rindex(_END)
    (count,) = unpack_from("<H", data, end + _COUNTS)
    wrong = random.choice([one for one in range(count + 3) if one != count])
    pack_into("<2H", found, end + _COUNTS, wrong, wrong)
    return bytes(found)


def begin_at_another_entry(data: bytes, random: Random) -> bytes:
    """Let the end record hide the first members in all of its numbers."""
    found, end = bytearray(data), data.rindex(_END)
    entries = _places(data, _ENTRY)
    hidden = random.randint(1, len(entries) - 1)
    kept = len(entries) - hidden
    pack_into("<2H", found, end + _COUNTS, kept, kept)
    begin = entries[hidden]
    pack_into("<2L", found, end + _LENGTH, end - begin, begin)
    return bytes(found)


def change_header(data: bytes, random: Random) -> bytes:
    """Change a byte of the header before a member: marks, method, sizes or name."""
    return _with_other_byte(data, random, _HEADER, range(6, 31), (10, 11, 12, 13))


def change_entry(data: bytes, random: Random) -> bytes:
    """Change a byte of an entry of the directory: method, sizes, place or name."""
    unread = (*range(12, 16), *range(34, 42))
    return _with_other_byte(data, random, _ENTRY, range(8, 47), unread)


def _with_other_byte(
    data: bytes, random: Random, sign: bytes, fields: range, unread: tuple[int, ...]
) -> bytes:
    """Change one of the bytes `fields` of a record, but none that no reader needs."""
    found = bytearray(data)
    at = random.choice(_places(data, sign))
    at += random.choice([one for one in fields if one not in unread])
    found[at] ^= random.randint(1, 255)
    return bytes(found)


def _places(data: bytes, sign: bytes) -> list[int]:
    """Return where `sign` is in an archive."""
    return [at for at in range(len(data)) if data.startswith(sign, at)]


#: What may happen to an archive, by a name for it.
DAMAGES: dict[str, Damage] = {
    "flipped bits": flip_bits,
    "cut": cut_end,
    "bytes left out": leave_out_bytes,
    "bytes twice": repeat_bytes,
    "zeros": zero_bytes,
    "wrong member count": change_count,
    "hidden entries": begin_at_another_entry,
    "header of a member": change_header,
    "entry of the directory": change_entry,
}
