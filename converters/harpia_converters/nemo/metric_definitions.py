"""NVIDIA's metrics as metric requests, for each kind of evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass

from harpia_formats.model.metric_profile import MetricRequest


@dataclass(frozen=True, slots=True)
class MetricDefinitions:
    """The metrics of one kind of evaluation."""

    #: The name of the kind in messages.
    label: str
    metrics: Mapping[str, tuple[MetricRequest, ...]]


#: The note in the signature of a metric whose definition NVIDIA has not published.
UNVERIFIED = "unverified"

_first = {"references": "first"}
_squad = {"normalisation": "squad", **_first}
_sacrebleu = {"tokenizer": "13a", "smoothing": "exp"}
_sentence_bleu = {**_sacrebleu, "effective_order": True}
_corpus_bleu = {**_sacrebleu, "effective_order": False}
_rouge_names = {
    "rouge1": "rouge_1_score",
    "rouge2": "rouge_2_score",
    "rouge3": "rouge_3_score",
    "rougeL": "rouge_L_score",
}

_f1 = (MetricRequest("f1", {**_squad, "empty": "v2"}),)
_rouge = tuple(
    MetricRequest(
        metric,
        {"tokenizer": "rouge_score", "stemmer": True, **_first},
        key="rouge",
        names=(name,),
    )
    for metric, name in _rouge_names.items()
)
_string_check = (MetricRequest("string-check", {"operation": "equals", **_first}),)
_number_check = (MetricRequest("number-check", {"operation": "==", **_first}),)
_sentence = MetricRequest(
    "sentence-bleu",
    {**_sentence_bleu, "references": "all", "scale": "0-100"},
    key="bleu",
    names=("sentence",),
)


def _corpus(name: str, references: str) -> MetricRequest:
    parameters = {**_corpus_bleu, "references": references}
    return MetricRequest("bleu", parameters, key="bleu", names=(name,))


#: Similarity metrics of the microservice. The names of the scores are those of real
#: runs, and the values of samples agree with these definitions. How accuracy differs
#: from em, and which BLEU is meant, is not published.
SIMILARITY = MetricDefinitions(
    "similarity_metrics",
    {
        "accuracy": (MetricRequest("accuracy", _first, note=UNVERIFIED),),
        "em": (MetricRequest("em", _squad, note=UNVERIFIED),),
        "f1": _f1,
        "bleu": (
            MetricRequest(
                "sentence-bleu",
                {**_sentence_bleu, **_first, "scale": "0-1"},
                key="bleu",
                names=("bleu_score",),
                note=UNVERIFIED,
            ),
        ),
        "rouge": _rouge,
    },
)

#: Custom evaluations of the microservice.
CUSTOM = MetricDefinitions(
    "a custom evaluation",
    {
        "string-check": _string_check,
        "number-check": _number_check,
        "bleu": (_sentence, _corpus("corpus", "all")),
        "rouge": _rouge,
    },
)

#: The open nemo_evaluator_sdk, July 2026. Its corpus BLEU uses the first reference
#: only.
SDK = MetricDefinitions(
    "nemo_evaluator_sdk",
    {
        "exact-match": (
            MetricRequest("em", _squad, key="exact-match", names=("exact-match",)),
        ),
        "f1": _f1,
        "bleu": (_sentence, _corpus("corpus", "first")),
        "rouge": _rouge,
        "string-check": _string_check,
        "number-check": _number_check,
    },
)

#: An addition of ours to the SDK: BLEU of the corpus with all references.
OF_ALL_REFERENCES = {"corpus_all": (_corpus("corpus_all", "all"),)}

#: The open NeMo Evaluator, main branch of July 2026: whether its answers are right.
EVALUATOR = MetricDefinitions(
    "the NeMo Evaluator",
    {
        "exact_match": (
            MetricRequest(
                "em",
                {"normalisation": "nel", **_first},
                key="exact_match",
                names=("exact_match",),
            ),
        ),
        "fuzzy_match": (
            MetricRequest(
                "fuzzy-match",
                {"normalisation": "nel", "targets": "correct_answers", **_first},
                key="fuzzy_match",
                names=("fuzzy_match",),
            ),
        ),
    },
)
