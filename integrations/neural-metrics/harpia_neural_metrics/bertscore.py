"""bertscore: each token of a text is matched with the most similar one of the other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harpia_formats.plugins import Measure, Metric, Pair, Parameters, read_parameters
from harpia_neural_metrics.local_model import (
    RULES,
    best_measure,
    loading,
    model_folder,
    model_name,
    without_progress_bar,
)

NAME = "bertscore"
SCORES = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
#: Without `layer` the vectors are those of the last layer.
DEFAULTS = {"model": None, "layer": None, "batch_size": 64, "references": "max"}
#: The unit vectors of the tokens of a text, and a mask of the tokens that are words.
Embedded = tuple[Any, Any]


def build(given: Mapping[str, Any]) -> Measure:
    """Return the metric with the parameters `given`; raises `MetricError`."""
    parameters = read_parameters(NAME, DEFAULTS, given)
    folder = model_folder(parameters)
    size = parameters.whole("batch_size", 1)
    rule = parameters.choice("references", RULES)
    with loading(parameters):
        import transformers  # noqa: PLC0415 - slow to import

        embed, layer = _embedding(parameters, folder)

    def compare(pairs: Sequence[Pair]) -> list[list[tuple[float, ...]]]:
        texts = [text for answer, references in pairs for text in (answer, *references)]
        vectors = iter(_in_batches(embed, texts, size))
        found: list[list[tuple[float, ...]]] = []
        for _, references in pairs:
            mine = next(vectors)
            found.append([_scores(mine, next(vectors)) for _ in references])
        return found

    signature = (
        f"{NAME}|impl:transformers-{transformers.__version__}"
        f"|model:{model_name(parameters, folder)}|layer:{layer}|idf:no|rescaled:no"
    )
    return best_measure(SCORES, signature, compare, rule)


def _embedding(
    parameters: Parameters, folder: Path
) -> tuple[Callable[[Sequence[str]], Iterator[Embedded]], int]:
    """Return a function that embeds texts, and the number of the layer it uses."""
    import torch  # noqa: PLC0415 - slow to import
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415 - slow to import

    with without_progress_bar():
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model: Any = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    layers = int(model.config.num_hidden_layers)
    layer = layers if parameters.values["layer"] is None else parameters.whole("layer")
    if layer > layers:
        raise parameters.wrong("layer", f"at most {layers}, as many as the model has")
    longest = int(getattr(model.config, "max_position_embeddings", None) or 512)
    options = {
        "max_length": min(int(tokenizer.model_max_length), longest),
        "padding": True,
        "truncation": True,
        "return_special_tokens_mask": True,
        "return_tensors": "pt",
    }

    def embed(texts: Sequence[str]) -> Iterator[Embedded]:
        encoded = tokenizer(texts, **options)
        special = encoded.pop("special_tokens_mask").bool()
        with torch.inference_mode():
            states = model(**encoded, output_hidden_states=True).hidden_states[layer]
        states = torch.nn.functional.normalize(states.double(), dim=-1)
        mask = encoded["attention_mask"].bool()
        for state, seen, marks in zip(states, mask, special, strict=True):
            yield state[seen], ~marks[seen]

    return embed, layer


def _in_batches(
    embed: Callable[[Sequence[str]], Iterator[Embedded]],
    texts: Sequence[str],
    size: int,
) -> list[Embedded]:
    """Return the texts embedded, of which those of similar lengths share a batch.

    So little is padded.
    """
    found: dict[int, Embedded] = {}
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for start in range(0, len(order), size):
        places = order[start : start + size]
        batch = embed([texts[place].strip() for place in places])
        found.update(zip(places, batch, strict=True))
    return [found[place] for place in range(len(texts))]


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
    NAME,
    "The mean BERTScore by the model in a local folder: precision, recall and F1 of "
    "tokens matched with the most similar one.",
    DEFAULTS,
    build,
)
