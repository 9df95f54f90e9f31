"""Required fields of a target that the source never has, and their constants."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.api.testing.strategies import records
from harpia_formats.conversion.mapping.field_constants import (
    check_constants,
    constants_by_path,
    parse_constant,
)
from harpia_formats.conversion.mapping.requirements import (
    RowRequirements,
    check_requirements,
    find_field_path,
    fulfilling,
)
from harpia_formats.conversion.output_files import choose_target, targets_named
from harpia_formats.formats.registry import adapter_of, readable_formats
from harpia_formats.model.field_outcomes import Unconvertible
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.record import FIELD_TYPES, Record, field_paths

FORMATS = readable_formats()


def check(source: str, target: str, *given: str, scored: bool = False) -> None:
    """Check what `target` needs that `source` does not have."""
    ours, theirs = FORMATS[source], FORMATS[target]
    check_requirements(
        ours, adapter_of(ours), theirs, adapter_of(theirs), given, scored=scored
    )


@for_each_case("name", FORMATS)
def test_format_fulfils_its_own_requirements(name: str) -> None:
    """Conversions from a format to itself and from our records need no constants."""
    check(name, name)
    check("record", name)
    check(name, "record")


@pytest.mark.parametrize(
    ("source", "target", "missing"),
    [
        ("nemo-input", "nemo-output", ["response"]),
        ("nemo-input", "harpia", ["actual-output"]),
        ("harpia", "tencent-outputs", ["model_outputs.model_name"]),
        (
            "nemo-output",
            "eee@0.2.0",
            ["evaluation_id", "evaluation_name", "evaluation.score"],
        ),
    ],
)
def test_missing_fields_are_named(source: str, target: str, missing: list[str]) -> None:
    """One sentence names the format, all missing fields and the options for them."""
    with pytest.raises(ConversionError) as caught:
        check(source, target)
    message = str(caught.value)

    assert message.startswith(f"{target} needs ")
    assert all(each in message for each in missing)
    assert "\n" not in message


def test_given_fields_are_not_missing() -> None:
    """Fields given by constants and a metric are not missing."""
    run = ("outputs.scores.evaluation_id", "outputs.scores.evaluation_name")
    check("nemo-output", "eee@0.2.0", *run, scored=True)
    values = ("outputs.scores.value", "outputs.scores.is_correct")
    check("nemo-output", "eee@0.2.0", *run, *values)
    with pytest.raises(ConversionError) as caught:
        check("nemo-output", "eee@0.2.0", *run)

    assert "evaluation_id" not in str(caught.value)
    assert "`--score em`" in str(caught.value)


@for_each_case(
    "name, target, path",
    [
        ("llm_name", "nemo-output", "outputs.model"),
        ("model_id", "eee@0.2.0", "outputs.model"),
        ("evaluation.score", "eee@0.2.0", "outputs.scores.value"),
        ("score", "eee@0.2.0", "outputs.scores.value"),
        ("is_correct", "eee@0.2.0", "outputs.scores.is_correct"),
        ("ideal_response", "nemo-input", "references"),
        ("prompt", "haystack", "prompt"),
        ("model", "harpia", "outputs.model"),
        ("response", "record", "outputs.text"),
        ("metadata.level", "record", "metadata.level"),
        ("params.top_p", "nemo-input", "params.top_p"),
        ("nothing", "record", None),
    ],
)
def test_a_field_has_several_names(name: str, target: str, path: str | None) -> None:
    """A field is named as the format names it, by its path or the end of that."""
    assert find_field_path(name, adapter_of(FORMATS[target])) == path


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
    found = parse_constant(path, given)

    assert (found, type(found)) == (value, type(value))


@for_each_case(
    "path, given, words",
    [
        ("outputs.index", "x", "number"),
        ("outputs.index", "1.5", "number"),
        ("outputs.scores.is_correct", "yes", "true or false"),
        ("metadata", "[]", "an object in JSON"),
        ("prompt", 1, "text"),
        ("references", [1], "a list in JSON"),
        ("outputs.turns", '["x"]', "a list in JSON"),
    ],
)
def test_values_of_another_kind_are_refused(path: str, given: Any, words: str) -> None:
    """A value that the field cannot hold is an error that says what it holds."""
    with pytest.raises(ValueError, match=words):
        parse_constant(path, given)


def test_unknown_fields_suggest_the_nearest() -> None:
    """An unknown field is reported with the nearest one, or with all."""
    adapter = adapter_of(FORMATS["nemo-output"])
    with pytest.raises(ConversionError, match="did you mean llm_name"):
        constants_by_path(adapter, {"llm_nam": "x"})
    with pytest.raises(ConversionError, match=r"known: .*llm_name"):
        constants_by_path(adapter, {"zzzzzzzz": "x"})


def test_family_accepts_fields_of_any_of_its_formats() -> None:
    """A field of answers can be given before it is known whether there are any."""
    targets = [adapter_of(target) for target in targets_named("nemo")]
    check_constants(targets, {"llm_name": "m"})
    with pytest.raises(ConversionError, match="did you mean llm_name"):
        check_constants(targets, {"llm_nam": "m"})


def test_answers_choose_the_format_of_a_family() -> None:
    """A family name means its format with answers if the records have any."""
    nemo, tencent = targets_named("nemo"), targets_named("tencent")

    assert choose_target(nemo, answered=True).id == "nemo-output"
    assert choose_target(nemo, answered=False).id == "nemo-input"
    assert choose_target(tencent, answered=True).id == "tencent-outputs"
    assert choose_target(tencent, answered=False).id == "tencent-messages"
    assert choose_target(targets_named("eee"), answered=True).id == "eee@0.2.0"
    assert choose_target(targets_named("eee"), answered=False).id == "eee@0.2.0"


def test_other_labels_of_a_format_are_targets() -> None:
    """A version that has the shape of another one can be written by its name."""
    assert [each.id for each in targets_named("eee@0.2.2")] == ["eee@0.3.0"]


@pytest.mark.parametrize("name", ["nemo-config", "haystack-run", "eee-aggregate"])
def test_documents_are_no_targets(name: str) -> None:
    """A format without records is refused, with those that have some."""
    with pytest.raises(ConversionError, match=r"is a document.*harpia"):
        targets_named(name)


@given(record=records(), names=st.sets(st.sampled_from([*FIELD_TYPES, "outputs"])))
@settings(suppress_health_check=list(HealthCheck), deadline=None)
def test_requirements_are_fulfilled_by_the_paths_of_a_record(
    record: Record, names: set[str]
) -> None:
    """A record is refused if and only if its paths lack what is required."""
    alone = [RowRequirements(((name, name),)) for name in sorted(names)]
    paths = set(field_paths(record))
    lacking = [
        one for one in alone if not paths.intersection(fulfilling(one.fields[0][0]))
    ]
    refused = [one for one in alone if is_refused(one, record)]

    assert refused == lacking
    all_ = RowRequirements(tuple((name, name) for name in names))
    assert is_refused(all_, record) is bool(lacking)


def is_refused(requirements: RowRequirements, record: Record) -> bool:
    """Tell whether a record lacks what is required."""
    try:
        requirements.check(record)
    except Unconvertible:
        return True
    return False
