"""The profiles lm-eval and inspect give the numbers that the tools stored."""

import json
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from corpora import CORPORA
from harpia_formats import ScoreError
from json_lines import jsonl

ROOT = Path(__file__).parents[3]
FILES = CORPORA / "neighbours"

#: Logs whose scores are all computed, with the accuracy and standard error that Inspect
#: stored; None for one of fewer samples than it ran.
LOGS: list[tuple[str, str, float | None, float | None]] = [
    ("made/mcq.eval", "choice", None, None),
    ("made/demo_epochs2.json", "match", 0.5, 0.2886751345948129),
    ("made/demo_epochs2.eval", "match", 0.5, 0.2886751345948129),
    ("real/data_intercode_ctf_local_path.json", "includes", None, None),
    ("real/data_pubmedqa_gpt4o_mini.json", "choice", 1.0, 0.0),
    ("real/log_images.json", "match", 0.0, None),
    ("real/log_length_stop_reason.txt", "exact", 0.0, None),
    ("real/log_streaming.eval", "match", 0.75, 0.25),
    ("real/mmlu-no-summary-choices.eval", "choice", 0.0, None),
    ("real/popularity_cancelled.json", "match", 2 / 3, 1 / 3),
]


def scores(file: Path, profile: str | None, **more: Any) -> Any:
    """Return the scores of a file by a profile, without intervals."""
    return harpia_formats.score(
        file, profile=profile, missing="skip", replicates=0, **more
    )


@pytest.mark.corpora
@pytest.mark.parametrize(("name", "scorer", "accuracy", "error"), LOGS)
def test_scores_of_inspect_are_reproduced(
    name: str, scorer: str, accuracy: float | None, error: float | None
) -> None:
    """Each answer gets the score that is stored with it, and so does the log."""
    found = scores(FILES / "inspect" / name, "inspect", skip_unknown=True)[scorer]
    stored = scores(FILES / "inspect" / name, None, stored=True)[scorer]

    assert (found.value, found.count) == (stored.value, stored.count)
    assert found.spread == stored.spread
    if accuracy is not None:
        assert found.value == pytest.approx(accuracy)
    if error is not None:
        assert found.standard_error == pytest.approx(error)


@pytest.mark.corpora
def test_each_score_of_inspect_is_the_stored_one() -> None:
    """No answer of any log differs from what the log says of it."""
    for name, *_ in LOGS:
        found = scores(FILES / "inspect" / name, "inspect", skip_unknown=True)
        assert not found.stored_differences, name
        assert not [one for one in found.problems if one.code == "M105"], name


@pytest.mark.corpora
@pytest.mark.parametrize(
    "name",
    [
        "made/samples_demo_chat_2026-11-22T14-09-46.700559.jsonl",
        "made/samples_demo_gen_2026-11-22T14-08-24.629883.jsonl",
    ],
)
def test_scores_of_lm_eval_are_reproduced(name: str) -> None:
    """exact_match of each filter is the number in the results, with its error."""
    file = FILES / "lm-eval" / name
    _, date = file.stem.rsplit("_", 1)
    results = json.loads((file.parent / f"results_{date}.json").read_text())
    (task,) = [task for task in results["results"] if f"_{task}_" in name]
    expected = {
        key: value
        for key, value in results["results"][task].items()
        if key.startswith("exact_match,")
    }

    found = scores(file, "lm-eval")

    assert {one.name: one.value for one in found} == pytest.approx(expected)
    for one in found:
        error = results["results"][task][one.name.replace(",", "_stderr,")]
        assert one.standard_error == pytest.approx(error)
        assert (one.count, one.unscored) == (3, 0)


@pytest.mark.corpora
def test_samples_of_lm_eval_without_a_filter_are_scored_whole() -> None:
    """exact_match of a real run is that of its rows."""
    name = "real/samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl"

    found = scores(FILES / "lm-eval" / name, "lm-eval")

    assert (found["exact_match"].value, found["exact_match"].count) == (0, 10)
    assert not found.stored_differences


@pytest.mark.corpora
def test_a_scorer_that_needs_more_than_the_answer_is_refused() -> None:
    """A scorer of a task is no metric, and the message names --stored."""
    log = FILES / "inspect" / "real" / "log_message_deduplication.eval"

    with pytest.raises(ScoreError, match="closeness_log of the log is none"):
        scores(log, "inspect")


@pytest.mark.parametrize(
    ("places", "stored", "computed"),
    [
        ("any begin any", "CIC", {"match": 1.0, "match1": 0.0}),
        ("any any begin", "CCI", {"match": 1.0, "match2": 0.0}),
    ],
)
def test_a_scorer_may_be_there_twice_with_other_options(
    places: str, stored: str, computed: dict[str, float], tmp_path: Path
) -> None:
    """Those behind the first have the numbers that Inspect stored their scores with."""
    message = {"role": "assistant", "content": "It is Lima, a city."}
    names = ["match", "match1", "match2"]
    sample = {
        "id": 1,
        "epoch": 1,
        "input": "q",
        "target": "Lima",
        "output": {"model": "m", "choices": [{"message": message}]},
        "scores": {
            name: {"value": value} for name, value in zip(names, stored, strict=True)
        },
    }
    scorers = [
        {"name": "match", "options": {"location": place}} for place in places.split()
    ]
    run = {"task": "t", "model": "a/m", "scorers": scorers}
    log = {"version": 2, "status": "success", "eval": run, "samples": [sample]}
    file = tmp_path / "log.json"
    file.write_text(json.dumps(log))
    found = scores(file, "inspect")

    assert {one.name: one.value for one in found} == computed
    assert not found.stored_differences


def samples(folder: Path, *options: dict[str, Any]) -> Path:
    """Return samples next to results whose tasks have exact_match with `options`."""
    configs = {
        f"task{number}": {"metric_list": [{"metric": "exact_match", **each}]}
        for number, each in enumerate(options)
    }
    results = {"results": {}, "configs": configs, "versions": {}, "n-shot": {}}
    (folder / "results_2026-01-01T00-00-00.json").write_text(json.dumps(results))
    row = {
        "doc_id": 0,
        "doc": {},
        "target": "A",
        "arguments": {"gen_args_0": {"arg_0": "q", "arg_1": {"until": []}}},
        "resps": [["a"]],
        "filtered_resps": ["a"],
    }
    file = folder / "samples_task0_2026-01-01T00-00-00.jsonl"
    file.write_text(f"{json.dumps(row)}\n")
    return file


def test_options_of_exact_match_come_from_the_results(tmp_path: Path) -> None:
    """The settings of the task change the score; of several tasks they must agree."""
    file = samples(tmp_path, {"ignore_case": True}, {})
    assert scores(file, "lm-eval")["exact_match"].value == 1

    results = tmp_path / "results_2026-01-01T00-00-00.json"
    file = file.rename(tmp_path / "samples.jsonl")
    with pytest.raises(ScoreError, match="exact_match with different options"):
        scores(file, "lm-eval", companion=results)
    named = scores(file, "lm-eval", metrics=("exact_match",))
    assert named["exact_match"].value == 0


@pytest.mark.corpora
@pytest.mark.parametrize(
    "name",
    ["samples_demo_mc_2026-11-22T14-08-24.629883.jsonl", "in-memory_demo_mc.json"],
)
def test_accuracy_of_stored_likelihoods_is_that_of_lm_eval(name: str) -> None:
    """Acc and acc_norm of each sample are the stored ones, without an answer."""
    file = FILES / "lm-eval" / "made" / name

    metrics = ("acc", "acc_norm") if name.startswith("in-memory") else ()
    found = scores(file, "lm-eval", metrics=metrics)
    stored = scores(file, None, stored=True)

    assert [one.name for one in found] == ["acc", "acc_norm"]
    for metric in ("acc", "acc_norm"):
        assert found[metric].value == stored[metric].value
        assert found[metric].spread == stored[metric].spread
    assert not found.stored_differences


def choice_row(
    choices: list[str], likelihoods: list[str], target: str
) -> dict[str, Any]:
    """Return the row of a multiple choice, without scores."""
    requests = {
        f"gen_args_{at}": {"arg_0": "Q?\nA:", "arg_1": f" {choice}"}
        for at, choice in enumerate(choices)
    }
    pairs = [[likelihood, "False"] for likelihood in likelihoods]
    return {
        "doc_id": 0,
        "doc": {},
        "target": target,
        "arguments": requests,
        "resps": [[pair] for pair in pairs],
        "filtered_resps": pairs,
    }


@pytest.mark.parametrize(
    ("choices", "likelihoods", "target", "acc", "acc_norm"),
    [
        (["A", "B", "C"], ["-3", "-2", "-1"], "[0, 2]", 1, 1),
        (["A", "B", "C"], ["-2", "-1", "-3"], "[0, 2]", 0, 0),
        (["", "yes"], ["-0.5", "-3"], "0", 1, 0),
        (["E", "E", "A"], ["-1", "-2", "-3"], "1", 0, 0),
        (["E", "E", "A"], ["-2", "-1", "-3"], "1", 1, 1),
        (["E", "E", "A"], ["-1", "-2", "-3"], "E", 1, 1),
        (["1", "1", "0"], ["-1", "-2", "-3"], "1", 0, 0),
    ],
)
def test_accuracy_of_any_choices_is_that_of_lm_eval(  # noqa: PLR0913, PLR0917 - a table
    choices: list[str],
    likelihoods: list[str],
    target: str,
    acc: float,
    acc_norm: float,
    tmp_path: Path,
) -> None:
    """Several right choices, empty and equal ones give the values of the harness."""
    file = tmp_path / "samples.jsonl"
    file.write_bytes(jsonl(choice_row(choices, likelihoods, target)))

    found = scores(file, "lm-eval", metrics=("acc", "acc_norm"))

    assert (found["acc"].value, found["acc_norm"].value) == (acc, acc_norm)
    assert "|refs:max|" in found["acc"].signature


@pytest.mark.parametrize(
    ("likelihoods", "target", "code"),
    [
        (["-1", "nan"], "0", "M103"),
        (["nan", "-1"], "0", "M103"),
        (["-1", "-2"], "-100", "M102"),
        (["-1", "-2"], "2", "M102"),
    ],
)
def test_choice_that_is_not_known_is_left_out(
    likelihoods: list[str], target: str, code: str, tmp_path: Path
) -> None:
    """No likelihood that is no number, and no target without a choice, is a score."""
    row = choice_row(["A", "B"], likelihoods, target)
    right = choice_row(["A", "B"], ["-1", "-2"], "0") | {"doc_id": 1}
    file = tmp_path / "samples.jsonl"
    file.write_bytes(jsonl(row, right))

    found = scores(file, "lm-eval", metrics=("acc",))

    assert (found["acc"].value, found["acc"].unscored) == (1, 1)
    assert {problem.code for problem in found.problems} == {code}


@pytest.mark.corpora
@pytest.mark.parametrize("task", ["ll", "roll"])
def test_samples_of_likelihoods_alone_are_refused(task: str) -> None:
    """No filter of another task is taken, and the message names --stored."""
    name = f"samples_demo_{task}_2026-11-22T14-08-24.629883.jsonl"

    with pytest.raises(ScoreError, match=r"\(.*perplexity.*\); stored=True shows"):
        scores(FILES / "lm-eval" / "made" / name, "lm-eval")
