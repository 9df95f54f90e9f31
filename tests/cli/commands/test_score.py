"""`harpia-formats score` and `score compare`, as a user runs them."""

import json
from functools import partial
from pathlib import Path

import pytest

import command_runs
from command_runs import Result

ROWS = (
    ("capital of France?", "Paris", "The Paris", "geography"),
    ("2+2?", "4", "It is 4", "sums"),
    ("3+3?", "6", "6", "sums"),
)
#: Runs `harpia-formats score` with arguments.
run = partial(command_runs.run, "score", timeout=60, environment={"TERM": "dumb"})


def lines_of(rows: tuple[tuple[str, str, str, str], ...] = ROWS) -> bytes:
    """Return rows of NeMo."""
    found = [
        {
            "input": {
                "prompt": prompt,
                "ideal_response": reference,
                "category": category,
                "source": "",
            },
            "response": answer,
            "llm_name": "m",
        }
        for prompt, reference, answer, category in rows
    ]
    return "".join(f"{json.dumps(each)}\n" for each in found).encode()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with answers."""
    (tmp_path / "runs.jsonl").write_bytes(lines_of())
    return tmp_path


def table_of(result: Result) -> list[list[str]]:
    """Return the cells of the table that was printed."""
    lines = result.stdout.decode().split("\n\n")[0].splitlines()
    return [line.split() for line in (lines[0], *lines[2:])]


def test_scores_are_a_table(data: Path) -> None:
    """Scores and their signatures go to standard output, and the exit code is 0."""
    result = run("runs.jsonl", "--metrics", "em,f1", "--replicates", 0, cwd=data)

    assert (result.returncode, result.stderr) == (0, b"")
    assert table_of(result) == [
        ["metric", "score", "answers"],
        ["em", "0.6667", "3"],
        ["f1", "0.8333", "3"],
    ]
    assert b"signature: em|impl:harpia-formats-" in result.stdout


def test_groups_are_lines(data: Path) -> None:
    """Each group has its lines, and all answers together come last."""
    result = run(
        "runs.jsonl", "-m", "em", "--by", "category", "--replicates", 0, cwd=data
    )

    assert table_of(result)[1:] == [
        ["geography", "em", "1.0000", "1"],
        ["sums", "em", "0.5000", "2"],
        ["(all)", "em", "0.6667", "3"],
    ]


def test_standard_input_is_scored() -> None:
    """Without a file standard input is read."""
    result = run("-m", "em", "--replicates", 0, stdin=lines_of())

    assert result.returncode == 0
    assert table_of(result)[1] == ["em", "0.6667", "3"]


def test_results_are_written_and_never_overwritten(data: Path) -> None:
    """Results go to a file, the table to standard error, and a file stays as it is."""
    words = ("runs.jsonl", "-m", "em", "--to", "nemo-results", "-o", "out.json")

    first = run(*words, cwd=data)
    written = (data / "out.json").read_bytes()
    second = run(*words, cwd=data)
    third = run(*words, "--overwrite", cwd=data)

    assert (first.returncode, first.stdout) == (0, b"")
    assert b"out.json: written" in first.stderr
    assert json.loads(written)
    assert second.returncode == 2
    assert b"--overwrite" in second.stderr
    assert third.returncode == 0
    assert (data / "out.json").read_bytes() == written


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "em", "--to", "nemo-result"], "did you mean nemo-results?"),
        (["-m", "em", "--param", "em.scale"], "METRIC.NAME=VALUE"),
        (["-m", "em", "--model", "n"], "no answer is of the model 'n'"),
        (["-m", "em", "--to", "csv", "--name", "job=x"], "no place for job"),
        (["-m", "em", "missing.jsonl"], "does not exist"),
    ],
)
def test_usage_error_is_one_line(data: Path, words: list[str], message: str) -> None:
    """A usage error is one line on standard error, with exit code 2."""
    result = run("runs.jsonl", *words, cwd=data)

    assert result.returncode == 2
    assert message in result.stderr.decode()
    assert result.stdout == b""
    assert b"Traceback" not in result.stderr


def test_an_invalid_row_ends_it(data: Path) -> None:
    """A row that is not valid is printed with its place, and the exit code is 1."""
    (data / "runs.jsonl").write_bytes(lines_of() + b'{"input": 7}\n')

    broken = run("runs.jsonl", "-m", "em", cwd=data)
    left = run("runs.jsonl", "-m", "em", "--skip-invalid", cwd=data)

    assert broken.returncode == 1
    assert b"runs.jsonl:4:" in broken.stderr
    assert broken.stdout == b""
    assert left.returncode == 1
    assert table_of(left)[1][:2] == ["em", "0.6667"]


def test_nothing_is_left_of_results_that_fail(data: Path) -> None:
    """If a row is not valid, no result is written."""
    (data / "runs.jsonl").write_bytes(lines_of() * 200 + b'{"input": 7}\n')

    result = run("runs.jsonl", "-m", "em", "--to", "record", "-o", "o.jsonl", cwd=data)

    assert result.returncode == 1
    assert [each.name for each in data.iterdir()] == ["runs.jsonl"]


def test_two_systems_are_compared(data: Path) -> None:
    """Both scores, their difference and the p-value are printed for each metric."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    (data / "other.jsonl").write_bytes(
        lines_of(tuple((*row[:2], "no", row[3]) for row in ROWS))
    )

    result = run("compare", "runs.jsonl", "other.jsonl", "-m", "em", cwd=data)

    assert (result.returncode, result.stderr) == (0, b"")
    head, row = table_of(result)
    assert head == ["metric", "A", "B", "A", "-", "B", "interval", "p", "questions"]
    assert row[:4] == ["em", "0.6667", "0.0000", "+0.6667"]
    assert row[-1] == "3"


def test_stored_scores_need_equal_signatures(data: Path) -> None:
    """Scores with different signatures are compared only with --force."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    common = ("runs.jsonl", "-m", "em", "--to", "record")
    run(*common, "-o", "a.jsonl", cwd=data)
    run(*common, "-o", "b.jsonl", "--param", "em.normalisation=none", cwd=data)
    words = ("compare", "a.jsonl", "b.jsonl", "--stored")

    refused = run(*words, cwd=data)
    forced = run(*words, "--force", cwd=data)
    alike = run("compare", "a.jsonl", "a.jsonl", "--stored", cwd=data)

    assert refused.returncode == 2
    assert b"do not prove that it was computed the same way" in refused.stderr
    assert forced.returncode == 0
    assert alike.returncode == 0
