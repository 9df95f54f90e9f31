"""One run: rows in, verdicts out in the same order, several asked for at a time."""

from collections import deque
from collections.abc import Generator, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.llm_judge.client.budget import Budget, BudgetExhausted
from harpia_formats.llm_judge.client.openai_client import (
    AskModel,
    NoReplyError,
    Reply,
    tokens_in,
)
from harpia_formats.llm_judge.client.read_reply import ReplyError, values_in
from harpia_formats.llm_judge.client.reply_cache import ReplyCache, request_key
from harpia_formats.llm_judge.definition.endpoint import Endpoint
from harpia_formats.llm_judge.definition.output_fields import OutputField
from harpia_formats.llm_judge.definition.prompt import Template
from harpia_formats.llm_judge.errors import RowError
from harpia_formats.llm_judge.run.threads import DaemonThreads
from harpia_formats.text.sanitize import safe

OK, FAILED, UNASKED = "ok", "failed", "unasked"
#: Seconds that a run which is broken off waits for replies that are paid for already.
GRACE = 5.0
#: Rows that are looked at ahead of the one whose verdict is next, for each request.
_ahead = 4


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """The values of one row by the names of their inputs, or why there are none."""

    values: Mapping[str, Any]
    #: What the row lacks, "" if nothing.
    problem: str = ""
    #: What tells the row to people: its place from 1, its record, whose answer it is.
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The same as a few words."""
        words = (f"{key.replace('_', ' ')} {each}" for key, each in self.told.items())
        return ", ".join(words) or "a row"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a row."""

    row: JudgeRow
    result: dict[str, Any] | None
    #: `OK`, `FAILED`, or `UNASKED` where the budget was spent before.
    status: str = OK
    error: str | None = None
    attempts: int = 0
    #: Whether the reply came out of the cache, or was that of an equal prompt.
    cached: bool = False
    #: What the endpoint says of the reply.
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def meta(self) -> dict[str, Any]:
        """The entry that stands beside the result."""
        return {
            **self.row.told,
            "status": self.status,
            "attempts": self.attempts,
            "cached": self.cached,
            **self.about,
            "error": self.error,
        }


@dataclass(slots=True)
class RunCounts:
    """What a run came to."""

    rows: int = 0
    ok: int = 0
    failed: int = 0
    unasked: int = 0
    cached: int = 0

    def add(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self.rows += 1
        self.ok += verdict.status == OK
        self.failed += verdict.status == FAILED
        self.unasked += verdict.status == UNASKED
        self.cached += verdict.cached


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How rows are judged."""

    template: Template
    outputs: tuple[OutputField, ...]
    endpoint: Endpoint
    ask: AskModel
    budget: Budget
    cache: ReplyCache | None = None
    concurrency: int = 1
    raise_on_failure: bool = True
    #: Whether a reply must be exactly what was asked for.
    strict: bool = False
    #: Whether to ask once more where a cached reply gives no verdict.
    ask_again: bool = False
    tally: RunCounts = field(default_factory=RunCounts)


@dataclass(frozen=True, slots=True)
class PendingRequests:
    """The requests that are under way, so that equal prompts share one."""

    _futures: dict[bytes, Future[Reply]] = field(default_factory=dict)
    #: Prompts that were asked once more in this run.
    again: set[bytes] = field(default_factory=set)

    def future(self, key: bytes) -> Future[Reply] | None:
        """Return what will be the reply to a prompt, None if it is not under way."""
        found = self._futures.get(key)
        return None if found is None or found.done() else found

    def add(self, key: bytes, future: Future[Reply]) -> None:
        """Note a request until there is a reply."""
        self._futures[key] = future
        future.add_done_callback(lambda done: self._drop(key, done))

    def _drop(self, key: bytes, done: Future[Reply]) -> None:
        if self._futures.get(key) is done:
            self._futures.pop(key, None)


#: A row, its verdict or the reply that it will be made of, and whether the reply is
#: that of another row.
_Pending = tuple[JudgeRow, Verdict | Future[Reply], bool]


def verdicts(
    rows: Iterable[JudgeRow], run: RunConfig
) -> Generator[Verdict, None, None]:
    """Yield the verdict on each row, in order.

    No more than `run.concurrency` requests are under way at a time. Raises `RowError`
    for the first row without a verdict if the run is to, and `CacheError`. Whatever
    ends it, replies that are under way have `GRACE` seconds to reach the cache.
    """
    workers: DaemonThreads[tuple[str, bytes], Reply]
    workers = DaemonThreads(run.concurrency, lambda task: _asked(run, *task))
    ahead = run.concurrency * (1 if run.raise_on_failure else _ahead)
    pending: deque[_Pending] = deque()
    under_way = PendingRequests()
    try:
        for row in rows:
            pending.append(_begun(row, run, workers, under_way))
            while len(pending) >= ahead:
                yield _ended(pending.popleft(), run)
        while pending:
            yield _ended(pending.popleft(), run)
    finally:
        run.budget.stopped = True
        workers.stop(GRACE)


def _begun(
    row: JudgeRow,
    run: RunConfig,
    workers: DaemonThreads[tuple[str, bytes], Reply],
    under_way: PendingRequests,
) -> _Pending:
    """Have a row asked for, unless its reply is known or it lacks something."""
    if row.problem:
        return row, Verdict(row, None, FAILED, row.problem), False
    prompt = run.template.prompt(row.values)
    if run.cache is None:
        return row, workers.submit((prompt, b"")), False
    key = request_key(run.endpoint, prompt)
    shared = under_way.future(key)
    if shared is not None:
        return row, shared, True
    # What was under way and no longer is, was in the cache before.
    known = run.cache.get(key)
    if known is not None:
        verdict = _judged(row, _reply_of(known), run, cached=True)
        if verdict.status == OK or not run.ask_again or key in under_way.again:
            return row, verdict, False
        under_way.again.add(key)
    future = workers.submit((prompt, key))
    under_way.add(key, future)
    return row, future, False


def _asked(run: RunConfig, prompt: str, key: bytes) -> Reply:
    """Return the reply to a prompt, which is then in the cache."""
    reply = run.ask(prompt, run.budget)
    run.budget.add(tokens_in(reply.meta))
    if run.cache is not None:
        kept = {"text": reply.text, "meta": reply.meta, "attempts": reply.attempts}
        run.cache.put(key, kept)
    return reply


def _reply_of(known: Mapping[str, Any]) -> Reply:
    return Reply(known.get("text"), known.get("meta", {}), known.get("attempts", 1))


def _ended(pending: _Pending, run: RunConfig) -> Verdict:
    """Return the verdict on a row once it is there, and count it."""
    row, found, is_shared = pending
    verdict = (
        found
        if isinstance(found, Verdict)
        else _awaited(row, found, run, is_shared=is_shared)
    )
    run.tally.add(verdict)
    if verdict.status == FAILED and run.raise_on_failure:
        raise RowError(f"{row.place}: {verdict.error}")
    return verdict


def _awaited(
    row: JudgeRow, future: Future[Reply], run: RunConfig, *, is_shared: bool
) -> Verdict:
    try:
        reply = future.result()
    except NoReplyError as error:
        attempts = 0 if is_shared else error.attempts
        reason = f"no reply: {error.reason}"
        return Verdict(row, None, FAILED, reason, attempts)
    except BudgetExhausted:
        return Verdict(row, None, UNASKED, f"the budget is spent: {run.budget.spent}")
    return _judged(row, reply, run, cached=is_shared)


def _judged(row: JudgeRow, reply: Reply, run: RunConfig, *, cached: bool) -> Verdict:
    """Return what a reply says of a row."""
    try:
        values = values_in(reply.text, run.outputs, strict=run.strict)
    except ReplyError as error:
        reason = safe(str(error), 500)
        return Verdict(row, None, FAILED, reason, reply.attempts, cached, reply.meta)
    return Verdict(row, values, OK, None, reply.attempts, cached, reply.meta)
