import gzip
import io
import os
from pathlib import Path
from typing import Any

import pytest

import command_runs
from harpia_formats import OptionError, compare_scores, diff, read
from harpia_formats.files.io.inputs import RereadableSource, is_lasting
from harpia_formats.files.io.source import Source


def test_file_is_opened_again(tmp_path: Path) -> None:
    """A file can be read any number of times without a copy."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n" * 100_000)
    with RereadableSource(Source("a", path)) as again:
        assert again.copy is None
        for _ in range(2):
            assert b"".join(again.blocks()) == path.read_bytes()


def test_bytes_are_read_again() -> None:
    """Bytes in memory need no copy either."""
    with RereadableSource(Source("a", b"{}\n")) as again:
        assert again.copy is None
        assert [list(again.blocks()) for _ in range(2)] == [[b"{}\n"]] * 2


def test_stream_is_copied_on_the_way() -> None:
    """A source that can be read once only is read again from the copy."""
    data = b"x" * 300_000
    with RereadableSource(Source("a", io.BytesIO(data))) as again:
        assert again.copy is not None
        again.copy.write(data)
        for _ in range(2):
            assert b"".join(again.blocks()) == data


def test_copy_is_gone_afterwards() -> None:
    """The copy is deleted, also after an error."""
    kept: list[Any] = []

    def fail(source: Source) -> None:
        with RereadableSource(source) as again:
            kept.append(again.copy)
            raise KeyError

    with pytest.raises(KeyError):
        fail(Source("a", io.BytesIO(b"")))

    assert [each.closed for each in kept] == [True]


def test_file_that_went_away_has_no_blocks(tmp_path: Path) -> None:
    """A source that cannot be read a second time is not reported again."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}")
    with RereadableSource(Source("a", path)) as again:
        path.unlink()
        path.mkdir()

        assert list(again.blocks()) == []


def test_compressed_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """An error reported in the first pass ends the second pass without an error."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" * 9)[:-8])
    with RereadableSource(Source("a", path)) as again:
        assert b"".join(again.blocks()) == b"{}\n" * 9


def test_pipe_does_not_last(tmp_path: Path) -> None:
    """A named pipe has a path, but can be read once only."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    assert not is_lasting(Source("a", pipe))
    assert not is_lasting(Source("a", io.BytesIO(b"")))
    assert is_lasting(Source("a", b""))


ROW = b'{"id": "1", "prompt": "p", "references": ["a"], "outputs": [{"text": "a"}]}\n'


@pytest.mark.parametrize(
    "words",
    [
        "diff - -",
        "diff - - --encoding utf-8",
        "score compare - -",
        "score agreement - -",
    ],
)
def test_standard_input_is_compared_with_another_input_only(words: str) -> None:
    """What can be read only once is not compared with itself, which is an error."""
    result = command_runs.run(*words.split(), stdin=ROW)

    assert (result.returncode, result.stdout) == (2, b"")
    assert b"<stdin> is named twice, and can be read only once" in result.stderr


def test_stream_or_pipe_is_compared_with_another_input_only(tmp_path: Path) -> None:
    """An open stream that is given twice is an error, and so is a pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    stream = io.BytesIO(ROW)
    for one in (pipe, stream):
        for compare in (diff, compare_scores):
            with pytest.raises(OptionError, match="can be read only once"):
                compare(one, one)

    assert diff(stream, io.BytesIO(ROW)).ok


@pytest.mark.parametrize(
    ("rows", "format_"), [(b"q,a\n1,2\n", None), (b'{"q": "1", "a": "2"}\n', "json")]
)
def test_map_of_columns_reads_a_pipe_once(rows: bytes, format_: str | None) -> None:
    """No row of a pipe is lost to what finds the format that a map is for."""
    pipe, end = os.pipe()
    os.write(end, rows)
    os.close(end)
    columns = {"prompt": "q", "response": "a"}
    (record,) = read(f"/dev/fd/{pipe}", from_=format_, columns=columns)
    os.close(pipe)

    assert (record.prompt, record.outputs[0].text) == ("1", "2")
