"""The format tencent-messages: questions, for Inference and Evaluation."""

from functools import partial

from harpia_converters.tencent.detection import (
    FAMILY,
    MESSAGES,
    VENDOR,
    own_sign,
    sign_of,
    unread_answer,
)
from harpia_converters.tencent.row_checks import message_remarks
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=MESSAGES,
    title="Questions as chats, with reference answers (Inference and Evaluation)",
    vendor=VENDOR,
    adapter="harpia_converters.tencent.mapping:MESSAGES",
    family=FAMILY,
    dialects=(
        Dialect(
            MESSAGES,
            partial(sign_of, kind=MESSAGES),
            strict="tencent-messages-strict",
            remarks=message_remarks,
            lints="harpia_converters.tencent.lints:MESSAGES",
            own_sign=own_sign,
            unread_answer=unread_answer,
            one_of=frozenset({"messages", "ref_answer"}),
        ),
    ),
)
