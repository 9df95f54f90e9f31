"""Find the records that do not agree with an earlier record of their file."""

from array import array
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import (
    DocumentFrames,
    NumberedRecord,
    numbered_records,
)
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import (
    AcrossRows,
    Agreement,
    Disagreement,
    SameMistake,
)
from harpia_formats.validation.dedup.digests import Digests, digest_of
from harpia_formats.validation.dedup.repeated_digests import (
    PairDigests,
    RepeatedDigests,
    WholeTexts,
    repeated_digest_batches,
)
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.merge.file_merge import FileMerge
from harpia_formats.validation.unit.across_values import (
    MOST_KEYS,
    AcrossReader,
    C,
    Compared,
    RoughReader,
    TextReader,
    depth_of,
    has_place,
    is_reported,
    place_of,
    plain_value,
    short_text,
    short_whole_text,
    start_of,
)
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.findings import RecordSet
from harpia_formats.validation.unit.row_validator import RowValidator

if TYPE_CHECKING:  # only for tables: start-up time
    from harpia_formats.files.parsing.csv_blocks import TablePiece, TableRow


class PlacedRow(Protocol):
    """A row with its number and its place in the file."""

    @property
    def number(self) -> int:
        """The number of its record, from 1."""

    @property
    def start(self) -> Cursor:
        """Where in the file it begins."""

    @property
    def value(self) -> Any:
        """The decoded row, None if it is not JSON."""

    def compared(self, reader: AcrossReader[C]) -> C | None:
        """Return what a rule across rows compares of it."""

    def context(self, value: Any) -> RowContext:
        """Return what places problems in the row, which decoded is `value`."""


class _JsonRow(msgspec.Struct, frozen=True):
    name: str
    id_key: str
    record: NumberedRecord
    #: The row as the typed decoder reads it, and that decoder, if it accepts the row.
    typed: Any = None
    decoder: TypedDecoder | None = None

    @property
    def number(self) -> int:
        return self.record.number

    @property
    def start(self) -> Cursor:
        return self.record.start

    @property
    def value(self) -> Any:
        return self.record.value()

    def compared(self, reader: AcrossReader[C]) -> C | None:
        if self.decoder is not None:
            found = reader.of_typed((self.typed,), self.decoder)
            if found is not None:
                return found[0] if found else None
        return reader.of_value(self.value)

    def context(self, value: Any) -> RowContext:
        text, number = self.record.text, self.number
        return RowContext(self.name, text, self.start, number, value, self.id_key)


class _TableRow(msgspec.Struct, frozen=True):
    name: str
    columns: tuple[str, ...]
    number: int
    row: "TableRow"

    @property
    def start(self) -> Cursor:
        return self.row.start

    @property
    def value(self) -> Any:
        if len(self.row.fields) != len(self.columns):
            return None
        texts = [cell.text for cell in self.row.fields]
        return dict(zip(self.columns, texts, strict=True))

    def compared(self, reader: AcrossReader[C]) -> C | None:
        return reader.of_value(self.value)

    def context(self, value: Any) -> RowContext:
        row = self.row
        spans = {
            name: (cell.start, cell.end)
            for name, cell in zip(self.columns, row.fields, strict=True)
        }
        return RowContext(
            self.name, row.data, row.start, self.number, value, spans=spans
        )


def json_rows(
    frames: DocumentFrames, name: str, id_key: str, validator: RowValidator
) -> Iterator[Sequence[PlacedRow]]:
    """Yield the records in the `frames` of the file called `name`, by chunk.

    They are typed where `validator` accepts all of a chunk at once.
    """
    number = 0
    for frame in frames:
        if isinstance(frame, FramingFault):
            number += frame.record
        if not isinstance(frame, Chunk):
            continue
        typed = validator.accepted(frame)
        if typed is not None:
            yield [
                _JsonRow(
                    name,
                    id_key,
                    NumberedRecord(number + row + 1, frame, row),
                    value,
                    validator.decoder,
                )
                for row, value in enumerate(typed)
            ]
            number += len(typed)
            continue
        records = list(numbered_records((frame,), number))
        number += len(records)
        yield [_JsonRow(name, id_key, record) for record in records]


def table_rows(
    pieces: "Iterable[TablePiece]", name: str
) -> Iterator[Sequence[PlacedRow]]:
    """Yield the records in the pieces of the table called `name`, one at a time."""
    from harpia_formats.files.parsing.csv_blocks import TableFault, TableRow  # noqa: PLC0415 - only for tables: start-up time

    columns: tuple[str, ...] = ()
    number = 0
    for piece in pieces:
        if isinstance(piece, TableFault):
            if piece.record and not columns:
                return
            number += piece.record
        elif isinstance(piece, TableRow):
            if not columns:
                columns = tuple(cell.text for cell in piece.fields)
                continue
            number += 1
            yield (_TableRow(name, columns, number, piece),)


def _compared(rows: Sequence[PlacedRow], reader: AcrossReader[C]) -> Sequence[C | None]:
    """Return what a rule compares of the rows of a chunk: all at once if typed."""
    first = rows[0] if rows else None
    if isinstance(first, _JsonRow) and first.decoder is not None:
        typed = [row.typed for row in rows if isinstance(row, _JsonRow)]
        found = reader.of_typed(typed, first.decoder)
        if found is not None:
            return found or [None] * len(rows)
    return [row.compared(reader) for row in rows]


#: Keys of each rule of which the first record is remembered; of further ones only the
#: digest of its value.
NAMED = 20_000
#: Characters of a text that are kept of the first record.
KEPT = 200


class AcrossDigests(msgspec.Struct, frozen=True):
    """What the rules across the rows of a file compare, of all of its records."""

    rules: tuple[AcrossRows, ...]
    #: The digests of each rule.
    stores: tuple[Digests | PairDigests, ...]
    #: Rules that one mistake breaks.
    same: tuple[SameMistake, ...] = ()

    def add(self, digests: "Sequence[array[int]]") -> None:
        """Add the digests of some records. Raises `SourceError` if that fails."""
        for store, found in zip(self.stores, digests, strict=False):
            if found:
                store.add_digests(found)

    def close(self) -> None:
        """Delete what was stored."""
        for store in self.stores:
            store.close()

    def report(
        self,
        merge: FileMerge,
        collector: Collector,
        rows: Callable[[], Iterator[Sequence[PlacedRow]]],
    ) -> Iterator[None]:
        """Report the records that disagree to `collector`; yield after each finding.

        `rows` yields the rows of the file once more, by chunk. Raises `SourceError` if
        a temporary file fails.
        """
        with ExitStack() as stack:
            whole = self._whole_texts()
            stores, alike = self._exact_stores(merge.records, rows, whole, stack)
            flows = self._suspects(stores, whole)
            checked = {each.rule.code for each in flows if each.head}
            reported = _Reported(self.same, merge, checked)
            left = {each.rule.code: each.left() for each in flows if each.head}
            for batch in self._batches(flows):
                checks = [
                    _Check(
                        TextReader(rule, is_exact=True),
                        suspects,
                        collector,
                        alike.get(rule.code),
                        whole.pop(rule.code, None),
                        left[rule.code],
                    )
                    for rule, suspects in batch
                ]
                for chunk in _up_to(merge.records, rows()):
                    if all(
                        reported.is_lone(check.reader.rule.code) and check.is_known()
                        for check in checks
                    ):
                        for check in checks:
                            yield from check.count_rest()
                        break
                    compared = [check.compared(chunk) for check in checks]
                    for row, *texts in zip(chunk, *compared, strict=True):
                        for check, text in zip(checks, texts, strict=True):
                            rule = check.reader.rule
                            first = text and check.first_of(row, text)
                            if first and reported.takes(
                                rule.code, row.number, first[0]
                            ):
                                found = check.disagreement(row, text[1], first)
                                _collect(found, rule, row, merge, collector)
                                yield

    def _whole_texts(self) -> dict[str, WholeTexts]:
        """Return what repeats of whole texts, by the code of a rule, where any does."""
        found = {}
        for rule, store in zip(self.rules, self.stores, strict=True):
            if rule.roughly is not None and isinstance(store, PairDigests):
                found[rule.code] = WholeTexts(store, depth_of, is_reported=is_reported)
        return found

    def _suspects(
        self, stores: "list[Digests | PairDigests]", whole: Mapping[str, WholeTexts]
    ) -> "list[_Suspects]":
        """Return the suspect digests of each rule, of what it compares exactly.

        There may be none for a rule of which `whole` texts repeat. Of two rules that
        one mistake breaks, the one that is reported comes first.
        """
        firsts = {each.first for each in self.same}
        found = [
            _Suspects(rule, store, whole.get(rule.code))
            for rule, store in zip(self.rules, stores, strict=True)
        ]
        return sorted(found, key=lambda each: each.rule.code not in firsts)

    def _batches(
        self, found: "Sequence[_Suspects]"
    ) -> "Iterator[list[tuple[AcrossRows, RepeatedDigests]]]":
        """Yield the rules that are checked in one pass, with their suspect digests.

        Rules that one mistake breaks are checked in the same pass, unless there is more
        than one for either.
        """
        if self.same and any(len(each.head) > 1 for each in found):
            for each in found:
                yield from ([(each.rule, suspects)] for suspects in each.batches())
            return
        for batch in zip_longest(*(each.batches() for each in found)):
            yield [
                (each.rule, suspects)
                for each, suspects in zip(found, batch, strict=True)
                if suspects is not None
            ]

    def _exact_stores(
        self,
        until: int,
        rows: Callable[[], Iterator[Sequence[PlacedRow]]],
        whole: Mapping[str, WholeTexts],
        stack: ExitStack,
    ) -> tuple[list[Digests | PairDigests], dict[str, RecordSet]]:
        """Return the digests of what is compared exactly; `stack` closes new ones.

        Of rules that compared roughly, they are those of the rows that are alike, and
        differ in their whole texts; these rows are returned, too, by the code of the
        rule.
        """
        stores, alike = list(self.stores), dict[str, RecordSet]()
        for number, (rule, store) in enumerate(zip(self.rules, stores, strict=True)):
            if rule.are_plain is not None and store.is_empty:
                continue
            if rule.are_plain is None and rule.roughly is None:
                continue
            if rule.code not in whole:
                pairs = stores[number] = PairDigests()
                stack.callback(pairs.close)
                reader = TextReader(rule, is_exact=True)
                for chunk in _up_to(until, rows()):
                    compared = _compared(chunk, reader)
                    pairs.add_digests(reader.digests(compared))
                continue
            exact = stores[number] = Digests()
            stack.callback(exact.close)
            texts, depths = _ExactTexts(rule), set[int]()
            for suspects in whole[rule.code].others():
                numbers = alike.setdefault(rule.code, RecordSet())
                for chunk in _up_to(until, rows()):
                    wanted, wholes = _alike(chunk, texts.rough, suspects)
                    for row in wanted:
                        numbers.add(row.number)
                    depths.update(map(depth_of, wholes))
                    exact.add_digests(texts.digests_of(wanted, wholes))
            whole[rule.code].add_others(depths, exact)
        return stores, alike


def across_digests(
    rules: tuple[AcrossRows, ...], same: tuple[SameMistake, ...] = ()
) -> AcrossDigests:
    """Return what collects the digests of `rules`; one mistake may break `same`."""
    stores = [
        Digests()
        if rule.agreement is Agreement.UNIQUE and rule.roughly is None
        else PairDigests()
        for rule in rules
    ]
    return AcrossDigests(rules, tuple(stores), same)


class _Suspects:
    """The suspect digests of one rule, in batches, one for each pass."""

    def __init__(
        self, rule: AcrossRows, store: Digests | PairDigests, whole: WholeTexts | None
    ) -> None:
        """Take the digests of what the rule compares exactly, and whole texts."""
        self.rule = rule
        self._store = store
        self._whole = whole
        self._batches = repeated_digest_batches(store)
        #: Up to two batches.
        self.head = list(islice(self._batches, 2))
        if not self.head and whole is not None and whole.count:
            self.head.append(RepeatedDigests())

    def batches(self) -> Iterator[RepeatedDigests]:
        """Yield all batches."""
        yield from self.head
        yield from self._batches

    def left(self) -> dict[int, int] | None:
        """Return how many rows break the rule, by how much of its place they have.

        None if that is not known. Raises `SourceError` if a temporary file fails.
        """
        rule, whole = self.rule, self._whole
        if len(self.head) > 1:
            return None
        if whole is not None:
            # Of a longer place, the digests do not tell how much a row has.
            is_known = whole.is_complete and len(place_of(rule)) <= MOST_KEYS
            return whole.left if is_known else None
        if not isinstance(self._store, Digests) or not has_place(rule):
            return None
        return {len(place_of(rule)): self._store.repeated().surplus}


class _Reported:
    """Tells which findings across rows no other finding is about."""

    def __init__(
        self, same: tuple[SameMistake, ...], merge: FileMerge, checked: Collection[str]
    ) -> None:
        """Take the rules that one mistake breaks, and what the whole file decides.

        `checked` are the codes of the rules that rows may break.
        """
        self._merge = merge
        self._checked = checked
        #: The records with a finding of each rule that others yield to.
        self._found = {each.first: RecordSet() for each in same}
        #: By the codes of rules that yield: the codes of those to which they do.
        self._before: dict[str, list[str]] = {}
        self._behind: dict[str, list[str]] = {}
        for each in same:
            self._before.setdefault(each.second, []).append(each.first)
            self._behind.setdefault(each.first, []).append(each.second)

    def takes(self, code: str, number: int, first: int) -> bool:
        """Tell whether a finding is reported, and note it.

        It is on record `number`, and `first` is the one that it does not agree with.
        """
        records = (number, first)
        for other in self._before.get(code, ()):
            if number in self._found[other] or any(
                record in held for held in self._held(other) for record in records
            ):
                return False
        if code in self._found:
            self._found[code].add(number)
        for other in self._behind.get(code, ()):
            for held in self._held(other):
                for record in records:
                    held.discard(record)
        return True

    def is_lone(self, code: str) -> bool:
        """Tell whether no finding of a rule has to do with one of another rule."""
        others = chain(self._before.get(code, ()), self._behind.get(code, ()))
        return not any(other in self._checked or self._held(other) for other in others)

    def _held(self, code: str) -> list[RecordSet]:
        """Return the records with remarks of a rule whose case the file decides."""
        held = self._merge.held.items()
        return [records for key, records in held if key.split(" ")[0] == code]


#: The number and line of the first record with a key, its value, and the start of its
#: text as messages show it.
_First = tuple[int, int, bytes | str, str]
#: One that is not known.
_UNKNOWN: _First = (0, 0, "", "")


@dataclass(slots=True)
class _Check:
    """Finds the records that break one rule, among those with suspect digests."""

    reader: TextReader
    #: The digests of keys with several values, or of values that are repeated.
    suspects: RepeatedDigests
    collector: Collector
    #: The records whose digests can be suspect, None for all.
    alike: RecordSet | None = None
    #: The whole texts that need not be compared exactly.
    whole: WholeTexts | None = None
    #: How many rows are left to find, by how much of the place they have, None if that
    #: is not known.
    left: dict[int, int] | None = None
    #: The first record with each key.
    firsts: dict[bytes | str, _First] = field(default_factory=dict)

    def compared(self, rows: Sequence[PlacedRow]) -> "Sequence[Compared | None]":
        """Return what is compared of the rows of a chunk, None for each other row."""
        if self.whole is not None and self.whole.count:
            return self._wholly_compared(rows, self.whole.repeated)
        if self.reader.rule.roughly is None:
            return _compared(rows, self.reader)
        return self._exactly_compared(rows)

    def _wholly_compared(
        self, rows: Sequence[PlacedRow], repeated: RepeatedDigests
    ) -> "Sequence[Compared | None]":
        """Return the whole text of rows where it is repeated, else what is exact."""
        found = list(self._exactly_compared(rows))
        roughly = _compared(rows, RoughReader(self.reader.rule))
        for row, each in enumerate(roughly):
            if each is not None and each[1] in repeated:
                context, text = each[2]
                found[row] = (str(each[1]), f"{len(context)}\0{context}{text}")
        return found

    def _exactly_compared(
        self, rows: Sequence[PlacedRow]
    ) -> "Sequence[Compared | None]":
        """Return what is compared exactly of the rows that are alike."""
        if self.alike is None:
            return [None] * len(rows)
        chosen = [row for row in rows if row.number in self.alike]
        texts = _compared(chosen, self.reader)
        left = iter(texts)
        return [next(left) if row.number in self.alike else None for row in rows]

    def first_of(self, row: PlacedRow, compared: Compared) -> _First | None:
        """Return the row that a row does not agree with, None if it agrees with all.

        What is compared by a whole text has the digest of this as its key.
        """
        key, text = compared
        whole = self.whole if key else None
        if self.reader.rule.agreement is Agreement.UNIQUE:
            key, text = text, str(row.number)
        suspects = self.suspects if whole is None else whole.repeated
        digest = digest_of(key) if whole is None else int(compared[0])
        if digest not in suspects:
            return None
        name = short_text(key) if whole is None else short_whole_text(key)
        first = self.firsts.get(name)
        if first is None and len(self.firsts) < NAMED:
            shown = self._shown(compared[1])[:KEPT]
            self.firsts[name] = row.number, row.start.line, short_text(text), shown
            return None
        if first is None:
            agrees = suspects.agrees(digest, digest_of(text))
        else:
            agrees = first[2] == short_text(text)
        if agrees:
            return None
        if self.left is not None:
            self.left[self._depth(digest, is_whole=whole is not None)] -= 1
        return first or _UNKNOWN

    def _depth(self, digest: int, *, is_whole: bool) -> int:
        """Return how much of the place a row has, whose text has this digest."""
        if is_whole:
            return depth_of(digest)
        rule, whole = self.reader.rule, self.whole
        return len(place_of(rule)) if whole is None else whole.depth_of_others

    def disagreement(self, row: PlacedRow, value: str, first: _First) -> Disagreement:
        """Return what is wrong with a row, whose text is `value`, and the first one."""
        number, line, _, shown = first
        owner = "an earlier record"
        if number:
            owner = self.collector.record_text(number, line)
        return Disagreement(row.value, self._shown(value), shown, owner)

    def _shown(self, text: str) -> str:
        """Return what is compared of a row as messages show it."""
        return text if self.reader.rule.value_text is not None else plain_value(text)

    def is_known(self) -> bool:
        """Tell whether it is enough to count the rows that are left, and they are."""
        rule = self.reader.rule
        if self.left is None or self.collector.is_error(rule.code):
            return False
        return not any(
            times and self.collector.needs(rule.code, place_of(rule)[:depth])
            for depth, times in self.left.items()
        )

    def count_rest(self) -> Iterator[None]:
        """Count the rows that are left; yield after those of each place."""
        rule = self.reader.rule
        for depth, times in (self.left or {}).items():
            if times:
                self.collector.count_many(rule.code, place_of(rule)[:depth], times)
                yield


def _up_to(
    last: int, chunks: Iterator[Sequence[PlacedRow]]
) -> Iterator[Sequence[PlacedRow]]:
    """Yield the rows of the records up to the one with the number `last`, by chunk."""
    for chunk in chunks:
        if chunk and chunk[-1].number > last:
            yield [row for row in chunk if row.number <= last]
            return
        yield chunk


def _alike(
    rows: Sequence[PlacedRow], rough: RoughReader, suspects: RepeatedDigests
) -> "tuple[list[PlacedRow], array[int]]":
    """Return the rows that say roughly what another row of the file says.

    With them come the digests of their whole texts.
    """
    roughly = _compared(rows, rough)
    found = [
        (row, each[1])
        for row, each in zip(rows, roughly, strict=True)
        if each is not None and each[0] in suspects
    ]
    return [row for row, _ in found], array("Q", [whole for _, whole in found])


class _ExactTexts:
    """Makes the digests of what rows say, once for rows with the same whole text."""

    def __init__(self, rule: AcrossRows) -> None:
        """Take a rule that compares roughly."""
        self.rough = RoughReader(rule)
        self._exact = TextReader(rule, is_exact=True)
        #: The digests of exact texts, by those of whole texts, of so many of these.
        self._known: dict[int, int] = {}

    def digests_of(
        self, rows: Sequence[PlacedRow], wholes: Sequence[int]
    ) -> "array[int]":
        """Return the digests of what rows say that have whole texts of these digests.

        A row that says nothing has none.
        """
        if len(self._known) > NAMED:
            self._known.clear()
        known = self._known
        places = {whole: row for row, whole in enumerate(wholes) if whole not in known}
        compared = _compared([rows[row] for row in places.values()], self._exact)
        for whole, text in zip(places, compared, strict=True):
            if text is not None:
                known[whole] = digest_of(text[1])
        return array("Q", [known[whole] for whole in wholes if whole in known])


def _collect(
    found: Disagreement,
    rule: AcrossRows,
    row: PlacedRow,
    merge: FileMerge,
    collector: Collector,
) -> None:
    """Count a row that disagrees, and add the finding to the collector."""
    if collector.is_error(rule.code):
        merge.outcomes.add_invalid(row.number)
    path = start_of(place_of(rule), found.row)
    if collector.count_only(rule.code, path):
        return
    remark = Remark(rule.code, path, rule.message(found), rule.help)
    from harpia_formats.validation.diagnosis.root_causes import Finding  # noqa: PLC0415 - imported only where a row has a problem

    finding = Finding(rule.code, 0, remark, found.row)
    collector.add_findings([finding], lambda _: row.context(found.row), schema=True)
