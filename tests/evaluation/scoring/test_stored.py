"""Scores that tools stored: shown as they are, and compared with computed ones."""

import io
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from command_runs import run
from harpia_formats import ScoreError
from harpia_formats.plugins import tool_signature
from json_lines import jsonl
from unchecked import score

FIXTURES = Path(__file__).parents[3] / "fixtures"
STRICT = tool_signature("exact_match", "lm-eval", "0.4.13", filter="strict-match")
FLEXIBLE = tool_signature("exact_match", "lm-eval", "0.4.13", filter="flexible-extract")
MATCH = tool_signature("match", "inspect-ai", "0.3.285", scorer="match")


def answered(number: int, text: str, *scores: tuple[str, Any, str]) -> dict[str, Any]:
    """Return a record with one answer and its stored scores; 4 is right."""
    stored = [
        {"metric": metric, "value": value, **({"signature": by} if by else {})}
        for metric, value, by in scores
    ]
    output = {"model": "org/m", "text": text, "scores": stored}
    return {
        "id": f"q{number}",
        "prompt": f"question {number}",
        "references": ["4"],
        "metadata": {"part": "even" if number % 2 else "odd"},
        "outputs": [output],
    }


#: As lm-eval's filters give them: one that finds nothing, and one that does.
FILTERED = jsonl(
    answered(1, "4", ("exact_match", 1, STRICT), ("exact_match", 1, FLEXIBLE)),
    answered(2, "It is 4", ("exact_match", 0, STRICT), ("exact_match", 1, FLEXIBLE)),
    answered(3, "5", ("exact_match", None, STRICT), ("exact_match", 0, FLEXIBLE)),
)


def test_scores_of_one_metric_are_distinguished_by_their_signatures() -> None:
    """Two filters of one metric are two quantities, named by what differs."""
    scores = score(FILTERED, stored=True)
    strict = scores["exact_match|filter:strict-match"]
    flexible = scores["exact_match|filter:flexible-extract"]

    assert [one.signature for one in scores] == [STRICT, FLEXIBLE]
    assert (strict.value, strict.count, strict.unscored) == (0.5, 2, 1)
    assert flexible.value == pytest.approx(2 / 3)
    assert (flexible.count, flexible.unscored) == (3, 0)
    assert [problem.code for problem in scores.problems] == ["M104"]


def test_signatures_of_the_same_parts_have_names_of_their_own() -> None:
    """Signatures that differ only in the order of their parts are whole in names."""
    first, second = "em|a:1|b:2", "em|b:2|a:1"
    rows = [answered(1, "4", ("em", 1, first)), answered(2, "4", ("em", 0, second))]
    scores = score(jsonl(*rows), stored=True)

    assert scores[f"em|{first}"].value == 1
    assert scores[f"em|{second}"].value == 0


def test_stored_scores_of_0_and_1_have_the_interval_of_a_share() -> None:
    """30 of 30 right answers do not prove that all are; rates and grades are none."""

    def stored(name: str, *values: object) -> Any:
        """Return the score of 30 answers, the last of which have these values."""
        every = [*[1] * (30 - len(values)), *values]
        answers = [answered(at, "4", (name, one, "")) for at, one in enumerate(every)]
        return score(jsonl(*answers), stored=True)[name]

    for right in (stored("grade"), stored("grade", True), stored("grade", 1.0)):
        assert right.interval == (pytest.approx(0.8776, abs=1e-4), 1.0)
        assert (right.scale, right.remark[:12]) == ("0-1", "few failures")
    assert {stored("grade", 0.5).scale, stored("wer").scale} == {"any"}


def test_stored_rates_of_errors_have_no_interval_of_a_share(tmp_path: Path) -> None:
    """Rates above 1 are not cut off, whatever the rate is called; lower is better."""
    answers = [answered(at, "4" if at % 9 else "4 4 4 4 4 4") for at in range(60)]
    rows = tmp_path / "rates.jsonl"
    harpia_formats.score(
        jsonl(*answers), metrics=("wer", "rate=cer"), to="record", output=rows
    )

    for stored in score(rows, stored=True):
        assert stored.method.startswith("bootstrap")
        assert stored.interval is not None
        assert stored.value is not None
        assert stored.interval[0] < stored.value < stored.interval[1]
        assert stored.lower_is_better


@pytest.mark.parametrize("values", [(3, 0), (0.5, -1)])
def test_stored_scores_beyond_their_scale_have_no_interval_of_a_share(
    values: tuple[float, float],
) -> None:
    """A scale that a signature declares counts only where the values keep to it."""
    by = "match|impl:tool-1|scale:0-1"
    answers = [answered(at, "4", ("match", values[at % 2], by)) for at in range(30)]
    found = score(jsonl(*answers), stored=True)["match"]

    assert found.method.startswith("bootstrap")
    assert found.interval is not None
    assert found.value is not None
    assert found.interval[0] < found.value < found.interval[1]


def test_a_value_that_is_no_number_is_never_0() -> None:
    """It is left out or refused, and cannot be asked to count as 0."""
    with pytest.raises(ScoreError, match="the stored exact_match is no number"):
        harpia_formats.score(FILTERED, stored=True)
    with pytest.raises(ScoreError, match="never counts as 0"):
        harpia_formats.score(FILTERED, stored=True, missing="zero")


def test_a_metric_without_any_number_is_named_and_not_shown() -> None:
    """One of several is left out with a note; if there is no other, it is an error."""
    lists = answered(1, "4", ("acc", True, ""), ("word_perplexity", None, ""))
    scores = score(jsonl(lists, lists), stored=True)

    assert [one.name for one in scores] == ["acc"]
    assert scores["acc"].value == 1
    assert scores.notes == (
        "word_perplexity has no score: none of 2 stored values is a number",
    )
    assert scores.ok
    with pytest.raises(ScoreError, match="none of 1 stored scores is a number"):
        score(jsonl(answered(1, "4", ("acc", None, ""))), stored=True)


def test_answers_without_stored_scores_are_passed_over() -> None:
    """They lack nothing; an input with no stored score at all is an error."""
    bare = answered(2, "4")
    scores = score(jsonl(answered(1, "4", ("match", 1, MATCH)), bare), stored=True)

    assert (scores["match"].count, scores["match"].unscored) == (1, 0)
    assert scores["match"].signature == MATCH
    with pytest.raises(ScoreError, match="no answer has a stored score"):
        score(jsonl(bare), stored=True)


def test_cells_that_are_no_number_are_found_and_empty_ones_passed_over() -> None:
    """Text in a column of scores is named at its row; a note counts empty cells."""
    cells = ["1", "n/a", "", "0,5", "0.5"] * 2
    rows = (f'q{number},r,a,"{cell}"\n' for number, cell in enumerate(cells))
    table = "".join(["prompt,references,response,score\n", *rows]).encode()
    scores = score(table, from_="csv", stored=True)

    assert (scores["score"].count, scores["score"].value) == (4, 0.75)
    assert scores["score"].unscored == 4
    found = [(one.code, one.place.line, one.message) for one in scores.problems]
    assert found[:2] == [
        ("M104", 3, 'the stored score is no number: "n/a"'),
        ("M104", 5, 'the stored score is no number: "0,5"'),
    ]
    assert "2 answers have no stored score, and are passed over" in scores.notes
    asked = answered(1, "4", ("match", 1, MATCH)), {"prompt": "q", "outputs": []}
    assert score(jsonl(*asked), stored=True).notes == ()


def test_a_column_of_text_has_no_scores() -> None:
    """The error counts its cells, which are scores that are no numbers."""
    table = b'prompt,response,score\nq,a,"0,5"\nr,a,"0,7"\n'
    with pytest.raises(ScoreError, match="none of 2 stored scores is a number"):
        score(table, from_="csv", stored=True)


def test_text_in_a_mapped_score_is_found() -> None:
    """Rows of JSON with a decimal comma in the key that a map names are not silent."""
    rows = [{"q": f"question {at}", "mark": mark} for at, mark in enumerate(["0,5", 1])]
    columns = {"prompt": "q", "score": "mark"}
    scores = score(jsonl(*rows), columns=columns, stored=True)

    assert [one.message for one in scores.problems] == [
        'the stored score is no number: "0,5"'
    ]
    assert (scores["score"].count, scores["score"].unscored) == (1, 1)


def test_systems_and_groups_have_the_scores_of_their_own_answers() -> None:
    """A metric that a model has no value of is not shown for it."""
    ours = answered(1, "4", ("f1", 0.25, "")), answered(2, "4", ("f1", 0.75, ""))
    theirs = answered(1, "4", ("acc", 1, ""))
    theirs["outputs"][0]["model"] = "org/other"
    scores = score(jsonl(*ours, theirs), stored=True, by=("metadata.part",))
    found = {
        (group.key["model"], group.key.get("metadata.part")): [
            (one.name, one.value) for one in group.scores
        ]
        for group in (*scores.systems, *scores.groups)
    }

    assert found == {
        ("org/m", None): [("f1", 0.5)],
        ("org/other", None): [("acc", 1)],
        ("org/m", "even"): [("f1", 0.25)],
        ("org/m", "odd"): [("f1", 0.75)],
        ("org/other", "even"): [("acc", 1)],
    }
    assert scores.ok


def test_metrics_are_chosen_by_the_names_of_the_tool() -> None:
    """Both the name and the longer one choose; another one is an error."""
    longer = "exact_match|filter:strict-match"

    assert len(score(FILTERED, stored=True, metrics=("exact_match",))) == 2
    assert [one.name for one in score(FILTERED, stored=True, metrics=(longer,))] == [
        longer
    ]
    with pytest.raises(ScoreError, match=r"called em \(there are: exact_match\)"):
        score(FILTERED, stored=True, metrics=("em",))


def test_many_stored_scores_have_the_same_mean_with_several_jobs() -> None:
    """Nothing of them is computed, so that no worker asks for a metric of ours."""
    records = jsonl(
        *[answered(number, "4", ("match", number % 4, MATCH)) for number in range(600)]
    )
    scores = score(records, stored=True, jobs=2, replicates=0)

    assert scores["match"].value == 1.5
    assert scores["match"].count == 600


def test_a_format_without_scores_is_refused() -> None:
    """Its answers can be scored, but have no scores."""
    named = r"answers\.jsonl: nemo-output holds no scores; .* `--stored` .* computed"
    with pytest.raises(ScoreError, match=named):
        score(FIXTURES / "nemo-output" / "valid" / "answers.jsonl", stored=True)


@pytest.mark.parametrize(
    "options", [{"profile": "squad"}, {"reference_from": "gt"}, {"to": "record"}]
)
def test_options_for_computed_scores_are_refused(options: dict[str, Any]) -> None:
    """Stored scores are shown as they are, and not written a second time."""
    with pytest.raises(ScoreError, match=r"stored|have these scores already"):
        score(FILTERED, stored=True, **options)


@for_each_case(
    "options",
    [
        {"profile": "squad"},
        {"parameters": {"em.k": 2}},
        {"skip_unknown": True},
        {"config": {}},
        {"reference_from": "gt"},
    ],
)
def test_comparisons_of_stored_scores_refuse_them_too(options: dict[str, Any]) -> None:
    """An option that only computed scores follow is not passed over in silence."""
    with pytest.raises(ScoreError, match="scores as they are stored: leave out"):
        harpia_formats.compare_scores(FILTERED, FILTERED, stored=True, **options)


def test_results_hold_stored_scores() -> None:
    """A table of results has a column for each quantity, empty where there is none."""
    written = io.BytesIO()
    score(FILTERED, to="csv", output=written, stored=True)

    header, *rows = written.getvalue().decode().split("\n")

    assert header.split(",")[3:] == [
        "exact_match|filter:strict-match",
        "exact_match|filter:flexible-extract",
    ]
    assert rows[:3] == [
        "q1,org/m,,1.0,1.0",
        "q2,org/m,,0.0,1.0",
        "q3,org/m,,,0.0",
    ]


def test_a_difference_of_stored_and_computed_scores_is_reported() -> None:
    """It is counted for each signature, with the record where it is largest."""
    scores = score(FILTERED, metrics=("em",))
    (difference,) = scores.stored_differences

    assert difference == {
        "name": "em",
        "stored": FLEXIBLE,
        "compared": 3,
        "differing": 1,
        "largest": 1.0,
        "computed_value": 0.0,
        "stored_value": 1.0,
        "record": 2,
        "record_id": "q2",
    }
    assert [(one.code, one.place.line) for one in scores.problems] == [("M105", 2)]
    assert scores.to_dict()["stored_differences"] == [difference]
    assert f"em differs from the stored {FLEXIBLE} in 1 of 3 answers" in scores.notes[0]
    assert scores.ok


def test_equal_scores_of_other_names_and_scales_are_no_difference() -> None:
    """Names of tools stand for ours, and a declared scale is followed."""
    percent = "f1|impl:tool-1|scale:0-100"
    records = [
        answered(1, "4", ("f1_score", 1, "f1_score|impl:helm"), ("f1", 100, percent)),
        answered(2, "5", ("f1_score", False, "f1_score|impl:helm"), ("f1", 0, percent)),
        # Without a signature nobody says what it is.
        answered(3, "4", ("f1", 0, "")),
    ]
    scores = score(jsonl(*records), metrics=("f1",))

    assert scores.stored_differences == ()
    assert scores.problems == ()
    scaled = score(jsonl(*records), metrics=("f1",), parameters={"f1.scale": "0-100"})
    assert scaled.stored_differences == ()


def test_a_missing_answer_that_counts_as_zero_differs_from_no_stored_score() -> None:
    """So it is whether or not another metric needs no answer, but documents."""
    record = answered(1, "4", ("em", 1, "em|impl:tool-1"))
    del record["outputs"][0]["text"]
    documents = [{"content": "x"}]
    names = ("retrieved_documents", "ground_truth_documents")
    record["extra"] = {"haystack": dict.fromkeys(names, documents)}

    for metrics in (("em",), ("em", "document-map")):
        scores = score(jsonl(record), metrics=metrics, missing="zero")
        assert [one.code for one in scores.problems] == ["M101"]
        assert scores.stored_differences == ()


def test_a_score_without_a_scale_may_be_on_that_of_the_computed_one() -> None:
    """Of 100 points 100 is no difference, nor is a share of 1; another number is."""
    tool = "f1|impl:tool-1"
    stored = [answered(number, "4", ("f1", number, tool)) for number in (100, 1, 50)]
    scores = score(jsonl(*stored), metrics=("f1",), parameters={"f1.scale": "0-100"})

    assert [one.place.line for one in scores.problems] == [3]


def test_the_command_shows_stored_scores_and_differences(tmp_path: Path) -> None:
    """Both exit with 0; differences go to standard error."""
    (tmp_path / "a.jsonl").write_bytes(FILTERED)
    shown = run("score", "a.jsonl", "--stored", "--replicates", "0", cwd=tmp_path)
    computed = run("score", "a.jsonl", "-m", "em", "--replicates", "0", cwd=tmp_path)

    assert (shown.returncode, computed.returncode) == (0, 0)
    assert b"exact_match|filter:strict-match" in shown.stdout
    assert f"signature: {FLEXIBLE}".encode() in shown.stdout
    assert b"M104" in shown.stderr
    assert b"em is 0, but 1 is stored" in computed.stderr
    assert b"in 1 of 3 answers, most in record 2 (q2): 0 computed, 1 stored" in (
        computed.stderr
    )


def test_scores_of_helm_are_shown() -> None:
    """A run of HELM has the scores of its splits, as HELM has them."""
    path = FIXTURES / "helm" / "valid" / "joint.json"
    scores = score(path, stored=True, by=("metadata.split",), metrics=("exact_match",))
    found = {
        group.key["metadata.split"]: group["exact_match"].value
        for group in scores.groups
    }

    assert found == {"test": 0.5, "valid": 0.0}
    assert scores["exact_match"].signature == "exact_match|impl:helm"


def test_means_over_several_tasks_or_splits_are_noted() -> None:
    """What is a mean over tasks and splits is named, unless it is shown by them."""
    records = [answered(1, "4", ("acc", 1, "")), answered(2, "5", ("acc", 0, ""))]
    for record, task, split in zip(records, "ab", ("test", "valid"), strict=True):
        record["outputs"][0]["scores"][0]["evaluation_name"] = task
        record["metadata"]["split"] = split
    tasks = "acc is a mean over 2 tasks (a, b); `--by evaluation_name` shows each"
    splits = (
        "acc is a mean over 2 splits (test, valid); `--by metadata.split` shows each"
    )

    assert score(jsonl(*records), stored=True).notes == (tasks, splits)
    by_both = ("evaluation_name", "metadata.split")
    assert score(jsonl(*records), stored=True, by=by_both).notes == ()
    records[0]["outputs"][0]["model"] = "org/n"  # scored apart
    assert not any(
        "mean over" in note for note in score(jsonl(*records), stored=True).notes
    )


def test_stored_scores_without_answers_are_noted() -> None:
    """Where no text can be scored, the option that shows stored scores is named."""
    record = answered(1, "4", ("acc", 1, "")) | {"references": ["a"]}
    record["outputs"][0]["text"] = None

    notes = score(jsonl(record)).notes

    assert notes == (
        "1 answer has no text and a stored score: `--stored` shows stored scores",
    )


def test_formats_without_answers_are_not_scored_otherwise() -> None:
    """Where nothing can be computed either, nothing says that it can."""
    with pytest.raises(ScoreError, match=r"alpaca holds no scores; leave it out$"):
        score(FIXTURES / "alpaca" / "valid" / "instructions.json", stored=True)
