"""What is doubtful in Tencent's rows, and across the rows of a set."""

from typing import Any

from cases import for_each_case
from harpia_formats import validate
from json_lines import jsonl
from known_formats import RULES

LINTS = {code for code, rule in RULES.items() if rule.lint and code[0] == "T"}


def chat(roles: str) -> dict[str, Any]:
    """Return a row with a message for each letter: system, user, assistant, other."""
    names = {"s": "system", "u": "user", "a": "assistant", "x": "tool"}
    return {"messages": [{"role": names[role], "content": role} for role in roles]}


def places_in(row: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the code and the place of each lint of Tencent's on a row."""
    problems = validate(jsonl(row), lint=True).problems
    return [(each.code, each.place.pointer) for each in problems if each.code in LINTS]


@for_each_case(
    "roles, expected",
    [
        ("u", []),
        ("su", []),
        ("ua", []),
        ("suaua", []),
        ("a", []),  # no question: T102
        ("sa", []),
        ("us", [("T201", 1)]),
        ("ssu", [("T201", 1)]),
        ("uau", []),
        ("uu", [("T206", 1)]),
        ("suua", [("T206", 2)]),
        ("uaau", [("T206", 2)]),
        ("uus", [("T206", 1), ("T201", 2)]),
        ("suuss", [("T206", 2), ("T201", 3), ("T201", 4)]),
        ("uaas", [("T207", 2), ("T201", 3)]),
        ("au", [("T206", 0)]),
        ("sau", [("T206", 1)]),
        ("uaa", [("T207", 2)]),
        ("suauaa", [("T207", 5)]),
        ("uasa", [("T201", 2), ("T207", 3)]),
        ("uxa", []),
        ("uuxa", []),
    ],
)
def test_order_of_roles(roles: str, expected: list[tuple[str, int]]) -> None:
    """Late system messages, two in a row and an unasked last turn are found once."""
    assert places_in(chat(roles)) == [
        (code, f"/messages/{at}/role") for code, at in expected
    ]


def answered(*names: str, count: int = 1, **more: Any) -> dict[str, Any]:
    """Return a row in which each of these models has so many responses."""
    responses = [{"content": "28", **more}] * count
    outputs = [{"model_name": name, "responses": responses} for name in names]
    return {**chat("u"), "model_outputs": outputs}


@for_each_case(
    "row, code, places",
    [
        (answered("a", "b", "a", "a"), "T202", ["2/model_name", "3/model_name"]),
        (answered("a ", ""), "T209", ["0/model_name", "1/model_name"]),
        (
            answered("a", reasoning_content=" "),
            "T208",
            ["0/responses/0/reasoning_content"],
        ),
    ],
)
def test_outputs(row: dict[str, Any], code: str, places: list[str]) -> None:
    """A second entry of a model, an odd name and empty reasoning are found."""
    assert places_in(row) == [(code, f"/model_outputs/{each}") for each in places]


def found_in(*rows: Any) -> list[tuple[str, int | None]]:
    """Return the code and the record of each lint of Tencent's on a set."""
    data = jsonl(*rows)
    report = validate(data, lint=True)
    found = [(each.code, each.place.record) for each in report.problems]
    return [(code, record) for code, record in found if code in LINTS]


@for_each_case(
    "rows, expected",
    [
        ([answered("a", "b"), answered("b", "a")], []),
        ([answered("a", "b"), answered("a")], [("T203", 2)]),
        ([answered("a"), answered("a"), answered("a", "b")], [("T203", 3)]),
        ([answered("finch-3b"), answered("heron-7b")], [("T203", 2)]),
        ([answered("finch-3b"), answered("Finch 3B")], [("T204", 2)]),
        ([answered("a"), answered("a", count=3)], [("T205", 2)]),
        ([answered("a", count=3), answered("a", count=3)], []),
        ([{**answered("a"), "id": 1}, {**answered("a"), "id": 1}], [("T210", 2)]),
        ([{**answered("a"), "id": 1}, {**answered("a"), "id": 2}], []),
        ([{**chat("u"), "id": "x"}, {**chat("u"), "id": "x"}], [("T210", 2)]),
    ],
)
def test_rows_of_a_set(rows: list[Any], expected: list[tuple[str, int]]) -> None:
    """Rows with other models, other spellings or other counts than the first."""
    assert found_in(*rows) == expected
