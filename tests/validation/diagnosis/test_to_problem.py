import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import Because, Fix, Problem, validate
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.model.describe import (
    NAME,
    alternatives,
    describe_types,
    path_text,
    short_json,
)
from harpia_formats.model.problem import Path
from harpia_formats.reporters import REPORTERS, Options
from harpia_formats.validation.diagnosis.row_context import RowContext

MANY = [f"option {number}" for number in range(500)]
HUGE = "x" * 5_000_000


def problems_in(data: Any, schema: Any, **options: Any) -> tuple[Problem, ...]:
    """Return the problems of `data`, which is one record unless it is bytes."""
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    found = validate(text, schema=schema, **options).problems
    # A finding on the schema itself has its name.
    return tuple(problem for problem in found if problem.place.path == "<data>")


def problem_in(data: Any, schema: Any, **options: Any) -> Problem:
    """Return the only problem of `data`."""
    (problem,) = problems_in(data, schema, **options)
    return problem


def on(**node: Any) -> dict[str, Any]:
    """Return a schema for the member `a`."""
    return {"properties": {"a": node}}


def full_report(problems: tuple[Problem, ...]) -> str:
    """Return the output of the reporter `full` for the problems."""
    texts: list[str] = []
    report = validate(b"{}", schema=True)
    options = Options(quiet=True)
    REPORTERS["full"].write(problems, lambda: report, texts.append, options)
    return "".join(texts)


def test_full_report_of_a_broken_condition() -> None:
    """A broken condition has a message, its place and that of the value it tests."""
    head = '{"model_id": "org/m", "evaluation_name": "gsm8k", "sample_id": "gsm8k_0003"'
    head += " " * (138 - len(head) - len(', "interaction_type": '))
    head += ', "interaction_type": "multi_turn", '
    head += '"input": {"raw": "How many?", "reference": "4"}, "output": null, '
    head += " " * (286 - len(head) - len('"interactions": '))
    tail = '"schema_version": "0.2.0", "evaluation_id": "e", "answer_attribution": [], '
    tail += '"evaluation": {"score": 1, "is_correct": true}}'
    row = f'{head}"interactions": null, {tail}'
    good = f'{head}"interactions": [], {tail}'.replace("_0003", "_0001")
    other = good.replace("_0001", "_0002")
    data = f"{good}\n{other}\n{row}\n".encode()

    report = validate(data, format="eee@0.2.0")

    lines = full_report(report.problems).replace("<data>", "runs.jsonl").splitlines()
    assert lines[0] == (
        "runs.jsonl:3:287  C201 conditional-turns  /interactions  "
        '(sample_id "gsm8k_0003")'
    )
    assert lines[2].endswith("^^^^")
    assert lines[3:] == [
        "  interactions must be an array, found null",
        '  because interaction_type is "multi_turn"  (runs.jsonl:3:139)',
        "  help: give the turns in interactions",
    ]


@for_each_case(
    "schema, value, message, help_",
    [
        ({"required": ["b"]}, {}, "a.b is missing", 'add "b"'),
        ({"type": "string"}, 5, "a must be text, found the number 5", ""),
        (
            {"type": "number"},
            "1.0",
            'a must be a number, found the text "1.0"',
            "write the number without quotes",
        ),
        ({"type": "number"}, "one", 'a must be a number, found the text "one"', ""),
        (
            {"type": ["integer", "null"]},
            1.5,
            "a must be a whole number or null, found the number 1.5",
            "",
        ),
        (
            {"type": ["object", "array", "boolean", "number", "integer"]},
            None,
            "a must be an array, true or false, a number or an object, found null",
            'leave "a" out: it is optional, but null is not allowed',
        ),
        (
            {"type": "string"},
            None,
            "a must be text, found null",
            'leave "a" out: it is optional, but null is not allowed',
        ),
        ({"type": "null"}, {"b": 1}, "a must be null, found an object", ""),
        ({"type": "null"}, [1], "a must be null, found an array", ""),
        ({"type": "null"}, True, "a must be null, found true", ""),
        (
            {"enum": ["chat", "tool"]},
            "chta",
            'a must be one of "chat", "tool", found "chta"',
            'did you mean "chat"?',
        ),
        ({"enum": [1, None, [1]]}, [2], "a must be one of 1, null, [1], found [2]", ""),
        ({"enum": []}, 1, "a must be one of no values at all, found 1", ""),
        ({"const": {"b": 1}}, {"b": 2}, 'a must be {"b":1}, found {"b":2}', ""),
        ({"minimum": 1}, 0, "a must be at least 1, found the number 0", ""),
        ({"maximum": 1.5}, 2, "a must be at most 1.5, found the number 2", ""),
        ({"exclusiveMinimum": 1}, 1, "a must be more than 1, found the number 1", ""),
        ({"exclusiveMaximum": 1}, 1, "a must be less than 1, found the number 1", ""),
        ({"multipleOf": 2}, 3, "a must be a multiple of 2, found the number 3", ""),
        ({"minLength": 1}, "", "a must have at least 1 character, found 0", ""),
        ({"maxLength": 2}, "açã", "a must have at most 2 characters, found 3", ""),
        (
            {"pattern": "^[0-9]+$"},
            "x",
            'a must match the pattern "^[0-9]+$", found the text "x"',
            "",
        ),
        ({"minItems": 2}, [1], "a must have at least 2 items, found 1", ""),
        ({"maxItems": 1}, [1, 2], "a must have at most 1 item, found 2", ""),
        ({"minProperties": 1}, {}, "a must have at least 1 key, found 0", ""),
        ({"maxProperties": 0}, {"b": 1}, "a must have at most 0 keys, found 1", ""),
        (
            {"items": [{}], "additionalItems": False},
            [1, 2],
            "a must have at most 1 item, found 2",
            "",
        ),
        ({"uniqueItems": True}, [1, 1], "a must not hold the same item twice", ""),
        (
            {"contains": {"const": 1}},
            [2],
            (
                'a must contain an item that matches {"const":1}, '
                "and its one item does not"
            ),
            "",
        ),
        (
            {"anyOf": [{"minimum": 5}, {"multipleOf": 2}]},
            3,
            "a is none of the alternatives, found the number 3",
            (
                "one of these must hold: a must be at least 5; "
                "or a must be a multiple of 2"
            ),
        ),
        (
            {"oneOf": [{"minimum": 5}, {"multipleOf": 2}]},
            6,
            (
                "a must be exactly one of the alternatives, but is those with the "
                "numbers 1 and 2"
            ),
            (
                'change a so that it is one of them only: number 1 is {"minimum":5}; '
                'number 2 is {"multipleOf":2}'
            ),
        ),
        ({"not": {"const": 1}}, 1, "a must not be the number 1", ""),
        (
            {"not": {"required": ["b", "c"]}},
            {"b": 1, "c": 1},
            'a must not be an object that has "b" and "c"',
            "",
        ),
        (
            {"propertyNames": {"maxLength": 1}},
            {"bc": 1},
            '"bc" is not a key that a may have',
            'names of keys must be {"maxLength":1}',
        ),
        (
            {
                "propertyNames": {"$ref": "#/properties/a/definitions/none"},
                "definitions": {"none": False, "more": {}},
            },
            {"b": 1},
            '"b" is not a key that a may have',
            "names of keys must be false",
        ),
        (
            {"contentEncoding": "base64"},
            "%%",
            'a must be encoded as base64, found the text "%%"',
            "",
        ),
        (
            {"contentMediaType": "application/json"},
            "{",
            'a must hold application/json, found the text "{"',
            "",
        ),
        (
            {"additionalProperties": False, "properties": {"name": {}}},
            {"nmae": 1},
            '"nmae" is not a known key in a',
            'did you mean "name"?',
        ),
        (
            {"additionalProperties": False},
            {"x": 1},
            '"x" is not a known key in a',
            "remove it, or move it to where it belongs",
        ),
        (
            {"required": ["name"]},
            {"nmae": 1},
            'a.name is missing, and "nmae" looks like a misspelling of it',
            'rename "nmae" to "name"',
        ),
        (
            {"if": {"required": ["b"]}, "else": {"required": ["c"]}},
            {},
            "a.c is missing",
            'add "c": the schema asks so by a.b, and it is not there',
        ),
        (
            {"if": {"minProperties": 1}, "then": {"required": ["c", "d"]}},
            {"x": 1},
            "a.c is missing; and a.d is missing",
            'add "c" and "d"',
        ),
        (
            {"pattern": r"^(?:(\w+\s?)*b|a*!)(?<!x)$"},
            "a" * 40 + "!",
            "no verdict on a: its pattern takes too long here",
            "write the pattern of the schema in a simpler way",
        ),
    ],
)
def test_text_of_a_keyword(schema: Any, value: Any, message: str, help_: str) -> None:
    """Every keyword has a message, and a help where a correction is known."""
    problem = problem_in({"a": value}, on(**schema))

    assert (problem.message, problem.help) == (message, help_)


def test_text_of_a_schema_false() -> None:
    """A schema `false` refuses a member, every record, or records of a condition."""
    member = problem_in({"a": 1}, {"properties": {"a": False}})
    such = problem_in({"a": 1}, {"if": {"required": ["a"]}, "then": False})

    assert (member.message, member.help) == ("a must not be there", "remove a")
    assert problem_in({}, schema=False).message == "the schema allows no record"
    assert such.message == "the schema allows no such record"


def test_formats_are_checked_only_when_asserted() -> None:
    """A value of a wrong `format` is a problem only with `assert_formats`."""
    data, schema = {"a": "x"}, on(format="date")

    assert problems_in(data, schema) == ()
    assert problem_in(data, schema, assert_formats=True).message == (
        'a must be a valid date, found the text "x"'
    )


@for_each_case(
    "data, schema, fix",
    [
        ({"nmae": 1}, {"required": ["name"]}, Fix("rename-key", "/nmae", "name")),
        (
            {"a": {"x/y": 1}},
            on(additionalProperties=False),
            Fix("remove", "/a/x~1y"),
        ),
        ({"a": None}, on(type="string"), Fix("remove", "/a")),
        ({"a": None}, on(type="string") | {"required": ["a"]}, None),
        ({"a": "chta"}, on(enum=["chat"]), Fix("replace", "/a", "chat")),
        ({"a": 5}, on(type="string"), None),
        ({"a": [None]}, on(items={"type": "string"}), None),
    ],
)
def test_fixes(data: Any, schema: Any, fix: Fix | None) -> None:
    """A problem has a fix if it can be corrected without a guess."""
    assert problem_in(json.dumps(data).encode() + b"\n", schema).fix == fix


def test_tested_values_have_places() -> None:
    """A problem has the value that made a condition apply, with its place."""
    schema = {
        "if": {"properties": {"kind": {"const": "é"}}, "required": ["kind"]},
        "then": {"required": ["b"]},
    }
    problem = problem_in('{"ü": 1,\n "kind":  "é"}'.encode(), schema)

    assert problem.because == (Because("/kind", '"é"', 2, 11),)


def test_duplicate_key_shows_the_first_value() -> None:
    """The problem of a repeated key has the first value, with the place of its key."""
    problem = problem_in(b'{"a": {"b" : {"c": 1}, "x": 2, "\\u0062": 3}}', schema=True)

    assert problem.message == 'the key "b" is repeated in a'
    assert problem.because == (Because("/a/b", "an object", 1, 8),)
    assert (problem.place.column, problem.place.end_column) == (32, 40)


@for_each_case(
    "data, schema, marked",
    [
        ({"a": 1234}, on(type="string"), "1234"),
        ({"a": {"b": [1, 2]}}, on(type="string"), "{"),
        ({"a": [1, 2]}, on(type="string"), "["),
        ({"a": {"b": 1}}, on(required=["c"]), "{"),
        ({"a": {"b": 1}}, on(additionalProperties=False), '"b"'),
        ({"a": {"nmae": 1}}, on(required=["name"]), '"nmae"'),
        ({"a": "açã [1"}, on(type="null"), '"açã [1"'),
    ],
)
def test_marked_text(data: Any, schema: Any, marked: str) -> None:
    """A scalar or a key is marked as a whole, an object or array by its bracket."""
    text = json.dumps(data, ensure_ascii=False)
    problem = problem_in(text.encode(), schema)
    start, end = problem.place.column - 1, problem.place.end_column - 1
    excerpt = problem.excerpt

    assert text[start:end] == marked
    assert excerpt is not None
    assert excerpt.text[excerpt.start : excerpt.end] == marked


def test_columns_count_code_points_and_offsets_bytes() -> None:
    """After characters of several bytes, the column is less than the byte offset."""
    text = '{"ação": "模型 🦜", "a": 5}'
    place = problem_in(b"{}\n" + text.encode(), on(type="string")).place

    assert (place.line, place.column) == (2, text.index("5") + 1)
    assert place.byte_offset == 3 + text.encode().index(b"5")


def test_line_in_a_pretty_printed_array() -> None:
    """In an array over several lines, the line is that of the value."""
    rows = [{"id": number, "a": {"b": ["ã", number]}} for number in range(3)]
    text = json.dumps(rows, indent=2, ensure_ascii=False)
    schema = on(properties={"b": {"items": [{}, {"maximum": 1}]}})
    problem = problem_in(text.encode(), schema)

    assert problem.place.record == 3
    assert problem.place.pointer == "/a/b/1"
    assert text.splitlines()[problem.place.line - 1].strip() == "2"
    assert problem.place.column == 9
    assert problem.excerpt is not None
    assert problem.excerpt.text == "        2"


@pytest.mark.parametrize(
    ("data", "schema"),
    [
        ({"a": HUGE}, on(type="null")),
        ({"a": HUGE}, on(enum=MANY)),
        ({"a": 1}, on(enum=[HUGE, *MANY])),
        ({"a": HUGE}, on(const=HUGE + "y")),
        ({"a": 10**4_000}, on(type="string")),
        ({"a": 1}, {"required": [HUGE]}),
        ({HUGE: 1}, {"additionalProperties": {"type": "string"}}),
        ({HUGE: 1}, {"additionalProperties": False}),
        ({"a": 1}, {"if": {"required": ["a"]}, "then": {"required": MANY}}),
        ({"a": 1}, on(anyOf=[{"const": option} for option in MANY])),
        ({"a": {HUGE: {HUGE: 1}}}, on(additionalProperties={"type": "string"})),
        ({"a": HUGE}, on(pattern=f"^{HUGE[:9_999]}$")),
        ({"a": 1}, on(minimum=10**4_000)),
    ],
    ids=range(13),
)
def test_big_values_are_cut(data: Any, schema: Any) -> None:
    """The message, help and excerpt are short for huge values, keys and schemas."""
    problem = problem_in(data, schema)

    assert len(problem.message) < 1_000
    assert len(problem.help) < 1_000
    assert problem.excerpt is not None
    assert len(problem.excerpt.text) < 500


def test_problem_in_a_long_line_is_fast() -> None:
    """A problem in a line of five megabytes is described in less than ten seconds."""
    items: list[Any] = [*map(str, range(999)), 5]
    row = {"x": 'é"\n' * 1_250_000, "a": items}
    started = time.perf_counter()

    problem = problem_in(row, on(items={"type": "string"}))

    assert problem.place.pointer == "/a/999"
    assert time.perf_counter() - started < 10


@for_each_case(
    "path, name",
    [
        ((), "the record"),
        (("input", "choices", 2), "input.choices[2]"),
        ((0, "a"), "[0].a"),
        (("a b", "", 'c"'), '["a b"][""]["c\\""]'),
        (("é",), "é"),
        (("\x1b[0m",), '["\\u001b[0m"]'),
    ],
)
def test_names_of_paths(path: Path, name: str) -> None:
    """A path is shown with dots and brackets; keys that are no names are quoted."""
    assert path_text(path) == name


def test_name_of_a_deep_path_keeps_its_end() -> None:
    """The beginning of a very long path is left out, not its end."""
    name = path_text(("level",) * 200 + ("score",))

    assert name.startswith("…")
    assert name.endswith(".level.score")
    assert len(name) == NAME + 1


@pytest.mark.parametrize(
    ("words", "joined"),
    [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")],
)
def test_alternatives_are_joined(words: list[str], joined: str) -> None:
    """Words are joined as alternatives."""
    assert alternatives(words) == joined


def test_types_are_described() -> None:
    """Types are described in a fixed order, null last; numbers include integers."""
    types = ["null", "string", "number", "integer", "array"]

    assert describe_types(types) == "an array, a number, text or null"


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=300))
def test_excerpt_holds_the_mark(before: str, marked: str, after: str) -> None:
    """An excerpt is a part of the line, and its mark begins the marked text."""
    parts = [
        text.replace("\n", "").replace("\r", "") for text in (before, marked, after)
    ]
    lead, mark, tail = (part.encode("utf-8", "replace") for part in parts)
    row = RowContext("f", lead + mark + tail, Cursor(), 1)
    excerpt = row.excerpt(len(lead), len(lead) + len(mark))
    found = excerpt.text[excerpt.start : excerpt.end]
    line = (lead + mark + tail).decode()

    assert excerpt.text.removeprefix("…").removesuffix("…") in line
    assert not mark or mark.decode().startswith(found)
    assert len(excerpt.text) < 300


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_shown_text_is_json_or_cut(text: str) -> None:
    """Text is shown as JSON, on one line, and short."""
    value = short_json(text)

    assert "\n" not in value
    assert json.loads(value).rstrip("…") == text[:40].rstrip("…") or len(text) > 40
