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
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Self

from harpia_formats.evaluation.llm_judge.endpoint import Endpoint
from harpia_formats.evaluation.llm_judge.judge_errors import CacheError


def new_owner() -> str:
    """Return a name for a holder of claims in this process that no other one has."""
    return f"{_here()}|{os.getpid()}|{secrets.token_hex(8)}"


def is_dead(owner: str) -> bool:
    """Tell whether the process of `owner` is certainly gone.

    That of another machine, and on systems without signals any, may be alive.
    """
    here, _, rest = owner.rpartition("|")[0].rpartition("|")
    if os.name != "posix" or here != _here() or not rest.isdecimal():
        return False
    try:
        os.kill(int(rest), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # it is alive, and another user's
        return False
    return _has_ended(rest)


def _has_ended(process: str) -> bool:
    """Tell whether a process has ended, and only its parent has not noticed yet."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123 - small and often
            state = file.read().rpartition(b")")[2].split()[:1]
    except OSError:  # no Linux, or it is gone by now
        return False
    return state in ([b"Z"], [b"X"])


@cache
def _here() -> str:
    """Return what tells apart the machines, and containers, that have own processes."""
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - text, and no path
    return f"{socket.gethostname()} {space}"


#: Seconds to wait for a lock of another process.
_patience = 30.0


def _opened(
    path: str, kind: str, tables: Iterable[Any], application: int, version: int = 0
) -> tuple[sqlite3.Connection, tuple[int, int]]:
    """Open a database of ours, which is made if there is no file; return its identity.

    Raises `CacheError` for any other database, and `sqlite3.Error`.
    """
    base = sqlite3.connect(
        path, timeout=_patience, isolation_level=None, check_same_thread=False
    )
    try:
        if not version:  # what a file of claims holds may be lost
            base.execute("PRAGMA synchronous = OFF")
        base.execute("BEGIN IMMEDIATE")
        identity = _identity(path)  # a file that is locked is not removed
        pragmas = ("PRAGMA application_id", "PRAGMA user_version")
        mark = tuple(base.execute(pragma).fetchone()[0] for pragma in pragmas)
        (count,) = base.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not mark[0] and not count:
            for statement in tables:
                base.execute(*statement)
            base.execute(f"PRAGMA application_id = {application}")
            base.execute(f"PRAGMA user_version = {version}")
        elif mark != (application, version):
            raise CacheError(f"{path} is not a {kind} with `--cache`")  # noqa: TRY301 - the file is closed
        base.execute("COMMIT")
    except BaseException:
        base.close()
        raise
    return base, identity


@contextmanager
def _errors(what: str, hint: str = "") -> Generator[None, None, None]:
    """Raise `CacheError` for errors of a database, and for what is wrong in it."""
    try:
        yield
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise CacheError(f"cannot use {what}: {error}{hint}") from None


#: Seconds that a claim lasts, and after which its process renews it.
LEASE, RENEWAL = 30.0, 10.0
_claims_table = """CREATE TABLE IF NOT EXISTS claims
(key BLOB PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID"""
#: What a file of claims is, its table, and the application id ("hpJP") of ours.
_claims: tuple[str, Iterable[Any], int] = (
    "file of claims of harpia-formats: name another cache",
    [(_claims_table,)],
    0x68704A50,
)


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
        self._renewing = Thread(target=self._renew, name="judge-claims", daemon=True)

    def claim(self, key: bytes, is_needed: Callable[[], bool]) -> bool:
        """Return whether we may send a prompt, which no other process sends then.

        It is False if another process holds a claim, and if `is_needed` returns false
        once none does.
        """
        with self._used():
            # Who waits for another process looks often: without a lock.
            if _is_claimed(self._connection(), key):
                return False
            with self._writing() as base:
                if _is_claimed(base, key) or not is_needed():
                    return False
                claim = key, self._owner, time.time() + LEASE
                base.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", claim)
            self._held.add(key)
            if self._renewing.ident is None:
                self._renewing.start()
        return True

    def release(self, key: bytes) -> None:
        """Give up our claim on a key, if we hold one."""
        with self._used():
            if key in self._held and self._base is not None:
                self._held.discard(key)
                ours = "DELETE FROM claims WHERE key = ? AND owner = ?"
                self._base.execute(ours, (key, self._owner))

    def close(self) -> None:
        """Give up all claims; later ones are refused."""
        self._closed.set()
        with self._lock:
            base, self._base = self._base, None
            if base is None:
                return
            with suppress(sqlite3.Error):  # what is left of it expires
                base.execute("PRAGMA busy_timeout = 1000")
                void = "DELETE FROM claims WHERE owner = ? OR expires < ?"
                base.execute(void, (self._owner, time.time()))
                base.execute("BEGIN EXCLUSIVE")
                (count,) = base.execute("SELECT count(*) FROM claims").fetchone()
                if not count and _identity(self.path) == self._file:
                    # A process that has it open sees that it is another file now.
                    with suppress(OSError):
                        Path(self.path).unlink()
            base.close()

    def _renew(self) -> None:
        """Renew our claims until they are closed."""
        mine = "UPDATE claims SET expires = ? WHERE owner = ?"
        while not self._closed.wait(RENEWAL):
            with self._lock, suppress(sqlite3.Error):  # what claims next raises it
                if self._base is not None and self._held:
                    self._base.execute(mine, (time.time() + LEASE, self._owner))

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection, None, None]:
        """Lock the file that is at our path, and store what is done, or nothing."""
        base = self._connection()
        base.execute("BEGIN IMMEDIATE")
        # A file that is locked is not removed.
        while _identity(self.path) != self._file:
            base.close()
            self._base = None
            base = self._connection()
            base.execute("BEGIN IMMEDIATE")
        try:
            yield base
            base.execute("COMMIT")
        finally:
            if base.in_transaction:
                base.execute("ROLLBACK")

    def _connection(self) -> sqlite3.Connection:
        """Return the connection to the file, which is made if there is none."""
        if self._closed.is_set():
            raise CacheError(f"{self.path} is closed")
        if self._base is None:
            self._base, self._file = _opened(self.path, *_claims)
        return self._base

    @contextmanager
    def _used(self) -> Generator[None, None, None]:
        """Hold the lock, and raise `CacheError` for errors of the database."""
        hint = "; if no judge runs, delete this file"
        with self._lock, _errors(f"the claims in {self.path}", hint):
            yield


def _is_claimed(base: sqlite3.Connection, key: bytes) -> bool:
    """Tell whether a claim on a key holds."""
    wanted = "SELECT owner, expires FROM claims WHERE key = ?"
    owner, expires = base.execute(wanted, (key,)).fetchone() or ("", 0)
    # A time beyond that of any claim is of a clock that was set back since.
    return 0 < expires - time.time() <= 2 * LEASE and not is_dead(owner)


def _identity(path: str) -> tuple[int, int]:
    """Return what tells a file from another one at the same path."""
    try:
        found = os.stat(path)  # noqa: PTH116 - as `SQLite` names it
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


#: The application id ("hpJC") and version that mark a database as our cache.
_cache_application, _version = 0x68704A43, 1
_cache_tables = (
    ("CREATE TABLE secret (value BLOB NOT NULL)",),
    ("CREATE TABLE replies (key BLOB PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID",),
)
_cache_kind = "cache of this version of harpia-formats; name another file"


def request_key(endpoint: Endpoint, prompt: str, vote: int = 0) -> bytes:
    """Return the cache key of a request: a digest of everything that affects the reply.

    `vote` is the number of the vote from 0. The API key and the time-outs are not part
    of it.
    """
    request: dict[str, Any] = {
        name: getattr(endpoint, name)
        for name in ("url", "organization", "model", "params")
    }
    request["prompt"] = prompt
    if vote:
        # The first vote has the key of a request without votes, whose reply it shares.
        request["vote"] = vote
    text = json.dumps(request, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).digest()


class ReplyCache:
    """The replies to prompts by `request_key`, usable from any thread.

    A reply is stored permanently once `put` returns, even if the process is killed.
    Prompts and API keys are not stored. Raises `CacheError` if the file is unusable.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = str(path)
        self._lock = Lock()
        self._is_open = True
        self._claims = PromptClaims(self.path)
        secret = "INSERT INTO secret VALUES (?)", (secrets.token_bytes(32),)
        tables, mark = (*_cache_tables, secret), (_cache_application, _version)
        with self._errors():
            self._base, _ = _opened(self.path, _cache_kind, tables, *mark)
            try:
                found = self._base.execute("SELECT value FROM secret").fetchone()
                (self.secret,) = found
            except BaseException:
                self._base.close()
                raise

    def _errors(self) -> AbstractContextManager[None]:
        """Raise `CacheError` for errors of the database."""
        return _errors(f"the cache {self.path}")

    def get(self, key: bytes) -> dict[str, Any] | None:
        """Return the stored reply, None if there is none."""
        wanted = "SELECT reply FROM replies WHERE key = ?"
        with self._lock, self._errors():
            row = self._base.execute(wanted, (key,)).fetchone()
            found = None if row is None else json.loads(row[0])
        return found if isinstance(found, dict) else None

    def put(self, key: bytes, reply: Mapping[str, Any]) -> None:
        """Store a reply, which replaces an earlier one, and end our claim."""
        # Metadata of a chat generator may not be JSON; the reply is stored anyway.
        row = key, json.dumps(reply, default=str, skipkeys=True)
        with self._lock, self._errors():
            if not self._is_open:
                return
            self._base.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", row)
        self._claims.release(key)

    def reply_or_claim(
        self, key: bytes, known: Mapping[str, Any] | None
    ) -> tuple[dict[str, Any] | None, bool]:
        """Return the reply, if one other than `known` is stored, and a claim if not.

        The second part is whether the prompt is ours to send, and claimed until `put`
        or `release`. If there is neither, another process has a claim.
        """
        found: list[dict[str, Any]] = []

        def is_needed() -> bool:
            """Look for the reply."""
            reply = self.get(key)
            if reply is not None and reply != known:
                found.append(reply)
            return not found

        is_ours = is_needed() and self._claims.claim(key, is_needed)
        return (found[0] if found else None), is_ours

    def release(self, key: bytes) -> None:
        """End our claim on a prompt that got no reply."""
        self._claims.release(key)

    def close(self) -> None:
        """Close the file, and end all claims; later replies are not stored."""
        self._claims.close()
        with self._lock:
            self._is_open = False
            self._base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
