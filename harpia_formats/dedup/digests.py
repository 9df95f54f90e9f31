"""Which of any number of texts occur more than once, found in bounded memory.

A text is an 8-byte digest here.  Equal texts have equal digests; that two unequal
texts share one is rare but possible, so that whoever reports a finding compares the
texts themselves.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import compress, filterfalse
from os import SEEK_END
from typing import IO, Self

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.io.reader import SourceError, error_reason

#: Digests held in memory, 8 bytes each, before they are written to a file.
HELD = 128 * 1024
#: Distinct digests that are looked at together, at most some 70 bytes each.
WHOLE = 64 * 1024
#: Digests that an answer names; what is behind them is counted only.
LIMIT = 100_000
#: Digests taken from a partition at a time.
_PIECE = 16 * 1024
_WIDTH = 8
_PARTITIONS = 256
#: Bits of a digest's second byte, by which a partition is parted further.
_BITS = 8

_hash: Callable[[str | bytes], int] = stringzilla.hash


@dataclass(frozen=True, slots=True)
class RepeatedTexts:
    """What was added more than once."""

    #: At most as many as the limit allows.
    digests: frozenset[int]
    #: How often anything was added again, whether or not it is named.
    surplus: int


@dataclass(frozen=True, slots=True)
class MissingTexts:
    """What one holds and another does not."""

    #: At most as many as the limit allows.
    digests: frozenset[int]
    #: How often any of it was added, whether or not it is named.
    occurrences: int


def digest_of(text: str) -> int:
    """Return the digest of `text`, from 0 to 2^64 - 1, the same in every process."""
    return _hash(text.encode("utf-8", "surrogatepass"))


def digests_of(texts: Collection[str]) -> "array[int]":
    """Return the digests of some texts, in their order."""
    return array("Q", _digests(texts))


class Digests:
    """The digests of any number of texts, for `with` or `close`.

    Beyond `held` digests they lie in a file without a name in the temporary folder;
    at most `whole` distinct ones are looked at together, and an answer names at most
    `limit`.
    """

    __slots__ = ("_limit", "_whole", "partitions")

    def __init__(
        self, held: int = HELD, whole: int = WHOLE, limit: int = LIMIT
    ) -> None:
        self.partitions = _Partitions(held)
        self._whole = whole
        self._limit = limit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self.partitions.close()

    def add(self, texts: Collection[str]) -> None:
        """Add some texts, best a few dozen or more at once.

        Raise `SourceError` where they cannot be written, as on a full disk.
        """
        self.partitions.add(_digests(texts), len(texts))

    def add_digests(self, digests: Collection[int]) -> None:
        """Add texts by their digests, which were made elsewhere.

        Raise `SourceError` as `add` does.
        """
        self.partitions.add(digests, len(digests))

    def repeated(self) -> RepeatedTexts:
        """Return what was added more than once.

        Raise `SourceError` where the temporary file fails.
        """
        mine = self.partitions
        found: set[int] = set()
        surplus = 0
        for share, distinct, count in mine.shares(self._whole):
            again = count - len(distinct)
            surplus += again
            if again and len(found) < self._limit:
                repeated = _repeated(distinct, mine.pieces(share))
                _note(found, repeated, self._limit)
        return RepeatedTexts(frozenset(found), surplus)

    def repeated_ones(self) -> Iterator[tuple[int, list[int]]]:
        """Yield what was added more than once, some of it at a time, by its low byte.

        Raise `SourceError` where the temporary file fails.
        """
        mine = self.partitions
        for share, distinct, count in mine.shares(self._whole):
            if count > len(distinct):
                yield share.partition, list(_repeated(distinct, mine.pieces(share)))

    def missing_from(self, other: "Digests") -> MissingTexts:
        """Return what was added here and not to `other`.

        Raise `SourceError` where a temporary file fails.
        """
        mine = self.partitions
        mine.settle()
        found: set[int] = set()
        occurrences = 0
        for share, known, _ in other.partitions.shares(self._whole):
            for piece in mine.pieces(share):
                missing = list(filterfalse(known.__contains__, piece))
                occurrences += len(missing)
                _note(found, missing, self._limit)
        return MissingTexts(frozenset(found), occurrences)


@dataclass(frozen=True, slots=True)
class _Share:
    """The digests of a partition whose second byte ends in these bits of `value`."""

    partition: int
    bits: int = 0
    value: int = 0

    def halves(self) -> tuple["_Share", "_Share"]:
        bits = self.bits + 1
        one = self.value | 1 << self.bits
        return replace(self, bits=bits), replace(self, bits=bits, value=one)

    def table(self) -> bytes:
        """Return for every byte whether a digest with it belongs here."""
        mask = (1 << self.bits) - 1
        return bytes(each & mask == self.value for each in range(256))


class _Partitions:
    """Digests by their low byte, in memory and beyond `held` of them in a file."""

    __slots__ = ("_appends", "_count", "_file", "_held", "_parts", "_runs")

    def __init__(self, held: int) -> None:
        self._held = held
        self._count = 0
        self._parts = [array("Q") for _ in range(_PARTITIONS)]
        self._appends = [each.append for each in self._parts]
        #: Offset and size in bytes of each piece in the file, in turn.
        self._runs = [array("Q") for _ in range(_PARTITIONS)]
        self._file: IO[bytes] | None = None

    def add(self, digests: Iterable[int], count: int) -> None:
        appends = self._appends
        for each in digests:
            appends[each & 0xFF](each)
        self._count += count
        if self._count >= self._held:
            self._spill()

    def settle(self) -> None:
        """Make room for sets where there was more than memory has room for."""
        if self._file and self._count:
            self._spill()

    def shares(self, whole: int) -> Iterator[tuple[_Share, set[int], int]]:
        """Yield all in shares: each with its distinct digests and how many it has.

        They are at most some more than `whole`, unless so many agree in two bytes.
        """
        self.settle()
        for each in range(_PARTITIONS):
            if self._parts[each] or self._runs[each]:
                yield from self._parted(_Share(each), whole)
            else:
                yield _Share(each), set(), 0

    def _parted(
        self, share: _Share, whole: int
    ) -> Iterator[tuple[_Share, set[int], int]]:
        distinct: set[int] = set()
        count = 0
        for piece in self.pieces(share):
            distinct.update(piece)
            count += len(piece)
            if len(distinct) > whole and share.bits < _BITS:
                break
        else:
            yield share, distinct, count
            return
        del distinct  # before the halves have theirs
        for half in share.halves():
            yield from self._parted(half, whole)

    def pieces(self, share: _Share) -> Iterator[Sequence[int]]:
        """Yield the digests of a share, in the order in which they were added."""
        table = share.table() if share.bits else b""
        for data in self._data(share.partition):
            piece = array("Q", data)
            if share.bits:
                yield list(compress(piece, data[1::_WIDTH].translate(table)))
            else:
                yield piece

    def _data(self, partition: int) -> Iterator[bytes]:
        runs, held = self._runs[partition], self._parts[partition]
        for offset, size in zip(runs[::2], runs[1::2], strict=True):
            for start in range(0, size, _PIECE * _WIDTH):
                yield self._read(offset + start, min(_PIECE * _WIDTH, size - start))
        for start in range(0, len(held), _PIECE):
            yield held[start : start + _PIECE].tobytes()

    def _read(self, offset: int, size: int) -> bytes:
        with _failing_plainly():
            file = self._opened()
            file.seek(offset)
            return file.read(size)

    def _spill(self) -> None:
        """Write all that is held to the file."""
        with _failing_plainly():
            file = self._opened()
            for held, runs in zip(self._parts, self._runs, strict=True):
                if held:
                    offset = file.seek(0, SEEK_END)
                    file.write(held)
                    runs.extend((offset, len(held) * _WIDTH))
                    del held[:]
            file.flush()
        self._count = 0

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            from tempfile import TemporaryFile  # noqa: PLC0415 - few runs need it

            self._file = TemporaryFile()  # noqa: SIM115 - `close` closes it
        return self._file

    def close(self) -> None:
        if self._file:
            with suppress(OSError):  # of what could not be written before
                self._file.close()


def _digests(texts: Collection[str]) -> Iterator[int]:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:  # a lone surrogate, which stringzilla does not survive
        return map(digest_of, texts)
    return map(_hash, texts)


def _repeated(unseen: set[int], pieces: Iterable[Iterable[int]]) -> Iterator[int]:
    """Yield every digest that comes again, and use up `unseen` on the way."""
    for piece in pieces:
        for each in piece:
            if each in unseen:
                unseen.remove(each)
            else:
                yield each


def _note(found: set[int], digests: Iterable[int], limit: int) -> None:
    """Add `digests` to `found` up to its limit."""
    for each in digests:
        if len(found) >= limit:
            return
        found.add(each)


@contextmanager
def _failing_plainly() -> Iterator[None]:
    """Raise `SourceError` for what the temporary file cannot do."""
    try:
        yield
    except OSError as error:
        raise SourceError("temporary file", error_reason(error)) from error
