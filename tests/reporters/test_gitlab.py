"""The Code Quality report is the array that GitLab reads."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
from hypothesis import given

from effort import examples
from generated_reports import reports, text_of
from harpia_formats import (
    FileCount,
    Group,
    Report,
    Severity,
    validate,
    write_report,
)

#: What GitLab requires, by "Code Quality report format" of its documentation.
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": [
            "description",
            "check_name",
            "fingerprint",
            "location",
            "severity",
        ],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
GROUP = Group("./a/b.jsonl", "S101", "missing-key", Severity.ERROR, "/a", 3, 7, 1, 2)


@given(reports())
@examples(15)
def test_any_report_is_what_gitlab_reads(report: Report) -> None:
    """Whatever data says, the array has all that is required, and unique entries."""
    found = json.loads(text_of("gitlab", report))
    jsonschema.Draft7Validator(SCHEMA).validate(found)

    prints = [entry["fingerprint"] for entry in found]
    assert len(prints) == len(set(prints)) >= len(report.groups)


def test_no_findings_are_an_empty_array() -> None:
    """Without findings there is an array, which ends those of the last run."""
    assert text_of("gitlab", Report((FileCount("a"),), (), ())) == "[]\n"


def test_findings_that_moved_have_the_same_fingerprint() -> None:
    """Line, count and the folder of the run change nothing; the field does."""

    def entry(group: Group, **options: str) -> dict[str, object]:
        (found,) = json.loads(text_of("gitlab", Report((), (group,), ()), **options))
        return dict(found)

    moved = replace(GROUP, path="b.jsonl", line=90, record=77, count=1)
    first = entry(GROUP, folder="/w", root="/w")
    second = entry(moved, folder="/w/a", root="/w")

    assert first["location"] == {"path": "a/b.jsonl", "lines": {"begin": 7}}
    assert first["fingerprint"] == second["fingerprint"]
    assert first["fingerprint"] != entry(replace(GROUP, pointer="/b"))["fingerprint"]


def test_a_file_that_was_not_read_is_an_entry() -> None:
    """An unread file is worse than any finding."""
    unread = FileCount("b.jsonl.gz", reason="is not gzip data")
    (found,) = json.loads(text_of("gitlab", Report((unread,), (), ())))

    assert found["severity"] == "blocker"
    assert found["location"]["path"] == "b.jsonl.gz"
    assert "is not gzip data" in found["description"]


def test_a_file_without_verdict_is_an_entry() -> None:
    """Its path is from the root, and other files are not named instead."""
    without = FileCount("k.jsonl", records=2, undetermined=2, unreported=("S301",))
    report = Report((FileCount("a.jsonl", records=1), without), (), ())
    (found,) = json.loads(text_of("gitlab", report, folder="/w/pt", root="/w"))

    assert found["location"] == {"path": "pt/k.jsonl", "lines": {"begin": 1}}


def test_a_report_with_a_long_description_is_replaced(tmp_path: Path) -> None:
    """An earlier report is known also by a first finding of many long reasons."""
    row = {f"{'键' * 150}{number}": "值" * 300 for number in range(9)}
    when = {"properties": {key: {"const": row[key]} for key in row}}
    schema = {"if": when | {"required": [*row]}, "then": {"required": ["a"]}}
    report, path = validate([row], schema=schema), tmp_path / "report.json"
    write_report(report, path, reporter="gitlab")
    first = path.read_bytes()
    write_report(report, path, reporter="gitlab")

    assert first.index(b"check_name") > 4096
    assert path.read_bytes() == first
