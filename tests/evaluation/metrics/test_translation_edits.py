"""The edits of TER: equal to those of sacrebleu, in less time."""

import random
import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import drawn
from harpia_formats import ScoreError
from metric_scores import value, values_of_pairs
from text_kinds import text_pairs

sacrebleu = pytest.importorskip("sacrebleu", reason="the extra score is not installed")
lib_ter = pytest.importorskip("sacrebleu.metrics.lib_ter")

few = st.lists(st.sampled_from("abcd"), max_size=12)
Words = list[str]


def check_edits(pairs: Iterable[tuple[Words, Words]]) -> None:
    """Hold the rate of answers, with one reference each, against edits of sacrebleu."""
    given = list(pairs)
    texts = [(" ".join(answer), [" ".join(words)]) for answer, words in given]
    found = values_of_pairs("ter", texts)
    for (answer, reference), (rate,) in zip(given, found, strict=True):
        edits, _ = lib_ter.translation_edit_rate(answer, reference)
        expected = 100 * edits / len(reference) if reference else 100.0 * (edits > 0)
        assert rate == pytest.approx(expected, abs=1e-9), (answer, reference)


@given(st.lists(st.tuples(few, few), min_size=1, max_size=4))
def test_edits_of_few_words_are_those_of_sacrebleu(
    pairs: list[tuple[Words, Words]],
) -> None:
    """Texts of few different words have many shifts that are as good."""
    check_edits(pairs)


def shifted(chance: random.Random, words: list[str], shifts: int) -> list[str]:
    """Return words of which phrases are moved and some are lost or replaced."""
    found = list(words)
    for _ in range(shifts):
        start = chance.randrange(len(found))
        phrase = found[start : start + chance.randrange(1, 14)]
        del found[start : start + len(phrase)]
        place = max(0, min(len(found), start + chance.randrange(-70, 70)))
        found[place:place] = phrase
    return [
        word if chance.random() > 0.1 else chance.choice(words)
        for word in found
        if chance.random() > 0.05
    ]


@pytest.mark.parametrize(
    ("count", "longest"), [(60, 15), pytest.param(1_000, 60, marks=pytest.mark.long)]
)
def test_edits_of_shifted_phrases_are_those_of_sacrebleu(
    count: int, longest: int
) -> None:
    """Any vocabulary, length, and relation of both lengths gives equal edits."""
    chance, pairs = random.Random(20_261_123), []  # noqa: S311 - a seed, not secrecy
    for _ in range(count):
        different = chance.choice((2, 5, 20, 100, 1000))
        reference = [
            str(chance.randrange(different))
            for _ in range(chance.choice((1, 4, longest // 2, longest)))
        ]
        answer = shifted(chance, reference, chance.randrange(4))
        answer *= chance.choice((1, 1, 1, 3))
        reference *= chance.choice((1, 1, 1, 1, 9))
        pairs.append((answer, reference))
    check_edits(pairs)


def moved(words: int, distance: int) -> tuple[Words, Words]:
    """Return two texts, in which a phrase of as many words is so far apart."""
    phrase = [f"p{number}" for number in range(words)]
    others = [str(number) for number in range(distance)]
    return others + phrase, phrase + others


def test_edits_at_the_limits_are_those_of_sacrebleu() -> None:
    """Shifts that are just short and near enough are made, and farther ones not.

    In a table of few words by many, only cells near the diagonal count.
    """
    far = [moved(2, distance) for distance in (49, 50, 51)]
    long = [moved(words, 20) for words in (9, 10, 11)]
    behind_itself = (list("abaabb"), list("bbbaaa"))
    many = [f"{number}" for number in range(150)]
    cut = [(many[first:], many) for first in (24, 25, 26)]
    few = [
        (many[at : at + size], many[:count])
        for size in (1, 2)
        for count in (51, 100, 150)
        for at in range(0, count - size, 3)
    ]

    check_edits([*far, *long, *cut, *((two, one) for one, two in far + long + cut)])
    check_edits([behind_itself, *few])


def test_edits_of_more_shifts_than_are_tried_are_those_of_sacrebleu() -> None:
    """The search ends after as many tries as in sacrebleu."""
    chance = random.Random(7)  # noqa: S311 - a seed, not secrecy
    reference = [str(chance.randrange(3)) for _ in range(36)]

    check_edits([(shifted(chance, reference, 4), reference)])


@pytest.mark.parametrize("flags", [{}, {"normalized": True}])
def test_texts_of_eleven_kinds_score_as_in_sacrebleu(flags: dict[str, bool]) -> None:
    """The score of an answer is sacrebleu's of its sentence, tokens and all."""
    theirs = sacrebleu.TER(**flags)
    pairs = list(text_pairs(drawn(110), 12))
    scores = values_of_pairs("ter", pairs, **flags)

    for (answer, references), (found,) in zip(pairs, scores, strict=True):
        expected = theirs.sentence_score(answer, references).score
        assert found == pytest.approx(expected, abs=1e-9), (answer, references)


def test_a_pair_of_800_words_takes_less_than_a_second() -> None:
    """The time of a shift that is tried does not grow with the texts."""
    chance = random.Random(3)  # noqa: S311 - a seed, not secrecy
    reference = [str(int(chance.paretovariate(0.7)) % 50) for _ in range(800)]
    answer = shifted(chance, reference, 6)
    value("ter", "a", ["a"])  # what is loaded once
    start = time.process_time()

    assert value("ter", " ".join(answer), [" ".join(reference)])
    assert time.process_time() - start < 1


def test_longer_texts_than_the_limit_are_refused() -> None:
    """A text of more words has no score, and the reason says the limit."""
    longest = "a " * 10_000

    assert value("ter", longest, [longest]) == 0
    with pytest.raises(ScoreError, match="of 10,001 words is longer than 10,000"):
        value("ter", "a", [f"{longest} a"])
