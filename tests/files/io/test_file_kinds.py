"""Files that are neither JSON nor CSV are named for what they are."""

import bz2
import gzip
import io
import itertools
import json
import lzma
import pickle
import pprint
import sqlite3
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import validate

ROWS = [{"prompt": "x" * 40, "ideal_response": "y" * 40, "responses": []}] * 3
_HEADER = json.dumps({"t": {"dtype": "F32", "shape": [1]}}).encode()


def zipped(*names: str) -> bytes:
    """Return a zip archive with files of these names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return buffer.getvalue()


def tarred() -> bytes:
    """Return a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("rows.jsonl"))
    return buffer.getvalue()


def database() -> bytes:
    """Return an SQLite database."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (a)")
    found: bytes = connection.serialize()
    connection.close()
    return found


KINDS: dict[str, list[bytes]] = {
    "an Arrow or Feather file": [b"FEA1"],
    "an Excel workbook": [
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99),
        zipped("[Content_Types].xml", "xl/workbook.xml"),
    ],
    "a zip archive": [zipped("rows.jsonl"), zipped()],
    "a NumPy file": [b"\x93NUMPY\x01\0", zipped("a.npy")],
    "a Python pickle": [pickle.dumps(ROWS, protocol) for protocol in range(6)],
    "a Git LFS pointer": [
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
    ],
    "an HTML page": [
        b"<!DOCTYPE html>\n<html>",
        b"\n <HTML lang='en'>",
        b"<!-- a --><!-- b -->\n<html>",
        b'\xef\xbb\xbf<?xml version="1.0"?><html>',
    ],
    "an XML file": [b'<?xml version="1.0"?>\n<rows>', b"<svg width='1'>"],
    "a YAML file": [
        b"model: gpt\nscores:\n  - 1\n",
        b"---\n- a: 1\n",
        b"# a comment\n\n- one\n- two\n",
        b"%YAML 1.2\n---\na: 1\n",
        b"a:\r\n  b: 1\r\n",
        b"text: |\n  any, text\nmore: 1\n",
        b"".join(b"key%d: %d\n" % (n, n) for n in range(9_000)),
    ],
    "a pretty-printed Python file": [
        pprint.pformat(ROWS).encode(),
        pprint.pformat(ROWS[0]).encode(),
        b"[\n  {'a': 1},\n]",
    ],
    "an SQLite database": [database()],
    "a PDF file": [b"%PDF-1.7\n"],
    "a tar archive": [tarred()],
    "a 7z archive": [b"7z\xbc\xaf\x27\x1c\0\4"],
    "a safetensors file": [
        struct.pack("<Q", len(text)) + text
        for text in (_HEADER, _HEADER.ljust(256 + ord("{")))
    ],
}
#: The beginnings of files of Arrow, which are read as tables.
TABLES = [
    b"PAR1\x15\x04",
    b"ARROW1\0\0",
    b"\xff\xff\xff\xff\x98\0\0\0\x10\0\0\0",
]
CASES = [(name, data) for name, cases in KINDS.items() for data in cases]
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
#: Beginnings of files that are JSON or CSV, or meant to be.
DATA = [
    b"",
    b"{}",
    b'{"a": 1}\n',
    b"[1, 2]",
    b"{'a': 1}\n{'a': 2}\n",
    b"[{'a': 1}, {'a': 2}]",
    b'{\n  "it\'s": 1\n}',
    b"// a comment\n{}",
    b"# a comment\n{}\n",
    b"question,answer\nwhat: 1,2\n",
    b"question: text,answer\nb: c,d\n",
    b"question\nwhat: why\nwho: me\n",
    b"id;text: a\n1;b\n",
    b"null",
    b"-1\n-2\n",
    b"<id>,<text>\n1,2\n",
    b"INFO: started\nINFO: done\n",
    b"Dear Bob,\nhow: are you\n",
    b"From: Ann\nTo: Bob\n\nHow are you?\n",
    b"Note: this\nis text\n",
    b"(a),(b)\n1,2\n",
    b"ORCID,PARENT\n1,2\n",
    b"PARENT,GGUF\n1,2\n",
    b"GGUF,a\n1,2\n",
    "GIF8文字,a\n1,2\n".encode(),
]


def reason_for(given: Path | bytes) -> str:
    """Return why an input was not read, "" if it was."""
    (file,) = validate(given).files
    return file.reason or ""


@for_each_case(
    "name, data, suffix", [(*case, suffix) for case in CASES for suffix in PACKINGS]
)
def test_kind_is_named_by_the_first_bytes(
    tmp_path: Path, name: str, data: bytes, suffix: str
) -> None:
    """A file of another kind is no data, whatever it is called, also compressed."""
    path = tmp_path / f"rows.jsonl{suffix}"
    path.write_bytes(PACKINGS[suffix](data))

    assert reason_for(path).startswith(f"is {name}, not JSON or CSV; ")


@for_each_case("data", [*TABLES, *(data for _, data in CASES)])
def test_a_folder_has_files_of_other_kinds_under_any_name(
    tmp_path: Path, data: bytes
) -> None:
    """What is in a folder is looked at where its name may be that of another kind."""
    for name in ("rows", "rows.dat", "rows.txt", "read.me"):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "none.dat").write_bytes(b"{}")
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    found = [Path(file.path).name for file in validate(tmp_path).files]

    assert found == ["a.jsonl", "rows", "rows.dat"]


def test_pointer_is_known_under_a_compressed_name(tmp_path: Path) -> None:
    """A pointer to a compressed file is named, and not called badly compressed."""
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")

    assert reason_for(path).startswith("is a Git LFS pointer")


@for_each_case("data, name", itertools.product(DATA, ["rows.jsonl", "rows.txt", ""]))
def test_data_is_no_other_kind(tmp_path: Path, data: bytes, name: str) -> None:
    """What may be JSON or CSV is left to those who say what is wrong with it."""
    if name:
        (tmp_path / name).write_bytes(data)

    assert reason_for(tmp_path / name if name else data) == ""


@for_each_case("data", KINDS["a YAML file"])
def test_csv_by_name_is_no_yaml(tmp_path: Path, data: bytes) -> None:
    """A file that is called CSV is never taken for YAML."""
    for name, written in (("rows.csv", data), ("rows.csv.gz", gzip.compress(data))):
        (tmp_path / name).write_bytes(written)

        assert reason_for(tmp_path / name) == ""


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(
    values=st.lists(VALUES, min_size=1, max_size=3),
    indent=st.sampled_from([None, 1]),
    is_ascii=st.booleans(),
)
def test_no_json_is_of_another_kind(
    values: list[Any], indent: int | None, *, is_ascii: bool
) -> None:
    """Any JSON, in lines or indented, is JSON."""
    texts = [
        json.dumps(value, indent=indent, ensure_ascii=is_ascii) for value in values
    ]

    assert reason_for("\n".join(texts).encode(errors="replace")) == ""


@given(
    st.binary(max_size=400) | st.text("<!->'\"[{(:#\n a", max_size=400).map(str.encode)
)
def test_any_bytes_have_a_kind_or_none(data: bytes) -> None:
    """No bytes raise, and the answer is the same for the same bytes."""
    assert reason_for(data) == reason_for(data)
