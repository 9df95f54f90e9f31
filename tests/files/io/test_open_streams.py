"""Outputs that are open streams, terminals, and compressed files."""

import gzip
import io
import sys
import zlib
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from harpia_formats import SinkError
from harpia_formats.files.io.file_sink import write_file
from harpia_formats.files.io.sink import (
    StreamSink,
    TerminalStream,
    compressing_stream,
    standard_output,
)


class Stream(io.BytesIO):
    """A stream that takes some bytes at once, and notes when it is flushed."""

    def __init__(self, most: int = 100, *, is_terminal: bool = False) -> None:
        super().__init__()
        self.most = most
        self.flushed = 0
        self.is_terminal = is_terminal

    def write(self, data: object, /) -> int:
        """Take at most so many bytes as it may."""
        return super().write(bytes(data)[: self.most])  # type: ignore[call-overload]  # a view

    def flush(self) -> None:
        """Count the call."""
        self.flushed += 1

    def isatty(self) -> bool:
        """Tell what was given."""
        return self.is_terminal


def test_a_terminal_gets_escaped_text() -> None:
    """Controls and bytes that are no text are escaped, characters may come in parts."""
    stream = Stream()
    terminal = TerminalStream(stream)
    for data in (b"a\xc3", b"\xa9\x1b[0m\n", b"\xff|"):
        terminal.write(data)
    assert stream.getvalue() == b"a\xc3\xa9\\x1b[0m\n\\xff|"
    assert terminal.isatty()
    assert stream.flushed == 0

    terminal.write(b"b\xc3")
    assert stream.getvalue().endswith(b"|b")
    terminal.flush()
    assert stream.getvalue().endswith(b"|b\\xc3")
    assert stream.flushed == 1
    terminal.write(b"\xa9")
    assert stream.getvalue().endswith(b"|b\\xc3\\xa9")


def test_a_carriage_return_waits_for_its_line_feed() -> None:
    """One that ends a line is written with it, another one is escaped."""
    stream = Stream()
    terminal = TerminalStream(stream)
    terminal.write(b"a\r")
    assert stream.getvalue() == b"a"
    terminal.write(b"\nb\r")
    line = stream.getvalue()
    assert line.startswith(b"a")
    assert line.endswith(b"\nb")
    terminal.write(b"c")
    assert stream.getvalue() == line + b"\\rc"
    terminal.write(b"d\r")
    terminal.flush()
    assert stream.getvalue() == line + b"\\rcd\\r"
    terminal.flush()
    assert stream.getvalue() == line + b"\\rcd\\r"


@pytest.mark.parametrize("is_terminal", [False, True])
def test_standard_output(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> None:
    """A terminal gets text that is escaped, anything else the bytes."""
    stream = Stream(is_terminal=is_terminal)
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=stream))
    found = standard_output()

    assert isinstance(found, TerminalStream) is is_terminal
    assert is_terminal or found is stream


def test_standard_output_of_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only text can be written, a file has to be named."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with pytest.raises(SinkError) as failed:
        standard_output()

    assert str(failed.value) == (
        "cannot write standard output: it takes text only; name a file as the output"
    )


def test_what_a_stream_has_begun_cannot_be_taken_back() -> None:
    """Only bytes begin it; it is flushed at the end, and takes bytes in parts."""
    stream = Stream(most=2)
    sink = StreamSink(stream)
    sink.write(b"")
    assert not sink.is_begun
    sink.write(b"abcde")
    sink.write(b"")
    assert sink.is_begun
    assert stream.flushed == 0
    sink.finish()
    assert stream.flushed == 1
    sink.discard()
    sink.commit()

    assert (stream.getvalue(), stream.flushed) == (b"abcde", 2)


def test_a_stream_that_does_not_say_what_it_took() -> None:
    """A stream of another kind takes all that it is given."""
    taken: list[bytes] = []
    stream = SimpleNamespace(write=lambda data: taken.append(bytes(data)))
    StreamSink(stream, "a pipe").write(b"abc")

    assert taken == [b"abc"]


def test_a_stream_that_takes_nothing() -> None:
    """A stream that would block is an error with its name, not an endless loop."""
    with pytest.raises(SinkError) as failed:
        StreamSink(Stream(most=0), "a pipe").write(b"a")

    assert failed.value.path == "a pipe"
    assert "non-blocking" in failed.value.reason


def test_bytes_of_compressed_files(tmp_path: Path) -> None:
    """Data of gzip is that of the usual level, and tells neither name nor time."""
    data = b"".join(
        b"%d %d\n" % (each % 7, each * each % 9977) for each in range(9_000)
    )
    deflate = zlib.compressobj(6, wbits=31)
    write_file(str(tmp_path / "a.gz"), [data[:50], data[50:]], overwrite=False)
    found = (tmp_path / "a.gz").read_bytes()

    assert gzip.decompress(found) == data
    assert found[:9] == b"\x1f\x8b\x08" + bytes(6)
    assert len(found) == len(deflate.compress(data) + deflate.flush())
    assert compressing_stream("a.txt", raw := io.BytesIO()) is raw


def test_zstd_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of zstd needs a package, which is named where it is missing."""
    place = str(tmp_path / "a.zst")
    write_file(place, [b"x" * 100], overwrite=False)
    assert (tmp_path / "a.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    for name in ("backports", "backports.zstd", "compression", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SinkError) as failed:
        write_file(place, [], overwrite=True)

    assert str(failed.value) == (
        f'cannot write {place}: needs the extra "zstd": '
        'pip install "harpia-formats[zstd]"'
    )


@pytest.mark.parametrize(
    ("version", "package"),
    [
        ((3, 13), "backports"),
        ((3, 14), "compression"),
        ((4, 0), "compression"),
    ],
)
def test_who_has_zstd(
    version: tuple[int, int], package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python has zstd itself from 3.14 on, and older ones get it from the extra."""
    raw = io.BytesIO()
    for name in ("backports", "compression"):
        zstd = SimpleNamespace(ZstdFile=partial(lambda *given: given, name))
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(zstd=zstd))
    monkeypatch.setattr(sys, "version_info", version)
    made = compressing_stream("a.zst", raw)
    monkeypatch.undo()

    assert made == (package, raw, "wb")
