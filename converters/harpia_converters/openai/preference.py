"""The format openai-preference: chats with a preferred answer and another one."""

from harpia_converters.openai.detection import VENDOR, preference_sign
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id="openai-preference",
    title="Examples for fine-tuning by preference: a chat with two answers",
    vendor=VENDOR,
    adapter="harpia_converters.openai.preference_mapping:PREFERENCE",
    read_only=True,
    dialects=(
        Dialect(
            "openai-preference",
            preference_sign,
            one_of=frozenset({"preferred_output"}),
        ),
    ),
)
