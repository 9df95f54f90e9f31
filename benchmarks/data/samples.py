"""Generate questions, references and answers with a seed, in four kinds of text.

They are plain values: `data.source_files` writes the same ones in every format.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from data.generate import ASCII_TEXT, SEED
from data.generate_rows import MODELS

#: Bytes of a question, a reference and an answer, about.
QUESTION, REFERENCE, ANSWER = 600, 60, 500
SUBJECTS = ("algebra", "history", "law", "biology")
#: Characters that are frequent in Chinese texts.
CHINESE = (
    "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会"
    "家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开美总从"
    "无情己面最女但现前些所同日手又行意动方期它头经长儿回位分爱老因很给名法间斯知世什两"
    "次使身者被高已亲其进此话常与活正感"
)
PAUSES = ("，", "。", "；", "？")
ESCAPED_WORDS = (
    *('a "quoted" term', 'she said: "no"', "C:\\data\\set", "\\frac{1}{2}"),
    *("line\nbreak", "a\n\nparagraph", "tab\there", "unit\x1fseparator"),
    *("naïve", "größe", "数据", "ответ", "😺", "\u2028"),
)


class Sample(NamedTuple):
    """A question with its reference, and with the answer and the score of a model."""

    id: str
    question: str
    reference: str
    answer: str
    model: str
    score: float
    subject: str
    difficulty: int

    @property
    def is_correct(self) -> bool:
        """Whether the score is the best one."""
        return self.score == 1.0


#: Given a number of bytes, as which it is to be written, and the generator: a text.
TextMaker = Callable[[int, random.Random], str]


def english(size: int, chance: random.Random) -> str:
    """Return words of English with commas and full stops, of about `size` bytes."""
    return " ".join(chance.choices(_ENGLISH, k=max(size // 6, 1)))


def chinese(size: int, chance: random.Random) -> str:
    """Return Chinese characters with punctuation, of about `size` bytes in UTF-8."""
    return "".join(chance.choices(_CHINESE, k=max(size // 3, 1)))


def escapes(size: int, chance: random.Random) -> str:
    """Return words of which a third have characters that JSON or CSV escapes."""
    return " ".join(chance.choices(_ESCAPES, k=max(size // 9, 1)))


_WORDS = ASCII_TEXT.split()
_ENGLISH = (*_WORDS * 6, *(f"{word}," for word in _WORDS), *(f"{w}." for w in _WORDS))
_CHINESE = (*CHINESE * 2, *PAUSES * 6)
_ESCAPES = (*_WORDS, *ESCAPED_WORDS)
#: How often each sample comes in the rows that repeat, and the name of that kind.
TIMES = 40
REPEATS = f"{TIMES} repeats"
#: The functions that make a text, by the name of the kind of text.
TEXTS: Mapping[str, TextMaker] = {
    "English": english,
    "Chinese": chinese,
    "escapes": escapes,
    REPEATS: english,
}


def samples(
    text: str, count: int, *, seed: int = SEED, size: float = 1
) -> Iterator[Sample]:
    """Yield `count` samples of a kind of text; fewer are the beginning of more.

    Texts are `size` times as long as by default. Of the kind that repeats, each sample
    comes `TIMES` times with another id, as when a benchmark is run again and again.
    """
    make, chance = TEXTS[text], random.Random(seed)
    if text != REPEATS:
        for number in range(count):
            yield _sample(make, size, number, chance)
        return
    of = [_sample(make, size, number, chance) for number in range(-(-count // TIMES))]
    for number in range(count):
        yield of[number % len(of)]._replace(id=_id_of(number))


def tidy(of: Iterator[Sample]) -> Iterator[Sample]:
    """Yield samples in which lints find nothing: one model, answers that are quoted."""
    model = ""
    for sample in of:
        model = model or sample.model
        answer = f"{sample.answer} {sample.reference}"
        score = float(sample.score > 0)
        yield sample._replace(model=model, answer=answer, score=score)


def _sample(make: TextMaker, size: float, number: int, chance: random.Random) -> Sample:
    """Return the next sample that the generator makes, with the id of its number."""
    return Sample(
        _id_of(number),
        make(int(QUESTION * size), chance),
        make(int(REFERENCE * size), chance),
        make(int(ANSWER * size), chance),
        MODELS[number % len(MODELS)],
        chance.choice((0.0, 0.5, 1.0)),
        chance.choice(SUBJECTS),
        chance.randint(1, 5),
    )


def _id_of(number: int) -> str:
    return f"q-{number:07d}"
