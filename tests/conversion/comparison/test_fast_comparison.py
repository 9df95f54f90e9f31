"""Records are compared by their texts as a comparison of their fields does."""

import itertools
from collections.abc import Sequence
from functools import partial
from itertools import combinations_with_replacement
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from cases import for_each_case
from effort import examples
from harpia_formats.api.testing.strategies import records
from harpia_formats.conversion.comparison import record_partitions
from harpia_formats.conversion.comparison.diff import Unmatched
from harpia_formats.conversion.comparison.differences import (
    MAX_LISTED,
    CommonFields,
    comparable_text,
    decode_fields,
    differences,
)
from harpia_formats.conversion.comparison.record_partitions import (
    PARTS,
    RecordPartitions,
)
from harpia_formats.formats.registry import adapter_of, readable_formats
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Record
from plain_comparison import PlainReduction, plain_differences, plainly_matched
from unchecked import diff

ADAPTERS = {name: adapter_of(each) for name, each in readable_formats().items()}
PAIRS = [*combinations_with_replacement(sorted(ADAPTERS), 2)]
#: Keys of which some repeat, with characters that have no UTF-8.
KEYS = st.lists(st.sampled_from(["=1", "=2", "=3", "?", "=", "=\ud800", "=ä"]))
every_shape = partial(examples, suppress_health_check=list(HealthCheck))


def mixed(first: Any, second: Any, chosen: Sequence[bool]) -> Any:
    """Return `first` with those fields of `second` that are chosen."""
    fields = asdict(second)
    names = [name for name, is_taken in zip(fields, chosen, strict=False) if is_taken]
    return replace(first, **{name: fields[name] for name in names})


@st.composite
def similar(draw: st.DrawFn) -> tuple[Record, Record]:
    """Return two records that have many fields in common."""
    left, other = draw(records()), draw(records())
    choice = st.lists(st.booleans(), min_size=14, max_size=14)
    right = mixed(left, other, draw(choice))
    outputs = [
        mixed(one, two, draw(choice))
        for one, two in zip(left.outputs, other.outputs, strict=False)
    ]
    return left, replace(right, outputs=outputs) if draw(st.booleans()) else right


@given(pair=similar())
@every_shape(40)
def test_differences_of_texts_are_those_of_fields(pair: tuple[Record, Record]) -> None:
    """Fields with unequal texts are the same differences as in decoded records."""
    left, right = pair
    texts = [(each.path, encode(each)) for each in plain_differences(left, right)]

    assert [(each.path, encode(each)) for each in differences(left, right)] == texts
    assert list(differences(left, left)) == []


def reordered(value: Any) -> Any:
    """Return a value with the keys of all objects in the other order."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [*map(reordered, value)] if isinstance(value, list) else value


@given(pair=similar())
@every_shape(40)
def test_records_share_a_text_if_no_field_differs(pair: tuple[Record, Record]) -> None:
    """The text that is compared for equality is one for records without differences."""
    left, right = pair
    parts = replace(left, extra=reordered(left.extra))
    comparable, again, other = (
        comparable_text(decode_fields(encode(each))) for each in (left, parts, right)
    )

    assert comparable == again
    assert (comparable == other) == (list(differences(left, right)) == [])
    assert (
        left.extra
        or any(one.extra for one in left.outputs)
        or (comparable == encode(left).replace(b',"extra":{}', b""))
    )


@pytest.mark.parametrize("names", [PAIRS[0], PAIRS[len(PAIRS) // 2], PAIRS[-2]])
@given(record=records())
@every_shape(15)
def test_common_fields_of_some_formats(names: tuple[str, str], record: Record) -> None:
    """The text of a record is reduced as the record is, with the same paths."""
    check_reduced(names, record)


@pytest.mark.long
@for_each_case("names", PAIRS)
def test_common_fields_of_all_formats(names: tuple[str, str]) -> None:
    """Texts are reduced as records are, for every pair of formats."""

    @given(record=records())
    @every_shape(100)
    def hold(record: Record) -> None:
        check_reduced(names, record)

    hold()


def check_reduced(names: tuple[str, str], record: Record) -> None:
    """Check that text and record are reduced alike."""
    adapters = tuple({id(ADAPTERS[name]): ADAPTERS[name] for name in names}.values())
    common, fields = CommonFields(adapters), decode_fields(encode(record))
    common.reduce(fields)
    plain = PlainReduction(adapters)
    expected = plain.reduced(record)

    assert encode(fields) == encode(expected)
    assert list(common.left_out) == [*dict.fromkeys(plain.left_out)][:MAX_LISTED]


@given(left=KEYS, right=KEYS, held=st.sampled_from([1, 100, 10**6]))
@every_shape(25)
def test_records_are_matched_in_their_order(
    left: list[str], right: list[str], held: int
) -> None:
    """Records are matched by equal keys, the first with the first, on disk or not."""
    sides = []
    with patch.object(record_partitions, "HELD_BYTES", held):
        for keys in (left, right):
            side = RecordPartitions()
            for number, key in enumerate(keys):
                side.add(number, key, b"p", b"text of %d" % number)
            sides.append(side)
    pairs, alone, rest = [], [], []
    ours, theirs = sides
    for part in range(PARTS):
        unmatched = Unmatched(theirs, part)
        for record in ours.part(part):
            other = unmatched.take(record)
            if other is None:
                alone.append(record.number)
            else:
                pairs.append((record.number, other.number))
                assert other.text == b"text of %d" % other.number
        rest += [record.number for record in unmatched.rest()]
    for side in sides:
        side.close()

    assert (sorted(pairs), sorted(alone), sorted(rest)) == plainly_matched(left, right)


def test_keys_of_one_digest_are_told_apart() -> None:
    """Records whose keys differ are not matched if their digests are equal."""
    ours, theirs = RecordPartitions(), RecordPartitions()
    with patch.object(record_partitions, "digest_of", lambda _: 7):
        for number, key in enumerate("abc"):
            ours.add(number, key, b"", b"")
        for number, key in enumerate("cab"):
            theirs.add(number, key, b"", b"")
    unmatched = Unmatched(theirs, 7)
    found = [unmatched.take(record) for record in ours.part(7)]
    ours.close()
    theirs.close()

    assert [each and each.number for each in found] == [1, 2, 0]


def row(number: int, *, has_id: bool) -> bytes:
    """Return a line of a record."""
    id_ = {"id": str(number)} if has_id else {}
    return encode({**id_, "prompt": f"q{number}", "outputs": []}) + b"\n"


@for_each_case(
    "lacks_id, held", itertools.product([(), (0,), (199,), (70, 71)], [100, 10**6])
)
def test_records_are_matched_by_prompt_if_one_has_no_id(
    lacks_id: tuple[int, ...], held: int
) -> None:
    """A record without an id, wherever it is, makes both sides match by prompt."""
    all_ = b"".join(row(number, has_id=True) for number in range(200))
    some = b"".join(row(number, has_id=number not in lacks_id) for number in range(200))
    other = b"".join(row(number, has_id=True) for number in reversed(range(200)))
    with patch.object(record_partitions, "HELD_BYTES", held):
        reports = [diff(all_, some), diff(some, other)]

    for report in reports:
        assert (report.records, report.differing) == (200, len(lacks_id))
        assert (report.only_left, report.only_right) == (0, 0)
        assert list(report.fields) == (["id"] if lacks_id else [])
        place = lacks_id and report.fields["id"].place
        assert not place or (place.line, place.record) == (lacks_id[0] + 1,) * 2
