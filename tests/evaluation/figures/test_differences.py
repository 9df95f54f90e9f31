"""Pictures of comparisons: differences with their intervals."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import harpia_formats as hf
from json_lines import jsonl
from svg_texts import texts_of

pytest.importorskip("matplotlib", reason="pictures need the extra report")


def compared(answers: dict[str, str], metrics: tuple[str, ...] = ("em",)) -> Any:
    """Compare models by their answers to some questions: `y` is a right one."""
    count = len(next(iter(answers.values())))
    rows = [
        {
            "id": str(at),
            "prompt": f"q{at}",
            "references": ["yes"],
            "outputs": [
                {"model": model, "text": {"y": "yes"}.get(text[at], "no")}
                for model, text in answers.items()
            ],
        }
        for at in range(count)
    ]
    text = jsonl(*rows)
    return hf.compare_scores(text, metrics=metrics, jobs=1)


def drawn(found: Any, folder: Path) -> tuple[ET.Element, tuple[str, ...]]:
    """Return the SVG of a comparison, and the notes on it."""
    notes = hf.write_picture(found, folder / "a.svg")
    return ET.fromstring((folder / "a.svg").read_bytes()), notes  # noqa: S314 - our own text


def test_each_pair_is_a_row_with_its_p_values(tmp_path: Path) -> None:
    """The description has the difference, its interval and both p-values."""
    found = compared({"a": "y" * 40, "b": "n" * 30 + "y" * 10, "c": "yn" * 20})
    picture, notes = drawn(found, tmp_path)
    description = str(picture[1].text)

    assert notes == ()
    assert {"a \u2212 b", "a \u2212 c", "b \u2212 c", "em \u2191"} < set(
        texts_of(picture)
    )
    assert "em of a \u2212 b: +0.7500 [" in description
    assert "(Holm)" in description
    assert any("p (Holm) below 0.05" in text for text in texts_of(picture))


def test_a_difference_is_significant_below_the_limit(tmp_path: Path) -> None:
    """A p-value of the limit itself is open in the picture and bold in the table."""
    found = compared({"a": "yyyyyynn", "b": "ynyynnnn"})
    seen = {}
    for p_value in (0.04, 0.05, 0.06):
        one = replace(found.compared[0], adjusted_p=p_value)
        changed = replace(found, compared=(one,))
        picture, _ = drawn(changed, tmp_path)
        picture.remove(picture[1])
        table = io.BytesIO()
        hf.write_report(changed, table, reporter="markdown")
        bold = table.getvalue().count(b"**")
        seen[p_value] = (ET.tostring(picture), bold)

    assert seen[0.04][0] != seen[0.05][0] == seen[0.06][0]
    assert (seen[0.04][1], seen[0.05][1], seen[0.06][1]) == (2, 4, 4)


def test_a_notebook_shows_the_differences_as_a_chart() -> None:
    """Rows are named by the score, and by the pair if there are several."""
    two = compared({"a": "yyyyynnn", "b": "ynyynnnn"})._repr_html_()
    three = compared({"a": "yyyyynnn", "b": "ynyynnnn", "c": "nnnnyyyy"})._repr_html_()

    assert "Differences with their intervals: a - b<" in two
    assert "Differences with their intervals<" in three
    assert "em \u2191 of a - b" not in two
    assert "em \u2191 of a - c" in three


def test_charts_and_pictures_fill_the_same_marks(tmp_path: Path) -> None:
    """An interval without 0 is open if its p-value, adjusted for all, is not low."""
    found = compared({"a": "y" * 12 + "n" * 8, "b": "y" * 6 + "n" * 14, "c": "yn" * 10})
    difference = found.compared[0].comparison
    assert difference is not None
    assert difference.low > 0
    assert difference.p_value < 0.05 < (found.compared[0].adjusted_p or 0)
    picture, _ = drawn(found, tmp_path)
    chart = found.shown_charts()

    assert 'class="dot hollow"' in chart
    assert 'class="dot"' not in chart
    sentence = "Filled marks have p (Holm) below 0.05, open ones do not."
    assert sentence in texts_of(picture)
    assert f"<small>{sentence} " in chart


@pytest.mark.parametrize(
    ("metrics", "titles", "sides"),
    [
        (("wer",), {"wer \u2193"}, ["\u2193: left of 0 the first system is better."]),
        (
            ("em", "wer", "length"),
            {"em \u2191", "wer \u2193", "length.characters"},
            [
                "\u2191: right of 0 the first system is better.",
                "\u2193: left of 0 the first system is better.",
            ],
        ),
    ],
)
def test_it_is_reported_on_which_side_the_first_system_is_better(
    metrics: tuple[str, ...], titles: set[str], sides: list[str], tmp_path: Path
) -> None:
    """The names of scores have arrows, which the picture and the chart explain."""
    found = compared({"a": "yyyyynnn", "b": "ynyynnnn"}, metrics)
    picture, _ = drawn(found, tmp_path)
    texts = texts_of(picture)
    chart = found.shown_charts()

    assert titles <= set(texts)
    assert {text for text in texts if "the first system is better" in text} == {*sides}
    assert all(f'<th scope="row">{title}</th>' in chart for title in titles)
    assert sides[0] in chart


def test_remarks_on_differences_are_marked_and_explained(tmp_path: Path) -> None:
    """An interval of 0 without questions that differ does not look certain."""
    found = compared({"a": "yyyyynnn", "b": "yyyyynnn"})
    picture, _ = drawn(found, tmp_path)
    difference = found.compared[0].comparison
    assert difference is not None

    assert difference.remark
    assert {"*", f"* {difference.remark}"} < set(texts_of(picture))
    assert f", {difference.remark}." in str(picture[1].text)
