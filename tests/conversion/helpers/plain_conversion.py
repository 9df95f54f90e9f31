"""Convert the rows of a file one by one by the plain functions: the specification.

Nothing here is fast: no blocks, no typed decoder of the source, no processes, no
program. What `convert` does, however it does it, must be the same.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.containers.row_writer import EncodedRows
from harpia_formats.conversion.destination import (
    WrittenRowCheck,
    with_hash_as_id,
    with_number_as_id,
)
from harpia_formats.conversion.fill_scores import score_filler
from harpia_formats.conversion.losses.conversion_problems import (
    SKIP_HELP,
    with_remedies,
)
from harpia_formats.conversion.losses.conversion_report import LOSSES, SourceNames
from harpia_formats.conversion.mapping.answer_groups import (
    ModelSelection,
    split_by_model,
)
from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.conversion.mapping.extra_fields import (
    COMPONENT_KEY,
    restore_extras,
    split_extras,
)
from harpia_formats.conversion.mapping.field_constants import constants_by_path
from harpia_formats.conversion.mapping.preparation import with_gt_as_reference
from harpia_formats.conversion.mapping.requirements import row_requirements
from harpia_formats.conversion.mapping.to_rows import RecordMapper, misfits_of
from harpia_formats.conversion.options import (
    ContainerKind,
    ConvertOptions,
    Ids,
    OnInvalid,
    OnLoss,
)
from harpia_formats.conversion.output_files import header_needs_rows
from harpia_formats.conversion.record_groups import RecordGroups
from harpia_formats.conversion.run import header_row
from harpia_formats.files.io.outputs import path_component
from harpia_formats.formats.extensions import imported
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_outcomes import (
    FieldOutcome,
    FieldOutcomes,
    Outcome,
    Unconvertible,
)
from harpia_formats.model.format import Container, Format
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Header, Record
from harpia_formats.validation.dedup.identity import IdentityReader
from harpia_formats.validation.diagnosis.row_context import RowContext
from row_files import FileRow, RowFile

#: The file name of each model is a part of this name.
MODEL = "{model}"


class PlainLosses:
    """What became of each field, counted record by record."""

    def __init__(self, names: SourceNames) -> None:
        self.names = names
        self.carried: Counter[str] = Counter()
        self.records: Counter[str] = Counter()
        self.kept: Counter[str] = Counter()
        self.outcomes: Counter[tuple[Outcome, str]] = Counter()
        self.counts: dict[FieldOutcome, int] = {}
        self.places: dict[FieldOutcome, Place | None] = {}

    def add(self, paths: Any, outcomes: Any, place: Any) -> None:
        """Count a record that had fields at `paths`, of which `outcomes` are known."""
        named = {self.names.of(path) for path in paths}
        met = {(outcome.outcome, self.names.of(outcome.path)) for outcome in outcomes}
        touched = {name for outcome, name in met if outcome is not Outcome.DEFAULTED}
        self.carried.update(set(paths))
        self.records.update(named | touched)
        self.kept.update(named - touched)
        self.outcomes.update(met)
        for outcome in dict.fromkeys(outcomes):
            self.places.setdefault(outcome, place())
            self.counts[outcome] = self.counts.get(outcome, 0) + 1

    @property
    def has_loss(self) -> bool:
        """Whether some record lost something."""
        return any(outcome.outcome in LOSSES for outcome in self.counts)


@dataclass(slots=True)
class Converted:
    """What a conversion came to, as plain data."""

    #: The type and the text of the error that was raised.
    error: str = ""
    #: The contents of each file next to the input, by its name.
    files: dict[str, bytes] = field(default_factory=dict)
    #: Code, place, message and help of each problem, as far as they are of converting.
    problems: list[tuple[str, Place, str, str]] = field(default_factory=list)
    rows: int = 0
    skipped: int = 0
    is_written: bool = False
    failed_by_loss: bool = False
    #: Fields and how many records had them, kept them, and which outcomes met them.
    losses: dict[str, Any] = field(default_factory=dict)
    #: Each outcome in the order of its first record, its count and the place.
    counts: list[tuple[FieldOutcome, int, tuple[Any, ...]]] = field(
        default_factory=list
    )


class _Stop(Exception):  # noqa: N818 - as in the product
    """Nothing more is read."""


@dataclass(slots=True)
class _Target:
    """The rows of a target so far, and what decides on them."""

    format: Format
    options: ConvertOptions
    mapper: RecordMapper
    constants: dict[str, Any]
    is_split: bool
    rows: dict[str, list[Any]] = field(default_factory=dict)
    keys: Counter[str] = field(default_factory=Counter)


class PlainConversion:
    """Converts one file by the plain functions."""

    def __init__(self, file: RowFile, name: str, to: Format, output: str) -> None:
        self.file, self.name, self.to, self.output = file, name, to, output
        self.source = adapter_of(file.format)
        self.adapter = adapter_of(to)
        self.converted = Converted()
        # The keys of a dialect may be others than those of the format.
        named = self.source.named_by_dialect.get(file.dialect.name, self.source)
        self.losses = PlainLosses(SourceNames(named))
        #: The index of each row that was converted.
        self.convertible: list[int] = []
        self._refused: list[bytes] = []

    def convert(self, options: ConvertOptions) -> Converted:
        """Return what the conversion comes to; an error is a part of that."""
        try:
            self._convert(options)
        except Exception as error:  # noqa: BLE001 - whatever is raised must be raised
            self.converted = Converted(error=f"{type(error).__name__}: {error}")
            return self.converted
        losses = self.losses
        self.converted.losses = {
            "carried": dict(losses.carried),
            "records": +losses.records,
            "kept": +losses.kept,
            "outcomes": +losses.outcomes,
        }
        self.converted.counts = [
            (outcome, times, at_of(losses.places[outcome]))
            for outcome, times in losses.counts.items()
        ]
        if self._refused and options.on_invalid is OnInvalid.QUARANTINE:
            rows = b"".join(text + b"\n" for text in self._refused)
            self.converted.files[quarantine_of(self.output)] = rows
        return self.converted

    def _convert(self, options: ConvertOptions) -> None:
        scorer = score_filler(options)
        constants = constants_by_path(self.adapter, options.constants)
        mapper = RecordMapper(
            self.adapter, options.choices(constants), scorer, WrittenRowCheck(self.to)
        )
        mapper.owners = self.source.extra_owners
        mapper.not_kept = self.source.not_kept
        mapper.misfits = misfits_of(self.source)
        mapper.take_rows_of(self.source, joined=options.group is not None)
        self._requirements = row_requirements(
            self.file.format,
            self.source,
            self.to,
            self.adapter,
            constants,
            scored=scorer is not None,
        )
        target = _Target(self.to, options, mapper, constants, MODEL in self.output)
        self._models = ModelSelection(options.model)
        with suppress(_Stop):
            self._all_rows(target)
            self._finish(target)

    def _all_rows(self, target: _Target) -> None:
        options = target.options
        groups = RecordGroups(options.group) if options.group else None
        try:
            self._take_rows(target, groups)
        finally:
            if groups is not None:
                groups.close()

    def _take_rows(self, target: _Target, groups: RecordGroups | None) -> None:
        options = target.options
        read = 0
        for index, (row, given) in enumerate(records_of(self.file)):
            read += 1
            self._models.observe(given)
            place = self._context(row).place(0, 1, ())
            outcomes = FieldOutcomes()
            try:
                record = self._with_id(given, target, outcomes)
            except Unconvertible as error:
                self._reject(error, given, place, row.text, options)
                continue
            if groups is not None:
                groups.add(record, outcomes, 0, place)
            elif self._one(record, outcomes, place, row.text, read, target):
                self.convertible.append(index)
        if groups is not None:
            self._all_groups(groups, target)
        if read:
            self._models.check()

    def _all_groups(self, groups: RecordGroups, target: _Target) -> None:
        conflicts = list(groups.conflicts())
        for conflict in conflicts:
            self.converted.problems.append(
                ("L203", conflict.place, conflict.message, "")
            )
        if conflicts:
            raise _Stop
        for number, (record, outcomes, _, place) in enumerate(groups, 1):
            self._one(record, outcomes, place, encode(record), number, target)

    def _context(self, row: FileRow) -> RowContext:
        id_key = self.file.format.id_key
        return RowContext(self.name, row.text, row.start, row.number, row.value, id_key)

    def _with_id(
        self, record: Record, target: _Target, outcomes: FieldOutcomes
    ) -> Record:
        options = target.options
        if options.reference_from is ReferenceFrom.GT:
            record = with_gt_as_reference(record, outcomes)
        needs_id = self.adapter.carries("id") or options.group == "id"
        if options.ids is Ids.HASH and needs_id:
            record = with_hash_as_id(record, outcomes)
        if options.prefix_ids and record.id is not UNSET:
            prefix = f"{Path(self.name).name.partition('.')[0]}/"
            record = replace(record, id=f"{prefix}{record.id}")
            outcomes.changed("id", "with the name of its file in front")
        return record

    def _one(  # noqa: PLR0913, PLR0917 - a record with all that is known of it
        self,
        record: Record,
        outcomes: FieldOutcomes,
        place: Place,
        text: bytes,
        number: int,
        target: _Target,
    ) -> bool:
        """Add the rows of one record; tell whether it could be converted."""
        options = target.options
        if options.ids is Ids.NUMBER and self.adapter.carries("id"):
            record = with_number_as_id(record, number, outcomes)
        parts = [("", record)]
        if target.is_split:
            parts = list(split_by_model(record, outcomes, options.model))
        try:
            self._requirements.check(record)
            mapped = [(model, target.mapper.map(part, number)) for model, part in parts]
        except Unconvertible as error:
            self._reject(error, record, place, text, options)
            return False
        paths: list[str] = []
        for model, part in mapped:
            self._add(part.rows, model, target)
            outcomes.entries += part.outcomes
            paths += part.paths
        self.losses.add(paths, tuple(dict.fromkeys(outcomes.entries)), lambda: place)
        self._stop_at_loss(options)
        return True

    def _add(self, rows: list[Any], model: str, target: _Target) -> None:
        if target.is_split:
            model = model or str(target.constants.get("outputs.model", "")) or "model"
        paths = target.format.identity_paths
        if paths:
            reader = IdentityReader(paths, by_text=target.format.id_by_text)
            for row in rows:
                target.keys.update(f"{model}\n{k}" for k in reader.keys_of_value(row))
        target.rows.setdefault(model, []).extend(rows)

    def _stop_at_loss(self, options: ConvertOptions) -> None:
        if options.on_loss is OnLoss.FAIL and self.losses.has_loss:
            self.converted.failed_by_loss = True
            raise _Stop

    def _reject(
        self,
        error: Unconvertible,
        record: Record,
        place: Place,
        text: bytes,
        options: ConvertOptions,
    ) -> None:
        error = with_remedies(error, record, self.file.format, options)
        missing = ""
        if error.path.startswith("outputs"):
            missing = self._models.missing_in(record)
        help_ = SKIP_HELP if missing else error.help
        self.converted.skipped += 1
        problem = ("L201", place, missing or error.reason, help_)
        self.converted.problems.append(problem)
        if options.on_invalid is OnInvalid.FAIL:
            raise _Stop
        self._refused.append(text)

    def _finish(self, target: _Target) -> None:
        written = sum(map(len, target.rows.values()))
        if not written:
            return
        stand_in: Any = SimpleNamespace(adapter=self.adapter, target=self.to)
        losses: Any = SimpleNamespace(losses=self.losses)
        header = header_row(stand_in, [losses], [headers_of(self.file)])
        self._stop_at_loss(target.options)
        repeated = sum(times - 1 for times in target.keys.values())
        if repeated:
            ids = "1 id is that" if repeated == 1 else f"{repeated:,} ids are those"
            message = f"{ids} of several rows of the output"
            place = Place.at_start(self.name)
            self.converted.problems.append(("L202", place, message, ""))
            # A repeated id is reported before anything is put aside.
            self._refused.clear()
            return
        self.converted.is_written = True
        self.converted.rows = written
        names: set[str] = set()
        for model, rows in target.rows.items():
            usual = self.output.replace(MODEL, path_component(model, "model"))
            name = usual
            for number in count(2):
                if name.casefold() not in names:
                    break
                component = f"{path_component(model, 'model')}-{number}"
                name = self.output.replace(MODEL, component)
            names.add(name.casefold())
            self.converted.files[name] = written_file(
                self.to, rows, header, name, target.options
            )


def at_of(place: Place | None) -> tuple[Any, ...]:
    """Return the parts of the place of a loss that reports have."""
    if place is None:
        return ()
    at = place.path, place.line, place.column, place.byte_offset
    return (*at, place.record, place.record_id)


def quarantine_of(output: str) -> str:
    """Return the name of the file of rows that are put aside."""
    return f"{output.partition('.')[0].replace(MODEL, 'all')}.invalid.jsonl"


def records_of(file: RowFile) -> Iterator[tuple[FileRow, Record]]:
    """Yield each row of a file with its record."""
    adapter = adapter_of(file.format)
    normalize = adapter.dialect_normalizers.get(file.dialect.name)
    read = adapter.read
    if adapter.reader_in is not None:
        needed = adapter.needed_around
        read = adapter.reader_in(needed(file.around) if needed else file.around)
    for row in file.rows:
        value = row.value if normalize is None else normalize(row.value)
        bare, kept = split_extras(value, adapter)
        yield row, restore_extras(read(bare), kept)


def headers_of(file: RowFile) -> list[Header]:
    """Return the headers of a file: around its rows, or in them."""
    read = adapter_of(file.format).read_header
    if read is None:
        return []
    found = [read(file.around)]
    if file.dialect.container is Container.ROWS:
        held = [row.value.get("header") for row in file.rows]
        found = [read(header) for header in held if isinstance(header, dict)]
    headers: list[Header] = []
    for header in found:
        if header != Header() and header not in headers:
            headers.append(header)
    return headers


def written_file(
    target: Format, rows: Sequence[Any], header: Any, name: str, options: ConvertOptions
) -> bytes:
    """Return the bytes of a file of `target` with `rows`."""
    dialect, adapter = target.dialects[0], adapter_of(target)
    texts = [encode(row) for row in rows]
    if target.row_writer:
        written: list[bytes] = []
        writer = imported(target.row_writer)(written.append, "")
        writer.add([EncodedRows(len(rows), (b"\n".join(texts),))])
        writer.close(header)
        return b"".join(written)
    if dialect.container is Container.WRAPPED:
        rest = b"".join(
            b",\n" + encode(key) + b": " + encode(value)
            for key, value in header.items()
        )
        start = b"{" + encode(dialect.rows_at) + b": [\n"
        return start + b",\n".join(texts) + b"\n]" + rest + b"\n}\n"
    if dialect.container is Container.COLUMNS:
        return _columns(rows, header)
    if dialect.container is Container.TABLE:
        return _table(rows, target)
    if header and header_needs_rows(target):
        texts[0] = texts[0][:-1] + b',"header":' + encode(header) + b"}"
    is_array = name.endswith(".json")
    if not name.endswith((".json", ".jsonl")):
        is_array = adapter.written_as_array
    if options.container is not None:
        is_array = options.container is ContainerKind.ARRAY
    if is_array:
        return b"[\n" + b",\n".join(texts) + b"\n]\n"
    return b"\n".join(texts) + b"\n"


def _columns(rows: Sequence[Any], header: Any) -> bytes:
    by_component: dict[Any, list[Any]] = {}
    for row in rows:
        name = row.get(COMPONENT_KEY)
        is_named = isinstance(name, str)
        own = {k: v for k, v in row.items() if not is_named or k != COMPONENT_KEY}
        by_component.setdefault(name if is_named else None, []).append(own)
    is_named = any(name is not None for name in by_component)
    component = header.get("component", "component" if is_named else None)
    if component is None:
        return _arrays(by_component[None]) + b"\n"
    parts = [
        encode(component if name is None else name) + b": " + _arrays(own)
        for name, own in by_component.items()
    ]
    return b"{" + b",\n".join(parts) + b"}\n"


def _arrays(rows: Sequence[Any]) -> bytes:
    names = dict.fromkeys(key for row in rows for key in row)
    columns = [
        b"\n"
        + encode(name)
        + b": ["
        + b", ".join(encode(row.get(name)) for row in rows)
        + b"]"
        for name in names
    ]
    return b"{" + b",".join(columns) + b"\n}"


def _table(rows: Sequence[Any], target: Format) -> bytes:
    adapter = adapter_of(target)
    keys = dict.fromkeys(key for row in rows for key in row)
    present = {*keys, *adapter.required_columns}
    present |= {new for key, new in adapter.implied_columns.items() if key in keys}
    columns = [name for name in adapter.columns if name in present]
    columns += [key for key in keys if key not in adapter.columns]
    lines = [[*columns], *([row.get(name) for name in columns] for row in rows)]
    return b"".join(
        (
            ",".join(_cell(cell, adapter.blank_is_absent) for cell in line) or '""'
        ).encode()
        + b"\n"
        for line in lines
    )


def _cell(text: str | None, quotes_empty: bool) -> str:
    if text is None:
        return ""
    if text == "":
        return '""' if quotes_empty else ""
    if any(character in text for character in ',"\r\n\0'):
        return '"' + text.replace('"', '""') + '"'
    return text
