"""What a scan keeps of records is bounded, whatever names they have."""

from pathlib import Path
from typing import Any

import pytest

from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.record_scan import RecordColumns, scan_file
from harpia_formats.view.row_index import RowIndex, index_file
from harpia_formats.view.selection import FileColumns, filter_of, select
from json_lines import jsonl


def scanned(folder: Path, rows: list[dict[str, Any]]) -> FileColumns:
    """Return the columns of a file of some rows."""
    path, base = folder / "a.jsonl", str(folder / "0")
    path.write_bytes(jsonl(*rows))
    list(index_file(str(path), ViewOptions(), base))
    list(scan_file(str(path), ViewOptions(), base))
    return FileColumns(RowIndex(str(path), base, "lines"), RecordColumns(base))


def row(number: int, model: str, **more: Any) -> dict[str, Any]:
    """Return a row with an answer of a model."""
    return {
        "id": number,
        "prompt": f"q{number}",
        "outputs": [{"model": model, "text": "a"}],
        **more,
    }


def test_models_beyond_those_that_have_a_bit(tmp_path: Path) -> None:
    """The first 63 models are distinguished, and a filter on another one is refused."""
    file = scanned(tmp_path, [row(n, f"m{n}") for n in range(1, 101)])
    state = file.columns.state
    assert (len(state.models), state.other_answers) == (63, 37)
    found = select(file, filter_of({"model": "m7"}), tmp_path / "rows", None)
    assert found.part(0, 10) == [7]
    with pytest.raises(ViewError, match="counted together"):
        select(file, filter_of({"model": "m80"}), tmp_path / "rows", None)


def test_long_names_take_no_memory(tmp_path: Path) -> None:
    """Categories whose names are long in all are not told apart."""
    rows = [row(n, "m", category=f"{n}{'x' * 50_000}") for n in range(100)]
    state = scanned(tmp_path, rows).columns.state
    assert len(state.categories) < 60


def test_scores_of_several_models_of_a_record_are_apart(tmp_path: Path) -> None:
    """Each model of a record has its own scores, and the record their mean."""
    outputs = [
        {"model": name, "text": "a", "scores": [{"metric": "f1", "value": value}]}
        for name, value in (("a", 1.0), ("b", 0.5))
    ]
    file = scanned(tmp_path, [{"id": 1, "prompt": "q", "outputs": outputs}])
    columns = [
        file.columns.column(name, 1, 1)[0]
        for name in ("score0", "score0.0", "score0.1")
    ]
    assert columns == [0.75, 1.0, 0.5]
