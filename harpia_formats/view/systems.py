"""Compare the answers of two systems to the same questions, as `score compare` does.

A system is a model in one of the files, or a file that names no model. Questions are
matched by the digests that the scan of each file kept of their ids, inputs and
references.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import accumulate
from pathlib import Path
from shlex import quote
from threading import Lock
from typing import Any, Literal

import numpy as np

from harpia_formats.conversion.mapping.questions import WIDTH as DIGEST
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.record import Output, Record
from harpia_formats.view.answers import answer_of, prompt_of, reference_of
from harpia_formats.view.background import Background
from harpia_formats.view.options import ViewError, ViewOptions, whole
from harpia_formats.view.record_details import LONG, row_of, short
from harpia_formats.view.record_scan import KEY_WIDTH, MODELS, VERDICT
from harpia_formats.view.selection import BLOCK
from harpia_formats.view.viewed_file import ViewedFile

#: Records of a file whose systems are matched.
MOST_MATCHED = 3_000_000
#: Pairs of systems whose matched questions are kept, and tables of scores.
MOST_PAIRS, MOST_TABLES = 2, 16
#: Records that ask the same, of one file: those next to a record, and itself.
MOST_SAME = 21
#: Words of an answer whose differences are looked for, and pairs of equal words that
#: are looked at for it. Where two answers share nothing but spaces, all pairs of these
#: are looked at for each one that is matched.
MOST_WORDS, MOST_LOOKS = 5_000, 100_000_000
#: Seconds that the table of a comparison may take.
MOST_SECONDS = 300.0
_PARTS = KEY_WIDTH // DIGEST
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_VERDICTS = ("all", "a-right", "b-right", "differs")


@dataclass(frozen=True, slots=True)
class System:
    """A system whose answers are compared."""

    #: What names it in addresses.
    id: str
    name: str
    file: int
    #: The model, and its place among those of the file; None for a whole file.
    model: str | None
    place: int | None


@dataclass(frozen=True, slots=True)
class MatchedSide:
    """The records of one system that ask what the other one is asked, too."""

    #: The first record of each question, in the order of questions.
    first: Any
    #: All their records, and for each the place of its question.
    records: Any
    places: Any
    #: Questions that only this system answers.
    alone: int

    def counts(self) -> Any:
        """Return how many records each question has."""
        return np.bincount(self.places, minlength=len(self.first))

    def means(self, values: Any) -> Any:
        """Return the mean of a value over the records of each question, or NaN."""
        has_value = ~np.isnan(values)
        places, count = self.places[has_value], len(self.first)
        sums = np.bincount(places, weights=values[has_value], minlength=count)
        counts = np.bincount(places, minlength=count)
        return np.divide(sums, counts, out=np.full(count, np.nan), where=counts > 0)


@dataclass(frozen=True, slots=True)
class Matched:
    """The questions of two systems, in the order of the first."""

    first: MatchedSide
    second: MatchedSide
    is_complete: bool


class SameQuestions:
    """Finds the records of a file that have the key of a question.

    Of each whole block of records the folded keys are written to a file in order, so
    that few of them are read again.
    """

    def __init__(self, file: ViewedFile) -> None:
        """Take the file, of whose records more may be known later."""
        self._file = file
        self._path = Path(f"{file.base}.questions")
        self._blocks = 0
        self._lock = Lock()

    def records(self, key: Any) -> Iterator[int]:
        """Yield the numbers of the first `MOST_SAME` records with a key, in order."""
        columns, left = self._file.columns, MOST_SAME
        known = columns.state.records
        for number in self._likely(key, known):
            if left and columns.column("key", number, 1)[0] == key[0]:
                left -= 1
                yield number

    def _likely(self, key: Any, known: int) -> Iterator[int]:
        """Yield the numbers of the records whose folded keys are that of a key."""
        (wanted,) = _folded(_digests(key), range(_PARTS))
        with self._lock, suppress(OSError):  # without room all keys are read
            self._write(known)
        blocks = self._blocks
        if blocks:
            shape = (blocks, 2, BLOCK)
            written = np.memmap(self._path, np.uint64, "r", shape=shape)
            for keys, numbers in written:
                begin, end = (np.searchsorted(keys, wanted, s) for s in _SIDES)
                yield from numbers[begin:end].tolist()
        for first in range(blocks * BLOCK + 1, known + 1, BLOCK):
            keys = self._keys(first, min(BLOCK, known - first + 1))
            yield from (np.flatnonzero(keys == wanted) + first).tolist()

    def _keys(self, first: int, count: int) -> Any:
        """Return the folded keys of some records."""
        return _folded(
            _digests(self._file.columns.column("key", first, count)), range(_PARTS)
        )

    def _write(self, known: int) -> None:
        """Write the keys of the whole blocks that are known. Raises `OSError`."""
        if self._blocks == known // BLOCK:
            return
        with self._path.open("r+b" if self._blocks else "wb") as file:
            file.seek(self._blocks * 2 * BLOCK * np.dtype(np.uint64).itemsize)
            while (self._blocks + 1) * BLOCK <= known:
                first = self._blocks * BLOCK + 1
                keys = self._keys(first, BLOCK)
                order = np.argsort(keys, kind="stable")
                file.write(keys[order].tobytes())
                file.write((order + first).astype(np.uint64).tobytes())
                file.flush()
                self._blocks += 1


class Comparisons:
    """Compares the systems of some open files."""

    def __init__(self, files: Sequence[ViewedFile], options: ViewOptions) -> None:
        """Take the files, which may be opened later with some options."""
        self._files = files
        self._options = options
        self._lock = Lock()
        self._table_lock = Lock()
        self._matched: OrderedDict[tuple[str, str], tuple[Any, Matched]] = OrderedDict()
        self._tables: OrderedDict[tuple[str, ...], dict[str, Any]] = OrderedDict()
        self._same: dict[ViewedFile, SameQuestions] = {}
        self._work: Background | None = None

    def close(self) -> None:
        """Cancel the comparison that runs."""
        if self._work is not None:
            self._work.stop()

    def _systems(self) -> list[System]:
        """Return all systems that are known so far."""
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
        """Return the systems, and the metrics for which their answers have scores."""
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
            pair = known[query.get("a", "")], known[query.get("b", "")]
        except KeyError:
            raise ViewError("there is no such system") from None
        for file in (self._files[system.file] for system in pair):
            if file.has_changed:
                raise ViewError(file.reason)
        return pair

    def with_key(self, file: ViewedFile, key: Any) -> Iterator[int]:
        """Yield the first records of a file that have the key of a question."""
        with self._lock:
            same = self._same.setdefault(file, SameQuestions(file))
        yield from same.records(key)

    def _matches(self, one: System, other: System) -> Matched:
        """Return the records of two systems that ask the same. Raises `ViewError`."""
        files = self._files[one.file], self._files[other.file]
        version = tuple((file.columns.state.records, file.is_scanned) for file in files)
        with self._lock:
            kept = self._matched.get((one.id, other.id))
            if kept is None or kept[0] != version:
                found = self._newly_matched(one, other)
                kept = self._matched[one.id, other.id] = version, found
            self._matched.move_to_end((one.id, other.id))
            if len(self._matched) > MOST_PAIRS:
                self._matched.popitem(last=False)
            return kept[1]

    def _newly_matched(self, one: System, other: System) -> Matched:
        """Match the records of two systems by the parts that both sides have.

        A part of questions that one side has in no record is not compared; nor are ids
        if a record has none. Raises `ViewError`.
        """
        files = self._files[one.file], self._files[other.file]
        is_complete = all(file.is_scanned for file in files)
        sides = [
            (system, file.columns.state.records)
            for system, file in zip((one, other), files, strict=True)
        ]
        if max(count for _, count in sides) > MOST_MATCHED:
            raise ViewError(
                f"more than {MOST_MATCHED:,} records are not matched here: use "
                "`score compare`"
            )
        has_parts = [self._has_parts(*side) for side in sides]
        parts = [part for part in range(_PARTS) if all(has[part] for has in has_parts)]
        if parts in ([], [_PARTS - 1]):
            if is_complete:
                reason = "the records have neither ids nor prompts to match them by"
                raise ViewError(reason)
            sides = [(system, 0) for system, _ in sides]  # they may still come
        keys = (self._questions(*side, parts) for side in sides)
        return Matched(*_matched(*keys), is_complete)

    def _keys(self, system: System, count: int) -> Iterator[tuple[Any, Any]]:
        """Yield the records of a system, and the digests of their questions."""
        columns = self._files[system.file].columns
        for first in range(1, count + 1, BLOCK):
            size = min(BLOCK, count - first + 1)
            digests = _digests(columns.column("key", first, size))
            own = digests.any(axis=1)
            if system.place is not None:
                models = columns.column("models", first, size)
                own &= (models >> np.uint64(system.place) & np.uint64(1)).astype(bool)
            yield np.flatnonzero(own) + first, digests[own]

    def _has_parts(self, system: System, count: int) -> list[bool]:
        """Tell for each part whether all records have it, an id, or any, another."""
        every, some = np.ones(_PARTS, dtype=bool), np.zeros(_PARTS, dtype=bool)
        for _, digests in self._keys(system, count):
            has = digests.reshape(-1, _PARTS, DIGEST).any(axis=2)
            every &= has.all(axis=0)
            some |= has.any(axis=0)
        return [bool(some[0] and every[0]), *map(bool, some[1:])]

    def _questions(
        self, system: System, count: int, parts: Sequence[int]
    ) -> tuple[Any, Any]:
        """Return the records of a system, and some parts of each question folded."""
        records, keys = [np.empty(0, np.uint32)], [np.empty(0, np.uint64)]
        for numbers, digests in self._keys(system, count):
            records.append(numbers.astype(np.uint32))
            keys.append(_folded(digests, parts))
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

    def _means(self, system: System, side: MatchedSide, column: str) -> Any:
        """Return the mean score of each question of a system."""
        return side.means(self._scores(system, side.records, column))

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
        scores = [self._means(*one, self._metric(one[0], metric)) for one in sides]
        # A question is answered right if all of its answers are.
        verdicts = [np.floor(self._means(*one, VERDICT)) for one in sides]
        chosen = _chosen(scores, verdicts, verdict, _least(query))
        if query.get("sort") == "difference":
            sizes = np.nan_to_num(np.abs(scores[0] - scores[1])[chosen], nan=-1.0)
            chosen = chosen[np.argsort(-sizes, kind="stable")]
        start, count = whole(query, "start", 0), whole(query, "count", 100)
        shown = chosen[start : start + min(count, 1_000)]
        counts = [side.counts() for _, side in sides]
        return {
            "matched": len(matched.first.first),
            "only_a": matched.first.alone,
            "only_b": matched.second.alone,
            "total": len(chosen),
            "complete": matched.is_complete,
            "rows": [
                {
                    "position": start + at,
                    **self._pair_shown(sides, int(place), scores, verdicts, counts),
                }
                for at, place in enumerate(shown)
            ],
        }

    def _pair_shown(
        self,
        sides: Any,
        place: int,
        scores: Sequence[Any],
        verdicts: Sequence[Any],
        counts: Sequence[Any],
    ) -> dict[str, Any]:
        """Return a question with the beginning of both answers."""
        shown: dict[str, Any] = {}
        for name, (system, side), values, rights, records in zip(
            "ab", sides, scores, verdicts, counts, strict=True
        ):
            number = int(side.first[place])
            shown[name] = {
                "record": number,
                "records": int(records[place]),
                "score": _number(values[place]),
                "correct": None if np.isnan(rights[place]) else bool(rights[place]),
                "answer": None,
                "unread": None,
            }
            try:
                record = self._record(system, number)
            except ViewError as error:
                shown[name]["unread"] = str(error)
                continue
            row = row_of(record)
            shown[name]["answer"] = short(_answer(record, system))
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
        number = whole(query, "record", 0)
        places = matched.first.places[matched.first.records == number]
        if not len(places):
            raise ViewError("only one of the systems answers this question")
        numbers = number, int(matched.second.first[places[0]])
        records = [
            self._record(system, each)
            for system, each in zip((one, other), numbers, strict=True)
        ]
        answers = [
            short(_answer(record, system), LONG)
            for record, system in zip(records, (one, other), strict=True)
        ]
        marked = _marked(*(answer or "" for answer in answers)) or (None, None)
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
        options = self._options
        words += ["--from", options.format] if options.format else []
        words += ["--delimiter", options.delimiter] if options.delimiter else []
        words += ["--metrics", metric] if metric else []
        is_forced = query.get("force") == "1"
        words += ["--force"] if is_forced else []
        for model in models:
            words += ["--model", model]
        has_own_limit = options.max_row_bytes != ROW_LIMIT  # no command has it
        command = None if has_own_limit else " ".join(map(quote, words))
        key = (*inputs, *models, metric, str(is_forced))
        with self._table_lock:
            found = self._tables.get(key)
            if found is None:
                given = (inputs, models, metric, is_forced)
                found = self._compared(key, *given)
            else:
                self._tables.move_to_end(key)
            return {**found, "command": command}

    def _compared(self, key: tuple[str, ...], *given: Any) -> dict[str, Any]:
        """Return the tables of a comparison, computed in another process.

        They are kept; why that failed is not, since it may not fail again.
        """
        found: list[dict[str, Any]] = []
        self._work = Background(
            compared_tables,
            *given,
            self._options,
            patience=MOST_SECONDS,
            receive=found.append,
        )
        self._work.wait(MOST_SECONDS)
        if found:
            self._tables[key] = found[0]
            if len(self._tables) > MOST_TABLES:
                self._tables.popitem(last=False)
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
    given: ViewOptions,
) -> Iterator[dict[str, Any]]:
    """Yield the tables of the stored scores of two systems, or why there is none."""
    from harpia_formats.evaluation.scoring.compare_runs import ScoreComparison  # noqa: PLC0415 - only the process that compares needs it: start-up time
    from harpia_formats.evaluation.scoring.options import ScoreOptions  # noqa: PLC0415 - see above
    from harpia_formats.reporters.tables import tables_of  # noqa: PLC0415 - see above

    options = ScoreOptions(
        from_=given.format,
        delimiter=given.delimiter,
        max_row_bytes=given.max_row_bytes,
        stored=True,
        metrics=(metric,) if metric else (),
        on_invalid="skip",
        jobs=1,
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


def _matched(
    one: tuple[Any, Any], other: tuple[Any, Any]
) -> tuple[MatchedSide, MatchedSide]:
    """Return the records of both systems that ask the same, given their keys."""
    sides = [
        (records, *np.unique(keys, return_index=True, return_inverse=True))
        for records, keys in (one, other)
    ]
    (_, mine, firsts, _), (_, theirs, _, _) = sides
    _, *ats = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    order = np.argsort(firsts[ats[0]])
    found = []
    for (records, questions, firsts, inverse), at in zip(sides, ats, strict=True):
        ranks = np.full(len(questions), -1, dtype=np.int32)
        ranks[at[order]] = np.arange(len(order), dtype=np.int32)
        places = ranks[inverse]
        is_there = places >= 0
        found.append(
            MatchedSide(
                records[firsts[at[order]]],
                records[is_there],
                places[is_there],
                len(questions) - len(at),
            )
        )
    return found[0], found[1]


def _digests(keys: Any) -> Any:
    """Return keys of questions as rows of bytes."""
    return np.ascontiguousarray(keys).view(np.uint8).reshape(-1, KEY_WIDTH)


def _folded(digests: Any, parts: Sequence[int]) -> Any:
    """Return one number of 64 bits for the compared digests of each question."""
    folded = np.zeros(len(digests), dtype=np.uint64)
    for part in parts:
        whole_part = digests[:, part * DIGEST : (part + 1) * DIGEST]
        halves = np.ascontiguousarray(whole_part).view(np.uint64).reshape(-1, 2)
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


class _TooLong(Exception):  # noqa: N818 - says what happened
    """It would take long to find what two answers share."""


class _Matcher(SequenceMatcher[str]):
    """Finds what two lists of words share; raises `_TooLong` where that takes long."""

    def __init__(self, first: Sequence[str], second: Sequence[str]) -> None:
        super().__init__(None, first, second, autojunk=False)
        counts = Counter(second)
        #: For each place in the first, the pairs of equal words up to there.
        self._looks = [0, *accumulate(counts[word] for word in first)]
        self._left = MOST_LOOKS

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """Return what is longest in parts of both; raises `_TooLong`."""
        end = len(self._looks) - 1 if ahi is None else ahi
        self._left -= self._looks[end] - self._looks[alo]
        if self._left < 0:
            raise _TooLong
        return super().find_longest_match(alo, ahi, blo, bhi)


def _marked(one: str, other: str) -> tuple[list[list[str]], list[list[str]]] | None:
    """Return two texts in pieces, each `same` in both or in `only` one.

    None if they are too long, or have too little in common.
    """
    first, second = _words(one), _words(other)
    if max(len(first), len(second)) > MOST_WORDS:
        return None
    try:
        changes = _Matcher(first, second).get_opcodes()
    except _TooLong:
        return None
    sides: tuple[list[list[str]], list[list[str]]] = ([], [])
    for kind, a, b, c, d in changes:
        for side, words in zip(sides, (first[a:b], second[c:d]), strict=True):
            if words:
                name = "same" if kind == "equal" else "only"
                side.append([name, "".join(words)])
    return sides


def _words(text: str) -> list[str]:
    """Return the words, the marks and the white space of a text."""
    import re  # noqa: PLC0415 - only where answers are compared

    return re.findall(r"\s+|\w+|[^\w\s]", text)
