"""The format openai-chat: chats for fine-tuning, with tools and weights."""

from harpia_converters.openai.detection import VENDOR, chat_sign, own_chat_sign
from harpia_converters.openai.row_checks import chat_remarks
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id="openai-chat",
    title="Examples for fine-tuning: chats, with tools and weights",
    vendor=VENDOR,
    adapter="harpia_converters.openai.chat_mapping:CHAT",
    dialects=(
        Dialect(
            "openai-chat",
            chat_sign,
            remarks=chat_remarks,
            own_sign=own_chat_sign,
            one_of=frozenset({"messages"}),
        ),
    ),
)
