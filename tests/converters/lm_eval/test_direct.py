"""Samples that are read straight from what the typed decoder decoded."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from effort import examples
from harpia_converters.lm_eval import mapping
from harpia_formats import convert
from json_lines import jsonl

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures" / "lm-eval-samples"
ROWS = [
    json.loads(line)
    for path in sorted(FIXTURES.glob("valid/[a-z]*.jsonl"))
    for line in path.read_text().splitlines()
]
#: Values that decide on what becomes of a row, by the key that has them.
CHANGES: dict[str, list[Any]] = {
    "target": ["0", "7", "Lyon", "['a', 'b']", "[0, 1]", " Peru"],
    "doc": [{"country": None}, {"other": 1, "country": "x"}, "text"],
    "filter": ["none", "strict"],
    "filtered_resps": [["It is Paris."], [["a", "b"]], [], ["x"]],
    "metrics": [[], ["exact_match", "missing"], ["acc_norm"], ["acc", "acc_norm"]],
    "exact_match": [0, 1.0, 0.5, None, [1, 2], True],
    "acc": [0.0, 1, 0.5, None, "N/A"],
    "acc_norm": [0.0, 1.0, None, "N/A"],
    "resps": [[["a"]], [["a", "b"]], [[]], []],
    "note": ["x", None],
}


def changed(row: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return a row with up to two other values."""
    keys = chance.sample(sorted(CHANGES), chance.randint(0, 2))
    return row | {key: chance.choice(CHANGES[key]) for key in keys}


def converted(
    rows: list[dict[str, Any]], folder: Path, target: str
) -> tuple[bytes, bytes]:
    """Return what rows become in a format: the bytes, and the losses."""
    path, output = folder / "samples_task_2026.jsonl", folder / "out"
    path.write_bytes(jsonl(*rows))
    losses = folder / "losses.json"
    convert(
        path,
        to=target,
        output=output,
        loss_report=losses,
        overwrite=True,
        jobs=1,
        on_invalid="skip",
    )
    return output.read_bytes(), losses.read_bytes()


@given(st.integers(0, 2**32))
@example(150)
@example(445)
@examples(4, suppress_health_check=list(HealthCheck))
def test_rows_are_read_as_a_whole_or_directly(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """What is read directly becomes the same rows, with the same losses."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    rows = [changed(chance.choice(ROWS), chance) for _ in range(120)]
    folder = tmp_path_factory.mktemp("rows")

    directly = converted(rows, folder, "nemo-output")
    with pytest.MonkeyPatch.context() as patched:
        whole = replace(mapping.SAMPLES, direct_reader=None)
        patched.setattr(mapping, "SAMPLES", whole)
        as_a_whole = converted(rows, folder, "nemo-output")

    assert directly == as_a_whole


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("choices.jsonl", "nemo-input"),
        ("choices.jsonl", "nemo-output"),
        ("two-filters-and-repeats.jsonl", "nemo-output"),
    ],
)
def test_common_rows_are_read_directly(
    name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain generations and choices are read directly, once there is a decoder."""
    found: list[bool] = []
    read = mapping._TypedReader.read  # noqa: SLF001 - to see what it returns

    def noted(self: Any, row: Any) -> Any:
        record = read(self, row)
        found.append(record is not None)
        return record

    monkeypatch.setattr(mapping._TypedReader, "read", noted)  # noqa: SLF001 - to see what it returns
    line = (FIXTURES / "valid" / name).read_text().splitlines()[0]

    converted([json.loads(line)] * 300, tmp_path, target)

    assert found
    assert all(found)
