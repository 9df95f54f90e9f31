"""Semantic answer similarity (SAS): how alike answers and references are to a model.

Source: Risch and others, Semantic Answer Similarity for Evaluating Question Answering
Models (2021), as SASEvaluator of Haystack 3.4 computes it. A bi-encoder gives the
cosine of two embeddings, from -1 to 1; a cross-encoder gives a number for the pair, to
which the sigmoid is applied unless its own activation is one.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harpia_formats.evaluation.metrics.local_model import (
    NOT_LOADED,
    model_folder,
    model_name,
    no_model,
    without_progress_bar,
)
from harpia_formats.evaluation.metrics.mean import means
from harpia_formats.evaluation.metrics.metric import Measure, Metric, Pair, Statistics
from harpia_formats.evaluation.metrics.parameters import (
    Parameters,
    read_parameters,
    require_extra,
)
from harpia_formats.evaluation.metrics.references import RULES, references_by_rule

DEFAULTS = {"model": None, "batch_size": 32, "references": "max"}
#: Returns a score for each pair of an answer and one reference.
Compare = Callable[[Sequence[tuple[str, str]]], list[float]]
#: The end of the names of architectures that are cross-encoders.
_CROSS = "ForSequenceClassification"


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("sas", DEFAULTS, given)
    folder = model_folder(parameters)
    size = parameters.whole("batch_size", 1)
    rule = parameters.choice("references", RULES)
    with require_extra("sas", "sas"):
        import sentence_transformers  # noqa: PLC0415 - in the extra sas, and slow to import
    is_cross = _is_cross_encoder(parameters, folder)
    load = _cross_encoder if is_cross else _bi_encoder
    try:
        with without_progress_bar():
            compare, kind = load(folder, size)
    except NOT_LOADED as error:
        raise no_model(parameters, error) from error
    if compare is None:
        raise parameters.wrong("model", "a cross-encoder with one label")

    def batch(pairs: Sequence[Pair]) -> list[Statistics]:
        selected = [
            [(answer, reference) for reference in references_by_rule(references, rule)]
            for answer, references in pairs
        ]
        found = iter(compare([pair for many in selected for pair in many]))
        return [(max(next(found) for _ in many), 1) for many in selected]

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        return batch([(answer, references)])[0]

    signature = (
        f"sas|impl:sentence-transformers-{sentence_transformers.__version__}"
        f"|model:{model_name(parameters, folder)}|{kind}|refs:{rule}|scale:0-1"
    )
    return Measure(
        ("sas",),
        signature,
        "0-1",
        statistics,
        means(1),
        batch,
        is_mean=True,
        is_bounded=is_cross,
    )


def _is_cross_encoder(parameters: Parameters, folder: Path) -> bool:
    """Tell whether the configuration of a model names a cross-encoder."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
        names = config.get("architectures") or []
        return any(str(name).endswith(_CROSS) for name in names)
    except (AttributeError, TypeError, *NOT_LOADED) as error:
        raise no_model(parameters, error) from error


def _bi_encoder(folder: Path, size: int) -> tuple[Compare | None, str]:
    """Return the cosine of embeddings, and what the signature says of it."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - in the extra sas
    from torch.nn.functional import cosine_similarity  # noqa: PLC0415 - in the extra sas

    model: Any = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def compare(pairs: Sequence[tuple[str, str]]) -> list[float]:
        # A text that several pairs have is embedded once.
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = model.encode(
            texts, batch_size=size, convert_to_tensor=True, show_progress_bar=False
        ).double()
        places = {text: place for place, text in enumerate(texts)}
        ours, theirs = (
            vectors[[places[pair[side]] for pair in pairs]] for side in (0, 1)
        )
        found: list[float] = cosine_similarity(ours, theirs, dim=1).tolist()
        return found

    return compare, "encoder:bi|similarity:cosine"


def _cross_encoder(folder: Path, size: int) -> tuple[Compare | None, str]:
    """Return the number for a pair, and what the signature says of it.

    There is no such number for a model with several labels.
    """
    from sentence_transformers import CrossEncoder  # noqa: PLC0415 - in the extra sas
    from torch import Tensor  # noqa: PLC0415 - in the extra sas
    from torch.nn import Sigmoid  # noqa: PLC0415 - in the extra sas

    model: Any = CrossEncoder(str(folder), device="cpu", local_files_only=True)
    if model.config.num_labels != 1:
        return None, ""
    is_sigmoid = isinstance(model.activation_fn, Sigmoid)

    def compare(pairs: Sequence[tuple[str, str]]) -> list[float]:
        scores: Tensor = model.predict(
            list(pairs),
            batch_size=size,
            convert_to_tensor=True,
            show_progress_bar=False,
        ).double()
        found: list[float] = (scores if is_sigmoid else scores.sigmoid()).tolist()
        return found

    return compare, "encoder:cross|activation:sigmoid"


METRIC = Metric(
    "sas",
    "The mean similarity of answers and references by the model in a local folder: the "
    "cosine of a bi-encoder's embeddings, or a cross-encoder's number for the pair.",
    DEFAULTS,
    _measure_of,
)
