"""Recognize `.eval` files: logs as zip archives, with the text of a log in JSON."""

from harpia_formats.files.io.unpacking import Unpacker

_MEMBER, _EMPTY = b"PK\x03\x04", b"PK\x05\x06"
#: Names that the first member of a log may have; of a sample the beginning.
_FIRST = (b"_journal/", b"header.json", b"summaries.json", b"reductions.json")
_SAMPLE, _EPOCH = b"samples/", b"_epoch_"


def is_archived_log(head: bytes, name: str) -> bool:
    """Return whether a file that begins with `head` is a log as a zip archive."""
    if not head.startswith((_MEMBER, _EMPTY)):
        return False
    first = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    if first.startswith(_FIRST) or name.lower().endswith(".eval"):
        return True
    return first.startswith(_SAMPLE) and _EPOCH in first


UNPACKER = Unpacker(
    "inspect-eval",
    is_archived_log,
    open="harpia_converters.inspect_ai.archive_text:text_of_log",
    suffixes=(".eval",),
)
