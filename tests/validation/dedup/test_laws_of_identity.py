"""Laws of what tells records apart: the key of their ids, and its text."""

import itertools
import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from format_variants import VARIANTS, name_of
from harpia_formats.formats.schema.typed_decoder import (
    RowSurvey,
    TypedDecoder,
    typed_decoder_of,
)
from harpia_formats.plugins import Container, Path
from harpia_formats.validation.dedup.identity import ABSENT, IdentityReader, key_text
from known_formats import row_schema

PATHS: tuple[Path, ...] = (("id",), ("run",), ("meta", "epoch"))
#: It says more of some members than of others, so that decoders read them otherwise.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": ["string", "integer", "null"]},
        "run": {},
        "meta": {"type": "object", "properties": {"epoch": {"type": "number"}}},
    },
}
LOOSE: dict[str, Any] = {"type": "object", "properties": {"id": {}, "meta": {}}}
SCALARS: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "1", "(1,)"])
)
#: A decoder reads a number as a float if the schema says so: none beyond 2^53 here.
NUMBERS = st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.5, -0.5, 1e300])
RECORDS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"id": SCALARS | NUMBERS | st.sampled_from([[], 10**30])},
    optional={
        "run": SCALARS | NUMBERS | st.just({}),
        "meta": st.fixed_dictionaries({}, optional={"epoch": NUMBERS, "x": SCALARS}),
        "more": SCALARS,
    },
)


def decoder_with_keys_of(schema: dict[str, Any], value: Any) -> TypedDecoder:
    """Return a decoder whose type declares the keys of a record."""
    unknown = RowSurvey()
    unknown.take(schema, value)
    return typed_decoder_of(schema, unknown.extras)


def of_value(value: Any, *, by_text: bool = False) -> list[str]:
    """Return the key of a record."""
    return IdentityReader(PATHS, by_text=by_text).keys_of_value(value)


@given(RECORDS, st.booleans(), st.sampled_from([SCHEMA, LOOSE]))
def test_keys_do_not_depend_on_who_decoded(
    record: Any, by_text: bool, schema: dict[str, Any]
) -> None:
    """A row has the same key decoded with and without types."""
    text = json.dumps(record).encode()
    decoder = decoder_with_keys_of(schema, record)
    accepted = decoder.accept(text)
    identity = IdentityReader(PATHS, by_text=by_text)
    expected = identity.keys_of_value(msgspec.json.decode(text))

    assert accepted is None or identity.keys_of_rows([accepted], decoder) == expected


@given(
    st.lists(RECORDS | st.fixed_dictionaries({}, optional={"run": SCALARS})),
    st.booleans(),
    st.sampled_from([PATHS, PATHS[:1], PATHS[:2]]),
)
def test_keys_of_many_records_are_those_of_each(
    records: list[dict[str, Any]], by_text: bool, paths: tuple[Path, ...]
) -> None:
    """Records have the same keys read together and one by one."""
    identity = IdentityReader(paths, by_text=by_text)
    expected = [key for each in records for key in identity.keys_of_value(each)]

    assert identity.keys_of_values(records) == expected


@given(st.lists(st.text(alphabet="(1,)\n'"), min_size=1))
def test_texts_are_their_own_keys_unless_in_doubt(ids: list[str]) -> None:
    """Records whose ids are all texts have the same keys together and one by one."""
    identity = IdentityReader(PATHS[:1])
    records = [{"id": each} for each in ids]
    expected = [key for each in records for key in identity.keys_of_value(each)]

    assert identity.keys_of_values(records) == expected


@given(
    st.lists(RECORDS, min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([PATHS, PATHS[:1], PATHS[:2], PATHS[2:]]),
)
def test_keys_of_lines_are_those_of_their_values(
    records: list[dict[str, Any]], by_text: bool, paths: tuple[Path, ...]
) -> None:
    """Lines have the keys of their values, if all of them have one."""
    identity = IdentityReader(paths, by_text=by_text)
    lines = [json.dumps(record) for record in records]
    # The last one of a repeated key counts, as it does for every decoder.
    lines[0] = lines[0].replace("{", '{"id": "first", ', 1)
    values = map(msgspec.json.decode, lines)
    expected = [key for value in values for key in identity.keys_of_value(value)]
    found = identity.keys_of_lines("\n".join(lines).encode(), len(lines))

    assert found == (expected if len(expected) == len(lines) else None)


@pytest.mark.parametrize(
    "variant",
    [
        each
        for each in VARIANTS
        if each.format.id_key
        and each.dialect.container in {Container.ROWS, Container.WRAPPED}
    ],
    ids=name_of,
)
@given(data=st.data())
def test_decoders_of_every_format_read_identity_keys(
    variant: Any, data: st.DataObject
) -> None:
    """The decoder of each schema gives the same identity keys as plain values."""
    format_ = variant.format
    schema = row_schema(variant.dialect, strict=True)
    assert isinstance(schema, dict)
    # Only what tells records apart is looked at, so that no whole record is needed.
    schema = schema | {"required": [format_.id_key], "allOf": []}
    record: dict[str, Any] = {format_.id_key: data.draw(st.sampled_from(["a", 1]))}
    for path in format_.id_with:
        inner: Any = data.draw(st.sampled_from(["a", 1, None, 1.0, "1"]))
        for key in reversed(path[1:]):
            inner = {key: inner}
        record[str(path[0])] = inner
    identity = IdentityReader(((format_.id_key,), *format_.id_with))
    decoder = decoder_with_keys_of(schema, record)
    accepted = decoder.accept(json.dumps(record).encode())

    assert accepted is None or (
        identity.keys_of_rows([accepted], decoder) == identity.keys_of_value(record)
    )


@given(RECORDS, st.data())
def test_records_differ_as_their_identities_do(one: Any, data: st.DataObject) -> None:
    """Keys are equal exactly if the values are, as JSON: 1 is 1.0, and not true."""
    two = one | data.draw(RECORDS.map(lambda each: {"run": each.get("run")}))

    def identity_of(record: Any) -> list[tuple[bool, Any]]:
        meta = record.get("meta", {})
        parts = [record.get("id"), record.get("run", []), meta.get("epoch", [])]
        return [(isinstance(each, bool), each) for each in parts]

    keys = of_value(one), of_value(two)

    assert not (keys[0] and keys[1]) or (
        (keys[0] == keys[1]) == (identity_of(one) == identity_of(two))
    )


@for_each_case(
    "record",
    [
        {},
        {"id": None},
        {"id": 1.5},
        {"id": ["a"]},
        {"id": "a", "run": {}},
        {"id": "a", "meta": {"epoch": []}},
        ["id"],
        "id",
        3,
        None,
    ],
)
def test_record_without_an_id_has_no_key(record: Any) -> None:
    """A record has no key unless its id is a text or integer among plain values."""
    assert of_value(record) == []


@pytest.mark.parametrize("meta", [3, None, [], "epoch"])
def test_path_through_a_value_that_is_no_object_is_absent(meta: Any) -> None:
    """A path through a value that is no object leads to nothing."""
    assert of_value({"id": 1, "meta": meta}) == of_value({"id": 1})


def test_text_and_number_may_be_the_same_id() -> None:
    """An integer and its digits differ, unless ids are compared by their text."""
    one, two = {"id": 1}, {"id": "1"}

    assert of_value(one) != of_value(two)
    assert of_value(one, by_text=True) == of_value(two, by_text=True)
    only = IdentityReader((("id",),), by_text=True)
    assert only.keys_of_value(one) == only.keys_of_value(two) == ["1"]


def test_rows_of_alternating_decoders_have_the_same_keys() -> None:
    """The rows of each of two alternating decoders are read by that decoder."""
    identity = IdentityReader(PATHS)
    record = {"id": "a", "run": 1, "more": True}
    text = json.dumps(record).encode()
    for schema in (SCHEMA, LOOSE, SCHEMA):
        decoder = decoder_with_keys_of(schema, record)
        rows = decoder.accept_lines(text + b"\n" + text, 2)
        assert rows is not None

        assert identity.keys_of_rows(rows, decoder) == of_value(record) * 2


#: Few enough to be equal now and then, and made of what keys are made of.
KEY_TEXTS = st.text("()'\",\\ 1aUNSET\0\ud800ç", max_size=6)
KEY_SCALARS = st.one_of(
    st.sampled_from(
        [ABSENT, None, True, False, 0, 1, -1, 0.0, -0.0, 1.0, "1", "", "("]
    ),
    st.sampled_from(["None", "True", "UNSET", "1.0", 2**64, float("inf")]),
    st.integers(),
    st.floats(allow_nan=False),
    KEY_TEXTS,
)
TUPLES = st.lists(KEY_SCALARS, max_size=3).map(tuple)


def typed(values: tuple[Any, ...], *, by_text: bool) -> list[tuple[str, Any]]:
    """Return what tells values apart: the type, and the sign of a zero."""
    if by_text:
        values = tuple(digits(each) if type(each) is int else each for each in values)
    return [
        (type(each).__name__, each.hex() if isinstance(each, float) else each)
        for each in values
    ]


def digits(number: int) -> str:
    """Return the decimal digits of a number, its last 1,000 apart from the others."""
    head, tail = divmod(abs(number), 10**1000)
    text = f"{digits(head)}{tail:01000}" if head else str(tail)
    return f"-{text}" if number < 0 else text


@given(TUPLES, TUPLES, st.booleans())
@example(("a", "b"), ("a, b",), False)
@example((1,), ("(1,)",), False)
@example((1,), (True,), True)
def test_keys_are_equal_where_the_values_are(
    one: tuple[Any, ...], other: tuple[Any, ...], by_text: bool
) -> None:
    """Two tuples have the same text exactly if types and values are the same."""
    same = typed(one, by_text=by_text) == typed(other, by_text=by_text)

    assert (key_text(one, by_text=by_text) == key_text(other, by_text=by_text)) is same


@given(TUPLES, st.booleans())
def test_a_text_that_is_a_key_has_another_key(
    values: tuple[Any, ...], by_text: bool
) -> None:
    """A text that looks like the key of other values has another key."""
    key = key_text(values, by_text=by_text)
    is_itself = typed(values, by_text=by_text) == [("str", key)]

    assert (key_text((key,), by_text=by_text) == key) is is_itself


@for_each_case("text", ["a", "", "q-1", "é", "1", "null", " (a)"])
def test_plain_text_is_its_own_key(text: str) -> None:
    """A single text is used as it is, without a copy."""
    assert key_text((text,)) is text


def test_scalars_that_look_alike_differ() -> None:
    """Absent, null, an integer, a float, a boolean and their texts all differ."""
    values = [
        ABSENT,
        None,
        1,
        1.0,
        True,
        "1",
        "1.0",
        "true",
        "True",
        "None",
        "",
        "UNSET",
    ]

    assert len({key_text((each,)) for each in values}) == len(values)


@for_each_case("size, sign", itertools.product([0, 20, 5000], [1, -1]))
def test_integer_compares_by_its_text(size: int, sign: int) -> None:
    """By text, an integer of any size is the same as its digits; otherwise not."""
    number = sign * 10**size
    text = digits(number)

    assert key_text((number,), by_text=True) == text
    assert key_text((number, "a"), by_text=True) == key_text((text, "a"), by_text=True)
    assert key_text((number,)) != key_text((text,))


def test_integers_beyond_the_limit_on_digits_differ() -> None:
    """Integers with more digits than Python converts have different keys, too."""
    large = 10**5000
    keys: list[tuple[Any, ...]] = [
        (large,),
        (large + 1,),
        (-large,),
        (large, 1),
        (large, "1"),
        (1, large),
    ]
    keys += [(large, None), (large, ABSENT), (digits(large),), (large, large)]

    assert len(set(map(key_text, keys))) == len(keys)
    assert key_text((large, "a")) == key_text((10**5000, "a"))


@pytest.mark.parametrize("value", [True, 1.0, None, ABSENT])
def test_only_integers_compare_by_text(value: Any) -> None:
    """By text, no other scalar becomes a text."""
    for company in ((), ("a",)):
        keys = {
            key_text((each, *company), by_text=True)
            for each in (str(value), str(value).lower(), "1", value)
        }

        assert len(keys) == len({str(value), str(value).lower(), "1"}) + 1


def test_order_counts() -> None:
    """The same values in another order are another key."""
    assert key_text(("a", "b")) != key_text(("b", "a"))
