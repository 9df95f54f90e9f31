"""Generate questions with ten answers each, a line for each question, seeded."""

import json
import random
from collections.abc import Iterator

from data.answer_pairs import SEED, changed, references_of

#: Answers to each question, and the most of them that are the reference itself.
ANSWERS, MOST_RIGHT = 10, 4


def questions(count: int) -> Iterator[bytes]:
    """Yield `count` questions as lines; fewer are the beginning of more."""
    chance = random.Random(SEED)
    references = references_of(chance)
    for number in range(count):
        reference, words, weights = next(references)
        right = chance.randrange(MOST_RIGHT + 1)
        answers = [
            reference if place < right else changed(chance, reference, words, weights)
            for place in range(ANSWERS)
        ]
        record = {
            "id": f"q{number}",
            "prompt": f"Question {number}?",
            "references": [" ".join(reference)],
            "outputs": [{"text": " ".join(answer)} for answer in answers],
        }
        yield json.dumps(record, ensure_ascii=False).encode() + b"\n"
