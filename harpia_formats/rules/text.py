"""J: rules on text and JSON, whatever the format."""

from harpia_formats.model.problem import Severity
from harpia_formats.rules import Rule

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

RULES = (
    Rule(
        "J101",
        "broken-json",
        _E,
        "A row must be one JSON value.",
        "A row that does not parse is lost to every program that reads it. The place "
        "is the first byte that JSON does not allow there.",
        b'{"id": 1, "answer": "yes",}\n',
        b'{"id": 1, "answer": "yes"}\n',
    ),
    Rule(
        "J102",
        "truncated-json",
        _E,
        "A row must not end in the middle of a value.",
        "Usually the program that wrote it was stopped, or the disk was full. The rows "
        "around it are still judged. Write the row again, or remove it.",
        b'{"id": 1}\n{"id": 2, "answer": "ye',
        b'{"id": 1}\n{"id": 2, "answer": "yes"}\n',
    ),
    Rule(
        "J103",
        "invalid-utf-8",
        _E,
        "Text must be UTF-8.",
        "JSON is exchanged as UTF-8 (RFC 8259). Bytes of another encoding come out as "
        "wrong characters, or stop the reader.",
        b'{"answer": "caf\xe9"}\n',
        b'{"answer": "caf\xc3\xa9"}\n',
    ),
    Rule(
        "J104",
        "lone-surrogate",
        _E,
        "A surrogate escape must be one of a pair.",
        "Half a pair stands for no character; most programs cannot write it back.",
        b'{"answer": "\\ud83d"}\n',
        b'{"answer": "\\ud83d\\ude00"}\n',
    ),
    Rule(
        "J105",
        "duplicate-key",
        _E,
        "An object must not have the same key twice.",
        "Parsers keep one of the values and drop the other without a word, and not all "
        "of them the same one. Keys are compared after unescaping.",
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
        "A number must be one that can be kept.",
        "A float beyond 1.8e308 becomes infinite, and an integer of more than 4,300 "
        "digits is refused by Python itself.",
        b'{"score": 1e400}\n',
        b'{"score": 1e300}\n',
    ),
    Rule(
        "J108",
        "too-deep",
        _E,
        "Arrays and objects must not be nested more than 200 deep.",
        "Parsers give up at different depths, so the same file would pass on one "
        "machine and fail on another. The limit is the same everywhere.",
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
        "A row must not be longer than the limit, 16 MiB unless set otherwise.",
        "A row that long is nearly always a file without line ends. It is passed over "
        "without being held in memory. --max-row-bytes sets another limit.",
        b'{"answer": "yes, all of it"}\n',
        b'{"answer": "yes"}\n',
        arguments=("--max-row-bytes", "20"),
    ),
    Rule(
        "J111",
        "empty-file",
        _E,
        "A file must hold at least one record.",
        "An empty file is what a failed run leaves behind.",
        b"\n",
        b"{}\n",
    ),
    Rule(
        "J112",
        "broken-array",
        _E,
        "An array of records must be closed, and nothing may follow it.",
        "Rows in front of the fault are judged all the same.",
        b"[{}, {},]",
        b"[{}, {}]",
    ),
    Rule(
        "J113",
        "spread-rows",
        _E,
        "Several records must be rows of JSON Lines or items of an array.",
        "Records that are spread over several lines are read here, but neither as one "
        "document nor line by line can others read them.",
        b'{\n"a": 1\n}\n{\n"a": 2\n}\n',
        b'{"a": 1}\n{"a": 2}\n',
    ),
    Rule(
        "J201",
        "byte-order-mark",
        _W,
        "UTF-8 text should not begin with a byte order mark.",
        "It is passed over here, but many JSON parsers refuse it.",
        b"\xef\xbb\xbf{}\n",
        b"{}\n",
    ),
    Rule(
        "J202",
        "blank-lines",
        _N,
        "Blank lines between records are passed over.",
        "They are allowed, counted and said once for each file.",
        b"{}\n\n{}\n",
        b"{}\n{}\n",
    ),
    Rule(
        "J203",
        "misleading-name",
        _N,
        "A file name should say what the file holds.",
        "A file is read as what it holds. But many tools go by the name: JSON Lines "
        "are called .jsonl, one array or one object is called .json.",
        b'{"a": 1}\n{"a": 2}\n',
        b'[{"a": 1}, {"a": 2}]\n',
        named="rows.json",
    ),
)
