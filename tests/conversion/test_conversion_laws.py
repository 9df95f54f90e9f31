"""Conversions of random files are those of the plain functions, record by record."""

import inspect
import itertools
import os
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import UNSET

import random_values
from cases import for_each_case
from conversion_laws import (
    CONSTANTS,
    OPTIONS,
    Case,
    Checked,
    Source,
    check,
    file_for,
    options_for,
    sources,
)
from effort import drawn
from harpia_formats import Record, Severity
from harpia_formats.conversion.losses.specimen_records import FILLED
from harpia_formats.conversion.mapping.choices import (
    Choices,
    References,
    Responses,
    Turns,
)
from harpia_formats.conversion.mapping.field_constants import constants_by_path
from harpia_formats.conversion.mapping.record_program import RecordProgram
from harpia_formats.conversion.mapping.to_rows import RecordMapper, misfits_of
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.conversion.reading.reading_options import ReadingOptions
from harpia_formats.formats.registry import adapter_of, format_of, writable_formats
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import as_dict
from harpia_formats.plugins import (
    FieldOutcomes,
    FieldTable,
    FormatAdapter,
    Unconvertible,
)
from plain_conversion import records_of
from real_conversion import Way, run, small_pieces
from row_files import file_of
from table_steps import read_steps, write_steps

SOURCES = list(sources())
TARGETS = list(writable_formats().values())
#: The targets of a source in the short form.
SOME = drawn(1)
#: Random records of each pair and each option in the long form, those of one file, and
#: which part of all pairs is checked: "2/4" is the second quarter.
RECORDS = int(os.environ.get("HARPIA_LAW_RECORDS", "20000"))
RECORDS_OF_FILE = 500
#: The records of a file in the short form.
RECORDS_OF_SHORT = 12
PART, PARTS = map(int, os.environ.get("HARPIA_LAW_PART", "1/1").split("/"))


def name_of(source: Source) -> str:
    """Return the name of a source in the output of the tests."""
    return source.name


@for_each_case("source", SOURCES, ids=name_of)
def test_rows_are_read_as_they_stand_in_the_file(source: Source) -> None:
    """Each row of a random file is read as it was written, with its place."""
    for seed in range(drawn(1)):
        file = file_for(source, 20, seed)
        found: list[Any] = []
        reading = Reading([file.data], ReadingOptions(from_=source.format.id))
        problems = list(reading.problems(found.append, lambda *_: None, lambda _: None))

        assert [each for each in problems if each.severity is Severity.ERROR] == []
        assert [(each.row.text, each.row.start, each.row.number) for each in found] == [
            (row.text, row.start, row.number) for row in file.rows
        ]


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_conversions_are_those_of_the_specification(source: Source) -> None:
    """Files, losses, places and problems are those of the plain functions.

    Some targets are written with the default options and with another one, in one
    process; the long form has all of them.
    """
    checked = Checked()
    chance = Random(f"{source.name}")  # noqa: S311 - a test needs a seed, not secrecy
    for at in range(SOME):
        to = TARGETS[(SOURCES.index(source) + at * 7) % len(TARGETS)]
        for option in ("default", chance.choice(options_for(to))):
            way = Way(chance.choice(("path", "bytes", "stream")))
            check(Case(source, to, option, RECORDS_OF_SHORT, 0, way), checked)

    assert checked.differences == []
    assert checked.records >= RECORDS_OF_SHORT * SOME


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_conversions_are_those_of_the_specification_long(source: Source) -> None:
    """The same for each option, in all ways to run it, for as many records as asked."""
    at = SOURCES.index(source)
    options = [
        option
        for number, option in enumerate(OPTIONS, at)
        if number % PARTS == PART - 1
    ]
    for option, seed in itertools.product(
        options, range(1, 1 + max(1, RECORDS // RECORDS_OF_FILE))
    ):
        checked = Checked()
        for to in TARGETS:
            if option in options_for(to):
                count = min(RECORDS, RECORDS_OF_FILE)
                check(Case(source, to, option, count, seed), checked)

        assert checked.differences == [], (option, seed)


def choices_of(adapter: Any) -> Iterator[Choices]:
    """Yield choices that differ in what a record can become."""
    constants = constants_by_path(adapter, CONSTANTS)
    for number, responses in enumerate(Responses):
        for references in References:
            yield Choices(
                references,
                responses,
                (Turns.LAST, Turns.TRANSCRIPT, Turns.FAIL)[number % 3],
                model="org/a" if number == 1 else None,
                constants=constants if number % 2 else {},
                keep_extra=references is References.EXPAND,
            )


def by_program(program: RecordProgram, record: Record, number: int) -> Any:
    """Return rows, paths and outcomes of a record by a program, None if it fails."""
    try:
        rows, record_outcome = program.map(record, number, FieldOutcomes())
    except Unconvertible:
        return None
    return encode(rows), set(record_outcome.paths), list(record_outcome.outcomes)


def by_mapper(mapper: RecordMapper, record: Record, number: int) -> Any:
    """Return rows, paths and outcomes of a record by the mapper, None if it fails."""
    try:
        made = mapper.map(record, number)
    except Unconvertible:
        return None
    return encode(made.rows), set(made.paths), list(made.outcomes)


@for_each_case(
    "limit, target", itertools.product([3, 2000], TARGETS), ids=lambda each: each.id
)
def test_the_program_maps_as_its_mapper_does(target: Any, limit: int) -> None:
    """Rows, paths and outcomes are the same, however many outcomes are kept."""
    adapter = adapter_of(target)
    chance = Random(f"{target.id}")  # noqa: S311 - a test needs a seed, not secrecy
    source = adapter_of(format_of("csv"))
    for choices in choices_of(adapter):
        mapper = RecordMapper(adapter, choices)
        mapper.owners = adapter_of(chance.choice(TARGETS)).extra_owners
        mapper.misfits = misfits_of(source)
        program = RecordProgram(mapper, limit)
        some = [random_values.record(chance) for _ in range(drawn(5))]
        for number, record in enumerate([*some, *some], 1):
            assert by_program(program, record, number) == by_mapper(
                mapper, record, number
            )


@cache
def tables() -> tuple[FieldTable, ...]:
    """Return the tables of fields of all adapters, found in their modules."""
    for target in TARGETS:
        adapter_of(target)
    modules = [
        module
        for name, module in sys.modules.items()
        if name.startswith("harpia_converters.")
    ]
    values = [value for module in modules for value in vars(module).values()]
    # Some adapters hold their table as an argument of a function.
    adapters = [value for value in values if isinstance(value, FormatAdapter)]
    values += [
        given
        for adapter in adapters
        for given in getattr(adapter.read, "keywords", {}).values()
    ]
    # Others are what the function that reads their rows is made of.
    values += [
        given
        for adapter in adapters
        if hasattr(adapter.read, "make")
        for given in inspect.getclosurevars(adapter.read.make).nonlocals.values()
    ]
    found = {id(value): value for value in values if isinstance(value, FieldTable)}
    return tuple(
        sorted(found.values(), key=lambda each: (each.vendor, repr(each.fields)))
    )


def test_compiled_tables_read_rows_alike() -> None:
    """Each table reads random rows of its vendor as it does step by step."""
    assert len(tables()) > 5
    for source in SOURCES:
        adapter = adapter_of(source.format)
        is_documented = source.dialect.name not in adapter.dialect_normalizers
        # Functions of a table are given rows of their format only.
        own = [
            table
            for table in tables()
            if table.vendor == adapter.vendor
            and (
                not table.own_keys or (is_documented and table.fields == adapter.fields)
            )
        ]
        for row in file_for(source, drawn(15), 3).rows:
            for table in own:
                text = encode(row.value)

                assert encode(as_dict(table.read(row.value))) == encode(
                    as_dict(read_steps(table, row.value))
                )
                assert encode(row.value) == text


def test_compiled_tables_write_rows_alike() -> None:
    """Each table writes random records as step by step, with the same outcomes."""
    chance = Random(5)  # noqa: S311 - a test needs a seed, not secrecy
    for table in tables():
        for _ in range(drawn(40)):
            record = random_values.record(chance)
            results: list[Any] = []
            for write in (table.write, partial(write_steps, table)):
                outcomes = FieldOutcomes()
                try:
                    written = write(record, outcomes)
                except Unconvertible as error:
                    results.append((str(error), outcomes.entries))
                else:
                    # The adapter replaces or deletes members that are `UNSET`.
                    row = {k: v for k, v in written.items() if v is not UNSET}
                    results.append((list(written), encode(row), outcomes.entries))

            assert results[0] == results[1]


@pytest.mark.parametrize(
    ("name", "to"),
    [
        ("record", "nemo-output"),
        pytest.param("record", "haystack", marks=pytest.mark.long),
        ("eee@0.3.0", "csv"),
        pytest.param("eee@0.3.0", "record", marks=pytest.mark.long),
        pytest.param("csv", "nemo-output", marks=pytest.mark.long),
        pytest.param("csv", "haystack", marks=pytest.mark.long),
        ("haystack", "record"),
        pytest.param("harpia", "csv", marks=pytest.mark.long),
    ],
)
def test_any_number_of_processes_writes_the_same(
    name: str, to: str, tmp_path: Path
) -> None:
    """Files, losses, places and problems are the same for one, two or three jobs."""
    source = next(each for each in SOURCES if each.name == name)
    file = file_for(source, 60, 1)
    given = {**OPTIONS["set"], "on_invalid": "skip"}
    found = []
    for jobs in (1, 2, 3):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        with small_pieces(4_000):
            found.append(run(file, to, "output.dat", given, folder, Way(jobs=jobs)))
        # The names of the folders differ.
        found[-1].counts = [
            (outcome, times, at[1:]) for outcome, times, at in found[-1].counts
        ]
        found[-1].problems = [
            (code, replace(place, path=""), message, help_)
            for code, place, message, help_ in found[-1].problems
        ]

    assert found[0] == found[1] == found[2]


def records_with_other_keys(count: int) -> list[dict[str, Any]]:
    """Return rows of records each of which has a metadata key of its own."""
    return [
        {"id": number, "prompt": "q", "metadata": {f"key {number}": number}}
        for number in range(count)
    ]


@pytest.mark.parametrize(
    "to",
    [
        pytest.param("nemo-input", marks=pytest.mark.long),
        "haystack",
        pytest.param("csv", marks=pytest.mark.long),
    ],
)
def test_losses_of_unbounded_keys_are_the_same_for_any_number_of_processes(
    to: str, tmp_path: Path
) -> None:
    """Where more members are lost than are counted one by one, jobs change nothing."""
    source = next(each for each in SOURCES if each.name == "record")
    rows = [{**row, "outputs": []} for row in records_with_other_keys(700)]
    file = file_of(source.format, source.dialect, rows, Random(1))  # noqa: S311 - a test needs a seed, not secrecy
    tables_of_losses = []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        with small_pieces(4_000):
            found = run(
                file, to, "output.dat", {**OPTIONS["set"]}, folder, Way(jobs=jobs)
            )
        tables_of_losses.append(
            [(outcome, times, at[1:]) for outcome, times, at in found.counts]
        )

        assert found.is_written

    assert tables_of_losses[0] == tables_of_losses[1]


def test_outcomes_of_unbounded_keys_are_bounded() -> None:
    """A program keeps no more for 9,000 sets of keys than for 3,000 of them."""
    mapper = RecordMapper(
        adapter_of(format_of("nemo-input")), Choices(constants=FILLED)
    )

    def held(count: int) -> int:
        program = RecordProgram(mapper)
        tracemalloc.start()
        for number in range(count):
            record = Record(prompt="q", metadata={f"key {number}": number})
            program.map(record, number, FieldOutcomes())
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return size

    few, many = held(3_000), held(9_000)

    assert many - few < 2_000_000
    assert many < 30_000_000


def test_records_of_files_are_those_of_their_rows() -> None:
    """The plain reference reads a record from each row, so nothing is left out."""
    for source in SOURCES:
        file = file_for(source, 20, 0)

        assert len(list(records_of(file))) == len(file.rows) > 10
