"""Convert units in a worker, and leave what is not valid to the main process."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from harpia_formats.conversion.containers.row_writer import encode_rows
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.parallel import range_converter
from harpia_formats.conversion.parallel.converted_rows import (
    ConvertedRows,
    Part,
    UnitPlace,
)
from harpia_formats.conversion.parallel.range_converter import ConversionJob
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.io.reader import BLOCK
from harpia_formats.formats import registry
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.formats.registry import all_formats, rules_for, writable_formats
from harpia_formats.formats.rules import selected_rules
from harpia_formats.plugins import Remark
from harpia_formats.validation.options import Options
from harpia_formats.validation.parallel import range_worker
from harpia_formats.validation.parallel.range_worker import run_range
from harpia_formats.validation.plan import file_plan
from harpia_formats.validation.plan.file_plan import FilePlan, run_plan_of
from harpia_formats.validation.plan.units import RowRange, SentBytes
from json_lines import jsonl, jsonl_rows

ROWS = 400


def row_of(number: int) -> dict[str, Any]:
    """Return a row of Tencent's, of one of several shapes."""
    responses = [{"content": f"a {each}"} for each in range(1 + (number % 5 == 2))]
    row: dict[str, Any] = {
        "messages": [{"role": "user", "content": f"q {number % 7}"}],
        "ref_answer": f"r {number}",
        "model_outputs": [{"model_name": "m", "responses": responses}],
    }
    return {**row, "id": f"x#{number}"} if number % 3 == 1 else row


def numbered_lines(count: int) -> bytes:
    """Return rows as lines."""
    return jsonl(*map(row_of, range(count)))


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the worker of earlier tests."""
    monkeypatch.setattr(range_worker, "_kept", SimpleNamespace(key=None, state=None))


def job_of(
    folder: Path | str = "",
    *,
    limit: int = 100_000,
    fail_fast: bool = False,
    **options: Any,
) -> ConversionJob:
    """Return the job of converting rows of Tencent."""
    format_ = writable_formats()["tencent-outputs"]
    left_out = ["X", "L"]
    rules = rules_for((format_,))
    active = selected_rules(rules, [], left_out)
    run = run_plan_of(
        Options(max_row_bytes=limit, fail_fast=fail_fast),
        {code: rules[code] for code in active},
        None,
        tuple(all_formats().values()),
        for_reading=True,
    )
    plan = FilePlan(run, "f", Framing.VALUES, format_.id)
    return ConversionJob(
        plan,
        ConvertOptions(max_row_bytes=limit, **options),
        "nemo-output",
        encode_rows,
        is_split=False,
        prefix="",
        fields={},
        surroundings={},
        columns=(),
        is_only=True,
        folder=str(folder),
    )


def convert_unit(job: ConversionJob, data: bytes) -> list[Part] | None:
    """Return what a worker answers to a unit of lines."""
    unit = RowRange(0, len(data), Cursor(), SentBytes(data))
    answer: list[Part] | None = run_range(job, unit, UnitPlace(0, 0))
    return answer


def parts_of(job: ConversionJob, data: bytes) -> tuple[list[Part], list[bytes]]:
    """Return the parts that a worker makes of lines, and the lines that it leaves."""
    parts = convert_unit(job, data)
    assert parts is not None
    left = [data[part.begin : part.end] for part in parts if part.converted is None]
    return parts, left


def rows_in(part: Part, folder: Path | None = None) -> list[Any]:
    """Return the rows of a part, none if it was left to the main process."""
    rows = part.converted
    if rows is None:
        return []
    data = rows.data
    if folder is not None:
        data = (folder / "rows-0").read_bytes()[rows.at :]
    texts = data[: sum(sum(block.sizes) for block in rows.blocks)]
    found = jsonl_rows(texts)
    assert len(found) == sum(block.count for block in rows.blocks)
    return found


def converted(data: bytes) -> list[Any]:
    """Return the rows that valid lines become."""
    (part,), _ = parts_of(job_of(), data)
    assert isinstance(part.converted, ConvertedRows)
    return rows_in(part)


@pytest.mark.parametrize("spoiled", [b"{}\n", b"{\n", b'{"messages": 1}\n', b"7\n"])
@pytest.mark.parametrize("uses_folder", [True, False])
def test_part_with_a_problem_is_left(
    tmp_path: Path, spoiled: bytes, *, uses_folder: bool
) -> None:
    """Only the invalid line is left, and every part has the bytes of its own rows."""
    lines = numbered_lines(60).splitlines(keepends=True)
    data = b"".join([*lines[:20], spoiled, *lines[20:40], spoiled, *lines[40:]])
    folder = tmp_path if uses_folder else None
    parts, left = parts_of(job_of(folder or ""), data)
    rows = [row for part in parts for row in rows_in(part, folder)]
    before = [part.converted.before for part in parts if part.converted is not None]

    assert left == [spoiled, spoiled]
    assert [part.begin for part in parts] == [0, *(part.end for part in parts)][:-1]
    assert parts[-1].end == len(data)
    assert before == [0, 21, 42]
    assert rows == converted(b"".join(lines))


def test_row_that_remarks_refuse_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remarks refuse a row that the schema allows, in a dialect with one schema."""
    format_ = writable_formats()["tencent-outputs"]

    def remarks(row: Any) -> Iterator[Remark]:
        if row["ref_answer"] == "r 59":
            yield Remark("S101", ("ref_answer",), "refused")

    dialect = replace(
        format_.dialects[0], strict="", remarks=remarks, remarks_refuse=True
    )
    changed = replace(format_, dialects=(dialect,))
    monkeypatch.setattr(
        file_plan,
        "format_of",
        lambda name: changed if name == format_.id else registry.format_of(name),
    )
    parts, _ = parts_of(job_of(), numbered_lines(60))

    assert parts[-1].converted is None


def test_chunk_with_an_unconvertible_record_is_left() -> None:
    """A chunk with a record that the choices refuse is left, others are not."""
    lines = numbered_lines(5).splitlines(keepends=True)
    good = lines[0] * (BLOCK // len(lines[0]) + 10)
    data = good + lines[2] + good
    _, left = parts_of(job_of(responses="fail"), data)

    assert len(left) == 1
    assert lines[2] in left[0]
    assert len(left[0]) < 2 * BLOCK


def test_unit_whose_rows_are_too_long_is_not_converted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker gives a unit up whose rows are longer than it may keep."""
    monkeypatch.setattr(range_converter, "rows_limit", lambda _: 100)

    assert convert_unit(job_of(), numbered_lines(20)) is None


def test_only_some_records_around_an_invalid_one_are_left() -> None:
    """Most records of a table are converted though one has a wrong number of fields."""
    job = job_of()
    plan = msgspec.structs.replace(job.plan, cut=Framing.TABLE, format="csv")
    job = replace(job, plan=plan, target="record", columns=("id", "prompt"))
    lines = [b"i%d,q\n" % number for number in range(300)]
    lines[150] = b"i,q,too many\n"
    parts, left = parts_of(job, b"".join(lines))

    assert len(left) == 1
    assert lines[150] in left[0]
    assert left[0].count(b"\n") <= 32
    assert [part.begin for part in parts] == [0, *(part.end for part in parts)][:-1]
    assert sum(part.converted.lines for part in parts if part.converted) == (
        300 - left[0].count(b"\n")
    )


@pytest.mark.parametrize(("count", "is_converted"), [(90, True), (110, False)])
def test_units_whose_fields_differ_too_much_are_left(
    count: int, monkeypatch: pytest.MonkeyPatch, *, is_converted: bool
) -> None:
    """A worker keeps what became of so many different sets of fields, and no more."""
    monkeypatch.setattr(range_converter, "MAX_OUTCOMES", 100)
    data = jsonl(*({**row_of(0), f"key {each}": each} for each in range(count)))

    assert (convert_unit(job_of(), data) is not None) is is_converted
