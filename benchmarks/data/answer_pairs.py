"""Generate records with an answer and a reference of 100 words each, seeded."""

import json
import random
from collections.abc import Iterator

#: Words of a text, different words, and the seed.
WORDS, VOCABULARY, SEED = 100, 5000, 5
#: The words of a reference, all words of its kind, and their weights.
Reference = tuple[list[str], list[str], list[float]]
_accents = str.maketrans("aeo", "ãéô")


def pairs(count: int) -> Iterator[bytes]:
    """Yield `count` records as lines; fewer are the beginning of more."""
    chance = random.Random(SEED)
    references = references_of(chance)
    for _ in range(count):
        reference, words, weights = next(references)
        answer = changed(chance, reference, words, weights)
        record = {
            "references": [" ".join(reference)],
            "outputs": [{"text": " ".join(answer)}],
        }
        yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


def references_of(chance: random.Random) -> Iterator[Reference]:
    """Yield the words of references, all words of their kind, and their weights."""
    words = [_word(chance) for _ in range(VOCABULARY)]
    accented = [word.translate(_accents) for word in words]
    weights = [1 / place for place in range(1, VOCABULARY + 1)]
    while True:
        known = accented if chance.random() < 0.4 else words
        reference = chance.choices(known, weights, k=WORDS)
        for place in range(chance.randrange(12), WORDS, 9):
            reference[place] += chance.choice((".", ",", ";", "!", ")", "-based"))
        yield reference, known, weights


def changed(
    chance: random.Random, reference: list[str], words: list[str], weights: list[float]
) -> list[str]:
    """Return an answer: three in ten words of a reference are others."""
    others = chance.choices(words, weights, k=WORDS)
    kept = [chance.random() < 0.7 for _ in reference]
    return [
        word if is_kept else other
        for word, other, is_kept in zip(reference, others, kept, strict=True)
    ]


def _word(chance: random.Random) -> str:
    return "".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9)))
