"""Show edits of a file as a unified diff, in bounded memory."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.model.errors import HarpiaFormatsError
from harpia_formats.validation.repair.edits import Edit
from harpia_formats.validation.repair.splice import spliced

#: Unchanged lines that are shown around changed ones.
CONTEXT = 3
#: Lines and bytes of a part of the diff, at most: it is held until its header is known.
PART_LINES, PART_BYTES = 1000, 16 * 1024 * 1024
#: Bytes of a line, at most, unless the file has one line only.
LONGEST_LINE = ROW_LIMIT

#: Bytes of a name that stand for something else, or would end it.
_special = re.compile(rb'[\x00-\x1f\x7f"\\]')
_no_newline = b"\\ No newline at end of file\n"


class LineTooLong(HarpiaFormatsError):  # noqa: N818 - says what is wrong
    """A line is too long to be shown in a diff."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: a line of more than {LONGEST_LINE:,} bytes has no diff"


@dataclass(slots=True)
class _Part:
    """Lines of a diff that follow each other."""

    old_start: int
    new_start: int
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    old: int = 0
    new: int = 0
    #: Unchanged lines behind the last changed one.
    trailing: list[bytes] = field(default_factory=list)
    #: Unchanged lines before the first changed one.
    leading: int = 0
    #: Whether no unchanged lines are shown around it, since it is one of several parts
    #: of one change: `patch` takes a part with such lines on one side only for one at
    #: the beginning or the end of the file.
    is_bare: bool = False

    def add(self, mark: bytes, line: bytes) -> None:
        """Add a line that is in the old file, in the new one, or in both."""
        self.lines.append(mark + line)
        if not line.endswith(b"\n"):
            self.lines[-1] += b"\n" + _no_newline
        self.size += len(line)
        self.old += mark != b"+"
        self.new += mark != b"-"

    @property
    def is_large(self) -> bool:
        """Whether it is not to grow any more."""
        return len(self.lines) > PART_LINES or self.size > PART_BYTES

    def unified(self) -> bytes:
        """Return the part with its header, and the unchanged lines around it."""
        first = self.leading if self.is_bare else 0
        for line in () if self.is_bare else self.trailing[:CONTEXT]:
            self.add(b" ", line)
        old = _range(self.old_start + first, self.old - first)
        new = _range(self.new_start + first, self.new - first)
        return b"".join([f"@@ -{old} +{new} @@\n".encode(), *self.lines[first:]])


def _range(start: int, count: int) -> str:
    """Return the first line and the number of lines, as in the header of a part."""
    if count == 1:
        return str(start)
    return f"{start if count else start - 1},{count}"


def unified_diff(
    name: str, blocks: Iterable[bytes], edits: Iterable[Edit]
) -> Iterator[bytes]:
    """Yield the diff of a file that is made by `edits`, in order of their place.

    `blocks` are its bytes. Raises `LineTooLong`.
    """
    path = _shown_name(name)
    header = b"--- " + path + b"\n+++ " + path + b"\n"
    before: deque[bytes] = deque(maxlen=CONTEXT)
    part: _Part | None = None
    old_line = new_line = 1
    for old, new in _changed_lines(name, blocks, edits):
        if old == new:
            before, part, done = _unchanged(old[0], before, part)
            if done is not None:
                yield header + done.unified()
                header = b""
        else:
            is_cut = part is not None and part.is_large
            if part is not None and is_cut:
                part.is_bare = True
                yield header + part.unified()
                header, part = b"", None
                before.clear()
            if part is None:
                count = len(before)
                part = _Part(old_line - count, new_line - count)
                part.trailing, part.leading = list(before), count
                part.is_bare = is_cut
                before.clear()
            for line in part.trailing:
                part.add(b" ", line)
            part.trailing = []
            for mark, lines in ((b"-", old), (b"+", new)):
                for line in lines:
                    part.add(mark, line)
        old_line += len(old)
        new_line += len(new)
    if part is not None:
        yield header + part.unified()


def _shown_name(name: str) -> bytes:
    """Return the name of a file as `patch` and `git apply` read it.

    A name with a space ends at a tab; one with control characters, quotation marks or
    backslashes is in quotation marks, with these escaped.
    """
    path = name.encode("utf-8", "surrogateescape")
    if _special.search(path):
        return b'"' + _special.sub(lambda found: b"\\%03o" % found[0][0], path) + b'"'
    return path + b"\t" if b" " in path else path


def _unchanged(
    line: bytes, before: deque[bytes], part: _Part | None
) -> tuple[deque[bytes], _Part | None, _Part | None]:
    """Take an unchanged line.

    Return the lines before the next part, the part that goes on, and the one that ends.
    """
    if part is None:
        before.append(line)
        return before, None, None
    part.trailing.append(line)
    if len(part.trailing) <= 2 * CONTEXT:
        return before, part, None
    return deque(part.trailing[-CONTEXT:], maxlen=CONTEXT), None, part


def _changed_lines(
    name: str, blocks: Iterable[bytes], edits: Iterable[Edit]
) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Yield lines of a file as they were and as they are; unchanged ones one by one."""
    todo = iter(edits)
    edit = next(todo, None)
    begin, held, made = 0, b"", list[Edit]()
    for line in _lines(name, blocks):
        held += line
        end = begin + len(held)
        # An edit behind the last byte belongs to the last line.
        while edit is not None and edit.start < end:
            made.append(Edit(edit.start - begin, edit.end - begin, edit.data))
            edit = next(todo, None)
        if made and made[-1].end >= len(held) and not _ends_line(held, made[-1]):
            continue  # the next line is joined to this one, or begins changed
        yield _both(held, made)
        begin, held, made = end, b"", []
    if held:
        yield _both(held, made)


def _ends_line(held: bytes, last: Edit) -> bool:
    """Return whether the newline at the end of `held` stays, or is written again."""
    is_kept = last.end < len(held) or last.start == last.end == len(held)
    return is_kept or last.data.endswith(b"\n")


def _both(held: bytes, made: list[Edit]) -> tuple[list[bytes], list[bytes]]:
    """Return some lines as they were and as `made` leaves them."""
    old = held.splitlines(keepends=True) if b"\r" not in held else _split(held)
    if not made:
        return old, old
    return old, _split(b"".join(spliced([held], made)))


def _split(text: bytes) -> list[bytes]:
    """Return the lines of a text, which end at newlines only."""
    lines = text.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _lines(name: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file; raises `LineTooLong`."""
    held: list[bytes] = []
    size = 0
    for block in blocks:
        first, *rest = block.split(b"\n")
        for piece in rest:
            yield b"".join([*held, first, b"\n"])
            held, size, first = [], 0, piece
        held.append(first)
        size += len(first)
        if size > LONGEST_LINE:
            raise LineTooLong(name)
    if size:
        yield b"".join(held)
