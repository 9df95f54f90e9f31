import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from cases import for_each_case
from harpia_formats.files.framing.container import Layout
from harpia_formats.formats.detection.candidates import (
    COMPARED_FULLY,
    FormatChoice,
    FormatVariant,
    choose_variant,
    matches_of,
    variants_of,
)
from harpia_formats.plugins import Container, Dialect, Format
from known_formats import FORMATS


def sniff(row: Mapping[str, Any], key: str) -> str:
    """Return the evidence for a row that has `key`."""
    return f"`{row[key] or key}`" if key in row else ""


def variant(key: str, *, general: bool = False, name: str = "") -> FormatVariant:
    """Return a format that is recognized by a key."""
    dialect = Dialect(key, partial(sniff, key=key), name)
    return FormatVariant(Format(key, key, "", (dialect,), general=general), dialect)


ONE, TWO, ANY = variant("one"), variant("two"), variant("any", general=True)
FIXTURES = Path(__file__).parents[3] / "fixtures"
#: Values of members that are looked for by their key alone, or by their type.
VALUES: list[Any] = ["a", 1, None, [], [{}], ["a"], {}, {"prompt": "a"}, [{"score": 1}]]
#: The keys that dialects declare.
KEYS = {
    key for variant in variants_of(FORMATS.values()) for key in variant.dialect.one_of
}


@cache
def records() -> list[dict[str, Any]]:
    """Return the first records, or the document, of each JSON fixture."""
    found = []
    for path in sorted(FIXTURES.glob("*/*/*.json*")):
        text = path.read_bytes()
        for part in (text, *text.splitlines()[:3]):
            try:
                value = json.loads(part)
            except ValueError:
                continue
            rows = value[:3] if isinstance(value, list) else [value]
            found += [row for row in rows if isinstance(row, dict) and row]
    return found


ROWS: st.SearchStrategy[list[Any]] = st.lists(
    st.sampled_from([{"one": ""}, {"two": ""}, {"one": "", "two": ""}, {}, 3, None, []])
)


BOTH, JUST_ONE, JUST_TWO = {"one": "", "two": ""}, {"one": ""}, {"two": ""}
MANY = [JUST_ONE] * (COMPARED_FULLY + 9) + [JUST_TWO] * 500


@for_each_case(
    "rows, formats, expected",
    [
        # The format that matches the most records, or the first of equals.
        ([JUST_ONE, JUST_TWO, JUST_TWO, {}], [ONE, TWO], (TWO, 2, 4, None)),
        ([JUST_TWO, JUST_ONE], [ONE, TWO], (ONE, 1, 2, None)),
        # Later rows can decide it.
        (MANY, [ONE, TWO], (TWO, 500, len(MANY), None)),
        # Only a format that all matching records match as well is a rival.
        ([BOTH, BOTH, JUST_TWO, {}], [ONE, TWO], (TWO, 3, 4, None)),
        ([JUST_ONE, BOTH, JUST_TWO, JUST_ONE], [ONE, TWO], (ONE, 3, 4, None)),
        ([BOTH, BOTH], [ONE, TWO], (ONE, 2, 2, TWO)),
        # A general format is not chosen if one record matches a particular one.
        ([*[{"any": ""}] * 3, JUST_ONE], [ANY, ONE], (ONE, 1, 4, None)),
        ([*[{"any": ""}] * 3, {}], [ANY, ONE], (ANY, 3, 4, None)),
        # Without a sign nothing is chosen.
        ([], [ONE, TWO, ANY], None),
        ([{}], [ONE, TWO, ANY], None),
        ([3, None, "one", ["one"]], [ONE, TWO, ANY], None),
    ],
)
def test_format_of_most_records_is_chosen(
    rows: list[Any], formats: list[FormatVariant], expected: Any
) -> None:
    """The format that matches the most records is chosen, with its count and rival."""
    choice = choose_variant(rows, formats)

    if choice is None or expected is None:
        assert choice is expected
        return
    assert (choice.variant, choice.matching, choice.records, choice.rival) == expected
    (evidence,) = choice.evidence
    assert evidence == f"`{choice.variant.name}`"
    assert choice.rival is None or choice.confidence == 0.6


def signed(key: str) -> FormatVariant:
    """Return a format that matches rows with `any`, and has a key of its own."""
    dialect = Dialect(
        key, partial(sniff, key="any"), own_sign=partial(sniff, key=f"{key}!")
    )
    return FormatVariant(Format(key, key, "", (dialect,)), dialect)


@pytest.mark.parametrize("count", [1, 3])
def test_own_sign_decides_which_of_several_formats(count: int) -> None:
    """Of formats that match the same rows, one with a sign of its own is chosen."""
    first, second = signed("a"), signed("b")
    rows = [{"any": ""}] * (count - 1)
    choices = [
        choose_variant([*rows, {"any": "", **own}], [first, second])
        for own in ({"a!": ""}, {"b!": ""}, {"a!": "", "b!": ""}, {})
    ]
    found = [
        (each.variant, each.rival, each.shared, each.confidence)
        for each in choices
        if each is not None
    ]

    assert found == [
        (first, None, False, 1.0),
        (second, None, False, 1.0),
        (first, None, False, 1.0),
        (first, second, True, 0.6),
    ]


def test_the_most_frequent_sign_comes_first() -> None:
    """The evidence of a choice is sorted by frequency."""
    choice = choose_variant([{"one": "a"}, {"one": "b"}, {"one": "b"}], [ONE])

    assert choice is not None
    assert choice.evidence == ("`b`", "`a`")


def test_signs_are_those_of_every_variant() -> None:
    """A row matches each variant that it looks like; a value that is no object none."""
    assert matches_of({"one": "x", "two": ""}, [TWO, ANY, ONE]) == [
        (0, "`two`"),
        (2, "`x`"),
    ]
    assert matches_of(["one"], [ONE]) == []


@pytest.mark.parametrize(
    ("alike", "records", "signs", "expected"),
    [
        (1, 1, ("`a`",), "the first record has `a`"),
        (1, 3, ("`a`",), "1 of the first 3 records has `a`"),
        (1000, 1234, ("`a`",), "1,000 of the first 1,234 records have `a`"),
        (2, 3, ("`a`", "`b`"), "2 of the first 3 records have `a` or the like"),
    ],
)
def test_says_why(
    alike: int, records: int, signs: tuple[str, ...], expected: str
) -> None:
    """The text of a choice says how many records have which evidence."""
    assert str(FormatChoice(ONE, alike, records, signs)) == expected


@for_each_case(
    "layout, containers",
    [
        (None, set(Container)),
        (Layout.TEXT, {Container.TABLE}),
        (Layout.LINES, {Container.ROWS, Container.DOCUMENT}),
        (Layout.ARRAY, {Container.ROWS, Container.DOCUMENT}),
        (Layout.OBJECT, set(Container) - {Container.TABLE}),
        (Layout.ONE_LINE, set(Container) - {Container.TABLE}),
        (Layout.LONG_LINE, set(Container) - {Container.TABLE}),
    ],
)
def test_layout_leaves_the_dialects_that_may_have_it(
    layout: Layout | None, containers: set[Container]
) -> None:
    """Only an object can be wrapped or columns, and only text is a table."""
    dialects = tuple(replace(ONE.dialect, container=each) for each in Container)
    format_ = replace(ONE.format, dialects=dialects)
    found = variants_of([format_], layout)

    assert {each.dialect.container for each in found} == containers
    assert all(each.format is format_ for each in found)


@given(ROWS)
def test_counts_are_exact(rows: list[Any]) -> None:
    """For any rows, the choice counts the matching rows among all."""
    choice = choose_variant(rows, [ONE, TWO])
    ones, twos = (
        sum(each in json.dumps(row) for row in rows) for each in ('"one"', '"two"')
    )
    counts = {"one": ones, "two": twos}

    assert (choice is None) == (not ones and not twos)
    if choice is not None:
        assert choice.records == len(rows)
        assert choice.matching == counts[choice.variant.format.id] == max(ones, twos)


@given(data=st.data())
def test_no_record_without_the_declared_keys_is_matched(data: st.DataObject) -> None:
    """A dialect matches no record that has none of the keys that it declares."""
    record = data.draw(st.sampled_from(records()))
    keys = data.draw(st.sets(st.sampled_from(sorted({*record, *KEYS}))))
    values = data.draw(st.lists(st.sampled_from(VALUES), min_size=1))
    found = {
        key: record.get(key, values[number % len(values)])
        for number, key in enumerate(sorted(keys))
    }
    for variant in variants_of(FORMATS.values()):
        without = {key: found[key] for key in found.keys() - variant.dialect.one_of}
        if variant.dialect.one_of:
            assert not variant.dialect.sniff(without), variant.name


@given(data=st.data())
def test_what_is_ruled_out_by_keys_does_not_match(data: st.DataObject) -> None:
    """Variants matched by the keys of a record first are those that match at all."""
    variants = variants_of(FORMATS.values())
    record = data.draw(st.sampled_from(records()))
    keys = data.draw(st.sets(st.sampled_from(sorted(record))))
    for some in (record, {key: record[key] for key in record if key in keys}):
        assert matches_of(some, variants) == matches_of(some, list(variants))


def test_a_single_row_gives_the_choice_of_many() -> None:
    """One record is chosen for as two equal records are, but for the counts."""
    variants = variants_of(FORMATS.values())
    for record in records():
        one = choose_variant([record], variants)
        two = choose_variant([record, record], variants)
        assert one == (two and structs.replace(two, matching=1, records=1))
