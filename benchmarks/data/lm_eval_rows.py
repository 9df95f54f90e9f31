"""Rows as lm-evaluation-harness writes them: generations and multiple choices."""

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

SEED = 18
_words = (
    "the of and to in is that for it as was with be by on not he his but at are this "
    "have from or had an they which one you were all her she there would their we him "
    "been has when who will no more if out so up said what its about than into them"
).split()


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_words, k=words))


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _hashed(row: dict[str, Any], prompt: str) -> dict[str, Any]:
    doc = json.dumps(row["doc"], indent=2, ensure_ascii=False)
    return row | {
        "doc_hash": _hash_of(doc),
        "prompt_hash": _hash_of(prompt),
        "target_hash": _hash_of(row["target"]),
    }


def generation(number: int, chance: random.Random) -> dict[str, Any]:
    """Return a generation with three examples in its context."""
    question = _text(chance, 60)
    shots = [
        f"Question: {_text(chance, 50)}\nAnswer: {_text(chance, 60)}" for _ in range(3)
    ]
    prompt = "\n\n".join((*shots, f"Question: {question}\nAnswer:"))
    answer = f"{_text(chance, 90)} The answer is {number}."
    settings = {"until": ["Question:", "</s>"], "do_sample": False, "temperature": 0.0}
    row = {
        "doc_id": number,
        "doc": {"question": question, "answer": _text(chance, 60)},
        "target": f"{_text(chance, 60)}\n#### {number}",
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": settings}},
        "resps": [[answer]],
        "filtered_resps": [str(number)],
        "filter": "strict-match",
        "metrics": ["exact_match"],
    }
    return _hashed(row, prompt) | {"exact_match": float(number % 2)}


def choice(number: int, chance: random.Random) -> dict[str, Any]:
    """Return a choice of four letters with five examples in its context."""
    shots = [
        "\n".join(
            (
                _text(chance, 40),
                *(f"{letter}. {_text(chance, 6)}" for letter in "ABCD"),
                f"Answer: {chance.choice('ABCD')}",
            )
        )
        for _ in range(5)
    ]
    question = _text(chance, 40)
    options = [_text(chance, 6) for _ in range(4)]
    listed = [f"{letter}. {text}" for letter, text in zip("ABCD", options, strict=True)]
    prompt = "\n\n".join((*shots, "\n".join((question, *listed, "Answer:"))))
    likelihoods = [[str(-chance.random()), "False"] for _ in range(4)]
    row = {
        "doc_id": number,
        "doc": {"question": question, "choices": options, "answer": number % 4},
        "target": str(number % 4),
        "arguments": {
            f"gen_args_{at}": {"arg_0": prompt, "arg_1": f" {letter}"}
            for at, letter in enumerate("ABCD")
        },
        "resps": [[each] for each in likelihoods],
        "filtered_resps": likelihoods,
        "filter": "none",
        "metrics": ["acc", "acc_norm"],
    }
    sums = [float(likelihood) for likelihood, _ in likelihoods]
    by_length = [each / len(text) for each, text in zip(sums, options, strict=True)]
    return _hashed(row, prompt) | {
        "acc": float(sums.index(max(sums)) == number % 4),
        "acc_norm": float(by_length.index(max(by_length)) == number % 4),
    }


KINDS: dict[str, Callable[[int, random.Random], dict[str, Any]]] = {
    "generations": generation,
    "multiple choices": choice,
}


def lines(kind: str, count: int) -> Iterator[bytes]:
    """Yield so many rows of a kind, as lines of JSON."""
    chance = random.Random(SEED)
    for number in range(count):
        yield json.dumps(KINDS[kind](number, chance)).encode() + b"\n"
