"""What the server of the page answers at each path, from a session."""

import socket
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, IncompleteRead
from pathlib import Path

import pytest

from asgi_client import Answer
from fake_session import ROWS
from harpia_formats import ConversionError, HarpiaFormatsError
from known_formats import WRITABLE
from served_page import Running, Served

#: The files that the page loads.
STATIC = Path(__file__).parents[2] / "harpia_formats" / "view" / "static"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Return an application without notes."""
    found = Served(tmp_path)
    yield found
    found.take_away.close()


def check_error(answer: Answer, status: int, text: str) -> None:
    """Check that an answer is an error in JSON."""
    assert (answer.status, answer.json) == (status, {"error": text})
    assert answer.headers["content-type"] == "application/json"


def test_page_is_html_with_our_headers(served: Served) -> None:
    """The page is at the root, and nothing may be kept of it."""
    answer = served.client.get("/?text=a")

    assert (answer.status, answer.text) == (200, "<!doctype html>")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_static_files_are_a_fixed_list(served: Served) -> None:
    """Each file of the page has its type; a name that is none of them is refused."""
    types = {
        ".js": "text/javascript",
        ".css": "text/css",
        ".svg": "image/svg+xml",
        ".png": "image/png",
    }
    files = [path for path in STATIC.iterdir() if path.suffix in types]
    assert {".js", ".css"} <= {path.suffix for path in files}
    for path in files:
        answer = served.client.get(f"/static/{path.name}")
        assert (answer.status, answer.body) == (200, path.read_bytes())
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind == types[path.suffix]
    for name in ("x.js", "../server.py", "..%2fserver.py", "", "page.js/", "/page.js"):
        assert served.client.get(f"/static/{name}").status == 403


def test_other_paths_are_refused(served: Served) -> None:
    """A path that is none of the server's is refused with one line."""
    for path in ("/etc/passwd", "/api", "/api/", "/api/files/", "//", "/index.html"):
        answer = served.client.get(path)

        assert (answer.status, answer.text) == (403, "there is no such path\n")
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_icon_is_no_error(served: Served) -> None:
    """Browsers ask for it by themselves."""
    assert served.client.get("/favicon.ico").status == 204


def test_files_are_reported_with_what_the_server_knows(served: Served) -> None:
    """The file of notes is added, if there is one."""
    found = served.client.get("/api/files").json

    assert [file["name"] for file in found["files"]] == ["answers.jsonl"]
    assert found["notes"] is None


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/api/rows", "rows"),
        ("/api/summary", "summary"),
        ("/api/find", "find"),
        ("/api/compare", "compare"),
        ("/api/compare/record", "compared_record"),
        ("/api/compare/table", "compared_table"),
    ],
)
def test_questions_go_to_the_session(served: Served, path: str, method: str) -> None:
    """The query has one value for each key, decoded."""
    found = served.client.get(f"{path}?text=a%26+b&file=1&file=0&case=").json

    assert found["asked"] == method
    assert found["query"] == {"text": "a& b", "file": "0", "case": ""}


def test_record_has_its_note(served: Served) -> None:
    """Without notes there is none."""
    found = served.client.get("/api/record?file=0&record=2").json

    assert (found["record"], found["id"], found["note"]) == (2, "q2", None)


def test_systems_and_formats_are_reported(served: Served) -> None:
    """The formats are those that can be written."""
    assert served.client.get("/api/systems").json["asked"] == "systems"
    assert served.client.get("/api/formats").json == {"to": list(WRITABLE)}


def test_errors_are_one_line(served: Served) -> None:
    """What is not there is 404, what cannot be shown is 409; controls are escaped."""
    check_error(served.client.get("/api/record?record=9"), 404, "there is no record 9")
    served.session.error = HarpiaFormatsError("it\nhas \x1b[31m changed")
    for path in ("/api/rows", "/api/summary", "/take", "/api/compare"):
        check_error(served.client.get(path), 409, "it\\nhas \\x1b[31m changed")
    assert served.bugs == []


def test_bug_is_reported_and_not_shown(served: Served) -> None:
    """The answer to an unexpected error has nothing of it."""
    served.session.error = KeyError("a value")

    answer = served.client.get("/api/rows")

    assert (answer.status, answer.text) == (500, "this is a bug in harpia-formats\n")
    assert served.bugs == [served.session.error]


def test_redacted_errors_show_no_values(tmp_path: Path) -> None:
    """An error that may hold a value says only that it is hidden."""
    served = Served(tmp_path, redact=True)
    served.session.error = ConversionError("the value 'secret' is wrong")
    answer = served.client.get("/api/rows")
    assert answer.status == 409
    assert "secret" not in answer.text

    served.session.error = KeyError("secret")
    assert served.client.get("/api/rows").status == 500
    assert "secret" not in "".join(traceback.format_exception(served.bugs[0]))


@pytest.mark.parametrize("path", ["/take", "/take?to=csv", "/api/raw?record=1"])
def test_redacted_rows_are_not_taken_away(tmp_path: Path, path: str) -> None:
    """No response has a value of a record."""
    served = Served(tmp_path, redact=True)

    answer = served.client.get(path)

    assert answer.status in {404, 409}
    assert answer.json == {"error": "with `--redact`, no rows are taken away"}


def test_values_that_json_lacks_are_text(served: Served) -> None:
    """A large integer and a half of a character reach the page as text."""
    served.session.name = "a\udcffb"

    found = served.client.get("/api/files").json

    assert found["files"][0]["name"] == "a\\udcffb"


def test_head_has_no_body(served: Served) -> None:
    """HEAD is answered as GET, and no row is read to its end."""
    for path in ("/", "/take", "/api/files"):
        answer = served.client.request("HEAD", path)

        assert answer.status == 200
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_search_is_cancelled(served: Served) -> None:
    """The query that is sent is that of the search."""
    answer = served.client.post("/api/cancel", {"file": 0, "text": "a"})

    assert (answer.status, answer.body) == (204, b"")
    assert served.session.called == ["cancel"]


@pytest.mark.parametrize("body", [b"", b"x", b"[]", b"1", b'{"a":', b"\xff"])
def test_bodies_are_objects(served: Served, body: bytes) -> None:
    """Another body is an error of the request."""
    for path in ("/api/notes", "/api/cancel"):
        answer = served.client.post(path, body)
        check_error(answer, 400, "the body must be an object in JSON")


def test_notes_need_a_file(served: Served) -> None:
    """Without `--notes` the answer names the option."""
    text = "there is no file of notes: start with `--notes FILE`"
    check_error(served.client.get("/api/notes"), 409, text)
    note = {"file": 0, "record": 1, "verdict": "right", "text": ""}
    check_error(served.client.post("/api/notes", note), 409, text)


def test_notes_are_taken(served: Served, tmp_path: Path) -> None:
    """A note is reported with its record, and with those of its file."""
    served.take_notes(tmp_path / "notes.jsonl")
    note = {"file": 0, "record": 2, "verdict": "wrong", "text": "no\nreason"}

    assert served.client.post("/api/notes", note).status == 204

    shown = {"verdict": "wrong", "text": "no\nreason"}
    assert served.client.get("/api/notes?file=0").json == {"notes": {"2": shown}}
    assert served.client.get("/api/record?record=2").json["note"] == shown
    assert served.client.get("/api/record?record=1").json["note"] is None
    named = served.client.get("/api/files").json["notes"]
    assert named == str(tmp_path / "notes.jsonl")


@pytest.mark.parametrize(
    "note",
    [
        {"record": 9, "verdict": "right"},
        {"record": "x", "verdict": "right"},
        {"file": 7, "record": 1, "verdict": "right"},
        {"record": 1, "verdict": 1},
        {"record": 1, "verdict": "right", "text": None},
        {"record": 1, "verdict": "x" * 101},
    ],
)
def test_wrong_notes_are_not_taken(
    served: Served, tmp_path: Path, note: dict[str, object]
) -> None:
    """A note on a record that is not there, or of another form, is not written."""
    served.take_notes(tmp_path / "notes.jsonl")

    answer = served.client.post("/api/notes", note)

    assert answer.status == 409
    assert not (tmp_path / "notes.jsonl").exists()


@pytest.fixture
def running(served: Served) -> Iterator[Running]:
    """Return an application that is served until the end of the test."""
    found = Running(served)
    yield found
    found.end()


def ask(served: Served, port: int, path: str, **headers: str) -> tuple[int, bytes]:
    """Return the status and the body of an answer from the network."""
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    cookie = f"{served.secrets.cookie_name}={served.secrets.cookie}"
    with closing(connection):
        connection.request("GET", path, headers={"Cookie": cookie, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_many_clients_are_answered(running: Running) -> None:
    """20 clients at once get their answers, while one waits."""
    served, port = running.served, running.port
    served.session.go.clear()
    with ThreadPoolExecutor(21) as pool:
        slow = pool.submit(ask, served, port, "/api/rows")
        while not served.session.called:
            time.sleep(0.01)
        quick = [
            pool.submit(ask, served, port, path)
            for path in ("/api/files", "/api/formats") * 10
        ]
        assert {one.result()[0] for one in quick} == {200}
        assert not slow.done()
        served.session.go.set()
        assert slow.result()[0] == 200


def test_end_does_not_wait_for_questions(running: Running) -> None:
    """The session is closed first, so that a question that waits for it ends."""
    served, port = running.served, running.port
    served.session.go.clear()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, served, port, "/api/rows")
        while not served.session.called:
            time.sleep(0.01)
        running.end()
        assert served.session.is_closed
        assert asked.exception() or asked.result()


def test_end_needs_none_of_the_threads_that_answer(running: Running) -> None:
    """More questions than there are threads for answers do not keep it from its end."""
    served, port = running.served, running.port
    served.session.go.clear()
    with ThreadPoolExecutor(60) as pool:
        asked = [pool.submit(ask, served, port, "/api/rows") for _ in range(60)]
        end = time.monotonic() + 10
        while len(served.session.called) < 40 and time.monotonic() < end:
            time.sleep(0.01)
        try:
            running.end()
            assert served.session.is_closed
        finally:
            served.session.go.set()
        assert all(one.exception() or one.result() for one in asked)


@pytest.mark.parametrize(
    "path", ["/take", "/api/losses?to=csv", "/api/find", "/api/compare/table"]
)
def test_what_waits_long_holds_up_no_other_question(
    running: Running, path: str
) -> None:
    """Many downloads of a file that is still read leave threads for the page."""
    served, port = running.served, running.port
    served.session.format = "nemo-output"
    served.session.go.clear()
    with ThreadPoolExecutor(45) as pool:
        waiting = [pool.submit(ask, served, port, path) for _ in range(45)]
        try:
            while not served.session.called:
                time.sleep(0.01)
            time.sleep(0.5)
            assert ask(served, port, "/api/files")[0] == 200
            assert not any(one.done() for one in waiting)
        finally:
            served.session.go.set()
        assert {one.result()[0] for one in waiting} == {200}


def test_network_gets_no_other_headers(running: Running) -> None:
    """The answer does not name the server, and has no second copy of a header."""
    served, port = running.served, running.port
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        cookie = f"{served.secrets.cookie_name}={served.secrets.cookie}"
        connection.sendall(
            f"GET /api/files HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        text = b""
        while data := connection.recv(65_536):
            text += data

    names = [line.partition(b":")[0] for line in text.split(b"\r\n")[1:-2]]
    assert b"server" not in names
    assert len(names) == len(set(names))


def test_download_that_fails_has_no_end(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that cannot be read any more break the download off."""
    served, port = running.served, running.port

    def selected(_: object) -> Iterator[bytes]:
        yield b"a\n"
        raise HarpiaFormatsError("the file has changed")

    monkeypatch.setattr(served.session, "selected_bytes", selected)
    with pytest.raises(IncompleteRead):
        ask(served, port, "/take")
    assert served.bugs == []


def test_download_is_the_rows(running: Running) -> None:
    """The rows of the selection come as a file."""
    served, port = running.served, running.port

    status, body = ask(served, port, "/take")

    assert (status, body.count(b"\n")) == (200, len(ROWS))
