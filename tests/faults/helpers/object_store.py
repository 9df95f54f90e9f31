"""A store on this machine that speaks as S3 does, and misbehaves as a test says.

It holds files by their path, `/bucket/key`, so that `http://` and `s3://` name the same
file. Each file has an ETag that changes with its bytes.
"""

import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

#: Seconds after which a frozen answer ends, so that no test hangs for ever.
FROZEN = 600.0
_XML = '<?xml version="1.0" encoding="UTF-8"?>'


@dataclass(frozen=True)
class Request:
    """What a client asked for: method, path, query, and the range as its two ends."""

    method: str
    path: str
    query: dict[str, str]
    range: tuple[int, int] | None

    @property
    def reads(self) -> bool:
        """Whether it is for bytes of a file, more than the one that tries ranges."""
        return self.method == "GET" and self.range is not None and self.range[1] > 1


@dataclass
class Fault:
    """How the store misbehaves: what it does to which requests, how often."""

    #: throttle, fail, cut, few, freeze, stall or reset, as `_misbehave` has them.
    kind: str
    applies: Callable[[Request], bool] = lambda request: request.reads
    #: So many times, then the store behaves; None is always.
    times: int | None = None


@dataclass
class Store:
    """What a store holds, how it misbehaves, and what it was asked."""

    files: dict[str, bytes] = field(default_factory=dict)
    fault: Fault | None = None
    #: Is called with each request before it is answered.
    watch: Callable[[Request], None] = lambda _: None
    #: The parts of uploads that are not finished, by their id.
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)
    #: How many requests were answered by the fault.
    faults: int = 0
    url: str = ""
    #: Frozen answers wait for this.
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def takes_fault(self, request: Request) -> str:
        """Return the kind of fault that a request meets, "" if none; count it."""
        with self.lock:
            self.asked.append(request)
            fault = self.fault
            if fault is None or not fault.applies(request):
                return ""
            if fault.times is not None and self.faults >= fault.times:
                return ""
            self.faults += 1
            return fault.kind

    def environment(self) -> dict[str, str]:
        """Return the variables by which `s3://` addresses lead here."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "example",
            "AWS_DEFAULT_REGION": "us-east-1",
        }


@contextmanager
def serving(store: Store) -> Iterator[Store]:
    """Serve what is in `store`, whose `url` is set, for `with`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Without it head and body are two packets, and the second one waits.
        wbufsize = -1

        def do_GET(self) -> None:
            try:
                _answer(self, store)
            except OSError:
                self.close_connection = True  # the client has given up

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_PUT(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            self.do_GET()

        def handle_expect_100(self) -> bool:
            """Keep a client waiting that asks first whether it may send."""
            return True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    store.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield store
    finally:
        store.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _answer(handler: BaseHTTPRequestHandler, store: Store) -> None:
    body = _body(handler)
    request = _request(handler)
    store.watch(request)
    kind = store.takes_fault(request)
    if kind and _misbehave(handler, store, request, kind):
        return
    actions = {"PUT": _put, "POST": _post, "DELETE": _delete}
    if action := actions.get(request.method):
        action(handler, store, request, body)
    elif "list-type" in request.query:
        _list(handler, store, request)
    else:
        _get(handler, store, request, kind)


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    """Return what a request sends, without the frames of chunks in it."""
    data = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    if "aws-chunked" not in handler.headers.get("Content-Encoding", ""):
        return data
    pieces, at = [], 0
    while size := int(data[at : data.index(b"\r\n", at)].partition(b";")[0], 16):
        at = data.index(b"\r\n", at) + 2
        pieces.append(data[at : at + size])
        at += size + 2
    return b"".join(pieces)


def _request(handler: BaseHTTPRequestHandler) -> Request:
    address = urlsplit(handler.path)
    query = {
        key: values[0]
        for key, values in parse_qs(address.query, keep_blank_values=True).items()
    }
    found = re.fullmatch(r"bytes=(\d+)-(\d+)", handler.headers.get("Range", ""))
    range_ = (int(found[1]), int(found[2]) + 1) if found else None
    return Request(handler.command, unquote(address.path), query, range_)


def _misbehave(
    handler: BaseHTTPRequestHandler, store: Store, request: Request, kind: str
) -> bool:
    """Answer by a fault; tell whether that was all."""
    if kind == "throttle":
        _error(handler, request, 503, "SlowDown", "Please reduce your request rate.")
    elif kind == "fail":
        _error(handler, request, 500, "InternalError", "An internal error occurred.")
    elif kind == "freeze":
        store.ended.wait(FROZEN)
        handler.close_connection = True
    elif kind == "reset":
        handler.close_connection = True
    else:
        return False
    return True


def _get(
    handler: BaseHTTPRequestHandler, store: Store, request: Request, kind: str
) -> None:
    """Send a file or a range of it; a fault of `kind` sends less of it."""
    data = store.files.get(request.path)
    if data is None:
        _error(handler, request, 404, "NoSuchKey", "The key does not exist.")
        return
    begin, end = request.range or (0, len(data))
    status = 206 if request.range else 200
    wanted = data[begin:end]
    if kind == "few":
        wanted = wanted[: len(wanted) // 2]
    headers = {"ETag": etag_of(data), "Accept-Ranges": "bytes"}
    if request.range:
        last = begin + len(wanted) - 1
        headers["Content-Range"] = f"bytes {begin}-{last}/{len(data)}"
    _head(handler, status, len(wanted), headers)
    if request.method == "HEAD":
        return
    if kind not in {"cut", "stall"}:
        handler.wfile.write(wanted)
        return
    handler.wfile.write(wanted[: len(wanted) // 2])
    handler.wfile.flush()
    if kind == "stall":
        store.ended.wait(FROZEN)
    handler.close_connection = True


def _list(handler: BaseHTTPRequestHandler, store: Store, request: Request) -> None:
    bucket = request.path.strip("/")
    prefix = f"/{bucket}/{request.query.get('prefix', '')}"
    items = [
        f"<Contents><Key>{path.removeprefix(f'/{bucket}/')}</Key>"
        f"<Size>{len(data)}</Size><ETag>{etag_of(data)}</ETag>"
        "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
        for path, data in sorted(store.files.items())
        if path.startswith(prefix)
    ]
    text = f"<Name>{bucket}</Name><KeyCount>{len(items)}</KeyCount>{''.join(items)}"
    _xml(handler, f"<ListBucketResult>{text}</ListBucketResult>")


def _put(
    handler: BaseHTTPRequestHandler, store: Store, request: Request, body: bytes
) -> None:
    """Keep a file, or a part of an upload."""
    if upload := request.query.get("uploadId"):
        store.uploads[upload][int(request.query["partNumber"])] = body
    else:
        store.files[request.path] = body
    _head(handler, 200, 0, {"ETag": etag_of(body)})


def _post(
    handler: BaseHTTPRequestHandler, store: Store, request: Request, _: bytes
) -> None:
    """Begin an upload, or join its parts."""
    bucket, _slash, key = request.path.strip("/").partition("/")
    names = f"<Bucket>{bucket}</Bucket><Key>{key}</Key>"
    if "uploads" in request.query:
        upload = f"upload{len(store.asked)}"
        store.uploads[upload] = {}
        text = f"{names}<UploadId>{upload}</UploadId>"
        _xml(
            handler,
            f"<InitiateMultipartUploadResult>{text}</InitiateMultipartUploadResult>",
        )
        return
    parts = store.uploads.pop(request.query["uploadId"])
    data = b"".join(parts[number] for number in sorted(parts))
    store.files[request.path] = data
    text = f"{names}<ETag>{etag_of(data)}</ETag>"
    _xml(
        handler,
        f"<CompleteMultipartUploadResult>{text}</CompleteMultipartUploadResult>",
    )


def _delete(
    handler: BaseHTTPRequestHandler, store: Store, request: Request, _: bytes
) -> None:
    """Drop an upload or a file."""
    store.uploads.pop(request.query.get("uploadId", ""), None)
    if "uploadId" not in request.query:
        store.files.pop(request.path, None)
    _head(handler, 204, 0, {})


def etag_of(data: bytes) -> str:
    """Return the ETag of a file with these bytes."""
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


def _error(
    handler: BaseHTTPRequestHandler,
    request: Request,
    status: int,
    code: str,
    message: str,
) -> None:
    text = f"{_XML}<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    body = text.encode() if request.method != "HEAD" else b""
    _head(handler, status, len(body), {"Content-Type": "application/xml"})
    handler.wfile.write(body)


def _xml(handler: BaseHTTPRequestHandler, text: str) -> None:
    body = f"{_XML}{text}".encode()
    _head(handler, 200, len(body), {"Content-Type": "application/xml"})
    handler.wfile.write(body)


def _head(
    handler: BaseHTTPRequestHandler, status: int, length: int, headers: dict[str, str]
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(length))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
