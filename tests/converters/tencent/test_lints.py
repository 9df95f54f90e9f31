"""What is doubtful in Tencent's rows, and across the rows of a set."""

from typing import Any

from cases import for_each_case
from harpia_converters.tencent.lints import message_remarks, output_remarks
from harpia_formats import validate
from harpia_formats.formats.registry import all_rules
from json_lines import jsonl

LINTS = {code for code, rule in all_rules().items() if rule.lint and code[0] == "T"}


def chat(roles: str) -> dict[str, Any]:
    """Return a row with a message for each letter: system, user, assistant, other."""
    names = {"s": "system", "u": "user", "a": "assistant", "x": "tool"}
    return {"messages": [{"role": names[role], "content": role} for role in roles]}


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
    found = [(each.code, each.path) for each in message_remarks(chat(roles))]

    assert found == [(code, ("messages", at, "role")) for code, at in expected]


def answered(*names: str, count: int = 1, **more: Any) -> dict[str, Any]:
    """Return a row in which each of these models has so many responses."""
    responses = [{"content": "28", **more}] * count
    outputs = [{"model_name": name, "responses": responses} for name in names]
    return {**chat("u"), "model_outputs": outputs}


def test_outputs() -> None:
    """A second entry of a model, an odd name and empty reasoning are found."""
    twice = list(output_remarks(answered("a", "b", "a", "a")))
    odd = list(output_remarks(answered("a ", "")))
    empty = list(output_remarks(answered("a", reasoning_content=" ")))

    name = "model_name"
    assert [(each.code, each.path) for each in twice] == [
        ("T202", ("model_outputs", 2, name)),
        ("T202", ("model_outputs", 3, name)),
    ]
    assert [(each.code, each.path) for each in odd] == [
        ("T209", ("model_outputs", 0, name)),
        ("T209", ("model_outputs", 1, name)),
    ]
    path = ("model_outputs", 0, "responses", 0, "reasoning_content")
    assert [(each.code, each.path) for each in empty] == [("T208", path)]


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
