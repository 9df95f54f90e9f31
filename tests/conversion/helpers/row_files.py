"""Write rows as a file of their format in the plainest way, and tell where each is."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

import random_values as values
from harpia_formats.conversion.mapping.extra_fields import COMPONENT_KEY
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.conversion.reading.reading_options import ReadingOptions
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.registry import adapter_of
from harpia_formats.formats.schema.bundled_schemas import document_schema
from harpia_formats.model.exact_json import encode
from harpia_formats.model.format import Container, Dialect, Format
from harpia_formats.model.problem import Severity
from random_rows import RowMaker, from_schema, with_own_ids

#: Columns of Haystack's evaluators, and others.
COLUMNS = (
    "query_id",
    "questions",
    "contexts",
    "ground_truth_answers",
    "predicted_answers",
    "responses",
    "note",
    "harpia-formats",
    "metadata",
)
COMPONENTS = ["first", "second"]
#: Columns that a table may have apart from those of its format.
OTHER_COLUMNS = ("note", "a", "b c", "ключ", "model", "Prompt")
_one = Cursor()


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row as it is read from a file."""

    value: dict[str, Any]
    text: bytes
    start: Cursor
    #: Its number among the records of the file, or of its component.
    number: int


@dataclass(slots=True)
class RowFile:
    """The bytes of a file, and its rows with their places."""

    format: Format
    dialect: Dialect
    data: bytes
    rows: list[FileRow] = field(default_factory=list)
    #: The document around the rows, without them.
    around: dict[str, Any] = field(default_factory=dict)


def random_file(format_: Format, dialect: Dialect, count: int, seed: str) -> RowFile:
    """Return a file of about `count` random valid rows of a dialect."""
    chance = Random(seed)  # noqa: S311 - a test needs a seed, not secrecy
    rows = RowMaker(format_, dialect, chance).rows(count)
    if format_.id_key and chance.random() < 0.9:
        rows = with_own_ids(rows, format_.id_key, dialect, chance)
    return valid_part(file_of(format_, dialect, rows, chance))


def valid_part(file: RowFile) -> RowFile:
    """Return a file with the rows that rules of its format allow beyond its schema."""
    options = ReadingOptions(from_=file.format.id)
    reading = Reading([file.data], options, fail_fast=False)
    found = {
        problem.place.record
        for problem in reading.problems(lambda _: None, lambda *_: None, lambda _: None)
        if problem.severity is Severity.ERROR
    }
    if not found:
        return file
    rows = [row for number, row in enumerate(file.rows, 1) if number not in found]
    return valid_part(with_rows(file, rows))


def file_of(
    format_: Format, dialect: Dialect, rows: Sequence[Any], chance: Random
) -> RowFile:
    """Return a file with `rows`; `chance` decides on what does not matter."""
    file = RowFile(format_, dialect, b"")
    if dialect.container is Container.TABLE:
        _write_table(file, rows, chance)
    elif dialect.container is Container.COLUMNS:
        _write_columns(file, rows, chance)
    elif dialect.container is Container.WRAPPED:
        _write_wrapped(file, rows, chance)
    else:
        _write_lines(file, rows, is_array=chance.random() < 0.15)
    return file


def with_rows(file: RowFile, rows: Sequence[FileRow]) -> RowFile:
    """Return a file of the same form with some of its rows."""
    made = RowFile(file.format, file.dialect, b"")
    plain = [row.value for row in rows]
    steady = Random(0)  # noqa: S311 - the same choices for all rows of a file
    if file.dialect.container is Container.TABLE:
        _write_cells(made, plain, list(dict.fromkeys(_names(plain))))
    elif file.dialect.container is Container.COLUMNS:
        _write_columns(made, plain, steady, component=file.around.get("component"))
    elif file.dialect.container is Container.WRAPPED:
        _write_wrapped(made, plain, steady)
    else:
        _write_lines(made, plain, is_array=file.data.startswith(b"["))
    return made


def _write_lines(file: RowFile, rows: Sequence[Any], *, is_array: bool) -> None:
    pieces = [b"[\n"] if is_array else []
    at = Cursor(2, 2) if is_array else _one
    between = b",\n" if is_array else b"\n"
    for number, row in enumerate(rows, 1):
        text = encode(row)
        file.rows.append(FileRow(row, text, at, number))
        end = between if not is_array or number < len(rows) else b"\n]\n"
        pieces += [text, end]
        at = Cursor(at.offset + len(text) + len(end), at.line + 1)
    file.data = b"".join(pieces)


def _write_wrapped(file: RowFile, rows: Sequence[Any], chance: Random) -> None:
    around: dict[str, Any] = {}
    if chance.random() < 0.7:
        names = "metrics", "métricas", "note", "task"
        around = {name: values.value(chance) for name in names if chance.random() < 0.3}
        around["metrics"] = [{"id": "bleu", "enable": True, "parameters": {}}]
    schema = document_schema(file.dialect)
    *owners, key = map(str, file.dialect.rows_path)
    # A document with rows of another dialect, too, is of that one.
    others = {dialect.rows_path[-1:] for dialect in file.format.dialects}
    empty: dict[str, Any] = {str(name): [] for path in others for name in path}
    empty.pop(key, None)
    required = required_with([*owners, key][0], schema, chance)
    required |= {name: empty[name] for name in required.keys() & empty.keys()}
    count = len(required) if required else chance.random() < 0.3
    around = required | around
    items = list(around.items())
    first, rest = items[:count], items[count:]
    begin = b"{" + _members(first)
    # The object around the rows has the rows only, and what it must have.
    inner = around = dict(first)
    for owner, name in pairwise([*owners, key]):
        schema = schema["properties"][owner]
        inner[owner] = required_with(name, schema, chance)
        inner = inner[owner]
        inner |= {name: empty[name] for name in inner.keys() & empty.keys()}
        begin += encode(owner) + b":{" + _members(inner.items())
    begin += encode(key) + b":[\n"
    around |= dict(rest)
    data = begin
    at = _one.after(begin)
    pieces = [data]
    for number, row in enumerate(rows, 1):
        text = encode(row)
        file.rows.append(FileRow(row, text, at, number))
        end = b",\n" if number < len(rows) else b""
        pieces += [text, end]
        at = at.after(text + end)
    pieces.append(b"]" + b"}" * len(owners))
    for name, value in rest:
        pieces.append(b",\n" + encode(name) + b":" + encode(value))
    file.data = b"".join([*pieces, b"}\n"])
    file.around = around


def _members(items: Iterable[tuple[str, Any]]) -> bytes:
    """Return members of an object, with a comma behind each."""
    return b"".join(
        encode(name) + b":" + encode(value) + b",\n" for name, value in items
    )


def required_with(key: str, schema: Any, chance: Random) -> dict[str, Any]:
    """Return random members that an object must have apart from the one at `key`."""
    names = (name for name in schema["required"] if name != key)
    properties = schema["properties"]
    return {name: from_schema(properties[name], chance) for name in names}


def _write_columns(
    file: RowFile, rows: Sequence[Any], chance: Random, component: str | None = None
) -> None:
    """Write columns, sometimes those of two components."""
    if component is None and file.dialect.name:
        component = chance.choice(("evaluator", "component", "é"))
    if component is None:
        start, end = b"{", b"}\n"
    else:
        start, end = b"{" + encode(component) + b": {", b"}}\n"
        file.around = {"component": component}
    parts = [(component, list(rows))]
    is_named = all(row.get(COMPONENT_KEY) in COMPONENTS for row in rows)
    if is_named or (file.dialect.name and len(rows) > 3 and chance.random() < 0.4):
        file.around = {}
        parts = [
            (
                name,
                [r for n, r in enumerate(rows) if name == _component(n, r, is_named)],
            )
            for name in COMPONENTS
            if is_named is False or any(row[COMPONENT_KEY] == name for row in rows)
        ]
        start = b"{" + encode(parts[0][0]) + b": {"
    if len(parts) == 1 and parts[0][0] is not None:
        file.around = {"component": parts[0][0]}
    pieces, at = [start], _one.after(start)
    for number, (name, own) in enumerate(parts):
        if number:
            between = b"},\n" + encode(name) + b": {"
            pieces.append(between)
            at = at.after(between)
        made, found, at = _columns(own, chance, at)
        pieces += made
        several = {COMPONENT_KEY: name} if len(parts) > 1 else {}
        file.rows += [
            FileRow(row | several, encode(row | several), place, place_number)
            for place_number, (row, place) in enumerate(found, 1)
        ]
    file.data = b"".join([*pieces, end])


def _component(number: int, row: dict[str, Any], is_named: bool) -> Any:
    """Return the component of a row, which its place decides unless it is named."""
    return row[COMPONENT_KEY] if is_named else COMPONENTS[number % 2]


def _columns(
    rows: list[Any], chance: Random, at: Cursor
) -> tuple[list[bytes], list[tuple[Any, Cursor]], Cursor]:
    """Return the bytes of the columns of `rows` from `at` on, and each row's place.

    Where rows have other keys than others, each gets an item of some columns.
    """
    given = [{k: v for k, v in row.items() if k != COMPONENT_KEY} for row in rows]
    names = list(dict.fromkeys(_names(given)))
    if any(row.keys() != set(names) for row in given):
        picked = list(dict.fromkeys((*chance.sample(COLUMNS, 4), *names[:2])))
        names = [name for name in picked if name != COMPONENT_KEY]
        given = [{name: _item(name, row, chance) for name in names} for row in given]
    pieces: list[bytes] = []
    places: list[Cursor] = []
    for name in names:
        head = (b",\n" if name != names[0] else b"") + encode(name) + b": ["
        pieces.append(head)
        at = at.after(head)
        for number, row in enumerate(given):
            if name == names[0]:
                places.append(at)
            text = encode(row[name])
            end = b"," if number < len(given) - 1 else b"]"
            pieces += [text, end]
            at = at.after(text + end)
    return pieces, list(zip(given, places, strict=True)), at


def _item(name: str, row: dict[str, Any], chance: Random) -> Any:
    """Return the item of a row in a column, mostly of the type that it has there."""
    if name in row and name not in COLUMNS:
        return row[name]
    draw = chance.random()
    if name == "harpia-formats":
        return {"category": values.text(chance)} if draw < 0.5 else None
    if draw < 0.1:
        return values.value(chance)
    if draw < 0.2:
        return None
    if name == "contexts":
        return values.texts(chance)
    return row[name] if name in row and draw < 0.5 else values.text(chance)


def _names(rows: Sequence[Any]) -> Iterator[str]:
    for row in rows:
        yield from row


def _write_table(file: RowFile, rows: Sequence[Any], chance: Random) -> None:
    """Write a table with the columns of some rows, and random cells in others."""
    known = list(adapter_of(file.format).columns)
    if file.dialect.name == "answer":
        known = ["answer" if name == "response" else name for name in known]
    names = dict.fromkeys(
        key for key in _names(chance.sample(rows, min(4, len(rows)))) if _is_name(key)
    )
    if file.format.id != "csv":
        names.update(dict.fromkeys(known))
    else:
        names.update(dict.fromkeys(chance.sample(known, 4)))
    names.update(dict.fromkeys(chance.sample(OTHER_COLUMNS, chance.choice((0, 1)))))
    columns = list(names)
    if chance.random() < 0.5:
        chance.shuffle(columns)
    cells = [
        {
            name: row[name] if name in row else _cell(name, chance)
            for name in columns
            if name in row or chance.random() < 0.4
        }
        for row in rows
    ]
    _write_cells(file, cells, columns)


def _is_name(key: str) -> bool:
    """Tell whether a table may have a column with this name."""
    return bool(key.strip()) and not key.startswith("\ufeff")


def _cell(name: str, chance: Random) -> str:
    """Return a cell of a column: what it holds, as pandas writes it, or any text."""
    if chance.random() < 0.3:
        return values.text(chance)
    record = values.record(chance)
    held = getattr(record, name, None)
    if isinstance(held, str):
        return held
    if held is None or not isinstance(held, (list, dict, int)):
        held = values.value(chance)
    return encode(held).decode() if chance.random() < 0.6 else str(held)


def _write_cells(
    file: RowFile, rows: Sequence[dict[str, str]], columns: list[str]
) -> None:
    """Write the cells of `rows`; a row without a column has a blank cell there."""
    blank_is_absent = adapter_of(file.format).blank_is_absent
    head = ",".join(map(_quoted, columns)).encode() + b"\n"
    pieces, at = [head], _one.after(head)
    for number, row in enumerate(rows, 1):
        held = {name: row[name] for name in columns if name in row}
        if not blank_is_absent:
            held = {name: row.get(name, "") for name in columns}
        elif not any(held.values()):
            held[columns[0]] = "filled"
        text = ",".join(
            _quoted(held[name]) if name in held else "" for name in columns
        ).encode()
        file.rows.append(FileRow(held, text, at, number))
        pieces += [text, b"\n"]
        at = at.after(text + b"\n")
    file.data = b"".join(pieces)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
