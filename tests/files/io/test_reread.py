"""Inputs that are read twice in a run, and those that can be read only once."""

import gzip
import io
import os
import threading
from pathlib import Path

import pytest

import command_runs
from fixture_files import ROOT
from harpia_formats import OptionError, Report, compare_scores, diff, read, validate

#: Records of 300 KB, each of which has an id that others have.
REPEATED = (ROOT / "fixtures/eee@0.2.0/valid/runs.jsonl").read_bytes() * 30


def repeated(report: Report) -> list[tuple[str, int, str]]:
    """Return the problems of ids, which only a second pass can show."""
    return [(each.code, each.place.line, each.message) for each in report.problems]


def test_every_kind_of_input_is_read_twice(tmp_path: Path) -> None:
    """A second pass reads a file or bytes again, and a copy of a stream or pipe."""
    path, pipe = tmp_path / "a.jsonl", tmp_path / "pipe"
    path.write_bytes(REPEATED)
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(REPEATED))
    writer.start()
    found = [
        repeated(validate(each, examples=0))
        for each in (path, pipe, io.BytesIO(REPEATED), REPEATED)
    ]
    writer.join()

    assert len(found[0]) == 12 * 29
    assert {code for code, _, _ in found[0]} == {"X101"}
    assert found == [found[0]] * 4


def test_compressed_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """An error reported in the first pass ends the second pass without an error."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(REPEATED)[:-8])
    report = validate(path, examples=0)

    assert repeated(report) == repeated(validate(REPEATED, examples=0))
    assert str(report.files[0].reason).startswith("compressed data is truncated (after")


def test_file_that_went_away_has_no_second_pass(tmp_path: Path) -> None:
    """A file that is another one by then is reported once, with what was read."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(REPEATED)

    def removed(_: object) -> None:
        if path.is_file():
            path.unlink()
            path.mkdir()

    report = validate(path, progress=removed, jobs=1)
    (file,) = report.files

    assert (file.records, file.complete, report.problems) == (12 * 30, False, ())
    assert str(file.reason).startswith("was replaced by another file while it was read")


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
