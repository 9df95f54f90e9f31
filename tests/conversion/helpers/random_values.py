"""Seeded random JSON values and records, made fast and rich in what conversions change.

Plain `random` makes a record in some ten microseconds, where Hypothesis takes a
thousand times as long.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from harpia_formats.model.exact_json import ExactFloat
from harpia_formats.model.record import Output, Record, Score

#: Texts that conversions, encoders and readers of tables can mistake.
TEXTS = (
    "",
    "a",
    "q",
    "1",
    "1.0",
    "null",
    "NaN",
    "None",
    "nan",
    "true",
    "True",
    "[]",
    "['a', 'b']",
    '["a","b"]',
    "{}",
    '{"a":1}',
    "x#1",
    "#",
    'a "b", c',
    '"',
    "l1\nl2\r\n",
    "\r",
    "\n",
    "\0",
    "\ufeffx",
    "\u2028 \u2029",
    "\x7f\x80",
    "ação 模型 😀",
    " x ",
    "\t",
    "user",
    "assistant",
    "question",
    "answer",
    "1e400",
    "\\u0041\\",
)
NUMBERS: tuple[Any, ...] = (
    0,
    1,
    -1,
    7,
    3.0,
    1.0,
    -0.0,
    0.0,
    0.1,
    0.5,
    1e300,
    5e-324,
    2**53,
    2**53 + 1,
    2**63,
    2**64,
    2**64 + 1,
    10**25,
    -(10**21),
    ExactFloat("1e2"),
    ExactFloat("0.10"),
    ExactFloat("1E+2"),
)
MODELS = ("org/a", "org/b", "m", "", "org/a ")
ROLES = ("system", "user", "assistant", "tool")
#: Keys that formats know at other places, or not at all.
KEYS = (
    "",
    "a",
    "b",
    "note",
    "id",
    "header",
    "metadata",
    "extra",
    "epoch",
    "max_tokens",
    "temperature",
    "harpia-formats",
    "(component)",
    "a.b",
    "a/b~c",
    "category",
    "ключ",
    '"',
)
VENDORS = ("eee", "harpia", "nemo", "tencent", "haystack", "csv", "record", "other")


def text(chance: Random) -> str:
    """Return a text, often one that is easily changed."""
    if chance.random() < 0.5:
        return chance.choice(TEXTS)
    if chance.random() < 0.5:
        return f"{chance.choice(TEXTS)}{chance.choice(TEXTS)}"
    return f"text {chance.randint(0, 10**6)}"


def number(chance: Random) -> Any:
    """Return an integer or a float, mostly one that is easily changed."""
    draw = chance.random()
    if draw < 0.7:
        return chance.choice(NUMBERS)
    return chance.randint(-(10**20), 10**20) if draw < 0.8 else chance.uniform(-9, 9)


def value(chance: Random, depth: int = 2) -> Any:
    """Return any JSON value, nested `depth` levels at most."""
    draw = chance.random()
    if draw < 0.15:
        return chance.choice((None, True, False))
    if draw < 0.4:
        return number(chance)
    if draw < 0.7 or not depth:
        return text(chance)
    if draw < 0.85:
        return [value(chance, depth - 1) for _ in range(chance.randint(0, 2))]
    return members(chance, depth - 1)


def members(chance: Random, depth: int = 1) -> dict[str, Any]:
    """Return an object with up to two members."""
    count = chance.randint(0, 2)
    return {chance.choice(KEYS): value(chance, depth) for _ in range(count)}


def texts(chance: Random) -> list[str]:
    """Return a list of up to three texts."""
    return [text(chance) for _ in range(chance.choice((0, 1, 1, 2, 3)))]


def some(
    chance: Random, makers: dict[str, Callable[[Random], Any]], rate: float
) -> dict[str, Any]:
    """Return an object with each member at the `rate`."""
    return {
        name: make(chance) for name, make in makers.items() if chance.random() < rate
    }


def messages(chance: Random) -> list[dict[str, Any]]:
    """Return a chat, which mostly ends with the user."""
    chat: list[dict[str, Any]] = []
    if chance.random() < 0.4:
        chat.append({"role": "system", "content": text(chance)})
    chat += [
        {"role": chance.choice(ROLES), "content": text(chance)}
        for _ in range(chance.choice((0, 0, 0, 1, 2)))
    ]
    chat.append({"role": "user", "content": text(chance)})
    if chance.random() < 0.1:
        chat[-1]["name"] = "name"
    if chance.random() < 0.1:
        chat.append({"role": "assistant", "content": text(chance)})
    return chat


def _call(chance: Random) -> dict[str, Any]:
    makers: dict[str, Callable[[Random], Any]]
    makers = {"id": text, "name": text, "arguments": members}
    return some(chance, makers, 0.9)


def turns(chance: Random) -> list[dict[str, Any]]:
    """Return a conversation, perhaps with calls of tools and their results."""
    talk: list[dict[str, Any]] = []
    for _ in range(chance.choice((0, 1, 2, 2, 3, 4))):
        turn: dict[str, Any] = {"role": chance.choice(ROLES)}
        if chance.random() < 0.9:
            turn["content"] = None if chance.random() < 0.1 else text(chance)
        if chance.random() < 0.2:
            turn["reasoning"] = chance.choice((None, "", "thought"))
        if chance.random() < 0.2:
            turn["tool_calls"] = [_call(chance) for _ in range(chance.randint(0, 2))]
        if chance.random() < 0.15:
            turn["tool_call_id"] = chance.choice(("1", ["1", "2"]))
        talk.append(turn)
    return talk


def _attribution(chance: Random) -> list[Any]:
    return [
        {
            "turn_idx": chance.randint(0, 2),
            "source": chance.choice(
                ("output.raw", "interactions[0].content", "turns[1]", "other")
            ),
            "extracted_value": text(chance),
            "extraction_method": "regex",
            "is_terminal": chance.random() < 0.5,
            **({"note": value(chance)} if chance.random() < 0.1 else {}),
        }
        for _ in range(chance.choice((0, 1, 1, 2)))
    ]


def _score(chance: Random) -> Score:
    makers: dict[str, Callable[[Random], Any]] = {
        "metric": text,
        "value": lambda chance: chance.choice((None, True, False, number(chance))),
        "is_correct": lambda chance: chance.random() < 0.5,
        "evaluation_id": text,
        "evaluation_name": text,
        "result_id": text,
        "signature": text,
    }
    return Score(**some(chance, makers, 0.6))


def _extra(chance: Random) -> dict[str, Any]:
    names = chance.sample(VENDORS, chance.choice((1, 1, 2)))
    return {name: members(chance) or {"a": value(chance)} for name in names}


def _usage(chance: Random) -> dict[str, Any]:
    keys = ("input_tokens", "output_tokens", "total_tokens", "reasoning_tokens", "odd")
    return {
        key: chance.choice((0, 1, 7, 2**64)) for key in keys if chance.random() < 0.6
    }


def _performance(chance: Random) -> dict[str, Any]:
    keys = ("latency_ms", "time_to_first_token_ms", "generation_time_ms", "odd")
    return {
        key: chance.choice((None, 0, 1.5, 3.0)) for key in keys if chance.random() < 0.5
    }


_of_output: dict[str, Callable[[Random], Any]] = {
    "formatted_prompt": text,
    "reasoning": lambda chance: chance.choice((None, "", "thought", text(chance))),
    "turns": turns,
    "interaction_type": lambda chance: chance.choice(
        ("single_turn", "multi_turn", "agentic")
    ),
    "attribution": _attribution,
    "scores": lambda chance: [_score(chance) for _ in range(chance.choice((0, 1, 2)))],
    "token_usage": _usage,
    "performance": _performance,
    "error": lambda chance: chance.choice((None, "", text(chance))),
    "extra": _extra,
}


def _output(chance: Random) -> Output:
    given = some(chance, _of_output, 0.25)
    if chance.random() < 0.9:
        given["text"] = None if chance.random() < 0.1 else text(chance)
    if chance.random() < 0.8:
        given["model"] = chance.choice(MODELS)
    if chance.random() < 0.2:
        given["index"] = chance.randint(0, 3)
    return Output(**given)


_of_record: dict[str, Callable[[Random], Any]] = {
    "system": text,
    "gt": text,
    "choices": texts,
    "contexts": texts,
    "category": text,
    "source": text,
    "params": members,
    "metadata": members,
    "extra": _extra,
}


def outputs(chance: Random) -> list[Output]:
    """Return up to four answers, of which some are of one model, plain or rich."""
    count = chance.choice((0, 1, 1, 1, 1, 2, 3, 4))
    if chance.random() < 0.3:
        model = chance.choice(MODELS)
        plain = [
            Output(model=model, index=index, text=text(chance))
            for index in range(count)
        ]
        if plain and chance.random() < 0.5:
            plain[0] = Output(model=model, text=text(chance), scores=[_score(chance)])
        return plain
    return [_output(chance) for _ in range(count)]


def record(chance: Random) -> Record:
    """Return a record of any shape, mostly one that asks something."""
    rate = chance.choice((0.05, 0.3, 0.7))
    given = some(chance, _of_record, rate)
    if chance.random() < 0.7:
        given["id"] = chance.choice((7, 0, 10**25, text(chance), "q#1"))
    draw = chance.random()
    if draw < 0.6:
        given["prompt"] = text(chance)
    if draw > 0.5 and draw < 0.97:
        given["messages"] = messages(chance)
    if chance.random() < 0.8:
        given["references"] = texts(chance)
    return Record(**given, outputs=outputs(chance))
