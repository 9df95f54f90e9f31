"""Keys that a map of the user names, in rows of any format."""

from typing import Any

import pytest

from fixture_files import valid_files
from harpia_formats import validate
from json_lines import jsonl, jsonl_rows
from known_formats import FORMATS, READABLE

#: Rows of a file that has no typed decoder yet, and of one that has.
FEW, MANY = 2, 40


def verdict(row: dict[str, Any], count: int, format_id: str, strict: bool) -> Any:
    """Return the share of invalid rows and the codes of the findings on copies."""
    key = FORMATS[format_id].id_key
    known = {key: row[key]} if key in row else {}
    ids = (
        {name: f"{number}" if type(given) is str else number}
        for number in range(count)
        for name, given in known.items()
    )
    rows = [row | each for each in ids] if known else [row] * count
    report = validate(
        jsonl(*rows), format=format_id, map={"source": "mapped"}, strict=strict
    )
    found = {group.code for group in report.groups}
    return report.summary()["invalid"] / count, found


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("format_id", READABLE)
def test_a_mapped_key_is_judged_alike_in_few_and_many_rows(
    format_id: str, strict: bool
) -> None:
    """A key that a schema forbids is refused in any number of rows, mapped or not."""
    paths = [each for each in valid_files(format_id) if each.suffix == ".jsonl"]
    firsts = [jsonl_rows(each.read_bytes())[:1] for each in paths]
    for (row,) in filter(None, firsts):
        if isinstance(row, dict):
            changed = row | {"mapped": "x"}
            few = verdict(changed, FEW, format_id, strict)
            assert verdict(changed, MANY, format_id, strict) == few
