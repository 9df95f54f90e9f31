"""The metric profile haystack: the metrics of its evaluators."""

from harpia_formats.model.vendor_metrics import MetricProfile, MetricRequest

#: Its metrics of retrieved documents, with the defaults of its evaluators.
DOCUMENTS = ("document-map", "document-mrr", "document-ndcg", "document-recall")
#: AnswerExactMatchEvaluator compares with `==`, and with one answer for each row.
PROFILE = MetricProfile(
    id="haystack",
    summary="Haystack's exact match: an answer equals the first reference, character "
    "by character; its metrics of retrieved documents, and similarity by a model.",
    metrics={
        "em": (MetricRequest("em", {"normalisation": "none", "references": "first"}),),
        "sas": (MetricRequest("sas", {"references": "first"}),),
        **{name: (MetricRequest(name),) for name in DOCUMENTS},
    },
    usual=("em",),
)
