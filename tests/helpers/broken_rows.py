"""Rows that are broken at random by faults of the kinds that are repaired."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from harpia_formats.plugins import mutants

#: Keys and values that mean something else than those next to them.
MEANT = {
    "is_correct": "is_incorrect",
    "minimum": "maximum",
    "score_1": "score_2",
    "reference": "preference",
    "answer_a": "answer_b",
    "verdict": "verdicts",
}


def with_fault(row: Any, chance: random.Random) -> Any:
    """Return a row with one or two faults of the kinds that are repaired."""
    if not isinstance(row, dict):
        return row
    for _ in range(chance.randint(1, 2)):
        owners = [one for one in objects_in(row) if one]
        if not owners:
            return row
        owner = chance.choice(owners)
        key = chance.choice(list(owner))
        chance.choice(FAULTS)(owner, key, chance)
    return row


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield a value and those in it that are objects."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from objects_in(part)


def nulled(owner: dict[str, Any], key: str, _: random.Random) -> None:
    """Write null in place of a value."""
    owner[key] = None


def slipped(owner: dict[str, Any], key: str, chance: random.Random) -> None:
    """Exchange two neighbours of a key, the first ones at times."""
    at = chance.randrange(max(1, len(key) - 1))
    wrong = key[:at] + key[at + 1 : at + 2] + key[at : at + 1] + key[at + 2 :]
    owner[wrong] = owner.pop(key)


def inverted(owner: dict[str, Any], key: str, chance: random.Random) -> None:
    """Give a key that means something else."""
    owner[MEANT.get(key, chance.choice(("un", "in", "not_")) + key)] = owner.pop(key)


def quoted(owner: dict[str, Any], key: str, chance: random.Random) -> None:
    """Write a number as a text, or one that the schema may not allow."""
    if type(owner[key]) in {int, float}:
        owner[key] = chance.choice((str(owner[key]), "-1", "2.5", "1e400", "0.75"))


def misspelt(owner: dict[str, Any], key: str, chance: random.Random) -> None:
    """Write a text with a wrong letter, or its negation."""
    if isinstance(owner[key], str) and owner[key]:
        owner[key] = chance.choice((owner[key][:-1] + "x", f"in{owner[key]}"))


def of_vendor(owner: dict[str, Any], _: str, chance: random.Random) -> None:
    """Change what the rules of EvalEval compare, if it is there."""
    key = chance.choice(
        ("num_turns", "tool_calls_count", "turn_idx", "sample_hash", "interaction_type")
    )
    if key in owner:
        value = chance.choice((4, 0, 1))
        texts = {"sample_hash": "0" * 64, "interaction_type": "single_turn"}
        owner[key] = texts.get(key, value)
    elif owner.get("interaction_type") == "single_turn":
        turns = [{"turn_idx": 0, "role": "user", "content": "?"}] * chance.randint(0, 2)
        owner[chance.choice(("interactions", "messages"))] = turns


FAULTS = (nulled, slipped, inverted, quoted, misspelt, of_vendor, of_vendor)


def broken_rows(valid: Sequence[Any], count: int, seed: int) -> list[Any]:
    """Return rows like the valid ones, most of which are broken at random."""
    chance = random.Random(seed)  # noqa: S311 - no secrets
    made = [
        chance.choice([row, *[chance.choice(valid)] * 3])
        for row in islice(mutants(valid, seed), count)
    ]
    return [with_fault(json.loads(json.dumps(row)), chance) for row in made]
