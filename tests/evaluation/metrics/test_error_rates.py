"""WER and CER: known values, and equality with jiwer on eleven kinds of text."""

import random
import unicodedata
from collections.abc import Callable
from operator import add
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from harpia_formats.evaluation.metrics import UnscorableError, error_rates, measure_of
from json_lines import jsonl
from text_kinds import text_pairs

pytest.importorskip("rapidfuzz", reason="the extra score is not installed")


def rate(
    name: str, answer: str, references: list[str], /, **given: Any
) -> float | None:
    """Return the rate of one answer."""
    measure = measure_of(name, given)
    (found,) = measure.scores(measure.statistics(answer, references))
    return found


@for_each_case(
    "name, answer, references, expected",
    [
        ("wer", "a b x", ["a b c"], 1 / 3),
        ("wer", "", ["a b c"], 1),
        ("wer", "a b c d", ["a b"], 1),
        ("wer", "a b c d", ["a"], 3),
        ("wer", "", [""], 0),
        ("wer", "a b", [""], 2),
        ("wer", "a b c", ["x y z", "a b d"], 1 / 3),
        ("cer", "kitten", ["sitting"], 3 / 7),
        ("cer", " abc\n", ["abc"], 0),
        ("cer", "ação", ["acao"], 1 / 2),
    ],
)
def test_rates_are_edits_by_units(
    name: str, answer: str, references: list[str], expected: float
) -> None:
    """The rate is that of the nearest reference; of no units, the number of edits."""
    assert rate(name, answer, references) == pytest.approx(expected)


def test_parameters_change_the_texts_before_they_are_compared() -> None:
    """Case, punctuation, words at line breaks and the scale are parameters."""
    assert rate("wer", "A b.", ["a b"], normalisation="lower", no_punct=True) == 0
    assert rate("wer", "a\nb", ["a b"]) == 1
    assert rate("wer", "a\nb", ["a b"], tokenizer="whitespace") == 0
    assert rate("wer", "a c", ["a b", "a c"], references="first", scale=100) == 50


def test_a_pair_that_would_take_minutes_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two texts whose units multiply to more than the limit have no score."""
    monkeypatch.setattr(error_rates, "LARGEST", 8)

    with pytest.raises(UnscorableError, match="3 units of the answer by 3"):
        rate("cer", "abc", ["abd"])


@pytest.mark.parametrize(
    ("name", "given", "steps"),
    [
        ("wer", {}, []),
        ("wer", {"normalisation": "lower"}, ["ToLowerCase"]),
        (
            "wer",
            {"normalisation": "lower", "no_punct": True},
            ["ToLowerCase", "RemovePunctuation"],
        ),
        ("cer", {}, []),
        ("cer", {"no_punct": True}, ["RemovePunctuation"]),
    ],
)
@pytest.mark.parametrize("count", [1_100, pytest.param(10_000, marks=pytest.mark.long)])
def test_rates_are_those_of_jiwer(
    name: str, given: dict[str, Any], steps: list[str], count: int
) -> None:
    """Each answer and all together have the rate of jiwer with the same changes."""
    jiwer = pytest.importorskip("jiwer", reason="jiwer is not installed")
    last = {
        "wer": ["RemoveMultipleSpaces", "Strip", "ReduceToListOfListOfWords"],
        "cer": ["Strip", "ReduceToListOfListOfChars"],
    }[name]
    change = jiwer.Compose([getattr(jiwer, step)() for step in steps + last])
    rate_of: Callable[..., float] = getattr(jiwer, name)
    pairs = [(answer, references[:1]) for answer, references in text_pairs(count)]
    measure = measure_of(name, given)
    total: tuple[float, ...] = (0.0, 0.0, 0.0)

    for answer, references in pairs:
        found = measure.statistics(answer, references)
        total = tuple(map(add, total, found))
        expected = rate_of(
            references,
            [answer],
            reference_transform=change,
            hypothesis_transform=change,
        )
        assert measure.scores(found) == pytest.approx((expected,), abs=1e-9)
    together = rate_of(
        [references[0] for _, references in pairs],
        [answer for answer, _ in pairs],
        reference_transform=change,
        hypothesis_transform=change,
    )
    assert measure.scores(total) == pytest.approx((together,), abs=1e-9)


def test_punctuation_is_that_of_unicode() -> None:
    """Characters of all categories of punctuation are removed, and no others."""
    text = "a.b—c«d»„e“f؟g。h_i(j)k+l$m"

    assert error_rates.without_punctuation(text) == "abcdefghijk+l$m"
    assert unicodedata.category("+") == "Sm"


def test_a_rate_above_1_is_compared_as_any_other(tmp_path: Path) -> None:
    """Nothing says that a difference of rates is beyond the scale, which has no end."""
    pytest.importorskip("numpy", reason="tests of differences need the extra score")
    chance = random.Random(1)  # noqa: S311 - a seed, not secrecy
    files = [tmp_path / "one.jsonl", tmp_path / "other.jsonl"]
    for file in files:
        rows = [
            {
                "id": number,
                "references": ["a"],
                "outputs": [{"text": "b" * chance.choice((1, 2, 90))}],
            }
            for number in range(12)
        ]
        file.write_bytes(jsonl(*rows))

    found = harpia_formats.compare_scores(*files, from_="record", metrics=("cer",))

    comparison = found.compared[0].comparison
    assert comparison is not None
    assert comparison.beyond_scale is None
    assert comparison.detectable is not None
    assert comparison.detectable > 1
