"""What a worker answers to a unit of work, and what the main process does then."""

import json
import random
from array import array
from pathlib import Path
from typing import Any

import msgspec
import pytest

from faulty_code import fails_at
from harpia_formats import Problem
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.container import open_container
from harpia_formats.files.workers.worker_checks import FileFingerprint
from harpia_formats.formats.detection.sampled_file import sample_file
from harpia_formats.validation.options import Options
from harpia_formats.validation.parallel import range_worker, ranges
from harpia_formats.validation.parallel.range_worker import NotDone, run_range
from harpia_formats.validation.parallel.small_files import answer_files
from harpia_formats.validation.parallel.validate_ranges import ValidationJob
from harpia_formats.validation.plan.file_plan import (
    FilePlan,
    RunPlan,
    plan_file,
    run_plan_of,
)
from harpia_formats.validation.plan.units import (
    Demand,
    FileBytes,
    RowRange,
    SentBytes,
    WholeFile,
)
from harpia_formats.validation.run import Validation
from harpia_formats.validation.unit.findings import (
    FileNotSeen,
    FileResult,
    InternalFault,
    TooMuch,
    UnitResult,
)
from known_formats import FORMATS, RULES
from worker_units import Here, few_findings, small_units

ROOT = Path(__file__).parents[3]
ROWS = (ROOT / "fixtures/eee@0.2.0/valid/runs.jsonl").read_bytes().splitlines()


def run_plan(**options: Any) -> RunPlan:
    """Return the plan of a run over EvalEval rows."""
    format_ = FORMATS["eee@0.2.0"]
    return run_plan_of(Options(**options), RULES, None, (format_,))


def file_plan(data: bytes) -> FilePlan:
    """Return the plan of a file of EvalEval rows."""
    run = run_plan()
    formats = run.candidates()
    opened = open_container(iter([data]))
    sampled = sample_file(opened, 1 << 24, formats, "rows.jsonl")
    return plan_file(run, "rows.jsonl", sampled.sample)[0]


def unit_of(rows: list[bytes], number: int = 0) -> RowRange:
    """Return rows as a unit, with the number of its first line."""
    data = b"".join(row + b"\n" for row in rows)
    return RowRange(0, len(data), Cursor(0, number + 1), SentBytes(data))


def changed(row: bytes, **changes: Any) -> bytes:
    """Return a row with other values."""
    return json.dumps({**json.loads(row), **changes}).encode()


def comparable(answer: UnitResult | NotDone) -> UnitResult:
    """Return a result with sorted digests: their order is not a promise."""
    assert isinstance(answer, UnitResult)
    return msgspec.structs.replace(
        answer,
        digests=array("Q", sorted(answer.digests)),
        # Which rows must be compared is decided for each chunk.
        across=(),
    )


PLAN = file_plan(b"\n".join(ROWS))


def test_order_of_units_does_not_change_their_results() -> None:
    """What a worker keeps between units changes its speed, and no result."""
    source = random.Random(3)  # noqa: S311 - a seed, not secrecy
    faulty = [changed(ROWS[0], model_id=1), changed(ROWS[1], x=1), b"{", b"", ROWS[2]]
    units = [
        unit_of(source.choices(ROWS, k=80) + source.choices(faulty, k=number % 5))
        for number in range(12)
    ]
    fresh = []
    for unit in units:
        range_worker._kept.key = None  # noqa: SLF001 - what a new process has
        fresh.append(comparable(run_range(ValidationJob(PLAN), unit, Demand())))
    for _ in range(3):
        order = source.sample(range(len(units)), len(units))
        found = {
            number: comparable(run_range(ValidationJob(PLAN), units[number], Demand()))
            for number in order
        }

        assert [found[number] for number in range(len(units))] == fresh


def test_too_many_findings_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit with more findings than are worth sending is answered with that."""
    few_findings(monkeypatch, 3)
    rows = [changed(ROWS[0], model_id=number) for number in range(5)]

    assert run_range(ValidationJob(PLAN), unit_of(rows), Demand()) == TooMuch()


def test_file_that_is_not_there_is_not_seen(tmp_path: Path) -> None:
    """A range of a file that the worker cannot read is answered with the reason."""
    missing = FileBytes(tmp_path / "missing.jsonl", 0, 10)
    answer = run_range(
        ValidationJob(PLAN), RowRange(0, 10, Cursor(), missing), Demand()
    )

    assert answer == FileNotSeen("no such file or directory")


def test_other_file_is_not_seen(tmp_path: Path) -> None:
    """A file that differs from the one of the plan is not validated."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(ROWS))
    plan = file_plan(b"\n".join(ROWS)).seen_as(FileFingerprint(path, 3, b""))
    unit = RowRange(0, 10, Cursor(), FileBytes(path, 0, 10))
    answer = run_range(ValidationJob(plan), unit, Demand())

    assert isinstance(answer, FileNotSeen)
    assert "bytes there, but 3 here" in answer.reason


def test_file_that_has_shrunk_is_not_seen(tmp_path: Path) -> None:
    """A range that ends behind the end of the file is not validated in part."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROWS[0] + b"\n")
    size = len(ROWS[0]) * 3
    unit = RowRange(0, size, Cursor(), FileBytes(path, 0, size))

    assert isinstance(run_range(ValidationJob(PLAN), unit, Demand()), FileNotSeen)


def test_whole_file_is_answered_with_its_counts(tmp_path: Path) -> None:
    """A small file comes back with its plan, its counts and its problems."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join([*ROWS, changed(ROWS[0], sample_id="x", model_id=1)]))
    missing = WholeFile(run_plan(), "missing.jsonl", tmp_path / "missing.jsonl")
    whole, none = answer_files((WholeFile(run_plan(), "rows.jsonl", path), missing))

    assert isinstance(whole, FileResult)
    assert (whole.plan.format, whole.count.records) == ("eee@0.2.0", len(ROWS) + 1)
    assert whole.count.invalid == 1
    assert none == FileNotSeen("no such file or directory")


def test_internal_error_is_answered_with_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An error of ours outside of a record is answered as text, with its place."""

    def fail(*_: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(range_worker, "line_rows", fail)
    answer = run_range(ValidationJob(PLAN), unit_of(ROWS), Demand())

    assert isinstance(answer, InternalFault)
    assert answer.error.startswith("KeyError: 'lost' (")
    assert "fail, line" in answer.error


@pytest.fixture
def in_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have files of some kilobytes validated in ranges by an executor."""
    small_units(monkeypatch, 4_000)


def validated(path: Path) -> tuple[Validation, list[Problem]]:
    """Return a finished run over a file, and its problems."""
    run = Validation([path], Options(format="eee@0.2.0", executor=Here(copies=False)))
    return run, list(run)


@pytest.mark.usefixtures("in_ranges")
def test_units_that_come_back_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units that a worker gives back are validated here, and counted by reason."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join([*ROWS * 9, changed(ROWS[0], model_id=1)]))
    usual = range_worker.run_range
    answers = iter([TooMuch(), FileNotSeen("x"), FileNotSeen("x")])
    monkeypatch.setattr(
        ranges, "run_range", lambda *work: next(answers, None) or usual(*work)
    )
    run, problems = validated(path)
    redone = run.redone

    assert (redone.too_many_findings, redone.files_not_seen) == (1, 2)
    assert [line.rpartition(" ")[2] for line in redone.lines()] == ["1", "2"]
    assert run.report().files[0].records == len(ROWS) * 9 + 1
    assert {problem.code for problem in problems} >= {"S102", "X101"}


@pytest.mark.usefixtures("in_ranges")
def test_unit_that_our_code_fails_on_has_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a unit with an internal error are undetermined, and named by V902."""
    path = tmp_path / "rows.jsonl"
    rows = (changed(ROWS[0], sample_id=str(number)) for number in range(99))
    path.write_bytes(b"\n".join(rows))
    usual = range_worker.run_range
    answers = iter([InternalFault("KeyError: 'lost'")])
    monkeypatch.setattr(
        ranges, "run_range", lambda *work: next(answers, None) or usual(*work)
    )
    run, problems = validated(path)
    (problem,) = [problem for problem in problems if problem.code == "V902"]
    (count,) = run.report().files

    assert "KeyError: 'lost'" in problem.message
    assert count.undetermined > 0
    assert count.records == 99
    assert run.report().has_internal_errors


@pytest.mark.usefixtures("in_ranges")
def test_record_that_our_code_fails_on_is_the_only_one_without_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a worker, too, an internal error is narrowed down to its record."""
    path = tmp_path / "rows.jsonl"
    odd = changed(ROWS[0], sample_id="odd")
    path.write_bytes(b"\n".join([*ROWS * 5, odd, *ROWS * 5]))
    fails_at(monkeypatch, b'"odd"')
    run, problems = validated(path)
    (problem,) = [problem for problem in problems if problem.code == "V902"]

    assert problem.place.record == len(ROWS) * 5 + 1
    assert run.report().files[0].undetermined == 1
