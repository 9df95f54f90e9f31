"""The problems that reports have: messages, places and texts that are shown.

Each row of `expected_findings.json` has the problems that the file lists, in a report
too; here is what no row of it shows.
"""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import Problem, validate
from harpia_formats.plugins import short_json
from harpia_formats.reporters import REPORTERS, Options

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


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_shown_text_is_json_or_cut(text: str) -> None:
    """Text is shown as JSON, on one line, and short."""
    value = short_json(text)

    assert "\n" not in value
    assert json.loads(value).rstrip("…") == text[:40].rstrip("…") or len(text) > 40


GROUPS = [
    group
    for group in json.loads(
        Path(__file__).with_name("expected_findings.json").read_bytes()
    )
    # The schema of a user is used without the ids inside of it.
    if not group.keys() & {"advice", "prefix"} and "/call.json" not in group["schema"]
]
NAMES = "code pointer message help schema key cause".split()


def said_of(problem: Problem) -> dict[str, Any]:
    """Return what a problem says, as the file has it, apart from its place."""
    return {
        "code": problem.code,
        "pointer": problem.place.pointer,
        "message": problem.message,
        "help": problem.help,
        "schema": problem.schema_pointer,
        "key": problem.key,
        "cause": problem.cause,
    }


@for_each_case("group", GROUPS, ids=lambda group: str(group["about"]))
def test_reports_have_the_findings_expected(group: dict[str, Any]) -> None:
    """Each row on a line has the problems that are listed of it, at other bytes."""
    schema = json.loads(group["schema"])
    options: Any = {"assert_formats": bool(group.get("formats")), "examples": 0}
    # A row of several lines is one record only where it is the only one.
    alone = [[row] for row in group["rows"] if "\n" in row["row"]]
    on_lines = [{"row": "{}"}, *(row for row in group["rows"] if [row] not in alone)]
    for rows in (*alone, on_lines):
        data = "\n".join(row["row"] for row in rows).encode()
        found = problems_in(data, schema, max_problems=0, **options)
        for number, row in enumerate(rows, 1):
            if "findings" in row:
                reported = [said_of(one) for one in found if one.place.record == number]
                listed = [
                    {name: one.get(name, "") for name in NAMES}
                    for one in row["findings"]
                ]
                assert in_order(reported) == in_order(listed), row["row"]


def in_order(found: list[dict[str, Any]]) -> list[str]:
    """Return problems by their texts, without the bytes that they name."""
    return sorted(re.sub(r"at byte \d+", "at byte", str(one)) for one in found)


@pytest.mark.parametrize(("count", "code"), [(100, "S103"), (101, "S101")])
def test_misspelt_key_among_many(count: int, code: str) -> None:
    """A misspelt key is looked for among a hundred unknown ones at most."""
    keys = ["own", *(f"key {number}" for number in range(count - 1)), "nmae"]
    schema = {"required": ["name"], "properties": {"own": {}}}

    assert problem_in(dict.fromkeys(keys, 1), schema).code == code


@for_each_case(
    "keyword, longest, value",
    [
        ("pattern", 600, "x"),
        ("minimum", 600, 1),
        ("contains", 100, [1]),
        ("not", 100, "p"),
    ],
)
def test_parts_of_a_schema_are_cut(keyword: str, longest: int, value: Any) -> None:
    """A message shows so many characters of a pattern, a bound or a schema."""
    for more in (0, 1):
        part: Any = {"title": "p" * (longest - len('{"title":""}') + more)}
        shown = json.dumps(part, separators=(",", ":"))
        if keyword == "pattern":
            part = "p" * (longest - 2 + more)
            shown = f'"{part}"'
        elif keyword == "minimum":
            part = int("1" * (longest + more))
            shown = str(part)
        elif keyword == "contains":
            part = {"const": "p" * (longest - len('{"const":""}') + more)}
            shown = json.dumps(part, separators=(",", ":"))
        message = problem_in({"a": value}, on(**{keyword: part})).message
        shown = shown[:longest] + "…" if more else shown

        assert shown in message
        assert len(message) - len(shown) < 80


@pytest.mark.parametrize(
    ("one", "code"),
    [({"type": "null"}, "S102"), ({"minItems": 500, "maxLength": 0}, "V109")],
)
def test_alternatives_inside_of_alternatives(one: Any, code: str) -> None:
    """A record with alternatives at each of 200 levels has its error, no other one."""
    inner = {"type": ["array", "integer"], "items": {"$ref": "#/definitions/level"}}
    level = {"anyOf": [one, {"oneOf": [one, inner]}]}
    schema = {"$ref": "#/definitions/level", "definitions": {"level": level}}
    record: Any = "text"
    for _ in range(199):
        record = [record]

    assert problem_in(record, schema, row_timeout=100).code == code
