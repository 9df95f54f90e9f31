"""The bytes of sources: laws of blocks, compression and encodings."""

import bz2
import gzip
import io
import itertools
import lzma
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.io.encodings import STEP
from harpia_formats.files.io.reader import BLOCK, SourceError
from harpia_formats.files.io.source import Source, open_source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    zstd = pytest.importorskip("backports.zstd", reason='needs the extra "zstd"')

Compress = Callable[[bytes], bytes]


def _zstd(data: bytes) -> bytes:
    checked: bytes = zstd.compress(
        data, options={zstd.CompressionParameter.checksum_flag: 1}
    )
    return checked


#: Suffix, name and compressor of every codec; the data of each has a checksum.
CODECS: list[tuple[str, str, Compress]] = [
    (".gz", "gzip", gzip.compress),
    (".bz2", "bzip2", bz2.compress),
    (".xz", "xz", lzma.compress),
    (".zst", "zstd", _zstd),
]
codecs = pytest.mark.parametrize(("suffix", "name", "compress"), CODECS)
ROWS = b"".join(b'{"id": %d, "text": "%x"}\n' % (n, n**9) for n in range(5000))


def read(source: Source, size: int = BLOCK) -> tuple[bytes, str | None]:
    """Return the data that was read, and the reason if reading failed."""
    pieces: list[bytes] = []
    try:
        with open_source(source, size) as reader:
            for each in reader:
                pieces.append(each)  # noqa: PERF402 - those before a failure count
    except SourceError as error:
        return b"".join(pieces), error.reason
    return b"".join(pieces), None


def read_bytes(data: bytes, name: str = "x.jsonl") -> tuple[bytes, str | None]:
    """Read `data` from memory."""
    return read(Source(name, data))


# ReadBlocks


@given(data=st.binary(max_size=300), size=st.integers(1, 50))
def test_blocks_have_the_size_asked_for(data: bytes, size: int) -> None:
    """All blocks but the last are full, and together they are the data."""
    data = b"[" + data.replace(b"\0", b"0")  # no other encoding, no magic
    with open_source(Source("x", data), size) as reader:
        blocks = list(reader)

    assert [data[at : at + size] for at in range(0, len(data), size)] == blocks


def test_block_below_one_byte_is_refused() -> None:
    """A size of zero would look like an empty file."""
    with pytest.raises(ValueError, match="0 bytes"):
        open_source(Source("x", b"{}"), 0)


def test_file_knows_its_size_and_the_bytes_read(tmp_path: Path) -> None:
    """Size and progress are in bytes on the disk, compressed if the file is."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(ROWS))
    with open_source(Source("x", path)) as reader:
        assert (path.stat().st_size, 0) == (reader.total, reader.consumed)
        assert b"".join(reader) == ROWS
        assert reader.total == reader.consumed


def test_bytes_know_their_size() -> None:
    """Data in memory has a total as well."""
    with open_source(Source("x", b"{}")) as reader:
        assert reader.total == 2


def test_stream_of_the_caller_stays_open() -> None:
    """A given stream is not closed, and its size is unknown."""
    stream = io.BytesIO(ROWS)
    with open_source(Source("x", stream)) as reader:
        assert reader.total is None
        assert b"".join(reader) == ROWS
    assert not stream.closed


def test_file_is_closed() -> None:
    """An opened file is closed, even if reading stops early."""
    with open_source(Source("x", Path(__file__)), 1) as reader:
        next(iter(reader))

    assert list(reader) == []


def test_short_reads_of_a_pipe_are_joined(tmp_path: Path) -> None:
    """A FIFO gives full blocks however its writer writes."""
    path = tmp_path / "fifo"
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb", buffering=0) as fifo:
            for at in range(0, len(ROWS), 999):
                fifo.write(ROWS[at : at + 999])

    writer = threading.Thread(target=write)
    writer.start()
    with open_source(Source("x", path), 4096) as reader:
        blocks = list(reader)
        assert reader.total is None
    writer.join()

    assert b"".join(blocks) == ROWS
    assert {4096} == {len(each) for each in blocks[:-1]}


def test_end_is_asked_for_once() -> None:
    """After its end a terminal is not read again."""

    class Terminal(io.BytesIO):
        ends = 0

        def read1(self, size: int | None = -1, /) -> bytes:
            piece = super().read1(size)
            self.ends += piece == b""
            return piece

    terminal = Terminal(b"{}\n")
    with open_source(Source("x", terminal)) as reader:
        assert list(reader) == [b"{}\n"]
    assert terminal.ends == 1


def test_read_error_is_reported_after_the_data() -> None:
    """A read error has a plain reason and follows all data that was read."""

    class Disk(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            if self.tell() == len(ROWS):
                raise OSError(5, "Input/output error")
            return super().read1(size)

    assert read(Source("x", Disk(ROWS))) == (ROWS, "input/output error")


def test_non_blocking_stream_is_refused() -> None:
    """A stream in non-blocking mode is refused, since a pause looks like its end."""
    end, other = os.pipe()
    os.set_blocking(end, False)
    with open(end, "rb") as stream, open(other, "wb"):  # noqa: PTH123 - descriptors
        _, reason = read(Source("<stdin>", stream))

    assert reason is not None
    assert "non-blocking" in reason


def test_file_gone_since_it_was_found(tmp_path: Path) -> None:
    """A file that cannot be opened is a `SourceError` with the name the user gave."""
    with pytest.raises(SourceError) as caught:
        open_source(Source("mine", tmp_path / "gone"))

    assert str(caught.value) == "mine: no such file or directory"


def test_error_is_one_line_and_crosses_processes() -> None:
    """A name with control characters is escaped; a pickled error is the same."""
    error: SourceError = pickle.loads(  # noqa: S301 - our own
        pickle.dumps(SourceError("a\n\x1b\udcff", "is odd"))
    )

    assert str(error) == r"a\n\x1b\udcff: is odd"
    assert error.path == "a\n\x1b\udcff"


# Compression


@codecs
def test_compression_is_known_by_content(
    suffix: str, name: str, compress: Compress
) -> None:
    """Compressed data is recognized whatever its name and origin are."""
    for each in ("<stdin>", "x", f"x.jsonl{suffix.upper()}"):
        assert read_bytes(compress(ROWS), each) == (ROWS, None), name


@codecs
@given(
    members=st.lists(st.binary(max_size=2000), min_size=1, max_size=4),
    size=st.integers(1, 3000),
    padding=st.integers(0, 9),
)
def test_compressed_members_are_decompressed_as_one(  # noqa: PLR0913, PLR0917 - codecs have 3
    suffix: str,
    name: str,
    compress: Compress,
    members: list[bytes],
    size: int,
    padding: int,
) -> None:
    """Several compressed members, with zeros after each, are read as one file."""
    members = [b"[[[[", *members]
    packed = b"".join(compress(each) + bytes(padding) for each in members)

    assert (b"".join(members), None) == read(Source(name + suffix, packed), size)


@codecs
@given(data=st.data())
def test_truncated_data_ends_with_an_error(
    suffix: str, name: str, compress: Compress, data: st.DataObject
) -> None:
    """Data cut anywhere gives a prefix of the data and an error."""
    packed = compress(ROWS[:20_000])
    cut = data.draw(st.integers(1, len(packed) - 1))
    got, reason = read_bytes(packed[:cut], f"x{suffix}")

    assert ROWS.startswith(got)
    assert reason in {
        "compressed data is truncated",
        f"is not {name} data although its name ends in {suffix}",
    }


@codecs
@given(data=st.data())
def test_wrong_byte_is_noticed(
    suffix: str, name: str, compress: Compress, data: st.DataObject
) -> None:
    """One changed byte gives the same data or an error."""
    packed = bytearray(compress(ROWS[:20_000]))
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at] ^= data.draw(st.integers(1, 255))
    got, reason = read_bytes(bytes(packed), f"x{suffix}")

    assert reason is not None or got == ROWS[:20_000], name


def test_wrong_gzip_checksum_is_reported_after_all_data() -> None:
    """All rows come before the error about the checksum in the last eight bytes."""
    packed = bytearray(gzip.compress(ROWS))
    packed[-5] ^= 1
    reason = "compressed data is corrupt (checksum does not match)"

    assert (ROWS, reason) == read_bytes(bytes(packed))


def test_gzip_data_up_to_a_fault_is_kept() -> None:
    """All data before the corrupt byte is read, even in the same block."""
    deflate = zlib.compressobj(wbits=31)
    packed = deflate.compress(ROWS) + deflate.flush(zlib.Z_FULL_FLUSH)
    no_such_block = b"\x07"

    assert read_bytes(packed + no_such_block) == (ROWS, "compressed data is corrupt")


@codecs
def test_little_is_lost_at_a_fault(suffix: str, name: str, compress: Compress) -> None:
    """A good member before a bad one is read whole, but for one step at its end."""
    bad = bytearray(compress(ROWS))
    bad[len(bad) // 2] ^= 255
    got, reason = read_bytes(compress(ROWS) + bytes(bad), name + suffix)

    assert len(got) >= len(ROWS) - STEP
    assert got.startswith(ROWS)
    assert "compressed data is corrupt" in str(reason)


@codecs
def test_garbage_behind_the_data(suffix: str, name: str, compress: Compress) -> None:
    """Bytes that are no member are an error behind all data, however few they are."""
    reason = f"other bytes that are not {name} follow the compressed data"
    for garbage in (b"{", b"{}\n" * 99, b"\0\0{}\n" * 30_000):
        packed = compress(ROWS) + garbage
        assert (ROWS, reason) == read_bytes(packed, f"x{suffix}")


@codecs
def test_first_byte_of_a_cut_member(suffix: str, name: str, compress: Compress) -> None:
    """A member of which only the first byte is left is truncated, not garbage."""
    packed = compress(ROWS) + compress(b"")[:1]

    assert read_bytes(packed, name + suffix) == (ROWS, "compressed data is truncated")


@codecs
def test_name_that_lies(
    tmp_path: Path, suffix: str, name: str, compress: Compress
) -> None:
    """A compressed suffix for other content is an error, but not for an empty file."""
    lie = f"is not {name} data although its name ends in {suffix}"
    other = lzma.compress if name == "gzip" else gzip.compress
    path = tmp_path / f"x.jsonl{suffix}"
    for content, wanted in (
        (b"{}\n", (b"", lie)),
        (other(b"{}\n"), (b"", lie)),
        (b"", (b"", None)),
        (compress(b""), (b"", None)),
    ):
        path.write_bytes(content)
        assert wanted == read(Source(path.name, path))


def test_skippable_zstd_frames() -> None:
    """Frames without data are skipped, first, between and last."""
    skip = b"\x5a\x2a\x4d\x18\x04\0\0\0abcd"

    assert read_bytes(
        b"".join((skip, _zstd(b"[]"), skip, skip, _zstd(b"[]"), skip))
    ) == (b"[][]", None)


def test_missing_zstd_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the reason says what to install."""
    module = "compression" if sys.version_info >= (3, 14) else "backports"
    monkeypatch.setitem(sys.modules, module, None)
    extra = 'needs the extra "zstd": pip install "harpia-formats[zstd]"'

    assert (b"", extra) == read_bytes(_zstd(b"{}"))


@codecs
def test_bomb_takes_no_memory(suffix: str, name: str, compress: Compress) -> None:
    """24 MiB from a few kilobytes pass through in blocks."""
    packed = compress(b"1" * (24 << 20))
    total = 0
    tracemalloc.start()
    try:
        with open_source(Source(name + suffix, packed)) as reader:
            for each in reader:
                total += len(each)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert total == 24 << 20
    dictionary = 8 << 20 if name == "xz" else 0  # as the header asks
    assert peak < dictionary + (4 << 20)


def test_xz_that_asks_for_much_memory() -> None:
    """A header that requires a dictionary of a gigabyte is refused."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 256 << 20}]
    packed = lzma.compress(b"{}", filters=filters)
    reason = "compressed data needs too much memory to decompress"

    assert (b"", reason) == read_bytes(packed)


# Encodings


@for_each_case(
    "encoding, mark, compress",
    itertools.product(
        ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"],
        ["", "\ufeff"],
        [bytes, gzip.compress],
    ),
)
def test_wide_encoding_is_named(encoding: str, mark: str, compress: Compress) -> None:
    """UTF-16 and UTF-32 are refused with the command that converts them."""
    _, reason = read_bytes(compress((mark + '{"a": 1}').encode(encoding)))
    order = "little" if encoding.endswith("LE") else "big"
    name = encoding[:-2] if mark else encoding

    assert reason == (
        f"is {encoding[:-2]} ({order} endian), not UTF-8; read it with "
        f"`--encoding {name}`, or convert it with: iconv -f {name} -t UTF-8"
    )


@given(st.binary(max_size=3))
def test_tiny_data_is_not_a_wide_encoding(data: bytes) -> None:
    """Fewer than four bytes come as they are unless they begin with a mark."""
    marks = (
        b"\xff\xfe",
        b"\xfe\xff",
        b"\x1f\x8b",
        b"BZh",
        b"\xff\xd8\xff",
        b"ORC",
    )  # the last two: JPEG, ORC
    marked = data.startswith(marks)

    assert marked or (data, None) == read_bytes(data)


def test_utf8_mark_stays() -> None:
    """The byte order mark of UTF-8 is not removed by the source."""
    assert read_bytes(b"\xef\xbb\xbf{}") == (b"\xef\xbb\xbf{}", None)


def test_start_up_is_light() -> None:
    """Importing the module imports no decompressor."""
    code = (
        "import sys, harpia_formats.files.io.discovery;"
        "print([each for each in"
        " ('bz2', 'lzma', 'gzip', 'difflib', 'backports.zstd') if each in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - ours

    assert done.stdout.strip() == b"[]"
