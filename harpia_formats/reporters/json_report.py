"""The whole report as one JSON object, by the report contract."""

from collections.abc import Callable, Iterable

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import (
    SCHEMA,
    Report,
    file_as_dict,
    group_as_dict,
    problem_as_dict,
)
from harpia_formats.reporters.json_text import json_text
from harpia_formats.reporters.reporter import Options, Reporter


def write(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    _options: Options,
) -> None:
    """Write one object once all problems have come."""
    found = [problem_as_dict(each) for each in problems]
    report = finish()
    whole = {
        "schema": SCHEMA,
        "files": [file_as_dict(each) for each in report.files],
        "groups": [group_as_dict(each) for each in report.groups],
        "problems": found,
        "summary": report.summary(),
    }
    write_text(json_text(whole, indent=True) + "\n")


REPORTER = Reporter(
    name="json", summary="the whole report as one JSON object", write=write
)
