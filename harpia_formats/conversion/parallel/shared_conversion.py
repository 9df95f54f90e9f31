"""The parts of a conversion that its workers and the main process share."""

from dataclasses import dataclass

from harpia_formats.conversion.chunks import ChunkConverter
from harpia_formats.conversion.mapping.select_model import ModelSelection
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.report import ConversionTotals
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.validation.dedup.digests import Digests


@dataclass(frozen=True, slots=True)
class SharedConversion:
    """The workers of a conversion, and what their results are added to."""

    pool: WorkerPool
    options: ConvertOptions
    totals: ConversionTotals
    #: It knows where rows go.
    chunks: ChunkConverter
    digests: Digests
    models: ModelSelection
    has_one_file: bool
