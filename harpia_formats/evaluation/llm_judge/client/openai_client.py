"""Sending a prompt to an OpenAI-compatible endpoint with the openai client."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.evaluation.llm_judge.client.api_key import ApiKey
from harpia_formats.evaluation.llm_judge.client.budget import Budget
from harpia_formats.evaluation.llm_judge.definition.endpoint import Endpoint
from harpia_formats.evaluation.llm_judge.errors import JudgeError


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a model, with its metadata."""

    #: None if the reply has no text; it costs tokens all the same.
    text: str | None
    #: `judge_model`, `finish_reason` and `usage`, if the endpoint returned them.
    meta: Mapping[str, Any] = field(default_factory=dict)
    #: The number of requests until the reply.
    attempts: int = 1


class NoReplyError(Exception):
    """A prompt without a reply; has the reason and the number of requests."""

    def __init__(self, reason: str, attempts: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.attempts = attempts


#: Sends a prompt to a model and returns the reply. Calls `Budget.count_request` before
#: each request. Raises `NoReplyError`, and `BudgetExhausted` from the budget.
AskModel = Callable[[str, Budget], Reply]


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
            event_hooks={"request": [self._count]},
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
            raise self._unanswered(_reason(error)) from None
        except (ValueError, TypeError, OSError, UnicodeError) as error:
            raise self._unanswered(f"{type(error).__name__}: {error}") from None
        try:
            completion = json.loads(self._key.redacted(body.decode()))
        except (ValueError, RecursionError):
            completion = None
        reply = _reply_in(completion, self._now.attempts)
        if reply is None:
            raise self._unanswered("the endpoint's answer is no completion")
        return reply

    def _unanswered(self, reason: str) -> NoReplyError:
        return NoReplyError(self._key.redacted_message(reason), self._now.attempts)


def _reason(error: Exception) -> str:
    """Return the message of a client error with its HTTP status."""
    message = str(getattr(error, "message", error))
    status = getattr(error, "status_code", None)
    return (
        f"HTTP {status}: {message}"
        if status and str(status) not in message
        else message
    )


def _reply_in(completion: Any, attempts: int) -> Reply | None:
    """Return the reply in a completion, None if there is none and it cost nothing."""
    if not isinstance(completion, dict):
        return None
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if isinstance(choice, dict) and isinstance(message, dict):
        text = message.get("content")
        known = text if isinstance(text, str) else None
        return Reply(known, _meta(completion, choice), attempts)
    meta = _meta(completion, {})
    return Reply(None, meta, attempts) if tokens_in(meta) else None


def _meta(completion: Mapping[str, Any], choice: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "judge_model": completion.get("model"),
        "finish_reason": choice.get("finish_reason"),
        "usage": completion.get("usage"),
    }
    return {key: value for key, value in found.items() if value is not None}


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
