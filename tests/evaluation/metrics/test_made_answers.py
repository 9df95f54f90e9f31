"""Answers as models write them, in six languages, against the outcome each must have.

`answers/made.jsonl` has 1,000 answers that are right, wrong or have no score, and
`answers/right.jsonl` 500 right ones with their reasoning. `answers/traps.jsonl` has
short texts, most of which look like an answer and are none, with what is read of each.
"""

import json
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from harpia_formats.evaluation.metrics import UnscorableError, measure_of
from harpia_formats.evaluation.metrics.metric import Sample
from harpia_formats.evaluation.metrics.text import answer_phrases, choices, numbers

_folder = Path(__file__).parent / "answers"
_measures = {
    name: measure_of(name, {"unreadable": "left-out"})
    for name in ("multiple-choice", "number-match")
}


def rows_of(name: str) -> list[dict[str, Any]]:
    """Return the rows of one of the tables."""
    lines = (_folder / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def outcome_of(row: dict[str, Any]) -> str:
    """Return the outcome of an answer: right, wrong or unscored."""
    measure = _measures[row["metric"]]
    sample = Sample(row["answer"], [row["reference"]], row.get("choices", ()))
    try:
        if measure.of_sample is None:
            statistics = measure.statistics(row["answer"], [row["reference"]])
        else:
            statistics = measure.of_sample(sample)
    except UnscorableError:
        return "unscored"
    return "right" if statistics[0] else "wrong"


def test_made_answers_have_the_outcome_of_the_table() -> None:
    """Each of 1,000 answers is right, wrong or unscored, as people judged it."""
    rows = rows_of("made.jsonl")
    others = [
        (row["answer"], row["reference"], row["outcome"], found)
        for row in rows
        if (found := outcome_of(row)) != row["outcome"]
    ]

    assert others == []
    assert len(rows) == 1000
    counts = Counter((row["language"], row["outcome"]) for row in rows)
    assert len(counts) == 18
    assert min(counts.values()) >= 25


def test_right_answers_with_reasoning_are_scored() -> None:
    """At most 1 % of 500 right answers become unscored, and none is wrong."""
    rows = rows_of("right.jsonl")
    found = Counter(outcome_of(row) for row in rows)

    assert (len(rows), found["wrong"]) == (500, 0)
    assert found["unscored"] <= 5


def same(one: str, other: str) -> bool:
    """Tell whether two texts are the same number."""
    return Fraction(one) == Fraction(other)


def test_only_what_an_answer_says_gets_credit() -> None:
    """No reference gets credit by a text that denies, hedges or means another one."""
    others = []
    for row in rows_of("traps.jsonl"):
        if row["metric"] == "multiple-choice":
            references = list("ABCD")
        else:
            references = re.findall(r"\d+(?:\.\d+)?", row["answer"])
            if row["read"]:
                others_there = [one for one in references if not same(one, row["read"])]
                references = [row["read"], *others_there]
        right = {
            reference
            for reference in references
            if outcome_of(row | {"reference": reference}) == "right"
        }
        if right != ({row["read"]} if row["read"] else set()):
            others.append((row["answer"], row["read"], right))

    assert others == []


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
    for metric in _measures:
        row = {"metric": metric, "answer": text * 3000, "reference": "1"}
        assert outcome_of(row | {"choices": ["1", "2"]}) in {
            "right",
            "wrong",
            "unscored",
        }


_NEVER = re.compile(r"(?!)")
#: Parts of the extraction, without any of which answers get another outcome.
_PARTS = [
    (answer_phrases, "_correction"),
    (answer_phrases, "_unstated"),
    (answer_phrases, "_denied_in"),
    (answer_phrases, "_also"),
    (answer_phrases, "_filler"),
    (choices, "_joint"),
    (choices, "_denied_behind"),
    (choices, "_negation"),
    (choices, "_bold"),
    (choices, "_label"),
    (choices, "_but"),
    (choices, "_is_chosen"),
    (choices, "_choosing"),
    (choices, "_own_letter"),
    (numbers, "_bound"),
    (numbers, "_continued"),
    (numbers, "_no_unit"),
    (numbers, "_side"),
    (numbers, "_in_words"),
    (numbers, "_hashes"),
    (numbers, "_condition"),
]


@pytest.mark.parametrize(("module", "name"), _PARTS)
def test_the_table_misses_no_part_of_the_extraction(
    module: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any part of the extraction an answer changes its outcome."""
    monkeypatch.setattr(module, name, _NEVER)

    rows = (row for file in ("made.jsonl", "right.jsonl") for row in rows_of(file))
    assert any(_outcome_or_error(row) != row["outcome"] for row in rows)


def _outcome_or_error(row: dict[str, Any]) -> str:
    # A cached reading would not see the change.
    for measure in ("multiple-choice", "number-match"):
        _measures[measure] = measure_of(measure, {"unreadable": "left-out"})
    return outcome_of(row)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("The answer", "I guess the answer"),
        lambda text: f"{text}\n",
        lambda text: f"<think>The answer is D, or 3.</think>{text}",
        lambda text: text.replace("**", "__"),
        lambda text: text.replace(" ", "  "),
    ],
)
def test_how_it_is_set_changes_no_outcome(change: Any) -> None:
    """White space, other marks of bold and earlier thoughts change no outcome."""
    for row in rows_of("right.jsonl"):
        assert outcome_of(row | {"answer": change(row["answer"])}) == outcome_of(row)
