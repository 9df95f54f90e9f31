"""Fuzz targets of files that hold others: compression, encodings, zip, tables."""

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from fuzz_target import (
    Target,
    check_refusal,
    every,
    fixture_files,
    split_choice,
    with_choice,
)
from harpia_converters.hub.read_table import text_parts
from harpia_formats.files.io.encodings import (
    checked_encoding,
    other_encoding,
    wide_encoding,
)
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source, open_source
from harpia_formats.files.io.zip_archive import (
    check_expansion,
    member_pieces,
    read_directory,
)
from harpia_formats.model.exact_json import NOT_JSON

_SMALL_BLOCK, _BLOCK = 7, 64 * 1024
_ROW = b'{"id": "1", "prompt": "\xc3\xa9"}\n'
#: Bytes of what an input becomes, at most: more of the same tells nothing.
_MOST = 4 * 1024 * 1024


def _read(data: bytes, name: str, size: int, encoding: str | None = None) -> bytes:
    """Return all bytes that a source has; raises `SourceError`."""
    source = Source(name, data, encoding=encoding)
    with open_source(source, size) as reader:
        blocks, total = [], 0
        for block in reader:
            assert len(block) <= size
            blocks.append(block)
            total += len(block)
            if total > _MOST:
                break
        assert all(len(block) == size for block in blocks[:-1])
    return b"".join(blocks)


def _read_or_none(data: bytes, name: str, size: int) -> bytes | None:
    """Return what `_read` returns, None if that refuses the data with a reason."""
    try:
        return _read(data, name, size)
    except SourceError as error:
        check_refusal(error)
        return None


def _unpacked(new: Callable[[], Any], data: bytes) -> bytes:
    """Return what members become, one behind the other; zeros may follow each.

    `new` returns a decompressor of the standard library.
    """
    parts = []
    while data:
        member = new()
        parts.append(member.decompress(data))
        if not member.eof:
            raise EOFError("the data is cut")
        data = member.unused_data.lstrip(b"\0")
    return b"".join(parts)


#: The standard library's functions for each compression, and what they raise.
_PACKERS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "x.gz": (
        lambda text: gzip.compress(text, mtime=0),
        partial(_unpacked, lambda: zlib.decompressobj(wbits=31)),
    ),
    "x.bz2": (bz2.compress, partial(_unpacked, bz2.BZ2Decompressor)),
    "x.xz": (
        lzma.compress,
        partial(_unpacked, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)),
    ),
}
_REFUSALS = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
_NAMES = (*_PACKERS, "x.jsonl", "x.zst")


def check_compressed(data: bytes) -> None:
    """Check that data is decompressed as by the standard library, or refused."""
    name, data = split_choice(data, _NAMES)
    found = _read_or_none(data, name, _BLOCK)
    if name in _PACKERS and found is not None and data and len(found) < _MOST:
        try:
            expected = _PACKERS[name][1](data)
        except _REFUSALS as error:
            raise AssertionError(f"read as {found!r}, and refused: {error}") from error
        assert found == expected
    if found is not None and len(found) > 64 * 1024:
        return
    assert found == _read_or_none(data, name, _SMALL_BLOCK)


def mutate_compressed(data: bytes, seed: int) -> bytes:
    """Return the input with one byte of its text changed, compressed again."""
    name, rest = split_choice(data, _NAMES)
    if name not in _PACKERS:
        return data
    pack, unpack = _PACKERS[name]
    try:
        text = bytearray(unpack(rest))
    except _REFUSALS:
        return data
    if not text:
        return data
    at = seed // 2 % len(text)
    text[at] = seed // 7 % 256
    # Two members, one behind the other, are the text of both.
    half = len(text) // 2
    packed = pack(bytes(text))
    if seed % 3 == 0:
        packed = pack(bytes(text[:half])) + pack(bytes(text[half:]))
    return data[:1] + packed


def _compressed_seeds() -> list[bytes]:
    """Return small texts in each compression, also cut and with bytes behind them."""
    texts = [b"", _ROW, _ROW * 20, *every(5, fixture_files(".jsonl", most=800))]
    whole = [
        with_choice(name, _NAMES, pack(text))
        for name, (pack, _) in _PACKERS.items()
        for text in texts
    ]
    return [
        *whole,
        *(each[:-4] for each in whole),
        *(each + b"\0\0" for each in whole),
        *(each + each[1:] for each in whole),
        *(with_choice("x.jsonl", _NAMES, each[1:]) for each in whole),
    ]


_ENCODINGS = (
    *("utf-8", "utf-16", "utf-16-le", "utf-32", "gb18030", "big5", "shift_jis"),
    *("latin-1", "cp1252", "euc-kr", "utf-7", "iso2022_jp"),
)


def check_encodings(data: bytes) -> None:
    """Check that text is decoded as by Python; the guess of an encoding never fails."""
    name, data = split_choice(data, _ENCODINGS)
    for guess in (wide_encoding(data), other_encoding(data)):
        assert guess is None or isinstance(guess, str)
    encoding = checked_encoding(name)
    try:
        found = _read(data, "x.csv", _SMALL_BLOCK, encoding)
    except SourceError as error:
        check_refusal(error)
        # Compressed and wide text is recognised, and refused for another reason.
        if error.reason.startswith(f"is not {encoding}: "):
            _check_refused(data, encoding)
        return
    if data[:2] in {b"\x1f\x8b", b"BZ"} or found == data:
        return
    try:
        expected = data.decode(encoding)
    except UnicodeError:
        # What is no text in the encoding may be read as UTF-8 where it is that.
        return
    assert found.decode("utf-8", "surrogatepass") == expected


def _check_refused(data: bytes, encoding: str) -> None:
    """Assert that Python refuses text that is not in an encoding, too."""
    if encoding in {"utf-16", "utf-32"}:
        return  # Python reads it without the mark that says its order, and we do not
    try:
        text = data.decode(encoding)
    except UnicodeError:
        return
    raise AssertionError(f"{text!r} is in {encoding}, and is refused")


def _encoding_seeds() -> list[bytes]:
    """Return a small text in each encoding, and with the mark of other ones."""
    text = '{"id": "1", "prompt": "é 的 一 是 不 了 在 人 有 日本 한"}\n'
    texts = {name: text.encode(name, "ignore") for name in _ENCODINGS if name != "idna"}
    return [
        with_choice(name, _ENCODINGS, mark + texts.get(name, b"xn--bcher-kva.a"))
        for name in _ENCODINGS
        for mark in (b"", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
    ]


def check_zip(data: bytes) -> None:
    """Check that an archive is read as by the standard library, or refused."""
    file = io.BytesIO(data)
    contents: dict[str, bytes] = {}
    try:
        directory = read_directory(file, "x.zip")
        check_expansion(directory, "x.zip")
        for number in range(len(directory)):
            member = directory.member(number)
            assert not member.name.startswith("/")
            assert ".." not in member.name.split("/")
            contents[member.name] = b"".join(member_pieces(file, member, "x.zip"))
    except SourceError as error:
        check_refusal(error)
        return
    _check_as_zipfile(data, contents)


def _check_as_zipfile(data: bytes, contents: dict[str, bytes]) -> None:
    """Assert that the standard library reads the same members with the same bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {one.filename: archive.read(one) for one in archive.infolist()}
    except (NotImplementedError, UnicodeDecodeError):
        # A compression that it does not have; a name that we show with U+FFFD.
        return
    except (zipfile.BadZipFile, *_REFUSALS) as error:
        if not contents:  # it looks at what stands before the end of an empty one
            return
        raise AssertionError(f"read as {contents!r}, and refused: {error}") from error
    assert contents == members


def _zip_seeds() -> list[bytes]:
    """Return small archives: empty, with some members, comments, and wide sizes."""
    found = []
    for names in ((), ("a.json",), ("a/b.jsonl", "a/c", "d/"), ("é.json",)):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            for before in (b"", b"#!x\n"):
                file = io.BytesIO(before)
                file.seek(len(before))
                with zipfile.ZipFile(file, "a" if before else "w", method) as archive:
                    for name in names:
                        archive.writestr(name, "" if name.endswith("/") else _ROW)
                    archive.comment = before
                found.append(file.getvalue())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        with archive.open("far.json", "w", force_zip64=True) as member:
            member.write(_ROW)
        archive.writestr("next.json", _ROW)
    return [*found, file.getvalue(), *fixture_files(".zip", ".eval")]


def check_tables(data: bytes) -> None:
    """Check that a table becomes lines of JSON, or is refused."""
    try:
        for part in text_parts(io.BytesIO(data), "x.parquet"):
            for line in part.text.split(b"\n")[:-1]:
                msgspec.json.decode(line)
    except SourceError as error:
        check_refusal(error)
    except NOT_JSON as error:
        raise AssertionError(f"a row is no JSON: {error}") from error


def _table_seeds() -> list[bytes]:
    """Return small tables of Parquet and Arrow with columns of many types."""
    import pyarrow as pa  # noqa: PLC0415 - only the seeds of one target need it
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    columns = (
        {"id": [1, None], "text": ["a", "é"]},
        {"x": [[1, 2], []], "y": [{"a": 1.5}, None]},
        {"b": [b"\xff", None], "t": pa.array([0, 1], pa.timestamp("ms", "UTC"))},
        {"d": pa.array(["a", "b"]).dictionary_encode()},
    )
    found = list(every(8, fixture_files(".parquet", ".arrow", ".feather")))
    for values in columns:
        table = pa.table(values)
        for compression in ("NONE", "SNAPPY"):
            file = io.BytesIO()
            pq.write_table(table, file, compression=compression)
            found.append(file.getvalue())
        for new in (pa.ipc.new_file, pa.ipc.new_stream):
            file = io.BytesIO()
            with new(file, table.schema) as writer:
                writer.write_table(table)
            found.append(file.getvalue())
    return found


_CODE = ("harpia_formats.files.io",)
_TABLE_CODE = ("harpia_converters.hub", "harpia_formats.files.arrow")
CONTAINER_TARGETS = (
    Target("compressed", check_compressed, _CODE, _compressed_seeds, mutate_compressed),
    Target("encodings", check_encodings, _CODE, _encoding_seeds),
    Target("zip", check_zip, _CODE, _zip_seeds),
    Target("tables", check_tables, _TABLE_CODE, _table_seeds, is_isolated=True),
)
