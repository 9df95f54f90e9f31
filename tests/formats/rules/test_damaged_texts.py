"""The lints on damaged values, and on faults of prompts and answers."""

import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import validate
from json_lines import jsonl, jsonl_rows

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")

#: Questions and answers of four kinds of text, from which rows are made.
TEXTS = jsonl_rows(CASES / "clean_texts.jsonl")
KINDS = [*dict.fromkeys(kind for kind, _, _ in TEXTS)]

#: Rows with one fault each: the rule, the prompt, the reference and the answer.
FAULTS = jsonl_rows(CASES / "faults.jsonl")


def clean_rows(kind: str, count: int) -> Iterator[dict[str, object]]:
    """Yield realistic rows of one kind of text, each with other numbers."""
    chance = random.Random(kind)  # noqa: S311 - the same rows each time
    for number in range(count):
        prompt, answer = chance.choice([one[1:] for one in TEXTS if one[0] == kind])
        a, b = chance.randint(100, 999) * 1000 + number, chance.randint(10, 99999)
        values = {"a": a, "b": b}
        yield {
            "id": f"{kind}-{number}",
            "prompt": prompt.format(**values),
            "references": [f"R{number}"],
            "outputs": [{"text": answer.format(**values)}],
        }


def as_lines(rows: Sequence[object], *, is_ascii: bool) -> bytes:
    """Return rows as JSON Lines, with letters beyond ASCII as they are or escaped."""
    return b"".join(
        json.dumps(row, ensure_ascii=is_ascii).encode() + b"\n" for row in rows
    )


@for_each_case("is_ascii, kind", itertools.product([True, False], KINDS))
def test_clean_rows_are_silent(kind: str, is_ascii: bool) -> None:
    """All lints find no error and no warning in 250 clean rows, and hardly a note."""
    rows = list(clean_rows(kind, 250))

    report = validate(
        as_lines(rows, is_ascii=is_ascii), format="record", lint=True, examples=0
    )

    assert [(p.code, p.message) for p in report.problems if p.severity != "note"] == []
    assert all(group.count <= len(rows) // 100 for group in report.groups)


@for_each_case(
    "code, prompt, reference, answer, is_ascii",
    [(*fault, is_ascii) for fault in FAULTS for is_ascii in (True, False)],
    ids=ascii,
)
def test_each_fault_gives_one_finding(
    code: str, prompt: str, reference: str, answer: str, is_ascii: bool
) -> None:
    """A damaged text is found once, however its letters are written."""
    row = {
        "id": 1,
        "prompt": prompt,
        "references": [reference],
        "outputs": [{"text": answer}],
    }

    report = validate(as_lines([row], is_ascii=is_ascii), format="record", lint=True)

    assert [problem.code for problem in report.problems] == [code]


#: Rows with a fault that is not looked for in their bytes.
OTHER_FAULTS = [
    ("V301", "Is it Brasília, or is it not?", "Brasília", "Rio"),
    ("V305", "Capital?", "Rome", " "),
    ("V306", "", "Rome", "Milan"),
    ("V307", "Capital?", " ", "Milan"),
    (
        "V308",
        "What is the capital of Italy?",
        "Rome",
        "What is the capital of Italy? I",
    ),
    ("V315", "Capital?", "Rome", "Its capital is not known to me at all. " * 40),
    ("V315", "Capital?", "Rome", "I do not know it. " * 40 + "\n"),
]
#: What is asked, as a prompt and as a message.
ASKED: dict[str, Callable[[str], Any]] = {
    "prompt": lambda text: text,
    "messages": lambda text: [{"role": "user", "content": text}],
}


@for_each_case(
    "fault, key",
    itertools.product([*FAULTS, *OTHER_FAULTS], ASKED),
    ids=ascii,
)
def test_each_fault_is_found_among_many_rows(
    fault: tuple[str, str, str, str], key: str
) -> None:
    """A damaged text is found in rows that are read at once, and in no other row."""
    code = fault[0]
    rows = [
        {
            key: ASKED[key](asked),
            "references": [expected],
            "outputs": [{"text": text}] * (1 + number % 2),
        }
        for number, (asked, expected, text) in enumerate(
            [*((f"What is {n}?", f"R{n}", f"It is {n}.") for n in range(70)), fault[1:]]
        )
    ]

    report = validate(jsonl(*rows), format="record", lint=True, examples=0)

    assert [(one.code, one.place.record) for one in report.problems] == [(code, 71)]


@for_each_case(
    "suffix, fault", itertools.product(["csv", "parquet"], FAULTS), ids=ascii
)
def test_faults_are_found_in_tables(
    suffix: str, fault: tuple[str, str, str, str], tmp_path: Path
) -> None:
    """CSV and Parquet get the findings that the same row gets as JSON."""
    pandas = pytest.importorskip("pandas")
    code, prompt, reference, answer = fault
    row = {"id": "1", "prompt": prompt, "references": reference, "response": answer}
    path = tmp_path / f"rows.{suffix}"
    if suffix == "csv":
        pandas.DataFrame([row]).to_csv(path, index=False)
    else:
        pandas.DataFrame([row]).to_parquet(path)

    report = validate(path, format=suffix, lint=True)

    assert [problem.code for problem in report.problems] == [code]


def found_in(text: str, code: str) -> list[str]:
    """Return the messages of the findings of a rule in a JSON text, ASCII or not."""
    value = json.loads(text)
    plain, escaped = (
        validate(as_lines([value], is_ascii=is_ascii), schema=True, select=[code])
        for is_ascii in (False, True)
    )
    messages = [each.message for each in plain.problems]
    assert messages == [each.message for each in escaped.problems]
    return messages


@for_each_case(
    "text",
    jsonl_rows(CASES / "not_misdecoded.jsonl"),
)
def test_written_marks_are_not_taken_for_misdecoded_text(text: str) -> None:
    """Letters with quotes, dashes and spaces after them are what was written."""
    assert found_in(json.dumps([text]), "J207") == []


@for_each_case(
    "text, wrong, meant",
    jsonl_rows(CASES / "misdecoded.jsonl"),
)
def test_misdecoded_text_is_found(text: str, wrong: str, meant: str) -> None:
    """What no writer would put together is found, and what was meant by it."""
    (message,) = found_in(json.dumps([text]), "J207")

    assert message.startswith(f'"{wrong}" is "{meant}" in UTF-8 that was read as ')
    assert found_in(json.dumps([text]), "J212") == []


@for_each_case(
    "text, wrong, meant, how",
    [
        ("don\u9225\u6a9b", "\u9225\u6a9b", "\u2019", "UTF-8 that was read as GBK"),
        ("\u6d63\u72b2\u30bd", None, "\u4f60\u597d", "UTF-8 that was read as GBK"),
        ("\u701b\ufe3f\u7bc4", None, "\u5b66\u4e60", "UTF-8 that was read as GBK"),
        ("ÄãºÃ", None, "\u4f60\u597d", "GBK that was read as Latin-1"),
        ("ÄãºÃé", "ÄãºÃ", "\u4f60\u597d", "GBK that was read as Latin-1"),
    ],
    ids=ascii,
)
def test_misread_chinese_is_found(
    text: str, wrong: str | None, meant: str, how: str
) -> None:
    """Characters in the wrong encoding are found, with what they were, two at least."""
    (message,) = found_in(json.dumps([text]), "J212")

    assert message == f'"{wrong or text}" is "{meant}" in {how}'


def test_misread_chinese_is_found_where_a_table_begins() -> None:
    """It is found in the first cell of a row, and in a table whose header has some."""
    table = "\u9225\u6a9b,b\n\u6d63\u72b2\u30bd,x\n"
    columns = {"prompt": "\u9225\u6a9b"}
    report = validate(table.encode(), columns=columns, format="csv", select=["J212"])

    assert [each.place.record for each in report.problems] == [1]


@for_each_case(
    "text, is_found",
    jsonl_rows(CASES / "zero_width_spaces.jsonl"),
)
def test_zero_width_spaces_separate_words_of_some_scripts(
    text: str, *, is_found: bool
) -> None:
    """Between letters of scripts without spaces they are meant, elsewhere not."""
    assert len(found_in(json.dumps({"answer": text}), "J208")) == is_found


@for_each_case(
    "text, is_found",
    [
        ("12345678901234567", True),
        ("-12345678901234567", True),
        ("123456789012345", False),
        ("12345678901234567.5", False),
        ("12345678901234567e2", False),
        ('"a12345678901234567"', False),
        ('["a12345678901234567", 12345678901234567]', True),
        ("0.12345678901234567", False),
    ],
)
def test_long_integers_are_distinguished_from_other_digits(
    text: str, is_found: bool
) -> None:
    """Digits in a float, in a word or too few of them are no long integer."""
    report = validate(f'{{"a": {text}}}'.encode(), schema=True, select=["J204"])

    assert len(report.problems) == is_found
