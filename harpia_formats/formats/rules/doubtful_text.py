"""J204 to J208, J210 to J214: lints on text and JSON, independent of the format."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

LARGE_INTEGER, MIXED_LINE_ENDS = "J204", "J205"
REPLACED, MISDECODED, INVISIBLE = "J206", "J207", "J208"
NO_VALUE, BYTES_LITERAL, MISREAD_CHINESE = "J210", "J211", "J212"
QUESTION_MARKS, ENTITY = "J213", "J214"

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
        "emojis need, are no problem, nor are zero-width spaces between letters of "
        "Thai, Lao, Burmese and Khmer, which say where a line may break. Remove the "
        "characters.",
        b'{"answer": "yes\\u200b"}\n',
        b'{"answer": "yes"}\n',
        lint=True,
    ),
    Rule(
        NO_VALUE,
        "no-value-as-text",
        _N,
        "A text should not be nan, None or another word for no value.",
        "str() in Python writes None, pandas nan, NaT and <NA>, and JavaScript "
        "[object Object] where a text was meant. A question, a reference or a category "
        "of such a word is compared and counted as any other. Rows about programs, and "
        "those in which another text has the word, are not reported; answers that are "
        "such a word are those of V311.",
        b'{"prompt": "Who wrote Faust?", "reference": "nan"}\n',
        b'{"prompt": "Who wrote Faust?", "reference": "Goethe"}\n',
        lint=True,
    ),
    Rule(
        BYTES_LITERAL,
        "bytes-literal",
        _W,
        "A text should not be bytes as Python shows them, such as b'...'.",
        "str() was called with bytes instead of decode(): the mark and the quotes are "
        "now part of the text, and letters beyond ASCII are escapes such as \\xc3. "
        "Rows about programs, bytes or encodings are not reported.",
        b'{"prompt": "Who wrote Faust?", "reference": "b\'Goethe\'"}\n',
        b'{"prompt": "Who wrote Faust?", "reference": "Goethe"}\n',
        lint=True,
    ),
    Rule(
        MISREAD_CHINESE,
        "misread-as-gbk",
        _W,
        "Text should not be UTF-8 that was read as GBK, nor GBK that was read as "
        "Latin-1.",
        "Windows in Chinese reads files as GBK where no encoding is given. UTF-8 then "
        "becomes rare Chinese characters, and what GBK lacks a sign that nothing "
        "brings back. Encode the text again in the encoding that it was read in, and "
        "decode it in its own. Rows about encodings are not reported.",
        '{"answer": "浣犲ソ涓栫晫"}\n'.encode(),
        '{"answer": "你好世界"}\n'.encode(),
        lint=True,
    ),
    Rule(
        QUESTION_MARKS,
        "question-marks-for-letters",
        _N,
        "Text should not have question marks in place of letters.",
        "Programs write them for letters that the encoding of a file lacks, such as "
        "M?nchen for München; what was there is lost. Looked for are question marks "
        "within words that cannot be the end of a question, and texts of nothing else. "
        "Rows about patterns, puzzles or programs are not reported.",
        b'{"answer": "It is M?nchen."}\n',
        '{"answer": "Is it München?"}\n'.encode(),
        lint=True,
    ),
    Rule(
        ENTITY,
        "html-entity",
        _N,
        "Text should not hold entities of HTML, such as &amp; or &#39;.",
        "A text was taken from a web page and not decoded: models are asked with the "
        "entities, and references with them never match. Rows about HTML or XML, or "
        "with tags of them, are not reported.",
        b'{"answer": "Tom &amp; Jerry"}\n',
        b'{"answer": "Tom & Jerry"}\n',
        lint=True,
    ),
)
