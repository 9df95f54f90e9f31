"""What a file is copied for, and how large the copy will be, is known before."""

import gzip
from pathlib import Path

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
    session = session_of(path)
    try:
        with pytest.raises(HarpiaFormatsError, match="needs 40,000 bytes"):
            session.start()
    finally:
        session.close()
