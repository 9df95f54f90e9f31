"""SAS and BERTScore: how alike answers and references are to a model on this disk."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    RULES,
    Measure,
    Metric,
    Pair,
    Parameters,
    Statistics,
    means,
    read_parameters,
    references_by_rule,
    require_extra,
)

NO_FOLDER = "the path of a folder that holds a model and its tokenizer"
#: How the names of the files of a model end, and the characters of their digest.
_PARTS = frozenset({".bin", ".json", ".model", ".safetensors", ".txt"})
_DIGEST = 12
#: What the library of a model raises for a folder that it cannot load.
NOT_LOADED = (ImportError, KeyError, OSError, ValueError)


def model_folder(parameters: Parameters) -> Path:
    """Return the folder in the parameter `model`; raises `MetricError` for others."""
    model = parameters.values["model"]
    if not isinstance(model, str | Path) or not Path(model, "config.json").is_file():
        raise parameters.wrong("model", f"{NO_FOLDER} (nothing is downloaded)")
    return Path(model).resolve()


def model_name(parameters: Parameters, folder: Path) -> str:
    """Return the name of a model in signatures: its folder, and a digest of its files.

    The digest is of the configuration, the tokenizer and the weights. Raises
    `MetricError` for a file that cannot be read.
    """
    from hashlib import file_digest, sha256  # noqa: PLC0415 - only with a model

    found = sha256()
    try:
        for file in sorted(folder.rglob("*")):
            if file.suffix in _PARTS and file.is_file():
                with file.open("rb") as content:
                    part = file_digest(content, "sha256")
                found.update(file.relative_to(folder).as_posix().encode() + b"\n")
                found.update(part.digest())
    except OSError as error:
        raise no_model(parameters, error) from error
    return f"{folder.name}#{found.hexdigest()[:_DIGEST]}"


def no_model(parameters: Parameters, error: Exception) -> Exception:
    """Return the `MetricError` for a folder that a library could not load."""
    reason = str(error).strip().partition("\n")[0]
    return parameters.wrong("model", f"{NO_FOLDER} ({reason})")


@contextmanager
def without_progress_bar() -> Iterator[None]:
    """Keep transformers from printing a progress bar while it loads a model."""
    from transformers.utils import logging  # noqa: PLC0415 - in extras, and slow to import

    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


SAS_DEFAULTS = {"model": None, "batch_size": 32, "references": "max"}
#: Returns a score for each pair of an answer and one reference.
Compare = Callable[[Sequence[tuple[str, str]]], list[float]]
#: The end of the names of architectures that are cross-encoders.
_CROSS = "ForSequenceClassification"


def _sas_measure(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("sas", SAS_DEFAULTS, given)
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


SAS_METRIC = Metric(
    "sas",
    "The mean similarity of answers and references by the model in a local folder: the "
    "cosine of a bi-encoder's embeddings, or a cross-encoder's number for the pair.",
    SAS_DEFAULTS,
    _sas_measure,
)


NAMES = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
BERTSCORE_DEFAULTS = {
    "model": None,
    "layer": None,
    "batch_size": 64,
    "references": "max",
}
#: The unit vectors of the tokens of a text, and a mask of the tokens that are words.
Embedded = tuple[Any, Any]
Embed = Callable[[Sequence[str]], list[Embedded]]


def _bertscore_measure(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("bertscore", BERTSCORE_DEFAULTS, given)
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


BERTSCORE_METRIC = Metric(
    "bertscore",
    "The mean BERTScore by the model in a local folder: precision, recall and F1 of "
    "tokens matched with the most similar one.",
    BERTSCORE_DEFAULTS,
    _bertscore_measure,
)
