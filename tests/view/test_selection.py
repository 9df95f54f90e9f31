"""Which records are selected, in which order, also of more than are sorted at once."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from cases import for_each_case
from harpia_formats.view import selection as selection_module
from harpia_formats.view.options import ViewError
from harpia_formats.view.record_scan import FoundRule, RecordColumns, ScanState
from harpia_formats.view.row_index import RowIndex
from harpia_formats.view.selection import (
    FileColumns,
    Selection,
    filter_of,
    select,
    summary,
)

COUNT = 5_000


@pytest.fixture
def columns(tmp_path: Path) -> FileColumns:
    """Return columns of records with scores, models, categories and findings."""
    base, chance = str(tmp_path / "0"), np.random.default_rng(7)
    lengths = chance.integers(1, 50, COUNT + 1)
    Path(f"{base}.starts").write_bytes(np.cumsum(lengths).astype(np.uint64).tobytes())
    Path(f"{base}.lines").touch()
    scores = chance.random(COUNT).round(2)
    scores[::7] = np.nan
    written: dict[str, Any] = {
        "score0": scores,
        "models": (1 << chance.integers(0, 3, COUNT)).astype(np.uint64),
        "category": chance.integers(0, 3, COUNT).astype(np.uint32),
        "flags": chance.choice([1, 3, 5, 9], COUNT).astype(np.uint8),
        "rules": chance.integers(0, 4, COUNT).astype(np.uint64),
        "findings": chance.integers(0, 5, COUNT).astype(np.uint32),
    }
    for name, values in written.items():
        Path(f"{base}.{name}").write_bytes(values.tobytes())
    state = ScanState(
        records=COUNT,
        models={"a": 1, "b": 1, "c": 1},
        metrics=["f1"],
        categories={"geo": 1, "math": 1},
        rules=[FoundRule("S101", "x", "error"), FoundRule("G201", "y", "note")],
        is_complete=True,
    )
    Path(f"{base}.state").write_bytes(msgspec.msgpack.encode(state))
    return FileColumns(RowIndex(f"{base}.starts", base, "lines"), RecordColumns(base))


def chosen(columns: FileColumns, query: dict[str, str], folder: Path) -> list[int]:
    """Return the numbers of the records that a query selects, in order."""
    found = select(columns, filter_of(query), folder / "rows", None)
    return found.part(0, found.count)


@pytest.mark.parametrize("sort", ["score:f1", "findings", "length", "record"])
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("sorted_at_once", [100_000, 700])
def test_order(  # noqa: PLR0913, PLR0917 - one parameter for each case
    columns: FileColumns,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sort: str,
    order: str,
    sorted_at_once: int,
) -> None:
    """Records are in the order of a stable sort, what has no score last."""
    monkeypatch.setattr(selection_module, "SORTED", sorted_at_once)
    names = {"score:f1": "score0", "findings": "findings"}
    if sort == "length":
        values = columns.lengths(1, COUNT).astype(float)
    elif sort == "record":
        values = np.arange(COUNT).astype(float)
    else:
        values = columns.columns.column(names[sort], 1, COUNT).astype(float)
    keys = -values if order == "desc" else values
    expected = np.argsort(np.where(np.isnan(keys), np.inf, keys), kind="stable") + 1
    assert (
        chosen(columns, {"sort": sort, "order": order}, tmp_path) == expected.tolist()
    )


def test_filters_are_joined(columns: FileColumns, tmp_path: Path) -> None:
    """A record must have everything that is asked for."""
    query = {
        "model": "b",
        "category": "math",
        "metric": "f1",
        "low": "0.2",
        "high": "0.8",
    }
    column = columns.columns.column
    is_asked = column("models", 1, COUNT) == 2
    is_asked &= column("category", 1, COUNT) == 2
    scores = column("score0", 1, COUNT)
    is_asked &= (scores >= 0.2) & (scores <= 0.8)
    assert chosen(columns, query, tmp_path) == (np.flatnonzero(is_asked) + 1).tolist()


@pytest.mark.parametrize(
    ("query", "wanted"),
    [({"rule": "S101"}, 1), ({"severity": "note"}, 2), ({"rule": "any"}, 3)],
)
def test_rules(
    columns: FileColumns, tmp_path: Path, query: dict[str, str], wanted: int
) -> None:
    """Records are selected by the rules that they break, and by severity."""
    rules = columns.columns.column("rules", 1, COUNT)
    expected = np.flatnonzero(rules & np.uint64(wanted)) + 1
    assert chosen(columns, query, tmp_path) == expected.tolist()


def test_counts_of_a_selection(columns: FileColumns) -> None:
    """A summary counts models, verdicts, rules and scores of the selected records."""
    found = summary(columns, Selection(None, COUNT), has_values=True)
    (metric,) = found["metrics"]
    scores = columns.columns.column("score0", 1, COUNT)
    assert metric["count"] == int(np.isfinite(scores).sum())
    assert sum(one["count"] for one in metric["bins"]) == metric["count"]
    assert metric["mean"] == pytest.approx(np.nanmean(scores))
    assert sum(one["count"] for one in found["models"]) == COUNT
    assert sum(found["correct"].values()) == COUNT


@pytest.mark.parametrize(
    "scores",
    [
        None,
        [0.0, 0.25, 0.5, 0.75, 1.0],
        [0.5],
        # The width of this range is no float.
        [-1e308, 1e308, *[float("nan")] * (COUNT - 2)],
    ],
)
def test_bars_are_the_counts_of_their_rows(
    columns: FileColumns, tmp_path: Path, scores: list[float] | None
) -> None:
    """The rows of a bar are those below the next one, of the last bar with its end."""
    if scores is not None:
        values = np.resize(np.array(scores), COUNT)
        Path(tmp_path / "0.score0").write_bytes(values.tobytes())
    (metric,) = summary(columns, Selection(None, COUNT), has_values=True)["metrics"]
    *bins, last = metric["bins"]
    for one in bins:
        query = {"metric": "f1", "low": str(one["low"]), "below": str(one["high"])}
        assert len(chosen(columns, query, tmp_path)) == one["count"]
    query = {"metric": "f1", "low": str(last["low"]), "high": str(last["high"])}
    assert len(chosen(columns, query, tmp_path)) == last["count"]


def test_redacted_counts_hold_no_values(columns: FileColumns) -> None:
    """Without values only rules are counted."""
    found = summary(columns, Selection(None, COUNT), has_values=False)
    assert set(found) == {"records", "known", "rules"}


@for_each_case(
    "query",
    [
        {"sort": "colour"},
        {"metric": "f1", "low": "many"},
        {"metric": "f1", "high": "nan"},
        {"metric": "f1", "below": "all"},
        {"correct": "maybe"},
        {"answer": "none"},
        {"severity": "fatal"},
        {"order": "up"},
        {"low": "0.5"},
        {"high": "0.5", "metric": ""},
        {"below": "0.5", "model": "a"},
        {"is": "x"},
        {"regex": "1"},
        {"case": "1", "text": ""},
    ],
)
def test_wrong_queries_are_refused(query: dict[str, str]) -> None:
    """A value that may not stand there, or says nothing without another, is refused."""
    with pytest.raises(ViewError):
        filter_of(query)


def test_unknown_metric_is_refused(columns: FileColumns, tmp_path: Path) -> None:
    """Sorting by a score that no record has is an error."""
    with pytest.raises(ViewError, match="no score is called 'bleu'"):
        chosen(columns, {"sort": "score:bleu"}, tmp_path)


def test_records_that_are_not_scanned_are_not_selected(
    columns: FileColumns, tmp_path: Path
) -> None:
    """A record of which nothing is known yet has no findings, and is not shown so."""
    state = columns.columns.state
    state.records = 100
    Path(tmp_path / "0.state").write_bytes(msgspec.msgpack.encode(state))
    assert max(chosen(columns, {"rule": "none"}, tmp_path)) <= 100
    assert len(chosen(columns, {"sort": "length"}, tmp_path)) == COUNT


def test_a_metric_that_is_not_known_yet_is_no_error(
    columns: FileColumns, tmp_path: Path
) -> None:
    """As long as a scan runs, no record has a score that is not known by then."""
    running = FileColumns(columns.index, columns.columns, are_complete=False)
    assert chosen(running, {"metric": "bleu"}, tmp_path) == []
    assert len(chosen(running, {"sort": "score:bleu"}, tmp_path)) == COUNT
