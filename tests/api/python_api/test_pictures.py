"""Results of the Python functions as pictures."""

import re
from pathlib import Path
from typing import Any

import pytest

import harpia_formats as hf

pytest.importorskip("matplotlib", reason="pictures need the extra report")

ROWS: list[dict[str, Any]] = [
    {
        "input": {"prompt": "q", "ideal_response": "r", "category": "", "source": ""},
        "response": "r",
        "llm_name": "m",
    }
]


def test_scores_are_drawn_and_what_is_not_is_returned(tmp_path: Path) -> None:
    """The suffix chooses the format; a name with an equals sign names no kind."""
    scores = hf.score(ROWS, metrics=("em",))
    notes = hf.write_picture(scores, tmp_path / "scores=a.svg")

    assert (tmp_path / "scores=a.svg").read_bytes().startswith(b"<?xml")
    assert notes == (
        f"{tmp_path}/scores=a.svg: not drawn (one question): em of all answers",
    )


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("pie", "no picture called 'pie'"),
        ("lengths", "no picture is called 'lengths' any more"),
        ("confusion", "there is no confusion matrix to draw"),
    ],
)
def test_a_picture_that_cannot_be_is_an_error(
    tmp_path: Path, kind: str, reason: str
) -> None:
    """The error says why, and no file is written."""
    scores = hf.score(ROWS, metrics=("em",))
    with pytest.raises(hf.FigureError, match=re.escape(reason)):
        hf.write_picture(scores, tmp_path / "a.svg", kind=kind)

    assert not (tmp_path / "a.svg").exists()


def test_only_scores_are_drawn(tmp_path: Path) -> None:
    """Another result has no picture, and a stream is no place for one."""
    with pytest.raises(TypeError, match="not a Report"):
        hf.write_picture(hf.validate(ROWS), tmp_path / "a.svg")
    with pytest.raises(TypeError, match="not to a int"):
        hf.write_picture(hf.score(ROWS, metrics=("em",)), 5)  # type: ignore[arg-type]  # what a caller without types may pass
