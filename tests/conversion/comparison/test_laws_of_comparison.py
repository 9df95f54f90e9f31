"""Records are compared by their bytes and texts as by their fields."""

import csv
import io
import itertools
import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace as replace_field
from functools import partial
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import asdict, replace

from cases import for_each_case
from effort import examples
from fixture_files import valid_rows
from harpia_formats import Record
from harpia_formats.conversion.comparison import (
    compare_ranges,
    record_partitions,
    row_taker,
)
from harpia_formats.conversion.comparison import diff as diff_module
from harpia_formats.conversion.comparison.diff import Unmatched
from harpia_formats.conversion.comparison.differences import (
    MAX_LISTED,
    CommonFields,
    comparable_text,
    decode_fields,
    differences,
)
from harpia_formats.conversion.comparison.record_partitions import (
    PARTS,
    RecordPartitions,
)
from harpia_formats.files.workers import engine
from harpia_formats.model.exact_json import encode
from harpia_formats.plugins import Format, FormatAdapter, records
from harpia_formats.validation.parallel import ranges
from known_formats import READABLE, adapter_named
from plain_comparison import PlainReduction, plain_differences, plainly_matched
from shared_small_files import share_small_files
from unchecked import diff

# Texts of records

ADAPTERS = {name: adapter_named(name) for name in READABLE}
PAIRS = [*combinations_with_replacement(sorted(ADAPTERS), 2)]
#: Keys of which some repeat, with characters that have no UTF-8.
KEYS = st.lists(st.sampled_from(["=1", "=2", "=3", "?", "=", "=\ud800", "=ä"]))
every_shape = partial(examples, suppress_health_check=list(HealthCheck))


def mixed(first: Any, second: Any, chosen: Sequence[bool]) -> Any:
    """Return `first` with those fields of `second` that are chosen."""
    fields = asdict(second)
    names = [name for name, is_taken in zip(fields, chosen, strict=False) if is_taken]
    return replace(first, **{name: fields[name] for name in names})


@st.composite
def similar(draw: st.DrawFn) -> tuple[Record, Record]:
    """Return two records that have many fields in common."""
    left, other = draw(records()), draw(records())
    choice = st.lists(st.booleans(), min_size=14, max_size=14)
    right = mixed(left, other, draw(choice))
    outputs = [
        mixed(one, two, draw(choice))
        for one, two in zip(left.outputs, other.outputs, strict=False)
    ]
    return left, replace(right, outputs=outputs) if draw(st.booleans()) else right


@given(pair=similar())
@every_shape(40)
def test_differences_of_texts_are_those_of_fields(pair: tuple[Record, Record]) -> None:
    """Fields with unequal texts are the same differences as in decoded records."""
    left, right = pair
    texts = [(each.path, encode(each)) for each in plain_differences(left, right)]

    assert [(each.path, encode(each)) for each in differences(left, right)] == texts
    assert list(differences(left, left)) == []


def reordered(value: Any) -> Any:
    """Return a value with the keys of all objects in the other order."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [*map(reordered, value)] if isinstance(value, list) else value


@given(pair=similar())
@every_shape(40)
def test_records_share_a_text_if_no_field_differs(pair: tuple[Record, Record]) -> None:
    """The text that is compared for equality is one for records without differences."""
    left, right = pair
    parts = replace(left, extra=reordered(left.extra))
    comparable, again, other = (
        comparable_text(decode_fields(encode(each))) for each in (left, parts, right)
    )

    assert comparable == again
    assert (comparable == other) == (list(differences(left, right)) == [])
    assert (
        left.extra
        or any(one.extra for one in left.outputs)
        or (comparable == encode(left).replace(b',"extra":{}', b""))
    )


@pytest.mark.parametrize("names", [PAIRS[0], PAIRS[len(PAIRS) // 2], PAIRS[-2]])
@given(record=records())
@every_shape(15)
def test_common_fields_of_some_formats(names: tuple[str, str], record: Record) -> None:
    """The text of a record is reduced as the record is, with the same paths."""
    check_reduced(names, record)


@pytest.mark.long
@for_each_case("names", PAIRS)
def test_common_fields_of_all_formats(names: tuple[str, str]) -> None:
    """Texts are reduced as records are, for every pair of formats."""

    @given(record=records())
    @every_shape(100)
    def hold(record: Record) -> None:
        check_reduced(names, record)

    hold()


def check_reduced(names: tuple[str, str], record: Record) -> None:
    """Check that text and record are reduced alike."""
    adapters = tuple({id(ADAPTERS[name]): ADAPTERS[name] for name in names}.values())
    common, fields = CommonFields(adapters), decode_fields(encode(record))
    common.reduce(fields)
    plain = PlainReduction(adapters)
    expected = plain.reduced(record)

    assert encode(fields) == encode(expected)
    assert list(common.left_out) == [*dict.fromkeys(plain.left_out)][:MAX_LISTED]


@given(left=KEYS, right=KEYS, held=st.sampled_from([1, 100, 10**6]))
@every_shape(25)
def test_records_are_matched_in_their_order(
    left: list[str], right: list[str], held: int
) -> None:
    """Records are matched by equal keys, the first with the first, on disk or not."""
    sides = []
    with patch.object(record_partitions, "HELD_BYTES", held):
        for keys in (left, right):
            side = RecordPartitions()
            for number, key in enumerate(keys):
                side.add(number, key, b"p", b"text of %d" % number)
            sides.append(side)
    pairs, alone, rest = [], [], []
    ours, theirs = sides
    for part in range(PARTS):
        unmatched = Unmatched(theirs, part)
        for record in ours.part(part):
            other = unmatched.take(record)
            if other is None:
                alone.append(record.number)
            else:
                pairs.append((record.number, other.number))
                assert other.text == b"text of %d" % other.number
        rest += [record.number for record in unmatched.rest()]
    for side in sides:
        side.close()

    assert (sorted(pairs), sorted(alone), sorted(rest)) == plainly_matched(left, right)


def test_keys_of_one_digest_are_told_apart() -> None:
    """Records whose keys differ are not matched if their digests are equal."""
    ours, theirs = RecordPartitions(), RecordPartitions()
    with patch.object(record_partitions, "digest_of", lambda _: 7):
        for number, key in enumerate("abc"):
            ours.add(number, key, b"", b"")
        for number, key in enumerate("cab"):
            theirs.add(number, key, b"", b"")
    unmatched = Unmatched(theirs, 7)
    found = [unmatched.take(record) for record in ours.part(7)]
    ours.close()
    theirs.close()

    assert [each and each.number for each in found] == [1, 2, 0]


def row(number: int, *, has_id: bool) -> bytes:
    """Return a line of a record."""
    id_ = {"id": str(number)} if has_id else {}
    return encode({**id_, "prompt": f"q{number}", "outputs": []}) + b"\n"


@for_each_case(
    "lacks_id, held", itertools.product([(), (0,), (199,), (70, 71)], [100, 10**6])
)
def test_records_are_matched_by_prompt_if_one_has_no_id(
    lacks_id: tuple[int, ...], held: int
) -> None:
    """A record without an id, wherever it is, makes both sides match by prompt."""
    all_ = b"".join(row(number, has_id=True) for number in range(200))
    some = b"".join(row(number, has_id=number not in lacks_id) for number in range(200))
    other = b"".join(row(number, has_id=True) for number in reversed(range(200)))
    with patch.object(record_partitions, "HELD_BYTES", held):
        reports = [diff(all_, some), diff(some, other)]

    for report in reports:
        assert (report.records, report.differing) == (200, len(lacks_id))
        assert (report.only_left, report.only_right) == (0, 0)
        assert list(report.fields) == (["id"] if lacks_id else [])
        place = lacks_id and report.fields["id"].place
        assert not place or (place.line, place.record) == (lacks_id[0] + 1,) * 2


# Rows in any order

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


@pytest.fixture
def short_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers read short ranges of small files."""
    share_small_files(monkeypatch, 9_000)
    monkeypatch.setattr(ranges, "TIMED", 1)


@pytest.mark.usefixtures("short_ranges")
@pytest.mark.parametrize("layout", ["lines", "array", "csv"])
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


@pytest.mark.usefixtures("short_ranges")
def test_headers_in_rows_are_compared_in_any_process(tmp_path: Path) -> None:
    """A header in a row far behind is found by several processes, too."""
    left, right = tmp_path / "left", tmp_path / "right"
    row: dict[str, Any] = {"prompt": "q" * 40, "outputs": []}
    rows = [{"id": str(at), **row} for at in range(3_000)]
    right.write_bytes(written(rows, "lines"))
    rows[2_000]["header"] = {"metrics": [{"id": "em"}]}
    left.write_bytes(written(rows, "lines"))
    alone = diff(left, right, from_="record", to="record")
    shared = diff(left, right, from_="record", to="record", jobs=2)

    assert [*alone.fields] == ["header.metrics"]
    assert shared.to_dict() == alone.to_dict()


def test_ids_whose_place_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are matched by ids that an adapter reads without a field for them."""

    def without_field(format_: Format) -> FormatAdapter:
        adapter = adapter_named(format_.id)
        others = adapter.other_paths | {"id"}
        fields = tuple(one for one in adapter.fields if one.record_path != "id")
        return replace_field(adapter, fields=fields, other_paths=others)

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


@pytest.mark.usefixtures("short_ranges")
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
    shared = diff(left, right, jobs=2)

    assert killed.exists()
    assert shared.to_dict() == alone.to_dict()


@pytest.mark.usefixtures("short_ranges")
def test_a_range_that_is_written_behind_a_worker_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a file that was written after a worker read them are validated again."""
    left, right, touched = (tmp_path / name for name in ("left", "right", "touched"))
    left.write_bytes(written(many(3_000), "lines"))
    right.write_bytes(written(many(3_000), "lines"))
    file_of = compare_ranges._file_of  # noqa: SLF001 - where a worker begins to write
    again, parts = ranges.Ranges.again, list[Any]()

    def once(folder: str, slot: int) -> Path:
        if os.getpid() != main and not touched.exists():
            touched.touch()
            os.utime(left, ns=(0, 0))
        return file_of(folder, slot)

    def counted(self: Any, part: Any, *ends: int) -> Any:
        parts.append(part)
        return again(self, part, *ends)

    main = os.getpid()
    monkeypatch.setattr(compare_ranges, "_file_of", once)
    monkeypatch.setattr(ranges.Ranges, "again", counted)
    # Only a fork has what is replaced here.
    monkeypatch.setattr(engine, "is_fork_safe", lambda: True)
    found = diff(left, right, jobs=2)

    (file,) = found.to_dict()["report"]["files"]
    # Each worker may have read a range before, and some may wait for their turn.
    assert parts
    assert file["reason"].startswith("was changed while it was read")


def test_a_text_or_a_number_in_the_place_of_an_id_is_one() -> None:
    """A row with a text or an integer as its id is a record with one, in any format."""
    checked = set()
    for name, adapter in ADAPTERS.items():
        keys = [one.path[0] for one in adapter.fields if one.record_path == "id"]
        rows = valid_rows(name) if keys else []
        for row, key in itertools.product(rows, keys):
            for value in ("0", " x", 7, 2**60) if key in row else ():
                with suppress(TypeError, KeyError):  # of documents and other dialects
                    record = adapter.read({**row, key: value})
                    assert record.id is not UNSET, name
                    checked.add(name)

    assert len(checked) > 10
