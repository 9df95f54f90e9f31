"""The benchmark of the metrics: its pairs, its proof, and its limits."""

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("sacrebleu", reason="the extra score is not installed")
pytest.importorskip("rapidfuzz", reason="the extra score is not installed")
pytest.importorskip("rouge_score", reason="rouge-score is not installed")


@pytest.fixture
def scoring(modules: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module of the benchmark of scores."""
    return modules("score")


def test_pairs_have_the_claimed_properties(scoring: ModuleType) -> None:
    """Texts have 100 words, three in ten words differ, and some texts are not ASCII."""
    rows = [json.loads(each) for each in scoring.pairs(300)]
    words = [
        (row["outputs"][0]["text"].split(), row["references"][0].split())
        for row in rows
    ]
    same = sum(a == b for one, other in words for a, b in zip(one, other, strict=True))
    beyond = sum(not each["references"][0].isascii() for each in rows)

    assert {len(each) for pair in words for each in pair} == {100}
    assert same / 30_000 == pytest.approx(0.7, abs=0.05)
    assert beyond / 300 == pytest.approx(0.4, abs=0.1)
    assert list(scoring.pairs(9)) == list(islice(scoring.pairs(300), 9))


def test_answers_have_the_claimed_properties(scoring: ModuleType) -> None:
    """Each question has ten answers, of which up to four are the reference."""
    rows = [json.loads(each) for each in scoring.questions(200)]
    right = [
        sum(one["text"] == row["references"][0] for one in row["outputs"])
        for row in rows
    ]

    assert {len(row["outputs"]) for row in rows} == {10}
    assert set(right) == {0, 1, 2, 3, 4}
    assert len({row["id"] for row in rows}) == 200
    assert list(scoring.questions(9)) == list(islice(scoring.questions(200), 9))


@pytest.mark.long  # it loads the reference packages
def test_the_script_scores_as_ours_does(
    scoring: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The proof runs, and refuses a script with another score."""
    monkeypatch.setattr(scoring, "PROVEN", 20)
    scoring.prove(tmp_path)
    monkeypatch.setattr(scoring.subprocess, "check_output", lambda _: b'{"em": 2}')

    with pytest.raises(SystemExit, match="em: ours is"):
        scoring.prove(tmp_path)


def results(scoring: ModuleType, seconds: float, peak: int | None) -> Any:
    """Return results in which the script took one second, and a tenth 100 MB."""
    found = {
        scoring.OURS: scoring.Measurement(scoring.OURS, (seconds,), peak),
        scoring.SCRIPT: scoring.Measurement(scoring.SCRIPT, (1.0,), 1),
        scoring.FEWER: scoring.Measurement(scoring.FEWER, (0.1,), 100_000_000),
    }
    return dict.fromkeys(scoring.GROUPS, found)


@pytest.mark.parametrize(
    ("seconds", "peak", "met"),
    [
        (0.09, 109_000_000, ["yes", "yes", "yes", "yes", "yes"]),
        (0.25, 109_000_000, ["yes", "no", "no", "yes", "yes"]),
        (0.34, 111_000_000, ["no", "no", "no", "no", "no"]),
        (0.1, None, ["yes", "yes", "yes", "no", "no"]),
    ],
)
def test_limits_are_checked(
    scoring: ModuleType, seconds: float, peak: int | None, met: list[str]
) -> None:
    """A floor is met up to its limit, and never by what was not measured."""
    given = results(scoring, seconds, peak)
    lines = scoring.floors_table(given).splitlines()[2:]

    assert [each.split()[-2] for each in lines] == met
    assert len(scoring.missed(given)) == met.count("no")


def test_document_shows_the_measured_ratios(scoring: ModuleType) -> None:
    """The document shows the ratios and how to repeat the measurement."""
    text = scoring.document(results(scoring, 0.2, 100_000_000), 90, 80, 3)

    assert "| script  |                         0.20 |        0.20 |" in text
    assert "`python benchmarks/score.py --pairs 90 --answers 80 --runs 3`" in text


def test_no_pairs_are_wrong_usage(
    scoring: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """At least one pair is needed."""
    with pytest.raises(SystemExit):
        scoring.arguments_of(["--pairs", "0"])

    assert "at least one pair" in capsys.readouterr().err
