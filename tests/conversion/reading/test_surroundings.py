"""Rows that are read with what stands around them in their file."""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as changed

from harpia_converters.harpia import mapping
from harpia_formats import Record, convert, read
from harpia_formats.conversion.reading.record_stream import members_before
from harpia_formats.files.framing.columns import RowArray
from harpia_formats.formats.detection.sample import SAMPLE_BYTES
from harpia_formats.plugins import Row
from json_lines import jsonl_rows
from shared_small_files import share_small_files

#: An instance as HarpIA's lab takes it.
ROW = {"id": "1", "input": "q", "expected-output": ["r"], "actual-output": "a"}


def _reader(around: Mapping[str, Any]) -> Callable[[Row], Record]:
    """Return what reads an instance with the version of its document as the source."""
    usual = mapping.LAB_INPUT.read

    def read_row(row: Row) -> Record:
        return changed(usual(row), source=str(around.get("needed", "none")))

    return read_row


@pytest.fixture(autouse=True)
def dependent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let records of HarpIA depend on what stands around the instances."""

    def needed(around: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"needed": around["version"]} if "version" in around else {}

    adapter = replace(mapping.LAB_INPUT, reader_in=_reader, needed_around=needed)
    monkeypatch.setattr(mapping, "LAB_INPUT", adapter)


def document(rows: int, **members: Any) -> bytes:
    """Return a document of so many instances behind the given members."""
    instances = [{**ROW, "id": str(number)} for number in range(rows)]
    return json.dumps({**members, "instances": instances, "metrics": []}).encode()


def test_reader_gets_the_members_before_the_rows() -> None:
    """A record says what a member says that stands before the rows."""
    (record,) = read(document(1, version=7), format="harpia")

    assert record.source == "7"


def test_members_behind_the_sample_are_known() -> None:
    """A member that stands behind what detection has seen is known to the reader."""
    data = document(1, note="x" * SAMPLE_BYTES, version=8)

    (record,) = read(data, format="harpia")

    assert record.source == "8"


def test_broken_members_are_left_out() -> None:
    """Of a broken beginning what can be read is known; its rows are read with that."""
    before = b'{"version": 3, "note": NaN, "instances": '

    assert members_before(RowArray(("instances",), before))["version"] == 3
    assert members_before(RowArray(("instances",), b"{oops ")) == {}


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_read_rows_as_this_process(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that workers convert are read with what stands around them."""
    share_small_files(monkeypatch, 20_000)
    source, output = tmp_path / "in.json", tmp_path / "out.jsonl"
    source.write_bytes(document(2_000, version=9))

    with ThreadPoolExecutor(2) as threads:
        executor = threads if workers else None
        report = convert(
            source, to="record", from_="harpia", output=output, executor=executor
        )

    rows = jsonl_rows(output)
    assert report.ok
    assert [row["id"] for row in rows] == [str(number) for number in range(2_000)]
    assert {row["source"] for row in rows} == {"9"}


def test_reader_of_rows_alone_knows_nothing_else() -> None:
    """A row of lines has nothing around it."""
    (record,) = read(json.dumps(ROW).encode() + b"\n", format="harpia")

    assert record.source == "none"
    assert members_before(RowArray(("a",), b"")) == {}
