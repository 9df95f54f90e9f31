"""Where ranges of whole lines end in a remote file, found by few small requests."""

from collections.abc import Iterator
from itertools import islice

from harpia_formats.io.remote.file import Remote

#: Bytes that are looked at for the end of a line, and places looked at together.
PROBE, TOGETHER = 64 * 1024, 16


def remote_ranges(remote: Remote, begin: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield where ranges of about `size` bytes begin and end; raises `OSError`."""
    total = remote.size or 0
    places = iter(range(begin + size, total, size))
    while some := list(islice(places, TOGETHER)):
        for end in _ends(remote, some, total):
            if end > begin:
                yield begin, end
                begin = end
    if begin < total:
        yield begin, total


def _ends(remote: Remote, places: list[int], total: int) -> Iterator[int]:
    """Yield where the lines end that hold the bytes at `places`."""
    probes = remote.read_many([(at, min(at + PROBE, total)) for at in places])
    # One after the other: those in front of one that cannot be read are found.
    for at, probe in zip(places, probes, strict=True):
        yield _end(remote, at, probe, total)


def _end(remote: Remote, at: int, probe: bytes, total: int) -> int:
    while (found := probe.find(b"\n")) < 0:
        at += len(probe)
        if at >= total:
            return total
        probe = remote.read(at, min(at + 16 * PROBE, total))
    return at + found + 1
