"""Confusion matrices in the table of scores and on its page."""

import io
from typing import Any

import pytest

import harpia_formats
from harpia_formats.cli.score_table import score_lines
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.reporters import Options
from harpia_formats.reporters.html.page import page_of


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def scores(labels: list[str], models: tuple[str, ...] = ("m",), **more: Any) -> Scores:
    """Return scores of answers with the label that follows that of the reference."""
    rows = [
        {
            "prompt": f"question {label}",
            "references": [label],
            "outputs": [{"model": model, "text": answer} for model in models],
        }
        for label, answer in zip(labels, [*labels[1:], labels[0]], strict=True)
    ]
    options = {"metrics": ("f1-macro", "mcc"), "replicates": 0, **more}
    return harpia_formats.score(rows, **options)


def test_matrices_are_below_the_table_of_scores() -> None:
    """Each model has one matrix of all metrics, and a label without text has a name."""
    found = scores(["", "b\x1b[1m", "c"], ("m", "n"))
    lines = list(score_lines(found, io.StringIO()))

    title = "answers by label, of f1-macro, mcc: {} (columns are labels of answers)"
    start = lines.index(title.format("m"))
    head, _, *rows = lines[start + 1 : start + 6]
    assert head.split() == ["reference", "(empty)", r"b\x1b[1m", "c", "(all)"]
    assert [row.split() for row in rows] == [
        ["(empty)", "0", "1", "0", "1"],
        [r"b\x1b[1m", "0", "0", "1", "1"],
        ["c", "1", "0", "0", "1"],
    ]
    assert title.format("n") in lines[start + 6 :]


def test_metrics_without_labels_have_no_matrix() -> None:
    """The table of other metrics ends as before."""
    lines = list(score_lines(scores(["a", "b"], metrics=("em",)), io.StringIO()))

    assert not [line for line in lines if "label" in line]
    assert "by label" not in page_of(scores(["a"], metrics=("em",)), Options())


def test_a_terminal_has_room_for_few_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than 12 labels are counted, and no line is wider than the terminal."""
    monkeypatch.setenv("COLUMNS", "70")
    names = [f"label-{number}" for number in range(13)]
    lines = list(score_lines(scores(names), _Terminal()))
    assert "13 labels, whose counts `--output-format json` has" in " ".join(
        line.strip() for line in lines
    )

    few = list(score_lines(scores(names[:8]), _Terminal()))
    start = next(at for at, line in enumerate(few) if line.startswith("answers by"))
    assert max(map(len, few[start:])) <= 70
    assert any("label-7" in line for line in few[start:])


def test_the_page_has_the_matrices() -> None:
    """The page has a table for each model, whose texts are escaped, up to 40 labels."""
    page = page_of(scores(["<i>", "c"], ("m", "n")), Options())
    assert "Answers by label, of f1-macro, mcc: n. Columns are labels" in page
    assert "&lt;i&gt;" in page
    assert "<i>" not in page

    many = page_of(scores([f"l{number}" for number in range(41)]), Options())
    assert "this page has no room for 41 labels" in many
    models = tuple(f"m{number}" for number in range(10))
    assert "no room for 2 more tables of labels" in page_of(
        scores(["a", "b"], models), Options()
    )
