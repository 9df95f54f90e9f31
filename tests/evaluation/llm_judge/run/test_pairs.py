"""Pairs of answers: which are asked, in both orders, and what the verdicts say."""

import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import LLMJudge, score, validate
from harpia_formats.evaluation.llm_judge.endpoint import Reply
from harpia_formats.evaluation.llm_judge.judge_files import FileJob, VerdictFormat
from harpia_formats.evaluation.llm_judge.verdicts import JudgeError
from json_lines import jsonl, jsonl_rows

CHOICES = ["first", "second", "tie"]
#: Says which of two answers a judge prefers.
Prefer = Callable[[str, str], str]


def rows_of(model: str, answers: Iterable[str]) -> list[dict[str, Any]]:
    """Return rows of NeMo with the answers of a model; "" is a model without a name."""
    return [
        {
            "input": {"prompt": f"q{at}", "ideal_response": "r"},
            "response": text,
            "llm_name": model,
        }
        for at, text in enumerate(answers)
    ]


def write(path: Path, *rows: dict[str, Any]) -> str:
    """Write rows as lines; return the path."""
    path.write_bytes(jsonl(*rows))
    return str(path)


def judge(prefer: Prefer, **more: Any) -> LLMJudge:
    """Return a judge of pairs whose verdict is what `prefer` says of both answers."""

    def ask(prompt: str, _: Any) -> Reply:
        ((first, second),) = re.findall(r'"first": (.*), "second": (.*)}', prompt)
        return Reply(json.dumps({"verdict": prefer(first, second)}))

    given = {
        "instructions": "Which of the answers is better?",
        "inputs": [(name, list[str]) for name in ("questions", "first", "second")],
        "outputs": [{"name": "verdict", "choices": CHOICES}],
        "examples": [],
        "progress_bar": False,
        "ask": ask,
    }
    return LLMJudge(**{**given, **more})


def verdicts(
    folder: Path,
    paths: list[str],
    prefer: Prefer = lambda *_: "first",
    models: tuple[str, ...] = (),
    **more: Any,
) -> list[dict[str, Any]]:
    """Judge pairs; return the lines, which are in pairs.jsonl as well."""
    output = str(folder / "pairs.jsonl")
    job = FileJob(
        judge(prefer, **more),
        paths,
        output,
        [],
        models,
        shape=VerdictFormat.JSONL,
        overwrite=True,
        reading={"from_": None},
    )
    rows, total = job.rows()
    found = list(job.run(rows, total, io.BytesIO()))

    assert len(found) == total
    return jsonl_rows(Path(output))


def longer(first: str, second: str) -> str:
    """Prefer the longer answer in any place."""
    if len(first) == len(second):
        return "tie"
    return "first" if len(first) > len(second) else "second"


def results(lines: list[dict[str, Any]], key: str) -> list[Any]:
    """Return a value of each result."""
    return [line["result"][key] for line in lines]


def test_a_pair_is_asked_in_both_orders(tmp_path: Path) -> None:
    """Each order is a row, whose verdict is mapped back to the models."""
    rows = [*rows_of("a", ["long", "x", "x"]), *rows_of("b", ["x", "long", "y"])]
    found = verdicts(tmp_path, [write(tmp_path / "in.jsonl", *rows)], longer)

    assert [line["row"] for line in found] == [1, 2, 3, 4, 5, 6]
    assert [line["record"] for line in found] == [1, 1, 2, 2, 3, 3]
    assert [line["order"] for line in found] == [1, 2] * 3
    assert [line["models"] for line in found] == [["a", "b"], ["b", "a"]] * 3
    assert [line["model"] for line in found] == ["a", "b"] * 3
    assert results(found, "winner") == ["a", "a", "b", "b", "tie", "tie"]
    assert results(found, "win") == [1, 0, 0, 1, 0.5, 0.5]
    assert results(found, "consistent") == [True] * 6
    assert results(found, "first_position") == [0.5] * 6
    assert validate(tmp_path / "pairs.jsonl").ok


@pytest.mark.parametrize(
    ("both", "first_position"),
    [
        (("first", "first"), 1.0),
        (("second", "second"), 0.0),
        (("first", "tie"), 0.75),
        (("tie", "second"), 0.25),
    ],
)
def test_orders_that_disagree_are_half_a_win(
    tmp_path: Path, both: tuple[str, str], first_position: float
) -> None:
    """Such a pair is not consistent, and its first place has the mean of both."""
    path = write(tmp_path / "in.jsonl", *rows_of("a", ["A"]), *rows_of("b", ["B"]))
    found = verdicts(tmp_path, [path], lambda first, _: both[first == "B"])

    assert results(found, "win") == [0.5, 0.5]
    assert results(found, "consistent") == [False, False]
    assert results(found, "first_position") == [first_position] * 2


def test_score_gives_the_win_rate_of_each_model(tmp_path: Path) -> None:
    """It gives the win rates, consistency and preference, with intervals."""
    answers = ["xxx"] * 6 + ["xx"] * 2 + ["x"] * 2
    rows = [*rows_of("a", answers), *rows_of("b", ["xx"] * 10)]
    path = write(tmp_path / "in.jsonl", *rows)
    verdicts(
        tmp_path, [path], lambda *two: "first" if two[0] == two[1] else longer(*two)
    )
    systems = score(tmp_path / "pairs.jsonl").systems
    means = [[metric.value for metric in system.scores] for system in systems]

    # 6 wins, 2 losses, and 2 pairs in which the first place decides.
    assert means == [[0.7, 0.8, 0.6], [pytest.approx(0.3), 0.8, 0.6]]
    assert [one.count for system in systems for one in system.scores] == [10] * 6
    for system in systems:
        for metric in system.scores:
            low, high = metric.interval or (1, 0)
            assert low < (metric.value or 0) < high


@pytest.mark.parametrize("model", ["", "same"])
def test_two_inputs_of_one_model_are_called_as_the_inputs(
    tmp_path: Path, model: str
) -> None:
    """Two inputs without models, or with one and the same, are two systems."""
    paths = [
        write(tmp_path / f"{name}.jsonl", *rows_of(model, [name]))
        for name in ("a", "b")
    ]
    found = verdicts(tmp_path, paths)

    assert [line["models"] for line in found] == [paths, paths[::-1]]


def test_two_of_more_models_are_chosen(tmp_path: Path) -> None:
    """The order of the names is the first order; the answers of others are left out."""
    rows = [row for model in ("a", "b", "c") for row in rows_of(model, [model])]
    path = write(tmp_path / "in.jsonl", *rows)

    assert verdicts(tmp_path, [path], models=("c", "a"))[0]["models"] == ["c", "a"]
    with pytest.raises(JudgeError, match="choose two with `--model`"):
        verdicts(tmp_path, [path])
    with pytest.raises(JudgeError, match="no answer is of the model 'd'"):
        verdicts(tmp_path, [path], models=("a", "d"))


def test_answers_without_a_partner_are_counted(tmp_path: Path) -> None:
    """Several answers are paired in their order; the rest is left out and counted."""
    rows = [
        *rows_of("a", ["1"]),
        *rows_of("a", ["2", "alone"]),
        *rows_of("b", ["3"]),
        *rows_of("b", ["4"]),
    ]
    path = write(tmp_path / "in.jsonl", *rows)
    job = FileJob(judge(longer), [path], "-", [], (), reading={"from_": None})
    found, total = job.rows()
    shown = [(row.values["first"], row.values["second"]) for row in found]

    assert (total, shown) == (4, [("1", "3"), ("3", "1"), ("2", "4"), ("4", "2")])
    assert job.pairing is not None
    assert job.pairing.unpaired == 1


def test_pairs_of_one_question_are_one_without_an_id(tmp_path: Path) -> None:
    """Their record is the first one with the question, through both inputs."""
    a = write(tmp_path / "a.jsonl", *rows_of("a", ["1", "2"]), *rows_of("a", ["3"]))
    b = write(tmp_path / "b.jsonl", *rows_of("b", ["4", "5"]), *rows_of("b", ["6"]))
    found = verdicts(tmp_path, [a, b], longer)
    swapped = verdicts(tmp_path, [a, b], longer, models=("b", "a"))
    (win, *_) = score(tmp_path / "pairs.jsonl").systems[0].scores

    assert [line["record"] for line in found] == [1, 1, 2, 2, 1, 1]
    assert [line["record"] for line in swapped] == [1, 1, 2, 2, 1, 1]
    assert (win.count, win.questions) == (3, 2)


def test_an_answer_that_cannot_be_shown_is_named(tmp_path: Path) -> None:
    """A pair that lacks an answer fails in both orders, with the model of it.

    The name of the model may be anything, so it is escaped.
    """
    outputs = [{"model": "a", "text": "A"}, {"model": "b\x1b", "text": None}]
    path = write(tmp_path / "in.jsonl", {"prompt": "q", "outputs": outputs})
    job = FileJob(judge(longer), [path], "-", [], (), reading={"from_": "record"})
    found, _ = job.rows()

    assert {row.problem for row in found} == {
        r"the answer of b\x1b: the record has no outputs.text for the input first"
    }


def test_keys_of_a_reply_cannot_be_those_of_a_pair(tmp_path: Path) -> None:
    """A judge that replies with a win of its own has none but that of both orders."""
    rows = [*rows_of("a", ["A"]), *rows_of("b", ["B"])]
    path = write(tmp_path / "in.jsonl", *rows)

    def ask(prompt: str, _: Any) -> Reply:
        if '"first": A' in prompt:
            return Reply('{"verdict": "first", "win": 7, "winner": "x"}')
        return Reply("{}")

    found = verdicts(tmp_path, [path], ask=ask, raise_on_failure=False)

    assert found[0]["result"] == {"verdict": "first", "winner": "a"}


def test_a_pair_without_both_verdicts_has_no_win(tmp_path: Path) -> None:
    """The order that has a verdict has a winner, and nothing of the pair."""
    path = write(tmp_path / "in.jsonl", *rows_of("a", ["A"]), *rows_of("b", ["B"]))
    found = verdicts(
        tmp_path,
        [path],
        lambda first, _: "first" if first == "A" else "neither",
        raise_on_failure=False,
    )

    assert found[0]["result"] == {"verdict": "first", "winner": "a"}
    assert (found[1]["status"], found[1]["result"]) == ("failed", None)


@for_each_case(
    "change, message",
    [
        ({"inputs": [("first", list[str])]}, "no input second"),
        ({"outputs": ["verdict"]}, "has none"),
        ({"outputs": [{"name": "verdict", "choices": ["A", "B"]}]}, "has none"),
        (
            {"outputs": [{"name": name, "choices": CHOICES} for name in "ab"]},
            "has several",
        ),
        (
            {"outputs": [{"name": "win", "choices": CHOICES}]},
            "no output can be called so",
        ),
        (
            {
                "inputs": [
                    (name, list[str]) for name in ("first", "second", "responses")
                ]
            },
            "responses cannot be a field of an answer",
        ),
    ],
)
def test_a_definition_that_is_not_of_pairs_is_refused(
    change: dict[str, Any], message: str
) -> None:
    """It is refused before anything is read."""
    with pytest.raises(JudgeError, match=message):
        FileJob(judge(longer, **change), ["missing.jsonl"], "-", [], ())


def test_inputs_without_two_models_are_refused(tmp_path: Path) -> None:
    """One model is no pair; a model called tie could be taken for a tie."""
    alone = write(tmp_path / "a.jsonl", *rows_of("a", ["A"]))
    tie = write(tmp_path / "b.jsonl", *rows_of("tie", ["B"]))
    other = write(tmp_path / "c.jsonl", *rows_of("b", ["A", "B"])[1:])

    with pytest.raises(JudgeError, match="two models in the input"):
        verdicts(tmp_path, [alone])
    with pytest.raises(JudgeError, match="a model is called tie"):
        verdicts(tmp_path, [alone, tie])
    with pytest.raises(JudgeError, match="with the same id, prompt and references"):
        verdicts(tmp_path, [alone, other])
