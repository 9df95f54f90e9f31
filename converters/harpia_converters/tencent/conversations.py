"""Messages and model outputs of a row, as prompt and outputs of a record, and back."""

from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.chat_messages import (
    is_from_turns,
    no_question,
    record_question_outcomes,
    system_message,
    with_text,
)
from harpia_formats.conversion.mapping.chat_messages import (
    read_chat as question_of,
)
from harpia_formats.conversion.mapping.fields import without
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import Output, Record, kept_of

#: The key in `extra` under which they are kept.
KEY = "tencent"
#: The keys of a message that every one has.
_message_keys = frozenset({"role", "content"})


def are_message_extras(kept: Any) -> bool:
    """Tell whether `kept` are the extra keys of a message, kept under `messages`."""
    return isinstance(kept, dict) and bool(kept) and _message_keys.isdisjoint(kept)


def put_back(
    row: Row, rest: Row, known: Collection[str], where: str, outcomes: FieldOutcomes
) -> Row:
    """Put `rest`, kept at the path `where`, into `row` without keys in `known`."""
    for key, value in rest.items():
        if key in known:
            outcomes.dropped(f"{where}.{KEY}.{key}", "the key belongs to another field")
        else:
            row[key] = value
    return row


#: The keys of a message.
MESSAGE_KEYS = ("role", "content")
#: The change made to a message without content.
EMPTIED = "empty text for null"


def expected_answer(record: Record, key: str, outcomes: FieldOutcomes) -> str:
    """Return the expected answer of a record: its first reference, or else its gt.

    Raises `Unconvertible` if it has neither; `key` is the row's key in the message.
    """
    if record.references:
        if record.gt is not UNSET:
            outcomes.dropped("gt", "the reference is used instead")
        return record.references[0]
    if record.gt is UNSET:
        reason = f"the record has nothing for `{key}`"
        help_ = f"give it with `--set {key}=VALUE`"
        raise Unconvertible("references", reason, help_)
    outcomes.merged("gt", "the expected answer")
    if record.references is UNSET:
        outcomes.defaulted("references", "of gt")
    else:
        outcomes.changed("references", "gt, for an empty list")
    return record.gt


#: Keys of messages that call tools or hold their results.
_tool_keys = frozenset({"tool_calls", "tool_call_id", "function_call"})
#: Keys of OpenAI's messages: those of tools, and the weight of an answer in training.
_foreign_keys = _tool_keys | {"weight"}
_usual_message_keys = [*MESSAGE_KEYS]


def read_chat(messages: list[Row]) -> tuple[Row, Row]:
    """Return the record's fields for a chat, and extra keys of its last answer."""
    answer = messages[-1]
    if answer["role"] != "assistant":
        return question_of(messages), {}
    fields = question_of(messages[:-1])
    fields["gt"] = answer["content"]
    # Most messages have no more keys than they must have.
    is_usual = len(answer) == len(MESSAGE_KEYS)
    return fields, {} if is_usual else without(answer, MESSAGE_KEYS)


def write_chat(record: Record, rest: Row, outcomes: FieldOutcomes) -> list[Row]:
    """Return the chat for `record`; extra keys of its answer are moved from `rest`.

    Raises `Unconvertible` if the record has neither a prompt nor messages.
    """
    if record.messages is UNSET and record.prompt is not UNSET:
        # It is read as it was, so that nothing has to be noted.
        return _with_answer(_prompt_chat(record), record, rest)
    return write_any_chat(record, rest, outcomes)


def write_any_chat(record: Record, rest: Row, outcomes: FieldOutcomes) -> list[Row]:
    """Return what `write_chat` returns, for any record: the specification of that."""
    chat, done = _question_chat(record, outcomes)
    chat = _with_answer(chat, record, rest)
    if not chat:
        raise no_question()
    back, other_keys = read_chat(chat)
    if record.gt is UNSET and "gt" in back:
        done.append("the last message is gt")
        outcomes.defaulted("gt", "the last message, of the assistant")
        if other_keys:
            outcomes.defaulted(f"extra.{KEY}.messages", "of the last message")
    record_question_outcomes(record, back, done, outcomes)
    return chat


def _with_answer(chat: list[Row], record: Record, rest: Row) -> list[Row]:
    """Return `chat` with the answer that `record` expects, if it has one, behind it."""
    if record.gt is not UNSET:
        answer = {
            "role": "assistant",
            "content": record.gt,
            **_take_message_extras(rest),
        }
        chat.append(answer)
    return chat


def _prompt_chat(record: Record) -> list[Row]:
    return [*system_message(record), {"role": "user", "content": record.prompt}]


def _question_chat(
    record: Record, outcomes: FieldOutcomes
) -> tuple[list[Row], list[str]]:
    """Return the chat without its answer, and the changes made to the messages.

    Raises `Unconvertible` if there is none.
    """
    if not record.messages and record.prompt is not UNSET:
        return _prompt_chat(record), []
    start = system_message(record)
    if record.messages is UNSET:
        raise no_question()
    from_turns = is_from_turns(outcomes)
    messages, done = _documented(record.messages, from_turns=from_turns)
    if from_turns and done:
        outcomes.changed("outputs.turns", "; ".join(done))
    chat = [with_text(message) for message in messages]
    if chat != messages:
        done.append(EMPTIED)
    if not start or any(message["role"] == "system" for message in chat):
        return chat, done
    return [*start, *chat], [*done, "with the system message"]


def _documented(
    messages: list[Row], *, from_turns: bool
) -> tuple[list[Row], list[str]]:
    """Return messages as Tencent documents them, and the changes made to them.

    A chat of Tencent's own may have other roles and keys, which stay. Tool calls,
    weights and the turns of an output are of other vendors: their messages get no
    other key, and no tool speaks.
    """
    if not from_turns and all(map(_foreign_keys.isdisjoint, messages)):
        return messages, []
    done = []
    # Where only tools speak, there is nothing else to ask.
    spoken = [message for message in messages if not _is_of_tool(message)] or messages
    if len(spoken) < len(messages):
        done.append("without tool calls and their results")
    plain = [_plain_message(message) for message in spoken]
    if plain != spoken:
        done.append("with role and content only")
    return plain, done


def _plain_message(message: Row) -> Row:
    """Return a message without other keys than role and content."""
    keys = [*message]
    if keys[: len(MESSAGE_KEYS)] == _usual_message_keys:
        return {"role": message["role"], "content": message["content"]}
    return {key: message[key] for key in keys if key in MESSAGE_KEYS}


def _is_of_tool(message: Row) -> bool:
    """Tell whether a message is the result of a tool, or only calls one."""
    # The role may be any value.
    if message.get("role") in ("tool", "function"):
        return True
    return not message.get("content") and not _tool_keys.isdisjoint(message)


def _take_message_extras(rest: Row) -> Row:
    """Remove the extra keys of the last answer from `rest`, and return them."""
    if not are_message_extras(rest.get("messages")):
        return {}
    taken: Row = rest.pop("messages")
    return taken


_entry_keys = frozenset({"model_name", "responses"})
_response_keys = frozenset({"content", "reasoning_content"})
#: How many both have if they have no others, and a reasoning.
_usual_key_count = len(_entry_keys) + len(_response_keys)
_extra = "outputs.extra"


def read_answers(entries: list[Row]) -> list[Output]:
    """Return an output for each response, with its index among those of its model."""
    outputs: list[Output] = []
    before = None
    for entry in entries:
        model, answers = entry["model_name"], entry["responses"]
        if model == before or not answers:
            return read_any_answers(entries)
        before = model
        if len(answers) == 1:
            outputs.append(_output(entry, answers[0], UNSET))
        else:
            outputs += [
                _output(entry, each, place) for place, each in enumerate(answers)
            ]
    return outputs


def read_any_answers(entries: list[Row]) -> list[Output]:
    """Return what `read_answers` returns, for any entries: the specification of that.

    Entries of one model that follow each other count as one.
    """
    pairs = [(entry, answer) for entry in entries for answer in entry["responses"]]
    # No model is before the first one and after the last one.
    models = [None, *(entry["model_name"] for entry, _ in pairs), None]
    outputs: list[Output] = []
    index = 0
    for place, (entry, response) in enumerate(pairs, 1):
        model = models[place]
        index = index + 1 if model == models[place - 1] else 0
        is_only = index == 0 and model != models[place + 1]
        outputs.append(_output(entry, response, UNSET if is_only else index))
    return outputs


def _indices(answers: list[Any]) -> Iterable[Any]:
    """Return the index of each answer of one model, `UNSET` for a single one."""
    return range(len(answers)) if len(answers) > 1 else (UNSET,)


def _output(entry: Row, response: Row, index: Any) -> Output:
    reasoning = response.get("reasoning_content", UNSET)
    # Both keys of an entry and the first one of a response are always there.
    keys = len(entry) + len(response) + (reasoning is UNSET)
    return Output(
        model=entry["model_name"],
        index=index,
        text=response["content"],
        reasoning=reasoning,
        extra=UNSET if keys == _usual_key_count else _extra_of(entry, response),
    )


def _extra_of(entry: Row, response: Row) -> Any:
    """Return the extra of the output of an answer, `UNSET` if there is none."""
    if entry.keys() <= _entry_keys and response.keys() <= _response_keys:
        return UNSET
    rest = without(entry, _entry_keys)
    inner = without(response, _response_keys)
    if inner:
        # `responses` is a key of every entry, so it is free in the extra members.
        rest["responses"] = inner
    return {KEY: rest}


def write_answers(outputs: list[Output], outcomes: FieldOutcomes) -> list[Row]:
    """Return the entries for `outputs`, one for successive outputs of a model.

    Raises `Unconvertible` for an output without a text or a model.
    """
    if len(outputs) == 1:
        return [_only_entry(outputs[0], outcomes)]
    entries: list[Row] = []
    for model, run in groupby(outputs, key=attrgetter("model")):
        if model is UNSET:
            raise _missing("outputs.model", "model_name")
        answers = list(run)
        _record_indices(answers, outcomes)
        entries.extend(_entries(model, answers, outcomes))
    return entries


def _only_entry(answer: Output, outcomes: FieldOutcomes) -> Row:
    """Return the entry of the only output; raises `Unconvertible` without a model."""
    if answer.model is UNSET:
        raise _missing("outputs.model", "model_name")
    if answer.index is not UNSET:
        outcomes.dropped("outputs.index", "the only answer of the model there")
    rest, response = _extra_and_response(answer, outcomes)
    return {"model_name": answer.model, "responses": [response], **rest}


def _record_indices(answers: list[Output], outcomes: FieldOutcomes) -> None:
    for index, answer in zip(_indices(answers), answers, strict=True):
        if answer.index == index:
            continue
        if answer.index is UNSET:
            outcomes.defaulted("outputs.index", "the place among answers of the model")
        elif index is UNSET:
            outcomes.dropped("outputs.index", "the only answer of the model there")
        else:
            outcomes.changed("outputs.index", "the place among answers of the model")


def _entries(
    model: str, answers: list[Output], outcomes: FieldOutcomes
) -> Iterator[Row]:
    """Yield an entry for each run of answers with equal extra members."""
    parts = [_extra_and_response(answer, outcomes) for answer in answers]
    for _, run in groupby(parts, key=lambda part: encode(part[0])):
        members = list(run)
        responses = [response for _, response in members]
        yield {"model_name": model, "responses": responses, **members[0][0]}


def _extra_and_response(output: Output, outcomes: FieldOutcomes) -> tuple[Row, Row]:
    """Return the extra members of an output's entry, and its response."""
    if output.extra is UNSET or KEY not in output.extra:
        return {}, _response(output, {}, outcomes)
    rest = dict(kept_of(output, KEY))
    inner: Row = {}
    if isinstance(rest.get("responses"), dict) and rest["responses"]:
        inner = rest.pop("responses")
    with_rest = put_back({}, rest, _entry_keys, _extra, outcomes)
    return with_rest, _response(output, inner, outcomes)


def _response(output: Output, rest: Row, outcomes: FieldOutcomes) -> Row:
    if output.text is UNSET:
        raise _missing("outputs.text", "content")
    if output.text is None:
        outcomes.changed("outputs.text", "empty text for null")
    response: Row = {"content": output.text or ""}
    if output.reasoning is None:
        outcomes.null("outputs.reasoning")
    elif output.reasoning is not UNSET:
        response["reasoning_content"] = output.reasoning
    if not rest:
        return response
    if rest.keys() & _response_keys:
        outcomes.dropped(
            f"{_extra}.tencent.responses", "the keys belong to other fields"
        )
        return response
    return {**response, **rest}


def _missing(path: str, key: str) -> Unconvertible:
    reason = f"an output has nothing for `{key}`"
    return Unconvertible(path, reason, f"give it with `--set {key}=VALUE`")
