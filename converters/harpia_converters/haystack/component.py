"""A component for Haystack's pipelines in the place of its LLMEvaluator.

It needs haystack-ai (the extra `haystack`), so nothing imports it but who asks for it.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Self

from haystack import (  # type: ignore[import-not-found, unused-ignore]  # an extra
    component,
    default_from_dict,
    default_to_dict,
)
from haystack.components.generators.chat.openai import (  # type: ignore[import-not-found, unused-ignore]  # likewise
    OpenAIChatGenerator,
)
from haystack.core.serialization import (  # type: ignore[import-not-found, unused-ignore]  # likewise
    component_to_dict,
)
from haystack.dataclasses import ChatMessage  # type: ignore[import-not-found, unused-ignore]  # likewise
from haystack.utils import (  # type: ignore[import-not-found, unused-ignore]  # likewise
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
#: What an evaluator asks for unless it is given its own generator.
_json_mode = {"response_format": {"type": "json_object"}, "seed": 42}
#: Our own parameters, and what they are where nothing is said.
_more: dict[str, Any] = {
    "guarded": False,
    "cache": None,
    "concurrency": 1,
    "max_requests": None,
    "max_tokens": None,
    "ask_again": False,
}
#: Parameters of Haystack before 2.20.
_old = ("api", "api_key", "api_params")
#: Generates replies to messages, as a chat generator's `run` does.
_Generate = Callable[[list[Any]], Mapping[str, Any]]


@component
class LLMEvaluator:
    """Has a model judge rows, with the parameters and results of Haystack's evaluator.

    What it adds: `meta` has an entry or None for each result, a reply that has no text
    or is not there fails its row instead of the run, and the further parameters are
    those of `harpia_formats.llm_judge.LLMJudge`. A cache is of one chat generator with
    its parameters. Raises `ValueError` where Haystack's does, mostly in other words.
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
        # What cannot be judged is told before a generator is made.
        self._judge_with(_nothing)
        component.set_input_types(self, **dict(inputs))
        self._chat_generator = chat_generator or OpenAIChatGenerator(
            generation_kwargs=dict(_json_mode)
        )

    def _judge_with(self, generate: _Generate) -> LLMJudge:
        """Return the judge that asks `generate`."""
        return LLMJudge(
            self.instructions,
            self.inputs,
            self.outputs,
            self.examples,
            self.progress_bar,
            raise_on_failure=self.raise_on_failure,
            api_params=self._told_apart(),
            ask=lambda prompt, budget: _reply(generate, prompt, budget),
            **self._more,
        )

    def _told_apart(self) -> dict[str, Any]:
        """Return what tells the replies of this generator apart in a cache."""
        generator = getattr(self, "_chat_generator", None)
        if generator is None or self._more["cache"] is None:
            return {}
        dumped = component_to_dict(generator, "chat_generator")
        return {"generation_kwargs": {"chat_generator": dumped}}

    def warm_up(self) -> None:
        """Warm the chat generator up, if it can be."""
        _call(self._chat_generator, "warm_up")

    async def warm_up_async(self) -> None:
        """Warm the chat generator up on this event loop, if it can be."""
        await _call_async(self._chat_generator, "warm_up")

    def close(self) -> None:
        """Let go what the chat generator holds, if it can be told to."""
        _call(self._chat_generator, "close")

    async def close_async(self) -> None:
        """Let go what the chat generator holds for async calls, likewise."""
        await _call_async(self._chat_generator, "close")

    @component.output_types(  # type: ignore[untyped-decorator, unused-ignore]  # as above
        results=list[dict[str, Any]], meta=list[dict[str, Any]] | None
    )
    def run(self, **inputs: Any) -> dict[str, Any]:
        """Return `results`, with None for a row that failed, and `meta` beside them.

        Raises `ValueError` for inputs that are not lists of one length, one for each
        declared name, and for the first row that fails unless `raise_on_failure` is
        False.
        """
        self.warm_up()
        judge = self._judge_with(
            lambda messages: self._chat_generator.run(messages=messages)
        )
        return _as_haystack(judge.run(**inputs))

    @component.output_types(  # type: ignore[untyped-decorator, unused-ignore]  # as above
        results=list[dict[str, Any]], meta=list[dict[str, Any]] | None
    )
    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """Return what `run` does, without keeping the event loop waiting.

        A generator that can be asked asynchronously is asked on this loop.
        """
        await self.warm_up_async()
        judge = self._judge_with(self._generate_from_thread())
        return _as_haystack(await judge.run_async(**inputs))

    def _generate_from_thread(self) -> _Generate:
        """Return what a thread may call to have this loop's generator reply."""
        generator = self._chat_generator
        if not hasattr(generator, "run_async"):
            return lambda each: generator.run(messages=each)
        loop = asyncio.get_running_loop()

        def generate(messages: list[Any]) -> Mapping[str, Any]:
            asked = generator.run_async(messages=messages)
            found: Mapping[str, Any]
            found = asyncio.run_coroutine_threadsafe(asked, loop).result()
            return found

        return generate

    def to_dict(self) -> dict[str, Any]:
        """Return the component as Haystack dumps it; ours only where it is unusual."""
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
        """Return the component that was dumped, also by Haystack's own evaluator."""
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
    """Return the generator that the parameters before Haystack 2.20 ask for."""
    if parameters.get("api", "openai") not in ("openai", None):
        raise ValueError(
            f"the api {parameters['api']!r} went in Haystack 2.20; give a "
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
    """Return what a chat generator replies; raises `Unanswered` and `Spent`."""
    budget.take()
    try:
        replies = generate([ChatMessage.from_user(prompt)])["replies"]
    except Exception as error:  # whatever a generator raises
        raise NoReplyError(safe(f"{type(error).__name__}: {error}", 300), 1) from error
    if not replies:
        raise NoReplyError("the chat generator gave no reply", 1)
    return Reply(replies[0].text, dict(replies[0].meta or {}))


def _as_haystack(found: dict[str, Any]) -> dict[str, Any]:
    """Return results with what the generator says of each, None if it says nothing."""
    metas = found["meta"] or []
    failed = sum(result is None for result in found["results"])
    if failed:
        _log.warning("%d of %d rows have no result", failed, len(metas))
    told = [_entry(meta) for meta in metas]
    return {**found, "meta": told if any(told) else None}


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
