"""Rows of every fixture are copied as they are, each as likely, in their shares."""

import io
import json
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import (
    Record,
    SubsetError,
    UnknownFormat,
    head,
    merge,
    sample,
    split,
    validate,
    write,
)
from harpia_formats.conversion.subsets.cut_file import Row
from harpia_formats.conversion.subsets.head_and_sample import sampled_numbers
from harpia_formats.conversion.subsets.open_file import cut_file, one_source
from harpia_formats.conversion.subsets.row_assignment import part_of, thresholds
from harpia_formats.conversion.subsets.subset_options import SubsetOptions
from harpia_formats.plugins import SourceError

FOLDER = Path(__file__).parents[3] / "fixtures"
FILES = sorted(path for path in FOLDER.glob("*/*/*") if path.is_file())
#: A valid file of each format.
FIRST = {max(folder.iterdir()) for folder in FOLDER.glob("*/valid")}
#: A format whose rows cannot be copied, and the notes on it.
REFUSED = {
    "eee-aggregate": "one document",
    "haystack": "in columns",
    "inspect-log": "counts them",
    "judge-verdicts": "in columns",
    "nemo-config": "one document",
    "nemo-results": "one document",
    "openai-evals-log": "counts them",
}


def rows_of(data: bytes | Path) -> list[Row]:
    """Return the rows of a file."""
    with cut_file(one_source(data), SubsetOptions()) as file:
        return list(file.rows())


@cache
def copied(path: Path) -> bytes | None:
    """Return a copy of all rows of a file, None if it is refused."""
    output = io.BytesIO()
    try:
        head(path, 10**9, output=output)
    except (SubsetError, SourceError):
        return None
    return output.getvalue()


def test_all_rows_are_the_file() -> None:
    """A copy of all rows has the bytes of the file, whatever its container is."""
    copies = {path: copied(path) for path in FILES}
    kept = {path: data for path, data in copies.items() if data is not None}
    formats = {path.parent.parent.name for path in kept}

    assert [path for path, data in kept.items() if data != path.read_bytes()] == []
    assert {"csv", "harpia", "nemo-output", "openai-chat", "tencent-csv"} <= formats


@for_each_case("name", REFUSED)
def test_what_has_no_rows_is_refused(name: str) -> None:
    """Why the rows of a file cannot be copied is reported; nothing is written."""
    path = next(iter(sorted((FOLDER / name / "valid").iterdir())))
    output = io.BytesIO()

    with pytest.raises(SubsetError, match=REFUSED[name]):
        head(path, output=output)
    assert output.getvalue() == b""


def test_parts_together_are_the_rows(tmp_path: Path) -> None:
    """Parts of any file have all of its rows, in order, and merge into it again."""
    parted, merged = set(), set()
    for number, path in enumerate(FILES):
        if path not in FIRST or copied(path) is None:
            continue
        name = tmp_path / f"{number}-{{value}}{path.suffix}"
        written = split(path, output=name, ratio=(0.5, 0.5), seed=number)
        texts = texts_of(path)
        parts = [
            texts_of(Path(part.path)) if part.rows else [] for part in written.parts
        ]
        assert sorted(chain(*parts)) == sorted(texts)
        assert all(is_in_order(part, texts) for part in parts)
        parted.add(path.parent.parent.name)
        # The rows of an invalid file may look like those of another format.
        if all(parts) and path.parent.name == "valid":
            whole = tmp_path / f"{number}-merged{path.suffix}"
            names = [part.path for part in written.parts]
            with suppress(SubsetError):
                merge(*names, output=whole, on_duplicate="keep")
                assert sorted(texts_of(whole)) == sorted(texts)
                merged.add(path.parent.parent.name)
    assert len(parted) > 25
    assert len(merged) > 20


def texts_of(path: Path) -> list[bytes]:
    """Return the rows of a file without their line ends."""
    return [text.rstrip(b"\r\n") for _, text, _ in rows_of(path)]


def is_in_order(some: list[bytes], texts: list[bytes]) -> bool:
    """Return whether some rows stand in a file, in this order."""
    rest = iter(texts)
    return all(text in rest for text in some)


def test_a_sample_is_some_of_the_rows(tmp_path: Path) -> None:
    """A sample of any file has so many of its rows, in their order."""
    for path in FILES:
        if path not in FIRST or copied(path) is None:
            continue
        texts = texts_of(path)
        if len(texts) > 1:
            output = tmp_path / f"{path.parent.parent.name}-{path.name}"
            assert sample(path, 2, output=output).written == 2
            assert len(texts_of(output)) == 2
            assert is_in_order(texts_of(output), texts)


def test_rows_of_a_binary_table_are_lines(tmp_path: Path) -> None:
    """Rows of Parquet are written as JSON Lines, which is reported."""
    pytest.importorskip("pyarrow", reason="Parquet needs the extra arrow")
    path = tmp_path / "table.parquet"
    write([Record(prompt="p"), Record(prompt="q")], to="parquet", output=path)
    output = io.BytesIO()
    done = head(path, 1, output=output)

    assert isinstance(json.loads(output.getvalue()), dict)
    assert done.notes[0].endswith("its rows are written as JSON Lines")


def test_an_unknown_format_has_its_error() -> None:
    """A format that there is not is refused."""
    with pytest.raises(UnknownFormat):
        head(b"{}", from_="nmo")


def test_rows_are_numbered_as_records() -> None:
    """There are as many rows as `validate` counts records, which verdicts rely on."""
    counts = {}
    for path in FILES[::15]:
        if copied(path) is not None:
            records = validate(path).files[0].records
            counts[path] = (len(rows_of(path)), records)

    assert len(counts) > 40
    assert [path for path, (rows, records) in counts.items() if rows != records] == []


# Which rows


def test_every_sample_is_as_likely() -> None:
    """Over many seeds each pair of rows is chosen about as often."""
    counts: dict[frozenset[int], int] = {}
    for seed in range(6000):
        pair = sampled_numbers(4, 2, seed)
        counts[pair] = counts.get(pair, 0) + 1

    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.values())


@given(st.lists(st.integers(0, 2**64 - 1)), st.lists(st.integers(1, 9), min_size=2))
def test_parts_have_their_shares(numbers: list[int], weights: list[int]) -> None:
    """Numbers in order of size are parted as near to the shares as equal ones allow."""
    shares = [weight / sum(weights) for weight in weights]
    begins = thresholds(numbers, shares)
    assert begins == sorted(begins)
    below = [sum(part_of(n, begins) <= i for n in numbers) for i in range(len(begins))]
    for index, count in enumerate(below):
        target = sum(shares[: index + 1]) * len(numbers)
        possible = [sum(m < n for m in numbers) for n in [*numbers, 2**64]]
        best = min((abs(size - target) for size in possible), default=0)
        assert abs(count - target) == pytest.approx(best, abs=1e-6)
