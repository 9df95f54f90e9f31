"""Write scores as Haystack's evaluators return them, or as an EvaluationRunResult.

Haystack's documented keys have no place for signatures, so these are written to a text
file next to the results.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.haystack.detection import OTHER_CONTAINERS
from harpia_converters.haystack.mapping import COLUMNS
from harpia_formats.conversion.containers.json_writers import ColumnWriter
from harpia_formats.conversion.containers.row_writer import (
    RowBatches,
    copy_spooled,
    spool,
)
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.extra_fields import COMPONENT_KEY
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.evaluation.scoring.measures.outcomes import ScoredAnswer
from harpia_formats.evaluation.scoring.results.answer_rows import (
    ScoreColumn,
    WriteSignatures,
    columns_of,
    signature_writer,
    total_signatures,
    values_of,
)
from harpia_formats.evaluation.scoring.results.result_format import (
    Files,
    ResultFormat,
    ResultRun,
    Write,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_outcomes import Unconvertible
from harpia_formats.model.record import Record
from harpia_formats.model.vendor_metrics import ScoreError


@dataclass(slots=True)
class _Individual:
    """Collects the scores of single answers by one metric in a temporary file."""

    column: ScoreColumn
    texts: FixedRecords = field(default_factory=spool)

    def add(self, value: float | None) -> None:
        """Add the score of the next answer, None if it has none."""
        # Haystack's exact match is an integer, and its reports show it as one.
        shown = int(value) if value is not None and self.column.is_binary else value
        self.texts.extend_bytes((b", " if self.texts else b"") + encode(shown))

    def write(self, write: Write, score: float | None) -> None:
        """Write the scores and `score`, the total, as an evaluator's result."""
        write(b'{"individual_scores": [')
        copy_spooled(self.texts, write)
        write(b'], "score": ' + encode(score) + b"}")


@dataclass(slots=True)
class _Results:
    """Writes the results of an evaluator for each metric."""

    files: Files
    individual: tuple[_Individual, ...]
    write_signatures: WriteSignatures

    def add(self, scored: ScoredAnswer) -> None:
        """Add the scores of an answer."""
        for individual, value in zip(self.individual, values_of(scored), strict=True):
            individual.add(value)

    def close(self, scores: Scores) -> None:
        """Write the results: of one metric as they are, of several by their names."""
        if len(self.individual) == 1:
            self.individual[0].write(self.files.write, scores.total.scores[0].value)
        else:
            self.write_all(scores, lambda name: name)
        self.files.write(b"\n")
        self.close_signatures(scores)

    def close_signatures(self, scores: Scores) -> None:
        """Write the signature of each score."""
        columns = [individual.column for individual in self.individual]
        self.write_signatures(total_signatures(columns, scores))

    def write_all(self, scores: Scores, name_of: Callable[[str], str]) -> None:
        """Write an object with the result of each metric at `name_of` its label."""
        write = self.files.write
        start = b"{\n"
        for individual, score in zip(self.individual, scores.total.scores, strict=True):
            write(start + encode(name_of(individual.column.label)) + b": ")
            individual.write(write, score.value)
            start = b",\n"
        write(b"\n}")

    def drop(self) -> None:
        """Remove the temporary files of the scores."""
        for individual in self.individual:
            individual.texts.close()


@dataclass(slots=True)
class _Run:
    """Writes the inputs and the results of a run."""

    results: _Results
    inputs: RowBatches
    mapper: RecordMapper
    run_name: str
    _names: dict[str, None] = field(default_factory=dict)

    def add(self, scored: ScoredAnswer) -> None:
        """Add the inputs and the scores of an answer."""
        self.results.add(scored)
        row = self._row(replace(scored.record, outputs=[scored.output]))
        # A run has one set of columns, whatever components the rows are of.
        row.pop(COMPONENT_KEY, None)
        self._names.update(dict.fromkeys(row))
        self.inputs.add(row)

    def _row(self, record: Record) -> Row:
        try:
            (row,) = self.mapper.map(record).rows
        except Unconvertible:
            # A chat in which nobody asks is no question. What has nothing for any
            # column needs its place in all of them.
            is_chat = record.messages is not UNSET
            return self._row(replace(record, messages=UNSET)) if is_chat else {}
        return row

    def close(self, scores: Scores) -> None:
        """Write the run; raises `ScoreError` if there is no input."""
        if not self._names:
            raise ScoreError(
                "no record has a field that could be an input: give one with `--set`"
            )
        write = self.results.files.write
        name = self.run_name or _default_name(scores)
        write(b'{"run_name": ' + encode(name) + b',\n"inputs": ')
        self.inputs.close({})
        write(b',"results": ')
        self.results.write_all(scores, self._free)
        write(b"}\n")
        self.results.close_signatures(scores)

    def _free(self, name: str) -> str:
        """Return `name`, with a suffix if an input or an earlier result has it."""
        while name in self._names:
            name += "_score"
        self._names[name] = None
        return name

    def drop(self) -> None:
        """Remove the temporary files of the inputs and the scores."""
        self.inputs.discard()
        self.results.drop()


def _default_name(scores: Scores) -> str:
    """Return the model that answered, or the input's file name if there are several."""
    if len(scores.models) == 1 and scores.models[0]:
        return scores.models[0]
    files = scores.report.files
    return Path(files[0].path).name.partition(".")[0] if files else "run"


def _results(files: Files, run: ResultRun) -> _Results:
    columns = columns_of(run.measured)
    return _Results(files, tuple(map(_Individual, columns)), signature_writer(files))


def _named_results(files: Files, run: ResultRun) -> _Results:
    results = _results(files, run)
    labels = {one.column.label for one in results.individual}
    if len(labels) > 1 and not OTHER_CONTAINERS.isdisjoint(labels):
        raise ScoreError(
            f"no evaluator can be called {min(OTHER_CONTAINERS & labels)}, which is a "
            "key of other documents: write NAME=METRIC with another name"
        )
    return results


def _run(files: Files, run: ResultRun) -> _Run:
    mapper = RecordMapper(COLUMNS, Choices(constants=run.constants_of(COLUMNS)))
    name = run.names.get("run_name", "")
    inputs = RowBatches(ColumnWriter(files.write))
    return _Run(_results(files, run), inputs, mapper, name)


RESULTS = ResultFormat("haystack-results", "haystack", _named_results)
RUN = ResultFormat(
    "haystack-run",
    "haystack",
    _run,
    {"run_name": "the name of the run; by default its model or its input file"},
    rows=COLUMNS,
)
