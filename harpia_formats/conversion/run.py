"""Convert files: from bytes to records to rows of another format, and what was lost."""

from collections.abc import Generator, Iterable, Iterator

from harpia_formats.conversion.account import ConversionTotals, StopConversion
from harpia_formats.conversion.by_record import RecordConverter
from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.fast.chunks import ChunkConverter
from harpia_formats.conversion.header import header_row
from harpia_formats.conversion.losses.problems import ConversionProblems
from harpia_formats.conversion.optional import filling_by, groups_by, quarantine_of
from harpia_formats.conversion.options import ConvertOptions, OnInvalid, OnLoss, Output
from harpia_formats.conversion.output_files import check_output, name_of
from harpia_formats.conversion.report import ConversionReport
from harpia_formats.dedup.digests import Digests
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.io.inputs import Input, is_one_file
from harpia_formats.mapping.columns import maps_output_columns
from harpia_formats.mapping.constants import check_constants
from harpia_formats.mapping.requirements import holds_answers
from harpia_formats.mapping.select_model import ModelSelection
from harpia_formats.mapping.targets import (
    SAMPLED_RECORDS,
    choose_target,
    depends_on_answers,
    has_answer,
    targets_named,
)
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import FileCount
from harpia_formats.reading.reader import Reading
from harpia_formats.reading.record_stream import PlacedRecord
from harpia_formats.registry import adapter_of
from harpia_formats.workers.pool import WorkerPool, joined


class Conversion:
    """One run: iterate for the problems, then ask for the report.

    Raises `UnknownFormat`, `ConversionError`, `SinkError` or `ValueError` when it is
    made with options that cannot be met, and while it runs for what only the input
    shows; nothing is written then.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        to: str,
        output: Output,
        options: ConvertOptions,
    ) -> None:
        self._options = options
        self._output = output
        inputs = list(inputs)
        #: Whether the map of columns is that of what is written.
        self._maps_output = maps_output_columns(inputs, to, options)
        groups = groups_by(options.group)
        self._models = ModelSelection(options.model)
        self._filling = filling_by(options.score)
        self._targets = targets_named(to)
        self._reading = Reading(
            inputs,
            options.from_,
            columns=None if self._maps_output else options.columns,
            fail_fast=options.on_invalid is OnInvalid.FAIL,
            max_row_bytes=options.max_row_bytes,
            progress=options.progress,
        )
        self._tally = self._reading.tally
        self._has_one_file = is_one_file(self._reading.inputs)
        self._account = ConversionTotals(loss_fails=options.on_loss is OnLoss.FAIL)
        self._mishaps = ConversionProblems(self._account, self._tally)
        self._quick = ChunkConverter(options, self._account)
        self._digests = Digests()
        self._done = False
        self._names: list[str] = []
        check_output(output, overwrite=options.overwrite)
        self._quarantine = quarantine_of(options, output, self._reading.inputs)
        self._ordinary = RecordConverter(
            options,
            self._account,
            self._mishaps,
            self._models,
            groups,
            self._quarantine,
        )
        #: Messages about what was taken where there was a choice.
        self.said: list[str] = []
        #: Records that wait for the format, with their files and prefixes.
        self._held: list[tuple[PlacedRecord, int, str]] = []
        self._destination: Destination | None = None
        if depends_on_answers(self._targets):
            check_constants(self._targets, options.constants)
        else:
            self._settle(self._targets[0])

    def _settle(self, target: Format) -> None:
        """Write `target`; raises what cannot be met."""
        destination = Destination(
            target,
            self._output,
            self._options,
            self._digests,
            scorer=self._filling,
            maps_output=self._maps_output,
        )
        # From here on there is something to take away.
        self._destination = self._quick.destination = destination
        if len(self._targets) > 1:
            self.said.append(f"writing {target.id}")
        for each in self._account.variants:
            destination.begin(each, only=self._has_one_file)

    def __iter__(self) -> Generator[Problem, None, None]:
        try:
            with self._digests:
                yield from self._run()
        finally:
            if not self._done:
                self._discard()

    def _discard(self) -> None:
        if self._destination is not None:
            self._destination.outputs.discard()
        if self._quarantine is not None:
            self._quarantine.discard()

    def _run(self) -> Iterator[Problem]:
        options = self._options
        with joined(options.jobs, options.executor, options.engine) as pool:
            yield from self._read(pool)

    def _read(self, pool: WorkerPool | None) -> Iterator[Problem]:
        flow = self._reading.problems(
            self._receive,
            self._begin,
            self._refuse,
            self._quick.accepted,
            self._quick.shards(pool),
        )
        try:
            for each in flow:
                if self._quarantine is not None:
                    self._quarantine.finding(each)
                yield each
                yield from self._said()
        except StopConversion:
            yield from self._said()
            return
        finally:
            flow.close()
            self._quick.end_file()
        yield from self._said()
        if not self._may_finish():
            return
        try:
            destination = self._settle_now()
            self._ordinary.write_groups(destination)
        except StopConversion:
            yield from self._said()
            return
        yield from self._said()
        if self._account.records:
            self._models.check()
        yield from self._finish(destination)

    def _said(self) -> Iterator[Problem]:
        for each in self._mishaps.taken():
            if self._quarantine is not None:
                self._quarantine.finding(each)
            yield each

    def _may_finish(self) -> bool:
        """Tell whether all inputs were read and are good enough."""
        report = self._tally.report()
        if report.failures:
            return False
        if self._options.on_invalid is OnInvalid.FAIL:
            return report.ok
        return True

    def _finish(self, destination: Destination) -> Iterator[Problem]:
        destination.flush()
        if not destination.written and self._account.skipped:
            # An empty output would look like an empty input.
            if self._quarantine is not None:
                self._quarantine.commit()
            return
        header = header_row(destination, self._account.files, self._reading.headers)
        if self._account.fails_by_loss():
            return
        repeated = destination.repeated()
        if repeated:
            prefixed = self._options.prefix_ids
            grouped = self._options.group is not None
            yield from self._mishaps.ids_meet(
                repeated, prefixed=prefixed, grouped=grouped
            )
            return
        self._names = destination.outputs.commit(header)
        if self._quarantine is not None:
            self._quarantine.commit()
        self._done = True

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        """Get ready for a file; raises `ConversionError`."""
        self._quick.end_file()
        self._account.begin(variant, count)
        if self._destination is not None:
            self._destination.begin(variant, only=self._has_one_file)
        elif not holds_answers(adapter_of(variant.format)):
            self._settle_now()

    def _settle_now(self) -> Destination:
        """Settle what is written where no record has an answer, and go on with them."""
        if self._destination is None:
            self._settle(choose_target(self._targets, answered=False))
        assert self._destination is not None  # noqa: S101 - it is settled
        held, self._held = self._held, []
        for taken, file, prefix in held:
            self._ordinary.take(taken, file, prefix, self._destination)
        return self._destination

    def _refuse(self, text: bytes) -> None:
        self._account.skipped += 1
        if self._quarantine is not None:
            self._quarantine.row(text)

    def _receive(self, taken: PlacedRecord) -> None:
        account = self._account
        if self._destination is not None:
            self._ordinary.take(
                taken, account.present, account.prefix, self._destination
            )
            return
        self._held.append((taken, account.present, account.prefix))
        if has_answer(taken.record):
            self._settle(choose_target(self._targets, answered=True))
        elif len(self._held) < SAMPLED_RECORDS:
            return
        self._settle_now()

    def report(self) -> ConversionReport:
        """Return what came of it."""
        target = self._targets[0]
        if self._destination is not None:
            target = self._destination.target
        for each in self._account.files:
            each.losses.settled()
        written = 0 if self._destination is None else self._destination.written
        return ConversionReport(
            report=self._tally.report(),
            target=target.id,
            outputs=tuple(self._names) or (name_of(self._output),),
            rows=written if self._done else 0,
            skipped=self._account.skipped,
            losses=tuple(self._account.files),
            written=self._done,
            failed_by_loss=self._account.failed_by_loss,
            quarantine=() if self._quarantine is None else self._quarantine.names,
        )
