"""Edits of the text of rows: made of repairs, put into a file, shown as a diff."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import msgspec

from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.parsing.locate import PointerIndex, Span
from harpia_formats.model.exact_json import encode
from harpia_formats.model.format import ADD, REMOVE, RENAME_KEY, Repair
from harpia_formats.model.problem import HarpiaFormatsError, Path


class Edit(msgspec.Struct, frozen=True, order=True):
    """Bytes that take the place of those from `start` to `end`."""

    start: int
    end: int
    data: bytes


#: An edit, the offset in the text of what it is about, and the repair that it makes.
PlacedEdit = tuple[Edit, int, Repair]


def applicable(repairs: Iterable[Repair]) -> list[Repair]:
    """Return the repairs that can be made together.

    Of several at one path the first one is kept, none inside of a value that another
    one changes, and of several new keys with one name none. Nothing is added to an
    object from which something is removed.
    """
    by_path: dict[Path, Repair] = {}
    for repair in repairs:
        by_path.setdefault(repair.path, repair)
    names: dict[Path, int] = {}
    for repair in by_path.values():
        if repair.kind == RENAME_KEY:
            name = (*repair.path[:-1], repair.value)
            names[name] = names.get(name, 0) + 1
    emptied = {path[:-1] for path, one in by_path.items() if one.kind == REMOVE}
    return [
        repair
        for path, repair in by_path.items()
        if not any(path[:end] in by_path for end in range(len(path)))
        and not (repair.kind == ADD and path[:-1] in emptied)
        and (repair.kind != RENAME_KEY or names[*path[:-1], repair.value] == 1)
    ]


def edits_of(text: bytes, repairs: Sequence[Repair]) -> list[PlacedEdit]:
    """Return the edits for repairs that `applicable` returned, in order of their place.

    With each is the offset in `text` of what it is about. A repair has one edit; those
    of neighbours that are removed together are adjacent. Of the members that are added
    to an empty object only the first one has an edit. `text` is valid JSON without
    repeated keys.
    """
    index = PointerIndex(text)
    found: list[PlacedEdit] = []
    removed: dict[Path, dict[str | int, Repair]] = {}
    filled: set[Path] = set()
    for repair in repairs:
        members = index.entries(repair.path[:-1])
        if repair.kind == REMOVE:
            removed.setdefault(repair.path[:-1], {})[repair.path[-1]] = repair
        elif repair.kind == ADD:
            owner = repair.path[:-1]
            if members:
                found.append(_added(text, list(members.values()), repair))
            elif owner not in filled:
                filled.add(owner)
                found.append(_first(index.of(owner), repair))
        else:
            found.append(_replaced(members[repair.path[-1]], repair))
    for owner, steps in removed.items():
        found += _removed(index.entries(owner), steps)
    return sorted(found, key=itemgetter(0))


def _replaced(span: Span, repair: Repair) -> PlacedEdit:
    """Return the edit that writes a new value or key over the old one."""
    data = encode(repair.value)
    if repair.kind == RENAME_KEY:
        assert span.key is not None  # noqa: S101 - a member has a key
        assert span.key_end is not None  # noqa: S101 - a member has a key
        return Edit(span.key, span.key_end, data), span.key, repair
    return Edit(span.start, span.end, data), span.start, repair


def _removed(
    members: Mapping[str | int, Span], repairs: Mapping[str | int, Repair]
) -> Iterator[PlacedEdit]:
    """Yield the edits that remove members or items of one container.

    Each takes the comma before its entry with it, or the comma behind it where no
    entry before it is left.
    """
    spans = list(members.values())
    is_first_left = True
    for number, (step, span) in enumerate(members.items()):
        if step not in repairs:
            is_first_left = False
            continue
        at = begin = _begin_of(span)
        end = span.end
        if not is_first_left:
            begin = spans[number - 1].end
        elif number + 1 < len(spans):
            end = _begin_of(spans[number + 1])
        yield Edit(begin, end, b""), at, repairs[step]


def _begin_of(span: Span) -> int:
    """Return where a member or item begins."""
    return span.start if span.key is None else span.key


def _added(text: bytes, members: Sequence[Span], repair: Repair) -> PlacedEdit:
    """Return the edit that adds to the `members` of an object, spaced as they are."""
    key, value = encode(repair.path[-1]), encode(repair.value)
    *others, last = members
    colon, between = text[last.key_end : last.start], b", "
    if others:
        between = text[others[-1].end : last.key]
    data = between + key + colon + value
    return Edit(last.end, last.end, data), last.end, repair


def _first(owner: Span, repair: Repair) -> PlacedEdit:
    """Return the edit that adds to an empty object."""
    at = owner.start + 1
    return Edit(at, at, encode({repair.path[-1]: repair.value})[1:-1]), at, repair


class EditedText:
    """A text with the edits that were made to it so far, in rounds.

    The edits of a round are about the text that the rounds before it left.
    """

    def __init__(self, text: bytes) -> None:
        self._original = text
        #: The text as it is now: pieces of the original, from and to, or new bytes.
        self._pieces: list[tuple[int, int] | bytes] = [(0, len(text))]
        self.text = text

    def apply(self, edits: Sequence[Edit]) -> None:
        """Make further edits, which are in order and do not overlap."""
        pieces: list[tuple[int, int] | bytes] = []
        done, begin = 0, 0
        for piece in self._pieces:
            at, size = 0, _size_of(piece)
            while done < len(edits) and edits[done].start < begin + size:
                edit = edits[done]
                if edit.start >= begin:
                    pieces += [_part_of(piece, at, edit.start - begin), edit.data]
                at = min(edit.end - begin, size)
                if edit.end > begin + size:
                    break
                done += 1
            pieces.append(_part_of(piece, at, size))
            begin += size
        pieces += [edit.data for edit in edits[done:] if edit.start >= begin]
        self._pieces = [piece for piece in pieces if _size_of(piece)]
        self.text = b"".join(map(self._bytes_of, self._pieces))

    def original_offset(self, at: int) -> int:
        """Return where in the original the byte `at` of the text comes from.

        For a new byte it is where that was put.
        """
        begin = end = 0
        for piece in self._pieces:
            size = _size_of(piece)
            if isinstance(piece, tuple):
                if at < begin + size:
                    return piece[0] + at - begin
                end = piece[1]
            elif at < begin + size:
                return end
            begin += size
        return end

    def edits(self) -> list[Edit]:
        """Return the edits of the original that give the text."""
        found: list[Edit] = []
        at, new = 0, b""
        for piece in [*self._pieces, (len(self._original), len(self._original))]:
            if isinstance(piece, bytes):
                new += piece
                continue
            if new or piece[0] > at:
                found.append(Edit(at, piece[0], new))
            at, new = piece[1], b""
        return found

    def _bytes_of(self, piece: tuple[int, int] | bytes) -> bytes:
        if isinstance(piece, bytes):
            return piece
        return self._original[piece[0] : piece[1]]


def _size_of(piece: tuple[int, int] | bytes) -> int:
    """Return how many bytes a piece has."""
    return len(piece) if isinstance(piece, bytes) else piece[1] - piece[0]


def _part_of(
    piece: tuple[int, int] | bytes, start: int, end: int
) -> tuple[int, int] | bytes:
    """Return the bytes from `start` to `end` of a piece as a piece."""
    if isinstance(piece, bytes):
        return piece[start:end]
    return piece[0] + start, piece[0] + end


def spliced(blocks: Iterable[bytes], edits: Iterable[Edit]) -> Iterator[bytes]:
    """Yield the bytes of `blocks` with the `edits`, which are in order of their place.

    Raises `ValueError` if they are not, or if an edit is behind the end.
    """
    todo = iter(edits)
    edit = next(todo, None)
    begin = skip = 0
    for block in blocks:
        end, at = begin + len(block), max(0, skip - begin)
        parts = []
        while edit is not None and edit.start < end:
            if edit.start < begin + at:
                raise ValueError("edits overlap")
            parts += [block[at : edit.start - begin], edit.data]
            skip = edit.end
            at = min(skip - begin, len(block))
            edit = next(todo, None)
        if parts:
            parts.append(block[at:])
            yield b"".join(parts)
        elif at < len(block):
            yield block[at:] if at else block
        begin = end
    while edit is not None:
        if not edit.start == edit.end == begin:
            raise ValueError("an edit is behind the end")
        yield edit.data
        edit = next(todo, None)


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
