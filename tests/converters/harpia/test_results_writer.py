"""HarpIA's own metrics, and its output and log."""

import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cases import for_each_case
from harpia_converters.harpia.profile import requests_of
from harpia_converters.harpia.results_writer import entries_of
from harpia_formats import Header, ScoreError, validate
from harpia_formats.evaluation.scoring.results.scores import Scores
from json_lines import jsonl_rows, strict_json
from unchecked import score

pytest.importorskip("nltk", reason="HarpIA's BLEU needs the extra score")

FIXTURES = Path(__file__).parents[3] / "fixtures"
HARPIA = sorted((FIXTURES / "harpia" / "valid").glob("*"))
#: Inputs whose only BLEU has parameters without names, or is not enabled.
WITHOUT = {"H107-list.json", "H101+H105-underscore-and-enabled.json"}
COMPUTED = [
    each
    for each in HARPIA
    if b"BLEU-NLTK" in each.read_bytes() and each.name not in WITHOUT
]
NOT_COMPUTED = [each for each in HARPIA if each not in COMPUTED]
ONE_DISABLED = FIXTURES / "harpia" / "valid" / "one-disabled.json"
TRANSLATIONS = FIXTURES / "harpia" / "valid" / "translations.json"
WEIGHTS = [0.25, 0.25, 0.25, 0.25]
HASTE = "A ação foi rápida e não tem "
PAIRS = {
    "exact": ("Paris", ["Paris"]),
    "partial": ("The dog sat on the floor.", ["The cat sat on the mat."]),
    "multi": (
        "The cat is on the mat.",
        ["The cat sits on the mat.", "A cat is sitting on the mat."],
    ),
    "pt": (f"{HASTE}preço.", [f"{HASTE}custo."]),
    "empty": ("", ["Paris"]),
}
#: BLEU by smoothing method; that of `multi` is clipped by all references.
SMOOTHED: dict[str | None, tuple[float | None, float, float, float]] = {
    None: (1.82183e-231, 6.20602e-78, 8.16758e-78, 0.840896),
    "method0": (1.82183e-231, 6.20602e-78, 8.16758e-78, 0.840896),
    "method1": (0.177828, 0.217119, 0.285744, 0.840896),
    "method2": (0.594604, 0.427287, 0.537285, 0.859948),
    "method3": (0.353553, 0.324668, 0.427287, 0.840896),
    "method4": (1, 0.251198, 0.330596, 0.840896),
    "method5": (0.19245, 0.319507, 0.441096, 0.94823),
    "method6": (None, 0.279307, 0.502025, 0.843687),
    "method7": (0.19245, 0.348268, 0.471521, 0.94823),
}


def bleu(id_: str = "BLEU-NLTK", **parameters: Any) -> dict[str, Any]:
    """Return a metric of an input that is enabled."""
    return {"id": id_, "enable": True, "parameters": parameters}


def input_of(metrics: Any, *pairs: tuple[Any, Any]) -> bytes:
    """Return an input with the instances `1`, `2` and so on."""
    instances = [
        {
            "id": f"{number}",
            "input": "?",
            "expected-output": references,
            "actual-output": text,
        }
        for number, (text, references) in enumerate(pairs, 1)
    ]
    return json.dumps({"instances": instances, "metrics": metrics}).encode()


def written(data: Any, to: str = "output", **options: Any) -> tuple[bytes, Scores]:
    """Return what is written of some records, and the scores."""
    output = io.BytesIO()
    options = {"replicates": 0} | options
    scores = score(data, to=f"harpia-{to}", output=output, **options)
    return output.getvalue(), scores


def items_of(data: Any, **options: Any) -> Any:
    """Return the output of some records, decoded."""
    return strict_json(written(data, **options)[0])


def log_of(data: Any, **options: Any) -> list[Any]:
    """Return the lines of the log of some records, decoded."""
    data, _ = written(data, "log", **options)
    return jsonl_rows(data)


def problems_of(
    data: bytes, to: str, folder: Path, companion: bytes | Path | None = None
) -> list[str]:
    """Return the remarks on an output or a log, against its input if there is one."""
    options: dict[str, Any] = {"format": f"harpia-{to}", "strict": True, "lint": True}
    options["ignore"] = ("J204",)  # the ids of the records are large
    if companion is not None:
        path = companion if isinstance(companion, Path) else folder / "input.json"
        if isinstance(companion, bytes):
            path.write_bytes(companion)
        options["companion"] = path
    return [each.code for each in validate(data, **options).problems]


def requests_for(*metrics: Any) -> Any:
    """Return what an input asks for that has these metrics."""
    return list(requests_of(Header(metrics=list(metrics))))


# -- which metrics --------------------------------------------------------------------


@for_each_case("id_", ["BLEU", "bleu", "BLEU-NLTK", "bleu.nltk", "NLTK BLEU", "BLEU-4"])
def test_spellings_of_bleu(id_: str) -> None:
    """BLEU is known under any plain spelling, and is NLTK's."""
    (found,) = requests_for(bleu(id_, smoothing_function="method1"))

    assert (found.metric, found.unavailable_reason, found.key) == ("nltk-bleu", "", id_)
    assert found.parameters == {"smoothing_function": "method1", "references": "max"}


@for_each_case(
    "id_", ["SacreBLEU", "self-bleu", "google_bleu", "corpus-bleu", "chrF", "em", "度"]
)
def test_other_metrics_are_unknown(id_: str) -> None:
    """Any other id is unknown, a metric of our own of that name or not."""
    (found,) = requests_for(bleu(id_))

    assert found.metric == id_
    assert f"{id_} is not a known metric of HarpIA" in found.unavailable_reason


@pytest.mark.parametrize("id_", ["BERTScore", "BERTScore-HF", "bert_score"])
def test_parameters_of_bertscore(id_: str) -> None:
    """Parameters that change the number are used or refused; others are ignored."""
    given = {"model_type": "a/folder", "num_layers": 9, "lang": "en", "idf": False}
    (found,) = requests_for(bleu(id_, **given))
    refused = [
        requests_for(bleu(id_, **{each: True}))[0].unavailable_reason
        for each in ("idf", "all_layers", "rescale_with_baseline")
    ]

    expected = {"model": "a/folder", "layer": 9, "references": "max"}
    assert (found.metric, found.parameters) == ("bertscore", expected)
    assert found.names == ("precision", "recall", "f1")
    assert all("set the parameter to false or remove it" in each for each in refused)
    assert "has no parameter" in requests_for(bleu(id_, layers=3))[0].unavailable_reason


def test_enabled_metrics_only() -> None:
    """A disabled metric is not computed; one without `enable` is."""
    found = requests_for(
        bleu("BLEU"),
        {"id": "off", "enable": False, "parameters": {}},
        {"id": "off", "enable": "false"},
        {"id": "nltk-bleu"},
    )

    assert [each.key for each in found] == ["BLEU", "nltk-bleu"]
    assert requests_for() == []
    assert list(requests_of(Header())) == []


@for_each_case("method", SMOOTHED)
def test_numbers_of_nltk(method: str | None) -> None:
    """BLEU is NLTK's of words between spaces, by every smoothing method."""
    metric = bleu(weights=WEIGHTS, smoothing_function=method, auto_reweigh=False)
    data = input_of([metric], *PAIRS.values())

    clipped = {"BLEU-NLTK.references": "clip"}
    results = [each["result"] for each in log_of(data, parameters=clipped)]

    exact, *others = SMOOTHED[method]
    assert results[0] == (None if exact is None else pytest.approx(exact, rel=1e-4))
    assert results[1:] == pytest.approx([*others, 0], rel=1e-4)


def test_the_best_reference_counts() -> None:
    """By default each reference is compared alone, and the best result counts."""
    metric = bleu(smoothing_function="method1")
    text, references = PAIRS["multi"]
    alone = [(text, [each]) for each in references]
    data = input_of([metric], (text, references), *alone)

    results = [each["result"] for each in log_of(data)]

    assert results[0] == max(results[1:])
    assert results[1] != results[2]


def test_weights_for_short_answers() -> None:
    """auto_reweigh gives an answer of one word its own weights."""
    reweighed = bleu(weights=WEIGHTS, auto_reweigh=True)

    (item,) = items_of(input_of([reweighed], PAIRS["exact"]))

    assert item["score"] == 1.0


@for_each_case(
    "metrics, message",
    [
        ([bleu("METEOR")], "METEOR is not a known metric of HarpIA"),
        ([bleu(weights=[0.5])], "weights"),
        ([bleu(smoothing_function="method9")], "smoothing_function"),
        ([bleu(n=4)], "BLEU-NLTK has no parameter 'n'"),
        ([bleu(references="clip")], "has no parameter 'references'"),
        ([{"id": "BLEU", "parameters": [1]}], "parameters of BLEU are a list"),
        ([bleu("BERTScore", rescale_with_baseline=True)], "rescale_with_baseline"),
        ([], "enables no metric"),
    ],
)
def test_uncomputable_metric_is_an_error(metrics: Any, message: str) -> None:
    """A metric that cannot be computed is an error, and nothing is written."""
    output = io.BytesIO()

    with pytest.raises(ScoreError, match=message):
        score(input_of(metrics, PAIRS["pt"]), to="harpia-output", output=output)
    assert output.getvalue() == b""


# -- output and log -------------------------------------------------------------------


def test_output_and_log_agree_with_their_input(tmp_path: Path) -> None:
    """What is written has the input's ids and parameters, and passes its checks."""
    output, scores = written(ONE_DISABLED)
    log, _ = written(ONE_DISABLED, "log")
    document = json.loads(ONE_DISABLED.read_bytes())
    (metric,) = [each for each in document["metrics"] if each["enable"]]
    (item,) = json.loads(output)
    lines = jsonl_rows(log)

    assert list(item) == ["id", "parameters", "score", "elapsed time"]
    assert (item["id"], item["parameters"]) == (metric["id"], metric["parameters"])
    assert item["score"] == scores.total.scores[0].value
    assert item["elapsed time"] == pytest.approx(scores.seconds[0], abs=1e-6)
    assert [list(each) for each in lines] == [
        ["id", "parameters", "instance_id", "result"]
    ] * len(document["instances"])
    mean = sum(each["result"] for each in lines) / len(lines)
    assert mean == pytest.approx(item["score"])
    assert problems_of(output, "output", tmp_path, ONE_DISABLED) == []
    assert problems_of(log, "log", tmp_path, ONE_DISABLED) == []


@for_each_case("path", COMPUTED, ids=lambda each: each.name)
def test_every_input_of_harpia(path: Path, tmp_path: Path) -> None:
    """Each input that enables BLEU gives an output and a log that pass its checks."""
    for to in ("output", "log"):
        data, _ = written(path, to, skip_unknown=True)

        assert problems_of(data, to, tmp_path, path) == []


@for_each_case("path", NOT_COMPUTED, ids=lambda each: each.name)
def test_inputs_without_a_metric_to_compute(path: Path) -> None:
    """An input that enables no metric, or none that is known, is refused."""
    with pytest.raises(ScoreError, match=r"enables no metric|no metric is left"):
        written(path, skip_unknown=True)


def test_output_names_skipped_metrics(tmp_path: Path) -> None:
    """The output names each skipped metric with a reason; the log omits the metric."""
    output, scores = written(TRANSLATIONS, skip_unknown=True)
    log, _ = written(TRANSLATIONS, "log", skip_unknown=True)
    items = {each["id"]: each for each in json.loads(output)}

    assert scores.unknown == ("BERTScore-HF",)
    assert "rescale_with_baseline" in items["BERTScore-HF"]["score"]["left out"]
    assert isinstance(items["BLEU-NLTK"]["score"], float)
    assert {json.loads(each)["id"] for each in log.splitlines()} == {"BLEU-NLTK"}
    assert problems_of(output, "output", tmp_path, TRANSLATIONS) == []
    assert problems_of(log, "log", tmp_path, TRANSLATIONS) == []


def test_one_metric_with_two_sets_of_parameters(tmp_path: Path) -> None:
    """A metric that is enabled twice has two outputs, each with its parameters."""
    data = input_of(
        [bleu(smoothing_function=each) for each in ("method1", "method2")], PAIRS["pt"]
    )

    output, scores = written(data)
    items = json.loads(output)

    assert [each["id"] for each in items] == ["BLEU-NLTK"] * 2
    assert [each["score"] for each in items] == pytest.approx([0.840896, 0.859948])
    assert [each.metric for each in scores.total.scores] == [
        "BLEU-NLTK",
        "BLEU-NLTK (2)",
    ]
    assert problems_of(output, "output", tmp_path, data) == []
    log, _ = written(data, "log")
    assert problems_of(log, "log", tmp_path, data) == []


def test_parameters_that_the_user_changes(tmp_path: Path) -> None:
    """An overridden parameter of HarpIA is written as computed, others are not."""
    data = input_of([bleu(smoothing_function="method1")], PAIRS["pt"])
    new = {"smoothing_function": "method2", "references": "clip"}
    changed = {f"BLEU-NLTK.{name}": each for name, each in new.items()}

    output, _ = written(data, parameters=changed)
    (item,) = json.loads(output)

    assert item["parameters"] == {"smoothing_function": "method2"}
    assert item["score"] == pytest.approx(0.859948)
    assert problems_of(output, "output", tmp_path, data) == ["H204"]


def test_parameters_of_bertscore_that_the_user_changes() -> None:
    """One that is followed is written as computed, under the name that HarpIA has."""
    given = {"lang": "pt", "model_type": "first", "num_layers": 5}
    metric = {"id": "BERTScore", "enable": True, "parameters": given}
    header = Header(metrics=[metric])
    (request,) = requests_of(header)
    used = replace(request, parameters={**request.parameters, "model": "own"})
    # Without its plug-in the metric cannot be computed.
    computed = SimpleNamespace(request=used, names=used.names)
    run: Any = SimpleNamespace(measured=[computed], header=header, profile="harpia")

    (entry,) = entries_of(run)

    assert entry.parameters == {**given, "model_type": "own"}


def test_missing_score_is_null(tmp_path: Path) -> None:
    """A result without a reference is null, and so is a metric without any result."""
    data = input_of([bleu()], ("x", []), ("Paris", ["Paris"]))
    none = input_of([bleu(), bleu("METEOR")], ("x", []))

    log, scores = written(data, "log")
    output, unscored = written(none, skip_unknown=True)

    results = [json.loads(each)["result"] for each in log.splitlines()]
    assert results[0] is None
    assert isinstance(results[1], float)
    assert scores.total.scores[0].unscored == 1
    assert json.loads(output)[0]["score"] is None
    assert not unscored.ok
    assert problems_of(log, "log", tmp_path) == []
    assert problems_of(output, "output", tmp_path, none) == []


def test_ids_of_instances(tmp_path: Path) -> None:
    """Ids come as they are in the input: huge, whole with a point, or in any script."""
    ids = [str(2**80), "1.0", '"é"', '"雨-003"']
    instances = ", ".join(
        f'{{"id": {each}, "input": "?", "expected-output": ["a b"], '
        '"actual-output": "a b"}'
        for each in ids
    )
    data = (
        f'{{"instances": [{instances}], "metrics": [{json.dumps(bleu())}]}}'
    ).encode()

    log, _ = written(data, "log")

    for each, line in zip(ids, log.decode().splitlines(), strict=True):
        assert f'"instance_id":{each},' in line
    assert problems_of(log, "log", tmp_path, data) == []


def test_several_answers_have_a_line_each(tmp_path: Path) -> None:
    """Each of several answers to an instance has a line of its own."""
    data = input_of([bleu()], (["a b c d", "x"], ["a b c d"]), ("a", ["a"]))

    log, _ = written(data, "log")
    lines = jsonl_rows(log)

    assert [each["instance_id"] for each in lines] == ["1", "1", "2"]
    assert [each["result"] for each in lines[:2]] == pytest.approx([1, 0])
    assert problems_of(log, "log", tmp_path, data) == []


def test_metrics_that_are_named(tmp_path: Path) -> None:
    """Metrics of the command line are written with the parameters they were given."""
    names = ("bleu", "em")
    given = {"bleu.smoothing_function": "method1"}

    output, scores = written(ONE_DISABLED, metrics=names, parameters=given)
    first, second = json.loads(output)

    assert (first["id"], second["id"]) == ("bleu", "em")
    assert first["parameters"] == {
        "weights": WEIGHTS,
        "smoothing_function": "method1",
        "auto_reweigh": False,
        "references": "max",
    }
    assert any("has no em" in each for each in scores.notes)
    assert problems_of(output, "output", tmp_path) == []


def test_metrics_of_another_profile(tmp_path: Path) -> None:
    """Several scores of one metric are an object by name, each with what it took."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")

    options: dict[str, Any] = {"profile": "nemo-sdk", "metrics": ("bleu", "rouge")}
    output, scores = written(ONE_DISABLED, **options)
    log = log_of(ONE_DISABLED, **options)
    items = {each["id"]: each for each in json.loads(output)}

    assert list(items["bleu"]["score"]) == ["sentence", "corpus"]
    assert items["bleu"]["score"]["corpus"] == scores["corpus"].value
    assert items["bleu"]["parameters"]["corpus"]["references"] == "first"
    assert items["rouge"]["parameters"]["stemmer"] is True
    assert log[0]["result"].keys() == {"sentence", "corpus"}
    assert problems_of(output, "output", tmp_path) == []


@pytest.mark.parametrize("to", ["output", "log"])
def test_signatures_are_beside(to: str, tmp_path: Path) -> None:
    """A text next to a file has the signature of each score; a stream has none."""
    place = tmp_path / "out.json"
    scores = score(
        ONE_DISABLED, to=f"harpia-{to}", output=place, replicates=0, skip_unknown=True
    )
    lines = Path(f"{place}.signatures.txt").read_text(encoding="utf-8").splitlines()

    # The scores of single answers have their own references.
    end = "" if to == "output" else "|nrefs:var"
    assert [(f"{line}{end}").split("\t") for line in lines] == [
        [one.name, one.signature] for one in scores.total.scores
    ]
    assert len(list(tmp_path.iterdir())) == 2


def test_outputs_differ_in_time_only() -> None:
    """Two runs write the same, but for the elapsed time."""
    runs = [items_of(TRANSLATIONS, skip_unknown=True) for _ in range(2)]
    for items in runs:
        for each in items:
            del each["elapsed time"]

    assert runs[0] == runs[1]
    logs = [written(TRANSLATIONS, "log", skip_unknown=True)[0] for _ in range(2)]
    assert logs[0] == logs[1]
