"""The documents that belong to files of rows, as far as rows are read with them.

The results of a harness, for one, stand in a file beside its samples, and name the
model. A document is the one that the user names, or is found by the name of the file.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from harpia_formats.conversion.mapping.row_reader import NO_SURROUNDINGS, PARTNERS
from harpia_formats.conversion.reading.partners import Partners
from harpia_formats.files.io.inputs import Input
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.reread import is_lasting
from harpia_formats.files.io.source import Source
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.file_name import without_compression
from harpia_formats.formats.registry import all_formats
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.format import Companion
from harpia_formats.model.record import Header, Record
from harpia_formats.validation.companion_error import CompanionError
from harpia_formats.validation.companion_files import named_companion
from harpia_formats.validation.options import Options

#: Documents that are remembered: those of the last folders.
_KEPT = 8


@dataclass(frozen=True, slots=True)
class _Document:
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
            f"{name} is read without {format_}: {what}; name the file with --with"
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
        if companion.beside is None or not isinstance(source.origin, Path):
            return None
        for candidate in companion.beside(name):
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
        and companion.beside is not None
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
