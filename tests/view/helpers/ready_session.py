"""Sessions of the page over files: begun, or read to their ends."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from harpia_formats.view.options import ViewOptions
from harpia_formats.view.session import ViewSession

#: What the page asks for all that it shows.
Session = ViewSession


def session_of(*paths: object, **options: Any) -> Session:
    """Return a session over files, with the options of `view`, that has not begun."""
    return ViewSession([*map(str, paths)], ViewOptions(**options))


def ready(session: Session, seconds: float = 60) -> Session:
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


@contextlib.contextmanager
def viewed(*paths: object, **options: Any) -> Iterator[Session]:
    """Yield a session whose files are read to their ends, and close it."""
    session = session_of(*paths, **options)
    try:
        yield ready(session)
    finally:
        session.close()
