"""Pictures of the scores of single answers, and of scores by length."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from harpia_formats.evaluation.figures import drawing
from harpia_formats.evaluation.figures.drawing import (
    FigureError,
    Grid,
    grid_of,
    share_axis,
)
from harpia_formats.evaluation.figures.picture_files import PictureFiles, picture_file
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.scoring_run import Scoring
from harpia_formats.files.io.outputs import FilesRead

pytest.importorskip("matplotlib", reason="pictures need the extra report")

KINDS = ("distributions", "lengths")


def data_of(answers: list[tuple[str | None, str]]) -> bytes:
    """Return a record for each model and answer, whose reference is `yes it is`."""
    rows = [
        {
            "id": str(number),
            "prompt": f"q{number}",
            "references": ["yes it is"],
            "outputs": [{"text": text} | ({"model": model} if model else {})],
        }
        for number, (model, text) in enumerate(answers)
    ]
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def written(
    folder: Path, answers: list[tuple[str | None, str]], **options: Any
) -> tuple[dict[str, str], list[str]]:
    """Return the SVG of each kind, and what is said of them."""
    places = {name: folder / f"{name}.svg" for name in KINDS}
    texts = [f"{name}={place}" for name, place in places.items()]
    files = PictureFiles([picture_file(text, "score") for text in texts], FilesRead())
    given: dict[str, Any] = {"metrics": ("em", "f1"), "jobs": 1} | options
    chosen = ScoreOptions(**given)
    observers = [] if files.counts is None else [files.counts.begin]
    run = Scoring([data_of(answers)], options=chosen, observers=observers)
    list(run)
    notes = files.write(run.scores())
    return {
        name: place.read_text(encoding="utf-8") for name, place in places.items()
    }, notes


def description_of(picture: str) -> str:
    """Return the description of an SVG."""
    root = ET.fromstring(picture)  # noqa: S314 - our own text
    return str(root[1].text)


def test_shares_and_means_are_in_the_description(tmp_path: Path) -> None:
    """Each model has its own distribution, with the answers that it has a score for."""
    answers: list[tuple[str | None, str]] = [
        *[("a", "yes it is")] * 3,
        ("a", "no"),
        *[("b", "no")] * 6,
    ]
    pictures, notes = written(tmp_path, answers)
    distributions = description_of(pictures["distributions"])

    assert "em of a: mean 0.7500 of 4 answers, from 0 to 1; 75 %" in distributions
    assert "em of b: mean 0.0000 of 6 answers, from 0 to 0.05; 100 %" in distributions
    lengths = description_of(pictures["lengths"])
    assert "em of b by characters: 0.0000 for 2 to 3." in lengths
    assert "em of a by" not in lengths
    assert any("no length that 5 answers have" in note for note in notes)


def test_the_axis_of_shares_has_its_numbers_once(tmp_path: Path) -> None:
    """It has 0, a round share above all bars and a name, beside the last model."""
    answers: list[tuple[str | None, str]] = [
        (model, text) for model in "ab" for text in ["yes it is"] * 17 + ["no"] * 3
    ]
    picture = written(tmp_path, answers, metrics=("em",))[0]["distributions"]

    assert picture.count(">90 %</text>") == picture.count(">0</text>") == 1
    assert picture.count(">answers</text>") == 1
    assert "%</text>" not in picture.replace(">90 %</text>", "")


@pytest.mark.parametrize(
    ("share", "highest"),
    [
        *[(0.88, "90 %"), (0.9, "90 %"), (0.65, "70 %"), (0.31, "40 %")],
        *[(1, "100 %"), (0.93, "100 %"), (0.11, "12 %"), (0.0021, "0.25 %")],
    ],
)
def test_the_line_of_a_share_is_not_below_the_bars(share: float, highest: str) -> None:
    """It is within the panel, at the next round share."""
    with drawing.settings():
        _, ((axes,),) = grid_of(Grid(["a"], ["em"], 0.5, "score", []))
        share_axis([axes], share, share * 1.08, "answers")
        (_, label) = axes.get_yticklabels()

    assert label.get_text() == highest
    assert share <= axes.get_yticks()[1] + 1e-9
    assert axes.get_yticks()[1] < axes.get_ylim()[1]


def test_the_axis_of_lengths_is_said_to_be_logarithmic(tmp_path: Path) -> None:
    """Its numbers do not grow by the same number."""
    picture = written(tmp_path, [("a", "no")] * 6)[0]["lengths"]

    assert "logarithmic" in picture


def test_answers_without_a_model_are_of_the_only_one(tmp_path: Path) -> None:
    """They are counted with those of the model, as in the scores."""
    answers: list[tuple[str | None, str]] = [(None, "no"), ("a", "yes it is")] * 2
    pictures, _ = written(tmp_path, answers)

    assert "em of all answers: mean 0.5000 of 4 answers" in description_of(
        pictures["distributions"]
    )


def test_one_answer_is_said_and_not_drawn(tmp_path: Path) -> None:
    """The distribution of one number is a sentence."""
    pictures, notes = written(tmp_path, [("a", "no"), ("b", "no"), ("b", "no")])

    assert "not drawn (less than two answers): em of a (1)" in notes[0]
    assert ">one answer</text>" in pictures["distributions"]
    assert "em of a" not in description_of(pictures["distributions"])


def test_names_of_models_are_redacted(tmp_path: Path) -> None:
    """Models are called by the numbers that they have in the table."""
    pictures, _ = written(
        tmp_path, [("secret", "no"), ("other", "no")] * 5, redact=True
    )

    for picture in pictures.values():
        assert ">model 2</text>" in picture
        assert "secret" not in picture


def test_scores_of_questions_alone_are_no_scores_of_answers(tmp_path: Path) -> None:
    """They are left out, and it is an error if there is no other."""
    answers: list[tuple[str | None, str]] = [("a", "no"), ("a", "yes it is")]
    pictures, _ = written(tmp_path, answers, metrics=("pass@k", "em", "f1-macro"))

    assert ">em</text>" in pictures["distributions"]
    assert "pass@1" not in pictures["distributions"]
    assert "f1-macro" not in pictures["distributions"]
    with pytest.raises(FigureError, match="no score of single answers"):
        written(tmp_path, answers, metrics=("pass@k",))
