"""Check what Haystack's loader refuses in a dumped LLMEvaluator (K308-K311)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.haystack.phrases import listed, quoted
from harpia_converters.haystack.values import list_in, object_in
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.text.spelling import nearest

_evaluators = "haystack.components.evaluators"
_generators = "haystack.components.generators.chat"
OURS = "harpia_converters.haystack.component.LLMEvaluator"
THEIRS = f"{_evaluators}.llm_evaluator.LLMEvaluator"
#: Evaluators and chat generators of haystack-ai 2.0 to 3.4, and our own evaluator.
_known_evaluators = frozenset(
    {
        OURS,
        THEIRS,
        f"{_evaluators}.answer_exact_match.AnswerExactMatchEvaluator",
        f"{_evaluators}.context_relevance.ContextRelevanceEvaluator",
        f"{_evaluators}.document_map.DocumentMAPEvaluator",
        f"{_evaluators}.document_mrr.DocumentMRREvaluator",
        f"{_evaluators}.document_ndcg.DocumentNDCGEvaluator",
        f"{_evaluators}.document_recall.DocumentRecallEvaluator",
        f"{_evaluators}.faithfulness.FaithfulnessEvaluator",
        f"{_evaluators}.sas_evaluator.SASEvaluator",
    }
)
_openai = f"{_generators}.openai.OpenAIChatGenerator"
_known_generators = frozenset(
    {
        _openai,
        f"{_generators}.azure.AzureOpenAIChatGenerator",
        f"{_generators}.azure_responses.AzureOpenAIResponsesChatGenerator",
        f"{_generators}.fallback.FallbackChatGenerator",
        f"{_generators}.hugging_face_api.HuggingFaceAPIChatGenerator",
        f"{_generators}.hugging_face_local.HuggingFaceLocalChatGenerator",
        f"{_generators}.llm.LLM",
        f"{_generators}.mock.MockChatGenerator",
        f"{_generators}.openai_responses.OpenAIResponsesChatGenerator",
    }
)
#: The packages whose classes are known; others cannot be looked up here.
_known_packages = (f"{_evaluators}.", f"{_generators}.", "harpia_converters.")
_theirs = frozenset(
    "instructions inputs outputs examples chat_generator progress_bar "
    "raise_on_failure".split()
)
#: Parameters before 2.20, which K307 is about.
_old = frozenset({"api", "api_key", "api_params"})
#: Parameters of our evaluator.
_ours = frozenset("guarded cache concurrency max_requests max_tokens ask_again".split())
_of_openai = frozenset(
    "api_key model streaming_callback api_base_url organization generation_kwargs "
    "timeout max_retries tools tools_strict http_client_kwargs".split()
)


def loading_remarks(component: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield remarks on what the loader refuses of a dumped component."""
    kind = component.get("type")
    if not isinstance(kind, str):
        return
    yield from _check_class(kind, _known_evaluators, "K308", ("type",))
    if kind not in {OURS, THEIRS}:
        return
    allowed = _theirs | _old | (_ours if kind == OURS else frozenset())
    parameters = object_in(component.get("init_parameters"))
    for key in parameters:
        if key not in allowed:
            path = ("init_parameters", key)
            yield _unknown_parameter(key, allowed - _old, path, "an LLMEvaluator")
    generator = parameters.get("chat_generator")
    if generator:
        yield from _check_generator(generator)


def _check_class(
    kind: str, known: frozenset[str], code: str, path: Path
) -> Iterator[Remark]:
    """Yield a remark on the name of a class that cannot be loaded."""
    if kind in known or not (kind.startswith(_known_packages) or "." not in kind):
        return
    name = kind.rpartition(".")[2]
    same = [full for full in sorted(known) if full.rpartition(".")[2] == name]
    near = same[0] if len(same) == 1 else nearest(kind, known)
    # The same name twice is that of Haystack's class and of ours.
    near = THEIRS if len(same) > 1 else near
    help_ = f"write {quoted_whole(near)}" if near else "write its whole name, as dumped"
    yield Remark(code, path, f"there is no class {quoted_whole(kind)}", help_)


def quoted_whole(name: str) -> str:
    """Return the name of a class in quotes, not cut."""
    return f'"{name}"' if len(name) <= 100 else quoted(name)  # noqa: PLR2004 - a line


def _check_generator(generator: Any) -> Iterator[Remark]:
    """Yield remarks on a dumped chat generator that cannot be loaded."""
    path = ("init_parameters", "chat_generator")
    dump = "dump it with to_dict, or remove it for the default one"
    if not isinstance(generator, Mapping):
        return
    for key, kind in (("type", str), ("init_parameters", Mapping)):
        if not isinstance(generator.get(key), kind):
            what = "has no" if key not in generator else "has an unusable"
            yield Remark("K309", path, f"the chat_generator {what} {key}", dump)
    name = generator.get("type")
    if isinstance(name, str):
        yield from _check_class(name, _known_generators, "K309", (*path, "type"))
    parameters = object_in(generator.get("init_parameters"))
    inside = (*path, "init_parameters")
    yield from _check_secret(parameters.get("api_key"), (*inside, "api_key"))
    if name == _openai:
        for key in sorted(parameters.keys() - _of_openai):
            yield _unknown_parameter(key, _of_openai, (*inside, key), "the generator")


def _check_secret(secret: Any, path: Path) -> Iterator[Remark]:
    """Yield a remark on a dumped secret that cannot be loaded."""
    if object_in(secret).get("type") != "env_var":
        return
    if not list_in(secret.get("env_vars")):
        message = "the api_key names no environment variable"
        yield Remark("K309", path, message, 'list its name in "env_vars"')
    elif "strict" not in secret:
        message = "the api_key does not tell whether the variable must be set"
        yield Remark("K309", path, message, 'add "strict": true')


def _unknown_parameter(
    key: str, known: frozenset[str], path: Path, owner: str
) -> Remark:
    """Return the remark on a parameter that a class does not have."""
    near = nearest(key, known)
    help_ = f"write {near}" if near else f"remove it; known are {listed(sorted(known))}"
    message = f"{owner} has no parameter {quoted(key)}"
    return Remark("K311", path, message, help_, at_key=True)
