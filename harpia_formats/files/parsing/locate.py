"""Find values, members and repeated names in the bytes of one valid JSON text."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from harpia_formats.model.exact_json import encode
from harpia_formats.model.problem import Path

#: White space in JSON: the parser accepts these four characters, not a form feed.
SPACE_PATTERN = rb"[ \t\n\r]*+"
_space = re.compile(SPACE_PATTERN)


def skip_space(text: bytes, at: int) -> int:
    """Return the offset behind the white space at `at`."""
    return end_of(_space, text, at)


def end_of(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    """Return the offset behind the match of `pattern` at `at`; `at` if none."""
    match = pattern.match(text, at)
    return match.end() if match else at


_BRACE, _QUOTE = b'{"'
_WS = SPACE_PATTERN

# These are for valid texts only, so they need not be strict.
_ANY_CHARACTERS = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+){0,200}')
_UNSTRUCTURED = re.compile(rb'[^"{}\[\]]*+')
_WITHOUT_BRACKETS = re.compile(rb'[^"{}\[\]]*+(?:"[^"\\]*+"[^"{}\[\]]*+){0,200}')
_SIMPLE_MEMBER = re.compile(
    rb'[ \t\n\r,]*+("[^"\\]*+")'
    + _WS
    + rb":"
    + _WS
    + rb'(?:"[^"\\]*+"|[^ \t\n\r,"{}\[\]]*+)'
)
_PLAIN = rb'("[^"\\]*+"|[^ \t\n\r,"{}\[\]]++)[ \t\n\r,]*+'
_PLAIN_ITEM = re.compile(_PLAIN)
_PLAIN_MEMBER = re.compile(rb'("[^"\\]*+")' + _WS + rb":" + _WS + _PLAIN)
_SEPARATORS = re.compile(rb"[ \t\n\r,]*+")
_COLON = re.compile(_WS + rb":")
_BARE = re.compile(rb"[^ \t\n\r,\]}]*+")

#: Both ends of a member's name, if it has one, and the start of its value.
_Entry = tuple[int | None, int | None, int]


class Span(Struct, frozen=True):
    """Where a value is, in bytes from the start of the text."""

    #: Opening quotation mark of the member's name; None for the root and for items.
    key: int | None
    #: Behind the closing quotation mark.
    key_end: int | None
    start: int
    end: int


class Duplicate(Struct, frozen=True):
    """A member name that its object already has, and where, in bytes."""

    path: Path
    #: Opening quotation mark of the first member of that name.
    first: int
    #: Opening quotation mark of this one.
    start: int
    #: Behind its closing quotation mark.
    end: int


class _Container(Struct):
    """A container that is being read."""

    is_object: bool
    #: Name of the last member, in an object.
    name: str = ""
    #: Index of the last item, in an array.
    index: int = 0
    #: Where each name was first.
    names: dict[str, int] = field(default_factory=dict)

    @property
    def step(self) -> str | int:
        """The step of a path to the entry that is being read."""
        return self.name if self.is_object else self.index


def locate(text: bytes, path: Path) -> Span:
    """Return where the value at `path` is in the valid JSON `text`.

    Of members with the same name the last one counts, as it does for the parser.
    Raises `KeyError` if there is no such value.
    """
    found = None
    for candidate in _candidates(text, path):
        found = candidate
    if found is None:
        raise KeyError(path)
    return found


def _candidates(text: bytes, path: Path) -> Iterator[Span | None]:
    """Yield each value at `path`, and None where a repeated member replaces it.

    The text is read once, however deep the path is and whatever is repeated.
    """
    opened: list[_Container] = []
    entry: _Entry | None = (None, None, skip_space(text, 0))
    while entry:
        key, key_end, at = entry
        if len(opened) < len(path) and text[at] in b"{[":
            yield None
            opened.append(_Container(is_object=text[at] == _BRACE))
            at += 1
        else:
            end = _end_of_value(text, at)
            yield Span(key, key_end, at, end) if len(opened) == len(path) else None
            at = end
        entry = _next_on(path, text, at, opened)


def _next_on(
    path: Path, text: bytes, at: int, opened: list[_Container]
) -> _Entry | None:
    """Return the next entry whose own path is `path` or a beginning of it."""
    while opened:
        ahead = end_of(_SEPARATORS, text, at)
        if text[ahead] in b"}]":
            opened.pop()
            at = ahead + 1
            continue
        inner, step = opened[-1], path[len(opened) - 1]
        if inner.is_object:
            at = _behind_others(text, ahead, str(step).encode())
            if at > ahead:
                continue
        inner.index += text.count(b",", at, ahead)
        entry = _entry(text, ahead, inner)
        if inner.step == step:
            return entry
        at = _end_of_value(text, entry[2])
    return None


def _behind_others(text: bytes, at: int, name: bytes) -> int:
    """Return the offset behind the plain members at `at` that have another name."""
    while plain := _PLAIN_MEMBER.match(text, at):
        if text[at + 1 : plain.end(1) - 1] == name:
            break
        at = plain.end()
    return at


def _entry(text: bytes, at: int, inner: _Container) -> _Entry:
    """Return the entry of `inner` at `at`, and store the name of a member in it."""
    if not inner.is_object:
        return None, None, at
    end = _end_of_any_string(text, at)
    inner.name = _decoded(text, at, end)
    return at, end, skip_space(text, end_of(_COLON, text, end))


def entries(text: bytes, start: int) -> Iterator[tuple[str | int, Span]]:
    """Yield the members or items of the value at `start` of the valid JSON `text`.

    A scalar has none.
    """
    if text[start] not in b"{[":
        return
    inner = _Container(is_object=text[start] == _BRACE)
    at = end_of(_SEPARATORS, text, start + 1)
    while text[at] not in b"}]":
        # Most entries are plain; matching each at once takes a fifth of the time.
        if inner.is_object and (plain := _PLAIN_MEMBER.match(text, at)):
            name = text[at + 1 : plain.end(1) - 1].decode()
            yield name, Span(at, plain.end(1), *plain.span(2))
            at = plain.end()
            continue
        if not inner.is_object and (plain := _PLAIN_ITEM.match(text, at)):
            yield inner.index, Span(None, None, *plain.span(1))
            at = plain.end()
            inner.index += 1
            continue
        key, key_end, begin = _entry(text, at, inner)
        end = _end_of_value(text, begin)
        yield inner.step, Span(key, key_end, begin, end)
        at = end_of(_SEPARATORS, text, end)
        inner.index += 1


def member_value(text: bytes, start: int) -> bytes:
    """Return the value of the member whose name begins at `start` of valid JSON."""
    begin = end_of(_COLON, text, _end_of_any_string(text, start))
    begin = skip_space(text, begin)
    return text[begin : _end_of_value(text, begin)]


def duplicates(text: bytes) -> Iterator[Duplicate]:
    """Yield every repeated member name in the valid JSON `text`, in order.

    Names are compared after unescaping.
    """
    opened: list[_Container] = []
    at = 0
    while at < len(text):
        if opened and opened[-1].is_object:
            while member := _SIMPLE_MEMBER.match(text, at):
                at = member.end()
                yield from _repeated(text, member.start(1), member.end(1), opened)
        ahead = end_of(_UNSTRUCTURED, text, at)
        if opened:
            opened[-1].index += text.count(b",", at, ahead)
        at = _end_of_token(text, ahead, opened)
        if text[ahead : ahead + 1] == b'"' and _COLON.match(text, at):
            yield from _repeated(text, ahead, at, opened)


def repeated_paths(text: bytes) -> list[Path]:
    """Return the path of every repeated member name that `duplicates` yields.

    They are in the same order, and found several times as fast, without their places.
    """
    try:
        value = _decode_pairs(text.decode())
    except (ValueError, RecursionError):  # an integer of very many digits
        return [duplicate.path for duplicate in duplicates(text)]
    found: list[Path] = []
    if type(value) in _containers:
        _add_repeated(value, (), found)
    return found


_objects = frozenset({dict})


def repeats_key(text: str, value: Any) -> bool:
    """Tell whether an object in JSON `text`, decoded as `value`, has a key twice.

    Each key is in `value` once, and its colon in the text: with as many colons in both,
    no key is repeated, and the text need not be read again.
    """
    colons = text.count(":")
    own = 0
    if type(value) is dict:
        own = len(value)
    elif type(value) is list and _objects.issuperset(map(type, value)):
        own = sum(map(len, value))
    if colons == own:
        return False
    try:
        # A colon can also be written as an escape.
        if "\\u003" not in text and colons == encode(value).count(b":"):
            return False
    except RecursionError:
        pass
    return any(duplicates(text.encode()))


class _Repeating(list[tuple[str, Any]]):
    """The members of an object that has a name more than once."""


def _object_of(members: list[tuple[str, Any]]) -> Any:
    found = dict(members)
    return found if len(found) == len(members) else _Repeating(members)


_decode_pairs = json.JSONDecoder(object_pairs_hook=_object_of).decode
_containers = frozenset({dict, list, _Repeating})


def _add_repeated(value: Any, path: Path, found: list[Path]) -> None:
    """Add the paths of repeated names in a container at `path` to `found`."""
    entries = enumerate(value) if type(value) is list else iter(value)
    if type(value) is dict:
        entries = iter(value.items())
    names: set[Any] | None = set() if type(value) is _Repeating else None
    for step, entry in entries:
        if names is not None:
            if step in names:
                found.append((*path, step))
            names.add(step)
        if type(entry) in _containers:
            _add_repeated(entry, (*path, step), found)


def _end_of_token(text: bytes, at: int, opened: list[_Container]) -> int:
    """Return the end of the string or bracket at `at`, and open or close a container.

    At the end of the text there is neither.
    """
    token = text[at : at + 1]
    if token == b'"':
        return _end_of_any_string(text, at)
    if token in (b"{", b"["):
        opened.append(_Container(is_object=token == b"{"))
    elif token:
        opened.pop()
    return at + 1


def _repeated(
    text: bytes, start: int, end: int, opened: list[_Container]
) -> Iterator[Duplicate]:
    """Yield the name from `start` to `end` if its object has it already."""
    inner = opened[-1]
    inner.name = _decoded(text, start, end)
    first = inner.names.setdefault(inner.name, start)
    if first != start:
        yield Duplicate(
            tuple(container.step for container in opened), first, start, end
        )


def _end_of_value(text: bytes, start: int) -> int:
    """Return the end of the value at `start`, known to be valid."""
    if text[start] == _QUOTE:
        return _end_of_any_string(text, start)
    if text[start] not in b"{[":
        return end_of(_BARE, text, start)
    depth, at = 1, start + 1
    while depth:
        at = end_of(_WITHOUT_BRACKETS, text, at)
        if text[at] == _QUOTE:
            at = _end_of_any_string(text, at)
        else:
            depth += 1 if text[at] in b"{[" else -1
            at += 1
    return at


def _end_of_any_string(text: bytes, start: int) -> int:
    """Return the end of the string at `start`, known to be valid."""
    at = start + 1
    while text[at] != _QUOTE:
        at = end_of(_ANY_CHARACTERS, text, at)
    return at + 1


def _decoded(text: bytes, start: int, end: int) -> str:
    """Return the string from `start` to `end`."""
    if text.find(b"\\", start, end) < 0:
        return text[start + 1 : end - 1].decode()
    return msgspec.json.decode(text[start:end], type=str)


class PointerIndex:
    """The places of values in a valid JSON text.

    The first lookup scans for its value only. Further lookups read the containers on
    the way, each once, so that a thousand lookups take no longer than reading the text.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._was_used = False
        self._inside: dict[Path, Mapping[str | int, Span]] = {}

    def of(self, path: Path) -> Span:
        """Return where the value at `path` is; raises `KeyError` if there is none."""
        if not path or not self._was_used:
            self._was_used = True
            return locate(self._text, path)
        try:
            return self.entries(path[:-1])[path[-1]]
        except KeyError:
            raise KeyError(path) from None

    def entries(self, path: Path) -> Mapping[str | int, Span]:
        """Return the members or items of the container at `path`, in order.

        Of members with the same name there is the last one only. Raises `KeyError` if
        there is no such container.
        """
        for end in range(len(path) + 1):
            if path[:end] not in self._inside:
                self._read(path[:end])
        return self._inside[path]

    def _read(self, path: Path) -> None:
        """Read the entries of the container at `path`, whose parent was read."""
        if path:
            start = self._inside[path[:-1]][path[-1]].start
        else:
            start = skip_space(self._text, 0)
        # Of members with the same name the last one counts.
        self._inside[path] = dict(entries(self._text, start))
