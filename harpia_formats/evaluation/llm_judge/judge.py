"""The class `LLMJudge`, built from a definition, and its runs on lists or on rows.

A run gives verdicts in the order of the rows, with several requests at once. With
several votes on a row, its verdict is that of the majority.
"""

import asyncio
import os
import secrets
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, suppress
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self, TypeVar
from weakref import WeakValueDictionary

from harpia_formats.evaluation.llm_judge.endpoint import (
    ApiKey,
    AskModel,
    Budget,
    BudgetExhausted,
    NoReplyError,
    OpenAIClient,
    Reply,
    api_key_from,
    tokens_in,
)
from harpia_formats.evaluation.llm_judge.judge_definition import (
    ARGUMENTS,
    Definition,
    Template,
    arguments_from,
    arguments_of,
    definition_of,
    row_count,
)
from harpia_formats.evaluation.llm_judge.reply_cache import ReplyCache, request_key
from harpia_formats.evaluation.llm_judge.verdicts import (
    FAILED,
    OK,
    UNASKED,
    InputError,
    JudgeRow,
    Majorities,
    RepeatedBy,
    ReplyError,
    RowError,
    Verdict,
    require,
    rows_with_votes,
    values_in,
)
from harpia_formats.model.describe import with_noun
from harpia_formats.model.safe_text import safe

Item = TypeVar("Item")
Done = TypeVar("Done")
#: The least value of the numbers among the arguments of a judge.
_least = {"max_requests": 0, "max_tokens": 0, "concurrency": 1, "votes": 1}


@dataclass(eq=False, repr=False)
class LLMJudge:
    """Judges rows of data with an LLM, as Haystack's LLMEvaluator does.

    The first six parameters are those of LLMEvaluator, with the same checks, prompt and
    reading of replies. An output may also be an object such as `{"name": "score",
    "type": "number", "minimum": 0, "maximum": 1}` or `{"name": "verdict", "choices":
    ["yes", "no"]}`. Raises `DefinitionError`, which is a `ValueError`.

    `api_params` may have `model`, `api_base_url`, `generation_kwargs`, `organization`,
    `timeout` and `max_retries`. The API key is `api_key`, or the value of the
    environment variable `api_key_env`. `guarded` encloses data in unpredictable marks,
    and refuses replies with other keys, NaN or null. `cache` is a file of replies: a
    prompt in it is not sent again, except with `ask_again` if its reply has no valid
    verdict. `max_requests` and `max_tokens` limit each run. `ask` replaces the endpoint
    by a function. `score` adds a score to each result: `{"mean_of": OUTPUT}` the mean
    of a list of numbers from 0 to 1, `{"any_of": OUTPUT}` whether a list has a member.
    Each row is judged `votes` times, each time with another seed.
    """

    instructions: str
    inputs: list[tuple[str, Any]]
    outputs: list[Any]
    examples: list[dict[str, Any]]
    progress_bar: bool = True
    _: KW_ONLY
    raise_on_failure: bool = True
    api_params: Mapping[str, Any] | None = None
    api_key: InitVar[str | None] = None
    api_key_env: str | Sequence[str] | None = None
    guarded: bool = False
    cache: str | PathLike[str] | None = None
    concurrency: int = 1
    max_requests: int | None = None
    max_tokens: int | None = None
    ask_again: bool = False
    ask: AskModel | None = None
    score: Mapping[str, str] | None = None
    votes: int = 1
    definition: Definition = field(init=False)
    #: The rows of the last run by status, those from the cache, and its budget.
    tally: Counter[str] = field(default_factory=Counter, init=False)
    budget: Budget = field(default_factory=Budget, init=False)
    #: The majorities of the last run.
    majorities: Majorities = field(default_factory=Majorities, init=False)

    def __post_init__(self, api_key: str | None) -> None:
        given = {name: getattr(self, name) for name in (*ARGUMENTS, *_least)}
        self.definition = definition_of(given)
        for name, least in _least.items():
            number = given[name]
            is_without = number is None and not least
            message = f"{name} must be {least} or more, not {number}"
            require(is_without or not number < least, message)
        require(
            not self.votes > 1 or self.ask is None,
            "votes cannot be combined with a function `ask`, which gets no seed",
        )
        self._key = None if api_key is None else ApiKey(api_key)

    @classmethod
    def from_definition(
        cls,
        definition: str | PathLike[str] | Mapping[str, Any],
        *,
        component: str | None = None,
        **others: Any,
    ) -> Self:
        """Return a judge from a YAML or JSON file, or from a decoded document.

        The names `faithfulness` and `context-relevance` are definitions that are
        included. The document has the arguments by name, or is a dump of Haystack: an
        evaluator, or a pipeline with one. If there are several, `component` names one
        of them. `others` are arguments that override the definition. Raises
        `DefinitionError`.
        """
        if isinstance(definition, Mapping):
            arguments = arguments_of(definition, component)
        else:
            arguments = arguments_from(Path(definition), component)
        api_params = {
            **(arguments.pop("api_params", None) or {}),
            **(others.pop("api_params", None) or {}),
        }
        return cls(**{**arguments, "api_params": api_params, **others})

    @property
    def signature(self) -> str:
        """How verdicts are made; those with different signatures are not comparable."""
        return f"{self.definition.signature}|guarded:{'yes' if self.guarded else 'no'}"

    @cached_property
    def _client(self) -> OpenAIClient:
        """The client; raises `JudgeError` without a key or without openai."""
        key = self._key or api_key_from(self.definition.key_variables)
        return OpenAIClient(self.definition.endpoint, key)

    def warm_up(self) -> None:
        """Create the client; raises `JudgeError` without a key or without openai."""
        if self.ask is None:
            _ = self._client

    def close(self) -> None:
        """Close the connections of the client."""
        client = vars(self).pop("_client", None)
        if client is not None:
            client.close()

    def run(self, **inputs: list[Any]) -> dict[str, Any]:
        """Return `results`, and `meta` with an entry for each result.

        Each input is a list with one value for each row. A result is the JSON object
        of the reply, or None with the reason in `meta`. With several votes there is one
        for each vote on each row, and the majorities are with the last vote of a row.
        Raises `InputError` for wrong inputs, `RowError` for the first row without a
        result if `raise_on_failure` is set, and `JudgeError` if the judge cannot run.
        """
        return self._judge_lists(inputs, Budget(self.max_requests, self.max_tokens))

    def _judge_lists(
        self, inputs: Mapping[str, list[Any]], budget: Budget
    ) -> dict[str, Any]:
        """Return what `run` returns, within a budget."""
        count = row_count(self.definition.names, inputs)
        rows = (
            JudgeRow(dict(zip(inputs, values, strict=True)), identity={"row": number})
            for number, values in enumerate(zip(*inputs.values(), strict=True), 1)
        )
        for name in self.definition.template().required_names:
            if name not in inputs:
                raise InputError(
                    f"instructions or examples ask for {{{{ {name} }}}}, which is no "
                    "input: declare it, or write {{ '{{' }} for the braces themselves"
                )
        each = rows_with_votes(rows, self.votes)
        total = count * self.votes
        found = list(self.verdicts(each, total=total, budget=budget))
        return {
            "results": [verdict.result for verdict in found],
            "meta": [verdict.meta for verdict in found] or None,
        }

    async def run_async(self, **inputs: list[Any]) -> dict[str, Any]:
        """Return what `run` returns, without blocking the event loop.

        After a cancellation no further request is sent.
        """
        budget = Budget(self.max_requests, self.max_tokens)
        try:
            return await asyncio.to_thread(self._judge_lists, inputs, budget)
        finally:
            # The thread cannot be cancelled, but it sends no further request.
            budget.stopped = True

    def verdicts(
        self,
        rows: Iterable[JudgeRow],
        *,
        total: int | None = None,
        budget: Budget | None = None,
    ) -> Generator[Verdict, None, None]:
        """Yield the verdict on each row, in order; raises what `run` raises.

        A row must be there once for each vote.
        """
        self.warm_up()
        self.tally = Counter()
        self.budget = budget or Budget(self.max_requests, self.max_tokens)
        self.majorities = Majorities(self.definition.outputs, self.votes)
        with ExitStack() as stack:
            cache = None
            if self.cache is not None:
                cache = stack.enter_context(ReplyCache(Path(self.cache)))
            template = self.definition.template(self.guard_secret(cache))
            run = _Run(self, template, cache, self.budget, self.tally)
            found = stack.enter_context(closing(run.verdicts(rows)))
            if self.definition.progress_bar:
                found = stack.enter_context(closing(with_bar(found, total)))
            for verdict in found:
                yield self.majorities.add(verdict)

    def reply_to(self, prompt: str, budget: Budget, vote: int) -> Reply:
        """Return the reply to a prompt; raises what `AskModel` raises."""
        if self.ask is not None:
            return self.ask(prompt, budget)
        return self._client.ask(prompt, budget, vote)

    def guard_secret(self, cache: ReplyCache | None) -> bytes:
        """Return the secret of the marks around data, empty if data is not guarded."""
        if not self.guarded:
            return b""
        return secrets.token_bytes(32) if cache is None else bytes(cache.secret)


class DaemonThreads:
    """A fixed number of daemon threads that make submitted calls.

    This is not a `ThreadPoolExecutor`, whose threads the interpreter joins at exit: a
    request that hangs would keep an interrupted run from ending.
    """

    def __init__(self, count: int) -> None:
        self._tasks: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]
        self._tasks = SimpleQueue()
        self._is_stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._serve, name=f"judge-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, call: Callable[[], Done]) -> Future[Done]:
        """Return the future of what a call returns."""
        future: Future[Done] = Future()
        self._tasks.put((call, future))
        return future

    def stop(self, patience: float) -> None:
        """Start no further call, and wait `patience` seconds for the running ones."""
        self._is_stopped.set()
        for _ in self._threads:
            self._tasks.put(None)
        end = time.monotonic() + patience
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None and not self._is_stopped.is_set():
            call, future = task
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - the future raises it again
                future.set_exception(error)


#: The key of the rows from the cache among those by status.
CACHED = "cached"
#: Seconds that an interrupted run waits for replies to requests already sent.
GRACE = 5.0
#: Rows that are started ahead of the next verdict, for each concurrent request.
_ahead = 4
#: Seconds between two looks for the reply that another process asks for: the first of
#: them, and the most that they grow to.
_look, _longest_look = 0.02, 0.25


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a judge."""

    judge: LLMJudge
    template: Template
    cache: ReplyCache | None
    budget: Budget
    tally: Counter[str]
    #: The requests that are not answered yet, so that equal prompts share one.
    under_way: WeakValueDictionary[bytes, "Future[Reply]"] = field(
        default_factory=WeakValueDictionary
    )
    #: The keys of prompts that were sent again.
    again: set[bytes] = field(default_factory=set)

    def verdicts(self, rows: Iterable[JudgeRow]) -> Generator[Verdict, None, None]:
        """Yield the verdict on each row, in order.

        At most `concurrency` requests are sent at a time. Raises `CacheError`, and
        `RowError` for the first row without a verdict if the definition asks for it.
        At the end, also after an error, pending replies have `GRACE` seconds.
        """
        workers = DaemonThreads(self.judge.concurrency)
        ahead = self.judge.concurrency
        ahead *= 1 if self.judge.definition.raise_on_failure else _ahead
        pending: deque[Callable[[], Verdict]] = deque()
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
        self, row: JudgeRow, submit: Callable[[Callable[[], Reply]], Future[Reply]]
    ) -> Callable[[], Verdict]:
        """Send the prompt of a row, unless it is cached or a value is missing.

        Returns what waits for the verdict.
        """
        if row.problem:
            return partial(Verdict, row, None, FAILED, row.problem)
        prompt = self.template.prompt(row.values)
        ask = partial(self._requested, prompt, row.vote)
        if self.cache is None:
            return partial(self._awaited, row, submit(ask))
        key = request_key(self.judge.definition.endpoint, prompt, row.vote)
        shared = self.under_way.get(key)
        if shared is not None and not shared.done():
            return partial(self._awaited, row, shared, is_shared=True)
        # A request that is no longer pending has put its reply into the cache.
        known = self.cache.get(key)
        verdict = kept_verdict(self.judge, row, known, was_asked=key in self.again)
        if verdict is not None:
            return lambda: verdict
        if known is not None:
            self.again.add(key)
        future = submit(partial(self._shared_reply, self.cache, key, known, ask))
        self.under_way[key] = future
        return partial(self._awaited, row, future)

    def _requested(self, prompt: str, vote: int) -> Reply:
        """Return the reply of the endpoint to a prompt."""
        reply = self.judge.reply_to(prompt, self.budget, vote)
        self.budget.add(tokens_in(reply.meta))
        return reply

    def _shared_reply(
        self,
        cache: ReplyCache,
        key: bytes,
        known: Mapping[str, Any] | None,
        ask: Callable[[], Reply],
    ) -> Reply:
        """Return the reply of `ask`, after it was stored, or that of another process.

        A prompt that another process sends is not sent, unless that fails or dies. A
        stored reply that is `known` is not enough.
        """
        pause = _look
        while not self.budget.stopped:
            found, is_ours = cache.reply_or_claim(key, known)
            if found is not None:
                return _kept_reply(found)
            if is_ours:
                try:
                    reply = ask()
                    cache.put(key, _kept(reply, known))
                except BaseException:  # no process waits for one that was interrupted
                    cache.release(key)
                    raise
                return reply
            time.sleep(pause)
            pause = min(2 * pause, _longest_look)
        raise BudgetExhausted

    def _finish(self, verdict: Verdict) -> Verdict:
        """Count a verdict and return it, or raise `RowError`."""
        self.tally[verdict.status] += 1
        self.tally[CACHED] += verdict.cached
        if verdict.status == FAILED and self.judge.definition.raise_on_failure:
            is_kept = self.cache is not None and not self.judge.ask_again
            by: RepeatedBy = "reply" if is_kept and verdict.has_reply else ""
            message = f"{verdict.row.place}: {verdict.error}"
            raise RowError(message, "row" if verdict.row.problem else by)
        return verdict

    def _awaited(
        self, row: JudgeRow, future: Future[Reply], *, is_shared: bool = False
    ) -> Verdict:
        """Wait for the reply to the prompt of a row; return its verdict.

        If it `is_shared` the request belongs to another row with the same prompt.
        """
        try:
            reply = future.result()
        except NoReplyError as error:
            attempts = 0 if is_shared else error.attempts
            reason = f"no reply: {error.reason}"
            return Verdict(row, None, FAILED, reason, attempts, has_reply=False)
        except BudgetExhausted:
            reason = f"the budget is spent: {self.budget.exhausted_reason}"
            return Verdict(row, None, UNASKED, reason)
        reply = replace(reply, is_kept=reply.is_kept or is_shared)
        return _verdict(self.judge, row, reply)


def kept_verdict(
    judge: LLMJudge,
    row: JudgeRow,
    known: Mapping[str, Any] | None,
    *,
    was_asked: bool = False,
) -> Verdict | None:
    """Return the verdict of a reply in the cache, None if its prompt is to be sent.

    With `ask_again` a reply without a valid verdict is not enough, unless its prompt
    `was_asked` again already.
    """
    if known is None:
        return None
    verdict = _verdict(judge, row, _kept_reply(known))
    is_enough = verdict.status == OK or not judge.ask_again or was_asked
    return verdict if is_enough else None


def _verdict(judge: LLMJudge, row: JudgeRow, reply: Reply) -> Verdict:
    """Return the verdict of a reply on a row."""
    outputs, score = judge.definition.outputs, judge.definition.score
    values, status, reason = None, OK, None
    try:
        values = values_in(reply.text, outputs, score, strict=judge.guarded)
    except ReplyError as error:
        status, reason = FAILED, safe(str(error), 500)
    parts = reply.attempts, reply.is_kept, reply.meta
    return Verdict(row, values, status, reason, *parts)


def _kept(reply: Reply, known: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what the cache keeps of a reply, which replaces what is `known`."""
    kept = {"text": reply.text, "meta": reply.meta, "attempts": reply.attempts}
    # Others tell by `again` that this is another reply, even if it is an equal one.
    return kept if known is None else {**kept, "again": known.get("again", 0) + 1}


def _kept_reply(kept: Mapping[str, Any]) -> Reply:
    """Return a reply as the cache keeps it."""
    parts = kept.get("text"), kept.get("meta", {}), kept.get("attempts", 1)
    return Reply(*parts, is_kept=True)


#: Seconds before the bar appears, and between two pictures of it.
PATIENCE, PICTURES = 0.5, 0.1
#: Columns of a terminal that does not tell its width.
_USUAL_WIDTH = 80
_ERASE = "\r\x1b[2K"


def with_bar(items: Iterable[Item], total: int | None) -> Generator[Item, None, None]:
    """Yield items, and show their number in the bar that commands show for bytes."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    is_shown = is_terminal and os.environ.get("TERM") != "dumb"
    start, last = time.monotonic(), 0.0
    try:
        for done, item in enumerate(items, 1):
            now = time.monotonic()
            if is_shown and now - start >= PATIENCE and now - last >= PICTURES:
                last = now
                _write(f"{_ERASE}{_bar(done, total, now - start)}")
            yield item
    finally:
        if last:
            _write(_ERASE)


def _bar(done: int, total: int | None, seconds: float) -> str:
    """Return the bar with the rows so far."""
    from harpia_formats.model.text_columns import (  # noqa: PLC0415 - only for long runs
        progress_bar,
        progress_text,
    )

    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError, AttributeError):
        width = _USUAL_WIDTH
    text = progress_text(done, total, done / max(seconds, 1e-9), "rows")
    return progress_bar("judging", done / total if total else None, text, width - 1)


def _write(text: str) -> None:
    """Write text to standard error at once; a terminal that is gone ends no run."""
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def summary_of(judge: LLMJudge) -> str:
    """Return the counts of the last run of a judge in one line.

    With several votes there is a line for the majorities of each output field.
    """
    tally, budget = judge.tally, judge.budget
    noun = "vote" if judge.votes > 1 else "row"
    count = with_noun(tally.total() - tally[CACHED], noun)
    parts = {
        CACHED: "from the cache",
        FAILED: "failed",
        UNASKED: f"not asked, since {budget.exhausted_reason}",
    }
    rows = [f"{count}: {tally[OK]:,} judged"]
    rows += [f"{tally[of]:,} {text}" for of, text in parts.items() if tally[of]]
    requests = with_noun(budget.requests, "request")
    if budget.retries:
        retries = "retry" if budget.retries == 1 else "retries"
        requests += f", of which {budget.retries:,} {retries}"
    counts = f"{', '.join(rows)}; {requests}; {with_noun(budget.tokens, 'token')}"
    majorities = (
        f"{safe(name)}: a majority in {found['rows'] - found['ties']:,} of "
        f"{with_noun(found['rows'], 'row')}, {with_noun(found['ties'], 'tie')}; "
        f"{found['agreeing']:,} of {found['votes']:,} votes are that of a majority"
        for name, found in judge.majorities.counts.items()
    )
    return "\n".join((counts, *majorities))


def resume_hint(
    cache: Path | None, error: RowError | None = None, *, overwriting: bool = False
) -> str:
    """Return how to continue a run that was stopped, by an error if there is one.

    `overwriting` tells whether an output exists that the next run must overwrite.
    """
    kept = f"what was answered is in {cache}"
    if error is not None and error.repeats:
        is_reply = error.repeats == "reply"
        also = ", and so is the reply without a verdict" if is_reply else ""
        ask = "`--ask-again` asks for it once more, " if is_reply else ""
        start = "" if cache is None else f"{kept}{also}: "
        return (
            f"{start}the same command fails at this row again; "
            f"{ask}`--no-raise-on-failure` goes on without its verdict"
        )
    if cache is None:
        return "without a cache no reply was kept: a new run asks for every row"
    option = " with `--overwrite`" if overwriting else ""
    return f"{kept}: the same command{option} goes on from there"
