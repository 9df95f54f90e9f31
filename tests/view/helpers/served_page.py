"""The page over a fake session, asked without a network or served in a thread."""

import threading
from pathlib import Path

from asgi_client import Client
from fake_session import FakeSession
from harpia_formats.view.access import Secrets
from harpia_formats.view.notes import Notes
from harpia_formats.view.options import ViewOptions
from harpia_formats.view.server import (
    Page,
    application,
    bound_socket,
    read_static_files,
    server_of,
)
from harpia_formats.view.take_away import TakeAway


class Served:
    """An application on a fake session, and what it is made of."""

    def __init__(self, folder: Path, **options: bool) -> None:
        self.session = FakeSession()
        self.options = ViewOptions(**options)  # type: ignore[arg-type]  # flags only
        self.take_away = TakeAway(self.session, self.options, str(folder))
        self.static = read_static_files()
        self.bugs: list[Exception] = []
        self.notes: Notes | None = None
        self.secrets = Secrets()

    def take_notes(self, place: Path) -> None:
        """Keep notes in a file."""
        self.notes = Notes(place, [])

    @property
    def client(self) -> Client:
        """What asks the application."""
        page = Page(self.session, self.options, self.take_away, self.notes)
        app = application(
            page, "<!doctype html>", self.static, self.secrets, self.bugs.append
        )
        return Client(app, self.secrets)


class Running:
    """An application that is served in a thread."""

    def __init__(self, served: Served) -> None:
        self.served = served
        listening = bound_socket(0)
        self.port = listening.getsockname()[1]
        self.begun = threading.Event()
        end = served.session.close
        self.server = server_of(served.client.app, self.begun.set, end)
        run = self.server.run
        self.thread = threading.Thread(target=run, args=([listening],), daemon=True)
        self.thread.start()
        assert self.begun.wait(10)

    def end(self) -> None:
        """End the server, and wait for it."""
        self.server.should_exit = True
        self.thread.join(10)
        assert not self.thread.is_alive()
