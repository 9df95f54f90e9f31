"""Rows 31 to 33: patterns, schemas and findings that cost much time or memory."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from command_runs import error_lines, run
from faults import Injections
from memory_of_runs import measured, needs_memory

#: Seconds for a run with one record, start-up and a busy machine included; without
#: limits most of these take hours.
SECONDS = 20
#: Patterns that cost exponential or quadratic time, and a text that shows it.
PATTERNS = {
    "^(a+)+$": "a" * 40 + "!",
    "^(a|a)*$": "a" * 40 + "!",
    "(x+x+)+y": "x" * 40,
    r"^(\w+\s?)*$": "a" * 40 + "!",
    "^(?=a)(a+)+$": "a" * 40 + "!",
    ".*.*.*=.*": "x" * 5_000,
    "(?=.*a)(?=.*b)(?=.*c)x$": "y" * 100_000,
}
#: A pattern that matches a text, which an engine with a limit calls no match.
MATCHING = (r"^(?:(\w+\s?)*b|a*!)(?<!x)$", "a" * 40 + "!")
#: Where a schema can have a pattern.
PLACES: dict[str, Any] = {
    "pattern": lambda one: {"properties": {"a": {"pattern": one}}},
    "patternProperties": lambda one: {"patternProperties": {one: False}},
    "propertyNames": lambda one: {"propertyNames": {"pattern": one}},
    "not": lambda one: {"properties": {"a": {"not": {"pattern": one}}}},
}


def _validated(folder: Path, schema: Any, row: Any) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the summary of a validation of one row."""
    (folder / "schema.json").write_text(json.dumps(schema))
    (folder / "rows.jsonl").write_text(f"{json.dumps(row)}\n")
    words = "validate rows.jsonl --schema schema.json --output-format json".split()
    began = time.monotonic()
    found = run(*words, cwd=folder, timeout=SECONDS)
    assert time.monotonic() - began < SECONDS
    assert b"Traceback" not in found.stderr
    if found.returncode == 2:
        assert error_lines(found)
        return 2, {}
    return found.returncode, json.loads(found.stdout)["summary"]


@pytest.mark.parametrize("place", PLACES)
def test_31_a_pattern_that_takes_exponential_time_ends(
    place: str, tmp_path: Path, fault: Injections
) -> None:
    """A pattern has a verdict, or none that is named, within the limit of time."""
    for pattern, text in PATTERNS.items():
        row = {text: 1, "a": text}
        code, summary = _validated(tmp_path, PLACES[place](pattern), row)

        assert code in {0, 1, 2}
        if summary.get("undetermined"):
            assert (code, summary["invalid"]) == (1, 0)
            fault.add("a costly pattern in a schema", "undetermined, within the limit")
        else:
            fault.add("a costly pattern in a schema", "a verdict within the limit")


def test_31_what_was_not_decided_is_not_invalid(
    tmp_path: Path, fault: Injections
) -> None:
    """A text that matches is valid or undetermined, never invalid."""
    pattern, text = MATCHING
    code, summary = _validated(tmp_path, PLACES["pattern"](pattern), {"a": text})

    assert code == 2 or summary["invalid"] == 0
    fault.add("a pattern beyond the limit, and a text that matches it", "not invalid")


def _doubled(count: int) -> dict[str, Any]:
    """Return a schema in which each definition refers twice to the one before."""
    definitions: dict[str, Any] = {"d0": {"type": "object"}}
    for at in range(1, count):
        reference = {"$ref": f"#/definitions/d{at - 1}"}
        definitions[f"d{at}"] = {"allOf": [reference, reference]}
    return {"$ref": f"#/definitions/d{count - 1}", "definitions": definitions}


_some = {"type": "array", "uniqueItems": True}
COSTLY: dict[str, tuple[Any, Any]] = {
    "uniqueItems with 4,000 objects": (
        {"properties": {"a": _some}},
        {"a": [{"n": at, "t": [at]} for at in range(4_000)]},
    ),
    "uniqueItems with objects and numbers": (
        {"properties": {"a": _some}},
        {"a": [at if at % 2 else {"n": at} for at in range(4_000)]},
    ),
    "allOf doubled 26 times": (_doubled(26), {}),
    "allOf doubled 60 times": (_doubled(60), {}),
    "a reference to itself": ({"$ref": "#"}, {}),
    "references in a ring": (
        {
            "$ref": "#/definitions/a",
            "definitions": {
                "a": {"$ref": "#/definitions/b"},
                "b": {"$ref": "#/definitions/a"},
            },
        },
        {},
    ),
    "anyOf of 20 in 5 levels": (
        {"anyOf": [{"anyOf": [{"required": [f"k{at}"]}] * 20} for at in range(400)]},
        {"x": 1},
    ),
}


@pytest.mark.parametrize("kind", COSTLY)
def test_32_a_schema_that_multiplies_the_work_ends(
    kind: str, tmp_path: Path, fault: Injections
) -> None:
    """There is a verdict, a refusal or the word undetermined within the limit."""
    code, summary = _validated(tmp_path, *COSTLY[kind])

    if code == 2:
        fault.add(kind, "refused, exit code 2")
    elif summary["undetermined"]:
        assert (code, summary["invalid"]) == (1, 0)
        fault.add(kind, "undetermined, exit code 1")
    else:
        fault.add(kind, "a verdict")


#: Findings of the smaller and of the larger file.
FEW, MANY = 3_000, 30_000
#: Findings of one record; there is a limit, behind which a finding says so.
IN_ONE = 1_000


def _many_findings(folder: Path, count: int) -> tuple[dict[str, Any], int]:
    """Return the report on a file with so many findings, and the peak of memory.

    As many as one record may have are in one, and each value is a long text.
    """
    row = json.dumps({"id": 1, "a": "x" * 300})
    wide = json.dumps({"id": "1", "b": ["y" * 40] * IN_ONE})
    with (folder / "rows.jsonl").open("w") as file:
        file.writelines(f"{row}\n" for _ in range(count - IN_ONE))
        file.write(f"{wide}\n")
    schema = {
        "properties": {
            "id": {"type": "string"},
            "b": {"items": {"type": "number"}},
        }
    }
    (folder / "schema.json").write_text(json.dumps(schema))
    place = folder / "report.json"
    code, peak, shown = measured(
        *("validate", folder / "rows.jsonl", "--schema", folder / "schema.json"),
        *("--report", f"json={place}", "--jobs", "1"),
        folder=folder,
    )
    assert code == 1, shown
    return json.loads(place.read_bytes()), peak


def _check_findings(folder: Path, few: int, many: int, fault: Injections) -> None:
    """Check the counts, the length of the report and the growth of memory."""
    report, less = _many_findings(folder, few)
    assert report["summary"]["errors"] == few
    report, more = _many_findings(folder, many)
    texts = [each["message"] for each in report["problems"]]

    assert report["summary"]["errors"] == many
    assert sum(each["count"] for each in report["groups"]) == many
    assert max(map(len, texts)) < 1_000
    assert (folder / "report.json").stat().st_size < 100_000
    assert more < less + (60 << 20), (less, more)
    fault.add(
        f"{many:,} findings with long values",
        "all are counted, few are shown, memory grows by less than 60 MiB",
    )


@needs_memory
def test_33_many_findings_are_counted_and_few_are_shown(
    tmp_path: Path, fault: Injections
) -> None:
    """Counts are exact, examples and messages are short, and memory does not grow."""
    _check_findings(tmp_path, FEW, MANY, fault)


@needs_memory
@pytest.mark.long
def test_33_very_many_findings_need_no_more_memory(
    tmp_path: Path, fault: Injections
) -> None:
    """Ten times as many findings again need hardly more memory."""
    _check_findings(tmp_path, MANY, 10 * MANY, fault)


@pytest.mark.parametrize(
    "name", ["full", "concise", "json", "jsonl", "github", "sarif", "junit"]
)
def test_33_a_very_long_value_is_cut_in_each_report(
    name: str, tmp_path: Path, fault: Injections
) -> None:
    """A message on a value of 10 MB is as short as others."""
    text = json.dumps({"id": ["z" * 10_000_000], "zzz": 1})
    (tmp_path / "rows.jsonl").write_text(f"{text}\n")
    words = f"validate rows.jsonl --from record --output-format {name}".split()
    found = run(*words, cwd=tmp_path)

    assert found.returncode == 1
    assert len(found.stdout) < 100_000
    fault.add("a value of 10 MB, a report", "an excerpt of it")
