"""Validate one data set, and check the expectations on its records."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from harpia_formats.conversion.reading.companions import Companions, is_companion_format
from harpia_formats.conversion.reading.mapped_keys import MappedKeys, keys_of_map
from harpia_formats.conversion.reading.merged_rows import has_several_parts
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import fields_by_column, partners_in
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.expectations.data_set_limits import (
    Counts,
    count_outcomes,
    file_outcomes,
    has_unread_records,
)
from harpia_formats.expectations.field_limits import (
    FieldValues,
    MissingValues,
    Pattern,
    Unique,
    ValueRange,
)
from harpia_formats.expectations.outcomes import Outcome, RecordFindings, row_paths
from harpia_formats.expectations.plugin_expectations import OwnExpectation
from harpia_formats.expectations.preflight_error import PreflightError
from harpia_formats.expectations.preflight_keys import with_keys
from harpia_formats.expectations.preflight_plan import (
    Asked,
    DataSet,
    PreflightOptions,
    asked_by,
    check_data_set,
    check_format,
    field_path,
)
from harpia_formats.expectations.record_limits import (
    MissingAnswers,
    Models,
    PromptLength,
    RecordLimit,
)
from harpia_formats.expectations.record_store import ShownPlace
from harpia_formats.expectations.relations import AnswersPerQuestion, Keys
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.io.source import Source
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.mapped_format import (
    FREE_COLUMN_FORMATS,
    require_mapped_format,
    takes_map,
)
from harpia_formats.formats.registry import adapter_of, all_formats, formats_named
from harpia_formats.formats.rules.preflight_rules import CODES
from harpia_formats.model.problem import (
    EngineError,
    HarpiaFormatsError,
    Place,
    Problem,
)
from harpia_formats.model.report import FileCount, Report
from harpia_formats.validation.options import Options
from harpia_formats.validation.redaction import redaction_of
from harpia_formats.validation.run import RunBaseline, Validation


class DataSetRun:
    """The run of one data set: iterate for the problems of its files.

    Raises `PreflightError` when it is made for what cannot be used or checked.
    """

    def __init__(
        self,
        data_set: DataSet,
        options: PreflightOptions,
        outputs: frozenset[Path] = frozenset(),
        more: Sequence[RecordLimit] = (),
    ) -> None:
        """Take the data set, the options, and absolute paths of files that are written.

        What is in `more` takes the records, too.
        """
        self.data_set = data_set
        self._redaction = redaction_of(options)
        most, shown = options.examples, self._shown
        self._limits = [*_record_limits(data_set, most, shown), *more]
        self._has_more = bool(more)
        #: The ids and prompts that relations compare, as far as they ask for them.
        self.keys = Keys(data_set.name, most, shown)
        with _at(data_set):
            self._options = _validation_options(data_set, options, outputs)
            self._validation = Validation(
                data_set.inputs(), self._options, outputs=outputs
            )
        self._outputs = outputs
        self._is_read = False
        #: The number of records in the last run, None if there was none.
        self.last_records: int | None = None
        self._companions: Companions | None = None
        self._fields: dict[str, str] = {}
        self._mapped: MappedKeys | None = None
        self._needed: list[Asked] = []

    @property
    def tally(self) -> Any:
        """The counts of the files."""
        return self._validation.tally

    def _shown(self, place: Place) -> Place:
        """Return a place in the text of a file as messages show it, in its members."""
        found: Place = self.tally.in_member(place)
        return found if self._redaction is None else self._redaction.place(found)

    def check(self, asked: list[Asked]) -> None:
        """Check that every expectation can be checked. Raises `PreflightError`.

        `asked` is what relations of other data sets ask for.
        """
        data_set = self.data_set
        self._needed = [*asked_by(data_set), *asked]
        with _at(data_set):
            check_data_set(data_set, self._needed)
            if self._needed or self._has_more:
                self._prepare()

    def _prepare(self) -> None:
        """Prepare to read records while files are validated."""
        data_set, inputs = self.data_set, self.data_set.inputs()
        companion = self._options.companion
        partners = partial(partners_in, max_row_bytes=ROW_LIMIT)
        self._companions = Companions(companion, inputs, ROW_LIMIT, partners)
        columns, name = data_set.values.get("map"), self._options.format
        formats = formats_named(name) if name else tuple(all_formats().values())
        if columns and name in FREE_COLUMN_FORMATS:
            self._fields = fields_by_column(formats[0], columns)
        elif columns:
            self._mapped = keys_of_map(columns, formats)
        self._validation = Validation(
            inputs,
            self._options,
            outputs=self._outputs,
            consumer_of=self._consumer_of,
        )

    def _consumer_of(self, source: Source, count: FileCount) -> RecordStream:
        """Return what reads the rows of a file as records."""
        limits, keys = self._limits, self.keys

        def receive(placed: PlacedRecord) -> None:
            for limit in limits:
                limit.take(placed, count)
            keys.take(placed, count)

        return _Rows(
            source.name,
            receive,
            lambda _: None,
            self._begin,
            None,
            self._fields,
            self._mapped,
            lambda variant: self._around(source, variant),
            partial(has_several_parts, source),
        )

    def _around(self, source: Source, variant: FormatVariant) -> Any:
        assert self._companions is not None  # noqa: S101 - made with the reading
        return self._companions.around(source, variant, adapter_of(variant.format))

    def _begin(self, variant: FormatVariant) -> None:
        """Take the format of a file. Raises `PreflightError` if it lacks a field."""
        check_format(self.data_set, self._needed, variant.format)
        adapter, paths = adapter_of(variant.format), row_paths(variant)
        for limit in self._limits:
            limit.row_paths = paths
            limit.begin(adapter)

    def __iter__(self) -> Iterator[Problem]:
        with _at(self.data_set):
            for problem in self._validation:
                help_ = with_keys(problem.help)
                same = help_ == problem.help
                yield problem if same else replace(problem, help=help_)
        self._is_read = True

    @property
    def records(self) -> int:
        """The number of records, with invalid ones."""
        return self._counts().records

    def report(self) -> Report:
        """Return the counts of the files."""
        return self._validation.report()

    def _counts(self) -> Counts:
        """Return what the validation found, without what expectations found."""
        report = self.report()
        files, documents = list[FileCount](), list[FileCount]()
        for file in report.files:
            if not file.skipped:
                is_document = is_companion_format(file.format or "")
                (documents if is_document else files).append(file)
        groups = [group for group in report.groups if group.code not in CODES]
        if not files:  # there are no records then
            files, documents = documents, files
        return Counts(tuple(files), tuple(groups), tuple(documents))

    @property
    def invalid_records(self) -> int:
        """The number of records that are not valid, and so were not read."""
        return sum(file.invalid for file in self._counts().files)

    @property
    def has_unread_records(self) -> bool:
        """Whether too many records are not valid, and so were not read."""
        return has_unread_records(self.data_set, self._counts())

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcome of each expectation except the relations."""
        counts = self._counts()
        yield from count_outcomes(self.data_set, counts, self.last_records)
        files = (*counts.files, *counts.documents) if self._is_read else ()
        yield from file_outcomes(self.data_set, files)
        for limit in self._limits:
            yield from limit.outcomes()

    def close(self) -> None:
        """Delete temporary files."""
        for limit in self._limits:
            limit.close()
        self.keys.close()


class _Rows(RecordStream):
    """Reads the rows of a file as records; none of a document that accompanies rows."""

    def open(self, variant: FormatVariant | None) -> None:
        """Prepare to read rows of `variant`; None for a file in no known format."""
        if variant is None or not is_companion_format(variant.format.id):
            super().open(variant)


@contextmanager
def _at(data_set: DataSet) -> Iterator[None]:
    """Give errors the place of a data set in the preflight file."""
    try:
        yield
    except (PreflightError, EngineError):
        raise
    except HarpiaFormatsError as error:
        found = data_set.stated("").error(with_keys(str(error)))
        found.hides_values = error.hides_values
        raise found from error


def _validation_options(
    data_set: DataSet, options: PreflightOptions, outputs: frozenset[Path]
) -> Options:
    """Return the options with which the files of a data set are validated."""
    values = data_set.values
    located = {
        key: data_set.located(values[key])
        for key in ("schema", "with")
        if key in values
    }
    format_ = values.get("format")
    if "map" in values and format_ is None:
        is_output = RunBaseline(Options(), outputs).is_output
        exclusion = Exclusion(values.get("exclude", ()), is_output)
        format_ = require_mapped_format(data_set.inputs(), exclusion)
    return replace(
        options.of_validation(),
        format=format_,
        # Other mapped values are found when the records are read.
        columns=values.get("map") if format_ and takes_map(format_) else None,
        delimiter=values.get("delimiter"),
        schema=located.get("schema"),
        companion=located.get("with"),
        select=values.get("select", ()),
        ignore=values.get("ignore", ()),
        lint=values.get("lint", False),
        strict=values.get("strict", False),
        exclude=values.get("exclude", ()),
    )


def _record_limits(
    data_set: DataSet, most: int, shown: ShownPlace
) -> list[RecordLimit]:
    """Return the expectations on single records, but for relations."""
    values, limits = data_set.values, list[RecordLimit]()
    if {"models", "required-models", "allowed-models"} & values.keys():
        limits.append(Models(data_set, most))
    if "answers-per-question" in values:
        times, expected = values["answers-per-question"], values.get("models", ())
        allowed = values.get("allowed-models", ())
        limits.append(
            AnswersPerQuestion(times, expected, RecordFindings(most), allowed)
        )
    if "max-missing-answers" in values:
        limits.append(MissingAnswers(data_set, most))
    for key in ("max-prompt-characters", "max-prompt-bytes"):
        if key in values:
            limits.append(PromptLength(key, values[key], RecordFindings(most)))
    allowed = values.get("allowed-values", {})
    required = values.get("required-values", {})
    for name in dict.fromkeys((*allowed, *required)):
        limits.append(
            FieldValues(
                name,
                field_path,
                allowed.get(name, []),
                required.get(name, []),
                RecordFindings(most),
            )
        )
    limits += _field_limits(values, most, shown)
    limits += [OwnExpectation(one, most) for one in values.get("own", {}).values()]
    return limits


def _field_limits(
    values: Mapping[str, Any], most: int, shown: ShownPlace
) -> Iterator[RecordLimit]:
    """Yield the expectations on the values of fields, in the order of their keys."""
    more = (field_path, most)
    for key in ("min-values", "max-values"):
        for name, bound in values.get(key, {}).items():
            yield ValueRange(key, name, bound, more)
    for name, pattern in values.get("patterns", {}).items():
        yield Pattern(name, pattern, more)
    for name in values.get("unique-values", ()):
        yield Unique(name, more, shown)
    for name, limit in values.get("max-missing-values", {}).items():
        yield MissingValues(name, limit, more)
