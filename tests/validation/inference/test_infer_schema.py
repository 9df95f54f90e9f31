import gzip
import io
import itertools
import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from format_variants import values_in
from harpia_formats import (
    InferredSchema,
    SchemaError,
    ValidationFailed,
    check_schema,
    infer_schema,
    validate,
    write_report,
)
from json_lines import jsonl

#: Bytes of memory that objects with any number of keys take.
MOST = 12_000_000
ROOT = Path(__file__).parents[3]

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(["a", "b", "ü", "", "long " * 20]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["a", "b", "c", "d/e", ""]), inner, max_size=4),
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "c", "é"]), VALUES, max_size=4)
ROWS = st.lists(OBJECTS, min_size=1, max_size=30)
OPTIONS = st.fixed_dictionaries(
    {
        "enum_limit": st.sampled_from([0, 2, 10]),
        "map_keys": st.sampled_from([1, 100]),
        "closed": st.booleans(),
    }
)


def inferred(*rows: Any, **options: Any) -> dict[str, Any]:
    """Return the schema of rows without the description of the file."""
    schema = infer_schema(list(rows), **options).schema
    assert schema is not None
    return {key: schema[key] for key in schema if key not in {"$schema", "title"}} | {
        "description": ""
    }


@given(rows=st.lists(VALUES, min_size=1, max_size=30), options=OPTIONS)
def test_every_row_is_valid_and_the_schema_is_right(
    rows: list[Any], options: dict[str, Any]
) -> None:
    """Every row that was seen is valid, and nothing is wrong with the schema."""
    data = json.dumps(rows).encode()
    schema = infer_schema(data, **options).schema
    assert schema is not None
    jsonschema.Draft7Validator.check_schema(schema)

    assert validate(data, schema=schema, select=("S", "C", "V1")).ok
    assert check_schema(schema, lint=True).problems == ()


def bare(found: InferredSchema) -> str:
    """Return a schema as text, without the names and numbers of the files."""
    assert found.schema is not None
    return json.dumps({**found.schema, "title": "", "description": ""})


@examples(15)
@given(parts=st.lists(ROWS, min_size=2, max_size=4))
def test_files_give_the_schema_of_all_their_rows(parts: list[list[Any]]) -> None:
    """What was seen of several files is what is seen of one, keys in their order."""
    whole = infer_schema([row for part in parts for row in part])

    assert bare(infer_schema(*parts)) == bare(whole)


def without_comments(schema: Any) -> Any:
    """Return a schema without what it says of the number of rows."""
    if isinstance(schema, list):
        return [without_comments(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: without_comments(part) for key, part in schema.items() if key != "$comment"
    }


@examples(25)
@given(values=st.lists(VALUES, min_size=11, max_size=20), chance=st.randoms())
def test_values_of_a_map_are_described_as_items_are(
    values: list[Any], chance: random.Random
) -> None:
    """What was seen of the members of a map merges to what is seen of a list of them.

    The order in which they come, and the rows that they are in, change nothing.
    """
    order = chance.sample(values, len(values))
    maps = [{"m": {f"k{number}": value}} for number, value in enumerate(order)]
    (of_map,) = inferred(*maps, map_keys=1)["properties"].values()
    (of_list,) = inferred({"m": order})["properties"].values()

    assert without_comments(of_map["additionalProperties"]) == without_comments(
        of_list["items"]
    )


@examples(15)
@given(keys=st.lists(st.integers(0, 4_000), min_size=1, max_size=5), cut=st.integers())
def test_many_keys_are_described_alike(keys: list[int], cut: int) -> None:
    """Objects with too many keys are described alike, whatever came first."""
    rows: list[Any] = [{f"k{n}": "x"} for n in keys]
    many = {f"k{n}": n for n in range(1_998)}
    first, second = ([*rows[: at % 6], many, *rows[at % 6 :]] for at in (cut, cut + 1))
    found = [infer_schema(one, map_keys=10**6).schema for one in (first, second)]

    assert found[0] is not None
    assert found[0] == found[1]


def test_types_and_presence_are_those_seen() -> None:
    """Types are listed, numbers are merged, and keys of all rows are required."""
    found = inferred(
        {"id": 1, "score": 1, "tags": ["a"], "note": None, "more": {"x": True}},
        {"id": 2, "score": 0.5, "tags": [], "note": "late"},
    )

    assert found == {
        "description": "",
        "type": "object",
        "required": ["id", "score", "tags", "note"],
        "properties": {
            "id": {"type": "integer"},
            "score": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": ["string", "null"]},
            "more": {
                "$comment": "in 1 of 2 rows",
                "type": "object",
                "required": ["x"],
                "properties": {"x": {"type": "boolean"}},
            },
        },
    }
    assert list(found["properties"]) == ["id", "score", "tags", "note", "more"]


def kinds(*texts: str | None, **options: Any) -> Any:
    """Return the schema of a key with these values."""
    return inferred(*({"kind": text} for text in texts), **options)["properties"][
        "kind"
    ]


def test_few_repeated_texts_are_an_enum() -> None:
    """Texts are listed if there are few of them, each seen ten times."""
    listed = {"type": "string", "enum": ["chat", "task"]}

    assert kinds(*["task", "chat"] * 10) == listed
    assert kinds(*["task", "chat", None] * 10) == {"anyOf": [listed, {"type": "null"}]}


@for_each_case(
    "texts, options",
    [
        (["task", "chat"] * 9, {}),
        (["task"] * 100, {}),
        ([*["task", "chat"] * 20, "other"], {}),
        (["task", "chat"] * 10, {"enum_limit": 0}),
        (["a", "b", "c"] * 10, {"enum_limit": 2}),
        (["task", "x" * 61] * 10, {}),
        ([str(number) for number in range(51)] * 10, {"enum_limit": 50}),
    ],
)
def test_other_texts_are_only_texts(texts: list[str], options: Any) -> None:
    """One text, rare ones, long ones and many ones are not listed."""
    assert kinds(*texts, **options) == {"type": "string"}


def test_objects_with_keys_that_are_data_are_maps() -> None:
    """Keys that hardly repeat are not described one by one, which is reported."""
    rows = [{"scores": {f"user {n}": n, "z": 0.5}} for n in range(200)]
    scores = inferred(*rows)["properties"]["scores"]

    assert scores == {
        "type": "object",
        "$comment": "a map: 201 different keys in 200 objects",
        "additionalProperties": {"type": "number"},
    }
    assert "properties" in inferred(*rows, map_keys=300)["properties"]["scores"]


def test_many_columns_are_no_map() -> None:
    """Objects that all have the same many keys keep them."""
    row = {f"column {n}": n for n in range(500)}

    assert len(inferred(row, row)["properties"]) == 500


def test_memory_is_bounded_for_any_keys() -> None:
    """Beyond a limit of keys an object is a map, and nothing is kept of its keys."""
    lines = jsonl(*({f"k{n}": {"value": n}} for n in range(20_000)))
    tracemalloc.start()
    try:
        schema = infer_schema(lines).schema
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert schema is not None
    assert schema["$comment"] == "a map: more than 2,000 different keys in 20,000 rows"
    assert schema["additionalProperties"]["required"] == ["value"]
    assert peak < MOST


def test_too_many_places_are_refused() -> None:
    """Rows in which nothing repeats have no schema, and that is reported."""
    rows = [{f"a{m}": {f"b{n}": n for n in range(200)}} for m in range(200)]

    with pytest.raises(SchemaError, match=r"more than 20,000 different keys"):
        infer_schema(rows)


def test_closed_schema_forbids_other_keys() -> None:
    """With `closed`, only the keys that were seen are allowed."""
    found = inferred({"a": {"b": 1}}, closed=True)

    assert found["additionalProperties"] is False
    assert found["properties"]["a"]["additionalProperties"] is False
    # An object that is always empty has no other keys, either.
    assert inferred({"a": {}}, closed=True)["properties"]["a"] == {
        "type": "object",
        "additionalProperties": False,
    }
    assert inferred({}, closed=True)["additionalProperties"] is False


def test_deep_rows_are_described_up_to_a_level() -> None:
    """A schema of deep rows is no deeper than the validator can use."""
    deep: Any = 1
    for _ in range(150):
        deep = [{"a": deep}]
    for closed in (False, True):
        schema = infer_schema([{"x": deep}], closed=closed).schema
        assert schema is not None

        assert check_schema(schema, select=("S",)).failures == ()
        assert jsonschema.Draft7Validator(schema).is_valid({"x": deep})


#: The same rows in all kinds of files.
ROW_TEXTS = ['{"id": 1, "kind": "a"}', '{"id": 2, "kind": "b"}']
FILES = {
    "rows.jsonl": "\n".join(ROW_TEXTS),
    "spaced.jsonl": "\n\n  ".join(ROW_TEXTS) + "\r\n",
    "rows.json": f"[{','.join(ROW_TEXTS)}]",
    "marked.jsonl": "\ufeff" + "\n".join(ROW_TEXTS),
}


@for_each_case("name, pack", itertools.product(FILES, [bytes, gzip.compress]))
def test_any_container_gives_the_same_schema(
    name: str, pack: Any, tmp_path: Path
) -> None:
    """Lines and arrays, compressed or not, give the schema of their rows."""
    path = tmp_path / (name if pack is bytes else f"{name}.gz")
    path.write_bytes(pack(FILES[name].encode()))
    found = infer_schema(path)

    assert found.rows == 2
    assert found.schema is not None
    assert found.schema["title"] == f"Rows of {path.name}"
    assert found.schema["properties"] == {
        "id": {"type": "integer"},
        "kind": {"type": "string"},
    }


def test_table_has_columns_of_text(tmp_path: Path) -> None:
    """Fields of a table are texts, and a column with blank fields is not required."""
    path = tmp_path / "rows.csv"
    path.write_text('id,note\n1,"a, b"\n2,\n3,""\n')
    schema = infer_schema(path).schema

    assert schema is not None
    assert schema["required"] == ["id"]
    assert schema["properties"]["note"] == {
        "$comment": "in 2 of 3 rows",
        "type": "string",
    }


def test_several_files_give_one_schema(tmp_path: Path) -> None:
    """A key that one of two files lacks is not required."""
    (tmp_path / "a.jsonl").write_text('{"a": 1, "b": 1}\n' * 3)
    (tmp_path / "b.jsonl").write_text('{"a": 1}\n' * 2)
    found = infer_schema(tmp_path)

    assert found.schema is not None
    assert found.schema["title"] == "Rows of 2 files"
    assert found.schema["required"] == ["a"]
    assert found.schema["properties"]["b"]["$comment"] == "in 3 of 5 rows"


def test_files_that_are_no_data_are_passed_over(tmp_path: Path) -> None:
    """In a folder these are files of other kinds and our own reports, as ever."""
    rows, report = tmp_path / "rows.jsonl", tmp_path / "report.json"
    rows.write_text('{"a": 1}\n')
    write_report(validate(rows), report, reporter="json")
    (tmp_path / "t.orc").write_bytes(b"ORC\0")
    found = infer_schema(tmp_path)
    rows.unlink()
    with pytest.raises(ValidationFailed) as caught:
        infer_schema(tmp_path)

    assert found.rows == 1
    assert [problem.code for problem in found.report.problems] == ["J114"]
    skipped = [Path(file.path).name for file in found.report.skipped]
    assert skipped == ["report.json", "t.orc"]
    (failed,) = caught.value.report.failures
    assert "no file is left" in str(failed.reason)


def test_limit_is_of_each_file() -> None:
    """At most so many rows are read of each file."""
    data = b"".join(b'{"a": %d}\n' % number for number in range(20_000))

    assert infer_schema(data, limit=7).rows == 7
    assert infer_schema(io.BytesIO(data), data, limit=15_000).rows == 30_000


@for_each_case(
    "data, options",
    [
        (b'{"a": 1}\n{"a":\n', {}),
        (b'{"a": 1}\n\n{"a": 1, "a": 2}\n{"a": 2}\n', {}),
        (b'[{"a": 1}, {"a": 1]', {}),
        (b"a,b\n1,2\n3\n", {"delimiter": ","}),
        (b"a,b\n" + b"1,2\n" * 300, {"delimiter": ","}),
    ],
)
def test_rows_behind_the_limit_are_not_looked_at(
    data: bytes, options: dict[str, Any]
) -> None:
    """Nothing is wrong with them, and they are not counted."""
    found = infer_schema(data, limit=1, **options)

    assert (found.rows, found.report.files[0].records) == (1, 1)


@for_each_case(
    "data, code",
    [
        (b'{"a": 1}\n{"a": x}\n', "J101"),
        (b'{"a": 1}\n{"a": "\xff"}\n', "J103"),
        (b'[{"a": 1}, {"a": 1]', "J102"),
        (b"[]", "J111"),
        (b"", "J111"),
    ],
)
def test_broken_rows_are_problems(data: bytes, code: str) -> None:
    """Without all of its rows, no schema of a file is inferred."""
    with pytest.raises(ValidationFailed) as caught:
        infer_schema(data)

    assert caught.value.report.problems[0].code == code
    assert caught.value.result.schema is None


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a,b\n1,2,3\n", "J304", 2),
        ("a,a\n1,2\n", "J305", 1),
        ("a;b\n1;2\n", "J307", 1),
        ('a,b\n"1,2\n', "J301", 2),
    ],
)
def test_broken_tables_are_problems(
    text: str, code: str, line: int, tmp_path: Path
) -> None:
    """A table that other programs read differently gives no schema."""
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(ValidationFailed) as caught:
        infer_schema(path)

    (problem,) = caught.value.report.problems
    assert (problem.code, problem.place.line) == (code, line)


def test_no_row_gives_no_schema(tmp_path: Path) -> None:
    """A table with nothing but a header has no rows, of which nothing is known."""
    path = tmp_path / "rows.csv"
    path.write_text("id,note\n")

    with pytest.raises(SchemaError, match="there are no rows"):
        infer_schema(path)


@for_each_case("path", sorted(ROOT.glob("fixtures/*/valid/*.jsonl")))
def test_fixtures_are_valid_by_their_schema(path: Path) -> None:
    """The rows of every valid fixture are valid by the schema inferred from them."""
    data = jsonl(*values_in(path))
    schema = infer_schema(data, closed=True).schema
    assert schema is not None

    assert check_schema(schema).problems == ()
    assert validate(data, schema=schema).ok


@pytest.mark.parametrize(
    ("text", "pointers"),
    [
        ('{"a": 1, "a": "x"}\n{"a": 2}\n', ["/a"]),
        ('{"a": 1}\n{"b": {"c": 1, "d": 2, "c": 3}}\n', ["/b/c"]),
        ('[{"a": [{"x": 1, "x": 1}]}, {"a": []}]', ["/a/0/x"]),
        ('{"a": 1, "\\u0061": 2}\n', ["/a"]),
    ],
)
def test_rows_with_a_key_twice_are_refused(text: str, pointers: list[str]) -> None:
    """Which value of a repeated key counts is not known, so there is no schema."""
    with pytest.raises(ValidationFailed) as error:
        infer_schema(io.BytesIO(text.encode()))

    problems = error.value.report.problems
    assert [problem.code for problem in problems] == ["J105"] * len(pointers)
    assert [problem.place.pointer for problem in problems] == pointers


@given(rows=ROWS)
def test_keys_in_texts_are_not_taken_for_repeated(rows: list[dict[str, Any]]) -> None:
    """Texts that hold JSON, and keys of different objects, are no repeated keys."""
    texts = [{**row, "text": json.dumps(row), "like": '{"a":1,"a":2}'} for row in rows]
    lines = "".join(f"{json.dumps(row)}\n" for row in texts)

    schema = infer_schema(io.BytesIO(lines.encode())).schema
    assert schema is not None
    assert schema["type"] == "object"
