"""A file that changes while it is read is a failed input, whatever reads it."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from effort import pairs
from harpia_formats import Report, ValidationFailed, convert, score, validate
from shared_small_files import share_small_files

ROW = (
    b'{"input":{"prompt":"%s","ideal_response":"r","category":"","source":"x"},'
    b'"response":"r","llm_name":"m"}\n'
) % (b"q" * 900)


def cut(path: Path) -> None:
    """Cut the file at a row boundary, in its last part."""
    os.truncate(path, path.stat().st_size - 2 * len(ROW))


def append(path: Path) -> None:
    """Append a row to the file."""
    with path.open("ab") as file:
        file.write(ROW)


def replace(path: Path) -> None:
    """Replace the file by another one of the same bytes."""
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def rewrite(path: Path) -> None:
    """Write a row of the file anew."""
    with path.open("r+b") as file:
        file.write(ROW)
    os.utime(path, ns=(1, 1))


def remove(path: Path) -> None:
    """Remove the file."""
    path.unlink()


CHANGES = [cut, append, replace, rewrite, remove]


def once(change: Callable[[Path], None], path: Path) -> Callable[[Any], None]:
    """Return a progress function that changes the file at its first call."""
    left = [change]

    def progress(_: object) -> None:
        if left:
            left.pop()(path)

    return progress


def report_of(kind: str, path: Path, **options: Any) -> Report:
    """Return the report of a run over a file."""
    if kind == "validate":
        return validate(path, **options)
    try:
        if kind == "convert":
            output = io.BytesIO()
            return convert(path, to="tencent-csv", output=output, **options).report
        return score(path, metrics=("em",), **options).report
    except ValidationFailed as failed:
        return failed.report


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("change", "kind"), pairs(CHANGES, ["validate", "convert", "score"])
)
def test_a_file_that_changes_is_not_complete(
    tmp_path: Path,
    kind: str,
    jobs: int,
    change: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file that is cut, extended, replaced, rewritten or removed fails the run.

    It does in one process and in several, and the reason is named.
    """
    share_small_files(monkeypatch, 16 * 1024)
    path = tmp_path / "in.jsonl"
    path.write_bytes(ROW * (512 * 1024 // len(ROW)))
    report = report_of(kind, path, jobs=jobs, progress=once(change, path))
    (file,) = report.files

    assert not report.ok
    assert not file.complete
    assert any(
        text in str(file.reason)
        for text in ("was changed", "was replaced", "cannot be found", "no such file")
    )


@pytest.mark.parametrize("kind", ["validate", "convert", "score"])
def test_a_file_that_stays_is_complete(tmp_path: Path, kind: str) -> None:
    """A file whose permissions and other times change meanwhile is read as ever."""
    path = tmp_path / "in.jsonl"
    path.write_bytes(ROW * 4_000)

    def touch(changed: Path) -> None:
        changed.chmod(0o600)

    assert report_of(kind, path, jobs=1, progress=once(touch, path)).ok
