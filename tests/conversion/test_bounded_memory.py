"""A conversion holds a bounded part of its rows in memory, and leaves no files."""

import json
import tracemalloc
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest

from harpia_formats import convert
from harpia_formats.conversion import record_groups
from harpia_formats.conversion.comparison.record_partitions import StoredRecord
from harpia_formats.conversion.comparison.stored_rows import WaitingRecords
from harpia_formats.conversion.containers import row_writer
from harpia_formats.conversion.containers.csv_writers import CsvWriter
from harpia_formats.conversion.containers.json_writers import (
    ArrayWriter,
    ColumnWriter,
    LineWriter,
    WrappedArrayWriter,
)
from harpia_formats.conversion.containers.row_writer import (
    SPOOL_BYTES,
    RowWriter,
    encode_rows,
)
from harpia_formats.conversion.destination import RECORDS_PER_BLOCK, Destination
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.parallel.converted_rows import RowBlocks
from harpia_formats.conversion.reading import row_batch
from harpia_formats.files.io.reader import BLOCK
from harpia_formats.validation.dedup import item_partitions
from harpia_formats.validation.dedup.digests import Digests
from json_lines import jsonl, jsonl_rows
from known_formats import WRITABLE
from sample_rows import nemo_answer
from shared_small_files import share_small_files
from unchecked import converted


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[IO[bytes]]:
    """Return the temporary files that are opened, which are kept to be looked at."""
    files: list[IO[bytes]] = []

    def keep() -> IO[bytes]:
        files.append((tmp_path / f"{len(files)}").open("w+b"))
        return files[-1]

    monkeypatch.setattr("tempfile.TemporaryFile", keep)
    return files


# Rows on the way to their output


def ignore(_: Collection[str]) -> None:
    """Take keys of ids."""


def new_destination() -> tuple[RowBlocks, Destination]:
    """Return blocks of rows of NeMo's questions, and what writes records to them."""
    output, target = RowBlocks(encode_rows), WRITABLE["nemo-input"]
    return output, Destination(target, output, ConvertOptions(), ignore, None)


@pytest.mark.parametrize("size", [1, BLOCK // 4, BLOCK])
def test_rows_are_written_before_they_take_much_memory(size: int) -> None:
    """Rows of single records are encoded together, unless the records are large."""
    output, destination = new_destination()
    for number in range(RECORDS_PER_BLOCK):
        destination.add([{"prompt": str(number)}], "", size)
    together = min(RECORDS_PER_BLOCK, BLOCK // size)

    assert [block.count for block in output.blocks] == (
        [together] * (RECORDS_PER_BLOCK // together)
    )
    assert destination.written == RECORDS_PER_BLOCK


def test_rows_and_blocks_keep_their_order() -> None:
    """A batch and encoded blocks follow the rows that were added before."""
    output, destination = new_destination()
    destination.add([{"prompt": "1"}], "", 1)
    destination.add_batch([{"prompt": "2"}], b'{"prompt":"2"}\n')
    destination.add([{"prompt": "3"}], "", 1)
    destination.add_blocks(encode_rows([{"prompt": "4"}]))
    lines = b"".join(block.texts[0] for block in output.blocks)

    assert lines == b"".join(b'{"prompt":"%d"}\n' % number for number in range(1, 5))


# Writers


def test_what_is_known_of_runs_is_not_kept_in_memory() -> None:
    """A table whose rows change their columns takes no memory for each change."""
    held = []
    for count in (3_000, 30_000):
        writer = CsvWriter(lambda _: None)
        first, second = writer.encoder([{"a": "1"}]), writer.encoder([{"b": "2"}])
        tracemalloc.start()
        for _ in range(count):
            writer.add([*first, *second])
        held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        writer.discard()

    # Some lines and numbers are held before they go to the files.
    assert held[1] < held[0] + SPOOL_BYTES + 50_000


@pytest.mark.parametrize(
    ("make", "has_files"),
    [
        (LineWriter, False),
        (partial(LineWriter, headed=True), True),
        (ArrayWriter, False),
        (partial(ArrayWriter, headed=True), True),
        (lambda write: WrappedArrayWriter(write, "rows"), False),
        (ColumnWriter, True),
        (CsvWriter, True),
    ],
)
def test_discarded_writers_close_their_files(
    make: Callable[..., RowWriter],
    monkeypatch: pytest.MonkeyPatch,
    opened: list[IO[bytes]],
    *,
    has_files: bool,
) -> None:
    """A writer that is discarded has closed every file that it opened."""
    monkeypatch.setattr(row_writer, "SPOOL_BYTES", 1)
    for rows in ([], [{"a": "1"}, {"a": "2"}]):
        writer = make(lambda _: None)
        writer.add(writer.encoder(rows) if rows else [])
        writer.discard()

    assert all(each.closed for each in opened)
    assert bool(opened) is has_files


# Columns


def test_columns_are_deleted_if_reading_stops(
    monkeypatch: pytest.MonkeyPatch, opened: list[IO[bytes]]
) -> None:
    """The temporary files of columns are closed, also after an error in a column."""
    monkeypatch.setattr(row_batch, "HELD", 1)
    columns = b'{"questions": ["a", 5], "predicted_answers": ["x"]}'
    output, report = converted(columns, to="record", from_="haystack")

    assert (output, report.ok) == (b"", False)
    assert opened
    assert all(each.closed for each in opened)


# Groups


def test_groups_go_through_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups that do not fit into memory have the same order."""
    monkeypatch.setattr(item_partitions, "SPOOL_BYTES", 100)
    keys = [number * 7 % 500 for number in range(2_000)]
    rows = ({"prompt": f"{each}", "outputs": [{"text": "é" * 20}]} for each in keys)
    written, _ = converted(jsonl(*rows), to="record", from_="record", group="prompt")
    found = jsonl_rows(written)

    assert [each["prompt"] for each in found] == [*map(str, dict.fromkeys(keys))]
    assert {len(each["outputs"]) for each in found} == {4}


def test_conflicts_are_found_in_any_number_of_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every conflict is found, even if only some values are kept to be compared."""
    monkeypatch.setattr(record_groups, "NAMED", 3)
    rows = [{"id": f"{at % 10}", "prompt": f"{at}", "outputs": []} for at in range(30)]
    _, report = converted(jsonl(*rows), to="record", from_="record", group="id")
    problems = report.report.problems

    assert report.report.errors == 20
    assert [each.place.record for each in problems] == [11, 12, 13, 14, 15]
    is_named = [" of record " in each.message for each in problems]
    assert is_named == [True] * 3 + [False] * 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_numbers_are_not_compared_with_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    """Where all ids are numbers of the records of one file, none is repeated."""
    share_small_files(monkeypatch, 20_000)
    added: list[Any] = []
    monkeypatch.setattr(Digests, "add", lambda _, keys: added.extend(keys))
    monkeypatch.setattr(Digests, "add_digests", lambda _, found: added.extend(found))
    numbered, named = tmp_path / "numbered.jsonl", tmp_path / "named.jsonl"
    numbered.write_bytes(jsonl(*map(nemo_answer, range(400))))
    record = {"prompt": "q", "references": ["r"], "outputs": [{"text": "a"}]}
    named.write_bytes(jsonl(*({"id": f"i{n}", **record} for n in range(400))))
    outputs = [tmp_path / "one.json", tmp_path / "two.json"]
    convert(numbered, to="harpia", output=outputs[0], jobs=jobs)
    by_number = len(added)
    convert(named, to="harpia", from_="record", output=outputs[1], jobs=jobs)

    assert (by_number, len(added)) == (0, 400)
    instances = json.loads(outputs[0].read_bytes())["instances"]
    assert [each["id"] for each in instances] == [*map(str, range(1, 401))]


# Comparisons


def test_records_that_wait_take_what_they_are_counted_with() -> None:
    """Short records that wait take no more memory than twice what is counted."""
    records = WaitingRecords()
    tracemalloc.start()
    number = 0
    while records.size < 10**6:
        key = f"={number}"
        records.add(StoredRecord(number, key, number << 40, b"p" * 40, b"t" * 30, 0))
        number += 1
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    kept = records.take_all()

    assert held < 2 * 10**6
    assert [each.number for each in kept] == [*range(number)]
    assert (records.size, bool(records)) == (0, False)
