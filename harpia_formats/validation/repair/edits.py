"""Turn repairs of one row into edits of its text, which leave all other bytes alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

import msgspec

from harpia_formats.files.parsing.locate import Span
from harpia_formats.files.parsing.pointer_index import PointerIndex
from harpia_formats.model.exact_json import encode
from harpia_formats.model.problem import Path
from harpia_formats.model.repair import ADD, REMOVE, RENAME_KEY, Repair


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
