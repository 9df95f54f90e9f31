"""Check the definition of an LLMEvaluator, and what the loader refuses (K301-K312)."""

import ast
import builtins
import collections
import collections.abc
import re
import typing
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final

from harpia_converters.haystack.detection import list_in, listed, object_in, quoted
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.spelling import nearest

#: A class of another package, which is not imported here.
_FOREIGN: Final = object()
_literals: dict[str, Any] = {
    "None": None,
    "NoneType": type(None),
    "...": ...,
    "Ellipsis": ...,
}
#: The modules whose names are resolved; only their types are loaded.
_modules: dict[str, ModuleType] = {
    "builtins": builtins,
    "collections": collections,
    "collections.abc": collections.abc,
    "typing": typing,
}
#: What evaluating a literal raises that has no value, or too many levels.
_UNREADABLE = (
    *(ValueError, SyntaxError, TypeError, OverflowError),
    *(MemoryError, RecursionError),
)
#: Levels of brackets in a type, at most.
_DEPTH = 50


class _NotLoadable(Exception):  # noqa: N818 - an answer, not an error
    """A name or an expression that Haystack's loader refuses."""


def is_loadable_type(text: str) -> bool:
    """Return whether Haystack loads the type `text`, such as `list[str]`.

    True for classes of packages that are not known here. Source: `deserialize_type` in
    haystack-ai 3.4.
    """
    if text.count("[") > _DEPTH:
        return False
    try:
        _resolved(text)
    except _NotLoadable:
        return False
    return True


def _resolved(text: str) -> Any:
    """Return the type that `text` names. Raises `_NotLoadable`."""
    if text in _literals:
        return _literals[text]
    alternatives = _split(text, "|")
    if len(alternatives) > 1:
        for alternative in alternatives:
            _resolved(alternative)
        return _FOREIGN
    if "[" in text and text.endswith("]"):
        name, _, inner = text[:-1].partition("[")
        return _with_arguments(_resolved(name), inner)
    return _named(text)


def _with_arguments(main: Any, inner: str) -> Any:
    """Return the generic type `main` with the arguments in the text `inner`."""
    if main is typing.Literal:
        try:
            return typing.Literal[ast.literal_eval(f"({inner},)")]
        except _UNREADABLE as error:
            raise _NotLoadable from error
    arguments = [_argument(part) for part in _split(inner, ",")]
    if not arguments:
        raise _NotLoadable
    if main is _FOREIGN or any(argument is _FOREIGN for argument in arguments):
        return _FOREIGN
    try:
        return main[tuple(arguments) if len(arguments) > 1 else arguments[0]]
    except (TypeError, AttributeError) as error:
        raise _NotLoadable from error


def _argument(text: str) -> Any:
    """Return an argument of a generic type: a type, or a list of types."""
    if text.startswith("[") and text.endswith("]"):
        return [_resolved(part) for part in _split(text[1:-1], ",")]
    return _resolved(text)


def _named(text: str) -> Any:
    """Return what a name without brackets names. Raises `_NotLoadable`."""
    module, _, name = text.rpartition(".")
    parts = text.split(".")
    if not all(part.isidentifier() for part in parts) or name.startswith("__"):
        raise _NotLoadable
    if module and module not in _modules:
        return _FOREIGN
    owners = [_modules[module]] if module else [builtins, typing]
    for owner in owners:
        if hasattr(owner, name):
            found = getattr(owner, name)
            if owner is builtins and not isinstance(found, type):
                raise _NotLoadable
            return found
    raise _NotLoadable


def _split(text: str, separator: str) -> list[str]:
    """Return the parts of `text` between separators outside of brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == separator and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
    last = text[begin:].strip()
    return [*parts, last] if last else parts


_begin = re.compile(r"\{[{%#]")
_ends = {"{{": "}}", "{%": "%}", "{#": "#}"}
_end_of_raw = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
#: The tags of Jinja and of Haystack's extensions.
_tags = frozenset(
    "autoescape block break call continue debug do elif else endautoescape endblock "
    "endcall endfilter endfor endif endmacro endmessage endset endtrans endwith "
    "extends filter for from if import include insert macro message now pluralize "
    "print raw set trans with".split()
)


def broken_template(text: str) -> str:
    """Return the first template in `text` that has no end or no meaning, or "".

    Not all that Jinja refuses is found: only what cannot be read by any version of it.
    """
    at = 0
    while begin := _begin.search(text, at):
        end = text.find(_ends[begin[0]], begin.end())
        if end < 0:
            return begin[0]
        shown = text[begin.start() : end + 2]
        inner = text[begin.end() : end].strip(" \t\r\n+-")
        at = end + 2
        if begin[0] == "{{" and not inner:
            return shown
        if begin[0] == "{%":
            word = re.match(r"\w*", inner)
            tag = word[0] if word else ""
            if tag not in _tags:
                return shown
            if tag == "raw":
                closing = _end_of_raw.search(text, at)
                if closing is None:
                    return shown
                at = closing.end()
    return ""


#: Parameters that Haystack has no more since 2.20.
_old_arguments = ("api", "api_key", "api_params")
_list_type = re.compile(r"((typing\.)?List|list)(\[.+\])?", re.DOTALL)
_template = re.compile(r"\{\{[-+]?\s*(?P<variable>[^\W\d]\w*)?|\{[%#]")


def remarks(parts: Any) -> Iterator[Remark]:
    """Yield remarks on a definition that its schema allows."""
    inputs = [(("inputs", at, 0), name) for at, (name, _) in enumerate(parts["inputs"])]
    outputs = [(("outputs", at), name) for at, name in enumerate(parts["outputs"])]
    yield from _check_declared(parts)
    yield from _check_input_names(inputs)
    yield from _check_input_types(parts["inputs"])
    yield from _check_repeated(inputs)
    yield from _check_repeated(outputs)
    names = {"inputs": {*dict(parts["inputs"])}, "outputs": {*parts["outputs"]}}
    yield from _check_examples(parts["examples"], names)
    yield from _check_templates(parts, names["inputs"])
    yield from _check_old_parameters(parts)


def _check_declared(parts: Mapping[str, Any]) -> Iterator[Remark]:
    for key, why in (("inputs", "a run fails"), ("outputs", "every reply is accepted")):
        if not parts[key]:
            help_ = f"declare at least one: Haystack accepts none, but {why}"
            yield Remark("K304", (key,), f"no {key} are declared", help_)


#: `not` is no variable in Jinja; the others are arguments that Haystack itself has.
_taken_names = frozenset("instance not self template template_variables".split())


def _check_input_names(inputs: Iterable[tuple[Path, str]]) -> Iterator[Remark]:
    for path, name in inputs:
        if not name.isidentifier() or name in _taken_names:
            message = f"no input can be called {quoted(name)}"
            help_ = "rename it, with letters, digits and underscores only"
            yield Remark("K301", path, message, help_)


def _check_input_types(inputs: list[list[str]]) -> Iterator[Remark]:
    for number, (_, kind) in enumerate(inputs):
        if not is_loadable_type(kind):
            message = f"there is no type {quoted(kind)}"
            help_ = 'write a type as Python does, such as "list[str]"'
            yield Remark("K310", ("inputs", number, 1), message, help_)
        elif not _list_type.fullmatch(kind):
            message = f"the input type {quoted(kind)} is not a list type"
            help_ = f"write {quoted(f'list[{kind}]')}: every input is a list of values"
            yield Remark("K305", ("inputs", number, 1), message, help_)


def _check_repeated(names: Iterable[tuple[Path, str]]) -> Iterator[Remark]:
    known = set()
    for path, name in names:
        if name in known:
            message = f"the name {quoted(name)} is declared twice"
            yield Remark("K303", path, message, "remove one of the two")
        known.add(name)


def _check_examples(
    examples: list[Any], declared: Mapping[str, set[str]]
) -> Iterator[Remark]:
    """Yield a remark for each example whose keys differ from the declared names."""
    for number, example in enumerate(examples):
        for key, names in declared.items():
            if names and example[key].keys() != names:
                message = (
                    f"the {key} of an example have the keys "
                    f"{listed(sorted(example[key]))}, "
                    f"but the declared {key} are {listed(sorted(names))}"
                )
                help_ = "rename the keys of the example to the declared names"
                yield Remark("K306", ("examples", number, key), message, help_)


def _check_templates(parts: Mapping[str, Any], names: set[str]) -> Iterator[Remark]:
    """Yield a remark for each text that Jinja reads as a template."""
    for path, text, at_key in _texts(parts):
        broken = broken_template(text)
        if broken:
            message = f"Jinja reads {quoted(broken)} as a template, which it cannot be"
            help_ = "write it in another way: the evaluator cannot be made with it"
            yield Remark("K312", path, message, help_, at_key)
            continue
        found = (
            match[0]
            for match in _template.finditer(text)
            if match["variable"] not in names
        )
        begin = next(found, "")
        if begin:
            message = f"Jinja reads {quoted(begin)} as the start of a template"
            help_ = (
                "write it in another way: instructions and examples become a part of "
                "the prompt's template, and a run fails on an unknown variable"
            )
            yield Remark("K302", path, message, help_, at_key)


def _texts(parts: Mapping[str, Any]) -> Iterator[tuple[Path, str, bool]]:
    """Yield each text and key of the template, its path, and whether it is a key."""
    pending: list[tuple[Path, Any]] = [
        ((key,), parts[key]) for key in ("outputs", "examples", "instructions")
    ]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            yield path, value, False
        elif isinstance(value, list):
            pending += [((*path, at), item) for at, item in enumerate(value)][::-1]
        elif isinstance(value, Mapping):
            yield from (((*path, item), item, True) for item in value)
            pending += [((*path, key), item) for key, item in value.items()][::-1]


def _check_old_parameters(parts: Mapping[str, Any]) -> Iterator[Remark]:
    for key in _old_arguments:
        if key in parts:
            message = f"Haystack has no parameter {key} since 2.20"
            help_ = "give a chat_generator instead, with its model and API key"
            yield Remark("K307", (key,), message, help_, at_key=True)


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
#: Parameters of our evaluator.
_ours = frozenset("guarded cache concurrency max_requests max_tokens ask_again".split())
_of_openai = frozenset(
    "api_key model streaming_callback api_base_url organization generation_kwargs "
    "timeout max_retries tools tools_strict http_client_kwargs".split()
)


def loading_remarks(component: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield remarks on what the loader refuses of a dumped component."""
    kind = component["type"]
    yield from _check_class(kind, _known_evaluators, "K308", ("type",))
    if kind not in {OURS, THEIRS}:
        return
    known = _theirs | (_ours if kind == OURS else frozenset())
    parameters = component["init_parameters"]
    for key in parameters:
        # K307 is about the old ones.
        if key not in known and key not in _old_arguments:
            path = ("init_parameters", key)
            yield _unknown_parameter(key, known, path, "an LLMEvaluator")
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


def _check_generator(generator: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield remarks on a dumped chat generator that cannot be loaded."""
    path = ("init_parameters", "chat_generator")
    dump = "dump it with to_dict, or remove it for the default one"
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
