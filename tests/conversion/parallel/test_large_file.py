"""Convert ranges of a file in worker processes, with the result of one process."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harpia_formats import registry
from harpia_formats.conversion.loss_counts import FateCounts
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.parallel import large_file, worker
from harpia_formats.conversion.parallel.job import ConversionJob, ConvertedPart, Parts
from harpia_formats.conversion.parallel.worker import convert_range
from harpia_formats.conversion.record_steps import RecordSteps
from harpia_formats.conversion.run import Conversion
from harpia_formats.framing import byte_ranges as ranges
from harpia_formats.framing.byte_ranges import LineRange, line_ranges, read_range
from harpia_formats.mapping.choices import Choices, Responses
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Place
from harpia_formats.registry import adapter_of, writable_formats
from harpia_formats.workers.ordered import map_ordered
from harpia_formats.workers.pool import WorkerPool

ROWS = 400
#: A range that begins behind this byte kills its process.
DEADLY = 20_000


def row_of(number: int) -> dict[str, Any]:
    """Return a row of Tencent's, of one of several shapes."""
    responses = [{"content": f"a {each}"} for each in range(1 + (number % 5 == 2))]
    row: dict[str, Any] = {
        "messages": [{"role": "user", "content": f"q {number % 7}"}],
        "ref_answer": f"r {number}",
        "model_outputs": [{"model_name": "m", "responses": responses}],
    }
    return {**row, "id": f"x#{number}"} if number % 3 == 1 else row


def lines_of(count: int) -> bytes:
    """Return rows as lines."""
    rows = (json.dumps(row_of(each)) for each in range(count))
    return "".join(f"{each}\n" for each in rows).encode()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ranges of a few rows each, and forget the worker of earlier tests."""
    monkeypatch.setattr(ranges, "RANGE", 4000)
    monkeypatch.setattr(ranges, "PIECE", 600)
    monkeypatch.setattr(worker, "_state", SimpleNamespace(worker=None))


def job_of(path: Path, target: str = "nemo-output", **given: Any) -> ConversionJob:
    """Return the job of converting rows of Tencent."""
    folder = path.parent / "rows"
    folder.mkdir(exist_ok=True)
    choices = given.pop("choices", Choices())
    values = {"source": "tencent-outputs", "max_row_bytes": 100_000, **given}
    return ConversionJob(
        path=str(path),
        dialect=0,
        target=target,
        choices=choices,
        steps=RecordSteps(),
        separator=b"\n",
        folder=str(folder),
        **values,
    )


def works_of(path: Path) -> Iterator[LineRange]:
    """Yield the ranges of a file with the records before each."""
    before = 0
    for begin, end in line_ranges(path, 0):
        yield LineRange(begin, end, before)
        before += path.read_bytes()[begin:end].count(b"\n")


def serial(data: bytes, job: ConversionJob) -> tuple[list[Any], FateCounts]:
    """Return the rows for some lines, one record after the other."""
    format_ = writable_formats()[job.source]
    mapper = RecordMapper(adapter_of(writable_formats()[job.target]), job.choices)
    rows: list[Any] = []
    losses = FateCounts()
    for number, line in enumerate(data.splitlines(), 1):
        found = mapper.map(adapter_of(format_).read(json.loads(line)), number)
        rows += found.rows
        losses.add(found.paths, found.fates, place_of(number))
    return rows, losses


def place_of(number: int) -> Any:
    """Return a function that returns the place of a record, by its number alone."""
    return lambda: Place("f", number, 1, 2, 0, number)


def whole(job: ConversionJob, work: LineRange) -> ConvertedPart:
    """Return the converted part of a range that is converted as a whole."""
    parts = convert_range(job, work)
    assert parts is not None
    ((part, done),) = parts
    assert done is not None
    assert (part.begin, part.end, part.before) == (work.begin, work.end, work.before)
    return done


def converted_parts(job: ConversionJob, path: Path) -> Iterator[ConvertedPart | None]:
    """Yield the converted parts of a file, None for each unconverted part."""
    for work in works_of(path):
        for _, done in convert_range(job, work) or [(work, None)]:
            yield done


def add_outcomes(losses: FateCounts, done: ConvertedPart, before: int) -> None:
    """Count the outcomes of a converted part like the main process."""
    for outcome, (_, line, record), times in done.outcomes:
        assert line == record
        place = place_of(before + record + 1)
        losses.add(outcome.paths, outcome.fates, place, times)


def counted(losses: FateCounts) -> Any:
    """Return all counts and the first place of each loss."""
    losses.settled()
    places = {note: (each.count, each.place) for note, each in losses.counts.items()}
    return losses.carried, places


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.binary(max_size=12), max_size=12),
    size=st.integers(1, 40),
    ends=st.booleans(),
)
def test_ranges_are_whole_lines_and_leave_nothing_out(
    tmp_path: Path, lines: list[bytes], size: int, *, ends: bool
) -> None:
    """Ranges of any size follow each other, and each ends at the end of a line."""
    data = b"\n".join(lines) + b"\n" * ends
    path = tmp_path / "lines"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "RANGE", size)
        found = list(line_ranges(path, 0))
    parts = [read_range(path, begin, end) for begin, end in found]

    assert b"".join(parts) == data
    assert [begin for begin, _ in found] == [0, *(end for _, end in found)][:-1]
    assert all(each.endswith(b"\n") for each in parts[:-1])
    assert all(len(each) >= size for each in parts[:-1])
    assert all(b"\n" not in each[size:-1] for each in parts if len(each) > size)


def test_ranges_begin_at_a_byte(tmp_path: Path) -> None:
    """Bytes before the first range are not read."""
    path = tmp_path / "lines"
    path.write_bytes(b"ab\ncd\n")

    assert list(line_ranges(path, 3)) == [(3, 6)]
    assert list(line_ranges(path, 6)) == []


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("target", ["nemo-output", "harpia", "haystack"])
def test_converted_ranges_equal_the_converted_file(tmp_path: Path, target: str) -> None:
    """Rows, counts and first places are those of one record after the other."""
    data = lines_of(ROWS)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(data)
    job = job_of(path, target)
    expected, expected_losses = serial(data, job)
    rows: list[Any] = []
    losses, records = FateCounts(), 0
    for work in works_of(path):
        done = whole(job, work)
        assert done.records == done.lines
        found = [
            json.loads(each)
            for each in Path(job.folder, f"rows-{work.block}")
            .read_bytes()[: done.size]
            .splitlines()
        ]
        assert len(found) == done.count
        add_outcomes(losses, done, records)
        rows += found
        records += done.records

    assert records == ROWS
    assert rows == expected
    assert counted(losses) == counted(expected_losses)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "spoiled", [b"\n", b"{}\n", b"{\n", b'{"messages": 1}\n', b" \n"]
)
def test_part_with_problems_is_returned_unconverted(
    tmp_path: Path, spoiled: bytes
) -> None:
    """Only the part with a blank line or an invalid row is returned unconverted."""
    path = tmp_path / "rows.jsonl"
    good = lines_of(60)
    half = good.index(b"\n", len(good) // 2) + 1
    path.write_bytes(good[:half] + spoiled + good[half:])
    job = job_of(path)
    results: list[tuple[LineRange, ConvertedPart | None]] = []
    losses = FateCounts()
    rows: list[Any] = []
    for work in works_of(path):
        parts = convert_range(job, work)
        assert parts is not None
        results += parts
        for part, done in parts:
            if done is not None:
                data = read_range(path, part.begin, part.end)
                assert done.records == done.lines == data.count(b"\n")
                add_outcomes(losses, done, part.before)
                block = Path(job.folder, f"rows-{part.block}").read_bytes()
                kept = block[done.begin : done.begin + done.size].splitlines()
                rows += map(json.loads, kept)
    ((undone, _),) = [each for each in results if each[1] is None]
    left = path.read_bytes()[: undone.begin] + path.read_bytes()[undone.end :]
    losses.settled()

    assert [each.end for each, _ in results[:-1]] == [
        each.begin for each, _ in results[1:]
    ]
    assert undone.begin <= half < undone.end <= undone.begin + 2 * ranges.PIECE
    assert rows == serial(left, job)[0]
    assert losses.carried["references"] == left.count(b"\n")


@pytest.mark.usefixtures("small")
def test_row_that_remarks_refuse_is_returned_unconverted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Remarks refuse a row that the schema allows, in a dialect with one schema."""
    format_ = writable_formats()["tencent-outputs"]

    def remarks(row: Any) -> Iterator[Remark]:
        if row["ref_answer"] == f"r {ROWS - 1}":
            yield Remark("S101", ("ref_answer",), "refused")

    dialect = replace(
        format_.dialects[0], strict="", remarks=remarks, remarks_refuse=True
    )
    changed = replace(format_, dialects=(dialect,))
    monkeypatch.setattr(
        worker,
        "format_of",
        lambda name: changed if name == format_.id else registry.format_of(name),
    )
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines_of(ROWS))
    done = list(converted_parts(job_of(path), path))

    assert done[-1] is None
    assert None not in done[:-1]


@pytest.mark.usefixtures("small")
def test_parts_of_a_range_come_with_their_own_rows_where_there_is_no_folder(
    tmp_path: Path,
) -> None:
    """Each part has the bytes of its rows, and none of those of another one."""
    path = tmp_path / "rows.jsonl"
    lines = lines_of(60).splitlines(keepends=True)
    path.write_bytes(
        b"".join([*lines[:20], b"{}\n", *lines[20:40], b"7\n", *lines[40:]])
    )
    job = replace(job_of(path), folder="")
    parts = convert_range(job, LineRange(0, path.stat().st_size))
    assert parts is not None
    rows = [
        [json.loads(each) for each in done.rows.splitlines()]
        for _, done in parts
        if done is not None
    ]

    assert [done is None for _, done in parts] == [False, True, False, True, False]
    assert [done.size for _, done in parts if done] == [
        len(done.rows) for _, done in parts if done
    ]
    assert [row for each in rows for row in each] == serial(b"".join(lines), job)[0]
    assert [len(each) for each in rows] == [done.count for _, done in parts if done]


@pytest.mark.usefixtures("small")
def test_unconvertible_range_is_returned_unconverted(tmp_path: Path) -> None:
    """A part with a record that the choices refuse is returned unconverted."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines_of(60))
    job = job_of(path, choices=Choices(responses=Responses.FAIL))
    found = list(converted_parts(job, path))

    assert None in found
    assert all(each.count == each.records for each in found if each is not None)


@pytest.mark.usefixtures("small")
def test_range_with_a_long_row_is_returned_unconverted(tmp_path: Path) -> None:
    """A part that is longer than the limit of a row is returned unconverted."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines_of(20))
    job = job_of(path, max_row_bytes=100)

    assert set(converted_parts(job, path)) == {None}


@pytest.mark.usefixtures("small")
def test_records_with_different_fields_are_counted_apart(tmp_path: Path) -> None:
    """Records without a fate are counted with the fields that they have."""
    rows = [
        {"id": f"{each}", "input": "q", "actual-output": "a"}
        | ({"expected-output": ["r"]} if each % 2 else {})
        for each in range(200)
    ]
    path = tmp_path / "rows.jsonl"
    data = "".join(f"{json.dumps(each)}\n" for each in rows).encode()
    path.write_bytes(data)
    format_ = writable_formats()["harpia"]
    names = [each.name for each in format_.dialects]
    job = job_of(path, "haystack", source="harpia")
    job = ConversionJob(
        **{each: getattr(job, each) for each in job.__slots__}
        | {"dialect": names.index("instances")}
    )
    losses = FateCounts()
    add_outcomes(losses, whole(job, LineRange(0, len(data))), 0)
    losses.settled()

    assert losses.carried["references"] == 100
    assert losses.carried["prompt"] == 200


def dying(job: ConversionJob, work: LineRange) -> Parts | None:
    """Convert a range; the process dies at a range behind the byte `DEADLY`."""
    if work.begin > DEADLY:
        os._exit(1)
    return convert_range(job, work)


@pytest.mark.usefixtures("small")
def test_ranges_of_a_dead_process_are_returned_unconverted(tmp_path: Path) -> None:
    """Every range is returned in order: the first is converted, the others are not."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines_of(ROWS))
    job = job_of(path)
    works = list(works_of(path))
    with WorkerPool(2) as pool:
        results = list(map_ordered(pool, dying, job, works))

    assert [each for each, _ in results] == works
    assert results[-1][1] is None
    assert all(done is None for work, done in results if work.begin > DEADLY)


def outcome_of(path: Path, target: str, output: Path, jobs: int) -> tuple[bytes, Any]:
    """Return the output of a conversion, and its losses."""
    run = Conversion([path], target, output, ConvertOptions(jobs=jobs))
    assert list(run) == []
    report = run.report()
    assert report.ok
    carried: Counter[str] = Counter()
    counts: Counter[Any] = Counter()
    places: dict[Any, Any] = {}
    for file in report.losses:
        carried.update(file.losses.carried)
        for note, each in file.losses.counts.items():
            counts[note] += each.count
            places.setdefault(note, each.place)
    return output.read_bytes(), (carried, counts, places)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("target", ["nemo-output", "harpia"])
@pytest.mark.parametrize("run", [convert_range, dying])
def test_output_is_complete_even_if_processes_die(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any, target: str
) -> None:
    """Output and losses are those of one process, even if workers die."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines_of(ROWS))
    expected = outcome_of(path, target, tmp_path / "one", 1)
    handed: list[Any] = []

    def watched(
        pool: WorkerPool, _: Any, job: ConversionJob, works: Any
    ) -> Iterator[Any]:
        for work, done in map_ordered(pool, run, job, works):
            handed.append(done)
            yield work, done

    monkeypatch.setattr(large_file, "map_ordered", watched)
    monkeypatch.setattr(large_file, "MIN_FILE_BYTES", 1)
    monkeypatch.setattr(large_file, "SAMPLE_BYTES", 4000)
    found = outcome_of(path, target, tmp_path / "several", 2)

    assert found == expected
    assert len(handed) > 5
    assert (None in handed) == (run is dying)
