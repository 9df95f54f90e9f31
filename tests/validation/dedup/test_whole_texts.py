"""Rows that say the same: which need no exact comparison, and how many they are."""

from array import array
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats import validate
from harpia_formats.formats.rules import near_duplicates
from harpia_formats.validation.dedup.repeated_digests import PairDigests, WholeTexts
from json_lines import jsonl

#: Pairs of a rough text and a whole one: a whole text belongs to one rough text.
PAIRS = st.lists(st.integers(0, 19).map(lambda whole: (whole // 3, whole)), max_size=60)


@given(pairs=PAIRS, held=st.integers(1, 80), most=st.integers(1, 8))
def test_each_repeated_text_is_known_or_compared(
    pairs: list[tuple[int, int]], held: int, most: int
) -> None:
    """A rough text of several rows has one whole text, which is known, or is another.

    It is so whether or not the digests are in a file, and however many there are.
    """
    store = PairDigests(held=held, whole=4)
    for pair in pairs:
        store.add_digests(array("Q", pair))
    found = WholeTexts(store, lambda _: 0, most)
    others = {
        rough for rough in range(7) if any(rough in part for part in found.others())
    }
    known = {whole for whole in range(20) if whole in found.repeated}
    store.close()

    repeated = {
        rough for rough, times in Counter(r for r, _ in pairs).items() if times > 1
    }
    wholes = {rough: {w for r, w in pairs if r == rough} for rough in repeated}
    assert others | {whole // 3 for whole in known} == repeated
    assert not others & {whole // 3 for whole in known}
    assert all(len(wholes[whole // 3]) == 1 for whole in known)
    assert found.count == len(known) <= most
    surplus = sum(sum(pair[1] == whole for pair in pairs) - 1 for whole in known)
    assert sum(found.left.values()) == surplus


def answers_as_lines(prompts: list[str]) -> bytes:
    """Return rows that ask `prompts`, each with the same answer."""
    answer = {"model": "m", "text": "It is exactly four, I think."}
    return jsonl(
        *(
            {"id": number, "prompt": prompt, "outputs": [answer]}
            for number, prompt in enumerate(prompts)
        )
    )


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("other", ["", "What is 7 + 7, my dear  machine?"])
def test_findings_are_as_many_with_few_examples(other: str, jobs: int) -> None:
    """All rows that say the same are counted, whether or not they are described."""
    prompts = [f"What is {number} + {number}, my dear machine?" for number in range(40)]
    data = answers_as_lines([*prompts * 10, *([other] if other else [])])

    def report(examples: int) -> list[tuple[str, int]]:
        found = validate(
            data,
            format="record",
            select=("X102",),
            jobs=jobs,
            examples=examples,
            max_problems=0,
        )
        return [(group.code, group.count) for group in found.groups]

    assert report(2) == report(0) == [("X102", 40 * 9 + bool(other))]


def test_texts_that_come_once_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rough texts stay the same when no more of them are remembered."""
    monkeypatch.setattr(near_duplicates, "REMEMBERED", 4)
    said = near_duplicates.ComparedTexts(0, 1, ((),))
    texts = [f"What is the number {number}, my dear machine?" for number in range(9)]

    found = [said.all_roughly_and_whole([texts]) for _ in range(3)]

    assert not said.rough
    singly = [said.roughly_and_whole(text) for text in texts]
    assert found == [singly] * 3
