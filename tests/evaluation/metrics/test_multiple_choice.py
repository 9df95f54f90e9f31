"""multiple-choice: which choice an answer names, and which one a reference is."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from cases import for_each_case
from harpia_formats import ScoreError
from in_process import InProcess
from json_lines import jsonl
from metric_scores import answered, totals, values

CITIES = ("Paris", "London", "New York", "York")
_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


def score(
    answer: str,
    references: list[str],
    choices: Sequence[str] = CITIES,
    /,
    **more: Any,
) -> Any:
    """Return the score of one answer, which must name one choice by default."""
    more = {"unreadable": "left-out"} | more
    row = answered(answer, references, choices=[*choices])
    (found,) = totals("multiple-choice", [row], **more)
    return found.value


def test_numbers_name_choices_if_the_first_one_is_known() -> None:
    """A number is an index only where the number of the first choice is given."""
    assert score("Answer: 2", ["B"], index=1) == 1
    assert score("2", ["C"], index=0) == 1
    for first in (0, 1):
        last = first + len(CITIES) - 1
        assert score(f"{first}", ["A"], index=first) == 1
        assert score(f"{last}", ["D"], index=first) == 1
        for number in {0, last + 1} - {first}:
            with pytest.raises(ScoreError, match="names no choice"):
                score(f"{number}", ["A"], index=first)
    assert score("Answer: 20", ["B"], ("10", "20")) == 1
    with pytest.raises(ScoreError, match="several"):
        score("2", ["A"], ("2", "1"), index=1)


@given(st.text(alphabet="ABCabc(). *\n:iswernoty\\boxed{}é1", max_size=50))
def test_any_answer_is_read_or_refused(answer: str) -> None:
    """No answer ends in another error, and at most one choice is read from it."""
    choices = ["a b", "c", "", "b"]
    rows = [answered(answer, [one], choices=choices) for one in "ABCD"]
    # One that is right, since a run without any score is an error.
    rows.append(answered("A", ["A"], choices=choices))

    *found, _ = values(
        "multiple-choice", rows, index=1, reference="letter", unreadable="left-out"
    )

    assert set(found) == {(None,)} or sorted(found) == [(0,)] * 3 + [(1,)]


@pytest.mark.parametrize("part", ["*\n\n", "* \n", "_\n\n", "我", "因此", "本题"])
def test_an_answer_of_many_equal_parts_takes_less_than_a_second(part: str) -> None:
    """A model that repeats an empty item, or a word, takes time by its length."""
    start = time.process_time()

    assert score(f"{part * 4000}\nSo B.", ["B"]) == 1
    assert time.process_time() - start < 1
    assert score(f"{part * 12}\n选B", ["B"]) == 1


@given(st.lists(_texts, min_size=1, max_size=6, unique=True))
def test_a_letter_that_is_no_text_is_always_read(texts: list[str]) -> None:
    """The letter of each choice names it, if no choice has this text."""
    choices = [f"choice {text}" for text in texts]
    letters = "ABCDEF"[: len(texts)]
    rows = [answered(f"({one})", [one], choices=choices) for one in letters]

    assert values("multiple-choice", rows) == [(1,)] * len(texts)


@for_each_case(
    "reference, more",
    [
        ("B", {}),
        ("b)", {}),
        ("London", {}),
        ("1", {"index": 0}),
        ("2", {"index": 1}),
        ("1", {"reference": "index"}),
        ("B", {"reference": "letter"}),
    ],
)
def test_a_reference_is_a_letter_a_text_or_an_index(
    reference: str, more: dict[str, Any]
) -> None:
    """The right choice is known by any of its names."""
    assert score("The answer is B", [reference], **more) == 1
    assert score("The answer is C", [reference], **more) == 0


def test_any_of_several_references_is_right() -> None:
    """A question may have several right choices; `first` means the first alone."""
    assert score("C", ["B", "New York"]) == 1
    assert score("C", ["B", "New York"], references="first") == 0


def test_a_reference_that_is_no_choice_is_left_out_among_others() -> None:
    """The readable ones of several references decide; without any there is no score."""
    assert score("B", ["Rome", "London"]) == 1
    assert score("C", ["London", "Rome"]) == 0
    assert score("B", ["London", "Rome"], references="first") == 1
    for rule in ("max", "first"):
        with pytest.raises(ScoreError, match="is no choice"):
            score("B", ["Rome", "Bonn"], references=rule)
    with pytest.raises(ScoreError, match="the reference Rome is no choice"):
        score("B", ["Rome", "London"], references="first")


def test_a_reference_that_may_be_two_choices_is_not_left_out() -> None:
    """Without it, an answer that it means would be wrong."""
    choices = ("East", "A", "C")
    with pytest.raises(ScoreError, match="A may be several choices"):
        score("East", ["A", "C"], choices)
    assert score("East", ["A", "C"], choices, reference="letter") == 1
    assert score("East", ["A", "C"], choices, reference="text") == 0


def test_an_answer_without_a_choice_is_left_out_or_wrong() -> None:
    """What names no choice is wrong, unless it is left out."""
    with pytest.raises(ScoreError, match="names no choice"):
        score("I do not know", ["B"])

    row = answered("I do not know", ["B"], choices=[*CITIES])
    (found,) = totals("multiple-choice", [row])
    assert found.value == 0
    assert "|unreadable:wrong|" in found.signature


@pytest.mark.parametrize(
    ("reference", "choices", "reason"),
    [
        ("3", CITIES, "parameter index says"),
        ("Rome", CITIES, "the reference Rome is no choice[;.]"),
        ("A", ("B", "A"), "may be several choices"),
        ("x", ("x", "X"), "may be several choices"),
    ],
)
def test_a_reference_that_is_no_choice_is_a_finding(
    reference: str, choices: tuple[str, ...], reason: str
) -> None:
    """A mistake in the data is no wrong answer, whatever the parameters."""
    with pytest.raises(ScoreError, match=reason):
        score("B", [reference], choices, unreadable="wrong")


def test_a_wrong_index_is_refused() -> None:
    """The number of the first choice is 0 or 1."""
    for wrong in (2, "B", True, [1], {"a": 0}):
        with pytest.raises(ScoreError, match="must be 0 or 1"):
            score("A", ["A"], index=wrong)


def test_choices_come_from_the_record(tmp_path: Path) -> None:
    """Each answer is read with the choices of its record; lacking ones are named."""
    rows: list[dict[str, Any]] = [
        {"choices": ["x", "y"], "references": ["B"], "outputs": [{"text": "y"}]},
        {"choices": ["x", "y"], "references": ["x"], "outputs": [{"text": "(B)"}]},
        {"choices": ["x", "y"], "references": ["x"], "outputs": [{"text": "z"}]},
        {"references": ["A"], "outputs": [{"text": "A"}]},
    ]
    file = tmp_path / "records.jsonl"
    file.write_bytes(jsonl(*rows))

    found = harpia_formats.score(
        file,
        from_="record",
        metrics=("multiple-choice",),
        missing="skip",
        parameters={"multiple-choice.unreadable": "left-out"},
    )

    assert (found["multiple-choice"].value, found["multiple-choice"].unscored) == (
        0.5,
        2,
    )
    assert [problem.code for problem in found.problems] == ["M103", "M106"]


def test_an_unreadable_answer_is_no_missing_one(tmp_path: Path) -> None:
    """The exception of an unreadable answer names the parameter that counts it.

    A missing answer is left out or refused, whatever unreadable ones are.
    """
    file = tmp_path / "records.jsonl"
    row = {"choices": ["x", "y"], "references": ["x"], "outputs": [{"text": "z"}]}
    file.write_text(f"{json.dumps(row)}\n")
    wrong = {"multiple-choice.unreadable": "wrong"}
    left_out = {"multiple-choice.unreadable": "left-out"}

    with pytest.raises(ScoreError) as raised:
        harpia_formats.score(
            file, from_="record", metrics=("multiple-choice",), parameters=left_out
        )
    found = harpia_formats.score(file, from_="record", metrics=("multiple-choice",))
    with file.open("a") as more:
        more.write(f"{json.dumps(row | {'outputs': [{}]})}\n")
    with pytest.raises(ScoreError, match="there is no answer to score"):
        harpia_formats.score(file, from_="record", metrics=("multiple-choice",))
    skipped = harpia_formats.score(
        file, from_="record", metrics=("multiple-choice",), missing="skip"
    )

    assert f"parameters={json.dumps(wrong)} counts" in str(raised.value)
    assert 'missing="zero"' not in str(raised.value)
    for score_ in (found["multiple-choice"], skipped["multiple-choice"]):
        assert (score_.value, score_.count, score_.unreadable) == (0, 1, 1)
    assert skipped["multiple-choice"].unscored == 1


def test_the_share_of_unreadable_answers_is_shown(
    run: InProcess, tmp_path: Path
) -> None:
    """Tables say how many answers are wrong since no choice is read from them."""
    texts = ["x", "x or y", "I do not know", "y", "The answer is y"]
    rows = [
        {
            "id": at,
            "choices": ["x", "y"],
            "references": ["x"],
            "outputs": [{"text": one}],
        }
        for at, one in enumerate(texts)
    ]
    file = tmp_path / "records.jsonl"
    file.write_bytes(jsonl(*rows))
    shown = {
        form: run("score", str(file), "-m", "multiple-choice,em", *more).out
        for form, more in {
            "text": (),
            "json": ("--output-format", "json"),
            "csv": ("--output-format", "csv"),
            "markdown": ("--output-format", "markdown"),
        }.items()
    }

    assert "unreadable" in shown["text"].splitlines()[0]
    assert "40.0%" in shown["text"]
    mine, em = json.loads(shown["json"])["systems"][0]["scores"]
    assert (mine["answers"], mine["unscored"], mine["unreadable"]) == (5, 0, 2)
    assert "unreadable" not in em
    assert shown["csv"].splitlines()[0].endswith(",unreadable")
    assert "40.0% of the answers are unreadable" in shown["markdown"]
    assert "unreadable" not in run("score", str(file), "-m", "em").out


@pytest.mark.parametrize("metric", ["number-match", "pass@1", "maj@1"])
def test_the_profile_of_tencent_gives_no_credit_for_what_it_cannot_read(
    metric: str, tmp_path: Path
) -> None:
    """Unreadable answers are wrong by default there, and left out if asked for."""
    file = tmp_path / "outputs.jsonl"
    responses = [{"content": text} for text in ("The answer is 4.", "no idea")]
    answers = [{"model_name": "m", "responses": responses}]
    question = [{"role": "user", "content": "2 + 2?"}]
    row = {"messages": question, "ref_answer": "4", "model_outputs": answers}
    file.write_text(f"{json.dumps(row)}\n")
    inner = "" if metric == "number-match" else "correct."
    given = {f"{metric}.correct": "number-match"} if inner else {}

    def found(**more: str) -> Any:
        return harpia_formats.score(
            file,
            profile="tencent",
            metrics=(metric,),
            parameters=given | {f"{metric}.{inner}{name}": more[name] for name in more},
            missing="skip",
        )[metric]

    assert (found().value, found().unreadable) == (0.5, 1)
    assert "|unreadable:wrong|" in found().signature
    left_out = found(unreadable="left-out")
    assert (left_out.value, left_out.unreadable, left_out.unscored) == (1, None, 1)
