"""Assign each row of a file to a part, before any is written."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field

from harpia_formats.conversion.mapping.answer_groups import NONE
from harpia_formats.conversion.output_files import MAX_FILES
from harpia_formats.conversion.subsets.division import Division
from harpia_formats.conversion.subsets.one_input import RereadInput
from harpia_formats.conversion.subsets.open_file import cut_file
from harpia_formats.conversion.subsets.options import SubsetError, SubsetOptions
from harpia_formats.conversion.subsets.random_rows import keyed_hash, seed_key
from harpia_formats.conversion.subsets.row_values import (
    IDENTITY,
    RecordValues,
    field_reader,
    is_known_format,
    member_values,
    without_values,
)
from harpia_formats.conversion.subsets.shares import part_of, thresholds
from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.model.problem import Problem
from harpia_formats.validation.options import Options
from harpia_formats.validation.run import Validation

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
                "name its format with --from, or a --schema"
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
        without = f"{NONE} 2" if NONE in indices else NONE  # such as a value, perhaps
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
            found.append(keyed_hash(key, b"value\0" + _bytes(value)) if value else 0)
        # What has no value is told apart by its bytes.
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
