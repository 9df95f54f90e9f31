"""Drive Chromium without a display, by its protocol over two pipes."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

#: The names of the program, the first that is there is taken.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-extensions --hide-scrollbars --remote-debugging-pipe"
).split()
#: Seconds to wait for an answer.
_TIMEOUT = 60
_PIECE = 1 << 20


def program() -> str | None:
    """Return the path of Chromium, None if it is not installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Chromium:
    """One page of a browser with a fresh profile; to be used in a `with` statement."""

    def __init__(self) -> None:
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        read, self._to = os.pipe()
        self._from, write = os.pipe()
        # The browser reads commands from descriptor 3 and writes answers to 4.
        start = f'exec "$@" 3<&{read} 4>&{write}'
        name = program()
        if name is None:
            raise FileNotFoundError(PROGRAMS[0])
        words = [name, *_OPTIONS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", start, "bash", *words],
            pass_fds=(read, write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self._number = 0
        self._rest = b""
        self._session: str | None = None
        #: What the browser reported of the page: its name and its values.
        self.events: list[tuple[str, dict[str, Any]]] = []

    def __enter__(self) -> Self:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        # Its other processes may still write for a moment.
        for _ in range(50):
            shutil.rmtree(self._profile, ignore_errors=True)
            if not Path(self._profile).exists():
                break
            time.sleep(0.05)

    def call(self, method: str, **values: Any) -> dict[str, Any]:
        """Return the result of a method of the protocol; raises `RuntimeError`."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']['message']}")
                result: dict[str, Any] = found["result"]
                return result
            self._note(found)

    def _note(self, message: dict[str, Any]) -> None:
        if "method" in message:
            self.events.append((message["method"], message["params"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], _TIMEOUT)
            piece = os.read(self._from, _PIECE) if ready else b""
            if not piece:
                raise RuntimeError("Chromium does not answer")
            self._rest += piece
        text, self._rest = self._rest.split(b"\0", maxsplit=1)
        found: dict[str, Any] = json.loads(text)
        return found

    def show(
        self, width: int, height: int = 900, *, dark: bool = False, media: str = ""
    ) -> None:
        """Set the size of the window, the colour scheme and the medium."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def open(self, path: Path) -> float:
        """Open a file, wait until it is loaded, and return the milliseconds it took."""
        del self.events[:]
        self.call("Page.navigate", url=path.absolute().as_uri())
        while not any(name == "Page.loadEventFired" for name, _ in self.events):
            self._note(self._next())
        entry = "performance.getEntriesByType('navigation')[0]"
        while not (took := self.value(f"{entry}.loadEventEnd")):
            time.sleep(0.01)
        return float(took)

    def value(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        return result["result"].get("value")

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for since it was opened."""
        return [
            values["request"]["url"]
            for name, values in self.events
            if name == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """Return the messages and exceptions in the console of the page."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [
            json.dumps(values)
            for name, values in self.events
            if name in kinds or name == "Log.entryAdded"
        ]

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a picture of the window, or of the `whole` page, as PNG."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def print_to(self, path: Path) -> None:
        """Write the page as it is printed, as PDF."""
        found = self.call("Page.printToPDF", preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(found["data"]))
