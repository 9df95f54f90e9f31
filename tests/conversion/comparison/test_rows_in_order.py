"""Rows are compared by their bytes as their records are, in whatever order they are."""

import csv
import io
import os
import signal
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from cases import for_each_case
from effort import examples
from harpia_formats.conversion.comparison import compare_ranges, row_taker
from harpia_formats.conversion.comparison import diff as diff_module
from harpia_formats.conversion.comparison.record_partitions import StoredRecord
from harpia_formats.conversion.comparison.stored_rows import WaitingRecords
from harpia_formats.files.workers import engine
from harpia_formats.formats.registry import adapter_of, readable_formats
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.exact_json import NOT_JSON, decode, encode
from harpia_formats.model.format import Format
from harpia_formats.validation.parallel import ranges
from plain_comparison import plainly_matched
from unchecked import diff

ROOT = Path(__file__).parents[3]
#: Rows of which some have one key, and some are equal.
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), max_size=40)
#: What a format of rows is written as.
LAYOUT_NAMES = ["lines", "array", "indented"]
LAYOUTS = st.sampled_from(LAYOUT_NAMES)


def written(rows: list[dict[str, Any]], layout: str) -> bytes:
    """Return rows of JSON as lines, or as an array on one line or on many."""
    if layout == "lines":
        return b"".join(encode(row) + b"\n" for row in rows)
    between = b"," if layout == "array" else b" ,\n\n "
    return b"[" + between.join(map(encode, rows)) + b"]"


def question(number: int, answer: int) -> dict[str, Any]:
    """Return a row without an id, which is matched by its prompt."""
    return {
        "input": {"prompt": f"q{number}", "ideal_response": "r", "category": "c"},
        "response": f"a{answer}",
        "llm_name": "m",
    }


@contextmanager
def waiting(size: int) -> Iterator[None]:
    """Let records of so many bytes wait in memory."""
    with patch.object(diff_module, "HELD_BYTES", size):
        yield


@given(left=ROWS, right=ROWS, layouts=st.tuples(LAYOUTS, LAYOUTS), size=st.integers())
@examples(60)
def test_equal_records_of_one_key_are_matched_before_others(
    left: list[tuple[int, int]],
    right: list[tuple[int, int]],
    layouts: tuple[str, str],
    size: int,
) -> None:
    """Of records with one key equal ones are matched, then the rest in their order."""
    if not left or not right:
        return
    equal = Counter(left) & Counter(right)
    ours, theirs = Counter(left) - equal, Counter(right) - equal
    pairs, alone, rest = plainly_matched(
        *([str(number) for number, _ in side.elements()] for side in (ours, theirs))
    )
    texts = [
        written([question(*row) for row in rows], layout)
        for rows, layout in zip((left, right), layouts, strict=True)
    ]
    with waiting(abs(size) % 1000):
        found = diff(*texts, from_="nemo-output", to="nemo-output")

    assert (found.records, found.differing) == (equal.total() + len(pairs), len(pairs))
    assert (found.only_left, found.only_right) == (len(alone), len(rest))
    for path, line in found.fields.items():
        rows, those = (right, theirs) if path == "only in the second" else (left, ours)
        assert line.place is not None
        assert line.place.record is not None
        assert rows[line.place.record - 1] in those


def many(count: int, *, changed: int = 7) -> list[dict[str, Any]]:
    """Return rows of questions, of which every seventh or so has another answer."""
    return [
        question(number, int(number % changed == changed - 1))
        | {"llm_name": f"m{number % 3}"}
        for number in range(count)
    ]


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_a_report_is_the_same_in_memory_and_on_disk(layout: str) -> None:
    """What waits in memory or goes to the disk has one report, in the same order."""
    left, right = many(300), many(300, changed=5)
    for row in right[100:200]:
        row["input"]["category"] = "d"
    del right[20:25], left[250]
    right[40], right[90] = right[90], right[40]
    texts = written(left, layout), written(right, layout)
    reports = []
    for size in (0, 700, 10**7):
        with waiting(size):
            reports.append(diff(*texts, from_="nemo-output", to="nemo-output"))

    assert reports[0].differing > 50
    assert reports[0].only_left == 5
    assert [each.to_dict() for each in reports[1:]] == [reports[0].to_dict()] * 2


@contextmanager
def short_ranges() -> Iterator[None]:
    """Let workers read short ranges of small files."""
    sizes = dict.fromkeys(("MIN_RANGE", "MAX_RANGE", "BUNDLE"), 9_000)
    with patch.dict(vars(ranges), {**sizes, "WORTH_SECONDS": 0, "TIMED": 1}):
        yield


@for_each_case("layout", ["lines", "array", "csv"])
def test_processes_find_what_one_finds(layout: str, tmp_path: Path) -> None:
    """Several processes report the same differences at the same places."""
    paths = [tmp_path / "left", tmp_path / "right"]
    for path, changed, count in zip(paths, (7, 5), (3_000, 2_999), strict=True):
        rows = many(count, changed=changed)
        if layout == "csv":
            lines = [
                f'{number},"question\n{number}",{row["response"]}\r\n'.encode()
                for number, row in enumerate(rows)
            ]
            path.write_bytes(b"id,prompt,output\r\n" + b"".join(lines))
        else:
            path.write_bytes(written(rows, layout))
    given_ = {"from_": "csv", "to": "csv"} if layout == "csv" else {}
    alone = diff(*paths, **given_)
    with short_ranges():
        shared = diff(*paths, **given_, jobs=2)

    assert alone.differing > 500
    assert shared.to_dict() == alone.to_dict()
    place = shared.fields["only in the first"].place
    assert place is not None
    assert place.record == 3_000
    assert place == alone.fields["only in the first"].place


#: Texts that are written in quotes, or that may be.
CELLS = st.sampled_from([" ", "a", "b,c", 'say "x"', '"', "two\nlines", "\u00e9"])
#: How a table is written: its line ends, and whether all fields are quoted.
STYLES = st.tuples(
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


def table(rows: Sequence[tuple[str, ...]], style: tuple[str, bool]) -> bytes:
    """Return rows as a table that is written in a style."""
    text = io.StringIO()
    writer = csv.writer(
        text,
        lineterminator=style[0],
        quoting=csv.QUOTE_ALL if style[1] else csv.QUOTE_MINIMAL,
    )
    writer.writerows([("id", "prompt", "output"), *rows])
    return text.getvalue().encode()


@given(
    cells=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=40),
    styles=st.tuples(STYLES, STYLES),
    number=st.integers(min_value=0),
)
@examples(60)
def test_tables_are_compared_as_their_fields_are(
    cells: list[tuple[str, str]],
    styles: tuple[tuple[str, bool], tuple[str, bool]],
    number: int,
) -> None:
    """Records of tables are equal if their fields are, however these are written."""
    left = [(str(at), prompt, output) for at, (prompt, output) in enumerate(cells)]
    at = number % len(left)
    right = [*left]
    right[at] = (str(at), "q" + left[at][1], left[at][2])
    texts = [
        table(rows, style) for rows, style in zip((left, right), styles, strict=True)
    ]
    found = diff(*texts, from_="csv", to="csv")
    again = diff(texts[0], table(left, styles[1]), from_="csv", to="csv")

    assert (again.records, again.differing, again.only_left) == (len(left), 0, 0)
    assert (found.records, found.differing, found.only_left) == (len(left), 1, 0)
    (line,) = found.fields.values()
    assert line.path == "prompt"
    assert line.place is not None
    begin = texts[0].index(b"\n") + 1 if at == 0 else line.place.byte_offset
    row = table([left[at]], styles[0]).split(styles[0][0].encode(), 1)[1]
    assert line.place.record == at + 1
    assert line.place.byte_offset == begin
    assert texts[0][begin:].startswith(row)
    assert line.place.line == texts[0][:begin].count(b"\n") + 1


def test_ids_whose_place_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are matched by ids that an adapter reads without a field for them."""

    def without_field(format_: Format) -> FormatAdapter:
        adapter = adapter_of(format_)
        others = adapter.other_paths | {"id"}
        fields = tuple(one for one in adapter.fields if one.record_path != "id")
        return replace(adapter, fields=fields, other_paths=others)

    monkeypatch.setattr(row_taker, "adapter_of", without_field)
    row = {"expected-output": ["r"], "actual-output": "a"}
    left, right = (
        [{"id": str(at), "input": f"{text}{at}", **row} for at in range(200)]
        for text in ("q", "other")
    )
    for each in LAYOUT_NAMES:
        found = diff(written(left, each), written(right, each))
        assert {line.path: line.count for line in found.fields.values()} == {
            "prompt": 200
        }


def test_a_worker_that_is_killed_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost of the ranges of a worker that dies while it writes its rows."""
    left, right, killed = (tmp_path / name for name in ("left", "right", "killed"))
    left.write_bytes(written(many(3_000), "lines"))
    right.write_bytes(written(many(3_000, changed=5), "lines"))
    file_of = compare_ranges._file_of  # noqa: SLF001 - where a worker begins to write

    def once(folder: str, slot: int) -> Path:
        if os.getpid() != main and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return file_of(folder, slot)

    main = os.getpid()
    monkeypatch.setattr(compare_ranges, "_file_of", once)
    # Only a fork has what is replaced here.
    monkeypatch.setattr(engine, "is_fork_safe", lambda: True)
    alone = diff(left, right)
    with short_ranges():
        shared = diff(left, right, jobs=2)

    assert killed.exists()
    assert shared.to_dict() == alone.to_dict()


def test_records_that_wait_take_what_they_are_counted_with() -> None:
    """Short records that wait take no more memory than twice what is counted."""
    records = WaitingRecords()
    tracemalloc.start()
    number = 0
    while records.size < 10**6:
        key = f"={number}"
        records.add(StoredRecord(number, key, number << 40, b"p" * 40, b"t" * 30, 0))
        number += 1
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    kept = records.take_all()

    assert held < 2 * 10**6
    assert [each.number for each in kept] == [*range(number)]
    assert (records.size, bool(records)) == (0, False)


def test_a_text_or_a_number_in_the_place_of_an_id_is_one() -> None:
    """A row with a text or an integer as its id is a record with one, in any format."""
    checked = set()
    for name, format_ in readable_formats().items():
        adapter = adapter_of(format_)
        for key in (one.path[0] for one in adapter.fields if one.record_path == "id"):
            for row in rows_of_fixtures(name):
                for value in ("0", " x", 7, 2**60) if key in row else ():
                    checked.add(name)
                    assert adapter.read({**row, key: value}).id is not UNSET, name

    assert len(checked) > 10


def rows_of_fixtures(name: str) -> Iterator[dict[str, Any]]:
    """Yield the valid rows of a format, as far as they are lines of its own keys."""
    for path in (ROOT / "fixtures" / name / "valid").glob("*.jsonl"):
        for line in path.read_bytes().splitlines():
            with suppress(*NOT_JSON, TypeError, KeyError):
                row = decode(line)
                adapter_of(readable_formats()[name]).read(row)
                yield row
