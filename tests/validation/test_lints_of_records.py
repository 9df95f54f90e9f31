"""Lints of several records: which say the same, and which ids look alike; of bytes."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import validate
from json_lines import jsonl
from worker_units import read_again_in_pieces


def test_table_is_checked_across_its_rows() -> None:
    """Rows of a table that say the same are found at their lines."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["id", "prompt", "response"])
    for number in range(50):
        text = (
            "What is 2 + 2, my dear machine?"
            if number in {7, 31}
            else f"What {number}?"
        )
        writer.writerow([number, text, "It is exactly four, I think."])

    report = validate(file.getvalue().encode(), format="csv", select=("X102",), jobs=1)

    assert [each.place.line for each in report.problems] == [33]
    assert "record 8, in line 9" in report.problems[0].message


@pytest.mark.parametrize(("answer", "is_alike"), [("12", True), ("2", False)])
def test_near_duplicates_have_the_same_texts(answer: str, *, is_alike: bool) -> None:
    """Prompts, references and answers are compared one by one, not joined."""
    others = {"12": ("1 + 1?", "2"), "2": ("1 + 12", "1")}
    prompt, reference = others[answer]
    rows = [
        {"id": 1, "prompt": "1+1", "references": ["2"], "outputs": [{"text": "12"}]},
        {
            "id": 2,
            "prompt": prompt,
            "references": [reference],
            "outputs": [{"text": answer}],
        },
    ]
    data = jsonl(*rows)

    report = validate(data, format="record", select=("X102",))

    assert bool(report.problems) is is_alike


@for_each_case(
    "one, other, is_alike",
    [
        ("What is 2+2?", "What is 2*2?", False),
        ("What is 2-2?", "What is 22?", False),
        ("What is 2 - 2?", "What is 2 2?", False),
        ("What is -3?", "What is 3?", False),
        ("What is 1.5?", "What is 15?", False),
        ("Sort 1, 2, 3.", "Sort 12, 3.", False),
        ("Is 3:1 better?", "Is 31 better?", False),
        ("Is C a language?", "Is C++ a language?", False),
        ("Is C a language?", "Is C# a language?", False),
        ("x > 3", "x < 3", False),
        ("x != 3", "x = 3", False),
        ("x - y", "xy", False),
        ("(2 * 3) + 4", "2 * (3 + 4)", False),
        ("f'(2)?", "f(2)?", False),
        ("\U0001f600", "\U0001f622", False),
        ("It costs 5 $", "It costs 5 \u20ac", False),
        ("a|b", "a&b", False),
        ("Add 2 to 2!", "add 2 to 2", True),
        ("Well-known, isn't it?", "well known isnt it", True),
        ("Is `x` here - or \u201cthere\u201d?", "is x here: or there", True),
        ("The end.", "the end", True),
        ("Is it its?", "Is it it's?", False),
        ("Is it it\u2019s?", "is it it's", True),
        ("were you there?", "we're you there?", False),
        ("Ask for US data", "Ask for us data", False),
        ("US", "us", False),
        ("TELL US NOW", "tell us now", True),
        ("What does NASA do?", "what does nasa do", True),
        ("f(x)=x!", "f(x)=x", False),
        ("What is 5!?", "What is 5?", False),
        ("Compute 5!", "Compute 5", False),
        ("(n + 1)! = 6", "(n + 1) = 6", False),
        ("Hello there!", "hello there", True),
    ],
)
def test_marks_with_a_meaning_tell_texts_apart(
    one: str, other: str, *, is_alike: bool
) -> None:
    """Symbols and marks of formulas and names count, and other punctuation does not."""
    answer = {"text": "It is exactly four, I think."}
    rows = ({"prompt": text, "outputs": [answer]} for text in (one, other))
    report = validate(jsonl(*rows), format="record", select=("X102",))

    assert bool(report.problems) is is_alike


@for_each_case(
    "one, other, is_alike",
    [
        ("café", "cafe\u0301", True),
        ("q1", "q1\u200b", True),
        ("Аnna", "Anna", True),  # noqa: RUF001 - the letters look alike
        ("q1", "Q1", False),
        ("q 1", "q1", False),
        ("q 1", "q  1", True),
        ("q1", "q1\x01", True),
        ("q\uff11", "q1", True),
        ("x\u00b2", "x2", False),
        ("\u00bd", "1/2", False),
    ],
)
def test_ids_look_alike(one: str, other: str, *, is_alike: bool) -> None:
    """Unicode form, invisible characters and letters of other scripts are not seen.

    So it is for two records between which there are many others.
    """
    ids = [one, *(f"id{number}" for number in range(100)), other]
    rows = ({"id": each, "prompt": "p", "outputs": []} for each in ids)
    report = validate(jsonl(*rows), format="record", select=("X103",))

    assert bool(report.problems) is is_alike


@pytest.mark.parametrize("format_", ["record", "harpia"])
@pytest.mark.parametrize(
    ("ids", "found"),
    [
        ((1, "1"), [2]),
        (("7", "x", 7, 8), [3]),
        ((1, 2, 3), []),
        (("1", "2"), []),
        (("x", "-5", -5), [3]),
        (("-5", -5.0), [2]),
        ((1, "2", "01", "1.0"), []),
    ],
)
def test_ids_of_two_types_are_found(
    format_: str, ids: tuple[Any, ...], found: list[int]
) -> None:
    """An id that is a number here and text there is reported, in any format of ids."""
    rows: list[dict[str, Any]] = [
        {"id": each, "prompt": f"question {number}", "outputs": []}
        if format_ == "record"
        else {"id": each, "input": f"question {number}", "actual-output": "yes"}
        for number, each in enumerate(ids)
    ]
    data = jsonl(*rows)
    if format_ != "record":
        data = json.dumps({"instances": rows, "metrics": []}).encode()

    report = validate(data, format=format_, select=("X104",), jobs=1)

    assert [each.place.record for each in report.problems] == found


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{"a": 1}\n{"a": 2}\r\n{"a": 3}\n', 2),
        (b'{"a": 1}\r\n{"a": 2}\r\n{"a": 3}\n', 3),
        (b'{"a": 1}\r\n{"a": 2}\r\n', 0),
        (b'\r\n{"a": 1}\r\n', 0),
        (b'\n{"a": 1}\r\n', 2),
        (b'{"a": 1}\n{"a": 2}', 0),
    ],
)
def test_mixed_line_ends_are_placed(data: bytes, line: int) -> None:
    """The place is the first line that ends unlike the first one."""
    report = validate(data, schema=True, select=("J205",))

    assert [each.place.line for each in report.problems] == [line] * bool(line)


@pytest.mark.parametrize("number", [b"NaN", b"-Infinity"])
def test_mixed_line_ends_are_placed_behind_constants(number: bytes) -> None:
    """Bytes and columns are those of the file, in which null does not stand for NaN."""
    data = b'{"a": "x"}\n{"a": %b}\r\n' % number
    report = validate(data, format="lm-eval-samples", select=("J205",))
    (place,) = [each.place for each in report.problems]

    assert place.byte_offset == data.index(b"\r")
    assert (place.line, place.column) == (2, len(b'{"a": }') + len(number) + 1)


@given(st.integers(0, 10**25), st.integers(0, 40), st.booleans())
def test_large_integers_are_all_found(value: int, lead: int, is_float: bool) -> None:
    """The search in bytes passes over no integer beyond 2^53."""
    text = f"{value}.5" if is_float else str(value)
    data = b'{"a": "%s", "b": %s, "c": 0.8333333333333334}\n' % (
        b"x" * lead,
        text.encode(),
    )

    report = validate(data, schema=True, select=("J204",))

    assert bool(report.problems) is (value > 2**53 and not is_float)


def answers_as_lines(prompts: list[str]) -> bytes:
    """Return rows that ask `prompts`, each with the same answer."""
    answer = {"model": "m", "text": "It is exactly four, I think."}
    return jsonl(
        *(
            {"id": number, "prompt": prompt, "outputs": [answer]}
            for number, prompt in enumerate(prompts)
        )
    )


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("other", ["", "What is 7 + 7, my dear  machine?"])
def test_findings_are_as_many_with_few_examples(other: str, jobs: int) -> None:
    """All rows that say the same are counted, whether or not they are described."""
    prompts = [f"What is {number} + {number}, my dear machine?" for number in range(40)]
    data = answers_as_lines([*prompts * 10, *([other] if other else [])])

    def report(examples: int) -> list[tuple[str, int]]:
        found = validate(
            data,
            format="record",
            select=("X102",),
            jobs=jobs,
            examples=examples,
            max_problems=0,
        )
        return [(group.code, group.count) for group in found.groups]

    assert report(2) == report(0) == [("X102", 40 * 9 + bool(other))]


@pytest.mark.parametrize("size", [1, 2, 6, 7, 8])
def test_records_are_counted_at_as_much_of_the_place_as_they_have(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are not listed are in the same groups as those that are."""
    read_again_in_pieces(monkeypatch)
    keys = "abcdefgh"[:size]
    text = "What is 2 + 2, my dear machine?"
    rows: list[dict[str, Any]] = []
    for number in range(40):
        is_short = number % 2
        asked: Any = {} if is_short else [{"role": "user", "content": text}]
        for key in reversed(keys[:-1] if is_short else keys):
            asked = {key: asked}
        prompt = f"{text} And why?" if is_short else ""
        rows.append({"ideal_response": "yes", "prompt": prompt, **asked})

    def groups(examples: int) -> dict[str, int]:
        report = validate(
            jsonl(*rows),
            format="nemo-input",
            map={"messages": ".".join(keys), "prompt": "prompt"},
            select=("X102",),
            jobs=1,
            examples=examples,
        )
        return {group.pointer: group.count for group in report.groups}

    short, whole = (f"/{'/'.join(part)}".rstrip("/") for part in (keys[:-1], keys))
    assert groups(1) == groups(0) == {short: 19, whole: 19}
