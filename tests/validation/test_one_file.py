import gzip
import itertools
import json
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from faulty_code import contradicted, fails_at
from harpia_formats import FileCount, Problem, Report, validate

FIXTURES = Path(__file__).parents[2] / "fixtures"
SEED, TAG, CURRENT = "eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0"
#: Rows `{"n": 1}` and the like are valid by it.
NUMBERS = {"type": "object", "properties": {"n": {"type": "integer"}}}


def records_of(shape: str) -> list[bytes]:
    """Return some valid records of a shape, one a line."""
    path = FIXTURES / shape / "valid" / "runs.jsonl"
    return path.read_bytes().splitlines()


def numbered_lines(
    count: int, *, wrong: tuple[int, ...] = (), blank: str = ""
) -> bytes:
    """Return `count` rows of numbers, the `wrong` ones (from 1) with text instead."""
    values: list[Any] = ["x" if each in wrong else each for each in range(1, count + 1)]
    lines = [json.dumps({"n": each, "pad": "é" * 20}) + "\n" + blank for each in values]
    return "".join(lines).encode()


def validated(data: bytes, **options: Any) -> tuple[FileCount, list[str], Report]:
    """Return the counts, the codes and the report of one file by `NUMBERS`."""
    if "format" not in options:
        options = {"schema": NUMBERS, **options}
    report = validate(data, **options)
    (count,) = report.files
    return count, [each.code for each in report.problems], report


def where(problem: Problem) -> tuple[int, int, int, int | None]:
    """Return line, column, byte offset and record number of a problem."""
    place = problem.place
    return place.line, place.column, place.byte_offset, place.record


def cut_gzip(data: bytes, keep: float) -> bytes:
    """Return `data` compressed and cut off at a part of it."""
    packed = gzip.compress(data, mtime=0)
    return packed[: int(len(packed) * keep)]


def random_rows(count: int) -> list[bytes]:
    """Return rows that do not compress well, so that a cut falls in among them."""
    source = random.Random(7)  # noqa: S311 - no secret
    return [
        b'{"n": %d, "x": "%x"}' % (each, source.getrandbits(256))
        for each in range(count)
    ]


@for_each_case("keep, count", itertools.product([0.1, 0.5, 0.9, 0.999], [20, 8_000]))
def test_rows_before_truncated_data_are_validated(count: int, keep: float) -> None:
    """Of truncated data only the cut row is lost, and the reason has its place."""
    rows = random_rows(count)
    data, codes, _ = validated(cut_gzip(b"\n".join(rows), keep))
    number = f"{data.records:,}"

    assert codes == []
    assert data.records == data.valid > 0 or count == 20
    assert not data.complete
    assert data.reason is not None
    assert data.reason.startswith("compressed data is truncated (")
    assert (f"after {number} record" in data.reason) == (data.records > 0)
    assert (f"the last in line {number})" in data.reason) == (data.records > 0)


def test_break_leaves_rows_and_faults_before_it() -> None:
    """Problems before truncated data are reported, also a mark and too long rows."""
    rows = random_rows(3_000)
    rows[4], rows[7] = b'{"n": "x"}', b'{"n": 1, "pad": "' + b"x" * 200 + b'"}'
    packed = cut_gzip(b"\xef\xbb\xbf" + b"\n".join(rows), 0.5)
    count, codes, report = validated(packed, max_row_bytes=180)

    assert codes == ["J201", "S102", "J110"]
    assert [each.place.record for each in report.problems] == [None, 5, 8]
    assert count.records == count.valid + 2
    assert f"the last in line {count.records:,})" in (count.reason or "")


def test_break_in_an_array_leaves_the_rows_before_it() -> None:
    """In a truncated array neither the cut row nor the missing bracket is an error."""
    rows = random_rows(3_000)
    rows[2_000] = b'{"n": tru}'
    packed = cut_gzip(b"[" + b",\n".join(rows) + b"]", 0.9)
    count, codes, _ = validated(packed)

    assert codes == ["J101"]
    assert count.records == count.valid + 1 > 2_500
    assert f"the last in line {count.records:,})" in (count.reason or "")


LINES = b"".join(b'{"n": %d}\n' % each for each in range(1, 9))


def reason_of_break(start: bytes) -> str:
    """Return why a file was not read to its end that breaks off behind its `start`."""
    row = random.Random(7).randbytes(5_000).hex().encode()  # noqa: S311 - no secret
    is_table = not start.startswith(LINES)
    data = gzip.compress(start + (b'1,"' if is_table else b'{"n": "') + row)
    options: Any = {"format": "csv"} if is_table else {}
    count, _, _ = validated(data[:-2_000], max_row_bytes=20_000, **options)
    return str(count.reason)


@for_each_case(
    "start, line",
    [
        (LINES, 8),
        (LINES + b'{"n": "' + b"x" * 30_000 + b'"}\n', 8),
        (b"n,t\n" + b"1,a\n" * 8, 9),
        (b"n,t\r\n" + b'1,"a\r\nb\r\n"\r\n' * 8, 25),
    ],
)
def test_break_behind_the_last_record_names_its_line(start: bytes, line: int) -> None:
    """Rows that are too long and the cut record do not count."""
    assert reason_of_break(start).endswith(f", the last in line {line})")


@for_each_case(
    "start, line",
    [(LINES + b"\n" * 300_000, "8"), (b"n,t\n" + b"1,a\n" * 50_000, "50,001")],
)
def test_break_far_behind_the_start_names_a_line(start: bytes, line: str) -> None:
    """The last record may be in an earlier block, before blank lines, or in a later."""
    assert reason_of_break(start).endswith(f", the last in line {line})")


@pytest.mark.parametrize("opening", [b"", b"[\n", b'{\n"a": "'])
def test_break_in_the_first_record(opening: bytes) -> None:
    """Without a whole record there is no problem, and the reason states that."""
    count, codes, _ = validated(cut_gzip(opening + random_rows(1)[0] * 50, 0.6))

    assert codes == []
    assert count.records == 0
    assert (count.reason or "").endswith("(before the end of the first record)")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-be"])
def test_wide_encoding_is_a_reason_and_nothing_else(encoding: str) -> None:
    """A file in UTF-16 could not be read: no finding, and no talk of records."""
    count, codes, _ = validated('{"n": 1}'.encode(encoding))

    assert codes == []
    assert count.reason is not None
    assert count.reason.startswith("is UTF-")
    assert "behind" not in count.reason


@for_each_case(
    "data",
    [b"", b"\n", b"\r\n \t\n", b"\n" * 700_000, b"[]", b" [ \n] ", b"\xef\xbb\xbf"],
)
def test_file_without_records_is_an_error(data: bytes) -> None:
    """A file that is empty, blank or an empty array has one error, and was read."""
    count, codes, report = validated(data)

    assert codes == ["J201"] * data.startswith(b"\xef") + ["J111"]
    assert (count.records, count.errors, count.complete) == (0, 1, True)
    assert report.problems[-1].place.record is None


@pytest.mark.parametrize("shape", [SEED, TAG, CURRENT])
def test_family_takes_the_shape_of_the_records(shape: str) -> None:
    """`eee` validates each shape by its schema, with a note for all but the first."""
    count, codes, _ = validated(b"\n".join(records_of(shape)), format="eee")

    assert count.format == shape
    assert codes == ["S202"] * (shape != SEED)
    assert (count.errors, count.notes) == (0, int(shape != SEED))


@for_each_case(
    "asked, shape", itertools.product([SEED, TAG, CURRENT], [SEED, TAG, CURRENT])
)
def test_pinned_format_holds_the_file_to_it(asked: str, shape: str) -> None:
    """A file in another shape has one S201, first; its rows are listed as they are."""
    data = b"\n".join(records_of(shape) * 5)
    count, codes, report = validated(data, format=asked, ignore=("X101",))
    hints = ("S201", "S210")
    plain, rest, without = validated(data, format=asked, ignore=(*hints, "X101"))
    is_other = asked != shape and 2 * count.invalid > count.records

    assert count.format == asked
    assert ("S201" in codes) == is_other
    assert codes == (["S201"] * is_other or codes[: codes[:1] == ["S210"]]) + rest
    assert count.invalid == plain.invalid
    assert count.errors == plain.errors + is_other
    assert report.problems[len(codes) - len(rest) :] == without.problems


def test_seed_asked_for_and_another_given() -> None:
    """The one finding names both shapes, the sign, and what to do."""
    _, codes, report = validated(b"\n".join(records_of(CURRENT)), format=SEED)
    problem = report.problems[0]

    assert codes[0] == "S201"
    assert problem.message.startswith(f"the file is {CURRENT}, not {SEED}: ")
    assert f'format="{CURRENT}";' in problem.help
    assert where(problem) == (1, 1, 0, None)


@for_each_case(
    "options, expected",
    [
        ({}, []),
        ({"strict": True}, ["S211"]),
        ({"strict": True, "ignore": ("S211",)}, []),
    ],
)
def test_label_of_another_version_is_refused_if_asked(
    options: Any, expected: list[str]
) -> None:
    """The label must be that of the version whose keys a row has, if strict."""
    row = {**json.loads(records_of(SEED)[0]), "schema_version": "0.3.0"}
    count, codes, _ = validated(json.dumps(row).encode(), format=SEED, **options)

    assert codes == expected
    assert count.invalid == len(expected)


def test_mixed_shapes_are_validated_by_the_most_frequent() -> None:
    """In a mixed file each record of another shape is an error of its own."""
    mixed = records_of(SEED)[:2] + records_of(TAG)[:1] + records_of(SEED)[2:4]
    recognised, _, _ = validated(b"\n".join(mixed), format="eee")
    pinned, codes, _ = validated(b"\n".join(mixed), format=SEED)

    assert (recognised.format, recognised.invalid) == (SEED, 1)
    assert pinned.invalid == 1
    assert codes[0] == "S210"
    assert not {"S201", "S203"} & {*codes}


def test_a_few_good_records_do_not_hide_another_shape() -> None:
    """S201 needs most records to have the other shape, not all of them."""
    mixed = records_of(TAG)[:1] * 7 + records_of(SEED)[:1] * 3
    count, codes, _ = validated(b"\n".join(mixed), format=SEED, ignore=("X101",))

    assert codes[0] == "S201"
    assert (count.records, count.invalid) == (10, 7)


def spoilt(row: bytes) -> bytes:
    """Return a record with a list as its output, no model and a text as its score."""
    record = json.loads(row)
    record["output"]["raw"] = [record["output"]["raw"]]
    record["evaluation"]["score"] = "high"
    del record["model_id"]
    return json.dumps(record).encode()


SPOILT = ["S101", "S102", "S102"]


@pytest.mark.parametrize("good", [0, 1, 9])
def test_pinned_format_lists_what_is_wrong_with_a_row(good: int) -> None:
    """A row that looks like another shape has its findings listed, with one hint."""
    rows = [*records_of(SEED)[:1] * good, spoilt(records_of(SEED)[0])]
    _, codes, _ = validated(b"\n".join(rows), format=SEED, ignore=("X101",))

    assert codes == ["S210" if good else "S201", *SPOILT]


def test_row_that_is_valid_in_no_shape_lists_what_is_wrong() -> None:
    """S203 stands only for a row that another shape of the family accepts."""
    row = records_of(SEED)[0]
    rows = [*[row] * 3, spoilt(row), records_of(TAG)[0]]
    _, codes, _ = validated(b"\n".join(rows), format=None, ignore=("X101",))

    assert codes == [*SPOILT, "S203"]


@pytest.mark.parametrize(
    ("family", "member", "rows"),
    [
        ("eee", SEED, [*records_of(SEED)[:3], *records_of(TAG)[:1]]),
        ("eee", SEED, [*records_of(SEED)[:3], spoilt(records_of(SEED)[0])]),
        ("nemo", "nemo-input", records_of(SEED)),
    ],
)
def test_family_lists_what_its_chosen_member_does(
    family: str, member: str, rows: list[bytes]
) -> None:
    """With a family named, records have the findings of the format that is chosen."""
    data = b"\n".join(rows)
    _, of_family, chosen = validated(data, format=family, ignore=("X101",))
    _, of_member, pinned = validated(data, format=member, ignore=("X101",))

    assert chosen.files[0].format == member
    assert of_family == of_member
    assert chosen.problems[1:] == pinned.problems[1:]
    assert "S203" not in of_family


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize(
    ("text", "format_"),
    [
        (b'{"question": "a\xff"}', None),
        (b'{"prompt": "\xff", "ideal_response": "a"}', "nemo-input"),
        (b'{"prompt": "a", "ideal_response": "b", "\xff": 1}', "nemo-input"),
    ],
)
def test_bad_byte_in_one_line_is_one_error(
    text: bytes, format_: str | None, end: bytes
) -> None:
    """The error is the byte; the format is recognised by what is around it."""
    count, codes, _ = validated(text + end, format=None)

    assert codes == ["J103"]
    assert (count.format, count.invalid) == (format_, 1)


def test_next_file_has_no_hint() -> None:
    """The hint on a file of another shape is about that file only."""
    other = b"\n".join(records_of(CURRENT))
    broken = records_of(SEED)[0].replace(b'"sample_id"', b'"sampel_id"')
    report = validate(other, broken, format=SEED)
    codes = [each.code for each in report.problems]

    assert (codes.count("S201"), codes[-1]) == (1, "S103")


@for_each_case("row", [{"promt": "2+2?"}, {"input": {}}, [[1, 2]], "text", 3])
def test_unknown_format_says_what_is_missing(row: Any) -> None:
    """A file in no known format has one error, with the nearest and what they lack."""
    count, codes, report = validated(json.dumps(row).encode(), format=None)
    (problem,) = report.problems
    is_object = isinstance(row, dict)

    assert codes == ["S301"]
    assert (count.format, count.records) == (None, 1)
    assert ("the nearest are " in problem.message) == is_object
    assert (" lacks " in problem.help) == is_object
    assert ("are not objects" in problem.message) == (not is_object)


LIMITS = [1, 2, 500, 999, 1_000, 1_001, 2_999]


@for_each_case("limit, blank", itertools.product(LIMITS, ["", "\n", " \r\n"]))
def test_limit_is_exact(limit: int, blank: str) -> None:
    """The limit is exact for any blocks and blank lines."""
    data = numbered_lines(3_000, wrong=(limit, limit + 1), blank=blank)
    count, codes, report = validated(data, limit=limit, ignore=("J202",))

    assert len(data) > 128 * 1024
    assert codes == ["S102"]
    assert (count.records, count.invalid, count.complete) == (limit, 1, False)
    assert report.problems[0].place.record == limit


@for_each_case(
    "limit", [2**power + more for power in range(8, 13) for more in (-1, 0, 1)]
)
def test_limit_at_the_end_of_a_block(limit: int) -> None:
    """A limit that falls on the border of two blocks, of 64 KB or so, is exact too."""
    row = b'{"n": 1}' + b" " * 55 + b"\n"
    count, _, _ = validated(row * 5_000, limit=limit)

    assert (len(row), count.records, count.complete) == (64, limit, False)


@for_each_case("limit", [1, 1_999, 2_000])
def test_limit_of_a_table_is_exact(limit: int) -> None:
    """The limit is exact where many records of a table are validated together."""
    data = b"prompt,response\n" + b"what?,yes\n" * 2_000
    count, _, _ = validated(data, limit=limit, format="csv")

    assert (count.records, count.complete) == (limit, limit == 2_000)


@for_each_case(
    "limit, data",
    itertools.product([3, 4], [b"{}\n{}\n{}\n", b"[{}, {}, {}]", b"{}\n\n{}\n{}"]),
)
def test_limit_that_is_not_reached(data: bytes, limit: int) -> None:
    """A file with no more records than the limit was read to its end."""
    count, _, _ = validated(data, limit=limit)

    assert (count.records, count.complete) == (3, True)


@for_each_case("number", [1, 2, 1_400, 2_999, 3_000])
def test_fail_fast_finds_exactly_one_error(number: int) -> None:
    """The first error ends it, with the records and bytes up to it counted."""
    wrong = tuple(range(number, 3_001))
    count, codes, report = validated(numbered_lines(3_000, wrong=wrong), fail_fast=True)

    assert codes == ["S102"]
    assert (count.records, count.valid, count.errors) == (number, number - 1, 1)
    assert where(report.problems[0])[::3] == (number, number)
    assert not count.complete
    assert count.bytes == report.problems[0].place.byte_offset


@for_each_case(
    "data, options, code",
    [
        (b"{}\n{", {"format": None}, "S301"),
        (b"\n".join(records_of(TAG)), {"format": SEED}, "S201"),
        (b"", {}, "J111"),
        (b"[{},, {", {}, "J112"),
        (b'{"n": 1, "m": 123456}\n{', {"max_row_bytes": 12}, "J110"),
    ],
)
def test_fail_fast_stops_at_any_error(
    data: bytes, options: dict[str, Any], code: str
) -> None:
    """An error of the file as a whole, or of its container, is the only one too."""
    count, codes, _ = validated(data, fail_fast=True, **options)

    assert codes == [code]
    assert count.errors == 1


@for_each_case(
    "data, options, found, counts",
    [
        # A mark is reported once; it is no character of line 1, but three bytes.
        (
            b'\xef\xbb\xbf{"n": "x"}\n{"n": "x"}\n',
            {},
            ["J201 1:1 0 None", "S102 1:7 9 1", "S102 2:7 20 2"],
            (2, 2, 0),
        ),
        # Lines are physical, and records are numbered on.
        (
            b'\r\n{"n": 1}\r\n\r\n \t\r\n{"n": "x"}\r\n\n{"n": "y"}',
            {},
            ["S102 5:7 24 2", "S102 7:7 37 3", "J202 1:1 0 None"],
            (3, 2, 1),
        ),
        (b'{"n": 1}\n\n{"n": 2}\n', {}, ["J202 2:1 9 None"], (2, 0, 1)),
        # A row that is too long is an invalid record; those after it are validated.
        (
            b'{"n": 1}\n{"n": 1, "m": 123456}\n{"n": "x"}\n',
            {"max_row_bytes": 12},
            ["J110 2:1 9 2", "S102 3:7 37 3"],
            (3, 2, 0),
        ),
        # It counts for a limit, and nothing behind it is blank.
        (
            b'{"n": 1, "pad": "xxxxxxxxxxxxxxxxxxxx"}\n{"n": 2}\n{"n": "x"}\n',
            {"max_row_bytes": 20, "limit": 1},
            ["J110 1:1 0 1"],
            (1, 1, 0),
        ),
        (b'[{"n": 1}, {"n": 2}, {"n": "x"}, ', {"limit": 2}, [], (2, 0, 0)),
        # One pretty-printed object is one record.
        (
            b'{\n    "m": {\n        "a": [1]\n    },\n    "n": "x"\n}\n',
            {},
            ["S102 5:10 46 1"],
            (1, 1, 0),
        ),
        # A warning does not stop a run that ends at the first error.
        (
            b'\xef\xbb\xbf{"n": 1}\n{"n": "x"}\n{',
            {"fail_fast": True},
            ["J201 1:1 0 None", "S102 2:7 18 2"],
            (2, 1, 0),
        ),
        # Of several errors in one record the first is kept.
        (
            b'{"n": "x", "n": "y"}\n{"n": "z"}',
            {"fail_fast": True},
            ["J105 1:12 11 1"],
            (1, 1, 0),
        ),
        # With J selected the schema is not asked, but by `cross_check`.
        (
            b'{"n": "x"}\n{"n": NaN}\n{}',
            {"select": ("J",)},
            ["J106 2:7 17 2"],
            (3, 1, 0),
        ),
        (b'{"n": "x"}\n', {"select": ("J",), "cross_check": True}, [], (1, 0, 0)),
    ],
)
def test_places_and_counts(
    data: bytes, options: Any, found: list[str], counts: tuple[int, ...]
) -> None:
    """Each problem has its line, column, byte and record; the rows are counted."""
    count, _, report = validated(data, **options)
    places = [(each.code, *where(each)) for each in report.problems]

    assert [f"{code} {at}:{to} {byte} {no}" for code, at, to, byte, no in places] == (
        found
    )
    assert (count.records, count.invalid, count.notes) == counts


@for_each_case(
    "data, options, message",
    [
        (b'{"n": 1}\n\n{"n": 2}\n', {}, "1 blank line is passed over"),
        (b'\n{"n": 1}\n \n\n\t\n', {}, "4 blank lines are passed over"),
        (
            b'{"n": 1}\n{"n": 1, "m": 123456}\n',
            {"max_row_bytes": 12},
            "a row of 21 bytes is longer than the limit of 12",
        ),
    ],
)
def test_messages_have_numbers(data: bytes, options: Any, message: str) -> None:
    """The message has how many lines are blank, or how long a row is."""
    (problem,) = validated(data, **options)[2].problems

    assert problem.message == message


def test_fault_at_the_end_of_a_long_line() -> None:
    """In a line of five megabytes the place is exact, and the rows around it count."""
    long = b'{"n": 1, "pad": "' + b"x" * 5_000_000 + b'", "n2": tru}'
    count, codes, report = validated(b'{"n": 1}\n' + long + b'\n{"n": "x"}\n')
    line, column, offset, record = where(report.problems[0])

    assert codes == ["J101", "S102"]
    assert (count.records, count.valid) == (3, 1)
    assert (line, record) == (2, 2)
    assert column == offset - 9 + 1
    assert long[: offset - 9].endswith((b": ", b": t", b": tr", b": tru"))


def test_fault_in_a_pretty_printed_array() -> None:
    """In an array over many lines the place is the physical one."""
    rows: list[dict[str, Any]] = [{"n": 1}, {"n": 2, "m": {"é": [1, 2]}}, {"n": "x"}]
    data = json.dumps(rows, indent=2, ensure_ascii=False).encode()
    count, codes, report = validated(data)
    line = data.split(b"\n").index(b'    "n": "x"') + 1

    assert codes == ["S102"]
    assert where(report.problems[0]) == (line, 10, data.index(b'"x"'), 3)
    assert (count.records, count.valid) == (3, 2)


def test_rows_that_nest_too_deeply_are_no_crash() -> None:
    """A row of any depth is a finding, with a given or a detected format."""
    deep = records_of(TAG)[0][:-1] + b',"z":' + b"[" * 900 + b"]" * 900 + b"}"
    count, _, report = validated(b"\n".join([deep] * 4), format=SEED)

    assert count.invalid == count.records == 4
    assert {"J108"} <= {each.code for each in report.groups}


def test_findings_of_a_record_come_in_reading_order() -> None:
    """Several findings of one record stand in the order of their places."""
    schema = {
        "required": ["z"],
        "properties": {each: {"type": "integer"} for each in "abc"},
    }
    data = b'{"c": "x", "b": "x", "a": "x", "c": "x"}'
    offsets = [
        each.place.byte_offset for each in validate(data, schema=schema).problems
    ]

    assert len(offsets) == 5
    assert offsets == sorted(offsets)


def test_progress_is_reported_of_every_file() -> None:
    """The one who watches is called with the reader, until all bytes are consumed."""
    seen: list[int] = []
    data = numbered_lines(5_000)
    validated(data, progress=lambda reader: seen.append(reader.consumed))

    assert seen == sorted(seen)
    assert len(seen) > 3
    assert seen[-1] == len(data)


def test_disagreement_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record on which the two engines differ has V902, and no verdict."""
    contradicted(monkeypatch)
    count, codes, report = validated(b'{"n": "x"}\n{"n": 1}\n', cross_check=True)

    assert codes == ["S102", "V902"]
    assert where(report.problems[1])[::3] == (2, 2)
    assert "we say valid, the reference engine says invalid" in (
        report.problems[1].message
    )
    assert (count.valid, count.invalid, count.undetermined) == (0, 1, 1)


def test_internal_error_leaves_other_records_validated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A record on which our code fails has V902; all others have their verdict."""
    fails_at(monkeypatch, b'"n": 2')
    count, codes, report = validated(b'{"n": 1}\n{"n": 2}\n{"n": "x"}\n{"n": 4}\n')

    assert codes == ["V902", "S102"]
    assert "KeyError: 'lost'" in report.problems[0].message
    assert (count.valid, count.invalid, count.undetermined) == (2, 1, 1)


@pytest.mark.parametrize("options", [{"select": ("J",)}, {"ignore": ("V",)}])
def test_internal_error_cannot_be_deselected(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    """A record on which our code fails is never valid, with any rules selected."""
    fails_at(monkeypatch, b"")
    count, codes, _ = validated(b'{"n": 1}\n', **options)

    assert codes == ["V902"]
    assert (count.valid, count.invalid, count.undetermined) == (0, 0, 1)


ROWS = st.lists(
    st.sampled_from([b'{"n": 1}', b'{"n": "x"}', b"{", b"", b" \r", b'{"n": 2}\r']),
    min_size=1,
    max_size=12,
)


@given(ROWS, st.sampled_from([None, 1, 2, 3]))
def test_counts_are_those_of_the_rows(rows: list[bytes], limit: int | None) -> None:
    """Records, valid ones, lines and numbers are what a plain count gives."""
    full = [each for each in enumerate(rows, 1) if each[1].strip()][:limit]
    wrong = [
        (line, number)
        for number, (line, row) in enumerate(full, 1)
        if not row.startswith(b'{"n": 1') and not row.startswith(b'{"n": 2')
    ]
    # With a last row, a first one that is cut off begins no document.
    data = b"\n".join([b'{"n": 0}', *rows])
    count, _, report = validated(data, limit=limit and limit + 1, examples=0)
    found = [where(each)[::3] for each in report.problems if each.code != "J202"]

    assert count.records == len(full) + 1
    assert count.invalid == len(wrong)
    assert found == [(line + 1, number + 1) for line, number in wrong]


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (b'{"a": 1}\n{"a"\n', {"schema": True, "select": ("S",)}),
        (b'{"a": 1}\n{"a": NaN}\n', {"schema": True, "ignore": ("J106",)}),
        (
            b'{"a": 1}\n{"a": "long"}\n',
            {"schema": True, "max_row_bytes": 10, "ignore": ("J110",)},
        ),
    ],
)
def test_record_without_a_verdict_is_never_valid(
    data: bytes, options: dict[str, Any]
) -> None:
    """A record that cannot be read is undetermined where its rule is not asked for."""
    report = validate(data, **options)
    (count,) = report.files

    assert (count.records, count.valid, count.undetermined) == (2, 1, 1)
    assert not report.ok


def test_records_of_no_known_format_are_undetermined() -> None:
    """Records of a file in no known format are read but not validated."""
    report = validate(b'{"question": "2+2?"}\n{"question": "3+3?"}\n')
    (count,) = report.files

    assert (count.valid, count.undetermined) == (0, 2)
    text_only = validate(b'{"question": "2+2?"}', select=("J",))
    assert not text_only.ok


def test_columns_that_are_cut_short_are_not_complete() -> None:
    """Under a limit that is met, a file of columns was not read to its end."""
    data = b'{"questions": ["a", "b", "c"], "predicted_answers": ["x", "y", "z"]}'
    (short,) = validate(data, limit=2).files
    (whole,) = validate(data, limit=3).files

    assert (short.records, short.complete) == (2, False)
    assert (whole.records, whole.complete) == (3, True)


@pytest.mark.parametrize("options", [{"strict": True}, {"companion": "a.json"}])
def test_options_of_formats_exclude_a_schema(options: dict[str, Any]) -> None:
    """What is about formats is refused with a schema, and not ignored."""
    with pytest.raises(ValueError, match="are about formats, not a schema"):
        validate(b"{}", schema=True, **options)


def test_valid_file_needs_nothing_that_explains() -> None:
    """What says why something is wrong, or checks pairs, is imported only then."""
    path = FIXTURES / SEED / "valid" / "one.json"
    unwanted = (
        "harpia_formats.files.framing.array",
        "harpia_formats.validation.diagnosis.root_causes",
        "harpia_formats.validation.companion_checks",
        "harpia_formats.conversion.run",
        "harpia_formats.validation.diagnosis.messages",
        "harpia_formats.files.parsing.json_mistakes",
        "harpia_formats.files.parsing.json_syntax",
        "harpia_formats.validation.diagnosis.root_causes",
        "harpia_formats.validation.diagnosis.row_context",
        "harpia_formats.files.parsing.locate",
        "importlib.resources",
    )
    script = f"""
import sys
from harpia_formats import validate
assert validate({str(path)!r}).ok
print(*sys.modules)
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - our own script

    assert set(done.stdout.split()) & set(unwanted) == set()
    # A module that was renamed is never loaded, and would prove nothing.
    assert [name for name in unwanted if find_spec(name) is None] == []
