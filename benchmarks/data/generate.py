"""Generate rows: EvalEval 0.2.0 records of about 2.5 kB, with a seed."""

import argparse
import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Value = dict[str, Any]
SEED = 20_260_209
INTERACTION_TYPES = ("single_turn", "single_turn", "multi_turn", "agentic")
ASCII_TEXT = (
    "the model reads a question about rivers and answers with reasons that the "
    "reader can check against the passage while numbers such as 42 or 3.14 appear "
    "between longer explanations of algebra chemistry history and law"
)
OTHER_TEXT = (
    "ação avaliação questão português média número résumé größe naïve façade "
    "模型 评估 问题 答案 数据 测试 推理 نموذج تقييم سؤال إجابة проверка вопрос ответ"
)
ESCAPED_WORDS = ('a "quoted" term', "C:\\data\\set", "line\nbreak", "tab\there")


def text_of(size: int, words: tuple[str, ...], chance: random.Random) -> str:
    """Return about `size` characters of words drawn from `words`."""
    count = max(1, size // 7)
    return " ".join(chance.choices(words, k=count))


def vocabulary(chance: random.Random) -> tuple[str, ...]:
    """Return the words of one row: 40 % of rows not ASCII, 20 % with escapes."""
    words = ASCII_TEXT.split()
    if chance.random() < 0.4:
        words += OTHER_TEXT.split()
    if chance.random() < 0.2:
        words += ESCAPED_WORDS
    return tuple(words)


def tool_call(index: int, words: tuple[str, ...], chance: random.Random) -> Value:
    """Return the tool call of turn `index`."""
    arguments = {"query": text_of(30, words, chance), "limit": index, "exact": True}
    return {"id": f"call_{index}", "name": "search", "arguments": arguments}


def turns_of(
    count: int, words: tuple[str, ...], chance: random.Random, *, tools: bool
) -> list[Value]:
    """Return a conversation of `count` turns, with tool calls when `tools` is set."""
    turns: list[Value] = []
    for index in range(count):
        role = ("user", "assistant", "tool")[index % (3 if tools else 2)]
        calls = tools and role == "assistant"
        turn: Value = {
            "turn_idx": index,
            "role": role,
            "content": text_of(640 // count, words, chance),
            "reasoning_trace": text_of(60, words, chance) if calls else None,
            "tool_calls": [tool_call(index, words, chance)] if calls else None,
        }
        if role == "tool":
            turn["tool_call_id"] = f"call_{index - 1}"
        turns.append(turn)
    return turns


def attribution_of(
    last: int, words: tuple[str, ...], chance: random.Random, *, single: bool
) -> list[Value]:
    """Return the attribution of the answer, in one or two steps."""
    steps = chance.randint(1, 2)
    return [
        {
            "turn_idx": last,
            "source": "output.raw" if single else f"interactions[{last}].content",
            "extracted_value": text_of(20, words, chance),
            "extraction_method": "regex",
            "is_terminal": step == steps - 1,
        }
        for step in range(steps)
    ]


def usage_of(chance: random.Random) -> Value:
    """Return the token counts of one record."""
    given, made = chance.randint(10, 2000), chance.randint(10, 2000)
    return {
        "input_tokens": given,
        "output_tokens": made,
        "total_tokens": given + made,
        "input_tokens_cache_write": None,
        "input_tokens_cache_read": chance.randint(0, given),
        "reasoning_tokens": None,
    }


def row_of(number: int, chance: random.Random) -> Value:
    """Return row `number` with every optional field, like those of real converters."""
    words = vocabulary(chance)
    kind = chance.choice(INTERACTION_TYPES)
    single = kind == "single_turn"
    count = 1 if single else chance.randint(4, 8)
    turns = turns_of(count, words, chance, tools=kind == "agentic")
    answer = {
        "raw": text_of(560, words, chance),
        "reasoning_trace": text_of(150, words, chance),
    }
    row: Value = {
        "schema_version": "0.2.0",
        "evaluation_id": "gsm8k/org_model-7b/1751729998",
        "model_id": "org/model-7b",
        "evaluation_name": "gsm8k",
        "sample_id": f"gsm8k_{number:08d}",
        "sample_hash": f"{chance.getrandbits(256):064x}",
        "interaction_type": kind,
        "input": {
            "raw": text_of(300, words, chance),
            "formatted": text_of(300, words, chance),
            "reference": text_of(20, words, chance),
            "choices": [text_of(12, words, chance) for _ in range(4)],
        },
        "output": answer if single else None,
        "interactions": None if single else turns,
        "answer_attribution": attribution_of(count - 1, words, chance, single=single),
        "evaluation": {
            "score": chance.choice((0.0, 1.0, 0.5, True)),
            "is_correct": chance.random() < 0.5,
            "num_turns": count,
            "tool_calls_count": sum(1 for turn in turns if turn["tool_calls"]),
        },
        "token_usage": usage_of(chance),
        "performance": {
            "latency_ms": chance.random() * 9000,
            "time_to_first_token_ms": None,
            "generation_time_ms": chance.random() * 9000,
        },
        "error": None,
        "metadata": {"subject": "algebra", "difficulty": chance.randint(1, 5)},
    }
    if chance.random() < 0.2:
        row["run_label"] = "night"
        row["metadata"] = {"tags": ["a", {"deep": [1, 2, {"x": None}]}], "split": {}}
    return shuffled(row, chance)


def shuffled(row: Value, chance: random.Random) -> Value:
    """Return `row` in one of four key orders."""
    order = chance.randrange(4)
    keys = list(row)
    if order:
        random.Random(order).shuffle(keys)
    return {key: row[key] for key in keys}


def wrong_type(row: Value) -> None:
    """Replace the score of a row by a string."""
    row["evaluation"] = {"score": "1.0", "is_correct": True}


def wrong_key(row: Value) -> None:
    """Misspell the key of the score of a row."""
    evaluation = row["evaluation"]
    evaluation["scores"] = evaluation.pop("score")


def broken_condition(row: Value) -> None:
    """Set to null the field that the interaction type of a row requires."""
    is_single = row["interaction_type"] == "single_turn"
    row["output" if is_single else "interactions"] = None


#: The faults of bad rows, and the functions that put them into a row.
FAULTS: Mapping[str, Callable[[Value], None]] = {
    "wrong type": wrong_type,
    "wrong key": wrong_key,
    "broken condition": broken_condition,
}
WRONG_TYPE = next(iter(FAULTS))


def rows(
    count: int, *, seed: int = SEED, bad: float = 0.0, fault: str = WRONG_TYPE
) -> Iterator[bytes]:
    """Yield `count` lines, a share `bad` of them with one of the `FAULTS`."""
    chance = random.Random(seed)
    for number in range(count):
        row = row_of(number, chance)
        if bad and chance.random() < bad:
            FAULTS[fault](row)
        spelling = chance.random() < 0.1
        yield json.dumps(row, ensure_ascii=spelling).encode() + b"\n"


def write_rows(
    path: Path, count: int, *, bad: float = 0.0, fault: str = WRONG_TYPE
) -> None:
    """Write `count` rows to `path` as JSON Lines."""
    with path.open("wb") as file:
        file.writelines(rows(count, bad=bad, fault=fault))


def main() -> None:
    """Write a file of rows from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--bad", type=float, default=0.0)
    parser.add_argument("--fault", choices=list(FAULTS), default=WRONG_TYPE)
    arguments = parser.parse_args()
    write_rows(arguments.path, arguments.rows, bad=arguments.bad, fault=arguments.fault)


if __name__ == "__main__":
    main()
