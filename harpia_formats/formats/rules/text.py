"""J1 and J2: rules on text and JSON, independent of the format."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

READ_AS_NULL = "J209"

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

#: A sample of lm-evaluation-harness with the value of a metric.
_sample = (
    b'{"doc_id": 0, "doc": {}, "target": "2", "arguments": {"gen_args_0": {"arg_0": '
    b'"1+1?", "arg_1": {}}}, "resps": [["2"]], "filtered_resps": ["2"], "acc": %b}\n'
)

RULES = (
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
