"""One JSON object in each line: each problem as it is found, then the summary."""

from collections.abc import Callable, Iterable
from typing import Any

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import (
    SCHEMA,
    Report,
    file_as_dict,
    group_as_dict,
    problem_as_dict,
)
from harpia_formats.model.text.json_text import json_text
from harpia_formats.reporters.reporter import Options, Reporter


def write(
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


REPORTER = Reporter(
    name="jsonl",
    summary="a JSON object in each line: each problem, then the summary",
    write=write,
    suffixes=(".jsonl", ".ndjson"),
    begins=rb'\{"kind":"(problem","path":|summary","schema":"harpia-formats/)',
)
