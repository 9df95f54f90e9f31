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
from harpia_formats import Record, convert
from harpia_formats.conversion.batch import BatchConverter
from harpia_formats.conversion.mapping.fields import without
from json_lines import jsonl

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures" / "lm-eval-samples"
#: The log-likelihoods of three cities: per character the second one is the likeliest.
UNEQUAL = [["-2.0", "True"], ["-2.1", "False"], ["-9.0", "False"]]
ROWS = [
    json.loads(line)
    for path in sorted(FIXTURES.glob("valid/[a-z]*.jsonl"))
    for line in path.read_text().splitlines()
]
CHOICES = [row for row in ROWS if len(row["arguments"]) == 3]
#: Choices of which acc and acc_norm take other ones, each with its value.
ROWS += [
    row
    | {"resps": [[pair] for pair in UNEQUAL], "filtered_resps": UNEQUAL}
    | {"target": target, "acc": float(target == "0"), "acc_norm": float(target == "1")}
    for row in CHOICES
    for target in ("0", "1", "2")
]
#: The rows of both kinds: generations have one text, choices are among several.
KINDS = [
    [row for row in ROWS if (len(row["arguments"]) > 1) == many] for many in (0, 1)
]
#: Values that decide on what becomes of a row, by the key that has them.
CHANGES: dict[str, list[Any]] = {
    "target": ["0", "7", "Lyon", "['a', 'b']", "[0, 1]", " Peru"],
    "doc": [{"country": None}, {"other": 1, "country": "x"}, "text"],
    "filtered_resps": [["It is Paris."], [["a", "b"]], [], ["x"], [1], ["x", "y"]],
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
    rows: list[dict[str, Any]], folder: Path, target: str, **options: Any
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
        **({"on_invalid": "skip"} | options),
    )
    return output.read_bytes(), losses.read_bytes()


def convertible(
    rows: list[dict[str, Any]], folder: Path, target: str
) -> list[dict[str, Any]]:
    """Return the rows that become rows of a format."""
    aside = folder / "aside.jsonl"
    converted(rows, folder, target, on_invalid="quarantine", quarantine=aside)
    refused = aside.read_bytes().splitlines() if aside.exists() else []
    return [row for row in rows if jsonl(row).strip() not in refused]


class DirectReads:
    """Notes of each record whether it was read directly, in batches that are kept."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        """Patch what reads rows and what converts batches of them."""
        #: Of each row of the batches: its record, None if it was read as a whole.
        self.found: list[Record | None] = []
        read = mapping._TypedReader.read  # noqa: SLF001 - to see what it returns
        convert_decoded = BatchConverter.convert_decoded

        def noted(reader: Any, row: Any) -> Any:
            found = read(reader, row)
            self.found.append(None if found is None else found[0])
            return found

        def kept(*given: Any) -> Any:
            before = len(self.found)
            batch = convert_decoded(*given)
            if batch is None:
                del self.found[before:]
            return batch

        patched.setattr(mapping._TypedReader, "read", noted)  # noqa: SLF001 - to see what it returns
        patched.setattr(BatchConverter, "convert_decoded", kept)

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of generations and of choices that were read directly."""
        choices = [bool(record.choices) for record in self.found if record is not None]
        return choices.count(False), choices.count(True)


@given(
    st.integers(0, 2**32),
    st.sampled_from(["nemo-output", "nemo-input"]),
    st.sampled_from([{}, {"filter": "none"}, {"filter": "strict"}]),
)
@examples(4, suppress_health_check=list(HealthCheck))
@example(150, "nemo-output", {"filter": "none"})
@example(445, "nemo-output", {"filter": "strict"})
@example(445, "nemo-input", {})
def test_rows_are_read_as_a_whole_or_directly(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    target: str,
    filter_: dict[str, str],
) -> None:
    """What is read directly becomes the same rows, with the same losses.

    A batch with a row that cannot be converted is read as a whole, so there is one.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    # A change makes more of the generations than of the choices unreadable.
    kinds = chance.choices(KINDS, weights=(3, 2), k=500)
    drawn = [changed(chance.choice(rows), chance) for rows in kinds]
    folder = tmp_path_factory.mktemp("rows")
    # Rows of several filters are merged, and read as a whole.
    drawn = [without(row, ["filter"]) | filter_ for row in drawn]
    rows = convertible(drawn, folder, target)
    rows += [row for row in drawn if row not in rows][:1]

    with pytest.MonkeyPatch.context() as patched:
        reads = DirectReads(patched)
        directly = converted(rows, folder, target)
    with pytest.MonkeyPatch.context() as patched:
        whole = replace(mapping.SAMPLES, direct_reader=None)
        patched.setattr(mapping, "SAMPLES", whole)
        as_a_whole = converted(rows, folder, target)

    assert directly == as_a_whole
    assert min(reads.counts) > len(rows) // 10


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
    reads = DirectReads(monkeypatch)
    line = (FIXTURES / "valid" / name).read_text().splitlines()[0]

    converted([json.loads(line)] * 300, tmp_path, target)

    assert reads.found
    assert None not in reads.found
