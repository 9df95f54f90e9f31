"""sas: semantic answer similarity, as Haystack's SASEvaluator computes it."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harpia_formats.plugins import Measure, Metric, Pair, Parameters, read_parameters
from harpia_neural_metrics.local_model import (
    RULES,
    best_measure,
    loading,
    model_folder,
    model_name,
    without_progress_bar,
)

if TYPE_CHECKING:  # slow to import, and only for those who use the metric
    from torch import Tensor

NAME = "sas"
DEFAULTS = {"model": None, "batch_size": 32, "references": "max"}
#: Returns the similarity of each pair of an answer and one reference.
Similarity = Callable[[Sequence[tuple[str, str]]], "Tensor"]
#: The end of the names of architectures that are cross-encoders.
_CROSS = "ForSequenceClassification"


def build(given: Mapping[str, Any]) -> Measure:
    """Return the metric with the parameters `given`; raises `MetricError`."""
    parameters = read_parameters(NAME, DEFAULTS, given)
    folder = model_folder(parameters)
    rule = parameters.choice("references", RULES)
    with loading(parameters):
        import sentence_transformers  # noqa: PLC0415 - slow to import

        is_cross = _is_cross_encoder(folder)
        with without_progress_bar():
            load = _cross_encoder if is_cross else _bi_encoder
            similarity = load(parameters, folder)

    def compare(pairs: Sequence[Pair]) -> list[list[tuple[float, ...]]]:
        every = [(answer, one) for answer, references in pairs for one in references]
        found = iter(similarity(every).tolist())
        return [[(next(found),) for _ in references] for _, references in pairs]

    kind = "cross|activation:sigmoid" if is_cross else "bi|similarity:cosine"
    signature = (
        f"{NAME}|impl:sentence-transformers-{sentence_transformers.__version__}"
        f"|model:{model_name(parameters, folder)}|encoder:{kind}"
    )
    return best_measure((NAME,), signature, compare, rule, is_bounded=is_cross)


def _is_cross_encoder(folder: Path) -> bool:
    """Tell whether the configuration of a model names a cross-encoder."""
    config = json.loads((folder / "config.json").read_bytes())
    names = config.get("architectures") or []
    return any(str(name).endswith(_CROSS) for name in names)


def _bi_encoder(parameters: Parameters, folder: Path) -> Similarity:
    """Return what computes the cosine of the embeddings of both texts."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - slow to import
    from torch.nn.functional import cosine_similarity  # noqa: PLC0415 - slow to import

    size = parameters.whole("batch_size", 1)
    model: Any = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def similarity(pairs: Sequence[tuple[str, str]]) -> "Tensor":
        # A text that several pairs have is embedded once.
        places: dict[str, int] = {}
        for text in (text for pair in pairs for text in pair):
            places.setdefault(text, len(places))
        vectors = model.encode(
            list(places),
            batch_size=size,
            convert_to_tensor=True,
            show_progress_bar=False,
        ).double()
        ours, theirs = (
            vectors[[places[pair[side]] for pair in pairs]] for side in (0, 1)
        )
        return cosine_similarity(ours, theirs, dim=1)

    return similarity


def _cross_encoder(parameters: Parameters, folder: Path) -> Similarity:
    """Return what asks the model for the number of a pair of texts.

    Raises `MetricError` for a model with several labels, which has no such number.
    """
    from sentence_transformers import CrossEncoder  # noqa: PLC0415 - slow to import
    from torch.nn import Sigmoid  # noqa: PLC0415 - slow to import

    size = parameters.whole("batch_size", 1)
    model: Any = CrossEncoder(str(folder), device="cpu", local_files_only=True)
    if model.config.num_labels != 1:
        raise parameters.wrong("model", "a cross-encoder with one label")
    is_sigmoid = isinstance(model.activation_fn, Sigmoid)

    def similarity(pairs: Sequence[tuple[str, str]]) -> "Tensor":
        scores: Tensor = model.predict(
            list(pairs),
            batch_size=size,
            convert_to_tensor=True,
            show_progress_bar=False,
        ).double()
        return scores if is_sigmoid else scores.sigmoid()

    return similarity


METRIC = Metric(
    NAME,
    "The mean similarity of answers and references by the model in a local folder: the "
    "cosine of a bi-encoder's embeddings, or a cross-encoder's number for the pair.",
    DEFAULTS,
    build,
)
