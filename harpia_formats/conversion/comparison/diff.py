"""Compare two data sets of any formats and orders, record by record, on disk.

Records are matched by their ids, or by their prompts where one side has no ids: of
those with one id first the equal ones, then the others in their order. Fields that one
of the two formats has no place for are not compared.
"""

import re
from array import array
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec import UNSET

from harpia_formats.conversion.comparison.comparison_report import (
    DifferenceReport,
    FieldDifferences,
    compare_headers,
    differences_shown,
    first_by_path,
    refuse_quarantine,
)
from harpia_formats.conversion.comparison.differences import (
    CommonFields,
    Difference,
    comparable_text,
    decode_fields,
    encoded_differences,
)
from harpia_formats.conversion.comparison.record_partitions import (
    HELD_BYTES,
    PARTS,
    Identities,
    RecordPartitions,
    StoredRecord,
)
from harpia_formats.conversion.comparison.row_taker import RowTaker
from harpia_formats.conversion.comparison.stored_rows import (
    PLACE,
    RowRecord,
    RowSequence,
    RowSource,
    StoredRows,
    WaitingRecords,
)
from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.inputs import Input, refuse_repeated_streams
from harpia_formats.files.workers.pool import WorkerPool, open_pool
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.mapped_format import (
    detect_mapped_format,
    has_free_names,
)
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.exact_json import decode
from harpia_formats.model.problem import (
    ConversionError,
    ConversionOptionsError,
    Place,
    Problem,
)
from harpia_formats.model.report import FileCount, Report
from harpia_formats.validation.dedup.digests import Digests
from harpia_formats.validation.redaction import problems_shown, redaction_of

if TYPE_CHECKING:  # only with workers: start-up time
    from harpia_formats.conversion.comparison.compare_ranges import StoringWorkers


AnyRecord = StoredRecord | RowRecord

#: Keys of records that differ which are looked at together.
_AT_ONCE = 256


@dataclass(slots=True)
class DataSet:
    """The records of one data set, as rows that are read when they are compared."""

    reading: Reading
    models: ModelSelection
    rows: StoredRows = field(default_factory=StoredRows)
    adapters: list[FormatAdapter] = field(default_factory=list)
    taker: RowTaker = field(init=False)

    def __post_init__(self) -> None:
        self.taker = RowTaker(self.rows.append, self.models)

    def problems(self, pool: WorkerPool | None) -> Iterator[Problem]:
        """Read all rows and store them; yield the problems of the input."""
        # Answers are selected in records.
        reads_rows = self.models.wanted is None
        yield from self.reading.problems(
            self.taker.receive,
            self._begin,
            lambda _: None,
            self.taker if reads_rows else None,
            self._workers(pool) if reads_rows else None,
        )
        self.taker.blocks.flush()

    def _workers(self, pool: WorkerPool | None) -> "StoringWorkers | None":
        """Return what reads the rows of large files, None without workers."""
        if pool is None:
            return None
        from harpia_formats.conversion.comparison.compare_ranges import StoringWorkers  # noqa: PLC0415 - only with workers

        return StoringWorkers(pool, self.taker, self.rows)

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        self.adapters.append(adapter_of(variant.format))
        self.taker.open(count.path, variant)

    @property
    def have_ids(self) -> bool:
        """Whether all records have ids."""
        return self.taker.have_ids

    @property
    def sources(self) -> Sequence[RowSource]:
        """The sources of the rows."""
        return self.taker.blocks.sources

    def check_model(self, which: str) -> None:
        """Raise `ConversionError` if no answer is of the selected model."""
        if any(adapter.carries("outputs.model") for adapter in self.adapters):
            self.models.check(f" in the {which}")

    def place_of(self, packed: bytes) -> Place:
        """Return the place of the first byte of a record's row."""
        index, line, column, offset, number = PLACE.unpack_from(packed)
        source = self.sources[index]
        place = Place(
            path=source.path,
            line=line,
            column=column + 1,
            end_column=column + 2,
            byte_offset=offset,
            record=number,
            record_id=decode(packed[PLACE.size :]),
            record_id_key=source.variant.format.id_key,
        )
        return self.reading.tally.in_member(place)


class Unmatched:
    """The records of one part of a data set that were not matched yet."""

    def __init__(self, records: RecordPartitions, part: int) -> None:
        self._records = records
        self._next = records.part(part)
        #: Where records are that were passed over, by the digests of their keys.
        self._passed: dict[int, deque[int]] = {}

    def take(self, wanted: StoredRecord) -> StoredRecord | None:
        """Return the first record with the key of `wanted`, None if there is none.

        It is not returned again. Where both data sets have one order, none is passed
        over.
        """
        passed = self._passed.get(wanted.digest, ())
        for offset in passed:
            record = self._records.at(offset)
            if record.key == wanted.key:
                self._remove(wanted.digest, offset)
                return record
        for record in self._next:
            if record.key == wanted.key:
                return record
            self._passed.setdefault(record.digest, deque()).append(record.offset)
        return None

    def _remove(self, digest: int, offset: int) -> None:
        offsets = self._passed[digest]
        offsets.remove(offset)
        if not offsets:
            del self._passed[digest]

    def passed(self, digest: int) -> Iterator[StoredRecord]:
        """Pass over all records; yield those whose keys have a digest."""
        for record in self._next:
            self._passed.setdefault(record.digest, deque()).append(record.offset)
        yield from map(self._records.at, self._passed.get(digest, ()))

    def keep(self, digest: int, offsets: Iterable[int]) -> None:
        """Keep those at some offsets only of the records whose keys have a digest."""
        self._passed[digest] = deque(offsets)

    def rest(self) -> Iterator[StoredRecord]:
        """Yield the records that were not taken."""
        for offsets in self._passed.values():
            yield from map(self._records.at, offsets)
        yield from self._next


def _can_wait(records: WaitingRecords) -> bool:
    """Tell whether records can wait: they take little memory, and no key repeats."""
    return records.size <= HELD_BYTES and not records.repeats


#: The option in advice by which the format of the first data set is named.
_from = re.compile(r"(?<=`--)from(?=[ `])")


def _by_to(advice: str) -> str:
    """Return advice on the second data set, whose format is named by `--to`."""
    return _from.sub("to", advice)


def _of_second(problem: Problem) -> Problem:
    """Return a problem of the second data set with the advice that is for it."""
    return replace(problem, help=_by_to(problem.help)) if problem.help else problem


def _is_mapped(
    inputs: list[Input], format_: str | None, exclude: Iterable[str]
) -> bool:
    """Tell whether the columns of inputs may have any names."""
    exclusion = Exclusion(exclude)
    return has_free_names(format_ or detect_mapped_format(inputs, exclusion))


class Comparison:
    """One comparison: iterate for the problems, then ask for the report.

    Raises `ConversionError`, `UnknownFormat` or `ValueError`.
    """

    def __init__(
        self,
        left: Iterable[Input],
        right: Iterable[Input],
        options: ConvertOptions,
        to: str | None = None,
    ) -> None:
        """Compare `left`, whose format is `options.from_`, with `right` in format `to`.

        A format that is None is recognised. `options.columns` are those of the data
        sets whose columns may have any names.
        """
        refuse_quarantine(options)
        self._options = options
        self._redaction = redaction_of(options)
        left, right = list(left), list(right)
        refuse_repeated_streams([*left, *right])
        pairs = [(left, options.from_), (right, to)]
        mapped = [
            bool(options.columns) and _is_mapped(*pair, options.exclude)
            for pair in pairs
        ]
        if options.columns and not any(mapped):
            raise ConversionError(
                "the map of columns is for csv and haystack, and neither side is seen "
                "to be one; say which one is, such as with `--from csv` or `--to csv`"
            )

        def reading(
            inputs: list[Input], format_: str | None, *, is_mapped: bool
        ) -> Reading:
            columns = options.columns if is_mapped else None
            own = replace(options, from_=format_, columns=columns)
            return Reading(inputs, own, fail_fast=own.on_invalid is OnInvalid.FAIL)

        readings = [
            reading(*pair, is_mapped=is_mapped)
            for pair, is_mapped in zip(pairs, mapped, strict=True)
        ]
        self._left, self._right = (
            DataSet(one, ModelSelection(options.model)) for one in readings
        )
        self._found = DifferenceReport()
        #: The number of the record of each example, by the path of its field.
        self._examples: dict[str, int] = {}
        #: Where the path of each field stands in the report: by part, side, number of
        #: the record, and number of the difference in it.
        self._ranks: dict[str, tuple[int, bool, int, int]] = {}
        #: The digests of keys whose records differ, until they are looked at.
        self._unequal: list[int] = []
        #: The field by which records were matched: `id` or `prompt`.
        self.matched_by = "id"
        self._common_fields = CommonFields(())

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        yield from problems_shown(self._stream(), self._redaction)

    def _stream(self) -> Generator[Problem, None, None]:
        try:
            yield from self._run()
        finally:
            self._left.rows.close()
            self._right.rows.close()

    def _run(self) -> Iterator[Problem]:
        with open_pool(self._options) as pool:
            yield from self._left.problems(pool)
            try:
                yield from map(_of_second, self._right.problems(pool))
            except ConversionOptionsError as error:
                raise ConversionOptionsError(_by_to(f"{error}")) from error
        if self._failed():
            return
        self._left.check_model("first data set")
        self._right.check_model("second data set")
        adapters = [*self._left.adapters, *self._right.adapters]
        self._common_fields = CommonFields(
            tuple({id(one): one for one in adapters}.values())
        )
        readings = self._left.reading, self._right.reading
        compare_headers(*readings, self._common_fields, self._found)
        by_id = self._left.have_ids and self._right.have_ids
        self.matched_by = "id" if by_id else "prompt"
        self._compare(by_id=by_id)
        self._found.fields = dict(
            sorted(
                self._found.fields.items(), key=lambda one: self._ranks.get(one[0], ())
            )
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """Paths of fields that are not compared: one side has no place for them."""
        found = self._common_fields.left_out
        if self._redaction is not None:
            found = dict.fromkeys(map(self._redaction.words.field, found))
        return tuple(found)

    def _failed(self) -> bool:
        reports = self._reports()
        if self._skips:
            return any(report.failures for report in reports)
        return not all(report.ok for report in reports)

    @property
    def _skips(self) -> bool:
        """Whether invalid records are left out."""
        return self._options.on_invalid is OnInvalid.SKIP

    def _reports(self) -> list[Report]:
        left, right = (
            side.reading.tally.report() for side in (self._left, self._right)
        )
        files = (
            file if file.reason is None else replace(file, reason=_by_to(file.reason))
            for file in right.files
        )
        problems = tuple(map(_of_second, right.problems))
        return [left, replace(right, files=tuple(files), problems=problems)]

    def report(self) -> DifferenceReport:
        """Return the differences, with the report of an unreadable or invalid side."""
        reports = self._reports()
        wrong = [report for report in reports if not report.ok]
        wrong.sort(key=lambda report: not report.failures)
        # Files that were passed over are reported, too.
        wrong += [report for report in reports if report.skipped]
        self._found.report = wrong[0] if wrong else reports[0]
        self._found.reports = tuple(reports)
        if self._skips:
            self._found.skipped = sum(
                file.invalid for report in reports for file in report.files
            )
        return differences_shown(self._found, self._redaction)

    def _compare(self, *, by_id: bool) -> None:
        """Compare all records of both sides.

        Records of one format are compared in their order as far as that is the same,
        for which only those wait in memory that the other side does not have yet. All
        others are matched in parts, on the disk. So are all records if that order has
        shown several differences for one key: some may be equal to others with it.
        """
        if self._common_fields.is_all:
            with closing(Digests()) as unequal:
                if self._compare_in_order(*self._sequences(by_id=by_id), unequal):
                    return
            self._forget()
        self._compare_parts(*self._sequences(by_id=by_id))

    def _sequences(self, *, by_id: bool) -> tuple[RowSequence, RowSequence]:
        """Return all rows of both sides."""
        left, right = (
            RowSequence(side.rows, side.sources, by_id=by_id)
            for side in (self._left, self._right)
        )
        return left, right

    def _forget(self) -> None:
        """Forget what was found in records."""
        found = self._found
        found.records = found.differing = found.only_left = found.only_right = 0
        for path in self._ranks:
            del found.fields[path]
        self._ranks.clear()
        self._examples.clear()
        self._unequal.clear()

    def _compare_in_order(
        self, left: RowSequence, right: RowSequence, unequal: Digests
    ) -> bool:
        """Compare records in their order; return whether no key has two differences.

        A record waits until the other side has one with its key. The keys of records
        that differ, or that one side lacks, are added to `unequal`.
        """
        is_whole = self._take_in_order(left, right)
        while is_whole is None:
            if len(set(self._unequal)) < len(self._unequal):
                return False
            unequal.add_digests(self._unequal)
            self._unequal.clear()
            is_whole = self._take_in_order(left, right)
        if is_whole:
            for record in left.rest():
                self._only_left(record)
            for record in right.rest():
                self._only_right(record)
        unequal.add_digests(self._unequal)
        self._unequal.clear()
        if not is_whole:
            self._compare_parts(left, right, unequal)
        return not any(unequal.repeated_by_partition())

    def _take_in_order(self, left: RowSequence, right: RowSequence) -> bool | None:
        """Take records in their order; return whether all were taken.

        Returns None before that if many differ, whose keys are to be looked at.
        """
        ours_wait, theirs_wait = left.waiting, right.waiting
        while _can_wait(ours_wait) and _can_wait(theirs_wait):
            if len(self._unequal) >= _AT_ONCE:
                return None
            if not (ours_wait or theirs_wait):
                self._found.records += left.pass_equal(right)
            ours = left.take()
            if ours is not None and (found := theirs_wait.take(ours.key)):
                self._match(ours, found)
                continue
            theirs = right.take()
            if ours is None and theirs is None:
                return True
            if theirs is not None:
                if found := ours_wait.take(theirs.key):
                    self._match(found, theirs)
                elif ours is not None and ours.key == theirs.key:
                    self._match(ours, theirs)
                    continue
                else:
                    theirs_wait.add(theirs.stored())
            if ours is not None:
                ours_wait.add(ours.stored())
        return False

    def _compare_parts(
        self, left: RowSequence, right: RowSequence, unequal: Digests | None = None
    ) -> None:
        """Compare the rows that are not taken yet in parts, on the disk.

        Each key of records that differ is added to `unequal` once.
        """
        with closing(RecordPartitions()) as ours, closing(RecordPartitions()) as theirs:
            for rows, parts in ((left, ours), (right, theirs)):
                for each in rows.rest():
                    parts.add(each.number, each.key, each.place, each.text)
            for part in range(PARTS):
                self._compare_part(ours, theirs, part)
                if unequal is not None:
                    unequal.add_digests(set(self._unequal))
                self._unequal.clear()

    def _compare_part(
        self, ours: RecordPartitions, theirs: RecordPartitions, part: int
    ) -> None:
        """Compare the records of one part of both sides."""
        repeated = ours.repeated(part) | theirs.repeated(part)
        groups: dict[int, array[int]] = {}
        others = Unmatched(theirs, part)
        for record in ours.part(part):
            if record.digest in repeated:
                offsets = groups.setdefault(record.digest, array("Q"))
                offsets.append(record.offset)
            else:
                self._match_first(record, others)
        for digest, offsets in groups.items():
            for offset in self._match_equal(map(ours.at, offsets), others, digest):
                self._match_first(ours.at(offset), others)
        for record in others.rest():
            self._only_right(record)

    def _match_first(self, record: StoredRecord, others: Unmatched) -> None:
        """Match a record with the first of the others that has its key, if any has."""
        other = others.take(record)
        if other is None:
            self._only_left(record)
        else:
            self._match(record, other)

    def _match_equal(
        self, ours: Iterable[StoredRecord], others: Unmatched, digest: int
    ) -> list[int]:
        """Match equal records whose keys have a digest, the first with the first.

        They are removed from `others`; returns where those of `ours` are that remain.
        """
        mine, theirs = map(self._identities, (ours, others.passed(digest)))
        rest = mine.without(theirs)
        others.keep(digest, theirs.without(mine))
        self._found.records += len(mine) - len(rest)
        return rest

    def _identities(self, records: Iterable[StoredRecord]) -> Identities:
        """Return what tells which records are equal."""
        found = Identities()
        common = self._common_fields
        for record in records:
            text = record.text
            # Without extra fields, whose order is free, equal records are equal texts.
            if not common.is_all or b'"extra"' in text:
                fields = decode_fields(text)
                common.reduce(fields)
                text = comparable_text(fields)
            found.add(record, text)
        return found

    def _only_left(self, record: AnyRecord) -> None:
        """Count a record that only the first side has."""
        self._found.only_left += 1
        self._add_unmatched("only in the first", record, self._left)

    def _only_right(self, record: AnyRecord) -> None:
        """Count a record that only the second side has."""
        self._found.only_right += 1
        self._add_unmatched("only in the second", record, self._right)

    def _match(self, left: AnyRecord, right: AnyRecord) -> None:
        self._found.records += 1
        common = self._common_fields
        # Equal texts are equal records, and most records are equal.
        if left.text == right.text and common.is_all:
            return
        ours, theirs = decode_fields(left.text), decode_fields(right.text)
        common.reduce(ours)
        common.reduce(theirs)
        if ours == theirs:
            return
        found = first_by_path(encoded_differences(ours, theirs))
        if found:
            self._found.differing += 1
            self._unequal.append(left.digest)
        for number, difference in enumerate(found):
            path = difference.path
            line = self._found.fields.setdefault(path, FieldDifferences(path))
            self._add(line, difference, left, self._left, number)

    def _add_unmatched(self, where: str, record: AnyRecord, side: DataSet) -> None:
        """Count a record that only one side has; the first one is the example."""
        line = self._found.fields.setdefault(where, FieldDifferences(where))
        self._unequal.append(record.digest)
        key = record.key.removeprefix("=")
        self._add(line, Difference(self.matched_by, key, UNSET), record, side)

    def _add(
        self,
        line: FieldDifferences,
        difference: Difference,
        record: AnyRecord,
        side: DataSet,
        number: int = 0,
    ) -> None:
        """Count one of several differences; that of the first record is shown."""
        line.count += 1
        # Fields are shown as they are met in the parts, whatever was compared first.
        rank = record.digest % PARTS, side is self._right, record.number, number
        if line.path not in self._ranks or rank < self._ranks[line.path]:
            self._ranks[line.path] = rank
        first = self._examples.get(line.path)
        if first is None or record.number < first:
            line.example, line.place = difference, side.place_of(record.place)
            self._examples[line.path] = record.number
