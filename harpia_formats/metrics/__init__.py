"""The shared metric core: one file for each metric, in one table."""

from harpia_formats.metrics import exact_match, token_f1
from harpia_formats.metrics.metric import Metric

#: Every metric by its name.
METRICS: dict[str, Metric] = {
    each.name: each for each in (exact_match.METRIC, token_f1.METRIC)
}

__all__ = ["METRICS", "Metric"]
