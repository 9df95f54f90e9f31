"""Laws of tokens: how texts are split and normalised, and what two lists share."""

import importlib
import re
import string
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.evaluation.metrics.rouge import joined_lines, union_lcs_hits
from harpia_formats.evaluation.metrics.text.tokens import (
    LONGEST,
    NORMALISATIONS,
    TOKENIZERS,
    cached_by_text,
    clipped_overlap,
    mteval_tokens,
    overlap,
)

NOT_INSTALLED = "the extra score is not installed"


@for_each_case(
    "text, expected",
    [
        ("The Beatles", "beatles"),
        ("U.S.A", "usa"),
        ("don't", "dont"),
        ("the", ""),
        ("a", ""),
        ("¿Qué?", "¿qué"),
        ("“Paris”", "“paris”"),
        ("state-of-the-art", "stateoftheart"),
        ("theatre", "theatre"),
        ("“a” cat", "“ ” cat"),
        ("x\x00an\x00y", "x\x00 \x00y"),
    ],
)
def test_squad_normalises(text: str, expected: str) -> None:
    """Only ASCII punctuation goes, and articles only as whole words."""
    assert NORMALISATIONS["squad"](text) == expected


@given(st.text(), st.text())
def test_the_quick_normalisation_is_the_slow_one(text: str, more: str) -> None:
    """Dropping articles as words is the same as by the pattern wherever it is done."""
    for each in (text, more, f"the {text} a{more} an", "".join(set(text)) + " a"):
        bare = "".join(c for c in each.lower() if c not in string.punctuation)
        expected = " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())

        assert NORMALISATIONS["squad"](each) == expected


@given(st.lists(st.integers(0, 5)), st.lists(st.lists(st.integers(0, 5)), min_size=1))
def test_overlap_is_that_of_multisets(one: list[int], others: list[list[int]]) -> None:
    """Shared members are counted as often as both lists, or the best of them, have."""
    counts = [Counter(each) for each in others]
    most = Counter[int]()
    for each in counts:
        most |= each

    assert overlap(one, others[0]) == (Counter(one) & counts[0]).total()
    assert clipped_overlap(one, others) == (Counter(one) & most).total()


@for_each_case(
    "text, ascii_tokens, tokens",
    [
        (
            "A ação foi rápida",
            "a a o foi r pida".split(),
            "a ação foi rápida".split(),
        ),
        (
            "北京AI模型2023年",
            ["ai", "2023"],
            ["北", "京", "ai", "模", "型", "2023", "年"],
        ),
        ("カナ、かな", [], ["カ", "ナ", "か", "な"]),
        ("العَرَبيّة!", [], ["العَرَبيّة"]),
        ("हिन्दी में", [], ["हिन्दी", "में"]),
        ("cafe\u0301 CAFÉ", ["cafe", "caf"], ["café", "café"]),
        ("한국어 텍스트", [], ["한국어", "텍스트"]),
        ("ไทย", [], ["ไ", "ท", "ย"]),
        ("x_y don't", ["x", "y", "don", "t"], ["x", "y", "don", "t"]),
        ("\ud800a", ["a"], ["a"]),
    ],
)
def test_rouge_counts_other_scripts_if_asked(
    text: str, ascii_tokens: list[str], tokens: list[str]
) -> None:
    """ASCII alone counts by default; the Unicode tokenizer knows letters and marks."""
    assert TOKENIZERS["rouge_score"](text) == ascii_tokens
    assert TOKENIZERS["unicode"](text) == tokens


def test_13a_splits_ascii_punctuation() -> None:
    """The documented example comes out word by word."""
    text = "It's 3.14, or $5-6 (maçã)! don't &amp; “x”"
    expected = "It's 3.14 , or $ 5 - 6 ( maçã ) ! don't & “x”".split()

    assert mteval_tokens(text) == expected


@given(st.text(alphabet="aZ09é.,-'&;amp/_ \n٣”x<>$", max_size=30))
def test_13a_is_that_of_sacrebleu(text: str) -> None:
    """Words split one by one are those of sacrebleu's patterns over the whole text."""
    pytest.importorskip("sacrebleu", reason=NOT_INSTALLED)
    tokenizer_13a: Any = importlib.import_module("sacrebleu.tokenizers.tokenizer_13a")

    tokenizer = tokenizer_13a.Tokenizer13a()

    assert mteval_tokens(text) == tokenizer(text).split()


lines = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=9), max_size=5)


@given(lines, lines)
def test_the_union_of_subsequences_is_that_of_rouge_score(
    reference: list[list[str]], answer: list[list[str]]
) -> None:
    """The same of several longest subsequences is taken, so that unions agree."""
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    theirs = rouge_scorer._summary_level_lcs(reference, answer)  # noqa: SLF001 - to compare with
    tokens = len(joined_lines(reference))
    expected = round(theirs.recall * tokens)

    assert union_lcs_hits(reference, answer) == expected


def test_huge_texts_are_not_kept() -> None:
    """A text beyond the limit is worked out again, and gives the same."""
    calls = []

    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    work, longest = cached_by_text(length), "a" * LONGEST
    texts = ["a", "a", longest, longest, f"{longest}a", f"{longest}a"]

    assert [work(text) for text in texts] == [len(text) for text in texts]
    assert calls == ["a", longest, *texts[-2:]]
