"""Rows that are read with what stands around them in their file."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fixture_files import ROOT
from harpia_formats import ValidationFailed, read
from json_lines import jsonl_rows
from shared_small_files import share_small_files
from unchecked import convert

LOG = json.loads(
    (ROOT / "fixtures/inspect-log/valid/choices-and-whole-ids.json").read_bytes()
)


def log(samples: int, evaluation: str, **members: Any) -> bytes:
    """Return a log of an evaluation with so many samples behind the given members."""
    sample = LOG["samples"][0]
    rows = [{**sample, "id": number} for number in range(samples)]
    around = LOG | {"eval": {**LOG["eval"], "eval_id": evaluation}, "samples": rows}
    return json.dumps({**members, **around}).encode()


def evaluation_of(data: bytes) -> Any:
    """Return the id of the evaluation in the first record of a log."""
    record = next(iter(read(data, format="inspect-log")))
    (score,) = record.outputs[0].scores or []
    return score.evaluation_id


def test_reader_gets_the_members_before_the_rows() -> None:
    """A record says what a member says that stands before the rows."""
    assert evaluation_of(log(1, "seven")) == "seven"


def test_members_behind_the_sample_are_known() -> None:
    """A member that stands behind what detection has seen is known to the reader."""
    assert evaluation_of(log(1, "eight", note="x" * 9 * 1024 * 1024)) == "eight"


def test_broken_members_are_left_out() -> None:
    """Of a broken beginning what can be read is known; its rows are read with that."""
    data = log(1, "three")
    broken = data.replace(b'"stats"', b'"note": tru, "stats"')
    assert broken != data
    assert evaluation_of(log(1, "three", note=float("nan"))) == "three"
    assert evaluation_of(broken) == "three"

    with pytest.raises(ValidationFailed, match="J"):
        list(read(broken, format="inspect-log"))


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_read_rows_as_this_process(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that workers convert are read with what stands around them."""
    share_small_files(monkeypatch, 20_000)
    source, output = tmp_path / "in.json", tmp_path / "out.jsonl"
    source.write_bytes(log(500, "nine"))

    with ThreadPoolExecutor(2) as threads:
        report = convert(
            source,
            to="record",
            from_="inspect-log",
            output=output,
            executor=threads if workers else None,
        )

    rows = jsonl_rows(output)
    assert report.ok
    assert [row["id"] for row in rows] == list(range(500))
    assert {row["outputs"][0]["scores"][0]["evaluation_id"] for row in rows} == {"nine"}
