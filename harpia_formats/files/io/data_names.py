"""What files with data are called, by which they are found in folders."""

from functools import cache

from harpia_formats.files.io.compression import CODECS
from harpia_formats.files.io.unpacking import Unpacker, suffixes_of

_SUFFIXES = tuple(
    data + compression
    for data in (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
    for compression in ("", *(codec.suffix for codec in CODECS))
)
#: Names of files in a folder that are opened to see whether they are of another kind.
OTHER_SUFFIXES = tuple(
    suffix + compression
    for suffix in (
        *(".parquet", ".arrow", ".feather", ".orc", ".avro", ".h5", ".hdf5"),
        *(".xlsx", ".xlsm", ".xls", ".ods", ".sqlite", ".sqlite3", ".db", ".pdf"),
        *(".pkl", ".pickle", ".pt", ".pth", ".npy", ".npz", ".safetensors", ".gguf"),
        *(".zip", ".eval", ".tar", ".tgz", ".7z", ".rar"),
        *(".html", ".htm", ".xml", ".yaml", ".yml", ".dat", ".bin"),
    )
    for compression in ("", *(codec.suffix for codec in CODECS))
)


def is_data_name(name: str, unpackers: tuple[Unpacker, ...] = ()) -> bool:
    """Return whether a file is called like one of JSON or CSV, or one to unpack."""
    return name.lower().endswith(data_suffixes(unpackers))


@cache
def data_suffixes(unpackers: tuple[Unpacker, ...]) -> tuple[str, ...]:
    """Return what the names of data files end in."""
    return (*_SUFFIXES, *suffixes_of(unpackers))


def no_data_files(unpackers: tuple[Unpacker, ...]) -> str:
    """Return that a folder has no data files, with what they are called."""
    suffixes = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
    names = [f"*{suffix}" for suffix in suffixes]
    text = f"{', '.join(names[:-1])} or {names[-1]}, also compressed"
    others = [f"*{suffix}" for suffix in suffixes_of(unpackers)]
    if others:
        text += f"; {', '.join(others)}"
    return f"no data files in this folder ({text})"
