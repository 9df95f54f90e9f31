"""Generate rows of NeMo and Tencent of about 2 kB, with a seed, for conversions."""

import json
import random
from collections.abc import Callable, Iterator, Mapping

from data.generate import SEED, Value, text_of, vocabulary

CATEGORIES = ("algebra", "history", "law", "")
MODELS = ("org/model-7b", "org/model-70b", "lab/model-mini")


def nemo_row(number: int, chance: random.Random) -> Value:
    """Return row `number` of an output.json of NeMo."""
    words = vocabulary(chance)
    question = {
        "prompt": text_of(900, words, chance),
        "ideal_response": text_of(60, words, chance),
        "category": chance.choice(CATEGORIES),
        "source": f"data/part-{number % 16:02d}.jsonl",
    }
    return {
        "input": question,
        "response": text_of(800, words, chance),
        "llm_name": MODELS[number % 3],
    }


def response_of(words: tuple[str, ...], chance: random.Random) -> Value:
    """Return one answer, half of them with reasoning."""
    response: Value = {"content": text_of(400, words, chance)}
    if chance.random() < 0.5:
        response["reasoning_content"] = text_of(200, words, chance)
    return response


def tencent_row(number: int, chance: random.Random) -> Value:
    """Return row `number` of an evaluation set with one or two models' answers.

    Each model has one or two answers. Some chats start with a system message, and some
    have an earlier question with its answer.
    """
    words = vocabulary(chance)
    messages = [{"role": "user", "content": text_of(500, words, chance)}]
    if chance.random() < 0.2:
        answer = {"role": "assistant", "content": text_of(200, words, chance)}
        again = {"role": "user", "content": text_of(150, words, chance)}
        messages += [answer, again]
    if chance.random() < 0.3:
        system = {"role": "system", "content": text_of(100, words, chance)}
        messages.insert(0, system)
    models = chance.sample(MODELS, chance.randint(1, 2))
    outputs = [
        {
            "model_name": model,
            "responses": [
                response_of(words, chance) for _ in range(chance.randint(1, 2))
            ],
        }
        for model in models
    ]
    return {
        "id": f"q_{number:08d}",
        "messages": messages,
        "ref_answer": text_of(60, words, chance),
        "difficulty": chance.choice(("easy", "hard")),
        "model_outputs": outputs,
    }


#: The function that generates a row, by the format.
ROWS: Mapping[str, Callable[[int, random.Random], Value]] = {
    "nemo-output": nemo_row,
    "tencent-outputs": tencent_row,
}


def rows(format_: str, count: int, *, seed: int = SEED) -> Iterator[bytes]:
    """Yield `count` lines of a format."""
    chance = random.Random(seed)
    for number in range(count):
        row = ROWS[format_](number, chance)
        spelling = chance.random() < 0.1
        yield json.dumps(row, ensure_ascii=spelling).encode() + b"\n"
