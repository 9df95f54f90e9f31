"""The format inspect-log: the log of a run of one task with one model."""

from collections.abc import Iterator
from typing import Any

from harpia_converters.inspect_ai.detection import VENDOR, log_sign
from harpia_formats.model.format import Container, Dialect, Format, Remark

LOG = "inspect-log"


def remarks(sample: Any) -> Iterator[Remark]:
    """Yield remarks on a sample (I201-I206)."""
    from harpia_converters.inspect_ai.log_checks import sample_remarks  # noqa: PLC0415 - start-up: only to validate

    return sample_remarks(sample)


def header_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a log without its samples (I101-I103)."""
    from harpia_converters.inspect_ai.log_checks import log_remarks  # noqa: PLC0415 - start-up: only to validate

    return log_remarks(document)


def count_remarks(document: Any, samples: int) -> Iterator[Remark]:
    """Yield a remark on a log that does not have all of its samples (I104)."""
    from harpia_converters.inspect_ai.log_checks import sample_count_remarks  # noqa: PLC0415 - start-up: only to validate

    return sample_count_remarks(document, samples)


FORMAT = Format(
    id=LOG,
    title="Log of an evaluation: settings, results and samples with their scores",
    vendor=VENDOR,
    adapter="harpia_converters.inspect_ai.log_mapping:LOG",
    id_key="id",
    id_with=(("epoch",),),
    read_only=True,
    dialects=(
        Dialect(
            LOG,
            log_sign,
            container=Container.WRAPPED,
            rows_at="samples",
            remarks=remarks,
            header_remarks=header_remarks,
            count_remarks=count_remarks,
            may_be_empty=True,
            reads_nan=True,
            is_typed=False,
            one_of=frozenset({"eval"}),
        ),
    ),
)
