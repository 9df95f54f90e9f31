"""Convert records to another format and back, and compare them with what they were."""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace as changed
from itertools import groupby

from msgspec import structs

from harpia_formats.conversion.comparison.back_conversion import (
    BackConversion,
    RoundTripIds,
    RowsOfRecords,
    constants_of_both,
    merged,
    requirements_back,
)
from harpia_formats.conversion.comparison.comparison_report import (
    DifferenceReport,
    FieldDifferences,
    add_differences,
    converted_header,
    differences_shown,
    refuse_quarantine,
)
from harpia_formats.conversion.destination import (
    WrittenRowCheck,
    check_filter,
    mapped_paths,
)
from harpia_formats.conversion.fill_scores import ScoreFiller, score_filler
from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.mapping.choices import Responses
from harpia_formats.conversion.mapping.extra_fields import ReadRow, row_reader
from harpia_formats.conversion.mapping.requirements import (
    RowRequirements,
    row_requirements,
)
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.conversion.output_files import (
    SAMPLED_RECORDS,
    choose_target,
    depends_on_answers,
    header_needs_rows,
    targets_named,
)
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.inputs import Input
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.mapped_format import maps_output_columns
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import Cardinality, FormatAdapter, Row
from harpia_formats.model.column_map import (
    column_names,
    names_by_column,
    rename_columns,
)
from harpia_formats.model.field_outcomes import Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.problem import ConversionOptionsError, Place, Problem
from harpia_formats.model.record import Header, Record
from harpia_formats.model.report import FileCount
from harpia_formats.validation.redaction import problems_shown, redaction_of


class RoundTrip:
    """One round trip: iterate for the problems, then ask for the report.

    Raises `ConversionError`, `UnknownFormat` or `ValueError`.
    """

    def __init__(
        self, inputs: Iterable[Input], via: str, options: ConvertOptions
    ) -> None:
        refuse_quarantine(options)
        self._options = options
        self._redaction = redaction_of(options)
        self._targets = targets_named(via)
        #: The other format; the first one until it is chosen.
        self._target = self._targets[0]
        self._is_chosen = not depends_on_answers(self._targets)
        #: Records that wait until it is chosen, each with the format of its file.
        self._held: list[tuple[PlacedRecord, FormatVariant]] = []
        #: The names of columns in the other format, by the names that it has itself.
        self._names: dict[str, str] = {}
        inputs = list(inputs)
        self._names_other = bool(options.columns) and maps_output_columns(
            inputs, via, options.from_, Exclusion(options.exclude)
        )
        self._reading = Reading(
            inputs,
            changed(options, columns=None) if self._names_other else options,
            fail_fast=options.on_invalid is OnInvalid.FAIL,
        )
        self._scorer = score_filler(options)
        self._models = ModelSelection(options.model, options.metric)
        #: The format of the current file.
        self._variant: FormatVariant | None = None
        #: What makes and reads rows of the other format, once it was chosen.
        self._rows: RowsOfRecords | None = None
        self._read: ReadRow | None = None
        self._back: BackConversion | None = None
        #: What rows of the current file may lack.
        self._requirements = RowRequirements()
        #: The path of each file, and its format.
        self._sources: list[tuple[str, Format]] = []
        self._found = DifferenceReport()
        self._ids = RoundTripIds()
        #: The id of the other format, once a file was begun and it was chosen.
        self.via = ""

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        yield from problems_shown(self._stream(), self._redaction)

    def _stream(self) -> Generator[Problem, None, None]:
        try:
            yield from self._run()
        finally:
            self._ids.close()

    def _run(self) -> Iterator[Problem]:
        yield from self._reading.problems(self._receive, self._begin, lambda _: None)
        if not self._is_chosen:
            self._choose(answered=False)
        report = self._reading.tally.report()
        if self._found.records and (report.ok or self._skips):
            self._models.check()
        self._compare_headers()
        self._compare_ids()

    def report(self) -> DifferenceReport:
        """Return the report, once the round trip was iterated to its end."""
        report = self._found.report = self._reading.tally.report()
        if self._skips:
            self._found.skipped = sum(file.invalid for file in report.files)
        return differences_shown(self._found, self._redaction)

    @property
    def _skips(self) -> bool:
        """Whether invalid records are left out."""
        return self._options.on_invalid is OnInvalid.SKIP

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        if variant.format.read_only:
            raise ConversionOptionsError(
                f"{variant.format.id} can be read but not written, so nothing can be "
                "converted back"
            )
        self._sources.append((count.path, variant.format))
        self._variant = variant
        if self._is_chosen:
            self._prepare(variant)

    def _choose(self, *, answered: bool) -> None:
        """Choose the other format, and convert the records that waited for it."""
        self._target = choose_target(self._targets, answered=answered)
        self._is_chosen = True
        held, self._held = self._held, []
        for variant, records in groupby(held, lambda each: each[1]):
            self._prepare(variant)
            for placed, _ in records:
                self._receive(placed)
        if self._variant is not None and not held:
            self._prepare(self._variant)

    def _prepare(self, variant: FormatVariant) -> None:
        """Get ready for the records of a file in the format `variant`."""
        source, target = adapter_of(variant.format), self._target
        check_filter(self._options, target)
        self.via = target.id
        adapter = adapter_of(target)
        if self._names_other:
            columns = self._options.columns or {}
            self._names = column_names(adapter, target.id, columns)
        constants = constants_of_both(adapter, source, self._options.constants)
        scorer, scorer_back = self._scorers(variant.format, source, target, adapter)
        self._requirements = row_requirements(
            variant.format,
            source,
            target,
            adapter,
            constants,
            scored=scorer is not None,
            mapped=mapped_paths(self._options.columns or {}, target),
        )
        check = WrittenRowCheck(target)
        choices = self._options.choices(constants)
        mapper = RecordMapper(adapter, choices, scorer, check)
        mapper.take_rows_of(source)
        self._rows, self._read = RowsOfRecords(mapper, check), row_reader(adapter)
        # The answers of one row become one row again if its format holds a list.
        has_lists = source.capacity.outputs is Cardinality.MANY_OF_ONE_MODEL
        back = changed(
            self._options,
            model=None,
            responses=Responses.LIST if has_lists else Responses.EXPAND,
        )
        back_requirements, missing = requirements_back(
            target,
            adapter,
            variant.format,
            source,
            constants,
            scored=scorer_back is not None,
        )
        if back_requirements.fields and self._could_keep(adapter):
            help_ = f"`--keep-extra` keeps it, or {back_requirements.help}"
            back_requirements = structs.replace(back_requirements, help=help_)
        self._back = BackConversion(
            variant.format,
            source,
            back,
            constants,
            scorer_back,
            back_requirements,
            missing,
            self._ids,
        )

    def _could_keep(self, adapter: FormatAdapter) -> bool:
        """Tell whether --keep-extra is not given, and rows have room for fields."""
        has_room = adapter.extras_path is not None or adapter.with_own_extra is not None
        return has_room and not self._options.keep_extra

    def _scorers(
        self,
        given: Format,
        source: FormatAdapter,
        target: Format,
        adapter: FormatAdapter,
    ) -> tuple[ScoreFiller | None, ScoreFiller | None]:
        """Return what scores answers for the other format, and for the way back.

        Answers are scored on the way back if the other format has no place for scores.
        """
        scorer = self._scorer
        if scorer is None or adapter.capacity.scores is not Cardinality.NONE:
            return scorer, None
        if source.capacity.scores is Cardinality.NONE:
            message = f"neither {given.id} nor {target.id} has a place for a score"
            raise ConversionOptionsError(message)
        return None, scorer

    def _compare_headers(self) -> None:
        """Compare the headers of all files with the one that comes back.

        That is the first one, if rows are there to carry it.
        """
        first: Header | None = None
        for (path, own), headers in zip(
            self._sources, self._reading.headers, strict=False
        ):
            for header in headers:
                first = first or header
                after = self._carried(self._carried(first, self._target), own)
                place = Place.at_start(path)
                add_differences(header, after, place, self._found)

    def _carried(self, header: Header, format_: Format) -> Header:
        """Return what is left of a header that a file of a format carries."""
        if header_needs_rows(format_) and not self._found.records:
            return Header()
        return converted_header(header, adapter_of(format_))

    def _compare_ids(self) -> None:
        """Add the ids that would make one of the conversions fail."""
        if not self._sources:
            return
        place = Place.at_start(self._sources[-1][0])
        for count, reason in self._ids.problems():
            self._found.fields[f"id {reason}"] = FieldDifferences(
                "id", count, None, place, reason
            )
            self._found.repeated += count

    def _receive(self, placed: PlacedRecord) -> None:
        if not self._is_chosen:
            assert self._variant is not None  # noqa: S101 - begun before the record
            self._held.append((placed, self._variant))
            is_answered = bool(placed.record.outputs)
            if is_answered or len(self._held) == SAMPLED_RECORDS:
                self._choose(answered=is_answered)
            return
        assert self._rows is not None  # noqa: S101 - begun before the first record
        assert self._back is not None  # noqa: S101 - begun before the first record
        record = self._models.select(placed.record)

        def place() -> Place:
            return self._reading.tally.in_member(placed.row.place(0, 1, ()))

        try:
            middle = self._middle(record)
        except Unconvertible as error:
            reason = self._why_not(error, placed.record)
            self._found.fail(error.path, reason, place)
            return
        try:
            after = self._back.convert(middle, record, self._found.records + 1)
        except Unconvertible as error:
            self._found.fail(error.path, self._back.message_for(error), place)
            return
        self._found.compare(record, after, place)

    def _middle(self, record: Record) -> Record:
        """Return `record` as the other format has it; raises `Unconvertible`."""
        assert self._rows is not None  # noqa: S101 - begun before the first record
        assert self._read is not None  # noqa: S101 - begun before the first record
        self._requirements.check(record)
        written = self._rows.of(record, self._found.records + 1)
        if not written:
            reason = "it has no score of the chosen metric, and is left out"
            raise Unconvertible("outputs.scores.metric", reason)
        self._ids.add_rows(self._target, written, back=False)
        parts = [self._read(self._in_columns(row)) for row in written]
        self._ids.add_record(parts)
        repeats = adapter_of(self._target).repeats_answers
        return merged(parts, repeats_answers=repeats)

    def _in_columns(self, row: Row) -> Row:
        """Return `row` after writing and reading it with other names of columns."""
        if not self._names:
            return row
        return rename_columns(
            rename_columns(row, self._names), names_by_column(self._names)
        )

    def _why_not(self, error: Unconvertible, record: Record) -> str:
        """Return why a record cannot be converted to the other format."""
        of_answer = error.path.startswith("outputs")
        return (of_answer and self._models.missing_in(record)) or str(error)
