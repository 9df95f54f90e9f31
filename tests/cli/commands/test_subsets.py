"""The commands that copy rows: their outputs, messages and exit codes."""

from pathlib import Path

from command_runs import run

LINES = b"".join(
    b'{"id":"%d", "prompt":"p%d","category":"c%d","outputs":[]}\n' % (n, n % 7, n % 2)
    for n in range(10)
)


def test_rows_go_from_standard_input_to_standard_output() -> None:
    """`head` and `sample` are filters; a sample of too many rows has exit code 1."""
    first = run("head", "-n", "2", stdin=LINES)
    some = run("sample", "-", "3", "--seed", "a", stdin=LINES)
    few = run("sample", "-", "11", stdin=LINES)

    assert (first.returncode, first.stdout) == (0, b"".join(LINES.splitlines(True)[:2]))
    assert (some.returncode, some.stdout.count(b"\n")) == (0, 3)
    assert (few.returncode, few.stdout) == (1, LINES)
    assert b"has 10 rows, and a sample of 11 is asked" in few.stderr


def test_a_sample_of_too_many_rows_names_the_file(tmp_path: Path) -> None:
    """It has the name of the file, also where the user says its encoding."""
    (tmp_path / "in.jsonl").write_bytes(LINES)
    done = run("sample", "in.jsonl", "11", "--encoding", "latin-1", cwd=tmp_path)
    (tmp_path / "one.jsonl").write_bytes(LINES.splitlines(keepends=True)[0])
    one = run("sample", "one.jsonl", "11", cwd=tmp_path)

    assert (done.returncode, one.returncode) == (1, 1)
    assert b"in.jsonl has 10 rows, and a sample of 11 is asked" in done.stderr
    assert b"one.jsonl has 1 row, and a sample of 11 is asked" in one.stderr


def test_split_prints_exact_shares(tmp_path: Path) -> None:
    """Each output is named with its rows and its share; an existing one is kept."""
    (tmp_path / "in.jsonl").write_bytes(LINES)
    arguments = ("split", "in.jsonl", "-o", "{value}.jsonl")
    by = run(*arguments, "--by", "category", cwd=tmp_path)
    ratio = run(*arguments, "--ratio", "train=0.7,test=0.3", cwd=tmp_path)
    again = run(*arguments, "--ratio", "train=0.7,test=0.3", cwd=tmp_path)
    none = run("split", "in.jsonl", cwd=tmp_path)
    head = run("head", "in.jsonl", "-n", "1", "-o", "h.jsonl", cwd=tmp_path)

    assert head.stderr == b"h.jsonl: 1 row\n"
    assert by.stderr == (
        b"c0.jsonl: 5 of 10 rows (50.00 %)\nc1.jsonl: 5 of 10 rows (50.00 %)\n"
    )
    assert (ratio.returncode, ratio.stderr.count(b" of 10 rows (")) == (0, 2)
    assert (again.returncode, none.returncode) == (2, 2)
    assert b"already exists" in again.stderr
    assert b"give `--valid` and `--invalid`, or `--by`, or `--ratio`" in none.stderr


def test_rows_that_cannot_be_read_stop_a_split(tmp_path: Path) -> None:
    """A row that is not valid is named, and parted only by --valid and --invalid."""
    (tmp_path / "in.jsonl").write_bytes(LINES + b"{broken\n")
    by = run(
        "split", "in.jsonl", "-o", "{value}.jsonl", "--by", "category", cwd=tmp_path
    )
    parts = run(
        "split",
        "in.jsonl",
        "--valid=v",
        "--invalid=i.gz",
        "--findings=f",
        "-q",
        cwd=tmp_path,
    )

    assert by.returncode == 1
    assert by.stderr.startswith(b"in.jsonl:11:2: J101")
    assert (parts.returncode, parts.stderr) == (0, b"")
    assert (tmp_path / "v").read_bytes() == LINES
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "f",
        "i.gz",
        "in.jsonl",
        "v",
    ]


def test_merge_counts_rows_and_compares_ids(tmp_path: Path) -> None:
    """Files become one; a repeated id ends with exit code 1, other files with 2."""
    row = b'{"id": "1", "input": "q", "expected-output": ["r"], "actual-output": "a"}\n'
    (tmp_path / "a.jsonl").write_bytes(row)
    (tmp_path / "b.jsonl").write_bytes(row)
    (tmp_path / "c.jsonl").write_bytes(LINES)
    kept = run(
        "merge",
        "a.jsonl",
        "b.jsonl",
        "--on-duplicate=keep",
        "-oout.jsonl",
        cwd=tmp_path,
    )
    repeated = run("merge", "a.jsonl", "b.jsonl", cwd=tmp_path)
    unlike = run("merge", "a.jsonl", "c.jsonl", cwd=tmp_path)

    assert (kept.returncode, repeated.returncode, unlike.returncode) == (0, 1, 2)
    assert kept.stderr == b"out.jsonl: 2 of 2 rows (100.00 %)\n"
    assert (tmp_path / "out.jsonl").read_bytes() == row + row
    assert b'id "1" in row 1 of a.jsonl and row 1 of b.jsonl' in repeated.stderr
    assert b"the first is harpia" in unlike.stderr
