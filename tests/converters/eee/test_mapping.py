"""The three EvalEval versions as records, and records as rows of them."""

import itertools
import json
from collections.abc import Iterator
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
from harpia_converters.eee.row_members import RECIPES, recipe_of
from harpia_formats.api.testing.mutation import copy_of, mutants
from harpia_formats.api.testing.strategies import EXTRA, TEXTS, VALUES, some
from harpia_formats.conversion.comparison.differences import differences, same
from harpia_formats.conversion.mapping.choices import Choices, Responses
from harpia_formats.conversion.mapping.extra_fields import restore_extras, split_extras
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.formats.registry import adapter_of, readable_formats
from harpia_formats.formats.schema.bundled_schemas import (
    record_schema,
    schema_validator_of,
)
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.field_outcomes import FieldOutcomes, Outcome, Unconvertible
from harpia_formats.model.record import Output, Record, Score
from json_lines import jsonl_rows

ROOT = Path(__file__).parents[3]
SEED, TAG, CURRENT = "eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0"
SHAPES = (SEED, TAG, CURRENT)
LISTS = (TAG, CURRENT)
#: The version label of each shape.
LABELS = {SEED: "0.2.0", TAG: "0.2.0", CURRENT: "0.3.0"}
FIRST = Choices(responses=Responses.FIRST)
LIST = Choices(responses=Responses.LIST)
SCORE = Score(evaluation_id="e", evaluation_name="n", value=1, is_correct=True)


def adapter(shape: str) -> FormatAdapter:
    """Return how rows of a version and records become each other."""
    return adapter_of(readable_formats()[shape])


def errors_in(row: Row, shape: str) -> list[str]:
    """Return what is wrong with a row."""
    schema = record_schema(readable_formats()[shape].dialects[0])
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
    schema = record_schema(readable_formats()[shape].dialects[0])
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
    row = copy_of(row)
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

    written = RecordMapper(adapter_of(readable_formats()["csv"]), choices).map(record)

    assert "score" not in written.rows[0]
    assert "is_correct" not in written.rows[0]
    noted = {(each.outcome, each.path) for each in written.outcomes}
    assert (Outcome.DROPPED, "outputs.scores.value") in noted
    assert (Outcome.DROPPED, "outputs.scores.is_correct") in noted


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


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_come_back(shape: str) -> None:
    """A row that is read and written in its version is the same, without any loss."""
    broken = [changes_on_the_way(each, shape) for each in fixtures(shape)]

    assert [each for each in broken if each] == []


@pytest.mark.corpora
@pytest.mark.parametrize("shape", SHAPES)
def test_real_rows_come_back(shape: str) -> None:
    """A real row that is read and written in its version is the same, without loss."""
    rows = [each for each in real_rows(shape) if is_labelled(each, shape)]
    broken = [changes_on_the_way(each, shape) for each in rows]

    assert [each for each in broken if each] == []
    assert rows != []


@pytest.mark.parametrize("shape", SHAPES)
def test_odd_rows_come_back(shape: str) -> None:
    """A valid row with odd values and keys comes back as it was."""
    rows = valid_mutants(shape, 20_261_121, drawn(500))
    known = [each for each in rows if is_labelled(each, shape)]
    broken = [changes_on_the_way(each, shape) for each in known]

    assert [each for each in broken if each] == []
    assert len(known) > 100


@pytest.mark.parametrize("shape", SHAPES)
def test_keys_of_a_row_are_in_documented_order(shape: str) -> None:
    """A row that comes back has its keys in the order of the schema, others behind."""
    schema: Any = record_schema(readable_formats()[shape].dialects[0])
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
    lambda output, beside: replace(record_with(**output), **beside),
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


@pytest.mark.parametrize(
    ("shape", "key"),
    [(SEED, "interactions"), (TAG, "interactions"), (CURRENT, "messages")],
)
def test_a_turn_is_numbered_by_its_place(shape: str, key: str) -> None:
    """A record leaves out the number of a turn unless it is another than its place."""
    turns = [{"role": "user"}, {"turn_idx": 5, "role": "assistant", "reasoning": "r"}]
    record = record_with(turns=turns, interaction_type="multi_turn")
    row, outcomes = written(shape, record)

    assert row[key] == [
        {"turn_idx": 0, "role": "user"},
        {"turn_idx": 5, "role": "assistant", "reasoning_trace": "r"},
    ]
    assert outcomes == []
    assert adapter(shape).read(row).outputs[0].turns == turns


def test_a_name_of_a_turn_changes_places_with_the_other() -> None:
    """A turn that has both names of the reasoning keeps both values apart."""
    turn = {
        "turn_idx": 0,
        "role": "user",
        "reasoning_trace": "ours",
        "reasoning": "own",
    }
    row, _ = written(SEED, record_with(turns=[{"role": "user"}]))
    row["interactions"] = [turn]
    record = adapter(SEED).read(row)

    assert record.outputs[0].turns == [
        {"role": "user", "reasoning": "ours", "reasoning_trace": "own"}
    ]
    assert written(SEED, record)[0]["interactions"] == [turn]


def test_values_of_the_closed_shape_become_text() -> None:
    """In 0.3.0 arguments, ids of calls, details and metadata are text."""
    call = {"id": "a", "name": "f", "arguments": {"n": 1, "t": "x"}}
    turns = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a"},
    ]
    details = {"additional_details": {"queue": 1.5}}
    record = record_with(turns=turns, performance=details, interaction_type="agentic")
    row, outcomes = written(
        CURRENT, replace(record, metadata={"n": [1, None], "t": "x"})
    )

    assert row["messages"][0]["tool_calls"][0]["arguments"] == {"n": "1", "t": "x"}
    assert row["messages"][1]["tool_call_id"] == ["a"]
    assert row["performance"] == {"additional_details": {"queue": "1.5"}}
    assert row["metadata"] == {"n": "[1,null]", "t": "x"}
    assert sorted(path for _, path in outcomes) == [
        "metadata.n",
        "outputs.performance",
        "outputs.turns",
    ]


@for_each_case(
    "in_row, in_record",
    [
        ("interactions[1].content", "turns[1].content"),
        ("interactions[turn_idx].content", "turns[turn_idx].content"),
        ("turns[1]", "/turns[1]"),
        ("/turns[1]", "//turns[1]"),
        ("messages[1]", "messages[1]"),
        ("output.raw", "output.raw"),
    ],
)
def test_a_source_names_a_turn_of_the_record(in_row: str, in_record: str) -> None:
    """A source names the turns of the record, and any other text is unchanged."""
    step = {
        "turn_idx": 0,
        "source": in_row,
        "extracted_value": "4",
        "extraction_method": "regex",
        "is_terminal": True,
    }
    row, _ = written(SEED, record_with())
    row["answer_attribution"] = [step]
    record = adapter(SEED).read(row)

    assert record.outputs[0].attribution == [{**step, "source": in_record}]
    assert written(SEED, record) == (row, [])


def test_several_texts_are_several_answers() -> None:
    """A list of several texts is several answers, and all else is of the first."""
    row, _ = written(CURRENT, record_with())
    row["output"] = {"raw": ["a", "b"], "reasoning_trace": ["r", "s", "t"]}
    record = adapter(CURRENT).read(row)
    answers = [(each.index, each.text, each.reasoning) for each in record.outputs]

    assert answers == [(0, "a", "r"), (1, "b", "s")]
    assert [each.scores for each in record.outputs] == [[SCORE], UNSET]
    assert record.extra == {"eee": {"output": {"reasoning_trace": ["t"]}}}
    assert written(CURRENT, record) == (row, [])


@for_each_case(
    "fields, kind, expected",
    [
        ({"turns": [{"role": "user"}]}, "multi_turn", {Outcome.DEFAULTED}),
        ({"turns": [{"role": "tool"}]}, "agentic", {Outcome.DEFAULTED}),
        (
            {"turns": [{"role": "user"}], "interaction_type": "single_turn"},
            "multi_turn",
            {Outcome.CHANGED},
        ),
        (
            {"turns": [], "text": "4", "interaction_type": "agentic"},
            "single_turn",
            {Outcome.CHANGED, Outcome.DROPPED},
        ),
        (
            {
                "turns": [{"role": "assistant", "content": "4"}],
                "text": "4",
                "interaction_type": "multi_turn",
            },
            "multi_turn",
            {Outcome.MERGED},
        ),
    ],
)
def test_interaction_type_follows_the_turns(
    fields: dict[str, Any], kind: str, expected: set[Outcome]
) -> None:
    """The interaction type is the record's own, unless its turns contradict it."""
    row, outcomes = written(SEED, record_with(**fields))

    assert row["interaction_type"] == kind
    assert ("output" in row) == (kind == "single_turn")
    assert {outcome for outcome, _ in outcomes} == expected


@for_each_case(
    "record, path, option",
    [
        (record_with(text=UNSET), "outputs.text", "--set output.raw="),
        (record_with(model=UNSET), "outputs.model", "--set model_id="),
        (
            record_with(scores=[replace(SCORE, value=None)]),
            "outputs.scores.value",
            "--set evaluation.score=",
        ),
        (replace(record_with(), id=UNSET), "id", "--set sample_id="),
        (replace(record_with(), references=[]), "references", "--set input.reference="),
    ],
)
def test_missing_field_is_an_error_with_help(
    record: Record, path: str, option: str
) -> None:
    """A record without a field that a row requires is refused, with help."""
    with pytest.raises(Unconvertible) as refused:
        written(SEED, record)

    assert refused.value.path == path
    assert option in refused.value.help


@pytest.mark.parametrize("shape", LISTS)
def test_several_answers_without_text_are_no_list(shape: str) -> None:
    """An answer that is a conversation cannot be listed with others."""
    one = record_with()
    other = replace(one.outputs[0], text=UNSET)
    with pytest.raises(Unconvertible) as refused:
        written(shape, replace(one, outputs=[*one.outputs, other]))

    assert refused.value.path == "outputs.text"


@pytest.mark.parametrize(
    ("shape", "value", "expected"),
    [(SEED, True, True), (TAG, False, False), (CURRENT, True, 1.0), (CURRENT, 3, 3)],
)
def test_a_score_is_a_number_in_the_closed_shape(
    shape: str, value: Any, expected: Any
) -> None:
    """A score that is true stays so but in 0.3.0, where it becomes 1.0."""
    row, outcomes = written(shape, record_with(scores=[replace(SCORE, value=value)]))

    assert same(row["evaluation"]["score"], expected)
    assert outcomes == (
        [] if same(value, expected) else [(Outcome.CHANGED, "outputs.scores.value")]
    )


@for_each_case(
    "shape, label, expected",
    [
        (SEED, "instance_level_eval_0.2.0", "instance_level_eval_0.2.0"),
        (CURRENT, "0.2.2", "0.2.2"),
        (CURRENT, "instance_level_eval_0.2.1", "instance_level_eval_0.2.1"),
        (CURRENT, "0.2.0", "0.3.0"),
        (SEED, "banana", "0.2.0"),
    ],
)
def test_a_label_stays_where_it_is_one_of_the_shape(
    shape: str, label: str, expected: str
) -> None:
    """A version label that was kept is written again only in its own version."""
    record = replace(record_with(), extra={"eee": {"schema_version": label}})
    row, outcomes = written(shape, record)
    path = "extra.eee.schema_version"

    assert row["schema_version"] == expected
    assert outcomes == ([] if label == expected else [(Outcome.CHANGED, path)])


@pytest.mark.parametrize("shape", SHAPES)
def test_the_own_label_is_not_kept(shape: str) -> None:
    """The default label of a version is not kept in a record."""
    row, _ = written(shape, record_with())

    assert row["schema_version"] == LABELS[shape]
    assert adapter(shape).read(row).extra is UNSET


def test_null_turns_are_the_same_in_all_shapes() -> None:
    """Null turns are kept at one key, whatever the key of turns in the version."""
    row, _ = written(SEED, record_with())
    record = adapter(SEED).read({**row, "interactions": None})
    current, outcomes = written(CURRENT, record)

    assert current["messages"] is None
    assert outcomes == []
    assert list(differences(record, adapter(CURRENT).read(current))) == []


def test_unknown_keys_have_no_place_in_a_closed_root() -> None:
    """Keys that 0.3.0 refuses are dropped as losses; those below the root stay."""
    kept = {"unknown": 1, "input": {"x": 1}, "evaluation_result_id": None}
    row, outcomes = written(CURRENT, replace(record_with(), extra={"eee": kept}))

    assert row["input"]["x"] == 1
    assert outcomes == [
        (Outcome.DROPPED, "extra.eee.unknown"),
        (Outcome.DROPPED, "extra.eee.evaluation_result_id"),
    ]


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


def two_references(digest: str) -> Record:
    """Return a record with two references and this hash."""
    raw, references = ASKED[1]
    kept = {"eee": {"sample_hash": digest}}
    return replace(record_with(), prompt=raw, references=references, extra=kept)


@pytest.mark.parametrize(
    ("digest", "recipe"),
    [(HASHES["A"][1], "C"), (HASHES["D"][1], "C"), (HASHES["B"][1], "B"), ("?", "C")],
)
def test_a_hash_is_renewed_where_references_are_left_behind(
    digest: str, recipe: str
) -> None:
    """A hash of references that a row does not have is computed again, as a loss."""
    made = RecordMapper(adapter(SEED), FIRST).map(two_references(digest))
    (row,) = made.rows
    raw, references = ASKED[1]
    is_noted = "extra.eee.sample_hash" in {each.path for each in made.outcomes}

    assert row["sample_hash"] == RECIPES[recipe](raw, references[:1])
    assert is_noted == (row["sample_hash"] != digest)


@for_each_case(
    "shape, digest",
    itertools.product(LISTS, [*(both[1] for both in HASHES.values()), "?"]),
)
def test_a_hash_stays_where_all_references_do(shape: str, digest: str) -> None:
    """A hash by any recipe, or by none that is known, stays with its references."""
    row, outcomes = written(shape, two_references(digest))

    assert row["sample_hash"] == digest
    assert outcomes == []
