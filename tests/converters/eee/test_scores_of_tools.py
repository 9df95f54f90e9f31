"""Scores of other tools go through EvalEval's rows and come back with their means."""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import command_runs
from cases import for_each_case
from corpora import CORPORA
from harpia_formats import (
    ConversionError,
    ScoreError,
    ValidationFailed,
    convert,
    detect,
    validate,
)
from json_lines import jsonl, jsonl_rows
from unchecked import score

TOOLS = CORPORA / "neighbours"
SHAPES = ("eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0")
#: Sample files of each tool with scores that are read; several are as the tool wrote
#: them, and some as it was cut or cancelled.
FILES = (
    "lm-eval/made/samples_demo_mc_*.jsonl",
    "lm-eval/made/samples_demo_ll_*.jsonl",
    "lm-eval/made/samples_demo_chat_*.jsonl",
    "lm-eval/real/samples_*.jsonl",
    "lm-eval/made/in-memory_demo_mc.json",
    "inspect/made/demo_epochs2.eval",
    "inspect/made/demo_epochs2.json",
    "inspect/made/mcq.eval",
    "inspect/real/data_cyse2*.json",
    "inspect/real/data_intercode*.json",
    "inspect/real/data_pubmedqa*.json",
    "inspect/real/log_images.json",
    "inspect/real/log_images_tc.json",
    "inspect/real/log_length*.txt",
    "inspect/real/log_message*.eval",
    "inspect/real/log_streaming.eval",
    "inspect/real/mmlu*.eval",
    "inspect/real/popularity_cancelled.json",
    "helm/mmlu*",
    "helm/narrative*",
)
#: What a tool's file may lack and a row must have.
GIVEN = {
    "evaluation_id": "run",
    "evaluation_name": "task",
    "model_id": "org/m",
    "input.reference": "-",
}


def stored(path: Path) -> tuple[dict[str, float | None], dict[str, int]]:
    """Return the means of the stored scores in a file, and their numbers."""
    scores = score(path, stored=True, replicates=0)
    means = {one.signature: one.value for one in scores}
    return means, {one.signature: one.count for one in scores}


@pytest.mark.corpora
@pytest.mark.parametrize("pattern", FILES)
def test_means_of_tools_come_back(pattern: str, tmp_path: Path) -> None:
    """Each score of a tool's file has its mean after a conversion, in each shape."""
    (path,) = TOOLS.glob(pattern)
    means, counts = stored(path)
    for shape in SHAPES:
        output = tmp_path / f"{shape}.jsonl"
        convert(
            path,
            to=shape,
            output=output,
            group="id",
            correct_from=1,
            filter="all",
            constants=GIVEN,
        )

        found, numbers = stored(output)
        assert found == pytest.approx(means), shape
        assert numbers == counts, shape


def record(number: int, scores: list[dict[str, Any]], answers: int = 1) -> bytes:
    """Return a record whose answers have these scores of one task, as a line."""
    own = {"evaluation_id": "run", "evaluation_name": "quiz"}
    outputs = [
        {
            "model": "org/m",
            "text": f"answer {place}",
            "scores": [{**own, **score} for score in scores],
        }
        for place in range(answers)
    ]
    row = {"id": str(number), "prompt": "q", "references": ["a"], "outputs": outputs}
    return json.dumps(row).encode() + b"\n"


def converted_rows(data: bytes, shape: str = "eee@0.2.0", **options: Any) -> list[Any]:
    """Return the rows that records are converted to."""
    options = {"from_": "record", **options}
    return [json.loads(line) for line in converted_lines(data, to=shape, **options)]


def converted_lines(data: bytes, **options: Any) -> list[bytes]:
    """Return the lines that a conversion writes."""
    output = io.BytesIO()
    convert(data, output=output, **options)
    return output.getvalue().splitlines(keepends=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_one_answer_share_their_id(shape: str) -> None:
    """They have the id of the sample, the name of the task, and each its metric."""
    scores = [
        {"metric": "acc", "value": 1, "is_correct": True, "signature": "acc|x:1"},
        {"metric": "norm", "value": 0, "is_correct": False},
    ]
    rows = converted_rows(record(7, scores), shape=shape)
    keys = ("sample_id", "evaluation_name", "evaluation_result_id")

    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("7", "quiz", "acc"),
        ("7", "quiz", "norm"),
    ]
    assert rows[0]["metadata"] == {"score_signature": "acc|x:1"}


def test_answers_are_numbered_and_their_scores_are_not() -> None:
    """Several answers get ids of their own, which the scores of each share."""
    scores = [
        {"metric": name, "value": 1, "is_correct": True} for name in ("acc", "norm")
    ]
    rows = converted_rows(record(7, scores, answers=2))

    assert Counter(row["sample_id"] for row in rows) == {"7#1": 2, "7#2": 2}


def test_scores_without_names_have_ids_of_their_own() -> None:
    """Scores that nothing tells apart are rows with different ids."""
    scores = [{"value": 1, "is_correct": True}, {"value": 0, "is_correct": False}]
    rows = converted_rows(record(7, scores))

    assert [row["sample_id"] for row in rows] == ["7#1", "7#2"]


def test_filters_are_told_apart() -> None:
    """The filter in a signature stands behind the metric, unless it is none."""
    scores = [
        {
            "metric": "em",
            "value": 1,
            "is_correct": True,
            "signature": f"em|impl:lm-eval|filter:{name}",
        }
        for name in ("strict", "none")
    ]
    rows = converted_rows(record(1, scores), filter="all")

    assert [row["evaluation_result_id"] for row in rows] == ["em|filter:strict", "em"]


def test_rows_are_valid_and_their_ids_unique() -> None:
    """Rows of one answer are no duplicates for the rules of samples."""
    scores = [
        {"metric": name, "value": 1, "is_correct": True} for name in ("acc", "norm")
    ]
    data = record(1, scores) + record(2, scores).replace(b'"q"', b'"other"')
    rows = jsonl(*converted_rows(data))

    assert not validate(rows, select=("X", "E3")).problems


@pytest.mark.parametrize("shape", SHAPES)
def test_a_written_row_is_detected_as_what_it_is(shape: str) -> None:
    """An evaluation_result_id does not make a row one of another version."""
    scores = [{"metric": "acc", "value": 1, "is_correct": True}]
    (row,) = converted_rows(record(1, scores), shape=shape)

    assert detect(json.dumps(row).encode())[0].format == shape


@for_each_case(
    "score, verdict",
    [
        ({"value": True}, True),
        ({"value": False}, False),
        ({"value": 1, "signature": "f1|scale:0-1"}, True),
        ({"value": 0.5, "signature": "f1|scale:0-1"}, False),
        ({"value": 0, "signature": "f1|scale:0-1"}, False),
        ({"value": 100.0, "signature": "bleu|scale:0-100"}, True),
        ({"value": 0, "signature": "wer|scale:0-1"}, True),
        ({"value": 1, "signature": "wer|scale:0-1"}, False),
        ({"value": 1, "is_correct": False}, False),
    ],
)
def test_a_score_says_whether_its_answer_is_correct(
    score: dict[str, Any], verdict: bool
) -> None:
    """True and false do, and numbers on a declared scale; --set does not change it."""
    data = record(1, [{"metric": "m", **score}])
    for constants in ({}, {"evaluation.is_correct": not verdict}):
        (row,) = converted_rows(data, constants=constants)

        assert row["evaluation"]["is_correct"] is verdict


@for_each_case("value", [0, 1, 0.5, 3, -1])
def test_a_number_without_a_scale_is_refused_without_a_constant(value: float) -> None:
    """No advice sets a verdict for all answers; a limit decides each by its score."""
    data = record(1, [{"metric": "rating", "value": value}])
    with pytest.raises(ValidationFailed) as failed:
        converted_rows(data)
    (problem,) = failed.value.report.problems
    (row,) = converted_rows(data, correct_from=1)

    assert "correct_from" in problem.help
    assert "constants" not in problem.help
    assert row["evaluation"] == {"score": value, "is_correct": value >= 1}


def test_one_metric_is_chosen() -> None:
    """--metric takes the scores of one metric, and names those that there are."""
    scores = [
        {"metric": name, "value": 1, "is_correct": True} for name in ("acc", "norm")
    ]
    (row,) = converted_rows(record(1, scores), metric="norm")
    with pytest.raises(ConversionError, match=r"there are: 'acc', 'norm'"):
        converted_rows(record(1, scores), metric="nor")

    assert row["evaluation_result_id"] == "norm"


@pytest.mark.parametrize("jobs", [1, 2])
def test_records_of_other_metrics_are_left_out(tmp_path: Path, jobs: int) -> None:
    """--metric leaves rows of other metrics out, counts them and says so once."""
    data = tmp_path / "rows.jsonl"
    records = [
        json.loads(record(number, [{"metric": name, "value": 1, "is_correct": True}]))
        for number, name in enumerate(["em", "f1", "em", "f1", "rouge"])
    ]
    data.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    out = tmp_path / "out.jsonl"
    report = convert(
        data, from_="record", to="eee@0.2.0", output=out, jobs=jobs, metric="f1"
    )
    rows = jsonl_rows(out)

    assert [row["sample_id"] for row in rows] == ["1", "3"]
    assert [note for note in report.notes if "left out" in note] == [
        f"3 records have no score of the chosen metric in {data}, and are left out"
    ]
    assert not report.lossless
    (lost,) = [row for row in report.table() if "left out" in row["how"]]
    assert (lost["records"], lost["fate"]) == (3, "dropped")


def test_a_score_without_a_metric_is_of_none_beside_others() -> None:
    """Beside scores that name metrics, one that names none is of another metric."""
    scores: list[dict[str, Any]] = [{"metric": "em", "value": 1}, {"value": 0}]
    (row,) = converted_rows(record(1, scores), "record", metric="em")

    assert [one["value"] for one in row["outputs"][0]["scores"]] == [1]


def test_a_metric_that_no_record_has_stops_the_run(tmp_path: Path) -> None:
    """The run stops with exit 2 and the metrics that there are, and writes nothing."""
    data, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    data.write_bytes(record(1, [{"metric": "em", "value": 1, "is_correct": True}]))
    arguments = ["--from", "record", "--to", "eee@0.2.0", "-o", out, "--metric", "f2"]
    result = command_runs.run("convert", data, *arguments)

    assert result.returncode == 2
    assert b"'f2' (there are: 'em')" in result.stderr
    assert not out.exists()


def test_rows_become_one_record_again() -> None:
    """--group id joins the scores of one answer, with metrics and signatures."""
    scores = [
        {"metric": "acc", "value": 1, "is_correct": True, "signature": "acc|x:1"},
        {"metric": "norm", "value": 0, "is_correct": False, "signature": "norm|x:1"},
    ]
    rows = converted_rows(record(7, scores))
    data = jsonl(*rows)
    (found,) = map(json.loads, converted_lines(data, to="record", group="id"))
    own = {"evaluation_id": "run", "evaluation_name": "quiz"}

    (output,) = found["outputs"]
    assert output["scores"] == [{**own, **score} for score in scores]


LOG: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {
        "task": "demo",
        "model": "org/m",
        "eval_id": "E1",
        "dataset": {},
        "config": {"epochs": 2},
    },
    "plan": {},
}


def log_of(*samples: dict[str, Any], epochs: int) -> bytes:
    """Return a log of Inspect with samples."""
    run = {**LOG["eval"], "config": {"epochs": epochs}}
    common = {"input": "q", "target": "a", "messages": []}
    rows = [{**common, **sample} for sample in samples]
    return json.dumps({**LOG, "eval": run, "samples": rows}).encode()


def test_a_failed_sample_has_the_ids_of_its_log() -> None:
    """A sample without a score gets the one that is given, in its log's run."""
    output = {"choices": [], "error": "failed"}
    data = log_of({"id": 1, "epoch": 1, "output": output}, epochs=1)
    given = {"evaluation.score": 0, "evaluation.is_correct": False}
    lines = converted_lines(data, to="eee@0.2.0", constants=given)
    (row,) = map(json.loads, lines)

    assert (row["evaluation_id"], row["evaluation_name"]) == ("E1", "demo")
    assert row["evaluation"] == {"score": 0, "is_correct": False}
    with pytest.raises(ScoreError, match="no answer has a stored score"):
        score(data, stored=True)


def test_epochs_are_refused_before_rows_are_written() -> None:
    """Rows of several epochs would share their ids, which the log says in advance."""
    answer = {"choices": [{"message": {"role": "assistant", "content": "a"}}]}
    scores = {"match": {"value": "C"}}
    samples = [
        {"id": "s", "epoch": epoch, "output": answer, "scores": scores}
        for epoch in (1, 2)
    ]
    data, output = log_of(*samples, epochs=2), io.BytesIO()
    with pytest.raises(ConversionError, match='2 epochs with one id; group="id"'):
        convert(data, to="eee@0.2.0", output=output)
    rows = [
        json.loads(line) for line in converted_lines(data, to="eee@0.2.0", group="id")
    ]

    assert output.getvalue() == b""
    assert [row["sample_id"] for row in rows] == ["s#1", "s#2"]
