"""Write scores as EvalEval's samples, one row for each score, and their aggregate.

The signature of a score is in `metadata.score_signature` of its row.
"""

import hashlib
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.eee import mapping, v0_2_0, v0_2_0_tag, v0_3_0, versions
from harpia_converters.eee.aggregate_settings import AggregateSettings, settings_of
from harpia_converters.eee.aggregate_writer import (
    ResultContext,
    SamplesFile,
    aggregate_of,
    empty_aggregate,
    result_id_of,
)
from harpia_converters.eee.file_paths import aggregate_name, check_valid, file_path_of
from harpia_converters.eee.result_names import SIGNATURE
from harpia_converters.eee.row_consistency import EVALUATION, RowConsistency
from harpia_converters.eee.versions import Version, as_text
from harpia_formats.conversion.mapping.answer_groups import score_in
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.requirements import check_requirements
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.evaluation.scoring.metric_score import MetricScore
from harpia_formats.evaluation.scoring.results.columns import (
    ScoreColumn,
    columns_of,
    values_of,
)
from harpia_formats.evaluation.scoring.results.format import (
    Files,
    ResultFormat,
    ResultRun,
    Write,
)
from harpia_formats.evaluation.scoring.scored_answer import ScoredAnswer
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.errors import ConversionError
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_fates import Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError
from harpia_formats.model.record import Record, Score
from harpia_formats.validation.dedup.identity import IdentityReader

#: The metric and the signature of the score of a row before its own are known.
_REPLACED = "score"


@dataclass(frozen=True, slots=True)
class _SampleFormat:
    """The samples format that is written."""

    format: Format
    adapter: FormatAdapter
    version: Version


@dataclass(slots=True)
class _Samples:
    """Writes the rows of each answer as it comes, and the aggregate at the end."""

    files: Files
    columns: tuple[ScoreColumn, ...]
    sample_format: _SampleFormat
    settings: AggregateSettings
    mapper: RecordMapper
    beside: Write
    consistency: RowConsistency
    _digest: Any = field(default_factory=hashlib.sha256)
    _rows: int = 0
    #: The last record, and how many of its answers there were.
    _last: int = 0
    _place: int = 0

    def add(self, scored: ScoredAnswer) -> None:
        """Write a row for each score of an answer; raises `ScoreError` if it cannot."""
        self._place = self._place + 1 if scored.record_number == self._last else 1
        self._last = scored.record_number
        values = values_of(scored)
        if all(score is None for score in values):
            return
        row = self._row(scored)
        self.consistency.add(row)
        for column, value in zip(self.columns, values, strict=True):
            if value is not None:
                self._write(row, column, value)

    def _row(self, scored: ScoredAnswer) -> Row:
        """Return the row of an answer without its scores."""
        record, number = scored.record, scored.record_number
        own = score_in(record, scored.output)
        given = self.settings.constants.get
        score = Score(
            metric=_REPLACED,
            signature=_REPLACED,
            value=0.0,
            is_correct=False,
            evaluation_id=given("outputs.scores.evaluation_id", own.evaluation_id),
            evaluation_name=given(
                "outputs.scores.evaluation_name", own.evaluation_name
            ),
        )
        if len(record.outputs) > 1:
            named = number if record.id is UNSET else record.id
            record = replace(record, id=f"{as_text(named)}#{self._place}")
        record = replace(record, outputs=[replace(scored.output, scores=[score])])
        return self._written(record, number)

    def _written(self, record: Record, number: int) -> Row:
        try:
            (row,) = self.mapper.map(record, number).rows
        except Unconvertible as error:
            raise ScoreError(f"record {number}: {error}") from error
        return row

    def _write(self, row: Row, column: ScoreColumn, value: float) -> None:
        own: Row = {
            "evaluation_result_id": result_id_of(
                row["evaluation_name"],
                column,
                is_only=not self.consistency.has_groups,
            )
        }
        own["evaluation"] = {
            **row["evaluation"],
            "score": column.bounded(value),
            "is_correct": column.is_right(value),
        }
        own["metadata"] = {**row["metadata"], SIGNATURE: column.row_signature}
        line = encode({**row, **own}) + b"\n"
        self._digest.update(line)
        self._rows += 1
        self.files.write(line)

    def close(self, scores: Scores) -> None:
        """Write the aggregate; raises `ScoreError` without scores or with equal ids."""
        self.consistency.check()
        if not self._rows:
            raise ScoreError(
                "no answer could be scored, and "
                f"{self.sample_format.format.id} has no place for one without a score"
            )
        model_id = self.consistency.run_values["model_id"]
        path = file_path_of(
            self.files.name or "",
            self.settings,
            self.sample_format.version,
            (next(iter(self.consistency.evaluation_names)), model_id),
        )
        run = SamplesFile(
            self.consistency.run_values["evaluation_id"],
            model_id,
            self._rows,
            self._digest.hexdigest(),
            path,
        )
        context = ResultContext(
            self.columns,
            scores,
            self.settings,
            self.sample_format.version,
            is_only=not self.consistency.has_groups,
        )
        document = aggregate_of(run, self._results(scores), context)
        self.beside(msgspec.json.format(encode(document), indent=2) + b"\n")

    def _results(self, scores: Scores) -> dict[str, tuple[MetricScore, ...]]:
        """Return the scores of each evaluation by its name."""
        names = list(self.consistency.evaluation_names)
        if len(names) == 1:
            return {names[0]: scores.total.scores}
        groups = {group.key[EVALUATION]: group.scores for group in scores.groups}
        return {name: groups[name] for name in names}

    def drop(self) -> None:
        """Remove the temporary files of the ids."""
        self.consistency.drop()


def _writer(files: Files, run: ResultRun, sample_format: _SampleFormat) -> _Samples:
    settings = settings_of(run.constants, sample_format.adapter, sample_format.version)
    name = aggregate_name(files.name, settings, sample_format.format.id)
    if settings.values:
        check_valid(empty_aggregate(settings, sample_format.version), run.first_problem)
    if run.source is not None and run.source_adapter is not None:
        try:
            check_requirements(
                run.source,
                run.source_adapter,
                sample_format.format,
                sample_format.adapter,
                settings.constants,
                scored=True,
            )
        except ConversionError as error:
            raise ScoreError(str(error)) from error
    columns = columns_of(run.measured)
    for column in columns:
        if not column.has_best:
            raise ScoreOptionsError(
                f"a row of {sample_format.format.id} says whether its answer is "
                f"correct, and no {column.metric} is right or wrong; leave it out"
            )
    return _Samples(
        files=files,
        columns=columns,
        sample_format=sample_format,
        settings=settings,
        mapper=RecordMapper(
            sample_format.adapter, Choices(constants=settings.constants)
        ),
        beside=files.beside(name),
        consistency=RowConsistency(
            IdentityReader(
                sample_format.format.identity_paths,
                by_text=sample_format.format.id_by_text,
            ),
            has_groups=run.by == (EVALUATION,),
        ),
    )


def _results(sample_format: _SampleFormat) -> ResultFormat:
    return ResultFormat(
        sample_format.format.id,
        "default",
        partial(_writer, sample_format=sample_format),
        # Its rows have one model, which `--set` may name.
        holds_models=True,
        names_models_in_rows=True,
        holds_records=True,
    )


V0_2_0 = _results(_SampleFormat(v0_2_0.FORMAT, mapping.V0_2_0, versions.V0_2_0))
V0_2_0_TAG = _results(
    _SampleFormat(v0_2_0_tag.FORMAT, mapping.V0_2_0_TAG, versions.V0_2_0_TAG)
)
V0_3_0 = _results(_SampleFormat(v0_3_0.FORMAT, mapping.V0_3_0, versions.V0_3_0))
