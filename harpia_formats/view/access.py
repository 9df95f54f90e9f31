"""Check who may send requests to the server, before any of them is answered.

The page has the values of records, and other users of the machine, and pages of other
sites in the same browser, can reach the port. So the first address has a token, which a
cookie replaces at once; every later request needs the cookie. A page of another site
that finds a name for this machine is refused by the name, and one that sends requests
by where they come from.
"""

import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harpia_formats.model.problem import HarpiaFormatsError

#: Bytes of the body of a request, at most.
MOST_BYTES = 1_000_000
#: The headers of every response.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_raw_headers = [
    (name.lower().encode(), text.encode()) for name, text in HEADERS.items()
]
_raw_names = frozenset(name for name, _ in _raw_headers)
#: The methods of all paths, and of those to which something is sent.
_reading = ("GET", "HEAD")
_methods = {"/api/notes": (*_reading, "POST"), "/api/cancel": ("POST",)}
#: This machine, as browsers name it. The port may be that of a tunnel.
_host = re.compile(
    r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.ASCII | re.IGNORECASE
)
_token = "token"  # noqa: S105 - the name of it
#: Seconds from the start for which the token of an opened browser counts, once.
BRIEF = 60
#: Random bytes of a secret.
_RANDOM = 32


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets that give access to one server."""

    #: What the first address has.
    token: str = field(default_factory=lambda: secrets.token_urlsafe(_RANDOM))
    #: What it has where a browser is opened at it: other users of the machine see the
    #: words of its command, so that this one counts once, within a minute.
    brief_token: str = field(default_factory=lambda: secrets.token_urlsafe(_RANDOM))
    #: The value of the cookie of every later request.
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(_RANDOM))
    #: The name of the cookie: all ports of a machine share their cookies.
    cookie_name: str = field(
        default_factory=lambda: f"harpia-view-{secrets.token_hex(8)}"
    )

    def first_path(self, query: str = "", *, is_brief: bool = False) -> str:
        """Return the path of the first address, with the state of the page."""
        token = self.brief_token if is_brief else self.token
        return f"/?{_token}={token}{'&' if query else ''}{query}"


class _Refused(Exception):  # noqa: N818 - says what happened
    """A request is refused: its status, a sentence, and further headers."""

    def __init__(self, status: int, reason: str, **headers: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.headers = headers


class Access:
    """The application, which only requests that it may answer reach."""

    def __init__(
        self,
        app: ASGIApp,
        opened_by: Secrets,
        report_bug: Callable[[Exception], object],
    ) -> None:
        """Stand in front of `app`; `report_bug` is called with unexpected errors."""
        self._app = app
        self._secrets = opened_by
        self._report_bug = report_bug
        self._begin = time.monotonic()
        self._is_brief_used = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application answer it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        response = _Response(send)
        try:
            redirect = self._checked(scope)
            if redirect is not None:
                await response.line(303, "", redirect)
                return
            await self._app(scope, _limited(scope, receive), response.send)
        except _Refused as refused:
            await response.line(refused.status, refused.reason, refused.headers)
        except (ClientDisconnect, HarpiaFormatsError):
            # The reader left, or a download cannot go on: it ends before its end.
            await response.line(500, "this cannot be shown", {})
        except Exception as error:  # noqa: BLE001 - no text of it may reach a response
            self._report_bug(error)
            await response.line(500, "this is a bug in harpia-formats", {})

    def _checked(self, scope: Scope) -> Mapping[str, str] | None:
        """Return the headers of a redirect if a request has the token, else None.

        Raises `_Refused` for what must not be answered.
        """
        _check_names(scope)
        _check_method(scope)
        token, rest = _token_of(scope["query_string"])
        if scope["path"] == "/" and token:
            self._check_token(token)
            return {
                "Location": f"/?{rest}" if rest else "/",
                "Set-Cookie": f"{self._secrets.cookie_name}={self._secrets.cookie}; "
                "HttpOnly; SameSite=Strict; Path=/",
            }
        if not _equal([self._secrets.cookie], self._cookies(scope)):
            raise _Refused(403, "open the address that harpia-formats view has printed")
        if scope["method"] == "POST":
            _check_body(scope)
        return None

    def _check_token(self, token: list[str]) -> None:
        """Raise `_Refused` unless a token opens the page, the brief one only once."""
        if _equal(token, [self._secrets.token]):
            return
        is_early = time.monotonic() - self._begin < BRIEF
        is_brief = _equal(token, [self._secrets.brief_token])
        if not is_brief or self._is_brief_used or not is_early:
            raise _Refused(403, "the token is not that of this server")
        self._is_brief_used = True

    def _cookies(self, scope: Scope) -> list[str]:
        """Return the values of the cookies with our name."""
        pairs = (
            pair.strip().partition("=")
            for line in _values(scope, "cookie")
            for pair in line.split(";")
        )
        return [value for name, _, value in pairs if name == self._secrets.cookie_name]


class _Response:
    """Sends a response with the headers of all responses."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_begun = False

    async def send(self, message: Message) -> None:
        """Send a part of the response of the application."""
        if message["type"] == "http.response.start":
            self._is_begun = True
            own = [
                (name, value)
                for name, value in message.get("headers", ())
                if name.lower() not in _raw_names
            ]
            message = {**message, "headers": [*own, *_raw_headers]}
        await self._send(message)

    async def line(self, status: int, reason: str, more: Mapping[str, str]) -> None:
        """Send one line, unless a response is begun: then that one is broken off."""
        if self._is_begun:
            return
        text = f"{reason}\n".encode() if reason else b""
        headers = {
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(text)),
            **more,
        }
        await self.send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [
                    (name.lower().encode(), value.encode("latin-1"))
                    for name, value in headers.items()
                ],
            }
        )
        await self.send({"type": "http.response.body", "body": text})


def _values(scope: Scope, name: str) -> list[str]:
    """Return the values of all headers with a name."""
    wanted = name.encode()
    return [value.decode("latin-1") for key, value in scope["headers"] if key == wanted]


def _equal(one: list[str], other: list[str]) -> bool:
    """Tell whether the only text in `one` is in `other`, in a time that says nothing.

    It is false if `one` has several texts, or none.
    """
    if len(one) != 1:
        return False
    wanted = one[0].encode()
    found = [compare_digest(wanted, each.encode()) for each in other]
    return any(found)


def _check_names(scope: Scope) -> None:
    """Raise `_Refused` unless a request is for this machine, and from one of its pages.

    That is what `Host` and `Origin` say, and the browser by `Sec-Fetch-Site`.
    """
    hosts = _values(scope, "host")
    if len(hosts) != 1 or not _host.fullmatch(hosts[0]):
        raise _Refused(403, "the host must be localhost, 127.0.0.1 or [::1]")
    for origin in _values(scope, "origin"):
        scheme, _, host = origin.partition("://")
        if scheme not in {"http", "https"} or not _host.fullmatch(host):
            raise _Refused(403, "the request comes from a page of another site")
    if "cross-site" in _values(scope, "sec-fetch-site"):
        raise _Refused(403, "the request comes from a page of another site")
    if _values(scope, "upgrade"):
        raise _Refused(403, "the server has no other protocol than HTTP")


def _check_method(scope: Scope) -> None:
    """Raise `_Refused` for a method that the path has not."""
    allowed = _methods.get(scope["path"], _reading)
    if scope["method"] not in allowed:
        names = ", ".join(allowed)
        raise _Refused(405, f"the methods of this path are: {names}", Allow=names)


def _check_body(scope: Scope) -> None:
    """Raise `_Refused` for a body that is no JSON, or says that it is too long."""
    kinds = [text.partition(";")[0].strip() for text in _values(scope, "content-type")]
    if [kind.lower() for kind in kinds] != ["application/json"]:
        raise _Refused(415, "the content type must be application/json")
    for length in _values(scope, "content-length"):
        if not length.isdecimal() or int(length) > MOST_BYTES:
            raise _Refused(413, f"a body has at most {MOST_BYTES:,} bytes")


def _limited(scope: Scope, receive: Receive) -> Receive:
    """Return what receives a body, and raises `_Refused` if it is too long."""
    if scope["method"] != "POST":
        return receive
    received = 0

    async def receive_some() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MOST_BYTES:
            raise _Refused(413, f"a body has at most {MOST_BYTES:,} bytes")
        return message

    return receive_some


def _token_of(query: bytes) -> tuple[list[str], str]:
    """Return the values of the token in a query string, and the rest of the string."""
    found: list[str] = []
    rest: list[str] = []
    for part in query.decode("latin-1").split("&"):
        named = dict(parse_qsl(part, keep_blank_values=True))
        if _token in named:
            found.append(named[_token])
        elif part:
            rest.append(part)
    return found, "&".join(rest)
