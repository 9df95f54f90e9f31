"""Compress output as the suffix of its name says."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from harpia_formats.files.io.compression import CODECS


def compressing_stream(name: str, raw: IO[bytes]) -> Any:
    """Return a stream that compresses into `raw` as `name` says, or `raw` itself.

    Raises `ImportError` if the package for the compression is not installed.
    """
    suffix = name.lower()
    codec = next((codec for codec in CODECS if suffix.endswith(codec.suffix)), None)
    return raw if codec is None else _OPENERS[codec.name](raw)


def _gzip(raw: IO[bytes]) -> Any:
    import gzip  # noqa: PLC0415 - only output with this suffix needs it

    # Neither name nor time, so that equal input gives equal bytes.
    return gzip.GzipFile("", "wb", 6, raw, mtime=0)


def _bzip2(raw: IO[bytes]) -> Any:
    import bz2  # noqa: PLC0415 - only output with this suffix needs it

    return bz2.BZ2File(raw, "wb")


def _xz(raw: IO[bytes]) -> Any:
    import lzma  # noqa: PLC0415 - only output with this suffix needs it

    return lzma.LZMAFile(raw, "wb")


def _zstd(raw: IO[bytes]) -> Any:
    missing = 'needs the extra "zstd": pip install "harpia-formats[zstd]"'
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415 - only output with this suffix needs it
        else:
            from backports import zstd  # noqa: PLC0415 - the extra may be missing
    except ImportError as error:
        raise ImportError(missing) from error
    return zstd.ZstdFile(raw, "wb")


_OPENERS: dict[str, Callable[[IO[bytes]], Any]] = {
    "gzip": _gzip,
    "bzip2": _bzip2,
    "xz": _xz,
    "zstd": _zstd,
}


def suffix_of(name: str) -> str:
    """Return the last suffix of `name` in lower case, without that of a compression."""
    uncompressed = name.lower()
    for codec in CODECS:
        uncompressed = uncompressed.removesuffix(codec.suffix)
    return Path(uncompressed).suffix
