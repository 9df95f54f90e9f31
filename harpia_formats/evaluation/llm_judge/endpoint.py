"""The endpoint of a judge: its address and parameters, its key, the budget, requests.

Requests go to any OpenAI-compatible endpoint through the openai client.
"""

import json
import os
import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from harpia_formats.evaluation.llm_judge.verdicts import JudgeError, check_keys, require
from harpia_formats.model.describe import with_noun
from harpia_formats.model.safe_text import safe

#: The model that Haystack's page names as the default of its evaluator.
MODEL = "gpt-4o-mini"
#: The default request parameters of Haystack's evaluator.
_params = {"response_format": {"type": "json_object"}, "seed": 42}
_default_url = "https://api.openai.com/v1"
#: The seconds of one request, and how often it is sent again.
_timeout, _retries = 30.0, 5
#: Request parameters that users cannot set, and parameters of the client itself.
_reserved_keys = {"messages", "model", "stream", "stream_options"}
_reserved_keys |= {"extra_headers", "extra_query", "timeout"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint, and the parameters of its requests."""

    model: str = MODEL
    url: str = _default_url
    params: Mapping[str, Any] = field(default_factory=lambda: dict(_params))
    organization: str | None = None
    #: The time-out of one request, in seconds.
    timeout: float = _timeout
    max_retries: int = _retries

    def params_of_vote(self, vote: int) -> dict[str, Any]:
        """Return the parameters of a vote, counted from 0: each has a seed of its own.

        A seed that is not a whole number, or not sent, stays as it is.
        """
        seed = self.params.get("seed")
        if not vote or not isinstance(seed, int) or isinstance(seed, bool):
            return dict(self.params)
        return {**self.params, "seed": seed + vote}


def endpoint_of(given: Mapping[str, Any]) -> Endpoint:
    """Return the endpoint with the given parameters, which have Haystack's names.

    These are `model`, `api_base_url`, `generation_kwargs`, `organization`, `timeout`
    and `max_retries`. A member of `generation_kwargs` that is None is not sent. Without
    `api_base_url` the variable `OPENAI_BASE_URL` is used, as by the openai client.
    Raises `DefinitionError`.
    """
    check_keys(given, _types, "api_params")
    known = {name: value for name, value in given.items() if value is not None}
    known = {"timeout": _timeout, "max_retries": _retries, **known}
    for name, (kinds, words) in _types.items():
        value = known.get(name)
        is_right = isinstance(value, kinds) and not isinstance(value, bool)
        kind = type(value).__name__
        message = f"{name} in api_params is {kind}, but must be {words}"
        require(value is None or is_right, message)
    url = known.get("api_base_url") or os.environ.get("OPENAI_BASE_URL") or _default_url
    _check_url(url)
    params = _params_of(known.get("generation_kwargs") or {})
    timeout, retries = known["timeout"], known["max_retries"]
    for name, number in (("timeout", timeout), ("max_retries", retries)):
        message = f"{name} in api_params must be 0 or more, not {number}"
        require(0 <= number < float("inf"), message)
        require(
            number or name != "timeout",
            "timeout in api_params must be above 0, not 0: leave it out for "
            f"{_timeout:g} seconds",
        )
    model, organization = known.get("model") or MODEL, known.get("organization")
    return Endpoint(model, url.rstrip("/"), params, organization, timeout, retries)


#: The types of the parameters, and words for them.
_types: dict[str, tuple[Any, str]] = {
    "model": (str, "text"),
    "api_base_url": (str, "text"),
    "generation_kwargs": (Mapping, "an object"),
    "organization": (str, "text"),
    "timeout": ((int, float), "a number of seconds"),
    "max_retries": (int, "a whole number"),
}


def _check_url(url: str) -> None:
    """Raise `DefinitionError` unless an address is one of a server without a key."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - only the judge needs it

    try:
        parts = urlsplit(url)
        is_address = parts.hostname and parts.scheme in {"http", "https"}
    except ValueError:
        is_address = False
    message = "the endpoint must be an address such as https://api.openai.com/v1"
    require(is_address, message)
    require(
        parts.username is None and parts.password is None and not parts.query,
        "the endpoint must hold no user, password or query: a key belongs in a "
        "variable of the environment",
    )


def _params_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of requests, with those that are sent by default."""
    more = given.get("extra_body") or {}
    message = "extra_body in generation_kwargs must be an object"
    require(isinstance(more, Mapping), message)
    for key in (*given, *more):
        require(key not in _reserved_keys, f"{key} cannot be set in generation_kwargs")
    merged = {**_params, **given, **more}
    merged.pop("extra_body", None)
    return {key: value for key, value in merged.items() if value is not None}


def sorted_json(value: Any) -> str:
    """Return a value as JSON that does not depend on the order of keys."""
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except TypeError:
        # Keys of several types have no order before they are texts.
        texts = json.loads(json.dumps(value, default=str))
        return json.dumps(texts, sort_keys=True)


#: The most code points of a message of an endpoint.
MESSAGE = 300
#: The length of the shortest key that is removed from messages, and from replies.
#: Users of servers without keys set words such as "none", which replies may contain.
_in_messages, _in_replies = 4, 12


class ApiKey:
    """An API key whose text is not part of its representation."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return "Key(***)"

    def redacted(self, text: str, shortest: int = _in_replies) -> str:
        """Return `text` with the key as ***, unless it is shorter than `shortest`."""
        return text.replace(self.text, "***") if len(self.text) >= shortest else text

    def redacted_message(self, text: str) -> str:
        """Return a message as one line without the key, cut to `MESSAGE`."""
        return safe(self.redacted(text, _in_messages), MESSAGE)


def api_key_from(names: Sequence[str]) -> ApiKey:
    """Return the key from the first of these environment variables that is set.

    Raises `JudgeError` if none is set.
    """
    for name in names:
        text = os.environ.get(name, "").strip()
        if text:
            return ApiKey(text)
    raise JudgeError(
        f"there is no key: set {' or '.join(names)}, or name the variable that has it "
        "with `--api-key-env` (api_key_env in Python); a server that asks for none "
        "takes any text"
    )


class BudgetExhausted(BaseException):
    """The budget is spent, so that no further request is sent.

    It is not an `Exception`, because clients catch those and send the request again.
    """


@dataclass(slots=True)
class Budget:
    """Counts requests and tokens, and stops requests at the limits."""

    #: The limits; None for no limit.
    max_requests: int | None = None
    max_tokens: int | None = None
    #: The number of requests, and how many of them were retries.
    requests: int = 0
    retries: int = 0
    tokens: int = 0
    #: Why no further request is sent, "" as long as some are allowed.
    exhausted_reason: str = ""
    #: Set when a run is interrupted.
    stopped: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def count_request(self, *, is_retry: bool = False) -> None:
        """Count a request before it is sent; raises `BudgetExhausted` at a limit."""
        with self._lock:
            if self.stopped:
                raise BudgetExhausted
            if self.max_requests is not None and self.requests >= self.max_requests:
                self.exhausted_reason = f"{_were(self.max_requests, 'request')} sent"
            elif self.max_tokens is not None and self.tokens >= self.max_tokens:
                self.exhausted_reason = f"{_were(self.tokens, 'token')} used"
            if self.exhausted_reason:
                raise BudgetExhausted
            self.requests += 1
            self.retries += is_retry

    def add(self, tokens: int) -> None:
        """Add the tokens of a reply."""
        with self._lock:
            self.tokens += tokens


def _were(number: int, noun: str) -> str:
    """Return a number with its noun and the verb: `1 request was`."""
    return f"{with_noun(number, noun)} {'was' if number == 1 else 'were'}"


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a model, with its metadata."""

    #: None if the reply has no text; it costs tokens all the same.
    text: str | None
    #: `judge_model`, `finish_reason` and `usage`, if the endpoint returned them.
    meta: Mapping[str, Any] = field(default_factory=dict)
    #: The number of requests until the reply.
    attempts: int = 1
    #: Whether it is from the cache, or was sent for an equal prompt of this run.
    is_kept: bool = False


@dataclass(eq=False)
class NoReplyError(Exception):
    """A prompt without a reply; has the reason and the number of requests."""

    reason: str
    attempts: int

    def __str__(self) -> str:
        return self.reason


#: Sends a prompt to a model and returns the reply. Calls `Budget.count_request` before
#: each request. Raises `NoReplyError`, and `BudgetExhausted` from the budget.
AskModel = Callable[[str, Budget], Reply]


#: Bytes of an answer of an endpoint, which is held in memory; a judge's has far fewer.
LONGEST_ANSWER = 16 * 1024 * 1024
#: The window bits of zlib for gzip.
_GZIP = 31
#: What the name of a compression contains.
_compressed = re.compile("br|compress|deflate|gzip|zstd")


class OpenAIClient:
    """Sends prompts to one endpoint, from any thread.

    Raises `JudgeError` if openai is not installed.
    """

    def __init__(self, endpoint: Endpoint, key: ApiKey) -> None:
        try:
            import openai  # noqa: PLC0415 - in the extra judge, and slow to import
        except ImportError:
            raise JudgeError(
                "a judge needs the extra judge: pip install 'harpia-formats[judge]'"
            ) from None
        self._endpoint, self._key = endpoint, key
        self._errors = openai.OpenAIError
        self._now = threading.local()
        http = openai.DefaultHttpxClient(
            event_hooks={"request": [self._count], "response": [_bound]},
            # Another encoding would be decompressed without a bound.
            headers={"Accept-Encoding": "gzip"},
            # A redirected answer is not accepted: the key is for one server only.
            follow_redirects=False,
        )
        self._client = openai.OpenAI(
            api_key=key.text,
            base_url=endpoint.url,
            organization=endpoint.organization,
            timeout=endpoint.timeout,
            max_retries=endpoint.max_retries,
            http_client=http,
        )

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _count(self, _request: Any) -> None:
        """Count a request; the client calls this before each one, retries included."""
        self._now.budget.count_request(is_retry=self._now.attempts > 0)
        self._now.attempts += 1

    def ask(self, prompt: str, budget: Budget, vote: int = 0) -> Reply:
        """Return the reply to a prompt; raises `NoReplyError` and `BudgetExhausted`.

        `vote` is the number of the vote from 0.
        """
        self._now.budget, self._now.attempts = budget, 0
        try:
            answer = self._client.chat.completions.with_raw_response.create(
                model=self._endpoint.model,
                messages=[{"role": "user", "content": prompt}],
                extra_body=self._endpoint.params_of_vote(vote),
            )
            body = answer.http_response.content
        except self._errors as error:
            reason = _reason(error)
        except zlib.error as error:
            reason = f"the endpoint's answer cannot be decompressed: {error}"
        except (ValueError, TypeError, OSError) as error:
            reason = f"{type(error).__name__}: {error}"
        else:
            reason = "the endpoint's answer is no completion"
            if len(body) > LONGEST_ANSWER:
                reason = f"the endpoint's answer has more than {LONGEST_ANSWER:,} bytes"
                body = b""
            with suppress(ValueError, RecursionError):
                completion = json.loads(self._key.redacted(body.decode()))
                reply = _reply_in(completion, self._now.attempts)
                if reply is not None:
                    return reply
        raise NoReplyError(self._key.redacted_message(reason), self._now.attempts)


def _bound(response: Any) -> None:
    """Leave out what follows the first bytes of an answer, which is not read yet."""
    whole = response.stream
    # What is decompressed here is not decompressed again.
    encoding = response.headers.pop("content-encoding", "").strip().lower()
    members = {
        "__init__": lambda _: None,
        "__iter__": lambda _: _first_bytes(whole, encoding),
        "close": lambda _: whole.close(),
    }
    # Only streams of the client's own package are read, which is httpx or httpx2.
    response.stream = type("Beginning", (type(whole),), members)()


def _first_bytes(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the bytes of an answer, of a longer one as many as show that.

    Raises `zlib.error` for a compression that was not asked for.
    """
    # Some servers name a charset here, which is no encoding of the bytes.
    if encoding != "gzip" and _compressed.search(encoding):
        raise zlib.error(f"{encoding[:40]!r} was not asked for")
    unpacker = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
    left = LONGEST_ANSWER + 1
    for piece in pieces:
        rest = piece
        while rest and left:
            if unpacker is None:
                data, rest = rest[:left], b""
            else:
                data = unpacker.decompress(rest, left)
                rest = unpacker.unconsumed_tail
            left -= len(data)
            yield data
        if not left:
            return


def _reason(error: Exception) -> str:
    """Return the message of a client error with its HTTP status."""
    message = str(getattr(error, "message", error))
    status = getattr(error, "status_code", None)
    has_status = not status or str(status) in message
    return message if has_status else f"HTTP {status}: {message}"


def _reply_in(completion: Any, attempts: int) -> Reply | None:
    """Return the reply in a completion, None if there is none and it cost nothing."""
    if not isinstance(completion, dict):
        return None
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    choice = choice if isinstance(choice, dict) else {}
    message: Any = choice.get("message")
    has_message = isinstance(message, dict)
    meta = {
        "judge_model": completion.get("model"),
        "finish_reason": choice.get("finish_reason") if has_message else None,
        "usage": completion.get("usage"),
    }
    meta = {key: value for key, value in meta.items() if value is not None}
    if not has_message and not tokens_in(meta):
        return None
    text = message.get("content") if has_message else None
    return Reply(text if isinstance(text, str) else None, meta, attempts)


def tokens_in(meta: Mapping[str, Any]) -> int:
    """Return the number of tokens of a reply, 0 if the endpoint does not report it."""
    usage = meta.get("usage")
    if not isinstance(usage, Mapping):
        return 0
    total = usage.get("total_tokens")
    if not isinstance(total, int):
        parts = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
        total = sum(count for count in parts if isinstance(count, int))
    return max(total, 0)
