"""fuzzy-match: NeMo's definition, with all that it takes for a match."""

import re
import string
import unicodedata

import pytest

from harpia_formats.metrics import measure_of
from text_kinds import text_pairs


def matches(answer: str, references: list[str]) -> float | None:
    """Return the score of one answer."""
    measure = measure_of("fuzzy-match", {})
    (found,) = measure.scores(measure.statistics(answer, references))
    return found


@pytest.mark.parametrize(
    ("answer", "references", "expected"),
    [
        ("Paris.", ["paris"], 1),
        ("It is the USA, I think", ["U.S."], 1),
        ("U.S.A.", ["USA"], 1),
        ("It is the U.S.A., I think", ["USA"], 0),
        ("cat", ["The cat sat"], 1),
        ("", ["Paris"], 1),
        ("The!", ["Paris"], 1),
        ("The cat is on the mat.", ["The cat sits on the mat."], 0),
        ("cat", ["dog", "cats"], 1),
        ("São", ["sao paulo"], 0),
    ],
)
def test_either_may_contain_the_other(
    answer: str, references: list[str], expected: float
) -> None:
    """An answer matches what it contains or is part of; the empty one matches all."""
    assert matches(answer, references) == expected


def test_it_is_the_definition_of_nemo() -> None:
    """Texts of eleven kinds match as NVIDIA's rules say, step by step."""

    def normal(text: str) -> str:
        lowered = unicodedata.normalize("NFKD", text).lower()
        bare = re.sub(r"\b(a|an|the)\b", " ", lowered)
        kept = (each for each in bare if each not in string.punctuation)
        return " ".join("".join(kept).split())

    for answer, references in text_pairs(1_100, 4):
        mine, others = normal(answer), [normal(each) for each in references]
        expected = any(other in mine or mine in other for other in others)
        assert matches(answer, references) == expected, (answer, references)
