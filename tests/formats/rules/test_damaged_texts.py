"""The lints on damaged values, and on faults of prompts and answers."""
# ruff: noqa: RUF001 - texts with the letters that people write

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cases import for_each_case
from harpia_formats import validate
from json_lines import jsonl_rows

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")

#: Questions and answers of four kinds of text: pieces that rows are put together from.
ENGLISH = (
    ("Is {a} larger than {b}? Yes or no", "Yes: {a} is larger."),
    ("Who wrote about AT&T in {a}?", "R&D; I think it was {b}. <3"),
    ("Really? why {a}?! And {b}???", "No. None of them, I'm afraid (see p. {a})."),
    ("Guess the letter: c?t, {a} times", "cat, cat, cat ({b})"),
    ("What is tan(90°) in the set {{a, b, {a}}}?", "It has no value; {b} has one."),
)
GERMAN = (
    ("Wie groß ist München, {a} oder {b}?", "Größer als {a}: »süß« & schön — Übung."),
    ("Was bedeutet ÄÖÜäöüß? {a}", "Das Alphabet … „{b}“ – nichts sonst."),
    ("Null Uhr {a}? Nan oder {b}?", "Um null Uhr {a}."),
    ("Wirklich??? {a}?", "Ja!!! {b}… ½ °C, ± 2 ×÷"),
)
CHINESE = (
    ("网页上的“锟斤拷”是什么意思？第{a}题", "这是没有解出来的字，{b}。"),
    ("公式 $\\text{{问题}}=1$ 对吗？第{a}题", "对，{b}。"),
    ("这个API在{a}年没有问题吗？", "没有，我get没get到，茅台镇的锚点是{b}。"),
    ("首都是哪里？（{a}）", "北京。《{b}》——“好”，「对」！"),
    ("請問{a}的繁體字怎麼寫？", "繁體字：龍、鳳、體、{b}、鑰匙。"),
    ("{a}+{b}等于多少???", "等于？？？不知道。"),
)
CODE = (
    ('Fix `print(f"{{question}} {a}")`.', '```python\nprint(f"{{question}} {b}")\n```'),
    ("What does 'a{a}'.encode() return?", "b'a{a}'"),
    ("Why do I see [object Object] in JavaScript? {a}", "Use JSON.stringify(x, {b})."),
    (
        "Debug it: KeyError {a}",
        'Traceback (most recent call last):\n  File "a", line {b}',
    ),
    ("Escape `a < {a} && b` in HTML.", "a &lt; {a} &amp;&amp; b"),
    ("Which pattern matches color and colour? {a}", "colou?r, or {b} https?://"),
    ("SELECT * FROM t WHERE a = ? AND b IN (?, ?) -- {a}", "x ?? y ? a{b} : null;"),
    (
        "Render {{{{ item.name }}}} in a Vue template {a}",
        "<p>{{{{ item.name }}}}</p> {b}",
    ),
    ("Draw a table {a}", "|a|b|\n" + "|---|---|\n" * 40 + "{b}"),
    ("Give a matrix of zeros {a}", "[" + "0, " * 400 + "{b}"),
)
KINDS = {"English": ENGLISH, "German": GERMAN, "Chinese": CHINESE, "code": CODE}

#: Rows with one fault each: the rule, the prompt, the reference and the answer.
FAULTS = jsonl_rows(CASES / "faults.jsonl")


def clean_rows(kind: str, count: int) -> Iterator[dict[str, object]]:
    """Yield realistic rows of one kind of text, each with other numbers."""
    chance = random.Random(kind)  # noqa: S311 - the same rows each time
    for number in range(count):
        prompt, answer = chance.choice(KINDS[kind])
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
