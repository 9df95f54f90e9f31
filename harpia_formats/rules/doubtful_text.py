"""J204 to J208: lints on text and JSON, independent of the format."""

from harpia_formats.model.problem import Severity
from harpia_formats.rules import Rule

LARGE_INTEGER, MIXED_LINE_ENDS = "J204", "J205"
REPLACED, MISDECODED, INVISIBLE = "J206", "J207", "J208"

_W, _N = Severity.WARNING, Severity.NOTE

RULES = (
    Rule(
        LARGE_INTEGER,
        "large-integer",
        _W,
        "An integer should not be larger than 2^53, which many parsers round.",
        "JavaScript, jq and every parser that reads numbers as floats keep 53 bits: "
        "9007199254740993 becomes 9007199254740992 without a word, so that two ids "
        "become one. Here integers of any size are exact. Write ids as text.",
        b'{"id": 9007199254740993}\n',
        b'{"id": "9007199254740993"}\n',
        lint=True,
    ),
    Rule(
        MIXED_LINE_ENDS,
        "mixed-line-ends",
        _W,
        "All lines of JSON Lines should end alike, with LF or with CRLF.",
        "A file with both was usually put together from parts, or edited by a program "
        "that changed some lines. Checksums and line-based comparisons of it differ "
        "from machine to machine. The place is the first line that ends otherwise.",
        b'{"id": 1}\n{"id": 2}\r\n',
        b'{"id": 1}\n{"id": 2}\n',
        lint=True,
    ),
    Rule(
        REPLACED,
        "replacement-character",
        _W,
        "Text should not hold the replacement character U+FFFD.",
        "Programs write it for bytes that they could not decode: what was there is "
        "lost. Decode the source again in its own encoding.",
        '{"answer": "caf\ufffd"}\n'.encode(),
        '{"answer": "café"}\n'.encode(),
        lint=True,
    ),
    Rule(
        MISDECODED,
        "misdecoded-text",
        _W,
        "Text should not be UTF-8 that was read as Latin-1 or Windows-1252.",
        "Then each letter beyond ASCII became two or three others. Encode the text "
        "as Windows-1252 and decode it as UTF-8 to get back what was meant.",
        '{"answer": "cafÃ©"}\n'.encode(),
        '{"answer": "café"}\n'.encode(),
        lint=True,
    ),
    Rule(
        INVISIBLE,
        "invisible-character",
        _N,
        "Text should not hold NUL, zero-width spaces or marks that reorder text.",
        "Nobody sees them, and comparisons do: two answers that look the same differ. "
        "Databases and C programs end a text at NUL. Joiners, which some scripts and "
        "emojis need, are no problem. Remove the characters.",
        b'{"answer": "yes\\u200b"}\n',
        b'{"answer": "yes"}\n',
        lint=True,
    ),
)
