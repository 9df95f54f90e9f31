"""Tables that are damaged, or larger in memory than on the disk."""

import io
import itertools
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from harpia_formats import convert, validate

pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).parents[3]
BENCHMARK = ROOT / "benchmarks/damaged.py"
KINDS = ("Arrow file", "Arrow stream", "Feather", "Parquet")
OFFSETS = struct.pack("<3i", 0, 8, 16)
#: Bytes of a value that is there many times.
LONG = 3_000_000
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def arrow_bytes(table: Any, new: Any = None, **options: Any) -> bytes:
    """Return a table as a file of Arrow."""
    sink = io.BytesIO()
    chosen = pa.ipc.IpcWriteOptions(**options)
    with (new or pa.ipc.new_file)(sink, table.schema, options=chosen) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet_bytes(table: Any, **options: Any) -> bytes:
    """Return a table as Parquet."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def reason_of(data: bytes) -> str:
    """Return why a table is not read to its end, "" if it is."""
    return str(validate(data).files[0].reason or "")


@for_each_case(
    "ends, column, new",
    itertools.product(
        [(0, 8, 48), (0, 8, 0x7FFFFFF0), (0, 8, 3), (-8, 8, 16)],
        [0, 1, 2],
        [pa.ipc.new_file, pa.ipc.new_stream],
    ),
)
def test_offset_outside_of_its_column_is_found(
    new: Any, column: int, ends: tuple[int, ...], tmp_path: Path
) -> None:
    """An offset of a text beyond its bytes, or before them, is found at its batch."""
    texts = ["AAAAAAAABBBBBBBB"[at : at + 8] for at in (0, 8)]
    data = arrow_bytes(pa.table(dict.fromkeys("abc", texts)), new)
    at = -1
    for _ in range(column + 1):
        at = data.index(OFFSETS, at + 1)
    path, whole = tmp_path / "bad.arrow", tmp_path / "good.jsonl"
    path.write_bytes(data[:at] + struct.pack("<3i", *ends) + data[at + len(OFFSETS) :])
    whole.write_text('{"prompt": "p", "ideal_response": "a"}\n')
    report = validate(tmp_path)

    assert "its batch 1 is corrupt" in str(report.files[0].reason)
    assert report.files[1].records == 1


def test_rows_before_a_corrupt_batch_are_counted() -> None:
    """What is before a batch that is not valid is read, and the batch is named."""
    batches = [pa.record_batch({"a": ["AAAAAAAA", "BBBBBBBB"]})] * 3
    data = arrow_bytes(pa.Table.from_batches(batches))
    at = data.rindex(OFFSETS)
    bad = data[:at] + struct.pack("<3i", 0, 8, 17) + data[at + len(OFFSETS) :]
    (count,) = validate(bad).files

    assert count.records == 4
    assert "its batch 3 is corrupt" in str(count.reason)
    assert "behind row 4" in str(count.reason)


def test_dictionary_that_is_not_valid_is_found() -> None:
    """An index beyond a dictionary, and a dictionary with wrong offsets, are found."""
    texts = pa.array(["AAAAAAAA", "BBBBBBBB", "AAAAAAAA", "AAAAAAAA"])
    data = arrow_bytes(pa.table({"a": texts.dictionary_encode()}))
    indices = struct.pack("<4i", 0, 1, 0, 0)
    beyond = data.replace(indices, struct.pack("<4i", 0, 1, 0, 7))
    wrong = data.replace(OFFSETS, struct.pack("<3i", 0, 8, 99))

    assert "batch 1 is corrupt" in reason_of(beyond)
    assert "batch 1 is corrupt" in reason_of(wrong)


def test_text_of_parquet_that_is_not_utf_8_is_found() -> None:
    """Parquet's values are validated, too, and the row group is named."""
    data = parquet_bytes(
        pa.table({"a": ["AAAAAAAA", "BBBBBBBB"]}),
        use_dictionary=False,
        compression="none",
        write_statistics=False,
        row_group_size=1,
    )

    assert "its row group 2 is corrupt" in reason_of(data.replace(b"BBBB", b"\xffBBB"))


def test_page_that_differs_from_its_checksum_is_found() -> None:
    """A letter that was changed in a page with a checksum is no other value."""
    table = pa.table({"a": ["AAAAAAAA", "BBBBBBBB"]})
    data = parquet_bytes(
        table,
        use_dictionary=False,
        compression="none",
        write_statistics=False,
        write_page_checksum=True,
    )
    changed = data.replace(b"AAAAAAAA", b"AAAACAAA", 1)

    assert not reason_of(data)
    assert "row group 1" in reason_of(changed)


def test_table_in_memory_is_validated() -> None:
    """A table that a program made with wrong offsets is refused before it is read."""
    offsets = pa.py_buffer(struct.pack("<3i", 0, 99, 9))
    wrong = pa.Array.from_buffers(
        pa.string(), 2, [None, offsets, pa.py_buffer(b"A" * 9)]
    )
    with pytest.raises(harpia_formats.HarpiaFormatsError, match="batch 1 is corrupt"):
        validate(pa.table({"a": wrong}))


def repeated(names: list[str], columns: list[Any]) -> Any:
    """Return a table whose columns may have one name."""
    return pa.Table.from_arrays(columns, names=names)


@pytest.mark.parametrize("write", [arrow_bytes, parquet_bytes])
@pytest.mark.parametrize("second", [["c", "d"], [None, None]])
def test_two_columns_of_one_name_are_found(
    write: Callable[..., bytes], second: list[Any], tmp_path: Path
) -> None:
    """Each row of such a table has one key twice, as in JSON, and is not converted."""
    columns = [pa.array(["a", "b"]), pa.array(second, pa.string())]
    data = write(repeated(["prompt", "prompt"], columns))
    output = tmp_path / "out.jsonl"

    assert [one.code for one in validate(data).problems] == ["J105", "J105"]
    with pytest.raises(harpia_formats.ValidationFailed):
        convert(data, to="record", output=output)
    assert not output.exists()


@pytest.mark.parametrize("is_list", [False, True])
def test_two_fields_of_one_name_are_found(is_list: bool) -> None:
    """In a struct, and in a struct in a list, a name occurs once, too."""
    inner = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    value = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), inner)
    data = parquet_bytes(
        repeated(["prompt", "s"], [pa.array(["a"]), value if is_list else inner])
    )

    assert [one.code for one in validate(data).problems] == ["J105"]


def test_table_of_records_with_a_column_twice_is_found(tmp_path: Path) -> None:
    """A table in the layout of records is no exception."""
    convert(
        b'{"id": "1", "prompt": "p", "outputs": []}\n',
        format="record",
        to="parquet",
        output=tmp_path / "a.parquet",
    )
    table = pq.read_table(tmp_path / "a.parquet")
    twice = table.append_column("prompt", table.column("prompt"))

    assert "J105" in {one.code for one in validate(parquet_bytes(twice)).problems}


def equal(count: int) -> Any:
    """Return a table with so many equal long texts."""
    index = pa.array([0] * count, pa.int32())
    return pa.table({"prompt": pa.DictionaryArray.from_arrays(index, ["x" * LONG])})


BOMBS: dict[str, Callable[[], bytes]] = {
    "equal values": lambda: parquet_bytes(pa.table({"a": ["x" * LONG] * 60})),
    "long dictionary": lambda: parquet_bytes(
        pa.table({"a": [chr(97 + at) * LONG for at in range(12)]}),
        dictionary_pagesize_limit=100_000_000,
        compression="zstd",
    ),
    "long page": lambda: parquet_bytes(
        pa.table({"a": ["x" * LONG] * 30}), use_dictionary=False, compression="zstd"
    ),
    "equal beginnings": lambda: parquet_bytes(
        pa.table({"a": ["x" * LONG] * 60}),
        use_dictionary=False,
        column_encoding="DELTA_BYTE_ARRAY",
    ),
    "nulls in a list": lambda: parquet_bytes(
        pa.table(
            {
                "a": pa.ListArray.from_arrays(
                    [0, 50_000_000], pa.nulls(50_000_000, pa.int8())
                )
            }
        )
    ),
    "dictionary of Arrow": lambda: arrow_bytes(equal(60), compression="zstd"),
    "batch of Arrow": lambda: arrow_bytes(
        pa.table({"a": ["x" * 30 * LONG]}), compression="lz4"
    ),
    "nulls without bytes": lambda: arrow_bytes(
        pa.table(
            {"a": pa.ListArray.from_arrays([0, 2_000_000_000], pa.nulls(2_000_000_000))}
        )
    ),
}

#: Those of Parquet and Arrow that the default run has: with many bytes, and with none.
TELLING = {"equal values", "nulls in a list", "batch of Arrow", "nulls without bytes"}


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in TELLING else pytest.mark.long)
        for name in BOMBS
    ],
)
def test_small_file_does_not_become_large(name: str, tmp_path: Path) -> None:
    """A file that would take much more memory than 250 MB is refused in less."""
    path = tmp_path / "bomb"
    path.write_bytes(BOMBS[name]())
    script = (
        "import re, sys\n"
        "from harpia_formats import validate\n"
        "print(validate(sys.argv[1]).files[0].reason)\n"
        "status = open('/proc/self/status').read()\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', status)[1])\n"
    )
    command = (sys.executable, "-c", script, str(path))
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    reason, peak = done.stdout.splitlines()

    assert any(word in reason for word in ("held", "bomb", "a row of more than"))
    assert int(peak) < 250_000


def test_long_equal_values_are_read_one_by_one() -> None:
    """Rows whose long values are in a dictionary come back whole."""
    rows = ["x" * LONG, "é😀\n" * 500_000, "short", "x" * LONG]
    random = os.urandom(100_000).hex()
    table = pa.table({"prompt": rows, "category": [random + str(n) for n in range(4)]})
    for data in (parquet_bytes(table, compression="zstd"), arrow_bytes(table)):
        found = list(harpia_formats.read(data, format="parquet"))

        assert [one.prompt for one in found] == rows


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
def test_long_batch_is_read_in_parts(
    compression: str | None, new: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that is longer than what is held gives the rows that it gives as one."""
    rows = [
        {
            "prompt": f"é{number}" * (number % 4),
            "right": None if number % 3 else bool(number % 2),
            "pair": {"n": number, "texts": ["a" * number, None]},
            "list": None if number % 5 == 0 else [{"t": number / 7}] * (number % 3),
            "bytes": bytes([number]),
            "fixed": [number, None],
            "nothing": None,
        }
        for number in range(50)
    ]
    table = pa.Table.from_pylist(rows)
    fixed = table.column("fixed").cast(pa.list_(pa.int16(), 2))
    pairs = pa.array([[("k", 1)]] * 50, pa.map_(pa.string(), pa.int8()))
    table = table.set_column(5, "fixed", fixed).append_column("map", pairs)
    data = arrow_bytes(table.slice(3), new, compression=compression)
    whole = [*harpia_formats.read(data, format="parquet")]
    monkeypatch.setattr("harpia_converters.hub.read_table.HELD", 10)
    monkeypatch.setattr("harpia_converters.hub.table_slices.ROWS", 7)

    assert [*harpia_formats.read(data, format="parquet")] == whole
    assert len(whole) == 47


def damage(files: int, *arguments: str) -> None:
    """Damage so many files of each kind, and fail if a command crashes."""
    command = (sys.executable, str(BENCHMARK), "--files", str(files), *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own program

    assert done.returncode == 0, done.stderr
    assert f"{files:,}" in done.stdout


@FORKS
def test_damaged_files_never_crash() -> None:
    """Some files damaged at random are refused or found, each in its own process."""
    damage(3, *(part for kind in KINDS for part in ("--kind", kind)))


@FORKS
@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_damaged_files_never_crash(kind: str) -> None:
    """Of 2,000 damaged files of each kind none crashes a command, or is a bug of it."""
    damage(2_000, "--kind", kind)
