"""The comparison of two versions: its statistics, its order and its verdicts."""

import random
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Modules = Callable[[str], ModuleType]


@pytest.mark.parametrize(
    ("pairs", "place", "confidence"),
    [(1, 0, 0.0), (2, 0, 0.5), (5, 0, 0.9375), (6, 0, 0.96875), (15, 3, 0.9648)],
)
def test_interval_lies_between_two_ranks(
    modules: Modules, pairs: int, place: int, confidence: float
) -> None:
    """The ends of the interval are the ratios that tables of the sign test name."""
    ratios = [1 + number / 100 for number in range(pairs)]
    found = modules("harness.paired").median_ratio([1.0] * pairs, ratios)

    assert (found.low, found.high) == (ratios[place], ratios[-1 - place])
    assert found.median == statistics.median(ratios)
    assert found.confidence == pytest.approx(confidence, abs=1e-4)


def test_interval_holds_the_true_median_as_often_as_it_claims(modules: Modules) -> None:
    """Over many samples the interval of 15 pairs holds the median in 96.5 % of them."""
    median_ratio = modules("harness.paired").median_ratio
    chance = random.Random(1)  # noqa: S311 - a seeded sample, not a secret
    found = [
        median_ratio([1.0] * 15, [chance.lognormvariate(0, 0.2) for _ in range(15)])
        for _ in range(4000)
    ]
    held = sum(each.low <= 1 <= each.high for each in found)

    assert held / len(found) == pytest.approx(found[0].confidence, abs=0.015)


def test_no_pairs_have_no_ratio(modules: Modules) -> None:
    """Without a pair there is an error instead of a number."""
    with pytest.raises(ValueError, match="no pairs"):
        modules("harness.paired").median_ratio([], [])


@pytest.mark.parametrize(
    ("median", "low", "high", "within"),
    [
        (1.02, 1.01, 1.025, True),
        (1.05, 1.02, 1.08, True),
        (1.05, 1.04, 1.08, False),
        (0.9, 0.8, 1.0, True),
    ],
)
def test_a_ratio_is_kept_by_its_median_or_its_interval(
    modules: Modules, median: float, low: float, high: float, *, within: bool
) -> None:
    """A ratio above the limit is kept only if its interval includes the limit."""
    ratio = modules("harness.paired").MedianRatio(median, low, high, 0.96)

    assert ratio.within(1.03) == within


def line(modules: Modules, folder: Path) -> Any:
    """Return a line whose command fails, since its file is not there."""
    arguments = ("validate", str(folder / "missing.jsonl"))
    return modules("harness.version_lines").Line("missing", arguments, expected=2)


def test_both_versions_run_each_line_by_turns(modules: Modules, tmp_path: Path) -> None:
    """Each pair has one run of each version, and the first one changes."""
    command = modules("compare_versions")
    lines = [line(modules, tmp_path)]
    sides = [command.side_of(name, sys.executable, lines) for name in ("a", "b")]
    orders = [[side.name for _, side in command.turns(sides, at)] for at in range(3)]
    command.measure(sides, 2, 1, 600)
    found = command.comparisons(*sides)
    page = command.document(found, 2, 1)

    assert orders == [["a", "b"], ["b", "a"], ["a", "b"]]
    assert [len(side.runs[0]) for side in sides] == [2, 2]
    assert found[0].wall.low <= found[0].wall.median <= found[0].wall.high
    assert "| missing |" in page
    assert "50.0%" in page


def test_a_spent_budget_leaves_one_pair(modules: Modules, tmp_path: Path) -> None:
    """No round is started for which no time is left, but one is always run."""
    command = modules("compare_versions")
    lines = [line(modules, tmp_path)]
    sides = [command.side_of(name, sys.executable, lines) for name in ("a", "b")]
    command.measure(sides, 9, 0, 0)

    assert [len(side.runs[0]) for side in sides] == [1, 1]


def test_versions_that_write_other_bytes_are_not_compared(
    modules: Modules, tmp_path: Path
) -> None:
    """A version that converts to other bytes does other work."""
    command = modules("compare_versions")
    output = tmp_path / "output"
    made = modules("harness.version_lines").Line("writes", (), output=output)
    code = f"import random; open({str(output)!r}, 'w').write(str(random.random()))"
    run = modules("harness.measure").Candidate(
        "writes", (sys.executable, "-c", code), output=output
    )
    sides = [command.Side(name, [run]) for name in ("a", "b")]

    with pytest.raises(SystemExit, match="different bytes"):
        command.prove(sides, [made])


def test_lines_cover_every_command(modules: Modules, tmp_path: Path) -> None:
    """There are lines for start-up, validation, conversion, scores and statistics."""
    found = modules("harness.version_lines").lines_in(tmp_path, 0.0001)
    kinds = {each.name.partition(":")[0] for each in found}

    assert kinds == {"start-up", "validate", "convert", "score", "stats"}
    assert len({each.name for each in found}) == len(found)
    assert all(each.source is None or each.source.exists() for each in found)
