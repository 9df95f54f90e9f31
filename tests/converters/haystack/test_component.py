"""The component for Haystack's pipelines, against Haystack's own evaluator.

What both do is asked of both; what only ours does, of ours.
"""

import asyncio
import copy
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import LLMJudge

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
haystack = pytest.importorskip("haystack", reason="the extra haystack is not installed")

from haystack import Pipeline, tracing  # type: ignore[import-not-found, unused-ignore]  # noqa: E402 - only if it is installed
from haystack.components.evaluators import (  # type: ignore[import-not-found, unused-ignore]  # noqa: E402 - after the skip
    LLMEvaluator as Theirs,
)
from haystack.dataclasses import ChatMessage  # type: ignore[import-not-found, unused-ignore]  # noqa: E402 - after the skip
from haystack.tracing.tracer import NullSpan  # type: ignore[import-not-found, unused-ignore]  # noqa: E402 - after the skip

from harpia_converters.haystack.component import LLMEvaluator as Ours  # noqa: E402 - after the skip

BOTH = pytest.mark.parametrize("kind", [Ours, Theirs], ids=["ours", "theirs"])
EXAMPLE = {"inputs": {"predicted_answers": "Olá"}, "outputs": {"score": 1}}
MADE: dict[str, Any] = {
    "instructions": "Is it rude?",
    "inputs": [("predicted_answers", list[str])],
    "outputs": ["score"],
    "examples": [EXAMPLE],
    "progress_bar": False,
}
MODULE = "harpia_converters.haystack.component"


WITH_USAGE = ChatMessage.from_assistant(
    '{"score": 1}', meta={"usage": {"total_tokens": 5}}
)


class Generator:
    """Replies in turn with what it was given: texts, messages or exceptions."""

    def __init__(self, *replies: Any) -> None:
        self.replies = replies or ('{"score": 0.5}',)
        self.prompts: list[str] = []
        self.calls: list[str] = []

    def run(self, messages: list[Any]) -> dict[str, Any]:
        """Reply to messages."""
        self.prompts.append(messages[0].text)
        reply = self.replies[(len(self.prompts) - 1) % len(self.replies)]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, list):
            return {"replies": reply}
        is_text = isinstance(reply, str)
        message = ChatMessage.from_assistant(reply) if is_text else reply
        return {"replies": [message]}

    def to_dict(self) -> dict[str, Any]:
        """Return what identifies it in a cache."""
        return {"type": "tests.Generator", "init_parameters": {}}


class AsyncGenerator(Generator):
    """Replies on an event loop."""

    async def run_async(self, messages: list[Any]) -> dict[str, Any]:
        """Reply to messages."""
        self.calls.append("run_async")
        await asyncio.sleep(0)
        return self.run(messages)


class Tended(Generator):
    """Can be warmed up and closed."""

    def warm_up(self) -> None:
        """Note that it was called."""
        self.calls.append("warm_up")

    def close(self) -> None:
        """Note that it was called."""
        self.calls.append("close")


class TendedBoth(Tended):
    """Can be warmed up and closed on an event loop as well."""

    async def warm_up_async(self) -> None:
        """Note that it was called."""
        self.calls.append("warm_up_async")

    async def close_async(self) -> None:
        """Note that it was called."""
        self.calls.append("close_async")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set a key, with which nothing is ever asked."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-CANARY")
    yield
    monkeypatch.undo()


def made(kind: Any, *replies: Any, **others: Any) -> Any:
    """Return an evaluator whose generator replies so."""
    return kind(**{**MADE, "chat_generator": Generator(*replies), **others})


# 1


@BOTH
def test_a_default_evaluator_needs_its_key_only_to_run(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps its arguments and is made without a key, which warming up asks for."""
    monkeypatch.delenv("OPENAI_API_KEY")
    evaluator = kind(**MADE)
    pipeline = Pipeline()
    pipeline.add_component("judge", evaluator)

    assert {each: getattr(evaluator, each) for each in MADE} == MADE
    assert set(pipeline.outputs()["judge"]) == {"results", "meta"}
    with pytest.raises(ValueError, match="OPENAI_API_KEY"):
        evaluator.warm_up()


@BOTH
def test_given_chat_generator_is_used(kind: Any) -> None:
    """A given chat generator receives the requests."""
    generator = Generator()
    made(kind, chat_generator=generator).run(predicted_answers=["a"])

    assert len(generator.prompts) == 1


# 2, 3, 4


@BOTH
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("inputs", {("predicted_answers", list[str])}),
        ("inputs", [(list[str], "predicted_answers")]),
        ("inputs", [list[str]]),
        ("outputs", "score"),
        ("outputs", [["score"]]),
        ("examples", EXAMPLE),
        ("examples", [[EXAMPLE]]),
        ("examples", [{"inputs": {}, "outputs": {}, "more": {}}]),
        ("examples", [{"inputs": [], "outputs": []}]),
        ("examples", [{"inputs": {1: "a"}, "outputs": {}}]),
    ],
)
def test_wrong_parameters_are_refused(kind: Any, name: str, wrong: Any) -> None:
    """Inputs, outputs and examples of another shape are a ValueError."""
    with pytest.raises(ValueError, match=r"expects|must|neither|no object"):
        made(kind, **{name: wrong})


# 5


@BOTH
def test_a_dump_has_all_parameters(kind: Any) -> None:
    """A dump has the seven parameters, the types of inputs as text, and comes back."""
    evaluator = kind(**{**MADE, "outputs": ["a", "b"], "raise_on_failure": False})
    dumped = evaluator.to_dict()
    parameters = dumped["init_parameters"]
    again = kind.from_dict(copy.deepcopy(dumped))

    assert set(parameters) == {*MADE, "raise_on_failure", "chat_generator"}
    assert parameters["inputs"] == [["predicted_answers", "list[str]"]]
    assert (parameters["outputs"], parameters["raise_on_failure"]) == (
        ["a", "b"],
        False,
    )
    assert again.inputs == MADE["inputs"]
    assert again.to_dict() == dumped


@BOTH
def test_a_pipeline_comes_back(kind: Any) -> None:
    """A pipeline is dumped and loaded, with two inputs of which one is nested."""
    inputs = [("predicted_answers", list[str]), ("contexts", list[list[str]])]
    pipeline = Pipeline()
    pipeline.add_component("judge", kind(**{**MADE, "inputs": inputs}))
    dumped = pipeline.dumps()
    allowed = [MODULE] if kind is Ours else None

    assert Pipeline.loads(dumped, allowed_modules=allowed).dumps() == dumped


def test_dump_equals_that_of_haystack() -> None:
    """Our dump equals Haystack's under another type; both are read, ours is kept."""
    ours, theirs = Ours(**MADE).to_dict(), Theirs(**MADE).to_dict()
    guarded = Ours(**MADE, guarded=True, concurrency=3).to_dict()
    back = Ours.from_dict(guarded).to_dict()

    assert ours == {**theirs, "type": f"{MODULE}.LLMEvaluator"}
    assert Ours.from_dict(theirs).to_dict() == ours
    assert guarded == back
    assert back["init_parameters"]["concurrency"] == 3


def test_old_dumps_are_read() -> None:
    """The parameters before Haystack 2.20 become a generator that asks the same."""
    dumped = Ours(**MADE).to_dict()
    parameters = dumped["init_parameters"]
    del parameters["chat_generator"]
    parameters |= {
        "api": "openai",
        "api_key": {"type": "env_var", "env_vars": ["OTHER"], "strict": True},
        "api_params": {"generation_kwargs": {"seed": 1}},
    }
    asked = Ours.from_dict(dumped).to_dict()["init_parameters"]["chat_generator"]
    given = asked["init_parameters"]

    assert given["model"] == "gpt-4o-mini"
    assert given["generation_kwargs"] == {
        "response_format": {"type": "json_object"},
        "seed": 1,
    }
    assert given["api_key"]["env_vars"] == ["OTHER"]
    with pytest.raises(ValueError, match="since 2"):
        Ours.from_dict({**dumped, "init_parameters": {**parameters, "api": "other"}})


@BOTH
def test_our_command_reads_the_dump(kind: Any) -> None:
    """What the component dumps is a definition for the judge."""
    definition = LLMJudge.from_definition(kind(**MADE).to_dict()).definition

    assert definition.endpoint.params == {
        "response_format": {"type": "json_object"},
        "seed": 42,
    }


@BOTH
def test_our_command_reads_a_pipeline(kind: Any, tmp_path: Path) -> None:
    """A pipeline that Haystack writes as YAML is a definition, too."""
    pipeline = Pipeline()
    pipeline.add_component("judge", kind(**MADE))
    (tmp_path / "pipeline.yaml").write_text(pipeline.dumps())
    definition = LLMJudge.from_definition(tmp_path / "pipeline.yaml").definition

    assert definition.instructions == MADE["instructions"]
    assert definition.key_variables == ("OPENAI_API_KEY",)


# 6


@BOTH
@pytest.mark.parametrize(
    "inputs",
    [
        {"questions": ["a"], "predicted_answers": ["b", "c"]},
        {"questions": ["a", "b"], "predicted_answers": ["c"]},
        {},
        {"questions": ["a"]},
        {"questions": "a", "predicted_answers": ["b"]},
    ],
)
def test_inputs_that_do_not_fit_are_refused(kind: Any, inputs: dict[str, Any]) -> None:
    """Missing inputs, inputs that are no lists, and other lengths are a ValueError."""
    both = [("questions", list[str]), ("predicted_answers", list[str])]
    evaluator = made(kind, inputs=both, raise_on_failure=False)

    with pytest.raises(ValueError, match="input"):
        evaluator.run(**inputs)


# 7


@BOTH
def test_a_row_has_its_result(kind: Any) -> None:
    """A result is what the model replied; without further data, meta is None."""
    evaluator = made(kind)

    assert evaluator.run(predicted_answers=["a"]) == {
        "results": [{"score": 0.5}],
        "meta": None,
    }
    assert evaluator.run(predicted_answers=[]) == {"results": [], "meta": None}


# 8


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"examples": []},
        {"examples": [EXAMPLE, EXAMPLE], "outputs": ["a", "b", "score"]},
        {"instructions": "a\r\n{{ predicted_answers }} {# c #}b\r\n"},
        {"instructions": "{{ '{{' }} and }} 🦉"},
        {"inputs": [("c", list[list[str]]), ("predicted_answers", list[str])]},
        {"outputs": []},
    ],
)
@pytest.mark.parametrize("value", ["a\n{{ b }}", ["x", None, 1.5], None, True, "é\r\n"])
def test_prompt_equals_that_of_haystack(others: dict[str, Any], value: Any) -> None:
    """The component sends exactly the text that Haystack's evaluator sends."""
    sent = []
    for kind in (Ours, Theirs):
        reply = json.dumps(dict.fromkeys("a b score".split()))
        generator = Generator(reply)
        evaluator = made(kind, chat_generator=generator, **others)
        evaluator.run(**{name: [value] for name, _ in evaluator.inputs})
        sent.append(generator.prompts)

    assert sent[0] == sent[1]


@BOTH
@pytest.mark.parametrize(
    "others",
    [{}, {"examples": []}, {"examples": [EXAMPLE, EXAMPLE], "outputs": ["a", "b"]}],
)
def test_template_is_that_of_haystack(kind: Any, others: dict[str, Any]) -> None:
    """The template has a place for each input, and ends with a line break."""
    template = made(kind, **others).prepare_template()

    assert template == made(Theirs, **others).prepare_template()
    assert '{"predicted_answers": {{ predicted_answers }}}' in template


@BOTH
@pytest.mark.parametrize(
    "received",
    [
        {"questions": ["a"]},
        {"questions": ["a"], "contexts": ["b"]},
        {"questions": "a", "responses": ["b"]},
        {"questions": list[str], "responses": list[str]},
        {"questions": ["a", "b"], "responses": ["b"]},
    ],
)
def test_inputs_can_be_checked_alone(kind: Any, received: dict[str, Any]) -> None:
    """A method of the class checks inputs, for code that calls it before a run."""
    expected = {"questions": list[str], "responses": list[str]}

    kind.validate_input_parameters(expected, {name: ["a"] for name in expected})
    with pytest.raises(ValueError, match="input"):
        kind.validate_input_parameters(expected, received)


@BOTH
def test_parameters_can_be_checked_alone(kind: Any) -> None:
    """A method of the class checks the parameters of a component."""
    right = [MADE[name] for name in ("inputs", "outputs", "examples")]
    kind.validate_init_parameters(*right)

    for at, wrong in enumerate([["a"], [1], ["a"]]):
        with pytest.raises(ValueError, match=r"expects|must|neither|no object"):
            kind.validate_init_parameters(*right[:at], wrong, *right[at + 1 :])


class SpyingTracer(tracing.Tracer):  # type: ignore[misc, unused-ignore]  # in an extra
    """Keeps the operation, the tags and the parent of each span."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, dict[str, Any], Any]] = []
        self.open: list[Any] = []

    @contextmanager
    def trace(
        self,
        operation_name: str,
        tags: dict[str, Any] | None = None,
        parent_span: Any = None,
    ) -> Iterator[Any]:
        """Open a span."""
        found = dict(tags or {})
        self.spans.append((operation_name, found, parent_span))
        span = NullSpan()
        span.set_tag = found.__setitem__
        self.open.append(span)
        yield span
        self.open.remove(span)

    def current_span(self) -> Any:
        """Return the innermost open span."""
        return self.open[-1] if self.open else None


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> Iterator[SpyingTracer]:
    """Enable a tracer that also gets contents."""
    spying = SpyingTracer()
    monkeypatch.setattr(tracing.tracer, "is_content_tracing_enabled", True)
    tracing.enable_tracing(spying)
    yield spying
    tracing.disable_tracing()


@BOTH
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("generator", [Generator, AsyncGenerator])
def test_requests_are_traced(
    kind: Any, generator: Any, tracer: SpyingTracer, *, is_async: bool
) -> None:
    """Each request has a span below that of the component, with what was exchanged."""
    evaluator = made(kind, chat_generator=generator(WITH_USAGE))
    with tracer.trace("around") as around:
        if is_async:
            asyncio.run(evaluator.run_async(predicted_answers=["a", "b"]))
        else:
            evaluator.run(predicted_answers=["a", "b"])

    requests = [span for span in tracer.spans if span[0] != "around"]
    assert [name for name, _, _ in requests] == ["haystack.chat_generator.run"] * 2
    for _, tags, parent in requests:
        assert parent is around
        assert tags["haystack.component.type"] == generator.__name__
        assert tags["haystack.component.input"]["messages"][0].text
        (reply,) = tags["haystack.component.output"]["replies"]
        assert reply.meta == {"usage": {"total_tokens": 5}}


@BOTH
def test_failed_request_is_traced_without_an_output(
    kind: Any, tracer: SpyingTracer
) -> None:
    """A request that fails has a span with its input only."""
    made(kind, RuntimeError("down"), raise_on_failure=False).run(
        predicted_answers=["a"]
    )

    ((_, tags, _),) = tracer.spans
    assert "haystack.component.input" in tags
    assert "haystack.component.output" not in tags


# 9


@BOTH
@pytest.mark.parametrize("reply", ['{"score": 1}', '{"other": 1}'])
def test_a_reply_that_lacks_a_key_is_refused(kind: Any, reply: str) -> None:
    """A reply without one of the outputs is a ValueError that names what is missing."""
    with pytest.raises(ValueError, match="Missing expected keys"):
        made(kind, reply, outputs=["score", "why"]).run(predicted_answers=["a"])


@BOTH
@pytest.mark.parametrize(
    "reply",
    [
        "nope",
        "",
        "```json\n{}\n```",
        "\ufeff{}",
        '{"score": 1}{}',
        "[1]",
        '"a"',
        "1",
        ValueError("down"),
    ],
)
def test_a_reply_that_is_no_object_goes_by_the_flag(kind: Any, reply: Any) -> None:
    """What is no JSON object is a ValueError, or None, and so is an exception."""
    with pytest.raises(ValueError, match=r"."):
        made(kind, reply).run(predicted_answers=["a"])
    lenient = made(kind, reply, raise_on_failure=False)

    assert lenient.run(predicted_answers=["a"])["results"] == [None]


@BOTH
@pytest.mark.parametrize(
    ("reply", "result"),
    [
        (' {"score": 1, "why": "x"}\u2003', {"score": 1, "why": "x"}),
        ('{"score": null}', {"score": None}),
        ('{"score": true}', {"score": True}),
        ('{"score": Infinity}', {"score": float("inf")}),
        ('{"score": 0, "score": 1}', {"score": 1}),
    ],
)
def test_replies_are_read_as_they_are(kind: Any, reply: str, result: Any) -> None:
    """Other keys, any value and repeated keys are taken."""
    assert made(kind, reply).run(predicted_answers=["a"])["results"] == [result]


# 10


@BOTH
@pytest.mark.parametrize("generator", [Generator, AsyncGenerator])
def test_an_async_run_returns_the_same(kind: Any, generator: Any) -> None:
    """An async run asks a generator of either kind, and returns what `run` does."""
    asked = generator()
    evaluator = made(kind, chat_generator=asked)
    found = asyncio.run(evaluator.run_async(predicted_answers=["a", "b"]))

    assert found == {"results": [{"score": 0.5}] * 2, "meta": None}
    assert asked.calls == ["run_async"] * 2 * (generator is AsyncGenerator)


@BOTH
def test_an_async_failure_goes_by_the_flag(kind: Any) -> None:
    """A call that fails is a ValueError, or None."""
    failing = AsyncGenerator(RuntimeError("down"))
    strict = made(kind, chat_generator=failing)
    lenient = made(kind, chat_generator=failing, raise_on_failure=False)

    with pytest.raises(ValueError, match="down"):
        asyncio.run(strict.run_async(predicted_answers=["a"]))
    found = asyncio.run(lenient.run_async(predicted_answers=["a"]))
    assert found["results"] == [None]


@BOTH
@pytest.mark.parametrize(
    ("generator", "calls"),
    [
        (Generator, []),
        (Tended, ["warm_up", "close", "warm_up", "close"]),
        (TendedBoth, ["warm_up", "close", "warm_up_async", "close_async"]),
    ],
)
def test_generators_are_tended(kind: Any, generator: Any, calls: list[str]) -> None:
    """Warming up and closing reach the generator, as far as it knows of them."""
    tended = generator()
    evaluator = made(kind, chat_generator=tended)
    evaluator.warm_up()
    evaluator.close()
    asyncio.run(evaluator.warm_up_async())
    asyncio.run(evaluator.close_async())

    assert tended.calls == calls


# In a pipeline


@BOTH
def test_it_runs_in_a_pipeline(kind: Any) -> None:
    """In a pipeline the inputs of the component are those that are declared."""
    pipeline = Pipeline()
    pipeline.add_component("judge", made(kind))
    found = pipeline.run({"judge": {"predicted_answers": ["a", "b"]}})

    assert found["judge"]["results"] == [{"score": 0.5}] * 2


# What ours does besides


@pytest.mark.parametrize("replies", [[], [ChatMessage.from_assistant(None)]])
def test_missing_reply_or_text_fails_the_row(replies: list[Any]) -> None:
    """Where Haystack's evaluator crashes, the row fails or a ValueError is raised."""
    with pytest.raises(ValueError, match=r"no reply|no text"):
        made(Ours, replies).run(predicted_answers=["a"])
    lenient = made(Ours, replies, raise_on_failure=False)

    assert lenient.run(predicted_answers=["a"])["results"] == [None]


def test_meta_stands_beside_results() -> None:
    """There is an entry or None for each row, whichever of them fail."""
    chat_reply = ChatMessage.from_assistant('{"score": 1}', meta={"model": "m"})
    replies = ('{"score": 1}', "nope", chat_reply)
    found = made(Ours, *replies, raise_on_failure=False).run(
        predicted_answers=["a"] * 3
    )
    silent, failed, telling = found["meta"]

    assert [each is None for each in found["results"]] == [False, True, False]
    assert silent is None
    assert failed["status"] == "failed"
    assert (telling["model"], telling["status"]) == ("m", "ok")


def test_a_cache_is_of_one_generator(tmp_path: Path) -> None:
    """What was replied is not asked for again, unless the generator is another one."""
    generator = Generator()
    for _ in range(2):
        evaluator = made(Ours, chat_generator=generator, cache=str(tmp_path / "c"))
        evaluator.run(predicted_answers=["a", "b", "a"])

    assert len(generator.prompts) == 2


def test_a_budget_ends_asking() -> None:
    """Each call of the generator counts in the budget."""
    found = made(Ours, max_requests=1).run(predicted_answers=["a", "b"])

    assert found["results"] == [{"score": 0.5}, None]
    assert found["meta"][1]["status"] == "unasked"
