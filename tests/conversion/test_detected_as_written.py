"""A written file is detected as what it was written as, whatever it was made of."""

import io
import itertools
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given

import random_values as values
from any_rows import ANY_ROWS
from cases import for_each_case
from conversion_laws import CONSTANTS, Source, file_for, sources
from effort import drawn, examples
from harpia_formats import ConversionError, Detected, Record, detect, write
from harpia_formats.plugins import Container, filled, records
from json_lines import jsonl
from known_formats import READABLE, WRITABLE, row_schema, row_validator
from row_files import file_of, with_rows
from unchecked import convert

SOURCES = list(sources())
TARGETS = list(WRITABLE)
FIXTURES = Path(__file__).parents[2] / "fixtures"
VALID = [
    path
    for name in READABLE
    if name not in ANY_ROWS
    for path in sorted((FIXTURES / name / "valid").glob("*"))
    if path.is_file()
]
#: What the rows of a Parquet file are, whose columns are those of a record.
ROWS_OF_CONTAINERS = {"parquet": "record"}
#: The pairs of formats of which some files can be both, and why nothing tells them
#: apart; what is written as one of them may be detected as both.
AMBIGUOUS = {
    frozenset({"tencent-messages", "openai-chat"}): (
        "a chat of texts only is what both vendors document, key by key"
    ),
}
#: Formats of which some files are detected only if they are named, and why.
NAMED_ONLY = {
    "haystack": (
        "columns under the user's own names only are an object of lists, as many "
        "tools write; detection says that the file may be one"
    ),
}
#: Rows of a file with keys of other formats, and targets of each, in the short form.
ROWS, SOME = drawn(1), drawn(1)
LONG = range(1, 40)


def name_of(source: Source) -> str:
    """Return the name of a source in the output of the tests."""
    return source.name


@cache
def keys_of_formats() -> list[str]:
    """Return the keys that rows of some format have."""
    schemas = [
        row_schema(dialect)
        for format_ in READABLE.values()
        for dialect in format_.dialects
    ]
    return sorted({key for each in schemas for key in each.get("properties", {})})


def other_value(chance: Random) -> Any:
    """Return a value such as formats have in their rows: any, a list or an object."""
    key = chance.choice(keys_of_formats())
    makers = (
        lambda: values.value(chance),
        lambda: values.text(chance),
        lambda: values.texts(chance),
        lambda: values.messages(chance),
        lambda: {"weight": 1},
        lambda: {key: values.text(chance)},
        lambda: [{key: values.text(chance)}],
    )
    return chance.choice(makers)()


def with_keys_of_others(row: dict[str, Any], chance: Random) -> dict[str, Any]:
    """Return a copy of `row` in which an object or two has a key of another format."""
    made: dict[str, Any] = json.loads(json.dumps(row))
    members = [*made.values()]
    nested = [each for each in members if isinstance(each, dict)]
    for each in members:
        if isinstance(each, list):
            nested += [item for item in each if isinstance(item, dict)]
    for _ in range(chance.choice((1, 2))):
        owner = chance.choice([made, *nested])
        owner.setdefault(chance.choice(keys_of_formats()), other_value(chance))
    return made


def files_with_keys_of_others(source: Source, seed: int, count: int) -> Iterator[bytes]:
    """Yield files of one row each, which has keys that other formats know.

    A record names the vendor of each key that it does not know, so no reader can have
    made one with keys by which the vendor's own rows are not detected.
    """
    chance = Random(f"{source.name} {seed}")  # noqa: S311 - a test needs a seed, not secrecy
    if source.dialect.container is not Container.ROWS or source.format.id == "record":
        return
    schema_validator = row_validator(source.dialect)
    rows = [row.value for row in file_for(source, 12, seed).rows]
    for row in chance.sample(rows, min(count, len(rows))):
        made = with_keys_of_others(row, chance)
        if schema_validator.is_valid(json.loads(json.dumps(made))):
            yield file_of(source.format, source.dialect, [made], chance).data


def written(
    data: bytes | Path, source: str, to: str, path: Path, **given: Any
) -> bytes:
    """Return what converting `data` writes, b"" if none of its rows can be written."""
    options = {"on_invalid": "skip", "jobs": 1, "constants": CONSTANTS, **given}
    path.unlink(missing_ok=True)
    try:
        convert(data, from_=source, to=to, output=path, **options)
    except ConversionError:
        # The pair needs an option or a value that is not given here.
        return b""
    return path.read_bytes() if path.exists() else b""


def mistake(data: bytes, to: str) -> str:
    """Return as what a file is detected that was written as `to`; "" if that is right.

    It is detected as `to`, or as one of several formats of which `to` is one and for
    which there is a reason above.
    """
    (found,) = detect(data)
    wanted = ROWS_OF_CONTAINERS.get(to, to)
    names = filter(None, (found.format, found.rival.partition(" ")[0]))
    readings = frozenset(names)
    if readings == {wanted} and found.confidence == 1.0:
        return ""
    if found.format is None and wanted in NAMED_ONLY and found.possible == wanted:
        return ""
    if wanted in readings and found.confidence < 1.0 and readings in AMBIGUOUS:
        return ""
    share = f"{found.name} {found.confidence} {found.rival}, by {found.why}"
    return f"written as {to} and detected as {share}: {data[:400]!r}"


def is_known(data: bytes, source: Source) -> bool:
    """Tell whether a file is detected as what it is, so that its keys mean that."""
    (found,) = detect(data)
    return found.format == source.format.id


def mistakes(
    data: bytes | Path, source: str, targets: list[str], folder: Path
) -> Iterator[str]:
    """Yield what is wrong with files written from `data`, without and with extras."""
    for to in targets:
        for keep_extra in (False, True):
            made = written(data, source, to, folder / "out", keep_extra=keep_extra)
            found = mistake(made, to) if made else ""
            if found:
                yield f"{source}, {keep_extra=}, {found}"


def check(source: Source, seed: int, count: int, targets: int, folder: Path) -> None:
    """Hold files of a source to the law: some rows, one row, and odd keys."""
    chance = Random(f"{source.name} {seed}")  # noqa: S311 - a test needs a seed, not secrecy
    whole = file_for(source, 12, seed)
    single = with_rows(whole, [chance.choice(whole.rows)])
    files = [whole.data, single.data, *files_with_keys_of_others(source, seed, count)]
    found = [
        each
        for data in files
        if is_known(data, source)
        for each in mistakes(
            data, source.format.id, chance.sample(TARGETS, targets), folder
        )
    ]

    assert found == []


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_written_file_is_detected(source: Source, tmp_path: Path) -> None:
    """A file written from random rows is detected as its format, or as two of them."""
    check(source, 0, ROWS, SOME, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_written_file_is_detected_long(source: Source, tmp_path: Path) -> None:
    """The same for every target of every source, and for more rows."""
    for seed in LONG:
        check(source, seed, 12, len(TARGETS), tmp_path)


@pytest.mark.parametrize("target", TARGETS)
def test_record_of_any_shape_is_detected(target: str, tmp_path: Path) -> None:
    """A file written from a record of any shape is detected as its format or as two."""

    @examples(2)
    @given(record=records())
    def hold(record: Record) -> None:
        data = io.BytesIO()
        write([filled(record)], to="record", output=data)

        assert list(mistakes(data.getvalue(), "record", [target], tmp_path)) == []

    hold()


@for_each_case("folder", sorted({path.parts[-3] for path in VALID}))
def test_written_fixture_is_detected(folder: str, tmp_path: Path) -> None:
    """A file written from a fixture is detected as its format, or as two of them."""
    chance = Random(folder)  # noqa: S311 - a test needs a seed, not secrecy
    files = [path for path in VALID if path.parts[-3] == folder]
    found = [
        each
        for path in chance.sample(files, min(len(files), drawn(1)))
        for each in mistakes(path, folder, chance.sample(TARGETS, SOME), tmp_path)
    ]

    assert found == []


@pytest.mark.long
@for_each_case("path", VALID, ids=lambda path: "/".join(path.parts[-3:]))
def test_written_fixture_is_detected_long(path: Path, tmp_path: Path) -> None:
    """The same for every fixture and every target."""
    assert list(mistakes(path, path.parts[-3], TARGETS, tmp_path)) == []


def test_pairs_that_can_be_both_are_so() -> None:
    """Each listed pair has a file that is both; the reason would else be untrue."""
    chat = {"messages": [{"role": "user", "content": "q"}]}
    (found,) = detect(jsonl(chat))

    assert frozenset({found.format, found.rival}) in AMBIGUOUS
    assert found.confidence < 1.0


def test_own_columns_alone_are_no_sign() -> None:
    """An object of lists may be columns, which detection says and does not decide."""
    (found,) = detect(b'{"mine":["a"],"yours":["b"]}')

    assert isinstance(found, Detected)
    assert (found.format, found.possible) == (None, "haystack")


#: Chats with what OpenAI's rows may have and Tencent's may not.
CHATS = {
    "weight": {"role": "assistant", "content": "Ask me.", "weight": 1},
    "tool": {"role": "tool", "content": "14:05"},
    "system": {"role": "system", "content": "Be short."},
}


@for_each_case(
    "target, name", itertools.product(["csv", "tencent-messages", "tencent-csv"], CHATS)
)
def test_written_chat_is_detected(name: str, target: str, tmp_path: Path) -> None:
    """A chat with a weight, a tool or a system message is detected as written."""
    asked = {"role": "user", "content": "How late is it?"}
    answer = {"role": "assistant", "content": "It is late."}
    for turns in ([CHATS[name], asked], [CHATS[name], asked, answer]):
        data = jsonl({"messages": turns})
        found = list(mistakes(data, "openai-chat", [target], tmp_path))

        assert found == []
