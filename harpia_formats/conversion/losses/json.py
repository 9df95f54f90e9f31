"""Write the losses of a conversion as a report in JSON, by the report contract."""

from collections.abc import Iterator
from dataclasses import replace

from harpia_formats.conversion.loss_counts import FateCount
from harpia_formats.conversion.report import ConversionReport, FileLosses
from harpia_formats.formats.registry import all_rules
from harpia_formats.model.field_fates import Fate
from harpia_formats.model.problem import Place, Problem
from harpia_formats.model.report import Group, Report, problem_as_dict, report_as_dict
from harpia_formats.model.text.json_text import json_text


def loss_report(report: ConversionReport) -> bytes:
    """Return the losses of a conversion as the text of a report."""
    losses = as_report(report)
    problems = [problem_as_dict(problem) for problem in losses.problems]
    text = json_text(report_as_dict(losses, problems), indent=True) + "\n"
    return text.encode()


def as_report(report: ConversionReport) -> Report:
    """Return the losses as problems, one for each fate of each field.

    The counts of a file are those of its validation and of its losses.
    """
    counts = [replace(file) for file in report.report.files]
    groups: list[Group] = []
    problems: list[Problem] = []
    for file in report.losses:
        count = next((own for own in counts if own.path == file.path), None)
        for loss, problem in _problems_of(file):
            problems.append(problem)
            groups.append(_group(problem, loss))
            if count is not None:
                count.count(problem.severity, loss.count)
    return Report(tuple(counts), tuple(groups), tuple(problems))


def _problems_of(file: FileLosses) -> Iterator[tuple[FateCount, Problem]]:
    rules = all_rules()
    for loss in file.losses.counts.values():
        if not loss.count:
            continue
        field_fate = loss.field_fate
        rule = rules[field_fate.fate]
        pointer = file.losses.names.pointer_of(field_fate.path)
        place = loss.place or Place(file.path, 1, 1, 2, 0)
        name = file.losses.names.of(field_fate.path)
        how = f": {field_fate.how}" if field_fate.how else ""
        yield (
            loss,
            Problem(
                rule.code,
                rule.name,
                rule.severity,
                replace(place, pointer=pointer),
                f"{name} is {_word_for(field_fate.fate, rule.name)}{how}",
            ),
        )


def _word_for(fate: Fate, name: str) -> str:
    """Return what a fate is called behind the name of a field."""
    return "null, and left out" if fate is Fate.NULL else name


def _group(problem: Problem, loss: FateCount) -> Group:
    place = problem.place
    return Group(
        path=place.path,
        code=problem.code,
        name=problem.name,
        severity=problem.severity,
        pointer=place.pointer,
        count=loss.count,
        line=place.line,
        column=place.column,
        record=place.record,
        member=place.member,
    )
