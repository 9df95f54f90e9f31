"""NaN in rows of a dialect in which it is read as null: places, verdicts, workers."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harpia_formats import Problem, convert, validate
from json_lines import jsonl
from worker_units import small_units

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "fixtures/lm-eval-samples/valid/choices.jsonl"
ROW = json.loads(SAMPLES.read_text().splitlines()[0])


def places(text: bytes, format_: str = "lm-eval-samples") -> list[tuple[str, int, int]]:
    """Return code, line and byte of each problem of samples, or of another file."""
    found: tuple[Problem, ...] = validate(text, format=format_).problems
    return [
        (each.code, each.place.line or 0, each.place.byte_offset or 0) for each in found
    ]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("indent", [None, 1])
def test_problems_behind_a_constant_keep_their_places(
    separators: tuple[str, str], indent: int | None
) -> None:
    """A constant is noted at its place, and an error behind it has its own place."""
    row = {**ROW, "doc": {"a": math.nan, "NaN": "NaN"}, "acc": -math.inf, "filter": 1}
    text = json.dumps([ROW, row, ROW], separators=separators, indent=indent).encode()
    found = places(text)

    assert {code for code, _, _ in found} == {"J209", "S102"}
    for code, line, offset in found:
        there = text[offset:]
        assert text.count(b"\n", 0, offset) == line - 1
        assert there.startswith((b"NaN", b"-Infinity") if code == "J209" else b"1")


def test_fault_behind_a_constant_keeps_its_place() -> None:
    """A row that is not JSON for another reason is broken where it is broken."""
    line = json.dumps({**ROW, "acc": math.nan}, separators=(",", ":")).encode()
    text = line[:-1] + b',"x":None}\n'

    assert places(text) == [("J101", 1, text.index(b"None"))]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("end", "codes"), [("}", ["J209", "S102"]), (', "more": None}', ["J101"])]
)
def test_constant_beside_the_rows_of_a_document_is_noted(
    indent: int | None, end: str, codes: list[str]
) -> None:
    """What is wrong with a document is at its place, in the order of the places."""
    log = json.loads((ROOT / "fixtures/inspect-log/valid/epochs.json").read_bytes())
    wrong = {**log, "stats": {"seconds": math.nan}, "error": False}
    text = (json.dumps(wrong, indent=indent).removesuffix("}") + end).encode()
    marks = {"J209": b"NaN", "S102": b"false", "J101": b"None"}
    offsets = [text.rindex(marks[code]) for code in codes]
    lines = [text.count(b"\n", 0, offset) + 1 for offset in offsets]

    assert places(text, "inspect-log") == [*zip(codes, lines, offsets, strict=True)]


def test_repeated_key_behind_a_constant_keeps_its_place() -> None:
    """A key that is repeated is placed as in the file."""
    line = json.dumps({**ROW, "acc": math.nan}, separators=(",", ":")).encode()
    text = line[:-1] + b',"acc":1}\n'

    assert ("J105", 1, text.rindex(b'"acc"')) in places(text)


def test_rejected_rows_are_as_they_were(tmp_path: Path) -> None:
    """A row that is put aside has its constants."""
    bad = json.dumps({**ROW, "acc": math.nan, "filter": 1})
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text(f"{json.dumps(ROW)}\n{bad}\n")
    report = convert(path, to="record", output=output, on_invalid="quarantine")

    assert Path(report.quarantine[0]).read_text() == f"{bad}\n"


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_read_constants_as_this_process(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that workers convert have null where this process reads null."""
    small_units(monkeypatch)
    rows = [{**ROW, "doc_id": n, "acc": math.nan if n % 2 else 1.0} for n in range(400)]
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(jsonl(*rows))
    with ThreadPoolExecutor(2) as threads:
        executor = threads if workers else None
        report = convert(path, to="record", output=output, executor=executor)
    values = [
        json.loads(line)["outputs"][0]["scores"][0]["value"]
        for line in output.read_bytes().splitlines()
    ]

    assert values == [None if n % 2 else 1.0 for n in range(400)]
    assert [file.notes for file in report.report.files] == [200]
