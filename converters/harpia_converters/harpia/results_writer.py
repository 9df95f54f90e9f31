"""Write scores as HarpIA Lab does: the formats harpia-output and harpia-log.

`score` and `result` are a number, or an object of numbers by name if a metric has
several, or null if there was nothing to score. In an output, `score` of a metric that
was left out says why. The documented keys have no place for signatures, so these are
written to a text file next to it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_converters.harpia.formats import INSTANCE_ID
from harpia_converters.harpia.header_checks import METRIC, TIME, Metric, same
from harpia_converters.harpia.mapping import KEY, is_whole
from harpia_converters.harpia.profile import FOLLOWED, HARPIA, enabled_in
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    ScoredAnswer,
)
from harpia_formats.evaluation.scoring.results.answer_rows import (
    WriteSignatures,
    columns_of,
    row_signatures,
    signature_writer,
    total_signatures,
)
from harpia_formats.evaluation.scoring.results.result_format import (
    Files,
    ResultFormat,
    ResultRun,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Record, kept_of
from harpia_formats.model.vendor_metrics import MetricRequest

#: The key of the reason that stands in the place of a score that was not computed.
LEFT_OUT = "left out"
#: Decimal places of a time in seconds.
MICROSECONDS = 6


@dataclass(frozen=True, slots=True)
class _MetricEntry:
    """One metric as it is written to an output and a log, and its computed scores."""

    id: str
    parameters: Any
    #: Its name in messages.
    label: str
    #: Its places among the computed metrics; empty if it is left out.
    indices: tuple[int, ...]

    def as_object(self, **members: Any) -> dict[str, Any]:
        """Return the object of the metric with `members` behind its parameters."""
        return {METRIC[0]: self.id, "parameters": self.parameters, **members}


def entries_of(run: ResultRun) -> list[_MetricEntry]:
    """Return the metrics that the input enables; without input, the computed ones."""
    indices: dict[str, list[int]] = {}
    for index, computed in enumerate(run.measured):
        indices.setdefault(computed.request.label, []).append(index)
    if run.header is None or run.profile != HARPIA.id:
        return [_computed_entry(run.measured, *item) for item in indices.items()]
    return [
        _enabled_entry(
            metric, request, run.measured, tuple(indices.get(request.label, ()))
        )
        for metric, request in enabled_in(run.header)
    ]


def _computed_entry(
    measured: Sequence[ComputedMetric], label: str, indices: Sequence[int]
) -> _MetricEntry:
    """Return the entry of a metric that no input enables, with its parameters."""
    requests = [measured[index].request for index in indices]
    parameters: dict[str, Any] = dict(requests[0].parameters)
    if any(request.parameters != parameters for request in requests):
        parameters = {
            name: dict(request.parameters)
            for request, index in zip(requests, indices, strict=True)
            for name in measured[index].names
        }
    return _MetricEntry(label, parameters, label, tuple(indices))


def _enabled_entry(
    metric: Metric,
    request: MetricRequest,
    measured: Sequence[ComputedMetric],
    indices: tuple[int, ...],
) -> _MetricEntry:
    """Return the entry of a metric of an input, with the parameters of the input.

    A parameter that the user overrides has the value that was computed with.
    """
    parameters = metric.parameters
    if indices:
        used = measured[indices[0]].request.parameters
        changed = {
            given: used[name]
            for given, name in FOLLOWED[request.metric].items()
            if name in used and not same(used[name], request.parameters.get(name))
        }
        parameters = {**(parameters or {}), **changed} if changed else parameters
    return _MetricEntry(metric.id, parameters, request.label, indices)


def _as_score(
    entry: _MetricEntry,
    measured: Sequence[ComputedMetric],
    values: Iterable[float | None],
) -> Any:
    """Return a metric's scores: a number, an object by name, or None without scores."""
    names = [name for index in entry.indices for name in measured[index].names]
    found = list(values)
    if all(value is None for value in found):
        return None
    return found[0] if len(found) == 1 else dict(zip(names, found, strict=True))


@dataclass(frozen=True, slots=True)
class _Output:
    """Writes an array at the end, an object for each metric."""

    files: Files
    run: ResultRun
    #: None if no metric is computed.
    write_signatures: WriteSignatures | None

    def add(self, scored: ScoredAnswer) -> None:
        """Ignore an answer: only scores over all answers are written."""

    def close(self, scores: Scores) -> None:
        """Write the array."""
        items = [self._item(entry, scores) for entry in entries_of(self.run)]
        self.files.write(msgspec.json.format(encode(items), indent=2) + b"\n")
        if self.write_signatures is not None:
            columns = columns_of(self.run.measured)
            self.write_signatures(total_signatures(columns, scores))

    def drop(self) -> None:
        """Do nothing: no file is held."""

    def _item(self, entry: _MetricEntry, scores: Scores) -> dict[str, Any]:
        if not entry.indices:
            reason = _reason(entry.label, scores.notes)
            return entry.as_object(score={LEFT_OUT: reason}, **{TIME[0]: 0.0})
        values = _values_by_metric(scores)
        score = _as_score(
            entry,
            self.run.measured,
            (value for index in entry.indices for value in values[index]),
        )
        seconds = sum(scores.seconds[index] for index in entry.indices)
        return entry.as_object(score=score, **{TIME[0]: round(seconds, MICROSECONDS)})


def _reason(label: str, messages: Iterable[str]) -> str:
    """Return why the metric `label` is left out, from the run's messages."""
    start = f"{label} is {LEFT_OUT}: "
    found = (one.removeprefix(start) for one in messages if one.startswith(start))
    return next(found, "it cannot be computed")


def _values_by_metric(scores: Scores) -> list[list[float | None]]:
    """Return the scores over all answers, a list for each computed metric."""
    values = iter(scores.total.scores)
    return [[next(values).value for _ in metric.names] for metric in scores.measured]


@dataclass(frozen=True, slots=True)
class _Log:
    """Writes a line for each answer and metric as answers come."""

    files: Files
    run: ResultRun
    entries: tuple[_MetricEntry, ...]

    def add(self, scored: ScoredAnswer) -> None:
        """Write the lines of an answer."""
        instance = _id_of(scored.record, scored.record_number)
        for entry in self.entries:
            values = (
                value for index in entry.indices for value in scored.values[index]
            )
            result = _as_score(entry, self.run.measured, values)
            line = entry.as_object(**{INSTANCE_ID: instance}, result=result)
            self.files.write(encode(line) + b"\n")

    def close(self, scores: Scores) -> None:
        """Do nothing: every line is written already."""

    def drop(self) -> None:
        """Do nothing: no file is held."""


def _id_of(record: Record, number: int) -> Any:
    """Return the instance's id as in the input, else the record's number as text."""
    if record.id is not msgspec.UNSET:
        return record.id
    kept = kept_of(record, KEY).get("id")
    return kept if is_whole(kept) else str(number)


def _output(files: Files, run: ResultRun) -> _Output:
    return _Output(files, run, signature_writer(files) if run.measured else None)


def _log(files: Files, run: ResultRun) -> _Log:
    if run.measured:
        signature_writer(files)(row_signatures(columns_of(run.measured)))
    return _Log(files, run, tuple(entry for entry in entries_of(run) if entry.indices))


OUTPUT = ResultFormat(
    id="harpia-output",
    profile=HARPIA.id,
    writer=_output,
    takes_questions=True,
    takes_labels=True,
)
LOG = ResultFormat(id="harpia-log", profile=HARPIA.id, writer=_log)
