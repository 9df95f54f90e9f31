"""Whole answers about small inputs, each of which was looked at.

`answers.jsonl` has an input and its answer on each line. Where an answer changes on
purpose, or for a new line without one, `python tests/files/parsing/test_answers.py`,
with `tests/helpers` in PYTHONPATH, writes all answers again; the difference then has to
be read as closely as code.

A byte that is not UTF-8 is written as half of a surrogate pair, and bytes that repeat
as a list of text and how often it comes.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import DEPTH_LIMIT, ROW_LIMIT
from harpia_formats.files.parsing import csv_blocks, csv_records, duplicate_keys
from harpia_formats.files.parsing.csv_blocks import (
    TableBlock,
    TableFault,
    TablePiece,
    TableRow,
    cut_block,
)
from harpia_formats.files.parsing.csv_records import (
    rows_of_block,
    table_pieces,
    table_rows,
)
from harpia_formats.files.parsing.full_width import (
    delimiter_edits,
    plain_edits,
    wide_delimiter,
    with_plain_punctuation,
)
from harpia_formats.files.parsing.json_syntax import find_fault
from harpia_formats.files.parsing.locate import (
    PointerIndex,
    Span,
    duplicates,
    entries,
    locate,
    member_value,
    repeated_paths,
)
from json_lines import jsonl_rows

ANSWERS = Path(__file__).with_name("answers.jsonl")
#: Where a table begins whose places are asked for.
START = Cursor(100, 7, 3)


def data_of(given: Any) -> bytes:
    """Return the bytes that a text or a list of texts, some repeated, stands for."""
    if isinstance(given, str):
        return given.encode("utf-8", "surrogateescape")
    return b"".join(
        data_of(each) if isinstance(each, str) else data_of(each[0]) * each[1]
        for each in given
    )


def text_of(data: bytes) -> str:
    """Return bytes as the answers have them."""
    return data.decode("utf-8", "surrogateescape")


def place_of(start: Cursor) -> str:
    """Return a place in a file as line, column and offset."""
    return f"{start.line}:{start.column} ({start.offset})"


def json_fault(text: Any, depth: int = DEPTH_LIMIT) -> Any:
    """Return the first fault of a text, found in single steps and in runs."""
    data = data_of(text)
    with patch("harpia_formats.files.parsing.json_syntax._LONG", 0):
        in_runs = find_fault(data, depth_limit=depth)
    fault = find_fault(data, depth_limit=depth)
    assert fault == in_runs
    if fault is None:
        return None
    place = [fault.kind, fault.start, fault.end]
    opened = [] if fault.opened is None else [fault.opened]
    return [*place, fault.message, fault.help, *opened]


def values_in(text: Any) -> Any:
    """Return where each value of a JSON text is, and what repeats."""
    data = data_of(text)
    found: dict[str, Any] = {}
    index = PointerIndex(data)
    # The first lookup is another one than those that follow.
    waiting: list[tuple[str | int, ...]] = [(), ()]
    while waiting:
        path = waiting.pop()
        span = index.of(path)
        assert span == locate(data, path)
        found[short(json.dumps(path))] = text_of_span(data, span)
        waiting += [(*path, step) for step, _ in entries(data, span.start)]
    twice = list(duplicates(data))
    assert repeated_paths(data) == [each.path for each in twice]
    return {
        "values": found,
        "repeated": [[each.path, each.first, each.start, each.end] for each in twice],
        "first values": [
            short(text_of(member_value(data, each.first))) for each in twice
        ],
    }


def text_of_span(data: bytes, span: Span) -> Any:
    """Return a span, with what stands there."""
    key = [] if span.key is None else [span.key, span.key_end]
    return [*key, span.start, short(text_of(data[span.start : span.end]))]


def missing(text: Any, path: list[str | int]) -> Any:
    """Return whether both searches say that there is no value at a path."""
    data, steps = data_of(text), tuple(path)
    index = PointerIndex(data)
    index.of(())
    for search in (partial(locate, data), index.of):
        with pytest.raises(KeyError) as caught:
            search(steps)
        assert caught.value.args == (steps,)
    return True


def members(text: Any) -> Any:
    """Return what the counts of members and colons in a text are."""
    data = data_of(text)
    value = json.loads(data)
    own = duplicate_keys.count_members(value)
    return {
        "members": own,
        "most": duplicate_keys.most_members(data),
        "escaped": duplicate_keys.escaped_ends(data),
        "colons": duplicate_keys.colons(data),
        "unique": duplicate_keys.has_no_repeated_keys([value], data, own),
        "again": duplicate_keys.reencodes_to_same_colons([value], data),
    }


def table(
    data: Any,
    *,
    limit: int = ROW_LIMIT,
    delimiter: str = ",",
    csv_safe: bool = False,
    window: int = 0,
) -> Any:
    """Return the pieces of a table, read in windows of any size where they all fit.

    Cut into blocks, and read in small ones, it has the same pieces.
    """
    text = data_of(data)
    found = []
    sizes = [(window, 1000)] if window else [(0, 1000), (4, 1), (32, 3)]
    for (size, width), cut in product(sizes, (table_rows, table_pieces)):
        blocks = (text[at : at + width] for at in range(0, len(text), width))
        with small_windows(size):
            buffer = ByteBuffer(blocks)
            pieces = cut(buffer, START, limit, delimiter, csv_safe=csv_safe)
            found.append(joined(pieces))
    assert all(each == found[0] for each in found)
    return found[0]


@contextmanager
def small_windows(window: int) -> Iterator[None]:
    """Have tables read in small steps, if there is a window."""
    if not window:
        yield
        return
    step = max(1, window // 4)
    with (
        patch.multiple(csv_records, WINDOW=window, BLOCK=step, STEP=step),
        patch.multiple(csv_blocks, STEP=step),
    ):
        yield


def joined(pieces: Iterable[TablePiece | TableBlock]) -> list[Any]:
    """Return pieces as the answers have them, and one for blank lines in a row."""
    found: list[Any] = []
    for piece in flat(pieces):
        place = place_of(piece.start)
        if isinstance(piece, TableRow):
            fields = [[short(each.text), each.start, each.end] for each in piece.fields]
            found.append(["row", place, short(text_of(piece.data)), *fields])
        elif isinstance(piece, TableFault):
            found.append([piece.code, place, *fault_of(piece)])
        elif found and found[-1][0] == "blank":
            found[-1][2:] = [found[-1][2] + piece.lines]
        else:
            found.append(["blank", place, piece.lines])
    return found


def flat(pieces: Iterable[TablePiece | TableBlock]) -> Iterable[TablePiece]:
    """Yield pieces, with the records of each block in its place."""
    for piece in pieces:
        if isinstance(piece, TableBlock):
            yield from rows_of_block(piece)
        else:
            yield piece


def fault_of(piece: TableFault) -> list[Any]:
    """Return what a fault of a table says, shortened where it shows much."""
    shown, passed = text_of(piece.data), [piece.passed.start, piece.passed.stop]
    about = [piece.message, piece.help, short(shown), piece.at, passed, piece.width]
    return [*about, "a record is lost" if piece.record else "no record is lost"]


def short(text: str) -> str:
    """Return a text, or its beginning and end and its length."""
    return text if len(text) < 100 else f"{text[:20]}…{text[-20:]} ({len(text)})"


def block(
    data: Any, *, width: int = 2, delimiter: str = ",", csv_safe: bool = False
) -> Any:
    """Return what a block of a table holds, None if it is not cut at once."""
    text = data_of(data)
    found = cut_block(text, START, delimiter.encode(), width, csv_safe=csv_safe)
    if found is None:
        return None
    assert text.startswith(found.data)
    names = [str(number) for number in range(width)]
    return {
        "behind": text_of(text[len(found.data) :]),
        "rows": found.rows(names, drops_blank=False),
        "given": found.rows(names, drops_blank=True),
        "columns": found.columns(),
        "places": [
            [place_of(found.start_of(number)), text_of(found.data_of(number))]
            for number in range(found.count)
        ],
    }


def plain(text: Any) -> Any:
    """Return what makes punctuation of full width plain, and the text then."""
    data = data_of(text)
    edits = in_json(plain_edits(data))
    return {"edits": edits, "text": text_of(with_plain_punctuation(data))}


def separated(
    data: Any,
    *,
    wide: str = "，",
    delimiter: str = ",",
    limit: int = 1000,
    size: int = 0,
) -> Any:
    """Return what separates the fields of each line, in blocks of any size."""
    text = data_of(data)
    found = []
    for each in (size,) if size else (1, 5, 1000):
        blocks = (text[at : at + each] for at in range(0, len(text), each))
        lines = delimiter_edits(blocks, wide, delimiter, limit)
        found.append([edits and in_json(edits) for edits in lines])
    assert all(each == found[0] for each in found)
    return found[0]


def in_json(edits: Iterable[tuple[int, int, bytes]]) -> list[Any]:
    """Return edits of a text as the answers have them."""
    return [[start, end, text_of(data)] for start, end, data in edits]


def wide(data: Any, *, known: Iterable[str] = (), is_cut: bool = False) -> Any:
    """Return the delimiter of full width of a table."""
    return wide_delimiter(data_of(data), set(known).issuperset, is_cut=is_cut)


#: What is asked of an input, by its name on a line.
QUESTIONS: dict[str, Callable[..., Any]] = {
    "fault": json_fault,
    "values": values_in,
    "nothing at": missing,
    "members": members,
    "table": table,
    "block": block,
    "plain": plain,
    "separated": separated,
    "wide delimiter": wide,
}


def lines_of_answers() -> list[dict[str, Any]]:
    """Return all inputs, each with its answer."""
    return jsonl_rows(ANSWERS)


def answer(line: dict[str, Any]) -> Any:
    """Return the answer about the input of a line, as JSON has it."""
    options = {name: line[name] for name in line if name not in {"ask", "of", "answer"}}
    found = QUESTIONS[line["ask"]](line["of"], **options)
    return json.loads(json.dumps(found))


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_whole_and_right(question: str) -> None:
    """Each answer has every place, message and value that was looked at."""
    lines = [each for each in lines_of_answers() if each["ask"] == question]
    found = [{**each, "answer": answer(each)} for each in lines]

    assert lines
    assert found == lines


def answer_line(line: dict[str, Any]) -> str:
    """Return a line of the answers."""
    text = json.dumps({**line, "answer": answer(line)}, ensure_ascii=False)
    return re.sub("[\ud800-\udfff\u2028\u2029\x85]", escaped, text)


def escaped(found: re.Match[str]) -> str:
    """Return a character that does not stand for itself in a file as JSON has it."""
    return f"\\u{ord(found[0]):04x}"


if __name__ == "__main__":
    text = "".join(f"{answer_line(each)}\n" for each in lines_of_answers())
    ANSWERS.write_text(text, "utf-8")
