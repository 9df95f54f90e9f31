"""BERTScore, with a tiny model that the tests make."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harpia_formats.evaluation.metrics import Measure, MetricError, measure_of

torch = pytest.importorskip("torch", reason="the extra bertscore is not installed")
transformers = pytest.importorskip(
    "transformers", reason="the extra bertscore is not installed"
)
pytestmark = pytest.mark.filterwarnings("default")  # what a model's library says

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat dog a floor paris".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model of two layers and a dozen words."""
    path = tmp_path_factory.mktemp("model")
    (path / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
    )
    transformers.BertModel(config).save_pretrained(path)
    transformers.BertTokenizer(str(path / "vocab.txt")).save_pretrained(path)
    return path


def score_of(
    measure: Measure, answer: str, references: Sequence[str]
) -> tuple[float | None, ...]:
    """Return precision, recall and F1 of one record."""
    return measure.scores(measure.statistics(answer, references))


def test_equal_texts_are_alike(folder: Path) -> None:
    """A text has precision, recall and F1 of 1 against itself."""
    measure = measure_of("bertscore", {"model": str(folder)})

    assert measure.names == ("bertscore_precision", "bertscore_recall", "bertscore_f1")
    assert score_of(measure, "the cat sat", ["the cat sat"]) == pytest.approx((1, 1, 1))


def by_hand(folder: Path, answer: str, reference: str, layer: int) -> list[float]:
    """Return precision, recall and F1 as the paper defines them, word by word."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()

    def vectors(text: str) -> list[Any]:
        with torch.no_grad():
            given = tokenizer(text, return_tensors="pt")
            states = model(**given, output_hidden_states=True).hidden_states[layer][0]
        return [each / each.norm() for each in states]

    mine, other = vectors(answer), vectors(reference)
    precision = [max(float(a @ b) for b in other) for a in mine[1:-1]]
    recall = [max(float(a @ b) for a in mine) for b in other[1:-1]]
    p, r = sum(precision) / len(precision), sum(recall) / len(recall)
    return [p, r, 2 * p * r / (p + r)]


@pytest.mark.parametrize("layer", [0, 1, 2, None])
def test_scores_are_those_of_the_definition(folder: Path, layer: int | None) -> None:
    """Each word counts with its most similar one, in the layer asked for."""
    measure = measure_of("bertscore", {"model": folder, "layer": layer})
    pair = ("the cat sat on a mat", "a dog sat on the floor paris")
    expected = by_hand(folder, *pair, 2 if layer is None else layer)

    assert score_of(measure, pair[0], [pair[1]]) == pytest.approx(expected, abs=1e-5)
    assert f"|layer:{2 if layer is None else layer}|" in measure.signature


def test_batches_give_what_single_records_give(folder: Path) -> None:
    """Padding and order change nothing, with several references of any length."""
    measure = measure_of("bertscore", {"model": str(folder), "batch_size": 3})
    pairs = [
        ("the cat", ["the cat sat on the mat", "dog"]),
        ("", ["paris"]),
        ("dog " * 50, ["cat"]),
        ("paris", ["a", "the", "paris"]),
    ]
    assert measure.batch is not None
    found = measure.batch(pairs)

    for pair, each in zip(pairs, found, strict=True):
        assert each == pytest.approx(measure.statistics(*pair), abs=1e-5)
    assert found[1] == (0, 0, 0, 1)


def test_nothing_is_downloaded(folder: Path, tmp_path: Path) -> None:
    """A folder without a model is an error, and so is a layer that does not exist."""
    with pytest.raises(MetricError, match="nothing is downloaded"):
        measure_of("bertscore", {"model": str(tmp_path)})
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(MetricError, match="path of a folder that holds a model"):
        measure_of("bertscore", {"model": str(tmp_path)})
    with pytest.raises(MetricError, match=r"layer .* is 3, but must be at most 2"):
        measure_of("bertscore", {"model": str(folder), "layer": 3})
