"""Fit the chats and conversations of a record to what a row can hold.

A *chat* is the prompt as messages; a *conversation* is an answer as turns.
"""

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.choices import Choices, Turns
from harpia_formats.model.adapter import Cardinality, RowCapacity
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import SYSTEM_MESSAGE, Output, Record

#: The detail of the outcome of a system prompt that was a message.
SYSTEM_OF_MESSAGES = "of the messages"
#: The part of a turn that a source names, by the source in an answer without turns.
_PARTS_OF_TURNS = {
    "output.raw": "content",
    "output.reasoning_trace": "reasoning_trace",
}
#: Messages or turns, as a record has them.
Messages = list[dict[str, Any]]


def fit_chats(
    record: Record, capacity: RowCapacity, choices: Choices, outcomes: FieldOutcomes
) -> Record:
    """Return `record` with chats and conversations in the form that a row can hold.

    Raises `Unconvertible` where the choices forbid that, or nothing is asked.
    """
    if capacity.messages and not capacity.turns:
        if capacity.outputs is Cardinality.NONE and record.messages:
            # The chat that was asked is known, and turns of the answer are none of it.
            return record
        if capacity.asks_only and record.prompt is not UNSET:
            return record
        return _turns_to_messages(record, capacity, outcomes)
    if not capacity.messages and record.messages is not UNSET:
        is_list = capacity.lists_texts and len(record.outputs) > 1
        if capacity.turns and not is_list:
            return _messages_to_turns(record, record.messages, outcomes)
        record = _messages_to_prompt(record, record.messages, choices, outcomes)
    if not capacity.turns and not capacity.messages:
        return _turns_to_answer(record, capacity, choices, outcomes)
    return record


def _messages_to_prompt(
    record: Record, messages: Messages, choices: Choices, outcomes: FieldOutcomes
) -> Record:
    if choices.turns is Turns.FAIL:
        reason = "the prompt is a chat, and a row holds one text"
        raise Unconvertible("messages", reason, "choose with `--turns`")
    if choices.turns is Turns.TRANSCRIPT:
        outcomes.changed("messages", "one text, as a transcript")
        prompt: Any = transcript(messages)
    else:
        prompt = record.prompt
        if prompt is UNSET:
            prompt = last_text_of(messages, "user")
        if prompt is UNSET:
            reason = "no message is of the user, so nothing is asked"
            raise Unconvertible("messages", reason, "or take `--turns transcript`")
        record = _with_system(record, messages, outcomes)
        kept = (prompt, record.system)
        if any(_is_left_out(message, kept) for message in messages):
            outcomes.dropped("messages", "all but the last of the user")
        else:
            outcomes.changed("messages", "the last of the user")
    return _with_prompt(
        replace(record, messages=UNSET), prompt, "the messages", outcomes
    )


def _with_system(record: Record, messages: Messages, outcomes: FieldOutcomes) -> Record:
    """Return `record` with the system message that its chat begins with."""
    first = messages[0] if messages else {}
    text = first.get("content")
    if first.get("role") != "system" or record.system == text:
        return record
    if record.system is not UNSET or not isinstance(text, str) or not text:
        outcomes.dropped(SYSTEM_MESSAGE, "the first message")
        return record
    outcomes.defaulted("system", SYSTEM_OF_MESSAGES)
    return replace(record, system=text)


def _with_prompt(
    record: Record, prompt: str, where: str, outcomes: FieldOutcomes
) -> Record:
    """Return `record` with a prompt that was found in `where`."""
    if record.prompt is UNSET:
        outcomes.defaulted("prompt", f"of {where}")
    elif record.prompt != prompt:
        outcomes.changed("prompt", f"that of {where}")
    return replace(record, prompt=prompt)


def _turns_to_answer(
    record: Record, capacity: RowCapacity, choices: Choices, outcomes: FieldOutcomes
) -> Record:
    if capacity.outputs is Cardinality.NONE or len(record.outputs) != 1:
        return record
    output = record.outputs[0]
    if not output.turns:
        return record
    if choices.turns is Turns.FAIL:
        reason = "the answer is a conversation, and a row holds one text"
        raise Unconvertible("outputs.turns", reason, "choose with `--turns`")
    before, answer = _split_at_answer(output.turns)
    if choices.turns is Turns.TRANSCRIPT:
        prompt: Any = transcript(before)
    else:
        # A prompt that the data set has is kept.
        has_prompt = record.prompt is not UNSET
        prompt = UNSET if has_prompt else last_text_of(before, "user")
    changed = _with_answer(output, answer, outcomes)
    record = replace(record, outputs=[changed])
    if prompt is not UNSET and before:
        record = _with_prompt(record, prompt, "the turns", outcomes)
    if choices.turns is Turns.TRANSCRIPT:
        outcomes.changed("outputs.turns", "one text, as a transcript, and the answer")
        rest = output.turns[len(before) :]
        thoughts = [turn for turn in before if turn.get("reasoning")]
        if _are_left_out([*thoughts, *rest], _texts_of(record, changed)):
            outcomes.dropped("outputs.turns", "what is neither asked nor the answer")
    else:
        _note_last_answer(output, _texts_of(record, changed), outcomes)
    return record


def _texts_of(record: Record, output: Output) -> tuple[Any, ...]:
    """Return the texts of a record that is asked, and of one of its answers."""
    asked = () if record.messages is UNSET else record.messages
    texts = (message.get("content") for message in asked)
    return (record.prompt, record.system, output.text, output.reasoning, *texts)


def _are_left_out(turns: Messages, kept: tuple[Any, ...]) -> bool:
    """Tell whether turns say or think anything that is none of the `kept` texts."""
    texts = (turn.get(key) for turn in turns for key in ("content", "reasoning"))
    return any(text and text not in kept for text in texts)


def _note_last_answer(
    output: Output, kept: tuple[Any, ...], outcomes: FieldOutcomes
) -> None:
    """Note that only the last answer stays of turns: a loss, if they say more."""
    if _are_left_out(output.turns or [], kept):
        outcomes.dropped("outputs.turns", "all but the last answer")
    else:
        outcomes.changed("outputs.turns", "the last answer")


def _turns_to_messages(
    record: Record, capacity: RowCapacity, outcomes: FieldOutcomes
) -> Record:
    """Return `record` with a conversation as a chat and the answer to it."""
    if not any(output.turns for output in record.outputs):
        return record
    if len(record.outputs) != 1:
        return _with_last_answers(record, outcomes)
    output = record.outputs[0]
    turns = output.turns or []
    before, answer = _split_at_answer(turns)
    is_asked = capacity.outputs is Cardinality.NONE
    if _has_text(turns[len(before) + 1 :]):
        outcomes.dropped("outputs.turns", "what follows the answer")
    elif answer is not None and not _is_written(answer, output, is_asked=is_asked):
        outcomes.dropped("outputs.turns", "the answer")
    if before:
        how = "messages" if is_asked else "messages and the answer"
        outcomes.changed("outputs.turns", how)
        if record.messages is UNSET:
            outcomes.defaulted("messages", "of the turns")
        elif _are_left_out(
            record.messages, tuple(turn.get("content") for turn in before)
        ):
            outcomes.dropped("messages", "those of the turns stand in their place")
        elif record.messages != before:
            outcomes.changed("messages", "those of the turns")
        record = replace(record, messages=before)
    elif answer is not None and not is_asked:
        outcomes.changed("outputs.turns", "the answer")
    return replace(record, outputs=[_with_answer(output, answer, outcomes)])


def _with_last_answers(record: Record, outcomes: FieldOutcomes) -> Record:
    """Return `record` with the last answer in place of each conversation.

    Several conversations have no chat in common, so only their answers stay.
    """
    outputs = []
    for output in record.outputs:
        if output.turns:
            answer = _split_at_answer(output.turns)[1]
            changed = _with_answer(output, answer, outcomes)
            _note_last_answer(output, _texts_of(record, changed), outcomes)
            outputs.append(changed)
        else:
            outputs.append(output)
    return replace(record, outputs=outputs)


def _is_left_out(message: dict[str, Any], kept: tuple[Any, ...]) -> bool:
    """Tell whether a message says something that is none of the `kept` texts."""
    content = message.get("content")
    return bool(message.get("reasoning") or (content and content not in kept))


def _has_text(turns: Messages) -> bool:
    """Tell whether one of some turns says anything."""
    return any(turn.get("content") or turn.get("reasoning") for turn in turns)


def _is_written(answer: dict[str, Any], output: Output, *, is_asked: bool) -> bool:
    """Tell whether what the last answer in the turns says is in a row.

    `is_asked` tells whether rows have no answers; else the text of the output is
    written if there is one, and that of the turn if there is none.
    """
    if is_asked:
        return not _has_text([answer])
    return all(
        not answer.get(key) or not isinstance(text, str) or text == answer[key]
        for key, text in (("content", output.text), ("reasoning", output.reasoning))
    )


def _with_answer(
    output: Output, answer: dict[str, Any] | None, outcomes: FieldOutcomes
) -> Output:
    """Return `output` without turns, with `answer` as its text and reasoning."""
    changes: dict[str, Any] = {"turns": UNSET}
    if answer is not None:
        for name, key in (("text", "content"), ("reasoning", "reasoning")):
            if (
                not isinstance(getattr(output, name), str)
                and answer.get(key) is not None
            ):
                outcomes.defaulted(f"outputs.{name}", "of the last answer in the turns")
                changes[name] = answer[key]
    return replace(output, **changes)


def _messages_to_turns(
    record: Record, messages: Messages, outcomes: FieldOutcomes
) -> Record:
    """Return `record` with its chat and each answer to it as a conversation."""
    system = {"role": "system", "content": record.system}
    # The system prompt may be the first message as well.
    start = [system] if record.system and system not in messages[:1] else []
    outputs = []
    for output in record.outputs:
        if output.turns is not UNSET or output.text is UNSET:
            outputs.append(output)
            continue
        answer: dict[str, Any] = {"role": "assistant", "content": output.text}
        if output.reasoning is not UNSET:
            answer["reasoning"] = output.reasoning
            outcomes.merged("outputs.reasoning", "of the last turn")
        outcomes.merged("outputs.text", "the last turn")
        outcomes.defaulted("outputs.turns", "the messages and the answer")
        turns = [*start, *messages, answer]
        steps = _steps_at_turn(output.attribution, len(turns) - 1, outcomes)
        outputs.append(
            replace(output, turns=turns, text=UNSET, reasoning=UNSET, attribution=steps)
        )
    if record.system:
        outcomes.merged("system", "the first turn")
    outcomes.merged("messages", "turns before the answer")
    record = replace(
        record,
        messages=UNSET,
        system=UNSET if record.system else record.system,
        outputs=outputs,
    )
    prompt = last_text_of(messages, "user")
    if record.prompt is UNSET and prompt is not UNSET:
        return _with_prompt(record, prompt, "the messages", outcomes)
    return record


def _steps_at_turn(steps: Any, turn: int, outcomes: FieldOutcomes) -> Any:
    """Return where an answer was found, of an answer that is now the turn `turn`."""
    if not steps:
        return steps
    moved = [_step_at_turn(step, turn) for step in steps]
    if moved != steps:
        outcomes.changed("outputs.attribution", "the answer is the last turn")
    return moved


def _step_at_turn(step: Any, turn: int) -> Any:
    """Return a step whose source was the answer, with the turn in its place."""
    source = step.get("source") if isinstance(step, dict) else None
    part = _PARTS_OF_TURNS.get(source) if isinstance(source, str) else None
    if part is None:
        return step
    return {**step, "turn_idx": turn, "source": f"turns[{turn}].{part}"}


def _split_at_answer(turns: Messages) -> tuple[Messages, dict[str, Any] | None]:
    """Return the turns before the last answer, and that answer; None without one."""
    last = -1
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if turn.get("role") != "assistant":
            continue
        # A turn that only calls a tool is the answer only if there is no other one.
        if turn.get("content") is not None:
            return turns[:index], turn
        last = max(last, index)
    return (turns, None) if last < 0 else (turns[:last], turns[last])


def takes_questions_of_turns(capacity: RowCapacity) -> bool:
    """Tell whether the question of an answer in turns becomes the prompt of a row."""
    holds_chats = capacity.messages or capacity.turns
    return not holds_chats and capacity.outputs is not Cardinality.NONE


def asked_in_turns(record: Record) -> Any:
    """Return the last question before an only answer in turns, `UNSET` for none."""
    if len(record.outputs) != 1:
        return UNSET
    before, _ = _split_at_answer(record.outputs[0].turns or [])
    return last_text_of(before, "user")


def last_text_of(messages: Messages, role: str) -> Any:
    """Return the text of the last message of `role`, `UNSET` if there is none."""
    for message in reversed(messages):
        if message.get("role") == role and isinstance(message.get("content"), str):
            return message["content"]
    return UNSET


def transcript(messages: Messages) -> str:
    """Return a chat as one text, with a paragraph for each message."""
    return "\n\n".join(
        f"{message.get('role')}: {message.get('content') or ''}" for message in messages
    )
