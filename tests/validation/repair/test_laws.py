"""Laws of repairs, on rows of every format that are broken at random."""

import json
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from broken_rows import broken_rows
from effort import examples, pairs
from faulty_code import repairs_fail, workers_die
from fixture_files import valid_rows
from harpia_formats import Change
from json_lines import jsonl
from worker_units import forked_workers, small_units

#: Formats of rows, with files of valid rows as lines.
FORMATS = ("eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0", "nemo-output", "tencent-outputs")
#: Rows of a generated file.
ROWS = 24
#: Returns the rows of the valid fixtures of a format.
fixture_rows = cache(valid_rows)


def broken_lines(format_: str, seed: int) -> list[bytes]:
    """Return lines of a format, some valid, some broken at random, none blank."""
    chance = random.Random(seed)  # noqa: S311 - no secrets
    valid = fixture_rows(format_)
    rows = broken_rows(valid, ROWS // 2, seed) + chance.choices(valid, k=ROWS // 2)
    return [
        json.dumps(row, ensure_ascii=chance.random() < 0.5).encode() for row in rows
    ]


def fixed(path: Path, format_: str, *, unsafe: bool) -> list[Change]:
    """Repair a file of a format in place; return the changes."""
    report = harpia_formats.fix(path, format=format_, unsafe=unsafe)
    assert not report.failures
    return list(report.changes)


def lines_found(path: Path, format_: str, *, lint: bool) -> set[int]:
    """Return the lines of the records with errors; with any findings of lints."""
    found = harpia_formats.iter_problems(path, format=format_, ignore=("X",), lint=lint)
    return {one.place.line for one in found if lint or one.severity == "error"}


@pytest.mark.parametrize(("format_", "unsafe"), pairs(FORMATS, [False, True]))
@given(seed=st.integers(0, 10**6))
@examples(4)
def test_repairs_keep_their_laws(format_: str, seed: int, *, unsafe: bool) -> None:
    """Rows that are not listed stay; what is repaired is not found again.

    No row without a finding is changed, a valid row stays valid, and a second repair
    changes nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        lines = broken_lines(format_, seed)
        path.write_bytes(b"\n".join(lines) + b"\n")
        before = lines_found(path, format_, lint=False)
        doubtful = lines_found(path, format_, lint=True) if unsafe else before
        changes = fixed(path, format_, unsafe=unsafe)
        text = path.read_bytes()
        after = lines_found(path, format_, lint=False)
        again = fixed(path, format_, unsafe=unsafe)

        assert again == []
        assert path.read_bytes() == text
    new = text.split(b"\n")[:-1]
    listed = {change.line for change in changes}
    assert [n for n, one in enumerate(new, 1) if one != lines[n - 1]] == sorted(listed)
    assert listed <= doubtful
    assert after <= before


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("layout", ["lines", "array", "pretty"])
def test_any_number_of_workers_gives_the_same_bytes(
    layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    """A file is repaired alike by one process and by two, whose work may fail."""
    if fails:
        forked_workers(monkeypatch)
        repairs_fail(monkeypatch)
    rows = [with_null(row, n) for n, row in enumerate(fixture_rows("eee@0.2.0") * 40)]
    text = {
        "lines": "".join(f"{json.dumps(row)}\n" for row in rows),
        "array": json.dumps(rows),
        "pretty": json.dumps(rows, indent=1),
    }[layout]
    small_units(monkeypatch, 50_000)
    found = []
    for jobs in (1, 2):
        path = tmp_path / f"rows{jobs}.json"
        path.write_text("\n" * 3 + text if layout == "lines" else text)
        # Two inputs, so that worker processes are used for a small file, too.
        report = harpia_formats.fix(path, b"{}", format="eee@0.2.0", jobs=jobs)
        changes = [
            (one.line, one.column, one.record, one.pointer) for one in report.changes
        ]
        found.append((changes, path.read_bytes()))

    assert found[0] == found[1]
    assert len(found[0][0]) == len(range(0, len(rows), 3))


def test_a_file_with_rows_that_kill_two_workers_is_not_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays as it is, and the rows are named (V901)."""
    small_units(monkeypatch, 50_000)
    workers_die(monkeypatch)
    rows = [with_null(row, n) for n, row in enumerate(fixture_rows("eee@0.2.0") * 40)]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(jsonl(*rows))
    before = path.read_bytes()
    # Two inputs, so that worker processes are used for a small file, too.
    report = harpia_formats.fix(path, b"{}", format="eee@0.2.0", jobs=2)
    ((name, reason), *_) = report.failures

    assert name == str(path)
    assert reason.endswith("died twice (V901)")
    assert report.changes == ()
    assert path.read_bytes() == before


def with_null(row: Any, number: int) -> Any:
    """Return a row; every third one with a null that is not allowed."""
    copy = json.loads(json.dumps(row))
    if number % 3 == 0:
        copy["metadata"] = None
    return copy


#: Kinds of documents around rows, and what one is written by.
DOCUMENTS: dict[str, Callable[[Any], bytes]] = {
    "lines": lambda row: json.dumps(row).encode() + b"\n",
    "lines without an end": lambda row: json.dumps(row).encode(),
    "CRLF": lambda row: json.dumps(row).encode() + b"\r\n",
    "array": lambda row: b"[" + json.dumps(row).encode() + b"]",
    "pretty array": lambda row: json.dumps([row], indent=4).encode(),
    "single": lambda row: json.dumps(row, indent=2).encode(),
}


@pytest.mark.parametrize("layout", DOCUMENTS)
def test_rows_are_repaired_in_every_layout(
    layout: str, tmp_path: Path, row: dict[str, Any]
) -> None:
    """The file without the null is what is written, byte for byte."""
    path = tmp_path / "rows.json"
    write = DOCUMENTS[layout]
    expected = write(row)
    path.write_bytes(write({**row, "zebra": None} | {"metadata": None}))
    clean = {**row, "zebra": None}
    clean.pop("metadata", None)

    changes = fixed(path, "eee@0.2.0", unsafe=False)

    assert [change.pointer for change in changes] == ["/metadata"]
    assert path.read_bytes() == write(clean)
    assert expected


@pytest.mark.parametrize("jobs", [1, 2])
def test_constants_stay_as_they_are(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NaN and Infinity, which are read as null, stay where a row with them is repaired.

    One that stands where no null may be is no null, and is not removed.
    """
    small_units(monkeypatch, 20_000)
    values = {**fixture_rows("lm-eval-samples")[0]}
    del values["filter"]
    row = json.dumps(values)
    first = '{"acc": -Infinity, "f1": NaN, "filter": '
    rows = [f"{first}{each}, {row[1:]}" for each in ("null", "NaN")]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(rows * 100))
    # Two inputs, so that worker processes are used for a small file, too.
    report = harpia_formats.fix(path, b"{}", format="lm-eval-samples", jobs=jobs)

    assert [one.line for one in report.changes] == list(range(1, 200, 2))
    rows[0] = rows[0].replace(' "filter": null,', "")
    assert path.read_text() == "\n".join(rows * 100)


def test_a_document_with_constants_is_repaired(tmp_path: Path) -> None:
    """What stands around the records is repaired before and behind a NaN."""
    folder = Path(__file__).parents[3] / "fixtures" / "inspect-log" / "valid"
    log = json.loads((folder / "tools-and-scores.json").read_bytes())
    log["version"] = "2"
    log["results"] = {"a": float("nan"), "total_samples": "2", "b": float("-inf")}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log, indent=1))
    changes = fixed(path, "inspect-log", unsafe=False)

    assert [one.pointer for one in changes] == ["/version", "/results/total_samples"]
    log["version"], log["results"]["total_samples"] = 2, 2
    assert path.read_text() == json.dumps(log, indent=1)
