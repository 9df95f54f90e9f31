"""Semantic answer similarity, with tiny models that the tests make."""

import json
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harpia_formats.evaluation.metrics import Measure, MetricError, measure_of

torch = pytest.importorskip("torch", reason="the extra sas is not installed")
sentence_transformers = pytest.importorskip(
    "sentence_transformers", reason="the extra sas is not installed"
)
transformers = pytest.importorskip(
    "transformers", reason="the extra sas is not installed"
)
pytestmark = pytest.mark.filterwarnings("default")  # what a model's library says

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat dog a floor paris".split()
PAIRS = [
    ("the cat sat on a mat", "a dog sat on the floor paris"),
    ("the cat", "the cat"),
    ("", "paris"),
    ("dog " * 50, "cat"),
]


def _saved(path: Path, kind: Any, **more: Any) -> Path:
    """Save a model of two layers and a dozen words in a folder."""
    (path / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        initializer_range=1.0,
        **more,
    )
    kind(config).save_pretrained(path)
    transformers.BertTokenizer(str(path / "vocab.txt")).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def bi_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model of texts."""
    return _saved(tmp_path_factory.mktemp("bi"), transformers.BertModel)


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model of pairs, whose own activation is the sigmoid."""
    kind = transformers.BertForSequenceClassification
    return _saved(tmp_path_factory.mktemp("cross"), kind, num_labels=1)


@pytest.fixture(scope="module")
def logit_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model of pairs that gives raw numbers."""
    kind = transformers.BertForSequenceClassification
    path = _saved(tmp_path_factory.mktemp("logits"), kind, num_labels=1)
    config = json.loads((path / "config.json").read_text())
    own = {"activation_fn": "torch.nn.modules.linear.Identity", "version": "5.0.0"}
    (path / "config.json").write_text(
        json.dumps({**config, "sentence_transformers": own})
    )
    return path


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def score_of(measure: Measure, answer: str, references: Sequence[str]) -> Any:
    """Return the score of one record."""
    (found,) = measure.scores(measure.statistics(answer, references))
    return found


def test_bi_encoders_give_the_cosine(
    bi_encoder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Equal texts score 1, others the cosine of their embeddings."""
    measure = measure_of("sas", {"model": str(bi_encoder)})
    assert "Loading" not in capfd.readouterr().err
    model = sentence_transformers.SentenceTransformer(str(bi_encoder), device="cpu")

    for answer, reference in PAIRS:
        one, other = (
            vector / sum(vector**2) ** 0.5
            for vector in model.encode([answer, reference]).astype(float)
        )
        assert score_of(measure, answer, [reference]) == pytest.approx(
            float(one @ other), abs=1e-5
        )
    assert score_of(measure, "the cat", ["the cat"]) == pytest.approx(1)
    assert "|encoder:bi|similarity:cosine|refs:max|" in measure.signature
    assert not measure.is_bounded


@pytest.mark.parametrize("name", ["cross_encoder", "logit_encoder"])
def test_cross_encoders_give_the_sigmoid(
    name: str, request: pytest.FixtureRequest
) -> None:
    """A pair has the sigmoid of the model's number, whatever its own activation."""
    folder = request.getfixturevalue(name)
    measure = measure_of("sas", {"model": folder})
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)

    for answer, reference in PAIRS:
        given = tokenizer(
            answer, reference, return_tensors="pt", truncation=True, max_length=32
        )
        with torch.no_grad():
            expected = model.eval()(**given).logits.sigmoid().item()
        found = score_of(measure, answer, [reference])
        assert found == pytest.approx(expected, abs=1e-5)
    assert "|encoder:cross|activation:sigmoid|refs:max|" in measure.signature
    assert measure.is_bounded_mean


@pytest.mark.parametrize("name", ["bi_encoder", "cross_encoder"])
def test_batches_give_what_single_records_give(
    name: str, request: pytest.FixtureRequest
) -> None:
    """Order and repeated texts change nothing; the best reference counts."""
    measure = measure_of("sas", {"model": request.getfixturevalue(name)})
    first = measure_of(
        "sas", {"model": request.getfixturevalue(name), "references": "first"}
    )
    pairs = [(answer, [reference, "dog", "the cat"]) for answer, reference in PAIRS]
    assert measure.batch is not None

    for pair, found in zip(pairs, measure.batch(pairs), strict=True):
        single = [score_of(first, pair[0], [one]) for one in pair[1]]
        assert found == pytest.approx((max(single), 1), abs=1e-5)
        assert score_of(first, *pair) == pytest.approx(single[0], abs=1e-5)


def test_models_of_other_kinds_are_refused(tmp_path: Path) -> None:
    """A folder without a model is an error, and so is one with several labels."""
    with pytest.raises(MetricError, match="nothing is downloaded"):
        measure_of("sas", {"model": str(tmp_path)})
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(MetricError, match="path of a folder that holds a model"):
        measure_of("sas", {"model": str(tmp_path)})
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(MetricError, match="path of a folder that holds a model"):
        measure_of("sas", {"model": str(tmp_path)})
    kind = transformers.BertForSequenceClassification
    with pytest.raises(MetricError, match="a cross-encoder with one label"):
        measure_of("sas", {"model": str(_saved(tmp_path, kind, num_labels=3))})


@pytest.mark.parametrize("name", ["bi_encoder", "cross_encoder", "logit_encoder"])
def test_scores_are_those_of_haystack(
    name: str, request: pytest.FixtureRequest
) -> None:
    """Every score equals that of Haystack's evaluator, to the model's precision."""
    haystack = pytest.importorskip(
        "haystack.components.evaluators", reason="haystack-ai is not installed"
    )
    folder = str(request.getfixturevalue(name))
    answers, references = zip(*PAIRS, strict=True)
    theirs = haystack.SASEvaluator(model=folder, token=None).run(
        ground_truth_answers=list(references), predicted_answers=list(answers)
    )
    measure = measure_of("sas", {"model": folder})
    assert measure.batch is not None
    ours = measure.batch([(answer, [one]) for answer, one in PAIRS])

    assert [score for score, _ in ours] == pytest.approx(
        theirs["individual_scores"], abs=1e-5
    )
