"""The format inspect-dataset: samples as Inspect's json_dataset reads them."""

from harpia_converters.inspect_ai.detection import VENDOR, sample_sign
from harpia_formats.model.format import Dialect, Format

DATASET = "inspect-dataset"

FORMAT = Format(
    id=DATASET,
    title="Samples of a data set: inputs with their targets",
    vendor=VENDOR,
    adapter="harpia_converters.inspect_ai.dataset_mapping:DATASET",
    id_key="id",
    dialects=(Dialect(DATASET, sample_sign, one_of=frozenset({"target"})),),
)
