"""length and relative-length: known values, intervals, and results of vendors."""

from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from json_lines import jsonl
from metric_scores import answered, totals, value


@for_each_case(
    "answer, expected",
    [
        ("", (0, 0, 0)),
        ("don't stop", (10, 3, 2)),
        ("北京 is big", (9, 4, 3)),
        (" a\n\nb ", (6, 2, 2)),
        ("é👍🏽", (3, 1, 1)),
    ],
)
def test_lengths_are_counted_in_three_units(
    answer: str, expected: tuple[int, ...]
) -> None:
    """Characters are code points, words are those of ROUGE, tokens end at spaces."""
    found = totals("length", [answered(answer, [])])

    assert [one.name for one in found] == ["characters", "words", "tokens"]
    assert tuple(one.value for one in found) == expected


def test_the_relative_length_is_that_of_all_answers_together() -> None:
    """Lengths are added before they are divided; the closest reference counts."""
    pairs = [("a b c", ["a", "a b c d"]), ("a", ["a b c"]), ("", [""])]
    (found,) = totals("relative-length", [answered(*pair) for pair in pairs])

    assert found.value == 4 / 7
    assert value("relative-length", *pairs[0]) == 3 / 4
    with pytest.raises(harpia_formats.ScoreError, match="relative-length has no score"):
        value("relative-length", "a b c", [""])
    options = {"references": "first", "unit": "tokens"}
    assert value("relative-length", *pairs[0], **options) == 3


def write_records(folder: Path, count: int = 30) -> Path:
    """Return a file of answers of several lengths, one of them missing."""
    rows: list[dict[str, Any]] = [
        {"id": number, "outputs": [{"text": "a b " * (number % 7 + 1)}]}
        for number in range(count)
    ]
    rows[3]["outputs"] = [{"text": None}]
    for row in rows[:20]:
        row["references"] = ["a b c d"]
    file = folder / "records.jsonl"
    file.write_bytes(jsonl(*rows))
    return file


def test_lengths_need_no_reference_and_have_intervals(tmp_path: Path) -> None:
    """All answers are measured; a ratio leaves out those without a reference."""
    pytest.importorskip("numpy", reason="intervals need the extra score")
    names = ("length", "relative-length")

    found = harpia_formats.score(
        write_records(tmp_path), from_="record", metrics=names, missing="skip"
    )

    tokens, ratio = found["length.tokens"], found["relative-length"]
    assert (tokens.count, tokens.unscored, ratio.count) == (29, 1, 19)
    for score in (tokens, ratio):
        assert score.value is not None
        assert score.interval is not None
        assert score.interval[0] < score.value < score.interval[1]
        assert score.lower_is_better is None
    assert tokens.spread.maximum == 14


@pytest.mark.parametrize(
    ("to", "name"), [("csv", "out.csv"), ("record", "out.jsonl"), ("nemo-results", "r")]
)
def test_results_hold_lengths(tmp_path: Path, to: str, name: str) -> None:
    """A score without a best one is written as any other."""
    output = tmp_path / name

    harpia_formats.score(
        write_records(tmp_path),
        from_="record",
        metrics=("length",),
        missing="zero",
        to=to,
        output=output,
    )

    assert "tokens" in output.read_text()


def test_rows_that_must_be_right_or_wrong_hold_no_lengths(tmp_path: Path) -> None:
    """EvalEval's rows say whether an answer is correct, which no length does."""
    with pytest.raises(harpia_formats.ScoreError, match="no length is right"):
        harpia_formats.score(
            write_records(tmp_path),
            from_="record",
            metrics=("length",),
            missing="zero",
            to="eee@0.2.0",
            output=tmp_path / "out_samples.jsonl",
        )
