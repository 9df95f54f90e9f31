"""Faults 17 to 19, 41, 49 and 50: bombs, large rows, large files, and many of them.

The memory of a run is that of all its processes. `HARPIA_FAULT_SHARE` is the share of
the full size that the long tests of 41, 49 and 50 have, such as 0.1; by default all.
"""

import bz2
import gzip
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from command_runs import report_of, run
from faults import Injections
from memory_of_runs import MOST, measured, needs_memory, peaks_of

_MEGABYTE = 1_000_000
_SHARE = float(os.environ.get("HARPIA_FAULT_SHARE", "1"))
_GIGABYTES = 10 * _SHARE
_FILES = int(1_000 * _SHARE) * 100
_ROWS = int(500 * _SHARE) * 10_000
_BLOCK = 1 << 24
_AS_RECORDS = ("--from", "record")
Compress = Callable[[bytes], bytes]


def _bomb(compress: Compress, first: bytes, filler: bytes, megabytes: int) -> bytes:
    """Return the members of an archive whose text begins with `first`."""
    block = compress(filler * (_BLOCK // len(filler)))
    return compress(first) + block * (megabytes * _MEGABYTE // _BLOCK)


#: What the text of a bomb begins with, what it goes on with, and the finding.
_BOMBS = {
    "one endless line": (b"{", b"1", "J110"),
    "an endless array": (b"[", b" ", "J112"),
    "blank lines": (b"", b"\n", "J111"),
    "an endless text": (b'{"prompt": "', b"a", "J110"),
    "an endless list": (b'{"prompt": [', b"1, ", "J110"),
}


@needs_memory
@pytest.mark.parametrize("kind", _BOMBS)
@pytest.mark.parametrize("megabytes", [50, pytest.param(1_000, marks=pytest.mark.long)])
def test_17_decompression_bombs(
    kind: str, megabytes: int, tmp_path: Path, fault: Injections
) -> None:
    """A row ends at the limit of its bytes, and the memory does not grow with it."""
    first, filler, code = _BOMBS[kind]
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(_bomb(gzip.compress, first, filler, megabytes))
    assert path.stat().st_size * 200 < megabytes * _MEGABYTE
    result, peak, text = measured("validate", path, *_AS_RECORDS, folder=tmp_path)

    assert (result, code in text) == (1, True), text
    assert peak < MOST
    fault.add(f"{kind}, {megabytes:,} MB from gzip", "a finding, in bounded memory")


@needs_memory
@pytest.mark.long
def test_17_bombs_of_other_kinds(tmp_path: Path, fault: Injections) -> None:
    """Other compressions, conversions and formats that need a copy are bounded, too."""
    zstd = pytest.importorskip("backports.zstd")
    for suffix, compress in (("bz2", bz2.compress), ("zst", zstd.compress)):
        path = tmp_path / f"in.jsonl.{suffix}"
        path.write_bytes(_bomb(compress, b'{"prompt": "', b"a", 50))
        for words in (
            ("validate", path, "--from", "haystack"),
            ("convert", path, *_AS_RECORDS, "--to", "csv", "-o", tmp_path / "out"),
        ):
            result, peak, text = measured(*words, folder=tmp_path)
            assert (result, "J110" in text) == (1, True), text
            assert peak < MOST
            assert list(tmp_path.iterdir()) == [path]
        path.unlink()
        fault.add(f"an endless text from {suffix}", "a finding, in bounded memory", 2)


#: The names of the members of an archive, and the bytes of each of them.
_ARCHIVES: dict[str, tuple[int, list[str]]] = {
    "a member of 300 MB": (300 << 20, ["samples/1_epoch_1.json"]),
    "a member in the folder above": (10, ["../../evil.json"]),
    "an absolute member": (10, ["/evil.json"]),
    "a member on another drive": (10, ["C:\\evil.json"]),
    "two members of one name": (10, ["samples/1.json", "samples/1.json"]),
}


def _log_with(size: int, names: list[str]) -> bytes:
    """Return an archive like a log of Inspect, with members of that many spaces."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"version": 2, "status": "success"}')
        for name in names:
            archive.writestr(name, b" " * size)
    return packed.getvalue()


@needs_memory
@pytest.mark.parametrize("kind", _ARCHIVES)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_18_hostile_archives(kind: str, tmp_path: Path, fault: Injections) -> None:
    """The archive is refused with exit code 2, and no file of its names appears."""
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    path = inside / "in.eval"
    path.write_bytes(_log_with(*_ARCHIVES[kind]))
    before = sorted(tmp_path.rglob("*"))
    for words in (("validate", path), ("convert", path, "--to", "record")):
        result, peak, text = measured(*words, folder=tmp_path)
        assert result == 2, text
        assert "error: " in text
        assert peak < MOST
        assert sorted(tmp_path.rglob("*")) == before
        fault.add(f"zip: {kind}", "exit code 2, nothing unpacked")


_SIZES = [
    pytest.param(20, id="20 MB"),
    pytest.param(200, id="200 MB", marks=pytest.mark.long),
    pytest.param(1_000, id="1 GB", marks=pytest.mark.long),
]


@needs_memory
@pytest.mark.parametrize("megabytes", _SIZES)
def test_19_rows_over_the_limit(
    megabytes: int, tmp_path: Path, fault: Injections
) -> None:
    """A large row is one finding, and an array larger than the limit is read."""
    row = b'{"prompt": "q", "outputs": []}'
    large = row[:-1] + b', "gt": "' + b"a" * (megabytes * _MEGABYTE) + b'"}'
    path = tmp_path / "in.jsonl"
    path.write_bytes(row + b"\n" + large + b"\n" + row + b"\n")
    result, peak, text = measured("validate", path, *_AS_RECORDS, folder=tmp_path)
    assert (result, peak < MOST) == (1, True), text
    assert f"{path}:2:1: J110" in text
    assert "3 records: 2 valid, 1 invalid" in text
    fault.add(f"a row of {megabytes:,} MB", "a finding, in bounded memory")

    with path.open("wb") as file:
        count = megabytes * _MEGABYTE // (len(row) + 2)
        file.write(b"[" + row)
        for _ in range(count // 1_000):
            file.write((b",\n" + row) * 1_000)
        file.write(b"]")
    records = count // 1_000 * 1_000 + 1
    result, peak, text = measured("validate", path, *_AS_RECORDS, folder=tmp_path)
    assert (result, peak < MOST) == (0, True), text
    assert f"{records:,} records, all valid" in text
    fault.add(f"an array of {megabytes:,} MB", "read, in bounded memory")


def test_19_rows_that_a_limit_allows(fault: Injections) -> None:
    """With `--max-row-bytes` a row over the default limit is read."""
    row = b'{"outputs": [], "prompt": "%s"}' % (b"a" * 20 * _MEGABYTE)
    words = ("-", *_AS_RECORDS, "--select", "J,S", "--max-row-bytes")
    for limit, wanted in ((len(row), []), (len(row) - 1, ["J110"])):
        report = report_of(*words, limit, stdin=row + b"\n")
        assert [each["code"] for each in report["problems"]] == wanted
    fault.add("a row of 20 MB, allowed", "read")
    fault.add("a row one byte over the limit", "a finding")


def _write_records(path: Path, size: float) -> int:
    """Write records of about `size` bytes together, and return their number."""
    chance = Random(41)  # noqa: S311 - a test needs a seed, not secrecy
    letters = "abcdefgh ijklmnop"
    texts = ["".join(chance.choices(letters, k=k % 900 + 20)) for k in range(1_000)]
    rows = "".join(
        f'{{"id": "q-%09d", "prompt": "{text}?", "references": ["{text[:20]}"], '
        f'"outputs": [{{"model": "m{at % 7}", "text": "{text[:40]}"}}]}}\n'
        for at, text in enumerate(texts)
    )
    count = 0
    with path.open("wb") as file:
        while file.tell() < size:
            file.write((rows % tuple(range(count, count + 1_000))).encode())
            count += 1_000
    return count


def _peaks(words: list[str], sizes: list[float], folder: Path) -> list[tuple[int, int]]:
    """Return the peaks of the memory of runs over files of these gigabytes.

    The second number of each is that of what no file holds.
    """
    peaks = []
    for size in sizes:
        path = folder / "in.jsonl"
        count = _write_records(path, size * 1e9)
        given = [each.format(folder=folder) for each in words[1:]]
        # A peak lasts for a moment, so a short run is looked at more often.
        interval = min(0.05, size / 20)
        result, peak, own, text = peaks_of(
            words[0], path, *_AS_RECORDS, *given, folder=folder, interval=interval
        )
        assert result == 0, text
        assert f"{count:,}" in text
        peaks.append((peak, own))
        for each in folder.iterdir():
            each.unlink()
    return peaks


@needs_memory
def test_41_memory_of_small_files(tmp_path: Path, fault: Injections) -> None:
    """A file of 60 MB takes little more memory than the program itself."""
    ((peak, _),) = _peaks(["validate"], [0.06], tmp_path)
    assert peak < 80_000_000
    fault.add("a file of 60 MB", "at most 80 MB of memory")


@needs_memory
@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        "validate",
        "convert --to harpia -o {folder}/out.json",
        "convert --to csv -o {folder}/out.csv.gz",
    ],
)
def test_41_memory_of_large_files(
    words: str, tmp_path: Path, fault: Injections
) -> None:
    """The peak over 10 GB is within a tenth of that over 0.1 GB, and below 200 MB."""
    sizes = [0.1, 1.0, _GIGABYTES] if _GIGABYTES > 1 else [0.1, _GIGABYTES]
    peaks = _peaks(words.split(), sizes, tmp_path)
    assert max(peak for peak, _ in peaks) < MOST
    assert max(own for _, own in peaks) < 1.1 * peaks[0][1], peaks
    for size in sizes:
        fault.add(f"a file of {size:g} GB", "flat memory, at most 200 MB")


#: Bytes that each file of a run may add, for its counts and its line in the report.
_FOR_EACH_FILE = 4_000


def _write_files(folder: Path, count: int) -> None:
    """Write files of one record into nested folders, numbered in their order."""
    for first in range(0, count, 100):
        inside = folder / f"{first // 10_000:03}" / f"{first // 1_000 % 10}"
        inside /= f"{first // 100 % 10}"
        inside.mkdir(parents=True, exist_ok=True)
        for number in range(first, first + 100):
            row = f'{{"id": "{number}", "prompt": "q", "outputs": []}}\n'
            (inside / f"{number:06}.jsonl").write_text(row)


@needs_memory
@pytest.mark.parametrize("count", [200, pytest.param(_FILES, marks=pytest.mark.long)])
def test_49_many_files(count: int, tmp_path: Path, fault: Injections) -> None:
    """All files are read in order; each adds only its counts to the memory."""
    folder, output = tmp_path / "in", tmp_path / "out.jsonl"
    _write_files(folder, 100)
    to_records = ("convert", folder, "--to", "record", "-o", output)
    small = [
        measured(*words, folder=tmp_path)[1]
        for words in (("validate", folder), (*to_records[:-1], tmp_path / "small"))
    ]
    _write_files(folder, count)
    result, peak, text = measured("validate", folder, "--jobs", "1", folder=tmp_path)
    assert (result, f"{count:,} files, {count:,} records" in text) == (0, True)
    assert peak < min(MOST, small[0] + count * _FOR_EACH_FILE + 20 * _MEGABYTE)

    result, peak, _ = measured(*to_records, folder=tmp_path)
    assert result == 0
    with output.open("rb") as lines:
        assert [json.loads(line)["id"] for line in lines] == [
            str(number) for number in range(count)
        ]
    assert peak < small[1] + count * _FOR_EACH_FILE + 20 * _MEGABYTE
    fault.add(f"{count:,} files in nested folders", "read in order")


@needs_memory
@pytest.mark.parametrize("count", [10_000, pytest.param(_ROWS, marks=pytest.mark.long)])
def test_50_tiny_rows(count: int, tmp_path: Path, fault: Injections) -> None:
    """Each row is counted, with or without an id, and the memory is bounded."""
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    for kind, row in (("rows", b'{"outputs":[]}\n'), ("rows with ids", None)):
        with path.open("wb") as file:
            for first in range(0, count, 10_000):
                file.write(row * 10_000 if row else _rows_with_ids(first))
        result, peak, text = measured("validate", path, *_AS_RECORDS, folder=tmp_path)
        assert (result, f"{count:,} records, all valid" in text) == (0, True), text
        assert peak < MOST
        words = ("convert", path, *_AS_RECORDS, "--to", "record", "-o", output)
        result, peak, text = measured(*words, "--overwrite", folder=tmp_path)
        assert (result, f"{count:,} rows of record" in text) == (0, True), text
        assert peak < MOST
        assert output.stat().st_size == path.stat().st_size
        fault.add(f"{count:,} tiny {kind}", "all counted, in bounded memory")


def _rows_with_ids(first: int) -> bytes:
    """Return 10,000 rows with the ids from `first` on."""
    numbers = range(first, first + 10_000)
    return b"".join(b'{"id":"%d","outputs":[]}\n' % number for number in numbers)


def test_50_tiny_rows_of_a_pipe(fault: Injections) -> None:
    """Rows that come through a pipe are counted as those of a file."""
    text = b'{"outputs":[]}\n' * 50_000
    result = run("validate", "-", *_AS_RECORDS, stdin=text)
    assert b"50,000 records, all valid" in result.stderr
    fault.add("50,000 tiny rows of a pipe", "all counted")
