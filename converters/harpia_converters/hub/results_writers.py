"""Write answers with their scores: records as JSON Lines, or rows of a CSV table.

Each score of a record has its signature in `signature`. A table has no place for
signatures, so these are written to a text file next to it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from harpia_converters.hub.csv_mapping import TABLE, json_of
from harpia_converters.hub.mapping import RECORD
from harpia_formats.conversion.containers.csv_writers import CsvWriter, TableEncoder
from harpia_formats.conversion.containers.row_writer import RowBatches
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.field_constants import Completion
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.evaluation.scoring.measures.outcomes import ScoredAnswer
from harpia_formats.evaluation.scoring.results.answer_rows import (
    ScoreColumn,
    columns_of,
    row_signatures,
    signature_writer,
    values_of,
)
from harpia_formats.evaluation.scoring.results.result_format import (
    Files,
    ResultFormat,
    ResultRun,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.formats.detection.sample import delimiter_of
from harpia_formats.model.adapter import FormatAdapter, RowCapacity
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.record import Output, Record, Score, as_dict
from harpia_formats.model.vendor_metrics import ScoreError


@dataclass(slots=True)
class _Records:
    """Writes a record after the last of its answers."""

    files: Files
    columns: tuple[ScoreColumn, ...]
    #: Adds the values that `--set` gives, if there are any.
    mapper: RecordMapper | None
    _number: int = 0
    _record: Record = field(default_factory=Record)
    _outputs: list[Output] = field(default_factory=list)

    def add(self, scored: ScoredAnswer) -> None:
        """Add an answer, which belongs to the last record or to the next one."""
        if scored.record_number != self._number:
            self._write()
            self._number, self._record = scored.record_number, scored.record
        given = scored.output.scores or []
        # A score that was computed in the same way before gets the new value.
        old: dict[tuple[Any, Any], list[Score]] = {}
        for score in given:
            old.setdefault((score.metric, score.signature), []).append(score)
        new = [
            _score(column, value, before)
            for column, value in zip(self.columns, values_of(scored), strict=True)
            for before in old.get((column.label, column.row_signature), [Score()])
        ]
        replaced = {(score.metric, score.signature) for score in new}
        left = [one for one in given if (one.metric, one.signature) not in replaced]
        self._outputs.append(replace(scored.output, scores=[*left, *new]))

    def _write(self) -> None:
        if not self._number:
            return
        outputs, self._outputs = self._outputs, []
        if self._record.outputs == [Output()] and not _have_values(outputs):
            # An empty output stands for the missing answer of a record without any.
            outputs = []
        record = replace(self._record, outputs=outputs)
        row = as_dict(record)
        if self.mapper is not None:
            (row,) = self.mapper.map(record).rows
        self.files.write(encode(row) + b"\n")

    def close(self, scores: Scores) -> None:  # noqa: ARG002 - records have no total scores
        """Write the last record."""
        self._write()

    def drop(self) -> None:
        """Do nothing: no file is held."""


def _have_values(outputs: Iterable[Output]) -> bool:
    """Tell whether any output has a score with a value, as retrieved documents have."""
    scores = (score for output in outputs for score in output.scores or [])
    return any(score.value is not None for score in scores)


def _score(column: ScoreColumn, value: float | None, before: Score) -> Score:
    """Return a score with the ids of the one that it replaces."""
    is_correct: bool | UnsetType = UNSET
    if value is not None and column.is_binary:
        is_correct = column.is_right(value)
    return replace(
        before,
        metric=column.label,
        value=value,
        is_correct=is_correct,
        signature=column.row_signature,
    )


def _record_writer(files: Files, run: ResultRun) -> _Records:
    mapper = None
    if run.constants:
        choices = Choices(constants=run.constants_of(RECORD))
        mapper = RecordMapper(RECORD, choices)
    return _Records(files, columns_of(run.measured), mapper)


RECORDS = ResultFormat(
    "record",
    "default",
    _record_writer,
    holds_models=True,
    names_models_in_rows=True,
    holds_records=True,
    keeps_scores=True,
    rows=RECORD,
)


#: Columns that identify an answer, and rows of these alone.
_id_columns = ("id", "model", "category")
_rows = FormatAdapter(
    TABLE.vendor,
    tuple(field for field in TABLE.fields if field.name in _id_columns),
    TABLE.read,
)


@dataclass(slots=True)
class _Rows:
    """Writes a row for each answer."""

    table: RowBatches
    columns: tuple[ScoreColumn, ...]
    completion: Completion

    def add(self, scored: ScoredAnswer) -> None:
        """Add an answer."""
        record = replace(scored.record, outputs=[scored.output])
        record = self.completion.complete(record, FieldOutcomes())
        (output,) = record.outputs
        ids = zip(_id_columns, (record.id, output.model, record.category), strict=True)
        row = {
            name: value if type(value) is str else json_of(value)
            for name, value in ids
            if value is not UNSET
        }
        for column, score in zip(self.columns, values_of(scored), strict=True):
            if score is not None:
                row[column.row_label] = json_of(score)
        self.table.add(row)

    def close(self, scores: Scores) -> None:  # noqa: ARG002 - a table has no totals
        """Write the table."""
        self.table.close({})

    def drop(self) -> None:
        """Remove the temporary file of the rows."""
        self.table.discard()


def _table_writer(files: Files, run: ResultRun) -> _Rows:
    columns = columns_of(run.measured)
    names = (*_id_columns, *(column.row_label for column in columns))
    for column in columns:
        if names.count(column.row_label) > 1:
            raise ScoreError(
                f"a score is called {column.row_label!r}, as is another column of the "
                "table"
            )
    completion = Completion(run.constants_of(_rows), RowCapacity(messages=True))
    signature_writer(files)(row_signatures(columns))
    delimiter = delimiter_of(None, files.name or "")
    encoder = TableEncoder(names, names, csv_safe=run.csv_safe, delimiter=delimiter)
    table = CsvWriter(files.write, encoder)
    return _Rows(RowBatches(table), columns, completion)


TABLES = ResultFormat(
    "csv",
    "default",
    _table_writer,
    holds_models=True,
    names_models_in_rows=True,
    rows=_rows,
)
