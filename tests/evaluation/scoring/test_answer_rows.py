"""A row for each answer with its own scores: where it is and what it belongs to."""

from pathlib import Path
from typing import Any

import pytest

import harpia_formats as hf
from json_lines import jsonl

FIXTURES = Path(__file__).parents[3] / "fixtures"
NAMES = ("path", "line", "record", "id", "model", "question", "length")


def answers_as_lines(*answers: tuple[Any, str, str], name: str = "m") -> bytes:
    """Return a record for each answer with its reference and category."""
    rows = [
        {
            "id": f"q{number}",
            "prompt": f"question {number}",
            "references": [reference],
            "category": category,
            "outputs": [{"model": name, "text": text}],
        }
        for number, (text, reference, category) in enumerate(answers)
    ]
    return jsonl(*rows)


THREE = answers_as_lines(("Paris", "paris", "a"), ("4", "5", "b"), ("", "x", "a"))


def test_a_row_has_its_place_and_its_own_scores() -> None:
    """Each answer has the line, id, length, fields and scores that are its own."""
    found = hf.score_answers(THREE, metrics=("em", "f1"), by=("category",))
    rows = [row.as_row() for row in found]

    assert [row["line"] for row in rows] == [1, 2, 3]
    assert [row["id"] for row in rows] == ["q0", "q1", "q2"]
    assert [row["length"] for row in rows] == [5, 1, 0]
    assert [row["category"] for row in rows] == ["a", "b", "a"]
    assert [row["em"] for row in rows] == [1.0, 0.0, 0.0]
    assert {row["model"] for row in rows} == {"m"}
    assert list(rows[0]) == [*NAMES, "category", "em", "f1"]


def test_the_mean_of_the_rows_is_the_score() -> None:
    """The scores of all answers are there after the last row, and only then."""
    found = hf.score_answers(THREE, metrics=("f1",))
    with pytest.raises(ValueError, match="last answer"):
        _ = found.scores
    values = [row.scores["f1"] or 0.0 for row in found]

    assert sum(values) / len(values) == found.scores["f1"].value
    assert found.scores["f1"].value == hf.score(THREE, metrics=("f1",))["f1"].value


def test_answers_to_one_question_share_its_digest() -> None:
    """Rows of two systems are paired by `question`, which is none of their values."""
    (one,) = hf.score_answers(answers_as_lines(("a", "b", "c")), metrics=("em",))
    (other,) = hf.score_answers(
        answers_as_lines(("c", "b", "c"), name="n"), metrics=("em",)
    )
    (third,) = hf.score_answers(answers_as_lines(("c", "d", "c")), metrics=("em",))

    assert one.question == other.question != third.question


def test_a_pooled_score_of_one_answer_has_another_name() -> None:
    """The BLEU of one answer is not called like that of all answers."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    row = next(hf.score_answers(THREE, metrics=("bleu", "em")))

    assert list(row.scores) == ["bleu.row", "em"]


def test_answers_are_scored_when_they_are_asked_for(tmp_path: Path) -> None:
    """The first row is there before the last one is read, which is not valid."""
    path = tmp_path / "many.jsonl"
    one = answers_as_lines(("Paris", "paris", "a"))
    path.write_bytes(one * 5_000 + b"{\n")
    found = hf.score_answers(path, metrics=("em",))

    assert next(found).scores == {"em": 1.0}
    with pytest.raises(hf.ValidationFailed):
        list(found)
    other = hf.score_answers(path, metrics=("em",))
    next(other)
    other.close()
    assert list(other) == []


def test_a_missing_score_is_none() -> None:
    """An answer that is missing has no length and no score, and a row nevertheless."""
    given = answers_as_lines((None, "x", "c"), ("x", "x", "c"))
    missing, present = hf.score_answers(given, metrics=("em",), missing="skip")

    assert (missing.length, missing.scores["em"]) == (None, None)
    assert (present.length, present.scores["em"]) == (1, 1.0)
    with pytest.raises(hf.ScoreError, match="no answer"):
        list(hf.score_answers(given, metrics=("em",)))


def test_scores_that_no_answer_alone_has_are_no_column() -> None:
    """Rows have neither scores of questions nor of labels, and keep all others."""
    given = answers_as_lines(("x", "x", "c"), ("y", "x", "c"))
    metrics = ("pass@1", "em", "f1-macro", "bleu")
    found = hf.score_answers(given, metrics=metrics)

    assert [[*row.scores] for row in found] == [["em", "bleu.row"]] * 2


def test_stored_scores_have_rows() -> None:
    """With `stored` the rows have the scores that a tool stored."""
    path = FIXTURES / "helm/valid/joint.json"
    rows = list(hf.score_answers(path, stored=True))

    assert rows
    assert all(row.scores for row in rows)


def test_a_score_that_is_called_like_a_column_is_renamed() -> None:
    """No column of the answers is replaced by a score of another name."""
    (row,) = hf.score_answers(answers_as_lines(("x", "x", "c")), metrics=("id=em",))

    assert row.as_row()["id"] == "q0"
    assert row.as_row()["score.id"] == 1.0


def test_redacted_rows_have_the_path_that_problems_have(tmp_path: Path) -> None:
    """It is no value of a record, whatever is in the name of the file."""
    path = tmp_path / "answers!Peru.jsonl"
    path.write_bytes(THREE)
    rows = list(hf.score_answers(path, metrics=("em",), redact=True))

    assert {row.path for row in rows} == {str(path)}


def test_redacted_rows_hold_no_value() -> None:
    """With `redact` neither ids, models, groups nor digests of questions are shown."""
    found = hf.score_answers(THREE, metrics=("em",), by=("category",), redact=True)
    rows = list(found)

    assert [row.key["category"] for row in rows] == [
        "category 1",
        "category 2",
        "category 1",
    ]
    assert {(row.id, row.model, row.question) for row in rows} == {
        (None, "model 1", "")
    }


def test_answers_become_frames() -> None:
    """Both frames have a row for each answer; one without rows has the columns."""
    pandas = pytest.importorskip("pandas", reason="needs the extra notebook")
    frame = hf.score_answers(THREE, metrics=("em",), by=("category",)).to_pandas()

    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == [*NAMES, "category", "em"]
    assert frame["em"].to_list() == [1.0, 0.0, 0.0]
    pytest.importorskip("polars", reason="needs the extra notebook")
    polars = hf.score_answers(THREE, metrics=("em",), by=("category",)).to_polars()
    assert polars.columns == list(frame.columns)
    assert polars["length"].to_list() == [5, 1, 0]
