"""The hub's record as JSON: its schema, its decoder, and how it is detected."""

import json
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from json_lines import jsonl_rows
from known_formats import FORMATS

ROOT = Path(__file__).parents[3]
FULL = jsonl_rows(ROOT / "fixtures/record/valid/full.jsonl")
SCHEMA = json.loads((ROOT / "schemas/harpia-formats/record.schema.json").read_bytes())
SCHEMA_VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
(SNIFF,) = (each.sniff for each in FORMATS["record"].dialects)
#: Every place where null is allowed.
NULLS = {
    "messages/*/content",
    "outputs/*/text",
    "outputs/*/reasoning",
    "outputs/*/error",
    "outputs/*/turns/*/content",
    "outputs/*/turns/*/reasoning",
    "outputs/*/turns/*/tool_calls",
    "outputs/*/turns/*/tool_calls/*/arguments",
    "outputs/*/turns/*/tool_call_id",
    "outputs/*/scores/*/value",
}
#: Members that hold whatever they are given: what is inside may be null as well.
FREE = frozenset(
    "params metadata extra header attribution arguments token_usage performance".split()
)
#: A key of the first record that the schema does not know.
UNKNOWN = "messages/*/name"

#: What takes the place of outputs.
DOCUMENTS = {"retrieved_documents": ["a"], "ground_truth_documents": []}

any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
near_records = st.dictionaries(
    st.sampled_from([*SCHEMA["properties"], "interaction_type", "answer_attribution"]),
    any_json,
)


def is_valid(row: Any) -> bool:
    """Tell whether the reference engine finds `row` a record."""
    verdict: bool = SCHEMA_VALIDATOR.is_valid(row)
    return verdict


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every member and item that no free member holds."""
    if not isinstance(value, dict | list):
        return []
    found: list[tuple[Any, ...]] = []
    keys: Any = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        each = value[key]
        found.append((*path, key))
        if key not in FREE:
            found += places_of(each, (*path, key))
    return found


def with_null_at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return a copy of `value` that has null at `path`."""
    if not path:
        return None
    copy = value.copy()
    copy[path[0]] = with_null_at(value[path[0]], path[1:])
    return copy


def name_of(path: tuple[Any, ...]) -> str:
    """Return `path` without its indices, nor the names that are up to the user."""
    parts = ["*" if isinstance(each, int) else each for each in path]
    return "/".join(parts)


def test_null_is_allowed_exactly_where_it_means_something() -> None:
    """Absent and null differ: only the places that are listed may be null."""
    places = [(row, path) for row in FULL for path in places_of(row)]

    allowed = {
        name_of(path) for row, path in places if is_valid(with_null_at(row, path))
    }

    assert allowed == NULLS | {UNKNOWN}


def test_full_records_have_every_key() -> None:
    """The records that the null test starts from hold each key of the schema."""
    named = {name_of(path) for row in FULL for path in places_of(row)}
    root = {each for each in named if "/" not in each}
    outputs = [each for each in named if each.startswith("outputs/*/")]
    items = SCHEMA["properties"]["outputs"]["items"]

    assert root == SCHEMA["properties"].keys()
    assert {each.split("/")[2] for each in outputs} == items["properties"].keys()


#: The sign of documents without outputs.
BOTH = "`retrieved_documents` and `ground_truth_documents`"


@for_each_case(
    "row, sign",
    [
        (FULL[0], "`outputs` and `prompt`"),
        ({"outputs": [], "messages": []}, "`outputs` and `messages`"),
        ({"outputs": [], "references": None}, "`outputs` and `references`"),
        ({"outputs": [], "header": {}}, "`outputs` and `header`"),
        ({"outputs": [], "prompt": "?", "unknown": 1}, "`outputs` and `prompt`"),
        ({"outputs": [], "extra": {}}, "`outputs` and `extra`"),
        ({"outputs": [{"text": None}], "id": 7}, "`outputs` and `id`"),
        ({"outputs": [{"scores": []}], "id": 7}, "`outputs` and `id`"),
        ({"outputs": [{"name": "x"}], "id": 7}, ""),
        ({"outputs": [], "id": 7}, ""),
        ({"outputs": []}, ""),
        ({"outputs": {}, "prompt": "?"}, ""),
        ({"prompt": "?", "messages": []}, ""),
        ({"extra": {"v": DOCUMENTS}}, BOTH),
        ({"prompt": "?", "metadata": DOCUMENTS}, BOTH),
        ({"prompt": "?", "messages": [], "metadata": DOCUMENTS}, ""),
        ({"prompt": "?", "metadata": DOCUMENTS, "unknown": 1}, ""),
        ({"prompt": "?", "extra": {"v": {"retrieved_documents": ["a"]}}}, ""),
        ({"prompt": "?", "extra": {"v": DOCUMENTS}, "outputs": None}, ""),
        (FULL[0] | {"interaction_type": 1, "answer_attribution": 2}, ""),
    ],
)
def test_record_is_detected_by_outputs(row: Any, sign: str) -> None:
    """A list of outputs next to a prompt is a record, unless the row is EvalEval's.

    So is one that was read of a file of answers alone, which has no prompt, and one of
    documents, which need no answer.
    """
    assert SNIFF(row) == sign


@given(near_records)
def test_telling_a_record_never_fails(row: Any) -> None:
    """Whatever an object holds, the sign is text, and needs outputs or documents."""
    assert SNIFF(row) in {"", BOTH} or isinstance(row["outputs"], list)


def test_format_is_the_hubs_own() -> None:
    """The format is no vendor's, and its records are known by `id`."""
    assert (FORMATS["record"].id, FORMATS["record"].vendor) == ("record", "any")
    assert FORMATS["record"].id_key == "id"
    assert FORMATS["record"].id_key in SCHEMA["properties"]
