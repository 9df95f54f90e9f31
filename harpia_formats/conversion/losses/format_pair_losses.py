"""Find what each ordered pair of record formats loses, by converting specimens."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from msgspec import Struct

from harpia_formats.conversion.losses.conversion_report import (
    LOSSES,
    OTHER_KEYS,
    SourceNames,
)
from harpia_formats.conversion.losses.specimen_records import (
    FILLED,
    specimens_between,
    specimens_of,
)
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.record_program import (
    RecordOutcome,
    RecordProgram,
)
from harpia_formats.conversion.mapping.requirements import missing_fields
from harpia_formats.conversion.mapping.to_rows import MappedRecord, RecordMapper
from harpia_formats.formats.registry import (
    adapter_of,
    readable_formats,
    writable_formats,
)
from harpia_formats.model.adapter import FieldMapping, FormatAdapter
from harpia_formats.model.field_outcomes import FieldOutcome, Outcome, Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.record import Record, field_paths

#: What becomes of fields that do not arrive.
_gone = frozenset({Outcome.DROPPED, Outcome.NULL})


class PairLosses(Struct, frozen=True):
    """What is lost when records of one format are written in another."""

    source: str
    target: str
    #: Fields without a place in the target, by their names in the source.
    dropped: tuple[str, ...]
    #: The same fields as paths in a record.
    paths: tuple[str, ...]
    #: A short text for those in rows, and one for those in the header.
    summary: str
    header: str
    #: What is done to fields that are changed, or lost in part, by their names.
    changed: Mapping[str, tuple[str, ...]]
    #: Keys that the target requires and the source never has.
    needs: tuple[str, ...]
    #: A short text for them.
    needed: str
    #: Whether --keep-extra stores fields without a place.
    keeps_extra: bool

    @property
    def is_lossless(self) -> bool:
        """Whether every field of the source has its place in the target."""
        return not self.dropped and not self.changed


class Specimens(NamedTuple):
    """The records by which the losses of a source are found."""

    #: The names of their fields.
    names: SourceNames
    #: Each with its `field_paths`, one object for all records with the same.
    records: Sequence[tuple[Record, Mapping[str, bool]]]


def specimens_in(source: Format) -> Specimens:
    """Return the records of `source` by which its losses in all targets are found."""
    adapter = adapter_of(source)
    records = specimens_of(adapter)
    return Specimens(SourceNames(adapter), _with_paths(records, adapter))


def _with_paths(
    records: Iterable[Record], adapter: FormatAdapter
) -> list[tuple[Record, Mapping[str, bool]]]:
    """Return records with the paths of their fields, as a mapper of theirs has them."""
    owners = adapter.extra_owners
    known: dict[Hashable, Mapping[str, bool]] = {}
    found: list[tuple[Record, Mapping[str, bool]]] = []
    for record in records:
        nulls = field_paths(record, owners)
        found.append((record, known.setdefault((*nulls.items(),), nulls)))
    return found


def all_pairs() -> Iterator[PairLosses]:
    """Yield each ordered pair of a format that can be read and one to be written."""
    for source in readable_formats().values():
        specimens = specimens_in(source)
        for target in writable_formats().values():
            if source != target:
                yield losses_of_pair(source, target, specimens)


def losses_of_pair(
    source: Format, target: Format, specimens: Specimens | None = None
) -> PairLosses:
    """Return what records of `source` lose as rows of `target`.

    `specimens` are those of `source` if they are known.
    """
    ours, theirs = adapter_of(source), adapter_of(target)
    names, known = specimens or specimens_in(source)
    found = FieldLosses(names)
    program = RecordProgram(mapper_for(ours, theirs))
    between = _with_paths(specimens_between(ours, theirs), ours)
    record_outcomes: dict[RecordOutcome, None] = {}
    for record, nulls in (*known, *between):
        # What a constant cannot give, such as a question in a conversation.
        with suppress(Unconvertible):
            found_nulls = [nulls].__getitem__
            _, record_outcome = program.map_needed(record, 0, id(nulls), found_nulls)
            record_outcomes[record_outcome] = None
    for record_outcome in record_outcomes:
        found.add(record_outcome)
    dropped = found.dropped()
    header = _lost_header(ours, theirs)
    needs = {field.name: field for field in _needed(ours, theirs)}
    return PairLosses(
        source=source.id,
        target=target.id,
        dropped=(*dropped, *header),
        paths=(*dropped.values(), *header),
        summary=_summary(tuple(found.paths), dropped),
        header=", ".join(_grouped(_header_names(ours), header)),
        changed=found.changed(),
        needs=tuple(needs),
        needed=", ".join(_grouped([field.name for field in theirs.fields], needs)),
        keeps_extra=theirs.extras_path is not None,
    )


def mapper_for(source: FormatAdapter, target: FormatAdapter) -> RecordMapper:
    """Return what maps records of `source` with all else that `target` needs."""
    choices = Choices(constants=FILLED)
    return RecordMapper(
        target, choices, owners=source.extra_owners, not_kept=source.not_kept
    )


class FieldLosses:
    """What became of the fields of some records, by the names of their source.

    What is added has the paths of fields. They get their names once all is added, since
    many records have the same ones.
    """

    def __init__(self, names: SourceNames) -> None:
        self._name_of = names.of_any_key
        #: The paths of the fields that a record had, in their order.
        self._paths: dict[str, None] = {}
        #: The paths of fields that arrived, maybe changed, of some record.
        self._arrived: set[str] = set()
        #: What was done to fields, in the order in which it was found.
        self._outcomes: dict[FieldOutcome, None] = {}

    def add(self, mapped: MappedRecord | RecordOutcome) -> None:
        """Add what became of the fields of one record, or of several alike."""
        self._outcomes.update(dict.fromkeys(mapped.outcomes))
        self._paths.update(dict.fromkeys(mapped.paths))
        gone = {path for outcome, path, _ in mapped.outcomes if outcome in _gone}
        self._arrived.update(set(mapped.paths) - gone)

    @property
    def paths(self) -> dict[str, str]:
        """The path of each field that a record had, by its name."""
        found: dict[str, str] = {}
        for path in self._paths:
            found.setdefault(self._name_of(path), path)
        return found

    @property
    def arrived(self) -> set[str]:
        """The names of fields that arrived, maybe changed, of some record."""
        return {*map(self._name_of, self._arrived)}

    @property
    def losses(self) -> dict[str, dict[FieldOutcome, None]]:
        """What was done to each field, by its name, but for nulls and defaults."""
        found: dict[str, dict[FieldOutcome, None]] = {}
        for outcome, path, how in self._outcomes:
            if outcome in LOSSES or outcome is Outcome.SPLIT:
                losses = found.setdefault(self._name_of(path), {})
                losses[FieldOutcome(outcome, "", how)] = None
        return found

    def dropped(self) -> dict[str, str]:
        """Return the names of fields that never arrive, and their paths."""
        arrived, losses = self.arrived, self.losses
        return {
            name: path
            for name, path in self.paths.items()
            if name not in arrived and name in losses
        }

    def changed(self) -> dict[str, tuple[str, ...]]:
        """Return what is done to each other field with a loss, by its name."""
        dropped = self.dropped()
        return {
            name: tuple(dict.fromkeys(map(_words_for, outcomes)))
            for name, outcomes in self.losses.items()
            if name not in dropped
        }


def _words_for(outcome: FieldOutcome) -> str:
    """Return what is done to a field, in a few words."""
    if outcome.outcome is Outcome.DROPPED:
        return f"dropped ({outcome.how})" if outcome.how else "dropped in part"
    return outcome.how or outcome.outcome.name.lower()


def _header_names(adapter: FormatAdapter) -> list[str]:
    return [f"header.{path.partition('.')[0]}" for path in adapter.header_fields]


def _lost_header(source: FormatAdapter, target: FormatAdapter) -> list[str]:
    """Return the names of the parts of a header that the target has no place for."""
    held = {path.partition(".")[0] for path in target.header_fields}
    own = f"extra.{source.vendor}"
    if own not in target.header_fields and "extra" not in target.header_fields:
        held -= {"extra"}
    if "extra" in source.header_fields and "extra" not in target.header_fields:
        held -= {"extra"}
    return [name for name in _header_names(source) if name[7:] not in held]


def _needed(ours: FormatAdapter, theirs: FormatAdapter) -> Iterator[FieldMapping]:
    """Yield the fields that the user has to give before a conversion is possible."""
    for mapping in theirs.fields:
        if not mapping.required:
            continue
        fields = tuple(each for each in theirs.fields if each.path == mapping.path)
        if missing_fields(ours, replace(theirs, fields=fields), (), scored=False):
            yield mapping


def _summary(names: Sequence[str], dropped: Collection[str]) -> str:
    """Return a short text for the names in `dropped`: a list, or all but the rest."""
    if not dropped:
        return ""
    kept = [name for name in names if name not in dropped]
    named = ", ".join(_grouped(names, dropped))
    others = f"all but {', '.join(_grouped(names, kept))}"
    return others if kept and len(others) < len(named) else named


def _grouped(names: Iterable[str], listed: Collection[str]) -> Iterator[str]:
    """Yield the names in `listed`, with one word for all of `names` below one key."""
    groups: dict[str, list[str]] = {}
    for name in names:
        key = name.removeprefix(f"{OTHER_KEYS} of ").split(".")[0]
        groups.setdefault(key, []).append(name)
    for key, group in groups.items():
        found = [name for name in dict.fromkeys(group) if name in listed]
        if len(found) > 1 and len(found) == len(set(group)):
            yield key if key in group else f"{key}.*"
        else:
            yield from found


def line_of(pair: PairLosses) -> str:
    """Return what a pair loses as one line of text."""
    parts = []
    if pair.summary:
        kept = " (not with `--keep-extra`)" if pair.keeps_extra else ""
        parts.append(f"drops {pair.summary}{kept}")
    if pair.header:
        parts.append(f"drops {pair.header}")
    parts += _changes_of(pair)
    if not parts:
        parts.append("no field")
    if pair.needs:
        parts.append(f"needs {pair.needed}")
    return "; ".join(parts)


def _changes_of(pair: PairLosses) -> list[str]:
    """Return each field that is changed, with what is done to it."""
    return [f"{name}: {', '.join(words)}" for name, words in pair.changed.items()]


def pair_as_dict(pair: PairLosses) -> dict[str, Any]:
    """Return a pair as a JSON object."""
    return {
        "source": pair.source,
        "target": pair.target,
        "dropped": list(pair.dropped),
        "dropped_paths": list(pair.paths),
        "changed": _changes_of(pair),
        "needs": list(pair.needs),
        "keeps_extra": pair.keeps_extra,
    }
