"""The format tencent-outputs: questions with answers, for Evaluation Only."""

from functools import partial

from harpia_converters.tencent.detection import FAMILY, OUTPUTS, VENDOR, sign_of
from harpia_converters.tencent.row_checks import output_remarks
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=OUTPUTS,
    title="Questions as chats, with what models answered (Evaluation Only)",
    vendor=VENDOR,
    adapter="harpia_converters.tencent.mapping:OUTPUTS",
    family=FAMILY,
    dialects=(
        Dialect(
            OUTPUTS,
            partial(sign_of, kind=OUTPUTS),
            strict="tencent-outputs-strict",
            remarks=output_remarks,
            lints="harpia_converters.tencent.lints:OUTPUTS",
            one_of=frozenset({"model_outputs"}),
        ),
    ),
)
