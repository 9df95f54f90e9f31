"""Definitions that Haystack's loader refuses, against the loader where it is there."""

import copy
import itertools
import json
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import Problem, validate

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
THEIRS = "haystack.components.evaluators.llm_evaluator.LLMEvaluator"
OURS = "harpia_converters.haystack.component.LLMEvaluator"
GENERATORS = "haystack.components.generators.chat"
DUMPED: dict[str, Any] = {
    "type": THEIRS,
    "init_parameters": {
        "instructions": "Is it rude?",
        "inputs": [["responses", "list[str]"]],
        "outputs": ["score"],
        "examples": [{"inputs": {"responses": "Go!"}, "outputs": {"score": 1}}],
        "chat_generator": {
            "type": f"{GENERATORS}.openai.OpenAIChatGenerator",
            "init_parameters": {
                "model": "gpt-4o-mini",
                "api_key": {"type": "env_var", "env_vars": ["KEY"], "strict": False},
            },
        },
        "progress_bar": True,
        "raise_on_failure": True,
    },
}
PARAMETERS = ("init_parameters",)
GENERATOR = (*PARAMETERS, "chat_generator")
OF_GENERATOR = (*GENERATOR, "init_parameters")
#: Changes of a definition, and the code of the rule that refuses it, "" for none.
CHANGES: list[tuple[tuple[str, ...], Any, str]] = [
    (("type",), THEIRS[:-1], "K308"),
    (("type",), "LLMEvaluator", "K308"),
    (("type",), "haystack.components.evaluators.LLMEvaluator", "K308"),
    (("type",), "harpia_converters.haystack.component.LLMEvaluato", "K308"),
    (("type",), "harpia_converters.haystack.LLMEvaluator", "K308"),
    (GENERATOR, None, ""),
    (GENERATOR, ..., ""),
    (GENERATOR, {}, ""),
    ((*GENERATOR, "type"), ..., "K309"),
    ((*GENERATOR, "type"), 5, "K309"),
    ((*GENERATOR, "type"), "OpenAIChatGenerator", "K309"),
    ((*GENERATOR, "type"), f"{GENERATORS}.OpenAIChatGenerator", "K309"),
    ((*GENERATOR, "type"), f"{GENERATORS}.openai.OpenAIChatGenerato", "K309"),
    ((*GENERATOR, "type"), "haystack.components.evaluators.LLM", "K309"),
    (OF_GENERATOR, ..., "K309"),
    (OF_GENERATOR, None, "K309"),
    (OF_GENERATOR, [], "K309"),
    (OF_GENERATOR, {}, ""),
    ((*OF_GENERATOR, "modle"), "x", "K311"),
    ((*OF_GENERATOR, "timeout"), 5, ""),
    ((*OF_GENERATOR, "api_key"), {"type": "env_var"}, "K309"),
    ((*OF_GENERATOR, "api_key"), {"type": "env_var", "env_vars": []}, "K309"),
    ((*OF_GENERATOR, "api_key"), {"type": "env_var", "env_vars": ["A"]}, "K309"),
    ((*GENERATOR, "more"), 1, ""),
    ((*PARAMETERS, "more"), 1, "K311"),
    ((*PARAMETERS, "chat_generater"), None, "K311"),
    ((*PARAMETERS, "guarded"), True, "K311"),
    ((*PARAMETERS, "progress_bar"), ..., ""),
    ((*PARAMETERS, "instructions"), "{{ responses }}", ""),
    ((*PARAMETERS, "instructions"), "{{ x", "K312"),
    ((*PARAMETERS, "instructions"), "{# x", "K312"),
    ((*PARAMETERS, "instructions"), "{% if responses", "K312"),
    ((*PARAMETERS, "instructions"), "{{ }}", "K312"),
    ((*PARAMETERS, "instructions"), "{% foo %}", "K312"),
    ((*PARAMETERS, "instructions"), "{% raw %}{{ x", "K312"),
    ((*PARAMETERS, "instructions"), "{{ responses }}{% endraw %}", "K312"),
    ((*PARAMETERS, "instructions"), "{% raw %}{{ x {%- endraw %}", ""),
    ((*PARAMETERS, "instructions"), "{% if responses %}{{ responses }}{% endif %}", ""),
    ((*PARAMETERS, "instructions"), "{# x #}", ""),
    ((*PARAMETERS, "instructions"), "} }} %}", ""),
    ((*PARAMETERS, "outputs"), ["{{ x"], "K312"),
]
#: Types of inputs, and whether the loader takes them.
TYPES = {
    "list[str]": True,
    "List[str]": True,
    "typing.List[typing.List[str]]": True,
    "list[List[str]]": True,
    "list[str | None]": True,
    "list[dict[str, int]]": True,
    "list[Any]": True,
    "list[ str ]": True,
    "list[str,]": True,
    "list[None]": True,
    "list[...]": True,
    "list[list]": True,
    "list[Dict]": True,
    "list[Literal['a', 'b']]": True,
    "list[Optional[str]]": True,
    "list[Union[str, int]]": True,
    "list[collections.abc.Mapping]": True,
    "list[haystack.dataclasses.document.Document]": True,
    "list[Callable[[int, str], bool]]": True,
    "typing.List": True,
    "str": True,
    "tuple[str, ...]": True,
    "Optional[list[str]]": True,
    "list[foo]": False,
    "lst[str]": False,
    "listing": False,
    "list[str": False,
    "list[str]]": False,
    "list[str][int]": False,
    "list[]": False,
    "list [str]": False,
    "": False,
    "typing.Lst[str]": False,
    "typing.list[str]": False,
    "str[int]": False,
    "list[print]": False,
    'list["str"]': False,
    "List[str, int]": False,
    "list[Literal[a]]": False,
    "list[Literal[{[]: 1}]]": False,
    f"list[Literal[{'9' * 400} + 1j]]": False,
    f"list[Literal[{'-' * 5_000}1]]": False,
    f"list[Literal[{'-' * 100_000}1]]": False,
    "list[1]": False,
    "list[builtins.print]": False,
    "list[dict[str, foo]]": False,
    "foo | list[str]": False,
}


def changed(path: tuple[Any, ...], value: Any) -> Any:
    """Return the definition with another value at a path, or without it for `...`."""
    document = copy.deepcopy(DUMPED)
    owner: Any = document
    for step in path[:-1]:
        owner = owner[step]
    if value is ...:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return document


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value inside of `value`."""
    inner = enumerate(value) if isinstance(value, list) else ()
    for step, member in value.items() if isinstance(value, dict) else inner:
        yield (*path, step)
        yield from paths_in(member, (*path, step))


def errors_in(document: Any, *, strict: bool = False) -> set[str]:
    """Return the codes of the errors in a definition."""
    data = json.dumps(document).encode()
    report = validate(data, format="haystack-evaluator", strict=strict)
    return {each.code for each in report.problems if each.severity == "error"}


def problem_with(**changes: Any) -> Problem:
    """Return the only problem in a definition with other parameters."""
    document = {**DUMPED, "init_parameters": {**DUMPED["init_parameters"], **changes}}
    (problem,) = validate(json.dumps(document).encode()).problems
    return problem


@for_each_case(
    "path, value, code, wrapped",
    [
        (*one, two)
        for one, two in itertools.product(
            CHANGES,
            [
                lambda dumped: dumped,
                lambda dumped: {"judge": dumped},
                lambda dumped: {"components": {"judge": dumped}, "connections": []},
            ],
        )
    ],
)
def test_definition_that_cannot_be_loaded_is_invalid(
    path: tuple[str, ...], value: Any, code: str, wrapped: Callable[[Any], Any]
) -> None:
    """What the loader refuses is an error of the rule for it, wherever it stands."""
    document = wrapped(changed(path, value))

    assert errors_in(document) == ({code} if code else set())
    if code != "K311":  # a strict schema knows the parameters of an evaluator, too
        assert errors_in(document, strict=True) == ({code} if code else set())


@for_each_case("kind", TYPES)
def test_type_that_cannot_be_loaded_is_invalid(kind: str) -> None:
    """The type of an input must be one that can be made from its text."""
    inputs = [["responses", kind]]

    found = errors_in(changed((*PARAMETERS, "inputs"), inputs))
    assert found == (set() if TYPES[kind] else {"K310"})


def test_deep_type_is_refused() -> None:
    """A type with many levels is refused, and not followed without end."""
    found = [
        errors_in(changed((*PARAMETERS, "inputs"), [["responses", kind]]))
        for kind in ("list[" * each + "str" + "]" * each for each in (20, 100_000))
    ]

    assert found == [set(), {"K310"}]


def test_parameters_of_our_evaluator_are_its_own() -> None:
    """Our evaluator has more parameters, and also takes those of old versions."""
    document = changed(("type",), OURS)
    document["init_parameters"] |= {"guarded": True, "concurrency": 2, "api": "openai"}

    assert errors_in(document) == set()
    document["init_parameters"]["guardd"] = True
    assert errors_in(document) == {"K311"}


def test_classes_of_other_packages_are_not_looked_up() -> None:
    """A class that may exist is no error."""
    assert errors_in(changed(("type",), "acme.judges.LLMEvaluator")) == set()
    generator = "acme.chat.Generator"
    assert errors_in(changed((*GENERATOR, "type"), generator)) == set()


def test_names_are_shown_short() -> None:
    """Long names and long lists are cut, with the number of names left out."""
    example = {"inputs": {"responses": "Olá"}, "outputs": {"score": 1}}
    missing = problem_with(inputs=[["ç" * 50, "list[str]"]])
    others = problem_with(outputs=list("abcdef"))
    none = problem_with(examples=[{**example, "outputs": {}}])

    assert missing.message.endswith(f'the declared inputs are "{"ç" * 40}…"')
    assert others.message.endswith(
        'have the keys "score", but the declared outputs '
        'are "a", "b", "c", "d" and 2 more'
    )
    assert "have the keys nothing" in none.message


def test_name_that_is_no_variable_is_an_error() -> None:
    """The name of an input on which Jinja fails makes a definition invalid."""
    definition = {"inputs": [["a b", "list[str]"]], "examples": []}

    assert problem_with(**definition).severity == "error"


@pytest.mark.skipif(find_spec("haystack") is None, reason="haystack-ai is missing")
@for_each_case("path, value, code", CHANGES)
def test_loader_agrees(path: tuple[str, ...], value: Any, code: str) -> None:
    """Haystack's own loader refuses exactly the definitions that have an error."""
    assert is_loaded(changed(path, value)) is not bool(code)


@pytest.mark.skipif(find_spec("haystack") is None, reason="haystack-ai is missing")
@for_each_case("kind", TYPES)
def test_loader_agrees_on_types(kind: str) -> None:
    """Haystack's own loader takes exactly the types that are loadable."""
    inputs = [["responses", kind]]

    assert is_loaded(changed((*PARAMETERS, "inputs"), inputs)) is TYPES[kind]


@pytest.mark.long
@pytest.mark.skipif(find_spec("haystack") is None, reason="haystack-ai is missing")
@pytest.mark.parametrize("path", sorted(paths_in(DUMPED), key=str), ids=str)
def test_no_definition_with_another_value_is_accepted_and_not_loaded(
    path: tuple[Any, ...],
) -> None:
    """Whatever is at a path, a definition without an error can be loaded."""
    values: list[Any] = [..., None, 5, True, "", [], {}, "x", ["x"], {"type": "x"}]
    values += [-1.5, {"a": 1}, [["a", "list[str]"]], "{{ }}", "{% foo %}", "{{ x"]
    for value in values:
        document = changed(path, value)
        if not errors_in(document):
            assert is_loaded(document), value


def is_loaded(document: Any) -> bool:
    """Return whether Haystack's loader takes a definition."""
    from haystack.components.evaluators import LLMEvaluator  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415 - only if it is there

    try:
        LLMEvaluator.from_dict(document)
    except Exception:  # noqa: BLE001 - it raises errors of all kinds
        return False
    return True
