"""A component for Haystack's pipelines that replaces its LLMEvaluator.

It calls a chat generator from any thread, and inside a tracing span.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from haystack import (  # type: ignore[import-not-found, unused-ignore]  # in an extra
    component,
    default_from_dict,
    default_to_dict,
    tracing,  # type: ignore[import-not-found, unused-ignore]  # in an extra
)
from haystack.components.generators.chat.openai import (  # type: ignore[import-not-found, unused-ignore]  # in an extra
    OpenAIChatGenerator,
)
from haystack.core.serialization import (  # type: ignore[import-not-found, unused-ignore]  # in an extra
    component_to_dict,
)
from haystack.dataclasses import ChatMessage  # type: ignore[import-not-found, unused-ignore]  # in an extra
from haystack.utils import (  # type: ignore[import-not-found, unused-ignore]  # in an extra
    Secret,  # type: ignore[import-not-found, unused-ignore]  # in an extra
    deserialize_chatgenerator_inplace,
    deserialize_type,
    serialize_type,
)

from harpia_formats.evaluation.llm_judge.endpoint import (
    MODEL,
    Budget,
    NoReplyError,
    Reply,
)
from harpia_formats.evaluation.llm_judge.judge import LLMJudge
from harpia_formats.evaluation.llm_judge.judge_definition import (
    check_examples,
    input_names,
    output_fields,
    row_count,
)
from harpia_formats.model.safe_text import safe

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


_log = logging.getLogger(__name__)
#: Our own parameters and their defaults.
_more: dict[str, Any] = {
    "guarded": False,
    "cache": None,
    "concurrency": 1,
    "max_requests": None,
    "max_tokens": None,
    "ask_again": False,
}
#: Parameters that Haystack has no more since 2.20.
_old = ("api", "api_key", "api_params")


@component
class LLMEvaluator:
    """Has an LLM judge rows, with the parameters and results of Haystack's evaluator.

    It differs in that `meta` has an entry or None for each result, that a missing reply
    or one without text fails its row and not the run, and in further parameters, which
    are those of `harpia_formats.evaluation.llm_judge.LLMJudge`. Cached replies belong
    to one chat generator with its parameters. Raises `ValueError` where Haystack's
    evaluator does, with other messages.
    """

    def __init__(  # noqa: PLR0913 - seven of Haystack's, and ours
        self,
        instructions: str,
        inputs: list[tuple[str, Any]],
        outputs: list[Any],
        examples: list[dict[str, Any]],
        progress_bar: bool = True,  # noqa: FBT001, FBT002 - as in Haystack
        *,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        guarded: bool = False,
        cache: str | None = None,
        concurrency: int = 1,
        max_requests: int | None = None,
        max_tokens: int | None = None,
        ask_again: bool = False,
    ) -> None:
        self.instructions = instructions
        self.inputs = inputs
        self.outputs = outputs
        self.examples = examples
        self.progress_bar = progress_bar
        self.raise_on_failure = raise_on_failure
        self._more: dict[str, Any] = {
            "guarded": guarded,
            "cache": cache,
            "concurrency": concurrency,
            "max_requests": max_requests,
            "max_tokens": max_tokens,
            "ask_again": ask_again,
        }
        # Invalid parameters raise before a generator is made.
        self._judge_with(_nothing)
        component.set_input_types(self, **dict(inputs))
        self._chat_generator = chat_generator or OpenAIChatGenerator(
            generation_kwargs=dict(JSON_MODE)
        )

    def _judge_with(self, generate: Generate) -> LLMJudge:
        """Return the LLM judge that gets its replies from `generate`."""
        return LLMJudge(
            self.instructions,
            self.inputs,
            self.outputs,
            self.examples,
            self.progress_bar,
            raise_on_failure=self.raise_on_failure,
            api_params=self._cache_identity(),
            ask=lambda prompt, budget: reply_to(generate, prompt, budget),
            **self._more,
        )

    def _cache_identity(self) -> dict[str, Any]:
        """Return the parameters by which a cache separates this generator's replies."""
        generator = getattr(self, "_chat_generator", None)
        if generator is None or self._more["cache"] is None:
            return {}
        dumped = component_to_dict(generator, "chat_generator")
        return {"generation_kwargs": {"chat_generator": dumped}}

    def warm_up(self) -> None:
        """Warm up the chat generator, if it has `warm_up`."""
        call_method(self._chat_generator, "warm_up")

    async def warm_up_async(self) -> None:
        """Warm up the chat generator on this event loop, if it has `warm_up_async`."""
        await call_async_method(self._chat_generator, "warm_up")

    def close(self) -> None:
        """Release the resources of the chat generator, if it has `close`."""
        call_method(self._chat_generator, "close")

    async def close_async(self) -> None:
        """Release the chat generator's resources on this loop, if it has a method."""
        await call_async_method(self._chat_generator, "close")

    @component.output_types(  # type: ignore[untyped-decorator, unused-ignore]  # in an extra
        results=list[dict[str, Any]], meta=list[dict[str, Any]] | None
    )
    def run(self, **inputs: Any) -> dict[str, Any]:
        """Return `results`, with None for a row that failed, and `meta`.

        `inputs` has a list for each declared input, all of one length; `ValueError` is
        raised if not, and for the first row that fails unless `raise_on_failure` is
        False.
        """
        self.warm_up()
        judge = self._judge_with(replies_of(self._chat_generator))
        return _as_haystack(judge.run(**inputs))

    @component.output_types(  # type: ignore[untyped-decorator, unused-ignore]  # in an extra
        results=list[dict[str, Any]], meta=list[dict[str, Any]] | None
    )
    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """Return what `run` returns, without blocking the event loop.

        A chat generator that has `run_async` is called on this loop.
        """
        await self.warm_up_async()
        judge = self._judge_with(replies_from_thread(self._chat_generator))
        return _as_haystack(await judge.run_async(**inputs))

    @staticmethod
    def validate_init_parameters(
        inputs: list[tuple[str, Any]],
        outputs: list[Any],
        examples: list[dict[str, Any]],
    ) -> None:
        """Check the inputs, outputs and examples; raises `ValueError`."""
        input_names(inputs)
        output_fields(outputs)
        check_examples(examples)

    @staticmethod
    def validate_input_parameters(
        expected: dict[str, Any], received: dict[str, Any]
    ) -> None:
        """Check that `received` has a list of one length for each of `expected`.

        Raises `ValueError`.
        """
        row_count(list(expected), received)

    def prepare_template(self) -> str:
        """Return the template of the prompt, as Haystack's evaluator has it.

        The marks of `guarded` are not in it.
        """
        return self._judge_with(_nothing).definition.haystack_text

    def to_dict(self) -> dict[str, Any]:
        """Return the component as Haystack dumps it; our own defaults are left out."""
        ours = {key: value for key, value in self._more.items() if value != _more[key]}
        dumped: dict[str, Any] = default_to_dict(
            self,
            instructions=self.instructions,
            inputs=[[name, serialize_type(kind)] for name, kind in self.inputs],
            outputs=self.outputs,
            examples=self.examples,
            chat_generator=component_to_dict(self._chat_generator, "chat_generator"),
            progress_bar=self.progress_bar,
            raise_on_failure=self.raise_on_failure,
            **ours,
        )
        return dumped

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the component from `to_dict`, also of Haystack's own evaluator."""
        parameters = dict(data["init_parameters"])
        parameters["inputs"] = [
            (name, deserialize_type(kind)) for name, kind in parameters["inputs"]
        ]
        if parameters.get("chat_generator"):
            deserialize_chatgenerator_inplace(parameters, key="chat_generator")
        elif any(key in parameters for key in _old):
            parameters["chat_generator"] = generator_of_old(parameters)
        for key in _old:
            parameters.pop(key, None)
        kind = f"{cls.__module__}.{cls.__name__}"
        made: Self = default_from_dict(
            cls, {"type": kind, "init_parameters": parameters}
        )
        return made


def _nothing(_messages: list[Any]) -> Mapping[str, Any]:
    return {}


def _as_haystack(found: dict[str, Any]) -> dict[str, Any]:
    """Return results with `meta` as Haystack has it: None without any entry."""
    metas = found["meta"] or []
    failed = sum(result is None for result in found["results"])
    if failed:
        _log.warning("%d of %d rows have no result", failed, len(metas))
    entries = [_entry(meta) for meta in metas]
    return {**found, "meta": entries if any(entries) else None}


def _entry(meta: dict[str, Any]) -> dict[str, Any] | None:
    ours = {"row", "status", "attempts", "cached", "error"}
    is_silent = meta["status"] == "ok" and not meta.keys() - ours
    return None if is_silent else {key: meta[key] for key in meta if key != "row"}
