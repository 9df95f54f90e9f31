import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cases import for_each_case
from harpia_formats import validate
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


def without(row: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return `row` less some keys."""
    return {key: row[key] for key in row if key not in keys}


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
