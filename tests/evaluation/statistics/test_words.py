"""Words, bytes and scripts of texts: by their definitions, and at once for many."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.evaluation.statistics import text_lengths
from harpia_formats.evaluation.statistics.text_lengths import (
    measure,
    script_of_text,
    word_count,
)

#: Parts of texts in several scripts, with white space and punctuation of all kinds.
PARTS = [
    *(
        "a",
        "b c",
        " ",
        "\n",
        "1",
        "é",
        "д",
        "ع",
        "模",
        "型",
        "한",
        "\u03b1",
        "—",
        "\u00a0",
    ),
    *(
        "。",
        "か",
        "ไ",
        "\uff0c",
        "\uff21",
        "😀",
        "\u2003",
        "\u3000",
        "\x00",
        "\x1f",
        "\ud800",
    ),
    *("ⲁ", "ƀ", "\u0301", "ﬁ", "ʰ", "ע", "अ", "々", "・", "½", "\x85"),
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
