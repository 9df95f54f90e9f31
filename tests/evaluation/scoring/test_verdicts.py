"""What an LLM judge wrote is scored and compared as it is."""

import json
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from command_runs import run
from harpia_formats import ScoreError
from json_lines import jsonl

SIGNATURE = "judge|impl:harpia-formats-1|model:gpt|definition:0|guarded:yes"
COUNT = 40


def verdict(number: int, result: Any, **changes: Any) -> dict[str, Any]:
    """Return a verdict as the judge writes it."""
    return {
        "row": number,
        "record": number,
        "record_id": f"q{number}",
        "model": "org/m",
        "status": "failed" if result is None else "ok",
        "attempts": 1,
        "cached": False,
        "error": "no JSON" if result is None else None,
        "signature": SIGNATURE,
        "result": result,
        **changes,
    }


def lines(results: list[Any], **changes: Any) -> bytes:
    """Return a verdict for each result, one a line."""
    rows = (verdict(at, result, **changes) for at, result in enumerate(results, 1))
    return jsonl(*rows)


def rated(right: int, best: Any = 1) -> list[Any]:
    """Return results of which the first ones are the best, and the others 0."""
    return [
        {"score": best if at < right else type(best)(0), "why": "é"}
        for at in range(COUNT)
    ]


def compared(*inputs: bytes, **options: Any) -> Any:
    """Return the report of a comparison of verdicts, which needs the extra score."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    return harpia_formats.compare_scores(*inputs, **options)


def test_many_verdicts_are_scored_with_several_jobs() -> None:
    """No worker asks for a metric of ours that is called like a number of verdicts."""
    many = lines([{"score": number % 2} for number in range(600)])
    scores = harpia_formats.score(many, jobs=2, replicates=0)

    assert (scores["score"].value, scores["score"].count) == (0.5, 600)


@pytest.mark.parametrize("best", [1, 1.0, True, 5])
def test_verdicts_have_a_mean_and_an_interval(best: Any) -> None:
    """The mean of each number is that of the verdicts, with an interval around it."""
    score = harpia_formats.score(lines(rated(30, best)))["score"]

    assert score.value is not None
    assert score.value == pytest.approx(0.75 * float(best))
    assert (score.count, score.questions) == (COUNT, COUNT)
    assert score.signature == f"{SIGNATURE}|verdict:score"
    assert score.interval is not None
    assert score.interval[0] < score.value < score.interval[1]
    assert score.method.startswith("wilson" if best is True else "bootstrap")


@pytest.mark.parametrize("value", [1, 1.0, 0, 5])
def test_scale_of_verdicts_is_not_guessed(value: float) -> None:
    """Ratings that are all equal have a bootstrap interval, with its remark."""
    data = lines([{"score": value}] * COUNT)

    score = harpia_formats.score(data)["score"]

    assert score.scale == "any"
    assert score.method.startswith("bootstrap")
    assert score.interval == (value, value)
    assert "approximate" in score.remark
    with pytest.raises(ScoreError, match=r"cannot count as 0: the scale of score"):
        harpia_formats.score(data, missing="zero")


@for_each_case(
    "output, is_share",
    [
        ({"name": "score", "minimum": 0, "maximum": 1}, True),
        ({"name": "score", "choices": [0, 0.5, 1]}, True),
        ({"name": "score", "minimum": 1, "maximum": 5}, False),
        ({"name": "score", "maximum": 1}, False),
        ({"name": "score", "choices": [0, 1, 2]}, False),
        ("score", False),
    ],
)
def test_scale_of_verdicts_is_declared_by_the_judge(
    output: Any, *, is_share: bool
) -> None:
    """Verdicts that the definition limits to 0 to 1 have Wilson's interval."""
    judge = harpia_formats.LLMJudge("Rate.", [("answers", list[str])], [output], [])
    data = lines(rated(30), signature=judge.signature)

    score = harpia_formats.score(data)["score"]

    assert (score.scale, score.method.partition("|")[0]) == (
        ("0-1", "wilson") if is_share else ("any", "bootstrap")
    )


@pytest.mark.parametrize(
    ("scale", "best"), [("", 1), ("|scale:score=0-1", 1), ("", True)]
)
def test_stored_verdicts_without_a_scale_have_no_zero(scale: str, best: Any) -> None:
    """A missing stored verdict is 0 only on a known scale."""
    data = lines(rated(30, best), signature=f"{SIGNATURE}{scale}")
    options: dict[str, Any] = {"stored": True, "missing": "zero"}

    if scale or isinstance(best, bool):
        assert compared(data, data, **options).ok
    else:
        with pytest.raises(ScoreError, match="cannot count as 0"):
            compared(data, data, **options)


@pytest.mark.parametrize(
    ("values", "is_share"),
    [
        ({"win": 0.5}, True),
        ({"good": True}, True),
        ({"rating": 1}, False),
    ],
)
def test_stored_verdicts_have_the_scores_of_verdicts(
    values: dict[str, float], *, is_share: bool
) -> None:
    """Shown as stored or not, compared or not, they have one scale and interval."""
    ((name, value),) = values.items()
    results = [
        {name: value if at % 3 else type(value)(0 if is_share else 1)}
        for at in range(COUNT)
    ]
    signature = f"{SIGNATURE}|scale:win=0-1"
    one, two = (lines(results, model=model, signature=signature) for model in "ab")
    reports = (compared(one, two, stored=stored) for stored in (False, True))
    groups = [
        *(harpia_formats.score(one, stored=stored).total for stored in (False, True)),
        *(found.systems[0].scores for found in reports),
    ]
    found = [
        (score.scale, score.value, score.interval, score.method)
        for group in groups
        for score in group.scores
    ]

    assert found == [found[0]] * 4
    assert (found[0][0] == "0-1") is is_share


def test_cause_of_no_verdict_is_named() -> None:
    """An unknown model, and rows that all failed, are the errors, not the numbers."""
    with pytest.raises(harpia_formats.HarpiaFormatsError, match=r"'nope'.*org/m"):
        harpia_formats.score(lines(rated(3)), model="nope")
    with pytest.raises(ScoreError, match=r"all 4 rows failed, first with: no JSON"):
        harpia_formats.score(lines([None] * 4))


@pytest.mark.parametrize("score", [1e101, -1e160, 1e308, 10**400])
def test_a_number_too_large_to_be_squared_is_no_verdict(score: float) -> None:
    """It is left out as a verdict without a number is, and the others are scored."""
    found = harpia_formats.score(lines([*rated(30), {"score": score}]), missing="skip")

    assert found["score"].count == COUNT
    assert found["score"].unscored == 1


def test_both_forms_are_scored_alike() -> None:
    """The document with columns and the lines have the same scores."""
    rows = [verdict(at, result) for at, result in enumerate(rated(9), 1)]
    metas = [{key: row[key] for key in row if key != "result"} for row in rows]
    document = {"results": [row["result"] for row in rows], "meta": metas}

    found = harpia_formats.score(json.dumps(document).encode())

    assert found.total.scores == harpia_formats.score(lines(rated(9))).total.scores


def test_each_number_is_a_score() -> None:
    """Numbers and true and false are scores, other values are not."""
    results = [{"a": 1, "b": n > 3, "text": "x", "list": [1]} for n in range(8)]

    scores = harpia_formats.score(lines(results)).total.scores

    assert [(score.metric, score.value) for score in scores] == [("a", 1), ("b", 0.5)]


def test_rows_without_a_verdict_are_reported() -> None:
    """A row without a verdict is left out or 0 as asked for, and else an error."""
    data = lines([*rated(30, best=True)[:-1], None])

    left = harpia_formats.score(data, missing="skip")
    zero = harpia_formats.score(data, missing="zero")

    assert (left["score"].count, left["score"].unscored) == (COUNT - 1, 1)
    assert [problem.code for problem in left.problems] == ["M110"]
    assert (zero["score"].value, zero["score"].count) == (0.75, COUNT)
    with pytest.raises(ScoreError, match=f":{COUNT}: there is no verdict: no JSON"):
        harpia_formats.score(data)


def test_a_pair_with_one_verdict_is_reported() -> None:
    """A row with a winner lacks not a verdict, but that of the other order."""
    pair = [{"winner": "a", "win": 1, "consistent": True, "first_position": 0.5}]
    half = [{"winner": "a"}, None]
    data = lines([*pair * COUNT, *half], order=1)

    found = harpia_formats.score(data, missing="skip")

    assert (found["win"].count, found["win"].unscored) == (COUNT, 2)
    assert [problem.message for problem in found.problems] == [
        "there is no verdict on the pair in the other order",
        "there is no verdict: no JSON",
    ]


def test_verdicts_of_one_judge_are_compared() -> None:
    """Two systems that one judge judged are compared by question."""
    found = compared(lines(rated(30)), lines(rated(20)))
    (score,) = found.compared

    assert (score.first, score.second, score.questions) == (0.75, 0.5, COUNT)
    assert score.comparison.p_value < 0.05


def test_outputs_that_both_judges_have_are_compared() -> None:
    """Outputs of one file only are named in a note, whatever their order is."""
    ours = [{"good": True, "score": at % 2} for at in range(COUNT)]
    theirs = [{"score": 1, "fine": 1, "fair": 2}] * COUNT

    found = compared(lines(ours), lines(theirs))
    (score,) = found.compared

    assert (score.name, score.first, score.second) == ("score", 0.5, 1)
    assert found.notes == (
        "not compared, since only the first input has it: good",
        "not compared, since only the second input has it: fine, fair",
    )
    with pytest.raises(
        ScoreError, match=r"first input has good, score; the second other$"
    ):
        compared(lines(ours), lines([{"other": 1}] * COUNT))


def test_verdicts_are_not_compared_with_answers() -> None:
    """It is an error that names what each input holds, in either order."""
    answer = b'{"prompt": "?", "references": ["a"], "outputs": [{"text": "a"}]}\n'

    with pytest.raises(ScoreError, match=r"verdicts of a judge, and the second ans"):
        compared(lines(rated(3)), answer)
    with pytest.raises(ScoreError, match=r"answers, and the second verdicts of a"):
        compared(answer, lines(rated(3)))
    with pytest.raises(ScoreError, match=r"compared with verdicts only"):
        compared(answer, lines(rated(3)), metrics=("em",))


def test_verdicts_of_other_judges_are_not_compared() -> None:
    """Verdicts with different signatures have no common score and no difference."""
    other = lines(rated(20), signature="judge|other")

    with pytest.raises(ScoreError, match=r"different ways.*judge\|other"):
        compared(lines(rated(30)), other)
    with pytest.raises(ScoreError, match=r"several ways.*judge\|other"):
        harpia_formats.score(lines(rated(30)), other)


def test_models_are_judged_apart() -> None:
    """Verdicts on the answers of two models are scored apart, or one is chosen."""
    data = lines(rated(30)) + lines(rated(10), model="org/n")

    scores = harpia_formats.score(data)

    assert [system["score"].value for system in scores.systems] == [0.75, 0.25]
    assert harpia_formats.score(data, model="org/n")["score"].value == 0.25


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": ("em",)},
        {"profile": "squad"},
        {"to": "record"},
    ],
)
def test_options_for_answers_are_refused(options: dict[str, Any]) -> None:
    """What verdicts cannot follow is an error, and not ignored."""
    with pytest.raises(ScoreError, match=r"leave out (metrics|profile|to=)"):
        harpia_formats.score(lines(rated(3)), **options)


@pytest.mark.parametrize("name", ["win", "accuracy"])
def test_verdicts_are_chosen_with_stored(name: str) -> None:
    """The error says so, whether or not a metric has the name of a verdict."""
    data = lines([{name: at % 2, "other": 1} for at in range(COUNT)])

    with pytest.raises(ScoreError, match=r"add stored=True"):
        harpia_formats.score(data, metrics=(name,))
    chosen = harpia_formats.score(data, metrics=(name,), stored=True)
    assert [score.name for score in chosen] == [name]


def test_answers_and_verdicts_are_not_mixed() -> None:
    """Answers next to verdicts are an error in either order."""
    answer = b'{"prompt": "?", "references": ["a"], "outputs": [{"text": "a"}]}\n'

    for inputs in ((answer, lines(rated(3))), (lines(rated(3)), answer)):
        with pytest.raises(ScoreError, match="one by one"):
            harpia_formats.score(*inputs)


def test_verdicts_without_numbers_have_no_score() -> None:
    """Verdicts of texts only are an error that says so."""
    with pytest.raises(ScoreError, match="no number"):
        harpia_formats.score(lines([{"verdict": "yes"}]))


def test_command_scores_and_compares_verdicts(tmp_path: Path) -> None:
    """The commands read files of verdicts as they read answers."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    for name, right in (("a.jsonl", 30), ("b.jsonl", 20)):
        (tmp_path / name).write_bytes(lines(rated(right)))

    scored = run("score", "a.jsonl", cwd=tmp_path)
    compared = run("score", "compare", "a.jsonl", "b.jsonl", cwd=tmp_path)
    piped = run("score", stdin=lines(rated(3)))

    assert (scored.returncode, compared.returncode) == (0, 0), scored.stderr
    assert b"0.7500" in scored.stdout
    assert b"+0.2500" in compared.stdout
    assert piped.returncode == 2
    assert b"give a file" in piped.stderr


def test_invalid_verdict_is_an_error() -> None:
    """A broken row among verdicts raises, unless it is left out on request."""
    data = lines(rated(3)) + b'{"row": 0}\n'

    with pytest.raises(harpia_formats.ValidationFailed):
        harpia_formats.score(data)
    kept = harpia_formats.score(data, on_invalid="skip")
    assert (kept["score"].count, kept.skipped) == (COUNT, 1)


def test_texts_lead_to_agreement() -> None:
    """Verdicts that are labels cannot be scored, and the error says what takes them."""
    with pytest.raises(ScoreError, match=r"texts \(verdict, why\).* score_agreement"):
        harpia_formats.score(lines([{"verdict": "good", "why": "é"}] * 3))
