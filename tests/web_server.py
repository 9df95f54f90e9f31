"""A local file server whose faults a test can choose."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Web:
    """What a server holds, how it answers, and what it was asked."""

    files: dict[str, bytes] = field(default_factory=dict)
    #: Whether it gives ranges.
    ranges: bool = True
    #: The status of every answer, instead of a file.
    status: int = 0
    #: Answers for bytes from here on fail with 500; those in front of it do not.
    broken_from: int | None = None
    #: Answers wait for this.
    go: threading.Event = field(default_factory=threading.Event)
    etag: str = '"one"'
    #: Method and range of each request.
    asked: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""

    def __post_init__(self) -> None:
        self.go.set()


@contextmanager
def serving(web: Web) -> Iterator[Web]:
    """Serve what is in `web`, whose `url` is set, for `with`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            _answer(self, web, body=False)

        def do_GET(self) -> None:
            _answer(self, web, body=True)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    web.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield web
    finally:
        web.go.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _answer(handler: BaseHTTPRequestHandler, web: Web, *, body: bool) -> None:
    asked = handler.headers.get("Range", "")
    web.asked.append((handler.command, asked))
    web.go.wait(20)
    data = web.files.get(handler.path.partition("?")[0])
    if web.status or data is None:
        _send(handler, web.status or 404, b"", web)
        return
    found = re.fullmatch(r"bytes=(\d+)-(\d+)", asked) if web.ranges else None
    if found is None:
        _send(handler, 200, data, web, body=body)
        return
    begin, end = int(found[1]), int(found[2]) + 1
    if web.broken_from is not None and end > web.broken_from:
        _send(handler, 500, b"", web)
        return
    _send(handler, 206, data[begin:end], web)


def _send(
    handler: BaseHTTPRequestHandler,
    status: int,
    data: bytes,
    web: Web,
    *,
    body: bool = True,
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(data)))
    handler.send_header("ETag", web.etag)
    handler.end_headers()
    if body:
        handler.wfile.write(data)
