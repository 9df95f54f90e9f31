"""Full-width punctuation, as input methods write it, in JSON and in tables."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, islice

import msgspec

from harpia_formats.files.framing.chunk import BOM
from harpia_formats.files.parsing.csv_delimiter import WIDE_DELIMITERS


class Punctuation(msgspec.Struct, frozen=True):
    """What a character of full width is called, and what JSON has in its place."""

    name: str
    plain: str


#: By the character. Input methods write the lenticular brackets for the square ones.
PUNCTUATION = {
    "，": Punctuation("a full-width comma", ","),
    "、": Punctuation("an ideographic comma", ","),
    "：": Punctuation("a full-width colon", ":"),
    "［": Punctuation("a full-width bracket", "["),
    "］": Punctuation("a full-width bracket", "]"),
    "【": Punctuation("a lenticular bracket", "["),
    "】": Punctuation("a lenticular bracket", "]"),
    "｛": Punctuation("a full-width brace", "{"),
    "｝": Punctuation("a full-width brace", "}"),
}
SPACE, QUOTE = "\u3000", "＂"
#: Characters that take the place of double quotes.
QUOTES = f"“”„‟{QUOTE}"
_wide = {**{char: each.plain for char, each in PUNCTUATION.items()}, SPACE: " "}
#: The next token that matters: a string, a text in other quotation marks that has no
#: quotation mark of any kind in it, or a character of full width.
#: Quotation marks begin with \xe2 or \xef. Before Python 3.11.5, a possessive repeat
#: that looks ahead ends at a wrong place (gh-106052), but not one in an atomic group.
_token = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)'
    rb'|(?P<open>%b)(?>(?:[^"\xe2\xef]++|(?!%b)[\xe2\xef])*)(?P<close>%b)|%b'
    % (
        *(("|".join(QUOTES)).encode(),) * 3,
        "|".join(map(re.escape, _wide)).encode(),
    ),
    re.DOTALL,
)


def plain_edits(text: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield what makes punctuation of full width outside of strings that of JSON.

    Each is the offsets from and to, and the bytes that are to be between them. Of text
    in other quotation marks the marks are changed, and nothing between them.
    """
    for found in _token.finditer(text):
        if found["open"] is not None:
            yield *found.span("open"), b'"'
            yield *found.span("close"), b'"'
        elif not found[0].startswith(b'"'):
            yield *found.span(), _wide[found[0].decode()].encode()


def with_plain_punctuation(text: bytes) -> bytes:
    """Return a text with the edits of `plain_edits`."""
    pieces, at = [], 0
    for start, end, plain in plain_edits(text):
        pieces += [text[at:start], plain]
        at = end
    return b"".join([*pieces, text[at:]])


#: The edits of one line: offsets from and to, and the bytes to be between them.
LineEdits = list[tuple[int, int, bytes]]
#: Lines by which a delimiter is found.
_SAMPLE_LINES = 20
_quote = b'"'
_whole_line = re.compile(rb'[^"\n]*+(?:"[^"]*+"[^"\n]*+)*+\n')


def wide_delimiter(
    data: bytes, is_known: Callable[[list[str]], bool], *, is_cut: bool
) -> str:
    """Return the delimiter of full width that cuts the first lines alike, or "".

    It cuts the header into several fields, and most lines into as many, or the header
    into columns that are known. The last line is left out if `data` may be cut short.
    """
    found = islice(_lines([data], len(data)), _SAMPLE_LINES + 1)
    lines = [line for _, line in found]
    header, *rows = lines[:-1] if is_cut and len(lines) > 1 else [*lines, b""]
    for delimiter in WIDE_DELIMITERS:
        columns = _fields(header, delimiter)
        alike = [len(_fields(row, delimiter)) == len(columns) for row in rows if row]
        names = [header[start:end].decode(errors="replace") for start, end in columns]
        if len(columns) > 1 and (sum(alike) * 2 > len(alike) or is_known(names)):
            return delimiter
    return ""


def delimiter_edits(
    blocks: Iterable[bytes], wide: str, delimiter: str, limit: int
) -> Iterator[LineEdits | None]:
    """Yield for each line the edits that separate its fields by `delimiter`.

    None for a line that has not as many fields as the first one, or is longer than
    `limit`. A field that holds the delimiter gets quotes; all others stay.
    """
    plain, expected = delimiter.encode(), 0
    for start, line in _lines(blocks, limit):
        fields = _fields(line, wide)
        expected = expected or len(fields)
        if len(fields) != expected or expected <= 1:
            yield None
            continue
        edits: LineEdits = []
        for number, (begin, end) in enumerate(fields):
            quote = plain in line[begin:end] and line[begin : begin + 1] != _quote
            around = _quote if quote else b""
            if number:
                before = fields[number - 1][1]
                edits.append((start + before, start + begin, plain + around))
            elif quote:
                edits.append((start + begin, start + begin, around))
            if quote:
                edits.append((start + end, start + end, around))
        yield _joined(edits)


def _joined(edits: LineEdits) -> LineEdits:
    """Return edits of which none begins where the one before it ends."""
    found: LineEdits = []
    for start, end, data in edits:
        if found and found[-1][1] == start:
            first, _, before = found.pop()
            found.append((first, end, before + data))
        else:
            found.append((start, end, data))
    return found


def _lines(blocks: Iterable[bytes], limit: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, without their ends, and where they begin.

    Of a line that is longer than `limit` a part is yielded at least. A line end inside
    of quotes ends no line.
    """
    held, offset = b"", 0
    for block in chain(filter(None, blocks), (b"",)):
        held, at = held + block, 0
        while at < len(held):
            whole = _whole_line.match(held, at)
            if whole is None and block and len(held) - at <= limit:
                break
            end = whole.end() if whole else len(held)
            begin = at + (len(BOM) if offset == 0 and held.startswith(BOM) else 0)
            line = held[begin:end].rstrip(b"\r\n")
            if line:
                yield offset + begin - at, line
            offset, at = offset + end - at, end
        held = held[at:]


def _fields(line: bytes, delimiter: str) -> list[tuple[int, int]]:
    """Return where the fields of a line begin and end; none if quotes stand in one."""
    found, at = [], 0
    while field := _field(delimiter).match(line, at):
        found.append(field.span())
        if field.end() == len(line):
            return found
        at = field.end() + len(delimiter.encode())
    return []


@cache
def _field(delimiter: str) -> re.Pattern[bytes]:
    """Return the expression for a field that `delimiter` follows, or the end."""
    separator = re.escape(delimiter.encode())
    first = re.escape(delimiter.encode()[:1])
    return re.compile(
        rb'(?:"(?:[^"]++|"")*+"|(?>(?:[^"%b]++|(?!%b)%b)*))(?=%b|\Z)'
        % (first, separator, first, separator)
    )
