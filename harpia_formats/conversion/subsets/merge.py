"""Put the rows of several files of one format into one file."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from harpia_formats.conversion.options import member_of
from harpia_formats.conversion.subsets.cut_file import CutFile, Row
from harpia_formats.conversion.subsets.head_and_sample import (
    RowOutput,
    RowOutputs,
    check_same_rows,
)
from harpia_formats.conversion.subsets.open_file import cut_file, notes_on
from harpia_formats.conversion.subsets.subset_options import (
    Subset,
    SubsetError,
    SubsetOptions,
    SubsetValueError,
    WrittenPart,
)
from harpia_formats.files.framing.chunk import BOM
from harpia_formats.files.framing.columns import decoded_or_none
from harpia_formats.files.io.inputs import (
    checked_inputs,
    close_copies,
    rereadable_input,
    rewind_inputs,
    sources_of_inputs,
)
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source
from harpia_formats.files.io.urls import is_url, masked
from harpia_formats.formats.detection.sample import delimiter_of
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.describe import short_json
from harpia_formats.validation.dedup.digests import Digests, digest_of
from harpia_formats.validation.dedup.identity import IdentityReader
from harpia_formats.validation.dedup.repeated_digests import identity_reader_of
from harpia_formats.validation.redaction import errors_shown, redaction_of


@dataclass(frozen=True, slots=True)
class FileKind:
    """The kind of a file whose rows were read: files of one kind can be merged."""

    name: str
    #: Its format and dialect, empty if it is in no known one.
    format: str
    #: Such as "lines".
    container: str
    #: The columns of a table.
    columns: tuple[str, ...] = ()
    #: The document around the rows, None if there is none.
    document: Any = None


def kind_of(file: CutFile) -> FileKind:
    """Return the kind of a file whose rows were read; raises `SubsetError`."""
    variant = file.plan.variant
    format_ = variant.name if variant is not None else ""
    if not file.count and _is_empty(file):
        return FileKind(file.name, format_, container="")
    if file.is_table:
        delimiter = delimiter_of(file.options.delimiter, file.name)
        container = f"a table with {delimiter!r} between its cells"
        return FileKind(file.name, format_, container, file.columns)
    if file.is_wrapped:
        return FileKind(file.name, format_, "a document", document=_document(file))
    if file.is_terminated:
        container = "lines"
    elif file.separator == b"\n":
        container = "values over several lines"
    else:
        container = "an array"
    return FileKind(file.name, format_, container)


def _text_around(file: CutFile) -> bytes:
    """Return what a file without rows has, without white space."""
    return b"".join(file.before.removeprefix(BOM).split())


def _is_empty(file: CutFile) -> bool:
    """Return whether a file without rows has nothing else, or is an empty array."""
    text = _text_around(file)
    return not text or (text == b"[]" and not file.is_table)


def check_same_kind(first: FileKind, other: FileKind) -> None:
    """Raise `SubsetError` if the rows of two files cannot be merged."""
    if not (first.container and other.container):
        return  # an empty file fits any
    pair = f"{first.name} and {other.name}"
    if first.format != other.format:
        one, two = (kind.format or "in no known format" for kind in (first, other))
        raise SubsetError(
            f"{pair} are not alike: the first is {one}, the other {two}; convert one "
            "of them first"
        )
    if first.container != other.container:
        raise SubsetError(
            f"{pair} are not alike: the first is {first.container}, the other "
            f"{other.container}; convert one of them first"
        )
    if first.columns != other.columns:
        raise SubsetValueError(
            f"{pair} have other columns: {_other_column(first, other)}"
        )
    if first.document != other.document:
        raise SubsetValueError(f"{pair} differ around their rows: {_key(first, other)}")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raises `ValueError` for a key that it has twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is there twice")
    return members


def _number(text: str) -> tuple[str]:
    """Return what equals a number of the same text, and no other value."""
    return (text,)


_decode = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_float=_number,
    parse_int=_number,
    parse_constant=_number,
).decode


def _document(file: CutFile) -> Any:
    """Return what stands around the rows of a document; raises `SubsetError`."""
    try:
        return _decode((file.before + file.after).removeprefix(BOM).decode())
    except (ValueError, RecursionError):
        raise SubsetError(
            f"{file.name}: what stands around its rows is no JSON, or has a key twice; "
            "repair it first: validate says what is wrong"
        ) from None


def _other_column(first: FileKind, other: FileKind) -> str:
    """Return where the columns of two tables differ."""
    if sorted(first.columns) == sorted(other.columns):
        return "they are in another order"
    one_more = [name for name in first.columns if name not in other.columns]
    two_more = [name for name in other.columns if name not in first.columns]
    if not (one_more or two_more):
        return "a name is there more often"
    name = (one_more or two_more)[0]
    return f"{short_json(name)} is only in {(first if one_more else other).name}"


def _key(first: FileKind, other: FileKind) -> str:
    """Return the key in which two documents differ."""
    one, two = first.document, other.document
    key = next(
        key
        for key in (*one, *two)
        if key not in one or key not in two or one[key] != two[key]
    )
    if key in one and key in two:
        return f"{short_json(key)} is not the same"
    holder = first if key in one else other
    return f"{short_json(key)} is only in {holder.name}"


#: Different repeated ids that are distinguished, so that memory is bounded.
MOST_REPEATED = 300_000
#: Repeated ids that a message names.
_NAMED = 5


class OnDuplicate(StrEnum):
    """What to do with a row whose id another row before it has."""

    FAIL = "fail"
    SKIP = "skip"
    KEEP = "keep"


class DuplicateIdsError(SubsetError):
    """Ids stand in several rows, and none may."""


@dataclass(slots=True)
class Merge:
    """One run that puts files together."""

    inputs: list[Any]
    on_duplicate: OnDuplicate
    options: SubsetOptions
    #: The format, the container and what stands around the rows of the first file
    #: that is not empty.
    kind: FileKind | None = None
    #: The rows of each file in the first pass.
    counts: dict[str, int] | None = None
    notes: tuple[str, ...] = ()

    def run(self, output: Any) -> Subset:
        """Write the rows of all inputs to an output, in order.

        Raises `DuplicateIdsError` for repeated ids that are not allowed, `SubsetError`
        for files that are not alike, `SourceError` and `SinkError`.
        """
        with errors_shown(redaction_of(self.options)):
            return self._merged(output)

    def _merged(self, output: Any) -> Subset:
        """Do what `run` does; errors may show values."""
        outputs = RowOutputs(self.inputs, overwrite=self.options.overwrite)
        if isinstance(output, (str, PathLike)) and fspath(output) != "-":
            outputs.claim(fspath(output))
        given = checked_inputs(self.inputs)
        self.notes += tuple(_read_once(given))
        with ExitStack() as stack:
            kept = [rereadable_input(input_) for input_ in given]
            stack.callback(close_copies, given, kept)
            digests = stack.enter_context(Digests(limit=MOST_REPEATED))
            try:
                # An output that cannot be written is refused before much is read.
                target = outputs.open(output)
                sources = _listed(kept)
                self._survey(sources, digests)
                repeated = self._repeated(digests)
                if repeated and self.on_duplicate is OnDuplicate.FAIL:
                    self._refuse(sources, repeated)
                part = self._write(sources, target, repeated)
                outputs.commit()
            except BaseException:  # an interrupt, too, leaves no temporary file
                outputs.discard()
                raise
        rows = sum((self.counts or {}).values())
        return Subset(rows, (part,), notes=(*self.notes, *outputs.group.notes))

    def _survey(self, sources: list[Source], digests: Digests) -> None:
        """Read all files once: compare what they are, and note their ids."""
        counts = self.counts = {}
        for source in sources:
            with cut_file(source, self.options) as file:
                ids = RowIds(file, self.on_duplicate)
                for batch in ids.batches():
                    digests.add(batch)
                kind = kind_of(file)
                counts[source.name] = file.count
                self.notes += tuple(
                    note
                    for note in notes_on(file, is_partial=False) + ids.notes
                    if note not in self.notes
                )
            if self.kind is None or not self.kind.container:
                self.kind = kind  # an empty file fits any
            else:
                check_same_kind(self.kind, kind)

    def _repeated(self, digests: Digests) -> frozenset[int]:
        """Return the digests of ids that stand in several rows."""
        if self.on_duplicate is OnDuplicate.KEEP:
            return frozenset()
        found = digests.repeated().digests
        if len(found) >= MOST_REPEATED:
            raise SubsetError(
                f"{MOST_REPEATED:,} and more different ids stand in several rows; "
                "`--on-duplicate keep` compares none"
            )
        return found

    def _refuse(self, sources: list[Source], repeated: frozenset[int]) -> None:
        """Raise `DuplicateIdsError` if ids are equal, and not only their digests."""
        firsts: dict[str, str] = {}
        total, named = 0, list[str]()
        rewind_inputs(sources)
        for source in sources:
            with cut_file(source, self.options) as file:
                ids = RowIds(file, self.on_duplicate)
                for row in file.rows():
                    key = ids.key_of(row)
                    if key is None or digest_of(key) not in repeated:
                        continue
                    where = f"row {row.number:,} of {file.name}"
                    if key in firsts:
                        total += 1
                        if len(named) < _NAMED:
                            hides = self.options.redact
                            shown = "" if hides else f"{ids.shown_id(row)} in "
                            named.append(f"{shown}{firsts[key]} and {where}")
                    firsts.setdefault(key, where)
        if total:
            more = f" and {total - len(named):,} more" if total > len(named) else ""
            raise DuplicateIdsError(
                f"ids stand in several rows: {'; '.join(named)}{more}; "
                "`--on-duplicate skip` leaves the later ones out, keep writes all",
            )

    def _write(
        self,
        sources: list[Source],
        target: RowOutput,
        repeated: frozenset[int],
    ) -> WrittenPart:
        """Write the rows of all files."""
        seen: set[str] = set()
        # The file of the first row; without rows one with a header, else with [].
        around: CutFile | None = None
        has_rows = False
        rewind_inputs(sources)
        for source in sources:
            with cut_file(source, self.options) as file:
                ids = RowIds(file, self.on_duplicate)
                for row in file.rows():
                    key = ids.key_of(row) if repeated else None
                    if key is not None and digest_of(key) in repeated:
                        if key in seen:
                            continue
                        seen.add(key)
                    target.row(file, row)
                    if not has_rows:
                        around, has_rows = file, True
            check_same_rows(file.name, (self.counts or {})[file.name], file.count)
            if around is None or (
                not has_rows and _is_empty(around) and _text_around(file)
            ):
                around = file
        assert around is not None  # noqa: S101 - there is an input
        target.end(around)
        return WrittenPart("", target.name, target.rows)


def _listed(kept: list[Any]) -> list[Source]:
    """Return the files of the inputs, which are the same in each pass.

    Raises `SourceError` for an input that names none.
    """
    sources: list[Source] = []
    for source in sources_of_inputs(kept, None, all_unpackers()):
        if isinstance(source, SourceError):
            raise source
        sources.append(source)
    return sources


def _read_once(given: Iterable[Any]) -> Iterator[str]:
    """Yield a note for each path or URL that is named several times."""
    paths = [fspath(one) for one in given if isinstance(one, (str, PathLike))]
    files = Counter(path if is_url(path) else Path(path).absolute() for path in paths)
    for file, count in files.items():
        if count > 1:
            name = file if isinstance(file, str) else file.name
            yield f"{masked(name)} is named {count:,} times, and read once"


class RowIds:
    """Reads the ids of the rows of a file, as `validate` compares them."""

    def __init__(self, file: CutFile, on_duplicate: OnDuplicate) -> None:
        """Take the file, whose rows are not read yet."""
        self._file = file
        self._reader: IdentityReader | None = None
        #: What the user should know of the ids.
        self.notes: tuple[str, ...] = ()
        if on_duplicate is OnDuplicate.KEEP:
            return
        self._reader = identity_reader_of(file.plan.variant)
        if self._reader is None:
            what = file.plan.format or "files in no known format"
            self.notes = (f"the rows of {what} have no ids that are compared",)

    def key_of(self, row: Row) -> str | None:
        """Return the id of a row as text, None if it has none."""
        if self._reader is None:
            return None
        keys = self._reader.keys_of_value(decoded_or_none(row.text))
        return keys[0] if keys else None

    def shown_id(self, row: Row) -> str:
        """Return the id of a row that has one, behind its key as in findings."""
        variant, value = self._file.plan.variant, decoded_or_none(row.text)
        assert variant is not None  # noqa: S101 - the rows of others have no ids
        key = variant.format.id_key
        return f"{key} {short_json(value[key])}"

    def batches(self, size: int = 256) -> Iterator[list[str]]:
        """Read all rows of the file; yield their ids, some at once."""
        held: list[str] = []
        for row in self._file.rows():
            key = self.key_of(row)
            if key is not None:
                held.append(key)
            if len(held) >= size:
                yield held
                held = []
        yield held


def merge_files(
    inputs: Iterable[Any],
    output: Any,
    on_duplicate: OnDuplicate | str,
    options: SubsetOptions,
) -> Subset:
    """Put the rows of `inputs` into one output; raises what `Merge.run` raises."""
    choice = member_of(OnDuplicate, "on_duplicate", on_duplicate)
    return Merge(list(inputs), choice, options).run(output)
