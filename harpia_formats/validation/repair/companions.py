"""Update documents that state the digest of a file when that file is repaired."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from harpia_formats.files.framing.chunk import BOM
from harpia_formats.files.io.reader import LARGEST, SourceError
from harpia_formats.files.io.source import Source, open_source
from harpia_formats.formats.detection.sample import without_compression
from harpia_formats.formats.registry import all_formats
from harpia_formats.model.exact_json import NOT_JSON
from harpia_formats.model.format import Companion, Format, Repair
from harpia_formats.validation.companion_files import PlaceName, place_of
from harpia_formats.validation.repair.find import Found, Job
from harpia_formats.validation.repair.found_repairs import Follow
from harpia_formats.validation.repair.text_edits import Edit, spliced


class Digesting:
    """Computes the digests of a file before and after its repair in one pass."""

    def __init__(self, algorithms: Iterable[str]) -> None:
        """Take the names of the algorithms."""
        self._both = [
            {name: hashlib.new(name, usedforsecurity=False) for name in algorithms}
            for _ in range(2)
        ]

    def repaired(
        self, blocks: Iterable[bytes], edits: Iterable[Edit]
    ) -> Iterator[bytes]:
        """Yield the bytes of `blocks` with the `edits`, which are in order."""
        before, after = self._both
        for block in spliced(_seen(blocks, before), edits):
            for digest in after.values():
                digest.update(block)
            yield block

    def digests(self) -> dict[str, tuple[str, str]]:
        """Return the digests before and after, in hexadecimal, by their algorithms."""
        before, after = self._both
        return {
            name: (digest.hexdigest(), after[name].hexdigest())
            for name, digest in before.items()
        }


def _seen(blocks: Iterable[bytes], digests: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield `blocks`, and add them to the `digests`."""
    for block in blocks:
        for digest in digests.values():
            digest.update(block)
        yield block


class ChangedFile(msgspec.Struct):
    """A file that was or would be repaired, and that documents have digests of."""

    #: The file as shown to the user.
    path: str
    companion: Companion
    #: The digests of its content before and after the repair, by their algorithms.
    digests: Mapping[str, tuple[str, str]]
    #: Whether a document of the run could follow.
    is_met: bool = False


class _Held(msgspec.Struct, frozen=True):
    """A document that is repaired after the files that it has digests of."""

    source: Source
    job: Job


class Companions:
    """The repaired files of a run, and the documents that wait for them."""

    def __init__(self, given: Source | None) -> None:
        """Take the document that belongs to all files; None if names tell."""
        self.given = given
        self._changed: dict[PlaceName, ChangedFile] = {}
        #: The algorithms of digests in the documents that were read, by the places of
        #: the files that these are of.
        self._algorithms: dict[PlaceName, set[str]] = {}
        #: The documents that are held, by their places.
        self._held: dict[PlaceName, _Held] = {}
        #: The places of documents that wait for the file at a place.
        self._waiting: dict[PlaceName, list[PlaceName]] = {}
        #: The places of documents that may be repaired.
        self._ready: list[PlaceName] = []
        #: Whether the document that was given is one of the files of the run.
        self.has_given = False

    def add(self, source: Source, changed: ChangedFile) -> None:
        """Add a file that was repaired."""
        place = place_of(source) or ("", source.name)
        self._changed[place] = changed
        self._ready += self._waiting.pop(place, ())

    def algorithms(self, source: Source, companion: Companion) -> tuple[str, ...]:
        """Return by which algorithms a document may have digests of a file."""
        found = self._algorithms.get(place_of(source) or ("", ""))
        if found is None:
            return companion.algorithms
        return tuple(name for name in companion.algorithms if name in found)

    def hold(
        self,
        source: Source,
        job: Job,
        found: Found,
    ) -> bool:
        """Return whether a document is to be repaired later, and keep it if so."""
        place = place_of(source)
        if place is None or found.format is None:
            return False
        if found.format.id not in _followers():
            return False
        if self.given is not None:
            if place != place_of(self.given):
                return False
            self.has_given = True
        self._held[place] = _Held(source, job)
        for name in (found.names or ()) if self.given is None else ():
            other = (place[0], os.path.normcase(name))
            self._waiting.setdefault(other, []).append(place)
            if other in self._changed:
                self._ready.append(place)
        return True

    def ready(self) -> Iterator[tuple[Source, Job]]:
        """Yield the held documents that have a repaired file, and release them."""
        ready, self._ready = self._ready, []
        for place in ready:
            one = self._held.pop(place, None)
            if one is not None:
                yield one.source, one.job

    def rest(self) -> Iterator[tuple[Source, Job]]:
        """Yield all other documents that were held."""
        for one in self._held.values():
            yield one.source, one.job

    def repairs(
        self, source: Source, codes: frozenset[str], format_id: str
    ) -> Follow | None:
        """Return what yields the repairs by which a document follows, if there are any.

        Repairs of other rules than those with these `codes` are not made.
        """
        if format_id not in _followers():
            return None

        def found(document: Any) -> Iterator[Repair]:
            for one in self._of_document(source, format_id, document):
                companion = one.companion
                if companion.follow is None:
                    continue
                algorithm = companion.algorithm(companion.expect(document))
                one.is_met |= not algorithm or algorithm in one.digests
                if algorithm in one.digests:
                    repairs = companion.follow(document, *one.digests[algorithm])
                    yield from (repair for repair in repairs if repair.code in codes)

        return found

    def unmet(self) -> Iterator[ChangedFile]:
        """Yield the repaired files whose document is there and could not follow.

        It is the one that was given, or it is next to the file and has a digest of it.
        """
        stated: dict[str, frozenset[str]] = {}
        for (folder, name), one in self._changed.items():
            if one.is_met:
                continue
            if self.given is None and folder not in stated:
                stated[folder] = frozenset(_names_stated(folder))
            if self.given is not None or name in stated[folder]:
                yield one

    @property
    def is_changed(self) -> bool:
        """Whether a file was repaired that a document may have digests of."""
        return bool(self._changed)

    def _of_document(
        self, source: Source, format_id: str, document: Any
    ) -> Iterator[ChangedFile]:
        """Yield the repaired files that a document may have digests of."""
        place = place_of(source)
        if not isinstance(document, dict) or place is None:
            return
        if self.given is not None:
            for one in self._changed.values():
                if one.companion.format == format_id:
                    yield one
            return
        for companion in _followers()[format_id]:
            if companion.file_names is not None:
                plain = without_compression(os.path.basename(source.name))  # noqa: PTH119 - a name may be a URL
                expected = companion.expect(document)
                for name in companion.file_names(plain, expected):
                    other = (place[0], os.path.normcase(name))
                    algorithm = companion.algorithm(expected)
                    self._algorithms.setdefault(other, set()).add(algorithm)
                    found = self._changed.get(other)
                    if found is not None:
                        yield found


def _names_stated(folder: str) -> Iterator[str]:
    """Yield the names of the files of which documents in a folder have digests."""
    try:
        entries = sorted(os.listdir(folder)) if folder else []  # noqa: PTH208 - names only
    except OSError:  # a folder of another machine
        return
    for entry in entries:
        plain = without_compression(entry)
        document = _document_at(Path(folder, entry)) if plain.endswith(".json") else {}
        for companion in chain.from_iterable(_followers().values()):
            expected = companion.expect(document)
            if companion.file_names is not None and companion.algorithm(expected):
                yield from map(os.path.normcase, companion.file_names(plain, expected))


def _document_at(path: Path) -> dict[str, Any]:
    """Return the document in a file, an empty one if it cannot be used."""
    text = bytearray()
    try:
        if not path.is_file():  # a pipe may never end
            return {}
        with open_source(Source(str(path), path)) as blocks:
            for block in blocks:
                text += block
                if len(text) > LARGEST:
                    return {}
        found = msgspec.json.decode(bytes(text).removeprefix(BOM))
    except (OSError, SourceError, *NOT_JSON):
        return {}
    return found if isinstance(found, dict) else {}


def followed_by(format_: Format | None) -> Companion | None:
    """Return how documents follow the repairs of files of a format, None if none do."""
    companion = None if format_ is None else format_.companion
    return companion if companion is not None and companion.follow is not None else None


@cache
def _followers() -> dict[str, list[Companion]]:
    """Return the companions whose documents follow, by the formats of these."""
    found: dict[str, list[Companion]] = {}
    for format_ in all_formats().values():
        companion = followed_by(format_)
        if companion is not None:
            known = found.setdefault(companion.format, [])
            if companion not in known:
                known.append(companion)
    return found
