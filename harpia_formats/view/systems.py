"""Compare the answers of two systems to the same questions, as `score compare` does.

A system is a model in one of the files, or a file that names no model. Questions are
matched by the digests that the scan of each file kept of their ids, inputs and
references.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from shlex import quote
from threading import Lock
from typing import Any

import numpy as np

from harpia_formats.conversion.mapping.questions import WIDTH
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.record import Output, Record
from harpia_formats.view.answers import answer_of, prompt_of, reference_of
from harpia_formats.view.background import Background
from harpia_formats.view.options import ViewError
from harpia_formats.view.record_details import LONG, row_of
from harpia_formats.view.record_scan import MODELS
from harpia_formats.view.selection import BLOCK
from harpia_formats.view.viewed_file import ViewedFile

#: Records of a system that are matched.
MOST = 3_000_000
#: Words of an answer whose differences are looked for.
MOST_WORDS = 5_000
#: Seconds that the table of a comparison may take.
PATIENCE = 300.0
_PARTS = 3
_VERDICTS = ("all", "a-right", "b-right", "differs")


@dataclass(frozen=True, slots=True)
class System:
    """One whose answers are compared."""

    #: What names it in addresses.
    id: str
    name: str
    file: int
    #: The model, and its place among those of the file; None for a whole file.
    model: str | None
    place: int | None


@dataclass(frozen=True, slots=True)
class Matched:
    """The records of two systems that ask the same, in the order of the first."""

    first: Any
    second: Any
    only_first: int
    only_second: int
    is_complete: bool


class Comparisons:
    """Compares the systems of some open files."""

    def __init__(self, files: Sequence[ViewedFile]) -> None:
        """Take the files, which may be opened later."""
        self._files = files
        self._lock = Lock()
        self._table_lock = Lock()
        self._matched: dict[tuple[str, str], tuple[Any, Matched]] = {}
        self._tables: dict[tuple[str, ...], dict[str, Any]] = {}
        self._work: Background | None = None

    def close(self) -> None:
        """End the comparison that runs."""
        if self._work is not None:
            self._work.stop()

    def _systems(self) -> list[System]:
        """Return all systems that are known by now."""
        found = []
        for at, file in enumerate(self._files):
            name = Path(file.source.name).name
            models = list(file.columns.state.models)
            if len(models) < 2:  # noqa: PLR2004 - one model is a whole file
                model = models[0] if models and models[0] else None
                found.append(System(f"{at}.0", model or name, at, model, None))
                continue
            for place, model in enumerate(models[: MODELS - 1]):
                found.append(System(f"{at}.{place}", model or name, at, model, place))
        names = [system.name for system in found]
        return [
            system
            if names.count(system.name) == 1
            else _renamed(system, Path(self._files[system.file].source.name))
            for system in found
        ]

    def systems(self) -> dict[str, Any]:
        """Return the systems, and the metrics of which their answers have scores."""
        metrics = [file.columns.state.metrics for file in self._files]
        return {
            "systems": [
                {
                    "index": one.id,
                    "name": one.name,
                    "file": one.file,
                    "model": one.model,
                    "metrics": metrics[one.file],
                }
                for one in self._systems()
            ],
            "metrics": list(dict.fromkeys(name for some in metrics for name in some)),
            "complete": all(file.is_scanned for file in self._files),
        }

    def _pair(self, query: Mapping[str, str]) -> tuple[System, System]:
        """Return the two systems of a query. Raises `ViewError`."""
        known = {system.id: system for system in self._systems()}
        try:
            return known[query.get("a", "")], known[query.get("b", "")]
        except KeyError:
            raise ViewError("there is no such system") from None

    def with_key(self, file: ViewedFile, key: Any) -> Iterator[int]:
        """Yield the records of a file that have the key of a question."""
        for first in range(1, file.columns.state.records + 1, BLOCK):
            keys = file.columns.column("key", first, BLOCK)
            for at in np.flatnonzero(keys == key[0]):
                yield first + int(at)

    def _matches(self, one: System, other: System) -> Matched:
        """Return the records of two systems that ask the same. Raises `ViewError`."""
        files = self._files[one.file], self._files[other.file]
        version = tuple((file.columns.state.records, file.is_scanned) for file in files)
        with self._lock:
            kept = self._matched.get((one.id, other.id))
            if kept is not None and kept[0] == version:
                return kept[1]
            pairs = _matched(*(self._questions(each) for each in (one, other)))
            found = Matched(*pairs, all(file.is_scanned for file in files))
            self._matched[one.id, other.id] = version, found
            return found

    def _questions(self, system: System) -> tuple[Any, Any]:
        """Return the records of a system, and the three digests of each question."""
        file = self._files[system.file]
        count = file.columns.state.records
        if count > MOST:
            raise ViewError(
                f"more than {MOST:,} records are not matched here: use `score compare`"
            )
        records, keys = [], []
        for first in range(1, count + 1, BLOCK):
            size = min(BLOCK, count - first + 1)
            found = file.columns.column("key", first, size)
            found = found.view(np.uint8).reshape(-1, _PARTS * WIDTH)
            own = found.any(axis=1)
            if system.place is not None:
                models = file.columns.column("models", first, size)
                own &= (models >> np.uint64(system.place) & np.uint64(1)).astype(bool)
            records.append(np.flatnonzero(own) + first)
            keys.append(found[own])
        if not records:
            return np.empty(0, np.int64), np.empty((0, _PARTS * WIDTH), np.uint8)
        return np.concatenate(records), np.concatenate(keys)

    def _scores(self, system: System, records: Any, column: str) -> Any:
        """Return the scores of some records of a system, NaN where it has none."""
        file = self._files[system.file]
        columns, count = file.columns, file.columns.state.records
        scores = columns.column(column, 1, count)[records - 1].copy()
        if system.place is None:
            return scores
        models = columns.column("models", 1, count)[records - 1]
        own = columns.column(f"{column}.{system.place}", 1, count)[records - 1]
        has_others = models != np.uint64(1 << system.place)
        scores[has_others] = own[has_others]
        return scores

    def _metric(self, system: System, name: str) -> str:
        """Return the column of a metric, one without numbers if it has none."""
        metrics = self._files[system.file].columns.state.metrics
        return f"score{metrics.index(name) if name in metrics else len(metrics)}"

    def rows(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return a part of the questions of two systems. Raises `ViewError`."""
        one, other = self._pair(query)
        matched = self._matches(one, other)
        metric, verdict = query.get("metric", ""), query.get("verdict") or "all"
        if verdict not in _VERDICTS:
            raise ViewError(f"verdict is one of {', '.join(_VERDICTS)}")
        sides = (one, matched.first), (other, matched.second)
        scores = [self._scores(s, r, self._metric(s, metric)) for s, r in sides]
        verdicts = [self._scores(s, r, "verdict") for s, r in sides]
        chosen = _chosen(scores, verdicts, verdict, _least(query))
        if query.get("sort") == "difference":
            sizes = np.nan_to_num(np.abs(scores[0] - scores[1])[chosen], nan=-1.0)
            chosen = chosen[np.argsort(-sizes, kind="stable")]
        start, count = int(query.get("start") or 0), int(query.get("count") or 100)
        shown = chosen[start : start + min(count, 1_000)]
        return {
            "matched": len(matched.first),
            "only_a": matched.only_first,
            "only_b": matched.only_second,
            "total": len(chosen),
            "complete": matched.is_complete,
            "rows": [
                {
                    "position": start + at,
                    **self._pair_shown(sides, int(place), scores, verdicts),
                }
                for at, place in enumerate(shown)
            ],
        }

    def _pair_shown(
        self, sides: Any, place: int, scores: Sequence[Any], verdicts: Sequence[Any]
    ) -> dict[str, Any]:
        """Return a question with the beginning of both answers."""
        shown: dict[str, Any] = {}
        for name, (system, records), values, rights in zip(
            "ab", sides, scores, verdicts, strict=True
        ):
            number = int(records[place])
            shown[name] = {
                "record": number,
                "score": _number(values[place]),
                "correct": None if np.isnan(rights[place]) else bool(rights[place]),
                "answer": None,
            }
            try:
                record = self._record(system, number)
            except ViewError:
                continue
            row = row_of(record)
            shown[name]["answer"] = (_answer(record, system) or "")[:300]
            shown.setdefault("prompt", row["prompt"])
            shown.setdefault("question", row["id"])
        difference = scores[0][place] - scores[1][place]
        return {
            "prompt": None,
            "question": None,
            **shown,
            "difference": _number(difference),
        }

    def _record(self, system: System, number: int) -> Record:
        """Return a record of a system. Raises `ViewError`."""
        file = self._files[system.file]
        return file.record(file.row(number))

    def record(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return both answers to the question of a record, word by word."""
        one, other = self._pair(query)
        matched = self._matches(one, other)
        number = int(query.get("record") or 0)
        places = np.flatnonzero(matched.first == number)
        if not len(places):
            raise ViewError("only one of the systems answers this question")
        numbers = number, int(matched.second[places[0]])
        records = [
            self._record(system, each)
            for system, each in zip((one, other), numbers, strict=True)
        ]
        answers = [
            (_answer(record, system) or "")[:LONG]
            for record, system in zip(records, (one, other), strict=True)
        ]
        marked = _marked(*answers)
        return {
            "prompt": prompt_of(records[0]),
            "references": records[0].references or [],
            "reference": reference_of(records[0]),
            "a": {
                "name": one.name,
                "file": one.file,
                "record": numbers[0],
                "text": answers[0],
                "words": marked[0],
            },
            "b": {
                "name": other.name,
                "file": other.file,
                "record": numbers[1],
                "text": answers[1],
                "words": marked[1],
            },
        }

    def table(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the tables of `score compare` for the stored scores of two systems."""
        one, other = self._pair(query)
        metric = query.get("metric", "")
        paths = [self._files[system.file].source.name for system in (one, other)]
        inputs = list(dict.fromkeys(paths))
        models = [
            f"{inputs.index(path) + 1}={system.model}"
            for path, system in zip(paths, (one, other), strict=True)
            if system.model
        ]
        words = ["harpia-formats", "score", "compare", *inputs, "--stored"]
        words += ["--on-invalid", "skip"]
        words += ["--metrics", metric] if metric else []
        is_forced = query.get("force") == "1"
        words += ["--force"] if is_forced else []
        for model in models:
            words += ["--model", model]
        command = " ".join(map(quote, words))
        key = (*inputs, *models, metric, str(is_forced))
        with self._table_lock:
            if key not in self._tables:
                given = (inputs, models, metric)
                self._tables[key] = self._compared(*given, is_forced=is_forced)
            return {**self._tables[key], "command": command}

    def _compared(
        self, inputs: list[str], models: list[str], metric: str, *, is_forced: bool
    ) -> dict[str, Any]:
        """Return the tables of a comparison, computed in another process."""
        found: list[dict[str, Any]] = []
        given = (inputs, models, metric, is_forced)
        self._work = Background(
            compared_tables, *given, patience=PATIENCE, receive=found.append
        )
        self._work.wait(PATIENCE)
        if found:
            return found[0]
        reason = self._work.failure or "the comparison takes too long"
        return {"tables": [], "reason": reason}


def _renamed(system: System, path: Path) -> System:
    """Return a system with the path of its file in front of its name."""
    where = f"{path.parent.name}/{path.name}" if path.parent.name else path.name
    name = where if system.model is None else f"{where}: {system.model}"
    return System(system.id, name, system.file, system.model, system.place)


def compared_tables(
    inputs: list[str],
    models: list[str],
    metric: str,
    is_forced: bool,  # noqa: FBT001 - calls of other processes have no keywords
) -> Iterator[dict[str, Any]]:
    """Yield the tables of the stored scores of two systems, or why there is none."""
    from harpia_formats.evaluation.scoring.compare_runs import ScoreComparison  # noqa: PLC0415 - only the process that compares needs it: start-up time
    from harpia_formats.evaluation.scoring.options import ScoreOptions  # noqa: PLC0415 - see above
    from harpia_formats.reporters.tables import tables_of  # noqa: PLC0415 - see above

    options = ScoreOptions(
        stored=True, metrics=(metric,) if metric else (), on_invalid="skip", jobs=1
    )
    try:
        run = ScoreComparison(inputs, options, models, force=is_forced)
        for _ in run:
            continue
        report = run.report()
        report.raise_for_errors()
    except HarpiaFormatsError as error:
        yield {"tables": [], "reason": str(error)}
        return
    shown = [
        {
            "title": table.title,
            "columns": [heading.full_name for heading in table.headings],
            "rows": [[_cell(cell, table.none) for cell in row] for row in table.rows],
            "notes": [note.line for note in table.notes],
        }
        for table in tables_of(report)
    ]
    yield {"tables": shown, "reason": None if shown else "nothing could be compared"}


def _cell(cell: Any, none: str) -> str:
    """Return a cell of a table as text."""
    from harpia_formats.reporters.tables.table import number_of  # noqa: PLC0415 - see above

    if isinstance(cell, str):
        return cell
    number = number_of(cell, none)
    return f"{number.text}{number.mark} {number.rest}".rstrip()


def _least(query: Mapping[str, str]) -> float | None:
    """Return how much scores must differ, None if that is not asked."""
    try:
        return float(query["by"]) if query.get("by") else None
    except ValueError:
        raise ViewError("by is no number") from None


def _chosen(
    scores: Sequence[Any], verdicts: Sequence[Any], verdict: str, by: float | None
) -> Any:
    """Return the places of the pairs that are asked for."""
    mask = np.ones(len(scores[0]), dtype=bool)
    first, second = verdicts
    if verdict == "a-right":
        mask &= (first == 1) & (second == 0)
    elif verdict == "b-right":
        mask &= (first == 0) & (second == 1)
    elif verdict == "differs":
        is_same = (first == second) | (np.isnan(first) & np.isnan(second))
        mask &= ~is_same
    if by is not None:
        mask &= np.abs(scores[0] - scores[1]) > by
    return np.flatnonzero(mask)


def _matched(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any, int, int]:
    """Return the records of both systems that ask the same, and how many ask alone.

    A part of questions that one side has in no record is not compared; nor are ids if a
    record has none. Of several records of a question the first one counts.
    """
    parts = [
        part
        for part in range(_PARTS)
        if all(_has_part(keys, part) for _, keys in (one, other))
    ]
    if parts in ([], [_PARTS - 1]):
        raise ViewError("the records have neither ids nor prompts to match them by")
    sides = []
    for records, keys in (one, other):
        folded = _folded(keys, parts)
        firsts = np.unique(folded, return_index=True)[1]
        firsts.sort()
        sides.append((records[firsts], folded[firsts]))
    (first, mine), (second, theirs) = sides
    order = np.argsort(theirs, kind="stable")
    at = np.searchsorted(theirs[order], mine)
    at[at == len(order)] = 0
    is_there = theirs[order][at] == mine if len(order) else np.zeros(len(mine), bool)
    pairs = order[at[is_there]] if len(order) else np.empty(0, np.int64)
    both = int(is_there.sum())
    return first[is_there], second[pairs], len(first) - both, len(second) - both


def _has_part(keys: Any, part: int) -> bool:
    """Tell whether questions have a part: all of them an id, or any another part."""
    own = keys[:, part * WIDTH : (part + 1) * WIDTH].any(axis=1)
    return bool(own.all() if part == 0 else own.any()) and len(own) > 0


def _folded(keys: Any, parts: Sequence[int]) -> Any:
    """Return one number of 64 bits for the compared digests of each question."""
    folded = np.zeros(len(keys), dtype=np.uint64)
    for part in parts:
        whole = np.ascontiguousarray(keys[:, part * WIDTH : (part + 1) * WIDTH])
        halves = whole.view(np.uint64).reshape(-1, 2)
        # Multiplied, so that two equal parts do not cancel each other.
        folded = folded * np.uint64(3) ^ halves[:, 0] ^ (halves[:, 1] * np.uint64(5))
    return folded


def _number(value: Any) -> float | None:
    """Return a number, None for what is none."""
    return None if np.isnan(value) else float(value)


def _answer(record: Record, system: System) -> str | None:
    """Return the first answer of a system in a record."""
    own = [each for each in record.outputs if _is_of(each, system)]
    return answer_of(own[0]) if own else None


def _is_of(output: Output, system: System) -> bool:
    """Tell whether an answer is one of a system."""
    return system.place is None or (output.model or "") == system.model


def _marked(one: str, other: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return two texts in pieces, each `same` in both or in `only` one."""
    first, second = _words(one), _words(other)
    if max(len(first), len(second)) > MOST_WORDS:
        return [["same", one]], [["same", other]]
    sides: tuple[list[list[str]], list[list[str]]] = ([], [])
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        for side, words in zip(sides, (first[a:b], second[c:d]), strict=True):
            if words:
                name = "same" if kind == "equal" else "only"
                side.append([name, "".join(words)])
    return sides


def _words(text: str) -> list[str]:
    """Return the words of a text, each with the white space behind it."""
    import re  # noqa: PLC0415 - only where answers are compared

    return re.findall(r"\s+|\w+|[^\w\s]", text)
