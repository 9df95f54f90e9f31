"""The judge without a server: definition, prompts, replies, cache and budget."""

import asyncio
import errno
import io
import itertools
import json
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import LLMJudge
from harpia_formats.evaluation.llm_judge import (
    CacheError,
    DefinitionError,
    InputError,
    JudgeError,
    RowError,
)
from harpia_formats.evaluation.llm_judge.endpoint import (
    ApiKey,
    Budget,
    BudgetExhausted,
    Endpoint,
    NoReplyError,
    Reply,
    api_key_from,
    endpoint_of,
    tokens_in,
)
from harpia_formats.evaluation.llm_judge.judge import DaemonThreads, with_bar
from harpia_formats.evaluation.llm_judge.judge_definition import Definition, Template
from harpia_formats.evaluation.llm_judge.judge_files import VerdictFormat, written
from harpia_formats.evaluation.llm_judge.reply_cache import (
    ReplyCache,
    request_key,
)
from harpia_formats.evaluation.llm_judge.verdicts import (
    JudgeRow,
    OutputField,
    ReplyError,
    Verdict,
    output_field,
    values_in,
)

EXAMPLE = {"inputs": {"responses": "maçã"}, "outputs": {"score": 1}}
MADE: dict[str, Any] = {
    "instructions": "Is it rude?",
    "inputs": [("responses", list[str])],
    "outputs": ["score"],
    "examples": [EXAMPLE],
    "progress_bar": False,
}
LLM = "haystack.components.evaluators.llm_evaluator.LLMEvaluator"
GENERATOR = "haystack.components.generators.chat.openai.OpenAIChatGenerator"


class Model:
    """Replies in turn with what it was given, which may be an exception."""

    def __init__(self, *replies: Any, tokens: int = 0) -> None:
        self.replies = replies or ('{"score": 1}',)
        self.meta: dict[str, Any] = {}
        if tokens:
            self.meta["usage"] = {"total_tokens": tokens}
        self.prompts: list[str] = []
        self.lock = threading.Lock()

    def __call__(self, prompt: str, budget: Budget) -> Reply:
        """Reply to a prompt."""
        budget.count_request()
        with self.lock:
            reply = self.replies[len(self.prompts) % len(self.replies)]
            self.prompts.append(prompt)
        if isinstance(reply, Exception):
            raise reply
        return Reply(reply, self.meta)


def judge(*replies: Any, **others: Any) -> LLMJudge:
    """Return a judge whose model replies so."""
    return LLMJudge(**{**MADE, "ask": Model(*replies), **others})


def dumped(**parameters: Any) -> dict[str, Any]:
    """Return what Haystack dumps of an evaluator."""
    usual = {**MADE, "inputs": [["responses", "list[str]"]], **parameters}
    return {"type": LLM, "init_parameters": usual}


# What a judge is made from


@for_each_case(
    "name, wrong, message",
    [
        ("inputs", {("responses", list[str])}, "inputs must be a list"),
        ("inputs", [["responses", list[str]]], "each input must be a tuple"),
        ("inputs", [(list[str], "responses")], "each input must be a tuple"),
        ("inputs", [("responses", list)], "bare list"),
        ("inputs", [("responses",)], "each input must be a tuple"),
        ("inputs", [list[str]], "each input must be a tuple"),
        ("outputs", "score", "outputs must be a list"),
        ("outputs", [["score"]], "neither"),
        ("examples", EXAMPLE, "examples must be a list"),
        ("examples", None, "examples must be a list"),
        ("examples", [[EXAMPLE]], "example 1 is no object"),
        ("examples", [{**EXAMPLE, "more": {}}], "`inputs` and `outputs`"),
        ("examples", [{"inputs": [], "outputs": {}}], "must be an object"),
        ("examples", [{"inputs": {1: "a"}, "outputs": {}}], "must be text"),
        ("examples", [{"inputs": {"a": {1}}, "outputs": {}}], "not JSON"),
        ("instructions", 5, "must be text"),
        ("instructions", "{% if x %}", "more than a name"),
        ("instructions", "a {# b", "without an end"),
        ("inputs", [("my r", list[str])], "cannot stand in a template"),
        ("inputs", [("not", list[str])], "cannot stand in a template"),
        ("progress_bar", "no", "true or false"),
        ("api_params", [], "an object"),
        ("api_params", {"modle": "m"}, "did you mean model"),
        ("api_params", {"model": 5}, "must be text"),
        ("api_params", {"timeout": -1}, "0 or more"),
        ("api_params", {"timeout": 0}, "must be above 0"),
        ("api_params", {"api_base_url": "nowhere"}, "an address"),
        ("api_params", {"api_base_url": "http://[::1"}, "an address"),
        ("api_params", {"api_base_url": "https://me:pw@host/v1"}, "no user"),
        ("api_params", {"generation_kwargs": {"stream": True}}, "stream"),
        ("api_params", {"generation_kwargs": {"extra_body": "a"}}, "extra_body"),
        (
            "api_params",
            {"generation_kwargs": {"extra_body": {"messages": []}}},
            "messages cannot be set",
        ),
        ("api_key_env", "sk-abc", "not the key itself"),
        ("api_key_env", [], "name of a variable"),
        ("concurrency", 0, "1 or more"),
        ("max_tokens", -1, "0 or more"),
    ],
)
def test_wrong_parameters_of_a_judge_are_refused(
    name: str, wrong: Any, message: str
) -> None:
    """Parameters that Haystack refuses are refused with the reason."""
    with pytest.raises(ValueError, match=message) as caught:
        judge(**{name: wrong})

    assert isinstance(caught.value, DefinitionError)
    assert "sk-abc" not in str(caught.value)


def test_everything_that_haystack_accepts_is_accepted() -> None:
    """Missing outputs or examples, integer keys and types that are no lists pass."""
    nested = {"inputs": {"a": {1: 2}}, "outputs": {}}
    made = judge(inputs=[("r", str), ("r", str)], outputs=[], examples=[nested])

    assert made.definition.names == ("r", "r")


def test_keys_that_are_no_texts_have_one_signature_in_any_order(tmp_path: Path) -> None:
    """Keys that are numbers and texts, as YAML has, are a definition as others are."""
    both = ({5: 1, "6": 2}, {"6": 2, 5: 1})
    made = [
        judge(
            api_params={"generation_kwargs": {"logit_bias": biases}},
            examples=[{"inputs": {"a": biases}, "outputs": {}}],
            cache=tmp_path / "cache",
        )
        for biases in both
    ]

    assert made[0].signature == made[1].signature
    assert made[0].run(responses=["a"])["results"] == [{"score": 1}]


@for_each_case(
    "output, message",
    [
        ({"name": "s", "tpye": "number"}, "did you mean type"),
        ({"type": "number"}, "needs a name"),
        ({"name": "s", "type": "float"}, "must be one of"),
        ({"name": "s", "type": ["number"]}, "must be one of"),
        ({"name": "s", "type": "string", "minimum": 1}, "no range"),
        ({"name": "s", "minimum": "0"}, "must be numbers"),
        ({"name": "s", "minimum": True}, "must be numbers"),
        ({"name": "s", "minimum": 2, "maximum": 1}, "above its maximum"),
        ({"name": "s", "choices": []}, "must be a list"),
        ({"name": "s", "choices": [[]]}, "each choice"),
        ({"name": "s", "choices": [1], "type": "number"}, "neither a type"),
    ],
)
def test_unclear_outputs_are_refused(output: Any, message: str) -> None:
    """A typed output that is unclear is refused when the judge is made."""
    with pytest.raises(DefinitionError, match=message):
        output_field(output)


@for_each_case(
    "output, words, good, bad",
    [
        (
            {"type": "number", "minimum": 0, "maximum": 1},
            "a number from 0 to 1",
            [0, 0.5, 1],
            [-1, 1.5, "1", True, None, float("nan"), 10**400],
        ),
        ({"type": "integer"}, "an integer", [0, 10**400], [0.5, "0", False]),
        ({"minimum": 1}, "a number, at least 1", [1], [0]),
        ({"maximum": 1}, "a number, at most 1", [1], [2]),
        ({"type": "string"}, "a string", ["", "a"], [1, None]),
        ({"type": "boolean"}, "a boolean", [True], [1, "true"]),
        ({"type": "array"}, "an array", [[]], [{}]),
        ({"choices": ["yes", 1]}, 'one of "yes", 1', ["yes", 1, 1.0], ["no", True]),
        ({}, "a number", [None, {}, "anything"], []),
    ],
)
def test_values_are_checked_against_the_declared_type(
    output: dict[str, Any], words: str, good: list[Any], bad: list[Any]
) -> None:
    """A value that does not fit its declared output type gives an error."""
    declared = output_field({"name": "s", **output})

    assert declared.value_description == words
    assert [declared.checked(each) for each in good] == good
    for each in bad:
        with pytest.raises(ReplyError, match=f"s is not {words}"):
            declared.checked(each)


# Definitions in files


def test_yaml_values_stay_text(tmp_path: Path) -> None:
    """In YAML, yes, no and dates are texts, and an input may be a name alone."""
    path = tmp_path / "judge.yaml"
    path.write_text(
        "instructions: Olá\ninputs: [responses]\n"
        "outputs:\n- {name: verdict, choices: [yes, no, 2024-01-01, true]}\n"
        "examples: []\nprogress_bar: false\n"
    )
    made = LLMJudge.from_definition(path).definition

    assert made.outputs[0].choices == ("yes", "no", "2024-01-01", True)
    assert (made.names, made.progress_bar) == (("responses",), False)


def test_numbers_of_yaml_are_those_of_its_version_1_2(tmp_path: Path) -> None:
    """12:30 and 1_000 are texts, and 010 is ten."""
    path = tmp_path / "judge.yaml"
    values = "12:30, 010, -010, 1_000, 0x1F, 0o17, 0b1, 1e3, .5, 1., ="
    expected = ["12:30", 10, -10, "1_000", 31, 15, "0b1", 1000, 0.5, 1, "="]
    path.write_text(
        "instructions: a\ninputs: [responses]\n"
        f"outputs: [{{name: verdict, choices: [{values}]}}]\nexamples: []\n"
    )
    (output,) = LLMJudge.from_definition(path).definition.outputs

    assert list(output.choices) == expected


def test_own_keys_of_yaml_replace_merged_ones(tmp_path: Path) -> None:
    """An object that merges another one has its own value where both have a key."""
    path = tmp_path / "judge.yaml"
    path.write_text(
        "instructions: a\ninputs: [responses]\nexamples: []\noutputs:\n"
        "- &a {name: a, type: number, minimum: 0}\n"
        "- &b {name: b, <<: *a, maximum: 1}\n- {<<: *b, name: c, minimum: -1}\n"
    )
    outputs = LLMJudge.from_definition(path).definition.outputs

    assert [(one.name, one.minimum, one.maximum) for one in outputs] == [
        ("a", 0, None),
        ("b", 0, 1),
        ("c", -1, 1),
    ]


@for_each_case(
    "name, text, message",
    [
        ("a.yaml", "a: 1\na: 2\n", "twice"),
        ("a.yaml", "a: &a {b: 1}\nc: {<<: *a, d: 1, d: 2}\n", "twice"),
        ("a.yaml", "a: [", "not YAML"),
        ("a.yaml", "? [a]\n: 1\n", "not text"),
        ("a.yaml", "- 1\n", "must be an object"),
        ("a.yaml", "!!python/object/apply:os.getcwd []\n", "not YAML"),
        ("a.yaml", "a: !!int b\n", "'b' is no int"),
        ("a.yaml", "a: !!bool maybe\n", "'maybe' is no bool"),
        ("a.yaml", "a: !!timestamp b\n", "not YAML"),
        ("a.yaml", 'a: "\\UFFFFFFFF"\n', "not YAML"),
        ("a.yaml", f"a: 0x{'f' * 9000}\n", "too many digits"),
        ("a.json", f'{{"a": {"9" * 9000}}}', "too many digits"),
        ("a.yaml", "instructions: a\n", "lacks inputs, outputs, examples"),
        ("a.yaml", "instruction: a\n", "did you mean instructions"),
        ("a.json", json.dumps({**MADE, "inputs": 5}), "inputs must be a list"),
        ("a.json", "{", "not JSON"),
        ("a.json", '{"a": 1, "a": 2}', "twice"),
        ("a.json", "[" * 100_000, "too deep"),
        ("a.json", "{}", "lacks instructions"),
        ("a.json", "\ud800", "not UTF-8"),
        ("a.json", " " * 4_000_001, "too large"),
    ],
)
def test_a_file_that_is_no_definition_is_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    """A file that no judge can be made from is named, with what is wrong in it."""
    path = tmp_path / name
    path.write_bytes(text.encode(errors="surrogatepass"))

    with pytest.raises(DefinitionError, match=message) as caught:
        LLMJudge.from_definition(path)

    assert str(path) in str(caught.value)


def test_missing_definition_file_is_an_error(tmp_path: Path) -> None:
    """The error for a definition that cannot be read names the file."""
    with pytest.raises(DefinitionError, match=r"nowhere\.yaml: No such file"):
        LLMJudge.from_definition(tmp_path / "nowhere.yaml")


def test_values_that_share_parts_do_not_grow(tmp_path: Path) -> None:
    """Anchors that make billions of values out of a few lines are refused."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    path = tmp_path / "a.yaml"
    path.write_text("\n".join(lines))

    with pytest.raises(DefinitionError, match="far too many"):
        LLMJudge.from_definition(path)


@for_each_case(
    "document",
    [
        dumped(),
        {"judge": dumped(), "sas": {"type": "SASEvaluator", "init_parameters": {}}},
        {"components": {"judge": dumped()}, "connections": []},
        {"judge": dumped()["init_parameters"]},
        dumped(api="openai", api_key=None, api_params=None, chat_generator=None),
    ],
)
def test_dumps_of_haystack_are_read(document: dict[str, Any]) -> None:
    """A dumped evaluator, several by name, and a pipeline make the same judge."""
    made = LLMJudge.from_definition(document).definition

    assert (made.instructions, made.names) == ("Is it rude?", ("responses",))
    assert made.endpoint == Endpoint()


def test_one_of_several_definitions_is_chosen() -> None:
    """Where there are several evaluators, one is named, and only one that is there."""
    both = {"a": dumped(), "b": dumped(instructions="B?")}
    chosen = LLMJudge.from_definition(both, component="b").definition

    assert chosen.instructions == "B?"
    with pytest.raises(DefinitionError, match="several definitions, a, b"):
        LLMJudge.from_definition(both)
    with pytest.raises(DefinitionError, match="no definition called 'c'"):
        LLMJudge.from_definition(both, component="c")


def test_old_parameters_and_generators_say_what_to_ask() -> None:
    """api_params add to the JSON mode, a chat_generator's parameters replace it."""
    secret = {"type": "env_var", "env_vars": ["A", "B"], "strict": True}
    kwargs = {"temperature": 0}
    params = {"model": "m", "api_base_url": "http://h/v1", "generation_kwargs": kwargs}
    old = dumped(api="openai", api_key=secret, api_params=params)
    inner = {**params, "api_key": secret, "timeout": None, "tools": None}
    new = dumped(chat_generator={"type": GENERATOR, "init_parameters": inner})
    by_params, by_generator = (
        LLMJudge.from_definition(each).definition for each in (old, new)
    )

    for each in (by_params, by_generator):
        assert (each.endpoint.model, each.endpoint.url) == ("m", "http://h/v1")
        assert each.key_variables == ("A", "B")
    assert by_params.endpoint.params == {**Endpoint().params, **kwargs}
    assert by_generator.endpoint.params == kwargs


@for_each_case(
    "parameters, message",
    [
        ({"api": "llama_cpp"}, "only OpenAI"),
        ({"chat_generator": {"type": "x.HuggingFaceChatGenerator"}}, "HuggingFace"),
        (
            {"chat_generator": {"type": GENERATOR, "init_parameters": {"tools": [1]}}},
            "has tools",
        ),
        ({"api_key": {"type": "token", "token": "sk-1"}}, "must not hold a key"),
        ({"api_key": "sk-1"}, "must not hold a key"),
        ({"other": 1}, "has no 'other'"),
    ],
)
def test_unsupported_dumps_are_refused(
    parameters: dict[str, Any], message: str
) -> None:
    """Unsupported services, tools and keys in a dump are refused; no key is shown."""
    with pytest.raises(DefinitionError, match=message) as caught:
        LLMJudge.from_definition(dumped(**parameters))

    assert "sk-1" not in str(caught.value)


KEYS = (
    "instructions inputs outputs examples api api_key api_params api_key_env model "
    "name chat_generator init_parameters type components generation_kwargs choices "
    "minimum judge raise_on_failure timeout extra_body env_vars"
).split()
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
JSON = st.recursive(
    LEAVES | st.sampled_from([LLM, GENERATOR, "openai", "http://h", "number"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4), st.booleans())
def test_no_document_makes_it_fail(parts: dict[str, Any], is_dumped: bool) -> None:
    """Any document is a definition, or an error that says why it is none."""
    document = (
        dumped(**parts) if is_dumped else {**dumped()["init_parameters"], **parts}
    )
    try:
        made = LLMJudge.from_definition(document).definition.instructions
    except DefinitionError as error:
        made = str(error)

    assert isinstance(made, str)


def test_yaml_without_pyyaml_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading YAML without pyyaml is an error that names the extra to install."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    (tmp_path / "a.yaml").write_text("a: 1")

    with pytest.raises(DefinitionError, match=r"harpia-formats\[judge\]"):
        LLMJudge.from_definition(tmp_path / "a.yaml")


def test_the_address_may_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As for the openai client, OPENAI_BASE_URL is the address if none is given."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://here/v1/")

    assert endpoint_of({}).url == "http://here/v1"
    assert endpoint_of({"api_base_url": "http://there/v1"}).url == "http://there/v1"


# Prompts


def template_of(
    instructions: str,
    names: list[str],
    outputs: list[OutputField] | None = None,
    examples: list[dict[str, Any]] | None = None,
    secret: bytes = b"",
) -> Template:
    """Return the template of a definition."""
    parts = tuple(names), tuple(outputs or ()), tuple(examples or ())
    return Definition(instructions, *parts, Endpoint()).template(secret)


def test_the_prompt_is_that_of_haystack() -> None:
    """The prompt for two examples is the text that Haystack 3.4 sends."""
    outputs = [OutputField("s"), OutputField("t")]
    examples = [
        {"inputs": {"r": "maçã"}, "outputs": {"s": 1}},
        {"inputs": {"r": "b"}, "outputs": {"s": 0}},
    ]
    template = template_of("a\r\nb {{ r }} {# c #}", ["r", "c"], outputs, examples)

    assert template.prompt({"r": "x\n{{ y }}", "c": ["a", None]}) == (
        "Instructions:\na\nb x\n{{ y }} \n\n"
        "Generate the response in JSON format with the following keys:\n"
        '["s", "t"]\n'
        "Consider the instructions and the examples below to determine those values."
        "\n\nExamples:\n"
        'Inputs:\n{"r": "ma\\u00e7\\u00e3"}\nOutputs:\n{"s": 1}\n'
        'Inputs:\n{"r": "b"}\nOutputs:\n{"s": 0}\n\n'
        'Inputs:\n{"r": x\n{{ y }}, "c": [\'a\', None]}\nOutputs:'
    )


def test_braces_can_be_written() -> None:
    """A quoted text in double braces is that text, as in Jinja."""
    template = template_of("{{ '{{' }} and {{ \"a\" }}", ["r"])

    assert "Instructions:\n{{ and a\n" in template.prompt({"r": "x"})


def test_unknown_variable_in_instructions_is_an_error() -> None:
    """A variable in double braces that is no input is an error before any request."""
    model = Model()
    asking = judge(ask=model, instructions="{{ other }}?")

    with pytest.raises(InputError, match="other"):
        asking.run(responses=["a"])
    assert asking.run(responses=["a"], other=["b"])["results"] == [{"score": 1}]
    assert "Instructions:\nb?" in model.prompts[0]


def test_prompt_describes_typed_outputs() -> None:
    """The prompt lists the allowed values of typed outputs below the keys."""
    typed = OutputField("s", "number", 0, 1)
    prompt = template_of("a", ["r"], [typed]).prompt({"r": "x"})

    assert '["s"]\ns: a number from 0 to 1\nConsider' in prompt


TEXTS = st.text() | st.sampled_from(
    ["</data-", "<data-00000000000000000000000000000000 r>", "{{ r }}", '{"score": 1}']
)


@given(TEXTS, TEXTS, st.binary(min_size=32, max_size=32))
def test_data_cannot_close_its_marks(first: str, second: str, secret: bytes) -> None:
    """Any data stands between marks that do not occur in it."""
    template = template_of("Judge.", ["a", "b"], [OutputField("s")], secret=secret)
    prompt = template.prompt({"a": first, "b": second})
    nonce = prompt.partition("<data-")[2][:32]
    data = prompt.partition("\nInputs:\n<data-")[2]

    assert nonce not in first + second
    assert data == (
        f"{nonce} a>\n{first}\n</data-{nonce}>\n"
        f"<data-{nonce} b>\n{second}\n</data-{nonce}>\nOutputs:"
    )
    assert template.prompt({"b": second, "a": first}) == prompt


def test_marks_depend_on_a_secret_and_on_the_data() -> None:
    """The marks around data are equal only if the data and the secret are equal."""

    def prompt(secret: bytes, text: str) -> str:
        template = template_of("{{ r }}", ["r"], secret=secret)
        return template.prompt({"r": text})

    def nonce(secret: bytes, text: str) -> str:
        return prompt(secret, text).partition("<data-")[2][:32]

    assert len({nonce(b"1", "a"), nonce(b"1", "a")}) == 1
    assert len({nonce(b"1", "a"), nonce(b"1", "b"), nonce(b"2", "a")}) == 3
    assert prompt(b"1", "a").count(f"<data-{nonce(b'1', 'a')} r>\na\n</data") == 2
    assert "\n[1, null]\n" in template_of("", ["r"], secret=b"1").prompt(
        {"r": [1, None]}
    )


# Replies

SCORE = [OutputField("score")]


@for_each_case(
    "text",
    [
        ' \n{"score": 1}\u2003',
        '{"score": 1, "why": "x"}',
        '{"score": NaN}',
        '{"score": null}',
        '{"score": 0, "score": 1}',
        '{"score": 1e400}',
        '{"score": "\\ud800"}',
    ],
)
def test_lenient_reading_accepts_more_replies(text: str) -> None:
    """Extra or repeated keys, NaN, null and infinity pass only if not strict."""
    assert "score" in values_in(text, SCORE, strict=False)
    with pytest.raises(ReplyError):
        values_in(text, SCORE, strict=True)


@pytest.mark.parametrize("strict", [False, True])
def test_white_space_around_a_reply_does_not_matter(strict: bool) -> None:
    """An object with the keys that were asked for is a verdict."""
    assert values_in(' \n{"score": 0.5}\r\n', SCORE, strict=strict) == {"score": 0.5}


@for_each_case(
    "strict, text",
    itertools.product(
        [False, True],
        [
            '```json\n{"score": 0.5}\n```',
            '\n```\n{"score": 0.5}\n```\n',
            '```JSON\r\n{"score": 0.5}\r\n```',
        ],
    ),
)
def test_fence_around_a_reply_does_not_matter(text: str, strict: bool) -> None:
    """A reply that is one block of Markdown is read as what the block holds."""
    assert values_in(text, SCORE, strict=strict) == {"score": 0.5}


@for_each_case(
    "field, text, expected",
    [
        (OutputField("n", "integer", 1, 5), "4.0", 4),
        (OutputField("n", "integer"), "4e0", 4),
        (OutputField("n", choices=(1, 2, 3, 4)), "4.0", 4),
        (OutputField("n", "number"), "4.0", 4.0),
        (OutputField("n", "integer"), "4.5", None),
        (OutputField("n", "integer", 1, 5), "6.0", None),
        (OutputField("n", "integer"), "true", None),
        (OutputField("n", choices=(1, 2)), "true", None),
    ],
    ids=str,
)
def test_whole_number_is_an_integer(
    field: OutputField, text: str, expected: float | None
) -> None:
    """4.0 is the integer 4, also as a choice; 4.5 and true are none."""
    reply = f'{{"n": {text}}}'
    if expected is None:
        with pytest.raises(ReplyError, match="n is not"):
            values_in(reply, [field], strict=True)
        return
    found = values_in(reply, [field], strict=True)["n"]

    assert (found, type(found)) == (expected, type(expected))


@for_each_case(
    "strict, text, message",
    [
        (one, *two)
        for one, two in itertools.product(
            [False, True],
            [
                (None, "no text"),
                ("", "not JSON"),
                ("```json\n{}\n```", "Missing expected keys"),
                ('```\n{"score": 1}\n```\n```\n{"score": 0}\n```', "not JSON"),
                ('So:\n```json\n{"score": 1}\n```', "not JSON"),
                ("\ufeff{}", "not JSON"),
                ('{"score": 1} {"score": 0}', "not JSON"),
                ("I think 1", "not JSON"),
                ("[1]", "Expected a JSON object but got list"),
                ('"1"', "got str"),
                ("1", "got int"),
                ('{"scor": 1}', "Missing expected keys"),
                ("[" * 100_000, "not JSON"),
                ('{"score": ' + "[" * 200 + "]" * 200 + "}", "deeper"),
                ('{"score": ' + "1" * 5_000 + "}", "not JSON"),
            ],
        )
    ],
    ids=str,
)
def test_reply_without_a_verdict_is_an_error(
    text: Any, message: str, strict: bool
) -> None:
    """A reply that is no object with the requested keys is an error with a reason."""
    with pytest.raises(ReplyError, match=message):
        values_in(text, SCORE, strict=strict)


def test_without_outputs_any_object_will_do() -> None:
    """A definition without outputs takes any object, as in Haystack."""
    assert values_in('{"a": null}', [], strict=True) == {"a": None}
    assert values_in(
        '{"a": null}', [OutputField("a", choices=(None,))], strict=True
    ) == {"a": None}


@given(st.text() | st.from_regex(r'\{"score": .*\}', fullmatch=True), st.booleans())
def test_no_reply_makes_it_fail(text: str, strict: bool) -> None:
    """Any text is a verdict or an error with a reason, and nothing else."""
    try:
        found = values_in(text, SCORE, strict=strict)
    except ReplyError as error:
        found = {"score": str(error)}

    assert "score" in found


# Running


def test_run_returns_results_and_metadata() -> None:
    """Each row has a result, and an entry with its metadata."""
    found = judge('{"score": 1}', '{"score": 0}').run(responses=["a", "b"])

    assert found["results"] == [{"score": 1}, {"score": 0}]
    assert found["meta"] == [
        {"row": row, "status": "ok", "attempts": 1, "cached": False, "error": None}
        for row in (1, 2)
    ]


def test_a_run_does_not_wait_for_others() -> None:
    """An async run returns the same."""
    run = judge().run_async(responses=["a"])

    assert asyncio.run(run)["results"] == [{"score": 1}]


def test_a_run_that_is_cancelled_asks_for_nothing_more() -> None:
    """Rows that are not asked when an async run is cancelled are never asked."""
    model, begun, goes_on = Model(), threading.Event(), threading.Event()

    def slow(prompt: str, budget: Budget) -> Reply:
        reply = model(prompt, budget)
        begun.set()
        goes_on.wait(10)
        return reply

    async def cancelled() -> bool:
        running = asyncio.create_task(judge(ask=slow).run_async(responses=["a"] * 9))
        await asyncio.to_thread(begun.wait, 10)
        running.cancel()
        await asyncio.wait([running])
        goes_on.set()
        return running.cancelled()

    assert asyncio.run(cancelled())
    assert len(model.prompts) == 1


def test_no_rows_are_no_results() -> None:
    """Empty lists give no results, and null for the other results."""
    assert judge().run(responses=[]) == {"results": [], "meta": None}


@pytest.mark.parametrize(
    ("given_inputs", "message"),
    [
        ({}, "'responses' is declared"),
        ({"response": ["a"]}, "is it 'response'"),
        ({"responses": "a"}, "must be a list"),
        ({"responses": ("a",)}, "must be a list"),
        ({"responses": ["a"], "other": "b"}, "must be a list"),
        ({"responses": ["a"], "other": []}, "one length: responses has 1, other has 0"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(
    given_inputs: dict[str, Any], message: str
) -> None:
    """Inputs must be lists of one length, all that are declared, whatever the flag."""
    model = Model()

    with pytest.raises(ValueError, match=message) as caught:
        judge(ask=model, raise_on_failure=False).run(**given_inputs)
    assert isinstance(caught.value, InputError)
    assert model.prompts == []


def test_nothing_to_judge_is_an_error() -> None:
    """A run without declared and without given inputs is an error."""
    with pytest.raises(InputError, match="nothing to judge"):
        judge(inputs=[]).run()


FAILURES = pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("nope", "not JSON"),
        ('{"other": 1}', "Missing expected keys"),
        (None, "no text"),
        (NoReplyError("HTTP 500", 3), "no reply: HTTP 500"),
    ],
)


@FAILURES
def test_the_first_failure_ends_a_run(reply: Any, message: str) -> None:
    """With raise_on_failure the first row without a verdict ends the run, named."""
    model = Model('{"score": 1}', reply, '{"score": 1}')

    with pytest.raises(ValueError, match=f"row 2: .*{message}") as caught:
        judge(ask=model).run(responses=["a", "b", "c"])
    assert isinstance(caught.value, RowError)
    assert len(model.prompts) == 2


@FAILURES
def test_a_failure_is_a_null_with_its_reason(reply: Any, message: str) -> None:
    """Without raise_on_failure a failed row is null, and its entry says why."""
    run = judge('{"score": 1}', reply, raise_on_failure=False)
    found = run.run(responses=["a", "b", "c"])

    assert found["results"] == [{"score": 1}, None, {"score": 1}]
    assert [each["status"] for each in found["meta"]] == ["ok", "failed", "ok"]
    assert message in found["meta"][1]["error"]
    assert (run.tally["ok"], run.tally["failed"]) == (2, 1)


def test_verdicts_keep_the_order_of_rows() -> None:
    """Verdicts come in the order of the rows, even if requests run in parallel."""
    turns = threading.Barrier(4, timeout=10)

    def ask(prompt: str, budget: Budget) -> Reply:
        budget.count_request()
        turns.wait()
        number = prompt.rpartition("responses")[2]
        return Reply(json.dumps({"score": "".join(filter(str.isdigit, number))}))

    run = judge(ask=ask, concurrency=4, raise_on_failure=False)
    found = run.run(responses=[str(each) for each in range(40)])

    assert [int(each["score"]) for each in found["results"]] == list(range(40))


# Budget


def test_a_budget_of_requests_ends_asking() -> None:
    """Once the budget is spent nothing more is sent, and the rows left out say so."""
    model = Model()
    run = judge(ask=model, max_requests=2)
    found = run.run(responses=["a", "b", "c", "d"])

    assert [each and each["score"] for each in found["results"]] == [1, 1, None, None]
    assert [each["status"] for each in found["meta"]] == ["ok"] * 2 + ["unasked"] * 2
    assert "2 requests were sent" in found["meta"][3]["error"]
    assert (len(model.prompts), run.tally["unasked"]) == (2, 2)


def test_a_budget_of_tokens_ends_asking() -> None:
    """Asking ends with the reply that uses the tokens up."""
    run = judge(ask=Model(tokens=40), max_tokens=100)
    found = run.run(responses=["a"] * 5)

    assert [each["status"] for each in found["meta"]] == ["ok"] * 3 + ["unasked"] * 2
    assert (run.budget.tokens, run.budget.requests) == (120, 3)


def test_cached_replies_do_not_use_the_budget(tmp_path: Path) -> None:
    """Rows with cached replies are judged even if the budget is spent."""
    cache = tmp_path / "c"
    judge(cache=cache).run(responses=["a"])
    found = judge(cache=cache, max_requests=0).run(responses=["b", "a"])

    assert [each["status"] for each in found["meta"]] == ["unasked", "ok"]


def test_a_cache_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file whose name has a meaning for SQLite keeps replies as others do."""
    monkeypatch.chdir(tmp_path)
    judge(cache=":memory:").run(responses=["a"])
    found = judge(cache=":memory:", max_requests=0).run(responses=["a"])

    assert found["meta"][0]["cached"]
    assert [path.name for path in tmp_path.iterdir()] == [":memory:"]


@for_each_case(
    "usage, tokens",
    [
        ({"total_tokens": 5}, 5),
        ({"prompt_tokens": 2, "completion_tokens": 1}, 3),
        ({"prompt_tokens": None}, 0),
        (None, 0),
        ({"total_tokens": -5}, 0),
    ],
)
def test_tokens_are_those_of_the_endpoint(usage: Any, tokens: int) -> None:
    """The tokens of a reply are its total, else the sum of its parts, else unknown."""
    assert tokens_in({"usage": usage}) == tokens


def test_a_stopped_budget_gives_nothing() -> None:
    """When a run is broken off, no retry is sent."""
    budget = Budget(stopped=True)

    with pytest.raises(BudgetExhausted):
        budget.count_request()


# Cache


def test_equal_prompts_are_asked_once(tmp_path: Path) -> None:
    """With a cache a prompt is sent once, in one run and the next; without, always."""
    model = Model()
    for _ in range(2):
        run = judge(ask=model, cache=tmp_path / "c", concurrency=4)
        found = run.run(responses=["a", "a", "b", "a"])

        assert found["results"] == [{"score": 1}] * 4
    assert len(model.prompts) == 2
    assert all(each["cached"] for each in found["meta"])
    judge(ask=model).run(responses=["a", "a"])
    assert len(model.prompts) == 4


def test_guarded_prompts_are_found_again(tmp_path: Path) -> None:
    """The marks around data are the same whenever a cache is used again."""
    model = Model()
    for cache in ("one", "one", "two"):
        judge(ask=model, guarded=True, cache=tmp_path / cache).run(responses=["a"])

    assert len(model.prompts) == len(set(model.prompts)) == 2


@pytest.mark.parametrize(
    "others",
    [
        {"instructions": "B?"},
        {"api_params": {"model": "m"}},
        {"api_params": {"api_base_url": "http://h/v1"}},
        {"api_params": {"generation_kwargs": {"seed": 1}}},
        {"api_params": {"organization": "o"}},
        {"guarded": True},
    ],
)
def test_all_that_decides_a_reply_is_in_its_key(
    tmp_path: Path, others: dict[str, Any]
) -> None:
    """Another endpoint, model, parameter or prompt is asked for anew."""
    model = Model()
    for each in ({}, others):
        judge(ask=model, cache=tmp_path / "c", **each).run(responses=["a"])

    assert len(model.prompts) == 2


def test_timeouts_do_not_change_the_cache_key() -> None:
    """Time-outs and retries do not make another request."""
    one, other = Endpoint(timeout=1, max_retries=0), Endpoint()

    assert request_key(one, "a") == request_key(other, "a") != request_key(one, "b")


def test_unusable_reply_is_kept_unless_ask_again(tmp_path: Path) -> None:
    """A reply without a verdict is cached; only `ask_again` requests it anew."""
    options: dict[str, Any] = {"cache": tmp_path / "c", "raise_on_failure": False}
    judge("nope", **options).run(responses=["a"])
    model = Model()
    kept = judge(ask=model, **options).run(responses=["a"])["results"]
    again = judge(ask=model, ask_again=True, **options)

    assert (kept, len(model.prompts)) == ([None], 0)
    assert again.run(responses=["a", "a"])["results"] == [{"score": 1}] * 2
    assert len(model.prompts) == 1


def test_metadata_that_is_not_json_is_cached_as_text(tmp_path: Path) -> None:
    """Metadata of a reply that is not JSON is cached as text."""
    model = Model()
    model.meta = {"usage": {"details": Path("a"), (1,): 2}}
    judge(ask=model, cache=tmp_path / "c").run(responses=["a"])
    found = judge(ask=model, cache=tmp_path / "c").run(responses=["a"])

    assert len(model.prompts) == 1
    assert found["meta"][0]["usage"] == {"details": "a"}


def test_prompt_without_reply_is_sent_in_the_next_run(tmp_path: Path) -> None:
    """A prompt without a reply is not in the cache."""
    options: dict[str, Any] = {"cache": tmp_path / "c", "raise_on_failure": False}
    judge(NoReplyError("down", 1), **options).run(responses=["a"])

    assert judge(**options).run(responses=["a"])["results"] == [{"score": 1}]


def other_database(path: Path) -> None:
    """Make a database that is not a cache."""
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE mine (a)")
    base.close()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_bytes(b"text, and not a database"), "not a database"),
        (other_database, "not a cache of this version"),
        (lambda path: path.mkdir(), "unable to open"),
    ],
    ids=["text", "database", "folder"],
)
def test_a_file_that_is_no_cache_stays_as_it_is(
    tmp_path: Path, make: Callable[[Path], Any], message: str
) -> None:
    """Another file is refused as a cache, and not changed."""
    path = tmp_path / "c"
    make(path)
    before = path.read_bytes() if path.is_file() else b""

    with pytest.raises(CacheError, match=message):
        judge(cache=path).run(responses=["a"])
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_broken_cache_is_a_cache_error(tmp_path: Path) -> None:
    """An unreadable cached reply and a failed write both raise CacheError."""
    cache = ReplyCache(tmp_path / "c")
    cache.put(b"a", {"text": "x"})
    base = sqlite3.connect(tmp_path / "c")
    base.execute("UPDATE replies SET reply = '{'")
    base.commit()

    with pytest.raises(CacheError):
        cache.get(b"a")
    base.execute("DROP TABLE replies")
    base.commit()
    base.close()
    with pytest.raises(CacheError):
        cache.put(b"a", {})
    cache.close()
    cache.put(b"a", {})


# The rest


def test_api_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """An API key from a variable is hidden in its repr and redacted in messages."""
    monkeypatch.setenv("MY_KEY", " sk-CANARY\n")
    key = api_key_from(["NOT_SET_ANYWHERE", "MY_KEY"])

    assert (key.text, repr(key)) == ("sk-CANARY", "Key(***)")
    assert (
        key.redacted_message("Bearer sk-CANARY is wrong\n") == r"Bearer *** is wrong\n"
    )
    assert ApiKey("none").redacted_message("none") == "***"
    assert ApiKey("none").redacted("none") == "none"
    assert ApiKey("x").redacted_message("x-ray") == "x-ray"
    with pytest.raises(JudgeError, match="set NOT_SET_ANYWHERE"):
        api_key_from(["NOT_SET_ANYWHERE"])


def test_without_a_key_a_judge_is_made_and_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A judge without a key can be made; it fails when it is warmed up."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = LLMJudge(**MADE)

    with pytest.raises(JudgeError, match="OPENAI_API_KEY"):
        made.warm_up()
    made.close()


def test_without_the_client_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the openai package the error names the extra."""
    monkeypatch.setitem(sys.modules, "openai", None)

    with pytest.raises(JudgeError, match=r"harpia-formats\[judge\]"):
        LLMJudge(**MADE, api_key="k").warm_up()


def test_hanging_threads_do_not_block_a_run() -> None:
    """Stopping waits for a request in progress no longer than its timeout."""
    begun, held = threading.Event(), threading.Event()

    def work() -> bool:
        begun.set()
        return held.wait(10)

    workers = DaemonThreads(1)
    first, second = workers.submit(work), workers.submit(work)
    begun.wait(10)
    workers.stop(0.05)
    held.set()

    assert first.result(5) is True
    assert not second.done()


def test_a_bar_is_shown_on_a_terminal_that_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bar counts rows on a terminal, if it is wanted and the run lasts."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    place = "harpia_formats.evaluation.llm_judge.judge"
    monkeypatch.setattr(f"{place}.PATIENCE", 0)
    monkeypatch.setattr(f"{place}.PICTURES", 0)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    for shown in (False, True):
        judge(progress_bar=shown).run(responses=["a", "b"])
    monkeypatch.setenv("TERM", "dumb")
    judge(progress_bar=True).run(responses=["a"])

    first, second, end = terminal.getvalue().split("\r\x1b[2K")[1:]
    assert first.startswith("judging  ━")
    assert "50 %, 1 of 2 rows, " in first
    assert "100 %, 2 of 2 rows, " in second
    assert end == ""


def test_a_terminal_that_is_gone_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar that cannot be written is not shown."""

    class Gone(io.StringIO):
        def isatty(self) -> bool:
            return True

        def write(self, _: str) -> int:
            raise OSError(errno.EIO, "Input/output error")

    place = "harpia_formats.evaluation.llm_judge.judge"
    monkeypatch.setattr(f"{place}.PATIENCE", 0)
    monkeypatch.setattr(sys, "stderr", Gone())
    monkeypatch.setenv("TERM", "xterm")

    assert list(with_bar("ab", None)) == ["a", "b"]


def test_verdicts_are_written_as_json_has_them() -> None:
    """What JSON does not have is null or an escape, and a run of no rows is a file."""
    values = {"score": [1.5, float("nan"), "\ud800é"], "more": {"\ud800": 2**80}}
    verdicts = [Verdict(JudgeRow({}), values), Verdict(JudgeRow({}), None)]
    texts: tuple[list[bytes], ...] = ([], [])
    for given_verdicts, text in zip((verdicts, []), texts, strict=True):
        assert (
            list(written(given_verdicts, text.append, VerdictFormat.JSON, "judge|m"))
            == given_verdicts
        )
    found, empty = (json.loads(b"".join(text)) for text in texts)

    assert found["results"] == [
        {"score": [1.5, None, "\\ud800é"], "more": {"\\ud800": 2**80}},
        None,
    ]
    assert len(found["meta"]) == 2
    assert "null" in found["meta"][0]["note"]
    assert empty == {"results": [], "meta": None}
