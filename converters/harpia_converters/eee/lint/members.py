"""What checks read of rows, in any of the shapes; a row that is refused may lack it.

The classes are for `fits` only: values stay as they are decoded.
"""

from typing import Any

from msgspec import Struct, ValidationError, convert

#: An integer, which may be written as 3.0.
_Integer = int | float
_Texts = str | list[str]


class Question(Struct):
    """The `input` of a row."""

    raw: str
    reference: _Texts
    formatted: str | None = None
    choices: list[str] | None = None


class Output(Struct):
    """The `output` of a row."""

    raw: _Texts
    reasoning_trace: _Texts | None = None


class Evaluation(Struct):
    """The score in `evaluation`."""

    score: bool | int | float
    is_correct: bool


class Counts(Struct):
    """The counts in `evaluation`."""

    num_turns: _Integer | None = None
    tool_calls_count: _Integer | None = None


class Step(Struct):
    """An item of `answer_attribution`."""

    turn_idx: _Integer
    source: str
    extracted_value: str
    extraction_method: str
    is_terminal: bool


class Call(Struct):
    """An item of `tool_calls` of a turn."""

    id: str
    name: str
    arguments: dict[str, Any] | None = None


class Turn(Struct):
    """An item of the list of turns."""

    turn_idx: _Integer
    role: str
    content: str | None = None
    reasoning_trace: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: _Texts | None = None


class Usage(Struct):
    """The counts in `token_usage`."""

    input_tokens: _Integer
    output_tokens: _Integer
    total_tokens: _Integer
    input_tokens_cache_read: _Integer | None = None
    input_tokens_cache_write: _Integer | None = None
    reasoning_tokens: _Integer | None = None


class Times(Struct):
    """The times in `performance`."""

    latency_ms: int | float | None = None
    time_to_first_token_ms: int | float | None = None
    generation_time_ms: int | float | None = None


def fits(value: Any, kind: Any) -> bool:
    """Tell whether a decoded value has the members of `kind`, each of its type."""
    try:
        convert(value, kind)
    except ValidationError:
        return False
    return True
