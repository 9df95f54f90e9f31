"""What a round trip reports is what two conversions do, for all pairs of formats."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from cases import for_each_case
from effort import drawn, examples, pairs, some_pairs
from harpia_formats import ConversionError, MapError, read
from harpia_formats.plugins import Cardinality, Outcome
from json_lines import jsonl
from known_formats import WRITABLE, adapter_named
from plain_comparison import plain_differences
from unchecked import converted, diff, roundtrip

FIXTURES = Path(__file__).parents[3] / "fixtures"
FORMAT_IDS = list(WRITABLE)
#: What became of all records: they cannot be converted, or these fields differ, in how
#: many records and headers.
Compared = str | dict[str, int]
IMPOSSIBLE = "impossible"


def fixtures_of(source: str) -> Iterator[Path]:
    """Yield the valid files of a format."""
    yield from sorted((FIXTURES / source / "valid").iterdir())


def converted_twice(data: Any, source: str, via: str, **options: Any) -> Compared:
    """Return what two conversions with the same options do to data, there and back.

    On the way back rows that became several are joined again, and the answers of one
    row stay one row, as far as the first format can.
    """
    try:
        there, first = converted(data, to=via, from_=source, **options)
        if not first.ok:
            return IMPOSSIBLE
        outcomes = {
            outcome.outcome for file in first.losses for outcome in file.losses.counts
        }
        lists = adapter_named(source).capacity.outputs
        joining = {
            "group": "id" if Outcome.SPLIT in outcomes else None,
            "responses": "list" if lists is Cardinality.MANY_OF_ONE_MODEL else "expand",
        }
        back, second = converted(there, to=source, from_=via, **(options | joining))
    except (ConversionError, MapError):
        return IMPOSSIBLE
    if not second.ok:
        return IMPOSSIBLE
    before = list(read(data, format=source))
    after = list(read(back, format=source))
    if len(before) != len(after):
        return IMPOSSIBLE
    counts = Counter(
        path
        for left, right in zip(before, after, strict=True)
        for path in {difference.path for difference in plain_differences(left, right)}
    )
    headers = diff(data, back, from_=source, to=source).fields.values()
    return dict(counts) | {
        line.path: line.count for line in headers if line.path.startswith("header.")
    }


def reported(data: Any, source: str, via: str, **options: Any) -> Compared:
    """Return what a round trip reports."""
    try:
        report = roundtrip(data, via=via, from_=source, **options)
    except (ConversionError, MapError):
        return IMPOSSIBLE
    if any(line.reason for line in report.fields.values()):
        return IMPOSSIBLE
    assert report.ok == (not report.fields)
    return {path: line.count for path, line in report.fields.items()}


@for_each_case(
    "source, via, keep_extra",
    [
        (*pair, bool(at % 2))
        for at, pair in enumerate(some_pairs(FORMAT_IDS, FORMAT_IDS))
    ],
)
def test_round_trip_is_two_conversions(source: str, via: str, keep_extra: bool) -> None:
    """The report on the fixture that is longest is what two conversions do."""
    file = max(fixtures_of(source), key=lambda path: path.stat().st_size)

    assert reported(file, source, via, keep_extra=keep_extra) == converted_twice(
        file, source, via, keep_extra=keep_extra
    )


@pytest.mark.long
@pytest.mark.parametrize("keep_extra", [False, True])
@pytest.mark.parametrize("source", FORMAT_IDS)
def test_round_trip_is_two_conversions_long(source: str, keep_extra: bool) -> None:
    """The same holds for all fixtures."""
    different = [
        (file.name, via)
        for file in fixtures_of(source)
        for via in FORMAT_IDS
        if reported(file, source, via, keep_extra=keep_extra)
        != converted_twice(file, source, via, keep_extra=keep_extra)
    ]

    assert different == []


@pytest.mark.parametrize(
    ("references", "responses"), pairs(["first", "expand"], ["expand", "first", "list"])
)
@pytest.mark.parametrize("source", ["record", "eee@0.3.0"])
def test_options_count_for_both_conversions(
    source: str, references: str, responses: str
) -> None:
    """The report is that of the conversions with the same options."""
    (file, *_) = sorted(fixtures_of(source), key=lambda path: -path.stat().st_size)
    options = {"references": references, "responses": responses}
    chance = Random(source + responses)  # noqa: S311 - a test needs a seed, not secrecy
    different = [
        via
        for via in chance.sample(FORMAT_IDS, min(drawn(5), len(FORMAT_IDS)))
        if reported(file, source, via, **options)
        != converted_twice(file, source, via, **options)
    ]

    assert different == []


def rows() -> st.SearchStrategy[dict[str, Any]]:
    """Return records as rows of the hub, with few fields and repeated values."""
    texts = st.sampled_from(["", "a", "b"])
    score = st.fixed_dictionaries(
        {"value": st.sampled_from([0, 1.0]), "is_correct": st.booleans()},
        optional={
            "evaluation_id": st.just("e"),
            "evaluation_name": st.just("n"),
            "metric": st.just("em"),
        },
    )
    output = st.fixed_dictionaries(
        {"text": texts},
        optional={
            "model": st.sampled_from(["o/m", "o/n"]),
            "index": st.integers(0, 2),
            "reasoning": texts,
            "scores": st.lists(score, max_size=2),
        },
    )
    return st.fixed_dictionaries(
        {"outputs": st.lists(output, max_size=3)},
        optional={
            "id": st.sampled_from(["1", "2", "1#1", 1]),
            "prompt": texts,
            "system": texts,
            "references": st.lists(texts, max_size=2),
            "gt": texts,
            "choices": st.lists(texts, max_size=2),
            "category": texts,
            "metadata": st.dictionaries(st.sampled_from("xy"), texts, max_size=2),
            "extra": st.dictionaries(
                st.sampled_from(["csv", "tencent", "x"]),
                st.dictionaries(st.sampled_from(["k", "l"]), texts, max_size=2),
                max_size=2,
            ),
        },
    )


@pytest.mark.parametrize("via", FORMAT_IDS)
@examples(3, suppress_health_check=list(HealthCheck))
@given(keep_extra=st.booleans(), records=st.lists(rows(), min_size=1, max_size=3))
def test_round_trip_of_records_is_two_conversions(
    via: str, keep_extra: bool, records: list[dict[str, Any]]
) -> None:
    """The report on generated records is what two conversions do."""
    # Rows of records without ids could by chance be as many as the records were.
    assume(all("id" in row or len(row["outputs"]) < 2 for row in records))
    data = jsonl(*records)

    assert reported(data, "record", via, keep_extra=keep_extra) == converted_twice(
        data, "record", via, keep_extra=keep_extra
    )
