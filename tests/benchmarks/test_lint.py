"""The rows of the benchmark of lints: each kind in each format."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from harpia_formats import validate
from json_lines import jsonl_rows

Modules = Callable[[str], ModuleType]


@pytest.mark.parametrize("kind", ["English", "Chinese", "escapes", "40 repeats"])
@pytest.mark.parametrize(
    "format_", ["eee@0.2.0", "nemo-output", "tencent-outputs", "csv", "openai-chat"]
)
def test_rows_of_each_kind_are_valid(
    modules: Modules, tmp_path: Path, format_: str, kind: str
) -> None:
    """A small file of each kind has so many rows, and all of them are valid."""
    path = modules("lint").file_of(format_, kind, 50, tmp_path)
    found = validate(path, format=format_)

    (file,) = found.files
    assert [file.records, file.valid] == [50, 50]


def test_samples_repeat_with_other_ids(modules: Modules, tmp_path: Path) -> None:
    """Of repeated samples, only the id of a row is its own."""
    lint = modules("lint")
    path = lint.file_of("eee@0.2.0", lint.REPEATS, 2 * lint.TIMES, tmp_path)
    rows = jsonl_rows(path)

    assert len({row["sample_id"] for row in rows}) == 2 * lint.TIMES
    asked = Counter((row["input"]["raw"], str(row["output"])) for row in rows)
    assert set(asked.values()) == {lint.TIMES}
