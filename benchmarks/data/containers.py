"""Generate large files in several containers, each with one invalid record."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

#: The number of the invalid record; the last record of a smaller file.
WRONG = 3_000_000
#: The number of bytes written at once.
PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of file: the bytes before, between and after its records."""

    name: str
    format: str
    #: The full size of the file in megabytes.
    size: int
    opening: bytes
    #: Returns the record with a number; the flag asks for an invalid one.
    record: Callable[[int, bool], bytes]
    between: bytes
    closing: bytes
    #: The columns of a file of columns, each of which has all records.
    columns: tuple[str, ...] = ("",)


def text_of(number: int, size: int) -> str:
    """Return about `size` characters, different for each record."""
    words = f"avaliação {number} da resposta, 评估 №{number * 7919 % 100_003}; "
    return (words * (size // len(words) + 1))[:size]


def question(number: int, wrong: bool) -> bytes:  # noqa: FBT001 - the shape of `Case.record`
    """Return a NeMo question of some 650 bytes."""
    reference = 5 if wrong else text_of(number, 80)
    row = {
        "prompt": text_of(number, 420),
        "ideal_response": reference,
        "category": f"c{number % 12}",
        "source": "",
    }
    return json.dumps(row, ensure_ascii=False).encode()


def instance(number: int, wrong: bool) -> bytes:  # noqa: FBT001 - the shape of `Case.record`
    """Return a HarpIA instance of some 650 bytes."""
    row = {
        "id": number,
        "input": text_of(number, 300),
        "expected-output": [text_of(number, 60), 7 if wrong else "é"],
        "actual-output": text_of(number, 120),
    }
    return json.dumps(row, ensure_ascii=False).encode()


def answer(number: int, wrong: bool) -> bytes:  # noqa: FBT001 - the shape of `Case.record`
    """Return an item of a column of some 160 bytes; an invalid one is not JSON."""
    return b"NaN" if wrong else json.dumps(text_of(number, 110)).encode()


def small_instance(number: int, _: bool) -> bytes:  # noqa: FBT001 - the shape of `Case.record`
    """Return a HarpIA instance of some 200 bytes."""
    return (
        b'{"id": "item-%09d", "input": "Qual \xc3\xa9 a capital do estado %d? %s", '
        b'"expected-output": ["cidade %d"], "actual-output": "cidade %d"}'
        % (number, number % 27, b"Responda. " * 7, number % 27, number % 27)
    )


_metrics = b'], "metrics": [{"id": "BLEU-NLTK", "enable": true, "parameters": {}}]}\n'
CASES = (
    Case(
        "NeMo input.json, one array",
        "nemo-input",
        2_000,
        b"[",
        question,
        b",\n",
        b"]\n",
    ),
    Case(
        "HarpIA input, instances and metrics",
        "harpia",
        2_000,
        b'{"instances": [\n',
        instance,
        b",\n",
        _metrics,
    ),
    Case(
        "Haystack columns, two of them",
        "haystack",
        1_100,
        b"{",
        answer,
        b",\n",
        b"}\n",
        ("questions", "responses"),
    ),
)
IDS = Case(
    "HarpIA input, ids",
    "harpia",
    2_000,
    b'{"instances": [\n',
    small_instance,
    b",\n",
    _metrics,
)


@dataclass(frozen=True, slots=True)
class Planted:
    """A generated file, and the place of its invalid record."""

    path: Path
    records: int
    line: int
    byte_offset: int


def write(case: Case, path: Path, records: int) -> Planted:
    """Write a file of `records` records, and return it with its invalid record."""
    wrong = min(WRONG, records)
    line = offset = size = 0
    lines = 1
    with path.open("wb") as file:
        for piece, number in pieces_of(case, records, wrong):
            if number == wrong:
                line, offset = lines, size
            file.write(piece)
            size += len(piece)
            lines += piece.count(b"\n")
    return Planted(path, records, line, offset)


def pieces_of(case: Case, records: int, wrong: int) -> Iterator[tuple[bytes, int]]:
    """Yield pieces of a file, each with the number of its invalid record, or 0."""
    yield case.opening, 0
    for place, column in enumerate(case.columns):
        is_last = place == len(case.columns) - 1
        if column:
            yield b'"%b": [' % column.encode(), 0
        held: list[bytes] = []
        for number in range(1, records + 1):
            if number == wrong and is_last:
                yield b"".join(held), 0
                held = []
                yield case.record(number, True), number  # noqa: FBT003 - the wrong one
            else:
                held.append(case.record(number, False))  # noqa: FBT003 - a good one
            held.append(case.between if number < records else b"")
            if len(held) > PIECE // 200:
                yield b"".join(held), 0
                held = []
        yield b"".join(held), 0
        if column:
            yield b"]" if is_last else b"], ", 0
    yield case.closing, 0


def records_for(case: Case, megabytes: float) -> int:
    """Return the number of records of a file of about `megabytes`."""
    bytes_of_record = len(case.record(1_000_000, False) + case.between)  # noqa: FBT003 - a good one
    return int(megabytes * 1e6 / bytes_of_record / len(case.columns))
