"""Which requests the server of the page refuses, and with which headers it answers."""

import asyncio
import time

import pytest
from starlette.types import Message, Receive, Scope, Send

from asgi_client import Answer, Client, guarded
from harpia_formats import HarpiaFormatsError

#: The headers of all answers.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
#: The seconds for which a token counts that a browser is opened with.
BRIEF = 60
#: The most bytes of a body.
MOST_BYTES = 1_000_000


class App:
    """Answers each request with its path, or raises an error."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.is_late = False
        self.asked: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        self.asked.append(scope["path"])
        if scope["method"] == "POST":
            while (await receive()).get("more_body"):
                pass
        if self.error is not None and not self.is_late:
            raise self.error
        headers = [(b"cache-control", b"public"), (b"content-type", b"text/x")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if self.error is not None:
            raise self.error
        await send({"type": "http.response.body", "body": b"shown"})


@pytest.fixture
def app() -> App:
    """Return what stands behind the access."""
    return App()


@pytest.fixture
def bugs() -> list[Exception]:
    """Return the list of errors that were reported."""
    return []


@pytest.fixture
def client(app: App, bugs: list[Exception]) -> Client:
    """Return what asks."""
    return guarded(app, bugs.append)


def check_refused(answer: Answer, status: int) -> None:
    """Check that an answer is a refusal: one line of text, with all headers."""
    assert answer.status == status
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.endswith("\n")
    assert answer.text.count("\n") == 1
    check_headers(answer)


def check_headers(answer: Answer) -> None:
    """Check that an answer has the headers of all answers."""
    assert (
        HEADERS.items()
        <= {name: answer.headers.get(name.lower()) for name in HEADERS}.items()
    )


def test_cookie_opens_the_page(client: Client) -> None:
    """A request with the cookie is answered, with our headers in place of its own."""
    answer = client.get("/")

    assert (answer.status, answer.text) == (200, "shown")
    check_headers(answer)
    assert answer.headers["content-type"] == "text/x"


def test_token_is_replaced_by_a_cookie(client: Client, app: App) -> None:
    """The first address leads to one without the token, which keeps the other state."""
    token = client.secrets.token

    answer = client.get(f"/?text=a%26b&token={token}&sort=length", cookie=None)

    assert answer.status == 303
    assert answer.headers["location"] == "/?text=a%26b&sort=length"
    name, value = client.secrets.cookie_name, client.secrets.cookie
    cookie = f"{name}={value}; HttpOnly; SameSite=Strict; Path=/"
    assert answer.headers["set-cookie"] == cookie
    assert name.startswith("harpia-view-")
    assert token not in answer.text
    assert app.asked == []
    check_headers(answer)


def test_token_alone_leads_to_the_page(client: Client) -> None:
    """Without other state the address is that of the page."""
    answer = client.get(f"/?token={client.secrets.token}", cookie=None)

    assert (answer.status, answer.headers["location"]) == (303, "/")


def test_first_path_has_the_state(client: Client) -> None:
    """The path that is printed has the token and the state of the page."""
    token = client.secrets.token

    assert client.secrets.first_path() == f"/?token={token}"
    assert client.secrets.first_path("text=a") == f"/?token={token}&text=a"


def test_token_of_an_opened_browser_counts_once(client: Client) -> None:
    """Who reads it from the words of a command cannot open the page once more."""
    path = client.secrets.first_path("text=a", is_brief=True)
    answer = client.get(path, cookie=None)
    assert (answer.status, answer.headers["location"]) == (303, "/?text=a")
    assert client.secrets.token not in path

    check_refused(client.get(path, cookie=None), 403)
    assert client.get(client.secrets.first_path(), cookie=None).status == 303


def test_token_of_a_browser_that_never_came_ends(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a minute it does not count, though nobody has used it."""
    path = client.secrets.first_path(is_brief=True)
    late = time.monotonic() + BRIEF
    monkeypatch.setattr(time, "monotonic", lambda: late)
    check_refused(client.get(path, cookie=None), 403)
    assert client.get(client.secrets.first_path(), cookie=None).status == 303


def test_servers_have_different_secrets(app: App) -> None:
    """No two servers share a token, a cookie or its name."""
    one, other = (guarded(app, print).secrets for _ in range(2))

    assert one.token != other.token
    assert one.cookie != other.cookie
    assert one.cookie_name != other.cookie_name
    assert len(one.token) >= 43


@pytest.mark.parametrize(
    "path",
    ["/", "/?token=wrong", "/?token=", "/api/files", "/static/x.js", "/etc/passwd"],
)
def test_request_without_cookie_is_refused(client: Client, path: str, app: App) -> None:
    """Neither a page nor data are shown to who has no token."""
    check_refused(client.get(path, cookie=None), 403)
    assert app.asked == []


def test_token_counts_once_and_at_the_first_path_only(client: Client) -> None:
    """Two tokens, or one at another path, open nothing."""
    token = client.secrets.token

    check_refused(client.get(f"/?token={token}&token=x", cookie=None), 403)
    check_refused(client.get(f"/api/files?token={token}", cookie=None), 403)
    check_refused(client.get("/?token=wrong"), 403)


@pytest.mark.parametrize("value", ["", "wrong", "é", "{cookie}x", "{token}"])
def test_wrong_cookie_is_refused(client: Client, value: str) -> None:
    """A cookie of that name with another value opens nothing."""
    own = client.secrets
    value = value.format(cookie=own.cookie, token=own.token)

    check_refused(client.get("/", cookie=f"{own.cookie_name}={value}"), 403)
    check_refused(client.get("/", cookie=f"harpia-view-0={own.cookie}"), 403)


def test_cookie_is_found_among_others(client: Client) -> None:
    """Cookies of other servers of this machine are passed over."""
    own = client.secrets
    cookies = f"a=b; {own.cookie_name}=old; {own.cookie_name}={own.cookie}; c"

    assert client.get("/", cookie=cookies).status == 200


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]", "[::1]:80"]
)
def test_names_of_this_machine_are_accepted(client: Client, host: str) -> None:
    """A tunnel may have any port."""
    assert client.get("/", host=host).status == 200
    assert client.get("/", origin=f"http://{host}").status == 200
    assert client.get("/", origin=f"https://{host}").status == 200


@pytest.mark.parametrize(
    "host",
    [
        "example.org",
        "127.0.0.1.example.org",
        "localhost.example.org:80",
        "localhost:",
        "localhost:80:80",
        "localhost@example.org",
        "127.0.0.2",
        "0.0.0.0",  # noqa: S104 - as a name only
        "::1",
        "",
        "localhost:٨٠".encode().decode("latin-1"),
        None,
    ],
)
def test_other_hosts_are_refused(client: Client, host: str | None, app: App) -> None:
    """A name that leads to this machine by the DNS of others is refused."""
    check_refused(client.get("/", host=host), 403)
    token = client.secrets.token
    check_refused(client.get(f"/?token={token}", host=host, cookie=None), 403)
    if host is not None:
        check_refused(client.get("/", origin=f"http://{host}"), 403)
    assert app.asked == []


@pytest.mark.parametrize(
    "origin", ["null", "", "file://", "localhost", "ftp://localhost", "http://a.org"]
)
def test_other_origins_are_refused(client: Client, origin: str) -> None:
    """A request of a page of another site, or of no site, is refused."""
    check_refused(client.get("/", origin=origin), 403)


def test_requests_across_sites_are_refused(client: Client) -> None:
    """The browser says that a request comes from another site."""
    check_refused(client.get("/", sec_fetch_site="cross-site"), 403)
    for site in ("none", "same-origin"):
        assert client.get("/", sec_fetch_site=site).status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "X"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    """The answer names the methods that the path has."""
    answer = client.request(method, "/api/files")

    check_refused(answer, 405)
    assert answer.headers["allow"] == "GET, HEAD"


def test_only_two_paths_take_something(client: Client) -> None:
    """POST is for notes and for the end of a search, and GET is not for the latter."""
    check_refused(client.post("/", {}), 405)
    check_refused(client.post("/take", {}), 405)
    assert client.post("/api/notes", {}).status == 200
    assert client.post("/api/cancel", {}).status == 200
    assert client.get("/api/notes").status == 200
    answer = client.get("/api/cancel")
    check_refused(answer, 405)
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/js"]
)
def test_other_content_is_refused(client: Client, kind: str | None, app: App) -> None:
    """What a form of another page can send is not taken."""
    check_refused(client.post("/api/notes", {}, content_type=kind), 415)
    assert app.asked == []


def test_content_type_may_have_a_charset(client: Client) -> None:
    """A parameter of the content type is passed over."""
    kind = "Application/JSON; charset=utf-8"

    assert client.post("/api/notes", {}, content_type=kind).status == 200


def test_long_bodies_are_refused(client: Client) -> None:
    """A body that is too long is not read to its end, whatever length it tells."""
    check_refused(client.post("/api/notes", b"x" * (MOST_BYTES + 1)), 413)
    assert client.post("/api/notes", b"x" * MOST_BYTES).status == 200
    for length in (str(MOST_BYTES + 1), "-1", "x"):
        check_refused(client.post("/api/notes", b"", content_length=length), 413)


def test_other_protocols_are_refused(client: Client) -> None:
    """A connection is not turned into one of another protocol."""
    check_refused(client.get("/", upgrade="websocket"), 403)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def connect() -> None:
        await client.app({"type": "websocket", "path": "/"}, receive, send)

    asyncio.run(connect())

    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_text_of_a_bug_is_not_shown(
    client: Client, app: App, bugs: list[Exception]
) -> None:
    """An unexpected error is reported, and the answer says only that there is one."""
    app.error = KeyError("a value of a record")

    answer = client.get("/api/rows")

    check_refused(answer, 500)
    assert answer.text == "this is a bug in harpia-formats\n"
    assert bugs == [app.error]


@pytest.mark.parametrize("error", [KeyError("x"), HarpiaFormatsError("changed")])
def test_answer_that_cannot_go_on_is_broken_off(
    client: Client, app: App, error: Exception, bugs: list[Exception]
) -> None:
    """A begun answer has no end, so that the browser knows that a part is missing."""
    app.error, app.is_late = error, True

    answer = client.get("/take")

    assert (answer.status, answer.body) == (200, b"")
    assert [message["type"] for message in client.messages] == ["http.response.start"]
    assert bool(bugs) is isinstance(error, KeyError)
