from pathlib import Path

import pytest

from harpia_formats import validate
from harpia_formats.model.column_map import (
    FIELDS,
    MapError,
    check_field_names,
    parse_column_map,
    require_columns,
)
from harpia_formats.validation.options import Options


def test_parts_become_columns_by_field() -> None:
    """Each part names a field and its column, which may hold any sign."""
    assert parse_column_map(["prompt=question", "references=gold=1"]) == {
        "prompt": "question",
        "references": "gold=1",
    }


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (["prompt"], "write it as FIELD=COLUMN"),
        (["prompt="], "write it as FIELD=COLUMN"),
        (["prompt=a" + "[b" * 21 + "]" * 21], "has more than 20 paths in []"),
        (["prompt=a", "prompt=b"], "prompt has a column already, a"),
        (["promt=a"], "no field is called promt; did you mean prompt?"),
    ],
)
def test_invalid_parts_of_a_map_are_refused(parts: list[str], reason: str) -> None:
    """A part without a column, a repeated field and an unknown field are refused."""
    with pytest.raises(MapError) as caught:
        parse_column_map(parts)

    assert reason in str(caught.value)


def test_every_field_can_be_mapped() -> None:
    """All fields are known by name."""
    check_field_names({each: f"column of {each}" for each in FIELDS})


def test_column_holds_one_field() -> None:
    """Two fields cannot share a column: one of them would be lost on writing."""
    with pytest.raises(MapError, match="that of prompt already"):
        check_field_names({"prompt": "a", "gt": "a"})


def test_mapped_columns_must_be_there() -> None:
    """A schema asks for the mapped columns too, each once; others stay as they are."""
    mapped = require_columns({"required": ["a"]}, {"prompt": "a", "gt": "b"})

    assert mapped == {"required": ["a", "b"]}
    assert require_columns(True, {"gt": "b"}) is True
    assert require_columns({"type": "object"}, {}) == {"type": "object"}


def test_missing_column_is_one_error_at_the_header(tmp_path: Path) -> None:
    """A missing column is one error at the header, and no row is called valid."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"question,answer\na,b\nc,d\n")
    wrong = validate(path, format="csv", columns={"prompt": "question", "gt": "truth"})
    right = validate(path, format="csv", columns={"prompt": "question"})

    (problem,) = wrong.problems
    assert (problem.code, problem.place.line, problem.place.record) == ("S101", 1, None)
    assert (wrong.files[0].undetermined, wrong.files[0].valid) == (2, 0)
    assert right.ok


@pytest.mark.parametrize("format_", [None, "tencent-csv", "eee"])
def test_columns_belong_to_tables_of_any_columns(format_: str | None) -> None:
    """Columns without the format that they are of are refused."""
    with pytest.raises(ValueError, match='columns are those of format "csv"'):
        Options(format=format_, columns={"prompt": "a"})
