"""Scan the records of a file into columns of numbers, for filters and scores.

A process of its own validates the file and reads its valid rows as records. For each
record it writes one number to the file of each column, so that rows are selected and
sorted without reading them again. The names behind the numbers (models, categories,
metrics, rules) are in one small file, which is replaced from time to time.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from harpia_formats.conversion.mapping.extra_fields import PARTNERS
from harpia_formats.conversion.mapping.questions import WIDTH, question_of
from harpia_formats.conversion.reading.companions import Companions
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import partners_in
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.files.io.source import ReadProgress, Source
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.problem import HarpiaFormatsError, Problem
from harpia_formats.model.record import Output, Record, metric_of
from harpia_formats.model.report import FileCount
from harpia_formats.validation.options import Options
from harpia_formats.validation.run import Validation
from harpia_formats.view.answers import has_answer, number_of
from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.record_reader import why_unread

#: Models, metrics and rules that have a number of their own; the last number stands for
#: all further ones.
MODELS, METRICS, RULES = 64, 32, 64
#: Categories that are distinguished, and the characters of all of their names.
CATEGORIES, MOST_TEXT = 100_000, 2_000_000
#: Characters of the name of a model or metric that is distinguished from others.
LONGEST_NAME = 1_000
#: Records, and findings, after which the columns are written.
BATCH = 20_000
#: Seconds after which the columns are written nevertheless.
PAUSE = 0.5

#: Bits of the column `flags`.
READ, CORRECT, WRONG, NO_ANSWER = 1, 2, 4, 8
#: Bytes of the digests of a question: its id, its input, its references.
KEY_WIDTH = 3 * WIDTH
#: The columns, and the type of their numbers; scores are in columns of their own.
COLUMNS: dict[str, Any] = {
    "models": np.dtype(np.uint64),
    "flags": np.dtype(np.uint8),
    "category": np.dtype(np.uint32),
    "key": np.dtype((np.void, KEY_WIDTH)),
    "rules": np.dtype(np.uint64),
    "findings": np.dtype(np.uint32),
}
SCORES = np.dtype(np.float64)
#: The column of verdicts: 1 for a correct answer.
VERDICT = "verdict"


class FoundRule(msgspec.Struct):
    """A rule that records break: how often, and in how many records."""

    code: str
    name: str
    severity: str
    count: int = 0
    records: int = 0


class ScanState(msgspec.Struct):
    """The names behind the numbers of the columns, and how far the scan is."""

    #: Bytes read, and all of them, 0 if that is not known.
    done: int = 0
    of: int = 0
    #: Records whose columns are written.
    records: int = 0
    #: The answers of each model, and the records of each category, in the order of
    #: their numbers.
    models: dict[str, int] = {}
    #: Answers of further models, which are not distinguished.
    other_answers: int = 0
    metrics: list[str] = []
    categories: dict[str, int] = {}
    #: Records of further categories, which are not distinguished.
    other_categories: int = 0
    rules: list[FoundRule] = []
    #: What stands around the rows, as their reader needs it.
    surroundings: dict[str, Any] = {}
    #: `valid`, `invalid`, and so on, once the scan has ended.
    counts: dict[str, int] | None = None
    #: Why the records are not read, "" if they are.
    unread: str = ""
    #: Why the file could not be read to its end.
    reason: str = ""
    is_complete: bool = False


def scan_file(path: str, options: ViewOptions, base: str) -> Iterator[None]:
    """Validate a file and read its records, and write columns that begin with `base`.

    It yields once, at the end: how far it is stands in the file `base`.state.
    """
    columns = _Writer(base, ScanState())
    try:
        _scan(path, options, columns, reads_records=True)
    except HarpiaFormatsError as error:
        # What the file holds is not known, but it can be validated.
        columns = _Writer(base, ScanState(unread=str(error)))
        _scan(path, options, columns, reads_records=False)
    columns.write()
    columns.state.is_complete = True
    columns.write_state()
    yield None


def _scan(
    path: str, options: ViewOptions, columns: "_Writer", *, reads_records: bool
) -> None:
    """Validate a file, and read its records if that is asked for."""
    limit = options.max_row_bytes
    companions = Companions(
        None, [path], limit, partial(partners_in, max_row_bytes=limit)
    )

    def consumer_of(source: Source, _: FileCount) -> RecordStream:
        def around(variant: FormatVariant) -> Any:
            return companions.around(source, variant, adapter_of(variant.format))

        stream = RecordStream(
            source.name, columns.add, lambda _: None, _check_records, around=around
        )
        columns.stream = stream
        return stream

    validation = Validation(
        [path],
        Options(
            format=options.format,
            delimiter=options.delimiter,
            max_row_bytes=limit,
            examples=0,
            max_problems=0,
            jobs=1,
            progress=columns.progress,
        ),
        consumer_of=consumer_of if reads_records else None,
    )
    for problem in validation:
        columns.found(problem)
    (count,) = validation.report().files[:1] or (FileCount(path),)
    names = ("records", "valid", "invalid", "undetermined", "errors", "warnings")
    columns.state.counts = {name: getattr(count, name) for name in (*names, "notes")}
    columns.end(count.records)
    columns.state.reason = count.reason or ""


def _check_records(variant: FormatVariant) -> None:
    """Raise `ViewError` for a format whose files hold no records."""
    if reason := why_unread(variant.format):
        raise ViewError(reason)


@dataclass(slots=True)
class _Writer:
    """Writes the columns of a file."""

    base: str
    state: ScanState
    stream: RecordStream | None = None
    #: The numbers of each column that are not written yet.
    _held: dict[str, list[Any]] = field(default_factory=dict)
    #: The scores of records by their numbers, for each column of scores.
    _scores: dict[str, dict[int, float]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    #: The column of each metric.
    _columns: dict[str, str] = field(default_factory=dict)
    #: The characters of all categories.
    _size: int = 0
    #: The rules and the findings of records, by their numbers.
    _findings: dict[int, tuple[int, int]] = field(default_factory=dict)
    #: The last record that was added, and the last that is written.
    _last: int = 0
    _written: int = 0
    _written_at: float = field(default_factory=monotonic)
    #: The number of each model, category and rule.
    _models: dict[str, int] = field(default_factory=dict)
    _categories: dict[str, int] = field(default_factory=dict)
    _rules: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._held = {name: [] for name in ("models", "flags", "category", "key")}

    def progress(self, progress: ReadProgress) -> None:
        """Note how far the file was read."""
        self.state.done, self.state.of = progress.consumed, progress.total or 0
        if monotonic() - self._written_at > PAUSE:
            self.write()

    def add(self, placed: PlacedRecord) -> None:
        """Add a record; those before it that were not added could not be read."""
        # The components of a file of columns share their numbers.
        number = max(placed.number, self._last + 1)
        self._fill(number - 1)
        record, held = placed.record, self._held
        held["models"].append(self._models_of(record))
        held["category"].append(self._category_of(record))
        held["key"].append(question_of(record).key)
        outputs = record.outputs
        numbers = [self._numbers_of(output) for output in outputs]
        flags = READ
        if not (outputs and all(map(has_answer, outputs))):
            flags |= NO_ANSWER
        verdicts = [value for each in numbers for c, value in each if c == VERDICT]
        if verdicts:
            flags |= CORRECT if all(verdicts) else WRONG
        held["flags"].append(flags)
        scores = self._scores
        for column, value in self._means_of(record, numbers):
            scores[column][number] = value
        self._last = number
        if self._last - self._written >= BATCH:
            self.write()

    def _fill(self, until: int) -> None:
        """Add records up to a number of which nothing is known."""
        missing = until - self._last
        if missing > 0:
            for name in ("models", "flags", "category"):
                self._held[name].extend([0] * missing)
            self._held["key"].extend([bytes(KEY_WIDTH)] * missing)
            self._last = until

    def end(self, records: int) -> None:
        """Note how many records the file has."""
        while self._last < records:
            self._fill(min(records, self._last + BATCH))
            self.write()

    def _models_of(self, record: Record) -> int:
        """Return the bits of the models whose answers a record has."""
        bits, counts = 0, self.state.models
        for output in record.outputs:
            name = output.model if output.model is not UNSET else ""
            at = self._models.get(name)
            if at is None:
                at = len(self._models)
                if at >= MODELS - 1 or len(name) > LONGEST_NAME:
                    self.state.other_answers += 1
                    bits |= 1 << MODELS - 1
                    continue
                self._models[name], counts[name] = at, 0
            counts[name] += 1
            bits |= 1 << at
        return bits

    def _category_of(self, record: Record) -> int:
        """Return the number of the category of a record, from 1; 0 without one."""
        if record.category is UNSET:
            return 0
        name, numbers = record.category, self._categories
        if name not in numbers:
            self._size += len(name)
            if len(numbers) >= CATEGORIES or self._size > MOST_TEXT:
                self.state.other_categories += 1
                return 0
        counts = self.state.categories
        counts[name] = counts.get(name, 0) + 1
        return numbers.setdefault(name, len(numbers)) + 1

    def _means_of(
        self, record: Record, numbers: Sequence[Sequence[tuple[str, float]]]
    ) -> Iterable[tuple[str, float]]:
        """Return the mean of each column over the answers of a record.

        In a record with the answers of several models each has columns of its own.
        """
        if len(numbers) == 1 and len(dict(numbers[0])) == len(numbers[0]):
            return numbers[0]
        found: dict[str, list[float]] = {}
        has_several = len({output.model for output in record.outputs}) > 1
        for output, own in zip(record.outputs, numbers, strict=True):
            name = "" if output.model is UNSET else output.model
            end = f".{self._models.get(name, MODELS - 1)}" if has_several else ""
            for column, number in own:
                found.setdefault(column, []).append(number)
                if end:
                    found.setdefault(f"{column}{end}", []).append(number)
        return [(column, sum(all_) / len(all_)) for column, all_ in found.items()]

    def _numbers_of(self, output: Output) -> list[tuple[str, float]]:
        """Return the scores and verdicts of an answer by their columns."""
        found = []
        for score in output.scores or ():
            if score.is_correct is not UNSET:
                found.append((VERDICT, float(score.is_correct)))
            value = score.value
            number = value if type(value) is float else number_of(value)
            column = self._column_of(metric_of(score)) if number is not None else ""
            if column and number is not None:
                found.append((column, number))
        return found

    def _column_of(self, metric: str) -> str:
        """Return the column of a metric, "" if there are too many."""
        column = self._columns.get(metric)
        if column is None:
            known = self.state.metrics
            if len(known) >= METRICS or len(metric) > LONGEST_NAME:
                return ""
            column = self._columns[metric] = f"score{len(known)}"
            known.append(metric)
        return column

    def found(self, problem: Problem) -> None:
        """Add a finding."""
        rules = self.state.rules
        number = self._rules.get(problem.code)
        if number is None:
            number = self._rules[problem.code] = len(rules)
            rules.append(FoundRule(problem.code, problem.name, problem.severity.value))
        rule = rules[number]
        rule.count += 1
        record = problem.place.record
        if record is None:
            return
        bits, count = self._findings.get(record, (0, 0))
        bit = 1 << min(number, RULES - 1)
        self._findings[record] = bits | bit, count + 1
        if len(self._findings) >= BATCH:
            self._write_findings()

    def write(self) -> None:
        """Write what is held, and the names behind the numbers."""
        for name, values in self._held.items():
            kind = COLUMNS[name]
            if values:
                is_bytes = name == "key"
                data = (
                    b"".join(values) if is_bytes else np.array(values, kind).tobytes()
                )
                with Path(f"{self.base}.{name}").open("ab", buffering=0) as file:
                    file.write(data)
                values.clear()
        for column in self._scores:
            self._write_scores(column)
        self._write_findings()
        self._written = self._last
        self.state.records = self._last
        self.write_state()

    def _write_scores(self, column: str) -> None:
        """Write a column of scores; records without one have no number."""
        given, self._scores[column] = self._scores[column], {}
        with Path(f"{self.base}.{column}").open("ab", buffering=0) as file:
            before = file.tell() // SCORES.itemsize
            while before < self._last:
                size = min(self._last - before, 10 * BATCH)
                values = np.full(size, np.nan)
                inside = [n for n in given if before < n <= before + size]
                if inside:
                    at = np.array(inside) - before - 1
                    values[at] = [given[number] for number in inside]
                file.write(values.tobytes())
                before += size

    def _write_findings(self) -> None:
        """Add the held findings to the columns `rules` and `findings`."""
        if not self._findings:
            return
        numbers = sorted(self._findings)
        rules = _Updated(f"{self.base}.rules", COLUMNS["rules"])
        counts = _Updated(f"{self.base}.findings", COLUMNS["findings"])
        for numbers_near in _near(numbers):
            first, last = numbers_near[0], numbers_near[-1]
            at = np.array(numbers_near) - first
            found = [self._findings[number] for number in numbers_near]
            bits = np.array([bits for bits, _ in found], dtype=np.uint64)
            before = rules.read(first, last)
            for number, rule in enumerate(self.state.rules):
                bit = np.uint64(1 << min(number, RULES - 1))
                is_new = (bits & bit).astype(bool) & ~(before[at] & bit).astype(bool)
                rule.records += int(is_new.sum())
            before[at] |= bits
            rules.write(first, before)
            sums = counts.read(first, last)
            sums[at] += np.array([count for _, count in found], dtype=np.uint32)
            counts.write(first, sums)
        self._findings.clear()

    def write_state(self) -> None:
        """Replace the file of the names behind the numbers."""
        if self.stream is not None and not self.state.surroundings:
            around = dict(self.stream.surroundings)
            self.state.surroundings = {} if PARTNERS in around else around
        path = Path(f"{self.base}.state")
        new = path.with_suffix(".new")
        new.write_bytes(msgspec.msgpack.encode(self.state))
        new.replace(path)
        self._written_at = monotonic()


@dataclass(frozen=True, slots=True)
class _Updated:
    """A column that is changed in places; what was never written is 0."""

    path: str
    kind: Any

    def read(self, first: int, last: int) -> Any:
        """Return the numbers of some adjacent records."""
        values = np.zeros(last - first + 1, dtype=self.kind)
        with suppress(FileNotFoundError), Path(self.path).open("rb") as file:
            file.seek((first - 1) * self.kind.itemsize)
            data = file.read(values.nbytes)
            found = np.frombuffer(data, dtype=self.kind)
            values[: len(found)] = found
        return values

    def write(self, first: int, values: Any) -> None:
        """Write the numbers of some adjacent records."""
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(handle, values.tobytes(), (first - 1) * self.kind.itemsize)
        finally:
            os.close(handle)


#: Records that may stand between two whose columns are changed together.
_GAP = 4096


def _near(numbers: list[int]) -> Iterator[list[int]]:
    """Yield sorted numbers in groups of which no two neighbours are far apart."""
    begin = 0
    for at in range(1, len(numbers)):
        if numbers[at] - numbers[at - 1] > _GAP:
            yield numbers[begin:at]
            begin = at
    yield numbers[begin:]


class RecordColumns:
    """The columns of a file, also while they grow."""

    def __init__(self, base: str) -> None:
        """Take the beginning of the names of the files that `scan_file` writes."""
        self._base = base
        #: The state that was read last, and of which file.
        self._read = ((0, 0), ScanState())

    @property
    def state(self) -> ScanState:
        """The names behind the numbers, and how far the scan is."""
        try:
            status = Path(f"{self._base}.state").stat()
        except FileNotFoundError:
            return self._read[1]
        stamp = (status.st_ino, status.st_mtime_ns)
        known, state = self._read
        if stamp != known:
            data = Path(f"{self._base}.state").read_bytes()
            state = msgspec.msgpack.decode(data, type=ScanState)
            self._read = stamp, state
        return state

    def column(self, name: str, first: int, count: int) -> Any:
        """Return the numbers of `count` records from number `first` on.

        What is not known yet is 0, and no number of a score.
        """
        is_score = name.startswith(("score", VERDICT))
        kind = SCORES if is_score else COLUMNS[name]
        data = b""
        with (
            suppress(FileNotFoundError),
            Path(f"{self._base}.{name}").open("rb") as file,
        ):
            file.seek((first - 1) * kind.itemsize)
            data = file.read(count * kind.itemsize)
        data = data[: len(data) // kind.itemsize * kind.itemsize]
        found = np.frombuffer(data, dtype=kind)
        if len(found) == count:
            return found
        if is_score:
            return np.concatenate((found, np.full(count - len(found), np.nan)))
        return np.concatenate((found, np.zeros(count - len(found), dtype=kind)))

    def codes_of(self, bits: int) -> list[FoundRule]:
        """Return the rules that the bits of a record stand for."""
        return [
            rule
            for number, rule in enumerate(self.state.rules)
            if bits >> min(number, RULES - 1) & 1
        ]
