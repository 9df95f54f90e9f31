"""Rows of EvalEval without a fault, in each shape, and changes of them."""

import copy
import random
from hashlib import sha256
from typing import Any

SHAPES = ("eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0")
SEED, TAG, CURRENT = SHAPES
KINDS = ("single_turn", "multi_turn", "agentic")
Row = dict[str, Any]
#: Stands for a member that is removed.
GONE = object()

_words = (
    "river maçã seven 评估 passage orchard granite número walnut lantern copper "
    "harbour violin meadow 答案 saffron"
).split()


def clean_row(shape: str, kind: str, number: int = 0) -> Row:
    """Return row `number` of a kind, with every optional field and without a fault."""
    chance = random.Random(f"{shape} {kind} {number}")  # noqa: S311 - test data
    answer = f"{chance.choice(_words)} {chance.randint(10, 99)}"
    question = f"Question {number}: {' '.join(chance.choices(_words, k=9))}?"
    reference = f"The {answer}"
    turns = "messages" if shape == CURRENT else "interactions"
    spoken = _turns(kind, question, reference, shape)
    last = len(spoken) - 1 if spoken else 0
    given, made = chance.randint(50, 500), chance.randint(50, 500)
    score = chance.choice([0, 1, 0.0, 1.0])
    row: Row = {
        "schema_version": "0.3.0" if shape == CURRENT else "0.2.0",
        "evaluation_id": "orchard/finch_finch-3b/1770768000",
        "model_id": "finch/finch-3b",
        "evaluation_name": "orchard",
        "sample_id": f"q{number}",
        "sample_hash": sha256(f"{question}{reference}".encode()).hexdigest(),
        "interaction_type": kind,
        "input": {
            "raw": question,
            "formatted": f"<s>{question}</s>",
            "reference": _listed(reference, shape),
            "choices": ["none of these", reference],
        },
        "output": None if spoken else {"raw": _listed(reference, shape)},
        turns: spoken,
        "answer_attribution": [
            {
                "turn_idx": last,
                "source": f"{turns}[{last}].content" if spoken else "output.raw",
                "extracted_value": answer,
                "extraction_method": "regex",
                "is_terminal": is_last,
            }
            for is_last in ([False, True] if number % 2 else [True])
        ],
        "evaluation": {
            "score": score,
            "is_correct": bool(score),
            "num_turns": len(spoken or [1]),
            "tool_calls_count": 2 if kind == "agentic" else 0,
        },
        "token_usage": {
            "input_tokens": given,
            "output_tokens": made,
            "total_tokens": given + made,
            "input_tokens_cache_read": given // 2,
            "reasoning_tokens": made // 2,
        },
        "performance": {
            "latency_ms": 900.5,
            "time_to_first_token_ms": 100.25,
            "generation_time_ms": 800,
        },
        "error": None,
        "metadata": {"subject": "fruit", "epoch": "1"},
    }
    return row


def _listed(text: str, shape: str) -> Any:
    return text if shape == SEED else [text]


def _turns(kind: str, question: str, answer: str, shape: str) -> list[Row] | None:
    """Return the turns of a conversation, None for single_turn."""
    if kind == "single_turn":
        return None
    middle: list[Row] = [
        {"role": "assistant", "content": "Let me think."},
        {"role": "user", "content": "Please do."},
    ]
    if kind == "agentic":
        call = {"id": "c1", "name": "look", "arguments": {"at": "7"}}
        other = {"id": "c2", "name": "add", "arguments": {"to": "8"}}
        name = (lambda text: [text]) if shape == CURRENT else str
        middle = [
            {"role": "assistant", "content": None, "tool_calls": [call, other]},
            {"role": "tool", "content": "seven", "tool_call_id": name("c1")},
            {"role": "tool", "content": "eight", "tool_call_id": name("c2")},
        ]
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": question},
        *middle,
        {"role": "assistant", "content": f"I say: {answer}."},
    ]
    return [{"turn_idx": place, **turn} for place, turn in enumerate(turns)]


def changed(row: Row, changes: dict[str, Any]) -> Row:
    """Return a copy of `row` with values at places such as `input.raw` changed.

    `turns` stands for the key of the list of turns, `GONE` for no value, and a function
    for what it makes of the value.
    """
    row = copy.deepcopy(row)
    turns = "messages" if "messages" in row else "interactions"
    for place, value in changes.items():
        named = turns + place[5:] if place.startswith("turns") else place
        *owners, last = named.split(".")
        owner: Any = row
        for part in owners:
            owner = owner[int(part)] if isinstance(owner, list) else owner[part]
        key: Any = int(last) if isinstance(owner, list) else last
        if value is GONE:
            del owner[key]
        else:
            owner[key] = value(owner[key]) if callable(value) else value
    return row
