"""Verdicts of a judge become records: their ids, their scores, and all else of them."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import harpia_formats
from json_lines import jsonl_rows

ROOT = Path(__file__).parents[3]
VERDICTS = ROOT / "fixtures/judge-verdicts/valid/verdicts.jsonl"


def converted(path: Path) -> list[dict[str, Any]]:
    """Return the records that the verdicts of a file become."""
    output = BytesIO()
    harpia_formats.convert(path, to="record", output=output)
    return jsonl_rows(output.getvalue())


def test_a_score_has_the_signature_of_its_verdict() -> None:
    """It is that of each number; a verdict without any keeps it with the rest."""
    verdicts = jsonl_rows(VERDICTS)
    records = converted(VERDICTS)
    numbers = [(verdict["result"] or {}).get("score") for verdict in verdicts]

    assert None in numbers
    assert len(records) == len(verdicts)
    for verdict, record, number in zip(verdicts, records, numbers, strict=True):
        scores = record["outputs"][0].get("scores", [])
        kept = record["extra"]["judge"]
        if number is None:
            assert (scores, kept["signature"]) == ([], verdict["signature"])
        else:
            assert [score["signature"] for score in scores] == [verdict["signature"]]
            assert "signature" not in kept


def test_a_verdict_without_an_id_has_the_number_of_its_record() -> None:
    """The number is kept in any case."""
    without = VERDICTS.with_name("without-ids.jsonl")
    numbers = [json.loads(line)["record"] for line in without.read_bytes().splitlines()]

    assert [each["id"] for each in converted(without)] == numbers
    for path in (VERDICTS, without):
        kept = [each["extra"]["judge"]["record"] for each in converted(path)]
        assert kept == [
            json.loads(line)["record"] for line in path.read_bytes().splitlines()
        ]
