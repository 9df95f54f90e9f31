"""Generate files in which every row is wrong, for each kind of fault and format."""

import json
import random
from collections.abc import Callable, Iterator, Mapping

from data.datastore import in_new_shape
from data.generate import SEED, Value, row_of
from data.generate_rows import ROWS

#: The function that generates a row of ordinary size, by the format.
FORMATS: Mapping[str, Callable[[int, random.Random], Value]] = {
    "eee@0.2.0": row_of,
    "eee@0.3.0": lambda number, chance: in_new_shape(row_of(number, chance)),
    **ROWS,
}
#: A key of each format that every row must have, and one whose value is restricted.
REQUIRED = {
    "eee@0.2.0": "model_id",
    "eee@0.3.0": "model_id",
    "nemo-output": "response",
    "tencent-outputs": "model_outputs",
}
RESTRICTED = {
    "eee@0.2.0": "interaction_type",
    "eee@0.3.0": "interaction_type",
    "nemo-output": "input",
    "tencent-outputs": "messages",
}
CLEAN, EMPTY = "clean", "empty object"
LACKS, WRONG_TYPE, WRONG_TEXT = "lacks a key", "wrong type", "wrong text"
IDS_TWICE, ONE_ID = "each id twice", "one id for all"
MIXED = "several kinds"


def _lacking(format_: str, row: Value, _number: int) -> str:
    del row[REQUIRED[format_]]
    return json.dumps(row)


def _misspelt(format_: str, row: Value, _number: int) -> str:
    key = REQUIRED[format_]
    row[f"{key}s"] = row.pop(key)
    return json.dumps(row)


def _of_wrong_type(format_: str, row: Value, _number: int) -> str:
    row[REQUIRED[format_]] = 7
    return json.dumps(row)


def _with_wrong_text(format_: str, row: Value, _number: int) -> str:
    row[RESTRICTED[format_]] = "other"
    return json.dumps(row)


def _with_null(format_: str, row: Value, _number: int) -> str:
    row[REQUIRED[format_]] = None
    return json.dumps(row)


def _broken(_format: str, row: Value, _number: int) -> str:
    return json.dumps(row)[:-1] + ",}"


def _with_key_again(_format: str, row: Value, _number: int) -> str:
    text = json.dumps(row)
    return f"{text[:-1]}, {text[1 : text.index(':')]}: null}}"


def _with_ids(_format: str, row: Value, number: int) -> str:
    key = "sample_id" if "sample_id" in row else "id"
    row[key] = f"row {number // 2}"
    return json.dumps(row)


def _with_one_id(_format: str, row: Value, _number: int) -> str:
    key = "sample_id" if "sample_id" in row else "id"
    row[key] = "row"
    return json.dumps(row)


#: The line of a row with a fault, by the fault.
FAULTS: Mapping[str, Callable[[str, Value, int], str]] = {
    EMPTY: lambda _format, _row, _number: "{}",
    LACKS: _lacking,
    "misspelt key": _misspelt,
    WRONG_TYPE: _of_wrong_type,
    "null": _with_null,
    WRONG_TEXT: _with_wrong_text,
    "broken JSON": _broken,
    "repeated key": _with_key_again,
    IDS_TWICE: _with_ids,
    ONE_ID: _with_one_id,
}
_mixed = (LACKS, "misspelt key", WRONG_TYPE, "null", WRONG_TEXT, EMPTY)
KINDS = (CLEAN, *FAULTS, MIXED)


def wrong_rows(format_: str, kind: str, count: int) -> Iterator[bytes]:
    """Yield `count` lines of a format, all with a fault of a kind but for `CLEAN`."""
    chance = random.Random(SEED)
    for number in range(count):
        row = FORMATS[format_](number, chance)
        fault = _mixed[number % len(_mixed)] if kind == MIXED else kind
        text = json.dumps(row)
        if fault != CLEAN:
            text = FAULTS[fault](format_, row, number)
        yield text.encode() + b"\n"


def wrong_array(format_: str, kind: str, count: int) -> Iterator[bytes]:
    """Yield the lines of a JSON array of `count` rows, one row in each line."""
    for number, line in enumerate(wrong_rows(format_, kind, count)):
        begin = b"" if number else b"["
        yield begin + line[:-1] + (b",\n" if number < count - 1 else b"]\n")
