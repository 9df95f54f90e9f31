"""Pictures of confusion matrices."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import harpia_formats as hf
from harpia_formats import FigureError
from json_lines import jsonl
from svg_texts import texts_of

pytest.importorskip("matplotlib", reason="pictures need the extra report")


def drawn(
    folder: Path, pairs: list[tuple[str, str]], metrics: tuple[str, ...]
) -> tuple[ET.Element, tuple[str, ...]]:
    """Return the SVG of pairs of a reference and an answer, and the notes on it."""
    rows = [
        {"prompt": f"q{at}", "references": [one], "outputs": [{"text": other}]}
        for at, (one, other) in enumerate(pairs)
    ]
    text = jsonl(*rows)
    scores = hf.score(text, metrics=metrics, jobs=1, replicates=0)
    place = folder / "a.svg"
    notes = hf.write_picture(scores, place, kind="confusion")
    return ET.fromstring(place.read_bytes()), notes  # noqa: S314 - our own text


def test_a_matrix_has_the_number_of_answers_of_each_pair(tmp_path: Path) -> None:
    """Scores of one metric, and of metrics with the same matrix, have one picture."""
    pairs = [("yes", "yes")] * 5 + [("yes", "no")] * 2 + [("no", "no")] * 11
    picture, notes = drawn(tmp_path, pairs, ("f1-macro", "precision"))
    texts = texts_of(picture)

    assert notes == ()
    assert sorted(text for text in texts if text.isdigit()) == ["0", "11", "2", "5"]
    assert str(picture[1].text) == (
        "all answers: reference no: 11 no. reference yes: 2 no, 5 yes."
    )


def test_rare_labels_are_drawn_together(tmp_path: Path) -> None:
    """Of many labels the most frequent ones are drawn, with a note."""
    pairs = [(f"l{at:02}", f"l{at:02}") for at in range(40) for _ in range(40 - at)]
    picture, notes = drawn(tmp_path, pairs, ("kappa",))
    texts = texts_of(picture)
    rest = sum(range(1, 40 - 25 + 1))

    assert {"l24", "(other labels)", str(rest)} < set(texts)
    assert "l25" not in texts
    assert "the 25 most frequent labels are drawn" in notes[0]


def test_one_label_is_reported_and_not_drawn(tmp_path: Path) -> None:
    """A matrix of one label shows nothing."""
    picture, notes = drawn(tmp_path, [("yes", "yes")] * 3, ("f1-macro",))

    assert "not drawn (less than two labels): all answers" in notes[0]
    assert "yes" not in texts_of(picture)


def test_a_score_without_labels_is_an_error(tmp_path: Path) -> None:
    """It names what would have a matrix, and no file is written."""
    with pytest.raises(FigureError, match="score a metric of labels"):
        drawn(tmp_path, [("yes", "no")], ("em",))
    assert not (tmp_path / "a.svg").exists()
