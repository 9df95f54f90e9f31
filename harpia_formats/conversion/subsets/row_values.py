"""Read one field of each row: of its record, or of the row where that has no format."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import (
    GROUPED,
    METADATA,
    NONE,
    value_of,
)
from harpia_formats.conversion.mapping.questions import prompt_text
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.conversion.subsets.one_input import RereadInput
from harpia_formats.conversion.subsets.open_file import cut_file
from harpia_formats.conversion.subsets.options import (
    SubsetError,
    SubsetOptions,
    SubsetValueError,
)
from harpia_formats.files.framing.numbered import decoded_or_none
from harpia_formats.files.io.inputs import Input
from harpia_formats.model.exact_json import encode
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import Report
from harpia_formats.model.text.spelling import hint_on, nearest

#: Fields of records that identify what is asked, beside those of groups.
IDENTITY = ("id", "prompt")
#: Keys of a row that a message names.
_NAMED = 10
#: Returns the text of a field of a record, None if it has none.
ValueOf = Callable[[Record], str | None]


def field_reader(name: str) -> ValueOf:
    """Return what reads a field of records; raises `SubsetError` for an unknown one."""
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
    values = {value_of(name, record, output) for output in record.outputs or [Output()]}
    if len(values) > 1:
        shown = " and ".join(sorted(values)[:2])
        raise SubsetValueError(
            f"a row has answers with several values of {name} ({shown}); convert "
            "--model writes the answers of one model"
        )
    (value,) = values
    return None if value == NONE else value


class RecordValues:
    """A field of the valid records of a file: iterate for numbers and values."""

    def __init__(self, given: Input, options: SubsetOptions, value: ValueOf) -> None:
        """Take the input, and what reads the field of a record."""
        self._value = value
        self._reading = Reading(
            [given],
            options.from_,
            delimiter=options.delimiter,
            fail_fast=False,
            max_row_bytes=options.max_row_bytes,
            progress=options.progress,
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
    path = name.split(".")
    with cut_file(given.source(), options) as file:
        for row in file.rows():
            found = decoded_or_none(row.text)
            for key in path:
                found = found.get(key) if isinstance(found, dict) else None
            text = found if found is None or isinstance(found, str) else encode(found)
            yield row.number, text.decode() if isinstance(text, bytes) else text


def without_values(
    given: RereadInput, options: SubsetOptions, name: str, *, are_records: bool
) -> tuple[str, ...]:
    """Return a note that no row of a file has the field `name`.

    Raises `SubsetError` for a name that may be a mistake: of a key, or of metadata.
    """
    with cut_file(given.source(), options) as file:
        first = next((decoded_or_none(row.text) for row in file.rows()), None)
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
