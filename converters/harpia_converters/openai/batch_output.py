"""The format openai-batch-output: the results of a batch, and its error file."""

from harpia_converters.openai.detection import VENDOR, result_sign
from harpia_converters.openai.row_checks import result_remarks
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id="openai-batch-output",
    title="The results of a batch, in any order, and its errors",
    vendor=VENDOR,
    adapter="harpia_converters.openai.result_mapping:RESULTS",
    read_only=True,
    id_key="custom_id",
    dialects=(
        Dialect(
            "openai-batch-output",
            result_sign,
            remarks=result_remarks,
            one_of=frozenset({"custom_id"}),
        ),
    ),
)
