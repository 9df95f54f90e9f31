"""A server on this machine that replies as an OpenAI-compatible endpoint does.

It counts what it is asked, and fails on request. Tests load it by its path; run as a
script it serves until it is stopped, and prints its address and then its counts.
"""

import hashlib
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

#: Milliseconds after which a client may ask again.
AGAIN = "1"


@dataclass(frozen=True)
class Answer:
    """What a request gets: a status, and a body that may be anything."""

    body: bytes
    status: int = 200
    #: Whether a client may ask again.
    again: bool = True
    headers: dict[str, str] = field(default_factory=dict)


def completion(text: Any, **more: Any) -> Answer:
    """Return the answer that a model's reply is."""
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        **more,
    }
    return Answer(json.dumps(body).encode())


def is_in_share(prompt: str, share: int) -> bool:
    """Tell whether a prompt is one of about one in `share`, always the same ones."""
    return share > 0 and hashlib.sha256(prompt.encode()).digest()[0] % share == 0


class JudgeServer:
    """Serves until its block ends.

    `answer` gets a request as decoded JSON, with its headers in lower case, and returns
    an `Answer`. The first request for one in `failing` prompts gets the status 500
    instead. After `hold_after` answers all further ones wait for `open`; 0 is never.
    """

    def __init__(
        self,
        answer: Callable[[Any, dict[str, str]], Answer] | None = None,
        *,
        failing: int = 0,
        delay: float = 0.0,
        hold_after: int = 0,
    ) -> None:
        usual = completion('{"score": 1}')
        self.answer = answer or (lambda *_: usual)
        self.failing, self.delay, self.hold_after = failing, delay, hold_after
        #: How often each prompt was asked, was failed and was answered.
        self.asked: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.requests: list[Any] = []
        self.most = self.now = 0
        #: Answers wait while it is not set, and go out behind it.
        self.open = threading.Event()
        self.open.set()
        self.lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        # Half a second is what the server looks for its end by default.
        serve = {"poll_interval": 0.02}
        threading.Thread(
            target=self._http.serve_forever, kwargs=serve, daemon=True
        ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.open.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def total(self) -> int:
        """All requests that came in."""
        return sum(self.asked.values())

    def replied(self, request: Any, headers: dict[str, str]) -> Answer:
        """Count a request and return its answer."""
        prompt = request["messages"][0]["content"]
        with self.lock:
            self.requests.append(request)
            self.asked[prompt] += 1
            self.now += 1
            self.most = max(self.most, self.now)
            is_failing = not self.failed[prompt] and is_in_share(prompt, self.failing)
            if is_failing:
                self.failed[prompt] += 1
        try:
            time.sleep(self.delay)
            self.open.wait()
            if is_failing:
                return Answer(b'{"error": {"message": "failure was requested"}}', 500)
            return self.answer(request, headers)
        finally:
            with self.lock:
                self.now -= 1

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Without it head and body are two packets, and the second one waits.
            wbufsize = -1

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                request = json.loads(self.rfile.read(length))
                headers = {key.lower(): each for key, each in self.headers.items()}
                answer = server.replied(request, headers)
                try:
                    self._send(answer)
                except OSError:
                    return  # the client has closed the connection
                if answer.status == 200:
                    with server.lock:
                        server.answered[request["messages"][0]["content"]] += 1
                        if server.answered.total() == server.hold_after:
                            server.open.clear()

            def _send(self, answer: Answer) -> None:
                self.send_response(answer.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer.body)))
                self.send_header("retry-after-ms", AGAIN)
                self.send_header("x-should-retry", str(answer.again).lower())
                for key, value in answer.headers.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(answer.body)
                self.wfile.flush()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler


def main() -> None:
    """Serve until standard input ends; one in ten prompts fails once."""
    with JudgeServer(failing=10) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()
        failed = sum(server.failed.values())
        sys.stdout.write(f"{server.total} requests, {failed} failed\n")


if __name__ == "__main__":
    main()
