"""Remarks on Haystack's documents that their schemas allow."""

from itertools import permutations
from typing import Any

from cases import for_each_case
from harpia_formats import Severity
from harpia_formats.plugins import Remark
from known_formats import FORMATS, RULES

OWN = {id_: each for id_, each in FORMATS.items() if each.vendor == "Haystack"}
DIALECTS = {
    (format_.id, each.name): each
    for format_ in OWN.values()
    for each in format_.dialects
}
LLM = "haystack.components.evaluators.llm_evaluator.LLMEvaluator"
RESULTS = {"results": [{"score": 0}, None], "meta": None}
SCORES = {"score": 0.5, "individual_scores": [1, 0]}
EXAMPLE = {"inputs": {"responses": "Olá"}, "outputs": {"score": 1}}
DEFINITION: dict[str, Any] = {
    "instructions": "Is it rude?",
    "inputs": [["responses", "list[str]"]],
    "outputs": ["score"],
    "examples": [EXAMPLE],
}
BUILDER = {"type": "haystack.PromptBuilder", "init_parameters": {"template": "{{x}}"}}


def codes_and_paths(
    format_: str, value: Any, dialect: str = ""
) -> list[tuple[str, Any]]:
    """Return the codes and the paths of the remarks on `value`."""
    return [(each.code, each.path) for each in remarks_of(format_, value, dialect)]


def remarks_of(format_: str, value: Any, dialect: str = "") -> list[Remark]:
    """Return the remarks on `value`."""
    remarks = DIALECTS[format_, dialect].remarks
    assert remarks is not None
    return list(remarks(value))


def lengths_of(items: dict[tuple[str | int, ...], int]) -> list[tuple[str, Any]]:
    """Return the remarks on the lengths of columns."""
    lengths = FORMATS["haystack"].dialects[0].lengths
    assert lengths is not None
    return [(each.code, each.path) for each in lengths(items)]


@for_each_case(
    "items, paths",
    [
        ({("a",): 2, ("b",): 2}, []),
        ({("a",): 2, ("b",): 3}, [("b",)]),
        ({("a",): 3, ("b",): 2, ("c",): 2}, [("a",)]),
        ({("a",): 1, ("b",): 2, ("c",): 3}, [("b",), ("c",)]),
        ({("x", "a"): 1, ("y", "a"): 2}, []),
        ({("x", "a"): 1, ("y", "a"): 2, ("y", "b"): 0}, [("y", "b")]),
        ({}, []),
    ],
)
def test_columns_of_another_length_are_named(
    items: dict[tuple[str | int, ...], int], paths: list[Any]
) -> None:
    """A column gets a remark if its length differs from most of its component."""
    assert lengths_of(items) == [("K101", each) for each in paths]


def test_misspelt_columns_are_named_in_their_order() -> None:
    """Remarks on spellings come in the order of the columns, in each run."""
    for names in permutations(["question", "contex", "Responses"]):
        found = lengths_of({(name,): 1 for name in names})
        assert found == [("K103", (name,)) for name in names]


@for_each_case(
    "row, paths",
    [
        ({"questions": "x", "contexts": ["x"], "retrieved_documents": [{}]}, []),
        ({"own": 1}, []),
        ({"questions": None}, [("questions",)]),
        ({"responses": ["x"]}, [("responses",)]),
        ({"predicted_answers": True}, [("predicted_answers",)]),
        ({"ground_truth_answers": 1.5}, [("ground_truth_answers",)]),
        ({"contexts": "x"}, [("contexts",)]),
        ({"contexts": ["x", {}, 1]}, [("contexts", 1), ("contexts", 2)]),
        ({"ground_truth_documents": {}}, [("ground_truth_documents",)]),
    ],
)
def test_items_of_well_known_columns_are_looked_at(
    row: dict[str, Any], paths: list[Any]
) -> None:
    """An item that is not what evaluators expect gets a remark, at its place."""
    assert codes_and_paths("haystack", row) == [("K102", each) for each in paths]


@for_each_case(
    "value, expected",
    [
        (RESULTS, []),
        ({"results": [None], "meta": []}, [("K401", ("meta",))]),
        ({"results": [{"a": 1}, {"a": 2}, {"b": 1}]}, [("K402", ("results", 2))]),
        ({"results": [{"a": 1}, None]}, []),
        (
            {"results": [{"statements": ["a"], "statement_scores": []}]},
            [("K403", ("results", 0, "statement_scores"))],
        ),
        ({"results": [{"statements": "a", "statement_scores": []}]}, []),
        ({**SCORES, "results": []}, [("K404", ("individual_scores",))]),
    ],
)
def test_inconsistent_results_are_reported(
    value: dict[str, Any], expected: list[Any]
) -> None:
    """Lengths and keys that differ get remarks, also below the name of a component."""
    below = [(code, ("juiz", *path)) for code, path in expected]

    assert codes_and_paths("haystack-results", value) == expected
    assert codes_and_paths("haystack-results", {"juiz": value}, "component") == below


@for_each_case(
    "inputs, scores, expected",
    [
        ({"a": [1, 2]}, {"m": [1, 0]}, []),
        ({"a": [1, 2], "b": [1]}, {}, [("K201", ("inputs", "b"))]),
        ({"a": [1], "b": [1, 2], "c": [1, 2]}, {}, [("K201", ("inputs", "a"))]),
        ({"a": []}, {"m": [1]}, [("K202", ("results", "m", "individual_scores"))]),
        ({"a": [1]}, {"a": [1]}, [("K203", ("results", "a"))]),
        ({"a": "açã"}, {"m": [1, 0, 1]}, [("K204", ("inputs", "a"))]),
    ],
)
def test_run_is_checked_as_haystack_does(
    inputs: dict[str, Any], scores: dict[str, Any], expected: list[Any]
) -> None:
    """Lengths that differ from most inputs, and doubtful values, get remarks."""
    metrics = {
        name: {"score": 1, "individual_scores": each} for name, each in scores.items()
    }
    document = {"run_name": "a", "inputs": inputs, "results": metrics}

    assert codes_and_paths("haystack-run", document) == expected


@for_each_case(
    "change, expected",
    [
        ({}, []),
        ({"inputs": [["a b", "list[str]"]], "examples": []}, [("inputs", 0, 0)]),
        ({"inputs": [["", "list[str]"]], "examples": []}, [("inputs", 0, 0)]),
        ({"inputs": [["not", "list[str]"]], "examples": []}, [("inputs", 0, 0)]),
        ({"inputs": [["template", "list[str]"]], "examples": []}, [("inputs", 0, 0)]),
        ({"inputs": [["self", "list[str]"]], "examples": []}, [("inputs", 0, 0)]),
        ({"inputs": [["ação", "list[str]"]], "examples": []}, []),
    ],
)
def test_names_that_jinja_fails_on_are_errors(
    change: dict[str, Any], expected: list[Any]
) -> None:
    """The name of an input is that of a variable in any script, and not taken."""
    found = codes_and_paths("haystack-evaluator", {**DEFINITION, **change})

    assert found == [("K301", each) for each in expected]
    assert RULES["K301"].severity is Severity.ERROR


@for_each_case(
    "text, is_said",
    [
        ("{{ x }}", True),
        ("{{- x.y }}", True),
        ("{{ 'a' }}", True),
        ("{% if x %}", True),
        ("{# note #}", True),
        ("{{ responses }}", False),
        ("{{ responses | upper }} {{ x }}", True),
        ("{ {x} } }} %}", False),
        ('{"a": {"b": {}}}', False),
    ],
)
def test_templates_in_text_are_reported(*, text: str, is_said: bool) -> None:
    """Jinja templates get remarks at any depth, except declared inputs."""
    example = {"inputs": {"responses": [text]}, "outputs": {"score": {text: 1}}}
    document = {**DEFINITION, "instructions": text, "examples": [example]}
    places = {
        ("instructions",),
        ("examples", 0, "inputs", "responses", 0),
        ("examples", 0, "outputs", "score", text),
    }

    found = remarks_of("haystack-evaluator", document)

    assert {each.path for each in found} == (places if is_said else set())
    assert {each.code for each in found} <= {"K302"}
    assert all(each.at_key == (each.path[-1] == text) for each in found)


@for_each_case(
    "kind, is_list",
    [
        ("list[str]", True),
        ("List[List[str]]", True),
        ("typing.List[typing.Any]", True),
        ("typing.List", True),
        ("str", False),
        ("typing.Optional[list[str]]", False),
        ("dict[str, str]", False),
    ],
)
def test_types_that_are_not_lists_are_reported(*, kind: str, is_list: bool) -> None:
    """An input type that is no list type gets a remark."""
    document = {**DEFINITION, "inputs": [["responses", kind]]}
    expected = [] if is_list else [("K305", ("inputs", 0, 1))]

    assert codes_and_paths("haystack-evaluator", document) == expected


@for_each_case(
    "change, expected",
    [
        ({"inputs": [], "examples": []}, [("K304", ("inputs",))]),
        ({"outputs": [], "examples": []}, [("K304", ("outputs",))]),
        ({"inputs": DEFINITION["inputs"] * 2}, [("K303", ("inputs", 1, 0))]),
        ({"outputs": ["score", "score"]}, [("K303", ("outputs", 1))]),
        ({"outputs": ["a"]}, [("K306", ("examples", 0, "outputs"))]),
        (
            {"examples": [{**EXAMPLE, "inputs": {}}]},
            [("K306", ("examples", 0, "inputs"))],
        ),
        (
            {"api": "openai", "api_key": None},
            [("K307", ("api",)), ("K307", ("api_key",))],
        ),
    ],
)
def test_nested_definitions_are_checked(
    change: dict[str, Any], expected: list[Any]
) -> None:
    """A doubtful definition gets the same remarks alone and nested."""
    document = {**DEFINITION, **change}
    dumped = {"type": LLM, "init_parameters": document}

    def below(*path: str) -> list[Any]:
        return [(code, (*path, *rest)) for code, rest in expected]

    about = "haystack-evaluator"
    assert codes_and_paths(about, document) == expected
    assert codes_and_paths(about, dumped, "to_dict") == below("init_parameters")
    assert codes_and_paths(about, {"c": document}, "component") == below("c")
    assert codes_and_paths(about, {"c": dumped}, "component") == below(
        "c", "init_parameters"
    )
    pipeline = {"components": {"c": dumped, "b": BUILDER}}
    path = ("components", "c", "init_parameters")
    assert codes_and_paths(about, pipeline, "pipeline") == below(*path)


def test_other_evaluators_are_left_alone() -> None:
    """What another evaluator is made from is its own business."""
    other = {"type": "haystack.SASEvaluator", "init_parameters": {"inputs": []}}

    assert codes_and_paths("haystack-evaluator", other, "to_dict") == []


def test_names_are_shown_short() -> None:
    """Long names and long lists are cut, with the number of names left out."""
    long = DEFINITION | {"inputs": [["ç" * 50, "list[str]"]]}
    (missing,) = remarks_of("haystack-evaluator", long)
    outputs = {"outputs": list("abcdef"), "examples": [EXAMPLE]}
    (others,) = remarks_of("haystack-evaluator", DEFINITION | outputs)
    examples = [EXAMPLE | {"outputs": {}}]
    (none,) = remarks_of("haystack-evaluator", DEFINITION | {"examples": examples})

    assert missing.message.endswith(f'the declared inputs are "{"ç" * 40}…"')
    assert others.message.endswith(
        'have the keys "score", but the declared outputs '
        'are "a", "b", "c", "d" and 2 more'
    )
    assert "have the keys nothing" in none.message
