"""Fit a record to what a row can hold, by the choices of the user.

Every step takes a record and yields records that hold less; what it costs is noted.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.mapping.choices import Choices, References, Responses, Turns
from harpia_formats.model.adapter import Cardinality, RowCapacity
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import Output, Record


def fit_record(
    record: Record, capacity: RowCapacity, choices: Choices, fates: FieldFates
) -> Iterator[Record]:
    """Yield what `record` becomes, one record for each row.

    Raises `Unconvertible` where the choices say that something is not to be done.
    """
    record = _of_model(record, choices, fates)
    parts = list(_split(record, capacity, choices, fates))
    if len(parts) > 1 and record.id is not UNSET:
        yield from _numbered(parts, fates)
    else:
        yield from parts


def _split(
    record: Record, capacity: RowCapacity, choices: Choices, fates: FieldFates
) -> Iterator[Record]:
    for asked in _references(record, capacity, choices, fates):
        for answered in _outputs(asked, capacity, choices, fates):
            for scored in _scores(answered, capacity, choices, fates):
                yield _as_conversation(scored, capacity, choices, fates)


def _of_model(record: Record, choices: Choices, fates: FieldFates) -> Record:
    """Keep the answers of the model that is asked for."""
    if choices.model is None:
        return record
    kept = [each for each in record.outputs if each.model == choices.model]
    if len(kept) < len(record.outputs):
        fates.dropped("outputs", "of another model")
    return replace(record, outputs=kept)


def _references(
    record: Record, capacity: RowCapacity, choices: Choices, fates: FieldFates
) -> Iterator[Record]:
    references = record.references
    if (
        references is UNSET
        or len(references) < 2  # noqa: PLR2004 - several
        or capacity.references is not Cardinality.ONE
    ):
        yield record
    elif choices.references is References.FAIL:
        reason = f"there are {len(references)} references, and a row holds one"
        raise Unconvertible("references", reason, "choose with --references")
    elif choices.references is References.FIRST:
        fates.dropped("references", "all but the first")
        yield replace(record, references=references[:1])
    else:
        fates.split("references", "one row each")
        for each in references:
            yield replace(record, references=[each])


def _outputs(
    record: Record, capacity: RowCapacity, choices: Choices, fates: FieldFates
) -> Iterator[Record]:
    outputs = record.outputs
    if len(outputs) < 2 or capacity.outputs in {Cardinality.MANY, Cardinality.NONE}:  # noqa: PLR2004 - several
        yield record
        return
    if choices.responses is Responses.FAIL:
        reason = f"there are {len(outputs)} answers, and a row holds one"
        raise Unconvertible("outputs", reason, "choose with --responses")
    if choices.responses is Responses.FIRST:
        fates.dropped("outputs", "all but the first")
        yield replace(record, outputs=outputs[:1])
        return
    groups = [[each] for each in outputs]
    if choices.responses is Responses.LIST:
        if capacity.outputs is not Cardinality.MANY_OF_ONE_MODEL:
            reason = "a row has no place for a list of answers"
            raise Unconvertible("outputs", reason, "choose with --responses")
        groups = _by_model(outputs)
    if len(groups) > 1:
        fates.split("outputs", "one row each")
    for group in groups:
        yield replace(record, outputs=group)


def _by_model(outputs: list[Output]) -> list[list[Output]]:
    groups: dict[Any, list[Output]] = {}
    for each in outputs:
        groups.setdefault(each.model, []).append(each)
    return list(groups.values())


def _scores(
    record: Record, capacity: RowCapacity, choices: Choices, fates: FieldFates
) -> Iterator[Record]:
    if capacity.scores is not Cardinality.ONE or len(record.outputs) != 1:
        yield record
        return
    (output,) = record.outputs
    if output.scores is UNSET or len(output.scores) < 2:  # noqa: PLR2004 - several
        yield record
    elif choices.responses is Responses.FIRST:
        fates.dropped("outputs.scores", "all but the first")
        yield _with(record, scores=output.scores[:1])
    elif choices.responses is Responses.FAIL:
        reason = f"there are {len(output.scores)} scores, and a row holds one"
        raise Unconvertible("outputs.scores", reason, "choose with --responses")
    else:
        fates.split("outputs.scores", "one row each")
        for each in output.scores:
            yield _with(record, scores=[each])


def _with(record: Record, **changes: Any) -> Record:
    """Return `record` with a change of its only output."""
    return replace(record, outputs=[replace(record.outputs[0], **changes)])


def _numbered(parts: list[Record], fates: FieldFates) -> Iterator[Record]:
    fates.changed("id", "with # and a number behind it")
    for number, each in enumerate(parts, 1):
        yield replace(each, id=f"{each.id}#{number}")


def _as_conversation(
    record: Record, capacity: RowCapacity, choices: Choices, fates: FieldFates
) -> Record:
    """Bring a chat or a conversation into the form that a row has room for."""
    if capacity.messages and not capacity.turns:
        return _turns_as_messages(record, fates)
    if not capacity.messages and record.messages is not UNSET:
        if capacity.turns:
            return _messages_as_turns(record, fates)
        record = _messages_as_prompt(record, choices, fates)
    if not capacity.turns and not capacity.messages:
        return _turns_as_answer(record, capacity, choices, fates)
    return record


def _messages_as_prompt(record: Record, choices: Choices, fates: FieldFates) -> Record:
    messages = record.messages
    assert messages is not UNSET  # noqa: S101 - the caller looked
    if choices.turns is Turns.FAIL:
        reason = "the prompt is a chat, and a row holds one text"
        raise Unconvertible("messages", reason, "choose with --turns")
    if choices.turns is Turns.TRANSCRIPT:
        fates.changed("messages", "one text, as a transcript")
        prompt: Any = transcript(messages)
    else:
        prompt = record.prompt
        if prompt is UNSET:
            prompt = last_text_of(messages, "user")
        if prompt is UNSET:
            reason = "no message is of the user, so nothing is asked"
            raise Unconvertible("messages", reason, "or take --turns transcript")
        fates.changed("messages", "the last of the user")
        record = _with_system(record, fates)
    return _asking(replace(record, messages=UNSET), prompt, "the messages", fates)


def _with_system(record: Record, fates: FieldFates) -> Record:
    """Return `record` with the system message that its chat begins with."""
    messages = record.messages or []
    first = messages[0] if messages else {}
    text = first.get("content")
    if record.system is not UNSET or first.get("role") != "system":
        return record
    if not isinstance(text, str) or not text:
        return record
    fates.defaulted("system", "of the messages")
    return replace(record, system=text)


def _asking(record: Record, prompt: str, where: str, fates: FieldFates) -> Record:
    """Return `record` with another prompt, which was found in a chat."""
    if record.prompt is UNSET:
        fates.defaulted("prompt", f"of {where}")
    elif record.prompt != prompt:
        fates.changed("prompt", f"that of {where}")
    return replace(record, prompt=prompt)


def _turns_as_answer(
    record: Record, capacity: RowCapacity, choices: Choices, fates: FieldFates
) -> Record:
    if capacity.outputs is Cardinality.NONE or len(record.outputs) != 1:
        return record
    output = record.outputs[0]
    if not output.turns:
        return record
    if choices.turns is Turns.FAIL:
        reason = "the answer is a conversation, and a row holds one text"
        raise Unconvertible("outputs.turns", reason, "choose with --turns")
    before, answer = _parted(output.turns)
    if choices.turns is Turns.TRANSCRIPT:
        prompt: Any = transcript(before)
        fates.changed("outputs.turns", "one text, as a transcript, and the answer")
    else:
        # What the data set says is asked stays what is asked.
        prompt = UNSET if record.prompt is not UNSET else last_text_of(before, "user")
        fates.changed("outputs.turns", "the last answer")
    record = _answered(record, answer, fates)
    if prompt is UNSET or not before:
        return record
    return _asking(record, prompt, "the turns", fates)


def _turns_as_messages(record: Record, fates: FieldFates) -> Record:
    """Take a conversation for the chat before an answer, and the answer."""
    if not any(each.turns for each in record.outputs):
        return record
    if len(record.outputs) != 1:
        # Several conversations have no chat in common, so only their answers stay.
        answers = [_answer_of(each, fates) for each in record.outputs]
        return replace(record, outputs=answers)
    before, answer = _parted(record.outputs[0].turns or [])
    if not before:
        return _answered(record, answer, fates)
    fates.changed("outputs.turns", "messages and the answer")
    if record.messages is UNSET:
        fates.defaulted("messages", "of the turns")
    elif record.messages != before:
        fates.changed("messages", "those of the turns")
    return _answered(replace(record, messages=before), answer, fates)


def _answer_of(output: Output, fates: FieldFates) -> Output:
    """Return an answer with the last one of its conversation, if it is one."""
    if not output.turns:
        return output
    fates.changed("outputs.turns", "the last answer")
    return _told(output, _parted(output.turns)[1], fates)


def _answered(
    record: Record, answer: dict[str, Any] | None, fates: FieldFates
) -> Record:
    """Return `record` with the last turn of its conversation as the answer."""
    return replace(record, outputs=[_told(record.outputs[0], answer, fates)])


def _told(output: Output, answer: dict[str, Any] | None, fates: FieldFates) -> Output:
    """Return `output` with a turn for its text and its reasoning."""
    changes: dict[str, Any] = {"turns": UNSET}
    if answer is not None:
        for name, key in (("text", "content"), ("reasoning", "reasoning")):
            if (
                not isinstance(getattr(output, name), str)
                and answer.get(key) is not None
            ):
                fates.defaulted(f"outputs.{name}", "of the last answer in the turns")
                changes[name] = answer[key]
    return replace(output, **changes)


def _messages_as_turns(record: Record, fates: FieldFates) -> Record:
    """Take a chat and each answer to it for a conversation."""
    messages = record.messages
    assert messages is not UNSET  # noqa: S101 - the caller looked
    start = [{"role": "system", "content": record.system}] if record.system else []
    outputs = []
    for each in record.outputs:
        if each.turns is not UNSET or each.text is UNSET:
            outputs.append(each)
            continue
        answer: dict[str, Any] = {"role": "assistant", "content": each.text}
        if each.reasoning is not UNSET:
            answer["reasoning"] = each.reasoning
            fates.merged("outputs.reasoning", "of the last turn")
        fates.merged("outputs.text", "the last turn")
        fates.defaulted("outputs.turns", "the messages and the answer")
        outputs.append(
            replace(
                each, turns=[*start, *messages, answer], text=UNSET, reasoning=UNSET
            )
        )
    if start:
        fates.merged("system", "the first turn")
    fates.merged("messages", "turns before the answer")
    record = replace(
        record,
        messages=UNSET,
        system=UNSET if start else record.system,
        outputs=outputs,
    )
    prompt = last_text_of(messages, "user")
    if record.prompt is UNSET and prompt is not UNSET:
        return _asking(record, prompt, "the messages", fates)
    return record


def _parted(
    turns: list[dict[str, Any]],
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Return the turns before the last answer, and that answer."""
    said = [
        place for place, each in enumerate(turns) if each.get("role") == "assistant"
    ]
    # A turn that only calls a tool is no answer if there is another one.
    texts = [place for place in said if turns[place].get("content") is not None]
    if not said:
        return turns, None
    last = (texts or said)[-1]
    return turns[:last], turns[last]


def last_text_of(messages: list[dict[str, Any]], role: str) -> Any:
    """Return what `role` said last, `UNSET` if nothing."""
    for each in reversed(messages):
        if each.get("role") == role and isinstance(each.get("content"), str):
            return each["content"]
    return UNSET


def transcript(messages: list[dict[str, Any]]) -> str:
    """Return a chat as one text, a paragraph for each message."""
    said = (f"{each.get('role')}: {each.get('content') or ''}" for each in messages)
    return "\n\n".join(said)
