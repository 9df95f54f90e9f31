"""Which files of a run are checked against which other file."""

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path, PurePath, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from harpia_formats.detection.file_name import without_compression
from harpia_formats.io.discovery import find_sources
from harpia_formats.io.reader import SourceError
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.reread import is_lasting
from harpia_formats.io.source import Source
from harpia_formats.io.urls import is_url
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.report import FileCount
from harpia_formats.validation.file.tally import Tally
from harpia_formats.validation.options import Options

if TYPE_CHECKING:  # most runs have no pairs
    from harpia_formats.validation.companion_checks import Other
    from harpia_formats.validation.file.result import Judged


class CompanionError(Exception):
    """A file that others were to be checked against, and why they cannot be."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class Pairs:
    """The files of a run that belong together, as they turn up; for `with`.

    A file that was named is the companion of all that it can be one of. Others are
    found by their names, if both are in the run.
    """

    def __init__(self, options: Options, tally: Tally) -> None:
        self._options = options
        self._tally = tally
        self._given: Other | None = None
        self._used = options.companion is None
        #: Files that may be found to belong to another, by folder and name.
        self._waiting: dict[PurePath, tuple[Judged, FileCount]] = {}
        #: Files that others belong to, by the folder and names that these may have.
        self._wanted: dict[PurePath, Judged] = {}

    def __enter__(self) -> Self:
        """Read the file that was named. Raises `CompanionError`."""
        if self._options.companion is not None:
            self._given = _read(_named(self._options.companion), self._options)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._given is not None:
            self._given.ids.close()

    def given_for(
        self, format_: Format | None, judged: "Judged | None"
    ) -> Iterator[Problem]:
        """Yield where a file, which is still open, disagrees with the one named.

        One of a format that belongs to it uses it, even if nothing can be compared.
        """
        given, companion = self._given, format_ and format_.companion
        # What a file is that is in no known format nobody can say.
        self._used |= format_ is None
        if given is None or not companion or companion.format != given.format:
            return
        self._used = True
        if judged is not None:
            yield from self._wanted_of(_problems(judged, given))

    def completed_by(
        self, judged: "Judged | None", count: FileCount
    ) -> Iterator[Problem]:
        """Yield where files disagree of which `judged` is the second to turn up."""
        if judged is None or self._given is not None:
            return
        place = _place_of(judged.source)
        if place is None:
            return
        if judged.companion is not None and judged.companion.file_names is not None:
            self._waiting[place] = (judged, count)
            if place in self._wanted:
                yield from self._pair(place, self._wanted[place])
        for name in self._names_wanted(judged):
            self._wanted.setdefault(place.parent / name, judged)
            if place.parent / name in self._waiting:
                yield from self._pair(place.parent / name, judged)
                return

    def _wanted_of(self, problems: Iterator[Problem]) -> Iterator[Problem]:
        """Yield `problems`, up to the first error if no more is wanted."""
        for each in problems:
            yield each
            if self._options.fail_fast and each.severity is Severity.ERROR:
                return

    def check_used(self) -> None:
        """Raise `CompanionError` if no file was checked against the one named."""
        if not self._used and self._given is not None:
            reason = f"is {self._given.format}, which none of the files belongs to"
            raise CompanionError(self._given.path, reason)

    def _pair(self, place: PurePath, other: "Judged") -> Iterator[Problem]:
        judged, count = self._waiting.pop(place)
        try:
            read = _read(other.source, self._options)
        except CompanionError:  # what is wrong with it was said when it was judged
            return
        present = self._tally.files[-1]
        self._tally.resume(count)
        try:
            yield from self._wanted_of(_problems(judged, read))
        finally:
            self._tally.resume(present)
            read.ids.close()

    def _names_wanted(self, judged: "Judged") -> tuple[str, ...]:
        """Return what the files may be called that belong to a file."""
        from harpia_formats.registry import all_formats  # noqa: PLC0415 - cheap by now

        for each in all_formats().values():
            companion = each.companion
            if companion is None or companion.file_names is None:
                continue
            if companion.format == judged.variant.format.id:
                expected = companion.expect(_document_of(judged.source, self._options))
                name = without_compression(Path(judged.source.name).name)
                return companion.file_names(name, expected)
        return ()


def _named(companion: str | PathLike[str]) -> Source:
    """Return the file that was named. Raises `CompanionError`."""
    if not is_url(fspath(companion)):
        path = Path(companion)
        return Source(str(path), path)
    try:
        return find_sources([companion])[0]
    except SourceError as error:
        raise CompanionError(error.path, error.reason) from error


def _place_of(source: Source) -> PurePath | None:
    """Return where a file lies that lasts, without the ending of its compression."""
    origin = source.origin
    if isinstance(origin, RemoteFile):
        place: PurePath = PurePosixPath(origin.identity.rstrip())
    elif isinstance(origin, Path) and is_lasting(source):
        place = origin.absolute()
    else:
        return None
    return place.with_name(without_compression(place.name))


def _document_of(source: Source, options: Options) -> dict[str, Any]:
    """Return the document of a file that others belong to, empty if it is broken."""
    try:
        read = _read(source, options)
    except CompanionError:  # what is wrong with it was said when it was judged
        return {}
    read.ids.close()
    return read.document


def _read(source: Source, options: Options) -> "Other":
    from harpia_formats.validation.companion_checks import read_other  # noqa: PLC0415 - only for pairs

    try:
        return read_other(source, options)
    except SourceError as error:
        raise CompanionError(error.path, error.reason) from error


def _problems(judged: "Judged", other: "Other") -> Iterator[Problem]:
    from harpia_formats.validation.companion_checks import companion_problems  # noqa: PLC0415 - as above

    yield from companion_problems(judged, other)
