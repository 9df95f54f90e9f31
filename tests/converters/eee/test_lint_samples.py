"""Lints of real samples of EvalEval: findings per file, each looked at by hand."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpora import CORPORA
from harpia_formats import Report, validate
from known_formats import RULES

ROOT = Path(__file__).parents[3]
SAMPLES = CORPORA / "eee" / "samples"
LINTS = {code for code, rule in RULES.items() if rule.lint and code[0] == "E"}
#: What is found in each row of Inspect's converter: it never writes attribution, and
#: stores the time of waiting as latency.
INSPECT = {"E111": 1, "E119": 1}
#: The findings of all rows of a file, by how its name begins.
EVERY_ROW = {
    "conv_inspect": INSPECT,
    "era320d58e9_ai2": INSPECT,
    "era320d58e9_challenges": INSPECT,
    "era320d58e9_ic_ctf": INSPECT,
    "era320d58e9_pubmed": INSPECT,
    # It counted the turns of single_turn.
    "era96bd610f": INSPECT | {"E109": 1},
}
#: Further findings of a file: any score above 0 is correct, here 0.5, 0.5 and 0.65,
#: and epochs share the id of their sample.
FURTHER = {
    "conv_inspect_mock_epochs": {"E117": 2, "E307": 1},
    # Two samples, of two epochs each.
    "conv_inspect_mock_multi": {"E307": 2},
    "conv_inspect_cyse2": {"E117": 1},
}
#: The findings in the repaired records, each run by itself: those of single records as
#: above, and rows of three files of a converter that called every run None_samples.
REPAIRED = {"E111": 45, "E119": 45, "E109": 12, "E117": 3, "E302": 15, "E307": 3}
#: What the repair of two references to one breaks: the hash of both.
REPAIRED_SEED = REPAIRED | {"E103": 4}


def codes_of(report: Report) -> Counter[str]:
    """Return how often each lint of EvalEval was broken."""
    return Counter(each.code for each in report.problems if each.code in LINTS)


def lint(data: Any, shape: str | None = None) -> Report:
    """Return the report on samples with lints."""
    return validate(data, format=shape, lint=True, examples=0, max_problems=0)


def expected_of(path: Path) -> Counter[str]:
    """Return the findings that were checked by hand in a file."""
    rows = len(path.read_bytes().splitlines())
    expected: Counter[str] = Counter()
    for start, codes in EVERY_ROW.items():
        if path.name.startswith(start):
            expected.update(dict.fromkeys(codes, rows))
    for start, counts in FURTHER.items():
        if path.name.startswith(start):
            expected.update(counts)
    return expected


@pytest.mark.corpora
def test_findings_in_real_samples_are_known() -> None:
    """Every finding in a real file is one that was checked by hand, and none lacks."""
    paths = sorted(SAMPLES.glob("*.jsonl"))

    assert {path.name: codes_of(lint(path)) for path in paths} == {
        path.name: expected_of(path) for path in paths
    }


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        ("valid-seed-0.2.0.jsonl", "eee@0.2.0", REPAIRED_SEED),
        ("valid-0.3.0.jsonl", "eee@0.3.0", REPAIRED),
    ],
)
def test_repaired_records_have_errors_only_where_ids_repeat(
    name: str, shape: str, expected: dict[str, int]
) -> None:
    """Of all repaired records, each run as a file, three repeat the id of another."""
    runs: dict[str, list[bytes]] = {}
    for line in (CORPORA / "eee" / name).read_bytes().splitlines(keepends=True):
        runs.setdefault(json.loads(line)["evaluation_id"], []).append(line)
    reports = [lint(b"".join(lines), shape) for lines in runs.values()]
    found = sum(map(codes_of, reports), Counter[str]())

    assert sum(report.summary()["errors"] for report in reports) == expected["E307"]
    assert found == expected


@pytest.mark.corpora
def test_one_real_aggregate_has_another_mean() -> None:
    """Of all real pairs, only upstream's example has a score that is not the mean."""
    report = validate(SAMPLES, select=("E206",), examples=0, max_problems=0)

    assert [
        (Path(each.place.path).name, each.place.pointer) for each in report.problems
    ] == [
        ("skill_reference_aggregate.json", "/evaluation_results/0/score_details/score")
    ]
