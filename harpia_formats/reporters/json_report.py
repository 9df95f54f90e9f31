"""The whole report as one JSON object, by the schema of reports."""

from collections.abc import Callable, Iterable

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report, problem_as_dict, report_as_dict
from harpia_formats.model.result import Result
from harpia_formats.model.text.json_text import json_text
from harpia_formats.reporters.reporter import Options, Reporter


def write(
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


#: A report of findings or statistics, else another result: `ok` and its second key.
_BEGINS = (
    rb'\{\n  ("schema": "harpia-formats/(?!baseline/)'
    rb'|"ok": (true|false),\n  "(compared|profile|records|target)":)'
)

REPORTER = Reporter(
    name="json",
    summary="the whole report as one JSON object",
    write=write,
    suffixes=(".json",),
    begins=_BEGINS,
    write_result=write_result,
)
