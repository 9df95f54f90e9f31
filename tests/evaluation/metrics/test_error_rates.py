"""WER and CER: known values, and equality with jiwer on eleven kinds of text."""

import random
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats import ScoreError
from json_lines import jsonl
from metric_scores import answered, totals, value, values_of_pairs
from text_kinds import text_pairs

pytest.importorskip("rapidfuzz", reason="the extra score is not installed")


def test_parameters_change_the_texts_before_they_are_compared() -> None:
    """Case, punctuation, words at line breaks and the scale are parameters."""
    assert value("wer", "A b.", ["a b"], normalisation="lower", no_punct=True) == 0
    assert value("wer", "a\nb", ["a b"]) == 1
    assert value("wer", "a\nb", ["a b"], tokenizer="whitespace") == 0
    assert value("wer", "a c", ["a b", "a c"], references="first", scale=100) == 50


def test_a_pair_that_would_take_minutes_is_refused() -> None:
    """Two texts whose units multiply to more than the limit have no score."""
    with pytest.raises(ScoreError, match="400,001 units of the answer by 250,000"):
        value("cer", "a" * 400_001, ["b" * 250_000])


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
    scores = values_of_pairs(name, pairs, **given)
    (total,) = totals(name, [answered(*pair) for pair in pairs], **given)

    for (answer, references), found in zip(pairs, scores, strict=True):
        expected = rate_of(
            references,
            [answer],
            reference_transform=change,
            hypothesis_transform=change,
        )
        assert found == pytest.approx((expected,), abs=1e-9)
    together = rate_of(
        [references[0] for _, references in pairs],
        [answer for answer, _ in pairs],
        reference_transform=change,
        hypothesis_transform=change,
    )
    assert total.value == pytest.approx(together, abs=1e-9)


def test_punctuation_is_that_of_unicode() -> None:
    """Characters of all categories of punctuation are removed, and no others."""
    text = "a.b—c«d»„e“f؟g。h_i(j)k+l$m"

    assert value("cer", text, ["abcdefghijk+l$m"], no_punct=True) == 0
    assert value("cer", "+$", [""], no_punct=True) == 2
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
