"""Scores as HarpIA Lab writes them: the output, and the log.

`score` and `result` are a number, or an object of numbers by name where a metric has
several; null where there was nothing to score. An output says in `score` which metric
was left out, and why. Neither file has a place for signatures, since a strict one has
no other keys than the documented ones, so they are in a text beside it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_converters.harpia.companion import INSTANCE, Metric, same
from harpia_converters.harpia.header_checks import NLTK_BLEU
from harpia_converters.harpia.keys import METRIC, TIME
from harpia_converters.harpia.mapping import is_whole, kept_of
from harpia_converters.harpia.profile import HARPIA, enabled_in
from harpia_formats.model.exact_json import encode
from harpia_formats.model.metric_profile import MetricRequest
from harpia_formats.model.record import Record
from harpia_formats.scoring.results.columns import columns_of, write_signatures
from harpia_formats.scoring.results.format import Files, ResultFormat, ResultRun
from harpia_formats.scoring.scores import ComputedMetric, ScoredAnswer, Scores

#: The key of what a metric that is left out has in the place of its score.
LEFT_OUT = "left out"
#: Decimal places of a time in seconds.
MICROSECONDS = 6


@dataclass(frozen=True, slots=True)
class _Line:
    """What one metric is called in an output and a log, and what is computed of it."""

    id: str
    parameters: Any
    #: What it is called in messages.
    label: str
    #: The places of what is computed; none if the metric is left out.
    places: tuple[int, ...]

    def told(self, **members: Any) -> dict[str, Any]:
        """Return the object of the metric with `members` behind its parameters."""
        return {METRIC[0]: self.id, "parameters": self.parameters, **members}


def lines_of(run: ResultRun) -> list[_Line]:
    """Return the metrics that an input enables, or else what is computed."""
    places: dict[str, list[int]] = {}
    for place, each in enumerate(run.measured):
        places.setdefault(each.request.label, []).append(place)
    if run.header is None or run.profile != HARPIA.id:
        return [_of_places(run.measured, *item) for item in places.items()]
    return [
        _of_input(metric, asked, run.measured, tuple(places.get(asked.label, ())))
        for metric, asked in enabled_in(run.header)
    ]


def _of_places(
    measured: Sequence[ComputedMetric], label: str, places: Sequence[int]
) -> _Line:
    """Return a metric that no input enables, with the parameters that it is given."""
    asked = [measured[index].request for index in places]
    parameters: dict[str, Any] = dict(asked[0].parameters)
    if any(request.parameters != parameters for request in asked):
        parameters = {
            name: dict(request.parameters)
            for request, place in zip(asked, places, strict=True)
            for name in measured[place].names
        }
    return _Line(label, parameters, label, tuple(places))


def _of_input(
    metric: Metric,
    asked: MetricRequest,
    measured: Sequence[ComputedMetric],
    places: tuple[int, ...],
) -> _Line:
    """Return a metric of an input with its own parameters.

    One of its own that the user gives another value is told as it was computed.
    """
    parameters = metric.parameters
    if places and asked.metric == "nltk-bleu":
        used = measured[places[0]].request.parameters
        changed = {
            name: used[name]
            for name in sorted(NLTK_BLEU & used.keys())
            if not same(used[name], asked.parameters.get(name))
        }
        parameters = {**(parameters or {}), **changed} if changed else parameters
    return _Line(metric.id, parameters, asked.label, places)


def _shaped(
    line: _Line, measured: Sequence[ComputedMetric], values: Iterable[float | None]
) -> Any:
    """Return the scores of a metric in its shape, None if there are none."""
    names = [name for place in line.places for name in measured[place].names]
    found = list(values)
    if all(value is None for value in found):
        return None
    return found[0] if len(found) == 1 else dict(zip(names, found, strict=True))


@dataclass(frozen=True, slots=True)
class _Output:
    """Writes an array at the end, an object for each metric."""

    files: Files
    run: ResultRun

    def add(self, scored: ScoredAnswer) -> None:
        """Take an answer, which has no place."""

    def close(self, scores: Scores) -> None:
        """Write the array."""
        items = [self._item(line, scores) for line in lines_of(self.run)]
        self.files.write(msgspec.json.format(encode(items), indent=2) + b"\n")

    def drop(self) -> None:
        """Hold nothing, and so do nothing."""

    def _item(self, line: _Line, scores: Scores) -> dict[str, Any]:
        if not line.places:
            reason = _reason(line.label, scores.said)
            return line.told(score={LEFT_OUT: reason}, **{TIME[0]: 0.0})
        values = _values_by_place(scores)
        score = _shaped(
            line,
            self.run.measured,
            (value for place in line.places for value in values[place]),
        )
        seconds = sum(scores.seconds[place] for place in line.places)
        return line.told(score=score, **{TIME[0]: round(seconds, MICROSECONDS)})


def _reason(label: str, said: Iterable[str]) -> str:
    """Return why a metric is left out."""
    start = f"{label} is {LEFT_OUT}: "
    found = (
        statement.removeprefix(start)
        for statement in said
        if statement.startswith(start)
    )
    return next(found, "it cannot be computed")


def _values_by_place(scores: Scores) -> list[list[float | None]]:
    """Return the scores over all answers by each metric that is computed."""
    values = iter(scores.total.scores)
    return [[next(values).value for _ in metric.names] for metric in scores.measured]


@dataclass(frozen=True, slots=True)
class _Log:
    """Writes a line for each answer and metric as answers come."""

    files: Files
    run: ResultRun
    lines: tuple[_Line, ...]

    def add(self, scored: ScoredAnswer) -> None:
        """Write the lines of an answer."""
        instance = _id_of(scored.record, scored.record_number)
        for line in self.lines:
            values = (value for place in line.places for value in scored.values[place])
            result = _shaped(line, self.run.measured, values)
            told = line.told(**{INSTANCE: instance}, result=result)
            self.files.write(encode(told) + b"\n")

    def close(self, scores: Scores) -> None:
        """Have written everything."""

    def drop(self) -> None:
        """Hold nothing, and so do nothing."""


def _id_of(record: Record, number: int) -> Any:
    """Return the id of an instance as the input has it, else the record's number."""
    if record.id is not msgspec.UNSET:
        return record.id
    kept = kept_of(record).get("id")
    return kept if is_whole(kept) else str(number)


def _sign(files: Files, run: ResultRun) -> None:
    """Write the signatures beside, if there is a score to have one."""
    if run.measured:
        write_signatures(files, columns_of(run.measured))


def _output(files: Files, run: ResultRun) -> _Output:
    _sign(files, run)
    return _Output(files, run)


def _log(files: Files, run: ResultRun) -> _Log:
    _sign(files, run)
    return _Log(files, run, tuple(line for line in lines_of(run) if line.places))


OUTPUT = ResultFormat(id="harpia-output", profile=HARPIA.id, writer=_output)
LOG = ResultFormat(id="harpia-log", profile=HARPIA.id, writer=_log)
