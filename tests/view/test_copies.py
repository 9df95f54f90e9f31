"""What a file is copied for, and how large the copy will be, is known before."""

import gzip
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harpia_formats import HarpiaFormatsError
from ready_session import session_of

TEXT = b'{"prompt": "a question", "outputs": []}\n' * 1_000


@pytest.mark.parametrize(
    ("name", "data", "size"),
    [("a.jsonl", TEXT, None), ("a.jsonl.gz", gzip.compress(TEXT), len(TEXT))],
)
def test_what_is_compressed_is_copied(
    tmp_path: Path, name: str, data: bytes, size: int | None
) -> None:
    """Lines are read in place, and the copy of a gzip file has the size of its text."""
    (tmp_path / name).write_bytes(data)
    session = session_of(tmp_path / name)
    sizes = [copy.size for _, copy in session.copies()]
    session.close()

    assert sizes == ([] if size is None else [size])


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the usage of the disk, which the session asks for; 10 bytes are free."""
    usage = SimpleNamespace(free=10)
    monkeypatch.setattr(
        "harpia_formats.view.session.shutil.disk_usage", lambda _: usage
    )
    return usage


def test_the_end_of_a_file_that_is_cut_off_is_no_size(
    tmp_path: Path, disk: Any
) -> None:
    """It is neither shown, if it cannot be, nor a reason to refuse the file."""
    path, packed = tmp_path / "a.jsonl.gz", gzip.compress(TEXT)
    path.write_bytes(packed[:-20] + b"\xff" * 4)
    session = session_of(path)
    assert [copy.size for _, copy in session.copies()] == [None]
    session.close()

    most = (len(packed) - 16) * 1000
    path.write_bytes(packed[:-20] + most.to_bytes(4, "little"))
    disk.free = len(TEXT)
    session = session_of(path)
    assert [copy.size for _, copy in session.copies()] == [most]
    session.start()
    session.close()


@pytest.mark.usefixtures("disk")
def test_a_copy_that_has_no_room_is_refused(tmp_path: Path) -> None:
    """A copy is not begun that the disk has no room for."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(TEXT))
    session = session_of(path)
    try:
        with pytest.raises(HarpiaFormatsError, match="needs 40,000 bytes"):
            session.start()
    finally:
        session.close()
