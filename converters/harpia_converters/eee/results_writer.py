"""Write scores as EvalEval's samples, one row for each score, and their aggregate.

The rows of one file fit one aggregate, and the paths of both files are made from them.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.eee import formats, mapping, versions
from harpia_converters.eee.aggregate_writer import (
    AggregateSettings,
    ResultContext,
    SamplesFile,
    aggregate_of,
    empty_aggregate,
    result_id_of,
    settings_of,
)
from harpia_converters.eee.formats import stem_of
from harpia_converters.eee.versions import SIGNATURE, Version, as_text
from harpia_formats.conversion.mapping.answer_groups import MOST, score_in
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.compiled_fields import listed
from harpia_formats.conversion.mapping.field_constants import constants_by_path
from harpia_formats.conversion.mapping.requirements import missing_fields
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.evaluation.scoring.measures.metric_score import MetricScore
from harpia_formats.evaluation.scoring.measures.outcomes import ScoredAnswer
from harpia_formats.evaluation.scoring.results.answer_rows import (
    ScoreColumn,
    columns_of,
    values_of,
)
from harpia_formats.evaluation.scoring.results.result_format import (
    Files,
    ResultFormat,
    ResultRun,
    Write,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.formats.detection.sample import without_compression
from harpia_formats.model.adapter import FieldMapping, FormatAdapter, Row
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_outcomes import Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Record, Score
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError
from harpia_formats.validation.dedup.digests import Digests
from harpia_formats.validation.dedup.identity import IdentityReader

#: The end of the name of a samples file.
_samples_end = "_samples.jsonl"
#: The path of a samples file in EvalEval's collection, as its schema requires.
_uuid = (
    "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-"
    f"[0-9A-Fa-f]{{12}}{re.escape(_samples_end)}"
)
_in_collection = re.compile(f"(?:^|/)(data/[^/]+/[^/]+/[^/]+/{_uuid})$")
_is_uuid = re.compile(_uuid).fullmatch
#: The place in an aggregate of the path of its samples file.
_path_key = "detailed_evaluation_results.file_path"


def aggregate_name(name: str | None, settings: AggregateSettings, format_: str) -> str:
    """Return the name of the aggregate for the samples file `name`.

    Raises `ScoreError` if `name` does not end with `_samples.jsonl`, or differs from
    the file name that `--set` gives.
    """
    plain = without_compression(Path(name or "").name)
    if not plain.endswith(_samples_end) or plain == _samples_end:
        raise ScoreOptionsError(
            f"{format_} is written with its aggregate NAME.json next to it: give "
            f"`--output NAME{_samples_end}`"
        )
    given = settings.values.get(_path_key)
    if given is not None and re.split(r"[/\\]", str(given))[-1] != plain:
        raise ScoreError(
            f"{_path_key} ends with {given!r}, but the output is {plain!r}"
        )
    return f"{stem_of(plain)}.json"


def file_path_of(
    name: str, settings: AggregateSettings, version: Version, evaluated: tuple[str, str]
) -> str:
    """Return the path of the samples file `name` in its collection, "" if in none.

    In version 0.3.0 only a file whose name is a UUID can be in a collection; outside of
    one its path is made of `evaluated`, the names of the evaluation and of the model.
    """
    given = settings.values.get(_path_key)
    path = Path(without_compression(name))
    if given is not None:
        return str(given)
    if not version.is_closed:
        return path.name
    found = _in_collection.search(path.absolute().as_posix())
    if found:
        return found[1]
    if not _is_uuid(path.name):
        return ""
    evaluation, model_id = evaluated
    developer, _, model = model_id.rpartition("/")
    folders = (evaluation, developer, model)
    return "/".join(("data", *map(_folder, folders), path.name))


def _folder(name: str) -> str:
    """Return `name` as the name of one folder, without separators."""
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "unknown"


def check_valid(
    aggregate: dict[str, Any], first_problem: Callable[[bytes, str], Problem | None]
) -> None:
    """Raise `ScoreError` if an aggregate of the values that `--set` gives is not valid.

    `first_problem` returns the first problem of a document in a format.
    """
    first = first_problem(encode(aggregate), "eee-aggregate")
    if first is not None:
        raise ScoreError(
            "what `--set` gives for the aggregate is not valid at "
            f"{first.place.pointer or '/'}: {first.message}"
        )


#: The key of rows by which an aggregate groups its results.
EVALUATION = "evaluation_name"
#: Keys that an aggregate has one value of, and what to do if rows have several.
_shared_keys = {
    "evaluation_id": "`--set evaluation_id=NAME` gives all scores one",
    "model_id": "`--model NAME` selects the answers of one",
}
#: Ids that are digested together.
_batch_size = 512


@dataclass(slots=True)
class RowConsistency:
    """Collects the shared values and the ids of the rows written so far."""

    identity: IdentityReader
    #: Whether each evaluation has scores of its own.
    has_groups: bool
    run_values: dict[str, str] = field(default_factory=dict)
    #: Names of evaluations, in the order of their first answer.
    evaluation_names: dict[str, None] = field(default_factory=dict)
    _ids: Digests = field(default_factory=Digests)
    _keys: list[str] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Add the row of another answer; raises `ScoreError` if no aggregate fits."""
        for key, fix in _shared_keys.items():
            before = self.run_values.setdefault(key, row[key])
            if before != row[key]:
                raise ScoreError(
                    f"an aggregate has one {key}, and answers have {before!r} and "
                    f"{row[key]!r}: {fix}"
                )
        self.evaluation_names[row[EVALUATION]] = None
        limit = MOST if self.has_groups else 1
        if len(self.evaluation_names) > limit:
            raise ScoreError(
                f"the answers are of more than {limit:,} "
                f"evaluation{'s' * (limit > 1)}: `--by {EVALUATION}` gives each its "
                f"own scores, and `--set {EVALUATION}=NAME` makes them one"
            )
        self._keys += self.identity.keys_of_value(row)
        if len(self._keys) >= _batch_size:
            self._flush()

    def _flush(self) -> None:
        if self._keys:
            self._ids.add(self._keys)
            self._keys = []

    def check(self) -> None:
        """Raise `ScoreError` if two answers have one id."""
        self._flush()
        repeated = self._ids.repeated().surplus
        if repeated:
            raise ScoreError(
                f"{repeated:,} answer{'s have' if repeated > 1 else ' has'} the "
                "sample_id of another answer, and rows need different ids; run "
                "`convert --to record --ids number` first, which gives "
                "each record its number as id, and score that"
            )
        self._ids.close()

    def drop(self) -> None:
        """Remove the temporary files of the ids."""
        self._ids.close()


#: The metric and the signature of the score of a row before its own are known.
_REPLACED = "score"
#: What stands for a field that `--set` is asked to give.
_ASKED = "?"
#: Answers that are looked at for what else `--set` has to give.
_MOST_ASKED = 1_000


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
    write_document: Write
    consistency: RowConsistency
    #: The required fields that nothing gives, each with what does not have it. They are
    #: asked for together, and no row is written.
    _lacking: dict[str, str] = field(default_factory=dict)
    _mapper: RecordMapper = field(init=False)
    _asked: int = 0
    _digest: Any = field(default_factory=hashlib.sha256)
    _rows: int = 0
    #: The last record, and how many of its answers there were.
    _last: int = 0
    _place: int = 0

    def lack(self, names: Iterable[str], owner: str) -> None:
        """Map records as if required fields that `owner` does not have were given."""
        self._lacking |= dict.fromkeys(names, owner)
        adapter = self.sample_format.adapter
        asked = constants_by_path(adapter, dict.fromkeys(self._lacking, _ASKED))
        constants = {**self.settings.constants, **asked}
        self._mapper = RecordMapper(adapter, Choices(constants=constants))

    def add(self, scored: ScoredAnswer) -> None:
        """Write a row for each score of an answer; raises `ScoreError` if it cannot."""
        self._place = self._place + 1 if scored.record_number == self._last else 1
        self._last = scored.record_number
        values = values_of(scored)
        if all(score is None for score in values):
            return
        row = self._row(scored)
        if self._lacking:
            self._asked += 1
            if self._asked == _MOST_ASKED:
                self._ask()
            return
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
        """Return the row of a record, with fields to ask for if it lacks any."""
        try:
            (row,) = self._mapper.map(record, number).rows
        except Unconvertible as error:
            fields = self.sample_format.adapter.fields
            names = [one.name for one in fields if one.record_path == error.path][:1]
            if "--set" not in error.help or self._lacking.keys() >= {*names}:
                raise ScoreError(f"record {number}: {error}") from error
            self.lack(names, f"record {number}")
            return self._written(record, number)
        return row

    def _ask(self) -> None:
        """Raise `ScoreError` if fields are lacking, with the options that give them."""
        if not self._lacking:
            return
        names: dict[str, list[str]] = {}
        for name, owner in self._lacking.items():
            names.setdefault(owner, []).append(name)
        needs = ", and ".join(
            f"{listed(some)}, which {owner} does not have"
            for owner, some in names.items()
        )
        options = " ".join(f"--set {name}=VALUE" for name in self._lacking)
        raise ScoreError(
            f"{self.sample_format.format.id} needs {needs}; give `{options}`"
        )

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
        self._ask()
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
        self.write_document(msgspec.json.format(encode(document), indent=2) + b"\n")

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
    columns = columns_of(run.measured)
    for column in columns:
        if not column.has_best:
            raise ScoreOptionsError(
                f"a row of {sample_format.format.id} says whether its answer is "
                f"correct, and no {column.metric} is right or wrong; leave it out"
            )
    samples = _Samples(
        files=files,
        columns=columns,
        sample_format=sample_format,
        settings=settings,
        write_document=files.sibling(name),
        consistency=RowConsistency(
            IdentityReader(
                sample_format.format.identity_paths,
                by_text=sample_format.format.id_by_text,
            ),
            has_groups=run.by == (EVALUATION,),
        ),
    )
    missing: list[FieldMapping] = []
    if run.source_adapter is not None:
        missing = missing_fields(
            run.source_adapter, sample_format.adapter, settings.constants, scored=True
        )
    samples.lack((one.name for one in missing), run.source.id if run.source else "")
    return samples


def _results(sample_format: _SampleFormat) -> ResultFormat:
    return ResultFormat(
        sample_format.format.id,
        "default",
        partial(_writer, sample_format=sample_format),
        # Its rows have one model, which `--set` may name.
        holds_models=True,
        names_models_in_rows=True,
        holds_records=True,
        rows=sample_format.adapter,
    )


V0_2_0 = _results(_SampleFormat(formats.V0_2_0_FORMAT, mapping.V0_2_0, versions.V0_2_0))
V0_2_0_TAG = _results(
    _SampleFormat(formats.V0_2_0_TAG_FORMAT, mapping.V0_2_0_TAG, versions.V0_2_0_TAG)
)
V0_3_0 = _results(_SampleFormat(formats.V0_3_0_FORMAT, mapping.V0_3_0, versions.V0_3_0))
