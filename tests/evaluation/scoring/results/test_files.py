"""Files of results: either all of them are written or none."""

from pathlib import Path

import pytest

from harpia_formats import SinkError
from harpia_formats.evaluation.scoring.results.result_files import ResultFiles
from harpia_formats.files.io.file_sink import FileSink


def two_files(folder: Path) -> ResultFiles:
    """Return two files that are written but not in their places."""
    files = ResultFiles(folder / "one", overwrite=True)
    files.write(b"new")
    files.sibling("two")(b"new")
    return files


def test_files_are_there_together(tmp_path: Path) -> None:
    """Both files are there at the end, the first one first."""
    names = two_files(tmp_path).commit()

    assert names == (str(tmp_path / "one"), str(tmp_path / "two"))
    assert [Path(each).read_bytes() for each in names] == [b"new", b"new"]


def fail_at(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this step of the second file fail."""
    usual = getattr(FileSink, step)

    def failing(sink: FileSink) -> None:
        if sink._path.name == "two":  # noqa: SLF001 - tells the file
            raise OSError(28, "No space left on device")
        usual(sink)

    monkeypatch.setattr(FileSink, step, failing)


@pytest.mark.parametrize("step", ["_finish", "_put_into_place"])
def test_of_files_that_fail_nothing_is_left(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the second file cannot be finished or placed, the first is not there."""
    fail_at(step, monkeypatch)
    files = two_files(tmp_path)
    with pytest.raises(SinkError, match="two"):
        files.commit()

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_there_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the second file cannot be finished, the first is what it was."""
    (tmp_path / "one").write_bytes(b"old")
    fail_at("_finish", monkeypatch)
    files = two_files(tmp_path)
    with pytest.raises(SinkError, match="two"):
        files.commit()

    assert [each.name for each in tmp_path.iterdir()] == ["one"]
    assert (tmp_path / "one").read_bytes() == b"old"
