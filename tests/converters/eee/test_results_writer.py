"""Scores as EvalEval's samples and their aggregate."""

import gzip
import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import ConversionError, ScoreError, SinkError, validate
from json_lines import jsonl, jsonl_rows
from unchecked import score

FIXTURES = Path(__file__).parents[3] / "fixtures"
SHAPES = ("eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0")
SET = {
    "evaluation_id": "demo/org_m/1770681600",
    "evaluation_name": "demo",
    "model_id": "org/m",
}
#: A record without a model.
ONE = {"prompt": "?", "references": ["4"], "outputs": [{"text": "4"}]}
ANSWERS = [("Paris", ["paris"]), ("the cat sat", ["the cat", "cat"]), ("no", ["yes"])]
UUID = "0e7c1b52-6a3f-4d18-9b21-5c40a7f3d9e6"


def records(answers: Any = ANSWERS, **more: Any) -> bytes:
    """Return records with one answer each, one a line."""
    rows = [
        {
            "id": f"q{number}",
            "prompt": f"question {number}",
            "references": references,
            "outputs": [{"model": "org/m", "text": text}],
            **more,
        }
        for number, (text, references) in enumerate(answers)
    ]
    return jsonl(*rows)


def written(
    data: Any, to: str, folder: Path, **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the rows and the aggregate that are written, which must be valid."""
    output = folder / options.pop("name", "out_samples.jsonl")
    options = {
        "metrics": ("em", "f1"),
        "constants": SET,
        "replicates": 50,
        "overwrite": True,
        **options,
    }
    scores = score(data, to=to, output=output, **options)
    aggregate = folder / output.name.replace("_samples.jsonl", ".json").removesuffix(
        ".gz"
    )
    assert set(scores.outputs) == {str(output), str(aggregate)}
    text = output.read_bytes()
    if output.suffix == ".gz":
        text = gzip.decompress(text)
    check_pair(output, aggregate)
    rows = jsonl_rows(text)
    return rows, json.loads(aggregate.read_bytes())


def check_pair(samples: Path, aggregate: Path) -> None:
    """Assert that both files are valid and agree, found by their names alone.

    What lints say of the answers themselves is not the writer's.
    """
    of_answers = ("E1", "E206", "E306", "J204", "V3", "X102", "X103", "X105")
    report = validate(samples, aggregate, strict=True, lint=True, ignore=of_answers)

    assert report.ok
    assert {each.code for each in report.problems} <= {"S202"}
    # Each is known by itself, and they were indeed compared.
    kept = aggregate.read_bytes()
    key = b'"evaluation_id": "'
    aggregate.write_bytes(kept.replace(key, key + b"x"))
    found = validate(samples, aggregate)
    aggregate.write_bytes(kept)

    assert "E201" in {each.code for each in found.problems}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_answer_and_score_is_a_row(shape: str, tmp_path: Path) -> None:
    """Each answer has a row for each metric, with its score, verdict and signature."""
    rows, _ = written(records(), shape, tmp_path)
    found = [
        (
            each["sample_id"],
            each["evaluation"]["score"],
            each["evaluation"]["is_correct"],
            each["metadata"]["score_signature"].split("|")[0],
        )
        for each in rows
    ]

    assert found == [
        ("q0", 1.0, True, "em"),
        ("q0", 1.0, True, "f1"),
        ("q1", 0.0, False, "em"),
        ("q1", pytest.approx(2 / 3), False, "f1"),
        ("q2", 0.0, False, "em"),
        ("q2", 0.0, False, "f1"),
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_and_aggregate_have_the_same_ids_of_results(
    shape: str, tmp_path: Path
) -> None:
    """A result is called by its metric, and its evaluation_name stays the task."""
    rows, aggregate = written(records(), shape, tmp_path)
    alone, _ = written(records(), shape, tmp_path, metrics=("em",))

    assert [each["evaluation_result_id"] for each in rows[:2]] == ["em", "f1"]
    assert {each["evaluation_name"] for each in rows} == {"demo"}
    results = aggregate["evaluation_results"]
    assert [each["evaluation_result_id"] for each in results] == ["em", "f1"]
    assert [each["evaluation_name"] for each in results] == ["demo", "demo"]
    assert {each["evaluation_result_id"] for each in alone} == {"em"}


@pytest.mark.parametrize("shape", SHAPES)
def test_aggregate_says_how_sure_each_score_is(shape: str, tmp_path: Path) -> None:
    """A result has score, scale, signature, standard error, interval and spread."""
    rows, aggregate = written(records(), shape, tmp_path)
    result = aggregate["evaluation_results"][1]
    values = [each["evaluation"]["score"] for each in rows[1::2]]
    mean = sum(values) / 3
    deviation = math.sqrt(sum((each - mean) ** 2 for each in values) / 3)
    details = result["score_details"]
    uncertainty = details["uncertainty"]

    assert details["score"] == pytest.approx(mean)
    definition = rows[1]["metadata"]["score_signature"]
    assert details["details"]["signature"] == f"{definition}|nrefs:var"
    assert uncertainty["standard_deviation"] == pytest.approx(deviation)
    assert uncertainty["standard_error"]["value"] == pytest.approx(
        deviation / math.sqrt(2)
    )
    interval = uncertainty["confidence_interval"]
    assert interval["lower"] <= mean <= interval["upper"]
    assert interval["confidence_level"] == 0.95
    assert interval["method"].startswith("wilson|")
    assert uncertainty["num_samples"] == 3
    assert "num_bootstrap_samples" not in uncertainty
    config = result["metric_config"]
    assert (config["min_score"], config["max_score"]) == (0, 1)
    assert config["lower_is_better"] is False
    assert result["source_data"] == {"dataset_name": "demo", "source_type": "other"}
    assert aggregate["model_info"]["id"] == "org/m"
    assert aggregate["retrieved_timestamp"] == "1770681600"


@pytest.mark.parametrize("shape", SHAPES)
def test_standard_error_is_by_question(shape: str, tmp_path: Path) -> None:
    """Several answers of a record have the standard error of one answer each."""
    errors = []
    for times in (1, 10):
        folder = tmp_path / f"{times}"
        folder.mkdir()
        rows = jsonl_rows(records())
        for row in rows:
            row["outputs"] *= times
        _, aggregate = written(jsonl(*rows), shape, folder)
        details = aggregate["evaluation_results"][1]["score_details"]
        errors.append(details["uncertainty"]["standard_error"]["value"])
        assert details["details"]["questions"] == "3"

    assert errors[0] == pytest.approx(errors[1])


def test_no_replicates_no_interval(tmp_path: Path) -> None:
    """Without a bootstrap an aggregate has no interval, and is valid all the same."""
    _, aggregate = written(records(), "eee@0.2.0", tmp_path, replicates=0)

    for each in aggregate["evaluation_results"]:
        uncertainty = each["score_details"]["uncertainty"]
        assert "confidence_interval" not in uncertainty
        assert "num_bootstrap_samples" not in uncertainty
        assert uncertainty["num_samples"] == 3


def test_scores_stay_within_their_declared_scale(tmp_path: Path) -> None:
    """BLEU stays within 0 to 100 in spite of rounding, and TER has no upper bound."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    pairs = [("the cat sat down on the mat",) * 2, ("a b c d e f g h", "x")]
    data = records([(text, [reference]) for text, reference in pairs])
    metrics = ("sentence-bleu", "ter")

    for shape, most in (("eee@0.3.0", "Infinity"), ("eee@0.2.0", 800.0)):
        rows, aggregate = written(data, shape, tmp_path, metrics=metrics)
        bleu, ter = (each["metric_config"] for each in aggregate["evaluation_results"])

        assert rows[0]["evaluation"] == {"score": 100.0, "is_correct": True}
        assert rows[1]["evaluation"] == {"score": 0.0, "is_correct": True}
        assert rows[3]["evaluation"]["is_correct"] is False
        assert (bleu["min_score"], bleu["max_score"]) == (0, 100)
        assert ter["lower_is_better"] is True
        assert ter["max_score"] == most


@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_stay_within_the_scale(shape: str, tmp_path: Path) -> None:
    """Neither end of an interval is above the largest score, in spite of rounding."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    texts = ("the cat sat down on the mat", "a dog ran up the long hill today")
    data = records([(text, [text]) for text in texts])
    _, aggregate = written(data, shape, tmp_path, metrics=("bleu",))
    (result,) = aggregate["evaluation_results"]
    interval = result["score_details"]["uncertainty"]["confidence_interval"]

    assert interval["lower"] <= interval["upper"]
    assert interval["upper"] <= result["metric_config"]["max_score"] == 100


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_are_the_means_of_the_rows(shape: str, tmp_path: Path) -> None:
    """Exact match and F1 of the aggregate are the means of the scores of the rows."""
    written(records(), shape, tmp_path)

    assert not validate(tmp_path, select=("E206",)).problems


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_of_pooled_counts_are_no_means(shape: str, tmp_path: Path) -> None:
    """An error rate of all words is not compared with the mean of those of the rows."""
    pytest.importorskip("rapidfuzz", reason="WER needs the extra score")
    data = records([("a b c d e", ["a b c d e"]), ("x", ["y"])])
    rows, aggregate = written(data, shape, tmp_path, metrics=("wer",))
    (result,) = aggregate["evaluation_results"]
    found = [each["evaluation"]["score"] for each in rows]

    assert sum(found) / 2 > 2 * result["score_details"]["score"]
    assert not validate(tmp_path, select=("E206",)).problems


@pytest.mark.parametrize("shape", SHAPES)
def test_checksum_and_rows_are_those_of_the_file(shape: str, tmp_path: Path) -> None:
    """The details of a file that can be placed are its own, compressed or not."""
    for name in (f"{UUID}_samples.jsonl", f"{UUID}_samples.jsonl.gz"):
        _, aggregate = written(records(), shape, tmp_path, name=name)
        raw = (tmp_path / name).read_bytes()
        data = gzip.decompress(raw) if name.endswith("gz") else raw
        details = aggregate["detailed_evaluation_results"]

        assert details["total_rows"] == 6
        assert details["checksum"] == hashlib.sha256(data).hexdigest()
        assert details["file_path"].endswith(f"{UUID}_samples.jsonl")


def test_place_in_a_collection_is_known_given_or_none(tmp_path: Path) -> None:
    """Only a name that can be in a collection has a place there, its own if it is."""
    folder = tmp_path / "data" / "geo" / "aurora" / "m"
    folder.mkdir(parents=True)
    name = f"{UUID}_samples.jsonl"
    _, there = written(records(), "eee@0.3.0", folder, name=name)
    _, made = written(records(), "eee@0.3.0", tmp_path, name=name)
    _, none = written(records(), "eee@0.3.0", tmp_path)
    given = f"data/a/b/c/{name}"
    _, explicit = written(
        records(),
        "eee@0.3.0",
        tmp_path,
        name=name,
        constants=SET | {"file_path": given},
    )
    key = "detailed_evaluation_results"

    assert there[key]["file_path"] == f"data/geo/aurora/m/{name}"
    assert made[key]["file_path"] == f"data/demo/org/m/{name}"
    assert explicit[key]["file_path"] == given
    assert key not in none


def test_fields_of_the_aggregate_can_be_given(tmp_path: Path) -> None:
    """Each field of the aggregate can be given by its full name or its last part."""
    constants = SET | {
        "retrieved_timestamp": "12",
        "evaluation_timestamp": "2026-01-01",
        "source_organization_name": "Org ü",
        "evaluator_relationship": "first_party",
        "developer": "Labs",
        "model_availability": "open_weights",
        "source_data.source_type": "hf_dataset",
        "hf_repo": "org/data",
        "samples_number": "7",
    }
    _, aggregate = written(records(), "eee@0.3.0", tmp_path, constants=constants)

    assert aggregate["retrieved_timestamp"] == "12"
    assert aggregate["evaluation_timestamp"] == "2026-01-01"
    assert aggregate["source_metadata"]["source_organization_name"] == "Org ü"
    assert aggregate["source_metadata"]["evaluator_relationship"] == "first_party"
    assert aggregate["model_info"]["developer"] == "Labs"
    assert aggregate["model_info"]["additional_details"] == {
        "deployment_type": "unknown",
        "model_availability": "open_weights",
    }
    assert aggregate["evaluation_results"][0]["source_data"] == {
        "dataset_name": "demo",
        "source_type": "hf_dataset",
        "hf_repo": "org/data",
        "samples_number": 7,
    }


@for_each_case(
    "constants, message",
    [
        ({}, "--set evaluation_id=VALUE --set evaluation_name=VALUE"),
        (SET | {"source_type": "url"}, "may be source_metadata.source_type or"),
        (SET | {"evaluator_relationship": "friend"}, "not valid at /source_metadata"),
        (
            SET | {"samples_number": "many", "source_data.source_type": "hf_dataset"},
            "/",
        ),
        (SET | {"source_data.source_type": "url"}, "source_data"),
        (SET | {"file_path": "data/other_samples.jsonl"}, "but the output is"),
        (SET | {"file_path": "out_samples.jsonl"}, "file_path"),
        (SET | {"score": "1"}, "is computed"),
        (SET | {"evaluation_result_id": "r"}, "is computed"),
        (SET | {"evaluation_nam": "x"}, "did you mean"),
    ],
)
def test_wrong_constants_are_refused(
    constants: dict[str, str], message: str, tmp_path: Path
) -> None:
    """A constant that is missing, unknown or invalid is an error that names it."""
    output = tmp_path / "out_samples.jsonl"

    with pytest.raises(ScoreError, match=message):
        score(
            FIXTURES / "nemo-output" / "valid" / "answers.jsonl",
            metrics=("em",),
            to="eee@0.3.0",
            output=output,
            constants=constants,
        )
    assert not list(tmp_path.iterdir())


def test_addresses_are_a_list(tmp_path: Path) -> None:
    """One address, and several as a list in JSON, are the pages of the data."""
    for given, pages in (("https://a.b/c", 1), ('["https://a.b", "https://c.d"]', 2)):
        constants = SET | {"source_data.source_type": "url", "url": given}
        _, aggregate = written(records(), "eee@0.2.0", tmp_path, constants=constants)

        (source, _) = (each["source_data"] for each in aggregate["evaluation_results"])
        assert len(source["url"]) == pages


@pytest.mark.parametrize("name", ["out.jsonl", "out_samples.json", "_samples.jsonl"])
def test_names_that_hide_the_aggregate_are_refused(name: str, tmp_path: Path) -> None:
    """A name from which that of the aggregate does not follow is an error."""
    with pytest.raises(ScoreError, match=r"NAME_samples\.jsonl"):
        score(records(), to="eee@0.2.0", output=tmp_path / name, constants=SET)


def test_standard_output_has_no_place_for_an_aggregate() -> None:
    """Without an output file there is no folder for the aggregate: an error."""
    with pytest.raises(ScoreError, match="--output"):
        score(records(), to="eee@0.2.0", constants=SET)


def test_an_aggregate_that_is_there_stays(tmp_path: Path) -> None:
    """A file next to the output is not replaced unless it is asked for."""
    (tmp_path / "out.json").write_text("mine")

    with pytest.raises(SinkError, match="already exists"):
        score(
            records(),
            to="eee@0.2.0",
            output=tmp_path / "out_samples.jsonl",
            constants=SET,
        )
    assert [each.name for each in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize("shape", SHAPES)
def test_answers_without_a_score_have_no_row(shape: str, tmp_path: Path) -> None:
    """No answer and no number is no row, and the aggregate says how many there were."""
    answers = [(None, ["4"]), ("four", ["4"]), ("4", ["4"]), ("4", [])]
    data = records(answers)
    rows, aggregate = written(data, shape, tmp_path, metrics=("number-check", "em"))
    counts = [
        each["score_details"]["details"]["unscored"]
        for each in aggregate["evaluation_results"]
    ]

    assert [each["sample_id"] for each in rows] == ["q1", "q2", "q2"]
    assert counts == ["3", "2"]


def test_nothing_scored_is_an_error(tmp_path: Path) -> None:
    """Where no answer has a score there is nothing that samples could be."""
    with pytest.raises(ScoreError, match="no answer could be scored"):
        written(records([(None, ["4"])]), "eee@0.2.0", tmp_path)


def test_a_metric_without_a_score_has_no_result(tmp_path: Path) -> None:
    """A metric that no answer has a number by is not in the aggregate."""
    _, aggregate = written(
        records([("a", ["b"])]), "eee@0.3.0", tmp_path, metrics=("number-check", "em")
    )

    assert [
        each["metric_config"]["metric_id"] for each in aggregate["evaluation_results"]
    ] == ["em"]


def test_several_answers_of_a_record_are_numbered(tmp_path: Path) -> None:
    """Each of several answers has an id of its own, whatever the record's is."""
    outputs = [{"model": "org/m", "text": text} for text in ("4", "5")]
    row = {"prompt": "2+2", "references": ["4"], "outputs": outputs}
    data = jsonl(
        row | {"id": 10**4000},
        row | {"id": "问 1"},
        row,
        row | {"outputs": outputs[:1]},
    )
    rows, _ = written(data, "eee@0.3.0", tmp_path, metrics=("em",), from_="record")

    assert [each["sample_id"][-10:] for each in rows] == [
        "00000000#1",
        "00000000#2",
        "问 1#1",
        "问 1#2",
        "3#1",
        "3#2",
        "4",
    ]


def test_equal_ids_are_refused(tmp_path: Path) -> None:
    """Rows with equal ids are not written, and the suggested fix works."""
    row = {
        "id": "1",
        "prompt": "2+2",
        "references": ["4"],
        "outputs": [{"model": "org/m", "text": "4"}],
    }

    with pytest.raises(
        ScoreError, match=r"has the sample_id of another answer.*--ids number"
    ):
        written(jsonl(row, row), "eee@0.2.0", tmp_path)
    assert not list(tmp_path.iterdir())


def test_several_models_are_refused_unless_one_is_taken(tmp_path: Path) -> None:
    """An aggregate is of one model, which --model chooses."""
    outputs = [{"model": each, "text": "4"} for each in ("org/a", "org/b")]
    row = {"id": "1", "prompt": "2+2", "references": ["4"], "outputs": outputs}

    with pytest.raises(ScoreError, match="--model"):
        written(jsonl(row), "eee@0.2.0", tmp_path, from_="record")
    rows, aggregate = written(
        jsonl(row), "eee@0.2.0", tmp_path, from_="record", model="org/b"
    )
    assert [each["sample_id"] for each in rows] == ["1", "1"]
    assert aggregate["model_info"]["id"] == "org/b"


@pytest.mark.parametrize("shape", SHAPES)
def test_several_evaluations_have_results_of_their_own(
    shape: str, tmp_path: Path
) -> None:
    """Rows of several evaluations keep their names where scores are grouped by them."""
    data = FIXTURES / "eee@0.3.0" / "valid" / "runs.jsonl"
    rows = jsonl_rows(data)
    run = [each for each in rows if each["evaluation_id"] == rows[0]["evaluation_id"]]
    names = list(dict.fromkeys(each["evaluation_name"] for each in run))
    options: dict[str, Any] = {"constants": {}, "metrics": ("f1",)}
    assert len(names) > 1

    with pytest.raises(ScoreError, match="--by evaluation_name"):
        written(jsonl(*run), shape, tmp_path, **options)
    _, aggregate = written(
        jsonl(*run), shape, tmp_path, by=("evaluation_name",), **options
    )
    found = [each["evaluation_name"] for each in aggregate["evaluation_results"]]
    assert set(found) <= set(names)
    assert len(found) > 1
    assert aggregate["evaluation_id"] == rows[0]["evaluation_id"]
    again, _ = written(
        jsonl(*run),
        shape,
        tmp_path,
        constants={"evaluation_name": "all", "evaluation_id": "new/1"},
        metrics=("f1",),
    )
    assert {each["evaluation_name"] for each in again} == {"all"}
    assert {each["evaluation_id"] for each in again} == {"new/1"}


def names_asked_for(
    data: Any, shape: str, folder: Path, constants: dict[str, str], **options: Any
) -> list[str] | None:
    """Return the names that an error asks for, None if the pair is written."""
    try:
        written(data, shape, folder, constants=constants, **options)
    except (ScoreError, ConversionError) as error:
        return re.findall(r"--set ([\w.]+)=VALUE", str(error))
    return None


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    """Two runs over the same data write the same bytes."""
    found = []
    for each in ("a", "b"):
        folder = tmp_path / each
        folder.mkdir()
        written(records(), "eee@0.3.0", folder)
        found.append([path.read_bytes() for path in sorted(folder.iterdir())])

    assert found[0] == found[1]


def test_time_is_that_of_the_environment_or_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a time in the id it is SOURCE_DATE_EPOCH in digits, else the clock."""
    constants = SET | {"evaluation_id": "mine"}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "77")
    _, fixed = written(records(), "eee@0.3.0", tmp_path, constants=constants)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "\N{SUPERSCRIPT TWO}")
    _, now = written(records(), "eee@0.3.0", tmp_path, constants=constants)

    assert fixed["retrieved_timestamp"] == "77"
    assert int(now["retrieved_timestamp"]) > 1_700_000_000


def test_all_that_is_lacking_is_asked_for_at_once(tmp_path: Path) -> None:
    """Fields that a format or some records do not have are named with one fix."""
    full = {"id": 1, **ONE}
    bare = {"id": 2, "references": ["4"], "outputs": [{"model": "m", "text": "4"}]}
    names = ("evaluation_id", "evaluation_name", "model_id", "input.raw")
    constants = dict.fromkeys(names, "org/m")

    with pytest.raises(ScoreError) as found:
        written(jsonl(full, bare), "eee@0.3.0", tmp_path, constants={})
    assert str(found.value) == (
        "eee@0.3.0 needs evaluation_id, model_id and evaluation_name, which record 1 "
        "does not have, and input.raw, which record 2 does not have; give `--set "
        "evaluation_id=VALUE --set model_id=VALUE --set evaluation_name=VALUE --set "
        "input.raw=VALUE`"
    )
    with pytest.raises(ScoreError, match="one model_id"):
        written(jsonl(full, bare), "eee@0.3.0", tmp_path, constants=constants)
    made, _ = written(jsonl(full), "eee@0.3.0", tmp_path, constants=constants)
    assert made[0]["input"]["raw"] == "?"


def test_documents_without_answers_are_asked_for_an_answer(tmp_path: Path) -> None:
    """Documents are written with a text in the place of the answer."""
    found = {"retrieved_documents": ["b", "a"], "ground_truth_documents": ["a"]}
    data = jsonl({"id": "arara", "prompt": "Onde vive?", "metadata": found})
    names = names_asked_for(data, "eee@0.3.0", tmp_path, SET, metrics=("document-map",))

    assert names == ["output.raw"]


def test_few_records_are_read_to_ask(tmp_path: Path) -> None:
    """What only a late record does not have is asked for when the rest is given."""
    answers = jsonl(*({"id": n, **ONE} for n in range(1_000)))
    late = jsonl({"references": ["4"], "outputs": ONE["outputs"]})
    first = names_asked_for(answers + late, "eee@0.3.0", tmp_path, {})
    then = names_asked_for(answers + late, "eee@0.3.0", tmp_path, SET)

    assert first is not None
    assert ({*first}, then) == ({*SET}, ["input.raw"])


def test_ids_that_differ_in_runs_are_refused(tmp_path: Path) -> None:
    """Answers of two runs have no aggregate in common unless they get one id."""
    text = (FIXTURES / "eee@0.3.0" / "valid" / "full.jsonl").read_text()
    rows = [json.loads(text.splitlines()[0])]
    other = rows[0] | {"evaluation_id": "other", "sample_id": "x"}
    given = {"evaluation_id": "new/1770681600"}

    with pytest.raises(ScoreError, match="--set evaluation_id=NAME"):
        written(jsonl(*rows, other), "eee@0.3.0", tmp_path, constants={})
    _, aggregate = written(jsonl(*rows, other), "eee@0.3.0", tmp_path, constants=given)
    assert aggregate["evaluation_id"] == "new/1770681600"
