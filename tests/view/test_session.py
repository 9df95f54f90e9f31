"""What the page gets of files: rows, records, ids, changes, and nothing redacted."""

import gzip
import json
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import HarpiaFormatsError, UnknownFormat
from harpia_formats.view.viewed_file import ViewedFile
from json_lines import jsonl
from ready_session import Session, ready, session_of, viewed
from zip_archives import Entry, archive_of

#: A value of every row, which nobody may see who asked for none.
HIDDEN = "Ouagadougou"
COUNT = 250


def row_of(number: int) -> dict[str, Any]:
    """Return a row of a file."""
    return {
        "id": f"q{number}",
        "prompt": f"{HIDDEN} {number}" if number != 7 else 7,
        "references": [HIDDEN],
        "category": HIDDEN,
        "outputs": [
            {
                "model": HIDDEN,
                "text": f"answer {number} {HIDDEN}",
                "scores": [{"metric": HIDDEN, "value": number / COUNT}],
            }
        ],
    }


def write_rows(path: Path) -> Path:
    """Write a file of rows, the seventh of which is not valid."""
    lines = (json.dumps(row_of(number)) for number in range(1, COUNT + 1))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Return a session over one file."""
    path = write_rows(tmp_path_factory.mktemp("data") / "a.jsonl")
    session = ready(session_of(path))
    yield session
    session.close()


def complete(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the rows of a query, once all are found: soon, as they are few."""
    end = time.monotonic() + 20
    while not (found := session.rows(query))["complete"]:
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def test_what_is_known_of_a_file(session: Session) -> None:
    """A file has its format, counts, rules, models and metrics."""
    (file,) = session.files()["files"]
    assert (file["format"], file["kind"], file["records"]) == ("record", "lines", COUNT)
    assert file["counts"]["invalid"] == 1
    assert [rule["code"] for rule in file["rules"]] == ["S102"]
    assert file["models"] == [HIDDEN]
    assert file["metrics"] == [HIDDEN]


def test_rows_of_the_table(session: Session) -> None:
    """A part of the table has a record for each row, also for one that is not valid."""
    found = session.rows({"file": "0", "start": "5", "count": "2"})
    assert found["total"] == COUNT
    first, second = found["rows"]
    assert (first["record"], first["id"], first["answer"]) == (
        6,
        "q6",
        f"answer 6 {HIDDEN}",
    )
    assert (first["line"], second["line"]) == (6, 7)
    assert first["scores"] == {HIDDEN: pytest.approx(6 / COUNT)}
    assert second["unread"]
    assert '"prompt": 7' in second["raw"]
    assert [one["code"] for one in second["findings"]] == ["S102"]


def test_record_with_a_finding(session: Session) -> None:
    """A finding is marked where it is in the text of the row."""
    found = session.record({"file": "0", "record": "7"})
    (finding,) = found["findings"]
    assert found["raw"][finding["begin"] : finding["end"]] == "7"
    assert finding["pointer"] == "/prompt"
    assert found["line"] == 7
    assert (found["previous"], found["next"]) == (6, 8)


def test_a_record_says_whether_more_may_become_known_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is complete once all files are read: another one may ask the same."""
    paths = [write_rows(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    with viewed(*paths) as session:
        query = {"file": "0", "record": "3"}
        assert session.record(query)["complete"]
        is_first = property(lambda file: file.source.name.endswith("a.jsonl"))
        monkeypatch.setattr(ViewedFile, "is_scanned", is_first)
        assert not session.record(query)["complete"]


def test_previous_and_next_follow_the_filter(session: Session) -> None:
    """The neighbours of a record are those among the selected ones, in their order."""
    query = {"file": "0", "sort": f"score:{HIDDEN}", "order": "desc", "low": "0.5"}
    found = session.record({**query, "metric": HIDDEN, "record": "200"})
    assert (found["previous"], found["next"]) == (201, 199)
    assert found["position"] == 50


@pytest.mark.parametrize(
    ("query", "number"), [({"id": "q31"}, 31), ({"line": "9"}, 9), ({"record": "3"}, 3)]
)
def test_jump(session: Session, query: dict[str, str], number: int) -> None:
    """A record is found by its id, its line and its number."""
    assert session.find({"file": "0", **query}) == {"record": number}


def test_jump_to_a_row_that_is_no_record(session: Session) -> None:
    """The id of a row that is not valid is found as well."""
    assert session.find({"file": "0", "id": "q7"}) == {"record": 7}


@pytest.mark.parametrize("query", [{"id": "q"}, {"line": "0"}, {"record": "9999"}])
def test_jump_to_nothing(session: Session, query: dict[str, str]) -> None:
    """What is not there is reported, and no other record is shown for it."""
    with pytest.raises(HarpiaFormatsError, match="no such record"):
        session.find({"file": "0", **query})


def test_rows_are_taken_away_as_bytes(session: Session) -> None:
    """The selected rows are those of the file, byte for byte."""
    data = b"".join(session.selected_bytes({"file": "0", "text": "answer 12"}))
    numbers = [json.loads(line)["id"] for line in data.splitlines()]
    assert numbers == ["q12", *(f"q{n}" for n in range(120, 130))]
    assert data.splitlines()[0] == json.dumps(row_of(12)).encode()


@pytest.mark.parametrize(
    "query",
    [{"file": "1"}, {"file": "-1"}, {"file": "x"}, {"file": "0", "start": "1e3"}],
)
def test_wrong_numbers_are_refused(session: Session, query: dict[str, str]) -> None:
    """A number that is none, or of no file, is refused."""
    with pytest.raises(HarpiaFormatsError):
        session.rows(query)


def test_a_regular_expression_that_never_ends_is_given_up(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process is ended, with a reason with the rows that were found."""
    monkeypatch.setattr("harpia_formats.view.viewed_file.LIMIT", 1.0)
    query = {"file": "0", "regex": "1", "text": f"({HIDDEN}|a|.)*$x"}
    assert "given up" in complete(session, query)["searched"]["reason"]


def test_a_changed_file_is_not_shown(tmp_path: Path) -> None:
    """After a change no row is shown, since it might be a mixture."""
    path = write_rows(tmp_path / "a.jsonl")
    with viewed(path) as session:
        assert session.rows({"file": "0"})["total"] == COUNT
        with path.open("a", encoding="utf-8") as file:
            file.write("{}\n")
        assert session.files()["files"][0]["state"] == "changed"
        with pytest.raises(HarpiaFormatsError, match="changed"):
            session.rows({"file": "0"})


def test_redacted_answers_hold_no_value(tmp_path: Path) -> None:
    """With `redact` no answer of the session has a value of a record."""
    path = write_rows(tmp_path / "a.jsonl")
    with viewed(path, redact=True) as session:
        answers = [
            session.files(),
            session.rows({"file": "0"}),
            session.record({"file": "0", "record": "7"}),
            session.summary({"file": "0"}),
        ]
        assert HIDDEN not in json.dumps(answers)
        assert "S102" in json.dumps(answers)
        for refused in (
            lambda: session.rows({"file": "0", "text": "a"}),
            lambda: session.rows({"file": "0", "sort": f"score:{HIDDEN}"}),
            lambda: session.rows({"file": "0", "answer": "missing"}),
            lambda: session.summary({"file": "0", "model": ""}),
            lambda: session.record({"file": "0", "record": "1", "category": ""}),
            lambda: session.find({"file": "0", "id": "q1"}),
            lambda: session.raw({"file": "0", "record": "1"}),
            lambda: session.selected_bytes({"file": "0"}),
            session.systems,
        ):
            with pytest.raises(HarpiaFormatsError):
                refused()


def test_redacted_reasons_name_no_member_of_an_archive(tmp_path: Path) -> None:
    """An archive that is not read tells why, without a name, which may be an id."""
    path = tmp_path / "log.eval"
    members = [Entry(f"../{HIDDEN}.json", b"{}"), Entry("header.json", b"{}")]
    path.write_bytes(archive_of(members))
    with viewed(path, redact=True) as session:
        found = session.files()
        with pytest.raises(HarpiaFormatsError) as refused:
            session.rows({"file": "0"})
    (file,) = found["files"]

    for reason in (file["reason"], file["unread"], str(refused.value)):
        assert "its member * leads outside of it" in reason
    assert HIDDEN not in json.dumps(found)


@pytest.mark.parametrize(
    ("data", "how"),
    [
        (b"prompt;response\na;b\n", "read it with `--from csv --delimiter ';'`"),
        ('{"prompt": "a"}\n'.encode("utf-16"), "read it with `--encoding UTF-16`"),
        ("prompt，response\na，b\n".encode(), "`validate --unsafe-fixes`"),
    ],
    ids=["delimiter", "encoding", "wide delimiter"],
)
def test_redacted_reasons_say_how_a_file_is_read(
    tmp_path: Path, data: bytes, how: str
) -> None:
    """What is advised is shown, since it holds no value of the file."""
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    with viewed(path, redact=True) as session:
        (file,) = session.files()["files"]

    assert how in file["reason"]


def test_notes_know_a_record_by_what_is_not_cut(tmp_path: Path) -> None:
    """A long id and a long model are whole; of several files each is a system."""
    long = {"id": "q" * 400, "prompt": "a", "outputs": [{"model": "m" * 9_000}]}
    path, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    path.write_text(f"{json.dumps(long)}\n", encoding="utf-8")
    rows = [{"id": 7, "prompt": "a", "outputs": [{"text": "b"}]}, {"prompt": 1}]
    other.write_bytes(jsonl(*rows))
    with viewed(path, other, format="record") as session:
        found = [
            session.identity({"file": file, "record": record})
            for file, record in (("0", "1"), ("1", "1"), ("1", "2"))
        ]
        with pytest.raises(HarpiaFormatsError, match="no record"):
            session.identity({"file": "1", "record": "3"})
        assert session.path_of({"file": "1"}) == str(other)
        with pytest.raises(HarpiaFormatsError, match="no such file"):
            session.path_of({"file": "2"})

    assert found == [
        {"record": 1, "record_id": "q" * 400, "model": "m" * 9_000},
        {"record": 1, "record_id": "7", "model": str(other)},
        {"record": 2, "model": str(other)},
    ]


def test_rows_below_a_header_that_cannot_be_read(tmp_path: Path) -> None:
    """They have the numbers that `validate` gives them, and are shown as they are."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,caf\xe9\n1,a\n2,b\n")
    with viewed(path, format="csv") as session:
        rows = session.rows({"file": "0"})["rows"]
        taken = b"".join(session.selected_bytes({"file": "0", "text": "b"}))
    assert [(row["record"], row["raw"]) for row in rows] == [(1, "1,a"), (2, "2,b")]
    assert {row["unread"] for row in rows} == {"the header of the table is not UTF-8"}
    assert taken == b"id,caf\xe9\n2,b\n"


def test_a_search_in_a_file_that_breaks_off_ends(tmp_path: Path) -> None:
    """The rows before the break are searched, and what is taken away is refused."""
    path = tmp_path / "a.jsonl.gz"
    rows = b"".join(b'{"n": %d}\n' % (at * at) for at in range(10_000))
    path.write_bytes(gzip.compress(rows)[:-5_000])
    query = {"file": "0", "text": '"n": 4'}
    with viewed(path) as session:
        found = complete(session, query)
        with pytest.raises(HarpiaFormatsError, match="truncated"):
            list(session.selected_bytes(query))

    assert found["total"] > 1


def test_what_cannot_be_opened_is_refused_before_the_start(tmp_path: Path) -> None:
    """A file that is not there, and a format that is none, are errors at once."""
    with pytest.raises(HarpiaFormatsError, match="does not exist"):
        session_of(str(tmp_path / "no.jsonl"))
    path = write_rows(tmp_path / "a.jsonl")
    with pytest.raises(UnknownFormat):
        session_of(path, format="nothing")


def test_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The temporary files of a session are gone after its end."""
    path, folder = write_rows(tmp_path / "a.jsonl"), tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    session = session_of(path)
    session.start()
    assert list(folder.iterdir())
    session.close()
    assert not list(folder.iterdir())


def test_many_files_are_closed_at_once(tmp_path: Path) -> None:
    """What waits for its turn does not begin once the session is closed."""
    for number in range(40):
        write_rows(tmp_path / f"{number}.jsonl")
    session = session_of(str(tmp_path))
    session.start()
    begin = time.monotonic()
    session.close()
    assert time.monotonic() - begin < 20


def test_files_of_selections_are_deleted(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many selections are kept as there may be, and no file of another one."""
    monkeypatch.setattr("harpia_formats.view.viewed_file.KEPT", 2)
    for low in range(10):
        query = {"file": "0", "metric": HIDDEN, "low": str(low / 100)}
        assert complete(session, query)["rows"]
    assert len(list(Path(session.folder).glob("0.rows*"))) <= 4


def test_search_for_an_id_ends_in_time(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time spent on rows that only contain the text of the id counts, too."""
    monkeypatch.setattr("harpia_formats.view.session.MOST_SECONDS", 0.5)
    complete(session, {"file": "0", "text": HIDDEN, "case": "1"})
    looked_at: list[bytes] = []

    def slow(_: object, row: bytes) -> None:
        looked_at.append(row)
        time.sleep(0.05)

    monkeypatch.setattr("harpia_formats.view.viewed_file.ViewedFile.id_of", slow)
    with pytest.raises(HarpiaFormatsError, match="takes long"):
        session.find({"file": "0", "id": HIDDEN})
    assert 0 < len(looked_at) < 20


def test_files_written_at_the_end_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that writes while the session is closed is no error."""
    session = session_of(str(write_rows(tmp_path / "a.jsonl")))
    session.start()
    folder, rmdir = Path(session.folder), os.rmdir

    def remove_late(*given: Any, **named: Any) -> None:
        monkeypatch.setattr(os, "rmdir", rmdir)
        (folder / "late").touch()
        rmdir(*given, **named)

    monkeypatch.setattr(os, "rmdir", remove_late)
    session.close()
    assert not folder.exists()


@pytest.mark.parametrize("asked", ["find", "take"])
def test_what_waits_for_a_file_ends_with_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Neither a search for an id nor a download goes on in a session that is closed."""
    monkeypatch.setattr("harpia_formats.view.session.MOST_SECONDS", 600)
    path = write_rows(tmp_path / "a.jsonl")
    session = ready(session_of(path))
    # The search is never complete, as that of a file of many gigabytes.
    incomplete = property(lambda _: False, lambda *_: None)
    monkeypatch.setattr(
        "harpia_formats.view.viewed_file.Selected.is_complete", incomplete
    )
    query = {"file": "0", "text": HIDDEN, "id": HIDDEN}

    def ask() -> object:
        if asked == "find":
            return session.find(query)
        return list(session.selected_bytes(query))

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask)
        time.sleep(0.5)
        assert not waiting.done()
        session.close()
        with pytest.raises(HarpiaFormatsError):
            waiting.result(10)
    with pytest.raises(HarpiaFormatsError, match="ended"):
        session.rows({"file": "0"})


def test_names_are_distinct(tmp_path: Path) -> None:
    """Files of one name are called by their paths."""
    paths = [tmp_path / name for name in ("a/x.jsonl", "b/x.jsonl", "b/y.jsonl")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(jsonl(row_of(1)))
    with viewed(*paths) as session:
        names = [file["name"] for file in session.files()["files"]]

    assert names == [str(paths[0]), str(paths[1]), "y.jsonl"]
