"""What a conversion writes is valid in its format, whatever the input holds."""

import csv
import io
import itertools
import json
import random
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from effort import drawn, some_pairs
from harpia_formats import ConversionError, MapError, SinkError
from harpia_formats.plugins import (
    Container,
    Outcome,
    Output,
    Record,
    Score,
    Unconvertible,
)
from known_formats import WRITABLE, adapter_named
from mapped_records import CONSTANTS as WITH_ID
from mapped_records import mapper_to

PAIRS = [*itertools.product(WRITABLE, WRITABLE)]
#: Values for what a target needs and a source never has.
CONSTANTS = {path: value for path, value in WITH_ID.items() if path != "id"}
TURNS = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
#: Records from which the rows of every format are made.
RECORDS = (
    Record(
        id="base",
        prompt="q",
        system="s",
        references=["r"],
        choices=["r", "x"],
        contexts=["c"],
        category="k",
        source="o",
        params={"temperature": 0.5},
        metadata={"m": "v"},
        outputs=[
            Output(
                model="org/m",
                formatted_prompt="q:",
                text="a",
                reasoning="t",
                interaction_type="single_turn",
                attribution=[],
                scores=[Score(metric="em", value=0.5, is_correct=True)],
                token_usage={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
                performance={"latency_ms": 1.5},
                error="e",
            )
        ],
    ),
    Record(
        id="chat",
        messages=[{"role": "system", "content": "s"}, *TURNS, TURNS[0]],
        references=["r"],
        gt="g",
        outputs=[Output(model="org/m", turns=TURNS)],
    ),
)
#: JSON texts of values that are easily written wrongly.
HOSTILE = (
    *"null 0 -1 7 3.0 1e2 1e308 1e400 -1e400 NaN true false".split(),
    *("123456789012345678901234567890", "[]", "{}", "[null]", "[[]]", "[{}]"),
    *('""', '"nan"', '"Infinity"', '"x#1"', '"=1+1"', '"a,b"', '"l1\\nl2\\r"'),
    *(r'"\ud800"', r'"\u0000"', r'"\ufeff"', '["a","b"]', '["a",""]'),
    *('{"a":null}', '{"a":1e400}', '{"a":1,"a":2}', '[{"role":"assistant"}]'),
    *('[{"role":"user","content":null}]', '[{"role":"user","content":"q"}]'),
)
#: Options of a conversion, named as on the command line.
OPTIONS: dict[str, dict[str, Any]] = {
    "on-invalid-skip": {},
    "on-invalid-quarantine": {"on_invalid": "quarantine"},
    "on-invalid-fail": {"on_invalid": "fail"},
    "keep-extra": {"keep_extra": True},
    "group-id": {"group": "id"},
    "responses-list": {"responses": "list"},
    "turns-transcript": {"turns": "transcript"},
    "score": {"score": "em"},
    "ids-number": {"ids": "number"},
    "ids-hash": {"ids": "hash"},
    "map": {},
    "set": {},
}
#: Fields that `--set` gives hostile values to.
SET = (
    "id prompt system references gt category metadata metadata.x params.x messages "
    "outputs.model outputs.text outputs.index outputs.reasoning outputs.turns "
    "outputs.token_usage outputs.scores.value outputs.scores.evaluation_id"
).split()
#: What a conversion may raise for an option that it cannot meet.
REFUSALS = (ConversionError, MapError, SinkError, harpia_formats.ValidationFailed)


@cache
def hostile_rows(source: str) -> tuple[str, ...]:
    """Return rows of a format as JSON texts, each with a hostile value somewhere."""
    mapper = mapper_to(source, constants=CONSTANTS)
    found = []
    for record in RECORDS:
        (row,) = mapper.map(record).rows
        for owner, key in places_in(row):
            known = key in owner
            value = owner.get(key) if isinstance(owner, dict) else owner[key]
            for text in HOSTILE:
                owner[key] = "<hostile>"
                found.append(json.dumps(row).replace('"<hostile>"', text))
            owner[key] = value
            if not known and isinstance(owner, dict):
                del owner[key]
    # The ids of rows differ, unless the id is what is hostile.
    return tuple(
        text.replace('"base"', f'"{n}"').replace('"chat"', f'"{n}"')
        for n, text in enumerate(dict.fromkeys(found))
    )


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the owner and the key of each value in a row, and of unknown keys."""
    if isinstance(value, dict):
        for key in [*value, "own"]:
            yield value, key
            yield from places_in(value.get(key))
    elif isinstance(value, list) and value:
        yield value, 0
        yield from places_in(value[0])


def as_files(source: str, rows: list[str]) -> list[bytes]:
    """Return files of a format that hold rows given as JSON texts."""
    dialect = WRITABLE[source].dialects[0]
    if dialect.container is Container.WRAPPED:
        body = ",\n".join(rows)
        header = '"metrics":[{"name":"bleu"},{"id":"em","enable":1e400}],"own":null'
        return [f'{{"{dialect.rows_at}":[{body}],{header}}}'.encode()]
    if dialect.container is Container.TABLE:
        return [as_table(rows, repeats=repeats) for repeats in (False, True)]
    if dialect.container is Container.COLUMNS:
        found = []
        for text in rows:
            members = json.loads(text.replace("1e400", "1"))
            if "1e400" in text:
                continue
            columns = {key: [value] for key, value in members.items()}
            found.append(json.dumps(columns).encode())
        return found
    return ["\n".join(rows).encode("utf-8", "surrogatepass")]


def as_table(rows: list[str], *, repeats: bool) -> bytes:
    """Return rows as a table, with one column twice if it `repeats`."""
    decoded = []
    for text in rows:
        pairs = json.JSONDecoder(object_pairs_hook=list, parse_float=str).decode(text)
        decoded.append({key: cell_of(value) for key, value in pairs})
    columns = list(dict.fromkeys(key for row in decoded for key in row))
    if repeats:
        columns.append(columns[-1])
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(columns)
    for row in decoded:
        writer.writerow([row.get(column, "") for column in columns])
    return table.getvalue().encode("utf-8", "replace")


def cell_of(value: Any) -> str:
    """Return a decoded value as the text of a cell."""
    return value if isinstance(value, str) else json.dumps(value)


def variants_of(option: str, target: str, chance: random.Random) -> dict[str, Any]:
    """Return the options of a conversion, with one hostile constant for `set`."""
    chosen = {"on_invalid": "skip", "constants": CONSTANTS, **OPTIONS[option]}
    if option == "set":
        text = chance.choice(HOSTILE)
        chosen["constants"] = {**CONSTANTS, chance.choice(SET): text}
    if option == "map":
        chosen["columns"] = {"prompt": "own"} if target == "csv" else {"gt": "own"}
    return chosen


def check_conversion(
    source: str, target: str, files: list[bytes], options: dict[str, Any], folder: Path
) -> bool:
    """Convert files, and assert that what was written is valid; tell if it was."""
    output = folder / "out.json"
    output.unlink(missing_ok=True)
    try:
        done = harpia_formats.convert(
            *files, to=target, output=output, from_=source, **options
        )
        assert done.ok
    except REFUSALS:
        # An error of a whole file is raised when the other rows are written.
        if not output.exists():
            return False
    report = harpia_formats.validate(output, format=target)
    problems = [
        (problem.code, problem.place.pointer, problem.message)
        for problem in report.problems
        if problem.severity.value == "error"
    ]
    assert problems == [], (options, output.read_bytes()[:2000])
    assert report.ok
    return True


@pytest.mark.parametrize("source", WRITABLE)
def test_a_written_file_is_valid(source: str, tmp_path: Path) -> None:
    """Some hostile rows of each format are valid as other formats, by turns."""
    chance = random.Random(source)  # noqa: S311 - not for secrets
    rows = hostile_rows(source)
    written, first = 0, [*WRITABLE].index(source)
    for number, target in enumerate([*WRITABLE][first:] + [*WRITABLE][:first]):
        if written == drawn(4):
            break
        option = list(OPTIONS)[(number + len(source)) % len(OPTIONS)]
        files = as_files(source, chance.sample(rows, min(12, len(rows))))
        options = variants_of(option, target, chance)
        written += check_conversion(source, target, files, options, tmp_path)

    assert written


@pytest.mark.long
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_written_file_is_valid(
    source: str, target: str, option: str, tmp_path: Path
) -> None:
    """All hostile rows of each format, with every option, are valid as every target."""
    chance = random.Random(f"{source} {target} {option}")  # noqa: S311 - not for secrets
    rows = list(hostile_rows(source))
    for start in range(0, len(rows), 100):
        files = as_files(source, rows[start : start + 100])
        options = variants_of(option, target, chance)
        check_conversion(source, target, files, options, tmp_path)


#: Keys of rows that name the format itself: they hold no data, and never differ.
OF_FORMAT = {"schema_version", "method", "url"}
#: Records with little, of which a row needs more than they have.
SPARSE = (
    Record(prompt="q", outputs=[]),
    Record(prompt="q", references=["r"], outputs=[]),
    Record(prompt="q", outputs=[Output(text="a")]),
    Record(
        messages=[*TURNS, TURNS[0]],
        outputs=[Output(model="m", turns=TURNS, scores=[Score(value=1)])],
    ),
)


def paths_in(value: Any, start: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of each key in a row, without the places in lists."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield (*start, key)
            yield from paths_in(member, (*start, key))
    elif isinstance(value, list):
        for item in value:
            yield from paths_in(item, start)


def has_source(path: tuple[str, ...], target: str, known: set[str]) -> bool:
    """Tell whether a key of a row is the place of one of the `known` fields."""
    fields = [
        mapping.record_path
        for mapping in adapter_named(target).fields
        if is_within(path, tuple(mapping.path)) or is_within(tuple(mapping.path), path)
    ]
    return any(
        is_within(tuple(one.split(".")), tuple(other.split(".")))
        for field in fields
        for each in known
        for one, other in ((field, each), (each, field))
    )


def is_within(path: tuple[Any, ...], owner: tuple[Any, ...]) -> bool:
    """Tell whether a path is that of `owner`, or below it."""
    return path[: len(owner)] == owner


@for_each_case("source, target", some_pairs([*WRITABLE], [*WRITABLE]))
def test_a_default_that_is_written_is_declared(source: str, target: str) -> None:
    """What a row has and its record does not is among the losses, as L103."""
    check_defaults(source, target)


@pytest.mark.long
@for_each_case("source, target", PAIRS)
def test_every_default_that_is_written_is_declared(source: str, target: str) -> None:
    """So it is with each format and each target."""
    check_defaults(source, target)


def check_defaults(source: str, target: str) -> None:
    """Assert that what rows have and their records do not is among the losses."""
    for sparse in (*SPARSE, *RECORDS):
        record = sparse
        with suppress(Unconvertible):
            (row,) = mapper_to(source, constants=CONSTANTS).map(sparse, 7).rows
            record = adapter_named(source).read(row)
        for constants in ({}, CONSTANTS):
            try:
                mapped = mapper_to(target, constants=constants).map(record, 7)
            except Unconvertible:
                continue
            added = {
                each.path
                for each in mapped.outcomes
                if each.outcome is Outcome.DEFAULTED
            }
            # Every record has a list of answers, maybe an empty one.
            known = {*mapped.paths, *added, "outputs"}
            if "messages.system" in known:
                known.add("system")
            unknown = [
                path
                for path in paths_in(mapped.rows[0])
                if path[0] not in OF_FORMAT and not has_source(path, target, known)
                if not is_kept(path, record)
            ]
            assert unknown == [], mapped.rows[0]


def is_kept(path: tuple[str, ...], record: Record) -> bool:
    """Tell whether a key of a row is one that the extra of a record has somewhere."""
    extras = [record.extra, *(output.extra for output in record.outputs)]
    kept = [extra for extra in extras if isinstance(extra, dict)]
    return any(path[-1] in found for extra in kept for found in paths_in(extra))


def test_an_empty_target_is_a_default() -> None:
    """A sample of Inspect has a target in any case, and the losses say if it is new."""
    mapper = mapper_to("inspect-dataset", constants={})
    (outcome,) = mapper.map(Record(prompt="q", outputs=[])).outcomes

    assert outcome == (Outcome.DEFAULTED, "references", 'is "", which is read as none')
