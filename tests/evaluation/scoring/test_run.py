"""Scores of any format's answers: by metric, by group, in one process or several."""

import io
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats import ScoreError
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.scoring_run import Scoring
from json_lines import jsonl
from known_formats import READABLE
from unchecked import score

FIXTURES = Path(__file__).parents[3] / "fixtures"
ANSWERS = [
    ("Paris", ["paris"], "geography", "one"),
    ("It is 4", ["4", "four"], "sums", "one"),
    ("The dog sat on the floor.", ["The cat sat on the mat."], "animals", "one"),
    ("", ["nothing"], "sums", "one"),
]


def answers_as_lines(answers: list[tuple[Any, list[str], str, str]]) -> bytes:
    """Return records, one a line."""
    rows = [
        {
            "id": number,
            "prompt": f"question {number}",
            "references": references,
            "category": category,
            "outputs": [{"model": model, "text": text}],
        }
        for number, (text, references, category, model) in enumerate(answers)
    ]
    return jsonl(*rows)


def test_groups_differ_by_fields() -> None:
    """Each group has the scores that its answers have alone."""
    scores = score(answers_as_lines(ANSWERS), metrics=("f1",), by=("category", "model"))

    for group in scores.groups:
        alone = [
            each for each in ANSWERS if (each[2], each[3]) == tuple(group.key.values())
        ]
        value = score(answers_as_lines(alone), metrics=("f1",))["f1"].value
        assert group.scores[0].value == value
        assert group.answers == len(alone)
    assert sum(each.answers for each in scores.groups) == len(ANSWERS)


def test_charts_show_the_intervals_of_groups() -> None:
    """There is none of one score without an interval."""
    data = answers_as_lines(ANSWERS)
    found = score(data, metrics=("em",), by=("category",)).shown_charts()

    assert [found.count(name) for name in ("geography", "sums", "all answers")] == [
        1
    ] * 3
    assert "Hollow dots are groups of answers." in found
    assert score(data, metrics=("em",), replicates=0).shown_charts() == ""


def test_unscored_answers_are_counted_and_reported() -> None:
    """A missing answer, reference or number is a finding, and never a silent 0."""
    answers = [(None, ["4"], "", "m"), ("4", [], "", "m"), ("four", ["4"], "", "m")]

    scores = score(
        answers_as_lines([*answers, ("4", ["4"], "", "m")]), metrics=("number-check",)
    )

    assert [each.code for each in scores.problems] == ["M101", "M102", "M103"]
    assert [each.place.line for each in scores.problems] == [1, 2, 3]
    assert scores["number-check"].value == 1.0
    assert scores["number-check"].count == 1
    assert scores["number-check"].unscored == 3
    assert scores.ok


def test_a_metric_without_any_score_is_none() -> None:
    """Where no answer could be scored the score is None, and the run is not well."""
    scores = score(answers_as_lines([("4", [], "", "m")]), metrics=("em",))

    assert scores["em"].value is None
    assert scores["em"].interval is None
    assert not scores.ok


@examples(15)
@given(
    st.lists(
        st.tuples(
            st.none() | st.text("ab é", max_size=8),
            st.lists(st.text("ab é", max_size=8), max_size=3),
            st.sampled_from("xy"),
            st.sampled_from("mn"),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_all_groups_together_are_all_answers(
    answers: list[tuple[Any, list[str], str, str]],
) -> None:
    """Counts and sums of groups add up to those of all answers."""
    scores = score(answers_as_lines(answers), metrics=("em", "f1"), by=("category",))

    for system in scores.systems:
        key = system.key.items()
        groups = [group for group in scores.groups if key <= group.key.items()]
        for at, whole in enumerate(system.scores):
            parts = [group.scores[at] for group in groups]
            assert sum(part.count for part in parts) == whole.count
            assert sum(part.unscored for part in parts) == whole.unscored
            assert math.isclose(sum(one.spread.sum for one in parts), whole.spread.sum)
    assert sum(system.answers for system in scores.systems) == len(answers)


def test_processes_make_no_difference() -> None:
    """Two processes compute exactly the scores of one process."""
    answers = [
        (f"{text} {number % 7}", refs, category, model)
        for number in range(400)
        for text, refs, category, model in ANSWERS
    ]
    data = answers_as_lines(answers)

    one, two = (
        score(io.BytesIO(data), metrics=("em", "f1"), by=("category",), jobs=jobs)
        for jobs in (1, 2)
    )

    assert one.total == two.total
    assert one.groups == two.groups
    assert one.total.scores[1].interval is not None


def test_records_are_drawn_and_not_answers() -> None:
    """Many equal answers of a record make no interval narrower."""
    pytest.importorskip("numpy", reason="intervals need the extra score")
    rows: list[Any] = [
        {"references": ["4"], "outputs": [{"text": text}]} for text in "45" * 30
    ]
    often = [row | {"outputs": row["outputs"] * 10} for row in rows]
    one, many = (
        score(jsonl(*each), metrics=("em",), from_="record")["em"]
        for each in (rows, often)
    )

    assert (one.count, many.count) == (60, 600)
    assert one.interval == many.interval
    assert one.standard_error == pytest.approx(many.standard_error)


def test_one_scored_record_has_no_interval() -> None:
    """An interval needs two records with a score, however many have none."""
    answers = [("four", ["4"], "", "m")] * 9 + [("4", ["4"], "", "m")]

    scores = score(answers_as_lines(answers), metrics=("number-check",))

    assert scores["number-check"].value == 1
    assert scores["number-check"].interval is None


def test_equal_scores_have_no_spread() -> None:
    """The mean of equal scores is that score, and their spread is 0."""
    answers = [("a b c", ["a b c d"], "", "m")] * 3_000

    spread = score(answers_as_lines(answers), metrics=("f1",), replicates=0)[
        "f1"
    ].spread

    assert spread.mean == spread.minimum == spread.maximum
    assert spread.deviation == pytest.approx(0, abs=1e-15)


def test_record_without_the_model_is_counted() -> None:
    """A record without an answer of the requested model is skipped with a note."""
    rows = [
        {"references": ["4"], "outputs": [{"model": each, "text": "4"}]}
        for each in ("a", "b", "b")
    ]
    data = jsonl(*rows)

    found = score(data, metrics=("em",), from_="record", model="a")

    assert (found["em"].count, found["em"].unscored) == (1, 2)
    assert [each.code for each in found.problems] == ["M101", "M101"]


@for_each_case(
    "metric, operation, answer, value",
    [
        ("string-check", "not equals", "A", 0),
        ("string-check", "not equals", "C", 1),
        ("string-check", "not contains", "A and C", 0),
        ("number-check", "!=", "1", 0),
        ("number-check", "!=", "3", 1),
    ],
)
def test_negated_metric_applies_to_all_references(
    metric: str, operation: str, answer: str, value: float
) -> None:
    """An answer differs from its references only if it differs from each of them."""
    references = ["A", "B"] if metric == "string-check" else ["1", "2"]
    data = answers_as_lines([(answer, references, "", "m")])

    found = score(
        data, metrics=(metric,), parameters={f"{metric}.operation": operation}
    )

    assert found[metric].value == value
    assert "|refs:min|" in found[metric].signature


def test_several_answers_of_a_record_count_each() -> None:
    """Every answer of a record is scored, those of one model if it is asked for."""
    row = {
        "prompt": "2+2",
        "references": ["4"],
        "outputs": [
            {"model": "a", "text": "4"},
            {"model": "b", "text": "5"},
            {"model": "b", "text": "4"},
        ],
    }
    data = json.dumps(row).encode()

    one, two = score(data, metrics=("em",), from_="record").systems
    assert (one["em"].value, one["em"].count) == (1.0, 1)
    assert (two["em"].value, two["em"].count, two.records) == (0.5, 2, 1)
    assert score(data, metrics=("em",), from_="record", model="b")["em"].value == 0.5


@for_each_case(
    "options, message",
    [
        ({"metrics": ("blue",)}, "did you mean bleu?"),
        ({"metrics": ("emm",)}, "did you mean em?"),
        ({"metrics": ("em",), "profile": "squat"}, "did you mean squad?"),
        ({"metrics": ("em",), "by": ("categroy",)}, "did you mean category?"),
        ({"metrics": ("em",), "parameters": {"em.norm": 1}}, "norm"),
        ({"metrics": ("em",), "parameters": {"f1.empty": "v1"}}, "not computed"),
        ({"metrics": ("em",), "parameters": {"em": "v1"}}, "METRIC.PARAMETER"),
        ({"metrics": ("em", "em")}, "given twice"),
        ({"metrics": ("em",), "config": {"a": 1}}, "takes no configuration"),
    ],
)
def test_wrong_names_are_refused(options: dict[str, Any], message: str) -> None:
    """A wrong name is an error before any input is read, with the right name."""
    with pytest.raises(ScoreError, match=message.replace("?", "\\?")):
        score(answers_as_lines(ANSWERS), **options)


def test_data_without_answers_is_refused() -> None:
    """A format that holds no answers is an error at once."""
    row = {"prompt": "2+2", "ideal_response": "4", "category": "", "source": ""}

    with pytest.raises(ScoreError, match="holds no answers"):
        score(json.dumps(row).encode(), metrics=("em",))


def test_rows_that_are_not_valid_end_it() -> None:
    """Nothing is scored unless they are left out, which a note counts."""
    data = answers_as_lines(ANSWERS) + b'{"id": 7, "prompt": 7}\n' * 12

    broken = score(data, metrics=("em",), from_="record")
    kept = score(data, metrics=("em",), from_="record", on_invalid="skip")

    assert broken.is_broken
    assert [each.code for each in broken.problems] == ["S101"]
    assert not broken.ok
    assert kept.total.answers == len(ANSWERS)
    assert kept["em"].value is not None
    assert "12 invalid rows were left out" in kept.notes


@pytest.mark.parametrize("more", [b"", b', {"id": 2, "epoch": "x"}'])
def test_an_error_of_a_whole_file_is_not_left_out(more: bytes) -> None:
    """The version of a log is as wrong if rows of it are left out as if none is."""
    data = (
        b'{"version": 4, "status": "success", "eval": {"task": "t", "model": "m"}, '
        b'"samples": [{"id": 1, "epoch": 1, "input": "q", "target": "a", '
        b'"output": {"completion": "a"}, "messages": []}%b]}' % more
    )

    scores = score(data, metrics=("em",), on_invalid="skip")

    assert scores["em"].value == 1
    assert not scores.ok


@for_each_case("name", READABLE)
def test_fixtures_of_every_format_are_scored(name: str) -> None:
    """Every valid file of a format with answers is scored, or refused with an error."""
    for path in sorted((FIXTURES / name / "valid").iterdir()):
        try:
            scores = score(path, metrics=("em", "f1"), from_=name)
        except ScoreError:
            continue
        assert not scores.is_broken, path
        for system in scores.systems:
            assert system.answers >= system["em"].count


@pytest.mark.parametrize(
    "options",
    [{"output": io.BytesIO()}, {"names": {"task": "x"}}, {"constants": {"a": "x"}}],
)
def test_output_without_a_results_format_is_refused(options: dict[str, Any]) -> None:
    """An output without a format of results is an error, and not ignored."""
    with pytest.raises(ScoreError, match="`--to`"):
        score(answers_as_lines(ANSWERS), metrics=("em",), **options)


@pytest.mark.parametrize(
    ("to", "name"),
    [
        *(("nemo-results", "category"), ("harpia-output", "model")),
        *(("harpia-log", "id"), ("csv", "prompt")),
        *(("eee@0.3.0", "category"), ("haystack-run", "category")),
    ],
)
def test_a_field_that_results_do_not_have_is_refused(
    to: str, name: str, tmp_path: Path
) -> None:
    """A value that would be in no result is an error, and nothing is written."""
    options: dict[str, Any] = {"to": to, "output": tmp_path / "out"}
    with pytest.raises(ScoreError, match=f"{to} has no place for {name}"):
        score(answers_as_lines(ANSWERS), constants={name: "x"}, **options)
    assert not list(tmp_path.iterdir())


def test_the_number_of_groups_is_bounded() -> None:
    """Each takes memory: values that all differ, such as ids, are no groups."""
    data = answers_as_lines([("a", ["a"], f"c{at}", "one") for at in range(1001)])
    options: dict[str, Any] = {"metrics": ("em",), "replicates": 0, "by": ("category",)}

    assert len(score(data[: data.rindex(b"{")], **options).groups) == 1000
    with pytest.raises(ScoreError, match="more than 1,000 groups by category"):
        score(data, **options)


def test_problems_of_answers_come_before_those_of_later_rows() -> None:
    """All that is known is yielded with the next problem, and not at the end."""
    rows = [{"references": ["a"], "outputs": [{}]}] * 256
    options = ScoreOptions(
        metrics=("em",), from_="record", missing="skip", on_invalid="skip"
    )
    run = Scoring([jsonl(*rows) + b"no JSON\n" * 2], options=options)

    lines = [one.place.line for one in run]
    assert lines[:2] == [257, 1]
    assert lines[-1] == 258


LONG = "x" * 2**22


@for_each_case(
    "metric, long",
    [
        ("em", {"references": ["a"], "outputs": [{"text": LONG}]}),
        ("em", {"references": [LONG[::2]], "outputs": [{"text": "a"}] * 2}),
        (
            "document-mrr",
            {
                "outputs": [],
                "metadata": {
                    "ground_truth_documents": ["a"],
                    "retrieved_documents": [{"content": LONG}],
                },
            },
        ),
    ],
)
def test_long_answers_are_measured_before_more_are_read(
    metric: str, long: dict[str, Any]
) -> None:
    """Few wait in memory: what is wrong with one is known before what comes later."""
    data = jsonl({"references": ["a"], "outputs": [{}]}, long) + b"no JSON\n"
    run = Scoring([data], options=ScoreOptions(metrics=(metric,), from_="record"))

    with pytest.raises(ScoreError, match='missing="skip" leaves answers without'):
        next(iter(run))
