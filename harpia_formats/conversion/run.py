"""Convert files: from bytes to records to rows of another format."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct

from harpia_formats.conversion.destination import Destination, header_error
from harpia_formats.conversion.losses.conversion_problems import (
    ConversionProblems,
    note_on_constants,
    remedies_for_losses,
)
from harpia_formats.conversion.losses.conversion_report import (
    ConversionReport,
    ConversionTotals,
    FileLosses,
    StopConversion,
)
from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.mapping.field_constants import check_constants
from harpia_formats.conversion.options import ConvertOptions, OnInvalid, OnLoss, Output
from harpia_formats.conversion.output_files import (
    MODEL,
    SAMPLED_RECORDS,
    OutputFiles,
    check_names_file,
    check_output,
    choose_target,
    depends_on_answers,
    name_of,
    output_files,
    target_of,
    targets_named,
)
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.conversion.row_conversion import (
    ChunkConverter,
    RecordConverter,
    record_groups,
)
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.file_sink import NO_FOLDER
from harpia_formats.files.io.inputs import Input, is_one_file
from harpia_formats.files.io.outputs import FilesRead, OutputGroup
from harpia_formats.files.io.sink import SinkError
from harpia_formats.files.io.urls import is_same_place, is_url, masked
from harpia_formats.files.workers.pool import WorkerPool, open_pool
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.mapped_format import maps_output_columns
from harpia_formats.formats.registry import adapter_of, all_unpackers
from harpia_formats.formats.rules.loss_rules import (
    COLLISION,
    OTHER_QUESTION,
    UNCONVERTIBLE,
)
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_outcomes import FieldOutcome, FieldOutcomes, Outcome
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Place, Problem, Severity
from harpia_formats.model.record import Header
from harpia_formats.model.report import FileCount, Report
from harpia_formats.validation.dedup.digests import Digests
from harpia_formats.validation.redaction import problems_shown, redaction_of

if TYPE_CHECKING:  # loaded only for the option --on-invalid quarantine
    from harpia_formats.conversion.fill_scores import ScoreFiller
    from harpia_formats.conversion.parallel.convert_ranges import ConversionWorkers
    from harpia_formats.conversion.quarantine import Quarantine


def header_row(
    destination: Destination,
    files: Sequence[FileLosses],
    headers: Sequence[Sequence[Header]],
) -> Row:
    """Return the header as the target writes it, and add what it loses to `files`.

    `headers` are those of each file. The first of them is written.
    """
    chosen = _first_header(files, headers)
    if chosen is None:
        return {}
    file, header = chosen
    outcomes = FieldOutcomes()
    row: Row = {}
    names = [
        name for name in header.__struct_fields__ if getattr(header, name) is not UNSET
    ]
    adapter = destination.adapter
    if adapter.write_header is not None:
        row = adapter.write_header(header, outcomes)
        _drop_invalid(row, header, destination, outcomes)
    carried = {path.partition(".")[0] for path in adapter.header_fields}
    for name in names:
        if name not in carried:
            outcomes.dropped(f"header.{name}")
    noted = {entry.path: entry for entry in outcomes.entries}
    found: dict[str, FieldOutcome | None] = {}
    for name in names:
        found |= _by_part(f"header.{name}", getattr(header, name), noted)
    lost = (outcome for outcome in (*found.values(), *noted.values()) if outcome)
    file.losses.add(tuple(found), tuple(lost), lambda: None)
    return row


def _by_part(
    path: str, value: Any, noted: dict[str, FieldOutcome]
) -> dict[str, FieldOutcome | None]:
    """Return what becomes of a part of a header, None if it is kept.

    If some of its members are lost, or for a reason, each has its own outcome. What is
    returned is removed from the outcomes that are `noted`.
    """
    known = noted.pop(path, None)
    if known is not None or not any(each.startswith(f"{path}.") for each in noted):
        return {path: known}
    found: dict[str, FieldOutcome | None] = {}
    for key, member in value.items() if type(value) is dict else ():
        found |= _by_part(f"{path}.{key}", member, noted)
    whole = FieldOutcome(Outcome.DROPPED, path)
    same = {outcome and outcome._replace(path=path) for outcome in found.values()}
    return {path: same.pop()} if same in ({None}, {whole}) else found


def _drop_invalid(
    row: Row, header: Header, destination: Destination, outcomes: FieldOutcomes
) -> None:
    """Remove the members of a written header that the target refuses, as dropped."""
    adapter = destination.adapter
    for key in list(row):
        problem = header_error(destination.target, key, row[key])
        if problem is not None:
            del row[key]
            is_field = getattr(header, key, UNSET) is not UNSET
            is_own = not is_field or key not in adapter.header_fields
            path = f"extra.{adapter.vendor}.{key}" if is_own else key
            outcomes.dropped(f"header.{path}", f"not valid: {problem.message}")


def _first_header(
    files: Sequence[FileLosses], headers: Sequence[Sequence[Header]]
) -> tuple[FileLosses, Header] | None:
    """Return the first header with its file; count the others as dropped."""
    found = [
        (file, header)
        for file, own in zip(files, headers, strict=False)
        for header in own
    ]
    for file, header in found[1:]:
        if header != found[0][1]:
            dropped = FieldOutcome(Outcome.DROPPED, "header", "another one came first")
            file.losses.add((), (dropped,), lambda: None)
    return found[0] if found else None


def _in_order(invalid: list[Problem], unconvertible: list[Problem]) -> list[Problem]:
    """Return the problems of rows that were read together, in the order of the rows.

    `invalid` are all of one file. Those of earlier files, whose records waited for the
    target, come first.
    """
    if not (invalid and unconvertible):
        return invalid or unconvertible
    path = invalid[0].place.path
    earlier = [problem for problem in unconvertible if problem.place.path != path]
    own = [problem for problem in unconvertible if problem.place.path == path]
    of_file = sorted([*invalid, *own], key=lambda problem: _rank_of(problem.place))
    return [*earlier, *of_file]


def _rank_of(place: Place) -> int:
    """Return what orders the places of a file: bytes, or in archives the records.

    The bytes of an archive are those of its members, and not all faults have records.
    """
    return (place.record or 0) if place.member else place.byte_offset


def _conversion_last(report: Report) -> Report:
    """Return a report with the groups of validation before those of the conversion.

    How many rows are read together, and by which process, makes no difference then.
    """
    groups = sorted(report.groups, key=lambda group: group.code in _OF_CONVERSION)
    return replace(report, groups=tuple(groups))


_OF_CONVERSION = {UNCONVERTIBLE, OTHER_QUESTION, COLLISION}


class SideOutputs(Struct, frozen=True):
    """The outputs of a conversion apart from its rows, in one group with them."""

    group: OutputGroup
    #: Where invalid rows go; None if they are not put aside.
    quarantine: "Quarantine | None"
    #: The path or URL of the report of losses; None if none is written.
    loss_report: str | None

    def complete(
        self,
        report: ConversionReport,
        companions: Iterable[str],
        *,
        with_quarantine: bool,
    ) -> None:
        """Write what is missing of the outputs, and commit all outputs of the group.

        `companions` are the documents that were found and read. Raises `SinkError`.
        """
        self.group.check_apart(companions)
        if self.quarantine is not None and with_quarantine:
            self.quarantine.complete()
        elif self.quarantine is not None:
            self.quarantine.discard()
        if self.loss_report is not None:
            from harpia_formats.conversion.losses.loss_report import loss_report  # noqa: PLC0415 - few conversions write it

            self.group.open(self.loss_report).write(loss_report(report))
        self.group.commit()


def side_outputs(
    options: ConvertOptions,
    output: Output,
    inputs: Iterable[Any],
    reports: Iterable[str],
) -> SideOutputs:
    """Return the outputs that the options ask for in addition to `output`.

    `reports` are the places of reports, which no other output gets. Nothing is written
    yet. Raises `ConversionError` and `SinkError` for a place that cannot be written, or
    that is an input or another output.
    """
    reads = FilesRead(
        inputs,
        [options.companion],
        exclude=options.exclude,
        unpackers=all_unpackers(),
        rewritten=fspath(output) if isinstance(output, (str, PathLike)) else None,
    )
    group = OutputGroup(overwrite=options.overwrite, reads=reads, taken=reports)
    quarantine = None
    if options.on_invalid is OnInvalid.QUARANTINE:
        from harpia_formats.conversion.quarantine import Quarantine  # noqa: PLC0415 - few conversions put rows aside

        quarantine = Quarantine.next_to(
            options.quarantine, output, group, overwrite=options.overwrite
        )
    if options.loss_report is None:
        return SideOutputs(group, quarantine, None)
    report = fspath(options.loss_report)
    others = [*reads.named]
    if isinstance(output, (str, PathLike)):
        others.append(fspath(output))
    _check_loss_report(report, others, overwrite=options.overwrite)
    group.claim(report)
    return SideOutputs(group, quarantine, report)


def _check_loss_report(place: str, others: Iterable[str], *, overwrite: bool) -> None:
    """Raise `SinkError` if the losses cannot be written to `place`.

    That is an existing file unless `overwrite`, a file in a missing folder, `-`, and
    each of `others`: the inputs and the output of the conversion.
    """
    check_names_file(place)
    check_output(place, overwrite=overwrite)
    if not is_url(place) and not Path(place).absolute().parent.is_dir():
        raise SinkError(place, NO_FOLDER)
    if any(is_same_place(place, other) for other in others):
        reason = "is an input or the output of the conversion"
        raise SinkError(masked(place), reason)


class Conversion:
    """One conversion: iterate for the problems, then ask for the report.

    Raises `UnknownFormat`, `ConversionError`, `SinkError` or `ValueError` when it is
    made with options that cannot be met, and while it runs for what only the input
    shows; nothing is written then.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        to: str | None,
        output: Output,
        options: ConvertOptions,
        reports: Iterable[str] = (),
    ) -> None:
        """Take what is converted, how, and the places of reports that are written."""
        to = target_of(output) if to is None else to
        self._options = options
        self._output = output
        self._redaction = redaction_of(options)
        if self._redaction is not None and MODEL in name_of(output):
            self._redaction.named_by_values = name_of(output)
        inputs = list(inputs)
        #: Whether `columns` names the columns of the output, and not of the inputs.
        self._maps_output = bool(options.columns) and maps_output_columns(
            inputs, to, options.from_, Exclusion(options.exclude)
        )
        self._groups = groups = record_groups(options.group)
        self._models = ModelSelection(options.model, options.metric)
        self._scorer: ScoreFiller | None = None
        if options.score:
            from harpia_formats.conversion.fill_scores import score_filler  # noqa: PLC0415 - on request

            self._scorer = score_filler(options)
        self._targets = targets_named(to)
        self._reading = Reading(
            inputs,
            replace(options, columns=None) if self._maps_output else options,
            fail_fast=options.on_invalid is OnInvalid.FAIL,
        )
        self._tally = self._reading.tally
        self._has_one_file = is_one_file(self._reading.inputs, all_unpackers())
        self._totals = ConversionTotals(loss_fails=options.on_loss is OnLoss.FAIL)
        self._problems = ConversionProblems(self._totals, self._tally)
        self._chunks = ChunkConverter(options, self._totals)
        self._digests = Digests()
        self._is_done = False
        self._names: list[str] = []
        check_output(output, overwrite=options.overwrite)
        self._side = side_outputs(options, output, self._reading.inputs, reports)
        self._quarantine = self._side.quarantine
        #: Whether invalid rows that were put aside are kept though no row is written.
        self._keeps_quarantine = False
        self._records = RecordConverter(
            options,
            self._totals,
            self._problems,
            self._models,
            groups,
            self._quarantine,
        )
        #: Messages about choices that were made for the user, such as the target.
        self.messages: list[str] = []
        #: Records that wait until the target is chosen, with their files and prefixes.
        self._held: list[tuple[PlacedRecord, int, str]] = []
        self._destination: Destination | None = None
        self._outputs: OutputFiles | None = None
        if depends_on_answers(self._targets):
            adapters = [adapter_of(target) for target in self._targets]
            check_constants(adapters, options.constants)
        else:
            self._open(self._targets[0])

    def _open(self, target: Format) -> None:
        """Write the format `target`.

        Raises `ConversionError`, `MapError` or `SinkError` if that is not possible.
        """
        outputs = output_files(
            target,
            self._output,
            self._options,
            self._side.group,
            maps_output=self._maps_output,
        )
        destination = Destination(
            target, outputs, self._options, self._digests.add, self._scorer
        )
        # From here on there are files to discard.
        self._outputs = outputs
        self._destination = self._chunks.destination = destination
        if len(self._targets) > 1:
            self.messages.append(f"writing {target.id}")
        for variant in self._totals.variants:
            destination.begin(variant, only=self._has_one_file)

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        return problems_shown(self._stream(), self._redaction)

    def _stream(self) -> Generator[Problem, None, None]:
        options = self._options
        try:
            with (
                self._digests,
                open_pool(options) as pool,
            ):
                yield from self._run(pool)
            if not self._is_done:
                self._discard_rows()
                self._complete(with_quarantine=self._keeps_quarantine)
        finally:
            self._records.close()
            if not self._is_done:
                self._discard_rows()
                self._side.group.discard()

    def _discard_rows(self) -> None:
        """Remove the rows that were written."""
        if self._outputs is not None:
            self._outputs.discard()

    def _run(self, pool: WorkerPool | None) -> Iterator[Problem]:
        flow = self._reading.steps(
            self._receive,
            self._begin,
            self._refuse,
            self._chunks,
            self._workers(pool),
        )
        try:
            for problems in flow:
                for problem in _in_order([*problems], self._problems.take()):
                    if problem.severity is Severity.ERROR:
                        self._put_aside(problem)
                    yield problem
        except StopConversion as stop:
            yield from self._stopped(stop.place)
            return
        finally:
            flow.close()
        yield from self._new_problems()
        if not self._may_finish():
            return
        try:
            destination = self._open_if_undecided()
            self._records.write_groups(destination)
        except StopConversion:
            yield from self._new_problems()
            return
        yield from self._new_problems()
        if self._totals.records:
            self._models.check()
        yield from self._finish(destination)

    def _stopped(self, place: Place | None) -> Iterator[Problem]:
        """Yield the problem of the record that stops the run, if a loss does not.

        What was read behind the record, which is at `place`, is not counted.
        """
        count, keys = self._totals.counts[self._totals.current], self._reading.keys
        if keys is not None and not self._totals.failed_by_loss:
            # A misspelt key may be why the record lacks a field.
            keys.check_seen(count.path, is_stopped=True)
        # Of another file, or of one that was read to its end, nothing was read behind.
        if place is not None and place.path == count.path and not count.complete:
            # How much was read depends on the number of processes.
            count.records = place.record or count.records
            count.bytes = place.byte_offset
        yield from self._new_problems()

    def _workers(self, pool: WorkerPool | None) -> "ConversionWorkers | None":
        """Return what converts the rows of large files, None without workers."""
        if pool is None or self._reading.companions.are_by_id:
            return None
        from harpia_formats.conversion.parallel.convert_ranges import ConversionWorkers  # noqa: PLC0415 - only for several processes: start-up time

        return ConversionWorkers(
            pool,
            self._options,
            self._totals,
            self._chunks,
            digests=self._digests,
            models=self._models,
            has_one_file=self._has_one_file,
        )

    def _new_problems(self) -> Iterator[Problem]:
        """Yield the problems of converting since the last call."""
        for problem in self._problems.take():
            self._put_aside(problem)
            yield problem

    def _put_aside(self, problem: Problem) -> None:
        """Write a problem to the file of quarantined rows, if there is one."""
        if self._quarantine is not None:
            redaction = self._redaction
            shown = problem if redaction is None else redaction.problem(problem)
            self._quarantine.finding(shown)

    def _may_finish(self) -> bool:
        """Tell whether all inputs were read, and are valid if they have to be."""
        report = self._tally.report()
        if report.failures or report.lacks_records:
            return False
        if self._options.on_invalid is OnInvalid.FAIL:
            return report.ok
        return True

    def _finish(self, destination: Destination) -> Iterator[Problem]:
        """Put the output into place, unless a loss or a repeated id forbids that."""
        destination.flush()
        if not destination.written:
            # An empty output would look like an empty input, and no format allows it.
            self._keeps_quarantine = True
            return
        header = header_row(destination, self._totals.files, self._reading.headers)
        if self._totals.check_loss():
            return
        repeated = self._digests.repeated().surplus if destination.checks_ids else 0
        if repeated:
            yield from self._problems.repeated_ids(repeated, self._options)
            return
        assert self._outputs is not None  # noqa: S101 - they were opened before
        self._names = self._outputs.close(header)
        self._complete(with_quarantine=True)
        self._is_done = True

    def _complete(self, *, with_quarantine: bool) -> None:
        """Put the outputs in place; raises `SinkError`."""
        companions = self._reading.companions.used.values()
        self._side.complete(self.report(), companions, with_quarantine=with_quarantine)

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        """Get ready for a file; raises `ConversionError`."""
        keys = self._reading.keys
        self._totals.begin(variant, count, None if keys is None else keys.record_paths)
        self._totals.losses.places = self._tally.places.get(count.path)
        if self._groups is not None and adapter_of(variant.format).repeats_answers:
            self._groups.merge_answers()
        if self._destination is not None:
            self._destination.begin(variant, only=self._has_one_file)

    def _open_if_undecided(self) -> Destination:
        """Return the destination, after the records that waited for it.

        Where nothing decided on the target, it is the one without answers.
        """
        if self._destination is None:
            self._open(choose_target(self._targets, answered=False))
        assert self._destination is not None  # noqa: S101 - `_open` has set it
        held, self._held = self._held, []
        variants = self._totals.variants
        for file, records in groupby(held, itemgetter(1)):
            self._destination.take_rows_of(variants[file])
            for placed, _, prefix in records:
                self._records.convert(placed, file, prefix, self._destination)
        if held:
            self._destination.take_rows_of(variants[-1])
        return self._destination

    def _refuse(self, text: bytes | None) -> None:
        """Leave an invalid row out; None is one that is longer than allowed."""
        self._totals.skipped += 1
        if self._quarantine is not None:
            self._quarantine.row(text)

    def _receive(self, placed: PlacedRecord) -> None:
        """Convert a record, or hold it until the target is chosen."""
        totals = self._totals
        if self._destination is not None:
            self._records.convert(
                placed, totals.current, totals.prefix, self._destination
            )
            return
        self._held.append((placed, totals.current, totals.prefix))
        if placed.record.outputs:
            self._open(choose_target(self._targets, answered=True))
        elif len(self._held) < SAMPLED_RECORDS:
            return
        self._open_if_undecided()

    def report(self) -> ConversionReport:
        """Return the report of the conversion, once it was iterated to its end."""
        target = self._targets[0]
        if self._destination is not None:
            target = self._destination.target
        for file in self._totals.files:
            file.losses.up_to_date()
        written = 0 if self._destination is None else self._destination.written
        found = ConversionReport(
            report=_conversion_last(self._tally.report()),
            target=target.id,
            outputs=tuple(self._names) or (name_of(self._output),),
            rows=written if self._is_done else 0,
            skipped=self._totals.skipped,
            losses=tuple(self._totals.files),
            written=self._is_done,
            failed_by_loss=self._totals.failed_by_loss,
            is_cut=not self._is_done and bool(self._outputs and self._outputs.is_begun),
            quarantine=() if self._quarantine is None else self._quarantine.names,
            notes=self._notes(),
        )
        if self._redaction is None:
            return found
        from harpia_formats.conversion.losses.loss_report import redacted_conversion  # noqa: PLC0415 - most runs show values

        return redacted_conversion(found, self._redaction, name_of(self._output))

    def _notes(self) -> tuple[str, ...]:
        """Return what the user should know of the inputs and outputs."""
        renamed = () if self._outputs is None else self._outputs.notes
        read_with = self._reading.companions.notes()
        aside = self._quarantine
        remedies: tuple[str, ...] = () if aside is None else aside.notes
        if self._destination is not None:
            adapter, target = self._destination.adapter, self._destination.target
            is_split = self._destination.outputs.is_split
            remedies += (
                *note_on_constants(target, self._options, names_models=is_split),
                *remedies_for_losses(self._totals, adapter, self._options),
            )
        if self._redaction is not None:
            return remedies  # others may name models and members of archives
        return (*read_with, *renamed, *self._side.group.notes, *remedies)
