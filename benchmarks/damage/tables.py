"""Small tables of many types in each container, as files that are not damaged."""

import io
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from harpia_formats.conversion.containers.arrow_table import table_writer
from harpia_formats.conversion.containers.row_writer import encode_rows

#: Rows of a table, and of a batch or row group.
ROWS, BATCH = 60, 25
_day = datetime(2026, 3, 1, tzinfo=UTC)


def _columns(random: Random) -> dict[str, Callable[[], Any]]:
    """Return what makes an array of each type, by the name of a column."""

    def each(make: Callable[[int], Any]) -> list[Any]:
        return [None if random.random() < 0.1 else make(n) for n in range(ROWS)]

    def text(number: int) -> str:
        return f"{number} " + "word é "[: random.randint(0, 7)] * random.randint(0, 9)

    def pair(number: int) -> dict[str, Any]:
        return {"text": [text(number), "b"], "label": ["A", "B"], "n": number}

    return {
        "prompt": lambda: pa.array([text(number) for number in range(ROWS)]),
        "references": lambda: pa.array(each(lambda n: [text(n)] * (n % 3))),
        "options": lambda: pa.array(each(pair)),
        "turns": lambda: pa.array(each(lambda n: [pair(n)] * (n % 3))),
        "kind": lambda: pa.array(each(lambda n: "abc"[n % 3])).dictionary_encode(),
        "count": lambda: pa.array(each(lambda n: n * 1_000)),
        "share": lambda: pa.array(each(lambda n: n / 7)),
        "right": lambda: pa.array(each(lambda n: n % 2 == 0)),
        "time": lambda: pa.array(each(lambda n: _day.replace(minute=n % 60))),
        "day": lambda: pa.array(each(lambda n: date(2026, 1, 1 + n % 28))),
        "cost": lambda: pa.array(each(Decimal)),
        "bytes": lambda: pa.array(each(lambda n: bytes([n]) * (n % 9))),
        "pairs": lambda: pa.array(
            each(lambda n: [("k", n)]), pa.map_(pa.string(), pa.int64())
        ),
        "vector": lambda: pa.array(each(lambda n: [n, n]), pa.list_(pa.float32(), 2)),
    }


_of_arrow_only: dict[str, Callable[[], Any]] = {
    "view": lambda: pa.array(
        [f"a longer text {n}" for n in range(ROWS)], pa.string_view()
    ),
    "runs": lambda: pa.RunEndEncodedArray.from_arrays(
        pa.array([ROWS // 2, ROWS], pa.int32()), pa.array(["a", "b"])
    ),
}


def _table(random: Random, *, is_arrow: bool = False) -> Any:
    """Return a table with `prompt` and some other columns."""
    made = _columns(random) | (_of_arrow_only if is_arrow else {})
    names = random.sample([*made][1:], random.randint(1, 6))
    return pa.table({name: made[name]() for name in ("prompt", *names)})


def _of_records(random: Random, suffix: str) -> bytes:
    """Return a table of records."""
    rows = [
        {
            "id": random.choice((number, str(number))),
            "prompt": f"What is {number}?",
            "references": [str(number)],
            "outputs": [{"text": "a" * number, "scores": [{"value": 0.5}]}],
            "extra": {"n": number},
        }
        for number in range(ROWS)
    ]
    written: list[bytes] = []
    writer = table_writer(written.append, suffix)
    writer.add(encode_rows(rows))
    writer.close({})
    return b"".join(written)


def _ipc(random: Random, new: Callable[..., Any]) -> bytes:
    table = _table(random, is_arrow=True)
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=random.choice((None, "lz4", "zstd")))
    with new(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=BATCH)
    return sink.getvalue()


def arrow_file(random: Random) -> bytes:
    """Return a file of Arrow, one in five with records."""
    if random.random() < 0.2:
        return _of_records(random, ".arrow")
    return _ipc(random, pa.ipc.new_file)


def arrow_stream(random: Random) -> bytes:
    """Return a stream of Arrow."""
    return _ipc(random, pa.ipc.new_stream)


def feather_file(random: Random) -> bytes:
    """Return a file of Feather."""
    sink = io.BytesIO()
    compression = random.choice(("uncompressed", "lz4", "zstd"))
    feather.write_feather(
        _table(random), sink, compression=compression, chunksize=BATCH
    )
    return sink.getvalue()


def parquet_file(random: Random) -> bytes:
    """Return a file of Parquet, one in five with records."""
    if random.random() < 0.2:
        return _of_records(random, ".parquet")
    sink = io.BytesIO()
    pq.write_table(
        _table(random),
        sink,
        row_group_size=BATCH,
        compression=random.choice(("none", "snappy", "gzip", "zstd", "lz4")),
        use_dictionary=random.random() < 0.5,
        data_page_version=random.choice(("1.0", "2.0")),
        write_page_checksum=random.random() < 0.3,
        write_page_index=random.random() < 0.3,
    )
    return sink.getvalue()
