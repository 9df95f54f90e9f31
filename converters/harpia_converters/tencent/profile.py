"""The metric profile tencent: the built-in metrics of TI-ONE."""

from harpia_formats.model.vendor_metrics import MetricProfile, MetricRequest

#: The note in the signature of a metric whose definition Tencent has not published.
UNVERIFIED = "unverified"

#: The documents name pass@1, ROUGE and F1, and define none of them. The tokens of ROUGE
#: are those of any language, since those of the package rouge-score are English only.
PROFILE = MetricProfile(
    id="tencent",
    summary="Tencent's pass@1, ROUGE and F1, from 0 to 1; its documents name them and "
    "define none, so that they are our reading. An answer that a metric cannot read "
    "is wrong.",
    metrics={
        "pass@k": (
            MetricRequest(
                "pass@k",
                {"correct": "em", "correct.normalisation": "squad"},
                note=UNVERIFIED,
            ),
        ),
        "rouge": (
            MetricRequest(
                "rouge",
                {"tokenizer": "unicode", "stemmer": False, "references": "max"},
                note=UNVERIFIED,
            ),
        ),
        "f1": (
            MetricRequest(
                "f1",
                {"normalisation": "squad", "empty": "v2", "references": "max"},
                note=UNVERIFIED,
            ),
        ),
    },
    usual=("pass@1", "rouge", "f1"),
    # A judge that reads no answer gives no credit for it.
    defaults={"unreadable": "wrong"},
)
