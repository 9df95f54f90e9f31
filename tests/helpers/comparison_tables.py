"""The tables that `harpia-formats score compare` prints of data in memory."""

from collections.abc import Sequence
from pathlib import Path

from command_runs import run


def comparison_table(
    folder: Path, inputs: Sequence[bytes], *words: object, code: int = 0
) -> list[str]:
    """Return what is printed of a comparison of records, by exact match by default.

    The inputs are files in a folder, `1.jsonl` and so on. Raises AssertionError if the
    command ends with another exit code.
    What standard error has follows the table.
    """
    paths = [folder / f"{number}.jsonl" for number in range(1, len(inputs) + 1)]
    for path, data in zip(paths, inputs, strict=True):
        path.write_bytes(data)
    metrics = () if {"-m", "--stored"} & set(words) else ("-m", "em")
    done = run("score", "compare", *paths, *metrics, *words)
    assert done.returncode == code, done.stderr
    return (done.stdout + done.stderr).decode().splitlines()
