"""EvalEval's rows of one answer, one for each metric, are one answer."""

import random
import shutil
from itertools import product
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from cases import for_each_case
from command_runs import run
from effort import examples
from json_lines import jsonl, jsonl_rows

FIXTURES = Path(__file__).parents[3] / "fixtures"
AGGREGATE = FIXTURES / "eee-aggregate" / "valid" / "minimal-0.3.0.json"


def row(sample: int, text: str, metric: str, **changes: Any) -> dict[str, Any]:
    """Return a row of EvalEval 0.3.0 with the score of a metric."""
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "e",
        "model_id": "org/m",
        "evaluation_name": "quiz",
        "evaluation_result_id": f"quiz:{metric}",
        "sample_id": str(sample),
        "interaction_type": "single_turn",
        "input": {"raw": f"question {sample}", "reference": ["a"]},
        "output": {"raw": [text]},
        "answer_attribution": [],
        "evaluation": {"score": 0.5, "is_correct": False},
        **changes,
    }


@examples(12)
@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1),
    st.integers(1, 3),
    st.randoms(),
    st.sampled_from(["evaluation_name", "evaluation_result_id"]),
)
def test_each_answer_counts_once(
    answers: list[list[str]], metrics: int, chance: random.Random, key: str
) -> None:
    """In any order, rows of several metrics score as the rows of one metric."""
    numbered = [(at, text) for at, texts in enumerate(answers) for text in texts]
    rows = [
        row(sample, text, "x", **{key: f"metric {number}"})
        for (sample, text), number in product(numbered, range(metrics))
    ]
    one = [row(sample, text, "x") for sample, text in numbered]
    chance.shuffle(rows)

    found = harpia_formats.score(jsonl(*rows), metrics=("em", "f1"))
    expected = harpia_formats.score(jsonl(*one), metrics=("em", "f1"))

    assert found.total.scores == expected.total.scores
    assert found.total.answers == len(numbered)
    repeats = len(rows) - len(numbered)
    expected_note = f"score of another metric: {repeats:,}, not counted again"
    assert any(note.endswith(expected_note) for note in found.notes) == (repeats > 0)


@for_each_case(
    "change",
    [
        {"model_id": "org/n"},
        {"evaluation_id": "f"},
        {"input": {"raw": "other", "reference": ["a"]}},
        {"input": {"raw": "question 1", "reference": ["b"]}},
        {"output": {"raw": ["other"]}},
        {"sample_id": "2"},
    ],
)
def test_other_rows_are_other_answers(change: dict[str, Any]) -> None:
    """A row that differs in more than the metric is another answer."""
    rows = [row(1, "a", "em"), row(1, "a", "f1", **change)]

    scores = harpia_formats.score(jsonl(*rows), metrics=("em",))

    assert sum(system.answers for system in scores.systems) == 2


def test_evaluations_have_their_answers() -> None:
    """Grouped by evaluation, an answer counts in each of its evaluations."""
    names = ("one", "two")
    metrics = ("em", "f1")
    rows = [
        row(number, "a", metric, evaluation_name=name)
        for number, name, metric in product(range(4), names, metrics)
    ]

    scores = harpia_formats.score(
        jsonl(*rows), metrics=("em",), by=("evaluation_name",)
    )

    assert [group.answers for group in scores.groups] == [4, 4]
    assert (scores.total.answers, scores["em"].questions) == (4, 4)


@for_each_case("by, written", [((), 2), (("evaluation_name",), 4)])
def test_scores_that_records_lose_are_noted(
    by: tuple[str, ...], written: int, tmp_path: Path
) -> None:
    """Rows that are left out of records take their scores with them: a note says so."""
    rows = [
        row(number, "a", "em", evaluation_name=name)
        for number, name in product(range(2), ("one", "two"))
    ]
    output = tmp_path / "records.jsonl"

    scores = harpia_formats.score(
        jsonl(*rows), metrics=("em",), by=by, to="record", output=output
    )

    assert len(jsonl_rows(output)) == written
    notes = [note for note in scores.notes if "not written" in note]
    assert ["hold: 2;" in note for note in notes] == [True] * (written < 4)


def test_comparison_counts_each_answer_once() -> None:
    """Rows of several metrics are compared as one answer."""
    one = [row(n, "a", "em") for n in range(8)]
    several = [row(n, "b", name) for n in range(8) for name in ("em", "f1")]

    found = harpia_formats.compare_scores(jsonl(*one), jsonl(*several), metrics=("em",))

    assert (found.compared[0].first, found.compared[0].second) == (1.0, 0.0)
    assert found.scores[1].total.answers == 8


def test_aggregate_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    """A folder with samples and their aggregate is scored, and the latter is named."""
    rows = jsonl(*[row(n, "a", "em") for n in range(4)])
    (tmp_path / "quiz_samples.jsonl").write_bytes(rows)
    shutil.copy(AGGREGATE, tmp_path / "quiz.json")

    done = run("score", tmp_path, "-m", "em")
    compared = run("score", "compare", tmp_path, tmp_path, "-m", "em")
    scores = harpia_formats.score(tmp_path, metrics=("em",))

    assert (done.returncode, compared.returncode) == (0, 0), done.stderr
    assert scores.total.answers == 4
    for result in (done, compared):
        assert b"quiz.json" in result.stderr
        assert b"passed over: " in result.stderr


def test_named_aggregate_is_an_error(tmp_path: Path) -> None:
    """An aggregate that is named, or alone in its folder, cannot be scored."""
    shutil.copy(AGGREGATE, tmp_path / "quiz.json")

    for path in (tmp_path, tmp_path / "quiz.json"):
        done = run("score", path, "-m", "em")
        assert (done.returncode, done.stdout) == (2, b"")
