"""The edits of TER: equal to those of sacrebleu, in less time."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import drawn
from harpia_formats.evaluation.metrics import UnscorableError, error_rates, measure_of
from harpia_formats.evaluation.metrics.error_rates import translation_edits
from text_kinds import text_pairs

sacrebleu = pytest.importorskip("sacrebleu", reason="the extra score is not installed")
lib_ter = pytest.importorskip("sacrebleu.metrics.lib_ter")

few = st.lists(st.sampled_from("abcd"), max_size=12)


@given(few, few)
def test_edits_of_few_words_are_those_of_sacrebleu(
    answer: list[str], reference: list[str]
) -> None:
    """Texts of few different words have many shifts that are as good."""
    expected, _ = lib_ter.translation_edit_rate(answer, reference)

    assert translation_edits(answer, reference) == expected


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
    chance = random.Random(20_261_123)  # noqa: S311 - a seed, not secrecy
    for _ in range(count):
        different = chance.choice((2, 5, 20, 100, 1000))
        reference = [
            str(chance.randrange(different))
            for _ in range(chance.choice((1, 4, longest // 2, longest)))
        ]
        answer = shifted(chance, reference, chance.randrange(4))
        answer *= chance.choice((1, 1, 1, 3))
        reference *= chance.choice((1, 1, 1, 1, 9))
        expected, _ = lib_ter.translation_edit_rate(answer, reference)
        assert translation_edits(answer, reference) == expected, (answer, reference)


def test_edits_of_more_shifts_than_are_tried_are_those_of_sacrebleu() -> None:
    """The search ends after as many tries as in sacrebleu."""
    chance = random.Random(7)  # noqa: S311 - a seed, not secrecy
    reference = [str(chance.randrange(3)) for _ in range(36)]
    answer = shifted(chance, reference, 4)
    expected, _ = lib_ter.translation_edit_rate(answer, reference)

    assert translation_edits(answer, reference) == expected


@pytest.mark.parametrize("flags", [{}, {"normalized": True}])
def test_texts_of_eleven_kinds_score_as_in_sacrebleu(flags: dict[str, bool]) -> None:
    """The score of an answer is sacrebleu's of its sentence, tokens and all."""
    theirs = sacrebleu.TER(**flags)
    measure = measure_of("ter", flags)

    for answer, references in text_pairs(drawn(110), 12):
        expected = theirs.sentence_score(answer, references).score
        (found,) = measure.scores(measure.statistics(answer, references))
        assert found == pytest.approx(expected, abs=1e-9), (answer, references)


def test_a_pair_of_800_words_takes_less_than_a_second() -> None:
    """The time of a shift that is tried does not grow with the texts."""
    chance = random.Random(3)  # noqa: S311 - a seed, not secrecy
    reference = [str(int(chance.paretovariate(0.7)) % 50) for _ in range(800)]
    answer = shifted(chance, reference, 6)
    start = time.process_time()

    assert translation_edits(answer, reference) > 0
    assert time.process_time() - start < 1


def test_longer_texts_than_the_limit_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A text of more words has no score, and the reason says the limit."""
    monkeypatch.setattr(error_rates, "MOST_WORDS", 3)
    measure = measure_of("ter", {})

    assert measure.statistics("a b c", ["a b"]) == (1, 2, 1)
    with pytest.raises(UnscorableError, match="of 4 words is longer than 3"):
        measure.statistics("a", ["a b c d"])
