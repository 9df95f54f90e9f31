"""J: rules on text, JSON and CSV, independent of the format."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

READ_AS_NULL = "J209"

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

#: A sample of lm-evaluation-harness with the value of a metric.
_sample = (
    b'{"doc_id": 0, "doc": {}, "target": "2", "arguments": {"gen_args_0": {"arg_0": '
    b'"1+1?", "arg_1": {}}}, "resps": [["2"]], "filtered_resps": ["2"], "acc": %b}\n'
)

TEXT_RULES = (
    Rule(
        "J101",
        "broken-json",
        _E,
        "A row must be one JSON value.",
        "No program can read a row that does not parse. The place is the first byte "
        "that JSON does not allow.",
        b'{"id": 1, "answer": "yes",}\n',
        b'{"id": 1, "answer": "yes"}\n',
    ),
    Rule(
        "J102",
        "truncated-json",
        _E,
        "A row must not end in the middle of a value.",
        "Usually the program that wrote it was stopped, or the disk was full. The "
        "other rows are still validated. Write the row again, or remove it.",
        b'{"id": 1}\n{"id": 2, "answer": "ye',
        b'{"id": 1}\n{"id": 2, "answer": "yes"}\n',
    ),
    Rule(
        "J103",
        "invalid-utf-8",
        _E,
        "Text must be UTF-8.",
        "JSON is exchanged as UTF-8 (RFC 8259). Bytes in another encoding become wrong "
        "characters, or stop the program that reads them.",
        b'{"answer": "caf\xe9"}\n',
        b'{"answer": "caf\xc3\xa9"}\n',
    ),
    Rule(
        "J104",
        "lone-surrogate",
        _E,
        "A surrogate escape must be part of a pair.",
        "Half of a pair is not a character; most programs cannot write it.",
        b'{"answer": "\\ud83d"}\n',
        b'{"answer": "\\ud83d\\ude00"}\n',
    ),
    Rule(
        "J105",
        "duplicate-key",
        _E,
        "An object must not have the same key twice.",
        "Parsers keep one of the values and silently drop the other, and they do not "
        "agree on which. Keys are compared after unescaping.",
        b'{"score": 1, "score": 0}\n',
        b'{"score": 1}\n',
    ),
    Rule(
        "J106",
        "not-json-constant",
        _E,
        "NaN and Infinity are not JSON.",
        "Some libraries write them by default, others refuse the file. Write null, or "
        "leave the key out.",
        b'{"score": NaN}\n',
        b'{"score": null}\n',
    ),
    Rule(
        "J107",
        "number-out-of-range",
        _E,
        "A number must be small enough to be represented.",
        "A float beyond 1.8e308 becomes infinite, and Python refuses an integer with "
        "more than 4,300 digits.",
        b'{"score": 1e400}\n',
        b'{"score": 1e300}\n',
    ),
    Rule(
        "J108",
        "too-deep",
        _E,
        "Arrays and objects must not be nested deeper than 200 levels.",
        "Parsers stop at different depths, so the same file would pass on one machine "
        "and fail on another. This limit is the same on all machines.",
        b'{"a":' * 201 + b"1" + b"}" * 201 + b"\n",
        b'{"a":' * 200 + b"1" + b"}" * 200 + b"\n",
    ),
    Rule(
        "J109",
        "control-character",
        _E,
        "A control character in a string must be escaped.",
        "Write it as an escape such as \\n or \\u0000.",
        b'{"answer": "one\ttwo"}\n',
        b'{"answer": "one\\ttwo"}\n',
    ),
    Rule(
        "J110",
        "row-too-long",
        _E,
        "A row must not be longer than the limit, by default 16 MiB.",
        "A row that long is usually a file without line ends. It is skipped without "
        "being held in memory. --max-row-bytes sets another limit.",
        b'{"answer": "yes, all of it"}\n',
        b'{"answer": "yes"}\n',
        arguments=("--max-row-bytes", "20"),
    ),
    Rule(
        "J111",
        "empty-file",
        _E,
        "A file must contain at least one record.",
        "An empty file is often the result of a failed run.",
        b"\n",
        b"{}\n",
    ),
    Rule(
        "J112",
        "broken-array",
        _E,
        "An array of records must be closed, and nothing may follow it.",
        "The rows before the error are still validated.",
        b"[{}, {},]",
        b"[{}, {}]",
    ),
    Rule(
        "J113",
        "spread-rows",
        _E,
        "Several records must be lines of JSON Lines or items of an array.",
        "Records that span several lines are read here, but other programs can read "
        "them neither as one document nor line by line.",
        b'{\n"a": 1\n}\n{\n"a": 2\n}\n',
        b'{"a": 1}\n{"a": 2}\n',
    ),
    Rule(
        "J114",
        "skipped-files",
        Severity.NOTE,
        "A folder should hold no files of other kinds than JSON and CSV.",
        "Files that are known by their first bytes to be of another kind, such as "
        "Parquet, zip or HTML, are passed over in a folder, and counted. Named on the "
        "command line they are errors. --exclude leaves files out without a note.",
        b"{}\n",
        b"{}\n",
    ),
    Rule(
        "J115",
        "too-few-records",
        _E,
        "The files must have as many records as --min-records asks for.",
        "Fewer records are often the result of a failed run or of missing files.",
        b"{}\n",
        b"{}\n{}\n",
        arguments=("--min-records", "2"),
    ),
    Rule(
        "J201",
        "byte-order-mark",
        _W,
        "UTF-8 text should not start with a byte order mark.",
        "It is skipped here, but many JSON parsers refuse it.",
        b"\xef\xbb\xbf{}\n",
        b"{}\n",
    ),
    Rule(
        "J202",
        "blank-lines",
        _N,
        "Blank lines between records are skipped.",
        "They are allowed, counted, and reported once for each file.",
        b"{}\n\n{}\n",
        b"{}\n{}\n",
    ),
    Rule(
        "J203",
        "misleading-name",
        _N,
        "The extension of a file name should match the content of the file.",
        "Here the content decides how a file is read, but many tools go by the name: "
        ".jsonl for JSON Lines, .json for one array or one object.",
        b'{"a": 1}\n{"a": 2}\n',
        b'[{"a": 1}, {"a": 2}]\n',
        file_name="rows.json",
    ),
    Rule(
        READ_AS_NULL,
        "constant-read-as-null",
        _N,
        "NaN and Infinity are read as null where the tool of the format writes them.",
        "Python writes them for scores that could not be computed, although they are "
        "not JSON. Such a score is read as one without a value; it is never 0. In "
        "other formats they are errors (J106).",
        _sample % b"NaN",
        _sample % b"null",
        validated_as="lm-eval-samples",
        in_reading=True,
    ),
)


LARGE_INTEGER, MIXED_LINE_ENDS = "J204", "J205"
REPLACED, MISDECODED, INVISIBLE = "J206", "J207", "J208"
NO_VALUE, BYTES_LITERAL, MISREAD_CHINESE = "J210", "J211", "J212"
QUESTION_MARKS, ENTITY = "J213", "J214"


DOUBTFUL_TEXT_RULES = (
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


FORMULA_CELL = "J308"

CSV_RULES = (
    Rule(
        "J301",
        "unclosed-quote",
        Severity.ERROR,
        "A field that starts with a quote must end with one, and quotes inside it must "
        "be doubled.",
        "Otherwise the field ends too early, or continues into the following rows. If "
        "it continues, the place is the quote that opens it, and reading continues in "
        "the next line, so that no row is lost.",
        b'prompt,response\n"What is "1 + 1"?",2\n',
        b'prompt,response\n"What is ""1 + 1""?",2\n',
        "csv",
    ),
    Rule(
        "J302",
        "nul-byte",
        Severity.ERROR,
        "A CSV file must not contain NUL bytes outside of quotes.",
        "Many programs end the text there, or refuse the file. Usually the file is "
        "UTF-16, or was not written completely; save it as UTF-8. In a quoted field a "
        "NUL byte is read as text.",
        b"prompt,response\nWhat is 1\0+ 1?,2\n",
        b"prompt,response\nWhat is 1 + 1?,2\n",
        "csv",
    ),
    Rule(
        "J303",
        "lone-carriage-return",
        Severity.ERROR,
        "A row must end with LF or CRLF.",
        "Some programs end a row at a carriage return alone, as this one does; others "
        "do not. It is reported once for each line that ends with a line feed. Save "
        "the file with LF or CRLF, and quote fields that contain a carriage return.",
        b"prompt,response\rWhat is 1 + 1?,2\n",
        b"prompt,response\nWhat is 1 + 1?,2\n",
        "csv",
    ),
    Rule(
        "J304",
        "field-count",
        Severity.ERROR,
        "A row must have as many fields as the header.",
        "Usually a field contains a comma or a line end and is not quoted, so that the "
        "following fields are in the wrong columns.",
        b"prompt,response\nWhat is 1, and 1 more?,2\n",
        b'prompt,response\n"What is 1, and 1 more?",2\n',
        "csv",
    ),
    Rule(
        "J305",
        "repeated-column",
        Severity.ERROR,
        "The header must not name a column twice.",
        "Most programs keep one of the columns and silently drop the other, and they "
        "do not agree on which.",
        b"prompt,response,prompt\nWhat is 1 + 1?,2,What is 1 + 1?\n",
        b"prompt,response\nWhat is 1 + 1?,2\n",
        "csv",
    ),
    Rule(
        "J306",
        "other-delimiter",
        Severity.WARNING,
        "The fields of a CSV file must be separated by commas.",
        "A header with one column that contains semicolons, tabs or vertical bars "
        "usually means several columns with another delimiter.",
        b"prompt;response\n2+2?\n",
        b"prompt,response,note\n2+2?,4,\n",
        "csv",
    ),
    Rule(
        "J307",
        "wrong-delimiter",
        Severity.ERROR,
        "The fields of a table must be separated by the delimiter it is read with.",
        "The header is one column, and another delimiter cuts it and the first row "
        "into equally many fields: spreadsheets write semicolons or tabs, input "
        "methods full-width commas. No row was read. Name it with "
        "--delimiter; files called .tsv are read with tabs. "
        "--unsafe-fixes replaces a full-width one.",
        b"prompt;response\n2+2?;4\n",
        b"prompt,response,note\n2+2?,4,\n",
        "csv",
    ),
    Rule(
        FORMULA_CELL,
        "formula-cell",
        Severity.NOTE,
        "A cell should not begin like a formula, which a spreadsheet would run.",
        "Excel, LibreOffice and Google Sheets take a cell that begins with =, +, -, @, "
        "a tab or a carriage return for a formula, also one that sends what is in "
        "other cells to a web server (CSV injection). Numbers are no problem. Convert "
        "with --csv-safe, which writes an apostrophe before such a cell; "
        "--from-csv-safe takes it back.",
        b'prompt,response\nWhat is 1 + 1?,"=HYPERLINK(""http://x.example"")"\n',
        b"prompt,response\nWhat is 1 - 2?,-1\n",
        "csv",
        lint=True,
    ),
)
