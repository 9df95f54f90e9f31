"""What is known of records is bounded, whatever names they have."""

from pathlib import Path
from typing import Any

import pytest

from harpia_formats import HarpiaFormatsError
from json_lines import jsonl
from ready_session import viewed


def row(number: int, model: str, **more: Any) -> dict[str, Any]:
    """Return a row with an answer of a model."""
    return {
        "id": number,
        "prompt": f"q{number}",
        "outputs": [{"model": model, "text": "a"}],
        **more,
    }


def test_models_beyond_those_that_have_a_bit(tmp_path: Path) -> None:
    """The first 63 models are distinguished, and a filter on another one is refused."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(jsonl(*(row(n, f"m{n}") for n in range(1, 101))))
    with viewed(path) as session:
        (file,) = session.files()["files"]
        assert file["models"] == [f"m{n}" for n in range(1, 64)]
        found = session.rows({"model": "m7"})["rows"]
        assert [one["record"] for one in found] == [7]
        with pytest.raises(HarpiaFormatsError, match="counted together"):
            session.rows({"model": "m80"})
        counted = session.summary({})["models"]
        assert sum(one["count"] for one in counted) == 63


def test_long_names_take_no_memory(tmp_path: Path) -> None:
    """Categories whose names are long in all are not told apart, nor filtered by."""
    names = [f"{n}{'x' * 50_000}" for n in range(100)]
    path = tmp_path / "a.jsonl"
    path.write_bytes(jsonl(*(row(n, "m", category=names[n]) for n in range(100))))
    with viewed(path) as session:
        (file,) = session.files()["files"]
        assert session.rows({"category": names[0]})["total"] == 1
        with pytest.raises(HarpiaFormatsError, match="not told apart"):
            session.rows({"category": names[-1]})
    assert 0 < file["categories"] < 60


def test_scores_of_several_models_of_a_record_are_apart(tmp_path: Path) -> None:
    """Each model of a record has its own scores, and the record their mean."""
    outputs = [
        {"model": name, "text": "a", "scores": [{"metric": "f1", "value": value}]}
        for name, value in (("a", 1.0), ("b", 0.5))
    ]
    path = tmp_path / "a.jsonl"
    path.write_bytes(jsonl({"id": 1, "prompt": "q", "outputs": outputs}))
    with viewed(path) as session:
        (metric,) = session.summary({})["metrics"]
        (pair,) = session.compare({"a": "0.0", "b": "0.1", "metric": "f1"})["rows"]
    assert metric["mean"] == 0.75
    assert (pair["a"]["score"], pair["b"]["score"]) == (1.0, 0.5)


def test_an_empty_answer_is_no_missing_one(tmp_path: Path) -> None:
    """An answer without a character is there, and one without a text is missing."""
    texts: list[dict[str, str | None]] = [
        {"text": "a"},
        {"text": ""},
        {"text": None},
        {},
    ]
    rows = [
        {"id": at, "prompt": f"q{at}", "outputs": [{"model": "m", **text}]}
        for at, text in enumerate(texts, 1)
    ]
    path = tmp_path / "a.jsonl"
    path.write_bytes(jsonl(*rows, {"id": 5, "prompt": "q5", "outputs": []}))
    with viewed(path) as session:
        found = {
            answer: [row["record"] for row in session.rows({"answer": answer})["rows"]]
            for answer in ("present", "missing")
        }
        assert found == {"present": [1, 2], "missing": [3, 4, 5]}
        assert session.summary({})["missing"] == 3
