"""Find the rows of a file whose bytes hold a text, or that have a value in a field.

It is done in a process of its own, which can be ended at any moment: a regular
expression may take for ever. The numbers of the rows go to a file as they are found.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from string import punctuation
from threading import Lock
from time import sleep
from typing import Any

import msgspec
import numpy as np

from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.view.options import ViewError
from harpia_formats.view.record_reader import cells_of, value_of
from harpia_formats.view.row_index import READ_AT_ONCE, RowIndex

#: Rows whose offsets are read at once.
ROWS_AT_ONCE = 65_536
#: Seconds between two looks at an index that still grows.
WAIT = 0.1
#: Seconds that rows of `READ_AT_ONCE` bytes may take before a search is given up.
LIMIT = 20.0


class Wanted(msgspec.Struct, frozen=True):
    """What is searched for: a text, the value of a field, or both."""

    text: str = ""
    #: Whether `text` is a regular expression over the bytes of rows.
    is_pattern: bool = False
    #: Whether upper and lower case differ.
    heeds_case: bool = False
    #: The keys of a field in rows joined by dots, and its value; "" for any value.
    field: str = ""
    value: str = ""


class SearchProgress(msgspec.Struct, frozen=True):
    """How far a search is: the rows that were searched, and those that were found."""

    rows: int
    found: int


#: Held while warnings are off, which they are for all threads at once.
_without_warnings = Lock()


def compiled(
    wanted: Wanted, *, escaped: str = punctuation
) -> "re.Pattern[bytes] | None":
    """Return the expression for what is searched for in the bytes of rows, if anything.

    Of printable ASCII characters only those in `escaped` may be spelt by their code.
    Raises `ViewError` for a regular expression that is none.
    """
    if not wanted.text:
        return None
    flags = 0 if wanted.heeds_case else re.IGNORECASE
    if not wanted.is_pattern:
        alternatives = (
            _spellings(character, escaped, heeds_case=wanted.heeds_case)
            for character in wanted.text
        )
        return re.compile(b"".join(alternatives), flags)
    try:
        with _without_warnings, warnings.catch_warnings():
            # What may mean something else in a later Python is no fault of the user.
            warnings.simplefilter("ignore")
            return re.compile(wanted.text.encode(), flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise ViewError(f"this is no regular expression: {error}") from error


def _spellings(character: str, escaped: str, *, heeds_case: bool) -> bytes:
    """Return an expression for a character as it may be spelt in JSON or a table."""
    given = {character}
    if not heeds_case and not character.isascii():
        given |= {character.lower(), character.upper()}
    coded = {*_escapes, *escaped, "\x7f"}
    spelt = []
    for text in sorted(given):
        spelt.append(re.escape(text.encode("utf-8", "surrogatepass")))
        if not text.isascii() or text in coded or text < " ":
            units = text.encode("utf-16-be", "surrogatepass")
            codes = (units[at : at + 2].hex() for at in range(0, len(units), 2))
            spelt.append(b"".join(_escaped_unit(code) for code in codes))
        spelt += [re.escape(one) for one in _escapes.get(text, ())]
    return spelt[0] if len(spelt) == 1 else b"(?:" + b"|".join(spelt) + b")"


def _escaped_unit(code: str) -> bytes:
    """Return an expression for an escape of four hexadecimal digits, in either case."""
    digits = (f"[{digit}{digit.upper()}]" if digit > "9" else digit for digit in code)
    return rb"\\u" + "".join(digits).encode()


#: What stands in a text with an escape of a printable ASCII character.
_ascii_escape = re.compile(rb"\\u00[2-7]")
#: How characters may be spelt besides `\u` and themselves.
_escapes = {
    '"': (b'\\"', b'""'),
    "\\": (b"\\\\",),
    "/": (b"\\/",),
    "\n": (b"\\n",),
    "\r": (b"\\r",),
    "\t": (b"\\t",),
    "\b": (b"\\b",),
    "\f": (b"\\f",),
}


@dataclass(frozen=True, slots=True)
class SearchedRows:
    """The rows that are searched; plain data for another process."""

    #: The file or copy that has them, and the names of the files of its index.
    text: str
    base: str
    kind: str
    #: The columns of a table, and what separates them.
    columns: tuple[str, ...] = ()
    delimiter: str = ","
    #: Whether NaN and Infinity in rows are read as null.
    reads_nan: bool = False


def search_rows(
    rows: SearchedRows, wanted: Wanted, found: str
) -> Iterator[SearchProgress]:
    """Search all rows, including those that are yet to be indexed.

    The numbers of those that were found are written to the file `found`, in order, 8
    bytes each. Raises `ViewError` for a regular expression that is none.
    """
    patterns = compiled(wanted), compiled(wanted, escaped="")
    has_value = None if not wanted.field else _field_test(wanted, rows)
    index = RowIndex(rows.text, rows.base, rows.kind)
    seen, total = 0, 0
    with Path(found).open("wb", buffering=0) as file:
        while True:
            is_complete = Path(f"{rows.base}.end").exists()
            known = index.known
            while seen < known:
                first = seen + 1
                numbers, seen = _found_in(index, first, known, patterns, has_value)
                file.write(np.array(numbers, dtype=np.uint64).tobytes())
                total += len(numbers)
                yield SearchProgress(seen, total)
            if is_complete:
                break
            sleep(WAIT)
            yield SearchProgress(seen, total)
    index.close()


def _found_in(
    index: RowIndex,
    first: int,
    known: int,
    patterns: "tuple[re.Pattern[bytes] | None, re.Pattern[bytes] | None]",
    has_value: Callable[[bytes], bool] | None,
) -> tuple[list[int], int]:
    """Return the numbers of the next rows that are wanted, and the last one seen.

    The second of the patterns, which is faster, is for rows without escapes of ASCII.
    """
    starts = index.starts(first, min(ROWS_AT_ONCE, known - first + 1))
    base = int(starts[0])
    end = int(np.searchsorted(starts, base + READ_AT_ONCE, "right")) - 1
    starts = starts[: max(1, end) + 1]
    text = index.text(base, int(starts[-1]))
    edges = (starts - base).tolist()
    last = first + len(edges) - 2
    places: Any = range(len(edges) - 1)
    full, plain = patterns
    pattern = full if full == plain or _ascii_escape.search(text) else plain
    if pattern is not None:
        is_literal = not any(c in b"\\.^$*+?{}[]|()" for c in pattern.pattern)
        if is_literal and not pattern.flags & re.IGNORECASE:
            places = _with_literal(text, edges, pattern.pattern, index.behind)
        else:
            search, behind = pattern.search, index.behind
            places = [
                place
                for place in places
                if search(text[edges[place] : edges[place + 1]].rstrip(behind))
            ]
    if has_value is not None:
        places = [
            place
            for place in places
            if has_value(text[edges[place] : edges[place + 1]])
        ]
    return [first + place for place in places], last


def _with_literal(
    text: bytes, edges: list[int], literal: bytes, behind: bytes
) -> list[int]:
    """Return the rows of a text that hold a literal text before what is `behind`."""
    found, at = [], text.find(literal)
    may_be_behind = literal[-1] in behind
    sorted_edges = np.array(edges)
    while at >= 0:
        place = int(np.searchsorted(sorted_edges, at, "right")) - 1
        begin, end = edges[place], edges[place + 1]
        stop = begin + len(text[begin:end].rstrip(behind)) if may_be_behind else end
        if at + len(literal) <= stop:
            found.append(place)
        # Any other place of it in the row is nearer to the end.
        at = text.find(literal, end)
    return found


def _field_test(wanted: Wanted, rows: SearchedRows) -> Callable[[bytes], bool]:
    """Return what tells whether a row has the wanted value in the wanted field."""
    if rows.kind == "table":
        return _cell_test(wanted, rows)
    keys = wanted.field.split(".")
    value: Any = None
    is_json = True
    try:
        value = decode(wanted.value.encode())
    except NOT_JSON:
        is_json = False

    def is_wanted(found: Any) -> bool:
        if not wanted.value:
            return True
        if isinstance(found, str):
            return found == wanted.value
        if isinstance(found, list) and any(map(is_wanted, found)):
            return True
        return is_json and type(found) is type(value) and found == value

    def test(row: bytes) -> bool:
        try:
            document = value_of(row.rstrip(b" \t\r\n,"), reads_nan=rows.reads_nan)
        except NOT_JSON:
            return False
        return any(map(is_wanted, values_at(document, keys)))

    return test


def _cell_test(wanted: Wanted, rows: SearchedRows) -> Callable[[bytes], bool]:
    """Return what tells whether a row of a table has the wanted value in a column."""
    if wanted.field not in rows.columns:
        return lambda _: False
    place = rows.columns.index(wanted.field)

    def test(row: bytes) -> bool:
        try:
            cells = cells_of(row, rows.delimiter)
        except UnicodeDecodeError:
            return False
        return place < len(cells) and wanted.value in {"", cells[place]}

    return test


def values_at(document: Any, keys: list[str]) -> Iterator[Any]:
    """Yield the values at a path of keys; of lists, those of all items.

    A key may have dots itself: a path may go by several keys at once.
    """
    if not keys:
        yield document
        return
    if isinstance(document, list):
        for item in document:
            yield from values_at(item, keys)
    elif isinstance(document, dict):
        for end in range(1, len(keys) + 1):
            key = ".".join(keys[:end])
            if key in document:
                yield from values_at(document[key], keys[end:])
