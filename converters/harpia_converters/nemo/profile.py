"""The metric profiles nemo, nemo-custom, nemo-sdk and nemo-evaluator."""

from functools import partial

from harpia_converters.nemo.config_metrics import configured_metrics
from harpia_converters.nemo.metric_definitions import (
    CUSTOM,
    EVALUATOR,
    OF_ALL_REFERENCES,
    SDK,
    SIMILARITY,
)
from harpia_formats.model.metric_profile import MetricProfile

NEMO = MetricProfile(
    id="nemo",
    summary="Similarity metrics of NVIDIA's microservice, from 0 to 1, by the first "
    "reference; accuracy, em and BLEU are our reading of its samples.",
    metrics=SIMILARITY.metrics,
    usual=tuple(SIMILARITY.metrics),
    of_config=partial(configured_metrics, other=CUSTOM),
)
NEMO_CUSTOM = MetricProfile(
    id="nemo-custom",
    summary="Custom evaluations of NVIDIA's microservice: BLEU of sentences and of the "
    "corpus from 0 to 100, and string-check.",
    metrics=CUSTOM.metrics,
    usual=("string-check", "bleu"),
    of_config=partial(configured_metrics, other=CUSTOM),
)
NEMO_SDK = MetricProfile(
    id="nemo-sdk",
    summary="NVIDIA's open nemo_evaluator_sdk: BLEU of sentences and of the corpus "
    "from 0 to 100, the latter by the first reference only.",
    metrics={**SDK.metrics, **OF_ALL_REFERENCES},
    usual=("exact-match", "f1", "bleu", "rouge"),
    of_config=partial(configured_metrics, other=SDK),
)
NEMO_EVALUATOR = MetricProfile(
    id="nemo-evaluator",
    summary="NVIDIA's open NeMo Evaluator (main branch): exact_match and fuzzy_match "
    "after its own normalisation, the latter by metadata.correct_answers if there are.",
    metrics=EVALUATOR.metrics,
    usual=tuple(EVALUATOR.metrics),
)
