"""The format openai-batch-output: the results of a batch, and its error file."""

from harpia_converters.openai.detection import VENDOR, result_sign
from harpia_converters.openai.row_checks import (
    no_expectation,
    no_remarks,
    result_remarks,
    unknown_request_remark,
)
from harpia_formats.model.format import Companion, Dialect, Format

FORMAT = Format(
    id="openai-batch-output",
    title="The results of a batch, in any order, and its errors",
    vendor=VENDOR,
    adapter="harpia_converters.openai.result_mapping:RESULTS",
    read_only=True,
    id_key="custom_id",
    companion=Companion(
        format="openai-batch-input",
        expect=no_expectation,
        remarks=no_remarks,
        closing=no_remarks,
        refers_by="custom_id",
        no_such_record=unknown_request_remark,
        by_id=True,
        without="what was asked is not known",
    ),
    dialects=(
        Dialect(
            "openai-batch-output",
            result_sign,
            remarks=result_remarks,
            one_of=frozenset({"custom_id"}),
        ),
    ),
)
