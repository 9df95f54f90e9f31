"""Which records of a file the page shows, and in which order.

A filter is what the query of the address says. It is computed over the columns of the
file a block at a time, and joined with the rows that a search found. Both the records
that are selected and their order are numbers in files, of which a part is read.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import inf, isinf
from pathlib import Path
from typing import Any
from weakref import finalize

import msgspec
import numpy as np

from harpia_formats.view.options import ViewError
from harpia_formats.view.record_scan import (
    CORRECT,
    METRICS,
    MODELS,
    NO_ANSWER,
    READ,
    RULES,
    WRONG,
    RecordColumns,
    ScanState,
)
from harpia_formats.view.row_index import RowIndex
from harpia_formats.view.text_search import Wanted

#: Records whose columns are in memory at once.
BLOCK = 262_144
#: Numbers of records in files.
NUMBER = np.dtype(np.uint64)
_ANSWERS = ("missing", "present")
_VERDICTS = {"yes": CORRECT, "no": WRONG, "unknown": 0}
_SORTED_BY = ("record", "length", "findings")
#: The keys of a query that say nothing without another one.
WITH_ANOTHER = {
    "regex": "text",
    "case": "text",
    "is": "field",
    "low": "metric",
    "high": "metric",
    "below": "metric",
}


class Filter(msgspec.Struct, frozen=True):
    """What records must have, as the query of an address says; "" asks for nothing."""

    wanted: Wanted = Wanted()
    model: str | None = None
    category: str | None = None
    metric: str = ""
    low: float = -inf
    high: float = inf
    #: A score must be less than this, where `high` may be reached.
    below: float = inf
    correct: str = ""
    answer: str = ""
    #: The code of a rule, `any` or `none`.
    rule: str = ""
    severity: str = ""
    #: `record`, `length`, `findings` or `score:` and the name of a metric.
    sort: str = "record"
    is_descending: bool = False

    @property
    def needs_columns(self) -> bool:
        """Whether it needs more than texts and lengths, so that a scan is required."""
        sort = self.sort if self.sort in {"record", "length"} else "record"
        return self != Filter(
            wanted=self.wanted, sort=sort, is_descending=self.is_descending
        )

    @property
    def needs_records(self) -> bool:
        """Whether it asks for values that only rows which are read as records have."""
        return (
            self.model is not None
            or self.category is not None
            or bool(self.metric or self.correct or self.answer)
            or self.sort.startswith("score:")
        )

    @property
    def is_search(self) -> bool:
        """Whether rows must be searched for it."""
        return self.wanted != Wanted()


def filter_of(query: Mapping[str, str]) -> Filter:
    """Return the filter that a query describes.

    Raises `ViewError` for a value that is none of those that may stand there, and for a
    key without the one that it needs.
    """
    refuse_lone_keys(query)
    sort = query.get("sort") or "record"
    if sort not in _SORTED_BY and not sort.startswith("score:"):
        raise ViewError(f"rows cannot be sorted by {sort!r}")
    return Filter(
        Wanted(
            query.get("text", ""),
            query.get("regex") == "1",
            query.get("case") == "1",
            query.get("field", ""),
            query.get("is", ""),
        ),
        query.get("model"),
        query.get("category"),
        query.get("metric", ""),
        _number(query, "low", -inf),
        _number(query, "high", inf),
        _number(query, "below", inf),
        _one_of(query, "correct", _VERDICTS),
        _one_of(query, "answer", _ANSWERS),
        query.get("rule", ""),
        _one_of(query, "severity", ("error", "warning", "note")),
        sort,
        _one_of(query, "order", ("asc", "desc")) == "desc",
    )


def refuse_lone_keys(query: Mapping[str, str]) -> None:
    """Raise `ViewError` for a key of a query without the one that it needs."""
    for key, other in WITH_ANOTHER.items():
        if key in query and not query.get(other):
            raise ViewError(f"{key!r} chooses no rows without {other!r}")


def _number(query: Mapping[str, str], name: str, default: float) -> float:
    """Return a number of a query. Raises `ViewError`."""
    try:
        value = float(query.get(name) or default)
    except ValueError:
        raise ViewError(f"{name} is no number") from None
    if value != value:  # noqa: PLR0124 - only NaN differs from itself
        raise ViewError(f"{name} is no number")
    return value


def _one_of(query: Mapping[str, str], name: str, known: Any) -> str:
    """Return one of some words of a query, "" without one. Raises `ViewError`."""
    value = query.get(name, "")
    if value and value not in known:
        raise ViewError(f"{name} is one of {', '.join(known)}")
    return value


@dataclass(frozen=True, slots=True)
class FileColumns:
    """The values by which the rows of a file are selected."""

    index: RowIndex
    columns: RecordColumns
    #: Whether nothing will be added to the columns.
    are_complete: bool = True

    def metric(self, name: str) -> str:
        """Return the column of a metric, which has no numbers as long as none is known.

        Raises `ViewError` if there is none in the end.
        """
        metrics = self.columns.state.metrics
        if name in metrics:
            return f"score{metrics.index(name)}"
        if self.are_complete:
            raise ViewError(f"no score is called {name!r}")
        return f"score{METRICS}"

    def lengths(self, first: int, count: int) -> Any:
        """Return the lengths of some rows in bytes, each with what follows the row."""
        return np.diff(self.index.starts(first, count))


class Selection:
    """The numbers of selected records, in a file; all in order if there is none."""

    def __init__(self, path: Path | None, count: int) -> None:
        """Take the file of the numbers, deleted in the end, and how many they are."""
        self._path = path
        self.count = count
        if path is not None:
            finalize(self, path.unlink, missing_ok=True)

    def numbers(self, start: int, count: int) -> Any:
        """Return the numbers from position `start`, counted from 0, as an array."""
        count = max(0, min(count, self.count - start))
        if self._path is None:
            return np.arange(start + 1, start + 1 + count, dtype=np.int64)
        with self._path.open("rb") as file:
            return _read(file, start, count).astype(np.int64)

    def part(self, start: int, count: int) -> list[int]:
        """Return the numbers from position `start`, counted from 0."""
        found: list[int] = self.numbers(start, count).tolist()
        return found

    def blocks(self) -> Iterator[Any]:
        """Yield all numbers in order as arrays."""
        for start in range(0, self.count, BLOCK):
            yield self.numbers(start, BLOCK)

    def position(self, number: int) -> int | None:
        """Return where a record is, None if it is not selected."""
        if self._path is None:
            return number - 1 if 1 <= number <= self.count else None
        start = 0
        for block in self.blocks():
            found = np.flatnonzero(block == number)
            if len(found):
                return start + int(found[0])
            start += len(block)
        return None


def _read(file: Any, start: int, count: int) -> Any:
    """Return some numbers of a file of numbers."""
    file.seek(start * NUMBER.itemsize)
    return np.frombuffer(file.read(count * NUMBER.itemsize), dtype=NUMBER)


def select(
    file: FileColumns, asked: Filter, path: Path, found: Path | None
) -> Selection:
    """Return the records that a filter asks for, as far as they are known so far.

    `found` has the numbers of the rows that a search found, if it asks for one. The
    numbers go to the file `path`. Raises `ViewError` for a metric that is not known.
    """
    known = file.index.known
    if asked.needs_columns:  # nothing is known of records that are not scanned
        known = min(known, file.columns.state.records)
    is_in_order = asked.sort == "record" and not asked.is_descending
    if is_in_order and found is None and not asked.needs_columns:
        return Selection(None, known)
    count = 0
    with path.open("wb") as out:
        for numbers in _candidates(known, found):
            chosen = numbers[_mask(file, asked, numbers)]
            out.write(chosen.astype(NUMBER).tobytes())
            count += len(chosen)
    selection = Selection(path, count)
    if not is_in_order:
        _sort(file, asked, selection, path)
    return selection


def _candidates(known: int, found: Path | None) -> Iterator[Any]:
    """Yield the numbers of rows that may be selected, in order."""
    if found is None:
        for first in range(1, known + 1, BLOCK):
            yield np.arange(first, min(first + BLOCK, known + 1), dtype=np.int64)
        return
    with found.open("rb") as file:
        at = 0
        while len(numbers := _read(file, at, BLOCK)):
            yield numbers[numbers <= known].astype(np.int64)
            at += len(numbers)


def summary(
    file: FileColumns, selection: Selection, *, has_values: bool
) -> dict[str, Any]:
    """Return counts of the selected records: models, categories, scores, rules.

    Without values only rules are counted.
    """
    state = file.columns.state
    sums = _Sums(len(state.models), len(state.categories), len(state.rules))
    for numbers in selection.blocks():
        sums.add(file, np.sort(numbers))
    rules = [
        {
            "code": rule.code,
            "name": rule.name,
            "severity": rule.severity,
            "records": sums.rules[min(place, RULES - 1)],
        }
        for place, rule in enumerate(state.rules)
    ]
    counted: dict[str, Any] = {"records": selection.count, "known": state.records}
    counted["rules"] = [rule for rule in rules if rule["records"]]
    if not has_values:
        return counted
    models = zip(state.models, sums.models, strict=False)
    categories = zip(state.categories, sums.categories.tolist(), strict=False)
    named = sorted(((c, n) for n, c in categories if c), key=lambda one: -one[0])
    return {
        **counted,
        "models": [{"name": n, "count": c} for n, c in models if c],
        "categories": [{"name": n, "count": c} for c, n in named[:MOST_CATEGORIES]],
        "more_categories": max(0, len(named) - MOST_CATEGORIES),
        "metrics": [
            found
            for place, name in enumerate(state.metrics)
            if (found := _histogram(file, selection, name, f"score{place}"))
        ],
        "correct": {"yes": sums.correct, "no": sums.wrong, "unknown": sums.unknown},
        "missing": sums.missing,
    }


#: Categories that a summary names.
MOST_CATEGORIES = 50
#: Bars of a histogram.
BINS = 20


class _Sums:
    """Counts of selected records."""

    def __init__(self, models: int, categories: int, rules: int) -> None:
        """Take how many models, categories and rules there are by now."""
        self.models = [0] * min(models, MODELS)
        self.rules = [0] * min(rules, RULES)
        self.categories = np.zeros(categories, dtype=np.int64)
        self.correct = self.wrong = self.unknown = self.missing = 0

    def add(self, file: FileColumns, numbers: Any) -> None:
        """Add some records, whose numbers are sorted."""
        for column, counts in (("models", self.models), ("rules", self.rules)):
            values = values_of(file, column, numbers)
            for place in range(len(counts)):
                counts[place] += int(
                    ((values >> np.uint64(place)) & np.uint64(1)).sum()
                )
        values = values_of(file, "category", numbers)
        found = np.bincount(values, minlength=len(self.categories) + 1)
        self.categories += found[1 : len(self.categories) + 1]
        flags = values_of(file, "flags", numbers)
        verdicts = flags & (CORRECT | WRONG)
        self.correct += int((verdicts == CORRECT).sum())
        self.wrong += int((verdicts == WRONG).sum())
        self.unknown += int(((verdicts == 0) & ((flags & READ) != 0)).sum())
        self.missing += int(((flags & NO_ANSWER) != 0).sum())


def _histogram(
    file: FileColumns, selection: Selection, name: str, column: str
) -> dict[str, Any] | None:
    """Return how the scores of a metric are spread, None if no record has one.

    The `high` of a bin belongs to the next one, that of the last bin to itself.
    """
    count, total, least, greatest = 0, 0.0, inf, -inf
    for scores in _scores(file, selection, column):
        count += len(scores)
        total += float(scores.sum())
        least, greatest = (
            min(least, float(scores.min())),
            max(greatest, float(scores.max())),
        )
    if not count:
        return None
    # Half of the range is a float, where the whole of it may be too large for one.
    scale = 2.0 if isinf(greatest - least) else 1.0
    size = BINS + 1 if greatest > least else 2
    edges = scale * np.linspace(least / scale, greatest / scale, size)
    counts = np.zeros(len(edges) - 1, dtype=np.int64)
    for scores in _scores(file, selection, column):
        counts += np.histogram(scores, edges)[0]
    return {
        "name": name,
        "count": count,
        "mean": total / count,
        "least": least,
        "greatest": greatest,
        "bins": [
            {"low": float(edges[at]), "high": float(edges[at + 1]), "count": int(one)}
            for at, one in enumerate(counts)
        ],
    }


def _scores(file: FileColumns, selection: Selection, column: str) -> Iterator[Any]:
    """Yield the scores of selected records that have finite ones."""
    for numbers in selection.blocks():
        scores = values_of(file, column, np.sort(numbers))
        scores = scores[np.isfinite(scores)]
        if len(scores):
            yield scores


def values_of(file: FileColumns, column: str, numbers: Any) -> Any:
    """Return the values of a column for some numbers, which are sorted."""
    return _picked(partial(file.columns.column, column), numbers)


def _picked(read: Callable[[int, int], Any], numbers: Any) -> Any:
    """Return what `read` has of some records, whose numbers are sorted.

    It is given the number of the first of some adjacent records, and how many they are.
    """
    if not len(numbers):
        return read(1, 0)
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first < 4 * BLOCK:
        return read(first, last - first + 1)[numbers - first]
    halves = np.split(numbers, [len(numbers) // 2])
    return np.concatenate([_picked(read, half) for half in halves])


def _mask(file: FileColumns, asked: Filter, numbers: Any) -> Any:
    """Return which of some records, whose numbers are sorted, are asked for."""
    mask = np.ones(len(numbers), dtype=bool)
    state = file.columns.state

    def bits(column: str, wanted: int) -> Any:
        values = values_of(file, column, numbers)
        return (values & values.dtype.type(wanted)) != 0

    if asked.model is not None:
        if asked.model not in state.models and state.other_answers:
            raise ViewError(f"models after the first {MODELS - 1} are counted together")
        place = (
            list(state.models).index(asked.model) if asked.model in state.models else -1
        )
        mask &= bits("models", 1 << min(place, MODELS - 1) if place >= 0 else 0)
    if asked.category is not None:
        place = _number_of_category(state, asked.category)
        mask &= values_of(file, "category", numbers) == place
        mask &= place > 0
    if asked.metric:
        scores = values_of(file, file.metric(asked.metric), numbers)
        mask &= (scores >= asked.low) & (scores <= asked.high)
        if asked.below != inf:
            mask &= scores < asked.below
    if asked.correct:
        flags = values_of(file, "flags", numbers) & (READ | CORRECT | WRONG)
        mask &= flags == READ | _VERDICTS[asked.correct]
    if asked.answer:
        flags = values_of(file, "flags", numbers)
        has_none = (flags & NO_ANSWER) != 0
        mask &= (
            has_none if asked.answer == "missing" else ~has_none & ((flags & READ) != 0)
        )
    if asked.rule or asked.severity:
        mask &= _by_rule(file, asked, numbers)
    return mask


def _number_of_category(state: ScanState, name: str) -> int:
    """Return the number of a category, 0 if no record has it.

    Raises `ViewError` if it may be one of those that have none.
    """
    names = list(state.categories)
    if name in names:
        return names.index(name) + 1
    if state.other_categories:
        raise ViewError(
            f"categories after the first {len(names):,} are not told apart: choose "
            "rows by a field"
        )
    return 0


def _by_rule(file: FileColumns, asked: Filter, numbers: Any) -> Any:
    """Return which records have findings as asked for."""
    values = values_of(file, "rules", numbers)
    wanted = 0
    for place, rule in enumerate(file.columns.state.rules):
        is_named = asked.rule in {"", "any", "none", rule.code}
        if is_named and asked.severity in {"", rule.severity}:
            wanted |= 1 << min(place, RULES - 1)
    has_one = (values & np.uint64(wanted)) != 0
    return ~has_one if asked.rule == "none" else has_one


#: Records that are sorted at once.
SORTED = 400_000


def _keys(file: FileColumns, asked: Filter, numbers: Any) -> Any:
    """Return what some records are sorted by; what has no score comes last."""
    if asked.sort == "record":
        keys = numbers.astype(np.float64)
    elif asked.sort == "length":
        keys = _picked(file.lengths, numbers).astype(np.float64)
    elif asked.sort == "findings":
        keys = values_of(file, "findings", numbers).astype(np.float64)
    else:
        column = file.metric(asked.sort.removeprefix("score:"))
        keys = values_of(file, column, numbers)
    keys = -keys if asked.is_descending else keys.copy()
    keys[np.isnan(keys)] = inf
    return keys


def _sort(file: FileColumns, asked: Filter, selection: Selection, path: Path) -> None:
    """Sort the numbers in the file of a selection, a bounded number of them at once.

    Sorted runs are written first. Then the values between two limits are taken from all
    runs, where the limits are such that these are not many.
    """
    runs: list[tuple[Any, Any, Path]] = []
    pair = np.dtype([("key", np.float64), ("number", NUMBER)])
    for place, start in enumerate(range(0, selection.count, SORTED)):
        numbers = selection.numbers(start, SORTED)
        run = np.empty(len(numbers), dtype=pair)
        run["key"] = _keys(file, asked, numbers)
        run["number"] = numbers
        run = run[np.argsort(run["key"], kind="stable")]
        name = path.with_suffix(f".run{place}")
        name.write_bytes(run.tobytes())
        every = run["key"][:: max(1, len(run) // 256)].copy()
        runs.append((every, len(run), name))
    sorted_path = path.with_suffix(".sorted")
    with sorted_path.open("wb") as out:
        for part in _merged(runs, pair):
            out.write(part["number"].tobytes())
    for _, _, name in runs:
        name.unlink()
    sorted_path.replace(path)


def _merged(runs: list[tuple[Any, Any, Path]], pair: Any) -> Iterator[Any]:
    """Yield the entries of sorted runs in order, a bounded number of them at once.

    Runs follow each other in the order of records, so equal keys stay in it.
    """
    samples = np.sort(np.concatenate([every for every, _, _ in runs] or [[inf]]))
    every = max(1, len(samples) // (4 * len(runs) or 1))
    at = [0] * len(runs)
    for limit in np.unique([*samples[::every], inf]):
        parts = []
        for place, (_, count, name) in enumerate(runs):
            end = _place_of(name, pair, count, limit, "left")
            parts.append(_entries(name, pair, at[place], end))
            at[place] = end
        whole = np.concatenate(parts) if parts else np.empty(0, dtype=pair)
        yield whole[np.argsort(whole["key"], kind="stable")]
        # As many as all entries may be equal to one limit.
        for place, (_, count, name) in enumerate(runs):
            end = _place_of(name, pair, count, limit, "right")
            for begin in range(at[place], end, BLOCK):
                yield _entries(name, pair, begin, min(end, begin + BLOCK))
            at[place] = end


def _place_of(name: Path, pair: Any, count: int, limit: float, side: str) -> int:
    """Return how many entries of a sorted run are below a limit, or not above it."""
    low, high = 0, count
    with name.open("rb") as file:
        while low < high:
            middle = (low + high) // 2
            file.seek(middle * pair.itemsize)
            (entry,) = np.frombuffer(file.read(pair.itemsize), dtype=pair)
            key = entry["key"]
            if key < limit or (side == "right" and key == limit):
                low = middle + 1
            else:
                high = middle
    return low


def _entries(name: Path, pair: Any, begin: int, end: int) -> Any:
    """Return the entries of a run from one to before another."""
    with name.open("rb") as file:
        file.seek(begin * pair.itemsize)
        return np.frombuffer(file.read((end - begin) * pair.itemsize), dtype=pair)
