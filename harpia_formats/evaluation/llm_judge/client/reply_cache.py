"""A cache of replies in one SQLite file, so that no prompt is paid for twice.

Several processes may share it: one that sends a prompt claims it, and the others wait
for its reply.
"""

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from harpia_formats.evaluation.llm_judge.client.prompt_claims import PromptClaims
from harpia_formats.evaluation.llm_judge.definition.endpoint import Endpoint
from harpia_formats.evaluation.llm_judge.errors import CacheError

#: The application id ("hpJC") and version that mark a database as our cache.
_application, _version = 0x68704A43, 1
#: Seconds to wait for a lock of another process.
_patience = 30.0
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
            execute(f"PRAGMA application_id = {_application}")
            execute(f"PRAGMA user_version = {_version}")
        elif (application, version) != (_application, _version):
            execute("ROLLBACK")
            raise CacheError(
                f"{self.path} is not a cache of this version of harpia-formats; name "
                "another file with --cache"
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
