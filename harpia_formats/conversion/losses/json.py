"""The losses of a conversion, by the report contract."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harpia_formats.conversion.losses.counts import Loss
from harpia_formats.conversion.report import ConversionReport, FileLosses
from harpia_formats.io.sink import FileSink
from harpia_formats.model.problem import Place, Problem, pointer_of
from harpia_formats.model.report import Group, Report, problem_as_dict, report_as_dict
from harpia_formats.registry import adapter_of, all_rules
from harpia_formats.text.json_text import json_text


def write_loss_report(report: ConversionReport, path: Path) -> None:
    """Write the losses of a conversion to `path`; raises `SinkError`."""
    found = as_report(report)
    problems = [problem_as_dict(problem) for problem in found.problems]
    text = json_text(report_as_dict(found, problems), indent=True) + "\n"
    sink = FileSink(path)
    sink.write(text.encode())
    sink.commit()


def as_report(report: ConversionReport) -> Report:
    """Return the losses as findings, one for each thing that became of a field.

    The files are counted as they were when they were read, losses included.
    """
    counts = [replace(each) for each in report.report.files]
    groups: list[Group] = []
    problems: list[Problem] = []
    for file in report.losses:
        count = next((each for each in counts if each.path == file.path), None)
        for loss, problem in _problems_of(file):
            problems.append(problem)
            groups.append(_group(problem, loss))
            if count is not None:
                count.count(problem.severity, loss.count)
    return Report(tuple(counts), tuple(groups), tuple(problems))


def _problems_of(file: FileLosses) -> Iterator[tuple[Loss, Problem]]:
    rules = all_rules()
    for loss in file.losses.losses.values():
        if not loss.count:
            continue
        rule = rules[loss.note.fate]
        pointer = pointer_for(file, loss.note.path)
        place = loss.place or Place(file.path, 1, 1, 2, 0)
        name = pointer.removeprefix("/").replace("/", ".") or loss.note.path
        how = f": {loss.note.how}" if loss.note.how else ""
        yield (
            loss,
            Problem(
                rule.code,
                rule.name,
                rule.severity,
                replace(place, pointer=pointer),
                f"{name} is {rule.name}{how}",
            ),
        )


def pointer_for(file: FileLosses, path: str) -> str:
    """Return where the source has the field at `path`, else where a record has it."""
    if file.source is not None:
        adapter = adapter_of(file.source)
        kept = f"extra.{adapter.vendor}."
        if path.startswith(kept):
            return pointer_of((path.removeprefix(kept),))
        for each in adapter.fields:
            if path in {each.record_path, each.key_record_path}:
                return pointer_of(each.path)
            if path.startswith(f"{each.record_path}."):
                member = path.removeprefix(f"{each.record_path}.")
                return pointer_of((*each.path, member))
    return pointer_of(tuple(path.split(".")))


def _group(problem: Problem, loss: Loss) -> Group:
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
    )
