"""The notes on records are verdicts that other commands read."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import harpia_formats
from harpia_formats import SinkError
from harpia_formats.view.notes import Notes, NotesError
from harpia_formats.view.options import ViewError
from json_lines import jsonl_rows

RIGHT = {"verdict": "right", "text": ""}
WRONG = {"verdict": "wrong", "text": "it says\n\u202e\u4e0d\x1b"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return where notes are kept; nothing is there."""
    return tmp_path / "notes.jsonl"


def test_file_appears_with_the_first_note(place: Path) -> None:
    """To look at the page makes no file."""
    notes = Notes(place, [])
    assert notes.of_record("a.jsonl", 1) is None
    assert not place.exists()

    file = str(place.parent / "a.jsonl")
    notes.add(file, {"record": 1, "record_id": "q1", "model": "m"}, RIGHT)

    assert jsonl_rows(place) == [
        {
            "row": 1,
            "record": 1,
            "record_id": "q1",
            "model": "m",
            "status": "ok",
            "attempts": 0,
            "cached": False,
            "error": None,
            "signature": "notes|by:hand",
            "file": "a.jsonl",
            "result": {"right": True, **RIGHT},
        }
    ]


def test_notes_are_valid_and_scored(place: Path) -> None:
    """`validate` finds nothing, and `score` counts the last verdict of each record."""
    notes = Notes(place, [])
    for number, note in enumerate((RIGHT, WRONG, RIGHT, RIGHT), 1):
        notes.add("a.jsonl", {"record": number, "record_id": number}, note)

    notes.add("a.jsonl", {"record": 4, "record_id": 4}, WRONG)
    notes.add("a.jsonl", {"record": 2, "record_id": 2}, RIGHT)
    report = harpia_formats.validate(place)
    assert report.ok
    assert (report.problems, report.files[0].format) == ((), "judge-verdicts")
    (score,) = harpia_formats.score(place).systems[0].scores
    assert (score.name, score.value, score.questions) == ("right", 0.75, 4)


def test_verdict_that_is_no_number_is_not_scored(place: Path) -> None:
    """An unclear answer is neither right nor wrong."""
    notes = Notes(place, [])
    notes.add("a.jsonl", {"record": 1, "record_id": "a"}, RIGHT)
    notes.add("a.jsonl", {"record": 2, "record_id": "b"}, {"verdict": "unclear"})

    assert harpia_formats.validate(place).problems == ()
    (score,) = harpia_formats.score(place, missing="skip").systems[0].scores
    assert (score.value, score.questions) == (1, 1)


def test_later_note_counts(place: Path) -> None:
    """A second note takes the place of the first; an empty one takes it back."""
    notes = Notes(place, [])
    notes.add("a.jsonl", {"record": 1}, RIGHT)
    notes.add("a.jsonl", {"record": 1}, WRONG)
    notes.add("b.jsonl", {"record": 1}, RIGHT)
    notes.add("b.jsonl", {"record": 2}, RIGHT)
    notes.add("b.jsonl", {"record": 2}, {"verdict": "", "text": ""})

    for read in (notes, Notes(place, [])):
        assert read.of_file("a.jsonl") == {"1": WRONG}
        assert read.of_file("b.jsonl") == {"1": RIGHT}
        assert read.of_record("b.jsonl", 2) is None
    assert len(jsonl_rows(place)) == 2


def test_notes_of_another_server_are_seen(place: Path) -> None:
    """Two servers may append to one file."""
    one, other = Notes(place, []), Notes(place, [])
    one.add("a", {"record": 1}, RIGHT)
    other.add("a", {"record": 2}, WRONG)

    assert one.of_file("a") == other.of_file("a") == {"1": RIGHT, "2": WRONG}


def test_notes_of_threads_are_whole_lines(place: Path) -> None:
    """Notes that come at once are all written."""
    notes = [Notes(place, []) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        for number in range(1, 81):
            pool.submit(notes[number % 4].add, "a", {"record": number}, RIGHT)

    assert sorted(int(key) for key in notes[0].of_file("a")) == list(range(1, 81))
    assert len(jsonl_rows(place)) == 80


def test_file_that_is_replaced_is_read_again(place: Path) -> None:
    """Notes that were taken out of the file, or with the file, are gone."""
    notes = Notes(place, [])
    notes.add("a", {"record": 1}, RIGHT)
    notes.add("a", {"record": 2}, RIGHT)
    place.write_bytes(place.read_bytes().splitlines(keepends=True)[1])
    assert notes.of_file("a") == {"2": RIGHT}

    place.unlink()
    assert notes.of_file("a") == {}
    notes.add("a", {"record": 3}, WRONG)
    assert notes.of_file("a") == {"3": WRONG}


def test_last_line_may_lack_its_end(place: Path) -> None:
    """A note is not written behind another one in the same line."""
    Notes(place, []).add("a", {"record": 1}, RIGHT)
    place.write_bytes(place.read_bytes().rstrip())
    notes = Notes(place, [])
    notes.add("a", {"record": 2}, WRONG)

    assert notes.of_file("a") == {"1": RIGHT, "2": WRONG}
    assert len(jsonl_rows(place)) == 2


def test_link_to_notes_stays_a_link(tmp_path: Path, place: Path) -> None:
    """A note that is changed is in the file to which a link leads."""
    place.touch()
    link = tmp_path / "links" / "link.jsonl"
    link.parent.mkdir()
    link.symlink_to(place)
    notes = Notes(link, [])
    for note in (RIGHT, WRONG):
        notes.add("a", {"record": 1}, note)

    assert link.is_symlink()
    assert [row["result"]["right"] for row in jsonl_rows(place)] == [False]
    assert notes.of_file("a") == {"1": WRONG}
    assert list(link.parent.iterdir()) == [link]


def test_verdicts_of_a_judge_are_no_notes(place: Path) -> None:
    """They may be in the same file, and stay as they are."""
    judged = '{"row":1,"record":1,"status":"ok","attempts":1,"cached":false,'
    judged += '"error":null,"result":{"score":1}}\n'
    place.write_text(judged, encoding="utf-8")
    notes = Notes(place, [])
    notes.add("a", {"record": 2}, RIGHT)

    assert notes.of_file("a") == {"2": RIGHT}
    assert place.read_text(encoding="utf-8").startswith(judged)


@pytest.mark.parametrize(
    "text",
    ["x\n", "[]\n", '{"response": "a"}\n', '{"results": [], "meta": []}\n', "\udcff"],
)
def test_other_files_are_refused(place: Path, text: str) -> None:
    """A file in another format is no file of notes, and stays as it is."""
    place.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(NotesError, match="is no file of notes"):
        Notes(place, [])

    assert place.read_bytes() == text.encode(errors="surrogateescape")


@pytest.mark.parametrize("number", ["[1]", "{}", '"1"', "1.0", "true", "null"])
def test_note_on_no_record_is_refused(place: Path, number: str) -> None:
    """A line whose record is no whole number is an error, and the file stays."""
    Notes(place, []).add("a", {"record": 1}, RIGHT)
    wrong = place.read_text("utf-8").replace('"record":1', f'"record":{number}')
    assert number in wrong
    place.write_text(wrong, encoding="utf-8")

    with pytest.raises(NotesError, match="no whole number"):
        Notes(place, [])
    assert place.read_text("utf-8") == wrong


def test_data_are_never_changed(tmp_path: Path, place: Path) -> None:
    """A file that is shown is no file of notes, by whatever name it is known."""
    Notes(place, []).add("a", {"record": 1}, RIGHT)
    (tmp_path / "link.jsonl").symlink_to(place)
    for inputs in ([str(place)], [str(tmp_path)], [str(tmp_path / "*.jsonl")]):
        with pytest.raises(SinkError, match="is an input, too"):
            Notes(tmp_path / "link.jsonl", inputs)


@pytest.mark.parametrize("name", ["notes.jsonl.gz", "s3://a/b.jsonl", "-"])
def test_other_places_are_refused(name: str) -> None:
    """What is no plain file on this disk cannot be appended to."""
    with pytest.raises(NotesError, match="plain file on this disk"):
        Notes(name, [])


def test_folder_must_be_there(tmp_path: Path) -> None:
    """A path where no file can be is an error before the start."""
    with pytest.raises(SinkError, match="its folder does not exist"):
        Notes(tmp_path / "none" / "notes.jsonl", [])
    with pytest.raises(SinkError, match="is a folder"):
        Notes(tmp_path, [])


def test_full_disk_leaves_no_half_line(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If only a part of a line could be written, it is taken out again."""
    notes = Notes(place, [])
    notes.add("a", {"record": 1}, RIGHT)
    before = place.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda number, data: write(number, data[:7]))

    with pytest.raises(ViewError, match="the note is not written"):
        notes.add("a", {"record": 2}, RIGHT)

    assert place.read_bytes() == before
    monkeypatch.undo()
    notes.add("a", {"record": 2}, RIGHT)
    assert len(jsonl_rows(place)) == 2


def test_half_line_is_taken_out_before_another_server_writes(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line of another server is whole, and is not cut with the half one."""
    one, other = Notes(place, []), Notes(place, [])
    one.add("a", {"record": 1}, RIGHT)
    write, begun = os.write, threading.Event()

    def write_half(number: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", write)
        written = write(number, data[:7])
        begun.set()
        time.sleep(0.3)  # the other server would write now
        return written

    monkeypatch.setattr(os, "write", write_half)
    with ThreadPoolExecutor(2) as pool:
        failed = pool.submit(one.add, "a", {"record": 2}, RIGHT)
        assert begun.wait(10)
        pool.submit(other.add, "a", {"record": 3}, WRONG).result(10)
        assert isinstance(failed.exception(10), ViewError)

    assert Notes(place, []).of_file("a") == {"1": RIGHT, "3": WRONG}
    assert len(jsonl_rows(place)) == 2


def test_names_that_are_no_text_have_notes(place: Path) -> None:
    """The name of a file may have any bytes."""
    notes = Notes(place, [])
    notes.add("a\udcff", {"record": 1}, RIGHT)

    assert notes.of_file("a\udcff") == {"1": RIGHT}
    assert Notes(place, []).of_record("a\udcff", 1) == RIGHT
    assert harpia_formats.validate(place).ok


def test_notes_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is known by its path from the notes, and not by its name alone."""
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    Notes("notes.jsonl", []).add("runs/a.jsonl", {"record": 1}, RIGHT)
    assert jsonl_rows(tmp_path / "notes.jsonl")[0]["file"] == "runs/a.jsonl"

    monkeypatch.chdir(tmp_path / "runs")
    assert Notes("../notes.jsonl", []).of_record("a.jsonl", 1) == RIGHT
    assert Notes("../notes.jsonl", []).of_record("../a.jsonl", 1) is None
    notes = Notes("../notes.jsonl", [])
    notes.add("https://example.org/a.jsonl", {"record": 1}, WRONG)
    assert notes.of_record("https://example.org/a.jsonl", 1) == WRONG
