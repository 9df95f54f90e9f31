"""Ask an application without a network: every header is sent as it is given."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message

from harpia_formats.view.access import Access, Secrets


@dataclass(frozen=True)
class Answer:
    """A response: its status, its headers and its body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    @property
    def json(self) -> Any:
        """The body as decoded JSON."""
        return json.loads(self.body)


@dataclass
class Client:
    """Sends requests to an application, with the cookie of `secrets` by default."""

    app: ASGIApp
    secrets: Secrets
    #: Messages that came behind the end of a response, or without a start.
    messages: list[Message] = field(default_factory=list)

    @property
    def usual(self) -> dict[str, str]:
        """The headers of a request that is answered."""
        cookie = f"{self.secrets.cookie_name}={self.secrets.cookie}"
        return {"host": "127.0.0.1:8000", "cookie": cookie}

    def get(self, path: str, **headers: str | None) -> Answer:
        """Return the answer to GET; a header that is None is not sent."""
        return self.request("GET", path, b"", **headers)

    def post(self, path: str, body: object, **headers: str | None) -> Answer:
        """Return the answer to POST of an object as JSON, or of bytes as they are."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers.setdefault("content_type", "application/json")
        return self.request("POST", path, data, **headers)

    def request(
        self, method: str, path: str, body: bytes = b"", **headers: str | None
    ) -> Answer:
        """Return the answer to a request."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        sent = {**self.usual, **named}
        return asyncio.run(self._ask(method, path, body, sent))

    async def _ask(
        self, method: str, path: str, body: bytes, headers: dict[str, str | None]
    ) -> Answer:
        place, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "path": place,
            "raw_path": place.encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": query.encode(),
            "headers": [
                (name.encode(), text.encode("latin-1"))
                for name, text in headers.items()
                if text is not None
            ],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 8_000),
        }
        pieces = [body[at : at + 65_536] for at in range(0, len(body), 65_536)] or [b""]
        sent: list[Message] = []
        ended = asyncio.Event()

        async def receive() -> Message:
            if pieces:
                piece = pieces.pop(0)
                more = bool(pieces)
                return {"type": "http.request", "body": piece, "more_body": more}
            await ended.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        ended.set()
        self.messages = sent
        start, *rest = sent
        names = [name.decode() for name, _ in start["headers"]]
        assert len(names) == len(set(names)), names
        return Answer(
            start["status"],
            {name.decode(): value.decode() for name, value in start["headers"]},
            b"".join(part.get("body", b"") for part in rest),
        )


def guarded(app: ASGIApp, report: Callable[[Exception], None]) -> Client:
    """Return what asks an application behind the access of the page.

    `report` gets each error that is a bug.
    """
    secrets = Secrets()
    return Client(Access(app, secrets, report), secrets)
