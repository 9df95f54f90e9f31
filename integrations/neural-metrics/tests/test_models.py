"""sas and bertscore, with tiny models that the tests make."""

import json
import socket
import tomllib
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from harpia_formats.plugins import (
    Measure,
    Metric,
    MetricError,
    Parameters,
    UnscorableError,
)
from harpia_neural_metrics import bertscore, sas
from harpia_neural_metrics.local_model import model_name

pytestmark = pytest.mark.filterwarnings("default")  # what a model's library says

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat dog a floor paris".split()
PAIRS = [
    ("the cat sat on a mat", "a dog sat on the floor paris"),
    ("the cat", "the cat"),
    ("", "paris"),
    ("dog " * 50, "cat"),
]


def saved(path: Path, kind: str, **more: Any) -> Path:
    """Save a model of two layers and a dozen words in a folder."""
    torch = pytest.importorskip("torch", reason="it needs models")
    transformers = pytest.importorskip("transformers", reason="it needs models")
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
    getattr(transformers, kind)(config).save_pretrained(path)
    transformers.BertTokenizer(str(path / "vocab.txt")).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def bi_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model of texts."""
    return saved(tmp_path_factory.mktemp("bi"), "BertModel")


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model of pairs, whose own activation is the sigmoid."""
    path = tmp_path_factory.mktemp("cross")
    return saved(path, "BertForSequenceClassification", num_labels=1)


@pytest.fixture(scope="module")
def logit_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model of pairs that gives raw numbers."""
    path = tmp_path_factory.mktemp("logits")
    saved(path, "BertForSequenceClassification", num_labels=1)
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


def scores_of(measure: Measure, answer: str, references: Sequence[str]) -> Any:
    """Return the scores of one record."""
    return measure.scores(measure.statistics(answer, references))


# The package


def test_each_entry_point_is_the_metric_of_its_name() -> None:
    """harpia-formats finds a metric by the name that users write."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    group = "harpia_formats.metrics"

    for name, value in project["entry-points"][group].items():
        metric = EntryPoint(name, value, group).load()
        assert isinstance(metric, Metric)
        assert metric.name == name


@pytest.mark.parametrize("metric", [sas.METRIC, bertscore.METRIC])
def test_nothing_is_downloaded(metric: Metric, tmp_path: Path) -> None:
    """A name of a model and a folder without one are errors, as any bad value is."""
    for model in (None, "bert-base-uncased", str(tmp_path)):
        with pytest.raises(MetricError, match=r"model .* \(nothing is downloaded\)"):
            metric.build({"model": model})
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(MetricError, match=r"references .* must be one of max, first"):
        metric.build({"model": tmp_path, "references": "all"})
    with pytest.raises(MetricError, match="no parameter 'layers'"):
        metric.build({"layers": 1})


def test_models_in_folders_of_one_name_are_distinguished(tmp_path: Path) -> None:
    """Other weights give another name, and another place or a note does not."""
    folders = [tmp_path / place / "small" for place in "abc"]
    for folder, weights in zip(folders, (b"1", b"1", b"2"), strict=True):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(weights)
    (folders[1] / "README.md").write_text("a note")

    first, same, other = (
        model_name(Parameters("sas", {"model": folder}), folder) for folder in folders
    )

    assert first == same
    assert first != other
    assert first.startswith("small#")


@pytest.mark.parametrize("metric", [sas.METRIC, bertscore.METRIC])
@pytest.mark.parametrize("content", ["[]", '{"model_type": "bert"}'])
def test_folders_without_a_model_are_refused(
    metric: Metric, content: str, tmp_path: Path
) -> None:
    """What a library of models raises for a folder is an error in one line."""
    pytest.importorskip("sentence_transformers", reason="it needs models")
    (tmp_path / "config.json").write_text(content)

    with pytest.raises(MetricError, match="path of a folder that holds a model"):
        metric.build({"model": str(tmp_path)})


@pytest.mark.parametrize("name", ["bi_encoder", "cross_encoder"])
@pytest.mark.parametrize("metric", [sas.METRIC, bertscore.METRIC])
def test_batches_give_what_single_records_give(
    metric: Metric, name: str, request: pytest.FixtureRequest
) -> None:
    """Order, padding and repeated texts change nothing; the best reference counts."""
    model = request.getfixturevalue(name)
    measure = metric.build({"model": model, "batch_size": 3})
    first = metric.build({"model": model, "references": "first"})
    pairs = [(answer, [reference, "dog", "the cat"]) for answer, reference in PAIRS]
    assert measure.batch is not None

    for (answer, references), found in zip(pairs, measure.batch(pairs), strict=True):
        single = [scores_of(first, answer, [one]) for one in references]
        best = [max(each) for each in zip(*single, strict=True)]
        assert found == pytest.approx((*best, 1), abs=1e-5)
        assert scores_of(first, answer, references) == pytest.approx(single[0])
    assert measure.scores(()) == (None,) * len(measure.names)
    with pytest.raises(UnscorableError, match="there is no reference"):
        measure.statistics("the cat", [])


# sas


def test_bi_encoders_give_the_cosine(
    bi_encoder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Equal texts score 1, others the cosine of their embeddings."""
    measure = sas.METRIC.build({"model": str(bi_encoder)})
    assert "Loading" not in capfd.readouterr().err
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - it may be missing

    model = SentenceTransformer(str(bi_encoder), device="cpu")
    for answer, reference in PAIRS:
        one, other = (
            vector / sum(vector**2) ** 0.5
            for vector in model.encode([answer, reference]).astype(float)
        )
        assert scores_of(measure, answer, [reference]) == pytest.approx(
            [float(one @ other)], abs=1e-5
        )
    assert scores_of(measure, "the cat", ["the cat"]) == pytest.approx((1,))
    assert "|encoder:bi|similarity:cosine|refs:max|" in measure.signature
    assert not measure.is_bounded


@pytest.mark.parametrize("name", ["cross_encoder", "logit_encoder"])
def test_cross_encoders_give_the_sigmoid(
    name: str, request: pytest.FixtureRequest
) -> None:
    """A pair has the sigmoid of the model's number, whatever its own activation."""
    folder = request.getfixturevalue(name)
    measure = sas.METRIC.build({"model": folder})
    import transformers  # noqa: PLC0415 - it may be missing

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    for answer, reference in PAIRS:
        given = tokenizer(
            answer, reference, return_tensors="pt", truncation=True, max_length=32
        )
        expected = model.eval()(**given).logits.sigmoid().item()
        found = scores_of(measure, answer, [reference])
        assert found == pytest.approx([expected], abs=1e-5)
    assert "|encoder:cross|activation:sigmoid|refs:max|" in measure.signature
    assert measure.is_bounded_mean


def test_cross_encoders_with_several_labels_are_refused(tmp_path: Path) -> None:
    """There is not one number for a pair of texts."""
    saved(tmp_path, "BertForSequenceClassification", num_labels=3)

    with pytest.raises(MetricError, match="a cross-encoder with one label"):
        sas.METRIC.build({"model": str(tmp_path)})


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
    measure = sas.METRIC.build({"model": folder})
    assert measure.batch is not None
    ours = measure.batch([(answer, [one]) for answer, one in PAIRS])

    assert [score for score, _ in ours] == pytest.approx(
        theirs["individual_scores"], abs=1e-5
    )


# bertscore


def by_hand(folder: Path, answer: str, reference: str, layer: int) -> list[float]:
    """Return precision, recall and F1 as the paper defines them, word by word."""
    import transformers  # noqa: PLC0415 - it may be missing

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()

    def vectors(text: str) -> list[Any]:
        given = tokenizer(text, return_tensors="pt")
        states = model(**given, output_hidden_states=True).hidden_states[layer][0]
        return [each / each.norm() for each in states.detach()]

    mine, other = vectors(answer), vectors(reference)
    precision = [max(float(a @ b) for b in other) for a in mine[1:-1]]
    recall = [max(float(a @ b) for a in mine) for b in other[1:-1]]
    p, r = sum(precision) / len(precision), sum(recall) / len(recall)
    return [p, r, 2 * p * r / (p + r)]


@pytest.mark.parametrize("layer", [0, 1, 2, None])
def test_tokens_are_matched_by_the_definition(
    bi_encoder: Path, layer: int | None
) -> None:
    """Each word counts with its most similar one, in the layer asked for."""
    measure = bertscore.METRIC.build({"model": bi_encoder, "layer": layer})
    answer, reference = PAIRS[0]
    expected = by_hand(bi_encoder, answer, reference, 2 if layer is None else layer)

    found = scores_of(measure, answer, [reference])
    assert found == pytest.approx(expected, abs=1e-5)
    assert f"|layer:{2 if layer is None else layer}|" in measure.signature
    assert scores_of(measure, "the cat", ["the cat"]) == pytest.approx((1, 1, 1))
    assert scores_of(measure, "", ["paris"]) == (0, 0, 0)


def test_layers_that_a_model_lacks_are_refused(bi_encoder: Path) -> None:
    """The error says how many there are."""
    with pytest.raises(MetricError, match=r"layer .* is 3, but must be at most 2"):
        bertscore.METRIC.build({"model": str(bi_encoder), "layer": 3})
