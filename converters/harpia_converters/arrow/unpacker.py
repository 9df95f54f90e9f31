"""Which files are tables of Parquet, Arrow or Feather, and what makes rows of them."""

from harpia_converters.arrow.any_columns import TABLE
from harpia_formats.files.io.unpacking import Unpacker

#: What a Parquet file begins with, one that is encrypted, a file of Arrow (Feather is
#: the same), and the first message of a stream of Arrow.
_magics = (b"PAR1", b"PARE", b"ARROW1\x00\x00", b"\xff\xff\xff\xff")
#: Files beside the data in a folder that `save_to_disk` has written.
_SAVED = frozenset({"state.json", "dataset_info.json"})


def _recognizes(head: bytes, name: str) -> bool:  # noqa: ARG001 - the shape of an unpacker
    return head.startswith(_magics)


def _is_folder(names: frozenset[str]) -> bool:
    return names >= _SAVED


UNPACKER = Unpacker(
    TABLE,
    recognizes=_recognizes,
    is_folder=_is_folder,
    open="harpia_converters.arrow.read_table:text_parts",
    suffixes=(".parquet", ".arrow", ".feather"),
)
