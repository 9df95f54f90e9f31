"""Call a chat generator of Haystack, from any thread and inside a tracing span.

It needs haystack-ai (the extra `haystack`), so only the component imports it.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from haystack import tracing  # type: ignore[import-not-found, unused-ignore]  # in an extra
from haystack.components.generators.chat.openai import (  # type: ignore[import-not-found, unused-ignore]  # in an extra
    OpenAIChatGenerator,
)
from haystack.dataclasses import ChatMessage  # type: ignore[import-not-found, unused-ignore]  # in an extra
from haystack.utils import Secret  # type: ignore[import-not-found, unused-ignore]  # in an extra

from harpia_formats.evaluation.llm_judge.client.budget import Budget
from harpia_formats.evaluation.llm_judge.client.openai_client import NoReplyError, Reply
from harpia_formats.evaluation.llm_judge.definition.endpoint import MODEL
from harpia_formats.model.text.sanitize import safe

#: The parameters of the default generator, as in Haystack's evaluator.
JSON_MODE = {"response_format": {"type": "json_object"}, "seed": 42}
#: Returns replies to messages, as a chat generator's `run` does.
Generate = Callable[[list[Any]], Mapping[str, Any]]


def generator_of_old(parameters: Mapping[str, Any]) -> Any:
    """Return the generator for the parameters of Haystack before 2.20.

    Raises `ValueError` for an api other than OpenAI's.
    """
    if parameters.get("api", "openai") not in ("openai", None):
        raise ValueError(
            f"Haystack has no api {parameters['api']!r} since 2.20: give a "
            "chat_generator for it"
        )
    given = dict(parameters.get("api_params") or {})
    given["generation_kwargs"] = JSON_MODE | (given.get("generation_kwargs") or {})
    key = parameters.get("api_key")
    if key is not None:
        given["api_key"] = Secret.from_dict(key) if isinstance(key, dict) else key
    return OpenAIChatGenerator(**{"model": MODEL, **given})


def replies_of(generator: Any) -> Generate:
    """Return a function that gets replies by `run`; any thread may call it."""
    # A thread does not know the span in which the component runs.
    parent = tracing.tracer.current_span()

    def generate(messages: list[Any]) -> Mapping[str, Any]:
        with _span(generator, messages, parent) as span:
            replies: Mapping[str, Any] = generator.run(messages=messages)
            span.set_content_tag("haystack.component.output", replies)
        return replies

    return generate


def replies_from_thread(generator: Any) -> Generate:
    """Return a function that a thread may call to get replies from this loop."""
    if not hasattr(generator, "run_async"):
        return replies_of(generator)
    loop = asyncio.get_running_loop()
    parent = tracing.tracer.current_span()

    async def run(messages: list[Any]) -> Mapping[str, Any]:
        with _span(generator, messages, parent) as span:
            replies: Mapping[str, Any]
            replies = await generator.run_async(messages=messages)
            span.set_content_tag("haystack.component.output", replies)
        return replies

    def generate(messages: list[Any]) -> Mapping[str, Any]:
        running = run(messages)
        replies: Mapping[str, Any]
        replies = asyncio.run_coroutine_threadsafe(running, loop).result()
        return replies

    return generate


@contextmanager
def _span(generator: Any, messages: list[Any], parent: Any) -> Iterator[Any]:
    """Open the tracing span of a call of a chat generator, as Haystack does."""
    tags = {
        "haystack.component.name": "chat_generator",
        "haystack.component.type": type(generator).__name__,
    }
    name = "haystack.chat_generator.run"
    with tracing.tracer.trace(name, tags=tags, parent_span=parent) as span:
        span.set_content_tag("haystack.component.input", {"messages": messages})
        yield span


def reply_to(generate: Generate, prompt: str, budget: Budget) -> Reply:
    """Return the reply of a chat generator to `prompt`.

    Raises `NoReplyError` if there is none, and `BudgetExhausted` from `budget`.
    """
    budget.count_request()
    try:
        replies = generate([ChatMessage.from_user(prompt)])["replies"]
    except Exception as error:  # generators raise their clients' own errors
        raise NoReplyError(safe(f"{type(error).__name__}: {error}", 300), 1) from error
    if not replies:
        raise NoReplyError("the chat generator gave no reply", 1)
    return Reply(replies[0].text, dict(replies[0].meta or {}))


def call_method(generator: Any, name: str) -> None:
    """Call a method of a chat generator, if it has one of this name."""
    if hasattr(generator, name):
        getattr(generator, name)()


async def call_async_method(generator: Any, name: str) -> None:
    """Call the method `NAME_async` of a chat generator, or else the method `NAME`."""
    if hasattr(generator, f"{name}_async"):
        await getattr(generator, f"{name}_async")()
    else:
        call_method(generator, name)
