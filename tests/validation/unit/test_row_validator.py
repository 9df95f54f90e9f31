"""The verdict on rows is that of the reference engine, with and without a decoder."""

import itertools
import json
import random
import time
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import drawn, examples
from fixture_files import valid_rows
from harpia_formats import iter_problems, validate
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.plugins import mutants
from harpia_formats.validation.dedup.identity import IdentityReader
from harpia_formats.validation.unit.row_checks import RowChecks
from harpia_formats.validation.unit.row_validator import RowValidator
from json_lines import jsonl
from known_formats import bundled_schema

SEED_SHAPE = "eee@0.2.0"
#: Rows after which a typed decoder reads what follows, and too few for one.
WARM = 100, 1


def mutated(identifier: str, count: int, seed: int) -> list[Any]:
    """Return valid records, so that a decoder is built, and mutated ones among them."""
    valid = valid_rows(identifier)
    wild = itertools.islice(mutants(valid, seed), count)
    mixed = (
        row
        for number, each in enumerate(wild)
        for row in (each, *valid[number % 3 : 1])
    )
    return [*(valid * 8), *mixed]


def invalid_records(identifier: str, rows: list[Any]) -> set[int]:
    """Return the numbers, from 1, of the rows that we call invalid."""
    data = "\n".join(json.dumps(each) for each in rows).encode()
    found = iter_problems(data, format=identifier, ignore=("J", "S201", "X"))
    return {each.place.record for each in found if each.place.record is not None}


def check_verdicts(identifier: str, count: int, seed: int) -> None:
    """Assert that our verdict on each row is that of the reference engine."""
    rows = mutated(identifier, count, seed)
    reference = jsonschema.Draft7Validator(bundled_schema(identifier))

    expected = {
        number for number, each in enumerate(rows, 1) if not reference.is_valid(each)
    }

    assert expected == invalid_records(identifier, rows)
    assert count / 4 < len(expected) < count


@pytest.mark.parametrize("identifier", [SEED_SHAPE, "eee@0.2.0-tag", "eee@0.3.0"])
def test_verdicts_are_the_reference_engines(identifier: str) -> None:
    """Over mutated records our verdict is that of the reference engine."""
    check_verdicts(identifier, drawn(250), seed=5)


@pytest.mark.long
def test_verdicts_are_the_reference_engines_long() -> None:
    """The same over 100,000 mutated records of the seed shape."""
    check_verdicts(SEED_SHAPE, 100_000, seed=6)


def with_repeated_key(row: Any, chance: random.Random) -> bytes:
    """Return `row` as JSON with one key of one of its objects written twice.

    Now and then another text has an escaped colon, which makes up for the one that
    is lost, or the repeated key is itself spelt with escapes.
    """
    objects = [each for each in _objects(row) if each]
    chosen = chance.choice(objects)
    key, value = chance.choice(list(chosen.items()))
    marked = dict(chosen)
    marked["\x01"] = value
    text = json.dumps(_replaced(row, chosen, marked))
    spelling = json.dumps(key)
    if chance.random() < 0.3 and key.isalpha():
        spelling = f'"\\u{ord(key[0]):04x}{key[1:]}"'
    text = text.replace('"\\u0001"', spelling)
    if chance.random() < 0.5:
        text = text.replace('"evaluation_id": "', '"evaluation_id": "\\u003a', 1)
    return text.encode()


def _objects(value: Any) -> list[dict[str, Any]]:
    """Return all objects in `value`."""
    if isinstance(value, dict):
        inner = [found for each in value.values() for found in _objects(each)]
        return [value, *inner]
    if isinstance(value, list):
        return [found for each in value for found in _objects(each)]
    return []


def _replaced(value: Any, old: Any, new: Any) -> Any:
    """Return `value` with the very object `old` replaced."""
    if value is old:
        return new
    if isinstance(value, dict):
        return {key: _replaced(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, old, new) for each in value]
    return value


def test_repeated_keys_are_found() -> None:
    """Each row with a repeated key is found, at any depth, and no other row is."""
    chance = random.Random(7)  # noqa: S311 - needs a seed, not secrecy
    valid = valid_rows(SEED_SHAPE)
    lines, planted = [json.dumps(each).encode() for each in valid * 8], set()
    for number in range(len(lines) + 1, len(lines) + 2_000):
        row = chance.choice(valid)
        if chance.random() < 0.1:
            lines.append(with_repeated_key(row, chance))
            planted.add(number)
        else:
            lines.append(json.dumps(row).replace("gsm", "g\\u003asm").encode())

    found = iter_problems(b"\n".join(lines), format=SEED_SHAPE, select=("J105",))

    assert planted == {each.place.record for each in found}


@for_each_case(
    "text, codes",
    [
        (b'{"a": 1}\n{"a": 2}\n', []),
        (b'{"a": 1} {"a": 2}\n', ["J101"]),
        (b'{"a":\n1}\n', ["J102", "J101"]),
        (b'{"a": 1, "a": 2}\n', ["J105"]),
        (b'{"a": NaN}\n', ["J106"]),
        (b'{"a": 1e400}\n', ["J107"]),
        (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", ["J108"]),
        (b'{"a": ' + b"[" * 199 + b"]" * 199 + b"}", []),
        (b'{"a": "' + b"[" * 500 + b'"}\n', []),
    ],
)
def test_text_is_validated(text: bytes, codes: list[str]) -> None:
    """Text and JSON are validated row by row, with and without a decoder."""
    schema = {"type": "object", "properties": {"a": {}}}
    for rows in WARM:
        found = validate(b'{"a": 0}\n' * rows + text, schema=schema, select=("J1",))

        assert [each.code for each in found.problems] == codes


@pytest.mark.parametrize("is_asserted", [False, True])
def test_formats_refuse_values_if_asserted(is_asserted: bool) -> None:
    """Whether `format` refuses a value does not depend on the rows before it."""
    rows = [{"day": "2026-02-03", "free": 1}] * WARM[0] + [{"day": "today"}]
    for day in ({"type": "string", "format": "date"}, {"type": "string"}):
        report = validate(
            jsonl(*rows),
            schema={"type": "object", "properties": {"day": day}},
            assert_formats=is_asserted,
        )

        assert report.ok == (not is_asserted or "format" not in day)


def test_bad_rows_among_good_ones() -> None:
    """The verdict on a row does not depend on its neighbours."""
    valid = json.dumps(valid_rows(SEED_SHAPE)[0])
    wrong = valid.replace('"is_correct"', '"is_right"')
    chance = random.Random(8)  # noqa: S311 - needs a seed, not secrecy
    for share in (0.0, 0.01, 0.3, 1.0):
        bad = [chance.random() < share for _ in range(1_500)]
        data = "\n".join(wrong if each else valid for each in bad).encode()

        found = list(iter_problems(data, format=SEED_SHAPE, ignore=("X",)))

        assert [each.place.line for each in found] == [
            line for line, each in enumerate(bad, 1) if each
        ]


_ROWS = st.sampled_from(
    [
        b'{"id": "a", "n": 1}',
        b'{"id": "b", "n": 2, "free": {"x": [1, {"y": 2}]}}',
        b'{"id": "c", "n": "text"}',
        b'{"id": "d"}',
        b'{"id": "e", "n": 1, "n": 2}',
        b'{"id": "f", "n": 1, "free": {"x": 1, "x": 1}}',
        b'{"id": "g", "n": 1, "late": ":"}',
        b'{"n": 1}',
        b'{"id": "h", "n": 1',
        b" ",
    ]
)


NUMBERS = {
    "type": "object",
    "required": ["n"],
    "properties": {"id": {}, "n": {"type": "integer"}, "free": {}},
}


def problems_by_row(rows: list[bytes]) -> list[tuple[int | None, str, str]]:
    """Return record, code and pointer of each problem of rows, behind a good one."""
    data = b"\n".join([b'{"id": "", "n": 0}', *rows])
    found = validate(
        data, schema=NUMBERS, ignore=("J202",), examples=0, max_problems=0
    ).problems
    return [(each.place.record, each.code, each.place.pointer) for each in found]


@examples(25)
@given(st.lists(_ROWS, max_size=80), st.sampled_from(WARM))
def test_verdicts_do_not_depend_on_other_rows(rows: list[bytes], warm: int) -> None:
    """Findings are those of each row alone, with or without a decoder."""
    good = [b'{"id": "", "n": 0}'] * warm
    records = [each for each in rows if each.strip()]
    alone = [
        (warm + number, code, pointer)
        for number, row in enumerate(records, 2)
        # With a row behind it, a last one that is cut off is one of several.
        for _, code, pointer in problems_by_row([row, b'{"n": 1}'])
    ]

    assert problems_by_row([*good, *rows, b'{"n": 1}']) == alone


@pytest.mark.parametrize("shape", [SEED_SHAPE, "eee@0.3.0"])
@pytest.mark.parametrize("is_epoch", [False, True])
def test_ids_do_not_depend_on_escapes(shape: str, is_epoch: bool) -> None:
    """Ids are read with or next to escapes, also at keys that no schema names."""
    row = valid_rows(shape)[0]
    names = [*map(str, range(100)), "7"]
    rows = [
        row | {"metadata": {"epoch": name, "note": "é" * 40}}
        if is_epoch
        else row | {"sample_id": f"{name}é" * 20}
        for name in names
    ]
    (problem,) = validate(jsonl(*rows), format=shape, select=("X101",)).problems

    assert problem.place.record == 101


def test_ids_are_read_once_whoever_decodes_the_row() -> None:
    """Ids count once in rows with new keys, which a decoder learns, and in others."""
    rows: list[Any] = [{"id": str(number), "n": 1} for number in range(300)]
    for number in (*range(100, 200), *range(200, 300, 3)):
        rows[number] |= {"late": 1}
    rows[250] |= {"n": "text"}
    checks = RowChecks(identity=IdentityReader((("id",),)))
    validator = RowValidator(NUMBERS, checks)
    chunks = [Chunk(jsonl(*part), Cursor()) for part in (rows[:100], rows[100:])]

    verdicts = [validator.validate(chunk) for chunk in chunks]

    keys = [key for verdict in verdicts for key in verdict.keys]
    assert sorted(keys, key=int) == [row["id"] for row in rows]
    assert [each.row for verdict in verdicts for each in verdict.findings] == [150]
    assert [verdict.accepted is None for verdict in verdicts] == [False, True]
    # As the decoder read them, for those who read the rows next.
    assert verdicts[1].values[-1] is not None


def test_patterns_run_in_linear_time() -> None:
    """A pattern with exponential time in other engines is decided at once."""
    schema = {"properties": {"a": {"pattern": "^(a+)+$"}}}
    before = time.monotonic()
    (problem,) = validate([{"a": "a" * 5_000 + "!"}], schema=schema).problems

    assert problem.code == "V104"
    assert time.monotonic() - before < 10


def test_text_like_deep_json_is_no_number() -> None:
    """Text that looks like deep JSON in the place of a number is only text."""
    schema = {"properties": {"a": {"type": "number"}}}
    text = b'{"a": "' + b"[" * 5_000 + b'"}'

    (problem,) = iter_problems(text, schema=schema)

    assert problem.code == "S102"


def test_many_errors_in_one_row_take_time_in_proportion() -> None:
    """Of ten thousand errors in one row, a thousand are reported, and that."""
    schema = {"properties": {"a": {"items": {"type": "string"}}}}
    text = b'{"a": [' + b",".join([b"1"] * 10_000) + b"]}"
    before = time.monotonic()

    report = validate(text, schema=schema)

    assert report.errors == 1_001
    assert [group.code for group in report.groups] == ["S102", "S106"]
    assert time.monotonic() - before < 10


@examples(25)
@given(st.text() | st.sampled_from(["\\u003a", ":", "\\", "\\\\u003a", '":"']))
def test_repeated_keys_do_not_depend_on_how_texts_are_written(text: str) -> None:
    """Colons in texts, escaped or not, neither make nor hide a repeated key."""
    spelt = "".join(
        f"\\u{ord(each):04x}" if each in ':a\\"' else json.dumps(each)[1:-1]
        for each in text
    )
    plain = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace").decode()
    upper = spelt.replace("\\u003a", "\\u003A")
    texts = json.dumps(text), plain, f'"{spelt}"', f'"{upper}"'
    rows = [f'{{"n": {each}}}' for each in texts]
    rows += [f'{{"n": {each}, "n": 1}}' for each in texts]
    data = "\n".join(['{"n": ""}'] * WARM[0] + rows).encode()

    found = iter_problems(data, schema={"properties": {"n": {}}}, select=("J105",))

    assert [each.place.record for each in found] == [WARM[0] + at for at in range(5, 9)]
