"""`harpia-formats validate --fix`: what is written, listed, refused and returned."""

import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from command_runs import COMMAND, environment_with, error_lines, run
from corpora import CORPORA

ROOT = Path(__file__).parents[3]
#: The place, rule and text of a listed change.
CHANGE = re.compile(r"(.+):(\d+):(\d+): ([A-Z]+\d{3}) \S+ (.+)")


#: The ends of the names of samples and their aggregate.
ENDS = ("_samples.jsonl", "_aggregate.json")


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """Return a folder with `schema.json` and `rows.jsonl`, three rows to repair.

    The first row is valid, the fifth has a fault that stays, the last is not JSON.
    """
    schema = {
        "properties": {"title": {"type": "string"}, "n": {"type": "number"}},
        "required": ["title"],
        "additionalProperties": False,
    }
    rows = (
        b'{"title":"a" }\n{"title": "b", "n": "1.50"}\n{"titel":"c"}\n'
        b'{"title":"d","n":null}\n{"title":5}\n{"title":"e",}\n'
    )
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    (tmp_path / "rows.jsonl").write_bytes(rows)
    return tmp_path


#: The rows of `bad` after their repair.
FIXED = (
    b'{"title":"a" }\n{"title": "b", "n": 1.50}\n{"title":"c"}\n'
    b'{"title":"d"}\n{"title":5}\n{"title":"e",}\n'
)


def options(folder: Path) -> tuple[object, ...]:
    """Return the options by which the rows of `bad` are validated."""
    return "--schema", folder / "schema.json"


def test_fix_rewrites_the_file_and_reports_what_is_left(bad: Path) -> None:
    """Each change is listed with its rule; two errors are left, so it exits with 1."""
    path = bad / "rows.jsonl"
    result = run("validate", path, *options(bad), "--fix")

    assert path.read_bytes() == FIXED
    assert result.returncode == 1
    lines = result.stderr.decode().splitlines()
    listed = [found for found in map(CHANGE.fullmatch, lines) if found]
    assert [found[4] for found in listed] == ["S102", "S103", "S102"]
    assert listed[0][0] == (
        f'{path}:2:21: S102 wrong-type wrote the text "1.50" as a number [/n]'
    )
    assert "made 3 changes in 1 file: 2 of S102, 1 of S103" in lines
    assert result.stdout.count(b"rows.jsonl:") == 2


def test_fix_exits_with_0_if_nothing_is_left(bad: Path) -> None:
    """A file whose errors are all repaired is valid."""
    path = bad / "rows.jsonl"
    path.write_bytes(b'{"titel":"c"}\n')
    result = run("validate", path, *options(bad), "--fix")

    assert (result.returncode, result.stdout) == (0, b"")


def test_a_key_that_the_schema_names_is_not_renamed(bad: Path) -> None:
    """A missing key is reported as such, even if a known key is spelled nearly so."""
    schema = {
        "properties": {"reference": {}, "references": {"type": "array"}},
        "allOf": [{"required": ["reference"]}],
    }
    row = b'{"references": ["a", "b"]}\n'
    (bad / "schema.json").write_text(json.dumps(schema))
    (bad / "rows.jsonl").write_bytes(row)
    result = run("validate", bad / "rows.jsonl", *options(bad), "--fix")

    assert result.returncode == 1
    assert b": S101 missing-key reference is missing" in result.stdout
    assert (bad / "rows.jsonl").read_bytes() == row


def test_a_file_without_repairs_is_not_written(bad: Path) -> None:
    """It keeps its inode and its time."""
    path = bad / "rows.jsonl"
    path.write_bytes(b'{"title":"c"}\n')
    before = path.stat()
    result = run("validate", path, *options(bad), "--fix")

    assert result.returncode == 0
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
    )


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch")
def test_diff_is_what_patch_applies(bad: Path) -> None:
    """Nothing is written, the exit code is 1, and patch gives what --fix writes."""
    path = bad / "rows.jsonl"
    before = path.read_bytes()
    result = run("validate", path, *options(bad), "--diff")

    assert (result.returncode, path.read_bytes()) == (1, before)
    subprocess.run(["patch", "-s", path], input=result.stdout, check=True)  # noqa: S603, S607 - patch itself
    assert path.read_bytes() == FIXED


@pytest.mark.parametrize("tool", [("patch", "-s", "-p0"), ("git", "apply", "-p0")])
@pytest.mark.parametrize(
    "name", ["a b.jsonl", 'a\n"é\t\\b.jsonl', "é.jsonl", "x y/z.jsonl"]
)
def test_diff_of_any_name_is_applied(
    name: str, tool: tuple[str, ...], bad: Path
) -> None:
    """Spaces, newlines, quotation marks and backslashes lead to the same file."""
    if shutil.which(tool[0]) is None:
        pytest.skip(f"there is no {tool[0]}")
    path = bad / name
    path.parent.mkdir(exist_ok=True)
    (bad / "rows.jsonl").rename(path)
    result = run("validate", name, "--schema", "schema.json", "--diff", cwd=bad)

    subprocess.run(tool, input=result.stdout, cwd=bad, check=True)  # noqa: S603 - patch or git
    assert path.read_bytes() == FIXED


def test_diff_exits_with_0_if_nothing_would_change(bad: Path) -> None:
    """What cannot be repaired does not matter to --diff."""
    path = bad / "rows.jsonl"
    path.write_bytes(b'{"title":5}\n')
    result = run("validate", path, *options(bad), "--diff", "--fix")

    assert (result.returncode, result.stdout) == (0, b"")


def test_output_takes_the_repaired_file(bad: Path) -> None:
    """The input stays; the findings are those of the output; a second run refuses."""
    path, output = bad / "rows.jsonl", bad / "fixed.jsonl"
    before = path.read_bytes()
    arguments = ("validate", path, *options(bad), "--fix", "-o", output)
    result = run(*arguments)

    assert (path.read_bytes(), output.read_bytes()) == (before, FIXED)
    assert result.stdout.startswith(bytes(output))
    again = run(*arguments)
    assert again.returncode == 2
    assert error_lines(again) == [
        f"error: cannot write {output}: already exists; `--overwrite` replaces it"
    ]
    assert run(*arguments, "--overwrite").returncode == 1


def test_compressed_and_standard_input_need_an_output(bad: Path) -> None:
    """Both are refused with the reason, and repaired into another file."""
    rows = (bad / "rows.jsonl").read_bytes()
    packed = bad / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(rows))
    hint = "; name another file with `--output`"
    fix = (*options(bad), "--fix")

    result = run("validate", packed, *fix)
    assert result.returncode == 2
    assert f"error: {packed}: a compressed file is not rewritten in place{hint}" in (
        error_lines(result)
    )
    result = run("validate", "-", *fix, stdin=rows)
    assert result.returncode == 2
    assert f"error: <stdin>: standard input cannot be rewritten in place{hint}" in (
        error_lines(result)
    )
    output = bad / "out.jsonl.gz"
    assert run("validate", packed, *fix, "-o", output).returncode == 1
    assert gzip.decompress(output.read_bytes()) == FIXED
    output = bad / "out.jsonl"
    assert run("validate", "-", *fix, "-o", output, stdin=rows).returncode == 1
    assert output.read_bytes() == FIXED


def test_links_and_modes(bad: Path) -> None:
    """The target of a symbolic link is rewritten with its mode; a hard link is not."""
    path, link = bad / "rows.jsonl", bad / "link.jsonl"
    path.chmod(0o640)
    link.symlink_to(path)
    run("validate", link, *options(bad), "--fix")

    assert link.is_symlink()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (FIXED, 0o640)
    other = bad / "other.jsonl"
    path.write_bytes(b'{"titel":"c"}\n')
    other.hardlink_to(path)
    result = run("validate", path, *options(bad), "--fix")
    assert result.returncode == 2
    assert "2 names (hard links)" in "".join(error_lines(result))
    assert other.read_bytes() == b'{"titel":"c"}\n'


def test_a_folder_is_repaired_file_by_file(bad: Path) -> None:
    """All files that can be are rewritten, whatever is wrong with one of them."""
    folder = bad / "data"
    folder.mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_bytes(b'{"titel":"c"}\n')
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(b'{"titel":"c"}\n'))
    result = run("validate", folder, *options(bad), "--fix")

    assert result.returncode == 2
    for name in ("a.jsonl", "b.jsonl"):
        assert (folder / name).read_bytes() == b'{"title":"c"}\n'
    assert b"made 2 changes in 2 files: 2 of S103\n" in result.stderr


def test_a_table_that_can_be_read_two_ways_stops_no_repair(tmp_path: Path) -> None:
    """A note says that its answers may be expected ones; other files are repaired."""
    record = b'{"prompt": "hi", "outputs": []}\n'
    for name in ("a.json", "c.json"):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + record)
    (tmp_path / "b.csv").write_bytes(b"prompt,response\nhi,there\n")
    result = run("validate", tmp_path, "--fix")

    assert result.returncode == 0
    assert (tmp_path / "a.json").read_bytes() == record
    assert (tmp_path / "c.json").read_bytes() == record
    assert b"b.csv:1:1: note S205 " in result.stdout


def test_a_full_disk_leaves_the_file_as_it_was(bad: Path) -> None:
    """The reason is reported, and no part of the new file is left."""
    path = bad / "rows.jsonl"
    path.write_bytes(b'{"titel":"c"}\n' * 500)
    before = path.read_bytes()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    result = subprocess.run(  # noqa: S603 - our own command
        [*COMMAND, "validate", path, *map(str, options(bad)), "--fix", "--quiet"],
        capture_output=True,
        env=environment_with({}),
        preexec_fn=limit,
        check=False,
    )

    assert result.returncode == 2
    assert b"nothing was written" in result.stderr
    assert path.read_bytes() == before
    assert sorted(one.name for one in bad.iterdir()) == ["rows.jsonl", "schema.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only_is_an_error(bad: Path) -> None:
    """The file stays, and the reason is reported."""
    bad.chmod(0o500)
    result = run("validate", bad / "rows.jsonl", *options(bad), "--fix")
    bad.chmod(0o700)

    assert result.returncode == 2
    assert "nothing was written" in "".join(error_lines(result))


def test_a_file_that_changes_meanwhile_is_refused(bad: Path) -> None:
    """A line that is added while the file is read is not lost."""
    path = bad / "rows.jsonl"
    code = (
        "import sys; from pathlib import Path\n"
        "from harpia_formats.validation.repair import run\n"
        "blocks = run.blocks_again\n"
        "def changed(file, state):\n"
        "    path = Path(file.source.origin)\n"
        '    path.write_bytes(path.read_bytes() + b\'{"title":"new"}\\n\')\n'
        "    return blocks(file, state)\n"
        "run.blocks_again = changed\n"
        "from harpia_formats.cli import main\n"
        "sys.exit(main())\n"
    )
    before = path.read_bytes()
    command = [sys.executable, "-c", code, "validate", str(path)]
    result = subprocess.run(  # noqa: S603 - our own code
        [*command, *map(str, options(bad)), "--fix"],
        capture_output=True,
        env=environment_with({}),
        check=False,
    )

    assert result.returncode == 2
    assert b"was changed while it was read" in result.stderr
    assert path.read_bytes() == before + b'{"title":"new"}\n'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("-o", "x.jsonl"),
            "`--output` and `--overwrite` are for repairs; add `--fix`",
        ),
        (("--fix", "--limit", "3"), "`--limit` and `--fix` cannot be combined"),
        (("--fix", "--fail-fast"), "`--fail-fast` and `--fix` cannot be combined"),
        (("--diff", "-o", "x.jsonl"), "`--diff` writes nothing"),
        (
            ("--diff", "--output-format", "json"),
            "`--diff` and `--output-format` cannot be combined",
        ),
        (("--diff", "--min-records", "9"), "`--diff` and `--min-records` cannot"),
        (("--diff", "--write-baseline", "b"), "`--diff` and `--write-baseline` cannot"),
        (("--diff", "--statistics"), "`--diff` and `--statistics` cannot"),
        (("--diff", "--error-on-warning"), "`--diff` and `--error-on-warning` cannot"),
        (("--fix", "-o", "-"), "the findings go there"),
        (
            ("--fix", "schema.json", "-o", "x"),
            "`--output` takes the repairs of one file",
        ),
        (
            ("--fix", "schema.json", "-o", "rows.jsonl", "--overwrite"),
            "`--output` takes the repairs of one file",
        ),
    ],
)
def test_options_that_exclude_each_other(
    arguments: tuple[str, ...], message: str, bad: Path
) -> None:
    """The command says why, exits with 2, and changes nothing."""
    before = (bad / "rows.jsonl").read_bytes()
    result = run("validate", "rows.jsonl", *arguments, cwd=bad)

    assert result.returncode == 2
    assert message in "".join(error_lines(result))
    assert (bad / "rows.jsonl").read_bytes() == before


def test_what_has_no_repairs_is_only_validated(bad: Path) -> None:
    """A compressed file, one with two names and standard input are not refused."""
    fix = (*options(bad), "--fix")
    for rows, code in ((b'{"title":"c"}\n' * 9, 0), (b'{"title":5}\n', 1)):
        packed, path = bad / "z.jsonl.gz", bad / "rows.jsonl"
        packed.write_bytes(gzip.compress(rows))
        path.write_bytes(rows)
        if not (bad / "other.jsonl").exists():
            (bad / "other.jsonl").hardlink_to(path)
        for given in (packed, path):
            result = run("validate", given, *fix)
            assert (result.returncode, error_lines(result)) == (code, [])
        result = run("validate", "-", *fix, stdin=rows)
        assert (result.returncode, error_lines(result)) == (code, [])
        count = rows.count(b"\n")
        assert f"<stdin>: {count} record".encode() in result.stderr


def test_an_output_that_cannot_be_written_is_refused(bad: Path) -> None:
    """So are a pipe, a folder that is not there, and the input without --overwrite."""
    (bad / "link.jsonl").symlink_to("rows.jsonl")
    os.mkfifo(bad / "pipe")
    before = (bad / "rows.jsonl").read_bytes()
    fix = ("validate", "rows.jsonl", "--schema", "schema.json", "--fix", "-o")
    for name, reason in (
        ("pipe", "is no regular file"),
        ("none/x.jsonl", "its folder does not exist"),
        ("rows.jsonl", "already exists; `--overwrite` replaces it"),
        ("link.jsonl", "already exists; `--overwrite` replaces it"),
    ):
        overwrite = ("--overwrite",) if name == "pipe" else ()
        result = run(*fix, name, *overwrite, cwd=bad)
        assert result.returncode == 2
        assert error_lines(result) == [f"error: cannot write {name}: {reason}"]
    assert (bad / "rows.jsonl").read_bytes() == before


@pytest.mark.parametrize("named", [str, Path.as_uri], ids=["path", "URL"])
def test_the_input_as_output_is_rewritten_in_place(
    named: Callable[[Path], str], bad: Path
) -> None:
    """It is validated then, repaired or not; a compressed file is refused."""
    path = bad / "rows.jsonl"
    arguments = ("validate", path, *options(bad), "--fix", "--overwrite", "-o")
    for _ in range(2):
        result = run(*arguments, named(path))
        assert result.returncode == 1
        assert result.stdout.startswith(bytes(path))
        assert path.read_bytes() == FIXED
    packed = bad / "z.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"titel":"c"}\n'))
    result = run("validate", packed, *arguments[2:], named(packed))
    assert result.returncode == 2
    assert error_lines(result)[0].endswith(
        "a compressed file is not rewritten in place; name another file with `--output`"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--baseline", "typo.json"),
            "does not exist; write it with `--write-baseline`",
        ),
        (("--write-baseline", "none/b.json"), "its folder does not exist"),
        (("--write-baseline", "schema.json"), "is no baseline"),
    ],
)
def test_a_baseline_that_cannot_be_used_comes_before_the_repair(
    arguments: tuple[str, ...], message: str, bad: Path
) -> None:
    """The exit code is 2, and the files are as they were."""
    before = (bad / "rows.jsonl").read_bytes()
    fix = ("--schema", "schema.json", "--fix")
    result = run("validate", "rows.jsonl", *fix, *arguments, cwd=bad)

    assert result.returncode == 2
    assert message in "".join(error_lines(result))
    assert (bad / "rows.jsonl").read_bytes() == before


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("arguments", "samples", "everything"),
    [((), 216, 234), (("--fix",), 294, 312), (("--unsafe-fixes",), 306, 324)],
)
def test_real_samples(
    arguments: tuple[str, ...], samples: int, everything: int, tmp_path: Path
) -> None:
    """So many of the 306 real rows and of all 324 records are valid for their shape.

    Next to their aggregates 12 rows that have another evaluation id stay invalid, and
    all checksums hold as before.
    """
    copy = tmp_path / "samples"
    shutil.copytree(CORPORA / "eee" / "samples", copy)
    if arguments:
        run("validate", copy, *arguments, "--quiet")
    result = run("validate", copy, "--ignore", "E", "--output-format", "json")
    report = json.loads(result.stdout)

    rows = [one for one in report["files"] if one["path"].endswith(".jsonl")]
    assert sum(one["records"] for one in rows) == 306
    assert sum(one["valid"] for one in rows) == samples
    assert report["summary"]["records"] == 324
    assert report["summary"]["valid"] == everything
    result = run("validate", copy, "--select", "E2", "--output-format", "json")
    report = json.loads(result.stdout)
    errors = [one for one in report["problems"] if one["severity"] == "error"]
    assert Counter(one["code"] for one in errors) == {"E201": 12}


@pytest.mark.corpora
def test_changes_that_lose_text_are_counted(tmp_path: Path) -> None:
    """The line of the change says what is lost, and the last line how often."""
    name = "era96bd610f_inspect_ic_ctf_mistral-small-latest_samples.jsonl"
    path = tmp_path / name
    shutil.copy(CORPORA / "eee" / "samples" / name, path)
    for arguments, end in (
        (("--unsafe-fixes", "--diff"), "1 of them would lose text"),
        (("--unsafe-fixes",), "1 of them lost text"),
    ):
        lines = run("validate", path, *arguments).stderr.decode().splitlines()
        (line_removed,) = [line for line in lines if "removed interactions" in line]
        assert (
            "nowhere else in the row, of 1 system turn [/interactions]" in line_removed
        )
        assert any(line.endswith(f"1 of E109; {end}") for line in lines)


@pytest.mark.corpora
def test_aggregates_that_do_not_follow_are_reported(tmp_path: Path) -> None:
    """In one line, whether an aggregate is missing, cannot be written, or is kept."""
    stem = "conv_inspect_mock_adds"
    samples, aggregate = (tmp_path / f"{stem}{end}" for end in ENDS)

    def lines(*arguments: object) -> list[str]:
        for path in (samples, aggregate):
            shutil.copy(CORPORA / "eee" / "samples" / path.name, path)
        result = run("validate", *arguments)
        found = result.stderr.decode().splitlines()
        return [
            line for line in found if "eee-aggregate" in line and "valid" not in line
        ]

    missing = (
        f"{samples}: no eee-aggregate among the files follows the repair, and a "
        "checksum in one is out of date"
    )
    assert lines(samples, "--fix") == [missing]
    assert lines(samples, "--diff") == [missing.replace("is out", "would be out")]
    assert lines(samples, "--fix", "--quiet") == []
    assert lines(tmp_path, "--fix") == []
    assert lines(samples, "--fix", "--with", aggregate) == []
    assert lines(samples, "--fix", "-o", tmp_path / "out.jsonl") == [
        f"{samples}: a checksum in its eee-aggregate is still that of the input"
    ]
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(aggregate.read_bytes()))
    assert lines(samples, "--fix", "--with", packed) == [missing]
