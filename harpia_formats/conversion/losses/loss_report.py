"""The report of a conversion in JSON, and without the values of records."""

from collections.abc import Iterator
from dataclasses import replace

from harpia_formats.conversion.losses.conversion_report import (
    ConversionReport,
    FileLosses,
    OutcomeCount,
    OutcomeCounts,
)
from harpia_formats.formats.registry import all_rules
from harpia_formats.model.field_outcomes import FieldOutcome, Outcome
from harpia_formats.model.problem import Place, Problem
from harpia_formats.model.report import Group, Report, problem_as_dict, report_as_dict
from harpia_formats.model.safe_text import json_text
from harpia_formats.validation.redaction.redacted_reports import Redaction


def loss_report(report: ConversionReport) -> bytes:
    """Return the losses of a conversion as the text of a report."""
    losses = as_report(report)
    problems = [problem_as_dict(problem) for problem in losses.problems]
    text = json_text(report_as_dict(losses, problems), indent=True) + "\n"
    return text.encode()


def as_report(report: ConversionReport) -> Report:
    """Return the losses as problems, one for each outcome of each field.

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


def _problems_of(file: FileLosses) -> Iterator[tuple[OutcomeCount, Problem]]:
    rules = all_rules()
    for loss in file.losses.counts.values():
        if not loss.count:
            continue
        field_outcome = loss.field_outcome
        rule = rules[field_outcome.outcome]
        pointer = file.losses.names.pointer_of(field_outcome.path)
        place = loss.place or Place.at_start(file.path)
        name = file.losses.names.of(field_outcome.path)
        how = f": {field_outcome.how}" if field_outcome.how else ""
        yield (
            loss,
            Problem(
                rule.code,
                rule.name,
                rule.severity,
                replace(place, pointer=pointer),
                f"{name} is {_word_for(field_outcome.outcome, rule.name)}{how}",
            ),
        )


def _word_for(outcome: Outcome, name: str) -> str:
    """Return what an outcome is called behind the name of a field."""
    return "null, and left out" if outcome is Outcome.NULL else name


def _group(problem: Problem, loss: OutcomeCount) -> Group:
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


def redacted_conversion(
    report: ConversionReport, redaction: Redaction, output: str
) -> ConversionReport:
    """Return the report of a conversion without values; `output` is that of the user.

    The names of its files are not shown, which may be those of models.
    """
    return replace(
        report,
        report=redaction.report(report.report),
        outputs=(output,),
        losses=tuple(_redacted_file(file, redaction) for file in report.losses),
    )


def _redacted_file(file: FileLosses, redaction: Redaction) -> FileLosses:
    return replace(file, losses=_redacted(file.losses, redaction))


def _redacted(losses: OutcomeCounts, redaction: Redaction) -> OutcomeCounts:
    """Return losses by the names of fields, with `*` for keys that may be values.

    Fields of one name then share their counts, and how a field is changed is left out.
    """
    words = redaction.words
    found = OutcomeCounts()
    names = {losses.names.of(path): path for path in losses.carried}
    names |= {losses.names.of(outcome.path): outcome.path for outcome in losses.counts}
    shown = {name: losses.names.shown(path, words) for name, path in names.items()}
    for path, count in losses.carried.items():
        name = shown[losses.names.of(path)]
        found.carried[name] = found.carried.get(name, 0) + count
    for own, counts in ((found.records, losses.records), (found.kept, losses.kept)):
        for name, count in counts.items():
            own[shown[name]] += count
    for (outcome, name), count in losses.outcomes.items():
        found.outcomes[outcome, shown[name]] += count
    for loss in losses.counts.values():
        path, outcome = loss.field_outcome.path, loss.field_outcome.outcome
        key = FieldOutcome(outcome, shown[losses.names.of(path)])
        place = loss.place and redaction.place(loss.place)
        known = found.counts.setdefault(key, OutcomeCount(key, place=place))
        known.count += loss.count
    return found
