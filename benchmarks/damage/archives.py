"""A small log that is a zip archive, and what may happen to the records of one."""

import io
import json
import zipfile
from random import Random
from struct import pack_into, unpack_from
from typing import Any

from unpack import HEADER, sample

from damage.damages import Change

#: Samples of a log.
SAMPLES = 5
_HEADER, _ENTRY, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
#: Where the end record has its numbers of members, and its bytes and its beginning.
_COUNTS, _LENGTH, _BEGIN = 8, 12, 16


def eval_archive(random: Random) -> bytes:
    """Return a log of Inspect as its archive."""
    file = io.BytesIO()
    counts = {"total_samples": SAMPLES, "completed_samples": SAMPLES}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, value: Any) -> None:
            archive.writestr(name, json.dumps(value))

        add("_journal/start.json", {key: HEADER[key] for key in ("eval", "plan")})
        for number in range(SAMPLES):
            add(f"samples/{number}_epoch_1.json", sample(number, random))
        add("header.json", {**HEADER, "results": HEADER["results"] | counts})
    return file.getvalue()


def other_count(random: Random, data: bytes) -> bytes:
    """Let the end record count more members than there are, or fewer."""
    found, end = bytearray(data), data.rindex(_END)
    (count,) = unpack_from("<H", data, end + _COUNTS)
    wrong = random.choice([one for one in range(count + 3) if one != count])
    pack_into("<2H", found, end + _COUNTS, wrong, wrong)
    return bytes(found)


def hidden_members(random: Random, data: bytes) -> bytes:
    """Let the end record hide the first members in all of its numbers."""
    found, end = bytearray(data), data.rindex(_END)
    entries = _places(data, _ENTRY)
    hidden = random.randint(1, len(entries) - 1)
    kept = len(entries) - hidden
    pack_into("<2H", found, end + _COUNTS, kept, kept)
    begin = entries[hidden]
    pack_into("<2L", found, end + _LENGTH, end - begin, begin)
    return bytes(found)


def other_header(random: Random, data: bytes) -> bytes:
    """Change a byte of the header before a member: marks, method, sizes or name."""
    return _with_other_byte(random, data, _HEADER, range(6, 31), (10, 11, 12, 13))


def other_entry(random: Random, data: bytes) -> bytes:
    """Change a byte of an entry of the directory: method, sizes, place or name."""
    unread = (*range(12, 16), *range(34, 42))
    return _with_other_byte(random, data, _ENTRY, range(8, 47), unread)


def _with_other_byte(
    random: Random, data: bytes, sign: bytes, fields: range, unread: tuple[int, ...]
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


#: The damages of zip archives only, by what the table calls them.
OF_ARCHIVES: dict[str, Change] = {
    "other count of members": other_count,
    "hidden members": hidden_members,
    "header of a member": other_header,
    "entry of the directory": other_entry,
}
