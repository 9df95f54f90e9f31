import gzip
import io
import itertools
import json
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import Report, validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
LIMIT = 200
#: Good rows in front of the others, which tell the format, and are as many as a typed
#: decoder is built for.
FIRST = 66
IDS = st.sampled_from([1, 2, "1", "2", "(1,)", "é", "\u2028", ""])
KINDS = st.sampled_from(["good"] * 4 + ["wrong", "broken", "long", "blank"])
ROWS = st.lists(st.tuples(KINDS, IDS), max_size=12)
LAYOUTS = st.sampled_from(["lines", "array", "wrapped"])
Rows = list[tuple[str, Any]]


def text_of(kind: str, identifier: Any) -> str:
    """Return a row of HarpIA's instances, with something wrong with it or not."""
    row = {"id": identifier, "input": "2+2?", "actual-output": "4"}
    if kind == "wrong":
        row["input"] = 4
    if kind == "long":
        row["input"] = "x" * LIMIT
    text = json.dumps(row)
    return {"broken": text[:-1] + ",}", "blank": " \r"}.get(kind, text)


def laid_out(rows: Rows, layout: str) -> tuple[bytes, Rows]:
    """Return some rows in a container, and those that are records there."""
    rows = [*(("good", f"first {number}") for number in range(FIRST)), *rows]
    records = [each for each in rows if each[0] != "blank"]
    if layout == "lines":
        return "\n".join(text_of(*each) for each in rows).encode(), records
    items = "[" + ",\n".join(text_of(*each) for each in records) + "]"
    if layout == "wrapped":
        items = '{"metrics": [],\n"instances": ' + items + "}"
    return items.encode(), records


def repeats_in(records: Rows) -> dict[int, int]:
    """Return which records have the id of one before, found with a dictionary."""
    first: dict[Any, int] = {}
    found = {}
    for number, (kind, identifier) in enumerate(records, 1):
        if kind in {"broken", "long"}:
            continue
        if first.setdefault((type(identifier), identifier), number) != number:
            found[number] = first[type(identifier), identifier]
    return found


def validated(given_: Any, **options: Any) -> Report:
    """Return the report on HarpIA's instances, with all problems."""
    uncapped = {"examples": 0, "max_problems": 0, "max_row_bytes": LIMIT}
    return validate(given_, format="harpia", **uncapped | options)


def reported_duplicates(report: Report) -> dict[int, int]:
    """Return the number of each reported duplicate with the record it repeats."""
    found = {}
    for each in report.problems:
        if each.code == "X101":
            assert each.place.record is not None
            words = each.message.partition("that of record ")[2]
            found[each.place.record] = int(words.partition(",")[0])
    return found


@given(ROWS, LAYOUTS, st.none() | st.integers(FIRST + 1, FIRST + 10))
def test_duplicates_agree_with_a_dictionary(
    rows: Rows, layout: str, limit: int | None
) -> None:
    """Exactly the records with the id of an earlier record are reported and counted."""
    data, records = laid_out(rows, layout)
    report = validated(data, limit=limit)
    (count,) = report.files
    seen = records[:limit]
    wrong = {number for number, each in enumerate(seen, 1) if each[0] != "good"}
    expected = repeats_in(seen)

    assert reported_duplicates(report) == expected
    assert count.records == len(seen)
    assert count.invalid == len(wrong | expected.keys())
    assert count.undetermined == 0


@given(ROWS, LAYOUTS)
def test_places_are_those_of_the_ids(rows: Rows, layout: str) -> None:
    """Each duplicate is marked at its id, and names the line of the first record."""
    data, records = laid_out(rows, layout)
    lines = data.decode().split("\n")
    for each in validated(data).problems:
        if each.code != "X101":
            continue
        place = each.place
        assert place.record is not None
        identifier = json.dumps(records[place.record - 1][1])
        # The line is left out where it is the number of the record.
        first_line = int(each.message.rpartition(" ")[2])

        marked = lines[place.line - 1][place.column - 1 : place.end_column - 1]
        assert marked == identifier
        assert f'"id": {identifier},' in lines[first_line - 1]
        assert place.record_id == records[place.record - 1][1]
        assert data[: place.byte_offset].decode().count("\n") == place.line - 1


EXAMPLE: Rows = [("good", each) for each in (1, 2, 1, 3)] + [
    ("blank", 0),
    ("wrong", 2),
    ("long", 3),
    ("good", "é"),
    ("good", "é"),
]


def as_file(data: bytes, folder: Path) -> Path:
    """Return a file."""
    path = folder / "a.data"
    path.write_bytes(data)
    return path


def as_pipe(data: bytes, _: Path) -> BinaryIO:
    """Return the end of a pipe, into which the data are written."""
    out, into = os.pipe()

    def write() -> None:
        with os.fdopen(into, "wb") as stream:
            stream.write(data)

    threading.Thread(target=write).start()
    return os.fdopen(out, "rb")


@for_each_case(
    "given_, layout",
    itertools.product(
        [
            lambda data, _: data,
            as_file,
            lambda data, folder: as_file(gzip.compress(data), folder),
            lambda data, _: io.BytesIO(data),
            as_pipe,
        ],
        ["lines", "array", "wrapped"],
    ),
)
def test_every_kind_of_input_is_looked_at_twice(
    given_: Callable[[bytes, Path], Any], layout: str, tmp_path: Path
) -> None:
    """Duplicates in a source that can be read once only have the same places."""
    data, records = laid_out(EXAMPLE, layout)
    with closing_if_open(given_(data, tmp_path)) as source:
        report = validated(source)
    repeated = {FIRST + 3: FIRST + 1, FIRST + 5: FIRST + 2, FIRST + 8: FIRST + 7}

    assert reported_duplicates(report) == repeats_in(records) == repeated
    assert [each.place.byte_offset for each in report.problems] == [
        each.place.byte_offset for each in validated(data).problems
    ]
    assert report.files[0].invalid == 4


def closing_if_open(source: Any) -> AbstractContextManager[Any]:
    """Return what closes a stream at the end, and does nothing else."""
    return source if hasattr(source, "close") else nullcontext(source)


def test_large_stream_is_copied_to_disk(tmp_path: Path) -> None:
    """In a pipe of megabytes the last record is compared with the first."""
    rows: Rows = [("good", each) for each in range(160_000)]
    data, records = laid_out([*rows, ("good", 0)], "lines")
    assert len(data) > 8 * 1024 * 1024
    with as_pipe(data, tmp_path) as source:
        report = validated(source)

    assert reported_duplicates(report) == {len(records): FIRST + 1}


def test_all_keys_count_that_tell_records_apart() -> None:
    """In EvalEval, the same sample in another epoch or evaluation is no duplicate."""
    path = Path(__file__).parents[3] / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl"
    row = json.loads(path.read_bytes().splitlines()[0])
    rows = [
        row,
        row | {"evaluation_id": "another"},
        row | {"evaluation_name": "another"},
        row | {"evaluation_result_id": "one"},
        row | {"evaluation_result_id": "two"},
        row | {"metadata": {"epoch": "1"}},
        row | {"metadata": {"epoch": "2"}},
        row | {"metadata": {"epoch": "1", "more": "x"}},
        row,
    ]
    data = "\n".join(json.dumps(each) for each in rows).encode()

    assert reported_duplicates(validate(data, format="eee@0.2.0")) == {8: 6, 9: 1}


@pytest.mark.parametrize("options", [{"ignore": ("X101",)}, {"select": ("S",)}])
def test_repeats_are_not_looked_for_unless_wanted(options: dict[str, Any]) -> None:
    """Without the rule no record is wrong because of its id."""
    data, _ = laid_out([("good", 1), ("good", 1)], "lines")
    report = validated(data, **options)

    assert reported_duplicates(report) == {}
    assert report.files[0].invalid == 0


def test_first_error_is_the_only_one_if_asked_for() -> None:
    """With `fail_fast` one duplicate is reported."""
    data, _ = laid_out([("good", 1)] * 4, "lines")
    report = validated(data, fail_fast=True)

    assert reported_duplicates(report) == {FIRST + 2: FIRST + 1}
    assert report.errors == 1


@pytest.mark.parametrize(
    ("options", "repeats"),
    [({"severity": {"X101": "warning"}}, 3), ({"limit": FIRST + 3}, 1)],
)
def test_only_an_error_ends_the_run_if_asked_for(
    options: dict[str, Any], repeats: int
) -> None:
    """With `fail_fast` all warnings are reported, and a limit hides no duplicate."""
    data, _ = laid_out([("good", 1)] * 4, "lines")
    report = validated(data, fail_fast=True, **options)

    assert len(reported_duplicates(report)) == repeats


def test_a_repeated_id_behind_a_constant_is_placed_in_the_file() -> None:
    """NaN and Infinity, which are read as null, are as long as in the file."""
    name = FIXTURES / "inspect-log" / "valid" / "tools-and-scores.json"
    log = json.loads(name.read_bytes())
    log["samples"] = [{"a": float("inf"), **log["samples"][0]}] * 2
    data = json.dumps(log).encode()
    (problem,) = validate(data, select=("X101",)).problems

    assert problem.place.byte_offset == data.rindex(b'"peru", "epoch"')
    assert problem.excerpt is not None
    assert '"a": Infinity' in problem.excerpt.text
