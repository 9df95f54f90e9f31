"""Inputs that are read twice in a run, and those that can be read only once."""

import gzip
import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import command_runs
from fixture_files import ROOT
from harpia_formats import (
    OptionError,
    Report,
    compare_scores,
    diff,
    fix,
    merge,
    read,
    sample,
    split,
    validate,
)
from harpia_formats.plugins import SourceError

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


def test_a_path_may_name_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read twice, as `-` is, and named twice it is compared with nothing."""
    stream, end = os.pipe()
    with open(end, "wb") as file:  # noqa: PTH123 - a descriptor
        file.write(b"1\n2\n3\n")
    with open(stream) as standard:  # noqa: PTH123 - a descriptor
        monkeypatch.setattr(sys, "stdin", standard)
        name = tmp_path / "{value}.jsonl"
        assert split(Path("-"), ratio=(0.5, 0.5), output=name).written == 3
        with pytest.raises(OptionError, match="<stdin> is named twice"):
            diff(Path("-"), "-")


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


@pytest.mark.parametrize(
    "words",
    [
        "merge -",
        "sample - 1",
        "split - --ratio 0.5/0.5 -o {value}.jsonl",
        "score - --profile harpia",
    ],
)
def test_non_blocking_stream_is_refused_before_it_is_copied(
    words: str, tmp_path: Path
) -> None:
    """Standard input that pauses is not taken for complete by who reads it twice."""
    given, end = os.pipe()
    os.set_blocking(given, False)
    os.write(end, ROW)
    with open(given, "rb") as stream, open(end, "wb"):  # noqa: PTH123 - descriptors
        result = subprocess.run(  # noqa: S603 - the command is ours
            [*command_runs.COMMAND, *words.split()],
            stdin=stream,
            capture_output=True,
            cwd=tmp_path,
            env=command_runs.environment_with({}),
            timeout=command_runs.TIMEOUT,
            check=False,
        )

    assert (result.returncode, result.stdout) == (2, b"")
    assert command_runs.error_lines(result) == [
        "error: <stdin>: is in non-blocking mode, where a pause looks like the end"
    ]
    assert not list(tmp_path.iterdir())


def test_stream_that_breaks_off_is_an_error_of_the_input() -> None:
    """A stream that cannot be copied to its end is named, with the reason."""

    class Disk(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError(5, "Input/output error")
            return super().read1(size)

    runs: list[Callable[[Disk], object]] = [
        lambda disk: merge(disk, output=io.BytesIO()),
        lambda disk: sample(disk, 1, output=io.BytesIO()),
        fix,
    ]
    for run in runs:
        with pytest.raises(SourceError) as raised:
            run(Disk(ROW))
        assert str(raised.value) == "<stream>: input/output error"
