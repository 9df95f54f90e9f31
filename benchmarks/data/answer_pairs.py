"""Generate records with an answer and a reference of 100 words each, seeded."""

import json
import random
from collections.abc import Iterator

#: Words of a text, different words, and the seed.
WORDS, VOCABULARY, SEED = 100, 5000, 5
_accents = str.maketrans("aeo", "ãéô")


def pairs(count: int) -> Iterator[bytes]:
    """Yield `count` records as lines; fewer are the beginning of more."""
    chance = random.Random(SEED)
    words = [_word(chance) for _ in range(VOCABULARY)]
    accented = [word.translate(_accents) for word in words]
    weights = [1 / place for place in range(1, VOCABULARY + 1)]
    for _ in range(count):
        known = accented if chance.random() < 0.4 else words
        reference = chance.choices(known, weights, k=WORDS)
        for place in range(chance.randrange(12), WORDS, 9):
            reference[place] += chance.choice((".", ",", ";", "!", ")", "-based"))
        others = chance.choices(known, weights, k=WORDS)
        kept = [chance.random() < 0.7 for _ in reference]
        answer = [
            word if is_kept else other
            for word, other, is_kept in zip(reference, others, kept, strict=True)
        ]
        record = {
            "references": [" ".join(reference)],
            "outputs": [{"text": " ".join(answer)}],
        }
        yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _word(chance: random.Random) -> str:
    return "".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9)))
