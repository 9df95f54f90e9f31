import io
import json
from pathlib import Path
from typing import Any

import pytest

import harpia_formats as hf
from json_lines import jsonl

ROWS: list[dict[str, Any]] = [
    {
        "input": {"prompt": "q", "ideal_response": "r", "category": "", "source": ""},
        "response": "r",
        "llm_name": "m",
    }
]


def test_any_result_is_written_as_json(tmp_path: Path) -> None:
    """A report is written by its contract, another result as its plain data."""
    report = hf.validate(b'{"a": NaN}')
    hf.write_report(report, tmp_path / "r.json")
    scores = hf.score(ROWS, metrics=("em",))
    stream = io.BytesIO()
    hf.write_report(scores, stream, reporter="json")

    assert json.loads((tmp_path / "r.json").read_bytes()) == report.to_dict()
    assert json.loads(stream.getvalue())["systems"][0]["scores"][0]["value"] == 1.0


def test_a_reporter_that_cannot_write_a_result_says_which_can() -> None:
    """A reporter of findings alone is refused for scores, and writes nothing."""
    scores, stream = hf.score(ROWS, metrics=("em",)), io.BytesIO()
    with pytest.raises(hf.ReportError, match=r"concise writes the findings .* json"):
        hf.write_report(scores, stream, reporter="concise")

    assert stream.getvalue() == b""


def test_what_names_no_reporter_is_an_error(tmp_path: Path) -> None:
    """A stream needs a name, a path one or a suffix, and a name must be known.

    The error says which argument names a reporter.
    """
    report = hf.validate(ROWS)
    with pytest.raises(hf.ReportError, match="an open file has no suffix"):
        hf.write_report(report, io.BytesIO())
    with pytest.raises(hf.ReportError, match=r'name one as reporter="NAME"'):
        hf.write_report(report, tmp_path / "r.foo")
    with pytest.raises(hf.ReportError, match="did you mean json"):
        hf.write_report(report, tmp_path / "r.json", reporter="jsn")
    with pytest.raises(hf.ReportError, match="written to a file, and - is none"):
        hf.write_report(report, "-", reporter="json")
    with pytest.raises(TypeError, match="not a int"):
        hf.write_report(report, 5)  # type: ignore[arg-type]  # what a caller without types may pass


def test_a_report_of_any_result_is_replaced(tmp_path: Path) -> None:
    """A second report of the same kind takes the place of the first."""
    one, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    questions = [{**ROWS[0], "input": {**ROWS[0]["input"], "prompt": n}} for n in "qr"]
    for path in (one, other):
        path.write_bytes(jsonl(*questions))
    results = [
        hf.validate(one),
        hf.convert(one, to="record", output=tmp_path / "converted.jsonl"),
        hf.diff(one, other),
        hf.stats(one),
        hf.score(one, metrics=("em",)),
        hf.compare_scores(one, other, metrics=("em",)),
        hf.head(one, output=tmp_path / "head.jsonl"),
        hf.infer_schema(one),
    ]

    for number, result in enumerate(results):
        place = tmp_path / f"{number}.json"
        hf.write_report(result, place)
        written = place.read_bytes()
        hf.write_report(result, place)
        assert place.read_bytes() == written
