"""Verdicts on rows, in the order of the rows, with several requests at once.

With several votes on a row, its verdict is that of the majority.
"""

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from harpia_formats.evaluation.llm_judge.endpoint import (
    AskModel,
    Budget,
    BudgetExhausted,
    NoReplyError,
    Reply,
    tokens_in,
)
from harpia_formats.evaluation.llm_judge.judge_definition import Definition, Template
from harpia_formats.evaluation.llm_judge.judge_errors import RepeatedBy, RowError
from harpia_formats.evaluation.llm_judge.output_fields import (
    OutputField,
    ReplyError,
    values_in,
)
from harpia_formats.evaluation.llm_judge.reply_cache import ReplyCache, request_key
from harpia_formats.model.safe_text import safe

Item = TypeVar("Item")
Done = TypeVar("Done")


class DaemonThreads(Generic[Item, Done]):
    """A fixed number of daemon threads that apply a function to submitted items.

    This is not a `ThreadPoolExecutor`, whose threads the interpreter joins at exit: a
    request that hangs would keep an interrupted run from ending.
    """

    def __init__(self, count: int, work: Callable[[Item], Done]) -> None:
        self._work = work
        self._tasks: SimpleQueue[tuple[Item, Future[Done]] | None] = SimpleQueue()
        self._is_stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._serve, name=f"judge-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, item: Item) -> Future[Done]:
        """Return the future of the result for `item`."""
        future: Future[Done] = Future()
        self._tasks.put((item, future))
        return future

    def stop(self, patience: float) -> None:
        """Start no further item, and wait `patience` seconds for the running ones."""
        self._is_stopped.set()
        for _ in self._threads:
            self._tasks.put(None)
        end = time.monotonic() + patience
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None and not self._is_stopped.is_set():
            item, future = task
            try:
                future.set_result(self._work(item))
            except BaseException as error:  # noqa: BLE001 - the future raises it again
                future.set_exception(error)


OK, FAILED, UNASKED = "ok", "failed", "unasked"
#: Seconds that an interrupted run waits for replies to requests already sent.
GRACE = 5.0
#: Rows that are started ahead of the next verdict, for each concurrent request.
_ahead = 4
#: Seconds between two looks for the reply that another process asks for: the first of
#: them, and the most that they grow to.
_look, _longest_look = 0.02, 0.25
#: A reply, and whether it is from the cache.
_Answer = tuple[Reply, bool]


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One row to judge: its values by the names of the inputs, or why it has none."""

    values: Mapping[str, Any]
    #: Why the row cannot be judged, "" if it can.
    problem: str = ""
    #: What identifies the row: `row` (from 1), `record`, `record_id`, `model`, `index`,
    #: `vote` (from 1); of a pair `order` (1 or 2) and `models` (in that order).
    identity: Mapping[str, Any] = field(default_factory=dict)
    #: Which of several votes on the row this is, from 0.
    vote: int = 0

    @property
    def place(self) -> str:
        """The identity of the row as text, for messages."""
        parts = (
            f"{key.replace('_', ' ')} "
            f"{' and '.join(value) if isinstance(value, list) else value}"
            for key, value in self.identity.items()
        )
        return ", ".join(parts) or "a row"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one row, or why there is none."""

    row: JudgeRow
    result: dict[str, Any] | None
    #: `OK`, `FAILED`, or `UNASKED` if the budget was spent before.
    status: str = OK
    error: str | None = None
    attempts: int = 0
    #: Whether the reply is from the cache, or from an equal prompt of this run.
    cached: bool = False
    #: The metadata of the reply.
    reply_meta: Mapping[str, Any] = field(default_factory=dict)
    #: With the last of several votes the majority of each output field of the row.
    majority: Mapping[str, Any] | None = None
    #: Whether there is a reply, though it may have no verdict.
    has_reply: bool = True

    @property
    def meta(self) -> dict[str, Any]:
        """The entry of `meta` beside the result."""
        return {
            **self.row.identity,
            "status": self.status,
            "attempts": self.attempts,
            "cached": self.cached,
            **self.reply_meta,
            "error": self.error,
            **({} if self.majority is None else {"majority": self.majority}),
        }


@dataclass(slots=True)
class RunCounts:
    """The number of rows of a run by status."""

    rows: int = 0
    ok: int = 0
    failed: int = 0
    unasked: int = 0
    cached: int = 0

    def add(self, verdict: Verdict) -> None:
        """Count one verdict."""
        self.rows += 1
        self.ok += verdict.status == OK
        self.failed += verdict.status == FAILED
        self.unasked += verdict.status == UNASKED
        self.cached += verdict.cached


@dataclass(frozen=True, slots=True)
class _Request:
    """A prompt to send."""

    prompt: str
    vote: int
    #: The key in the cache, empty without a cache.
    key: bytes = b""
    #: What the cache keeps already, if the prompt is sent again.
    known: Mapping[str, Any] | None = None


#: Waits for the verdict on a row and returns it.
_Pending = Callable[[], Verdict]


@dataclass(frozen=True, slots=True)
class Run:
    """The settings and the state of one run."""

    definition: Definition
    template: Template
    #: What sends the request of each vote.
    asks: Sequence[AskModel]
    budget: Budget
    tally: RunCounts
    cache: ReplyCache | None
    concurrency: int
    #: Whether replies with other keys, NaN or null are refused.
    strict: bool
    #: Whether to send a prompt again whose cached reply has no valid verdict.
    ask_again: bool
    #: The requests that are not answered yet, so that equal prompts share one.
    under_way: dict[bytes, Future[_Answer]] = field(default_factory=dict)
    #: The keys of prompts that were sent again.
    again: set[bytes] = field(default_factory=set)

    def verdicts(self, rows: Iterable[JudgeRow]) -> Generator[Verdict, None, None]:
        """Yield the verdict on each row, in order.

        At most `concurrency` requests are sent at a time. Raises `CacheError`, and
        `RowError` for the first row without a verdict if the definition asks for it.
        At the end, also after an error, pending replies have `GRACE` seconds.
        """
        workers = DaemonThreads(self.concurrency, self._answer)
        ahead = self.concurrency
        ahead *= 1 if self.definition.raise_on_failure else _ahead
        pending: deque[_Pending] = deque()
        try:
            for row in rows:
                pending.append(self._start(row, workers.submit))
                while len(pending) >= ahead:
                    yield self._finish(pending.popleft()())
            while pending:
                yield self._finish(pending.popleft()())
        finally:
            self.budget.stopped = True
            workers.stop(GRACE)

    def _start(
        self, row: JudgeRow, submit: Callable[[_Request], Future[_Answer]]
    ) -> _Pending:
        """Send the prompt of a row, unless it is cached or a value is missing."""
        if row.problem:
            return partial(Verdict, row, None, FAILED, row.problem)
        prompt = self.template.prompt(row.values)
        if self.cache is None:
            return partial(self._awaited, row, submit(_Request(prompt, row.vote)))
        key = request_key(self.definition.endpoint, prompt, row.vote)
        shared = self.under_way.get(key)
        if shared is not None and not shared.done():
            return partial(self._awaited, row, shared, is_shared=True)
        # A request that is no longer pending has put its reply into the cache.
        known = self.cache.get(key)
        if known is not None:
            verdict = self._verdict(row, _kept_reply(known), is_cached=True)
            if verdict.status == OK or not self.ask_again or key in self.again:
                return lambda: verdict
            self.again.add(key)
        future = submit(_Request(prompt, row.vote, key, known))
        self.under_way[key] = future
        future.add_done_callback(partial(self._drop, key))
        return partial(self._awaited, row, future)

    def _drop(self, key: bytes, done: Future[_Answer]) -> None:
        """Forget a request that is answered."""
        if self.under_way.get(key) is done:
            self.under_way.pop(key, None)

    def _answer(self, request: _Request) -> _Answer:
        """Return the reply to a prompt: from the endpoint, or from another process.

        A prompt that another process sends is not sent, unless that fails or dies.
        """
        if self.cache is None:
            return self._requested(request), False
        pause = _look
        while not self.budget.stopped:
            found, is_ours = self.cache.reply_or_claim(request.key, request.known)
            if found is not None:
                return _kept_reply(found), True
            if is_ours:
                return self._claimed(request, self.cache), False
            time.sleep(pause)
            pause = min(2 * pause, _longest_look)
        raise BudgetExhausted

    def _claimed(self, request: _Request, cache: ReplyCache) -> Reply:
        """Return the reply to a prompt that is claimed, after it was stored."""
        try:
            reply = self._requested(request)
        except BaseException:
            cache.release(request.key)
            raise
        kept = {"text": reply.text, "meta": reply.meta, "attempts": reply.attempts}
        if request.known is not None:
            # Others tell by it that this is another reply, even if it is an equal one.
            kept["again"] = request.known.get("again", 0) + 1
        cache.put(request.key, kept)
        return reply

    def _requested(self, request: _Request) -> Reply:
        """Return the reply of the endpoint to a prompt."""
        reply = self.asks[request.vote](request.prompt, self.budget)
        self.budget.add(tokens_in(reply.meta))
        return reply

    def _finish(self, verdict: Verdict) -> Verdict:
        """Count a verdict and return it, or raise `RowError`."""
        self.tally.add(verdict)
        if verdict.status == FAILED and self.definition.raise_on_failure:
            row, is_kept = verdict.row, self.cache is not None and not self.ask_again
            of_reply: RepeatedBy = "reply" if is_kept and verdict.has_reply else ""
            message = f"{row.place}: {verdict.error}"
            raise RowError(message, "row" if row.problem else of_reply)
        return verdict

    def _awaited(
        self, row: JudgeRow, future: Future[_Answer], *, is_shared: bool = False
    ) -> Verdict:
        """Wait for the reply to the prompt of a row; return its verdict.

        If it `is_shared` the request belongs to another row with the same prompt.
        """
        try:
            reply, is_kept = future.result()
        except NoReplyError as error:
            attempts = 0 if is_shared else error.attempts
            reason = f"no reply: {error.reason}"
            return Verdict(row, None, FAILED, reason, attempts, has_reply=False)
        except BudgetExhausted:
            reason = f"the budget is spent: {self.budget.exhausted_reason}"
            return Verdict(row, None, UNASKED, reason)
        return self._verdict(row, reply, is_cached=is_shared or is_kept)

    def _verdict(self, row: JudgeRow, reply: Reply, *, is_cached: bool) -> Verdict:
        """Return the verdict of a reply on a row."""
        outputs, score = self.definition.outputs, self.definition.score
        values, status, reason = None, OK, None
        try:
            values = values_in(reply.text, outputs, score, strict=self.strict)
        except ReplyError as error:
            status, reason = FAILED, safe(str(error), 500)
        counts = reply.attempts, is_cached
        return Verdict(row, values, status, reason, *counts, reply.meta)


def _kept_reply(kept: Mapping[str, Any]) -> Reply:
    """Return a reply as the cache keeps it."""
    return Reply(kept.get("text"), kept.get("meta", {}), kept.get("attempts", 1))


#: The fewest votes that can have a majority.
LEAST = 2


def rows_with_votes(rows: Iterable[JudgeRow], votes: int) -> Iterator[JudgeRow]:
    """Yield each row once for each vote on it; with one vote the row as it is."""
    if votes == 1:
        yield from rows
        return
    for row in rows:
        for vote in range(votes):
            yield replace(row, vote=vote, identity={**row.identity, "vote": vote + 1})


@dataclass(slots=True)
class MajorityCounts:
    """How often the votes on a row have a majority, for one output field."""

    rows: int = 0
    #: The rows without a majority, since two values have the most votes.
    ties: int = 0
    votes: int = 0
    #: The votes that are equal to the majority of their row.
    agreeing: int = 0

    @property
    def text(self) -> str:
        """The counts in words."""
        rows = "row" if self.rows == 1 else "rows"
        ties = "tie" if self.ties == 1 else "ties"
        return (
            f"a majority in {self.rows - self.ties:,} of {self.rows:,} {rows}, "
            f"{self.ties:,} {ties}; {self.agreeing:,} of {self.votes:,} votes are that "
            "of a majority"
        )


@dataclass(slots=True)
class Majorities:
    """Adds the majority of each row to the verdict of its last vote, and counts them.

    Numbers, true and false, and texts of declared choices have a majority.
    """

    outputs: tuple[OutputField, ...] = ()
    votes: int = 1
    #: The counts by the name of the field.
    counts: dict[str, MajorityCounts] = field(default_factory=dict)
    _row: list[Verdict] = field(default_factory=list)

    def add(self, verdict: Verdict) -> Verdict:
        """Return a verdict, with the majorities of its row if it is the last vote."""
        if self.votes == 1:
            return verdict
        self._row.append(verdict)
        if len(self._row) < self.votes:
            return verdict
        found = {}
        for name, values in self._labels().items():
            if len(values) >= LEAST:
                majority = found[name] = majority_of(values)
                counts = self.counts.setdefault(name, MajorityCounts())
                is_tie = majority["value"] is None
                counts.rows += 1
                counts.ties += is_tie
                counts.votes += majority["of"]
                counts.agreeing += 0 if is_tie else majority["votes"]
        self._row.clear()
        return replace(verdict, majority=found)

    def _labels(self) -> dict[str, list[Any]]:
        """Return the values of the votes on a row by the names of their fields."""
        with_choices = {output.name for output in self.outputs if output.choices}
        found: dict[str, list[Any]] = {}
        for verdict in self._row:
            for name, value in (verdict.result or {}).items():
                is_choice = isinstance(value, str) and name in with_choices
                is_finite = isinstance(value, float) and math.isfinite(value)
                if isinstance(value, int) or is_finite or is_choice:
                    found.setdefault(name, []).append(value)
        return found


def majority_of(values: Iterable[Any]) -> dict[str, Any]:
    """Return the `value` that most of some values have, its `votes`, and `of` how many.

    There must be a value. If two have the most votes, it is a tie, and `value` is None.
    """
    counts = Counter(values)
    (first, most), *others = counts.most_common(2)
    is_tie = any(count == most for _, count in others)
    return {"value": None if is_tie else first, "votes": most, "of": counts.total()}
