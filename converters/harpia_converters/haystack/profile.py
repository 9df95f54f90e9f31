"""The metric profile haystack: the metrics of its evaluators."""

from harpia_formats.model.metric_profile import MetricProfile, MetricRequest

#: AnswerExactMatchEvaluator compares with `==`, and with one answer for each row.
PROFILE = MetricProfile(
    id="haystack",
    summary="Haystack's exact match: an answer equals the first reference, character "
    "by character.",
    metrics={
        "em": (MetricRequest("em", {"normalisation": "none", "references": "first"}),)
    },
    usual=("em",),
)
