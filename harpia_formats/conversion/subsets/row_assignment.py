"""Assign each row of a file to a part, by a field or at random, before all writing."""

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from itertools import accumulate, count, groupby

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import (
    GROUPED,
    METADATA,
    NONE,
    text_of,
)
from harpia_formats.conversion.mapping.questions import prompt_text
from harpia_formats.conversion.output_files import MAX_FILES
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.conversion.reading.reading_options import ReadingOptions
from harpia_formats.conversion.subsets.head_and_sample import keyed_hash, seed_key
from harpia_formats.conversion.subsets.open_file import RereadInput, cut_file
from harpia_formats.conversion.subsets.subset_options import (
    Division,
    SubsetError,
    SubsetOptions,
    SubsetValueError,
)
from harpia_formats.files.io.inputs import Input
from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.model.exact_json import encode
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import Report
from harpia_formats.model.spelling import hint_on, nearest
from harpia_formats.model.value_path import member_at
from harpia_formats.validation.options import Options
from harpia_formats.validation.run import Validation

#: Fields of records that identify what is asked, apart from those of groups.
IDENTITY = ("id", "prompt")
#: Keys of a row that a message names.
_NAMED = 10
#: Returns the text of a field of a record, None if it has none.
ValueOf = Callable[[Record], str | None]


def field_reader(name: str) -> ValueOf:
    """Return a function that reads a field; raises `SubsetError` for an unknown one."""
    known = (*IDENTITY, *GROUPED)
    if name not in known and not (name.startswith(METADATA) and name != METADATA):
        hint = hint_on(name, (*known, f"{METADATA}NAME"))
        raise SubsetError(
            f"records have no field {name!r}{hint}; of rows in no known format any key "
            "can be given"
        )
    if name == "prompt":
        return lambda record: prompt_text(record) or None
    if name == "id":
        return lambda record: None if record.id is UNSET else str(record.id)
    return lambda record: _shared_value(name, record)


def _shared_value(name: str, record: Record) -> str | None:
    """Return the value that all answers of a record have; raises `SubsetError`."""
    values = {text_of(name, record, output) for output in record.outputs or [Output()]}
    if len(values) > 1:
        texts = sorted(NONE if value is None else value for value in values)
        shown = " and ".join(texts[:2])
        raise SubsetValueError(
            f"a row has answers with several values of {name} ({shown}); "
            "`convert --model NAME` writes the answers of one model"
        )
    (value,) = values
    return value


class RecordValues:
    """A field of the valid records of a file: iterate for numbers and values."""

    def __init__(self, given: Input, options: SubsetOptions, value: ValueOf) -> None:
        """Take the input, and what reads the field of a record."""
        self._value = value
        self._reading = Reading(
            [given],
            ReadingOptions(
                from_=options.from_,
                delimiter=options.delimiter,
                max_row_bytes=options.max_row_bytes,
                progress=options.progress,
            ),
            fail_fast=False,
            merges_rows=False,  # rows are copied one by one
        )
        self._problems: list[Problem] = []

    def __iter__(self) -> Iterator[tuple[int, str | None]]:
        """Yield the number of each valid record with its value, in order.

        Raises `SubsetError` if the file cannot be read, and what `Reading` raises.
        """
        received: deque[PlacedRecord] = deque()
        for problems in self._reading.steps(
            received.append, lambda *_: None, lambda _: None
        ):
            self._problems += problems
            while received:
                placed = received.popleft()
                yield placed.number, self._value(placed.record)
        while received:
            placed = received.popleft()
            yield placed.number, self._value(placed.record)
        for failed in self.report.failures:
            raise SubsetError(f"{failed.path}: {failed.reason}")

    @property
    def report(self) -> Report:
        """The report of what was read so far."""
        report = self._reading.tally.report()
        return replace(report, problems=tuple(self._problems))


def member_values(
    given: RereadInput, options: SubsetOptions, name: str
) -> Iterator[tuple[int, str | None]]:
    """Yield the number of each row with the member at the dotted path `name`.

    It is None where a row has none. Raises `SubsetError` and `SourceError`.
    """
    with cut_file(given.source(), options) as file:
        for row in file.rows():
            found = member_at(file.value_of(row), name)
            if found is None or found is UNSET:
                yield row.number, None
            else:
                is_text = isinstance(found, str)
                yield row.number, found if is_text else encode(found).decode()


def without_values(
    given: RereadInput, options: SubsetOptions, name: str, *, are_records: bool
) -> tuple[str, ...]:
    """Return a note that no row of a file has the field `name`.

    Raises `SubsetError` for a name that may be a mistake: of a key, or of metadata.
    """
    with cut_file(given.source(), options) as file:
        first = next(map(file.value_of, file.rows()), None)
        path = file.name
    if are_records and not name.startswith(METADATA):
        return (f"no record of {path} has a value of {name}",)
    what = "record" if are_records else "row"
    keys = list(first) if isinstance(first, dict) and not are_records else []
    near = nearest(name, keys)
    hint = f"; did you mean {near}?" if near else ""
    if keys and not near:
        more = ", ..." if len(keys) > _NAMED else ""
        hint = f" (the first has {', '.join(keys[:_NAMED])}{more})"
    shown = "" if options.redact else hint
    raise SubsetError(f"no {what} of {path} has {name!r}{shown}")


def is_known_format(given: RereadInput, options: SubsetOptions) -> bool:
    """Return whether the rows of a file are read as records."""
    with cut_file(given.source(), options) as file:
        variant = file.plan.variant
        return variant is not None and bool(variant.format.adapter)


#: Numbers are counted by their first bits.
_BITS = 16
_SHIFT = 64 - _BITS


def thresholds(numbers: Iterable[int], shares: Sequence[float]) -> list[int]:
    """Return the numbers at which all parts but the first begin.

    `numbers`, from 0 to 2^64 - 1, are iterated several times. Equal ones are in one
    part, and the parts hold about the `shares` of all, which sum to 1.
    """
    counts = array("Q", bytes(8 << _BITS))
    for number in numbers:
        counts[number >> _SHIFT] += 1
    ends = list(accumulate(counts))
    total = ends[-1]
    targets = [share * total for share in accumulate(shares)][:-1]
    return [_threshold(numbers, ends, target) for target in targets]


def _threshold(numbers: Iterable[int], ends: Sequence[int], target: float) -> int:
    """Return the number below which about `target` many are."""
    first = next((n for n, end in enumerate(ends) if end >= target), len(ends) - 1)
    inside = sorted(number for number in numbers if number >> _SHIFT == first)
    below = ends[first - 1] if first else 0
    best, found = abs(below - target), first << _SHIFT
    for number, same in groupby(inside):
        below += sum(1 for _ in same)
        if abs(below - target) < best:
            best, found = abs(below - target), number + 1
    return found


def part_of(number: int, begins: Sequence[int]) -> int:
    """Return the index of the part of a number, given where the others begin."""
    return bisect_right(begins, number)


#: Findings that are shown of each group and in all, unless they are written.
EXAMPLES, MAX_PROBLEMS = 5, 1000
#: The names of the two parts of a split by verdicts.
VALID, INVALID = "valid", "invalid"
#: Numbers of rows that are held in memory before they go to the disk.
_HELD = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which part each row of a file goes to."""

    #: The names of the parts.
    names: tuple[str, ...]
    #: Yields the index of the part of each row, in order; called several times.
    parts: Callable[[], Iterator[int]]
    rows: int
    #: What the user should know of the parts.
    notes: tuple[str, ...] = ()
    #: Deletes what is on the disk.
    resource: AbstractContextManager[object] = field(default_factory=nullcontext)


def assigned(
    given: RereadInput, division: Division, options: SubsetOptions
) -> Assignment:
    """Assign the rows of a file to parts by a field, or by shares.

    Raises `SubsetError`, `SourceError`, and `ValidationFailed` for a row that cannot
    be read and has no value of the field.
    """
    if division.by is not None:
        return _by_value(given, division.by, options)
    return _by_shares(given, division, options)


class ByVerdict:
    """Assigns the rows of a file to a part of valid ones and one of others.

    Iterate for the problems, then ask for the assignment.
    """

    def __init__(
        self, given: RereadInput, division: Division, options: SubsetOptions
    ) -> None:
        """Take the input and the options; raises what `Validation` raises."""
        # All findings are wanted if they are written.
        is_all = division.findings is not None
        self._run = Validation(
            [given.again()],
            Options(
                format=options.from_,
                schema=division.schema,
                delimiter=options.delimiter,
                select=division.select,
                ignore=division.ignore,
                lint=division.lint,
                max_row_bytes=options.max_row_bytes,
                jobs=division.jobs,
                progress=options.progress,
                examples=0 if is_all else EXAMPLES,
                max_problems=0 if is_all else MAX_PROBLEMS,
                redact=options.redact,
            ),
        )

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._run)

    def assignment(self) -> Assignment:
        """Return the assignment; raises `SubsetError` if there are no verdicts."""
        report = self._run.report()
        for failed in report.failures:
            raise SubsetError(f"{failed.path}: {failed.reason}")
        outcomes = self._run.outcomes
        file = report.files[-1]
        if file.format is None or outcomes is None:
            raise SubsetError(
                f"{file.path} is in no known format, so no row is known to be valid; "
                "name its format with `--from`, or a `--schema`"
            )
        refused, unknown = outcomes.invalid, outcomes.undetermined
        rows = range(1, file.records + 1)
        return Assignment(
            (VALID, INVALID),
            lambda: (int(row in refused or row in unknown) for row in rows),
            file.records,
        )


def _by_value(given: RereadInput, name: str, options: SubsetOptions) -> Assignment:
    """Assign rows by the value of a field."""
    indices = dict[str | None, int]()
    records = None
    if is_known_format(given, options):
        records = RecordValues(given.again(), options, field_reader(name))
    with ExitStack() as stack:
        numbers = stack.enter_context(closing(_numbers()))
        for _, value in records or member_values(given, options, name):
            index = indices.setdefault(value, len(indices))
            if index >= MAX_FILES:
                raise SubsetError(
                    f"there are more than {MAX_FILES} values of {name}, each with its "
                    "file"
                )
            numbers.append(index)
        if records is not None:
            records.report.raise_for_errors()
        notes: tuple[str, ...] = ()
        if list(indices) == [None]:
            has_records = records is not None
            notes = without_values(given, options, name, are_records=has_records)
        # Values may be such names, too.
        free = (NONE if number == 1 else f"{NONE} {number}" for number in count(1))
        without = next(name for name in free if name not in indices)
        names = tuple(without if name is None else name for name in indices)
        rows = len(numbers)
        return Assignment(names, numbers.__iter__, rows, notes, stack.pop_all())


def _by_shares(
    given: RereadInput, division: Division, options: SubsetOptions
) -> Assignment:
    """Assign rows to shares, those that ask the same to one part."""
    with ExitStack() as stack:
        hashes = stack.enter_context(closing(_numbers()))
        notes = _hash_rows(hashes, given, division, options)
        begins = thresholds(hashes, list(division.shares.values()))
        return Assignment(
            tuple(division.shares),
            lambda: (part_of(number, begins) for number in hashes),
            len(hashes),
            notes,
            stack.pop_all(),
        )


def _hash_rows(
    hashes: FixedRecords, given: RereadInput, division: Division, options: SubsetOptions
) -> tuple[str, ...]:
    """Add a random number for each row, the same for rows that ask the same.

    Returns a note if no record has a value of `division.key`, and raises `SubsetError`
    if no row has that key.
    """
    key = seed_key(division.seed)
    values: Iterable[tuple[int, str | None]] = ()
    has_records, has_values = is_known_format(given, options), False
    if has_records:
        reader = field_reader(division.key or IDENTITY[-1])
        values = RecordValues(given.again(), options, reader)
    elif division.key is not None:
        values = member_values(given, options, division.key)
    with closing(_numbers()) as found:
        for number, value in values:
            has_values |= value is not None
            for _ in range(len(found) + 1, number):
                found.append(0)
            found.append(
                0 if value is None else keyed_hash(key, b"value\0" + _bytes(value))
            )
        # What has no value is distinguished by its bytes.
        known, is_given = iter(found), len(found) > 0
        with cut_file(given.source(), options) as file:
            for row in file.rows():
                own = next(known, 0)
                hashes.append(own or keyed_hash(key, b"row\0" + row.text.strip()))
    if division.key is None or has_values or not is_given:
        return ()
    return without_values(given, options, division.key, are_records=has_records)


def _numbers() -> FixedRecords:
    """Return a list of numbers from 0 to 2^64 - 1, in bounded memory."""
    return FixedRecords("Q", _HELD)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
