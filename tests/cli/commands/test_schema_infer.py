import json
from functools import partial
from pathlib import Path

import command_runs
from cases import for_each_case

ROOT = Path(__file__).parents[3]
#: Runs `harpia-formats schema infer` with arguments.
run = partial(command_runs.run, "schema", "infer")

ROWS = b'{"id": 1, "answer": "4"}\n{"id": 2}\n'


def test_schema_is_printed_and_usable(tmp_path: Path) -> None:
    """The schema of standard input is printed, and rows are valid by it."""
    result = run("-", stdin=ROWS)
    schema = tmp_path / "rows.schema.json"
    schema.write_bytes(result.stdout)
    rows = tmp_path / "rows.jsonl"
    rows.write_bytes(ROWS)

    assert (result.returncode, result.stderr) == (0, b"")
    assert json.loads(result.stdout)["required"] == ["id"]
    assert command_runs.run("validate", rows, "--schema", schema).returncode == 0
    assert command_runs.run("schema", "check", schema).stdout == b""


def test_schema_is_written_once(tmp_path: Path) -> None:
    """An existing file is replaced only with --overwrite, and no input is."""
    output = tmp_path / "out.json"
    first = run("-", "-o", output, stdin=ROWS)
    again = run("-", "-o", output, stdin=b'{"other": 1}\n')
    kept = output.read_bytes()
    replaced = run("-", "-o", output, "--overwrite", stdin=b'{"other": 1}\n')

    assert (first.returncode, again.returncode, replaced.returncode) == (0, 2, 0)
    assert b"a schema of 2 rows with 2 keys" in first.stderr
    assert b"already exists" in again.stderr
    assert "id" in json.loads(kept)["properties"]
    assert "other" in json.loads(output.read_bytes())["properties"]
    assert run(output, "-o", output, "--overwrite").returncode == 2


@for_each_case(
    "data, arguments, code",
    [
        (ROWS, ("--closed", "--enum-limit", "0", "--map-keys", "5", "-q"), 0),
        (ROWS, ("--limit", "1"), 0),
        (ROWS, ("--enum-limit", "51"), 2),
        (ROWS, ("--limit", "0"), 2),
        (b'{"id": }\n', (), 1),
        (b"", (), 1),
        (b"[]", (), 1),
        (b"a,b\n", ("--delimiter", ","), 2),
    ],
)
def test_exit_code(data: bytes, arguments: tuple[str, ...], code: int) -> None:
    """The exit code is 1 for rows that are no JSON, 2 for what cannot be done."""
    result = run("-", *arguments, stdin=data)

    assert result.returncode == code, result
    assert bool(result.stdout) is (code == 0)
    assert b"Traceback" not in result.stderr


def test_one_row_is_no_rows(tmp_path: Path) -> None:
    """The message on one row with one key has both nouns in the singular."""
    result = run("-", "-o", tmp_path / "out.json", stdin=b'{"id": 1}\n')

    assert b"a schema of 1 row with 1 key\n" in result.stderr


def test_the_schema_of_a_table_takes_its_rows(tmp_path: Path) -> None:
    """A table is valid by the schema that was inferred from it, not by another."""
    table, other = tmp_path / "table.csv", tmp_path / "other.csv"
    table.write_text('id,question\n1,"a\nb"\n2,\n')
    other.write_text("id,question\n1,a\n,b\n")
    schema = tmp_path / "table.schema.json"
    run(table, "-o", schema)

    valid = command_runs.run("validate", table, "--schema", schema)
    invalid = command_runs.run("validate", other, "--schema", schema)

    assert valid.returncode == 0, valid
    assert invalid.returncode == 1
    assert b"other.csv:3:1: S101 missing-key id is missing" in invalid.stdout


def test_missing_file_gives_no_schema(tmp_path: Path) -> None:
    """If one file cannot be read, nothing is written of the others."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROWS)
    result = run(path, tmp_path / "none.jsonl")

    assert (result.returncode, result.stdout) == (2, b"")
    assert b"does not exist" in result.stderr


def test_output_is_the_same_each_time() -> None:
    """The schema of a real file is the same bytes in every run."""
    path = ROOT / "fixtures/eee@0.2.0/valid/runs.jsonl"
    results = {run(path).stdout for _ in range(2)}

    assert len(results) == 1
    assert b'"$comment"' in results.pop()
