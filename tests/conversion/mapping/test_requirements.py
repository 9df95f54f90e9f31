"""Required fields of a target that the source never has, and their constants."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from cases import for_each_case
from fixture_files import valid_files
from harpia_formats import ConversionError, roundtrip
from harpia_formats.plugins import Outcome
from json_lines import jsonl
from required_values import REQUIRED
from unchecked import converted

ASKED = {"prompt": "q", "outputs": []}
ANSWERED = {"prompt": "q", "outputs": [{"text": "a"}]}
RUN = {"outputs.scores.evaluation_id": "e", "outputs.scores.evaluation_name": "n"}


def error_of(source: str, target: str, **options: Any) -> str:
    """Return why a file of a format cannot become another one, "" if it can."""
    try:
        converted(valid_files(source)[0], to=target, from_=source, **options)
    except ConversionError as error:
        return str(error)
    return ""


NAMES = ("evaluation_id", "evaluation_name")
OPTIONS = ('"model_id": VALUE', '"evaluation_name": VALUE', 'score="em" or score="f1"')


@pytest.mark.parametrize(
    ("source", "target", "missing"),
    [
        ("nemo-input", "nemo-output", ["response"]),
        ("nemo-input", "harpia", ["actual-output"]),
        ("harpia", "tencent-outputs", ["model_outputs.model_name"]),
        ("nemo-output", "eee@0.2.0", [*NAMES, "evaluation.score"]),
        ("harpia", "eee@0.2.0", ['constants={"evaluation_id": VALUE', *OPTIONS]),
    ],
)
def test_missing_fields_are_named(source: str, target: str, missing: list[str]) -> None:
    """One sentence names the format, all missing fields and the options for them."""
    message = error_of(source, target)

    assert message.startswith(f"{target} needs ")
    assert all(each in message for each in missing)
    assert "\n" not in message


@pytest.mark.parametrize("target", ["tencent-csv", "tencent-manual"])
def test_the_end_of_a_chat_is_enough_where_it_has_the_place_of_a_reference(
    target: str,
) -> None:
    """A format without references is written as one whose place is for both."""
    question, answer = ({"role": r, "content": r} for r in ("user", "assistant"))
    rows = jsonl({"messages": [question, answer]})
    output, _ = converted(rows, to=target, from_="openai-chat")

    assert b"assistant" in output


def test_given_fields_are_not_missing() -> None:
    """Fields given by constants and a metric are not missing."""
    values = {"outputs.scores.value": 1, "outputs.scores.is_correct": True}
    message = error_of("nemo-output", "eee@0.2.0", constants=RUN)

    assert not error_of("nemo-output", "eee@0.2.0", constants=RUN, score="em")
    assert not error_of("nemo-output", "eee@0.2.0", constants=RUN | values)
    assert "evaluation_id" not in message
    assert 'score="em"' in message


def completed(target: str, constants: Mapping[str, Any]) -> set[str]:
    """Return the paths of the fields that constants give to a record without any."""
    row: dict[str, Any] = {"outputs": [{"scores": [{}]}]}
    _, report = converted(jsonl(row), to=target, from_="record", constants=constants)
    counts = report.losses[0].losses.counts
    return {
        each.path
        for each in counts
        if each.outcome is Outcome.DEFAULTED and each.how == "`--set`"
    }


@for_each_case(
    "name, target, path, value",
    [
        ("llm_name", "nemo-output", "outputs.model", "m"),
        ("model_id", "eee@0.2.0", "outputs.model", "m"),
        ("evaluation.score", "eee@0.2.0", "outputs.scores.value", 1),
        ("score", "eee@0.2.0", "outputs.scores.value", 1),
        ("is_correct", "eee@0.2.0", "outputs.scores.is_correct", True),
        ("ideal_response", "nemo-input", "references", ["r"]),
        ("prompt", "haystack", "prompt", "q"),
        ("model", "record", "outputs.model", "m"),
        ("response", "record", "outputs.text", "a"),
        ("metadata.level", "record", "metadata.level", 1),
        ("params.top_p", "record", "params.top_p", 1),
    ],
)
def test_a_field_has_several_names(
    name: str, target: str, path: str, value: Any
) -> None:
    """A field is named as the format names it, by its path or the end of that."""
    others = {key: each for key, each in REQUIRED.items() if key != path}

    assert path not in completed(target, others)
    assert path in completed(target, others | {name: value})


@for_each_case(
    "name, target", [("outputs.index", "harpia"), ("params.top_p", "nemo-input")]
)
def test_field_without_a_place_can_be_given(name: str, target: str) -> None:
    """A field that the target has no place for is known, and is not written."""
    assert name not in completed(target, REQUIRED | {name: "1"})


@for_each_case(
    "path, given, value",
    [
        ("prompt", "1", "1"),
        ("prompt", '"x"', '"x"'),
        ("id", "7", "7"),
        ("outputs.index", "2", 2),
        ("outputs.scores.value", "0.5", 0.5),
        ("outputs.scores.value", "true", True),
        ("outputs.scores.is_correct", "false", False),
        ("references", "only", ["only"]),
        ("references", "1", ["1"]),
        ("references", '["a", "b"]', ["a", "b"]),
        ("references", ["a"], ["a"]),
        ("metadata.x", "null", None),
        ("metadata.x", "word", "word"),
        ("outputs.attribution", "[]", []),
        ("outputs.error", "null", "null"),
    ],
)
def test_values_are_read_by_the_type_of_the_field(
    path: str, given: Any, value: Any
) -> None:
    """A value for a text field stays text, and is read as JSON for other fields."""
    row = jsonl({"outputs": [{"model": "m"}]})
    written, _ = converted(row, to="record", from_="record", constants={path: given})
    found = json.loads(written)
    for name in path.split("."):
        found = found[0][name] if isinstance(found, list) else found[name]

    assert (found, type(found)) == (value, type(value))


@for_each_case(
    "given, metadata",
    [
        ({"metadata": '{"a": 1}', "metadata.b": 2}, {"a": 1, "b": 2}),
        ({"metadata.b": 2, "metadata": '{"a": 1}'}, {"a": 1, "b": 2}),
        ({"metadata.": 2}, {"": 2}),
    ],
)
def test_an_object_and_its_members_are_set(
    given: dict[str, Any], metadata: dict[str, Any]
) -> None:
    """Members are added to an object in any order, also one with an empty name."""
    data = jsonl(ASKED)
    written, _ = converted(data, to="record", from_="record", constants=given)

    assert json.loads(written)["metadata"] == metadata


def test_a_field_is_set_by_one_of_its_names() -> None:
    """Two names of one field are an error, of which one would be passed over."""
    given = {"response": "a", "outputs.text": "b"}

    with pytest.raises(ConversionError, match=r"^outputs\.text: .* by another name$"):
        converted(jsonl(ASKED), to="record", from_="record", constants=given)
    with pytest.raises(ConversionError, match=r"^outputs\.text: .* by another name$"):
        roundtrip(jsonl(ASKED), format="record", via="nemo-output", set=given)

    given = {"model_outputs.model_name": "m", "model_id": "n"}
    file, via = valid_files("eee@0.3.0")[0], "tencent-outputs"
    with pytest.raises(ConversionError, match=r"^model_id: .* by another name$"):
        roundtrip(file, format="eee@0.3.0", via=via, set=given)


@for_each_case(
    "name, given, words",
    [
        ("outputs.index", "x", "number"),
        ("outputs.index", "1.5", "number"),
        ("outputs.scores.is_correct", "yes", "true or false"),
        ("metadata", "[]", "an object in JSON"),
        ("prompt", 1, "text"),
        ("references", [1], "a list in JSON"),
        ("outputs.turns", '["x"]', "a list in JSON"),
        ("outputs.txt", "x", "no field is called 'outputs.txt'"),
    ],
)
def test_values_of_another_kind_are_refused(name: str, given: Any, words: str) -> None:
    """A value that the field cannot hold is an error that says what it holds."""
    with pytest.raises(ConversionError, match=words):
        converted(jsonl(ASKED), to="record", from_="record", constants={name: given})


@pytest.mark.parametrize("target", ["nemo-output", "nemo"])
def test_unknown_fields_suggest_the_nearest(target: str) -> None:
    """An unknown field is reported with the nearest one, or with all.

    A field of answers can be given before it is known whether there are any.
    """
    data = jsonl(ANSWERED | {"references": ["r"]})
    with pytest.raises(ConversionError, match="did you mean llm_name"):
        converted(data, to=target, from_="record", constants={"llm_nam": "x"})
    with pytest.raises(ConversionError, match=r"known: .*llm_name"):
        converted(data, to=target, from_="record", constants={"zzzzzzzz": "x"})
    output, _ = converted(data, to=target, from_="record", constants={"llm_name": "x"})

    assert b'"llm_name":"x"' in output


@for_each_case(
    "name, asked, answered",
    [
        ("nemo", "nemo-input", "nemo-output"),
        ("tencent", "tencent-messages", "tencent-outputs"),
        ("eee", "eee@0.2.0", "eee@0.2.0"),
        # A version that has the shape of another one can be written by its name.
        ("eee@0.2.2", "eee@0.3.0", "eee@0.3.0"),
    ],
)
def test_answers_choose_the_format_of_a_family(
    name: str, asked: str, answered: str
) -> None:
    """A family name means its format with answers if the records have any."""
    own = ("prompt", "outputs.text", "params.model")
    given = {path: REQUIRED[path] for path in REQUIRED if path not in own}
    for row, target in ((ASKED, asked), (ANSWERED, answered)):
        more = {} if row["outputs"] or target[:3] != "eee" else {"outputs.text": "a"}
        constants = given | more
        _, report = converted(jsonl(row), to=name, from_="record", constants=constants)

        assert (report.target, report.written) == (target, True)


@pytest.mark.parametrize("name", ["nemo-config", "haystack-run", "eee-aggregate"])
def test_documents_are_no_targets(name: str) -> None:
    """A format without records is refused, with those that have some."""
    with pytest.raises(ConversionError, match=r"is a document.*harpia"):
        converted(jsonl(ASKED), to=name, from_="record")
