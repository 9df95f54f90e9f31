"""BERTScore: the similarity of the tokens of answers and references by a model.

Source: Zhang and others, BERTScore: Evaluating Text Generation with BERT (2020),
without weights for rare tokens (idf) and without rescaling by a baseline. Precision,
recall and F1 are means of cosine similarities, from -1 to 1.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from harpia_formats.evaluation.metrics.metric import (
    Measure,
    Metric,
    Pair,
    Statistics,
)
from harpia_formats.evaluation.metrics.parameters import (
    Parameters,
    read_parameters,
    require_extra,
)
from harpia_formats.evaluation.metrics.references import RULES, references_by_rule

NAMES = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
DEFAULTS = {"model": None, "layer": None, "batch_size": 64, "references": "max"}
#: The unit vectors of the tokens of a text, and a mask of the tokens that are words.
Embedded = tuple[Any, Any]
Embed = Callable[[Sequence[str]], list[Embedded]]


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("bertscore", DEFAULTS, given)
    folder = model_folder(parameters)
    size = parameters.whole("batch_size", 1)
    rule = parameters.choice("references", RULES)
    with require_extra("bertscore", "bertscore"):
        import transformers  # noqa: PLC0415 - in the extra bertscore, and slow to import
    embed, layer = _embedding(parameters, folder, size)

    def batch(pairs: Sequence[Pair]) -> list[Statistics]:
        selected = [
            (answer, references_by_rule(references, rule))
            for answer, references in pairs
        ]
        vectors = iter(embed([text for one, many in selected for text in (one, *many)]))
        return [_best(vectors, len(references)) for _, references in selected]

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        return batch([(answer, references)])[0]

    signature = (
        f"bertscore|impl:transformers-{transformers.__version__}"
        f"|model:{model_name(parameters, folder)}"
        f"|layer:{layer}|idf:no|rescaled:no|refs:{rule}|scale:0-1"
    )
    return Measure(NAMES, signature, "0-1", statistics, means(3), batch, is_mean=True)


def _embedding(parameters: Parameters, folder: Path, size: int) -> tuple[Embed, int]:
    """Return a function that embeds texts, and the number of the layer it uses."""
    with require_extra("bertscore", "bertscore"):
        import torch  # noqa: PLC0415 - in the extra bertscore, and slow to import
        from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415 - in the extra bertscore
    try:
        with without_progress_bar():
            tokenizer: Any = AutoTokenizer.from_pretrained(
                folder, local_files_only=True
            )
            model: Any = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    except NOT_LOADED as error:
        raise no_model(parameters, error) from error
    layers = int(model.config.num_hidden_layers)
    layer = layers if parameters.values["layer"] is None else parameters.whole("layer")
    if layer > layers:
        raise parameters.wrong("layer", f"at most {layers}, as many as the model has")
    options = {
        "max_length": _longest(tokenizer, model),
        "padding": True,
        "truncation": True,
        "return_special_tokens_mask": True,
        "return_tensors": "pt",
    }

    def vectors(texts: Sequence[str]) -> Iterator[Embedded]:
        encoded = tokenizer(texts, **options)
        special = encoded.pop("special_tokens_mask").bool()
        with torch.inference_mode():
            states = model(**encoded, output_hidden_states=True).hidden_states[layer]
        states = torch.nn.functional.normalize(states.double(), dim=-1)
        mask = encoded["attention_mask"].bool()
        for state, seen, marks in zip(states, mask, special, strict=True):
            yield state[seen], ~marks[seen]

    return _in_batches(vectors, size), layer


def _in_batches(
    vectors: Callable[[Sequence[str]], Iterator[Embedded]], size: int
) -> Embed:
    def embed(texts: Sequence[str]) -> list[Embedded]:
        found: dict[int, Embedded] = {}
        # Texts of similar lengths share a batch, so that little is padded.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(order), size):
            places = order[start : start + size]
            batch = vectors([texts[place].strip() for place in places])
            found.update(zip(places, batch, strict=True))
        return [found[place] for place in range(len(texts))]

    return embed


def _longest(tokenizer: Any, model: Any) -> int:
    """Return the number of tokens after which a text is cut."""
    limit = getattr(model.config, "max_position_embeddings", None) or 512
    return min(int(tokenizer.model_max_length), int(limit))


def _best(vectors: Iterator[Embedded], references: int) -> Statistics:
    mine = next(vectors)
    found = [_scores(mine, next(vectors)) for _ in range(references)]
    return (*map(max, zip(*found, strict=True)), 1)


def _scores(answer: Embedded, reference: Embedded) -> tuple[float, float, float]:
    """Return precision, recall and F1 of two texts, 0 if one is empty.

    Special tokens, such as those of the start and the end, may be matched but are left
    out of the means.
    """
    (mine, words), (other, other_words) = answer, reference
    if not words.any() or not other_words.any():
        return 0.0, 0.0, 0.0
    likeness = mine @ other.T
    precision = likeness.max(dim=1).values[words].mean().item()
    recall = likeness.max(dim=0).values[other_words].mean().item()
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


METRIC = Metric(
    "bertscore",
    "The mean BERTScore by the model in a local folder: precision, recall and F1 of "
    "tokens matched with the most similar one.",
    DEFAULTS,
    _measure_of,
)
