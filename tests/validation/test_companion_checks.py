import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats import Report, validate
from json_lines import jsonl
from known_formats import RULES

BLEU: dict[str, Any] = {"id": "BLEU-NLTK", "enable": True, "parameters": {"max": 4}}
CHRF: dict[str, Any] = {"id": "chrF", "enable": True, "parameters": {}}
OFF: dict[str, Any] = {"id": "BERTScore", "enable": False, "parameters": {}}
TWICE_OFF = [
    ("H202", 1, "/id"),
    ("H202", 2, "/id"),
    ("H201", None, ""),
    ("H201", None, ""),
]
INSTANCE = {"input": "?", "actual-output": "!", "expected-output": ["!"]}


def lab_input(*metrics: Any, ids: tuple[Any, ...] = ("1", "2")) -> bytes:
    """Return an input of HarpIA Lab with these metrics and instances."""
    instances = [{"id": each, **INSTANCE} for each in ids]
    return json.dumps({"instances": instances, "metrics": metrics}).encode()


def output(*metrics: dict[str, Any]) -> bytes:
    """Return an output with an object for each of these metrics."""
    items = [
        {
            "id": each["id"],
            "parameters": each["parameters"],
            "score": 0.5,
            "elapsed time": 0.1,
        }
        for each in metrics
    ]
    return json.dumps(items).encode()


def log(*rows: tuple[dict[str, Any], Any]) -> bytes:
    """Return a log of these metrics on these instances."""
    lines = [
        {
            "id": metric["id"],
            "parameters": metric["parameters"],
            "result": 0.5,
            "instance_id": instance,
        }
        for metric, instance in rows
    ]
    return jsonl(*lines)


@pytest.fixture
def lab_input_file(tmp_path: Path) -> Path:
    """Return an input of two metrics that are enabled and one that is not."""
    path = tmp_path / "input.json"
    path.write_bytes(lab_input(BLEU, CHRF, OFF))
    return path


def found(report: Report) -> list[tuple[str, int | None, str]]:
    """Return code, record and pointer of each finding on a pair."""
    return [
        (each.code, each.place.record, each.place.pointer)
        for each in report.problems
        if each.code.startswith("H2")
    ]


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ([BLEU, CHRF], []),
        ([CHRF, BLEU], []),
        ([BLEU], [("H201", None, "")]),
        ([BLEU, CHRF, OFF], [("H202", 3, "/id")]),
        ([BLEU, CHRF, CHRF | {"id": "TER"}], [("H203", 3, "/id")]),
        ([BLEU | {"parameters": {"max": 2}}, CHRF], [("H204", 1, "/parameters")]),
        ([BLEU | {"parameters": {"max": 4.0}}, CHRF], []),
        ([BLEU, CHRF, BLEU], [("H206", None, "")]),
        (
            [OFF, OFF],
            [*TWICE_OFF, ("H206", None, "")],
        ),
    ],
)
def test_output_is_checked_against_its_input(
    lab_input_file: Path, metrics: list[dict[str, Any]], expected: list[Any]
) -> None:
    """Each enabled metric has one object with its parameters, and no other has any."""
    report = validate(output(*metrics), companion=lab_input_file)
    (count,) = report.files
    wrong = {record for _, record, _ in expected if record}

    assert found(report) == expected
    assert (count.records, count.invalid) == (len(metrics), len(wrong))
    assert count.errors == len(expected)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(BLEU, "1"), (BLEU, "2"), (CHRF, "1")], []),
        ([(BLEU, 1), (BLEU, 2)], []),
        ([(BLEU, "1"), (BLEU, "3")], [("H205", 2, "/instance_id")]),
        ([(OFF, "1")], [("H202", 1, "/id")]),
        ([(OFF, "9"), (BLEU, "1")], [("H202", 1, "/id"), ("H205", 1, "/instance_id")]),
    ],
)
def test_log_is_checked_against_its_input(
    lab_input_file: Path, rows: list[Any], expected: list[Any]
) -> None:
    """Rows name metrics that are run and instances that are there, text or number."""
    report = validate(log(*rows), companion=lab_input_file)
    (count,) = report.files

    assert found(report) == expected
    assert count.invalid == len({record for _, record, _ in expected})


def test_record_with_several_findings_is_invalid_once(lab_input_file: Path) -> None:
    """A record that its schema refuses too is one invalid record."""
    rows = log((OFF, "9"), (BLEU, "1"), (OFF, "1")).replace(
        b'"result": 0.5', b'"r": 1', 1
    )
    (count,) = validate(rows, companion=lab_input_file).files

    assert (count.records, count.valid, count.invalid) == (3, 1, 2)


@for_each_case(
    "code",
    [
        each
        for each, rule in RULES.items()
        # Some of these rules need only one file.
        if each[:2] in {"H2", "E2"} and rule.companion
    ],
)
def test_findings_on_pairs_have_places(code: str, tmp_path: Path) -> None:
    """Every finding of a pair is at a place in the file that it names."""
    rule = RULES[code]
    path = tmp_path / "beside.json"
    path.write_bytes(rule.companion)
    (problem,) = validate(
        rule.bad, format=str(rule.validated_as), companion=path, select=(code,)
    ).problems
    data = rule.companion if problem.place.path == str(path) else rule.bad
    last = problem.place.pointer.rpartition("/")[2].encode()
    line = data[: problem.place.byte_offset].count(b"\n") + 1

    assert 0 <= problem.place.byte_offset < len(data)
    assert problem.place.line == line
    if last and not last.isdigit():
        before = data[: problem.place.byte_offset].rstrip()
        assert before.endswith(b'"' + last + b'":')


def test_findings_have_physical_lines(lab_input_file: Path) -> None:
    """In a file with blank lines the place of a finding is the physical one."""
    rows = b"\n\n".join(log((BLEU, "1"), (BLEU, "é"), (OFF, "2")).splitlines())
    first, second = (
        each
        for each in validate(rows, companion=lab_input_file).problems
        if each.code != "J202"
    )

    assert (first.code, first.place.line, first.place.record) == ("H202", 5, 3)
    assert (second.code, second.place.line, second.place.record) == ("H205", 3, 2)
    assert rows[second.place.byte_offset :].startswith(json.dumps("é").encode())


@examples(13)
@given(
    ids=st.lists(
        st.sampled_from(["1", "2", "10", "é", "(1,)"]), max_size=4, unique=True
    ),
    seen=st.lists(
        st.sampled_from(["1", "2", 10, "é", "(1,)", 3]), min_size=1, max_size=9
    ),
)
def test_unknown_instances_are_reported(
    tmp_path_factory: pytest.TempPathFactory, ids: list[Any], seen: list[Any]
) -> None:
    """Exactly the rows with an instance that the input lacks, as text, are reported."""
    path = tmp_path_factory.mktemp("pair") / "input.json"
    path.write_bytes(lab_input(BLEU, ids=("never", *ids)))
    report = validate(log(*((BLEU, each) for each in seen)), companion=path, examples=0)
    wrong = [number for number, each in enumerate(seen, 1) if str(each) not in ids]

    assert found(report) == [("H205", each, "/instance_id") for each in wrong]
    assert report.files[0].invalid == len(wrong)
    assert Counter(each.code for each in report.problems)["H205"] == len(wrong)
