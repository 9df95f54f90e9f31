"""Reports as JSON: one object, or a line for each problem and then the summary."""

from collections.abc import Callable, Iterable
from typing import Any

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import (
    SCHEMA,
    Report,
    file_as_dict,
    group_as_dict,
    problem_as_dict,
    report_as_dict,
)
from harpia_formats.model.result import Result
from harpia_formats.model.safe_text import json_text
from harpia_formats.reporters.reporter import Options, Reporter


def write_object(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    _options: Options,
) -> None:
    """Write one object after all problems were found."""
    found = [problem_as_dict(problem) for problem in problems]
    whole = report_as_dict(finish(), found)
    write_text(json_text(whole, indent=True) + "\n")


def write_result(
    result: Result, write_text: Callable[[str], None], _options: Options
) -> None:
    """Write the plain data of a result as one object."""
    write_text(json_text(result.to_dict(), indent=True) + "\n")


#: A report of findings or statistics, else another result: `ok` and its second key. A
#: baseline, and what a preflight keeps, are none.
_BEGINS = (
    rb'\{\n  ("schema": "harpia-formats/(?!(baseline|preflight-state)/)'
    rb'|"ok": (true|false),\n  "(compared|profile|records|rows|schema|target)":)'
)

REPORTER = Reporter(
    name="json",
    summary="the whole report as one JSON object",
    write=write_object,
    suffixes=(".json",),
    begins=_BEGINS,
    write_result=write_result,
)


def write_lines(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    _options: Options,
) -> None:
    """Write a line for each problem, then one with the exact counts."""
    for problem in problems:
        write_text(json_text({"kind": "problem", **problem_as_dict(problem)}) + "\n")
    report = finish()
    last: dict[str, Any] = {
        "kind": "summary",
        "schema": SCHEMA,
        "files": [file_as_dict(file) for file in report.files],
        "groups": [group_as_dict(group) for group in report.groups],
        "summary": report.summary(),
    }
    if report.checks:
        last["checks"] = [check.as_dict() for check in report.checks]
    write_text(json_text(last) + "\n")


LINES_REPORTER = Reporter(
    name="jsonl",
    summary="a JSON object in each line: each problem, then the summary",
    write=write_lines,
    suffixes=(".jsonl", ".ndjson"),
    begins=rb'\{"kind":"(problem","path":|summary","schema":"harpia-formats/)',
)
