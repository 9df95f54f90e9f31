"""What a file is copied for, and how large the copy will be, is known before."""

import gzip
from pathlib import Path

import pytest

from harpia_formats.view.copies import copy_of
from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.row_index import source_named
from harpia_formats.view.session import ViewSession

TEXT = b'{"prompt": "a question", "outputs": []}\n' * 1_000


def test_lines_are_read_in_place(tmp_path: Path) -> None:
    """A file that holds its rows as they are is not copied."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(TEXT)
    assert copy_of(source_named(str(path))) is None


def test_a_compressed_file_tells_its_size(tmp_path: Path) -> None:
    """A gzip file is copied, and the size of the copy is that of its text."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(TEXT))
    copy = copy_of(source_named(str(path)))
    assert copy is not None
    assert copy.size == len(TEXT)


def test_a_copy_that_has_no_room_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy is not begun that the disk has no room for."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(TEXT))
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr(
        "harpia_formats.view.session.shutil.disk_usage", lambda _: usage
    )
    session = ViewSession([str(path)], ViewOptions())
    try:
        with pytest.raises(ViewError, match="needs 40,000 bytes"):
            session.start()
    finally:
        session.close()
