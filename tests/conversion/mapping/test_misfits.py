"""Cells that are no numbers, in columns of numbers."""

from pathlib import Path
from typing import Any

import pytest

from command_runs import run
from harpia_formats.plugins import Outcome
from unchecked import converted

OF_SCORE = "true,[],single_turn,e,n"
HEADER = (
    "id,prompt,references,model,response,is_correct,attribution,interaction_type,"
    "evaluation_id,evaluation_name,score\n"
)
cells = pytest.mark.parametrize("cell", ["1e400", "inf", "-inf", "abc", "1,5", '"1"'])


def mapped(cell: str, target: str) -> tuple[bytes, Any, dict[str, tuple[Outcome, str]]]:
    """Return what a table with a cell in the column of scores becomes.

    That is the output, the report, and what became of each path and how.
    """
    quoted = '"' + cell.replace('"', '""') + '"'
    row = f"1,2+2?,4,m,4,{OF_SCORE},{quoted}\n"
    output, report = converted((HEADER + row).encode(), to=target, from_="csv")
    counts = report.losses[0].losses.counts
    return output, report, {each.path: (each.outcome, each.how) for each in counts}


@cells
@pytest.mark.parametrize(
    ("target", "outcome"), [("record", Outcome.CHANGED), ("haystack", Outcome.DROPPED)]
)
def test_text_in_a_column_of_numbers_is_a_loss(
    cell: str, target: str, outcome: Outcome
) -> None:
    """A score that is no number is a declared loss, with the reason."""
    _, _, outcomes = mapped(cell, target)
    found, how = outcomes["extra.csv.score"]

    assert found is outcome
    assert "is not a number" in how


@cells
def test_required_score_that_is_no_number_is_named(cell: str) -> None:
    """The cell is why a row cannot be written; to leave it out is advised once."""
    output, report, _ = mapped(cell, "eee@0.2.0")
    (problem,) = report.report.problems

    assert (output, problem.code) == (b"", "L201")
    assert "in `score` is not a number" in problem.message
    assert "constants=" not in problem.help
    assert problem.help.count("leave such records out") == 1


@pytest.mark.parametrize("cell", ["1", "0.5", "true", "-1e3"])
def test_numbers_are_no_misfits(cell: str) -> None:
    """A score that is a number arrives in all formats without a note."""
    for target in ("record", "eee@0.2.0"):
        output, _, outcomes = mapped(cell, target)

        assert output
        assert not [path for path in outcomes if path.endswith("score")]


def test_a_table_gets_its_own_cells_back() -> None:
    """Written as a table, the cell is the same, and nothing is lost."""
    output, _, outcomes = mapped("abc", "csv")

    assert output.endswith(b",abc\n") or b",abc," in output
    assert not [path for path in outcomes if "score" in path]


def test_a_reason_of_some_values_has_their_number(tmp_path: Path) -> None:
    """Of five scores that are dropped, two are no numbers: that is no reason of all."""
    cells = ["1", "0.5", "abc", '"0,5"', "0"]
    rows = (f"{number},2+2?,4,{cell}\n" for number, cell in enumerate(cells))
    text = "".join(["id,prompt,response,score\n", *rows])
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    arguments = ("--from=csv", "--to=harpia", "--output=out.json", "--report=page.html")
    found = run("convert", "in.csv", *arguments, cwd=tmp_path)

    words = found.stderr.decode().split("score", 1)[1].split()
    assert words[:8] == "5 0 dropped 5 is not a number".split()
    assert words[8] == "(2)"
    assert "is not a number (2)" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_misfits_are_listed_in_one_order(tmp_path: Path) -> None:
    """Neither the table of losses nor its order changes with the seed of hashes."""
    row = "id,prompt,response,index,score\n1,2+2?,4,first,abc\n"
    (tmp_path / "a.csv").write_text(row)
    words = "convert a.csv --from csv --to record".split()

    seeds = [{"PYTHONHASHSEED": str(seed)} for seed in range(3)]
    found = {run(*words, cwd=tmp_path, environment=seed).stderr for seed in seeds}

    (table,) = found
    assert table.index(b"index") < table.index(b"score")
