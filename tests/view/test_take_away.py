"""Rows that are taken away from the page: as they are, or converted."""

import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from command_runs import run_in_shell
from fake_session import FakeSession
from harpia_formats import ConversionError, SinkError
from harpia_formats.formats.registry import writable_formats
from harpia_formats.view import take_away as module
from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.selection import filter_of
from harpia_formats.view.session import ViewSession
from harpia_formats.view.take_away import (
    MOST_KEPT,
    Download,
    TakeAway,
    suffix_of_format,
    write_selection,
)
from ready_session import ready


@pytest.fixture
def session() -> FakeSession:
    """Return a session whose format is known."""
    found = FakeSession("some folder/answers é.v1.jsonl.gz")
    found.format = "nemo-output"
    return found


@pytest.fixture
def taken(session: FakeSession, tmp_path: Path) -> Iterator[TakeAway]:
    """Return what makes downloads, in a folder of its own."""
    folder = tmp_path / "kept"
    folder.mkdir()
    found = TakeAway(session, ViewOptions(), str(folder))
    yield found
    found.close()
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def bytes_of(download: Download) -> bytes:
    """Return all bytes of a download."""
    found = b"".join(download.blocks)
    download.close()
    return found


def test_rows_are_as_they_are(taken: TakeAway, session: FakeSession) -> None:
    """The name is that of the file, without folders and suffixes."""
    found = taken.rows({"text": "no"})

    assert bytes_of(found) == b"".join(session.selected_bytes({"text": "no"}))
    assert found.name == "answers_é-rows.jsonl"
    assert found.headers == {
        "Content-Type": "application/x-ndjson",
        "Content-Disposition": 'attachment; filename="answers__-rows.jsonl"; '
        "filename*=UTF-8''answers_%C3%A9-rows.jsonl",
    }


@pytest.mark.parametrize(
    ("name", "kind", "suffix"),
    [
        ("a.csv", "table", ".csv"),
        ("a.tsv.gz", "table", ".tsv"),
        ("a.txt", "table", ".csv"),
        ("a.json", "array", ".json"),
        ("a.json", "document", ".json"),
        ("a.parquet", "copy", ".jsonl"),
        ("a.json", "lines", ".jsonl"),
    ],
)
def test_suffix_is_that_of_the_container(
    taken: TakeAway, session: FakeSession, name: str, kind: str, suffix: str
) -> None:
    """A table stays one, an array stays one, and all else is lines."""
    session.name, session.kind = name, kind

    assert taken.rows({}).name == f"a-rows{suffix}"


@pytest.mark.parametrize("name", ["../..", '"; x="\r\n', "\x00", "..", "con.jsonl"])
def test_names_are_safe(taken: TakeAway, session: FakeSession, name: str) -> None:
    """No name of a file ends the header, or leads to another folder."""
    session.name = name
    found = taken.rows({})

    assert not set(found.name) & set('/\\"\r\n\0;')
    text = found.headers["Content-Disposition"]
    assert text.isascii()
    assert text.isprintable()


def test_error_comes_before_the_first_byte(
    taken: TakeAway, session: FakeSession
) -> None:
    """A selection that cannot be made is no empty download."""
    session.error = ViewError("it has changed")
    with pytest.raises(ViewError, match="it has changed"):
        taken.rows({})


def test_losses_are_those_of_the_command(
    taken: TakeAway, session: FakeSession, tmp_path: Path
) -> None:
    """The table is that of a conversion of the same rows, with the name of the file."""
    rows = tmp_path / "rows.jsonl"
    rows.write_bytes(b"".join(session.selected_bytes({})))
    output = tmp_path / "o.csv"
    report = harpia_formats.convert(rows, to="openai-chat", output=output)
    expected = [{**row, "path": "answers é.v1.jsonl.gz"} for row in report.table()]
    assert expected

    found = taken.losses({}, "openai-chat")

    assert found == {
        "losses": expected,
        "ok": True,
        "rows": 5,
        "skipped": 0,
        "reason": "",
        "format": "openai-chat",
    }


def test_download_follows_the_losses(taken: TakeAway, session: FakeSession) -> None:
    """The rows are converted once for the table and the download."""
    taken.losses({"text": "no", "start": "0"}, "record")
    found = taken.converted({"text": "no", "start": "100"}, "record")

    assert session.called == ["selected_bytes"]
    assert bytes_of(found).count(b"\n") == 2
    assert found.name == "answers_é-record.jsonl"


def test_few_conversions_are_kept(
    taken: TakeAway, session: FakeSession, tmp_path: Path
) -> None:
    """The oldest is removed, and one that is being sent is sent to its end."""
    first = taken.converted({"text": ""}, "record")
    for number in range(MOST_KEPT):
        taken.converted({"text": "", "case": str(number)}, "record").close()

    files = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert len(files) == MOST_KEPT
    assert bytes_of(first).count(b"\n") == 5
    taken.losses({"text": ""}, "record")
    assert len(session.called) == MOST_KEPT + 2


def test_rows_that_cannot_be_converted_are_counted(
    taken: TakeAway, session: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are left out; if none is left, there is a reason and no file."""
    good = b"".join(session.selected_bytes({}))
    blocks = iter([b'{"response": 1}\n', good])
    monkeypatch.setattr(session, "selected_bytes", lambda _: blocks)
    found = taken.losses({}, "record")
    assert (found["ok"], found["rows"], found["skipped"]) == (True, 5, 1)

    monkeypatch.setattr(session, "selected_bytes", lambda _: iter([b"{}\n"]))
    found = taken.losses({"text": "x"}, "record")
    assert not found["ok"]
    assert found["reason"]
    assert "harpia-formats-" not in found["reason"]
    with pytest.raises(ViewError):
        taken.converted({"text": "x"}, "record")


def test_empty_selection_has_a_reason(taken: TakeAway) -> None:
    """No file is made of no rows."""
    found = taken.losses({"text": "nowhere"}, "record")

    assert (found["ok"], found["rows"]) == (False, 0)
    assert found["reason"]


@pytest.mark.parametrize("target", ["", "nonsense", "lm-eval", "../x"])
def test_target_must_be_written(taken: TakeAway, target: str) -> None:
    """A word that is no format is an error in one line."""
    with pytest.raises(ConversionError):
        taken.losses({}, target)


def test_format_must_be_known(taken: TakeAway, session: FakeSession) -> None:
    """Rows in no known format can be taken as they are only."""
    session.format = None
    with pytest.raises(ViewError, match="is not known"):
        taken.losses({}, "record")
    assert bytes_of(taken.rows({}))


def test_changed_file_is_not_taken_from_before(
    taken: TakeAway, session: FakeSession
) -> None:
    """A conversion that is kept is not of the file as it is now."""
    taken.losses({}, "record")
    session.reason = "the file has changed"
    with pytest.raises(ViewError, match="has changed"):
        taken.converted({}, "record")


@pytest.mark.parametrize("file", ["1", "-1", "x", "²"])
def test_file_must_be_there(taken: TakeAway, file: str) -> None:
    """An index that no file has is an error."""
    with pytest.raises(ViewError, match="no such file"):
        taken.rows({"file": file})


def test_end_kills_the_conversion(
    taken: TakeAway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends at once, though a conversion would take long."""
    monkeypatch.setattr(module, "conversion_losses", endless)
    errors: list[BaseException] = []

    def convert() -> None:
        try:
            taken.losses({}, "record")
        except ViewError as error:
            errors.append(error)

    thread = threading.Thread(target=convert)
    thread.start()
    time.sleep(0.5)
    begin = time.monotonic()
    taken.close()
    thread.join(10)

    assert time.monotonic() - begin < 5
    assert "ended before its end" in str(errors[0])
    with pytest.raises(ViewError):
        taken.losses({}, "record")


def endless(*_: object) -> Iterator[object]:
    """Yield nothing for an hour."""
    time.sleep(3600)
    yield None


def test_bug_in_a_conversion_is_a_bug(
    taken: TakeAway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unexpected error in the process is one of the server."""
    monkeypatch.setattr(module, "conversion_losses", broken)
    with pytest.raises(RuntimeError, match="KeyError"):
        taken.losses({}, "record")


def broken(*_: object) -> Iterator[object]:
    """Raise an error that no input explains."""
    raise KeyError("x")
    yield None


def test_formats_have_the_suffix_of_what_is_written(
    taken: TakeAway,
) -> None:
    """A name says how the file is to be read."""
    suffixes = {key: suffix_of_format(one) for key, one in writable_formats().items()}

    assert suffixes["csv"] == ".csv"
    assert suffixes["parquet"] == ".parquet"
    assert suffixes["record"] == ".jsonl"
    assert set(suffixes.values()) == {".csv", ".json", ".jsonl", ".parquet"}
    for target in ("csv", "parquet"):
        assert bytes_of(taken.converted({}, target))


def test_command_gives_the_same_rows(taken: TakeAway, session: FakeSession) -> None:
    """Words that a shell would take apart are quoted."""
    query = {"text": "a 'b' $c", "start": "100", "count": "100", "file": "0"}

    command = taken.command(query)

    assert shlex.split(command) == [
        "harpia-formats",
        "view",
        session.name,
        "--query",
        "text=a+%27b%27+%24c",
        "--output",
        "rows.jsonl",
    ]
    converted = taken.command({**query, "to": "csv"})
    before, _, after = converted.partition(" | ")
    assert before.endswith("--output -")
    assert after == (
        "harpia-formats convert --from nemo-output --to csv --on-invalid skip "
        "-o rows.csv"
    )


def test_command_has_the_options_of_reading(
    session: FakeSession, tmp_path: Path
) -> None:
    """The format and the delimiter are those that were given."""
    options = ViewOptions(format="csv", delimiter=";")

    words = shlex.split(TakeAway(session, options, str(tmp_path)).command({}))

    assert words[3:7] == ["--from", "csv", "--delimiter", ";"]


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("a.tsv", "prompt\tresponse\n1\ta\n2\tb\n", ViewOptions()),
        ("a.csv", "prompt;response\n1;a\n2;b\n", ViewOptions(delimiter=";")),
        (
            "a.jsonl",
            "".join(
                f'{{"prompt":"{text}","outputs":[{{"text":"b"}}]}}\n'
                for text in ("1", "2" * 200, "3")
            ),
            ViewOptions(format="record", max_row_bytes=100),
        ),
    ],
)
def test_command_of_a_conversion_reads_as_the_page(
    tmp_path: Path, name: str, text: str, options: ViewOptions
) -> None:
    """It reads rows from a pipe with the delimiter and the limit of the page."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    session = ready(ViewSession([str(tmp_path / name)], options))
    taken = TakeAway(session, options, str(tmp_path))
    try:
        command = taken.command({"file": "0", "to": "openai-chat"})
        converted = bytes_of(taken.converted({"file": "0"}, "openai-chat"))
    finally:
        taken.close()
        session.close()
    done = run_in_shell(command, tmp_path)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "rows.jsonl").read_bytes() == converted
    assert converted.count(b"\n") == 2
    assert command.count("--max-row-bytes 100") == (2 if name == "a.jsonl" else 0)


def test_command_has_what_chooses_rows(taken: TakeAway) -> None:
    """What says nothing without another key is left out, as `--output` refuses it."""
    query = {"regex": "1", "low": "0", "metric": "a", "is": "b", "view": "records"}

    words = shlex.split(taken.command(query))

    assert words[words.index("--query") + 1] == "low=0&metric=a"


def test_keys_that_are_looked_at_can_be_written() -> None:
    """Each key by which the session chooses rows is one that `--output` takes."""
    asked: list[str] = []

    class Asked(dict[str, str]):
        def get(self, key: str, *default: object) -> Any:
            asked.append(key)
            return super().get(key, *default)

    filter_of(Asked())
    assert asked
    session = FakeSession(count=2)
    for key in asked:
        query = {"file": "1", "text": "a", "metric": "m", "field": "f", key: "1"}
        write_selection(session, query, "-", inputs=[], overwrite=False)


def test_selection_is_written_whole(session: FakeSession, tmp_path: Path) -> None:
    """The file has the bytes of the download; one that is there stays unless asked."""
    output = tmp_path / "rows.jsonl"
    arguments = {"inputs": ["a.jsonl"], "overwrite": False}
    write_selection(session, {"text": "no"}, str(output), **arguments)  # type: ignore[arg-type]  # two kinds of values
    expected = b"".join(session.selected_bytes({"text": "no"}))
    assert output.read_bytes() == expected

    with pytest.raises(SinkError, match="already exists"):
        write_selection(session, {}, str(output), **arguments)  # type: ignore[arg-type]  # two kinds of values
    assert output.read_bytes() == expected
    write_selection(session, {}, str(output), inputs=["a.jsonl"], overwrite=True)
    assert output.read_bytes() == b"".join(session.selected_bytes({}))


def test_failed_selection_leaves_no_file(
    session: FakeSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a file never appears, and no temporary one stays."""

    def selected(_: object) -> Iterator[bytes]:
        yield b"x"
        raise ViewError("the file has changed")

    monkeypatch.setattr(session, "selected_bytes", selected)
    output = str(tmp_path / "rows.jsonl")
    with pytest.raises(ViewError):
        write_selection(session, {}, output, inputs=[], overwrite=False)

    assert list(tmp_path.iterdir()) == []


def test_output_is_no_input(session: FakeSession, tmp_path: Path) -> None:
    """The data are never changed, not even with `--overwrite`."""
    place = tmp_path / "a.jsonl"
    place.write_bytes(b"{}\n")
    for inputs in ([str(place)], [str(tmp_path)]):
        with pytest.raises(SinkError, match="is an input, too"):
            write_selection(session, {}, str(place), inputs=inputs, overwrite=True)

    assert place.read_bytes() == b"{}\n"


def test_module_loads_no_converter() -> None:
    """The server itself converts nothing, which would cost memory."""
    code = "import sys, harpia_formats.view.take_away; print(*sys.modules)"
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, check=True
    )

    assert b"harpia_formats.api.functions" not in done.stdout.split()
