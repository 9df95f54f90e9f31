"""The answers of a sample as the outputs of a record."""

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.inspect_ai.chats import ASSISTANT, Chat, is_empty
from harpia_converters.inspect_ai.contents import Attachments, content_of
from harpia_converters.inspect_ai.detection import KEY
from harpia_converters.inspect_ai.run import Run
from harpia_converters.inspect_ai.scores import read_scores, scorers_of, unscored
from harpia_formats.model.adapter import Row
from harpia_formats.model.record import Output

#: Members of an output and of a choice that are read, or repeat what others say.
_read_keys = frozenset("choices completion error stop_reason".split())
_message_keys = frozenset("role content reasoning tool_calls".split())
#: The key of the time in a record, in milliseconds.
_latency = "latency_ms"
#: Digits behind the point of milliseconds: seconds are given to the microsecond.
_digits = 3


def read_outputs(sample: Row, run: Run, attachments: Attachments) -> list[Output]:
    """Return the outputs of a sample: one for each choice, and one if there is none.

    All but the text, the reasoning and what belongs to a choice is of the first one.
    """
    output = sample.get("output") or {}
    epoch = sample["epoch"] - 1
    given = output.get("choices") or ()
    choices = [_of_choice(choice, attachments) for choice in given]
    outputs = choices or [Output(text=output.get("completion") or None)]
    model: Any = run.model or output.get("model") or UNSET
    outputs = [
        replace(each, model=model, index=epoch + number * run.epochs)
        for number, each in enumerate(outputs)
    ]
    return [_with_rest(outputs[0], sample, output, run), *outputs[1:]]


def _of_choice(choice: Row, attachments: Attachments) -> Output:
    """Return the output of one choice, with what it has no place for as extra."""
    message = choice["message"]
    content = content_of(message, attachments)
    rest = {
        key: value
        for key, value in choice.items()
        if key != "message" and not is_empty(value)
    }
    others = {
        key: value
        for key, value in message.items()
        if key not in _message_keys and not is_empty(value)
    }
    if others:
        rest["message"] = others
    if content.others:
        rest["parts"] = content.others
    return Output(
        text=content.text,
        reasoning=UNSET if content.reasoning is None else content.reasoning,
        extra={KEY: rest} if rest else UNSET,
    )


def _with_rest(answer: Output, sample: Row, output: Row, run: Run) -> Output:
    """Return the first output with the scores, tokens, times and error of a sample."""
    scores, of_scorers = read_scores(scorers_of(sample, run), run)
    usage, rest = _usage(sample, output, run)
    if of_scorers:
        rest["scores"] = of_scorers
    rest |= {
        key: value
        for key, value in output.items()
        if key not in _read_keys and key not in rest and not is_empty(value)
    }
    if usage is output.get("usage"):
        rest.pop("usage", None)
    kept = {} if answer.extra is UNSET else answer.extra[KEY]
    kept = {**kept, **rest}
    time = sample.get("total_time")
    return replace(
        answer,
        scores=scores or unscored(run),
        token_usage=UNSET if usage is None else usage,
        performance=UNSET if time is None else {_latency: _milliseconds(time)},
        error=_error(sample, output),
        extra={KEY: kept} if kept else UNSET,
    )


def _usage(sample: Row, output: Row, run: Run) -> tuple[Row | None, Row]:
    """Return the tokens of the evaluated model, and those that have no place.

    They are those of the whole sample if it says so, else those of the last call.
    """
    of_models: Row = sample.get("model_usage") or {}
    own = of_models.get(run.model)
    if own is None:
        last: Row | None = output.get("usage")
        rest = {"model_usage": of_models} if of_models else {}
        return last, rest if last is None else {**rest, "usage_of": "the last call"}
    others = {name: usage for name, usage in of_models.items() if name != run.model}
    return own, {"model_usage": others} if others else {}


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, _digits)


def _error(sample: Row, output: Row) -> Any:
    """Return what went wrong in a sample, or in its last call; `UNSET` if nothing."""
    error = sample.get("error")
    if error is not None:
        return error["message"]
    return output.get("error") or UNSET


def with_conversation(answer: Output, chat: Chat, asked: list[Row]) -> Output:
    """Return the first output with the conversation that led to it.

    A conversation that is only what was `asked` and the answer is not repeated.
    """
    if not chat.turns:
        return answer
    prompt = chat.prompt()
    own: Row = {"role": ASSISTANT, "content": answer.text}
    if answer.reasoning is not UNSET:
        own["reasoning"] = answer.reasoning
    sent = chat.turns[: chat.first_answer()]
    is_told = chat.is_told_by(sent if prompt is not None else asked, own)
    return replace(
        answer,
        formatted_prompt=UNSET if prompt is None else prompt,
        turns=UNSET if is_told else chat.turns,
        interaction_type=chat.interaction(),
    )
