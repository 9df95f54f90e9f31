"""The report of a conversion: what became of each field, counted over all records.

A field is named by the keys that it has in the rows of its source.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from harpia_formats.conversion.reading.mapped_keys import REPLACED
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.describe import with_noun
from harpia_formats.model.field_outcomes import FieldOutcome, Outcome
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Path as Keys
from harpia_formats.model.problem import Place, pointer_of
from harpia_formats.model.report import FileCount, Report, validation_failed
from harpia_formats.model.result import Result, as_plain
from harpia_formats.validation.local import StopReading
from harpia_formats.validation.redaction.shown_words import SchemaWords

if TYPE_CHECKING:  # most files are not unpacked
    from harpia_formats.files.io.unpacked_text import TextPlaces


#: Stands for the last key of the members that are not counted one by one.
REST = "*"
#: Its words in the name of a field.
OTHER_KEYS = "other keys"
#: Names that are remembered, since members of open objects can have any names.
MAX_CACHED = 10_000
#: Lists of a record that are lost as a whole, and a field of their items.
_wholes = {"outputs": "outputs.text", "outputs.scores": "outputs.scores.value"}
#: Fields that are made of each other where a format has one of them.
_same_chat = {"messages": "outputs.turns", "outputs.turns": "messages"}


class SourceNames:
    """The names of fields in the rows of one format, by their paths in records.

    Without an adapter, the names are the paths in records.
    """

    def __init__(self, adapter: FormatAdapter | None = None) -> None:
        #: The name and the keys of each field that a row has a place for.
        self._fields: dict[str, tuple[str, Keys]] = {}
        #: The keys of all fields, of those that share a path in records the first.
        self._keys: set[Keys] = set()
        #: The keys of the object in rows that each open object of a record is.
        self._open: dict[str, Keys] = {}
        #: The owners of keys of the vendor, whose inner keys have names of their own.
        self._owners: frozenset[str] = frozenset()
        #: The names of mapped fields, by the paths in rows from which they are read.
        self.mapped: dict[str, str] = {}
        #: The names that `of` returned, by their paths: each file asks for the same.
        self._of: dict[str, str] = {}
        #: The names that `of_any_key` returned, by their paths.
        self._of_any_key: dict[str, str] = {}
        if adapter is None:
            return
        self._fields = _fields_of(adapter)
        self._keys = {
            mapping.path
            for mapping in adapter.fields
            if self._fields[mapping.record_path][1] == mapping.path
        }
        self._open = {
            path: self._fields[path][1]
            for path in ("params", "metadata")
            if path in self._fields
        }
        if "extra" not in adapter.other_paths:
            # Else rows have the extra fields of records as such.
            self._open[f"extra.{adapter.vendor}"] = ()
            if "outputs.extra" not in self._fields:
                self._open[f"outputs.extra.{adapter.vendor}"] = adapter.answer_path
        self._owners = adapter.extra_owners

    def map_fields(self, columns: Mapping[str, str], replaced: str) -> None:
        """Name fields by the paths in rows from which they are read instead.

        `columns` has these by the paths in records. The own values of these fields are
        the members of `replaced` in `extra`.
        """
        fields = dict(self._fields)
        for path, column in columns.items():
            owner, _, name = path.rpartition(".")
            own = ".".join(filter(None, (owner, "extra", replaced, name)))
            if path in self._fields:
                fields[own] = self._fields[path]
            self.mapped[column] = f"{column} ({path})"
            fields[path] = self.mapped[column], tuple(column.split("."))
        self._fields = fields

    def of(self, path: str) -> str:
        """Return the name of the field at `path`."""
        name = self._of.get(path)
        if name is None:
            if len(self._of) >= MAX_CACHED:
                self._of.clear()
            name = self._of[path] = self._name_of(path)
        return name

    def _name_of(self, path: str) -> str:
        known = self._fields.get(path)
        if known is not None:
            return known[0]
        keys = self._keys_in(path)
        if keys is None:
            return path
        name = ".".join(str(key) for key in keys if key != REST)
        if keys[-1:] != (REST,):
            return name
        return f"{OTHER_KEYS} of {name}" if name else OTHER_KEYS

    def shown(self, path: str, words: SchemaWords) -> str:
        """Return the name of the field at `path`, `*` for keys that are no `words`."""
        if path in self._fields:
            return self.of(path)
        keys = self._keys_in(path)
        if keys is None:
            return words.field(path)
        name = ".".join(words.field(str(key)) for key in keys if key != REST)
        if keys[-1:] != (REST,):
            return name
        return f"{OTHER_KEYS} of {name}" if name else OTHER_KEYS

    def of_any_key(self, path: str) -> str:
        """Return the name of the field at `path`, the same for all unknown keys."""
        name = self._of_any_key.get(path)
        if name is None:
            name = self._of_any_key[path] = self._name_of_any_key(path)
        return name

    def _name_of_any_key(self, path: str) -> str:
        if path in self._fields:
            return self.of(path)
        for start in self._open:
            if path.startswith(f"{start}."):
                if start in self._fields:
                    return self.of(start)
                *owners, key = self._split(start, path.removeprefix(f"{start}."))
                keys = (*self._open[start], *owners, key)
                if keys in self._keys or path in self._owners:
                    return self.of(path)
                return self.of(".".join((start, *owners, REST)))
        for start in ("extra", "outputs.extra"):
            if path.startswith(f"{start}.") and start in self._fields:
                return self.of(start)
        return self.of(path)

    def pointer_of(self, path: str) -> str:
        """Return the JSON pointer in a row to the field at `path`.

        It is the pointer in the record if rows have no such field.
        """
        known = self._fields.get(path)
        if known is not None:
            return pointer_of(known[1])
        keys = self._keys_in(path)
        if keys is None:
            return pointer_of(tuple(path.split(".")))
        return pointer_of(keys[:-1] if keys[-1:] == (REST,) else keys)

    def _keys_in(self, path: str) -> Keys | None:
        """Return the keys in a row of a member of an open object, None for others."""
        if path in {f"extra.{REST}", f"outputs.extra.{REST}"}:
            return (REST,)
        for start, keys in self._open.items():
            if path.startswith(f"{start}."):
                return (*keys, *self._split(start, path.removeprefix(f"{start}.")))
        owner, _, member = path.rpartition(".")
        if owner in self._fields and owner not in _wholes:
            return (*self._fields[owner][1], member)
        return None

    def _split(self, start: str, rest: str) -> Iterable[str]:
        """Yield the keys of the path `rest` below `start`; a key may have dots."""
        while True:
            key, dot, inner = rest.partition(".")
            if not dot or f"{start}.{key}" not in self._owners:
                yield rest
                return
            yield key
            start, rest = f"{start}.{key}", inner


def _fields_of(adapter: FormatAdapter) -> dict[str, tuple[str, Keys]]:
    """Return the name and the keys of each field that a row has a place for."""
    places: dict[str, tuple[str, Keys]] = {}
    for mapping in adapter.fields:
        place = mapping.name, mapping.path
        places.setdefault(mapping.record_path, place)
        if mapping.key_record_path:
            places.setdefault(mapping.key_record_path, place)
    shared = Counter(name for name, _ in places.values())
    found = {
        path: (f"{name} ({path})" if shared[name] > 1 else name, keys)
        for path, (name, keys) in places.items()
    }
    # Several answers or scores are lost as a whole; their key is that of the texts.
    for path, inner in _wholes.items():
        if inner in found:
            _, keys = found[inner]
            whole = (path == "outputs" and adapter.answer_path) or keys[:-1] or keys
            found.setdefault(path, (".".join(map(str, whole)), whole))
    for path, other in _same_chat.items():
        if other in found:
            found.setdefault(path, found[other])
    for key, value in adapter.extra_examples.items():
        for keys in _keys_below(key, value):
            path = f"extra.{adapter.vendor}.{'.'.join(keys)}"
            found[path] = ".".join(keys), keys
    for path, name in adapter.other_names.items():
        found[path] = name, tuple(name.partition(" (")[0].split("."))
    return found


def _keys_below(key: str, value: Any) -> Iterator[tuple[str, ...]]:
    """Yield the keys of each value in an object, or `key` for another value."""
    if not isinstance(value, dict):
        yield (key,)
        return
    for inner, member in value.items():
        for keys in _keys_below(inner, member):
            yield (key, *keys)


#: Members of open objects that are counted one by one; further ones share a path.
MAX_MEMBERS = 200
#: Pairs of paths and outcomes that are counted before they are added up.
MAX_PENDING = 200
_member_prefixes = ("params.", "metadata.", "extra.", "outputs.extra.")


class OutcomeCount(Struct):
    """Of how many records one outcome met one field, and the place of the first."""

    field_outcome: FieldOutcome
    count: int = 0
    place: Place | None = None


@dataclass(slots=True)
class OutcomeCounts:
    """How many records had each field, and how often which outcome met it."""

    #: The names of fields in the rows of the file.
    names: SourceNames = field(default_factory=SourceNames, compare=False)
    #: Where the text of the file stands in its members, if it was unpacked.
    places: "TextPlaces | None" = field(default=None, compare=False, repr=False)
    #: Records that had a field, by its path.
    carried: dict[str, int] = field(default_factory=dict)
    #: Records that had a field, and those of which it arrived unchanged, by its name;
    #: several paths can have one name.
    records: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    #: How often each outcome met a field, by path and detail.
    counts: dict[FieldOutcome, OutcomeCount] = field(default_factory=dict)
    #: Records of which an outcome met a field, by its name, whatever the detail.
    outcomes: Counter[tuple[Outcome, str]] = field(default_factory=Counter)
    #: Records with the same paths and outcomes, which are not added up yet.
    _pending: dict[tuple[Any, Any], int] = field(default_factory=dict)
    _members: int = 0

    def add(
        self,
        paths: tuple[str, ...],
        outcomes: tuple[FieldOutcome, ...],
        place: Callable[[], Place | None],
        times: int = 1,
    ) -> None:
        """Count `times` records that had fields at `paths`, with the known `outcomes`.

        `place` returns where the first of them is; it is called only if needed.
        """
        pair = (paths, outcomes)
        if pair in self._pending:
            self._pending[pair] += times
            return
        if len(self._pending) >= MAX_PENDING:
            self._add_up()
        self._pending[pair] = times
        for field_outcome in outcomes:
            self._count_of(field_outcome, place)

    def up_to_date(self) -> "OutcomeCounts":
        """Return itself with every count up to date."""
        self._add_up()
        return self

    def _add_up(self) -> None:
        for (paths, outcomes), times in self._pending.items():
            had: dict[str, None] = {}
            for path in dict.fromkeys(paths):
                counted = self._counted_path(path)
                self.carried[counted] = self.carried.get(counted, 0) + times
                had[self.names.of(counted)] = None
            # A record may have several of the members that share a path.
            counts = [self._count_of(one, lambda: None) for one in outcomes]
            met = set()
            for count in {id(count): count for count in counts}.values():
                count.count += times
                outcome, path, _ = count.field_outcome
                met.add((outcome, self.names.of(path)))
            for outcome_and_name in met:
                self.outcomes[outcome_and_name] += times
            touched = {
                name for outcome, name in met if outcome is not Outcome.DEFAULTED
            }
            # What is lost was there, even if only parts of it have paths.
            for name in had.keys() | touched:
                self.records[name] += times
                self.kept[name] += 0 if name in touched else times
        self._pending.clear()

    def _count_of(
        self, field_outcome: FieldOutcome, place: Callable[[], Place | None]
    ) -> OutcomeCount:
        path = self._counted_path(field_outcome.path)
        if path != field_outcome.path:
            field_outcome = FieldOutcome(field_outcome.outcome, path, field_outcome.how)
        count = self.counts.get(field_outcome)
        if count is None:
            found = place()
            if found is not None and self.places is not None:
                found = self.places.of_place(found)
            count = self.counts[field_outcome] = OutcomeCount(
                field_outcome, place=found
            )
        return count

    def _counted_path(self, path: str) -> str:
        """Return `path`, or the shared path of all members if there are too many."""
        if path in self.carried or not path.startswith(_member_prefixes):
            return path
        if self._members >= MAX_MEMBERS:
            prefix = next(start for start in _member_prefixes if path.startswith(start))
            return f"{prefix}{REST}"
        self._members += 1
        self.carried[path] = 0
        return path


#: The outcomes that lose something.
LOSSES = frozenset({Outcome.DROPPED, Outcome.CHANGED, Outcome.MERGED})


class StopConversion(StopReading):
    """No more input is to be read: the conversion cannot succeed any more."""

    def __init__(self, place: Place | None = None) -> None:
        """Take the place of the record that is why; None if it is no single one."""
        super().__init__()
        #: Where it is in the text that was read, also of a file that was unpacked.
        self.place = place
        self.record = None if place is None else place.record


_NOTHING = "nothing was written"


@dataclass(slots=True)
class FileLosses:
    """The losses of one input file."""

    path: str
    source: Format | None = None
    losses: OutcomeCounts = field(default_factory=OutcomeCounts)

    @property
    def has_loss(self) -> bool:
        """Whether a field of some record was dropped, changed or merged."""
        return any(
            field_outcome.outcome in LOSSES for field_outcome in self.losses.counts
        )

    @property
    def lost_fields(self) -> Iterator[str]:
        """The names of the fields that were dropped, changed or merged."""
        names = self.losses.names
        return (
            names.of(outcome.path)
            for outcome in self.losses.counts
            if outcome.outcome in LOSSES
        )


@dataclass(frozen=True, slots=True, repr=False)
class ConversionReport(Result):
    """The outcome of a conversion: what was written, and what was lost."""

    columns: ClassVar = tuple("path field fate how records line column".split())

    #: The validation of the inputs.
    report: Report
    #: The id of the format that was written.
    target: str
    #: The names of the files that were written, and the number of rows in them.
    outputs: tuple[str, ...]
    rows: int
    #: Records that were left out because they are invalid or cannot be converted.
    skipped: int
    losses: tuple[FileLosses, ...]
    #: Whether the output was written.
    written: bool
    #: Whether `on_loss="fail"` stopped the conversion.
    failed_by_loss: bool = False
    #: Whether the output is a stream, or a pipe by name, with only a part of the rows.
    is_cut: bool = False
    #: The names of the files with the rows that were put aside, and their findings.
    quarantine: tuple[str, ...] = ()
    #: What the user should know of the output files, such as names that were changed.
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every input was read and the output was written.

        That is not so if a record has no verdict, records may be missing, or a whole
        file has an error: no option leaves these out.
        """
        return self.written and self.report.ok_without_rows

    def raise_for_errors(self) -> None:
        """Raise `ValidationFailed`, with this report as its result, unless it is `ok`.

        A conversion is `ok` that left invalid records out as its options ask.
        """
        if self.ok:
            return
        reason = ""
        if self.failed_by_loss:
            fields = chain.from_iterable(file.lost_fields for file in self.losses)
            lost = dict.fromkeys(fields)
            reason = f"{self.nothing}, because it would lose {', '.join(lost)}"
        elif self.is_empty:
            reason = f"{self.nothing}, because there is no record in the input"
        raise validation_failed(self.report, self, reason)

    @property
    def is_empty(self) -> bool:
        """Whether the input is valid and has no record, so that there is no output."""
        records = sum(file.records for file in self.report.files)
        return self.report.ok and not records and not self.written

    @property
    def nothing(self) -> str:
        """What a conversion that failed has left behind."""
        names = ", ".join(self.outputs)
        return f"the output in {names} is not complete" if self.is_cut else _NOTHING

    def headline(self) -> str:
        """Return what was written in one line."""
        if not self.written:
            names = " and ".join(self.quarantine)
            what = f"no row was written, only {names}" if names else self.nothing
            return f"{what}, {with_noun(self.skipped, 'record')} left out"
        names = ", ".join(self.outputs)
        lost = "lossless" if self.lossless else "with losses"
        rows = f"{with_noun(self.rows, 'row')} of {self.target}, {lost}"
        skipped = f", {with_noun(self.skipped, 'record')} left out"
        return f"{names}: {rows}{skipped if self.skipped else ''}"

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each outcome of a field in a file, with its first place.

        A field that arrived unchanged in all records has no row.
        """
        return [
            {
                "path": file.path,
                "field": file.losses.names.of(loss.field_outcome.path),
                "fate": loss.field_outcome.outcome.name.lower(),
                "how": loss.field_outcome.how,
                "records": loss.count,
                "line": loss.place and loss.place.line,
                "column": loss.place and loss.place.column,
            }
            for file in self.losses
            for loss in file.losses.counts.values()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data that can be written as JSON."""
        kept = "target outputs written skipped failed_by_loss quarantine notes lossless"
        return {
            "ok": self.ok,
            **{name: as_plain(getattr(self, name)) for name in kept.split()},
            "rows": self.rows,
            "losses": self.table(),
            "report": self.report.to_dict(),
        }

    @property
    def lossless(self) -> bool:
        """Whether no file had a loss."""
        return not any(file.has_loss for file in self.losses)


def _names_of(variant: FormatVariant, columns: Mapping[str, str] | None) -> SourceNames:
    """Return the names of fields in a file, some of which may be mapped."""
    adapter = adapter_of(variant.format)
    names = SourceNames(adapter.named_by_dialect.get(variant.dialect.name, adapter))
    if columns is not None:
        names.map_fields(columns, REPLACED)
    return names


class ConversionTotals:
    """The counts and losses of the files read so far; the last is being read."""

    def __init__(self, *, loss_fails: bool) -> None:
        self._loss_fails = loss_fails
        #: Whether a loss made the conversion fail.
        self.failed_by_loss = False
        self.files: list[FileLosses] = []
        self.counts: list[FileCount] = []
        self.variants: list[FormatVariant] = []
        #: Records that were converted, and those that were left out.
        self.records = self.skipped = 0
        #: What `--prefix-ids` puts in front of the ids of the current file.
        self.prefix = ""
        #: The names in front of ids so far, with the last number behind each.
        self._names_in_ids: dict[str, int] = {}
        #: The names of fields in each kind of file: there may be many files of a kind.
        self._names: dict[str, SourceNames] = {}

    def begin(
        self,
        variant: FormatVariant,
        count: FileCount,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        """Go on to the next file, which is read from `columns` by paths in records."""
        names = self._names.get(variant.name)
        if names is None:
            names = self._names[variant.name] = _names_of(variant, columns)
        self.files.append(FileLosses(count.path, variant.format, OutcomeCounts(names)))
        self.counts.append(count)
        self.variants.append(variant)
        self.prefix = f"{self._new_name(Path(count.path).name.split('.')[0])}/"

    def _new_name(self, stem: str) -> str:
        """Return the stem, with a number if it stands in front of ids already."""
        name, numbers = stem, self._names_in_ids
        while name in numbers:
            numbers[stem] += 1
            name = f"{stem}-{numbers[stem]}"
        numbers[name] = 1
        return name

    @property
    def losses(self) -> OutcomeCounts:
        """The losses of the current file."""
        return self.files[-1].losses

    @property
    def current(self) -> int:
        """The index of the current file."""
        return len(self.files) - 1

    def check_loss(self) -> bool:
        """Tell, and remember, whether a loss makes the conversion fail."""
        if self._loss_fails and any(file.has_loss for file in self.files):
            self.failed_by_loss = True
        return self.failed_by_loss

    def is_failed_by(self, outcomes: Iterable[FieldOutcome]) -> bool:
        """Tell whether what became of fields makes the conversion fail."""
        return self._loss_fails and any(one.outcome in LOSSES for one in outcomes)

    def stop_at_loss(
        self, outcomes: Iterable[FieldOutcome], place: Callable[[], Place]
    ) -> None:
        """Raise `StopConversion` if the `outcomes` of a record make it fail.

        `place` returns where the record is.
        """
        if self.is_failed_by(outcomes):
            self.failed_by_loss = True
            raise StopConversion(place())


#: What the paths of members of open objects begin with, which are no fields.
_open_prefixes = ("metadata.", "extra.", "outputs.extra.")


@dataclass(slots=True)
class FieldLine:
    """What became of one field over all files."""

    #: Its name in the source format.
    name: str
    #: Whether it is a key of an open object, and no field of a record.
    is_open_key: bool = False
    #: Records that had it.
    records: int = 0
    #: Records of which it arrived unchanged.
    kept: int = 0
    #: How often each outcome met it.
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    #: How often each outcome met it in each way, whose description may be "".
    hows: Counter[tuple[Outcome, str]] = field(default_factory=Counter)
    #: The first record of which it did not arrive unchanged.
    place: Place | None = None

    @property
    def how(self) -> str:
        """The descriptions of all ways in which it was changed.

        One has its number where the same outcome met the field without a description.
        """
        bare = {outcome for outcome, how in self.hows if not how}
        return "; ".join(
            dict.fromkeys(
                f"{how} ({count:,})" if outcome in bare else how
                for (outcome, how), count in self.hows.items()
                if how
            )
        )


def field_lines(files: Sequence[FileLosses]) -> list[FieldLine]:
    """Return a line for each field, in the order in which records have them.

    Keys of open objects, such as `metadata`, follow the fields. There is none for a key
    whose value arrives as the field that is mapped to it.
    """
    lines: dict[str, FieldLine] = {}
    mapped: dict[str, str] = {}
    for file in files:
        losses = file.losses
        mapped |= losses.names.mapped
        outcomes = (
            outcome_count.field_outcome.path for outcome_count in losses.counts.values()
        )
        for path in (*losses.carried, *outcomes):
            name = losses.names.of(path)
            is_open_key = path.startswith(_open_prefixes)
            lines.setdefault(name, FieldLine(name, is_open_key=is_open_key))
        for name, count in losses.records.items():
            lines[name].records += count
            lines[name].kept += losses.kept[name]
        for loss in losses.counts.values():
            line = lines[losses.names.of(loss.field_outcome.path)]
            line.place = line.place or loss.place
            met = loss.field_outcome
            line.hows[met.outcome, met.how] += loss.count
        for (outcome, name), count in losses.outcomes.items():
            lines[name].outcomes[outcome] += count
    for key, name in mapped.items():
        if name in lines and not lines[name].outcomes:
            lines.pop(key, None)
    found = [line for line in lines.values() if line.records or line.outcomes]
    return sorted(found, key=lambda line: line.is_open_key)


def words_for(line: FieldLine) -> Iterator[str]:
    """Yield how often each outcome met a field, such as `dropped 12`."""
    for outcome in Outcome:
        if line.outcomes[outcome]:
            yield f"{outcome.name.lower()} {line.outcomes[outcome]:,}"
