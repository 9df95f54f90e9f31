"""`harpia-formats view`, from its start to its end."""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from command_runs import environment_with, error_lines, run_in_shell
from fake_session import ROWS
from in_process import InProcess
from json_lines import jsonl
from processes import children_of, is_running, until

FIXTURES = Path(__file__).parents[2] / "fixtures"
#: A page in the place of the one of the package, which these tests do not look at.
PAGE = "from harpia_formats.view import server; server.shell_page = lambda: 'page'"
MAIN = "from harpia_formats.cli import main; main()"
#: What a test runner in the background ignores, its commands would ignore, too.
SIGNALS = """import signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)"""
#: Seconds within which a process must do what is asked of it.
PATIENCE = 30


@dataclass
class Viewer:
    """A running command: its process, its address and its cookie."""

    process: "subprocess.Popen[bytes]"
    address: str
    cookie: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def port(self) -> int:
        """The port of the address."""
        return int(urlsplit(self.address).port or 0)

    def get(self, path: str, method: str = "GET", **body: object) -> tuple[int, bytes]:
        """Return the status and the body of an answer."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as one:
            headers = {"Cookie": self.cookie, "Content-Type": "application/json"}
            one.request(method, path, json.dumps(body) if body else None, headers)
            answer = one.getresponse()
            self.headers = dict(answer.getheaders())
            return answer.status, answer.read()

    def json(self, path: str) -> dict[str, Any]:
        """Return the decoded JSON of an answer."""
        status, body = self.get(path)
        assert status == 200, body
        found: dict[str, Any] = json.loads(body)
        return found

    def open(self) -> None:
        """Follow the address as a browser does, and keep its cookie."""
        split = urlsplit(self.address)
        status, _ = self.get(f"{split.path}?{split.query}")
        assert status == 303
        self.cookie = self.headers["set-cookie"].partition(";")[0]

    def wait_until_read(self) -> None:
        """Wait until all is known of the first file."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            file = self.json("/api/files")["files"][0]
            if file["state"] != "reading" and file["scanned"]["complete"]:
                return
            time.sleep(0.05)
        raise AssertionError(self.json("/api/files"))

    def end(self, number: int) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Return a file of rows, which is all that its folder has."""
    place = tmp_path / "data" / "answers.jsonl"
    place.parent.mkdir()
    place.write_bytes(jsonl(*ROWS))
    return place


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Return the folder of temporary files of the commands."""
    place = tmp_path / "temporary"
    place.mkdir()
    return place


@pytest.fixture
def main(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    temporary: Path,
) -> InProcess:
    """Return what runs a command that serves no page in the process of the test."""
    # The folder of this process is made once, and is none of those of the commands.
    get_temp_dir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return InProcess(monkeypatch, capfdbinary)


@pytest.fixture
def viewers() -> Iterator[list[Viewer]]:
    """Return the list of commands that were started, which are killed at the end."""
    found: list[Viewer] = []
    yield found
    for viewer in found:
        viewer.process.kill()
        viewer.process.communicate()


def start(
    viewers: list[Viewer],
    temporary: Path,
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    script: str = "",
) -> Viewer:
    """Return a command that serves a page, with its cookie."""
    words = ["view", *map(str, arguments)]
    process = subprocess.Popen(  # noqa: S603 - the command is ours
        [sys.executable, "-c", f"{SIGNALS}\n{PAGE}\n{script}\n{MAIN}", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment_with({"TMPDIR": str(temporary), **(environment or {})}),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline().decode().strip()
    viewer = Viewer(process, line)
    viewers.append(viewer)
    assert line.startswith("http://127.0.0.1:"), process.stderr.read().decode()
    viewer.open()
    return viewer


def test_page_is_served_until_ctrl_c(
    viewers: list[Viewer], temporary: Path, rows: Path
) -> None:
    """The address opens the page; Ctrl-C ends with 130, and no file is left."""
    viewer = start(viewers, temporary, rows, "--no-browser")

    assert viewer.get("/") == (200, b"page")
    viewer.wait_until_read()
    assert viewer.json("/api/rows?file=0")["total"] == len(ROWS)
    assert viewer.get("/take")[1] == rows.read_bytes()
    assert list(temporary.iterdir())
    begin = time.monotonic()

    assert viewer.end(signal.SIGINT) == 130

    assert time.monotonic() - begin < 10
    out, err = viewer.process.communicate()
    assert (out, err) == (b"", b"Ctrl-C ends it\n")
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.long),
    ],
)
def test_other_signals_end_it(
    viewers: list[Viewer], temporary: Path, rows: Path, number: int, code: int
) -> None:
    """They have their exit codes, and leave no file."""
    viewer = start(viewers, temporary, rows, "--no-browser")

    assert viewer.end(number) == code
    assert list(temporary.iterdir()) == []


def test_killed_server_leaves_no_process(
    viewers: list[Viewer], temporary: Path, rows: Path
) -> None:
    """The processes of a server that is killed end with it; another one starts."""
    rows.write_bytes(rows.read_bytes() * 10_000)
    viewer = start(viewers, temporary, rows, "--no-browser")
    pid = viewer.process.pid
    workers = children_of(pid)
    assert workers

    assert viewer.end(signal.SIGKILL) == -signal.SIGKILL

    assert until(lambda: not any(map(is_running, workers)))
    again = start(viewers, temporary, rows, "--no-browser", "--port", viewer.port)
    assert again.get("/")[0] == 200
    assert again.address != viewer.address
    assert again.end(signal.SIGINT) == 130


@pytest.mark.long
def test_many_clients_are_served(
    viewers: list[Viewer], temporary: Path, rows: Path
) -> None:
    """20 clients at once all get their rows."""
    viewer = start(viewers, temporary, rows, "--no-browser")
    viewer.wait_until_read()
    paths = ["/api/rows", "/api/files", "/api/summary", "/api/record?record=2", "/take"]
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(viewer.get, paths * 20))

    assert {status for status, _ in found} == {200}
    for at in range(len(paths)):
        assert len({body for _, body in found[at :: len(paths)]}) == 1


def test_port_is_chosen(viewers: list[Viewer], temporary: Path, rows: Path) -> None:
    """A port that is in use is an error, and nothing is served."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run_view(temporary, rows, "--port", port, "--no-browser")
        assert done.returncode == 2
        assert done.stdout == b""
        (line,) = error_lines(done)
        assert f"port {port} of 127.0.0.1 cannot be used" in line
    viewer = start(viewers, temporary, rows, "--port", port, "--no-browser")
    assert viewer.port == port


def run_view(
    temporary: Path, *arguments: object, script: str = PAGE
) -> "subprocess.CompletedProcess[bytes]":
    """Return a command that has ended by itself."""
    return subprocess.run(  # noqa: S603 - the command is ours
        [sys.executable, "-c", f"{script}\n{MAIN}", "view", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment_with({"TMPDIR": str(temporary)}),
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.jsonl"], "error: none.jsonl: does not exist"),
        (["empty"], "error: empty: no data files in this folder"),
        (["data", "--from", "nonsense"], "error: no format is called 'nonsense'"),
        (["data", "--delimiter", "ab"], "error: --delimiter: "),
        (["data", "--port", "65536"], "error: --port: 65536 is more than 65535"),
        (["data", "--notes", "other.txt"], "error: other.txt is no file of notes"),
        (
            ["data", "--notes", "data/answers.jsonl"],
            "error: cannot write data/answers.jsonl: is an input, too",
        ),
        (["data", "--overwrite"], "error: `--overwrite` is for `--output`"),
        (["data", "-o", "x", "--notes", "n"], "error: `--notes` is for the page"),
        (["data", "-o", "other.txt"], "error: cannot write other.txt: already exists"),
        (["data", "-o", "data/answers.jsonl"], "error: cannot write data/answers"),
        (["data", "-o", "o", "--query", "regex=1&text=("], "error: "),
        (["data", "-o", "o", "--query", "file=1"], "error: there is no such file"),
        (
            ["data", "-o", "o", "--query", "modell=m10"],
            "error: no rows are chosen by 'modell', but by: answer, ",
        ),
        (
            ["data", "-o", "o", "--query", "model=m10&model=m11"],
            "error: `--query` has 'model' twice, and one value counts",
        ),
        (
            ["data", "-o", "-", "--query", "record=3"],
            "error: no rows are chosen by 'record'",
        ),
        *(
            (
                ["data", "-o", "o", "--query", f"{key}=1&{other}="],
                f"error: '{key}' chooses no rows without '{other}'",
            )
            for key, other in (
                ("low", "metric"),
                ("high", "metric"),
                ("is", "field"),
                ("regex", "text"),
                ("case", "text"),
            )
        ),
        (
            ["data", "data/../data/answers.jsonl", "-o", "o", "--query", "text=a"],
            "error: there are 2 files, and the rows of one are written: add `file=0`",
        ),
        (["data", "-o", "o", "--redact"], "error: rows would show values"),
        ([], "error: FILES is missing"),
    ],
)
def test_mistake_ends_before_the_start(  # noqa: PLR0913, PLR0917 - two of the table, and where it runs
    words: list[str],
    message: str,
    tmp_path: Path,
    temporary: Path,
    rows: Path,
    main: InProcess,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message is one line, no address is printed, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.txt").write_text("other", encoding="utf-8")
    before = rows.read_bytes()

    done = main("view", *words, "--no-browser")

    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    lines = done.err.splitlines()
    (line,) = (line for line in lines if line.startswith("error: "))
    assert line.startswith(message)
    assert list(temporary.iterdir()) == []
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"data", "empty", "other.txt", "temporary"}
    assert rows.read_bytes() == before


@pytest.mark.parametrize(
    "module",
    [
        "starlette",
        "numpy",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("uvicorn", "jinja2")),
    ],
)
def test_missing_extra_is_named(temporary: Path, rows: Path, module: str) -> None:
    """Without a package of the extra, the message says how to install it."""
    script = f"import sys; sys.modules[{module!r}] = None"

    done = run_view(temporary, rows, "--no-browser", script=script)

    assert done.returncode == 2
    assert error_lines(done) == [
        "error: the page needs the extra view: pip install 'harpia-formats[view]'"
    ]


def test_other_systems_are_refused(temporary: Path, rows: Path) -> None:
    """Where there is no POSIX the command says so, and nothing is opened."""
    script = """from types import SimpleNamespace
import harpia_formats.cli.commands.view as command
command.os = SimpleNamespace(name="nt")"""
    for words in (["--no-browser"], ["-o", "-"]):
        done = run_view(temporary, rows, *words, script=script)

        assert (done.returncode, done.stdout) == (2, b"")
        assert error_lines(done) == [
            "error: `view` needs Linux, macOS or another POSIX system"
        ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ('{"prompt": "a"}\n'.encode("utf-16"), "UTF-16"),
        (gzip.compress(b'{"prompt": "a"}\n' * 100)[:-9], ""),
        (b"no data\n", "neither JSON nor a table"),
        (b"prompt;response\na;b\n", "read it with `--from csv --delimiter ';'`"),
    ],
    ids=["encoding", "cut", "text", "delimiter"],
)
def test_file_that_cannot_be_read_is_named(
    tmp_path: Path, main: InProcess, data: bytes, reason: str
) -> None:
    """The error says which file it is, and why."""
    place = tmp_path / "a.txt"
    place.write_bytes(data)

    done = main("view", place, "-o", "-")
    assert (done.code, done.out) == (2, "")
    line = done.err.splitlines()[-1]
    assert line.startswith(f"error: {place}: ")
    assert reason in line


def test_pipe_is_refused(tmp_path: Path, main: InProcess) -> None:
    """What can be read only once is not read by several processes at once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    done = main("view", pipe, "-o", "-")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: the pipe {pipe} cannot be shown: name a file\n"


def test_help_needs_no_extra(main: InProcess) -> None:
    """The help page and the version are there without the extra."""
    done = main("view", "--help")

    assert done.code == 0
    assert "--no-browser" in done.out


def test_rows_are_written(tmp_path: Path, rows: Path, main: InProcess) -> None:
    """With `--output` the rows of the query are written, as they stand in the file."""
    output = tmp_path / "rows.jsonl"
    query = "text=Question+3"

    done = main("view", rows, "--query", query, "-o", output)

    lines = rows.read_text("utf-8").splitlines(keepends=True)
    assert (done.code, done.out, done.err) == (0, "", f"{output}: 1 row\n")
    assert output.read_text("utf-8") == lines[2]
    assert main("view", rows, "-o", output).code == 2
    assert main("view", rows, "-o", output, "--overwrite").code == 0
    assert output.read_bytes() == rows.read_bytes()


def test_rows_of_one_of_several_files_are_written(
    tmp_path: Path, rows: Path, main: InProcess
) -> None:
    """The query says of which; what else an address of the page has does no harm."""
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(ROWS[1]) + "\n", encoding="utf-8")

    query = "file=1&view=records&open=1&columns=id"
    found = main("view", rows, other, "--query", query, "-o", "-")
    assert (found.code, found.out) == (0, other.read_text("utf-8"))


@pytest.mark.long
def test_no_row_may_be_written(rows: Path, main: InProcess) -> None:
    """Where the query chooses no row, nothing is written."""
    done = main("view", rows, "--query", "text=question&case=1", "-o", "-")
    assert (done.code, done.out) == (0, "")


def test_table_keeps_its_header(tmp_path: Path, main: InProcess) -> None:
    """The rows of a table are a table."""
    table = tmp_path / "a.csv"
    table.write_bytes(b"prompt;response\r\n1;a\r\n2;b\r\n")

    done = main("view", table, "--delimiter", ";", "--query", "text=b", "-o", "-")
    assert done.out == "prompt;response\r\n2;b\r\n"


@pytest.mark.long
def test_array_is_written_as_one(tmp_path: Path, main: InProcess) -> None:
    """The rows of an array are an array."""
    array = tmp_path / "a.json"
    array.write_text(json.dumps(ROWS), encoding="utf-8")

    done = main("view", array, "--query", "text=Question 3", "-o", "-")
    assert json.loads(done.out) == [ROWS[2]]


def test_array_of_documents_is_written_as_one(tmp_path: Path, main: InProcess) -> None:
    """Documents that are items of an array stay its items."""
    document = FIXTURES / "eee-aggregate" / "valid" / "minimal-0.3.0.json"
    documents = [json.loads(document.read_bytes())] * 2
    array = tmp_path / "a.json"
    array.write_text(json.dumps(documents, indent=1), encoding="utf-8")

    done = main("view", array, "-o", "-")
    assert json.loads(done.out) == documents


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "samples.json",
            '{"version": 2, "eval": {"task": "t", "model": "m"}, "samples": []}',
        ),
        (
            "no_samples.json",
            '{"version": 2, "status": "error", "eval": {"task": "t", "model": "m"}}\n',
        ),
        ("array.json", "[\n]\n"),
        ("header.csv", "prompt,response\n"),
        ("empty.jsonl", ""),
    ],
)
def test_file_without_rows_is_written_as_it_is(
    tmp_path: Path, main: InProcess, name: str, text: str
) -> None:
    """A document keeps its empty array, and a table its header."""
    place = tmp_path / name
    place.write_text(text, encoding="utf-8")

    done = main("view", place, "-o", "-")
    assert (done.code, done.out) == (0, text)


def test_field_of_a_row_with_nan_is_found(main: InProcess) -> None:
    """A row with NaN has fields where its format reads NaN as null."""
    place = FIXTURES / "lm-eval-samples" / "valid" / "J209-nan.jsonl"
    lines = place.read_bytes().splitlines(keepends=True)
    assert b": NaN" in lines[1]

    done = main("view", place, "--query", "field=doc_id&is=1", "-o", "-")
    assert done.out.encode() == lines[1]


@pytest.mark.parametrize(
    ("query", "is_known"),
    [
        ("category=math", False),
        pytest.param("correct=no", False, marks=pytest.mark.long),
        pytest.param("model=m", True, marks=pytest.mark.long),
        ("answer=missing", True),
    ],
)
def test_values_that_are_not_known_choose_no_rows(
    tmp_path: Path, main: InProcess, query: str, is_known: bool
) -> None:
    """Where no records are read, rows are chosen by findings, and not by values."""
    place = FIXTURES / "eee-aggregate" / "valid" / "minimal-0.3.0.json"
    reason = "eee-aggregate is one document that has no records"
    if not is_known:
        reason = "its format is not known; `--from` names it"
        place = tmp_path / "u.jsonl"
        place.write_text('{"question":"x","category":"math","foo":1}\n', "utf-8")
    output = tmp_path / "rows"

    done = main("view", place, "--query", query, "-o", output)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: values of the records are not known: {reason}\n"
    assert not output.exists()
    done = main("view", place, "--query", "rule=none", "-o", "-")
    assert (done.code, json.loads(done.out)) == (0, json.loads(place.read_bytes()))


def test_command_of_the_page_writes_what_it_downloads(
    viewers: list[Viewer], temporary: Path, rows: Path, tmp_path: Path
) -> None:
    """The command line that the page shows gives the same bytes."""
    viewer = start(viewers, temporary, rows, "--no-browser")
    viewer.wait_until_read()
    query = "file=0&text=Question+%5B24%5D&regex=1"
    downloaded = viewer.get(f"/take?{query}")[1]
    assert downloaded.count(b"\n") == 2
    for to, name in (("", "rows.jsonl"), ("&to=csv", "rows.csv")):
        command = str(viewer.json(f"/api/command?{query}{to}")["command"])
        done = run_in_shell(command, tmp_path)
        assert done.returncode == 0, done.stderr
        written = (tmp_path / name).read_bytes()
        assert written == viewer.get(f"/take?{query}{to}")[1]


def test_losses_come_before_the_converted_rows(
    viewers: list[Viewer], temporary: Path, rows: Path
) -> None:
    """The table has the name of the file, and the download follows."""
    viewer = start(viewers, temporary, rows, "--no-browser")
    found = viewer.json("/api/losses?file=0&to=openai-chat")

    assert (found["ok"], found["rows"]) == (True, len(ROWS))
    assert {row["path"] for row in found["losses"]} == {rows.name}
    status, body = viewer.get("/take?file=0&to=openai-chat")
    assert (status, body.count(b"\n")) == (200, len(ROWS))
    disposition = viewer.headers["content-disposition"]
    assert 'filename="answers-openai-chat.jsonl"' in disposition
    assert viewer.end(signal.SIGINT) == 130
    assert list(temporary.iterdir()) == []


def test_notes_are_kept(
    viewers: list[Viewer], temporary: Path, rows: Path, tmp_path: Path, main: InProcess
) -> None:
    """A note is in the file at once, with the id and the model; the data stay."""
    before, notes = rows.read_bytes(), tmp_path / "notes.jsonl"
    viewer = start(viewers, temporary, rows, "--notes", notes, "--no-browser")
    viewer.wait_until_read()
    note = {"file": 0, "record": 2, "verdict": "wrong", "text": "why"}

    assert viewer.get("/api/notes", "POST", **note)[0] == 204

    (line,) = map(json.loads, notes.read_bytes().splitlines())
    assert (line["record"], line["model"]) == (2, "org/model")
    assert line["file"] == "data/answers.jsonl"
    found = viewer.json("/api/record?file=0&record=2")
    assert found["note"] == {"verdict": "wrong", "text": "why"}
    assert viewer.end(signal.SIGINT) == 130
    assert rows.read_bytes() == before
    scored = main("score", notes, "--output-format", "json")
    (system,) = json.loads(scored.out)["systems"]
    assert [score["value"] for score in system["scores"]] == [0]


def test_redacted_page_shows_no_value(
    viewers: list[Viewer], temporary: Path, tmp_path: Path
) -> None:
    """No answer of any path has a value of a record."""
    place = tmp_path / "secret.jsonl"
    row = json.dumps(ROWS[0]).replace("org/model", "tellnobody/m")
    row = row.replace("Question 1?", "tellnobody").replace('"c"', '"tellnobody"')
    place.write_text(f"{row}\n" * 3 + '{"tellnobody": "tellnobody"}\n', "utf-8")
    notes = tmp_path / "notes.jsonl"
    options = ("--redact", "--no-browser", "--notes", notes)
    viewer = start(viewers, temporary, place, *options)
    viewer.wait_until_read()
    bodies = [
        viewer.get(path)[1]
        for path in (
            "/api/files",
            "/api/rows",
            "/api/rows?text=x",
            "/api/rows?sort=length",
            "/api/rows?field=llm_name&is=x",
            "/api/summary",
            *(f"/api/record?record={number}" for number in range(1, 5)),
            "/api/raw?record=1",
            "/api/find?id=x",
            "/api/find?line=1",
            "/api/systems",
            "/api/compare?a=0&b=0",
            "/api/compare/record?a=0&b=0&record=1",
            "/api/compare/table?a=0&b=0",
            "/api/command",
            "/api/losses?to=csv",
            "/take",
            "/take?to=csv",
            "/api/notes",
        )
    ]
    note = {"file": 0, "record": 1, "verdict": "right", "text": "mine"}
    assert viewer.get("/api/notes", "POST", **note)[0] == 204

    assert [body for body in bodies if b"tellnobody" in body] == []
    assert b"tellnobody" not in notes.read_bytes()
    assert viewer.json("/api/rows")["total"] == 4


def test_browser_is_opened_at_the_address(
    viewers: list[Viewer], temporary: Path, rows: Path, tmp_path: Path
) -> None:
    """The address has the token and the state of the page that was asked for."""
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n'
    )
    browser.chmod(0o755)
    environment = {"BROWSER": str(browser)}

    viewer = start(
        viewers, temporary, rows, "--query", "text=a", environment=environment
    )

    end = time.monotonic() + PATIENCE
    while not opened.exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert viewer.address.endswith("&text=a")
    viewer.address, printed = opened.read_text(), viewer.address
    viewer.open()
    # The words of a command can be read by other users of the machine.
    assert viewer.address != printed
    assert viewer.headers["location"] == "/?text=a"


@pytest.mark.parametrize("screen", ["", ":0"])
def test_no_browser_without_a_screen(
    viewers: list[Viewer], temporary: Path, rows: Path, screen: str
) -> None:
    """Without a screen none is opened, and a browser that fails is no error."""
    script = """import sys, webbrowser
def fail(_):
    sys.stderr.write("opened\\n")
    raise OSError("no browser")
webbrowser.open = fail"""
    variables = {"DISPLAY": screen, "WAYLAND_DISPLAY": "", "BROWSER": ""}
    viewer = start(viewers, temporary, rows, environment=variables, script=script)
    viewer.wait_until_read()

    assert viewer.end(signal.SIGINT) == 130
    lines = viewer.process.communicate()[1].decode().splitlines()
    assert sorted(lines) == ["Ctrl-C ends it", *(["opened"] if screen else [])]


@pytest.mark.long
def test_browser_that_fails_is_no_error(
    viewers: list[Viewer], temporary: Path, rows: Path
) -> None:
    """The page is served, and nothing is printed."""
    environment = {"BROWSER": "/nowhere/browser"}
    viewer = start(viewers, temporary, rows, environment=environment)

    assert viewer.get("/")[0] == 200
    assert viewer.end(signal.SIGINT) == 130
    assert viewer.process.communicate()[1] == b"Ctrl-C ends it\n"


def test_memory_of_the_server_is_bounded(
    viewers: list[Viewer], temporary: Path, rows: Path
) -> None:
    """The server has at most 150 MB, also after a conversion of its file."""
    rows.write_bytes(rows.read_bytes() * 4_000)
    viewer = start(viewers, temporary, rows, "--no-browser")
    viewer.wait_until_read()
    assert viewer.json("/api/losses?to=csv")["ok"]

    status = Path(f"/proc/{viewer.process.pid}/status").read_text(encoding="utf-8")
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    assert int(peak.split()[1]) < 150_000
    assert os.stat(rows).st_size > 1_000_000  # noqa: PTH116 - a size only
