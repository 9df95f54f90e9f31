"""Checks of the limits of what is read: rows, files, tables, settings, schemas."""

import io
import json
import threading
import time
import zipfile
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from harpia_converters.hub import read_table, table_metadata, table_slices
from harpia_converters.hub.table_slices import Pages
from harpia_converters.inspect_ai import archive_text
from harpia_formats.files.io import discovery, remote_file, zip_archive
from harpia_formats.files.io.zip_archive import Member, ZipDirectory
from harpia_formats.files.toml import toml_document
from harpia_formats.validation import schema_inference
from harpia_formats.validation.unit import guarded_rows
from limit_bench import Bench, Outcome, check, raised
from model_answers import model_answers


@check("row bytes")
def _(bench: Bench) -> Outcome:
    frame = len('{"outputs":[],"prompt":""}')
    texts = ("a" * (bench.number - frame + more) for more in (0, 1))
    rows = (f'{{"outputs":[],"prompt":"{text}"}}' for text in texts)
    at, beyond = map(bench.validated, rows)
    return at, beyond


@check("depth")
def _(bench: Bench) -> Outcome:
    rows = []
    for levels in (bench.number, bench.number + 1):
        lists = "[" * (levels - 2) + "]" * (levels - 2)
        rows.append(f'{{"prompt":"q","outputs":[],"metadata":{{"a":{lists}}}}}')
    at, beyond = map(bench.validated, rows)
    return at, beyond


@check("digits")
def _(bench: Bench) -> Outcome:
    rows = (
        f'{{"prompt":"q","outputs":[],"metadata":{{"a":{"1" * count}}}}}'
        for count in (bench.number, bench.number + 1)
    )
    at, beyond = map(bench.validated, rows)
    return at, beyond


@check("columns")
def _(bench: Bench) -> Outcome:
    found = []
    for count in (bench.number, bench.number + 1):
        head = ",".join(f"c{number}" for number in range(bench.number))
        path = bench.file("t.csv", f"{head}\n{',' * (count - 1)}\n")
        found.append(bench.printed("validate", path, "--from", "csv"))
    return found[0], found[1]


@check("schema errors")
def _(bench: Bench) -> Outcome:
    rows = (
        json.dumps({"prompt": "q", "outputs": [], "references": [1] * count})
        for count in (bench.number, bench.number + 1)
    )
    at, beyond = map(bench.validated, rows)
    assert "S102" in at
    return at, beyond


@check("other findings")
def _(bench: Bench) -> Outcome:
    rows = []
    for count in (bench.number, bench.number + 1):
        members = ",".join(['"a":1'] * (count + 1))
        rows.append(f'{{"prompt":"q","outputs":[],"metadata":{{{members}}}}}')
    at, beyond = map(bench.validated, rows)
    assert "J105" in at
    return at, beyond


@check("files")
def _(bench: Bench) -> Outcome:
    bench.lower(2, (discovery, "MOST_FILES"))
    data = bench.folder / "data"
    data.mkdir()
    found = []
    for name in "abc":
        (data / f"{name}.jsonl").write_text('{"prompt":"q"}\n')
        found.append(bench.printed("detect", data))
    return found[1], found[2]


@check("side file")
def _(bench: Bench) -> Outcome:
    data = bench.file("data.jsonl", '{"prompt":"q"}')
    found = []
    for more in (0, 1):
        schema = bench.file("s.json", b"{}".ljust(bench.number + more))
        found.append(bench.printed("validate", data, "--schema", schema))
    return found[0], found[1]


@check("members")
def _(bench: Bench) -> Outcome:
    bench.lower(2, (zip_archive, "MOST_MEMBERS"))
    at, beyond = (_error_of_archive(_archive("abc"[:count])) for count in (2, 3))
    assert at == ""
    return at, beyond


def _archive(names: str) -> io.BytesIO:
    """Return an archive with empty members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return file


def _error_of_archive(file: io.BytesIO) -> str:
    return raised(lambda: zip_archive.read_directory(file, "x.zip"))


@check("expansion")
def _(bench: Bench) -> Outcome:
    packed = zip_archive.LARGEST // bench.number + 1
    most = packed * bench.number

    def error_for(size: int) -> str:
        directory = ZipDirectory()
        directory.add(Member("a", 0, packed, size, 8, 0))
        of_all = raised(lambda: zip_archive.check_expansion(directory, "x"))
        pieces = zip_archive.member_pieces(io.BytesIO(), directory.member(0), "x")
        of_one = raised(lambda: next(pieces))
        assert ("bomb" in of_all) == ("bomb" in of_one)
        return of_all

    return error_for(most), error_for(most + 1)


@check("header")
def _(bench: Bench) -> Outcome:
    text = json.dumps({"version": 2, "eval": {}})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", text)

    def error_for(most: int) -> str:
        bench.lower(most, (archive_text, "LARGEST"))
        return raised(lambda: list(archive_text.text_of_log(file, "x.eval")))

    return error_for(len(text)), error_for(len(text) - 1)


def _table_file(bench: Bench) -> Path:
    """Write a table of Parquet with one record."""
    rows = bench.file("r.jsonl", model_answers(["m"], [1], lambda *_: True))
    path = bench.folder / "t.parquet"
    bench.printed("convert", rows, "--to", "parquet", "-o", path)
    return path


@check("table text")
def _(bench: Bench) -> Outcome:
    path = _table_file(bench)
    size = path.stat().st_size
    with path.open("rb") as file:
        text = sum(map(len, read_table._lines_of(file, "x", {})))  # noqa: SLF001 - the exact number

    def error_for(most: int) -> str:
        bench.patch.setattr(read_table, "LARGEST", most)
        bench.patch.setattr(read_table, "RATIO", 0)
        return bench.printed("validate", path)

    assert size * bench.number > text
    return error_for(text), error_for(text - 1)


@check("footer")
def _(bench: Bench) -> Outcome:
    path = _table_file(bench)
    length = int.from_bytes(path.read_bytes()[-8:-4], "little")

    def error_for(most: int) -> str:
        for module in (read_table, table_metadata):
            bench.patch.setattr(module, "DESCRIBED", most)
        return bench.printed("validate", path)

    return error_for(length), error_for(length - 1)


def _pages_of_table(bench: Bench, path: Path) -> list[Pages]:
    """Return what the headers of pages say of the columns of a table."""
    found: list[Pages] = []
    real = table_slices.pages_of

    def noted(*given: Any) -> Pages:
        found.append(real(*given))
        return found[-1]

    bench.patch.setattr(table_slices, "pages_of", noted)
    bench.printed("validate", path)
    bench.patch.setattr(table_slices, "pages_of", real)
    return found


@check("open pages")
def _(bench: Bench) -> Outcome:
    path = _table_file(bench)
    pages = _pages_of_table(bench, path)
    half = -(-sum(one.largest + one.stored for one in pages) // 2)
    assert max(one.largest for one in pages) < half
    found = []
    for most in (half, half - 1):
        bench.lower(most, (table_slices, "HELD"))
        found.append(bench.printed("validate", path))
    assert "1 record, valid" in found[0]
    return found[0], found[1]


@check("dictionaries")
def _(bench: Bench) -> Outcome:
    path = _table_file(bench)
    size = sum(one.dictionary for one in _pages_of_table(bench, path))
    found = []
    for most in (size, size - 1):
        bench.lower(most, (table_slices, "DICTIONARIES"))
        found.append(bench.printed("validate", path))
    assert "1 record, valid" in found[0]
    return found[0], found[1]


@check("table record")
def _(bench: Bench) -> Outcome:
    path = _table_file(bench)
    sizes = []
    real = vars(read_table)["batch_size"]

    def noted(batch: Any) -> int:
        sizes.append(int(real(batch)))
        return sizes[-1]

    bench.patch.setattr(read_table, "batch_size", noted)
    at = bench.printed("validate", path)
    bench.lower(max(sizes), (read_table, "LONGEST_RECORD"))
    at += bench.printed("validate", path)
    bench.lower(max(sizes) - 1, (read_table, "LONGEST_RECORD"))
    return at, bench.printed("validate", path)


@check("server")
def _(bench: Bench) -> Outcome:
    class Slow(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            time.sleep(1)
            body = b'{"prompt":"q","outputs":[]}'
            with suppress(OSError):  # the client has given up
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    found = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        serve = server.serve_forever
        threading.Thread(target=serve, args=(0.02,), daemon=True).start()
        for seconds, name in ((bench.number, "a"), (0.2, "b")):
            bench.patch.setattr(remote_file, "PAUSES", ())
            bench.patch.setattr(remote_file, "TIMEOUT", seconds)
            address = f"http://127.0.0.1:{server.server_port}/{name}.jsonl"
            found.append(bench.printed("validate", address))
        server.shutdown()
    return found[0], found[1]


def _toml_error(data: bytes) -> str:
    return raised(lambda: toml_document(data, "x.toml"))


@check("settings bytes")
def _(bench: Bench) -> Outcome:
    at, beyond = (_toml_error(b"#".ljust(bench.number + more, b" ")) for more in (0, 1))
    assert at == ""
    return at, beyond


@check("settings keys")
def _(bench: Bench) -> Outcome:
    at, beyond = (
        _toml_error(b"".join(b"a%d=1\n" % key for key in range(count)))
        for count in (bench.number, bench.number + 1)
    )
    assert at == ""
    return at, beyond


@check("settings depth")
def _(bench: Bench) -> Outcome:
    at, beyond = (
        _toml_error(b"a=" + b"[" * count + b"]" * count)
        for count in (bench.number - 1, bench.number)
    )
    assert at == ""
    return at, beyond


@check("schema depth")
def _(bench: Bench) -> Outcome:
    data = bench.file("data.jsonl", '{"prompt":"q"}')
    found = []
    for levels in (bench.number, bench.number + 1):
        schema: Any = {}
        for _ in range(levels - 1):
            schema = {"not": schema}
        path = bench.file("s.json", json.dumps(schema))
        found.append(bench.printed("validate", data, "--schema", path))
    return found[0], found[1]


@check("schema check")
def _(bench: Bench) -> Outcome:
    schema = bench.file("s.json", '{"properties":{"a":{"pattern":"(?=a)a"}}}')
    data = bench.file("data.jsonl", '{"a":"a"}')
    at = bench.printed("validate", data, "--schema", schema)
    guarded_rows.end_process()
    bench.lower(1e-9, (guarded_rows, "CHECK_SECONDS"))
    return at, bench.printed("validate", data, "--schema", schema)


@check("row time")
def _(bench: Bench) -> Outcome:
    # Each definition is evaluated twice by the one before it, where a row is hard.
    following = [{"$ref": f"#/definitions/d{level + 1}"} for level in range(40)]
    made = {f"d{level}": {"allOf": [each] * 2} for level, each in enumerate(following)}
    schema = {
        "if": {"required": ["hard"]},
        "then": {"$ref": "#/definitions/d0"},
        "definitions": {**made, "d40": {"required": ["id"]}},
    }
    path = bench.file("s.json", json.dumps(schema))
    at, beyond = (
        bench.printed(
            *("validate", bench.file("d.jsonl", row), "--schema", path),
            *("--row-timeout", "0.3"),
        )
        for row in ('{"id":1}', '{"id":1,"hard":1}')
    )
    return at, beyond


@check("inferred keys")
def _(bench: Bench) -> Outcome:
    found = []
    for count in (bench.number, bench.number + 1):
        row = {f"k{number}": 1 for number in range(count)}
        path = bench.file("d.jsonl", json.dumps(row))
        found.append(bench.printed("schema", "infer", path))
    assert "k1999" in found[0]
    return found[0], found[1]


@check("inferred places")
def _(bench: Bench) -> Outcome:
    found = []
    for count in (3, 4):
        row = {f"k{number}": 1 for number in range(count)}
        path = bench.file("d.jsonl", json.dumps(row))
        # The record itself is a place, too.
        bench.patch.setattr(schema_inference, "PLACES", 4)
        found.append(bench.printed("schema", "infer", path))
    bench.number = 4
    return found[0], found[1]
