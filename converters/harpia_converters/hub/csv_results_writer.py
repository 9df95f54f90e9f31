"""Write scores as a CSV table: a row for each answer, a column for each score.

A table has no place for signatures, so these are written to a text file next to it.
"""

from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.hub.csv_mapping import TABLE, json_of
from harpia_formats.conversion.containers.csv_writers import CsvWriter, TableEncoder
from harpia_formats.conversion.containers.row_writer import RowBatches
from harpia_formats.conversion.mapping.field_constants import (
    Completion,
    constants_by_path,
)
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
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.vendor_metrics import ScoreError

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


def _writer(files: Files, run: ResultRun) -> _Rows:
    columns = columns_of(run.measured)
    names = (*_id_columns, *(column.row_label for column in columns))
    for column in columns:
        if names.count(column.row_label) > 1:
            raise ScoreError(
                f"a score is called {column.row_label!r}, as is another column of the "
                "table"
            )
    try:
        constants = constants_by_path(_rows, run.constants)
    except ConversionError as error:
        raise ScoreError(str(error)) from error
    signature_writer(files)(row_signatures(columns))
    delimiter = delimiter_of(None, files.name or "")
    encoder = TableEncoder(names, names, csv_safe=run.csv_safe, delimiter=delimiter)
    table = CsvWriter(files.write, encoder)
    completion = Completion(constants, turns=False)
    return _Rows(RowBatches(table), columns, completion)


RESULTS = ResultFormat(
    "csv",
    "default",
    _writer,
    holds_models=True,
    names_models_in_rows=True,
    rows=_rows,
)
