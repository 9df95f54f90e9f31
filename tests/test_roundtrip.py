"""`harpia-formats roundtrip`, and `roundtrip` of the API."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from harpia_formats import roundtrip
from harpia_formats.needs import ConversionError
from harpia_formats.registry import record_formats

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
COMMAND = [sys.executable, "-m", "harpia_formats", "roundtrip"]
#: Longer than anything here takes, and shorter than anyone waits.
PATIENCE = 30


def run(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `roundtrip` with the arguments given."""
    return subprocess.run(  # noqa: S603 - the command is ours
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


def lines_of(*rows: Any) -> bytes:
    """Return rows as lines of JSON."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in rows)


INSTANCE = {
    "id": "1",
    "input": "q",
    "expected-output": ["r", "s"],
    "actual-output": "a",
}


@pytest.mark.parametrize("source", record_formats())
def test_every_fixture_comes_back_through_our_own_records(source: str) -> None:
    """Each valid fixture is as it was, but for what its own format fills in."""
    # One file of Haystack has the names of two components, of which one is kept.
    filled_in = {"category", "source", "outputs.model", "header.extra"}
    for file in sorted((FIXTURES / source / "valid").iterdir()):
        report = roundtrip(file, via="record", from_=source)

        assert report.records > 0 or source in {"harpia", "tencent-csv"}, file.name
        assert set(report.fields) <= filled_in, file.name
        for each in report.fields.values():
            assert each.example is not None
            assert each.path == "header.extra" or each.example.left is UNSET


@pytest.mark.parametrize("via", record_formats())
@pytest.mark.parametrize("source", ["harpia", "nemo-output", "tencent-outputs"])
def test_what_differs_is_never_more_than_there_is(source: str, via: str) -> None:
    """Through any format there is a count of every record, and no traceback."""
    given = {
        "evaluation_id": "e",
        "outputs.scores.value": 1,
        "outputs.scores.is_correct": True,
        "evaluation_name": "n",
        "outputs.model": "m",
        "outputs.text": "a",
        "references": ["r"],
    }
    file = FIXTURES / source / "valid" / "array.json"
    if not file.exists():
        file = FIXTURES / source / "valid" / "answers.json"
    report = roundtrip(file, via=via, constants=given)

    assert report.records > 0
    assert 0 <= report.differing <= report.records
    assert all(each.count <= report.records for each in report.fields.values())


def test_what_does_not_come_back_has_its_count_and_place() -> None:
    """Each field that differs has a line with both values, and how often."""
    rows = [INSTANCE | {"id": str(each)} for each in range(3)]
    rows[1] = rows[1] | {"expected-output": ["r"]}
    result = run("--via", "nemo", stdin=lines_of(*rows))
    lines = result.stdout.decode().splitlines()

    assert result.returncode == 1
    assert '<stdin>:1:1: references: ["r","s"] became ["r"] (2 records)' in lines
    assert '<stdin>:1:1: id: "0" became "1" (3 records)' in lines
    assert b"3 records through nemo-output, 3 differ" in result.stderr


def test_what_comes_back_is_no_difference() -> None:
    """A record that another format holds whole comes back, and the code is 0."""
    result = run("--via", "csv", stdin=lines_of(INSTANCE))

    assert (result.returncode, result.stdout) == (0, b"")
    assert b"1 records through csv, 0 differ" in result.stderr


def test_expanded_rows_come_together_again() -> None:
    """Several answers that become rows of one each are one record again."""
    row = {
        "messages": [{"role": "user", "content": "q"}],
        "ref_answer": "r",
        "id": "a",
        "model_outputs": [
            {"model_name": "m1", "responses": [{"content": "x"}]},
            {"model_name": "m2", "responses": [{"content": "y"}]},
        ],
    }
    report = roundtrip(
        lines_of(row),
        via="eee",
        constants={"evaluation_id": "e", "evaluation_name": "n"},
        score="em",
    )

    assert set(report.fields) <= {
        "outputs.interaction_type",
        "outputs.attribution",
        "outputs.scores.value",
        "outputs.scores.is_correct",
    }


def test_the_header_is_compared_too() -> None:
    """Metrics that another format cannot hold are a difference."""
    document = {"instances": [INSTANCE], "metrics": [{"id": "BLEU-NLTK"}]}
    lost = roundtrip(json.dumps(document).encode(), via="csv")
    kept = roundtrip(json.dumps(document).encode(), via="record")

    assert (lost.ok, lost.differing, list(lost.fields)) == (
        False,
        0,
        ["header.metrics"],
    )
    assert kept.ok


def test_a_record_that_cannot_go_there_differs() -> None:
    """A record that the other format cannot say is counted, with the reason."""
    unasked = {"messages": [{"role": "system", "content": "s"}], "ref_answer": "r"}
    asked = {"messages": [{"role": "user", "content": "q"}], "ref_answer": "r"}
    result = run("--via", "tencent-csv", stdin=lines_of(unasked, asked))

    assert result.returncode == 1
    assert b"<stdin>:1:1: messages: no message is of the user" in result.stdout
    assert b"2 records through tencent-csv, 1 differ" in result.stderr


def test_a_row_that_is_not_valid_ends_it() -> None:
    """An invalid row is named with its place, and the code is 1."""
    result = run("--via", "csv", stdin=lines_of(INSTANCE, {"id": "2", "input": 7}))

    assert result.returncode == 1
    assert b"<stdin>:2:" in result.stderr


def test_extra_fields_come_back_where_there_is_room() -> None:
    """With --keep-extra what a format has no place for comes back from it."""
    row = INSTANCE | {"id": "é", "note": {"deep": [1]}}
    constants = {"evaluation_id": "e", "evaluation_name": "n", "outputs.model": "m"}
    given = {"via": "eee", "constants": constants, "score": "em"}
    without = roundtrip(lines_of(row), **given)  # type: ignore[arg-type]  # as named
    kept = roundtrip(lines_of(row), keep_extra=True, **given)  # type: ignore[arg-type]  # as named

    assert "extra.harpia.note" in without.fields
    assert "extra.harpia.note" not in kept.fields
    assert "references" not in kept.fields


def test_a_need_is_told_here_too() -> None:
    """What the other format never has is one sentence, as in a conversion."""
    with pytest.raises(ConversionError, match="--score em or --score f1"):
        roundtrip(lines_of(INSTANCE), via="eee")
    result = run("--via", "nem", stdin=lines_of(INSTANCE))

    assert result.returncode == 2
    assert b"did you mean nemo?" in result.stderr
