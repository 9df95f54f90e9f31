"""Texts of pictures: none is on another one, or beyond the border."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import harpia_formats as hf
from effort import examples
from harpia_formats.evaluation.figures import drawing
from harpia_formats.evaluation.figures.picture_files import KINDS
from harpia_formats.evaluation.figures.pictures import Mark, Rows, draw_rows
from harpia_formats.evaluation.plots import Interval
from harpia_formats.evaluation.scoring.benchmarks import BenchmarkScores
from json_lines import jsonl

pytest.importorskip("matplotlib", reason="pictures need the extra report")

_words = random.Random(7)  # noqa: S311 - names of tests
#: Twelve names of 38 letters without a common part, and twelve with some.
WIDE = [
    "".join(_words.choices("WMQabcxyz-", k=37)) + "WXYZAMNQOBCD"[n] for n in range(12)
]
COMMON = [f"Organisation/Model-{at:02}-Instruct-v0.3-2026" for at in range(12)]
METRICS = ("f1", "chrf", "f1-macro", "em", "W" * 38 + "=em")


def answers_as_lines(names: Sequence[str], questions: int = 6) -> bytes:
    """Return records with answers of each system, whose labels are long."""
    chosen = random.Random(5)  # noqa: S311 - answers of tests
    labels = ["yes", "no", "W" * 38]
    rows = [
        {
            "id": str(at),
            "prompt": f"q{at}",
            "category": f"{'M' * 38}{at % 2}",
            "references": [labels[at % 3]],
            "outputs": [{"model": one, "text": chosen.choice(labels)} for one in names],
        }
        for at in range(questions)
    ]
    return jsonl(*rows)


def result_of(
    kind: str, names: Sequence[str], questions: int, by: Sequence[str]
) -> Any:
    """Return what a picture of a kind is drawn of."""
    data = answers_as_lines(names, questions)
    if kind in {"differences", "score plan"}:
        found = hf.compare_scores(data, metrics=METRICS[-2:], jobs=1, replicates=9)
        if kind == "differences":
            return found
        systems = tuple(system.name for system in found.systems)
        benchmarks = (replace(found, name=name) for name in ("GSM8K", WIDE[0]))
        return BenchmarkScores(systems, tuple(benchmarks))
    return hf.score(data, metrics=METRICS, by=by, jobs=1, replicates=50)


def boxes_of(figure: Any) -> list[tuple[str, Any]]:
    """Return the texts of a figure as it is drawn, with the boxes that they are in."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - optional
    from matplotlib.text import Text  # noqa: PLC0415 - optional

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return [
        (text.get_text(), text.get_window_extent(canvas.get_renderer()))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text()
    ]


def check_room(figure: Any) -> None:
    """Check that no text of a figure is on another one, or beyond the border."""
    boxes = boxes_of(figure)
    for text, box in boxes:
        assert box.x0 >= 0, text
        assert box.y0 >= 0, text
        assert box.x1 <= figure.bbox.x1, text
        assert box.y1 <= figure.bbox.y1, text
    for (text, box), (other, second) in itertools.combinations(boxes, 2):
        is_apart = (
            *(box.x1 <= second.x0, second.x1 <= box.x0),
            *(box.y1 <= second.y0, second.y1 <= box.y0),
        )
        assert any(is_apart), (text, other)


#: The names of systems; the default run has twelve and six of them by turns.
NAMES = {"12": WIDE, "6": WIDE[:6], "common": COMMON}


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        pytest.param(
            kind,
            names,
            id=f"{kind.command} {kind.name} {size}",
            marks=[] if size == ("12", "6")[at % 2] else pytest.mark.long,
        )
        for at, kind in enumerate(KINDS)
        for size, names in NAMES.items()
    ],
)
def test_no_text_is_on_another_one(kind: Any, names: list[str]) -> None:
    """Twelve systems of 38 letters have room, and so have long names of scores."""
    which = kind.command if kind.command == "score plan" else kind.name
    result = result_of(which, names, 6, ())
    with drawing.settings():
        figure = kind.draw(result).figure
        check_room(figure)


@pytest.mark.parametrize("questions", [1, 6])
def test_groups_have_room(questions: int) -> None:
    """Six systems differ by their marks, and one question is reported in a note."""
    result = result_of("scores", WIDE[:6], questions, ("category",))
    with drawing.settings():
        check_room(KINDS[0].draw(result).figure)


_numbers = st.floats(-1e300, 1e300) | st.floats(-100, 100) | st.floats(0, 1)


@examples(6)
@given(_numbers, st.floats(0, 1e6) | st.floats(0, 1e-6), st.booleans())
@example(0.0, 418786.0, False)
def test_any_number_has_an_axis(value: float, width: float, zero: bool) -> None:
    """Numbers on axes next to each other are apart, whatever they are."""
    row = Interval(value, value - width, value + width, "a remark")
    marks = [Mark(0, title, row) for title in "abc"]
    with drawing.settings():
        check_room(draw_rows(Rows({0: "row"}, has_zero=zero), "abc", marks, ()))


@given(
    st.lists(st.text("W i-\u4e2d\u0301", max_size=60), max_size=5),
    st.floats(0.5, 5),
)
@examples(13)
def test_lines_are_not_wider_than_asked(texts: list[str], width: float) -> None:
    """Whatever the words are, every line fits, or is one letter."""
    with drawing.settings():
        for line in drawing.lines_in(texts, width):
            assert drawing.width_of(line, drawing.SMALL) <= width or len(line) <= 1
