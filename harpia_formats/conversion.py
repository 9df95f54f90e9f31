"""Convert files: from bytes to records to rows of another format, and what was lost."""

import os
import pickle
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.bulk import Bulk, suits_bulk
from harpia_formats.column_map import is_map_of_output, names_in
from harpia_formats.constants import check_constants, constants_for
from harpia_formats.convert_options import (
    ContainerKind,
    ConvertOptions,
    OnInvalid,
    OnLoss,
    Output,
)
from harpia_formats.detection import Variant
from harpia_formats.digests import Digests
from harpia_formats.exact import encode
from harpia_formats.filling import filling_of
from harpia_formats.format import Container, Format
from harpia_formats.framing import Chunk, Cursor
from harpia_formats.grouping import KEYS, Grouping
from harpia_formats.identity import Identity
from harpia_formats.inputs import Input
from harpia_formats.judge import Judge
from harpia_formats.losses import Losses
from harpia_formats.marks import Numbers
from harpia_formats.models import Models
from harpia_formats.near import nearest
from harpia_formats.needs import (
    ConversionError,
    check_needs,
    holds_answers,
)
from harpia_formats.notes import Fate, Note, Notes, Unconvertible
from harpia_formats.outputs import Outputs, check_output, name_of
from harpia_formats.pairing import BY_NUMBER, Pairing
from harpia_formats.problem import Place, Problem
from harpia_formats.quarantine import Quarantine
from harpia_formats.reading import Reading
from harpia_formats.record import Header, Record
from harpia_formats.registry import all_rules, spoke_of
from harpia_formats.report import FileCount, Report, ValidationFailed
from harpia_formats.row import Row as PlacedRow
from harpia_formats.rules.loss import COLLISION, UNCONVERTIBLE
from harpia_formats.sharding import Shards
from harpia_formats.shards import Done, Job, PlanKey, prepare
from harpia_formats.spoke import Many, Row, Spoke
from harpia_formats.taking import Taken
from harpia_formats.targets import (
    LOOKED_AT,
    fitting,
    has_answer,
    is_told_by_answers,
    targets_named,
)
from harpia_formats.writers import joined

#: Rows that are written together.
BLOCK = 256


class _Enough(Exception):  # noqa: N818 - not an error
    """No more of the input is wanted."""


@dataclass(slots=True)
class FileLosses:
    """What became of the fields of one file."""

    path: str
    source: Format | None = None
    losses: Losses = field(default_factory=Losses)


@dataclass(frozen=True, slots=True)
class ConversionReport:
    """The outcome of a conversion."""

    report: Report
    #: The format that was written.
    target: str
    #: Where to, and how many rows.
    outputs: tuple[str, ...]
    rows: int
    #: Records that were left out because they are not valid, or cannot be converted.
    skipped: int
    losses: tuple[FileLosses, ...]
    #: Whether what was written is there.
    written: bool
    #: Whether something was lost where that is a failure.
    failed_by_loss: bool = False
    quarantine: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all that was asked for was done."""
        return self.written and not self.report.failures

    def raise_for_errors(self) -> None:
        """Raise `ValidationFailed` unless it is `ok`."""
        self.report.raise_for_errors()
        if not self.ok:
            raise ValidationFailed(self.report)

    @property
    def lossless(self) -> bool:
        """Whether nothing was lost."""
        return not any(
            is_loss(note) for each in self.losses for note in each.losses.losses
        )


def is_loss(note: Note) -> bool:
    """Tell whether something is lost by what `note` says."""
    return note.fate in {Fate.DROPPED, Fate.CHANGED, Fate.MERGED}


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
        self._maps_output = is_map_of_output(inputs, to, options)
        if options.group is not None and options.group not in KEYS:
            near = nearest(options.group, KEYS)
            hint = f"; did you mean {near}?" if near else ""
            known = ", ".join(KEYS)
            raise ConversionError(
                f"records cannot be grouped by {options.group!r}{hint} (known: {known})"
            )
        self._models = Models(options.model)
        self._filling = filling_of(options.score) if options.score else None
        self._targets = targets_named(to)
        self._rules = all_rules()
        self._reading = Reading(
            inputs,
            options.from_,
            columns=None if self._maps_output else options.columns,
            fail_fast=options.on_invalid is OnInvalid.FAIL,
            max_row_bytes=options.max_row_bytes,
            progress=options.progress,
        )
        self._tally = self._reading.tally
        self._target: Format | None = None
        self._files: list[FileLosses] = []
        self._counts: list[FileCount] = []
        self._pending: list[Problem] = []
        self._rows: list[Row] = []
        self._written_rows = self._records = self._skipped = 0
        self._digests = Digests()
        self._done = False
        self._failed_by_loss = False
        self._names: list[str] = []
        self._quarantine: Quarantine | None = None
        self._prefix = ""
        #: How often files were called alike.
        self._stems: Counter[str] = Counter()
        check_output(output, overwrite=options.overwrite)
        if options.on_invalid is OnInvalid.QUARANTINE:
            self._quarantine = Quarantine.beside(
                options.quarantine, output, overwrite=options.overwrite
            )
            self._quarantine.check_apart(self._reading.inputs)
        #: Messages about what was taken where there was a choice.
        self.said: list[str] = []
        #: Records that wait for the format, with their files and prefixes.
        self._held: list[tuple[Taken, int, str]] = []
        self._bulk: Bulk | None = None
        #: The judge of the rows that were converted many at once.
        self._judge: Judge | None = None
        #: Plans of other processes, and how often they were followed.
        self._plans: dict[PlanKey, tuple[tuple[str, ...], tuple[Note, ...]]] = {}
        self._followed: Counter[PlanKey] = Counter()
        self._variants: list[Variant] = []
        group = options.group
        self._grouping = Grouping(group) if group is not None else None
        if is_told_by_answers(self._targets):
            check_constants(self._targets, options.constants)
        else:
            self._settle(self._targets[0])

    def _settle(self, target: Format) -> None:
        """Write `target`; raises what cannot be met."""
        self._spoke: Spoke = spoke_of(target)
        self._constants = constants_for(self._spoke, self._options.constants)
        self._pairing = Pairing(
            self._spoke, self._options.choices(self._constants), self._filling
        )
        columns = self._options.columns if self._maps_output else None
        names = names_in(self._spoke, target.id, columns or {})
        container = self._options.container
        if container is not None and target.dialects[0].container is not Container.ROWS:
            raise ConversionError(f"a file of {target.id} is neither array nor lines")
        if self._filling is not None and self._spoke.holds.scores is Many.NONE:
            raise ConversionError(f"{target.id} has no place for a score")
        self._outputs = Outputs(
            target,
            self._spoke,
            self._output,
            None if container is None else ContainerKind(container),
            names,
            overwrite=self._options.overwrite,
            headed="metrics" in self._spoke.header_fields
            and not target.dialects[0].rows_at,
        )
        self._separator = self._outputs.separator
        # From here on there is something to take away.
        self._target = target
        if len(self._targets) > 1:
            self.said.append(f"writing {target.id}")
        paths = target.tells_apart
        self._identity = Identity(paths, by_text=target.id_by_text) if paths else None
        for each in self._variants:
            self._check(each)

    def __iter__(self) -> Generator[Problem, None, None]:
        try:
            with self._digests:
                yield from self._run()
        finally:
            if not self._done:
                self._discard()

    def _discard(self) -> None:
        if self._target is not None:
            self._outputs.discard()
        if self._quarantine is not None:
            self._quarantine.discard()

    def _run(self) -> Iterator[Problem]:
        flow = self._reading.problems(
            self._receive, self._begin, self._refuse, self._accepted, self._shards()
        )
        try:
            for each in flow:
                if self._quarantine is not None:
                    self._quarantine.finding(each)
                yield each
                yield from self._said()
        except _Enough:
            yield from self._said()
            return
        finally:
            flow.close()
            self._count_plans()
        yield from self._said()
        if not self._may_finish():
            return
        try:
            self._settle_now()
            self._write_groups()
        except _Enough:
            yield from self._said()
            return
        yield from self._said()
        if self._records:
            self._models.check()
        yield from self._finish()

    def _said(self) -> Iterator[Problem]:
        pending, self._pending = self._pending, []
        for each in pending:
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

    def _finish(self) -> Iterator[Problem]:
        self._flush()
        if not self._written_rows and self._skipped:
            # An empty output would look like an empty input.
            if self._quarantine is not None:
                self._quarantine.commit()
            return
        header = self._header_row()
        if self._options.on_loss is OnLoss.FAIL and self._has_loss():
            self._failed_by_loss = True
            return
        repeated = self._digests.repeated().surplus if self._identity else 0
        if repeated:
            yield from self._collision(repeated)
            return
        self._names = self._outputs.commit(header)
        if self._quarantine is not None:
            self._quarantine.commit()
        self._done = True

    def _has_loss(self) -> bool:
        return any(is_loss(note) for each in self._files for note in each.losses.losses)

    def _begin(self, variant: Variant, count: FileCount) -> None:
        """Get ready for a file; raises `ConversionError`."""
        self._count_plans()
        spoke = spoke_of(variant.format)
        self._files.append(FileLosses(count.path, variant.format))
        self._counts.append(count)
        stem = Path(count.path).name.split(".")[0]
        self._stems[stem] += 1
        number = self._stems[stem]
        self._prefix = f"{stem}/" if number == 1 else f"{stem}-{number}/"
        self._variants.append(variant)
        if self._target is not None:
            self._check(variant)
        elif not holds_answers(spoke):
            self._settle_now()

    def _bulk_of(self, variant: Variant) -> Bulk | None:
        """Return what converts many rows at once, if nothing stands against it."""
        options = self._options
        if self._grouping is not None or self._filling is not None:
            return None
        source = spoke_of(variant.format)
        if self._outputs.is_split or options.prefix_ids:
            return None
        if not suits_bulk(source, self._spoke, self._pairing.choices):
            return None
        return Bulk(variant, source, self._pairing)

    def _accepted(
        self, chunk: Chunk, numbers: Numbers, values: list[Any], judge: Judge
    ) -> bool:
        """Convert rows that a lane accepted; tell whether that was done."""
        if self._target is None or judge.lane is None:
            return False
        if self._bulk is None:
            self._bulk = self._bulk_of(self._variants[-1])
        if self._bulk is None:
            return False
        self._judge = judge
        made = self._bulk.made(values, judge.lane, judge.lane_schema, self._records)
        if made is None:
            return False
        path = self._counts[-1].path
        for paths, notes, first, times in made.shapes:

            def place(first: int = first) -> Place:
                start = chunk.start_of(first)
                row = PlacedRow(path, chunk.rows[first], start, numbers.of(first))
                return row.place(0, 1, ())

            self._files[-1].losses.add(paths, notes, place, times)
        self._records += len(values)
        if made.rows:
            self._add_rows(made.rows, "")
        self._stop_at_loss()
        return True

    def _shards(self) -> Shards:
        """Return what has large files done in several processes."""
        jobs = self._options.jobs or os.cpu_count() or 1
        return Shards(
            jobs,
            self._job_for,
            self._deliver,
            self._counts_records,
            lambda: self._records,
        )

    def _job_for(self, variant: Variant, path: Path, folder: str) -> Job | None:
        if self._target is None or self._bulk_of(variant) is None:
            return None
        if self._options.on_loss is OnLoss.FAIL:
            return None
        source = variant.format
        job = Job(
            str(path),
            source.id,
            source.dialects.index(variant.dialect),
            self._target.id,
            self._pairing.choices,
            self._separator,
            self._options.max_row_bytes,
            folder,
        )
        if self._judge is not None and self._bulk is not None:
            prepare(job, self._judge, self._bulk)
        return job

    def _counts_records(self) -> bool:
        """Tell whether rows may get the number of their record for an id."""
        return self._pairing.needs_id

    def _deliver(self, done: Done, rows: bytes, start: Cursor, before: int) -> None:
        """Take what became of a range."""
        self._flush()
        path, losses = self._counts[-1].path, self._files[-1].losses
        for paths, notes, (offset, line, record), counted in done.shapes:
            times = counted if isinstance(counted, int) else 0
            if not isinstance(counted, int):
                self._plans[counted] = paths, notes

            def place(
                offset: int = offset, line: int = line, record: int = record
            ) -> Place:
                at = Cursor(start.offset + offset, start.line + line)
                number = before + record + 1
                return Place(path, at.line, 1, 2, at.offset, number)

            losses.add(paths, notes, place, times)
        for plan, times in done.plans:
            self._followed[plan] += times
        if done.count:
            self._outputs.write(rows)
            self._written_rows += done.count
        if done.keys:
            self._digests.add(done.keys)
        self._records += done.records

    def _count_plans(self) -> None:
        """Count what plans were followed for in the last file."""
        counted = list(self._bulk.counted()) if self._bulk is not None else []
        counted += [(*self._plans[key], times) for key, times in self._followed.items()]
        for paths, notes, times in counted:
            self._files[-1].losses.add(paths, notes, lambda: None, times)
        self._bulk = self._judge = None
        self._plans.clear()
        self._followed.clear()

    def _stop_at_loss(self) -> None:
        """End the run where a loss is a failure and there is one."""
        if self._options.on_loss is OnLoss.FAIL and self._has_loss():
            self._failed_by_loss = True
            raise _Enough

    def _check(self, variant: Variant) -> None:
        """Raise `ConversionError` if a format never has what is asked for."""
        assert self._target is not None  # noqa: S101 - the caller looked
        check_needs(
            variant.format,
            spoke_of(variant.format),
            self._target,
            self._spoke,
            self._constants,
            scored=self._filling is not None,
        )

    def _settle_now(self) -> None:
        """Settle what is written where no record has an answer, and go on with them."""
        if self._target is None:
            self._settle(fitting(self._targets, answered=False))
        held, self._held = self._held, []
        for taken, file, prefix in held:
            self._take(taken, file, prefix)

    def _refuse(self, text: bytes) -> None:
        self._skipped += 1
        if self._quarantine is not None:
            self._quarantine.row(text)

    def _receive(self, taken: Taken) -> None:
        if self._target is None:
            self._held.append((taken, len(self._files) - 1, self._prefix))
            if has_answer(taken.record):
                self._settle(fitting(self._targets, answered=True))
            elif len(self._held) < LOOKED_AT:
                return
            self._settle_now()
        else:
            self._take(taken, len(self._files) - 1, self._prefix)

    def _take(self, taken: Taken, file: int, prefix: str) -> None:
        record, notes = taken.record, Notes()
        self._models.note(record)
        if self._options.prefix_ids and record.id is not UNSET:
            record = replace(record, id=f"{prefix}{record.id}")
            notes.changed("id", "with the name of its file in front")
        self._records += 1
        if self._grouping is not None:
            origin = (file, taken.row.place(0, 1, ()))
            self._grouping.add(record, pickle.dumps(origin))
            return

        def place() -> Place:
            return taken.row.place(0, 1, ())

        self._convert(record, notes, place, taken.row.text, file)

    def _write_groups(self) -> None:
        if self._grouping is None:
            return
        self._records = 0
        for each in self._grouping.groups():
            self._records += 1
            number, place = pickle.loads(each.place)  # noqa: S301 - written by ourselves a moment ago
            self._convert(
                each.record,
                each.notes,
                lambda place=place: place,
                encode(each.record),
                number,
            )

    def _convert(
        self,
        record: Record,
        notes: Notes,
        place: Any,
        text: bytes,
        file: int,
    ) -> None:
        parts = [("", record)]
        if self._outputs.is_split:
            parts = list(_by_model(record, notes, self._options.model))
        try:
            written = [
                (model, self._pairing.written(part, self._records))
                for model, part in parts
            ]
        except Unconvertible as error:
            self._cannot(error, record, place(), file, text)
            return
        for model, each in written:
            self._add_rows(each.rows, self._file_of(model))
            notes.said += each.notes
        # What is told of a record is told once, whatever it is spread over.
        paths = tuple(dict.fromkeys(path for _, each in written for path in each.paths))
        said = tuple(dict.fromkeys(notes.said))
        self._files[file].losses.add(paths, said, place)
        self._stop_at_loss()

    def _file_of(self, model: str) -> str:
        """Return what the name of the output has for a model, "" if it has nothing."""
        if not self._outputs.is_split:
            return ""
        return model or str(self._constants.get("outputs.model", "")) or "model"

    def _add_rows(self, rows: list[Row], model: str) -> None:
        if self._identity is not None:
            self._digests.add(
                [
                    f"{model}\n{key}" if model else key
                    for each in rows
                    for key in self._identity.of_value(each)
                ]
            )
        if model:
            self._outputs.write(joined(rows, self._separator), model)
            self._written_rows += len(rows)
            return
        self._rows += rows
        if len(self._rows) >= BLOCK:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._outputs.write(joined(self._rows, self._separator))
            self._written_rows += len(self._rows)
            self._rows = []

    def _cannot(
        self, error: Unconvertible, record: Record, place: Place, file: int, text: bytes
    ) -> None:
        """Say that a record cannot be converted, and stop or leave it out."""
        rule = self._rules[UNCONVERTIBLE]
        lacking = ""
        if error.path.startswith("outputs"):
            lacking = self._models.lacking(record)
        count = self._counts[file]
        count.invalid += 1
        self._skipped += 1
        self._tally.resume(count)
        path = tuple(error.path.split("."))
        if self._tally.wants(rule, path):
            problem = Problem(
                rule.code,
                rule.name,
                rule.severity,
                place,
                lacking or error.reason,
                help="" if lacking else error.help,
            )
            if self._tally.add(problem, path):
                self._pending.append(problem)
        self._tally.resume(self._counts[-1])
        if self._options.on_invalid is OnInvalid.FAIL:
            raise _Enough
        if self._quarantine is not None:
            self._quarantine.row(text)

    def _collision(self, repeated: int) -> Iterator[Problem]:
        rule = self._rules[COLLISION]
        count = self._counts[-1]
        self._tally.resume(count)
        ids = "1 id is" if repeated == 1 else f"{repeated:,} ids are"
        message = f"{ids} those of several rows of the output"
        help_ = "--prefix-ids puts the name of its file in front of each id"
        if len(self._files) == 1:
            help_ = "--group id makes one record of the rows with one id"
            if self._has_made_ids():
                help_ = (
                    "give an id to each record: the number of one is that of another"
                )
        elif self._options.prefix_ids:
            help_ = "files of the same name need other names"
        place = Place(count.path, 1, 1, 2, 0)
        if self._tally.wants(rule, ()):
            problem = Problem(
                rule.code, rule.name, rule.severity, place, message, help=help_
            )
            if self._tally.add(problem, ()):
                yield problem

    def _has_made_ids(self) -> bool:
        """Tell whether some records have their number for an id."""
        notes = (note for each in self._files for note in each.losses.losses)
        return any(each.path == "id" and each.how == BY_NUMBER for each in notes)

    def _header_row(self) -> Row:
        """Return the header that is written, and note what it loses."""
        chosen = self._chosen_header()
        if chosen is None:
            return {}
        file, header = chosen
        notes = Notes()
        row: Row = {}
        names = [
            each
            for each in header.__struct_fields__
            if getattr(header, each) is not UNSET
        ]
        if self._outputs.headed and not self._written_rows:
            for name in names:
                notes.dropped(f"header.{name}", "there is no record to carry it")
        else:
            if self._spoke.write_header is not None:
                row = self._spoke.write_header(header, notes)
            held = {each.partition(".")[0] for each in self._spoke.header_fields}
            for name in names:
                if name not in held:
                    notes.dropped(f"header.{name}")
        paths = tuple(f"header.{each}" for each in names)
        file.losses.add(paths, tuple(notes.said), lambda: None)
        return row

    def _chosen_header(self) -> tuple[FileLosses, Header] | None:
        """Return the first header with its file; note that others are dropped."""
        given = [
            (file, header)
            for file, headers in zip(self._files, self._reading.headers, strict=False)
            for header in headers
        ]
        for file, header in given[1:]:
            if header != given[0][1]:
                note = Note(Fate.DROPPED, "header", "another one came first")
                file.losses.add((), (note,), lambda: None)
        return given[0] if given else None

    def report(self) -> ConversionReport:
        """Return what came of it."""
        target = self._target or self._targets[0]
        for each in self._files:
            each.losses.settled()
        return ConversionReport(
            report=self._tally.report(),
            target=target.id,
            outputs=tuple(self._names) or (name_of(self._output),),
            rows=self._written_rows if self._done else 0,
            skipped=self._skipped,
            losses=tuple(self._files),
            written=self._done,
            failed_by_loss=self._failed_by_loss,
            quarantine=() if self._quarantine is None else self._quarantine.names,
        )


def _by_model(
    record: Record, notes: Notes, wanted: str | None
) -> Iterator[tuple[str, Record]]:
    """Yield the answers of each model by themselves, of one model if it is `wanted`."""
    models = dict.fromkeys(each.model or "" for each in record.outputs)
    if wanted is not None:
        if models.keys() - {wanted}:
            notes.dropped("outputs", "of another model")
        models = {wanted: None}
    if len(models) > 1:
        notes.split("outputs", "a file for each model")
    for model in models or {"": None}:
        kept = [each for each in record.outputs if (each.model or "") == model]
        yield model, replace(record, outputs=kept)
