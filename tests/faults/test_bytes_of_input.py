"""Faults 13 to 16: files that are cut off, in other encodings, or damaged."""

import bz2
import gzip
import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from command_runs import error_lines, report_of, run
from faults import Injections
from in_process import InProcess, Run

_MARKS = "é€😺\u2028\u0085"
_FIRST = '{"prompt": "q\\n\\u00e9", "ideal_response": "a b"}'
_SECOND = f'{{"prompt": "{_MARKS}", "ideal_response": ""}}'
_THIRD = '{"ideal_response": "[1, {}]", "prompt": "\\"x\\\\", "source": "s"}'
_LINES = [text.encode() for text in (_FIRST, _SECOND, _THIRD)]
_TEXT = b"\n".join(_LINES) + b"\n"
_FORMAT = ("--from", "nemo-input")
_AS_RECORDS = (*_FORMAT, "--to", "record", "--jobs", "1")
Compress = Callable[[bytes], bytes]
#: Of the damages to a file, each that many is tried by default, and all are long.
_STEPS = [
    pytest.param(17, id="some"),
    pytest.param(1, id="all", marks=pytest.mark.long),
]


@pytest.fixture(name="in_process")
def process(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    tmp_path: Path,
) -> InProcess:
    """Return what runs commands in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return InProcess(monkeypatch, capfdbinary)


def _report(folder: Path, *arguments: object) -> dict[str, list[dict[str, object]]]:
    """Return the files of a folder and their findings, by the names of the files."""
    report = report_of(folder, *_FORMAT, "--max-problems", 0, *arguments)
    found: dict[str, list[dict[str, object]]] = {}
    for each in (*report["files"], *report["problems"]):
        found.setdefault(Path(each["path"]).name, []).append(each)
    return found


def _converted(in_process: InProcess, name: str) -> tuple[Run, bytes | None]:
    """Return how a conversion ended, and what it wrote; nothing else is left."""
    before = sorted(Path().iterdir())
    found = in_process("convert", name, *_AS_RECORDS, "-o", "out")
    written = Path("out").read_bytes() if Path("out").exists() else None
    Path("out").unlink(missing_ok=True)
    assert sorted(Path().iterdir()) == before
    assert "Traceback" not in found.err
    return found, written


def test_13_text_cut_at_each_byte(tmp_path: Path, fault: Injections) -> None:
    """Lines before the cut are valid; the cut one has a finding at its number."""
    for size in range(1, len(_TEXT) + 1):
        (tmp_path / f"{size:03}.jsonl").write_bytes(_TEXT[:size])
    found = _report(tmp_path, "--select", "J,S")

    for size in range(1, len(_TEXT) + 1):
        file, *problems = found[f"{size:03}.jsonl"]
        whole, rest = _TEXT[:size].count(b"\n"), _TEXT[:size].rpartition(b"\n")[2]
        is_cut = bool(rest) and rest not in _LINES
        assert file["valid"] == whole + (bool(rest) and not is_cut)
        assert file["invalid"] == is_cut
        assert {each["line"] for each in problems} == ({whole + 1} if is_cut else set())
        outcome = "one error, in the line of the cut" if is_cut else "all lines valid"
        fault.add("a cut inside a line" if is_cut else "a cut between lines", outcome)


@pytest.mark.parametrize("step", _STEPS)
def test_13_conversion_of_a_text_that_is_cut(
    step: int, in_process: InProcess, fault: Injections
) -> None:
    """A cut row is exit code 1 and no output, or with `--on-invalid skip` left out."""
    start = len(_TEXT) - len(_LINES[2])
    Path("in.jsonl").write_bytes(b"\n".join(_LINES[:2]))
    _, others = _converted(in_process, "in.jsonl")
    for size in range(start, len(_TEXT) - 1, step):
        Path("in.jsonl").write_bytes(_TEXT[:size])
        found, written = _converted(in_process, "in.jsonl")
        assert (found.code, written) == (1, None)
        assert "in.jsonl:3:" in found.err
        skip = in_process("convert", "in.jsonl", *_AS_RECORDS, "--on-invalid", "skip")
        assert skip.out.encode() == others
        fault.add("a cut inside the last line, convert", "exit code 1, no output")
        skipped = "the rows before it"
        fault.add("the same with --on-invalid skip", skipped)


_BROKEN = b'{"prompt": "x", "ideal_response": 1}'


@pytest.mark.parametrize(
    ("kind", "text", "line"),
    [
        ("CRLF", b"\r\n".join([*_LINES, _BROKEN]), 4),
        ("blank lines", b"\n\r\n \t\n" + b"\n\n".join([*_LINES, _BROKEN]), 10),
        ("CR between rows", b"\r".join(_LINES) + b"\n" + _BROKEN, None),
        ("CR at both ends of a line", b"\n\r".join([*_LINES, _BROKEN]), 4),
        ("U+2028 and U+0085 in texts", b"\n".join([*_LINES, _BROKEN]), 4),
        ("U+2028 between rows", f"{_FIRST}\u2028{_SECOND}".encode(), None),
        ("U+0085 between rows", f"{_FIRST}\x85{_SECOND}".encode(), None),
        ("VT and FF between rows", b"\v".join(_LINES) + b"\f", None),
    ],
)
def test_14_line_ends(
    kind: str, text: bytes, line: int | None, tmp_path: Path, fault: Injections
) -> None:
    """Only LF ends a line; the wrong row has the line that `wc -l` would count."""
    (tmp_path / "in.jsonl").write_bytes(text)
    file, *problems = _report(tmp_path, "--select", "J,S")["in.jsonl"]

    errors = [each for each in problems if each["severity"] == "error"]
    assert errors
    if line is None:
        assert file["valid"] == 0
        assert errors[0]["line"] == 1
        fault.add(kind, "no line end: a finding in line 1")
        return
    assert [each["line"] for each in errors] == [line]
    assert text.count(b"\n") == line - 1
    assert (file["valid"], file["invalid"]) == (3, 1)
    fault.add(kind, "as many rows and lines as there are")


def test_14_texts_keep_what_looks_like_line_ends(fault: Injections) -> None:
    """Each letter of Unicode that other programs split at comes back as it was."""
    ends = "\u2028\u2029\x85\x1c\x1d\x1e\v\f\r"
    rows = [{"prompt": f"a{each}b", "ideal_response": each} for each in ends]
    written = [json.dumps(row, ensure_ascii=False) for row in rows]
    raw = [row for row, end in zip(written, ends, strict=True) if end >= "\x7f"]
    data = "\n".join([*map(json.dumps, rows), *raw]).encode()
    result = run("convert", "-", *_AS_RECORDS, stdin=data)

    assert result.returncode == 0
    read = [json.loads(line)["prompt"] for line in result.stdout.split(b"\n") if line]
    wanted = [row["prompt"] for row in rows]
    assert read == [*wanted, *(each for each in wanted if each[1] >= "\x7f")]
    fault.add("a letter that ends lines elsewhere", "kept in its text", len(read))


_NAMES = ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"]


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["no mark", "mark"])
@pytest.mark.parametrize("encoding", _NAMES)
def test_15_other_encodings(
    encoding: str, mark: str, in_process: InProcess, fault: Injections
) -> None:
    """Every command names the encoding, exits with 2, and writes nothing."""
    text = mark + _TEXT.decode()
    Path("in.jsonl").write_bytes(text.encode(encoding))
    output = ("-o", "out")
    for words in (
        ("validate", "in.jsonl"),
        ("validate", "in.jsonl", "--fix"),
        ("convert", "in.jsonl", *_AS_RECORDS, *output),
        ("head", "in.jsonl", "-n", "1", *output),
        ("merge", "in.jsonl", *output),
        ("stats", "in.jsonl"),
        ("diff", "in.jsonl", "in.jsonl"),
    ):
        found = in_process(*words)
        assert found.code == 2, words
        assert encoding[:-2] in found.err
        assert not Path("out").exists()
        fault.add("UTF-16 or UTF-32", "exit code 2, the encoding is named")
    assert Path("in.jsonl").read_bytes() == text.encode(encoding)

    name = encoding[:-2] if mark else encoding
    found, _ = _converted(in_process, "in.jsonl")
    assert f"--encoding {name}" in found.err
    named = in_process("convert", "in.jsonl", *_AS_RECORDS, "--encoding", name)
    Path("plain.jsonl").write_bytes(_TEXT)
    assert (named.code, named.out.encode()) == (
        0,
        _converted(in_process, "plain.jsonl")[1],
    )
    fault.add("UTF-16 or UTF-32 with --encoding", "read as UTF-8 is")


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("one mark at the start", b"\xef\xbb\xbf" + _TEXT, [("J201", 1, "warning")]),
        ("two marks at the start", b"\xef\xbb\xbf" * 2 + _TEXT, None),
        ("a mark before a later line", _TEXT + b"\xef\xbb\xbf" + _LINES[0], None),
    ],
)
def test_15_byte_order_marks(
    kind: str,
    text: bytes,
    found: list[tuple[str, int, str]] | None,
    tmp_path: Path,
    fault: Injections,
) -> None:
    """One mark at the start is a warning and no part of the row, others are errors."""
    (tmp_path / "in.jsonl").write_bytes(text)
    _, *problems = _report(tmp_path, "--select", "J,S")["in.jsonl"]
    seen = [(each["code"], each["line"], each["severity"]) for each in problems]
    if found is None:
        line = 1 if text.startswith(b"\xef") else 4
        assert (line, "error") in [each[1:] for each in seen]
        fault.add(kind, "an error with its line")
        return
    assert seen == found
    plain = run("convert", "-", *_AS_RECORDS, stdin=_TEXT).stdout
    assert run("convert", "-", *_AS_RECORDS, stdin=text).stdout == plain
    fault.add(kind, "a warning, the same records")


_CODECS: dict[str, Compress] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def _flipped(data: bytes, step: int) -> Iterator[bytes]:
    """Yield data with one bit of it flipped, for each bit or each `step` bits."""
    for place in range(0, len(data) * 8, step):
        number, bit = divmod(place, 8)
        yield data[:number] + bytes([data[number] ^ 1 << bit]) + data[number + 1 :]


@pytest.mark.parametrize("step", _STEPS)
@pytest.mark.parametrize("suffix", _CODECS)
def test_16_flipped_bits(
    suffix: str, step: int, in_process: InProcess, fault: Injections
) -> None:
    """What a flipped bit changes is exit code 2 without output; or nothing changed."""
    packed = _CODECS[suffix](_TEXT)
    name = f"in.jsonl.{suffix}"
    Path(name).write_bytes(packed)
    _, whole = _converted(in_process, name)
    seen: Counter[int] = Counter()
    for damaged in _flipped(packed, step):
        Path(name).write_bytes(damaged)
        found, written = _converted(in_process, name)
        assert found.code in {0, 2}
        assert written == (whole if found.code == 0 else None)
        assert found.code == 0 or "error: " in found.err
        seen[found.code] += 1
    assert seen[2] > seen[0]  # a time or a name in the header may be any
    fault.add(f"a flipped bit ({suffix})", "exit code 2, no output", seen[2])
    if seen[0]:
        injected = f"a flipped bit of the header ({suffix})"
        fault.add(injected, "the same records", seen[0])


@pytest.mark.parametrize("step", _STEPS)
@pytest.mark.parametrize("suffix", _CODECS)
def test_16_cut_at_each_byte(
    suffix: str, step: int, in_process: InProcess, fault: Injections
) -> None:
    """A compressed file that is cut is exit code 2, an empty one is an error."""
    packed = _CODECS[suffix](_TEXT)
    name = f"in.jsonl.{suffix}"
    for size in range(0, len(packed), step):
        Path(name).write_bytes(packed[:size])
        found, written = _converted(in_process, name)
        assert (found.code, written) == (2 if size else 1, None)
        if size:
            fault.add(f"a cut ({suffix})", "exit code 2, no output")
    fault.add(f"a file of no bytes ({suffix})", "exit code 1")


def _large_text() -> bytes:
    """Return so many rows that they are decompressed in several pieces."""
    return b"".join(
        b'{"prompt": "question %d", "ideal_response": "%d"}\n' % (number, number**3)
        for number in range(20_000)
    )


_DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut in the middle": lambda packed: packed[: len(packed) // 2],
    "four bytes cut off": lambda packed: packed[:-4],
    "wrong checksum": lambda packed: (
        packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]
    ),
    "text behind it": lambda packed: packed + b"text",
    "wrong size": lambda packed: packed[:-1] + bytes([packed[-1] ^ 1]),
}


@pytest.mark.parametrize("kind", _DAMAGES)
def test_16_damage_behind_many_rows(
    kind: str, tmp_path: Path, fault: Injections
) -> None:
    """Rows before the damage are counted, and nothing is written of them."""
    packed = gzip.compress(_large_text(), 1)
    (tmp_path / "in.jsonl.gz").write_bytes(_DAMAGES[kind](packed))
    seen = run("validate", tmp_path, *_FORMAT, "--select", "J,S", "--jobs", "2")
    assert seen.returncode == 2
    assert len(error_lines(seen)) == 1
    assert "(after " in seen.stderr.decode()
    made = run("convert", tmp_path, *_AS_RECORDS, "-o", tmp_path / "out")
    assert made.returncode == 2
    assert [each.name for each in tmp_path.iterdir()] == ["in.jsonl.gz"]
    fault.add(f"gzip: {kind}", "exit code 2, no output")


def test_16_what_is_allowed(tmp_path: Path, fault: Injections) -> None:
    """Several members and zeros behind them are one text, a member of nothing none."""
    text = _large_text()
    half = len(text) // 2
    parts = [gzip.compress(text[:half]), gzip.compress(text[half:])]
    (tmp_path / "two.jsonl.gz").write_bytes(b"".join([*parts, bytes(512)]))
    (tmp_path / "none.jsonl.gz").write_bytes(gzip.compress(b""))
    two = run("convert", tmp_path / "two.jsonl.gz", *_AS_RECORDS)
    plain = run("convert", "-", *_AS_RECORDS, stdin=text)
    assert (two.returncode, two.stdout) == (0, plain.stdout)
    fault.add("gzip: several members, zeros behind them", "the rows of all members")

    none = run("validate", tmp_path / "none.jsonl.gz", *_FORMAT)
    assert none.returncode == 1
    assert b"J111" in none.stdout
    fault.add("gzip: a member of nothing", "exit code 1, an error")
