"""A changed severity holds in counts, records, exit codes and with workers."""

import json
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from faulty_code import fails_at
from harpia_formats import OptionError, Report, Severity, UnknownRule, validate
from known_formats import RULES
from worker_units import small_units

SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
ROWS = b'{"a": 1}\n{"a": "x"}\n{}\n'


def counts(report: Report) -> tuple[int, int, int, int]:
    """Return the invalid records, errors, warnings and notes of a report."""
    found = report.summary()
    return found["invalid"], found["errors"], found["warnings"], found["notes"]


@for_each_case(
    "severity, expected",
    [
        ({}, (2, 2, 0, 0)),
        ({"S102": "warning"}, (1, 1, 1, 0)),
        ({"S": "note"}, (0, 0, 0, 2)),
        ({"s1": "note", "missing-key": "error"}, (1, 1, 0, 1)),
        ({"S102": "warning", "S": "note"}, (0, 0, 1, 1)),
        ({"S": "note", "S1": "warning"}, (0, 0, 2, 0)),
    ],
)
def test_a_changed_severity_counts(
    severity: dict[str, str], expected: tuple[int, ...]
) -> None:
    """A record is invalid by the severities that are asked for; the narrower wins."""
    report = validate(ROWS, schema=SCHEMA, severity=severity)

    assert counts(report) == expected
    assert report.ok == (expected[1] == 0)


def test_problems_and_groups_have_the_changed_severity() -> None:
    """Each problem and each group has the severity that it is counted with."""
    report = validate(ROWS, schema=SCHEMA, severity={"S": "note"})

    assert {one.severity for one in report.problems} == {Severity.NOTE}
    assert {one.severity for one in report.groups} == {Severity.NOTE}


def test_workers_use_the_changed_severity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any number of processes gives the same report, also of many small files."""
    small_units(monkeypatch, 20_000, whole_files=1_000_000)
    rows = [{"prompt": "x", "response": index % 3} for index in range(2_000)]
    text = "\n".join(map(json.dumps, rows)) + "\n" + json.dumps({"x" * 700: "y"})
    for number in range(16):
        (tmp_path / f"{number}.jsonl").write_text(text)
    options: Any = {"schema": SCHEMA, "severity": {"S": "warning"}}

    one, two = (validate(tmp_path, jobs=jobs, **options) for jobs in (1, 2))

    assert one == two
    assert counts(one)[:2] == (0, 0)
    assert one.warnings == 16 * 2_001


def test_a_repeated_id_that_is_a_warning_leaves_its_record_valid() -> None:
    """Findings across records follow the severity, too."""
    rule = RULES["X101"]
    assert isinstance(rule.validated_as, str)
    plain = validate(rule.bad, format=rule.validated_as)

    changed = validate(rule.bad, format=rule.validated_as, severity={"X101": "warning"})

    assert "X101" in {one.code for one in plain.problems}
    assert (plain.summary()["invalid"], changed.summary()["invalid"]) == (1, 0)


def test_a_row_that_cannot_be_read_is_never_valid() -> None:
    """A broken row has no verdict if its rule is no error; the report is not ok."""
    report = validate(b'{"a": 1}\n{"a" 1}\n', schema=SCHEMA, severity={"J": "note"})

    found = report.summary()
    assert (found["valid"], found["invalid"], found["undetermined"]) == (1, 0, 1)
    assert not report.ok


def test_a_note_may_become_an_error() -> None:
    """A rule of the file as a whole makes it not valid if it is an error."""
    report = validate(
        b'{"a": 1}\n\n{"a": 1}\n', schema=SCHEMA, severity={"J202": "error"}
    )

    assert counts(report)[1:] == (1, 0, 0)
    assert not report.ok


def test_internal_errors_keep_their_severity(monkeypatch: pytest.MonkeyPatch) -> None:
    """V902 stays an error: a record on which we fail must not be valid."""
    options: Any = {"schema": True, "severity": {"V902": "note"}}
    assert validate(ROWS, **options).ok
    fails_at(monkeypatch, b'"x"')
    report = validate(ROWS, **options)

    assert [(one.code, one.severity) for one in report.problems] == [("V902", "error")]
    assert (report.ok, report.files[0].undetermined) == (False, 1)


def test_mistakes_are_named() -> None:
    """Unknown rules and severities are errors that say what is known."""
    with pytest.raises(UnknownRule, match="did you mean"):
        validate(ROWS, schema=True, severity={"S1O1": "note"})
    with pytest.raises(OptionError, match="to skip a rule, ignore it"):
        validate(ROWS, schema=True, severity={"S101": "off"})
