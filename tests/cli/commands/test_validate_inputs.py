"""`harpia-formats validate`: which records and files it reads."""

import gzip
import shutil
from pathlib import Path

import pytest

from cases import for_each_case
from command_runs import codes, error_lines, report_of, run

FIXTURES = Path(__file__).parents[3] / "fixtures"
RUNS = FIXTURES / "eee@0.2.0" / "valid" / "runs.jsonl"
TAG_RUNS = min((FIXTURES / "eee@0.2.0-tag" / "valid").glob("*.jsonl"))


@pytest.mark.parametrize("limit", [1, 1000, 1001, 6000])
def test_limit_is_exact(data: Path, limit: int) -> None:
    """Exactly N records are validated with --limit N; blank lines do not count."""
    rows = b'{"a":1}\n\n  \n{"a":"x"}\n' * 3001
    report = report_of(
        *("-", "--schema", data / "schema.json", "--limit", limit, "--ignore", "J202"),
        stdin=rows,
    )

    (file,) = report["files"]
    assert (file["records"], file["errors"]) == (limit, limit // 2)
    assert file["complete"] is False


def test_limit_beyond_the_end_changes_nothing(data: Path) -> None:
    """A file with fewer records than the limit is read to its end."""
    arguments = (data / "rows.jsonl", "--schema", data / "schema.json")

    assert report_of(*arguments, "--limit", 9) == report_of(*arguments)


@pytest.mark.parametrize("text", [b'{"a":1}\n{"a":2}\n\n \n', b'{"a":1}\n\n{"a":2}\n'])
def test_limit_that_is_just_enough_reads_to_the_end(data: Path, text: bytes) -> None:
    """Blank lines after the last record within the limit are not records."""
    arguments = ("-", "--schema", data / "schema.json", "--limit", 2)

    assert report_of(*arguments, stdin=text)["files"][0]["complete"] is True


def test_fail_fast_stops_at_the_first_error(data: Path) -> None:
    """With --fail-fast there is one error, and nothing after it is counted."""
    (data / "late.jsonl").write_bytes(
        b'{"a":1}\n\n' * 2000 + (data / "rows.jsonl").read_bytes()
    )
    arguments = ("late.jsonl", "rows.jsonl", "--schema", "schema.json", "--fail-fast")
    report = report_of(*arguments, cwd=data)

    (file,) = report["files"]
    assert (file["records"], file["invalid"], file["errors"]) == (2002, 1, 1)
    errors = [each for each in report["problems"] if each["severity"] == "error"]
    assert [(each["line"], each["record"]) for each in errors] == [(4002, 2002)]
    assert file["complete"] is False


def test_records_are_numbered_without_blank_lines(data: Path) -> None:
    """The line of a finding counts blank lines, its record does not."""
    text = b'\n{"a":1}\n \n\r\n{"a":"x"}\n\n'
    report = report_of("-", "--schema", data / "schema.json", stdin=text)
    error, note = sorted(report["problems"], key=lambda each: each["code"] == "J202")

    assert (error["line"], error["record"]) == (5, 2)
    assert (note["code"], note["line"], note["record"]) == ("J202", 1, None)
    assert "4 blank lines" in note["message"]
    assert report["summary"]["records"] == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b'{"a":1}\n{"a":2}', []),
        (b'{"a":1}\r\n{"a":2}\r\n', []),
        (b'[{"a":1},{"a":2}]', []),
        (b'{\n  "a": 1\n}\n', []),
        (b'\xef\xbb\xbf{"a":1}\n', ["J201"]),
        (b'{"a":1}\n{"a":2', ["J102"]),
        (b'{"a":1}\n{"a":2,}\n{"a":3}\n', ["J101"]),
        (b'{"a":1,"b":"\xe9"}\n', ["J103"]),
        (b'{"a":1,"b":"\\ud800"}\n', ["J104"]),
        (b'{"a":1,"b":[{"c":1,"c":2}]}\n', ["J105"]),
        (b'{"a":1,"b":NaN}\n{"a":1,"b":-Infinity}\n', ["J106", "J106"]),
        (b'{"a":1,"b":1e400}\n', ["J107"]),
        (b'{"a":1,"b":' + b"[" * 200 + b"]" * 200 + b"}\n", ["J108"]),
        (b'{"a":1,"b":' + b"[" * 100_000 + b"\n", ["J108"]),
        (b'{"a":1,"b":"\t"}\n', ["J109"]),
        (b"", ["J111"]),
        (b"\n \r\n\n", ["J111"]),
        (b"[]", ["J111"]),
        (b'[{"a":1}', ["J112"]),
        (b'[{"a":1}] {}', ["J112"]),
    ],
)
def test_text_is_validated(data: Path, text: bytes, found: list[str]) -> None:
    """Every container is read, and broken data is an error without a traceback."""
    schema = data / "schema.json"
    result = run("validate", "-", "--schema", schema, "--ignore", "J202", stdin=text)

    assert codes(result) == found
    assert result.returncode == (0 if set(found) <= {"J201"} else 1)
    assert error_lines(result) == []
    assert all(each.startswith(b"<stdin>:") for each in result.stdout.splitlines())


def test_an_encoding_is_named_that_may_read_the_text(tmp_path: Path) -> None:
    """It is for bytes of Windows-1252, and not beside UTF-8 or for no character."""
    file = tmp_path / "rows.jsonl"
    named = b"`--encoding cp1252`"
    for text in ("caf\xe9".encode("cp1252"), b"\x81", "\u4e2d".encode() + b"\xe9"):
        row = b'{"prompt": "%b", "references": ["r"], "outputs": []}\n' % text
        file.write_bytes(row)
        found = run("validate", file, "--output-format", "full")
        read = run("validate", file, "--encoding", "cp1252")

        is_read = text.startswith(b"caf")
        assert codes(run("validate", file)) == ["J103"]
        assert (named in found.stdout) is is_read
        if is_read:
            assert read.returncode == 0


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-be"])
def test_wide_encoding_is_named(data: Path, encoding: str) -> None:
    """Text in another Unicode encoding ends with 2 and the name of the encoding."""
    (data / "wide.jsonl").write_bytes('{"a":1}\n'.encode(encoding))
    result = run("validate", data / "wide.jsonl")

    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = error_lines(result)
    assert f"is {encoding[:6].upper()}" in line


def test_missing_file_does_not_stop_the_others(data: Path) -> None:
    """Existing files are validated; a missing one is one line and exit code 2."""
    files = ("rows.jsonl", "god.jsonl", "good.jsonl")
    result = run("validate", *files, "--schema", "schema.json", cwd=data)

    assert result.returncode == 2
    assert codes(result) == ["S102", "S102", "J106"]
    (line,) = error_lines(result)
    assert line.startswith("error: god.jsonl: does not exist; did you mean good.jsonl")
    report = report_of(*files, "--schema", "schema.json", cwd=data)
    assert [each["records"] for each in report["files"]] == [5, 0, 2]


def test_file_named_twice_is_validated_once(data: Path) -> None:
    """A file that several arguments name is read and counted once."""
    arguments = ("rows.jsonl", "rows.jsonl", "*.jsonl", "--schema", "schema.json")
    report = report_of(*arguments, cwd=data)

    assert [each["path"] for each in report["files"]] == ["rows.jsonl", "good.jsonl"]


def test_folder_is_searched_without_hidden_files(data: Path) -> None:
    """The data files of a folder and its folders are validated, except hidden ones."""
    for each in ("sub/b.jsonl.gz", "sub/.c.jsonl", ".hidden/d.jsonl", "notes.txt"):
        (data / each).parent.mkdir(exist_ok=True)
        (data / each).write_bytes(gzip.compress(b'{"a":1}\n'))
    (data / "schema.json").rename(data / "schema")
    report = report_of(".", "--schema", "schema", cwd=data)

    paths = ["good.jsonl", "rows.jsonl", "sub/b.jsonl.gz"]
    assert [each["path"] for each in report["files"]] == paths


@pytest.mark.parametrize("name", ["empty", "nope*.jsonl", "no/such.jsonl", ""])
def test_input_without_data_is_one_line(data: Path, name: str) -> None:
    """A folder, pattern or path that leads to no data ends with 2 in one line."""
    (data / "empty").mkdir()
    result = run("validate", name, cwd=data)

    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = error_lines(result)
    assert line.startswith(f"error: {name}: ")


def test_names_cannot_command_the_terminal(data: Path) -> None:
    """Control characters in file names are shown as escapes in every message."""
    name = "\x1b]0;owned\x07\n::error::x.jsonl"
    (data / name).write_bytes((data / "rows.jsonl").read_bytes())
    found = run("validate", name, "--schema", "schema.json", cwd=data)
    missing = run("validate", name + "y", cwd=data)

    assert (found.returncode, missing.returncode) == (1, 2)
    for each in (found, missing):
        printed = each.stdout + each.stderr
        assert b"\x1b" not in printed
        assert b"\x07" not in printed
        assert not any(line.startswith(b"::") for line in printed.splitlines())
        assert b"\\x1b]0;owned\\x07\\n" in printed


def test_rows_before_the_fault_of_a_compressed_file_are_validated(data: Path) -> None:
    """A truncated gzip file ends with 2; findings before the end are kept."""
    rows = b"".join(b'{"a":%d}\n{"a":"%d"}\n' % (i, i * i) for i in range(20_000))
    packed = gzip.compress(rows)
    (data / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    arguments = ("cut.jsonl.gz", "--schema", "schema.json")
    result = run("validate", *arguments, cwd=data)
    report = report_of(*arguments, cwd=data)

    (file,) = report["files"]
    assert result.returncode == 2
    assert set(codes(result)) == {"S102"}
    assert file["records"] > 10_000
    assert file["invalid"] == file["errors"] == file["records"] // 2
    assert file["complete"] is False
    (line,) = error_lines(result)
    assert "truncated" in line
    assert f"{file['records']:,} records, the last in line {file['records']:,}" in line


def test_corrupt_checksum_is_reported_after_the_rows(data: Path) -> None:
    """A gzip file with a wrong checksum ends with 2 although every row was read."""
    packed = bytearray(gzip.compress((data / "rows.jsonl").read_bytes()))
    packed[-8] ^= 1
    (data / "sum.jsonl.gz").write_bytes(packed)
    result = run("validate", "sum.jsonl.gz", "--schema", "schema.json", cwd=data)

    assert result.returncode == 2
    assert codes(result) == ["S102", "S102", "J106"]
    assert "corrupt" in error_lines(result)[0]


def test_family_takes_the_shape_of_each_file() -> None:
    """With --format eee each file is validated against the version of its records."""
    report = report_of(RUNS, TAG_RUNS, "--format", "eee")

    formats = [each["format"] for each in report["files"]]
    assert formats == ["eee@0.2.0", "eee@0.2.0-tag"]
    assert report["summary"]["errors"] == 0
    assert [each["code"] for each in report["problems"]] == ["S202"]


def test_file_of_another_format_has_one_hint() -> None:
    """A file in another format has one S201, and the findings of its records."""
    report = report_of(TAG_RUNS, "--format", "eee@0.2.0")
    file = report["files"][0]
    result = run("validate", TAG_RUNS, "--format", "eee@0.2.0")
    first, *rest = result.stdout.decode().splitlines()
    found = [each["code"] for each in report["problems"]]

    assert (found[0], found.count("S201")) == ("S201", 1)
    assert file["errors"] == sum(each["count"] for each in report["groups"])
    assert file["errors"] > file["invalid"] == file["records"] > 0
    assert " S201 other-shape " in first
    assert any(" S102 wrong-type " in line for line in rest)


def test_unknown_format_is_an_error(data: Path) -> None:
    """A file that no format recognises is an error, and not passed over."""
    result = run("validate", data / "good.jsonl")

    assert (result.returncode, codes(result)) == (1, ["S301"])
    assert b"no known format" in result.stdout


def test_records_without_a_verdict_are_reported(data: Path) -> None:
    """If S301 is ignored, the exit code 1 has its reason on standard error."""
    result = run("validate", data / "good.jsonl", "--ignore", "S301", "--quiet")

    assert (result.returncode, result.stdout) == (1, b"")
    assert b" no verdict: the format is not known, by S301, " in result.stderr
    assert b"--skip-unrecognised" in result.stderr


def test_files_are_chosen(tmp_path: Path) -> None:
    """Files are left out, passed over and counted as the options say."""
    shutil.copy(RUNS, tmp_path / "rows.jsonl")
    (tmp_path / "t.orc").write_bytes(b"ORC")
    (tmp_path / "settings.json").write_text('{"tabSize": 2}')
    skip, exclude = ("--skip-unrecognised",), ("--exclude", "settings.json")

    assert run("validate", tmp_path).returncode == 1
    assert run("validate", tmp_path, *skip).returncode == 0
    assert run("validate", tmp_path, *exclude).returncode == 0
    assert run("validate", tmp_path, *exclude, "--min-records", "99").returncode == 1
    assert run("validate", tmp_path / "t.orc", *exclude).returncode == 2
    for command in (("convert", "--to", "record"), ("score", "--metrics", "em")):
        result = run(*command, tmp_path, *skip)
        assert result.returncode == 0
        assert b"note: passed over: " in result.stderr
        assert run(*command, tmp_path, *exclude).returncode == 0
        assert run(*command, tmp_path).returncode == 1
        least = run(*command, tmp_path, *exclude, "--min-records", "99")
        assert least.returncode == 1
        assert b" J115 too-few-records " in least.stderr


@pytest.mark.parametrize(
    "command", [("validate",), ("detect",), ("convert", "--to", "record")]
)
def test_exclude_that_matches_nothing_is_a_note(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    """A pattern that matches no file is named, and an empty one is refused."""
    shutil.copy(RUNS, tmp_path / "rows.jsonl")
    result = run(*command, tmp_path, "--exclude", "*.jsno")
    empty = run(*command, tmp_path, "--exclude", "")

    assert result.returncode == 0
    assert b"note: `--exclude '*.jsno'` matches no file\n" in result.stderr
    assert empty.returncode == 2
    assert b"`--exclude ''` names no file" in empty.stderr


def test_piped_data_has_the_name_that_is_given() -> None:
    """`--stdin-filename` names what is piped in, and its suffix says how to read it."""
    words = ("-", "--format", "csv", "--stdin-filename", "data/rows.tsv")
    report = report_of(*words, stdin=b"prompt\tresponse\na\tb\n")

    (file,) = report["files"]
    assert (file["path"], file["records"]) == ("data/rows.tsv", 1)


@for_each_case(
    "command, shown",
    [
        (("stats", "-"), b"prompt"),
        (("score", "-", "-m", "length"), b"length"),
        (("score", "system=-", "-m", "length"), b"length"),
        (("score", "compare", "a=-", "{file}", "-m", "length"), b"1 is a"),
        (("score", "agreement", "{file}", "-", "--field", "references"), b"kappa"),
        (("diff", "{file}", "-"), b"0 differ"),
        (("schema", "infer", "-"), b"Rows of rows.tsv"),
        (("judge", "-", "-d", "faithfulness", "--dry-run"), b"3 rows"),
    ],
)
def test_each_command_takes_the_name_of_piped_data(
    tmp_path: Path, command: tuple[str, ...], shown: bytes
) -> None:
    """By its suffix a table with tabs is read, which would be none with commas."""
    data = b"id\tprompt\tresponse\treferences\n" + b"".join(
        b"%d\tprompt %d\tanswer, %d\tb\n" % (number, number, number)
        for number in range(3)
    )
    other = tmp_path / "other.tsv"
    other.write_bytes(data)
    words = [word.format(file=other) for word in command]
    result = run(*words, "--stdin-filename", "data/rows.tsv", stdin=data)

    assert shown in result.stdout + result.stderr
