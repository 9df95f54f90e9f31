"""The format openai-batch-input: requests that a batch sends to one endpoint."""

from harpia_converters.openai.detection import VENDOR, request_sign
from harpia_converters.openai.row_checks import request_remarks
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id="openai-batch-input",
    title="The requests of a batch, each with its custom_id",
    vendor=VENDOR,
    adapter="harpia_converters.openai.request_mapping:REQUESTS",
    id_key="custom_id",
    dialects=(
        Dialect(
            "openai-batch-input",
            request_sign,
            remarks=request_remarks,
            lints="harpia_converters.openai.lints:REQUESTS",
            one_of=frozenset({"custom_id"}),
        ),
    ),
)
