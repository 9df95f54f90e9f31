"""What intervals and tests promise is measured on simulated data."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from effort import drawn

pytest.importorskip("numpy", reason="the extra score is not installed")

#: Data sets of a cell, and of one for which a set takes long.
SETS, FEW = drawn(75), drawn(30)


@pytest.fixture
def simulation(modules: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module of the simulation."""
    return modules("coverage")


def test_intervals_hold_the_truth_as_often_as_promised(simulation: ModuleType) -> None:
    """With some data sets a cell, the coverage is within its bounds but for chance."""
    cells = [cell for row in simulation.coverage_cells(SETS) for cell in row]

    assert len(cells) == 27
    assert [cell for cell in cells if not cell.is_met(SETS)] == []


@pytest.mark.long
def test_intervals_of_questions_hold_the_truth(simulation: ModuleType) -> None:
    """So do those of pass@k and maj@k, for the smaller data sets."""
    rows = list(simulation.question_cells(SETS, simulation.QUESTION_CELLS[:5]))

    assert [cell for row in rows for cell in row if not cell.is_met(SETS)] == []


@pytest.mark.long
def test_intervals_of_the_bootstrap_hold_the_truth(simulation: ModuleType) -> None:
    """So do those of pooled scores and of any means, except of few questions."""
    few, enough = simulation.bootstrap_cells(4 * SETS, (3, 20))

    assert [cell for cell in enough if not cell.is_met(4 * SETS)] == []
    assert all(cell.share < 0.8 for cell in few)


def test_true_means_follow_from_the_chances(
    simulation: ModuleType,
) -> None:
    """That of pass@1 is the mean chance, and a sure answer has the majority."""
    one, two = (
        next(metric for metric in simulation.METRICS if metric.name == name)
        for name in ("pass@1", "maj@5")
    )

    assert one.truth(0.3, 4.0) == pytest.approx(0.3)
    assert two.truth(1 - 1e-9, 1.0) == pytest.approx(1)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("continuous, 1 answer", marks=pytest.mark.long),
        "continuous, 10 answers",
        pytest.param("0 or 1, 1 answer", marks=pytest.mark.long),
        pytest.param("0 or 1, 10 answers", marks=pytest.mark.long),
        pytest.param("pass@5 of 10 answers", marks=pytest.mark.long),
    ],
)
def test_equal_systems_are_rarely_distinguished(
    simulation: ModuleType, kind: str
) -> None:
    """With some data sets, p-values below 0.05 are as rare as promised."""
    cells = [
        simulation.false_positives(kind, 30, test, SETS, replicates=400)
        for test in simulation.TESTS
    ]

    assert [cell for cell in cells if not cell.is_met(SETS)] == []


@pytest.mark.long
def test_intervals_of_labels_hold_the_truth(simulation: ModuleType) -> None:
    """With data sets of 30 questions with two labels, coverage is as promised."""
    cells = next(simulation.label_cells(FEW, (30,)))

    assert len(cells) == 3
    assert [cell for cell in cells if not cell.is_met(FEW)] == []


@pytest.mark.long
def test_comparisons_keep_their_promises(simulation: ModuleType) -> None:
    """Intervals, tests, families and power are within their bounds but for chance."""
    cells = [
        cell for (cell,) in simulation.comparison_cells(2 * FEW, (30,), 100, (50,))
    ]

    assert len(cells) == 17
    assert [cell for cell in cells if not cell.is_met(2 * FEW)] == []


@pytest.mark.long
def test_all_promises_are_kept(
    simulation: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With 2,000 data sets a cell, every interval and test is within its bounds."""
    output = tmp_path / "coverage.md"

    code = simulation.main(["--sets", "2000", "--output", str(output)])

    assert output.read_text(encoding="utf-8") in capsys.readouterr().out
    assert code == 0


def test_a_share_beyond_its_bounds_is_marked(simulation: ModuleType) -> None:
    """A share that is beyond its bounds by more than chance has a mark."""
    wrong = simulation.Cell("few", 0.8, 0.92, 0.98)
    lucky = simulation.Cell("few", 0.9, 0.92, 0.98)

    assert not wrong.is_met(300)
    assert lucky.is_met(300)
    assert not lucky.is_met(2000)
    assert "0.800 !" in simulation.cells_table(["data", "1"], [[wrong]], 300)


@pytest.mark.long
def test_intervals_of_judged_pairs_hold_the_truth(simulation: ModuleType) -> None:
    """With data sets of 30 pairs, coverage is as promised."""
    rows = list(simulation.pair_cells(SETS, ((30, 0.5), (30, 0.8), (30, 0.95))))

    assert [cell for row in rows for cell in row if not cell.is_met(SETS)] == []
    assert [len(row) for row in rows] == [4, 4, 4]


def test_few_pairs_that_disagree_have_a_short_interval(
    simulation: ModuleType,
) -> None:
    """What the documentation says of 30 pairs of which 95 percent agree is so."""
    ((*_, few),) = simulation.pair_cells(SETS, ((30, 0.95),))

    assert 0.6 < few.share < 0.8
