"""What becomes of work that a worker cannot do, or does not do well."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from faulty_code import fails_at, ranges_fail, sees_other_files
from fixture_files import ROOT
from harpia_formats import Report, validate
from in_process import InProcess
from worker_units import (
    Elsewhere,
    Here,
    few_findings,
    few_groups,
    forked_workers,
    read_there,
    small_units,
)

ROWS = (ROOT / "fixtures/eee@0.2.0/valid/runs.jsonl").read_bytes().splitlines()


def changed(row: bytes, **changes: Any) -> bytes:
    """Return a row with other values."""
    return json.dumps({**json.loads(row), **changes}).encode()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file that is validated in ranges: 199 rows, of which one is wrong."""
    small_units(monkeypatch, 4_000)
    rows = [changed(ROWS[0], sample_id=str(number)) for number in range(199)]
    rows[150] = changed(rows[150], model_id=1)
    found = tmp_path / "rows.jsonl"
    found.write_bytes(b"\n".join(rows))
    return found


def validated(path: Path, executor: Any = None) -> Report:
    """Return the report of a file of EvalEval rows."""
    return validate(path, format="eee@0.2.0", executor=executor)


def wrong(report: Report) -> list[tuple[str, int | None]]:
    """Return the code and the record of each problem."""
    return [(each.code, each.place.record) for each in report.problems]


@pytest.mark.parametrize(
    "becomes",
    ["gone", "gone later", "empty", "shorter", "shorter later", "other", "longer"],
)
def test_other_file_than_that_of_the_run_is_not_validated(
    path: Path, becomes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a worker finds no file, or another one, this process validates the range."""
    read_there(monkeypatch)
    data = path.read_bytes()
    other = data.replace(b'"model_id"', b'"model_ix"')
    half = data[: len(data) // 2]
    files = {"shorter": half, "shorter later": half, "other": other}
    files["longer"] = other + data

    def change() -> None:
        if becomes.endswith("later") and not executor.works:
            return
        path.unlink()
        if not becomes.startswith("gone"):
            path.write_bytes(files.get(becomes, b""))

    executor = Elsewhere(change, lambda: path.write_bytes(data))
    here, there = validated(path), validated(path, executor)

    assert executor.works
    assert (there.problems, there.groups) == (here.problems, here.groups)
    assert there.summary() == here.summary()


def test_file_that_changes_at_last_was_read_to_its_last_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What workers read of a file is placed in it, also where it has changed since."""
    read_there(monkeypatch)
    before = Here()
    validated(path, before)

    def touch() -> None:
        if len(executor.works) == len(before.works):
            os.utime(path, (0, 0))

    executor = Elsewhere(lambda: None, touch)
    (count,) = validated(path, executor).files

    assert len(executor.works) > 1
    assert str(count.reason).endswith(" (after 199 records, the last in line 199)")


@pytest.mark.parametrize("becomes", ["gone", "shorter"])
def test_small_file_that_is_another_one_elsewhere_is_validated_here(
    path: Path, becomes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that cannot read a whole file, or all of it, gives it back."""
    small_units(monkeypatch, 4_000, whole_files=1_000_000)
    data = path.read_bytes()

    def change() -> None:
        path.unlink()
        if becomes == "shorter":
            path.write_bytes(data[: len(data) // 2])

    executor = Elsewhere(change, lambda: path.write_bytes(data))
    here, there = validated(path), validated(path, executor)

    assert isinstance(executor.works[0], tuple)
    assert wrong(there) == wrong(here) == [("S102", 151)]
    assert there.summary() == here.summary()


@pytest.mark.parametrize("limit", [few_findings, few_groups])
def test_units_that_come_back_are_counted(
    path: Path, limit: Any, monkeypatch: pytest.MonkeyPatch, run: InProcess
) -> None:
    """The statistics have the number of units that workers gave back, by reason."""
    forked_workers(monkeypatch)
    limit(monkeypatch, 1)
    wrong = {"model_id": 1, "evaluation_name": 2}
    rows = (changed(ROWS[0], sample_id=str(n), **wrong) for n in range(199))
    path.write_bytes(b"\n".join(rows))
    words = "--format eee@0.2.0 --statistics --examples 0 --jobs".split()
    one, two = (run("validate", path, *words, jobs) for jobs in (1, 2))

    assert one.out == two.out
    assert "main process" not in one.err
    (line,) = [line for line in two.err.splitlines() if "main process" in line]
    start, _, number = line.rpartition(" ")
    assert start == "units validated by the main process for too many findings:"
    assert int(number) > 1


def test_one_process_finds_more_than_workers_send(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What limits the answers of workers does not limit this process."""
    few_findings(monkeypatch, 1)
    few_groups(monkeypatch, 1)
    data = b"\n".join(changed(row, model_id=1, evaluation_name=2) for row in ROWS[:2])
    report = validate(data, format="eee@0.2.0", ignore=("X",), examples=0)

    assert wrong(report) == [("S102", number) for number in (1, 1, 2, 2)]


def test_units_of_a_file_that_workers_do_not_see_are_counted(
    path: Path, monkeypatch: pytest.MonkeyPatch, run: InProcess
) -> None:
    """They are validated here, and the statistics say how many there were, and why."""
    forked_workers(monkeypatch)
    sees_other_files(monkeypatch)
    words = "--format eee@0.2.0 --statistics --jobs".split()
    one, two = (run("validate", path, *words, jobs) for jobs in (1, 2))

    (line,) = [line for line in two.err.splitlines() if "main process" in line]
    start, _, number = line.rpartition(" ")
    assert one.out == two.out
    assert start == (
        "units validated by the main process because a worker did not see the file:"
    )
    assert int(number) > 1


def test_unit_that_our_code_fails_on_has_no_verdict(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a unit with an internal error are undetermined, and named by V902."""
    ranges_fail(monkeypatch)
    report = validated(path, Here())
    (count,) = report.files
    message = report.problems[0].message

    assert {each.code for each in report.problems} == {"V902"}
    assert "KeyError: 'lost' (faulty_code.fail, line" in message
    assert (count.records, count.undetermined > 0) == (199, True)
    assert report.has_internal_errors


def test_record_that_our_code_fails_on_is_the_only_one_without_a_verdict(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a worker, too, an internal error is narrowed down to its record."""
    fails_at(monkeypatch, b'"120"')
    report = validated(path, Here())

    assert wrong(report) == [("V902", 121), ("S102", 151)]
    assert report.files[0].undetermined == 1


def test_small_files_are_read_by_workers_in_the_encoding_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: InProcess
) -> None:
    """Small files in GB18030 have the same report with any number of processes."""
    small_units(monkeypatch, 4_000, whole_files=1_000_000)
    forked_workers(monkeypatch)
    text = ROWS[0].decode().replace("A baker", "面包师") + '\n{"问题": "北京"}\n'
    for number in range(4):
        (tmp_path / f"{number}.jsonl").write_bytes(text.encode("gb18030"))
    words = "--encoding gb18030 --format eee@0.2.0 --output-format json --jobs".split()
    one, two = (run("validate", tmp_path, *words, jobs) for jobs in (1, 2))

    assert one.code == 1
    assert (two.code, two.out) == (one.code, one.out)
