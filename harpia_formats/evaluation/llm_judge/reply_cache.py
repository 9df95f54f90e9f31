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
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
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


#: Seconds that a claim lasts, and after which its process renews it.
LEASE, RENEWAL = 30.0, 10.0
#: The application id ("hpJP") that marks a database as ours.
_claims_application = 0x68704A50
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
            base.execute(f"PRAGMA application_id = {_claims_application}")
        elif application != _claims_application:
            raise CacheError(
                f"{self.path} is not a file of claims of harpia-formats: name another "
                "cache with `--cache`"
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


#: The application id ("hpJC") and version that mark a database as our cache.
_cache_application, _version = 0x68704A43, 1
_tables = """
CREATE TABLE secret (value BLOB NOT NULL);
CREATE TABLE replies (key BLOB PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID;
"""


def request_key(endpoint: Endpoint, prompt: str, vote: int = 0) -> bytes:
    """Return the cache key of a request: a digest of everything that affects the reply.

    `vote` is the number of the vote from 0. The API key and the time-outs are not part
    of it.
    """
    request: dict[str, Any] = {
        "url": endpoint.url,
        "organization": endpoint.organization,
        "model": endpoint.model,
        "params": endpoint.params,
        "prompt": prompt,
    }
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
        try:
            self._base = sqlite3.connect(
                self.path,
                timeout=_patience,
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        try:
            self._prepare()
            (self.secret,) = self._base.execute("SELECT value FROM secret").fetchone()
        except (sqlite3.Error, TypeError) as error:
            self._base.close()
            raise self._unusable(error) from None
        except CacheError:
            self._base.close()
            raise

    def _prepare(self) -> None:
        """Create the tables in a new file; refuse any other database."""
        execute = self._base.execute
        execute("BEGIN IMMEDIATE")
        (application,) = execute("PRAGMA application_id").fetchone()
        (version,) = execute("PRAGMA user_version").fetchone()
        (tables,) = execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == 0 and tables == 0:
            for statement in filter(str.strip, _tables.split(";")):
                execute(statement)
            execute("INSERT INTO secret VALUES (?)", (secrets.token_bytes(32),))
            execute(f"PRAGMA application_id = {_cache_application}")
            execute(f"PRAGMA user_version = {_version}")
        elif (application, version) != (_cache_application, _version):
            execute("ROLLBACK")
            raise CacheError(
                f"{self.path} is not a cache of this version of harpia-formats; name "
                "another file with `--cache`"
            )
        execute("COMMIT")

    def get(self, key: bytes) -> dict[str, Any] | None:
        """Return the stored reply, None if there is none."""
        with self._lock:
            try:
                row = self._base.execute(
                    "SELECT reply FROM replies WHERE key = ?", (key,)
                ).fetchone()
                found = None if row is None else json.loads(row[0])
            except (sqlite3.Error, ValueError) as error:
                raise self._unusable(error) from None
        return found if isinstance(found, dict) else None

    def put(self, key: bytes, reply: Mapping[str, Any]) -> None:
        """Store a reply, which replaces an earlier one, and end our claim."""
        # Metadata of a chat generator may not be JSON; the reply is stored anyway.
        text = json.dumps(reply, default=str, skipkeys=True)
        with self._lock:
            if not self._is_open:
                return
            try:
                self._base.execute(
                    "INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, text)
                )
            except sqlite3.Error as error:
                raise self._unusable(error) from None
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _unusable(self, error: Exception) -> CacheError:
        return CacheError(f"cannot use the cache {self.path}: {error}")
