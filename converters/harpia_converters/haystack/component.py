"""A component for Haystack's pipelines that replaces its LLMEvaluator.

It needs haystack-ai (the extra `haystack`), so no other module imports it.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Self

from haystack import (  # type: ignore[import-not-found, unused-ignore]  # in an extra
    component,
    default_from_dict,
    default_to_dict,
)
from haystack.components.generators.chat.openai import (  # type: ignore[import-not-found, unused-ignore]  # in an extra
    OpenAIChatGenerator,
)
from haystack.core.serialization import (  # type: ignore[import-not-found, unused-ignore]  # in an extra
    component_to_dict,
)
from haystack.dataclasses import ChatMessage  # type: ignore[import-not-found, unused-ignore]  # in an extra
from haystack.utils import (  # type: ignore[import-not-found, unused-ignore]  # in an extra
    Secret,
    deserialize_chatgenerator_inplace,
    deserialize_type,
    serialize_type,
)

from harpia_formats.llm_judge.client.budget import Budget
from harpia_formats.llm_judge.client.openai_client import NoReplyError, Reply
from harpia_formats.llm_judge.definition.endpoint import MODEL
from harpia_formats.llm_judge.run.llm_judge import LLMJudge
from harpia_formats.text.sanitize import safe

_log = logging.getLogger(__name__)
#: The parameters of the default generator, as in Haystack's evaluator.
_json_mode = {"response_format": {"type": "json_object"}, "seed": 42}
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
#: Returns replies to messages, as a chat generator's `run` does.
_Generate = Callable[[list[Any]], Mapping[str, Any]]


@component
class LLMEvaluator:
    """Has an LLM judge rows, with the parameters and results of Haystack's evaluator.

    It differs in that `meta` has an entry or None for each result, that a missing reply
    or one without text fails its row and not the run, and in further parameters, which
    are those of `harpia_formats.llm_judge.LLMJudge`. Cached replies belong to one chat
    generator with its parameters. Raises `ValueError` where Haystack's evaluator does,
    with other messages.
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
            generation_kwargs=dict(_json_mode)
        )

    def _judge_with(self, generate: _Generate) -> LLMJudge:
        """Return the LLM judge that gets its replies from `generate`."""
        return LLMJudge(
            self.instructions,
            self.inputs,
            self.outputs,
            self.examples,
            self.progress_bar,
            raise_on_failure=self.raise_on_failure,
            api_params=self._cache_identity(),
            ask=lambda prompt, budget: _reply(generate, prompt, budget),
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
        _call(self._chat_generator, "warm_up")

    async def warm_up_async(self) -> None:
        """Warm up the chat generator on this event loop, if it has `warm_up_async`."""
        await _call_async(self._chat_generator, "warm_up")

    def close(self) -> None:
        """Release the resources of the chat generator, if it has `close`."""
        _call(self._chat_generator, "close")

    async def close_async(self) -> None:
        """Release the chat generator's resources on this loop, if it has a method."""
        await _call_async(self._chat_generator, "close")

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
        judge = self._judge_with(
            lambda messages: self._chat_generator.run(messages=messages)
        )
        return _as_haystack(judge.run(**inputs))

    @component.output_types(  # type: ignore[untyped-decorator, unused-ignore]  # in an extra
        results=list[dict[str, Any]], meta=list[dict[str, Any]] | None
    )
    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """Return what `run` returns, without blocking the event loop.

        A chat generator that has `run_async` is called on this loop.
        """
        await self.warm_up_async()
        judge = self._judge_with(self._generate_from_thread())
        return _as_haystack(await judge.run_async(**inputs))

    def _generate_from_thread(self) -> _Generate:
        """Return a function that a thread may call to get replies from this loop."""
        generator = self._chat_generator
        if not hasattr(generator, "run_async"):
            return lambda asked: generator.run(messages=asked)
        loop = asyncio.get_running_loop()

        def generate(messages: list[Any]) -> Mapping[str, Any]:
            running = generator.run_async(messages=messages)
            replies: Mapping[str, Any]
            replies = asyncio.run_coroutine_threadsafe(running, loop).result()
            return replies

        return generate

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
            parameters["chat_generator"] = _generator_of_old(parameters)
        for key in _old:
            parameters.pop(key, None)
        kind = f"{cls.__module__}.{cls.__name__}"
        made: Self = default_from_dict(
            cls, {"type": kind, "init_parameters": parameters}
        )
        return made


def _generator_of_old(parameters: Mapping[str, Any]) -> Any:
    """Return the generator for the parameters of Haystack before 2.20.

    Raises `ValueError` for an api other than OpenAI's.
    """
    if parameters.get("api", "openai") not in ("openai", None):
        raise ValueError(
            f"Haystack has no api {parameters['api']!r} since 2.20: give a "
            "chat_generator for it"
        )
    given = dict(parameters.get("api_params") or {})
    given["generation_kwargs"] = _json_mode | (given.get("generation_kwargs") or {})
    key = parameters.get("api_key")
    if key is not None:
        given["api_key"] = Secret.from_dict(key) if isinstance(key, dict) else key
    return OpenAIChatGenerator(**{"model": MODEL, **given})


def _nothing(_messages: list[Any]) -> Mapping[str, Any]:
    return {}


def _reply(generate: _Generate, prompt: str, budget: Budget) -> Reply:
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


def _call(generator: Any, name: str) -> None:
    if hasattr(generator, name):
        getattr(generator, name)()


async def _call_async(generator: Any, name: str) -> None:
    if hasattr(generator, f"{name}_async"):
        await getattr(generator, f"{name}_async")()
    else:
        _call(generator, name)
