"""What `head`, `sample`, `split` and `merge` write, and what they refuse."""

import gzip
import io
import json
import lzma
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats import (
    HarpiaFormatsError,
    OptionError,
    SinkError,
    SubsetError,
    ValidationFailed,
    head,
    merge,
    sample,
    split,
)
from harpia_formats.plugins import SourceError
from json_lines import jsonl, jsonl_rows

FIXTURES = Path(__file__).parents[3] / "fixtures"
HARPIA = '{"id": "%d", "input": "q", "expected-output": ["r"], "actual-output": "a"}'


def harpia_row(number: int) -> bytes:
    """Return a row of HarpIA with an id."""
    return (HARPIA % number).encode()


def record_lines(count: int, prompts: int = 10**6) -> bytes:
    """Return lines of the hub's own format, some of which ask the same."""
    return b"".join(
        b'{"id":%d,  "prompt": "p%d","category":"c%d", "outputs":[{"text":"a"}]}\n'
        % (n, n % prompts, n % 3)
        for n in range(count)
    )


def head_of(data: Any, rows: int, **options: Any) -> bytes:
    """Return the first rows of some data."""
    output = io.BytesIO()
    head(data, rows, output=output, **options)
    return output.getvalue()


@for_each_case(
    "data, first",
    [
        (b'{"a":1.0}\n\n{"a": 2}\n', b'{"a":1.0}\n'),
        (b'{"a":1}\r\n{"a":2}', b'{"a":1}\r\n'),
        (b'\xef\xbb\xbf{"a":1}\n{"a":2}\n', b'\xef\xbb\xbf{"a":1}\n'),
        (b"[1, 2, 3]", b"[1]\n"),
        (b'[\n  {"a": 1},\n  {"a": 2}\n]', b'[\n  {"a": 1}\n]\n'),
        (b'{\n"a": 1}\n{\n"a": 2}\n', b'{\n"a": 1}\n'),
    ],
)
def test_first_row_is_as_it_was(data: bytes, first: bytes) -> None:
    """The first row is in a container like that of the file."""
    assert head_of(data, 1) == first


def test_rows_of_a_table_keep_quotes_and_line_ends(tmp_path: Path) -> None:
    """A table keeps its mark, header, quotes, line ends and rows over several lines."""
    path = tmp_path / "t.csv"
    data = b'\xef\xbb\xbfa;"b"\r\n1;"x\r\ny"\r\n"2";z\r\n3;"w'
    path.write_bytes(data)

    assert head_of(path, 2, delimiter=";") == data[: data.index(b"3;")]
    assert head_of(path, 1, delimiter=";") == data[: data.index(b'"2"')]


def test_document_around_rows_is_kept() -> None:
    """What stands around the rows is copied, and it is reported."""
    rows = ", ".join(HARPIA % n for n in range(3))
    data = f'{{"metrics": [], "instances": [{rows}], "zzz": {{"n": 1e2}}}}\n'.encode()
    output = io.BytesIO()
    done = head(data, 2, output=output, from_="harpia")

    assert json.loads(output.getvalue())["zzz"] == {"n": 100.0}
    assert len(json.loads(output.getvalue())["instances"]) == 2
    assert "copied as it is" in done.notes[0]
    assert done.rows == 3


def test_the_row_behind_those_of_head_is_not_counted() -> None:
    """Rows of the result are those that are copied where the others are not read."""
    done = head(record_lines(4), 3, output=io.BytesIO())

    assert (done.rows, done.written) == (3, 3)
    assert [part["share"] for part in done.table()] == [1.0]


def test_head_reads_only_what_it_needs() -> None:
    """Of a long stream the first blocks are read, and a broken end is not met."""
    stream = io.BytesIO(record_lines(200_000) + b"{broken")
    assert head_of(stream, 2) == record_lines(2)
    assert stream.tell() <= 2**20
    assert head_of(b'[{"a": 1}, {"a": 2}, {"a":', 1) == b'[{"a": 1}]\n'


def test_broken_arrays_are_refused() -> None:
    """An array that is not closed is not copied as if it were."""
    with pytest.raises(SubsetError, match="the array is not closed"):
        sample(b'[{"a": 1}, {"a": 2}', 1, output=io.BytesIO())
    with pytest.raises(SubsetError, match="more than 8 bytes"):
        head_of(b'{"a": 1}\n{"a": "too long"}\n', 2, max_row_bytes=8)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("t.csv", 'delimiter=";"'), ("t.txt", 'from_="csv", delimiter=";"')],
)
def test_another_delimiter_is_named(name: str, arguments: str, tmp_path: Path) -> None:
    """A table with semicolons gets the arguments that read it."""
    path = tmp_path / name
    path.write_text("prompt;b\n1;2\n3;4\n")
    with pytest.raises(
        SubsetError, match=f"a semicolon separates .* read it with {arguments}$"
    ):
        sample(path, 1, output=io.BytesIO())


def test_output_is_compressed_by_its_name(tmp_path: Path) -> None:
    """A name decides the compression; an input and a table are never outputs."""
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(record_lines(3)))
    head(path, 2, output=tmp_path / "out.jsonl.gz")

    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == record_lines(2)
    with pytest.raises(SinkError, match="already exists"):
        head(path, 2, output=tmp_path / "out.jsonl.gz")
    with pytest.raises(SinkError, match="is an input"):
        head(path, 2, output=path, overwrite=True)
    with pytest.raises(SinkError, match=r'convert\(to="parquet"\) makes'):
        head(path, 2, output=tmp_path / "out.parquet")


def test_a_file_that_breaks_off_leaves_no_output(tmp_path: Path) -> None:
    """Half a compressed file gives no output, and no temporary file."""
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(record_lines(9_000))[:-4000])
    runs: list[Callable[[], object]] = [
        lambda: sample(path, 2, output=tmp_path / "out.jsonl"),
        lambda: split(path, output=tmp_path / "{value}.jsonl", ratio=(0.5, 0.5)),
        lambda: merge(path, output=tmp_path / "out.jsonl"),
    ]
    for run in runs:
        with pytest.raises((SourceError, SubsetError)):
            run()

    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def sampled_numbers(rows: int, size: int, seed: Any) -> list[int]:
    """Return the numbers of the rows that a sample of so many has, in its order."""
    output = io.BytesIO()
    data = b"".join(b'{"n":%d}\n' % number for number in range(1, rows + 1))
    sample(data, size, output=output, seed=seed)
    return [row["n"] for row in jsonl_rows(output.getvalue())]


@given(st.integers(1, 300), st.integers(1, 300), st.text())
def test_samples_have_different_rows(rows: int, size: int, seed: str) -> None:
    """A sample has so many different numbers of rows, the same for a seed."""
    chosen = sampled_numbers(rows, size, seed)

    assert len(chosen) == min(rows, size)
    assert chosen == sorted(set(chosen))
    assert chosen == sampled_numbers(rows, size, seed)


def test_samples_are_the_same_everywhere() -> None:
    """The rows of a seed are published: no version may choose others."""
    assert sampled_numbers(1000, 5, 7) == [206, 442, 603, 615, 822]
    assert sampled_numbers(1000, 5, "7") == sampled_numbers(1000, 5, 7)
    assert len(sampled_numbers(1000, 5, "\udcff")) == 5


def test_too_few_rows_are_all_written() -> None:
    """A sample of more rows than there are has all, and is not ok."""
    output = io.BytesIO()
    done = sample(record_lines(3), 5, output=output)

    assert (done.ok, done.rows, done.written) == (False, 3, 3)
    assert output.getvalue() == record_lines(3)


def rows_by_value(done: Any) -> dict[str, int]:
    """Return how many rows each part has, by its value."""
    return {part.value: part.rows for part in done.parts}


def read_parts(done: Any) -> dict[str, bytes]:
    """Return the bytes of each part by its name."""
    return {part.value: Path(part.path).read_bytes() for part in done.parts}


@examples(10)
@given(
    prompts=st.lists(st.integers(0, 12), max_size=40),
    share=st.floats(0.05, 0.95),
    seed=st.integers(),
    data=st.data(),
)
def test_duplicates_are_on_one_side(
    tmp_path_factory: pytest.TempPathFactory,
    prompts: list[int],
    share: float,
    seed: int,
    data: st.DataObject,
) -> None:
    """No prompt is on two sides, whatever the order of rows; the shares are near."""
    lines = {
        n: b'{"id":%d,"prompt":"p%d","outputs":[]}\n' % (n, p)
        for n, p in enumerate(prompts)
    }
    places = []
    for order in (list(lines), data.draw(st.permutations(list(lines)))):
        folder = tmp_path_factory.mktemp("parts")
        done = split(
            b"".join(lines[n] for n in order),
            output=folder / "{value}.jsonl",
            ratio=(share, 1 - share),
            seed=seed,
            from_="record",
        )
        parts = [set(text.splitlines()) for text in read_parts(done).values()]
        places.append(parts)
        sides = [{json.loads(line)["prompt"] for line in part} for part in parts]
        assert not sides[0] & sides[1]
        largest = max((prompts.count(p) for p in prompts), default=0)
        assert abs(done.parts[0].rows - share * len(prompts)) <= max(largest / 2, 0.5)
    assert places[0] == places[1]


def test_shares_are_exact_without_duplicates(tmp_path: Path) -> None:
    """Of 1,000 different rows, 800, 150 and 50 are in the parts."""
    done = split(
        record_lines(1000),
        output=tmp_path / "{value}.jsonl",
        ratio={"train": 0.8, "valid": 0.15, "test": 0.05},
    )

    assert [row["share"] for row in done.table()] == [0.8, 0.15, 0.05]
    assert done.parts[0].path == str(tmp_path / "train.jsonl")


def test_rows_that_are_not_valid_are_parted_by_their_bytes(tmp_path: Path) -> None:
    """A row that cannot be read goes where an equal row goes."""
    rows = [b'{"id": 1, "outputs": []}', b"{broken", b'{"id": 2, "outputs": []}']
    rows += [b"{broken", b'{"id": 3, "prompt": "q"}', b"{other"]
    for seed in range(8):
        name = tmp_path / f"{seed}-{{value}}.jsonl"
        done = split(b"\n".join(rows), output=name, ratio=(0.5, 0.5), seed=seed)
        parts = [text.splitlines() for text in read_parts(done).values()]
        assert sorted(chain(*parts)) == sorted(rows)
        assert parts[0].count(b"{broken") in {0, 2}


def test_rows_with_one_key_stay_together(tmp_path: Path) -> None:
    """`key` names a field of records, or of rows in no known format."""
    for data, key in (
        (record_lines(30), "category"),
        (
            b"".join(b'{"x": {"y": %d}, "n": %d}\n' % (n % 4, n) for n in range(30)),
            "x.y",
        ),
    ):
        name = tmp_path / f"{key}-{{value}}.jsonl"
        done = split(data, output=name, ratio=(0.5, 0.5), key=key)
        one, two = (text.splitlines() for text in read_parts(done).values())
        outer, _, inner = key.partition(".")
        values = [
            {str(json.loads(row)[outer]) for row in part if inner or outer}
            for part in (one, two)
        ]
        assert not values[0] & values[1]
        assert len(one) + len(two) == 30


@for_each_case(
    "key, row",
    [
        ("category", '{"id": %d, "category": "%s", "outputs": []}'),
        ("x", '{"n": %d, "x": "%s"}'),
    ],
)
def test_an_empty_text_is_a_key(key: str, row: str, tmp_path: Path) -> None:
    """Rows whose field is empty stay together, as those with another text do."""
    data = "\n".join(row % (n, "ab"[n % 4 : n % 4 + 1]) for n in range(40)).encode()
    done = split(data, output=tmp_path / "{value}", ratio=(0.5, 0.5), key=key)
    counts = [text.count(b'""') for text in read_parts(done).values()]

    assert sorted(counts) == [0, 20]


def test_a_file_for_each_value(tmp_path: Path) -> None:
    """Rows go to the file of their value; names are safe, and none is used twice."""
    texts = ["a/b", "a_b", "..", "", None, "é", "(none)"]
    rows = [
        {"id": n, "outputs": [], **({} if text is None else {"category": text})}
        for n, text in enumerate(texts * 2)
    ]
    data = jsonl(*rows)
    done = split(data, output=tmp_path / "part-{value}.jsonl", by="category")
    names = [Path(part.path).name for part in done.parts]

    assert names == [
        "part-a_b.jsonl",
        "part-a_b-2.jsonl",
        "part-_.jsonl",
        "part-empty.jsonl",
        "part-_none_2.jsonl",
        "part-é.jsonl",
        "part-_none_.jsonl",
    ]
    assert all(text.count(b"\n") == 2 for text in read_parts(done).values())


@for_each_case(
    "by, row",
    [
        ("a.b", '{"a.b": "x"}'),
        ("a.b", '{"a": {"b": "x"}}'),
        ("a.b", '{"a.b": "x", "a": {"b": "y"}}'),
        ("a.b.c", '{"a": {"b.c": "x"}, "a.b": null}'),
    ],
)
def test_a_key_may_have_dots(by: str, row: str, tmp_path: Path) -> None:
    """A whole key goes before one that is inside another one."""
    done = split(f"{row}\n".encode(), output=tmp_path / "{value}.jsonl", by=by)

    assert [part.value for part in done.parts] == ["x"]


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv"])
def test_a_table_in_no_known_format_has_keys_too(name: str, tmp_path: Path) -> None:
    """The names in its header are the keys of its rows; a blank cell is no value."""
    text = '\ufeffn,k.x,k.x\r\n1,a,z\n"2\n",""\n3,,z\n4,"a"\n5\n'
    path = tmp_path / name
    path.write_bytes(text.replace(",", "\t" if name.endswith("tsv") else ",").encode())
    done = split(path, output=tmp_path / "part-{value}", by="k.x")
    kept = split(path, output=tmp_path / "{value}", ratio=(0.5, 0.5), key="k.x")

    assert rows_by_value(done) == {"a": 2, "": 1, "(none)": 2}
    assert sum(part.rows for part in kept.parts) == 5
    with pytest.raises(SubsetError, match=r"the first has n, k\.x"):
        split(path, output=tmp_path / "other-{value}", by="k.y")


@for_each_case(
    "key, row", [("k", {"n": 1}), ("category", {"prompt": "p", "outputs": []})]
)
def test_rows_without_a_value_have_a_part_of_their_own(
    key: str, row: dict[str, Any], tmp_path: Path
) -> None:
    """Their part has a name that no value is, also where values are such names.

    So it is of rows in no known format, and of records.
    """
    texts = [None, "(none) 2", "(none)", "(none) 3", None]
    rows = [row | ({key: text} if text else {}) for text in texts]
    done = split(jsonl(*rows), output=tmp_path / "{value}.jsonl", by=key)

    expected = {"(none) 4": 2, "(none) 2": 1, "(none)": 1, "(none) 3": 1}
    assert rows_by_value(done) == expected


#: Fields that rows are divided by, of each level of a record.
FIELDS = "id prompt category source model evaluation_name metadata.n".split()
RECORD = b"""\
{"id": 1, "prompt": "q", "category": "c", "source": "s", "metadata": {"n": [1]},
 "outputs": [{"model": "m", "text": "a", "scores": [{"evaluation_name": "e"}]}]}
"""


@for_each_case("name", FIELDS)
def test_every_field_divides(name: str, tmp_path: Path) -> None:
    """Each field that is known divides rows, and keeps rows together."""
    place = tmp_path / "{value}.json"
    (part,) = split(RECORD, output=place, by=name, from_="record").parts
    assert part.value == {"id": "1", "prompt": "q", "metadata.n": "[1]"}.get(
        name, name[0]
    )
    shares = {"one": 0.5, "two": 0.5}
    done = split(RECORD, output=place, ratio=shares, key=name, from_="record")
    assert (done.written, done.notes) == (1, ())


@pytest.mark.parametrize("how", [{"by": "%"}, {"ratio": (0.5, 0.5), "key": "%"}])
def test_a_field_that_no_row_has(how: dict[str, Any], tmp_path: Path) -> None:
    """A key that no row has is a mistake, which is refused; a field is only noted."""

    def divided(data: bytes, name: str, **options: Any) -> Any:
        fields: dict[str, Any] = {
            key: name if value == "%" else value for key, value in how.items()
        }
        return split(data, output=tmp_path / "{value}", **fields, **options)

    rows = b'{"question": 1}\n{"b": 2}\n'
    refused: list[tuple[str, bytes, str, dict[str, Any]]] = [
        ("has 'qestion'; did you mean question", rows, "qestion", {}),
        (r"has 'a\.b' \(the first has question\)", rows, "a.b", {}),
        (r"'a\.b'$", rows, "a.b", {"redact": True}),
        (r"no record of <data> has 'metadata\.n'", record_lines(2), "metadata.n", {}),
    ]
    for reason, data, name, options in refused:
        with pytest.raises(SubsetError, match=reason):
            divided(data, name, **options)
    assert not list(tmp_path.iterdir())
    done = divided(record_lines(2), "source")
    assert done.notes == ("no record of <data> has a value of source",)
    assert divided(b"", "nokey", overwrite=True).rows == 0


def test_too_many_values_are_refused(tmp_path: Path) -> None:
    """There is a bound on the files, and nothing is written above it."""
    with pytest.raises(SubsetError, match="more than 200 values of id"):
        split(record_lines(300), output=tmp_path / "{value}.jsonl", by="id")
    assert not list(tmp_path.iterdir())


def test_a_row_without_a_value_is_not_guessed(tmp_path: Path) -> None:
    """A row that is not valid has no field, so nothing is written."""
    place, rows = tmp_path / "{value}.jsonl", record_lines(2)
    with pytest.raises(ValidationFailed, match="J101"):
        split(rows + b"{broken\n", output=place, by="category")
    with pytest.raises(SubsetError, match="did you mean category"):
        split(rows, output=place, by="categry")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("jobs", [1, 2])
def test_valid_rows_are_parted_from_invalid_ones(tmp_path: Path, jobs: int) -> None:
    """Rows are parted as `validate` judges them, byte for byte, with all findings."""
    good, wrong = harpia_row(1), b'{"id": "2", "input": 7}'
    rows = [good, wrong, b"{broken", good + b" ", harpia_row(4)]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(rows))
    places: dict[str, Any] = {
        name: tmp_path / name for name in ("valid", "invalid", "findings")
    }
    done = split(tmp_path / "in.jsonl", from_="harpia", jobs=jobs, **places)
    findings = jsonl_rows(places["findings"])

    assert read_parts(done)["valid"] == rows[0] + b"\n" + rows[4]
    assert read_parts(done)["invalid"] == b"\n".join(rows[1:4]) + b"\n"
    assert {each["record"] for each in findings} - {None} == {2, 3, 4}


def test_rows_in_no_known_format_have_no_verdict(tmp_path: Path) -> None:
    """Without a format nothing is valid, which is reported; a schema gives verdicts."""
    data = b'{"zz": 1}\n{"zz": "x"}\n'
    with pytest.raises(SubsetError, match="in no known format"):
        split(data, valid=tmp_path / "v.jsonl")
    schema = {"properties": {"zz": {"type": "integer"}}}
    done = split(data, valid=tmp_path / "v.jsonl", schema=schema)

    assert read_parts(done) == {"valid": b'{"zz": 1}\n'}


def test_options_that_contradict_each_other(tmp_path: Path) -> None:
    """One way to divide is chosen, with the options that belong to it."""
    name = tmp_path / "{value}.jsonl"
    contradicting: list[dict[str, Any]] = [
        {},
        {"by": "category", "ratio": (0.5, 0.5)},
        {"by": "category", "findings": "f"},
        {"by": "category", "key": "id"},
        {"by": "category", "schema": {}},
        {"ratio": (0.5, 0.5), "schema": False},
        {"ratio": ("0.5", "0.5")},
        {"ratio": (0.5, None)},
        {"ratio": (0.5, 0.4)},
        {"ratio": (1.0,)},
        {"ratio": (float("nan"), 0.5)},
    ]
    for options in contradicting:
        with pytest.raises(OptionError):
            split(b"{}", output=name, **options)
    with pytest.raises(SubsetError, match="in them"):
        split(b"{}", output=tmp_path / "x.jsonl", by="category")


def merged(*inputs: Any, **options: Any) -> bytes:
    """Return the rows of some inputs in one file."""
    output = io.BytesIO()
    merge(*inputs, output=output, **options)
    return output.getvalue()


def test_containers_are_joined() -> None:
    """Lines, arrays and tables become one, with the bytes of their rows."""
    one, two = b'{"id": 1, "prompt": "a"}', b'{"id":2,"prompt":"b"}'
    assert merged(one, two + b"\n", from_="record") == one + b"\n" + two + b"\n"
    arrays = b"[\n " + one + b"\n]", b"[" + two + b"]\n"
    assert merged(*arrays, from_="record") == (b"[\n " + one + b",\n" + two + b"\n]")
    assert merged(b"[]", arrays[1], b"[ ]", from_="record") == arrays[1]
    tables = b"a,b\n1,2", b'"a",b\r\n3,4\r\n'
    assert merged(*tables, from_="csv") == b"a,b\n1,2\n3,4\r\n"


def test_a_carriage_return_ends_rows_of_tables_only() -> None:
    """Lines of JSON that end in a carriage return get the line feed that is missing."""
    one, two = b'{"id": 1, "prompt": "a"}\r', b'{"id":2,"prompt":"b"}\n'
    assert merged(one, two, from_="record") == one + b"\n" + two
    tables = b"a,b\r1,2\r", b"a,b\n3,4\n"
    assert merged(*tables, from_="csv") == b"a,b\r1,2\r3,4\n"


@for_each_case("empty", [b"[]", b"[\n]\n", b"\xef\xbb\xbf[ ]", b"", b"\n"])
def test_files_without_rows_fit_any(empty: bytes) -> None:
    """So does a part that `split` left empty, whose format nothing shows."""
    row = b'{"prompt":"q","outputs":[]}'
    for rows in (b"[" + row + b"]", row + b"\n"):
        assert merged(empty, rows, empty) == rows
    assert (
        merged(empty, empty).removeprefix(b"\xef\xbb\xbf").split()
        == empty.removeprefix(b"\xef\xbb\xbf").split()
    )


@for_each_case("whole, format_", [(b"a,b\n", "csv"), (b"[ ]\n", "record")])
def test_files_without_rows_stay_what_one_of_them_is(
    whole: bytes, format_: str
) -> None:
    """The header of a table, and the brackets of an array, are not left out."""
    for inputs in ([whole, b"", b"\n"], [b"", b"\n", whole], [b"", whole, b"\n"]):
        assert merged(*inputs, from_=format_).split() == whole.split()


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (b"a,b\n1,2\n", b"b,a\n1,2\n", "another order"),
        (b"a,b\n1,2\n", b"a,c\n1,2\n", '"b" is only in <data>'),
        (b'{"id":1,"prompt":"a"}\n', b'[{"id":1,"prompt":"a"}]', "an array"),
    ],
)
def test_files_that_are_not_alike(first: bytes, second: bytes, reason: str) -> None:
    """Files that are not alike are refused, with what differs."""
    format_ = "csv" if first.startswith(b"a") else "record"
    with pytest.raises(SubsetError, match=reason):
        merged(first, second, from_=format_)
    with pytest.raises(SubsetError, match=reason):
        merged(b"", first, b"", second, from_=format_)


def test_columns_of_tables_may_be_long() -> None:
    """A name in a header has no limit of its own, and may stand behind empty lines."""
    header = b'"' + b"a" * 200_000 + b'""\n",b\n'
    rows = b"\r\n" + header + b"1,2\n", header + b"3,4\n"
    assert merged(*rows, from_="csv") == rows[0] + b"3,4\n"
    with pytest.raises(SubsetError, match="is only in <data>"):
        merged(rows[0], rows[1].replace(b"aaa", b"aab", 1), from_="csv")


def test_a_file_that_is_named_twice(tmp_path: Path) -> None:
    """It is read once, which is reported."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(record_lines(2))
    done = merge(path, str(path), output=tmp_path / "out.jsonl")

    assert done.rows == 2
    assert done.notes[0] == "rows.jsonl is named 2 times, and read once"


def test_files_are_listed_once(tmp_path: Path) -> None:
    """A file that appears meanwhile is not merged, and one that vanishes an error."""
    folder, output = tmp_path / "in", tmp_path / "out.jsonl"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.jsonl").write_bytes(harpia_row(number))

    def appear(_: object) -> None:
        (folder / "1b.jsonl").write_bytes(harpia_row(9))

    def vanish(progress: Any) -> None:
        if progress.name.endswith("2.jsonl"):
            (folder / "1.jsonl").unlink(missing_ok=True)

    assert merge(folder, output=output, progress=appear).rows == 3
    assert output.read_bytes().count(b"\n") == 2
    for place in (folder, folder / "*"):
        (folder / "1.jsonl").write_bytes(harpia_row(1))
        with pytest.raises(SourceError, match=r"1\.jsonl: no such file"):
            merge(place, output=output, overwrite=True, progress=vanish)
    assert output.read_bytes().count(b"\n") == 2


def test_documents_around_rows_must_agree() -> None:
    """The key is named in which the documents around the rows differ."""
    document = '{"metrics": [], "instances": [' + HARPIA + '], "task": "%s"}'
    inputs = [(document % pair).encode() for pair in ((1, "a"), (2, "b"))]
    with pytest.raises(SubsetError, match='around their rows: "task" is not the same'):
        merged(*inputs, from_="harpia")
    same = (document % (2, "a")).encode()
    found = json.loads(merged(inputs[0], same, from_="harpia"))
    assert [row["id"] for row in found["instances"]] == ["1", "2"]


@for_each_case(
    "one, two",
    [("1", "1.0"), ("1", "true"), ("0", "-0"), ("NaN", "null"), ("[2.0]", "[2.00]")],
)
def test_documents_around_rows_are_compared_exactly(one: str, two: str) -> None:
    """Numbers are compared as they are written, and equal no other value."""
    document = '{"metrics": [], "instances": [%s], "n": {"m": %s}}'
    inputs = [(document % (HARPIA % n, m)).encode() for n, m in enumerate((one, two))]
    with pytest.raises(SubsetError, match='around their rows: "n" is not the same'):
        merged(*inputs, from_="harpia")
    same = (document % (HARPIA % 1, one)).encode()
    found = merged(inputs[0], same.replace(b": ", b":"), from_="harpia")
    assert found.endswith(f'"n": {{"m": {one}}}}}'.encode())


@for_each_case(
    "end",
    [b',"metrics":["BLEU"],}', b',"metrics":[],"a":1,"a":2}', b',"metrics":["\xff"]}'],
)
def test_documents_that_cannot_be_compared_are_refused(
    end: bytes, tmp_path: Path
) -> None:
    """What stands around rows is read to be compared, or the merge is refused."""
    paths = [tmp_path / "1.json", tmp_path / "2.json"]
    for number, path in enumerate(paths):
        data = b'{"instances":[' + harpia_row(number) + b"]" + end
        path.write_bytes(data.replace(b"BLEU", b"%d" % number))
    match = r"1\.json: what stands around its rows is no JSON, or has a key twice"
    with pytest.raises(SubsetError, match=match):
        merge(*paths, output=tmp_path / "m", from_="harpia")
    assert not (tmp_path / "m").exists()


def test_repeated_ids_fail_or_are_skipped_or_kept() -> None:
    """Ids are compared over all files; rows are counted where nothing is written."""
    one, two = (b"".join(harpia_row(n) + b"\n" for n in range(m)) for m in (2, 3))
    where = r'several rows: id "0" in row 1 of <data> and row 1 of <data> \(2\)'
    with pytest.raises(SubsetError, match=where):
        merged(one, two)
    assert merged(one, two, on_duplicate="skip") == two
    assert merged(one, two, on_duplicate="keep") == one + two


def test_repeated_ids_are_shown_as_in_findings() -> None:
    """An id that other values make unique is shown without them, a number as such."""
    rows = (FIXTURES / "eee@0.2.0/valid/runs.jsonl").read_bytes()
    with pytest.raises(SubsetError) as raised:
        merged(rows, rows)

    assert 'several rows: sample_id "pocket_0001" in row 1 of' in str(raised.value)
    assert "; sample_id 41 in row 3 of" in str(raised.value)


def test_messages_hide_values(tmp_path: Path) -> None:
    """With `redact` no message and no finding has a value of a row."""
    secret = HARPIA.replace('"input": "q"', '"input": "SECRET"') % 7
    lines = (secret.replace('"7"', '"SECRET"') + "\n").encode()
    both = lines + b'{"id": "SECRET", "input": ["SECRET"]}\n'
    hidden: dict[str, Any] = {"from_": "harpia", "redact": True}
    runs: list[Callable[[], object]] = [
        lambda: merged(lines, lines, redact=True),
        lambda: merged(b"SECRET,b\n1,2\n", b"b\n1\n", from_="csv", redact=True),
        lambda: split(both, output=tmp_path / "{value}", by="category", **hidden),
    ]
    for run in runs:
        with pytest.raises(HarpiaFormatsError) as found:
            run()
        assert "SECRET" not in str(found.value)
    split(both, valid=tmp_path / "v", findings=tmp_path / "f", **hidden)
    assert (tmp_path / "v").read_bytes() == lines
    assert b"S102" in (tmp_path / "f").read_bytes()
    assert b"SECRET" not in (tmp_path / "f").read_bytes()


def test_parts_are_written_in_turn_where_compressors_are_large(tmp_path: Path) -> None:
    """Files of xz are written one after the other, and appear together."""
    done = split(record_lines(30), output=tmp_path / "{value}.jsonl.xz", by="category")
    parts = [lzma.decompress(text) for text in read_parts(done).values()]

    assert [part.rows for part in done.parts] == [10, 10, 10]
    assert sorted(b"".join(parts).splitlines()) == sorted(record_lines(30).splitlines())


def test_a_document_far_larger_than_its_rows_is_refused() -> None:
    """What stands around rows is held in memory, so there is a limit."""
    texts = b",".join([b'"' + b"x" * 1_500_000 + b'"'] * 12)
    data = b'{"metrics": [], "instances": [' + harpia_row(1)
    data += b'], "a": [' + texts + b"]}"
    with pytest.raises(SubsetError, match="behind rows"):
        sample(data, 1, output=io.BytesIO(), from_="harpia", max_row_bytes=2_000_000)


def test_outputs_that_exist_leave_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers of parts are deleted if the outputs cannot be named."""
    files: list[IO[bytes]] = []

    def opened() -> IO[bytes]:
        files.append((tmp_path / f"numbers{len(files)}").open("w+b"))
        return files[-1]

    monkeypatch.setattr("tempfile.TemporaryFile", opened)
    monkeypatch.setattr("harpia_formats.conversion.subsets.row_assignment._HELD", 1)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(record_lines(2))
    (tmp_path / "c1.jsonl").write_bytes(b"")
    with pytest.raises(SinkError, match="already exists"):
        split(path, by="category", output=str(tmp_path / "{value}.jsonl"))

    assert [each.closed for each in files] == [True]


def test_millions_of_empty_lines_cost_no_step_each(tmp_path: Path) -> None:
    """A sample of a table with 8,000,000 empty lines is taken in a few seconds."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"prompt,response\n1,2\n" + b"\n" * 8_000_000 + b"3,4\n")
    started = time.process_time()

    found = sample(path, 2, output=tmp_path / "some.csv")

    assert (tmp_path / "some.csv").read_bytes() == b"prompt,response\n1,2\n3,4\n"
    assert found.rows == 2
    assert time.process_time() - started < 5
