"""A cache of replies in one SQLite file, so that no prompt is paid for twice.

Of several processes with one cache, one sends each prompt: it claims the prompt.
"""

import hashlib
import json
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Event, RLock, Thread
from typing import Any, Self

from harpia_formats.evaluation.llm_judge.endpoint import Endpoint, sorted_json
from harpia_formats.evaluation.llm_judge.verdicts import CacheError


def request_key(endpoint: Endpoint, prompt: str, vote: int = 0) -> bytes:
    """Return the cache key of a request: a digest of everything that affects the reply.

    `vote` is the number of the vote from 0. The API key and the time-outs are not part
    of it.
    """
    names = ("url", "organization", "model", "params")
    request = {name: getattr(endpoint, name) for name in names} | {"prompt": prompt}
    if vote:
        # The first vote has the key of a request without votes, whose reply it shares.
        request["vote"] = vote
    return hashlib.sha256(sorted_json(request).encode()).digest()


def new_owner() -> str:
    """Return a name for a holder of claims in this process that no other one has."""
    return f"{_here()}|{os.getpid()}|{secrets.token_hex(8)}"


def is_dead(owner: str) -> bool:
    """Tell whether the process of `owner` has certainly ended.

    That of another machine, and on systems without signals any, may be alive.
    """
    here, _, process = owner.rpartition("|")[0].rpartition("|")
    if os.name != "posix" or here != _here() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
        # One that has ended is still there until its parent notices.
        status = Path(f"/proc/{process}/stat").read_bytes()
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # it is alive, and another user's; or this is no Linux
        return False
    return status.rpartition(b")")[2].split()[:1] in ([b"Z"], [b"X"])


@cache
def _here() -> str:
    """Return what tells apart the machines, and containers, that have own processes."""
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - text, and no path
    return f"{socket.gethostname()} {space}"


#: Seconds to wait for a lock of another process.
_patience = 30.0
#: Seconds that a claim lasts, and after which its process renews it.
LEASE, RENEWAL = 30.0, 10.0
#: The application id ("hpJC") and version that mark a database as our cache.
_mark = 0x68704A43, 1
_tables = (
    "CREATE TABLE secret (value BLOB NOT NULL)",
    "CREATE TABLE replies (key BLOB PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID",
)
#: Made with the first claim: a cache that only answers is not changed.
_claims = """CREATE TABLE IF NOT EXISTS claims
(key BLOB PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID"""


def _opened(path: str) -> sqlite3.Connection:
    """Open a cache, which is made if there is no file.

    Raises `CacheError` for any other database, and `sqlite3.Error`.
    """
    # `:memory:` alone would be no file for SQLite.
    base = sqlite3.connect(
        os.path.abspath(path),  # noqa: PTH100 - text, and no path
        timeout=_patience,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        base.execute("BEGIN IMMEDIATE")
        pragmas = ("PRAGMA application_id", "PRAGMA user_version")
        mark = tuple(base.execute(pragma).fetchone()[0] for pragma in pragmas)
        (count,) = base.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not mark[0] and not count:
            for statement in _tables:
                base.execute(statement)
            secret = (secrets.token_bytes(32),)
            base.execute("INSERT INTO secret VALUES (?)", secret)
            for pragma, number in zip(pragmas, _mark, strict=True):
                base.execute(f"{pragma} = {number}")
        elif mark != _mark:
            raise CacheError(  # noqa: TRY301 - the file is closed
                f"{path} is not a cache of this version of harpia-formats; name "
                "another file with `--cache`"
            )
        base.execute("COMMIT")
    except BaseException:
        base.close()
        raise
    return base


def _is_claimed(base: sqlite3.Connection, key: bytes) -> bool:
    """Tell whether a claim on a key holds."""
    wanted = "SELECT owner, expires FROM claims WHERE key = ?"
    owner, expires = base.execute(wanted, (key,)).fetchone() or ("", 0)
    # A time beyond that of any claim is of a clock that was set back since.
    return 0 < expires - time.time() <= 2 * LEASE and not is_dead(owner)


class ReplyCache:
    """The replies to prompts by `request_key`, usable from any thread.

    A reply is stored permanently once `put` returns, even if the process is killed.
    Prompts and API keys are not stored. Raises `CacheError` if the file is unusable.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = str(path)
        self._lock = RLock()
        self._owner = new_owner()
        #: The keys that we claim.
        self._held: set[bytes] = set()
        self._closed = Event()
        self._renewing = Thread(target=self._renew, name="judge-claims", daemon=True)
        with self._used():
            self._base = _opened(self.path)
            try:
                found = self._base.execute("SELECT value FROM secret").fetchone()
                (self.secret,) = found
            except BaseException:
                self._base.close()
                raise

    @contextmanager
    def _used(self) -> Generator[None, None, None]:
        """Hold the lock of the file; raise `CacheError` for errors of the database."""
        with self._lock:
            try:
                yield
            except (sqlite3.Error, ValueError, TypeError) as error:
                reason = f"cannot use the cache {self.path}: {error}"
                raise CacheError(reason) from None

    @contextmanager
    def _changed(self) -> Generator[None, None, None]:
        """Store what is done as a whole, or nothing if there is an error."""
        self._base.execute("BEGIN IMMEDIATE")
        with self._base:
            yield

    def get(self, key: bytes) -> dict[str, Any] | None:
        """Return the stored reply, None if there is none."""
        wanted = "SELECT reply FROM replies WHERE key = ?"
        with self._used():
            row = self._base.execute(wanted, (key,)).fetchone()
            found = None if row is None else json.loads(row[0])
        return found if isinstance(found, dict) else None

    def put(self, key: bytes, reply: Mapping[str, Any]) -> None:
        """Store a reply, which replaces an earlier one, and end our claim."""
        # Metadata of a chat generator may not be JSON; the reply is stored anyway.
        row = key, json.dumps(reply, default=str, skipkeys=True)
        with self._used():
            if not self._closed.is_set():
                with self._changed():
                    new = "INSERT OR REPLACE INTO replies VALUES (?, ?)"
                    self._base.execute(new, row)
                    self.release(key)

    def reply_or_claim(
        self, key: bytes, known: Mapping[str, Any] | None
    ) -> tuple[dict[str, Any] | None, bool]:
        """Return the reply, if one other than `known` is stored, or else a claim.

        The second part is whether the prompt is ours to send, and claimed until `put`
        or `release`. If there is neither, another process has a claim.
        """
        with self._used():
            # Who waits for another process looks often: without a lock of the file.
            found = self._reply_but(known, key)
            if found is not None:
                return found, False
            self._base.execute(_claims)
            if _is_claimed(self._base, key):
                return None, False
            with self._changed():
                found = self._reply_but(known, key)
                if found is not None or _is_claimed(self._base, key):
                    return found, False
                claim = key, self._owner, time.time() + LEASE
                new = "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)"
                self._base.execute(new, claim)
            self._held.add(key)
            if self._renewing.ident is None:
                self._renewing.start()
        return None, True

    def _reply_but(
        self, known: Mapping[str, Any] | None, key: bytes
    ) -> dict[str, Any] | None:
        """Return the stored reply, None if there is none but the one that is known."""
        found = self.get(key)
        return None if found == known else found

    def release(self, key: bytes) -> None:
        """End our claim on a prompt, if we hold one."""
        with self._used():
            if key in self._held and not self._closed.is_set():
                self._held.discard(key)
                ours = "DELETE FROM claims WHERE key = ? AND owner = ?"
                self._base.execute(ours, (key, self._owner))

    def _renew(self) -> None:
        """Renew our claims until the cache is closed."""
        mine = "UPDATE claims SET expires = ? WHERE owner = ?"
        while not self._closed.wait(RENEWAL):
            # What claims next raises the error.
            with self._lock, suppress(sqlite3.Error):
                if self._held and not self._closed.is_set():
                    self._base.execute(mine, (time.time() + LEASE, self._owner))

    def close(self) -> None:
        """Close the file, and end all claims; later replies are not stored."""
        with self._lock:
            if self._renewing.ident is not None and not self._closed.is_set():
                with suppress(sqlite3.Error):  # what is left expires
                    void = "DELETE FROM claims WHERE owner = ? OR expires < ?"
                    self._base.execute(void, (self._owner, time.time()))
            self._closed.set()
            self._base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
