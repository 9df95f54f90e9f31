"""Start a session, and wait until all is known of its files."""

import time

from harpia_formats.view.session import ViewSession


def ready(session: ViewSession, seconds: float = 60) -> ViewSession:
    """Start a session, and return it once its files are read to their ends."""
    session.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        files = session.files()["files"]
        if all(
            one["indexed"]["complete"] and one["scanned"]["complete"] for one in files
        ):
            return session
        time.sleep(0.05)
    raise AssertionError(session.files())
