"""Fault 45: what must not change the bytes that come out."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_runs import run
from faults import Injections

#: The runs that are tried with two seeds by default; all are long, with ten seeds.
_BY_DEFAULT = ("validate", "convert", "group")
_MODELS = ("m/a", "m/b", "m c")
#: So many records that a run with two workers has several ranges.
_RECORDS = 30_000


def _records(count: int) -> Iterator[str]:
    """Yield records of several models, some of them wrong, alike or with rare keys."""
    for number in range(count):
        model = _MODELS[number % 3]
        extra = f'"k{number * 7 % 41}": {number % 5}, "z": "{number}"'
        wrong = '"outputs": 1' if number % 997 == 5 else f'"metadata": {{{extra}}}'
        output = f'{{"model": "{model}", "text": "answer {number % 50}"}}'
        outputs = "" if number % 997 == 5 else f', "outputs": [{output}]'
        asked = number // 2
        text = f'"prompt": "question {asked}", "references": ["answer {asked % 9}"]'
        yield f'{{"id": "{number // 3}", {text}, {wrong}{outputs}}}\n'


_RUNS: dict[str, str] = {
    "validate": "validate in.jsonl --from record --lint --output-format json",
    "validate in words": "validate in.jsonl --from record --statistics --examples 50",
    "validate with reports": (
        "validate in.jsonl --from record --report a.html --report sarif=b --report "
        "junit=c --report markdown=d"
    ),
    "convert": (
        "convert in.jsonl --from record --to harpia -o out.json --on-invalid "
        "quarantine --ids number --loss-report losses.json"
    ),
    "convert by models": (
        "convert in.jsonl --from record --to record -o {model}.jsonl --on-invalid skip"
    ),
    "convert to csv": (
        "convert in.jsonl --from record --to csv -o out.csv.gz --on-invalid skip"
    ),
    "group": (
        "convert in.jsonl --from record --to tencent-outputs --group prompt -o o.jsonl "
        "--on-invalid skip --set outputs.model=m"
    ),
    "parquet": (
        "convert in.jsonl --from record --to parquet -o o.parquet --on-invalid skip"
    ),
    "stats": "stats in.jsonl --from record --on-invalid skip",
    "infer": "schema infer in.jsonl -o schema.json",
}


def _came_out(words: str, folder: Path, jobs: int, seed: int) -> dict[str, bytes]:
    """Return the streams and the files that a run left."""
    arguments = words.split()
    if arguments[0] in {"validate", "convert"}:
        arguments += ["--jobs", str(jobs)]
    environment = {"PYTHONHASHSEED": str(seed)}
    result = run(*arguments, cwd=folder, environment=environment, timeout=200)
    assert result.returncode == (arguments[0] == "validate"), result.stderr
    found = {"out": result.stdout, "err": result.stderr}
    for path in sorted(folder.iterdir()):
        if path.name != "in.jsonl":
            found[path.name] = path.read_bytes()
            path.unlink()
    return found


@pytest.mark.parametrize(
    ("kind", "seeds"),
    [
        *((kind, 2) for kind in _BY_DEFAULT),
        *(pytest.param(kind, 10, marks=pytest.mark.long) for kind in _RUNS),
    ],
)
def test_45_same_bytes(
    kind: str, seeds: int, tmp_path: Path, fault: Injections
) -> None:
    """Neither the seed of hashes nor the number of workers changes a byte."""
    count = _RECORDS if seeds > 2 else _RECORDS // 20
    (tmp_path / "in.jsonl").write_text("".join(_records(count)))
    first = _came_out(_RUNS[kind], tmp_path, 1, 0)
    for seed in range(1, seeds):
        jobs = 1 + seed % 2 if seeds > 2 else 2
        assert _came_out(_RUNS[kind], tmp_path, jobs, seed) == first
        fault.add("another hash seed and number of workers", "the same bytes")
    if seeds > 2:
        for _ in range(3):
            others = (os.cpu_count() or 1) + 1
            assert _came_out(_RUNS[kind], tmp_path, others, 0) == first
        fault.add("workers in another order", "the same bytes", 3)
