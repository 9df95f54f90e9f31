import csv
import io
import itertools
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from any_rows import ANY_ROWS
from cases import for_each_case
from corpora import CORPORA
from effort import shares
from harpia_formats import FileCount, detect, validate
from harpia_formats.plugins import Container, Dialect
from known_formats import FORMATS, bundled_schema, row_schema

ROOT = Path(__file__).parents[2]
VALID = sorted(
    each
    for each in (ROOT / "fixtures").glob("*/valid/*")
    if each.parts[-3] not in ANY_ROWS
)
ALL = sorted((ROOT / "fixtures").glob("*/*/*"))
#: Each dialect of a format that is not general, with the id of the format.
PARTICULAR = [
    (each.id, dialect)
    for each in FORMATS.values()
    if not each.general
    for dialect in each.dialects
]
#: Containers in which each record is a value of its own.
WHOLE = {Container.ROWS, Container.DOCUMENT}
#: What a key that no format knows may hold.
EXTRAS: tuple[Any, ...] = ("a word", 3, ["one", "two"], {"unit": "ms"})
#: What files are recognised as, and which are valid in two formats.
KNOWN = tomllib.loads(Path(__file__).with_name("recognised.toml").read_text("utf-8"))
SAMPLES = KNOWN["samples"]
BOTH = {(one, other) for one, other in KNOWN["both"]}
#: Formats whose rows can be in any of them; what only one has decides for the file.
CHATS = {"tencent-messages", "openai-chat"}
#: Lines with as many commas each are a table of any columns, whatever they mean.
ANY = "csv"
#: The code of fixtures without the column `system`: nothing tells whether the answers
#: in such a table are a model's or expected ones, so that it may be of any columns.
NO_SYSTEM = "T104"


def name_of(path: Path) -> str:
    """Return what a file is called in the output of the tests."""
    folder = path.parent.name
    is_fixture = folder in {"valid", "invalid", "named"}
    return f"{format_of(path) if is_fixture else folder}/{path.name}"


def format_of(path: Path) -> str:
    """Return the format that a fixture is for."""
    return path.parent.parent.name


def value_of(data: bytes, path: Path) -> Any:
    """Return all of a JSON file, lines as an array, read in the plainest way."""
    if path.suffix == ".jsonl":
        return [json.loads(each) for each in data.split(b"\n") if each.strip()]
    return json.loads(data)


def cut(value: Any, depth: int) -> Any:
    """Return `value` with one item in each array down to `depth` levels of objects."""
    if isinstance(value, list):
        return value[:1]
    if isinstance(value, dict) and depth:
        return {key: cut(each, depth - 1) for key, each in value.items()}
    return value


def with_extras(value: Any) -> Iterator[Any]:
    """Yield `value` with one and with two keys that no format knows."""
    for each in EXTRAS:
        yield value | {"extra_note": each}
        yield {"extra_note": each} | value
    for one, two in itertools.product(EXTRAS, repeat=2):
        yield {"remark of ours": one} | value | {"extra_note": two}


def forms_of(value: Any, dialect: Dialect) -> Iterator[bytes]:
    """Yield a file with one record or document, in each way to write it."""
    yield json.dumps(value).encode() + b"\n"
    yield json.dumps(value, ensure_ascii=False, indent=2).encode()
    if dialect.container in WHOLE:
        yield json.dumps([value]).encode()
        yield json.dumps([value], indent=1).encode()


def bases_of(path: Path, data: bytes, dialect: Dialect) -> list[Any]:
    """Return what a file is without further records: its first one, or its document."""
    whole = value_of(data, path)
    if dialect.container in WHOLE:
        return whole[:1] if isinstance(whole, list) else [whole]
    return [whole, cut(whole, dialect.depth)]


def check_json(path: Path, data: bytes, expected: str, dialect: Dialect) -> None:
    """Assert that a JSON file is seen rightly in each form, with and without extras."""
    bases = bases_of(path, data, dialect)
    more = [each for base in bases for each in with_extras(base)]
    for each in [*bases, *more]:
        found = {name for name, one in PARTICULAR if one.sniff(each)}
        assert found <= (CHATS if expected in CHATS else {expected}), each
        for form in forms_of(each, dialect):
            assert detect(form)[0].format == expected, form


def table_formats(table: bytes | Path) -> tuple[str | None, ...]:
    """Return the format of a table, and the other one that it may be in, if any."""
    (found,) = detect(table)
    rival = found.rival.partition(" ")[0]
    return (found.format, rival) if rival else (found.format,)


def check_table(path: Path, expected: tuple[str, ...], folder: Path) -> None:
    """Assert that a table is seen rightly with one row, and with more columns."""
    text = path.read_text("utf-8")
    header, first = list(csv.reader(io.StringIO(text, newline="")))[:2]
    file = folder / "table.csv"
    for count in range(3):
        more = ["extra note", "unit"][:count]
        with file.open("w", encoding="utf-8", newline="") as table:
            csv.writer(table).writerows(
                [[*header, *more], [*first, "a", "1"][: len(header) + count]]
            )
        assert table_formats(file) == expected
        assert table_formats(file.read_bytes()) == expected


def check_file(path: Path, expected: str, folder: Path) -> None:
    """Assert that a file, and what is left of it with one record, is seen rightly."""
    if path.suffix == ".csv":
        formats = (ANY, expected) if NO_SYSTEM in path.name else (expected,)
        assert table_formats(path) == formats
        check_table(path, formats, folder)
        return
    (found,) = detect(path)
    assert found.format == expected
    dialects = {each.name: each for each in FORMATS[expected].dialects}
    check_json(path, path.read_bytes(), expected, dialects[found.dialect])


def some_of_each_format() -> list[Path]:
    """Return some of the good files of each format."""
    of_formats: dict[str, list[Path]] = {}
    for path in VALID:
        of_formats.setdefault(format_of(path), []).append(path)
    return [path for paths in of_formats.values() for path in next(shares(paths))]


@for_each_case("path", some_of_each_format(), ids=name_of)
def test_fixture_is_seen_rightly_in_every_form(path: Path, tmp_path: Path) -> None:
    """A good file is taken for its format and looks like no other one.

    So is its first record, as a line, as an array, over several lines, and with
    unknown keys; and so is a document with one item in each array.
    """
    check_file(path, format_of(path), tmp_path)


@pytest.mark.long
@for_each_case("path", VALID, ids=name_of)
def test_every_fixture_is_seen_rightly_in_every_form(
    path: Path, tmp_path: Path
) -> None:
    """The same holds for every good file."""
    check_file(path, format_of(path), tmp_path)


@pytest.mark.corpora
@pytest.mark.parametrize("pattern", SAMPLES)
def test_real_file_is_seen_rightly_in_every_form(pattern: str, tmp_path: Path) -> None:
    """The same holds for files that other programs wrote."""
    paths = sorted(CORPORA.glob(pattern))
    expected = SAMPLES[pattern]
    for each in paths:
        if not expected:
            assert [each.code for each in validate(each).problems] == ["S301"]
        else:
            check_file(each, expected, tmp_path)


@pytest.mark.corpora
def test_every_real_file_has_a_format() -> None:
    """No file of the corpora is left out, or in two groups."""
    grouped = [path for pattern in SAMPLES for path in CORPORA.glob(pattern)]
    patterns = "eee/samples/*", "eee/*.jsonl", "harpia/*.*"
    there = [path for pattern in patterns for path in CORPORA.glob(pattern)]

    assert sorted(grouped) == sorted(each for each in there if each.suffix != ".txt")


def is_truly_allowed(path: Path, count: FileCount) -> bool:
    """Tell whether the reference engine accepts a file as it was validated."""
    assert count.format is not None
    dialects = FORMATS[count.format].dialects
    dialect = next(each for each in dialects if each.name == count.dialect)
    if dialect.container is Container.TABLE:
        return count.format == ANY
    whole = value_of(path.read_bytes(), path)
    is_row = dialect.container is Container.ROWS
    schema: Any = row_schema(dialect) if is_row else bundled_schema(dialect.schema)
    schema_validator = jsonschema.Draft7Validator(schema)
    records = whole if isinstance(whole, list) else [whole]
    return all(schema_validator.is_valid(each) for each in records)


def pairs_allowed(paths: list[Path]) -> set[tuple[str, str]]:
    """Return which format's files are also allowed in which other, truly so."""
    allowed = set()
    for path, other in itertools.product(paths, FORMATS.keys() - ANY_ROWS):
        report = validate(path, format=other, examples=1)
        if report.ok and other != format_of(path):
            assert is_truly_allowed(path, report.files[0]), (path, other)
            allowed.add((format_of(path), other))
    return {pair for pair in allowed if pair[1] != ANY}


def test_no_file_is_allowed_in_another_format() -> None:
    """A good file is refused by every other format, but where both allow it."""
    assert pairs_allowed(VALID[::30]) <= BOTH


@pytest.mark.long
def test_no_file_is_allowed_in_another_format_long() -> None:
    """The same for all good files: each pair that both allow is named."""
    assert pairs_allowed(VALID) == BOTH


@pytest.mark.long
@pytest.mark.parametrize("other", FORMATS)
def test_every_file_can_be_validated_as_every_format(other: str) -> None:
    """Validating any file, good or bad, as any format gives a consistent report."""
    for each in ALL:
        report = validate(each, format=other, lint=True)

        assert not report.failures
        (count,) = report.files
        assert report.ok == (not count.errors and not count.undetermined)
        assert count.invalid <= count.records
