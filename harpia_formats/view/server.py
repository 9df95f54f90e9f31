"""The HTTP server of the page: its paths and their answers, its start and its end."""

import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath
from types import FrameType
from typing import Any, Protocol, TypeVar

import orjson
import uvicorn
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from jinja2 import Environment, StrictUndefined
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from harpia_formats._version import __version__
from harpia_formats.files.io.reader import error_reason
from harpia_formats.formats.registry import writable_formats
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.safe_text import escaped, json_text
from harpia_formats.validation.redaction import errors_shown, redacting
from harpia_formats.view.access import Access, Secrets
from harpia_formats.view.notes import Notes
from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.take_away import Download, Query, Selection, TakeAway

_Found = TypeVar("_Found")
#: Code points of an error.
_MOST = 1_000
#: The media types of static files, by their suffixes: no others are served.
_types = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
#: Paths about one record or question: what they do not find is not there.
_about_one = frozenset("/api/record /api/raw /api/find /api/compare/record".split())

#: Paths that may wait long, for a whole file or a search. Each has some threads of its
#: own, so that any number of such questions holds up no others.
_long = ("/take", "/api/losses", "/api/find", "/api/compare/table")
_THREADS = 8
#: Which threads answer at a path, if not those of all others.
_Limits = Mapping[str, CapacityLimiter]


class Session(Selection, Protocol):
    """What the page asks for; see `harpia_formats.view.session`."""

    def rows(self, query: Query) -> dict[str, Any]:
        """Return a page of the selected rows."""

    def summary(self, query: Query) -> dict[str, Any]:
        """Return the counts of the selected rows."""

    def record(self, query: Query) -> dict[str, Any]:
        """Return one record."""

    def identity(self, query: Query) -> dict[str, Any]:
        """Return what identifies a record in a note: its number, id and model."""

    def raw(self, query: Query) -> bytes:
        """Return the bytes of one record."""

    def find(self, query: Query) -> dict[str, Any]:
        """Return the record in a line, with a number or with an id."""

    def systems(self) -> dict[str, Any]:
        """Return the systems and their metrics."""

    def compare(self, query: Query) -> dict[str, Any]:
        """Return questions that two systems answered."""

    def compared_record(self, query: Query) -> dict[str, Any]:
        """Return the answers of two systems to a question."""

    def compared_table(self, query: Query) -> dict[str, Any]:
        """Return the table of scores of two systems."""

    def cancel(self, query: Query) -> None:
        """End the search of a query."""

    def close(self) -> None:
        """End the processes, and every call that waits for them."""


class ServerError(HarpiaFormatsError):
    """The server cannot be started; the text says why."""

    hides_values = True


@dataclass(frozen=True, slots=True)
class Page:
    """What the server answers from: a session, its options and its notes."""

    session: Session
    options: ViewOptions
    take_away: TakeAway
    notes: Notes | None = None

    def record(self, query: Query) -> dict[str, Any]:
        """Return a record with its note."""
        found = self.session.record(query)
        if self.notes is None:
            return {**found, "note": None}
        path = self.session.path_of(query)
        return {**found, "note": self.notes.of_record(path, found["record"])}

    def notes_on(self, query: Query) -> dict[str, Any]:
        """Return the notes on the records of a file."""
        return {"notes": self._notes().of_file(self.session.path_of(query))}

    def add_note(self, given: Mapping[str, Any]) -> None:
        """Append a note on a record; raises `ViewError`."""
        notes = self._notes()
        query = {key: str(given.get(key, "0")) for key in ("file", "record")}
        identity = self.session.identity(query)
        notes.add(self.session.path_of(query), identity, given)

    def cancel(self, given: Mapping[str, Any]) -> None:
        """End the search of a query."""
        self.session.cancel({key: str(value) for key, value in given.items()})

    def _notes(self) -> Notes:
        if self.notes is None:
            raise ViewError("there is no file of notes: start with `--notes FILE`")
        return self.notes


#: What each path answers from a page and a query.
_ANSWERS: Mapping[str, Callable[[Page, Query], Any]] = {
    "/api/files": lambda page, _: {
        **page.session.files(),
        "notes": None if page.notes is None else str(page.notes.path),
    },
    "/api/rows": lambda page, query: page.session.rows(query),
    "/api/summary": lambda page, query: page.session.summary(query),
    "/api/record": lambda page, query: page.record(query),
    "/api/find": lambda page, query: page.session.find(query),
    "/api/systems": lambda page, _: page.session.systems(),
    "/api/compare": lambda page, query: page.session.compare(query),
    "/api/compare/record": lambda page, query: page.session.compared_record(query),
    "/api/compare/table": lambda page, query: page.session.compared_table(query),
    "/api/command": lambda page, query: {"command": page.take_away.command(query)},
    "/api/losses": lambda page, query: page.take_away.losses(
        query, query.get("to", "")
    ),
    "/api/formats": lambda _, __: {"to": list(writable_formats())},
    "/api/notes": lambda page, query: page.notes_on(query),
}
#: What each path does with the object that is sent to it.
_ACTS: Mapping[str, Callable[[Page, Mapping[str, Any]], None]] = {
    "/api/notes": Page.add_note,
    "/api/cancel": Page.cancel,
}


def application(
    page: Page,
    shell: str,
    static_files: Mapping[str, tuple[bytes, str]],
    opened_by: Secrets,
    report_bug: Callable[[Exception], object],
) -> ASGIApp:
    """Return the application, with `Access` in front of it.

    `shell` is the page without data. `report_bug` is called with unexpected errors.
    """
    limits = {path: CapacityLimiter(_THREADS) for path in _long}

    async def html(_: Request) -> Response:
        return Response(shell, media_type="text/html")

    async def static(request: Request) -> Response:
        found = static_files.get(request.path_params["name"])
        if found is None:
            return _refusal()
        return Response(found[0], headers={"Content-Type": found[1]})

    async def icon(_: Request) -> Response:
        return Response(status_code=204)

    async def api(request: Request) -> Response:
        return await _answer(page, request, limits)

    async def download(request: Request) -> Response:
        return await _download(page, request, limits)

    paths = sorted({*_ANSWERS, *_ACTS})
    routes = [
        Route("/", html),
        Route("/static/{name}", static),
        Route("/favicon.ico", icon),
        Route("/take", download),
        Route("/api/raw", download),
        *(Route(path, api, methods=["GET", "POST"]) for path in paths),
    ]
    router = Router(routes, redirect_slashes=False, default=_refuse)
    return Access(router, opened_by, report_bug)


def read_static_files() -> dict[str, tuple[bytes, str]]:
    """Return the bytes and the media type of each static file, by its name.

    They are read once: no path of a request reaches the file system.
    """
    folder = files(__package__) / "static"
    return {
        one.name: (one.read_bytes(), _types[suffix])
        for one in (folder.iterdir() if folder.is_dir() else ())
        if (suffix := PurePath(one.name).suffix) in _types
    }


def shell_page() -> str:
    """Return the page without data, which the scripts fill."""
    template = (files(__package__) / "templates" / "index.html").read_text("utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(template).render(version=__version__)


async def _answer(page: Page, request: Request, limits: _Limits) -> Response:
    """Return the answer of a path in JSON, or why there is none."""
    path = request.url.path
    if request.method != "POST":
        query = dict(request.query_params)
        return await _shown(page, path, lambda: _ANSWERS[path](page, query), limits)
    try:
        given = orjson.loads(await request.body())
    except orjson.JSONDecodeError:
        given = None
    if not isinstance(given, dict):
        return _json({"error": "the body must be an object in JSON"}, 400)
    return await _shown(page, path, lambda: _ACTS[path](page, given), limits)


async def _shown(
    page: Page, path: str, ask: Callable[[], Any], limits: _Limits
) -> Response:
    """Return what `ask` returns, called in another thread, as a response."""
    try:
        found = await run_sync(
            _asked, page, ask, abandon_on_cancel=True, limiter=limits.get(path)
        )
    except HarpiaFormatsError as error:
        return _error(error, path)
    return Response(status_code=204) if found is None else _json(found)


async def _download(page: Page, request: Request, limits: _Limits) -> Response:
    """Return the bytes of rows as a file."""
    query = dict(request.query_params)
    path = request.url.path

    def start() -> Download:
        if path == "/api/raw":
            return page.take_away.raw(query, page.session.raw)
        target = query.get("to", "")
        if target:
            return page.take_away.converted(query, target)
        return page.take_away.rows(query)

    try:
        found = await run_sync(
            _asked, page, start, abandon_on_cancel=True, limiter=limits.get(path)
        )
    except HarpiaFormatsError as error:
        return _error(error, path)
    if request.method == "HEAD":
        found.close()
        return Response(headers=found.headers)
    return StreamingResponse(_sent(found), headers=found.headers)


async def _sent(download: Download) -> AsyncIterator[bytes]:
    """Yield the blocks of a download, each read in another thread."""
    try:
        while (block := await run_sync(next, download.blocks, None)) is not None:
            yield block
    finally:
        download.close()


def _asked(page: Page, ask: Callable[[], _Found]) -> _Found:
    """Return what `ask` returns; its errors show no values if the page shows none."""
    try:
        return ask()
    except ViewError:
        raise
    except Exception:
        with errors_shown(redacting(is_on=page.options.redact)):
            raise
        raise  # for a type checker: nothing is passed over


def _error(error: HarpiaFormatsError, path: str) -> Response:
    """Return why there is no answer, in one line."""
    status = 404 if path in _about_one else 409
    return _json({"error": escaped(str(error))[:_MOST]}, status)


def _json(value: dict[str, Any], status: int = 200) -> Response:
    try:
        text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:  # an integer of more than 64 bits, or a half of a character
        text = json_text(value).encode()
    return Response(text, status, media_type="application/json")


def _refusal() -> Response:
    return PlainTextResponse("there is no such path\n", 403)


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for a path that does not exist."""
    await _refusal()(scope, receive, send)


def bound_socket(port: int) -> socket.socket:
    """Return a socket that only this machine reaches, at a free port if `port` is 0.

    Raises `ServerError` if the port cannot be had.
    """
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1", port))
        found.listen()
    except OSError as error:
        found.close()
        reason = error_reason(error)
        raise ServerError(
            f"port {port} of 127.0.0.1 cannot be used: {reason}; another one is "
            "chosen without `--port`"
        ) from error
    return found


#: The signals that end the server.
_SIGNALS: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Server(uvicorn.Server):
    """Ends with a signal, after its session: a question must not hold it up.

    A signal that was ignored before stays ignored, and others are raised again behind
    the end.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        begin: Callable[[], None],
        end: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._begin = begin
        self._end = end
        self._received: list[int] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, then tell so."""
        await super().startup(sockets)
        self._begin()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the session, then the connections.

        Questions may hold all threads that answer, so that the end has its own.
        """
        await run_sync(self._end, limiter=CapacityLimiter(1))
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note a signal, which ends the server."""
        del frame
        self._received.append(sig)
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals inside of `with`."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        taken = {
            number: handler
            for number, handler in before.items()
            if handler is not signal.SIG_IGN
        }
        for number in taken:
            signal.signal(number, self.handle_exit)
        try:
            yield
        finally:
            for number, handler in taken.items():
                signal.signal(number, handler)
        for number in self._received[:1]:
            signal.raise_signal(number)


def server_of(
    app: ASGIApp, begin: Callable[[], None], end: Callable[[], None]
) -> uvicorn.Server:
    """Return the server of an application.

    It calls `begin` once it answers and handles signals, and `end` before it ends.
    """
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )
    return _Server(config, begin, end)


def open_browser(address: str) -> None:
    """Open a browser at an address, in a thread, if there is a screen for it.

    A browser in the terminal would take it away from this process.
    """
    has_screen = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if not has_screen:
        return

    def run() -> None:
        import webbrowser  # noqa: PLC0415 - not with `--no-browser`

        with suppress(Exception):  # the address is printed
            webbrowser.open(address)

    threading.Thread(target=run, daemon=True).start()
