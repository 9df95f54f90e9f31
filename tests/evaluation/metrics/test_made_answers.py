"""Answers as models write them, in six languages, against the outcome each must have.

`answers/made.jsonl` has 1,000 answers that are right, wrong or have no score, and
`answers/right.jsonl` 500 right ones with their reasoning. `answers/traps.jsonl` has
short texts, most of which look like an answer and are none, with what is read of each;
`answers/read.jsonl` has texts that say it in many ways, in six languages, and
`answers/refused.jsonl` those of which nothing is read, with the reason.
"""

import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import ScoreError
from json_lines import jsonl_rows
from metric_scores import answered, totals, values

_folder = Path(__file__).parent / "answers"
_outcomes: dict[float | None, str] = {1: "right", 0: "wrong", None: "unscored"}


def rows_of(name: str) -> list[dict[str, Any]]:
    """Return the rows of one of the tables."""
    return jsonl_rows(_folder / name)


def outcomes_of(rows: list[dict[str, Any]]) -> list[str]:
    """Return the outcome of each answer: right, wrong or unscored."""
    found: dict[int, tuple[float | None, ...]] = {}
    for metric in ("multiple-choice", "number-match"):
        mine = [at for at, row in enumerate(rows) if row["metric"] == metric]
        records = [
            answered(
                rows[at]["answer"],
                [rows[at]["reference"]],
                choices=[*rows[at].get("choices", ())],
            )
            for at in mine
        ]
        # One that is right, since a run without any score is an error.
        right = answered("1", ["1"], choices=["1", "2"])
        scores = values(metric, [*records, right], unreadable="left-out")
        found |= dict(zip(mine, scores, strict=False))
    return [_outcomes[found[at][0]] for at in range(len(rows))]


def test_made_answers_have_the_outcome_of_the_table() -> None:
    """Each of 1,000 answers is right, wrong or unscored, as people judged it."""
    rows = rows_of("made.jsonl")
    others = [
        (row["answer"], row["reference"], row["outcome"], found)
        for row, found in zip(rows, outcomes_of(rows), strict=True)
        if found != row["outcome"]
    ]

    assert others == []
    assert len(rows) == 1000
    counts = Counter((row["language"], row["outcome"]) for row in rows)
    assert len(counts) == 18
    assert min(counts.values()) >= 25


def test_right_answers_with_reasoning_are_scored() -> None:
    """At most 1 % of 500 right answers become unscored, and none is wrong."""
    rows = rows_of("right.jsonl")
    found = Counter(outcomes_of(rows))

    assert (len(rows), found["wrong"]) == (500, 0)
    assert found["unscored"] <= 5


def same(one: str, other: str) -> bool:
    """Tell whether two texts are the same number."""
    return Fraction(one) == Fraction(other)


def references_of(row: dict[str, Any]) -> list[str]:
    """Return the references that an answer may get credit for."""
    if row["metric"] == "multiple-choice":
        return list("ABCD")
    numbers: list[str] = re.findall(r"\d+(?:\.\d+)?", row["answer"])
    if not row["read"]:
        return numbers
    return [row["read"], *(one for one in numbers if not same(one, row["read"]))]


def test_only_what_an_answer_says_gets_credit() -> None:
    """No reference gets credit by a text that denies, hedges or means another one."""
    rows = rows_of("traps.jsonl") + rows_of("read.jsonl")
    tried = [
        row | {"reference": one, "at": at}
        for at, row in enumerate(rows)
        for one in references_of(row)
    ]
    right: list[set[str]] = [set() for _ in rows]
    for row, outcome in zip(tried, outcomes_of(tried), strict=True):
        if outcome == "right":
            right[row["at"]].add(row["reference"])
    others = [
        (row["answer"], row["read"], credited)
        for row, credited in zip(rows, right, strict=True)
        if credited != ({row["read"]} if row["read"] else set())
    ]

    assert others == []
    assert len(tried) > 2 * len(rows)


@for_each_case("row", rows_of("refused.jsonl"), ids=lambda row: row["answer"][:40])
def test_nothing_is_guessed(row: dict[str, Any]) -> None:
    """An answer without a choice or a number, or with several, has none: a reason."""
    record = answered(row["answer"], ["A"], choices=row.get("choices", []))
    if row["metric"] == "number-match":
        record["references"] = ["1"]

    with pytest.raises(ScoreError) as refused:
        totals(row["metric"], [record], unreadable="left-out")
    assert row["reason"] in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "A, ",
        "答案是",
        "\\boxed{",
        *(
            pytest.param(each, marks=pytest.mark.long)
            for each in ("The answer is A. ", "A or ", "(A)", "5 ")
        ),
    ],
)
def test_texts_that_repeat_themselves_are_read(text: str) -> None:
    """A model that repeats itself without end stops no run."""
    row = {"answer": text * 3000, "reference": "1", "choices": ["1", "2"]}
    rows = [row | {"metric": one} for one in ("multiple-choice", "number-match")]

    assert set(outcomes_of(rows)) <= {"right", "wrong", "unscored"}


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("The answer", "I guess the answer"),
        lambda text: f"{text}\n",
        lambda text: f"<think>The answer is D, or 3.</think>{text}",
        lambda text: text.replace("**", "__"),
        lambda text: text.replace(" ", "  "),
        lambda text: text.replace(" ", " " * 5),
    ],
)
def test_how_it_is_set_changes_no_outcome(change: Any) -> None:
    """White space, other marks of bold and earlier thoughts change no outcome."""
    rows = rows_of("right.jsonl")
    changed = [row | {"answer": change(row["answer"])} for row in rows]

    assert outcomes_of(changed) == outcomes_of(rows)
