"""The format openai-evals: samples of an eval, each an input with its ideal answers."""

from harpia_converters.openai_evals.detection import KEY, VENDOR, sample_sign
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=KEY,
    title="Samples of an eval: inputs with their ideal answers",
    vendor=VENDOR,
    adapter="harpia_converters.openai_evals.mapping:SAMPLES",
    dialects=(Dialect(KEY, sample_sign, one_of=frozenset({"ideal"})),),
)
