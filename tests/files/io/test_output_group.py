"""The outputs of a run appear together, or the error names those that did not wait."""

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import SinkError
from written_outputs import write_output


@pytest.fixture(name="places")
def places_of_outputs(tmp_path: Path) -> tuple[Path, Path]:
    """Return the places of an output and of a report of its losses."""
    return tmp_path / "a.jsonl", tmp_path / "b.json"


def written(
    places: tuple[Any, Path],
    last: Callable[[], object] | None = None,
    **options: Any,
) -> Any:
    """Write two files, the first of which may be a stream."""
    return write_output(places[0], last, loss_report=places[1], **options)


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, in their order."""
    return sorted(path.name for path in folder.iterdir())


def failing_second(
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    step: str,
    before: Callable[[], object] = lambda: None,
) -> None:
    """Have a step of the second output fail on a full disk, after a call."""
    usual, done = getattr(owner, step), []

    def noted(*given: Any) -> Any:
        done.append(given)
        if len(done) == 2:
            before()
            raise OSError(errno.ENOSPC, "No space left on device")
        return usual(*given)

    monkeypatch.setattr(owner, step, noted)


def test_no_output_is_in_place_before_all_are_complete(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file is complete on the disk before the first gets its final name."""
    events: list[str] = []
    for name in ("rename", "replace"):
        usual = getattr(Path, name)

        def noted(part: Path, place: Path, name: str = name, usual: Any = usual) -> Any:
            events.append(name)
            return usual(part, place)

        monkeypatch.setattr(Path, name, noted)
    written(places)

    assert events == ["rename"] * 2 + ["replace"] * 2
    assert names_in(places[0].parent) == ["a.jsonl", "b.json"]


@pytest.mark.parametrize("is_new", [True, False])
def test_an_output_that_does_not_finish_ends_all(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, *, is_new: bool
) -> None:
    """Nothing is put into place if one output is not complete."""
    if not is_new:
        places[0].write_bytes(b"old")
    failing_second(monkeypatch, os, "fsync")
    with pytest.raises(SinkError, match=r"b\.json: no space left on device$"):
        written(places)

    assert names_in(places[0].parent) == ["a.jsonl"] * (not is_new)
    assert is_new or places[0].read_bytes() == b"old"


@pytest.mark.parametrize("is_stream", [True, False])
def test_of_new_files_that_fail_together_none_remains(
    places: tuple[Path, Path], *, is_stream: bool
) -> None:
    """If the second file cannot be put into place, the first is removed again.

    A stream has no place from which it could be removed.
    """
    given = (io.BytesIO() if is_stream else places[0], places[1])
    with pytest.raises(SinkError, match=r"b\.json: a file of that .*replaces it$"):
        written(given, lambda: places[1].write_bytes(b"theirs"), overwrite=False)

    assert names_in(places[1].parent) == ["b.json"]
    assert places[1].read_bytes() == b"theirs"


@pytest.mark.parametrize("first", ["old", "new", "gone"])
def test_an_error_names_the_files_that_were_replaced_before(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """If an old file was replaced before the error, the error says so.

    A new one is removed, and no further error if another one has removed it.
    """
    if first == "old":
        places[0].write_bytes(b"old")

    gone = places[0].unlink if first == "gone" else (lambda: None)
    failing_second(monkeypatch, Path, "replace", gone)
    with pytest.raises(SinkError) as failed:
        written(places)

    before = f"; replaced before: {places[0]}" if first == "old" else ""
    assert str(failed.value) == (
        f"cannot write {places[1]}: no space left on device{before}"
    )
    assert names_in(places[0].parent) == ["a.jsonl"] * (first == "old")


def test_names_that_the_disk_may_not_have_are_reported_at_the_end(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All outputs are put into place before the error of one that is there."""
    usual, folder = os.fsync, places[0].parent.resolve()

    def failing(descriptor: int) -> None:
        if Path(f"/dev/fd/{descriptor}").resolve() == folder:
            raise OSError(errno.EIO, "failed")
        usual(descriptor)

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(SinkError, match="written, but it is not known whether"):
        written(places)

    assert names_in(folder) == ["a.jsonl", "b.json"]


def test_what_earlier_runs_left_is_noted_for_all_outputs(
    places: tuple[Path, Path],
) -> None:
    """The notes of a run are those of each of its outputs, in their order."""
    for place in places:
        part = place.with_name(f".{place.name}.harpia-0123456789ab.complete")
        part.write_bytes(b"1")
    notes = written(places).notes

    assert [note.partition(": an earlier run was killed")[0] for note in notes] == [
        str(place) for place in places
    ]


def test_one_text_is_no_place_for_two_outputs(tmp_path: Path) -> None:
    """A caller that names one place twice may do so with one and the same object."""
    place = str(tmp_path / "out.json")
    with pytest.raises(SinkError, match="is an input or the output"):
        write_output(place, loss_report=place)

    assert names_in(tmp_path) == []
