"""The three EvalEval versions as records, and records as rows of them."""

import itertools
import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from cases import for_each_case
from corpora import CORPORA
from effort import drawn, examples
from field_paths import unrelated
from harpia_converters.eee import versions
from harpia_converters.eee.fields import read_attribution, write_attribution
from harpia_converters.eee.row_members import RECIPES, recipe_of
from harpia_converters.eee.turns import read_turn, read_turns, write_turn, write_turns
from harpia_converters.eee.versions import Version
from harpia_formats import Output, Record, Score
from harpia_formats.api.testing import mutants
from harpia_formats.api.testing.strategies import EXTRA, TEXTS, TOOL_CALL, VALUES, some
from harpia_formats.conversion.comparison.differences import differences, same
from harpia_formats.conversion.mapping.choices import Choices, Responses
from harpia_formats.conversion.mapping.extra_fields import restore_extras, split_extras
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.formats.schema.bundled_schemas import schema_validator_of
from harpia_formats.model.exact_json import encode
from harpia_formats.plugins import (
    ChangedValue,
    FieldOutcomes,
    FormatAdapter,
    Outcome,
    Row,
    Unconvertible,
)
from json_lines import jsonl_rows
from known_formats import READABLE, adapter_named, row_schema

ROOT = Path(__file__).parents[3]
SEED, TAG, CURRENT = "eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0"
SHAPES = (SEED, TAG, CURRENT)
LISTS = (TAG, CURRENT)
FIRST = Choices(responses=Responses.FIRST)
LIST = Choices(responses=Responses.LIST)
SCORE = Score(evaluation_id="e", evaluation_name="n", value=1, is_correct=True)


def adapter(shape: str) -> FormatAdapter:
    """Return how rows of a version and records become each other."""
    return adapter_named(shape)


def errors_in(row: Row, shape: str) -> list[str]:
    """Return what is wrong with a row."""
    schema = row_schema(READABLE[shape].dialects[0])
    return [str(each) for each in schema_validator_of(schema).iter_errors(row)]


def fixtures(shape: str) -> list[Any]:
    """Return the rows of all valid fixtures of a version."""
    rows = []
    for path in sorted((ROOT / "fixtures" / shape / "valid").iterdir()):
        if path.suffix == ".jsonl":
            rows += jsonl_rows(path)
        else:
            document = json.loads(path.read_bytes())
            rows += document if isinstance(document, list) else [document]
    return rows


def valid_in(shape: str, rows: Iterator[Any]) -> Iterator[Any]:
    """Yield those of `rows` that are valid in a version."""
    schema = row_schema(READABLE[shape].dialects[0])
    yield from filter(schema_validator_of(schema).is_valid, rows)


@cache
def valid_mutants(shape: str, seed: int, count: int) -> list[Any]:
    """Return mutants of the fixtures of a version that are valid in it."""
    drawn = islice(mutants(fixtures(shape), seed), count)
    return list(valid_in(shape, drawn))


def real_rows(shape: str) -> list[Any]:
    """Return every real row that is valid in a version."""
    folder = CORPORA / "eee"
    paths = [*folder.glob("valid-*.jsonl"), *folder.glob("samples/*_samples.jsonl")]
    rows = (row for path in sorted(paths) for row in jsonl_rows(path))
    return list(valid_in(shape, rows))


def in_order(value: Any) -> Any:
    """Return JSON with its keys sorted."""
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(each) for each in value] if isinstance(value, list) else value


def as_written(row: Row, shape: str) -> Row:
    """Return a row with the lists that the tag writes where it may read text."""
    row = deepcopy(row)
    owners = (("input", "reference"), ("output", "raw"), ("output", "reasoning_trace"))
    for owner, key in owners if shape == TAG else ():
        if row.get(owner) and isinstance(row[owner].get(key), str):
            row[owner][key] = [row[owner][key]]
    return row


def is_labelled(row: Row, shape: str) -> bool:
    """Tell whether the version label of a row is one of its version."""
    label = str(row["schema_version"]).removeprefix("instance_level_eval_")
    later = {"0.2.1", "0.2.2", "0.2.3", "0.3.0"}
    return label in (later if shape == CURRENT else {"0.2.0"})


def changes_on_the_way(row: Row, shape: str) -> list[str]:
    """Return the differences of a row that was read and written, and its losses."""
    outcomes = FieldOutcomes()
    back = adapter(shape).writer(adapter(shape).read(row), outcomes)
    expected = as_written(row, shape)
    lost = [each.path for each in outcomes.entries]
    keys = {**expected, **back}
    found = [
        key
        for key in keys
        if not same(
            in_order(expected.get(key, UNSET)) if key in expected else UNSET,
            in_order(back[key]) if key in back else UNSET,
        )
    ]
    return lost + found


def law_broken(shape: str, record: Record, choices: Choices = FIRST) -> set[str]:
    """Return the paths that differ without a loss, or have a loss but do not differ.

    That the row is valid is a part of it.
    """
    written = RecordMapper(adapter(shape), choices).map(record)
    (row,) = written.rows
    found = {each.path for each in differences(record, adapter(shape).read(row))}
    noted = {each.path for each in written.outcomes}
    silent = unrelated(found, noted)
    spurious = unrelated(noted, found)
    return silent | spurious | set(errors_in(row, shape))


def assert_refused(shape: str, record: Record, choices: Choices) -> None:
    """Check that a row of one answer is not written with the score of several."""
    with pytest.raises(Unconvertible) as caught:
        RecordMapper(adapter(shape), choices).map(record)
    assert "one score together" in caught.value.reason
    assert "--responses first --score em" in caught.value.help


@pytest.mark.parametrize("responses", [Responses.FIRST, Responses.EXPAND])
def test_joint_score_is_not_that_of_the_first_answer(responses: Responses) -> None:
    """One answer of several is written without the score that all have together."""
    first = Output(model="m", text="a", index=0, attribution=[], scores=[SCORE])
    answers = [first, Output(model="m", text="b", index=1)]
    record = Record(id="1", prompt="2+2?", references=["4"], outputs=answers)
    choices = Choices(responses=responses)
    assert_refused(SEED, record, choices)

    written = RecordMapper(adapter_named("csv"), choices).map(record)

    assert "score" not in written.rows[0]
    assert "is_correct" not in written.rows[0]
    noted = {(each.outcome, each.path) for each in written.outcomes}
    assert (Outcome.DROPPED, "outputs.scores.value") in noted
    assert (Outcome.DROPPED, "outputs.scores.is_correct") in noted


@pytest.mark.parametrize("shape", LISTS)
def test_joint_score_of_a_conversation_has_a_way_out(shape: str) -> None:
    """The reason is that a list has texts, and the advice is not the default."""
    turns: Any = [{"role": "user", "content": "q"}]
    turns += [{"role": "assistant", "content": "b"}]
    first = Output(model="m", text="a", attribution=[], scores=[SCORE])
    answers = [first, Output(model="m", turns=turns)]
    record = Record(id="1", prompt="q", references=["4"], outputs=answers)

    with pytest.raises(Unconvertible) as caught:
        RecordMapper(adapter(shape), Choices()).map(record)

    assert "has no text" in caught.value.reason
    assert "--responses first --score em" in caught.value.help


def record_with(*, turns: Any = UNSET, **fields: Any) -> Record:
    """Return a record that every version can hold, but for `fields` of its output."""
    output = {"model": "org/m", "scores": [SCORE], "attribution": [], **fields}
    if turns is UNSET:
        output = {"text": "4", "interaction_type": "single_turn", **output}
    answers = [Output(**output, turns=turns)]
    return Record(id="1", prompt="2+2?", references=["4"], outputs=answers)


def written(shape: str, record: Record) -> tuple[Row, list[tuple[Outcome, str]]]:
    """Return the row of a record, and its recorded losses."""
    outcomes = FieldOutcomes()
    row = adapter(shape).writer(record, outcomes)
    return row, [(each.outcome, each.path) for each in outcomes.entries]


@pytest.mark.corpora
@pytest.mark.parametrize("shape", SHAPES)
def test_real_rows_come_back(shape: str) -> None:
    """A real row that is read and written in its version is the same, without loss."""
    rows = [each for each in real_rows(shape) if is_labelled(each, shape)]
    broken = [changes_on_the_way(each, shape) for each in rows]

    assert [each for each in broken if each] == []
    assert rows != []


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_come_back(shape: str) -> None:
    """A row, also one with odd values and keys, comes back as it was, without loss."""
    rows = valid_mutants(shape, 20_261_121, drawn(500))
    known = [each for each in rows if is_labelled(each, shape)]
    broken = [changes_on_the_way(each, shape) for each in [*fixtures(shape), *known]]

    assert [each for each in broken if each] == []
    assert len(known) > 100


@pytest.mark.parametrize("shape", SHAPES)
def test_keys_of_a_row_are_in_documented_order(shape: str) -> None:
    """A row that comes back has its keys in the order of the schema, others behind."""
    schema: Any = row_schema(READABLE[shape].dialects[0])
    known = list(schema["properties"])
    rows = [written(shape, adapter(shape).read(each))[0] for each in fixtures(shape)]
    orders = [[known.index(each) for each in row if each in known] for row in rows]
    ends = [list(row)[len(order) :] for row, order in zip(rows, orders, strict=True)]

    assert orders == [sorted(each) for each in orders]
    assert [each for row in ends for each in row if each in known] == []


@pytest.mark.parametrize("target", SHAPES)
@pytest.mark.parametrize("source", SHAPES)
@pytest.mark.parametrize("choices", [FIRST, LIST])
def test_shapes_become_each_other(source: str, target: str, choices: Choices) -> None:
    """Between versions, each difference is a recorded loss, for odd rows as well."""
    if target == SEED and choices is LIST:
        choices = FIRST
    broken: list[set[str]] = []
    for row in [*fixtures(source), *valid_mutants(source, 7, drawn(60))]:
        record = adapter(source).read(row)
        if record.id is UNSET or (target == SEED and record.references == []):
            continue
        if choices is FIRST and len(record.outputs) > 1:
            assert_refused(target, record, choices)
            continue
        broken.append(law_broken(target, record, choices))

    assert [each for each in broken if each] == []
    assert len(broken) > 20


@pytest.mark.corpora
@pytest.mark.parametrize(("source", "target"), [(SEED, CURRENT), (CURRENT, SEED)])
def test_real_rows_become_each_other(source: str, target: str) -> None:
    """Real rows written in another version differ exactly where a loss is recorded."""
    rows = real_rows(source)
    broken = [law_broken(target, adapter(source).read(each)) for each in rows]

    assert [each for each in broken if each] == []
    assert len(rows) > 300


@for_each_case("target, source", itertools.product(SHAPES, SHAPES))
def test_kept_rows_come_back(source: str, target: str) -> None:
    """With --keep-extra a row comes back whole from another version."""
    choices = Choices(responses=Responses.FIRST, keep_extra=True)
    lost = []
    for row in fixtures(source):
        record = adapter(source).read(row)
        if len(record.outputs) > 1:
            assert_refused(target, record, choices)
            continue
        (made,) = RecordMapper(adapter(target), choices).map(record).rows
        bare, fragment = split_extras(made, adapter(target))
        back = restore_extras(adapter(target).read(bare), fragment)
        found = differences(record, back)
        lost += [str(each) for each in found if each.left is not UNSET]

    assert lost == []


CALLS = some(id=VALUES, name=VALUES, arguments=VALUES)
TURNS = st.lists(
    some(
        role=TEXTS | VALUES,
        content=TEXTS | VALUES,
        reasoning=TEXTS | VALUES,
        reasoning_trace=VALUES,
        tool_calls=VALUES | st.lists(CALLS | VALUES, max_size=2),
        tool_call_id=VALUES | st.lists(TEXTS | VALUES, max_size=2),
        turn_idx=VALUES | st.integers(-1, 2),
        other=VALUES,
    ),
    max_size=3,
)
STEPS = st.lists(
    VALUES
    | some(
        turn_idx=st.integers(-1, 2) | VALUES,
        source=VALUES
        | st.sampled_from(
            ["turns[0]", "/turns[0]", "messages[1].content", "//turns[x"]
        ),
        extracted_value=TEXTS | VALUES,
        extraction_method=TEXTS,
        is_terminal=st.booleans() | VALUES,
    ),
    max_size=3,
)
KINDS = st.sampled_from(["single_turn", "multi_turn", "agentic", "chat"])
COUNTS = st.integers(-1, 3) | VALUES
#: What a user may have put next to the fields, at places that are fields or not.
KEPT = some(
    **dict.fromkeys(
        "schema_version model_id sample_id sample_hash evaluation_result_id output "
        "interactions messages metadata metrics token_usage error unknown".split(),
        st.none() | VALUES | st.sampled_from(["0.2.2", "0.2.0", "instance_level"]),
    ),
    input=some(choices=st.none(), formatted=st.none(), raw=VALUES, x=VALUES),
    evaluation=some(is_correct=VALUES, num_turns=COUNTS, tool_calls_count=COUNTS),
).filter(lambda kept: kept != {})
ODD = st.builds(
    lambda output, others: replace(record_with(**output), **others),
    some(
        text=st.none() | TEXTS,
        reasoning=st.none() | TEXTS,
        turns=TURNS,
        interaction_type=KINDS,
        attribution=STEPS,
        index=st.integers(0, 1),
        token_usage=some(
            input_tokens=COUNTS,
            output_tokens=COUNTS,
            total_tokens=COUNTS,
            reasoning_tokens=COUNTS,
        ),
        performance=some(
            latency_ms=VALUES,
            additional_details=VALUES | st.dictionaries(TEXTS, VALUES, max_size=2),
        ),
    ).filter(lambda each: "text" in each or each.get("turns") or "turns" not in each),
    some(
        metadata=st.dictionaries(TEXTS, TEXTS | VALUES, max_size=3),
        references=st.lists(TEXTS, min_size=1, max_size=3),
        extra=EXTRA | KEPT.map(lambda kept: {"eee": in_order(kept)}),
    ),
)


@pytest.mark.parametrize("shape", SHAPES)
@examples(10, suppress_health_check=list(HealthCheck))
@given(record=ODD)
def test_odd_records_are_mended_with_notes(shape: str, record: Record) -> None:
    """A record with values that no row may have becomes a valid row, with losses."""
    assert law_broken(shape, record) == set()


@pytest.mark.parametrize("shape", LISTS)
@examples(10, suppress_health_check=list(HealthCheck))
@given(
    records=st.lists(ODD, min_size=2, max_size=3),
    texts=st.lists(st.none() | TEXTS, min_size=3, max_size=3),
    reasonings=st.lists(st.none() | st.just(UNSET) | TEXTS, min_size=3, max_size=3),
)
def test_odd_answers_are_listed_with_notes(
    shape: str, records: list[Record], texts: list[Any], reasonings: list[Any]
) -> None:
    """Several answers become one row; what only the first can have is a loss."""
    outputs = [
        replace(each.outputs[0], text=text, reasoning=reasoning)
        for each, text, reasoning in zip(records, texts, reasonings, strict=False)
    ]

    assert law_broken(shape, replace(records[0], outputs=outputs), LIST) == set()


HASHES = {
    "A": (
        "9c94305328f8e70341f9d1880f4eaa6ea7f93b8922e6a03a8cdcf1924d28db0b",
        "1177c338eadcff809d4c6ddba4174580cc47e0d3d15882ea1590f00c33b7f8b8",
    ),
    "B": (
        "d7cc70e3756ce84ce5561616f993255949c23e10a76f35b7e52b5fd96c03ba84",
        "0aff12069f2e3cecf38a45171302c2b235e59b26c9dd99d59d96c91f3a1522f8",
    ),
    "C": (
        "3fb18e0b1983462fc6404afebb3e39ede956bd7d177c9ee2288643d0005ac2a4",
        "43266e7f2e1ff51933d74d13a919ae216c9e9a058c324559299a0eb4df41c113",
    ),
    "D": (
        "3fb18e0b1983462fc6404afebb3e39ede956bd7d177c9ee2288643d0005ac2a4",
        "a2e513a6cc976aa0f047a0101a9e0310bfea1e306ef7b9aa21e4cc8703b943ce",
    ),
}
ASKED: tuple[tuple[str, list[str]], ...] = (
    ("What is 2 + 2?", ["4"]),
    ("É 2?", ["sim", "yes"]),
)


@pytest.mark.parametrize("letter", HASHES)
def test_hashes_are_those_of_known_samples(letter: str) -> None:
    """Each recipe gives the hash that its converter wrote, with accents as well."""
    found = tuple(RECIPES[letter](raw, references) for raw, references in ASKED)

    assert found == HASHES[letter]


def test_a_hash_tells_its_recipe() -> None:
    """A recipe is recognised by its hash; for one reference, C and D have the same."""
    recipes = [
        recipe_of(HASHES[letter][place], *asked)
        for letter in HASHES
        for place, asked in enumerate(ASKED)
    ]

    assert recipes == ["A", "A", "B", "B", "C", "C", "C", "D"]
    assert recipe_of("f" * 64, "q", []) == ""


ALL = [versions.V0_2_0, versions.V0_2_0_TAG, versions.V0_3_0]
OF_TURN = TEXTS | st.none()
CALLS_OR_NOT = st.none() | st.lists(TOOL_CALL | VALUES, max_size=2) | VALUES
BESIDE = {"tool_call_id": TEXTS, "reasoning": OF_TURN, "x": VALUES}
IN_ROW = st.lists(
    st.fixed_dictionaries(
        {
            "turn_idx": st.integers(0, 2) | st.sampled_from([0.0, 1.0]),
            "role": TEXTS,
            "content": OF_TURN,
            "reasoning_trace": OF_TURN,
            "tool_calls": st.none() | st.lists(TOOL_CALL, max_size=2),
        },
        optional=BESIDE,
    ),
    max_size=3,
)
IN_RECORD = st.lists(
    st.fixed_dictionaries(
        {
            "role": TEXTS | VALUES,
            "content": OF_TURN | VALUES,
            "reasoning": OF_TURN | VALUES,
            "tool_calls": CALLS_OR_NOT,
        },
        optional={"turn_idx": VALUES, "tool_call_id": VALUES, "x": VALUES},
    ),
    max_size=3,
)


@given(IN_ROW)
def test_usual_turns_are_read_as_any_are(turns: list[dict[str, Any]]) -> None:
    """A turn of a row is read the same way, whether it has the usual keys or not."""
    expected = [read_turn(place, turn) for place, turn in enumerate(turns)]

    assert encode(read_turns(turns)) == encode(expected)


@pytest.mark.parametrize("version", ALL)
@given(IN_RECORD)
def test_usual_turns_are_written_as_any_are(
    version: Version, turns: list[dict[str, Any]]
) -> None:
    """A turn of a record is written, and noted as changed, whatever its keys are."""
    ones = [write_turn(place, turn, version) for place, turn in enumerate(turns)]
    plain = [one.value if type(one) is ChangedValue else one for one in ones]
    together = write_turns(turns, version)

    assert (type(together) is ChangedValue) == any(
        type(one) is ChangedValue for one in ones
    )
    assert encode(plain) == encode(
        together.value if type(together) is ChangedValue else together
    )


@for_each_case(
    "version, source",
    itertools.product(
        ALL, ["output.raw", "turns[0]", "/turns[0]", "//turns[", "/x", "", "turn"]
    ),
)
def test_sources_come_back(version: Version, source: str) -> None:
    """A source of a row is the same again after it was in a record."""
    step = {
        "turn_idx": 0,
        "source": source,
        "extracted_value": "a",
        "extraction_method": "b",
        "is_terminal": True,
    }
    own = {**step, "source": f"{version.turns}[0]"}
    steps = [step, own]

    assert write_attribution(read_attribution(steps, version), version) == steps
    assert steps == [step, own]
