"""Files that belong to files of records: companions, partners, and documents."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from weakref import finalize

from msgspec import UNSET, Struct

from harpia_formats.conversion.mapping.extra_fields import NO_SURROUNDINGS, PARTNERS
from harpia_formats.files.io.inputs import Input, is_lasting
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.sample import without_compression
from harpia_formats.formats.registry import all_formats, readable_formats
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.format import Companion
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.record import Header, Record, record_of
from harpia_formats.model.report import NO_RECORDS, FileCount
from harpia_formats.validation.companion_files import named_companion
from harpia_formats.validation.options import CompanionError, Options

#: Records that are stored at once.
_BATCH = 1_000
_tables = (
    "CREATE TABLE partner (number INTEGER PRIMARY KEY, id BLOB UNIQUE, record BLOB)",
    # A row may be read more than once, such as to report why it is not written.
    "CREATE TABLE missing (id BLOB PRIMARY KEY) WITHOUT ROWID",
)


class Partners:
    """The records of one file, found by their ids.

    Raises `CompanionError` if a record has no id, or that of another one.
    """

    def __init__(self, name: str, records: Iterable[Record]) -> None:
        import sqlite3  # noqa: PLC0415 - few conversions have a companion: start-up time

        self.name = name
        self._repeated = sqlite3.IntegrityError
        # Without a name the database is temporary and is removed when it is closed.
        self._base = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        finalize(self, self._base.close)
        for table in _tables:
            self._base.execute(table)
        #: How many records there are.
        self.count = 0
        rows = self._rows(iter(records))
        while batch := list(islice(rows, _BATCH)):
            self._store(batch)
        # One transaction for the ids that are missing; it ends with the database.
        self._base.execute("BEGIN")
        self._met = bytearray(self.count + 1)

    @property
    def missing(self) -> int:
        """How many ids rows asked for of which there is no record."""
        (count,) = self._base.execute("SELECT count(*) FROM missing").fetchone()
        return int(count)

    @property
    def unmet(self) -> int:
        """How many records no row asked for."""
        return self.count - sum(self._met)

    def of(self, id_: Any) -> Record | None:
        """Return the record with this id, None if there is none; both are counted."""
        query, key = "SELECT number, record FROM partner WHERE id = ?", (encode(id_),)
        found = self._base.execute(query, key).fetchone()
        if found is None:
            self._base.execute("INSERT OR IGNORE INTO missing VALUES (?)", key)
            return None
        number, text = found
        self._met[number] = 1
        return record_of(decode(text))

    def notes(self) -> Iterator[str]:
        """Yield how many ids of rows, and how many records, had no partner."""
        if missing := self.missing:
            ids = (
                "1 id of a row has" if missing == 1 else f"{missing:,} ids of rows have"
            )
            yield f"{ids} no partner in {self.name}"
        if unmet := self.unmet:
            of = f"of {self.name}"
            records = (
                f"1 record {of} has" if unmet == 1 else f"{unmet:,} records {of} have"
            )
            yield f"{records} no partner among the records that were read"

    def _rows(self, records: Iterator[Record]) -> Iterator[tuple[int, bytes, bytes]]:
        for record in records:
            if record.id is UNSET:
                raise CompanionError(self.name, "has a record without an id")
            self.count += 1
            yield self.count, encode(record.id), encode(record)

    def _store(self, rows: list[tuple[int, bytes, bytes]]) -> None:
        self._base.execute("BEGIN")
        for row in rows:
            try:
                self._base.execute("INSERT INTO partner VALUES (?, ?, ?)", row)
            except self._repeated:
                id_ = row[1].decode()
                raise CompanionError(self.name, f"has the id {id_} twice") from None
        self._base.execute("COMMIT")


#: Documents that are remembered: those of the last folders.
_KEPT = 8


class _Document(Struct, frozen=True):
    """A document that belongs to files, with the id of its format."""

    name: str
    format: str
    members: Mapping[str, Any]


class Companions:
    """Finds and reads the documents that belong to the files of a run."""

    def __init__(
        self,
        named: str | PathLike[str] | None,
        inputs: Iterable[Input],
        max_row_bytes: int,
        records_of: Callable[[Input, str], Iterable[Record]],
    ) -> None:
        """Take the document that the user names, if any, and the inputs of the run.

        `records_of` returns the records of a file in a format. Raises `CompanionError`
        if that document cannot be used.
        """
        self._records_of = records_of
        self._path = named
        self._partners: Partners | None = None
        self._limit = max_row_bytes
        self._known: dict[str, _Document | None] = {}
        self._given = [
            Path(each) for each in inputs if isinstance(each, (str, PathLike))
        ]
        source = None if named is None else named_companion(named)
        self._is_lasting = source is not None and is_lasting(source)
        self._named = None if source is None else self._document(source)
        self._is_used = named is None
        self._are_all_read = False
        #: The name of the document with which each file was read, by that of the file.
        self.used: dict[str, str] = {}
        #: The format of the document that a file was read without, and what is not
        #: known therefore, by the name of the file.
        self.missing: dict[str, tuple[str, str]] = {}

    def around(
        self, source: Source, variant: FormatVariant, adapter: FormatAdapter
    ) -> tuple[Mapping[str, Any], Header]:
        """Return what the rows of a file are read with, and the header that it gives.

        Raises `CompanionError` for a document that cannot be used.
        """
        companion = variant.format.companion
        if companion is not None and companion.by_id:
            return self._by_id(source, companion), Header()
        if companion is None or adapter.around_of is None:
            return NO_SURROUNDINGS, Header()
        name = name_of(source)
        document = self._of_file(source, name, companion)
        members: Mapping[str, Any] = {}
        if document is None and companion.without:
            self.missing[source.name] = companion.format, companion.without
        if document is not None:
            self.used[source.name] = document.name
            members = document.members
        header = adapter.header_of(members) if adapter.header_of and document else None
        return adapter.around_of(members, name), header or Header()

    @property
    def are_by_id(self) -> bool:
        """Whether rows are read with records of the file that the user names.

        They are then read in one process, which knows which records were met.
        """
        companions = (format_.companion for format_ in all_formats().values())
        return self._named is not None and any(
            companion is not None
            and companion.by_id
            and companion.format == self._named.format
            for companion in companions
        )

    def _by_id(self, source: Source, companion: Companion) -> Mapping[str, Any]:
        """Return the records with which the rows of a file are read, if there are."""
        named = self._named
        if named is None or self._path is None or named.format != companion.format:
            if companion.without:
                self.missing[source.name] = companion.format, companion.without
            return NO_SURROUNDINGS
        self._is_used = True
        self.used[source.name] = named.name
        if not self._is_lasting:
            raise CompanionError(named.name, "is a pipe; it must be a file")
        if self._partners is None:
            records = self._records_of(self._path, named.format)
            self._partners = Partners(named.name, records)
        return {PARTNERS: self._partners}

    def end(self) -> None:
        """Note that all files were read to their ends.

        Raises `CompanionError` if none was read with the document that is named.
        """
        self._are_all_read = True
        if not self._is_used and self._named is not None:
            reason = f"is {self._named.format}, with which none of the files is read"
            raise CompanionError(self._named.name, reason)

    def notes(self) -> tuple[str, ...]:
        """Return with which document each file was read, and without, for the user."""
        found = (
            f"{name} is read with {companion}" for name, companion in self.used.items()
        )
        lacking = (
            f"{name} is read without {format_}: {what}; name the file with `--with`"
            for name, (format_, what) in self.missing.items()
        )
        # Until then rows may be missing, and others may be read for the second time.
        partners = self._partners if self._are_all_read else None
        unmet = () if partners is None else partners.notes()
        return (*found, *lacking, *unmet)

    def _of_file(
        self, source: Source, name: str, companion: Companion
    ) -> _Document | None:
        """Return the document that belongs to a file, None if there is none."""
        if self._named is not None:
            if self._named.format != companion.format:
                return None
            self._is_used = True
            _check_belongs(self._named, name, companion)
            return self._named
        if companion.names_for is None or not isinstance(source.origin, Path):
            return None
        for candidate in companion.names_for(name):
            for path in self._places(source.origin, candidate):
                document = self._read(path)
                if document is not None and document.format == companion.format:
                    return document
        return None

    def _places(self, origin: Path, name: str) -> list[Path]:
        """Return the files called `name` in the folder of a file and in the inputs."""
        given = [path for path in self._given if path.name == name]
        return [path for path in (origin.parent / name, *given) if path.is_file()]

    def _read(self, path: Path) -> _Document | None:
        """Return a document that was found, None if it cannot be used."""
        key = os.path.abspath(path)  # noqa: PTH100 - links are not followed
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            try:
                self._known[key] = self._document(Source(str(path), path))
            except CompanionError:  # nobody asked for it
                self._known[key] = None
        return self._known[key]

    def _document(self, source: Source) -> _Document:
        """Read a document. Raises `CompanionError` if it cannot be used."""
        from harpia_formats.validation.companion_checks import read_companion_file  # noqa: PLC0415 - only for files with a companion

        options = Options(max_row_bytes=self._limit)
        try:
            read = read_companion_file(source, options)
        except SourceError as error:
            raise CompanionError.of(error) from error
        read.ids.close()
        return _Document(read.path, read.format, read.document)


def is_companion_format(identifier: str) -> bool:
    """Tell whether rows of any format are read with a document of this format."""
    companions = (format_.companion for format_ in all_formats().values())
    return any(
        companion is not None
        and companion.names_for is not None
        and companion.format == identifier
        for companion in companions
    )


def _check_belongs(document: _Document, name: str, companion: Companion) -> None:
    """Raise `CompanionError` for a document that belongs to other files."""
    if companion.refusal is not None:
        own = _plain_name(document.name)
        reason = companion.refusal(document.members, own, name)
        if reason:
            raise CompanionError(document.name, f"does not belong to {name}: {reason}")


def name_of(source: Source) -> str:
    """Return the name of a file without its folder and without `.gz` and the like."""
    return _plain_name(fspath(source.name))


def _plain_name(path: str) -> str:
    return without_compression(os.path.basename(path))  # noqa: PTH119 - a name, also of a URL


#: Called with the format of a file before its first record.
Begin = Callable[[FormatVariant, FileCount], None]


class NoRecordsError(ConversionError):
    """A file is a document without records; carries the id of its format."""

    def __init__(self, message: str, format_: str) -> None:
        super().__init__(message)
        self.format = format_


def checked_begin(begin: Begin, count: FileCount) -> Callable[[FormatVariant], None]:
    """Return `begin` for one file, with a check of the format.

    It raises `NoRecordsError` if the rows of the format are no records.
    """

    def begin_if_records(variant: FormatVariant) -> None:
        if not variant.format.adapter:
            raise NoRecordsError(
                f"{count.path} is {variant.format.id}, a document without records; "
                f"records are in: {', '.join(readable_formats())}",
                variant.format.id,
            )
        begin(variant, count)

    return begin_if_records


class Documents:
    """The documents that are passed over, because they are met in folders.

    EvalEval's aggregate, for one, is next to its samples. One with which the rows of
    other inputs are read may also be named.
    """

    def __init__(self, inputs: Iterable[Input]) -> None:
        inputs = list(inputs)
        self._is_alone = len(inputs) == 1
        #: Files that the user named.
        self._named = {
            Path(input_).absolute()
            for input_ in inputs
            if isinstance(input_, (str, PathLike))
        }

    @contextmanager
    def passing_over(self, source: Source, count: FileCount) -> Iterator[None]:
        """End the reading of a document in a folder; raises `NoRecordsError` if not."""
        try:
            yield
        except NoRecordsError as error:
            origin = source.origin
            is_named = not isinstance(origin, Path) or origin.absolute() in self._named
            is_companion = not self._is_alone and is_companion_format(error.format)
            if is_named and not is_companion:
                raise
            count.skipped = NO_RECORDS
            count.reason = "holds no records"
