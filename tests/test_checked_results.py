"""No function of `harpia_formats` returns a result that stands for less than asked."""

import itertools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from harpia_formats import OptionError, ScoreError, ValidationFailed
from json_lines import jsonl

pytest.importorskip("numpy", reason="comparing needs the extra score")

COUNT = 12


def lines(**changes: Any) -> bytes:
    """Return twelve answered records, the third of them with `changes`."""
    rows = [
        {
            "id": number,
            "prompt": f"question {number}",
            "references": ["yes"],
            "outputs": [{"model": "org/m", "text": "yes"}],
        }
        for number in range(COUNT)
    ]
    rows[2] |= changes
    return jsonl(*rows)


INVALID = lines(references="yes")
CUT = lines()[:-20]
Run = Callable[[Any, Path], Any]
#: Every function that returns one result for whole inputs.
RUNS: dict[str, Run] = {
    "score": lambda data, _: harpia_formats.score(data, metrics=("em",)),
    "score to a file": lambda data, folder: harpia_formats.score(
        data, metrics=("em",), to="record", output=folder / "out.jsonl"
    ),
    "compare_scores": lambda data, _: harpia_formats.compare_scores(
        data, data, metrics=("em",)
    ),
    "compare_scores, second": lambda data, _: harpia_formats.compare_scores(
        lines(), data, metrics=("em",)
    ),
    "convert": lambda data, folder: harpia_formats.convert(
        data, to="nemo-output", output=folder / "out.jsonl"
    ),
    "roundtrip": lambda data, _: harpia_formats.roundtrip(data, via="nemo-output"),
    "diff": lambda data, _: harpia_formats.diff(data, lines()),
    "read": lambda data, _: list(harpia_formats.read(data)),
    "iter_problems": lambda data, _: [
        *harpia_formats.iter_problems(data, format="record")
    ],
}


@for_each_case("name", RUNS)
def test_missing_file_raises(name: str, tmp_path: Path) -> None:
    """A file that does not exist is an exception, which names it."""
    with pytest.raises(ValidationFailed, match=r"no\.jsonl: does not exist"):
        RUNS[name](tmp_path / "no.jsonl", tmp_path)

    assert not list(tmp_path.iterdir())


@for_each_case(
    "data, name",
    itertools.product(
        [INVALID, CUT], [name for name in RUNS if name != "iter_problems"]
    ),
)
def test_invalid_row_raises(name: str, data: bytes, tmp_path: Path) -> None:
    """An invalid row is an exception, which has its place; nothing is written."""
    with pytest.raises(
        ValidationFailed, match=r"first <data>:\d+:\d+ [JS]\d+"
    ) as found:
        RUNS[name](data, tmp_path)

    assert not found.value.report.ok
    assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)  # noqa: S301 - made here
    assert not list(tmp_path.iterdir())


def test_skipped_rows_are_counted() -> None:
    """Scores without the invalid rows say how many answers they stand for."""
    scores = harpia_formats.score(INVALID, metrics=("em",), on_invalid="skip")

    assert (scores["em"].value, scores["em"].count, scores.skipped) == (1, 11, 1)


NO_ANSWER = {"outputs": [{"model": "org/m"}]}


@pytest.mark.parametrize(
    ("changes", "metric"),
    [
        (NO_ANSWER, "em"),
        ({"outputs": []}, "em"),
        ({"references": []}, "em"),
        ({"outputs": [{"text": "none"}], "references": ["1"]}, "number-check"),
    ],
)
@pytest.mark.parametrize("name", ["score", "compare"])
def test_answer_without_a_score_raises(
    changes: dict[str, Any], metric: str, name: str
) -> None:
    """An answer without a score is an exception unless `missing` is given."""
    data = lines(**changes)
    if metric == "number-check":
        data = data.replace(b'"yes"', b'"1"')

    def run(**options: Any) -> Any:
        if name == "score":
            return harpia_formats.score(data, metrics=(metric,), **options)
        return harpia_formats.compare_scores(data, data, metrics=(metric,), **options)

    with pytest.raises(ScoreError, match=r'<data>:3: .*missing="skip"'):
        run()
    kept = run(missing="skip")

    scored = kept[metric] if name == "score" else kept.scores[0][metric]
    assert (scored.count, scored.unscored) == (COUNT - 1, 1)


def test_missing_answers_score_zero_on_request() -> None:
    """With `missing="zero"` a missing answer counts as wrong in every score."""
    data = lines(**NO_ANSWER)
    empty = lines(outputs=[{"model": "org/m", "text": ""}])
    metrics = ("em", "f1", "rougeL", "bleu")

    zero = harpia_formats.score(data, metrics=metrics, missing="zero", replicates=0)
    wrong = harpia_formats.score(empty, metrics=metrics, replicates=0)

    assert [one.value for one in zero.total.scores] == [
        one.value for one in wrong.total.scores
    ]
    assert zero["em"].value == pytest.approx(11 / 12)
    assert zero["em"].count == COUNT
    assert [problem.code for problem in zero.problems] == ["M101"]


def test_missing_answer_is_zero_where_nothing_is_expected() -> None:
    """A missing answer scores 0 also if an empty text would be right."""
    data = lines(**NO_ANSWER, references=[""])

    scores = harpia_formats.score(data, metrics=("em", "f1"), missing="zero")

    assert scores["em"].value == scores["f1"].value == pytest.approx(11 / 12)


@pytest.mark.parametrize("option", [{"missing": "none"}, {"on_invalid": "quarantine"}])
def test_unknown_choice_is_refused(option: dict[str, Any]) -> None:
    """Another value of an option is an error that names the right ones."""
    with pytest.raises(OptionError, match="'skip'"):
        harpia_formats.score(lines(), metrics=("em",), **option)


def test_loss_that_fails_raises(tmp_path: Path) -> None:
    """A conversion that `on_loss="fail"` stops raises, and has what would be lost."""
    data = lines(category="sums")

    with pytest.raises(ValidationFailed, match="would lose id") as found:
        harpia_formats.convert(
            data, to="nemo-output", output=tmp_path / "out", on_loss="fail"
        )

    assert found.value.result.failed_by_loss
    assert not list(tmp_path.iterdir())


def test_rows_that_are_skipped_on_request_are_no_error(tmp_path: Path) -> None:
    """A conversion that leaves invalid rows out as asked returns, and counts them."""
    report = harpia_formats.convert(
        INVALID, to="nemo-output", output=tmp_path / "out.jsonl", on_invalid="skip"
    )

    assert (report.rows, report.skipped) == (COUNT - 1, 1)


@pytest.mark.parametrize(
    "run",
    [
        lambda: harpia_formats.validate(lines()),
        lambda: harpia_formats.validate(INVALID),
        lambda: harpia_formats.score(lines(), metrics=("em",)),
        lambda: harpia_formats.compare_scores(lines(), lines(), metrics=("em",)),
        lambda: harpia_formats.diff(lines(), lines()),
        lambda: harpia_formats.roundtrip(lines(), via="record"),
    ],
)
def test_results_have_no_truth_value(run: Callable[[], Any]) -> None:
    """`if` and `assert` of a result raise instead of taking a bad one for good."""
    with pytest.raises(TypeError, match="neither true nor false: ask for its `ok`"):
        bool(run())
