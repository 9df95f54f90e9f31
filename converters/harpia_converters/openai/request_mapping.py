"""The adapter of openai-batch-input: the requests of a batch to records, and back.

The input of the endpoint /v1/responses has items in place of messages.
"""

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.openai.formats import CHAT_URL
from harpia_converters.openai.messages import BATCHES, question_messages, read_question
from harpia_converters.openai.tool_calls import CALLS, read_arguments
from harpia_formats.conversion.mapping.chat_messages import (
    chat_fields,
    no_question,
    read_parts,
    record_question_outcomes,
)
from harpia_formats.conversion.mapping.fields import FieldTable, without
from harpia_formats.model.adapter import (
    Cardinality,
    ChangedValue,
    FieldMapping,
    Row,
    RowCapacity,
    ValueCodec,
    as_is,
)
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import SYSTEM_MESSAGE, Record

_call_keys = {"type", "call_id", "name", "arguments"}
_result_keys = {"type", "call_id", "output"}


def read_items(items: Any) -> list[Row] | None:
    """Return a list of items as messages, None if one of them is no message."""
    if type(items) is not list or not items:
        return None
    messages = [_read_item(item) for item in items]
    known = [message for message in messages if message is not None]
    return known if len(known) == len(messages) else None


def _read_item(item: Any) -> Row | None:
    if type(item) is not dict:
        return None
    if type(item.get("role")) is str:
        return read_parts(item)
    texts = all(type(value) is str for value in item.values())
    if texts and item.keys() == _call_keys and item["type"] == "function_call":
        arguments = read_arguments(item["arguments"])
        call = {"id": item["call_id"], "name": item["name"], "arguments": arguments}
        return {"role": "assistant", CALLS: [call]}
    if texts and item.keys() == _result_keys and item["type"] == "function_call_output":
        return {
            "role": "tool",
            "tool_call_id": item["call_id"],
            "content": item["output"],
        }
    return None


def write_items(messages: list[Row]) -> list[Row]:
    """Return messages of a chat as items: calls and their results are their own."""
    items: list[Row] = []
    for message in messages:
        calls = message.get(CALLS, ())
        if message.keys() == {"role", CALLS} and all(map(_is_function, calls)):
            items += [_call_item(call) for call in calls]
        elif message.keys() == {"role", "tool_call_id", "content"}:
            output = {"call_id": message["tool_call_id"], "output": message["content"]}
            items.append({"type": "function_call_output", **output})
        else:
            items.append(message)
    return items


def _is_function(call: Any) -> bool:
    return call.get("type") == "function" and "function" in call


def _call_item(call: Row) -> Row:
    function = call["function"]
    return {
        "type": "function_call",
        "call_id": call["id"],
        "name": function["name"],
        "arguments": function["arguments"],
    }


_messages, _model = "messages", "model"
_instructions = "instructions"
_responses, _completions = "/responses", "/completions"
#: Keys of the body that ask at the endpoint of responses.
_reserved = {"input", _instructions}

#: Settings of a generation that other tools name, and OpenAI refuses in a chat.
_foreign_settings = frozenset(
    "until do_sample max_gen_toks max_new_tokens generation_kwargs".split()
)


def _write_id(value: Any) -> Any:
    return value if type(value) is str else ChangedValue(str(value), "as text")


_text_id = ValueCodec(as_is, _write_id, "an integer becomes text")


def _read_request(row: Row, kept: Row) -> Row:
    """Return the fields of a request; all of its body but the question are params."""
    url, body = row["url"], row["body"]
    fields, taken = _read_body(body, url)
    if url != CHAT_URL:
        kept["url"] = url
    return {"id": row["custom_id"], **fields, "params": without(body, taken)}


def _read_body(body: Row, url: str) -> tuple[Row, tuple[str, ...]]:
    """Return the question in a body, and the keys that have it."""
    if _messages in body:
        return read_question(body[_messages]), (_messages,)
    if url.endswith(_responses) and "input" in body:
        return _read_response(body)
    if url.endswith(_completions) and type(body.get("prompt")) is str:
        return {"prompt": body["prompt"]}, ("prompt",)
    return {}, ()


def _read_response(body: Row) -> tuple[Row, tuple[str, ...]]:
    asked = body["input"]
    if type(asked) is str:
        fields: Row = {"prompt": asked}
    else:
        messages = read_items(asked)
        if messages is None:
            return {}, ()
        fields = {"messages": messages}
    if type(body.get(_instructions)) is not str:
        return fields, ("input",)
    fields["system"] = body[_instructions]
    return fields, ("input", _instructions)


def _write_request(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return the request for a record: to the endpoint that it names, or for a chat.

    Raises `Unconvertible` for a record without a question or a model.
    """
    settings: Row = record.params or {}
    model = settings.get(_model)
    if type(model) is not str:
        given = "no" if _model not in settings else "another value than text as"
        reason = f"the record has {given} `body.model`"
        raise Unconvertible("params.model", reason, "give `--set body.model=NAME`")
    url = _endpoint(record, kept, outcomes)
    asked, done = _write_question(record, url, outcomes)
    body: Row = {_model: model, **asked}
    reserved = {_messages, *asked}
    if asked and _asks_response(url):
        reserved |= _reserved
    for key, value in settings.items():
        if key in reserved:
            outcomes.dropped(f"params.{key}", "the key belongs to the question")
        elif url == CHAT_URL and key in _foreign_settings:
            outcomes.dropped(f"params.{key}", "OpenAI has no such setting of a chat")
        else:
            body[key] = value
    back, taken = _read_body(body, url)
    for key in taken:
        if key not in asked:
            outcomes.merged(f"params.{key}", "the question")
    record_question_outcomes(record, back, done, outcomes)
    id_ = _custom_id(record, outcomes)
    return {"custom_id": id_, "method": "POST", "url": url, "body": body}


def _custom_id(record: Record, outcomes: FieldOutcomes) -> str:
    """Return the id of a record as text; raises `Unconvertible` if it has none."""
    if record.id is UNSET:
        help_ = "give it with `--set custom_id=VALUE`"
        raise Unconvertible("id", "the record has nothing for `custom_id`", help_)
    if type(record.id) is str:
        return record.id
    outcomes.changed("id", "as text")
    return str(record.id)


def _asks_response(url: str) -> bool:
    return url.endswith(_responses)


def _endpoint(record: Record, rest: Row, outcomes: FieldOutcomes) -> str:
    """Return the endpoint for a record, which is moved from `rest` if it is there."""
    if "url" not in rest:
        return CHAT_URL
    url = rest.pop("url")
    if type(url) is not str or url == CHAT_URL:
        outcomes.dropped(f"extra.{BATCHES}.url", "no other endpoint")
        return CHAT_URL
    is_chat = bool(record.messages) or record.system is not UNSET
    if is_chat and url.endswith(_completions) and not url.endswith(CHAT_URL[3:]):
        outcomes.dropped(f"extra.{BATCHES}.url", "the question is a chat")
        return CHAT_URL
    return url


def _write_question(
    record: Record, url: str, outcomes: FieldOutcomes
) -> tuple[Row, list[str]]:
    """Return the members of the body that ask, and the changes made to messages.

    Raises `Unconvertible` if the record has no question.
    """
    has_prompt = record.prompt is not UNSET and not record.messages
    if record.messages is UNSET and not has_prompt and url != CHAT_URL:
        # The endpoint may need none of the fields of a record, as that of embeddings.
        return {}, []
    if has_prompt and url.endswith(_completions) and not url.endswith(CHAT_URL[3:]):
        return {"prompt": record.prompt}, []
    if not _asks_response(url):
        messages, done = question_messages(record, outcomes)
        if not messages:
            raise no_question()
        return {_messages: messages}, done
    asked: Row = {"input": record.prompt}
    done = []
    if not has_prompt:
        bare = replace(record, system=UNSET)
        messages, done = question_messages(bare, outcomes)
        if not messages:
            raise no_question()
        asked["input"] = write_items(messages)
        done.append("as items of a response")
    if record.system is not UNSET:
        asked[_instructions] = record.system
    return asked, done


REQUESTS = FieldTable(
    BATCHES,
    (
        FieldMapping(("custom_id",), "id", _text_id, required=True),
        *chat_fields(
            ("body", _messages),
            "or a list in body.input",
            "the user's message, where it is the only one; or body.input, body.prompt",
            "the message in front of a single prompt; or body.instructions",
        ),
        FieldMapping(("body", _model), "params.model", required=True),
        FieldMapping(("body",), "params", note="all other keys"),
    ),
    own_keys=("custom_id", "method", "url", "body"),
    read_own=_read_request,
    write_own=_write_request,
    in_order=True,
).adapter(
    capacity=RowCapacity(
        references=Cardinality.NONE, outputs=Cardinality.NONE, messages=True
    ),
    extras_path=(),
    #: The role of a message decides which field it is.
    discriminators=frozenset({("body", _messages, "*", "role"), ("url",)}),
    other_names={SYSTEM_MESSAGE: "body.messages (system)"},
    setting_examples={_model: "model", "tools": [{"type": "function"}]},
)
