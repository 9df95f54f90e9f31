"""The requests of a sample: what the model got, by the type of the task's output."""

from typing import Any

from harpia_formats.conversion.mapping.content_parts import read_parts
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import NOT_JSON, decode

GENERATE, CHOICE = "generate_until", "multiple_choice"
LIKELIHOOD, ROLLING = "loglikelihood", "loglikelihood_rolling"
OUTPUT_TYPES = frozenset({GENERATE, CHOICE, LIKELIHOOD, ROLLING})
#: What stands between a context and a choice if the results do not say it.
DELIMITER = " "

#: The first and the second part of a request: the context, and what is scored as its
#: continuation or the settings of the generation.
CONTEXT, SECOND = "arg_0", "arg_1"
PARTS = frozenset({CONTEXT, SECOND})
_names = tuple(f"gen_args_{number}" for number in range(32))


def requests_of(arguments: Any) -> list[Row]:
    """Return the requests of a sample in their order; none if it has other ones."""
    if type(arguments) is not dict:
        return []
    names = _names[: len(arguments)]
    found = [arguments.get(name) for name in names]
    if len(found) < len(arguments) or None in found:
        found = [arguments[name] for name in sorted(arguments, key=_number_in)]
    return found if all(type(each) is dict for each in found) else []  # type: ignore[return-value]  # of dictionaries


def _number_in(name: str) -> tuple[int, str]:
    number = name.rpartition("_")[2]
    return (int(number) if number.isdecimal() else 0, name)


def as_objects(row: Row) -> Row:
    """Return a sample whose requests are lists as one whose requests have names."""
    requests = row.get("arguments")
    if type(requests) is not list:
        return row
    named = {
        f"gen_args_{number}": {f"arg_{at}": part for at, part in enumerate(parts)}
        for number, parts in enumerate(requests)
        if type(parts) is list
    }
    return {**row, "arguments": named}


def guessed_type(requests: list[Row], answer: Any) -> str:
    """Return the output type that requests and the first answer have, "" if none."""
    if not requests:
        return ""
    if len(requests) > 1:
        return CHOICE if type(requests[0].get(SECOND)) is str else ""
    if type(answer) is list:
        return LIKELIHOOD
    if SECOND in requests[0]:
        return GENERATE if type(requests[0][SECOND]) is dict else ""
    return ROLLING


def first_half(requests: list[Row], delimiter: str) -> list[Row]:
    """Return the requests without those that `acc_mutual_info` adds for each choice.

    They repeat the choices behind an empty context.
    """
    half, odd = divmod(len(requests), 2)
    if odd or not half or not requests[0].get(CONTEXT):
        return requests
    added = requests[half:]
    if any(request.get(CONTEXT) != "" for request in added):
        return requests
    texts = [str(each.get(SECOND)).removeprefix(delimiter) for each in requests]
    return requests[:half] if texts[:half] == texts[half:] else requests


def choices_of(requests: list[Row], delimiter: str) -> list[str] | None:
    """Return the choices of a multiple choice, None if they cannot be told.

    They are the continuations without the delimiter, or the contexts where the
    continuation is the same.
    """
    contexts = [request.get(CONTEXT) for request in requests]
    seconds = [request.get(SECOND) for request in requests]
    if any(type(second) is not str for second in seconds):
        return None
    if not has_several_inputs(requests):
        if delimiter and all(second.startswith(delimiter) for second in seconds):  # type: ignore[union-attr]  # texts
            return [second[len(delimiter) :] for second in seconds]  # type: ignore[index]  # texts
        return seconds  # type: ignore[return-value]  # texts
    is_text = all(type(context) is str for context in contexts)
    return contexts if is_text else None  # type: ignore[return-value]  # texts


def has_several_inputs(requests: list[Row]) -> bool:
    """Tell whether the contexts of requests are the choices."""
    first = requests[0]
    context, second = first.get(CONTEXT), first.get(SECOND)
    return any(request.get(CONTEXT) != context for request in requests) and all(
        request.get(SECOND) == second for request in requests
    )


def chat_in(context: Any) -> list[Row] | None:
    """Return the messages of a context that is a chat, None if it is none.

    It is a list of one text, which is JSON.
    """
    if type(context) is not list or len(context) != 1 or type(context[0]) is not str:
        return None
    try:
        messages = decode(context[0].encode())
    except NOT_JSON:
        return None
    is_chat = type(messages) is list and all(
        type(each) is dict and type(each.get("role")) is str for each in messages
    )
    return [read_parts(message) for message in messages] if is_chat else None
