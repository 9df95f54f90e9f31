"""Make names of files from names in data."""

import re
import unicodedata

#: Bytes of a name that is made: it may stand beside other text in the name of a file.
LONGEST = 150
_unsafe = re.compile(r"[^\w.-]+")
#: A leading dot hides a file or leads to another folder; a leading hyphen is an option;
#: Windows drops a trailing dot.
_ends = re.compile(r"^[.-]+|\.+$")
#: Names of devices on Windows, also with a suffix.
_reserved = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def path_component(name: str, if_empty: str) -> str:
    """Return one component of a path made from `name`, which may come from data.

    It leads to no other folder, is no name that a system reserves, and has at most
    `LONGEST` bytes. Letters, digits, dots, hyphens and underscores are kept. Different
    names may give the same component; it is `if_empty` for the empty name.
    """
    normal = unicodedata.normalize("NFC", name)
    safe = _ends.sub("_", _unsafe.sub("_", normal)) or if_empty
    if _reserved.fullmatch(safe):
        safe = f"{safe}_"
    return safe.encode()[:LONGEST].decode("utf-8", "ignore")
