"""Known scores of answers by each metric: one line in `scores/METRIC.jsonl` for each.

A line has an answer with its references, and may have parameters of the metric,
choices, and `within` what the score is known. They are those of other tools, which
define the metric, and of its edges; a score that is null is none.
"""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from json_lines import jsonl_rows
from metric_scores import answered, values

FILES = sorted((Path(__file__).parent / "scores").iterdir())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_known_answers_have_their_scores(path: Path) -> None:
    """Each answer has the score in the file, by the parameters that it names."""
    if path.stem in {"sentence-bleu", "rouge1", "wer", "cer"}:
        pytest.importorskip("rapidfuzz", reason="the extra score is not installed")
        pytest.importorskip("sacrebleu", reason="the extra score is not installed")
    alike = defaultdict(list)
    for row in jsonl_rows(path):
        alike[json.dumps(row.get("parameters", {}))].append(row)
    others = []
    for parameters, rows in alike.items():
        records = [
            answered(row["answer"], row["references"], choices=row.get("choices", []))
            for row in rows
        ]
        found = values(path.stem, records, **json.loads(parameters))
        for row, (score,) in zip(rows, found, strict=True):
            expected = row["score"]
            if "within" in row:
                expected = pytest.approx(expected, abs=row["within"])
            if score != expected:
                others.append((score, row))

    assert others == []
    assert alike
