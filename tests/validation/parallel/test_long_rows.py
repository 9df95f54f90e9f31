"""Rows that are too long to be handed to a worker."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import convert, stats, validate
from harpia_formats.validation.parallel.ranges import LONGEST_SENT
from json_lines import jsonl


@pytest.mark.long
def test_long_rows_are_done_here_as_by_a_worker(tmp_path: Path) -> None:
    """Long rows between short ones give the same with two processes as with one."""
    rows: list[dict[str, Any]] = [
        {"id": str(number), "prompt": "p", "outputs": []} for number in range(40_000)
    ]
    for number in (10_000, 20_000):
        rows[number]["prompt"] = "x" * (LONGEST_SENT + 1)
    rows[30_000]["prompt"] = 7
    lines = jsonl(*rows)
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(lines, 1))
    reports = [validate(path, format="record", jobs=jobs) for jobs in (1, 2)]
    counts = [
        stats(path, format="record", jobs=jobs, on_invalid="skip") for jobs in (1, 2)
    ]
    written = []
    for jobs in (1, 2):
        output = tmp_path / f"{jobs}.jsonl"
        convert(
            path,
            format="record",
            to="record",
            output=output,
            jobs=jobs,
            on_invalid="skip",
        )
        written.append(output.read_bytes())

    assert [one.place.record for one in reports[0].problems] == [30_001]
    assert reports[0].problems == reports[1].problems
    assert reports[0].files == reports[1].files
    assert counts[0].to_dict() == counts[1].to_dict()
    assert written[0] == written[1]
