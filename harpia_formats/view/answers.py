"""The question of a record, its answers, and their scores, as the page shows them."""

from contextlib import suppress
from typing import Any

from msgspec import UNSET

from harpia_formats.model.record import Output, Record, metric_of


def prompt_of(record: Record) -> str | None:
    """Return what a record asks: its prompt, or the last user message of a chat."""
    if record.prompt is not UNSET:
        return record.prompt
    if record.messages is UNSET:
        return None
    asked = [one for one in record.messages if one.get("role") == "user"]
    return (
        text_of((asked or record.messages)[-1].get("content"))
        if record.messages
        else None
    )


def reference_of(record: Record) -> str | None:
    """Return the first expected answer of a record."""
    if record.references:
        return record.references[0]
    return None if record.gt is UNSET else record.gt


def answer_of(output: Output) -> str | None:
    """Return the text of an answer, or that of the last turn of a conversation."""
    if output.text is not UNSET and output.text is not None:
        return output.text
    if output.turns is not UNSET and output.turns:
        return text_of(output.turns[-1].get("content"))
    return None


def text_of(content: Any) -> str | None:
    """Return the text of the content of a message, which may have parts."""
    if isinstance(content, list):
        parts = (p.get("text") if isinstance(p, dict) else p for p in content)
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def has_answer(output: Output) -> bool:
    """Tell whether an answer has a text, which may be empty, or turns."""
    has_text = output.text is not UNSET and output.text is not None
    return has_text or (output.turns is not UNSET and bool(output.turns))


def verdict_of(record: Record) -> bool | None:
    """Tell whether all answers with a verdict are correct, or None if none has one."""
    verdicts = [
        score.is_correct
        for output in record.outputs
        for score in output.scores or ()
        if score.is_correct is not UNSET
    ]
    return all(verdicts) if verdicts else None


def number_of(value: Any) -> float | None:
    """Return a score as a number, or None if it has none."""
    if value is UNSET or value is None or isinstance(value, str):
        return None
    with suppress(TypeError, ValueError, OverflowError):
        return float(value)
    return None


def means_of(record: Record) -> dict[str, float]:
    """Return the mean of each metric over the answers of a record."""
    found: dict[str, list[float]] = {}
    for output in record.outputs:
        for score in output.scores or ():
            number = number_of(score.value)
            if number is not None:
                found.setdefault(metric_of(score), []).append(number)
    return {metric: sum(numbers) / len(numbers) for metric, numbers in found.items()}
