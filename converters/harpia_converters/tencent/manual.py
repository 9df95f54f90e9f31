"""The format tencent-manual: prompts and expected responses of manual evaluation."""

from functools import partial

from harpia_converters.tencent.detection import MANUAL, VENDOR, sign_of
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=MANUAL,
    title="Prompts with expected responses, the older format of manual evaluation",
    vendor=VENDOR,
    adapter="harpia_converters.tencent.mapping:MANUAL",
    dialects=(
        Dialect(
            MANUAL,
            partial(sign_of, kind=MANUAL),
            strict="tencent-manual-strict",
            one_of=frozenset({"conversation"}),
        ),
    ),
)
