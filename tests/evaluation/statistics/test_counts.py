"""Counts over records: those of plain Python, however the records are parted."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from effort import examples
from harpia_formats.api.testing.strategies import records
from harpia_formats.evaluation.statistics.duplicates import Duplicates
from harpia_formats.evaluation.statistics.record_counts import Counts
from harpia_formats.evaluation.statistics.running_counts import RecordPlace
from harpia_formats.evaluation.statistics.statistics_result import (
    Statistics,
    statistics_of,
)
from harpia_formats.evaluation.statistics.text_lengths import script_of_text, word_count
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import Report

RECORDS = st.lists(records(), max_size=6)
#: Records are large, so that a few of them hold every case.
few = examples(10)


def counts_of(found: list[Record]) -> Counts:
    """Return the counts over records that follow each other in a file."""
    counts = Counts()
    numbers = range(1, len(found) + 1)
    counts.add(found, numbers, lambda index: RecordPlace(0, index + 1, index + 1))
    return counts


def after(number: int) -> RecordPlace:
    """Return the place of the last of so many records, each in a line."""
    return RecordPlace(0, number, number)


def statistics(parts: list[list[Record]]) -> Statistics:
    """Return the statistics of records in parts that are merged."""
    whole, before = Counts(), 0
    with Duplicates() as duplicates:
        for part in parts:
            counts = counts_of(part)
            whole.merge(counts, after(before))
            duplicates.add(counts.keys, 0, before)
            before += len(part)
        repeated = duplicates.found(["f"])
    report = Report((), (), ())
    return statistics_of(whole, repeated, ["f"], report, top=1000, is_broken=False)


@few
@given(RECORDS, st.lists(st.integers(0, 8), max_size=4))
def test_parts_are_merged_to_the_whole(found: list[Record], cuts: list[int]) -> None:
    """The statistics of parts, merged in order, are those of all records at once."""
    ends = sorted({0, len(found), *(cut for cut in cuts if cut < len(found))})
    parts = [found[begin:end] for begin, end in pairwise(ends)]

    assert statistics(parts).to_dict() == statistics([found]).to_dict()


@few
@given(RECORDS, RECORDS, RECORDS)
def test_merging_is_associative(
    one: list[Record], two: list[Record], three: list[Record]
) -> None:
    """It does not matter which of three parts are merged first."""
    left, right, last = counts_of(one), counts_of(two), counts_of(two)
    left.merge(right, after(len(one)))
    left.merge(counts_of(three), after(len(one) + len(two)))
    last.merge(counts_of(three), after(len(two)))
    first = counts_of(one)
    first.merge(last, after(len(one)))
    left.keys = first.keys

    assert left == first


@few
@given(RECORDS)
def test_lengths_are_those_of_plain_python(found: list[Record]) -> None:
    """Lengths, words, bytes and scripts of each text are counted one by one."""
    lengths = statistics([found]).lengths
    naive = {name: texts for name, texts in naive_texts(found).items() if texts}

    assert lengths.keys() == naive.keys()
    for name, texts in naive.items():
        expected = {
            "characters": [len(text) for text in texts],
            "words": [word_count(text) for text in texts],
            "bytes": [len(text.encode()) for text in texts],
        }
        for unit, numbers in expected.items():
            found_length = lengths[name][unit]
            assert found_length["count"] == len(numbers)
            assert found_length["sum"] == sum(numbers)
            assert found_length["min"] == min(numbers)
            assert found_length["max"] == max(numbers)
            assert found_length["p50"] == sorted(numbers)[-(-len(numbers) // 2) - 1]
        assert lengths[name]["scripts"] == Counter(map(script_of_text, texts))


def naive_texts(found: list[Record]) -> dict[str, list[str]]:
    """Return the texts of records by their names."""
    outputs = [output for record in found for output in record.outputs]
    texts: dict[str, list[str]] = {
        name: [text for record in found if (text := getattr(record, name)) is not UNSET]
        for name in ("prompt", "system", "gt")
    }
    for name in ("references", "choices", "contexts"):
        texts[name] = [text for record in found for text in getattr(record, name) or []]
    texts["messages"] = [
        message["content"] for record in found for message in record.messages or []
    ]
    texts["answers"] = [each.text for each in outputs if isinstance(each.text, str)]
    texts["reasoning"] = [
        each.reasoning for each in outputs if isinstance(each.reasoning, str)
    ]
    texts["turns"] = [
        turn["content"]
        for each in outputs
        for turn in each.turns or []
        if isinstance(turn.get("content"), str)
    ]
    return texts


@few
@given(RECORDS)
def test_fields_are_those_of_plain_python(found: list[Record]) -> None:
    """Missing, null and empty fields are counted, with the first record."""
    given_fields = {each["field"]: each for each in statistics([found]).fields}

    for path, values in naive_fields(found).items():
        lacks = {
            "missing": [number for number, value in values if value is UNSET],
            "null": [number for number, value in values if value is None],
            "empty": [number for number, value in values if is_empty(value)],
        }
        if len(lacks["missing"]) == len(values):
            assert path not in given_fields
            continue
        for how, numbers in lacks.items():
            expected: dict[str, Any] = {"count": len(numbers)}
            if numbers:
                place = {"path": "f", "record": numbers[0], "line": numbers[0]}
                expected["first"] = place
            assert given_fields[path][how] == expected


def naive_fields(found: list[Record]) -> dict[str, list[tuple[int, Any]]]:
    """Return the values of some fields with the numbers of their records."""
    values: dict[str, list[tuple[int, Any]]] = {}
    for number, record in enumerate(found, 1):
        for name in ("id", "prompt", "references", "metadata", "outputs"):
            values.setdefault(name, []).append((number, getattr(record, name)))
        for output in record.outputs:
            for name in ("model", "text", "scores", "turns"):
                path = f"outputs.{name}"
                values.setdefault(path, []).append((number, getattr(output, name)))
    return values


def is_empty(value: Any) -> bool:
    """Tell whether a value is empty: blank text, or without members."""
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, (list, dict)) and not value


@few
@given(RECORDS)
def test_repeated_values_are_those_of_plain_python(found: list[Record]) -> None:
    """Prompts, answers and ids are compared, and the first places are reported."""
    duplicates = statistics([found]).duplicates

    for kind, keys in naive_keys(found).items():
        places: dict[Any, list[int]] = {}
        for number, key in keys:
            places.setdefault(key, []).append(number)
        several = [numbers for numbers in places.values() if len(numbers) > 1]
        several.sort(key=lambda numbers: (-len(numbers), numbers[:3]))
        assert duplicates[kind] == {
            "count": len(keys),
            "distinct": len(places),
            "repeated": len(several),
            "surplus": len(keys) - len(places),
            "first": [
                {
                    "count": len(numbers),
                    "places": [{"path": "f", "record": one} for one in numbers[:3]],
                }
                for numbers in several[:5]
            ],
        }


def naive_keys(found: list[Record]) -> dict[str, list[tuple[int, Any]]]:
    """Return what is compared, with the numbers of the records."""
    keys: dict[str, list[tuple[int, Any]]] = {"prompts": [], "answers": [], "ids": []}
    for number, record in enumerate(found, 1):
        asked: Any = record.prompt
        if asked is UNSET:
            asked = encode(record.messages) if record.messages else ""
        if asked:
            keys["prompts"].append((number, asked))
        if record.id is not UNSET:
            keys["ids"].append((number, (type(record.id), record.id)))
        keys["answers"] += [
            (number, (asked, output.text))
            for output in record.outputs
            if asked and output.text
        ]
    return keys


@few
@given(RECORDS)
def test_stored_numbers_are_those_of_plain_python(found: list[Record]) -> None:
    """Token counts are summed by model, and models and scores are counted."""
    result = statistics([found])
    tokens: Counter[tuple[str, str]] = Counter()
    for output in outputs_of(found):
        for kind, number in (output.token_usage or {}).items():
            tokens[output.model or "", kind] += number
    scores = [score for output in outputs_of(found) for score in output.scores or []]
    models = Counter(
        output.model for output in outputs_of(found) if output.model is not UNSET
    )

    assert {
        (each["model"], kind): count["sum"]
        for each in result.tokens["models"]
        for kind, count in each["counts"].items()
    } == tokens
    assert result.scores is not None
    assert sum(each["scores"] for each in result.scores) == len(scores)
    assert sum(each["correct"] for each in result.scores) == sum(
        score.is_correct is True for score in scores
    )
    shown = result.values.get("model", {"top": []})["top"]
    assert {each["value"]: each["count"] for each in shown} == models


def outputs_of(found: list[Record]) -> Iterator[Output]:
    """Yield the answers of records."""
    for record in found:
        yield from record.outputs
