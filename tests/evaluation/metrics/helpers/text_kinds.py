"""Answers and references of eleven kinds of text, for proofs against other packages."""

import random
import re
import string
from collections.abc import Iterator, Sequence

#: Words of each kind of text, and what stands between them.
KINDS: dict[str, tuple[Sequence[str], str]] = {
    "english": (
        "the cat's THE mat. over, floor well-known U.S.A. (yes) don't".split(),
        " ",
    ),
    "portuguese": (
        "a ação não à coração, você São “é” d'água informações".split(),
        " ",
    ),
    "german": (
        "Straße ÄPFEL über, Öl daß groß Fuß-Ball der „die“ das.".split(),
        " ",
    ),
    "russian": (
        "Москва и мир, столица России! ёж Ё это — не й.".split(),
        " ",
    ),
    "greek": (
        "Ο άνθρωπος ΟΔΥΣΣΕΥΣ σοφός, και; η Αθήνα «ναι» όχι·".split(),  # noqa: RUF001 - as it is written
        " ",
    ),
    "arabic": (
        "الكتاب على الطاولة العربيّة ٣ ١٢٫٥ في كَتَبَ و هذا".split(),  # noqa: RUF001 - as it is written
        " ",
    ),
    "hindi": (
        "हिन्दी में क्या है। भारत ज़मीन १२ की राजधानी दिल्ली,".split(),
        " ",
    ),
    "chinese": (
        "北京 是 中国 的 首都 。 上海 2023年 AI 模型 很".split(),
        "",
    ),
    "emoji": (
        "👍 👍🏽 👩‍👩‍👧 ok 🇧🇷 é é :-) ﬁ ½ ²".split(),
        " ",
    ),
    "code": (
        'if (x==1): return foo_bar[0]; // a+b {} "s" \\n 0x1F'.split(),
        " ",
    ),
    "numbers": (
        "1,234.5 -3 + 4 = $1.2 50% 1e-5 \\frac{1}{2} #### 42".split(),
        " ",
    ),
}
SEED = 20_261_123


def squad_text(text: str) -> str:
    """Return a text as the description of SQuAD's evaluation says, step by step."""
    lowered = text.lower()
    bare = "".join(each for each in lowered if each not in set(string.punctuation))
    without = re.sub(r"\b(a|an|the)\b", " ", bare)
    return re.sub(r"\s+", " ", without).strip()


def text_pairs(count: int, longest: int = 25) -> Iterator[tuple[str, list[str]]]:
    """Yield answers with one to three references, as many of each kind of text.

    Some texts are empty, equal, of white space alone, or have line breaks and several
    spaces.
    """
    chance = random.Random(SEED)  # noqa: S311 - a seed, not secrecy
    kinds = list(KINDS.values())
    for number in range(count):
        words, space = kinds[number % len(kinds)]
        reference = chance.choices(words, k=chance.randrange(longest))
        references = [
            _written(chance, _changed(chance, reference, words), space)
            for _ in range(chance.choice((1, 1, 2, 3)))
        ]
        answer = _written(chance, _changed(chance, reference, words), space)
        yield chance.choice((answer,) * 18 + ("", references[0])), references


def _changed(
    chance: random.Random, given: Sequence[str], words: Sequence[str]
) -> list[str]:
    found = []
    for word in given:
        kind = chance.random()
        if kind > 0.1:
            found.append(chance.choice(words) if kind < 0.2 else word)
        if kind > 0.95:
            found.append(word.upper())
    return found


def _written(chance: random.Random, words: Sequence[str], space: str) -> str:
    spaces = (*(space,) * 8, "\n", "\t", "  ", " \n\n", "\u00a0")
    return "".join(f"{word}{chance.choice(spaces)}" for word in words)
