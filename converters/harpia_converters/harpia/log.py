"""The format harpia-log: the result of each metric on each instance, as lines."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.harpia import companion
from harpia_converters.harpia.detection import LOG, sign_of
from harpia_converters.harpia.header_checks import parameter_remarks
from harpia_converters.harpia.keys import VENDOR
from harpia_converters.harpia.output import metric_key_remarks
from harpia_formats.model.format import Dialect, Format, Remark


def remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on a line of the log (H107, H122, H123)."""
    if isinstance(row, Mapping):
        yield from metric_key_remarks(row)
        yield from parameter_remarks(row, ())


FORMAT = Format(
    id="harpia-log",
    title="Results of metrics on single instances, the log of HarpIA Lab",
    vendor=VENDOR,
    companion=companion.LOG,
    results="harpia_converters.harpia.results_writer:LOG",
    dialects=(
        Dialect(
            "harpia-log",
            partial(sign_of, kind=LOG),
            strict="harpia-log-strict",
            remarks=remarks,
            lints="harpia_converters.harpia.lints:LOG",
            one_of=frozenset({"instance_id", "result"}),
        ),
    ),
)
