"""Claims on prompts: of several processes with one cache, one sends each prompt.

They are kept in a file of their own beside the cache. Nothing of it must outlive a
power failure, so that a claim costs no wait for the disk, as a reply does. A claim is
renewed as long as its process lives, and expires soon after that.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread

from harpia_formats.evaluation.llm_judge.client.claim_owner import is_dead, new_owner
from harpia_formats.evaluation.llm_judge.errors import CacheError

#: Seconds that a claim lasts, and after which its process renews it.
LEASE, RENEWAL = 30.0, 10.0
#: The application id ("hpJP") that marks a database as ours.
_application = 0x68704A50
#: Seconds to wait for a lock of another process.
_patience = 30.0
_table = """CREATE TABLE IF NOT EXISTS claims
(key BLOB PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID"""


class PromptClaims:
    """The claims on the prompts of a cache, usable from any thread.

    The file is made with the first claim, and removed by the last process that closes
    it. Raises `CacheError` if it is unusable.
    """

    def __init__(self, cache: str) -> None:
        self.path = f"{cache}-claims"
        self._owner = new_owner()
        self._lock = Lock()
        self._base: sqlite3.Connection | None = None
        #: The identity of the open file, which another process may have removed since.
        self._file = (0, 0)
        #: The keys that we claim.
        self._held: set[bytes] = set()
        self._closed = Event()
        self._renewing: Thread | None = None

    def claim(self, key: bytes, is_needed: Callable[[], bool]) -> bool:
        """Return whether we may send a prompt, which no other process sends then.

        It is False if another process holds a claim, and if `is_needed` returns false
        once none does.
        """
        with self._lock, self._errors():
            base = self._opened()
            # Who waits for another process looks often: without a lock.
            if _is_claimed(base, key):
                return False
            with self._writing() as base:
                if _is_claimed(base, key) or not is_needed():
                    return False
                base.execute(
                    "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)",
                    (key, self._owner, time.time() + LEASE),
                )
            self._held.add(key)
            if self._renewing is None:
                self._renewing = Thread(
                    target=self._renew, name="judge-claims", daemon=True
                )
                self._renewing.start()
        return True

    def release(self, key: bytes) -> None:
        """Give up our claim on a key, if we hold one."""
        with self._lock, self._errors():
            if key not in self._held or self._base is None:
                return
            self._held.discard(key)
            self._base.execute(
                "DELETE FROM claims WHERE key = ? AND owner = ?", (key, self._owner)
            )

    def close(self) -> None:
        """Give up all claims; later ones are refused."""
        self._closed.set()
        with self._lock:
            base, self._base = self._base, None
            if base is None:
                return
            with suppress(sqlite3.Error):  # what is left of it expires
                base.execute("PRAGMA busy_timeout = 1000")
                base.execute(
                    "DELETE FROM claims WHERE owner = ? OR expires < ?",
                    (self._owner, time.time()),
                )
                base.execute("BEGIN EXCLUSIVE")
                (count,) = base.execute("SELECT count(*) FROM claims").fetchone()
                if not count and _identity(self.path) == self._file:
                    # A process that has it open sees that it is another file now.
                    with suppress(OSError):
                        Path(self.path).unlink()
            base.close()

    def _renew(self) -> None:
        """Renew our claims until they are closed."""
        while not self._closed.wait(RENEWAL):
            with self._lock:
                if self._base is None or not self._held:
                    continue
                with suppress(sqlite3.Error):  # what claims next raises it
                    self._base.execute(
                        "UPDATE claims SET expires = ? WHERE owner = ?",
                        (time.time() + LEASE, self._owner),
                    )

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection, None, None]:
        """Lock the file that is at our path, and store what is done, or nothing."""
        base = self._opened()
        base.execute("BEGIN IMMEDIATE")
        # A file that is locked is not removed.
        while _identity(self.path) != self._file:
            base.close()
            self._base = None
            base = self._opened()
            base.execute("BEGIN IMMEDIATE")
        try:
            yield base
            base.execute("COMMIT")
        finally:
            if base.in_transaction:
                base.execute("ROLLBACK")

    def _opened(self) -> sqlite3.Connection:
        """Return the connection to the file, which is made if there is none."""
        if self._closed.is_set():
            raise CacheError(f"{self.path} is closed")
        if self._base is None:
            base = sqlite3.connect(
                self.path,
                timeout=_patience,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                self._prepare(base)
            except BaseException:
                base.close()
                raise
            self._base = base
        return self._base

    def _prepare(self, base: sqlite3.Connection) -> None:
        """Create the table in a new file; refuse any other database."""
        base.execute("PRAGMA synchronous = OFF")
        base.execute("BEGIN IMMEDIATE")
        self._file = _identity(self.path)
        (application,) = base.execute("PRAGMA application_id").fetchone()
        (tables,) = base.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == 0 and tables == 0:
            base.execute(_table)
            base.execute(f"PRAGMA application_id = {_application}")
        elif application != _application:
            raise CacheError(
                f"{self.path} is not a file of claims of harpia-formats: name another "
                "cache with --cache"
            )
        base.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Generator[None, None, None]:
        """Raise `CacheError` for errors of the database."""
        try:
            yield
        except sqlite3.Error as error:
            raise CacheError(
                f"cannot use the claims in {self.path}: {error}; if no judge runs, "
                "delete this file"
            ) from None


def _is_claimed(base: sqlite3.Connection, key: bytes) -> bool:
    """Tell whether a claim on a key holds."""
    row = base.execute(
        "SELECT owner, expires FROM claims WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        return False
    owner, expires = row
    # A time beyond that of any claim is of a clock that was set back since.
    return 0 < expires - time.time() <= 2 * LEASE and not is_dead(owner)


def _identity(path: str) -> tuple[int, int]:
    """Return what tells a file from another one at the same path."""
    try:
        found = os.stat(path)  # noqa: PTH116 - as `SQLite` names it
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino
