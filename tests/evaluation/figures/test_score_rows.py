"""Pictures of scores: what is drawn, the notes, and the bytes of the files."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import harpia_formats as hf
from effort import examples
from harpia_formats import FigureError, SinkError
from in_process import InProcess
from json_lines import jsonl
from svg_texts import texts_of

pytest.importorskip("matplotlib", reason="pictures need the extra report")

#: Of models, in their order.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#767676")
_names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


def answers(models: tuple[str, ...] = ("m",), questions: int = 4) -> bytes:
    """Return answers of models, of which each answers every second question."""
    rows = [
        {
            "id": str(number),
            "prompt": f"q{number}",
            "references": ["yes it is"],
            "category": ["law", "art"][number % 2],
            "outputs": [
                {"model": name, "text": ["yes it is", "no", "it is"][(number + at) % 3]}
                for at, name in enumerate(models)
            ],
        }
        for number in range(questions)
    ]
    return jsonl(*rows)


def scores_of(
    models: tuple[str, ...] = ("m",), questions: int = 4, *, by: tuple[str, ...] = ()
) -> Any:
    """Return the scores of those answers."""
    data = answers(models, questions)
    return hf.score(data, metrics=("em", "f1"), by=by, jobs=1)


def drawn(
    scores: Any, folder: Path, name: str = "a.svg"
) -> tuple[bytes, tuple[str, ...]]:
    """Return the picture of scores, and the notes on it."""
    notes = hf.write_picture(scores, folder / name)
    return (folder / name).read_bytes(), notes


def test_models_and_scores_are_named_in_text(tmp_path: Path) -> None:
    """Texts are text, and there is a title and a description with the numbers."""
    picture, notes = drawn(scores_of(("alpha", "beta")), tmp_path)
    root = ET.fromstring(picture)  # noqa: S314 - our own text

    assert notes == ()
    assert {"em \u2191", "f1 \u2191", "alpha", "beta"} < set(texts_of(picture))
    assert root.get("aria-labelledby") == "title description"
    assert [part.get("id") for part in root[:2]] == ["title", "description"]
    assert "em of alpha: 0.5000 [0." in str(root[1].text)
    assert "Signature: em|" in str(root[1].text)


def test_the_ground_is_transparent_and_fonts_are_embedded(tmp_path: Path) -> None:
    """A PNG has greys for white and for black pages; a PDF holds its letters."""
    from matplotlib.image import imread  # noqa: PLC0415 - optional

    drawn(scores_of(("alpha", "\u4e2d$x_1$")), tmp_path, "a.png")
    image = imread(tmp_path / "a.png")
    picture, _ = drawn(scores_of(("alpha", "beta")), tmp_path, "a.pdf")

    assert tuple(image[0, 0]) == (1, 1, 1, 0)
    grey = image[(image[..., 3] == 1) & (image[..., 0] == image[..., 2])]
    assert {round(255 * float(one)) for one in grey[..., 0]} == {0x76}
    assert b"/CIDFontType2" in picture
    assert b"/Title (Scores with their intervals)" in picture


@pytest.mark.parametrize("name", ["a.svg", "a.png", "a.pdf"])
def test_equal_scores_give_equal_bytes(tmp_path: Path, name: str) -> None:
    """There is no date and no random id, and the settings of the user do not count."""
    import matplotlib as mpl  # noqa: PLC0415 - optional

    scores = scores_of(("alpha", "beta"), by=("category",))
    first, _ = drawn(scores, tmp_path, name)
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        second, _ = drawn(scores, tmp_path, name)

    assert first == second


def test_models_in_groups_differ_by_shape_and_colour(tmp_path: Path) -> None:
    """Each model has a colour and a mark of its own, which the legend shows."""
    picture, _ = drawn(scores_of(tuple("tuvwxyz"), 12, by=("category",)), tmp_path)
    text = picture.decode()

    assert {"all answers", "law", "art", "x", "y", "z"} < set(texts_of(picture))
    assert all(f"fill: {colour}" in text for colour in COLOURS)
    paths = re.findall(r'<path id="m\w+" d="([^"]+)"', text)
    assert len(set(paths)) >= len(COLOURS)


def test_colours_change_on_dark_pages(tmp_path: Path) -> None:
    """Each colour that is not readable on dark pages has another one there."""
    picture = drawn(scores_of(), tmp_path)[0].decode()

    for dark in ("#e6edf3", "#9da7b3", "#4aa8e0"):
        assert f"fill:{dark} !important" in picture


def test_one_question_is_reported_and_not_drawn(tmp_path: Path) -> None:
    """A score of one question is named below the picture and in a note."""
    picture, notes = drawn(scores_of(questions=1), tmp_path)
    text = "not drawn (one question): em of all answers, f1 of all answers"

    assert notes == (f"{tmp_path / 'a.svg'}: {text}",)
    assert f"\u2013 {text}" in texts_of(picture)
    assert COLOURS[0] not in re.sub("<style>.*?</style>", "", picture.decode())


def test_remarks_on_scores_are_marked_and_explained(tmp_path: Path) -> None:
    """A score without a visible interval does not look certain."""
    right = "yes it is"
    row = {"references": [right], "outputs": [{"text": right}]}
    rows = [row | {"id": str(at), "prompt": f"q{at}"} for at in range(20)]
    text = jsonl(*rows)
    scores = hf.score(text, metrics=("chrf",), jobs=1)
    picture, _ = drawn(scores, tmp_path)
    remark = "no replicate differs: the interval is approximate"

    assert scores["chrf"].remark == remark
    assert {"*", f"* {remark}"} < set(texts_of(picture))
    assert f"[100.0000, 100.0000], {remark}." in picture.decode()


def test_the_number_of_rows_has_a_limit_that_is_reported(tmp_path: Path) -> None:
    """Of more models than the limit the first ones are drawn."""
    more = tuple(f"model {number:02}" for number in range(61))
    picture, notes = drawn(scores_of(more, 2), tmp_path, "b.svg")

    assert set(more[:-1]) < set(texts_of(picture))
    assert more[-1] not in texts_of(picture)
    assert notes == (f"{tmp_path / 'b.svg'}: the first 60 of 61 rows are drawn",)


@examples(2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_names, _names)
def test_any_name_is_drawn(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], first: str, second: str
) -> None:
    """Names of all letters and with markup give XML, and no message of matplotlib."""
    picture, _ = drawn(scores_of((first, f"{second}$x_1$"), 2), tmp_path)
    drawn(scores_of((first,), 2), tmp_path, "a.png")

    assert any(one.endswith("$x_1$") for one in texts_of(picture))
    assert capfd.readouterr().err == ""


def test_letters_without_a_font_are_reported(tmp_path: Path) -> None:
    """A PNG with boxes in the place of letters is no silent one."""
    _, notes = drawn(scores_of(("\U0001f9ff\u0378", "y")), tmp_path, "a.png")

    assert "no font on this computer has U+0378" in notes[0]


def scored(folder: Path) -> Path:
    """Return a file of answers."""
    path = folder / "answers.jsonl"
    path.write_bytes(answers())
    return path


def test_only_pictures_of_ours_are_replaced(tmp_path: Path, run: InProcess) -> None:
    """An earlier picture is replaced; another file, and an input, never."""
    path, place = scored(tmp_path), tmp_path / "a.svg"
    hf.write_picture(scores_of(), place)
    (tmp_path / "b.svg").write_text("<svg/>", encoding="utf-8")

    assert run("score", path, "-m", "em", "--plot", place).code == 0
    with pytest.raises(SinkError, match="is no picture of harpia-formats"):
        hf.write_picture(scores_of(), tmp_path / "b.svg")
    assert "is an input" in run("score", path, place, "--plot", place).err
    both = (f"--plot={place}", f"--plot=scores={place}")
    written = ("--to", "csv", "-o", place, "--overwrite", "--plot", place)
    assert "an output of this run" in run("score", path, *written).err
    assert "two outputs" in run("score", path, *both).err


def test_every_command_has_a_first_kind(tmp_path: Path) -> None:
    """A file without a kind has one, and names of kinds are those of the table."""
    data = answers(("a", "b"))
    for result, known in (
        (hf.score(data, metrics=("em",)), "scores, confusion"),
        (hf.compare_scores(data, metrics=("em",)), "differences"),
    ):
        assert hf.write_picture(result, tmp_path / "a.svg") is not None
        with pytest.raises(FigureError, match=rf"'pie' \(known: {known}\)"):
            hf.write_picture(result, tmp_path / "b.svg", kind="pie")
