"""Scores as records and as a table, and what every writer of scores needs."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import ScoreError, validate
from harpia_formats.evaluation.metrics import METRICS, measure_of
from harpia_formats.evaluation.metrics.metric import OWN_LIBRARY
from harpia_formats.evaluation.scoring.measures.outcomes import ComputedMetric
from harpia_formats.evaluation.scoring.results.answer_rows import columns_of
from harpia_formats.plugins import MetricError, MetricRequest, UnscorableError
from json_lines import jsonl, jsonl_rows
from unchecked import convert, score

OLD = {"metric": "human", "value": 5, "is_correct": True}
ROWS: list[dict[str, Any]] = [
    {
        "id": 10**30,
        "prompt": "2+2",
        "references": ["4", "four"],
        "category": 'so "called", sums',
        "outputs": [
            {"model": "模型", "text": "four", "scores": [OLD]},
            {"model": "m", "text": "4 or 5"},
        ],
    },
    {"id": "b", "prompt": "?", "references": ["x"], "outputs": []},
    {"prompt": "?", "outputs": [{"text": "x"}]},
]


def written(data: Any, to: str, folder: Path, **options: Any) -> Path:
    """Return the file that is written, which must be valid without a remark.

    What lints say of the texts, numbers and ids themselves is not the writer's: prompts
    that are nearly equal, and ids that are a number or text, are so in what is read.
    """
    path = folder / ("out.csv" if to == "csv" else "out.jsonl")
    options = {
        "metrics": ("em", "f1"),
        "replicates": 0,
        "overwrite": True,
        **options,
    }
    score(data, to=to, output=path, **options)
    of_data = ("J204", "V3", "X102", "X104")
    report = validate(path, format=to, strict=True, lint=True, ignore=of_data)

    assert report.ok
    assert not report.problems
    return path


def cells_in(path: Path) -> list[list[str]]:
    """Return the cells of a table."""
    return list(csv.reader(io.StringIO(path.read_text())))


def test_new_scores_follow_the_existing_ones(tmp_path: Path) -> None:
    """Each answer of a record has its new scores last, and records are complete."""
    first, second, third = jsonl_rows(
        written(jsonl(*ROWS), "record", tmp_path, from_="record")
    )
    em = {
        "metric": "em",
        "signature": f"em|{OWN_LIBRARY}|norm:squad|refs:max|scale:0-1",
    }
    f1 = {
        "metric": "f1",
        "signature": f"f1|{OWN_LIBRARY}|norm:squad|empty:v2|refs:max|scale:0-1",
    }

    assert first == ROWS[0] | {
        "outputs": [
            ROWS[0]["outputs"][0]
            | {
                "scores": [
                    OLD,
                    em | {"value": 1.0, "is_correct": True},
                    f1 | {"value": 1.0},
                ]
            },
            ROWS[0]["outputs"][1]
            | {
                "scores": [
                    em | {"value": 0.0, "is_correct": False},
                    f1 | {"value": 0.5},
                ]
            },
        ]
    }
    assert second == ROWS[1]
    assert third["outputs"] == [
        {"text": "x", "scores": [em | {"value": None}, f1 | {"value": None}]}
    ]


def test_replaced_scores_keep_their_ids(tmp_path: Path) -> None:
    """A score that is computed again has its new value, and the ids that it had."""
    row = {"id": "1", "references": ["x"], "outputs": [{"text": "y"}]}
    options: dict[str, Any] = {"metrics": ("em",), "from_": "record"}
    (once,) = jsonl_rows(written(jsonl(row), "record", tmp_path, **options))
    (score_,) = once["outputs"][0]["scores"]
    ids = {"evaluation_id": "e", "result_id": "r"}
    runs = [score_ | ids | {"value": 1, "evaluation_name": name} for name in "ab"]
    once["outputs"][0]["scores"] = [*runs, OLD]

    (again,) = jsonl_rows(written(jsonl(once), "record", tmp_path, **options))

    own = [score_ | ids | {"evaluation_name": name} for name in "ab"]
    assert again["outputs"][0]["scores"] == [OLD, *own]


def test_answers_of_a_model_are_taken_with_their_record(tmp_path: Path) -> None:
    """Only the answers of the model that is asked for are in the records."""
    records = jsonl_rows(
        written(jsonl(*ROWS), "record", tmp_path, from_="record", model="m")
    )
    models = [[each["model"] for each in record["outputs"]] for record in records]

    assert models == [["m"], [], []]


def test_records_get_the_given_constants(tmp_path: Path) -> None:
    """Missing fields of records get the given constants, also ids of new scores."""
    records = jsonl_rows(
        written(
            jsonl(*ROWS),
            "record",
            tmp_path,
            from_="record",
            constants={"evaluation_id": "run/1", "source": "mine"},
        )
    )

    assert {each["source"] for each in records} == {"mine"}
    for each in records[0]["outputs"][0]["scores"]:
        assert each["evaluation_id"] == "run/1"
    with pytest.raises(ScoreError, match="no field is called"):
        written(jsonl(*ROWS), "record", tmp_path, constants={"sauce": "x"})


def test_scored_records_convert(tmp_path: Path) -> None:
    """Records with scores convert to EvalEval with the scores that they got."""
    row = ROWS[0] | {"outputs": [ROWS[0]["outputs"][1]]}
    path = written(jsonl(row), "record", tmp_path, from_="record", metrics=("em",))
    target = tmp_path / "eee.jsonl"
    given = {"evaluation_id": "e", "evaluation_name": "n"}
    convert(path, to="eee@0.3.0", output=target, constants=given).raise_for_errors()
    (found,) = jsonl_rows(target)

    assert found["evaluation"] == {"score": 0.0, "is_correct": False}


def test_records_of_several_batches_are_put_together(tmp_path: Path) -> None:
    """Answers of one record that are measured apart are one record again."""
    rows = [
        {
            "id": at,
            "references": ["x"],
            "outputs": [{"text": f"{at} {each}"} for each in range(100)],
        }
        for at in range(7)
    ]
    path = written(jsonl(*rows), "record", tmp_path, from_="record", jobs=2)

    assert [each["id"] for each in jsonl_rows(path)] == list(range(7))
    assert [len(each["outputs"]) for each in jsonl_rows(path)] == [100] * 7


def test_table_has_a_line_for_each_answer(tmp_path: Path) -> None:
    """Each answer is a line with id, model, category and its scores."""
    path = written(jsonl(*ROWS), "csv", tmp_path, from_="record")
    signatures = (tmp_path / "out.csv.signatures.txt").read_text()

    assert cells_in(path) == [
        ["id", "model", "category", "em", "f1"],
        [str(10**30), "模型", 'so "called", sums', "1.0", "1.0"],
        [str(10**30), "m", 'so "called", sums', "0.0", "0.5"],
        ["b", "", "", "", ""],
        ["", "", "", "", ""],
    ]
    assert signatures == (
        f"em\tem|{OWN_LIBRARY}|norm:squad|refs:max|scale:0-1\n"
        f"f1\tf1|{OWN_LIBRARY}|norm:squad|empty:v2|refs:max|scale:0-1\n"
    )


def test_equal_score_names_get_the_metric_as_prefix(tmp_path: Path) -> None:
    """Scores of equal name get their metric as prefix; constants fill empty cells."""
    pytest.importorskip("rapidfuzz", reason="ROUGE needs the extra score")
    path = written(
        jsonl(*ROWS),
        "csv",
        tmp_path,
        from_="record",
        metrics=("rouge", "rouge1"),
        constants={"model": "org/m", "category": "none"},
    )
    head, _, second, third, _ = cells_in(path)

    assert head[3:] == [
        "rouge.rouge1",
        "rouge2",
        "rouge3",
        "rougeL",
        "rougeLsum",
        "rouge1.rouge1",
    ]
    assert second[1:3] == ["m", 'so "called", sums']
    assert third[2] == "none"


def test_score_with_the_name_of_a_column_is_refused(tmp_path: Path) -> None:
    """Two columns of one name are an error, and nothing is written."""
    output = tmp_path / "out.csv"
    with pytest.raises(ScoreError, match="a score is called 'id'"):
        score(jsonl(*ROWS), metrics=("id=em",), to="csv", output=output)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("to", ["record", "csv", "haystack-results", "haystack-run"])
def test_nothing_is_left_of_a_run_that_ends(to: str, tmp_path: Path) -> None:
    """A row that is not valid behind many good ones leaves no file."""
    rows = [{"id": at, "references": ["x"], "outputs": [{}]} for at in range(600)]
    scores = score(
        jsonl(*rows, {"id": 1.5, "outputs": 7}),
        to=to,
        output=tmp_path / "out",
        metrics=("em",),
        from_="record",
    )

    assert scores.is_broken
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["model", "outputs.model"])
def test_tables_take_a_field_by_each_of_its_names(name: str, tmp_path: Path) -> None:
    """The name of a column and the path in a record give the same column its value."""
    given = {name: "o/m"}
    path = written(jsonl(*ROWS), "csv", tmp_path, from_="record", constants=given)

    assert [line[1] for line in cells_in(path)] == ["model", "模型", "m", "o/m", "o/m"]


def test_tables_refuse_unknown_fields(tmp_path: Path) -> None:
    """An unknown field is an error before anything is written."""
    with pytest.raises(ScoreError, match="no field is called 'categories'"):
        written(jsonl(*ROWS), "csv", tmp_path, constants={"categories": "x"})
    assert not list(tmp_path.iterdir())


def test_device_gets_no_signature_file() -> None:
    """No file of signatures is written next to a device."""
    score(jsonl(*ROWS), to="csv", output="/dev/null", from_="record", overwrite=True)

    assert not Path("/dev/null.signatures.txt").exists()


@for_each_case("name", sorted(METRICS))
def test_best_scores_are_right(name: str) -> None:
    """The score of an answer that is its reference is the best of its scale."""
    try:
        measure = measure_of(name, {})
    except MetricError:
        return  # the metric needs a package or a parameter
    if measure.labels is not None:
        return  # it has no score of one answer
    text = "the cat sat on the 3 mats"
    columns = columns_of([ComputedMetric(MetricRequest(name), measure)])
    try:
        values = measure.scores(measure.statistics(text, [text]))
    except UnscorableError:
        return  # it takes no texts

    for column, value in zip(columns, values, strict=True):
        assert value is not None
        if not column.has_best:
            continue
        assert column.is_right(value)
        assert 0 <= column.bounded(value) <= column.best
        assert column.lower_is_better == (name in {"ter", "wer", "cer"})


def is_binary(name: str) -> bool:
    """Tell whether a metric says that its answers are wrong or right."""
    try:
        return measure_of(name, {}).is_binary
    except MetricError:
        return False


@for_each_case("name", sorted(filter(is_binary, METRICS)))
def test_binary_metrics_know_nothing_between(name: str) -> None:
    """A metric that is called binary gives each answer the best score or 0."""
    measure = measure_of(name, {})
    pairs = [("1", ["1"]), ("2", ["1", "3"]), ("a 1", ["a 2"]), ("1 a", ["1 a", "b 2"])]

    for pair in pairs:
        try:
            found = measure.statistics(*pair)
        except UnscorableError:
            return  # it takes no texts
        assert measure.scores(found)[0] in {0.0, 1.0}
