"""The class `LLMJudge`: built from a definition, run on lists or on rows."""

import asyncio
import os
import secrets
import sys
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Self

from harpia_formats.evaluation.llm_judge.endpoint import (
    ApiKey,
    AskModel,
    Budget,
    OpenAIClient,
    api_key_from,
)
from harpia_formats.evaluation.llm_judge.judge_definition import (
    ARGUMENTS,
    arguments_from,
    arguments_of,
    definition_of,
    row_count,
)
from harpia_formats.evaluation.llm_judge.judge_errors import (
    InputError,
    RowError,
    require,
)
from harpia_formats.evaluation.llm_judge.reply_cache import ReplyCache
from harpia_formats.evaluation.llm_judge.row_verdicts import (
    JudgeRow,
    Majorities,
    Run,
    RunCounts,
    Verdict,
    rows_with_votes,
)
from harpia_formats.model.safe_text import safe

#: Seconds before the bar appears, and between two pictures of it.
PATIENCE, PICTURES = 0.5, 0.1
#: Columns of a terminal that does not tell its width.
_USUAL_WIDTH = 80
_ERASE = "\r\x1b[2K"


class RowProgress:
    """Shows the number of judged rows, in the bar that commands show for bytes."""

    def __init__(self, total: int | None, *, shown: bool) -> None:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._total = total
        self._may_be_shown = shown and is_terminal and os.environ.get("TERM") != "dumb"
        self._start = time.monotonic()
        self._last = 0.0
        self._done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._last:
            self._last = 0.0
            _write(_ERASE)

    def step(self) -> None:
        """Count one row."""
        self._done += 1
        now = time.monotonic()
        is_early = now - self._start < PATIENCE or now - self._last < PICTURES
        if self._may_be_shown and not is_early:
            self._last = now
            _write(f"{_ERASE}{self._line(now)}")

    def _line(self, now: float) -> str:
        """Return the bar with the rows so far."""
        from harpia_formats.model.text_columns import (  # noqa: PLC0415 - only for long runs
            progress_bar,
            progress_text,
        )

        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_WIDTH
        except (OSError, ValueError, AttributeError):
            width = _USUAL_WIDTH
        rate = self._done / max(now - self._start, 1e-9)
        text = progress_text(self._done, self._total, rate, "rows")
        share = self._done / self._total if self._total else None
        return progress_bar("judging", share, text, width - 1)


def _write(text: str) -> None:
    """Write text to standard error at once; a terminal that is gone ends no run."""
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


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

    def __init__(  # noqa: PLR0913 - the six parameters of Haystack, and more
        self,
        instructions: str,
        inputs: list[tuple[str, Any]],
        outputs: list[Any],
        examples: list[dict[str, Any]],
        progress_bar: bool = True,  # noqa: FBT001, FBT002 - as in Haystack
        *,
        raise_on_failure: bool = True,
        api_params: Mapping[str, Any] | None = None,
        api_key: str | None = None,
        api_key_env: str | Sequence[str] | None = None,
        guarded: bool = False,
        cache: str | PathLike[str] | None = None,
        concurrency: int = 1,
        max_requests: int | None = None,
        max_tokens: int | None = None,
        ask_again: bool = False,
        ask: AskModel | None = None,
        score: Mapping[str, str] | None = None,
        votes: int = 1,
    ) -> None:
        given = locals()  # the arguments by their names
        self.definition = definition_of({name: given[name] for name in ARGUMENTS})
        for name in ("max_requests", "max_tokens"):
            limit = given[name]
            message = f"{name} must be 0 or more, not {limit}"
            require(limit is None or not limit < 0, message)
        for name in ("concurrency", "votes"):
            number = given[name]
            require(not number < 1, f"{name} must be 1 or more, not {number}")
        require(
            not votes > 1 or ask is None,
            "votes cannot be combined with a function `ask`, which gets no seed",
        )
        self.votes = votes
        self._key = None if api_key is None else ApiKey(api_key)
        self._guarded, self._ask_again, self._given_ask = guarded, ask_again, ask
        self._cache = None if cache is None else Path(cache)
        self._concurrency = concurrency
        self._limits = max_requests, max_tokens
        self._client: OpenAIClient | None = None
        #: The counts and the budget of the last run.
        self.tally, self.budget = RunCounts(), Budget()
        #: The majorities of the last run.
        self.majorities = Majorities()

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
        return f"{self.definition.signature}|guarded:{'yes' if self._guarded else 'no'}"

    def warm_up(self) -> None:
        """Create the client; raises `JudgeError` without a key or without openai."""
        if self._given_ask is None:
            self._open_client()

    def _open_client(self) -> OpenAIClient:
        """Return the client, which is made once."""
        if self._client is None:
            key = self._key or api_key_from(self.definition.key_variables)
            self._client = OpenAIClient(self.definition.endpoint, key)
        return self._client

    def close(self) -> None:
        """Close the connections of the client."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def run(self, **inputs: list[Any]) -> dict[str, Any]:
        """Return `results`, and `meta` with an entry for each result.

        Each input is a list with one value for each row. A result is the JSON object
        of the reply, or None with the reason in `meta`. With several votes there is one
        for each vote on each row, and the majorities are with the last vote of a row.
        Raises `InputError` for wrong inputs, `RowError` for the first row without a
        result if `raise_on_failure` is set, and `JudgeError` if the judge cannot run.
        """
        return self._judge_lists(inputs, Budget(*self._limits))

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
        found = list(self._verdicts(each, count * self.votes, budget))
        return {
            "results": [verdict.result for verdict in found],
            "meta": [verdict.meta for verdict in found] or None,
        }

    async def run_async(self, **inputs: list[Any]) -> dict[str, Any]:
        """Return what `run` returns, without blocking the event loop.

        After a cancellation no further request is sent.
        """
        budget = Budget(*self._limits)
        try:
            return await asyncio.to_thread(self._judge_lists, inputs, budget)
        finally:
            # The thread cannot be cancelled, but it sends no further request.
            budget.stopped = True

    def verdicts(
        self, rows: Iterable[JudgeRow], *, total: int | None = None
    ) -> Generator[Verdict, None, None]:
        """Yield the verdict on each row, in order; raises what `run` raises.

        A row must be there once for each vote.
        """
        return self._verdicts(rows, total, Budget(*self._limits))

    def _verdicts(
        self, rows: Iterable[JudgeRow], total: int | None, budget: Budget
    ) -> Generator[Verdict, None, None]:
        """Yield the verdict on each row, within a budget."""
        self.warm_up()
        self.tally, self.budget = RunCounts(), budget
        self.majorities = Majorities(self.definition.outputs, self.votes)
        with ExitStack() as stack:
            cache = None
            if self._cache is not None:
                cache = stack.enter_context(ReplyCache(self._cache))
            run = Run(
                self.definition,
                self.definition.template(self.guard_secret(cache)),
                self._asks(),
                budget,
                self.tally,
                cache,
                self._concurrency,
                strict=self._guarded,
                ask_again=self._ask_again,
            )
            counter = RowProgress(total, shown=self.definition.progress_bar)
            stack.enter_context(counter)
            for verdict in stack.enter_context(closing(run.verdicts(rows))):
                counter.step()
                yield self.majorities.add(verdict)

    def _asks(self) -> tuple[AskModel, ...]:
        """Return what sends the request of each vote."""
        if self._given_ask is not None:
            return (self._given_ask,)
        ask = self._open_client().ask
        return tuple(partial(ask, vote=vote) for vote in range(self.votes))

    def guard_secret(self, cache: ReplyCache | None) -> bytes:
        """Return the secret of the marks around data, empty if data is not guarded."""
        if not self._guarded:
            return b""
        return secrets.token_bytes(32) if cache is None else bytes(cache.secret)


def summary_of(judge: LLMJudge) -> str:
    """Return the counts of the last run of a judge in one line.

    With several votes there is a line for the majorities of each output field.
    """
    tally, budget = judge.tally, judge.budget
    noun = "vote" if judge.votes > 1 else "row"
    parts = {
        f"{_counted(tally.rows, noun)}: {tally.ok:,} judged": True,
        f"{tally.cached:,} from the cache": tally.cached,
        f"{tally.failed:,} failed": tally.failed,
        f"{tally.unasked:,} not asked, since {budget.exhausted_reason}": tally.unasked,
    }
    requests = _counted(budget.requests, "request")
    if budget.retries:
        requests += f", of which {_counted(budget.retries, 'retry', 'retries')}"
    rows = ", ".join(text for text, is_told in parts.items() if is_told)
    counts = f"{rows}; {requests}; {_counted(budget.tokens, 'token')}"
    majorities = (
        f"{safe(name)}: {found.text}" for name, found in judge.majorities.counts.items()
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


def _counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
