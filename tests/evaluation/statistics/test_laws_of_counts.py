"""Laws of statistics: counts, distributions and lengths are those of plain Python."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from cases import for_each_case
from effort import examples
from harpia_formats import Output, Record, Report
from harpia_formats.api.testing import records
from harpia_formats.evaluation.statistics import text_lengths
from harpia_formats.evaluation.statistics.duplicates import Duplicates
from harpia_formats.evaluation.statistics.record_counts import Counts
from harpia_formats.evaluation.statistics.running_counts import (
    ERROR,
    MAX_DISTINCT,
    PERCENTILES,
    Distribution,
    RecordPlace,
)
from harpia_formats.evaluation.statistics.statistics_result import (
    Statistics,
    statistics_of,
)
from harpia_formats.evaluation.statistics.text_lengths import (
    measure,
    script_of_text,
    word_count,
)
from harpia_formats.model.exact_json import encode

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


NUMBERS = st.lists(st.integers(0, 10**12))


def of(numbers: list[int]) -> Distribution:
    """Return the distribution of some numbers."""
    found = Distribution()
    found.add(numbers)
    return found


def percentile(numbers: list[int], percent: int) -> int:
    """Return the least number that so many percent of all do not exceed."""
    ordered = sorted(numbers)
    return next(
        number
        for at, number in enumerate(ordered, 1)
        if at * 100 >= percent * len(ordered)
    )


@given(NUMBERS.filter(bool))
def test_few_numbers_are_exact(numbers: list[int]) -> None:
    """The summary of few different numbers is that of plain Python."""
    found = of(numbers).summary()

    assert found == {
        "count": len(numbers),
        "min": min(numbers),
        **{name: percentile(numbers, each) for name, each in PERCENTILES.items()},
        "max": max(numbers),
        "mean": sum(numbers) / len(numbers),
        "sum": sum(numbers),
        "exact": True,
    }


def test_nothing_has_no_percentiles() -> None:
    """Without a number there is only their number, and no histogram."""
    assert Distribution().summary() == {"count": 0}
    assert Distribution().histogram() == []


@given(st.lists(NUMBERS), st.randoms(use_true_random=False))
def test_distributions_of_parts_are_merged_to_the_whole(
    parts: list[list[int]], chance: random.Random
) -> None:
    """Distributions of parts, merged in any order, are that of all numbers."""
    merged = Distribution()
    whole = [number for part in parts for number in part]
    for part in chance.sample(parts, len(parts)):
        merged.merge(of(part))

    assert merged.summary() == of(whole).summary()
    assert merged.histogram() == of(whole).histogram()


def test_many_numbers_are_within_the_bound() -> None:
    """Beyond the exact counts percentiles are near, and all else is exact."""
    chance = random.Random(3)  # noqa: S311 - no secret
    numbers = [int(chance.paretovariate(0.4) * 100) for _ in range(3 * MAX_DISTINCT)]
    halves = [numbers[: MAX_DISTINCT // 2], numbers[MAX_DISTINCT // 2 :]]
    merged = of(halves[0])
    merged.merge(of(halves[1]))
    slowly = Distribution()
    for number in numbers:
        slowly.add([number])

    found = merged.summary()

    assert not found["exact"]
    assert found == of(numbers).summary() == slowly.summary()
    assert merged.histogram() == of(numbers).histogram()
    assert (found["min"], found["max"]) == (min(numbers), max(numbers))
    assert (found["sum"], found["count"]) == (sum(numbers), len(numbers))
    for name, percent in PERCENTILES.items():
        exact = percentile(numbers, percent)
        assert abs(found[name] - exact) <= ERROR * exact


def test_a_histogram_has_ranges_that_double() -> None:
    """Small numbers are alone, and of larger ones a doubling has four ranges."""
    ranges = of([5, 7, 8, 9, 9, 11]).histogram()

    assert [tuple(each.values()) for each in ranges] == [
        (5, 5, 1),
        (6, 6, 0),
        (7, 7, 1),
        (8, 9, 3),
        (10, 11, 1),
    ]


#: Parts of texts in several scripts, with white space and punctuation of all kinds.
PARTS = [
    "b c",
    *"a \n1éдع模型한\u03b1—\u00a0",
    *"。かไ\uff0c\uff21😀\u2003\u3000\x00\x1f\ud800",
    *"ⲁƀ\u0301ﬁʰעअ々・½\x85",
]
TEXTS = st.lists(
    st.lists(st.sampled_from(PARTS) | st.characters(), max_size=8).map("".join),
    min_size=1,
    max_size=6,
)


@for_each_case(
    "text, count, script",
    [
        ("", 0, "none"),
        (" \n", 0, "none"),
        ("1 + 1", 3, "none"),
        ("two  words\n", 2, "Latin"),
        ("the “same”", 2, "Latin"),
        ("naïve façade", 2, "Latin"),
        ("你好,世界", 5, "Han"),
        ("你好\uff0c世界。", 4, "Han"),
        ("GPT-4 是模型", 4, "mixed"),
        ("これは本", 4, "Japanese"),
        ("한국어 말", 2, "Hangul"),
        ("проверка теста", 2, "Cyrillic"),
        ("ภาษา", 4, "Thai"),
        ("half привет", 2, "mixed"),
    ],
)
def test_words_and_scripts(text: str, count: int, script: str) -> None:
    """A word is a run between white space, or a code point of a script without it."""
    assert (word_count(text), script_of_text(text)) == (count, script)


@given(TEXTS)
def test_texts_are_measured_at_once(texts: list[str]) -> None:
    """Many texts at once have the lengths and scripts of each alone."""
    found = zip(*measure(texts), strict=True)

    assert [*found] == [
        (
            len(text),
            word_count(text),
            len(text.encode("utf-8", "surrogatepass")),
            script_of_text(text),
        )
        for text in texts
    ]


@given(TEXTS, st.integers(1, 9))
def test_long_texts_are_read_in_pieces(texts: list[str], size: int) -> None:
    """Texts that are read a piece at a time have the same lengths and scripts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lengths, "AT_ONCE", size)
        found = measure(texts)

    assert found == measure(texts)


def test_every_first_byte_is_read_as_its_code_points() -> None:
    """One code point of each 16 has the words and script that it has alone."""
    texts = [f"a {chr(number)} b" for number in range(0x80, 0x30000, 16)]

    found = [measure([text]) for text in texts]

    assert [(one.words[0], one.scripts[0]) for one in found] == [
        (word_count(text), script_of_text(text)) for text in texts
    ]
