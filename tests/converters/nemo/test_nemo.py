import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats import validate
from harpia_formats.api.testing import mutants
from harpia_formats.plugins import Dialect, Remark
from json_lines import jsonl
from known_formats import FORMATS

ROOT = Path(__file__).parents[3]
ROWS = (FORMATS["nemo-input"], FORMATS["nemo-output"])
DIALECTS = {each.schema: each for one in ROWS for each in one.dialects}

QUESTION = {"prompt": "Quem?", "ideal_response": "Ninguém 🦜"}
FULL = QUESTION | {"category": "", "source": "书"}
NESTED = {"input": FULL, "response": "Eu", "llm_name": "finch-3b"}
FLAT = FULL | {"actual_response": "Eu"}
REFERENCE = {"input": "Quem?", "reference": "Ninguém", "output": "Eu"}
#: A good record of each dialect.
GOOD: dict[str, dict[str, Any]] = {
    "nemo-input": FULL,
    "nemo-output": NESTED,
    "nemo-output-flat": FLAT,
    "nemo-output-reference": REFERENCE,
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(sorted({*FLAT, *NESTED, *REFERENCE, "other"})), inner
        )
    ),
    max_leaves=8,
)


def is_valid(schema: str, row: Any) -> bool:
    """Tell whether the schema called `schema` allows `row`."""
    return checker(schema)(row)


def checker(schema: str) -> Callable[[Any], bool]:
    """Return the function that does the same for many rows."""
    path = ROOT / "schemas" / "nemo" / f"{schema}.schema.json"
    return jsonschema.Draft7Validator(json.loads(path.read_bytes())).is_valid


def remarks_on(dialect: Dialect, row: Any) -> list[Remark]:
    """Return what `dialect` has to say of `row`."""
    assert dialect.remarks is not None
    return list(dialect.remarks(row))


def detected(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the sign of each dialect as which `row` is detected."""
    signs = {key: each.sniff(row) for key, each in DIALECTS.items()}
    return {key: sign for key, sign in signs.items() if sign}


def without(row: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return `row` less some keys."""
    return {key: row[key] for key in row if key not in keys}


@for_each_case(
    "row, dialect, sign",
    [
        (FULL, "nemo-input", "`prompt` and `ideal_response`"),
        (without(FULL, "prompt"), "nemo-input", "`ideal_response`"),
        (without(FULL, "ideal_response"), "nemo-input", "`prompt` and `category`"),
        ({"prompt": "a", "source": "b"}, "nemo-input", "`prompt` and `source`"),
        (FULL | {"prompt": ["a"]}, "nemo-input", "`prompt` and `ideal_response`"),
        (NESTED, "nemo-output", "`input` and `response`"),
        (without(NESTED, "response"), "nemo-output", "`input` and `llm_name`"),
        ({"input": QUESTION}, "nemo-output", "`input.ideal_response`"),
        (NESTED | {"input": "Quem?"}, "nemo-output", "`response` and `llm_name`"),
        (without(NESTED, "input"), "nemo-output", "`response` and `llm_name`"),
        (FLAT, "nemo-output-flat", "`prompt` and `actual_response`"),
        (
            without(FLAT, "prompt"),
            "nemo-output-flat",
            "`ideal_response` and `actual_response`",
        ),
        (REFERENCE, "nemo-output-reference", "`input` and `reference` and `output`"),
        (
            REFERENCE | {"output": None},
            "nemo-output-reference",
            "`input` and `reference` and `output`",
        ),
    ],
)
def test_record_is_detected_by_its_keys(
    row: dict[str, Any], dialect: str, sign: str
) -> None:
    """A record, even a broken one, is detected as one dialect by its keys."""
    assert detected(row) == {dialect: sign}


@for_each_case(
    "row",
    [
        {},
        {"prompt": "a"},
        {"input": "a", "output": "b"},
        {"input": {"raw": "a"}, "output": {"raw": ["b"]}},
        {"input": {}, "response": "b", "interaction_type": "single_turn"},
        {"input": FULL, "answer_attribution": []},
        QUESTION | {"model_outputs": []},
        QUESTION | {"messages": []},
        QUESTION | {"conversation": []},
        FULL | {"outputs": []},
        FLAT | {"outputs": []},
        {"prompt": "a", "references": ["b"], "category": ""},
        {"prompt": "a", "header": {}, "source": ""},
        {"prompt": ["a"], "ideal_response": ["b"]},
        {"prompt": ["a"], "actual_response": ["b"]},
        {"input": ["a"], "reference": ["b"], "output": ["c"]},
        {"response": ["a"], "llm_name": ["b"]},
    ],
)
def test_records_of_others_are_left_to_them(row: dict[str, Any]) -> None:
    """What another vendor's record has, or columns, or too few keys, is no sign."""
    assert detected(row) == {}


def remark_table() -> Iterator[Any]:
    """Yield a dialect, a record, and the codes and paths of its remarks."""
    for dialect, row in GOOD.items():
        yield dialect, row, []
    yield "nemo-input", without(FULL, "source"), []
    yield "nemo-input", QUESTION, [("N101", ())]
    yield "nemo-input", FULL | {"id": 1}, [("N102", ("id",))]
    yield "nemo-input", QUESTION | {"": 0}, [("N101", ()), ("N102", ("",))]
    yield (
        "nemo-output",
        NESTED | {"input": QUESTION | {"x": 1}, "y": 2},
        [("N101", ("input",)), ("N102", ("input", "x")), ("N102", ("y",))],
    )
    yield "nemo-output", NESTED | {"llm_name": ""}, [("N103", ("llm_name",))]
    yield "nemo-output", NESTED | {"llm_name": "offline"}, []
    yield "nemo-output-flat", without(FLAT, "category"), [("N101", ())]
    yield "nemo-output-flat", FLAT | {"llm_name": ""}, [("N102", ("llm_name",))]
    yield (
        "nemo-output-reference",
        REFERENCE | {"category": ""},
        [("N102", ("category",))],
    )


@for_each_case("dialect, row, expected", list(remark_table()))
def test_tolerated_deviations_are_remarked(
    dialect: str, row: dict[str, Any], expected: list[Any]
) -> None:
    """Tolerated values get a remark at their place, and are not valid if strict."""
    found = remarks_on(DIALECTS[dialect], row)

    assert [(each.code, each.path) for each in found] == expected
    assert all(each.at_key == (each.code == "N102") for each in found)
    assert is_valid(dialect, row)
    assert is_valid(DIALECTS[dialect].strict, row) == (not expected)


def test_an_unknown_key_is_named_with_the_known_ones() -> None:
    """A misspelt key is quoted in the message, and the help lists the known keys."""
    row = QUESTION | {"categroy": "a\nb"}
    (category, misspelt) = remarks_on(DIALECTS["nemo-input"], row)

    assert category.help == 'add "category": ""'
    assert misspelt.message == '"categroy" is not a documented key'
    assert "category, ideal_response, prompt, source" in misspelt.help


def bad_records() -> Iterator[Any]:
    """Yield a dialect and a record that it refuses, tolerant as it is."""
    for dialect, row in GOOD.items():
        optional = {"category", "source"}
        for key in row:
            yield dialect, row | {key: None}
            yield dialect, row | {key: ["a"]}
            if key not in optional:
                yield dialect, without(row, key)
        yield dialect, []
    for key in QUESTION:
        yield "nemo-output", NESTED | {"input": without(FULL, key)}
    for key in FULL:
        yield "nemo-output", NESTED | {"input": FULL | {key: 3}}


@for_each_case("dialect, row", list(bad_records()))
def test_missing_key_or_wrong_type_is_an_error(dialect: str, row: Any) -> None:
    """Known keys except input hold text, and those without a default are required."""
    assert not is_valid(dialect, row)
    assert not is_valid(DIALECTS[dialect].strict, row)


@pytest.mark.parametrize("dialect", GOOD)
def test_strictly_valid_equals_valid_without_remarks(dialect: str) -> None:
    """A mutated record is strictly valid exactly if it is valid without remarks."""
    rule = DIALECTS[dialect]
    allowed, strict = checker(rule.schema), checker(rule.strict)
    counts = {True: 0, False: 0}

    for each in islice(mutants([GOOD[dialect]] * 3 + [QUESTION], 20_250_618), 1_500):
        clean = allowed(each) and not remarks_on(rule, each)
        assert strict(each) == clean, each
        counts[clean] += 1

    assert min(counts.values()) > 20


def test_mutants_are_detected_as_at_most_one_dialect() -> None:
    """A record, also a mutated one, is detected as one dialect at most."""
    for each in islice(mutants(list(GOOD.values()), 7), 3_000):
        assert not isinstance(each, dict) or len(detected(each)) <= 1, each


@given(ANYTHING)
@examples(37)
def test_nothing_makes_them_raise(value: Any) -> None:
    """Any JSON value can be remarked on, and any object be sniffed at."""
    for each in DIALECTS.values():
        assert all(one.message for one in remarks_on(each, value))
        if isinstance(value, dict):
            assert isinstance(each.sniff(value), str)


def test_only_the_first_dialect_is_documented() -> None:
    """The documented form comes first; the two flat ones are marked as undocumented."""
    names = [(each.name, each.documented) for each in FORMATS["nemo-output"].dialects]

    assert names == [("", True), ("flat", False), ("reference", False)]
    assert [each.documented for each in FORMATS["nemo-input"].dialects] == [True]
    assert {each.family for each in ROWS} == {"nemo"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (7, "7"),
        ("(beta) finch", "(beta) finch"),
        ("\nfinch", "\\nfinch"),
        ({"id": 7}, '{\\"id\\":7}'),
        (True, "true"),
    ],
)
def test_messages_on_several_models_name_them_as_they_are(
    name: Any, shown: str
) -> None:
    """Names of another type, and those that begin with a parenthesis, are as given."""
    rows = [NESTED, NESTED | {"llm_name": name}, NESTED]
    second = validate(jsonl(rows), format="nemo-output", select="N112").problems[0]
    first = validate(jsonl(rows[1:]), format="nemo-output", select="N112").problems[0]

    assert second.message == (
        f'the answer is of "{shown}", but that of record 1 of "finch-3b"'
    )
    assert first.message == (
        f'the answer is of "finch-3b", but that of record 1 of "{shown}"'
    )
