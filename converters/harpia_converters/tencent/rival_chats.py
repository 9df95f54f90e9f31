"""Tell chats of other tools from Tencent's rows, which have `messages` as well.

Sources: OpenAI's reference of chat completions and of fine-tuning files; the sample
data of LLaMA-Factory (KTO, typed parts).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harpia_formats.model.format import Rival

#: Keys that OpenAI documents and Tencent does not, beside `messages` and in a message.
_openai_keys = ("tools", "functions", "parallel_tool_calls")
_openai_message_keys = ("weight", "tool_calls", "function_call", "tool_call_id")
#: Keys of a part of a message's content in chats of typed parts.
_part_keys = frozenset({"type", "value"})
#: Keys of Tencent's rows that no other tool writes.
OWN_KEYS = ("model_outputs", "ref_answer")
#: Names under which other tools write an answer beside the messages.
_answer_keys = (
    "model_response model_answer model_output model_completion model_prediction "
    "response answer output completion prediction generated_text generation "
    "generated_answer candidate actual_output actual-output actual_response"
).split()


def rival_sign(row: Mapping[str, Any]) -> str:
    """Return by what a row is another tool's chat and not Tencent's, or ""."""
    return next((sign for rival in RIVALS if (sign := rival.sign(row))), "")


def unread_answer(row: Mapping[str, Any]) -> str:
    """Return the key of an answer that stands beside a chat, or ""."""
    if "model_outputs" in row or not isinstance(row.get("messages"), list):
        return ""
    return next((key for key in _answer_keys if isinstance(row.get(key), str)), "")


def _chat_of(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the messages of a row that are objects, none if the row is Tencent's."""
    messages = row.get("messages")
    if not isinstance(messages, list) or any(key in row for key in OWN_KEYS):
        return ()
    return [message for message in messages if isinstance(message, Mapping)]


def _openai_sign(row: Mapping[str, Any]) -> str:
    chat = _chat_of(row)
    return next(_openai_signs(row, chat), "") if chat else ""


def _openai_signs(
    row: Mapping[str, Any], chat: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    yield from (f"`{key}`" for key in _openai_keys if key in row)
    for message in chat:
        found = (key for key in _openai_message_keys if key in message)
        yield from (f"`{key}` in a message" for key in found)
        content = message.get("content", "")
        if message.get("role") == "tool":
            yield "the role `tool`"
        elif "role" in message and content is None:
            yield "a message whose content is null"
        elif "role" in message and _is_list(content) and not _has_typed_parts(content):
            yield "a message whose content is a list"


def _kto_sign(row: Mapping[str, Any]) -> str:
    is_verdict = isinstance(row.get("label"), bool)
    return "`label`" if is_verdict and _chat_of(row) else ""


def _parts_sign(row: Mapping[str, Any]) -> str:
    for message in _chat_of(row):
        if "loss_weight" in message:
            return "`loss_weight` in a message"
        if _has_typed_parts(message.get("content")):
            return "content of parts with `type` and `value`"
    return ""


def _is_list(content: Any) -> bool:
    return isinstance(content, list)


def _has_typed_parts(content: Any) -> bool:
    """Tell whether `content` is a list of parts, each with a type and a value."""
    parts = content if isinstance(content, list) else ()
    return any(
        isinstance(part, Mapping) and _part_keys <= part.keys() for part in parts
    )


#: Who else writes rows with `messages`, the most likely first.
RIVALS = (
    Rival("chats in OpenAI's form", _openai_sign),
    Rival("chats with verdicts for KTO", _kto_sign),
    Rival("chats of typed parts", _parts_sign),
)
