"""Tables are written so that no spreadsheet runs a cell, and are read back exactly."""

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats import (
    ConversionError,
    Output,
    Record,
    ScoreError,
    diff,
    read,
    score,
    stats,
    validate,
    write,
)
from json_lines import jsonl
from shared_small_files import share_small_files
from unchecked import converted

CELLS = st.text(alphabet="'=+-@ \t\n;\"a1,\uff1d", min_size=1, max_size=6)


def written(records: list[Record], to: str, **options: Any) -> bytes:
    """Return records as a table with safe cells."""
    output = io.BytesIO()
    write(records, to=to, output=output, csv_safe=True, on_loss="ignore", **options)
    return output.getvalue()


def would_run(table: bytes, format_: str) -> int:
    """Return how many cells of a table a spreadsheet would run."""
    return len(validate(table, format=format_, select=("J308",)).problems)


def cells_of(table: bytes) -> list[str]:
    """Return all cells of a table."""
    lines = csv.reader(io.StringIO(table.decode(), newline=""))
    return [cell for line in lines for cell in line]


@pytest.mark.parametrize("to", ["csv", "tencent-csv"])
@given(data=st.data())
def test_records_come_back_from_safe_tables(to: str, data: st.DataObject) -> None:
    """What is written with marks and read with `from_csv_safe` are the records."""
    texts = data.draw(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4))
    records = [
        Record(prompt=prompt, system=system, references=[answer])
        if to == "tencent-csv"
        else Record(prompt=prompt, category=system, outputs=[Output(text=answer)])
        for prompt, system, answer in texts
    ]
    plain = io.BytesIO()
    write(records, to=to, output=plain, on_loss="ignore")
    table = written(records, to)
    back = list(read(table, format=to, from_csv_safe=True))

    assert would_run(table, to) == 0
    assert back == list(read(plain.getvalue(), format=to))


def test_large_tables_come_back_from_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers write and take back marks as one process does."""
    share_small_files(monkeypatch, 10_000)
    records = [
        Record(prompt=f"=x{n};+'", outputs=[Output(text=f"'@{n}")])
        for n in range(2_000)
    ]
    safe = written(records, "csv", jobs=2)
    plain, alone = (
        converted(safe, from_="csv", to="csv", from_csv_safe=True, jobs=jobs)[0]
        for jobs in (2, 1)
    )

    assert plain == alone
    assert b"\n=x7;+'" in plain
    assert b"\n'=x7;'+'" in safe


def test_foreign_tables_keep_their_apostrophes() -> None:
    """Without the option a table is read as it is."""
    (record,) = read(b"prompt,response\n'=1,b\n", format="csv")

    assert record.prompt == "'=1"


def test_marks_are_for_tables_only() -> None:
    """Another target is refused, before anything is written."""
    with pytest.raises(ConversionError, match="csv_safe=True is for tables"):
        written([Record(prompt="=1")], "nemo-input")


def test_scores_in_tables_are_safe() -> None:
    """The ids of scored answers get marks, too."""
    output = io.BytesIO()
    answer = {"text": "a", "model": "@m"}
    record = {"id": "=1", "prompt": "p", "references": ["a"], "outputs": [answer]}
    options: dict[str, Any] = {"metrics": ("em",), "from_": "record"}
    score(jsonl(record), to="csv", output=output, csv_safe=True, **options)

    assert would_run(output.getvalue(), "csv") == 0
    assert cells_of(output.getvalue())[-4:-1] == ["'=1", "'@m", ""]


def test_formulas_are_noted() -> None:
    """The lint J308 finds cells that run, and none that are marked or numbers."""
    table = b"prompt,response\n=1,-1\n'=1,+x\n"
    report = validate(table, format="csv", select=("J308",))
    places = [(each.place.line, each.place.pointer) for each in report.problems]

    assert places == [(2, "/prompt"), (3, "/response")]
    assert validate(b'{"prompt": "=1"}', select=("J308",)).warnings == 0


def test_scores_are_marked_in_csv_only() -> None:
    """Other results, and none, have no cells to mark."""
    for to in ("nemo-results", None):
        with pytest.raises(ScoreError, match="csv_safe"):
            score(b"{}", to=to, csv_safe=True)


def test_safe_tables_are_compared_with_their_source() -> None:
    """`diff` finds no difference once the marks of both sides are taken back."""
    record = Record(prompt="=1", outputs=[Output(text="'+2")])
    safe = written([record], "csv")

    source = jsonl({"prompt": "=1", "outputs": [{"text": "'+2"}]})

    assert diff(safe, safe, from_csv_safe=True).records == 1
    assert diff(safe, source, to="record", from_csv_safe=True).ok
    assert stats(safe, from_csv_safe=True).ok
