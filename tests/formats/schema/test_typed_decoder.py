"""Laws of the typed decoder: it accepts only what the schema validator accepts."""

import itertools
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import drawn, examples, some_pairs
from fixture_files import schema_file, valid_rows
from format_variants import VARIANTS, Variant, name_of, streams_of
from harpia_formats.api.testing import mutants
from harpia_formats.files.parsing.json_syntax import find_fault
from harpia_formats.files.parsing.locate import duplicates
from harpia_formats.formats.schema.bundled_schemas import schema_validator_of
from harpia_formats.formats.schema.decoder_types import UnsupportedSchemaError
from harpia_formats.formats.schema.typed_decoder import (
    RowSurvey,
    TypedDecoder,
    typed_decoder_of,
)
from harpia_formats.model.exact_json import NOT_JSON, decode, encode
from harpia_formats.plugins import Container
from json_lines import jsonl_rows
from known_formats import row_schema, row_validator

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")

FORMATS = ("eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0")


#: Dialects of objects whose schemas say no more than types can.
OBJECTS = [
    each
    for each in VARIANTS
    if each.dialect.container in {Container.ROWS, Container.WRAPPED}
]
#: Variants with conditions, of which many mutants are tried.
SHAPES = [each for each in OBJECTS if each.format.id in FORMATS]
#: The variants, strict or not by turns; with more effort, both.
IN_TURN = some_pairs(OBJECTS, [False, True])


def decoders_of(schema: Any, rows: list[Any]) -> tuple[TypedDecoder, TypedDecoder]:
    """Return the decoder that has seen rows, and one that leaves texts undecoded."""
    survey = RowSurvey()
    for each in rows:
        survey.take(schema, each)
    texts = frozenset(survey.texts)
    plain = typed_decoder_of(schema, survey.extras)
    brief = typed_decoder_of(schema, survey.extras, undecoded=texts)
    return plain, brief


def check_row(decoder: TypedDecoder, brief: TypedDecoder, row: bytes) -> bool:
    """Assert that both decoders agree on a row; return whether it is accepted."""
    is_accepted = decoder.accept(row) is not None
    if row.isascii() and is_accepted != (brief.accept(row) is not None):
        # Of a repeated key, the last value alone is there to be looked at.
        assert not is_accepted, row
        assert list(duplicates(row)), row
    value = decoded_or_none(row)
    # Values that are typed are valid where they are written as JSON, too.
    if decoder.accepts_values([value]):
        assert decoder.accept(encode(value)) is not None, row
    return is_accepted


def decoded_or_none(row: bytes) -> Any:
    """Return a row as JSON of any type, None if it is not JSON."""
    try:
        return decode(row)
    except NOT_JSON:
        return None


def texts_of(rows: Iterable[Any]) -> list[bytes]:
    """Return values as JSON, by turns ASCII or not, and with spaces or without."""
    forms = itertools.cycle(
        itertools.product((True, False), ((",", ":"), (", ", ": ")))
    )
    return [
        json.dumps(each, ensure_ascii=is_ascii, separators=separators).encode()
        for each, (is_ascii, separators) in zip(rows, forms, strict=False)
    ]


def broken(row: bytes, chance: random.Random) -> bytes:
    """Return `row` with one to three faults in its bytes."""
    text = bytearray(row)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(text) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            text[at:at] = chance.choice(PIECES)
        elif kind == 1:
            del text[at : at + chance.randint(1, 4)]
        elif kind == 2 and at < len(text):
            text[at] = chance.randrange(256)
        elif kind == 3:
            text[at:at] = text[at : at + chance.randint(1, 40)]
        else:
            found = text.find(chance.choice((b"1", b"0", b"true", b"null")), at)
            if found >= 0:
                text[found : found + 1] = chance.choice(PIECES)
    return bytes(text)


PIECES = (
    *(b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf"),
    *(b"1e400", b"-1e999", b"9" * 5000, b"1.0", b"1e2", b"-0", b"NaN", b"Infinity"),
    *(b'"\\ud800"', b"\\ud800", b"\\u003a", b"\\u0000", b"\x00", b"\n", b"\r", b"\t"),
    *(b'"x":1e400,', b'"\xff":1,', b'"score":1,', b'"x":{"x":1,"x":2},', b"[" * 250),
    *(b",", b":", b"{", b"}", b"[", b"]", b'"', b"\\", b"//", b" ", b"01", b"+1", b"."),
)


def check_variant(variant: Variant, count: int, seed: int, *, strict: bool) -> None:
    """Assert that a decoder accepts all valid fixtures, and of mutants only valid ones.

    It has seen the fixtures, also with keys of their own where these are allowed, and
    accepts a good share of the valid mutants. Others have broken bytes.
    """
    is_valid = row_validator(variant.dialect, strict=strict).is_valid
    (rows,) = streams_of(variant).values()
    wild = [each | {"harness": {"a": [1]}, "run": None} for each in rows]
    valid = [*filter(is_valid, rows)]
    known = [*valid, *filter(is_valid, wild)]
    schema = row_schema(variant.dialect, strict=strict)
    decoder, brief = decoders_of(schema, known)
    assert len(brief.checks) > len(decoder.checks) or variant not in SHAPES
    made = texts_of(itertools.islice(mutants(rows, seed), count))
    texts, chance = texts_of(rows * 4), random.Random(seed)  # noqa: S311 - needs a seed, not secrecy
    spoilt = [broken(chance.choice(texts), chance) for _ in range(2 * count)]
    accepted = [each for each in made if check_row(decoder, brief, each)]
    good = sum(bool(is_valid(msgspec.json.decode(each))) for each in made)

    for each in texts_of(valid * 4):
        assert check_row(decoder, brief, each), each
    damaged = [each for each in spoilt if check_row(decoder, brief, each)]
    assert len(accepted) > good / 3 or not count
    assert damaged or not count
    for each in (*accepted, *damaged):
        assert find_fault(each) is None, each
        assert is_valid(msgspec.json.decode(each)), each


def id_of(value: Variant | bool) -> str:
    """Return what a parameter is called in the output of the tests."""
    return str(value) if isinstance(value, bool) else name_of(value)


@for_each_case("variant, strict", itertools.product(OBJECTS, [False, True]), ids=id_of)
def test_accepts_only_valid_rows(variant: Variant, *, strict: bool) -> None:
    """The decoder of each dialect accepts its fixtures, and no mutant that is invalid.

    A fixture that it refuses would take the slow path.
    """
    count = drawn(60) if (variant, strict) in IN_TURN else 0
    check_variant(variant, count, seed=3, strict=strict)


@pytest.mark.parametrize("variant", SHAPES, ids=name_of)
def test_accepts_only_valid_rows_of_many(variant: Variant) -> None:
    """The same over thousands of rows of a schema with conditions."""
    check_variant(variant, 3_000, seed=1, strict=False)


@pytest.mark.long
@pytest.mark.parametrize("variant", OBJECTS, ids=name_of)
def test_accepts_only_valid_rows_long(variant: Variant) -> None:
    """The same over 20,000 rows of each dialect, and 350,000 with conditions."""
    count = 350_000 if variant in SHAPES else 20_000
    for strict in (False, True):
        check_variant(variant, count, seed=4, strict=strict)


@given(
    st.lists(
        st.sampled_from(
            [b'{"a":1}', b'{"a":[{}]}', b'{"a":"}\\n{"}', b"{}", b'{"b":1}']
        ),
        min_size=1,
    ),
    st.lists(
        st.sampled_from([b"\n", b" ", b"", b"\n\n", b"\r\n", b" \n"]), max_size=30
    ),
)
@examples(75)
def test_lines_are_rows(rows: list[bytes], gaps: list[bytes]) -> None:
    """Lines are accepted together only if each of them is one valid row."""
    decoder = typed_decoder_of({"type": "object", "properties": {"a": {}}})
    pairs = itertools.zip_longest(rows, gaps[: len(rows)], fillvalue=b"\n")
    data = b"".join(part for pair in pairs for part in pair)
    lines = data.removesuffix(b"\n").split(b"\n")
    plain = all(each[:1] == b"{" and each[-1:] == b"}" for each in lines)

    values = decoder.accept_lines(data, len(lines)) if plain else None

    if values is not None:
        assert [decoder.accept(each) for each in lines] == values


_UNDECODED = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": ["string", "null"]},
        "c": {"type": "array", "items": {"type": "string"}},
        "d": {"type": "object", "additionalProperties": {"type": "string"}},
        "e": {
            "oneOf": [
                {"type": "object", "properties": {"f": {"type": "string"}}},
                {"type": "array", "items": {"type": "string"}},
                {"type": "null"},
            ]
        },
    },
}


@pytest.mark.parametrize("place", ["a", "b", "c *", "d *", "e f", "e *"])
def test_texts_that_are_not_decoded_are_texts(place: str) -> None:
    """Where a text stays undecoded, what is accepted is the same as where it does not.

    These are all values of JSON, and all sequences after a backslash, ASCII or not.
    """
    undecoded = frozenset({tuple(place.split())})
    plain = typed_decoder_of(_UNDECODED)
    brief = typed_decoder_of(_UNDECODED, undecoded=undecoded)
    assert len(brief.checks) == 1
    key, *inside = place.split()
    rows = [b"{}", *(b'{"%s": %s}' % (key.encode(), each) for each in _VALUES)]
    for value in (*_VALUES, *_escapes()):
        inner = value
        for step in inside:
            inner = b"[%b, %b]" % (value, value) if key != "d" else inner
            if step == "f" or key == "d":
                inner = b'{"f": %b}' % value
        rows.append(b'{"%s": %s}' % (key.encode(), inner))

    for row in rows:
        assert (plain.accept(row) is None) == (brief.accept(row) is None), row
    assert sum(brief.accept(row) is not None for row in rows) > 100


_TEXT, _TEXT_OR_NULL = {"type": "string"}, {"type": ["string", "null"]}
_TEXTS_BELOW = {"type": "object", "properties": {"t": _TEXT}}


@pytest.mark.parametrize(
    ("node", "valid", "invalid"),
    jsonl_rows(CASES / "places_with_one_name.jsonl"),
)
def test_places_with_one_name_are_distinguished(
    node: dict[str, Any], valid: Any, invalid: Any
) -> None:
    """Texts that stay undecoded are texts, however the schema comes to their place.

    Items, values of any key and unknown members share a name, as does a key of "*".
    """
    inner = {"type": "object"} | node
    schema = {"type": "object", "properties": {"a": inner}}
    survey = RowSurvey()
    survey.take(schema, {"a": valid})
    brief = typed_decoder_of(schema, survey.extras, undecoded=frozenset(survey.texts))

    assert brief.checks
    for value, accepts in ((valid, True), (invalid, False)):
        row = json.dumps({"a": value}).encode()
        assert (brief.accept(row) is not None) == accepts


#: Values of each type of JSON, and what is none.
_VALUES = (
    *(b"1", b"-1.5", b"true", b"false", b"null", b"nul", b'""', b'"x"', b' "x" '),
    *(b"[]", b"{}", b'["x"]', b'[["x"]]', b"[1]", b"[null]", b'{"f": "x"}', b"'x'"),
    *(b'{"f": null}', b'{"f": 1}', b'{"f": ["x"]}', b'"x', b'x"', b'"a" "b"', b"NaN"),
)


def _escapes() -> Iterator[bytes]:
    """Yield texts with each byte of ASCII, plain and escaped, and with code units."""
    for byte in range(128):
        yield b'"%c"' % byte
        yield b'"\\%c and more text"' % byte
        yield b'"a long text before it\\u00%c0"' % byte
    for unit in ("0000", "d7FF", "d800", "DBFF", "dc00", "DFFF", "e000", "00g0", "000"):
        for after in ("", "\\udc00", "\\uD800", "\\n", "\\", "x"):
            yield f'"\\u{unit}{after}"'.encode()


def test_learns_unknown_keys() -> None:
    """A key that was seen in a valid row is accepted, and others are not."""
    schema = {
        "type": "object",
        "properties": {"a": {"properties": {}, "type": "object"}},
    }
    unknown = RowSurvey()

    assert unknown.take(schema, {"b": 1, "a": {"c": 1}})
    assert not unknown.take(schema, {"b": 2})
    decoder = typed_decoder_of(schema, unknown.extras)

    assert decoder.accept(b'{"b": [1], "a": {}}') is not None
    assert decoder.accept(b'{"d": 1}') is None


@for_each_case(
    "schema, row",
    jsonl_rows(CASES / "free_values.jsonl"),
)
def test_learns_the_depth_of_free_values(
    schema: dict[str, Any], row: dict[str, Any]
) -> None:
    """Values of any type are accepted as deep as those that were seen."""
    survey, text = RowSurvey(), json.dumps(row).encode()
    flat = typed_decoder_of(schema, {(): frozenset("a")}, depth=survey.depth)

    assert flat.accept(text) is None
    assert survey.take(schema, row)
    assert survey.depth == 4
    decoder = typed_decoder_of(schema, survey.extras, depth=survey.depth)
    assert decoder.accept(text) is not None
    assert decoder.members(decoder.accept(text)) == text.count(b":")


def test_condition_on_a_required_key_that_is_not_declared() -> None:
    """A condition holds for a key that is required but not in `properties`."""
    schema = {
        "type": "object",
        "required": ["k", "ghost"],
        "properties": {"k": {"type": "string", "enum": ["x", "y"]}},
        "allOf": [_condition({"properties": {"ghost": {"type": "string"}}})],
    }
    decoder = typed_decoder_of(schema)

    assert decoder.accept(b'{"k": "y", "ghost": 1}') is not None
    assert decoder.accept(b'{"k": "x", "ghost": "a"}') is not None
    assert decoder.accept(b'{"k": "x", "ghost": 1}') is None


def test_schema_of_any_keys_has_a_decoder() -> None:
    """A schema that names no keys has a decoder, too."""
    decoder = typed_decoder_of(
        {"type": "object", "additionalProperties": {"type": "string"}}
    )

    assert decoder.accept(b'{"a": "b"}') is not None
    assert decoder.accept(b'{"a": 1}') is None


def test_forbidden_key_is_not_accepted() -> None:
    """A forbidden key is never accepted, and its absence is."""
    decoder = typed_decoder_of({"type": "object", "properties": {"a": False, "b": {}}})

    assert decoder.accept(b'{"b": 1}') is not None
    assert decoder.accept(b'{"a": null}') is None


def test_decoder_does_not_declare_odd_keys() -> None:
    """A key that cannot be the name of a field is not declared in the decoder."""
    schema = {"type": "object", "properties": {"a": {}}}
    unknown = RowSurvey()

    assert not unknown.take(schema, {"\x00": 1, '"': 2, "\\": 3})
    with pytest.raises(UnsupportedSchemaError):
        typed_decoder_of({"type": "object", "properties": {'"': {}}})


def test_free_values_have_a_depth() -> None:
    """A deeply nested value of any type is left to the validator."""
    decoder = typed_decoder_of({"type": "object", "properties": {"a": {}}})

    assert decoder.accept(b'{"a": [[[[[1]]]]]}') is not None
    assert decoder.accept(b'{"a": ' + b"[" * 150 + b"]" * 150 + b"}") is None


@for_each_case(
    "schema",
    jsonl_rows(CASES / "without_types.jsonl"),
)
def test_unsuitable_schemas(schema: dict[str, Any]) -> None:
    """A schema that types cannot express has no decoder."""
    with pytest.raises(UnsupportedSchemaError):
        typed_decoder_of(schema)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "k", "n", ""]), inner, max_size=3)
    ),
    max_leaves=8,
)
leaves = st.sampled_from(jsonl_rows(CASES / "leaves.jsonl"))
nodes = st.recursive(
    leaves,
    lambda inner: (
        st.builds(
            lambda properties, required, rest: {
                "type": "object",
                "properties": properties,
                "required": sorted(required),
                **rest,
            },
            st.dictionaries(st.sampled_from("abkn"), inner, max_size=3),
            st.sets(st.sampled_from("abkn"), max_size=2),
            st.sampled_from(
                [
                    {},
                    {"additionalProperties": False},
                    {"additionalProperties": {"type": "string"}},
                ]
            ),
        )
        | st.builds(lambda items: {"type": "array", "items": items}, inner)
    ),
    max_leaves=5,
)


@given(nodes, st.lists(json_values, min_size=1, max_size=6), st.data())
@examples(75)
def test_any_schema(node: Any, values: list[Any], data: st.DataObject) -> None:
    """For generated schemas the decoder accepts only what the validator accepts."""
    conditions = data.draw(
        st.sampled_from(
            [
                [],
                [_condition({"required": ["n"]})],
                [_condition({"properties": {"n": {"type": "null"}}})],
                [_condition({"properties": {"n": {"not": {"type": "string"}}}})],
            ]
        )
    )
    schema = {
        "type": "object",
        "properties": {"k": {"enum": ["x", "y"], "type": "string"}, "n": node},
        "required": ["k"],
        **({"allOf": conditions} if conditions else {}),
    }
    schema_validator, unknown = schema_validator_of(schema), RowSurvey()
    # Objects with each key that schemas name.
    values = [*values, *(dict.fromkeys("abkn", each) for each in (1, "x"))]
    rows = [{"k": key, "n": each} for each in values for key in ("x", "y", "z")]
    rows += [
        {"k": "x"},
        {"k": "y", "extra": values[0]},
        *({"n": each} for each in values),
    ]
    # The first rows of a file are surveyed before anything is known of them.
    is_start = data.draw(st.booleans())
    for each in rows:
        if is_start or schema_validator.is_valid(each):
            unknown.take(schema, each)
    try:
        decoder = typed_decoder_of(schema, unknown.extras)
    except UnsupportedSchemaError:
        return

    for each in rows:
        if decoder.accept(json.dumps(each).encode()) is not None:
            assert schema_validator.is_valid(each), (schema, each)


def _condition(then: dict[str, Any]) -> dict[str, Any]:
    return {"if": {"properties": {"k": {"const": "x"}}}, "then": then}


def test_duplicates_are_visible_after_acceptance() -> None:
    """A repeated key in an accepted row is found by encoding the row again."""
    rows = valid_rows("eee@0.2.0")
    decoder, _ = decoders_of(schema_file("eee@0.2.0"), rows)
    twice = b'{"sample_id": "x", ' + json.dumps(rows[0]).encode()[1:]

    written = msgspec.json.encode(decoder.accept(twice))

    assert list(duplicates(twice))
    assert written.count(b":") == twice.count(b":") - 1


@given(
    nodes,
    st.lists(
        json_values.map(lambda value: json.dumps(value, ensure_ascii=False).encode())
        | st.sampled_from([*PIECES, b'{"a":1,"a":2}', b'"{"', b"[[[[[[[[[]]]]]]]]]"]),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([b",", b", ", b",\n"]),
)
@examples(75)
def test_items_of_columns(node: Any, rows: list[bytes], separator: bytes) -> None:
    """Items are accepted together only if each is valid, and so is their text."""
    try:
        decoder = typed_decoder_of(node, of_items=True)
    except UnsupportedSchemaError:
        return
    schema_validator, data = schema_validator_of(node), separator.join(rows)

    values = decoder.accept_items(data, len(rows))

    if values is not None:
        assert data.decode().encode() == data
        for row in rows:
            assert find_fault(row) is None, row
            assert schema_validator.is_valid(msgspec.json.decode(row)), (node, row)
            assert decoder.may_repeat_keys(data) or not list(duplicates(row)), row
