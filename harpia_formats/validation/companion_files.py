"""Find pairs of files in a run of which one is checked against the other."""

import os
from collections.abc import Iterator
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from harpia_formats.files.io.discovery import absolute_name, find_sources
from harpia_formats.files.io.inputs import is_lasting
from harpia_formats.files.io.reader import SourceError, check_readable, error_reason
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.io.source import Source
from harpia_formats.files.io.urls import is_url
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.sample import without_compression
from harpia_formats.model.problem import Problem, Severity
from harpia_formats.validation.merge.file_merge import in_members
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.options import CompanionError, Options

if TYPE_CHECKING:  # most runs have no pairs
    from harpia_formats.validation.companion_checks import CompanionFile
    from harpia_formats.validation.one_file import ValidatedFile

#: The folder of a file, and its name without the suffix of its compression.
PlaceName = tuple[str, str]


class CompanionPairs:
    """Finds and checks the pairs of files of a run; a context manager.

    A companion that the options name is that of every file of a fitting format. Without
    one, pairs are found by the names of the files, if both are in the run.
    """

    def __init__(self, options: Options, tally: Tally) -> None:
        """Take the options of the run and its counts, to which findings are added."""
        self._options = options
        self._tally = tally
        self._given: CompanionFile | None = None
        self._used = options.companion is None
        #: Validated files whose companion was not met yet, by folder and name.
        self._waiting: dict[PlaceName, ValidatedFile] = {}
        #: Companions, by the folder and names that files checked against them may have.
        self._wanted: dict[PlaceName, ValidatedFile] = {}
        #: Companions that files may name by their own names, by their folder and name.
        self._nameable: dict[PlaceName, list[ValidatedFile]] = {}

    def __enter__(self) -> Self:
        """Read the companion that the options name.

        Raises `CompanionError` if it cannot be used.
        """
        if self._options.companion is not None:
            self._given = _read(named_companion(self._options.companion), self._options)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._given is not None:
            self._given.ids.close()

    def check_named_companion(
        self, variant: FormatVariant | None, validated: "ValidatedFile | None"
    ) -> Iterator[Problem]:
        """Yield the problems of a file, still open, that disagrees with the named one.

        A file of a fitting format counts as a use of it, even if nothing can be
        compared. Raises `CompanionError` if the file refers to records of the named
        one, some of which cannot be read.
        """
        given = self._given
        companion = variant.format.companion if variant else None
        # A file in no known format may belong to the companion.
        self._used |= variant is None
        if given is None or not companion or companion.format != given.format:
            if given is not None and validated is not None:
                yield from self._pending(validated)
            return
        self._used = True
        if validated is not None:
            remark_on = companion.no_such_record
            is_asked = remark_on and remark_on().code in validated.plan.run.rules
            if is_asked and given.has_unread:
                reason = "has records that cannot be read: validate it first"
                raise CompanionError(given.path, reason)
            yield from self._wanted_of(self._problems(validated, given))

    def check_matching_files(
        self, validated: "ValidatedFile | None"
    ) -> Iterator[Problem]:
        """Yield the problems of pairs of which `validated` is the second file."""
        if validated is None or self._given is not None:
            return
        place = place_of(validated.source)
        may_pair = (
            place is not None
            and validated.companion is not None
            and validated.companion.file_names is not None
        )
        if not may_pair:
            yield from self._pending(validated)
        if place is None:
            return
        if may_pair:
            self._waiting[place] = validated
            if place in self._wanted:
                yield from self._pair(place, self._wanted[place])
        elif self._is_nameable(validated):
            self._nameable.setdefault(place, []).append(validated)
        for name in self._names_wanted(validated):
            wanted = (place[0], os.path.normcase(name))
            self._wanted.setdefault(wanted, validated)
            if wanted in self._waiting:
                several = self._waiting[wanted].companion
                yield from self._pair(wanted, validated)
                if several is None or not several.has_several_files:
                    return

    def _wanted_of(self, problems: Iterator[Problem]) -> Iterator[Problem]:
        """Yield `problems`, with `fail_fast` up to the first error."""
        for problem in problems:
            yield problem
            if self._options.fail_fast and problem.severity is Severity.ERROR:
                return

    def check_alone(self) -> Iterator[Problem]:
        """Yield the problems of files that no companion names.

        A file whose own name is that of one companion in the run is checked against it.
        """
        for place, validated in [*self._waiting.items()]:
            named = self._companions_named_by(place, validated)
            if len(named) == 1:
                yield from self._pair(place, *named)
            else:
                yield from self._pending(validated)
            if self._options.fail_fast and self._tally.errors:
                return

    def _companions_named_by(
        self, place: PlaceName, validated: "ValidatedFile"
    ) -> "list[ValidatedFile]":
        """Return the companions in the folder of a file that its name speaks of."""
        folder, name = place
        companion = validated.companion
        if companion is None or companion.names_for is None:
            return []
        return [
            other
            for wanted in companion.names_for(name)
            for other in self._nameable.get((folder, os.path.normcase(wanted)), ())
            if other.format.id == companion.format
        ]

    def _is_nameable(self, validated: "ValidatedFile") -> bool:
        from harpia_formats.validation.one_file import is_named_by_files  # noqa: PLC0415 - as for `_names_wanted`

        return is_named_by_files(validated.format.id)

    def _pending(self, validated: "ValidatedFile") -> Iterator[Problem]:
        """Yield what lints find in a file that no companion decides, counted."""
        return self._tally.keep(validated.count, validated.pending)

    def check_used(self) -> None:
        """Raise `CompanionError` if no file was checked against the named companion."""
        if not self._used and self._given is not None:
            reason = f"is {self._given.format}, which none of the files belongs to"
            raise CompanionError(self._given.path, reason)

    def _pair(self, place: PlaceName, other: "ValidatedFile") -> Iterator[Problem]:
        """Yield the problems of the file at `place` that disagrees with `other`."""
        from harpia_formats.validation.companion_checks import read_validated_companion  # noqa: PLC0415 - only for pairs

        validated = self._waiting.pop(place)
        try:
            read = read_validated_companion(other)
        except CompanionError:  # it has problems of its own, which were reported
            yield from self._pending(validated)
            return
        try:
            yield from self._wanted_of(self._problems(validated, read))
        finally:
            read.ids.close()

    def _problems(
        self, validated: "ValidatedFile", other: "CompanionFile"
    ) -> Iterator[Problem]:
        """Yield the problems of a file that disagrees with its companion, counted."""
        from harpia_formats.validation.companion_checks import companion_findings  # noqa: PLC0415 - only for companions: start-up time

        if validated.companion is None or validated.companion.format != other.format:
            yield from self._pending(validated)
            return
        demand = partial(self._tally.demand, validated.count)
        path = validated.count.path
        places = self._tally.places.get(path)
        for findings in companion_findings(validated, other, demand):
            found = in_members(findings, path, places)
            yield from self._tally.keep(validated.count, found)

    def _names_wanted(self, validated: "ValidatedFile") -> tuple[str, ...]:
        """Return the names that files checked against `validated` may have."""
        if validated.names is not None:
            return validated.names
        from harpia_formats.validation.one_file import companion_names  # noqa: PLC0415 - only where files are paired by name

        document = _document_of(validated, self._options)
        return companion_names(validated.format.id, validated.source.name, document)


def named_companion(companion: str | PathLike[str]) -> Source:
    """Return the companion that the options name as a source.

    Raises `CompanionError` if it is a URL that cannot be opened, or no file.
    """
    if not is_url(fspath(companion)):
        path = Path(companion)
        try:
            check_readable(path)
        except OSError as error:
            raise CompanionError(str(path), error_reason(error)) from error
        return Source(str(path), path)
    try:
        return find_sources([companion])[0]
    except SourceError as error:
        raise CompanionError(error.path, error.reason) from error


def place_of(source: Source) -> PlaceName | None:
    """Return the folder and name of a file.

    None if the file is a stream or bytes, which cannot be read again later.
    """
    origin = source.origin
    if isinstance(origin, RemoteFile):
        folder, _, name = origin.identity.rstrip().rpartition("/")
    elif isinstance(origin, Path) and is_lasting(source):
        folder, name = os.path.split(absolute_name(origin))
    else:
        return None
    return folder, without_compression(name)


def _document_of(validated: "ValidatedFile", options: Options) -> dict[str, Any]:
    """Return the document of a companion, an empty one if it cannot be used."""
    try:
        read = _read(validated.source, options)
    except CompanionError:  # its own problems were reported when it was validated
        return {}
    read.ids.close()
    return read.document


def _read(source: Source, options: Options) -> "CompanionFile":
    """Read a companion file. Raises `CompanionError` if it cannot be used."""
    from harpia_formats.validation.companion_checks import read_companion_file  # noqa: PLC0415 - only for pairs

    try:
        return read_companion_file(source, options)
    except SourceError as error:
        raise CompanionError.of(error) from error
