"""What Haystack means by the names of metrics."""

from harpia_formats.model.metric_profile import MetricRequest, Profile

#: AnswerExactMatchEvaluator compares with `==`, and with one answer for each row.
PROFILE = Profile(
    id="haystack",
    summary="Haystack's exact match: an answer equals the first reference, character "
    "by character.",
    metrics={
        "em": (MetricRequest("em", {"normalisation": "none", "references": "first"}),)
    },
    usual=("em",),
)
