"""Claims in the cache of replies: who may send a prompt, and until when."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harpia_formats.evaluation.llm_judge import reply_cache
from harpia_formats.evaluation.llm_judge.reply_cache import (
    LEASE,
    ReplyCache,
    is_dead,
    new_owner,
)

KEY, REPLY = b"key", {"text": "yes"}
#: What is answered: the claim is ours, or another process has one.
OURS, OTHERS = (None, True), (None, False)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[ReplyCache, ReplyCache]]:
    """Return one cache, opened twice."""
    with ReplyCache(tmp_path / "c") as first, ReplyCache(tmp_path / "c") as second:
        yield first, second


def test_a_claim_is_of_one_alone_until_the_reply(
    two: tuple[ReplyCache, ReplyCache],
) -> None:
    """A claim keeps others off until its reply is stored, which they get."""
    first, second = two

    assert first.reply_or_claim(KEY, None) == OURS
    assert second.reply_or_claim(KEY, None) == OTHERS
    assert second.reply_or_claim(b"other", None) == OURS
    first.put(KEY, REPLY)
    assert second.reply_or_claim(KEY, None) == (REPLY, False)
    # A prompt that is sent again waits for a reply that is another one.
    assert second.reply_or_claim(KEY, REPLY) == OURS
    assert first.reply_or_claim(KEY, REPLY) == OTHERS
    second.put(KEY, {**REPLY, "again": 1})
    assert first.reply_or_claim(KEY, REPLY) == ({**REPLY, "again": 1}, False)


def test_a_claim_without_a_reply_is_given_up(
    two: tuple[ReplyCache, ReplyCache],
) -> None:
    """A failed request, and a cache that is closed, leave no claim."""
    first, second = two
    first.reply_or_claim(KEY, None)
    first.release(KEY)

    assert second.reply_or_claim(KEY, None) == OURS
    second.close()
    second.release(KEY)
    assert first.reply_or_claim(KEY, None) == OURS


def test_a_claim_expires(
    two: tuple[ReplyCache, ReplyCache], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim that was not renewed, or is of a clock that was set back, is void."""
    first, second = two
    first.reply_or_claim(KEY, None)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + LEASE - 1)
    assert second.reply_or_claim(KEY, None) == OTHERS
    monkeypatch.setattr(time, "time", lambda: now + LEASE + 1)
    assert second.reply_or_claim(KEY, None) == OURS
    # The first one answers late: its reply counts, and not its claim.
    first.put(KEY, REPLY)
    monkeypatch.setattr(time, "time", lambda: now - 2 * LEASE)
    assert first.reply_or_claim(KEY, REPLY) == OURS


def test_a_claim_is_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim holds as long as its request is under way."""
    monkeypatch.setattr(reply_cache, "LEASE", 0.4)
    monkeypatch.setattr(reply_cache, "RENEWAL", 0.05)
    with ReplyCache(tmp_path / "c") as first, ReplyCache(tmp_path / "c") as second:
        first.reply_or_claim(KEY, None)
        time.sleep(0.6)

        assert second.reply_or_claim(KEY, None) == OTHERS


def test_a_claim_of_a_dead_process_is_void(tmp_path: Path) -> None:
    """A process that is killed leaves a claim, which another one takes over at once."""
    code = (
        "import os, sys\n"
        "from harpia_formats.evaluation.llm_judge.reply_cache "
        "import ReplyCache\n"
        "ReplyCache(sys.argv[1]).reply_or_claim(b'key', None)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code, str(tmp_path / "c")], check=False
    )
    base = sqlite3.connect(tmp_path / "c")
    assert base.execute("SELECT key FROM claims").fetchall() == [(KEY,)]
    base.close()
    with ReplyCache(tmp_path / "c") as found:
        assert found.reply_or_claim(KEY, None) == OURS


def test_a_process_of_another_machine_may_be_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only a process of this machine can be known to be dead."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    mine = new_owner()
    gone = mine.replace(f"|{os.getpid()}|", f"|{done.pid}|")

    assert not is_dead(mine)
    assert is_dead(gone)
    assert not is_dead("x")
    monkeypatch.setattr(reply_cache, "_here", lambda: "elsewhere")
    assert not is_dead(gone)


def test_a_closed_cache_leaves_no_claim_that_is_void(tmp_path: Path) -> None:
    """Claims are in the cache, without our own and expired ones once it is closed."""
    base = sqlite3.connect(tmp_path / "c", isolation_level=None)
    with ReplyCache(tmp_path / "c") as first, ReplyCache(tmp_path / "c") as second:
        assert first.reply_or_claim(b"1", None) == OURS
        base.execute("INSERT INTO claims VALUES (?, ?, ?)", (b"2", "x", 1.0))
        assert second.reply_or_claim(b"3", None) == OURS
        first.close()
        assert base.execute("SELECT key FROM claims").fetchall() == [(b"3",)]
    assert base.execute("SELECT key FROM claims").fetchall() == []
    base.close()
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_a_cache_that_only_answers_is_not_changed(tmp_path: Path) -> None:
    """One of an earlier version, which has no claims, may be read-only."""
    with ReplyCache(tmp_path / "c") as found:
        found.put(KEY, REPLY)
    before = (tmp_path / "c").read_bytes()
    with ReplyCache(tmp_path / "c") as found:
        assert found.reply_or_claim(KEY, None) == (REPLY, False)

    assert (tmp_path / "c").read_bytes() == before
    assert b"claims" not in before
